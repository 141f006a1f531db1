//===- tilec-opt.cpp - Runs tilec's passes on IR files ---------*- C++ -*-===//
//
// The usual MLIR driver (see `tilec-opt --help`) over the dialects that tilec
// uses and its own passes. It is how passes are tested, and how a reproducer is
// run. What it registers is listed by hand: registering all of MLIR would
// double its start-up time.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"
#include "codegen/TileToLinalg/Passes.h"
#include "codegen/TileToTileGPU/Passes.h"
#include "dialects/Tile/IR/Tile.h"
#include "dialects/TileGPU/Transforms/Passes.h"
#include "lib/Compiler/Pipelines.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry
      .insert<affine::AffineDialect, arith::ArithDialect,
              bufferization::BufferizationDialect, cf::ControlFlowDialect,
              func::FuncDialect, index::IndexDialect, LLVM::LLVMDialect,
              linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
  tile::registerTileDialect(registry);
  tilegpu::registerTileGPUDialect(registry);
  tilec::registerDialects(registry); // With what lowering to the host needs.
  // canonicalize, cse, symbol-dce, ...; the compiler's own registration takes
  // only those that its pipelines use, and does not mind them twice.
  registerTransformsPasses();
  tilec::registerPasses();
  tilec::registerTileToLinalgPasses();
  tilec::registerCPUPasses();
  tilec::registerTileToTileGPUPasses();
  tilegpu::registerTileGPUPasses();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "tilec's pass driver\n", registry));
}
