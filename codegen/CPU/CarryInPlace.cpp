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

/// Whether `user` is done with a value when `writer` begins to overwrite it.
bool isDoneBefore(Operation *user, Operation *writer) {
  for (Operation *op = writer; op; op = op->getParentOp()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!here)
      continue;
    if (here != op)
      return here->isBeforeInBlock(op);
    // Both inside: in one of the branches each, or who knows.
    auto branch = dyn_cast<scf::IfOp>(op);
    return branch &&
           branch.getThenRegion().isAncestor(user->getParentRegion()) !=
               branch.getThenRegion().isAncestor(writer->getParentRegion());
  }
  return false;
}

/// Whether `writer`, which has `value` as the tensor to write to, may overwrite
/// it: nobody reads it later, nor meanwhile at another position.
bool mayOverwrite(Value value, Operation *writer) {
  unsigned uses = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user != writer) {
      if (!isDoneBefore(user, writer))
        return false;
      continue;
    }
    auto op = dyn_cast<linalg::LinalgOp>(writer);
    if (!op || !op.isDpsInput(&use)) {
      if (++uses > 1)
        return false;
    } else if (op.getNumParallelLoops() != op.getNumLoops() ||
               llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
                 return init.get() == value &&
                        op.getMatchingIndexingMap(&init) !=
                            op.getMatchingIndexingMap(&use);
               })) {
      return false;
    }
  }
  return true;
}

/// Whether `value` will be in the buffer of `tile` without any copy.
bool endsUpIn(Value value, Value tile) {
  if (value == tile)
    return true;
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return false;
  Operation *op = result.getOwner();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned i = result.getResultNumber();
    return endsUpIn(branch.thenYield().getOperand(i), tile) &&
           endsUpIn(branch.elseYield().getOperand(i), tile);
  }
  Value before;
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    before = dps.getTiedOpOperand(result)->get();
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    before = loop.getTiedLoopInit(result)->get();
  return before && mayOverwrite(before, op) && endsUpIn(before, tile);
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

/// Whether `user` runs after `op` within one iteration of the loops around
/// both.
bool runsAfter(Operation *user, Operation *op) {
  for (; op && !isa<scf::ForOp>(op->getParentOp()); op = op->getParentOp())
    if (op->getBlock()->findAncestorOpInBlock(*user))
      break;
  Operation *here = op ? op->getBlock()->findAncestorOpInBlock(*user) : nullptr;
  return here && op->isBeforeInBlock(here);
}

/// Whether `tile`, or a value that was written in its place, is needed after
/// `op`, or is a result of it other than result `number`.
bool isNeededAfter(Value tile, scf::IfOp op, unsigned number) {
  return llvm::any_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (runsAfter(user, op))
      return true;
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(user))
      return dps.isDpsInit(&use) &&
             isNeededAfter(dps.getTiedOpResult(&use), op, number);
    if (auto loop = dyn_cast<scf::ForOp>(user))
      return llvm::is_contained(loop.getInits(), tile) &&
             isNeededAfter(loop.getTiedLoopResult(&use), op, number);
    auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
    if (!branch || !isa<scf::YieldOp>(user))
      return false;
    if (branch == op)
      return use.getOperandNumber() != number;
    return isNeededAfter(branch.getResult(use.getOperandNumber()), op, number);
  });
}

/// Makes the yielded `operand` end up in the buffer of the carried `tile`, if
/// that takes no copy of the whole: lets the branches of an scf.if do it.
bool placeInBranches(OpOperand &operand, BlockArgument tile) {
  auto branch = operand.get().getDefiningOp<scf::IfOp>();
  if (!branch || branch->getBlock() != operand.getOwner()->getBlock() ||
      !operand.get().hasOneUse())
    return false;
  unsigned i = cast<OpResult>(operand.get()).getResultNumber();
  if (isNeededAfter(tile, branch, i))
    return false;
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    OpOperand &inner = yield->getOpOperand(i);
    Value place = placeOf(inner.get());
    if (endsUpIn(inner.get(), tile) || placeInBranches(inner, tile))
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
        !endsUpIn(operand.get(), tile) && !placeInBranches(operand, tile))
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
