//===- SimplifyPads.cpp - Drops needless tile.select_valid -----*- C++ -*-===//
//
// Whoever builds the IR puts a tile.select_valid in front of every op that
// combines lanes. This removes those that change nothing, because the lanes
// hold the number anyway, could have been loaded with it, or are not looked at.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/PadAnalysis.h"
#include "dialects/Tile/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILESIMPLIFYPADS
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

static TypedAttr padOf(SelectValidOp op) {
  return getPadValue(op.getPad(), op.getType().getElementType());
}

/// Removes an op whose invalid lanes hold its pad already; on axes where only
/// some do, it need not look at them.
static bool removeProven(SelectValidOp op, PadAnalysis &pads) {
  TypedAttr pad = padOf(op);
  RankedTensorType type = op.getType();
  bool isNeeded = false;
  SmallVector<int64_t> proven;
  for (auto [axis, valid] : llvm::enumerate(op.getValid())) {
    if (coversAxis(valid, type.getDimSize(axis)))
      continue;
    if (pads.query(op.getValue(), axis, valid) == pad)
      proven.push_back(axis);
    else
      isNeeded = true;
  }
  if (!isNeeded) {
    op.replaceAllUsesWith(op.getValue());
    op.erase();
    return true;
  }
  OpBuilder builder(op);
  bool changed = false;
  for (int64_t axis : proven) {
    if (type.isDynamicDim(axis))
      continue;
    op.getValidMutable()[axis].assign(arith::ConstantIndexOp::create(
        builder, op.getLoc(), type.getDimSize(axis)));
    changed = true;
  }
  return changed;
}

/// Loads with the pad at once, also through elementwise ops of one operand (a
/// conversion) that turn some other pad into the wanted one.
static bool pushIntoLoad(SelectValidOp op) {
  SmallVector<Operation *> chain; // From the select towards the load.
  Value value = op.getValue();
  while (!value.getDefiningOp<LoadOp>()) {
    Operation *def = value.getDefiningOp();
    if (!def || !def->hasOneUse() || def->getNumOperands() != 1 ||
        !OpTrait::hasElementwiseMappableTraits(def))
      return false;
    chain.push_back(def);
    value = def->getOperand(0);
  }
  auto load = value.getDefiningOp<LoadOp>();
  // A false predicate puts the pad into valid lanes too.
  if (!load->hasOneUse() || load.getPredicate() || load.getValid().empty())
    return false;
  // The lanes that change must be those that the select overwrites, or invalid
  // ones of an axis that it leaves alone: of those nothing was known behind it,
  // as its pad is another than that of the load.
  for (auto [axis, valid] : llvm::enumerate(op.getValid()))
    if (load.getValid()[axis] != valid &&
        !coversAxis(valid, op.getType().getDimSize(axis)))
      return false;
  auto becomes = [&](Pad pad) {
    TypedAttr number = getPadValue(pad, load.getType().getElementType());
    for (Operation *link : llvm::reverse(chain))
      if (number)
        number = PadAnalysis::foldElementwise(link, number);
    return number;
  };
  TypedAttr wanted = padOf(op);
  for (Pad pad : {Pad::Zero, Pad::One, Pad::Lowest, Pad::Highest}) {
    if (becomes(pad) != wanted)
      continue;
    load.setPad(pad);
    op.replaceAllUsesWith(op.getValue());
    op.erase();
    return true;
  }
  return false;
}

/// Whether every lane below `read` on all axes (all lanes if `read` is empty)
/// keeps its value.
static bool keepsLanes(SelectValidOp op, ValueRange read) {
  for (auto [axis, valid] : llvm::enumerate(op.getValid())) {
    if (coversAxis(valid, op.getType().getDimSize(axis)))
      continue;
    if (read.empty() || !isValidAtMost(read[axis], valid))
      return false;
  }
  return true;
}

/// Ops that do not look at invalid lanes themselves.
static bool bypassUnread(Operation *op) {
  auto bypass = [](OpOperand &operand, ValueRange read) {
    auto select = operand.get().getDefiningOp<SelectValidOp>();
    if (!select || !keepsLanes(select, read))
      return false;
    operand.set(select.getValue());
    return true;
  };
  if (auto store = dyn_cast<StoreOp>(op))
    return bypass(store.getValueMutable(), store.getValid());
  if (auto add = dyn_cast<AtomicAddOp>(op))
    return bypass(add.getValueMutable(), add.getValid());
  return false;
}

/// tile.arg_reduce skips invalid lanes along its own axis.
static bool bypassArgReduce(ArgReduceOp op) {
  auto select = op.getValue().getDefiningOp<SelectValidOp>();
  if (!select || !op.getValid())
    return false;
  for (auto [axis, valid] : llvm::enumerate(select.getValid())) {
    if (coversAxis(valid, select.getType().getDimSize(axis)))
      continue;
    if (axis != op.getAxis() || !isValidAtMost(op.getValid(), valid))
      return false;
  }
  op.getValueMutable().assign(select.getValue());
  return true;
}

namespace {

struct SimplifyPadsPass : tile::impl::TileSimplifyPadsBase<SimplifyPadsPass> {
  void runOnOperation() override {
    // A load with another pad may prove more, hence the repetition; each round
    // but the last removes an op, a use of one or an axis.
    while (runOnce())
      ;
  }

  bool runOnce() {
    bool changed = false;
    SmallVector<SelectValidOp> selects;
    getOperation()->walk([&](Operation *op) {
      changed |= bypassUnread(op);
      if (auto reduce = dyn_cast<ArgReduceOp>(op))
        changed |= bypassArgReduce(reduce);
      if (auto select = dyn_cast<SelectValidOp>(op))
        selects.push_back(select);
    });
    for (SelectValidOp op : selects) {
      if (op->use_empty()) {
        op.erase();
        changed = true;
        continue;
      }
      // Of its own: the last round's changes would leave wrong answers.
      PadAnalysis pads;
      changed |= removeProven(op, pads) || pushIntoLoad(op);
    }
    return changed;
  }
};

} // namespace
