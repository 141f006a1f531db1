//===- Pass.cpp - The pass convert-tile-to-linalg ---------------*- C++ -*-===//
//
// Runs KernelLowering on every kernel of a module.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/KernelLowering.h"
#include "codegen/TileToLinalg/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

#define GEN_PASS_DEF_CONVERTTILETOLINALG
#define GEN_PASS_REGISTRATION
#include "codegen/TileToLinalg/Passes.h.inc"

namespace {

struct ConvertTileToLinalgPass
    : impl::ConvertTileToLinalgBase<ConvertTileToLinalgPass> {
  using ConvertTileToLinalgBase::ConvertTileToLinalgBase;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    SiteTable sites(module);
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<mlir::tile::KernelOp>()))
      if (failed(KernelLowering(kernel, sites, checked).run()))
        return signalPassFailure();
    sites.finish();
  }
};

} // namespace

void registerTileToLinalgPasses() { registerTileToLinalgGroupPasses(); }

} // namespace tilec
