//===- LongAxisResults.cpp - What a loop over chunks carries ---*- C++ -*-===//
//
// For each sink with results: what an iteration makes of what the ones before
// have found, and of its chunk x.
//
//   reduce      a' = a op (reduce x)
//   dot         a' = dot x, y acc a
//   scan        result = a op (scan x),  a' = a op (reduce x)
//   arg_reduce  (v, i)' = x's own (v, i) if that is better, else (v, i);
//               i = -1 is worse than everything
//
// and for the sum of exponentials relative to a reference r(m) of the maximum
// (OnlineSoftmax.cpp), the online form
//
//   m' = max(m, max x)     s' = s exp(m - r(m')) + sum exp(x - r(m'))
//
// The old sum is relative to r(m), and yet m is what the factor has: they
// differ only if m is infinite. For -inf, s is 0, and exp(-inf - r) keeps it;
// for inf, r = 0, s is inf, and exp(inf - 0) keeps that.
//
// If m is its own reference, -inf - -inf would be NaN for a chunk of -inf, even
// if finite numbers follow. So r is 0 for that m here; a row of nothing else is
// made NaN in the end.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/ChunkLoop.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

Value ChunkLoop::constantLike(Type type, Pad pad) {
  TypedAttr number = getPadValue(pad, getElementTypeOrSelf(type));
  if (auto tile = dyn_cast<RankedTensorType>(type))
    number = SplatElementsAttr::get(tile, number);
  return arith::ConstantOp::create(b, number);
}

Type ChunkLoop::heldType(RankedTensorType tile) {
  return tile.getRank() == 0 ? tile.getElementType() : Type(tile);
}

Value ChunkLoop::held(Value tile) {
  if (cast<RankedTensorType>(tile.getType()).getRank() != 0)
    return tile;
  return tensor::ExtractOp::create(b, tile, ValueRange());
}

Value ChunkLoop::combine(ReduceKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? arith::AddFOp::create(b, x, y).getResult()
                   : arith::AddIOp::create(b, x, y).getResult();
  case ReduceKind::Prod:
    return isFloat ? arith::MulFOp::create(b, x, y).getResult()
                   : arith::MulIOp::create(b, x, y).getResult();
  case ReduceKind::Max:
    return isFloat ? arith::MaximumFOp::create(b, x, y).getResult()
                   : arith::MaxSIOp::create(b, x, y).getResult();
  case ReduceKind::Min:
    return isFloat ? arith::MinimumFOp::create(b, x, y).getResult()
                   : arith::MinSIOp::create(b, x, y).getResult();
  case ReduceKind::FMax:
    return arith::MaxNumFOp::create(b, x, y);
  case ReduceKind::FMin:
    return arith::MinNumFOp::create(b, x, y);
  case ReduceKind::Any:
    return arith::OrIOp::create(b, x, y);
  case ReduceKind::All:
    return arith::AndIOp::create(b, x, y);
  }
  llvm_unreachable("unknown reduction");
}

/// What is held of a tile without the axes `dropped` of `type`, repeated along
/// them.
Value ChunkLoop::repeat(Value held, RankedTensorType type,
                        ArrayRef<int64_t> dropped) {
  if (!isa<RankedTensorType>(held.getType()))
    return tensor::SplatOp::create(b, held, type);
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(dropped, i))
      dims.push_back(i);
  return BroadcastOp::create(b, type, held, ValueRange(), dims);
}

//===----------------------------------------------------------------------===//
// Reductions, products, scans
//===----------------------------------------------------------------------===//

void ChunkLoop::carrySink(const ChunkSink &sink) {
  llvm::TypeSwitch<Operation *>(sink.op)
      .Case([&](ReduceOp op) {
        carry(
            constantLike(heldType(op.getType()), *getNeutralPad(op.getKind())));
      })
      .Case([&](DotOp op) {
        carry(op.getAcc() ? op.getAcc()
                          : constantLike(op.getType(), Pad::Zero));
      })
      .Case([&](ArgReduceOp op) {
        // The type in which elements are compared.
        Type element = op.getValue().getType().getElementType();
        if (auto floating = dyn_cast<FloatType>(element)) {
          if (floating.getWidth() < 32)
            element = b.getF32Type();
        } else if (element.getIntOrFloatBitWidth() < 32) {
          element = b.getI32Type();
        }
        auto type = cast<RankedTensorType>(op.getType());
        carry(constantLike(heldType(type.clone(element)),
                           *getNeutralPad(op.getKind())));
        TypedAttr none = b.getI64IntegerAttr(-1);
        if (type.getRank() != 0)
          none = SplatElementsAttr::get(type, none);
        carry(arith::ConstantOp::create(b, none));
      });
  for (const OnlineSum &sum : sink.sums) {
    ReduceOp reduce = sum.sum;
    carry(constantLike(heldType(reduce.getType()), Pad::Zero));
  }
}

