//===- CarryInPlace.cpp - Loop-carried tiles keep one buffer ----*- C++ -*-===//
//
// The invariant: whatever an scf.for yields for a tile that it carries is in
// the buffer that the tile had when the iteration began. Without it a loop
// would have to return buffers that it allocates.
//
// Two questions are kept apart.
//
// Is the result right? Yes, whatever is decided here: all that is added are
// copies, as ops on tensors, and a copy has the elements of what it copies.
// Bufferization sees them before it decides who may overwrite what.
//
// Does the invariant hold? That is not worked out here but read from the very
// analysis that bufferization then follows. Where a yielded value may be in
// another buffer, the tile is given the next of these remedies, and the
// analysis is made anew:
//
//   1. If an scf.if chooses the value, or what it is written over: a copy into
//      the tile in each of the branches that needs one. A branch that leaves
//      the tile alone then costs nothing.
//   2. A copy into the tile at the end of the iteration.
//   3. The same, before all copies of remedy 2, and a copy out of the tile at
//      the beginning, which all else uses instead of the tile. Outside, the
//      tile begins as a copy, and a copy of the result is used.
//
// The third always works: the buffer is touched by its four copies and nothing
// else, and no other tensor shares it. The first two can fail: of two tiles
// that change places, one must be kept while it is overwritten; and tensors
// that a branch or a select chooses between count as one, be it that one of
// them is an argument, which nobody may overwrite. As each round gives at least
// one tile its next remedy, the rounds come to an end.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Bufferize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace tilec {

Value copyInto(OpBuilder &b, Location loc, Value from, Value to) {
  auto type = cast<ShapedType>(to.getType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  SmallVector<Type, 1> results;
  if (isa<RankedTensorType>(type))
    results.push_back(type);
  auto copy = linalg::GenericOp::create(
      b, loc, results, from, to, ArrayRef<AffineMap>{identity, identity}, loops,
      [](OpBuilder &nested, Location loc, ValueRange lanes) {
        linalg::YieldOp::create(nested, loc, lanes.front());
      });
  return results.empty() ? Value() : copy.getResult(0);
}

Value copyOf(OpBuilder &b, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value own =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  return copyInto(b, loc, tensor, own);
}

namespace {

using bufferization::OneShotAnalysisState;

/// A tile that a loop carries, and what has been done for it so far.
struct CarriedTile {
  enum Remedy { None, InBranches, AtEnd, Apart } remedy = None;
  /// Remedy 1: the copies in branches.
  SmallVector<Operation *> inBranches;
  /// Remedies 2 and 3: the copy at the end.
  linalg::GenericOp atEnd;
};

class Carrier {
public:
  explicit Carrier(ModuleOp module) : module(module) {}

  /// Gives the misplaced tiles of each loop in which no other loop has any
  /// their next remedy. Sets `changed` if there were some.
  LogicalResult step(const OneShotAnalysisState &state, bool &changed);

private:
  LogicalResult applyNext(scf::ForOp loop, unsigned number,
                          const OneShotAnalysisState &state);
  bool copyInBranches(OpOperand &operand, Value tile, CarriedTile &known,
                      const OneShotAnalysisState &state);
  void copyAtEnd(scf::ForOp loop, unsigned number);
  void setApart(scf::ForOp loop, unsigned number);

  ModuleOp module;
  llvm::DenseMap<Operation *, SmallVector<CarriedTile>> loops;
};

/// Whether what the loop yields for a tile is in the tile's buffer, and in no
/// buffer from outside of the body, which bufferization would separate by
/// another copy.
bool staysInPlace(scf::ForOp loop, unsigned number,
                  const OneShotAnalysisState &state) {
  BlockArgument tile = loop.getRegionIterArg(number);
  Value yielded = loop.getYieldedValues()[number];
  if (!state.areEquivalentBufferizedValues(yielded, tile))
    return false;
  bool isShared = false;
  Region &body = loop.getRegion();
  state.applyOnAliases(yielded, [&](Value alias) {
    bool isInside = isa<BlockArgument>(alias)
                        ? body.isProperAncestor(alias.getParentRegion())
                        : body.isAncestor(alias.getParentRegion());
    isShared |= alias != tile && !isInside;
  });
  return !isShared;
}

LogicalResult Carrier::applyNext(scf::ForOp loop, unsigned number,
                                 const OneShotAnalysisState &state) {
  SmallVector<CarriedTile> &tiles = loops[loop];
  tiles.resize(loop.getNumRegionIterArgs());
  CarriedTile &known = tiles[number];
  switch (known.remedy) {
  case CarriedTile::None:
    known.remedy = CarriedTile::InBranches;
    if (copyInBranches(loop.getBody()->getTerminator()->getOpOperand(number),
                       loop.getRegionIterArg(number), known, state))
      return success();
    [[fallthrough]];
  case CarriedTile::InBranches:
    known.remedy = CarriedTile::AtEnd;
    for (Operation *copy : known.inBranches) {
      copy->getResult(0).replaceAllUsesWith(copy->getOperand(0));
      copy->erase();
    }
    copyAtEnd(loop, number);
    return success();
  case CarriedTile::AtEnd:
    known.remedy = CarriedTile::Apart;
    setApart(loop, number);
    return success();
  case CarriedTile::Apart:
    return loop.emitOpError("carries tile ")
           << number << ", for which no buffer of its own was found";
  }
  llvm_unreachable("unknown remedy");
}

/// The branch in the block of `operand` that chooses its value, or else what it
/// is written over.
OpResult chosenFor(OpOperand &operand) {
  Block *block = operand.getOwner()->getBlock();
  auto result = dyn_cast<OpResult>(operand.get());
  while (result && result.getOwner()->getBlock() == block) {
    Operation *op = result.getOwner();
    if (isa<scf::IfOp>(op))
      return result;
    Value before;
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      before = dps.getTiedOpOperand(result)->get();
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      before = loop.getTiedLoopInit(result)->get();
    result = dyn_cast_if_present<OpResult>(before);
  }
  return {};
}

/// Remedy 1 for an operand of a yield. False if there is no branch to copy in.
bool Carrier::copyInBranches(OpOperand &operand, Value tile, CarriedTile &known,
                             const OneShotAnalysisState &state) {
  OpResult chosen = chosenFor(operand);
  if (!chosen)
    return false;
  auto branch = cast<scf::IfOp>(chosen.getOwner());
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    OpOperand &inner = yield->getOpOperand(chosen.getResultNumber());
    if (state.areEquivalentBufferizedValues(inner.get(), tile) ||
        copyInBranches(inner, tile, known, state))
      continue;
    OpBuilder b(yield);
    Value copy = copyInto(b, yield.getLoc(), inner.get(), tile);
    inner.set(copy);
    known.inBranches.push_back(copy.getDefiningOp());
  }
  return true;
}

/// A copy into the tile, after all copies there are.
void Carrier::copyAtEnd(scf::ForOp loop, unsigned number) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder b(yield);
  Value copy = copyInto(b, yield->getLoc(), yield->getOperand(number),
                        loop.getRegionIterArg(number));
  yield->setOperand(number, copy);
  loops[loop][number].atEnd = copy.getDefiningOp<linalg::GenericOp>();
}

