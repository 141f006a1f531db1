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

/// Gives every op that overwrites a fill its own, right before it. CSE has
/// merged equal ones, but a fill is about to be made in the place of a result,
/// where another user would find that result and not the fill. And it has been
/// moved out of loops, where it would be made too early, and too rarely.
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
    for (OpOperand *use : uses) {
      auto reader = dyn_cast<linalg::LinalgOp>(use->getOwner());
      if (reader && reader.isDpsInput(use))
        continue;
      OpBuilder b(use->getOwner());
      use->set(b.clone(*fill)->getResult(0));
    }
    if (fill->use_empty())
      fill.erase();
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

/// Whether the only use of `value` that may write to its buffer is `writer`,
/// and nobody reads it afterwards, unless that is the store at the end, which
/// leaves it as it is.
bool isOnlyWrittenBy(Value value, Operation *writer, Operation *store) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == writer)
      return true;
    auto op = dyn_cast<linalg::LinalgOp>(user);
    bool isReader =
        (op && op.isDpsInput(&use)) ||
        isa<tensor::ExtractOp, bufferization::MaterializeInDestinationOp>(user);
    Operation *here = writer->getBlock()->findAncestorOpInBlock(*user);
    return isReader && here &&
           (writer == store || here->isBeforeInBlock(writer));
  });
}

/// Whether the value that `store` stores may be computed in its destination
/// from the beginning. The destination must not be written unless the store is
/// reached, nor after it.
bool mayComputeInDestination(bufferization::MaterializeInDestinationOp store) {
  Operation *writer = store;
  for (Value value = store.getSource();
       isOnlyWrittenBy(value, writer, store);) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || result.getOwner()->getBlock() != store->getBlock())
      return false;
    writer = result.getOwner();
    if (isa<tensor::EmptyOp>(writer))
      return true;
    if (auto op = dyn_cast<DestinationStyleOpInterface>(writer))
      value = op.getTiedOpOperand(result)->get();
    else if (auto loop = dyn_cast<scf::ForOp>(writer))
      value = loop.getTiedLoopInit(result)->get();
    else
      return false;
  }
  return false;
}

/// Where a value must not be computed in its destination, puts a copy in
/// between, and that is made there.
void separateDestinations(func::FuncOp func) {
  func.walk([](bufferization::MaterializeInDestinationOp store) {
    if (!store.getRestrict() || mayComputeInDestination(store))
      return;
    OpBuilder b(store);
    Location loc = store.getLoc();
    Value source = store.getSource();
    auto type = cast<RankedTensorType>(source.getType());
    Value own =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    auto copy = linalg::GenericOp::create(
        b, loc, type, source, own, ArrayRef<AffineMap>{identity, identity},
        loops, [](OpBuilder &nested, Location loc, ValueRange lanes) {
          linalg::YieldOp::create(nested, loc, lanes.front());
        });
    store.getSourceMutable().set(copy.getResult(0));
  });
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
      separateDestinations(func);
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