Value ChunkLoop::reduceChunk(ReduceOp op, Value chunk) {
  chunk = neutralize(chunk, axis.axisOf(op.getValue()),
                     *getNeutralPad(op.getKind()));
  return held(
      ReduceOp::create(b, op.getType(), op.getKind(), chunk, op.getAxes()));
}

void ChunkLoop::computeReduce(ReduceOp op) {
  Value before = carried(nexts.size());
  next(combine(op.getKind(), before, reduceChunk(op, chunkOf(op.getValue()))));
}

void ChunkLoop::computeDot(DotOp op) {
  auto operand = [&](Value tile) {
    return neutralize(chunkOf(tile), axis.axisOf(tile), Pad::Zero);
  };
  Value before = carried(nexts.size());
  next(DotOp::create(b, op.getType(), operand(op.getLhs()),
                     operand(op.getRhs()), before, op.getLhsContractAttr(),
                     op.getRhsContractAttr(), op.getLhsBatchAttr(),
                     op.getRhsBatchAttr(), op.getPrecisionAttr(),
                     op.getLhsUnsignedAttr(), op.getRhsUnsignedAttr()));
}

void ChunkLoop::carryScan(ScanOp op) {
  SmallVector<int64_t> shape(op.getType().getShape());
  shape.erase(shape.begin() + op.getAxis());
  carry(constantLike(heldType(op.getType().clone(shape)),
                     *getNeutralPad(op.getKind())));
}

void ChunkLoop::computeScan(ScanOp op) {
  // Behind the axis's end comes nothing that would see what is there.
  Value chunk = chunkOf(op.getValue()), before = carried(nexts.size());
  int64_t place = op.getAxis();
  auto type = cast<RankedTensorType>(chunk.getType());
  Value own = ScanOp::create(b, type, op.getKind(), chunk, op.getAxis());
  mapping.map(op.getResult(),
              combine(op.getKind(), repeat(before, type, place), own));
  SmallVector<int64_t> rest(type.getShape());
  rest.erase(rest.begin() + place);
  Value all = ReduceOp::create(b, type.clone(rest), op.getKind(), chunk, place);
  next(combine(op.getKind(), before, held(all)));
}

void ChunkLoop::computeArgReduce(ArgReduceOp op) {
  Value best = carried(nexts.size()), place = carried(nexts.size() + 1);
  auto places = cast<RankedTensorType>(op.getType());
  auto values = places.clone(getElementTypeOrSelf(best.getType()));
  int64_t along = op.getAxis();
  bool isMax = op.getKind() == ReduceKind::Max;

  Value chunk = chunkOf(op.getValue());
  Value valid = validInChunk(op.getValid());
  Value own =
      held(ArgReduceOp::create(b, places, op.getKind(), chunk, valid, along));
  auto type =
      cast<RankedTensorType>(chunk.getType()).clone(values.getElementType());
  bool isFloat = isa<FloatType>(type.getElementType());
  if (chunk.getType() != type)
    chunk = isFloat ? arith::ExtFOp::create(b, type, chunk).getResult()
                    : arith::ExtSIOp::create(b, type, chunk).getResult();
  if (valid)
    chunk =
        SelectValidOp::create(b, type, chunk, validExtents(type, along, valid),
                              *getNeutralPad(op.getKind()));
  Value ownBest = held(ReduceOp::create(b, values, op.getKind(), chunk, along));

  Value isBetter;
  if (isFloat) {
    auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) {
      return arith::CmpFOp::create(b, predicate, x, y).getResult();
    };
    // The first NaN is better than all numbers.
    Value isFirstNaN = arith::AndIOp::create(
        b, compare(arith::CmpFPredicate::UNO, ownBest, ownBest),
        compare(arith::CmpFPredicate::ORD, best, best));
    isBetter = arith::OrIOp::create(
        b,
        compare(isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT,
                ownBest, best),
        isFirstNaN);
  } else {
    isBetter = arith::CmpIOp::create(
        b, isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt,
        ownBest, best);
  }
  Value zero = constantLike(place.getType(), Pad::Zero);
  auto isNegative = [&](Value x) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, zero);
  };
  isBetter = arith::OrIOp::create(b, isBetter, isNegative(place));
  Value offset = arith::IndexCastOp::create(b, b.getI64Type(), begin);
  if (places.getRank() != 0)
    offset = tensor::SplatOp::create(b, offset, places);
  Value shifted = arith::AddIOp::create(b, own, offset);
  // A chunk without valid lanes has no place of its own.
  if (op.getValid())
    shifted = arith::SelectOp::create(b, isNegative(own), place, shifted);
  next(arith::SelectOp::create(b, isBetter, ownBest, best));
  next(arith::SelectOp::create(b, isBetter, shifted, place));
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value ChunkLoop::isInfinite(Value x, bool negativeOnly) {
  if (!negativeOnly)
    x = math::AbsFOp::create(b, x);
  Value infinity =
      constantLike(x.getType(), negativeOnly ? Pad::Lowest : Pad::Highest);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, infinity);
}

