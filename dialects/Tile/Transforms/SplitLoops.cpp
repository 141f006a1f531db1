//===- SplitLoops.cpp - Full and partial ranges of loops -------*- C++ -*-===//
//
// Finds out what the tiles of a loop have in common (lib/Analysis, through
// MaskTranslator), makes a copy of the loop for each range of tiles, and takes
// out of the copy for full tiles what is known there.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/SplitLoops.h"

#include "dialects/Tile/Transforms/MaskTranslator.h"
#include "dialects/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILESPLITLOOPS
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;
using tilec::IndexExpr;
using tilec::MaskExpr;
using tilec::MaskRanges;
using tilec::TileSplit;

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

namespace {

/// The condition under which an iteration does anything.
struct Guard {
  scf::IfOp op;
  /// What is true for tiles in which something is visible: a tile of i1 of
  /// which any lane is asked for, or a scalar.
  Value mask;
  /// Valid extents outside which the mask does not count.
  SmallVector<Value> valid;
};

class LoopSplitter {
public:
  LoopSplitter(scf::ForOp loop, int64_t tileSize, bool keepCopies)
      : loop(loop), tileSize(tileSize), keepCopies(keepCopies),
        translator(loop, tileSize) {}

  bool split();

private:
  std::optional<Guard> findGuard();
  bool isSkippable(scf::IfOp guard);
  void findValids();
  void findMasks();
  bool onlyCopies();
  MaskRanges analyze();
  bool guardHoldsInFullTiles();
  void emit(const TileSplit &split);
  scf::ForOp emitRange(OpBuilder &builder, Value lower, Value upper,
                       ValueRange inits, bool isFull);
  void specialize(OpBuilder &builder, const IRMapping &mapping);
  bool miss(const Twine &reason);
  void reportSplit(const TileSplit &split, const MaskRanges &ranges);

  scf::ForOp loop;
  int64_t tileSize;
  bool keepCopies;
  MaskTranslator translator;
  std::optional<Guard> guard;
  /// The valid extents of the loop's own tiles.
  SmallVector<ValidOp> valids;
  /// Masks that are true in full tiles.
  SmallVector<Value> masks;
};

} // namespace

bool LoopSplitter::miss(const Twine &reason) {
  auto kernel = loop->getParentOfType<KernelOp>();
  remark::missed(loop.getLoc(), remark::RemarkOpts::name("not-split")
                                    .category(kSplitLoopsCategory)
                                    .function(kernel.getName()))
      << reason.str();
  return false;
}

/// `value` without the select_valid that hide its invalid lanes.
static Value stripSelectValid(Value value, SmallVectorImpl<Value> *valid) {
  while (auto select = value.getDefiningOp<SelectValidOp>()) {
    if (select.getPad() != Pad::Zero)
      break;
    if (valid)
      llvm::append_range(*valid, select.getValid());
    value = select.getValue();
  }
  return value;
}

/// Whether leaving out an iteration whose guard is false changes nothing: all
/// effects are inside the guard and what the loop carries passes through.
bool LoopSplitter::isSkippable(scf::IfOp op) {
  auto hasOnlyReads = [](Operation &other) {
    if (other.hasTrait<OpTrait::IsTerminator>())
      return true;
    std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
        getEffectsRecursively(&other);
    return effects && llvm::all_of(*effects, [](const auto &effect) {
             return isa<MemoryEffects::Read>(effect.getEffect());
           });
  };
  for (Operation &other : *loop.getBody())
    if (&other != op && !hasOnlyReads(other))
      return false;
  Block *otherwise = op.elseBlock();
  if (otherwise && !llvm::all_of(*otherwise, hasOnlyReads))
    return false;
  for (auto [yielded, carried] :
       llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs())) {
    if (yielded == carried)
      continue;
    auto result = dyn_cast<OpResult>(yielded);
    if (!result || result.getOwner() != op || !otherwise ||
        op.elseYield().getOperand(result.getResultNumber()) != carried)
      return false;
  }
  return true;
}

