//===- ReuseOperands.cpp - Elementwise ops in place -------------*- C++ -*-===//
//
// y = f(x) on tiles can overwrite x if nobody reads x afterwards, lane i being
// read before lane i is written. Bufferization does that if x is given as the
// tensor to write to, and checks the decision.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUREUSEOPERANDS
#include "codegen/CPU/Passes.h.inc"

namespace {

/// Whether the tile is not needed after `op`. A block argument counts: it is
/// the tile a loop carries, and its next value may take its place.
bool isLastUse(Value tile, Operation *op) {
  if (Operation *def = tile.getDefiningOp()) {
    // The kernel's own arguments, and values that a loop finds unchanged.
    if (isa<bufferization::ToTensorOp>(def) ||
        def->getBlock() != op->getBlock())
      return false;
  } else if (tile.getParentBlock() != op->getBlock()) {
    return false;
  }
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    return here && (here == op || here->isBeforeInBlock(op));
  });
}

struct ReuseOperandsPass : impl::CPUReuseOperandsBase<ReuseOperandsPass> {
  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) {
      if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
          op.getNumParallelLoops() != op.getNumLoops())
        return;
      OpOperand *init = op.getDpsInitOperand(0);
      // An offered destination (what eliminates empty tensors) is better.
      if (!init->get().getDefiningOp<tensor::EmptyOp>() ||
          op.payloadUsesValueFromOperand(init))
        return;
      for (Operation *user : op->getUsers())
        if (isa<bufferization::MaterializeInDestinationOp>(user))
          return;
      for (OpOperand *input : op.getDpsInputOperands())
        if (input->get().getType() == init->get().getType() &&
            op.getMatchingIndexingMap(input) ==
                op.getMatchingIndexingMap(init) &&
            isLastUse(input->get(), op)) {
          init->set(input->get());
          return;
        }
    });
  }
};

} // namespace
} // namespace tilec