Value ChunkLoop::referenceOf(Value max, OnlineReference reference) {
  bool negativeOnly = reference != OnlineReference::FiniteMaxOrZero;
  return arith::SelectOp::create(b, isInfinite(max, negativeOnly),
                                 constantLike(max.getType(), Pad::Zero), max);
}

void ChunkLoop::computeOnline(const ChunkSink &sink) {
  auto op = cast<ReduceOp>(sink.op);
  Value before = carried(nexts.size());
  Value max =
      combine(ReduceKind::Max, before, reduceChunk(op, chunkOf(op.getValue())));
  next(max);
  for (const OnlineSum &sum : sink.sums) {
    ReduceOp reduce = sum.sum;
    b.setLoc(reduce.getLoc());
    Value sumBefore = carried(nexts.size());
    auto exponential = [&](Value x, Value y) -> Value {
      Value difference = arith::SubFOp::create(b, x, y);
      if (isa<math::ExpOp>(sum.exponential))
        return math::ExpOp::create(b, difference);
      return math::Exp2Op::create(b, difference);
    };
    Value reference = referenceOf(max, sum.reference);
    Value shifted = chunkOf(sum.shifted);
    Value chunk = exponential(
        shifted, repeat(reference, cast<RankedTensorType>(shifted.getType()),
                        reduce.getAxes()));
    for (SelectValidOp select : sum.selects) {
      auto copy = SelectValidOp::create(b, chunk.getType(), chunk,
                                        select.getValid(), select.getPad());
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(copy);
      limitSelect(copy, select);
      chunk = copy;
    }
    Value kept =
        arith::MulFOp::create(b, sumBefore, exponential(before, reference));
    next(arith::AddFOp::create(b, kept, reduceChunk(reduce, chunk)));
  }
}

/// Replaces the sink's results by the loop's from number `i` on; returns the
/// number of the next sink's.
unsigned ChunkLoop::finishSink(const ChunkSink &sink, unsigned i) {
  if (sink.op->getNumResults() == 0)
    return i;
  b.setInsertionPointAfter(loop);
  if (isa<ArgReduceOp>(sink.op))
    ++i; // The value itself nobody asked for.
  auto replace = [&](Value result, Value by) {
    if (by.getType() != result.getType())
      by = tensor::FromElementsOp::create(b, result.getType(), by);
    result.replaceAllUsesWith(by);
  };
  Value result = finished(i++);
  replace(sink.op->getResult(0), result);
  for (const OnlineSum &sum : sink.sums) {
    ReduceOp reduce = sum.sum;
    b.setLoc(reduce.getLoc());
    Value total = finished(i++);
    if (sum.reference == OnlineReference::Max) {
      auto element = cast<FloatType>(getElementTypeOrSelf(total.getType()));
      TypedAttr nan =
          FloatAttr::get(element, APFloat::getNaN(element.getFloatSemantics()));
      if (auto type = dyn_cast<RankedTensorType>(total.getType()))
        nan = SplatElementsAttr::get(type, nan);
      total =
          arith::SelectOp::create(b, isInfinite(result, /*negativeOnly=*/true),
                                  arith::ConstantOp::create(b, nan), total);
    }
    replace(reduce.getResult(), total);
  }
  return i;
}