std::optional<Guard> LoopSplitter::findGuard() {
  for (auto op : loop.getBody()->getOps<scf::IfOp>()) {
    Guard found{op, op.getCondition(), {}};
    if (auto extract = found.mask.getDefiningOp<tensor::ExtractOp>())
      if (auto reduce = extract.getTensor().getDefiningOp<ReduceOp>();
          reduce && reduce.getKind() == ReduceKind::Any)
        found.mask = reduce.getValue();
    if (isSkippable(op))
      return found;
  }
  return std::nullopt;
}

/// Valid extents that are the tile size wherever the tile ends before the loop
/// does.
void LoopSplitter::findValids() {
  IndexExpr end = translator.loopAxis().end;
  loop.walk([&](ValidOp valid) {
    if (valid.getBegin() == loop.getInductionVar() &&
        static_cast<int64_t>(valid.getSize()) == tileSize &&
        (valid.getExtent() == loop.getUpperBound() ||
         provablyLessEqual(end, translator.scalar(valid.getExtent()))))
      valids.push_back(valid);
  });
}

/// With a guard, its mask; otherwise the masks by which values are selected.
void LoopSplitter::findMasks() {
  if (guard) {
    masks.push_back(stripSelectValid(guard->mask, &guard->valid));
    return;
  }
  llvm::SetVector<Value> conditions;
  loop.walk([&](arith::SelectOp select) {
    Value condition = stripSelectValid(select.getCondition(), nullptr);
    if (isa<RankedTensorType>(condition.getType()))
      conditions.insert(condition);
  });
  for (Value condition : conditions) {
    MaskExpr mask = translator.mask(condition);
    MaskRanges ranges =
        analyzeMask(mask, translator.loopAxis(), translator.rowAxes());
    if (!ranges.all.provablyEmpty())
      masks.push_back(condition);
  }
}

