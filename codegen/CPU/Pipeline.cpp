//===- Pipeline.cpp - The order of the cpu target's passes ------*- C++ -*-===//
//
// From kernels in the tile dialect to the LLVM dialect. Each pass has the
// reason for its place beside it.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"
#include "codegen/TileToLinalg/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilec {

/// Tile ops become linalg on tensors, and as few of those as possible.
static void addLinalgStage(OpPassManager &pm,
                           const CPUPipelineOptions &options) {
  // Before there is twice as much of everything.
  pm.addPass(createCPUMergeVersions());
  ConvertTileToLinalgOptions conversion;
  conversion.checked = options.checked;
  pm.addPass(createConvertTileToLinalg(conversion));
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Fusion looks at users: dead ops and second copies of an op would count.
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createCPUFuseElementwise());
  // Bodies that were merged share computations.
  functions.addPass(createCSEPass());
  // What a loop does not change is moved out of it while it is a tensor. After
  // bufferization it would be a store, which is hard to move.
  functions.addPass(createLoopInvariantCodeMotionPass());
}

/// Tensors get their place in memory.
static void addBufferStage(OpPassManager &pm) {
  // Last before bufferization: an operand that is overwritten looks like an
  // output to every other pass, and fusion gives way to outputs.
  pm.nest<func::FuncOp>().addPass(createCPUReuseOperands());
  pm.addPass(createCPUBufferize());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Folds casts of memrefs into the linalg ops, which then see the real
  // strides.
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

/// Linalg on buffers becomes loops with scalars or vectors.
static void addLoopStage(OpPassManager &pm, const CPUPipelineOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Contractions first: to all that follows they would be generic ops like
  // others. What they pack is left behind as generic ops.
  CPUMicrokernelsOptions microkernels;
  microkernels.vectorBytes = options.vectorBytes;
  microkernels.vectorRegisters = options.vectorRegisters;
  functions.addPass(createCPUMicrokernels(microkernels));
  functions.addPass(createCPUOrderLoops());
  functions.addPass(createConvertLinalgToLoopsPass());
  // Needs loops: a linalg op on i1 has types all over.
  functions.addPass(createCPUBoolsToBytes());
  // After every pass that allocates.
  functions.addPass(createCPUPlanBuffers());
  functions.addPass(createCanonicalizerPass());
}

/// Loops become branches, and everything the LLVM dialect.
static void addLLVMStage(OpPassManager &pm, const CPUPipelineOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Functions before floats: they are computed in f32, from operands that may
  // have been narrow. Both before CSE, which merges what several lanes share.
  functions.addPass(createCPUExpandMath());
  CPUExpandNarrowFloatsOptions narrow;
  narrow.f16c = options.f16c;
  functions.addPass(createCPUExpandNarrowFloats(narrow));
  functions.addPass(createSCFToControlFlowPass());
  // Subviews and the like become offsets and strides, computed by affine.apply.
  functions.addPass(memref::createExpandStridedMetadataPass());
  functions.addPass(createLowerAffinePass());
  functions.addPass(createCSEPass());
  pm.addPass(createCPULowerToLLVM());
  pm.addPass(createCPUEntryPoints());
}

void buildCPUPipeline(OpPassManager &pm, CPUStage stage,
                      const CPUPipelineOptions &options) {
  switch (stage) {
  case CPUStage::Linalg:
    return addLinalgStage(pm, options);
  case CPUStage::Buffers:
    return addBufferStage(pm);
  case CPUStage::Loops:
    return addLoopStage(pm, options);
  case CPUStage::LLVM:
    return addLLVMStage(pm, options);
  }
}

} // namespace tilec
