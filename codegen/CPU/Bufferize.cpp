//===- Bufferize.cpp - From tensors to buffers ------------------*- C++ -*-===//
//
// One-shot bufferization decides for each tensor whether it can be written in
// place. Its defaults suit functions that exchange tensors; ours exchange
// memory already, and what matters is that later passes can rely on two
// things: buffers have static sizes and plain layouts, and each lives within
// one iteration of the loops around its allocation.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUBUFFERIZE
#include "codegen/CPU/Passes.h.inc"

namespace {

/// memref.copy would become a call of a runtime function; this becomes loops.
LogicalResult copyBuffer(OpBuilder &b, Location loc, Value from, Value to) {
  auto type = cast<MemRefType>(to.getType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, loc, from, to, ArrayRef<AffineMap>{identity, identity}, loops,
      [](OpBuilder &nested, Location loc, ValueRange lanes) {
        linalg::YieldOp::create(nested, loc, lanes.front());
      });
  return success();
}

/// Gives every user of a fill its own. CSE has merged equal ones, but a fill is
/// about to be made in the place of a user's result, where another user would
/// find that result and not the fill.
void separateFills(func::FuncOp func) {
  SmallVector<linalg::FillOp> fills;
  func.walk([&](linalg::FillOp fill) {
    if (fill->getNumResults() == 1)
      fills.push_back(fill);
  });
  for (linalg::FillOp fill : fills) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : fill->getResult(0).getUses())
      uses.push_back(&use);
    for (OpOperand *use : ArrayRef(uses).drop_back(uses.empty() ? 0 : 1)) {
      OpBuilder b(use->getOwner());
      use->set(b.clone(*fill)->getResult(0));
    }
  }
}

/// Gives every user of an empty tensor its own, for the same reason: one tensor
/// is one buffer, and what two ops write to it would be in conflict.
void separateEmptyTensors(func::FuncOp func) {
  SmallVector<tensor::EmptyOp> tensors;
  func.walk([&](tensor::EmptyOp empty) { tensors.push_back(empty); });
  for (tensor::EmptyOp empty : tensors) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : empty->getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses) {
      OpBuilder b(use->getOwner());
      use->set(b.clone(*empty)->getResult(0));
    }
    empty.erase();
  }
}

struct BufferizePass : impl::CPUBufferizeBase<BufferizePass> {
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = false;
    options.memCpyFn = copyBuffer;
    options.unknownTypeConverterFn =
        [](TensorType type, Attribute space,
           const bufferization::BufferizationOptions &) -> BaseMemRefType {
      return bufferization::getMemRefTypeWithStaticIdentityLayout(type, space);
    };
    // A result computed elsewhere can be computed in its destination instead.
    IRRewriter rewriter(&getContext());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      separateFills(func);
      separateEmptyTensors(func);
      if (failed(bufferization::eliminateEmptyTensors(rewriter, func)))
        return signalPassFailure();
    }
    bufferization::BufferizationState state;
    if (failed(
            bufferization::runOneShotBufferize(getOperation(), options, state)))
      return signalPassFailure();
  }
};

} // namespace
} // namespace tilec