/// Remedy 3, after remedy 2.
void Carrier::setApart(scf::ForOp loop, unsigned number) {
  Location loc = loop.getLoc();
  BlockArgument tile = loop.getRegionIterArg(number);
  linalg::GenericOp atEnd = loops[loop][number].atEnd;
  for (CarriedTile &other : loops[loop])
    if (other.remedy == CarriedTile::AtEnd &&
        other.atEnd->isBeforeInBlock(atEnd))
      atEnd->moveBefore(other.atEnd);

  OpBuilder b(loop);
  OpOperand &init = loop.getInitArgsMutable()[number];
  init.set(copyOf(b, loc, init.get()));
  b.setInsertionPointToStart(loop.getBody());
  Value before = copyOf(b, loc, tile);
  tile.replaceAllUsesExcept(before, before.getDefiningOp());
  atEnd.setDpsInitOperand(0, tile);
  b.setInsertionPointAfter(loop);
  Value result = loop.getResult(number);
  Value after = copyOf(b, loc, result);
  result.replaceAllUsesExcept(after, after.getDefiningOp());
}

LogicalResult Carrier::step(const OneShotAnalysisState &state, bool &changed) {
  changed = false;
  llvm::SmallPtrSet<Operation *, 8> outer;
  WalkResult walked = module.walk([&](scf::ForOp loop) -> WalkResult {
    if (outer.contains(loop))
      return WalkResult::advance();
    SmallVector<unsigned> misplaced;
    for (auto [i, tile] : llvm::enumerate(loop.getRegionIterArgs()))
      if (isa<RankedTensorType>(tile.getType()) &&
          !staysInPlace(loop, i, state))
        misplaced.push_back(i);
    if (misplaced.empty())
      return WalkResult::advance();
    changed = true;
    for (Operation *op = loop->getParentOp(); op; op = op->getParentOp())
      outer.insert(op);
    for (unsigned i : misplaced)
      if (failed(applyNext(loop, i, state)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

} // namespace

std::unique_ptr<OneShotAnalysisState>
carryInPlace(ModuleOp module,
             const bufferization::OneShotBufferizationOptions &options) {
  Carrier carrier(module);
  while (true) {
    auto state = std::make_unique<OneShotAnalysisState>(module, options);
    bool changed;
    if (failed(bufferization::analyzeOp(module, *state)) ||
        failed(carrier.step(*state, changed)))
      return nullptr;
    if (!changed)
      return state;
  }
}

} // namespace tilec
