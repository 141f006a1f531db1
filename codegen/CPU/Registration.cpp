//===- Registration.cpp - Passes and dialects by name -----------*- C++ -*-===//
//
// What tilec-opt needs to run the passes of the cpu target from text, and what
// a context needs to run its pipeline.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/JIT.h"
#include "codegen/CPU/Passes.h"
#include "codegen/TileToLinalg/Passes.h"
#include "dialects/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_REGISTRATION
#include "codegen/CPU/Passes.h.inc"

namespace {

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<bool> checked{*this, "checked",
                       llvm::cl::desc("report indices out of range"),
                       llvm::cl::init(false)};
  Option<unsigned> vectorBytes{*this, "vector-bytes",
                               llvm::cl::desc("bytes in a vector register"),
                               llvm::cl::init(64)};
  Option<unsigned> vectorRegisters{
      *this, "vector-registers",
      llvm::cl::desc("how many vector registers there are"),
      llvm::cl::init(32)};
  Option<bool> f16c{*this, "f16c",
                    llvm::cl::desc("the host converts f16 in hardware"),
                    llvm::cl::init(false)};
};

} // namespace

void registerCPUPasses() {
  registerCPUGroupPasses();
  PassPipelineRegistration<PipelineOptions>(
      "cpu-pipeline", "kernels in the tile dialect to the LLVM dialect",
      [](OpPassManager &pm, const PipelineOptions &options) {
        CPUPipelineOptions pipeline;
        pipeline.checked = options.checked;
        pipeline.vectorBytes = options.vectorBytes;
        pipeline.vectorRegisters = options.vectorRegisters;
        pipeline.f16c = options.f16c;
        for (CPUStage stage : allCPUStages)
          buildCPUPipeline(pm, stage, pipeline);
      });
}

void cpu::registerCPUDialects(DialectRegistry &registry) {
  registry
      .insert<tile::TileDialect, func::FuncDialect, linalg::LinalgDialect,
              cf::ControlFlowDialect, ub::UBDialect, vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

} // namespace tilec