MaskRanges LoopSplitter::analyze() {
  MaskExpr inFull(true), visited(true);
  for (Value mask : masks)
    inFull = inFull && translator.mask(mask);
  if (guard)
    visited = translator.mask(guard->mask);
  const tilec::LoopAxis &axis = translator.loopAxis();
  return {analyzeMask(visited, axis, translator.rowAxes()).any,
          analyzeMask(inFull, axis, translator.rowAxes()).all};
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Whether the guard is true where its mask is true on all lanes: some lane has
/// to be valid.
bool LoopSplitter::guardHoldsInFullTiles() {
  auto isPositive = [&](Value valid) {
    if (std::optional<int64_t> constant = getConstantIntValue(valid))
      return *constant > 0;
    auto op = valid.getDefiningOp<ValidOp>();
    if (!op)
      return false;
    if (llvm::is_contained(valids, op))
      return true;
    // The tile of an enclosing loop that ends with the axis.
    auto iv = dyn_cast<BlockArgument>(op.getBegin());
    auto outer =
        iv ? dyn_cast_or_null<LoopLikeOpInterface>(iv.getOwner()->getParentOp())
           : LoopLikeOpInterface();
    if (!outer || !outer.getLoopInductionVars() || !outer.getLoopUpperBounds())
      return false;
    for (auto [candidate, upper] :
         llvm::zip(*outer.getLoopInductionVars(), *outer.getLoopUpperBounds()))
      if (candidate == iv)
        return isEqualConstantIntOrValue(upper, op.getExtent());
    return false;
  };
  return llvm::all_of(guard->valid, isPositive);
}

/// In a copy of the body for full tiles: puts in what is known there.
void LoopSplitter::specialize(OpBuilder &builder, const IRMapping &mapping) {
  OpBuilder::InsertionGuard restore(builder);
  for (ValidOp valid : valids) {
    Value copy = mapping.lookup(valid.getResult());
    builder.setInsertionPointAfterValue(copy);
    copy.replaceAllUsesWith(
        arith::ConstantIndexOp::create(builder, valid.getLoc(), tileSize));
  }
  // Of a conjunction that is true, both parts are.
  SmallVector<Value> known(masks);
  while (!known.empty()) {
    Value mask = known.pop_back_val();
    Operation *op = mask.getDefiningOp();
    if (!op || !loop->isAncestor(op))
      continue;
    if (isa<arith::AndIOp, BroadcastOp, tensor::SplatOp>(op))
      known.push_back(op->getOperand(0));
    if (isa<arith::AndIOp>(op))
      known.push_back(op->getOperand(1));
    if (isa<SelectValidOp>(op) && cast<SelectValidOp>(op).getPad() == Pad::Zero)
      known.push_back(op->getOperand(0));
    auto type = dyn_cast<RankedTensorType>(mask.getType());
    if (type && !type.hasStaticShape())
      continue;
    TypedAttr yes = type ? cast<TypedAttr>(DenseElementsAttr::get(type, true))
                         : cast<TypedAttr>(builder.getBoolAttr(true));
    Value copy = mapping.lookup(mask);
    builder.setInsertionPointAfterValue(copy);
    copy.replaceAllUsesWith(
        arith::ConstantOp::create(builder, mask.getLoc(), yes));
  }
  if (guard && guardHoldsInFullTiles()) {
    auto copy = cast<scf::IfOp>(mapping.lookup(guard->op.getOperation()));
    builder.setInsertionPoint(copy);
    copy.getConditionMutable().assign(arith::ConstantOp::create(
        builder, copy.getLoc(), builder.getBoolAttr(true)));
  }
}

scf::ForOp LoopSplitter::emitRange(OpBuilder &builder, Value lower, Value upper,
                                   ValueRange inits, bool isFull) {
  auto copy = scf::ForOp::create(builder, loop.getLoc(), lower, upper,
                                 loop.getStep(), inits);
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  copy->setAttr(kRangeAttr, builder.getStringAttr(isFull ? "full" : "partial"));
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(),
                                   copy.getBody()->getArguments())) {
    to.setLoc(from.getLoc()); // Which holds its name.
    mapping.map(from, to);
  }
  OpBuilder::InsertionGuard restore(builder);
  builder.setInsertionPointToStart(copy.getBody());
  // Without carried values the copy was made with its terminator.
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
  if (!inits.empty())
    builder.clone(*loop.getBody()->getTerminator(), mapping);
  if (isFull)
    specialize(builder, mapping);
  return copy;
}

void LoopSplitter::emit(const TileSplit &split) {
  OpBuilder builder(loop);
  IndexExprBuilder bounds(translator, builder, loop.getLoc());
  SmallVector<Value> carried(loop.getInits());
  auto range = [&](const IndexExpr &lo, const IndexExpr &hi, bool isFull) {
    Value lower = bounds.emit(lo), upper = bounds.emit(hi);
    scf::ForOp copy = emitRange(builder, lower, upper, carried, isFull);
    carried.assign(copy.getResults().begin(), copy.getResults().end());
    builder.setInsertionPointAfter(copy);
  };
  if (split.hasLeading())
    range(split.visitLo, split.fullLo, /*isFull=*/false);
  if (split.hasFull())
    range(split.fullLo, split.fullHi, /*isFull=*/true);
  if (split.hasTrailing())
    range(split.fullHi, split.visitHi, /*isFull=*/false);
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

/// Says what became of the loop, in terms of positions: the loops' bounds are
/// those rounded to tiles, and long.
void LoopSplitter::reportSplit(const TileSplit &split,
                               const MaskRanges &ranges) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto describe = [&](const tilec::PositionRange &range) {
    constexpr unsigned maxSize = 40;
    if (range.lo.size() + range.hi.size() > maxSize)
      os << "a range known at run time";
    else
      os << range;
  };
  SmallVector<StringRef, 3> parts;
  if (split.hasLeading())
    parts.push_back("partial");
  if (split.hasFull())
    parts.push_back("full");
  if (split.hasTrailing())
    parts.push_back("partial");
  if (parts.empty())
    parts.push_back("nothing");
  os << "split into " << llvm::join(parts, ", ") << ": visits ";
  describe(ranges.any);
  if (split.hasFull()) {
    os << ", full in ";
    describe(ranges.all);
  }
  auto kernel = loop->getParentOfType<KernelOp>();
  remark::passed(loop.getLoc(), remark::RemarkOpts::name("split")
                                    .category(kSplitLoopsCategory)
                                    .function(kernel.getName()))
      << text;
}

