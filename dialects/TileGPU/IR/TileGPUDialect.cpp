//===- TileGPUDialect.cpp - Registration of the tilegpu dialect -*- C++ -*-===//
//
// Brings the generated definitions of all ops into one translation unit and
// registers them.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/IR/TileGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::tilegpu;

#include "dialects/TileGPU/IR/TileGPUDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/TileGPU/IR/TileGPUOps.cpp.inc"

namespace {
/// Layouts are long; in a module they are defined once, at its top.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attr))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void TileGPUDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/TileGPU/IR/TileGPUOps.cpp.inc"
      >();
  addInterfaces<AliasInterface>();
}

void mlir::tilegpu::registerTileGPUDialect(DialectRegistry &registry) {
  registry.insert<TileGPUDialect>();
}
