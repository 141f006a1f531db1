//===- LongAxisLoops.cpp - What a loop does with one chunk -----*- C++ -*-===//
//
// A loop over chunks has copies of the slice ops that its sinks need, each once
// and with tiles of one chunk: loads and stores move by the chunk's begin, and
// lanes of the last chunk beyond the axis's end are invalid lanes.
//
// Everything is in program order, so that what is read and what is written
// stays so within a chunk.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/ChunkLoop.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;

RankedTensorType ChunkLoop::chunkType(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (int64_t place = axis.axisOf(tile); place >= 0)
    shape[place] = axis.chunk;
  return type.clone(shape);
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

void ChunkLoop::addToSlice(Value tile) {
  if (!axis.isLong(tile) || !slice.insert(tile.getDefiningOp()))
    return;
  for (Value operand : tile.getDefiningOp()->getOperands())
    addToSlice(operand);
}

/// Slice ops are in the block of the sinks or in blocks around it.
static bool isBefore(Operation *a, Operation *b) {
  if (a->getBlock() == b->getBlock())
    return a->isBeforeInBlock(b);
  return a->getBlock()->findAncestorOpInBlock(*b);
}

void ChunkLoop::collectOps() {
  for (const ChunkSink &sink : sinks) {
    // Where all that it is computed from has been.
    Operation *last = sink.op;
    for (const OnlineSum &sum : sink.sums)
      if (isBefore(last, sum.sum))
        last = sum.sum;
    ops.push_back({last, &sink});
    for (Value operand : sink.op->getOperands())
      addToSlice(operand);
    for (const OnlineSum &sum : sink.sums)
      addToSlice(sum.shifted);
  }
  for (Operation *op : slice)
    ops.push_back({op, nullptr});
  llvm::sort(ops, [](const LoopOp &a, const LoopOp &b) {
    return isBefore(a.op, b.op);
  });
}

void ChunkLoop::build() {
  collectOps();
  b.setLoc(sinks.front().op->getLoc());
  for (const LoopOp &op : ops)
    if (op.sink)
      carrySink(*op.sink);
    else if (isLongScan(op.op, axis))
      carryScan(cast<ScanOp>(op.op));

  loop = scf::ForOp::create(b, index(0), index(axis.extent), index(axis.chunk),
                            inits);
  begin = loop.getInductionVar();
  if (!axis.name.empty())
    begin.setLoc(NameLoc::get(b.getStringAttr(StringRef(axis.name).lower()),
                              b.getLoc()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    for (const LoopOp &op : ops)
      if (op.sink)
        computeSink(*op.sink);
      else
        computeSlice(op.op);
    // Without carried values the loop was made with its terminator.
    if (!nexts.empty())
      scf::YieldOp::create(b, loop.getLoc(), nexts);
  }
  unsigned i = 0;
  for (const LoopOp &op : ops)
    if (op.sink)
      i = finishSink(*op.sink, i);
    else
      i += isLongScan(op.op, axis);
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

Value ChunkLoop::validInChunk(Value valid) {
  std::optional<int64_t> known =
      valid ? getConstantIntValue(valid) : std::nullopt;
  if (!valid || (known && *known >= axis.extent)) {
    if (!axis.isPartial())
      return {};
    valid = {};
  }
  Value &cached = validCache[valid];
  if (!cached) {
    // In front of everything, so that it serves the whole loop.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    cached = b.createOrFold<ValidOp>(
        begin, valid ? valid : loop.getUpperBound(), axis.chunk);
  }
  return cached;
}

SmallVector<Value> ChunkLoop::validExtents(RankedTensorType type, int64_t place,
                                           Value valid) {
  SmallVector<Value> extents;
  for (int64_t i = 0; i < type.getRank(); ++i)
    extents.push_back(i == place ? valid : index(type.getDimSize(i)));
  return extents;
}

Value ChunkLoop::neutralize(Value chunk, int64_t place, Pad pad) {
  Value valid = validInChunk({});
  if (!valid)
    return chunk;
  auto type = cast<RankedTensorType>(chunk.getType());
  return SelectValidOp::create(b, type, chunk, validExtents(type, place, valid),
                               pad);
}

//===----------------------------------------------------------------------===//
// Slice ops, and sinks without results
//===----------------------------------------------------------------------===//

/// Moves an access to a block, whose tile is `tile` of the long op, to the
/// chunk.
template <typename AccessOp>
void ChunkLoop::moveBlock(AccessOp op, Value tile) {
  int64_t place = axis.axisOf(tile), dim = op.getDims()[place];
  Value at = op.getIndices()[dim];
  Value moved = isConstantIntValue(at, 0)
                    ? begin
                    : arith::AddIOp::create(b, at, begin).getResult();
  op.getIndicesMutable()[dim].assign(moved);
  Value given = op.getValid().empty() ? Value() : op.getValid()[place];
  Value valid = validInChunk(given);
  if (!valid) {
    if (!given)
      return;
    valid = index(axis.chunk);
  }
  if (given)
    op.getValidMutable()[place].assign(valid);
  else
    op.getValidMutable().assign(validExtents(chunkType(tile), place, valid));
}

/// Excludes the lanes beyond the axis's end from an access to elements.
template <typename AccessOp>
void ChunkLoop::maskElements(AccessOp op, Value tile) {
  if (!validInChunk({}))
    return;
  RankedTensorType type = chunkType(tile).clone(b.getI1Type());
  Value mask = op.getMask();
  if (!mask)
    mask = constantLike(type, Pad::One);
  else if (!isa<RankedTensorType>(mask.getType()))
    mask = tensor::SplatOp::create(b, mask, type);
  op.getMaskMutable().assign(neutralize(mask, axis.axisOf(tile), Pad::Zero));
}

void ChunkLoop::limitSelect(SelectValidOp op, SelectValidOp original) {
  int64_t place = axis.axisOf(original.getResult());
  Value valid = validInChunk(original.getValid()[place]);
  op.getValidMutable()[place].assign(valid ? valid : index(axis.chunk));
}

/// A copy in which long tiles are chunks. What has to be known of the place of
/// the chunk is put in.
Operation *ChunkLoop::cloneOnChunk(Operation *op) {
  Operation *copy = b.clone(*op, mapping);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
    if (axis.isLong(from))
      to.setType(chunkType(from));
  b.setInsertionPoint(copy);
  if (number > 0 && isa<LoadOp, GatherOp>(copy))
    copy->setAttr(kRereadAttr, b.getIndexAttr(number));
  llvm::TypeSwitch<Operation *>(copy)
      .Case([&](LoadOp load) { moveBlock(load, op->getResult(0)); })
      .Case([&](StoreOp store) { moveBlock(store, op->getOperand(0)); })
      .Case([&](AtomicAddOp add) { moveBlock(add, op->getOperand(0)); })
      .Case([&](GatherOp gather) { maskElements(gather, op->getResult(0)); })
      .Case([&](ScatterAddOp scatter) {
        maskElements(scatter, op->getOperand(0));
      })
      .Case([&](IotaOp iota) {
        Value at = iota.getBegin();
        iota.getBeginMutable().assign(
            isConstantIntValue(at, 0)
                ? begin
                : arith::AddIOp::create(b, at, begin).getResult());
      })
      .Case([&](SelectValidOp select) {
        limitSelect(select, cast<SelectValidOp>(op));
      })
      .Case([&](AssertOp assertion) {
        assertion.getConditionMutable().assign(
            neutralize(assertion.getCondition(), axis.axisOf(op->getOperand(0)),
                       Pad::One));
      })
      .Case([&](arith::ConstantOp constant) {
        auto type = cast<RankedTensorType>(constant.getType());
        constant.setValueAttr(
            cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
      });
  b.setInsertionPointAfter(copy);
  return copy;
}

void ChunkLoop::computeSlice(Operation *op) {
  b.setLoc(op->getLoc());
  if (isLongScan(op, axis))
    return computeScan(cast<ScanOp>(op));
  cloneOnChunk(op);
}

void ChunkLoop::computeSink(const ChunkSink &sink) {
  b.setLoc(sink.op->getLoc());
  if (!sink.sums.empty())
    return computeOnline(sink);
  llvm::TypeSwitch<Operation *>(sink.op)
      .Case([&](ReduceOp op) { computeReduce(op); })
      .Case([&](ArgReduceOp op) { computeArgReduce(op); })
      .Case([&](DotOp op) { computeDot(op); })
      .Default([&](Operation *op) { cloneOnChunk(op); });
}

void mlir::tile::applyPlan(const BlockPlan &plan, const LongAxis &axis,
                           unsigned &numLoops) {
  Operation *end = plan.block->getTerminator();
  for (const PlanStep &step : plan.steps) {
    if (step.op) {
      step.op->moveBefore(end);
      continue;
    }
    ChunkLoop(axis, step.sinks, end, numLoops++).build();
  }
}
