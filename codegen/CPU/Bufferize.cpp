//===- Bufferize.cpp - From tensors to buffers ------------------*- C++ -*-===//
//
// One-shot bufferization decides for each tensor whether it can be written in
// place. Its defaults suit functions that exchange tensors; ours exchange
// memory already, and what matters is that later passes can rely on two
// things: buffers have static sizes and plain layouts, and each lives within
// one iteration of the loops around its allocation.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Bufferize.h"
#include "codegen/CPU/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
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

using Store = bufferization::MaterializeInDestinationOp;

/// The memref that a destination is a view of. Where a branch chooses between a
/// view of an argument and a buffer for what is cut off, the argument.
Value rootOf(Value memref) {
  Operation *op = memref.getDefiningOp();
  if (!op)
    return memref;
  if (auto view = dyn_cast<memref::ReinterpretCastOp>(op))
    return rootOf(view.getSource());
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
    return rootOf(metadata.getSource());
  if (auto view = dyn_cast<ViewLikeOpInterface>(op))
    return rootOf(view.getViewSource());
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(memref).getResultNumber();
    Value first = rootOf(branch.thenYield().getOperand(number));
    return isa<BlockArgument>(first)
               ? first
               : rootOf(branch.elseYield().getOperand(number));
  }
  return memref;
}

/// Decides which values are computed in the place they are stored to from the
/// beginning. Bufferization is told that nobody else knows that place, so it
/// does not check what is decided here.
class Destinations {
public:
  explicit Destinations(func::FuncOp func) : func(func) {
    func.walk(
        [&](Store store) { stores[rootOf(store.getDest())].push_back(store); });
  }

  /// Where a value must not be computed in its destination, puts a copy in
  /// between, and that is made there.
  void separate() {
    func.walk([&](Store store) {
      if (!store.getRestrict() || mayComputeIn(store))
        return;
      OpBuilder b(store);
      store.getSourceMutable().set(
          copyOf(b, store.getLoc(), store.getSource()));
    });
  }

private:
  bool mayComputeIn(Store store);

  func::FuncOp func;
  llvm::DenseMap<Value, SmallVector<Store>> stores;
};

/// Follows the stored value back, over the tensors that are overwritten on the
/// way, to the tensor.empty it began as; all in one block, so that nothing is
/// written unless the store is reached. Each of the tensors may be read until
/// the next takes its place. The last is there as long as it is read, so no
/// other store may come before that.
bool Destinations::mayComputeIn(Store store) {
  Block *block = store->getBlock();
  Operation *writer = store, *lastReader = store;
  for (Value value = store.getSource();;) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (user == writer)
        continue;
      auto op = dyn_cast<linalg::LinalgOp>(user);
      bool isReader =
          (op && op.isDpsInput(&use)) || isa<tensor::ExtractOp, Store>(user);
      Operation *here = block->findAncestorOpInBlock(*user);
      if (!isReader || !here ||
          (writer != store && !here->isBeforeInBlock(writer)))
        return false;
      if (lastReader->isBeforeInBlock(here))
        lastReader = here;
    }
    auto result = dyn_cast<OpResult>(value);
    if (!result || result.getOwner()->getBlock() != block)
      return false;
    Operation *def = result.getOwner();
    if (isa<tensor::EmptyOp>(def))
      break;
    if (auto op = dyn_cast<DestinationStyleOpInterface>(def))
      value = op.getTiedOpOperand(result)->get();
    else if (auto loop = dyn_cast<scf::ForOp>(def))
      value = loop.getTiedLoopInit(result)->get();
    else
      return false;
    writer = def;
  }
  return llvm::none_of(stores[rootOf(store.getDest())], [&](Store other) {
    Operation *here = block->findAncestorOpInBlock(*other);
    return other != store && here && !here->isBeforeInBlock(writer) &&
           !lastReader->isBeforeInBlock(here);
  });
}

struct BufferizePass : impl::CPUBufferizeBase<BufferizePass> {
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    // The analysis may say so; carryInPlace sees to it that no loop does.
    options.allowReturnAllocsFromLoops = true;
    // memref.copy would become a call of a runtime function; this becomes
    // loops.
    options.memCpyFn = [](OpBuilder &b, Location loc, Value from, Value to) {
      copyInto(b, loc, from, to);
      return success();
    };
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
      Destinations(func).separate();
      if (failed(bufferization::eliminateEmptyTensors(rewriter, func)))
        return signalPassFailure();
    }
    std::unique_ptr<bufferization::OneShotAnalysisState> analysis =
        carryInPlace(getOperation(), options);
    bufferization::BufferizationState state;
    if (!analysis ||
        failed(bufferization::insertTensorCopies(getOperation(), *analysis,
                                                 state)) ||
        failed(bufferization::bufferizeOp(getOperation(), options, state)))
      return signalPassFailure();
  }
};

} // namespace
} // namespace tilec
