//===- CarryInPlace.cpp - Loop-carried tiles keep one buffer ----*- C++ -*-===//
//
// A tile that a loop carries lives in one buffer for all iterations if what an
// iteration yields is where it began. Elementwise updates are so already; a
// value that a branch chooses, or one that another carried tile held before, is
// not. This pass puts copies where bufferization would otherwise have to give
// up.
//
// The copies for one loop are made in two rounds, so that exchanging two tiles
// works: first every value that may share memory with a carried tile goes to a
// tensor of its own, then every value to its place.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace tilec {

#define GEN_PASS_DEF_CPUCARRYINPLACE
#include "codegen/CPU/Passes.h.inc"

namespace {

/// The tensor whose buffer `value` is written to: follows ops that have the
/// tensor they write to as an operand.
Value placeOf(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = dps.getTiedOpOperand(result)->get();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      value = loop.getTiedLoopInit(result)->get();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned i = result.getResultNumber();
      Value first = placeOf(branch.thenYield().getOperand(i));
      if (first != placeOf(branch.elseYield().getOperand(i)))
        return value;
      value = first;
    } else {
      break;
    }
  }
  return value;
}

/// A copy of `from`, in the buffer of `to`.
Value copyInto(OpBuilder &b, Location loc, Value from, Value to) {
  auto type = cast<RankedTensorType>(from.getType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type, from, to, ArrayRef<AffineMap>{identity, identity},
             loops,
             [](OpBuilder &nested, Location loc, ValueRange lanes) {
               linalg::YieldOp::create(nested, loc, lanes.front());
             })
      .getResult(0);
}

/// Whether `tile` is needed in its block after `op`.
bool isUsedAfter(Value tile, Operation *op) {
  return llvm::any_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return user && op->isBeforeInBlock(user);
  });
}

/// Makes the yielded `operand` end up in the buffer of the carried `tile`, if
/// that takes no copy of the whole: lets the branches of an scf.if do it.
bool placeInBranches(OpOperand &operand, BlockArgument tile) {
  auto branch = operand.get().getDefiningOp<scf::IfOp>();
  if (!branch || branch->getBlock() != operand.getOwner()->getBlock() ||
      !operand.get().hasOneUse() || isUsedAfter(tile, branch))
    return false;
  unsigned i = cast<OpResult>(operand.get()).getResultNumber();
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    OpOperand &inner = yield->getOpOperand(i);
    Value place = placeOf(inner.get());
    if (place == tile || placeInBranches(inner, tile))
      continue;
    OpBuilder b(yield);
    Value from = inner.get();
    // It may share memory with a tile that is carried too.
    if (isa<BlockArgument>(place) || place.getDefiningOp<scf::IfOp>()) {
      auto type = cast<RankedTensorType>(from.getType());
      Value own = tensor::EmptyOp::create(b, yield.getLoc(), type.getShape(),
                                          type.getElementType());
      from = copyInto(b, yield.getLoc(), from, own);
    }
    inner.set(copyInto(b, yield.getLoc(), from, tile));
  }
  return true;
}

void carryInPlace(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<unsigned> misplaced;
  for (auto [i, tile] : llvm::enumerate(loop.getRegionIterArgs())) {
    OpOperand &operand = yield->getOpOperand(i);
    if (isa<RankedTensorType>(tile.getType()) &&
        placeOf(operand.get()) != tile && !placeInBranches(operand, tile))
      misplaced.push_back(i);
  }
  OpBuilder b(yield);
  for (unsigned i : misplaced) {
    Value value = yield->getOperand(i);
    Value place = placeOf(value);
    Operation *def = value.getDefiningOp();
    bool mayShare = isa<BlockArgument>(place) ||
                    place.getDefiningOp<scf::IfOp>() || !def ||
                    def->getBlock() != loop.getBody();
    if (!mayShare)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    Value own = tensor::EmptyOp::create(b, yield->getLoc(), type.getShape(),
                                        type.getElementType());
    yield->setOperand(i, copyInto(b, yield->getLoc(), value, own));
  }
  for (unsigned i : misplaced)
    yield->setOperand(i, copyInto(b, yield->getLoc(), yield->getOperand(i),
                                  loop.getRegionIterArg(i)));
}

struct CarryInPlacePass : impl::CPUCarryInPlaceBase<CarryInPlacePass> {
  void runOnOperation() override {
    // Inner loops first: then their results are where they began.
    getOperation().walk([](scf::ForOp loop) { carryInPlace(loop); });
  }
};

} // namespace
} // namespace tilec