/// Whether the extents of the loop's tiles matter to nothing but operands of
/// dots, straight from memory.
bool LoopSplitter::onlyCopies() {
  auto feedsDots = [](Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      if (auto select = dyn_cast<SelectValidOp>(user))
        return select.getPad() == Pad::Zero &&
               llvm::all_of(select->getUsers(), llvm::IsaPred<DotOp>);
      return isa<DotOp>(user);
    });
  };
  return llvm::all_of(valids, [&](ValidOp valid) {
    return llvm::all_of(valid->getUsers(), [&](Operation *user) {
      if (auto select = dyn_cast<SelectValidOp>(user))
        return select.getValue().getDefiningOp<LoadOp>() &&
               feedsDots(select.getValue());
      auto load = dyn_cast<LoadOp>(user);
      return load && load.getPad() == Pad::Zero && feedsDots(load.getResult());
    });
  });
}

bool LoopSplitter::split() {
  guard = findGuard();
  findValids();
  findMasks();
  if (valids.empty() && masks.empty())
    return miss("nothing in its body depends on which tile it is");
  if (keepCopies && masks.empty() && !guard && onlyCopies())
    return miss("copies of operands may be cut short");

  MaskRanges ranges = analyze();
  const tilec::LoopAxis &axis = translator.loopAxis();
  TileSplit split = splitTiles(ranges, axis);
  bool visitsAll = provablyLessEqual(split.visitLo, axis.begin) &&
                   provablyLessEqual(axis.end, split.visitHi);
  if (!split.hasFull() && visitsAll)
    return miss(valids.empty() || !masks.empty()
                    ? "no tile is known to be free of the mask"
                    : "no tile is known to be full");

  reportSplit(split, ranges);
  emit(split);
  return true;
}

bool mlir::tile::splitLoop(scf::ForOp loop, bool keepCopies) {
  auto miss = [&](StringRef reason) {
    auto kernel = loop->getParentOfType<KernelOp>();
    remark::missed(loop.getLoc(), remark::RemarkOpts::name("not-split")
                                      .category(kSplitLoopsCategory)
                                      .function(kernel.getName()))
        << reason.str();
    return false;
  };
  if (loop->hasAttr(kRangeAttr))
    return false;
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!step || *step < 1)
    return miss("its step is not a positive constant");
  auto isLoop = [&](LoopLikeOpInterface inner) {
    return inner != loop ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (loop.walk(isLoop).wasInterrupted())
    return miss("it contains another loop");
  if (!loop.getInductionVar().getType().isIndex())
    return miss("its variable is not an index");
  return LoopSplitter(loop, *step, keepCopies).split();
}

namespace {

struct SplitLoopsPass : tile::impl::TileSplitLoopsBase<SplitLoopsPass> {
  using TileSplitLoopsBase::TileSplitLoopsBase;

  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation()->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels) {
      if (versionGrid)
        tile::versionGrid(kernel);
      SmallVector<scf::ForOp> loops;
      kernel.walk([&](scf::ForOp loop) {
        // The body for cut-off tiles is not worth more code.
        auto version = loop->getParentOfType<scf::IfOp>();
        while (version && !version->hasAttr(kVersionedAttr))
          version = version->getParentOfType<scf::IfOp>();
        if (!version ||
            !version.getElseRegion().isAncestor(loop->getParentRegion()))
          loops.push_back(loop);
      });
      for (scf::ForOp loop : loops)
        splitLoop(loop, keepCopies);
    }
  }
};

} // namespace
