//===- LowerReduce.cpp - What combines lanes --------------------*- C++ -*-===//
//
// Reductions, scans and contractions. All of them combine every lane of a tile,
// so along tile axes the invalid ones are first set to the neutral element.
//
// The composites are written out, in forms that passes recognize (x has the
// axis to be reduced, `m` and `s` do not; select_valid only on tile axes):
//
//   softmax    m = reduce max (select_valid lowest x)
//              r = select (m == -inf), 0, m       a row of -inf gives 0
//              e = exp(x - r)
//              s = reduce sum (select_valid zero e)
//              e * (1 / select (s == 0), 1, s)
//   logsumexp  r = select (|m| == inf), 0, m      inf gives inf, not NaN
//              log(s) + r
//   mean       reduce sum (select_valid zero x) / number of valid positions
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering/LoweringImpl.h"
#include <limits>

using namespace mlir;

namespace tilec::lowering {

static AxisList without(Axes axes, Axes removed) {
  AxisList rest;
  for (typed::Axis *axis : axes)
    if (!llvm::is_contained(removed, axis))
      rest.push_back(axis);
  return rest;
}

/// The places of `wanted` in `axes`.
static SmallVector<int64_t> placesOf(Axes wanted, Axes axes) {
  SmallVector<int64_t> places;
  for (const typed::Axis *axis : wanted) {
    assert(llvm::is_contained(axes, axis) && "the value lacks this axis");
    places.push_back(llvm::find(axes, axis) - axes.begin());
  }
  return places;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

TileValue KernelLowering::reduce(tile::ReduceKind kind, const TileValue &value,
                                 Axes over) {
  TileValue padded = selectValid(value, over, *tile::getNeutralPad(kind));
  AxisList rest = without(value.axes, over);
  Type element = getElementTypeOrSelf(value.value.getType());
  Value result =
      tile::ReduceOp::create(b, tensorType(rest, element), kind, padded.value,
                             placesOf(over, value.axes));
  return fromTensor(result, rest);
}

TileValue KernelLowering::argReduce(tile::ReduceKind kind,
                                    const TileValue &value, typed::Axis *over) {
  AxisList rest = without(value.axes, over);
  Value lane = tile::ArgReduceOp::create(b, tensorType(rest, b.getI64Type()),
                                         kind, value.value, partialExtent(over),
                                         placesOf(over, value.axes).front());
  TileValue result = fromTensor(lane, rest);
  if (!over->isTile())
    return result;
  // A tile that a loop visits has a valid lane, so there is no -1 to keep.
  TileValue begin(positionAsInteger(over->var));
  result.value =
      emit<arith::AddIOp>(result.value, broadcast(begin, rest).value);
  return result;
}

TileValue KernelLowering::mean(const TileValue &value, Axes over) {
  TileValue sum = reduce(tile::ReduceKind::Sum, value, over);
  Value count;
  for (const typed::Axis *axis : over) {
    Value positions = partialExtent(axis);
    if (!positions)
      positions = lanes(axis);
    count = count ? emit<arith::MulIOp>(count, positions) : positions;
  }
  Type element = getElementTypeOrSelf(value.value.getType());
  TileValue number(emit<arith::SIToFPOp>(element, toInteger(count)));
  return TileValue(
      emit<arith::DivFOp>(sum.value, broadcast(number, sum.axes).value),
      sum.axes);
}

TileValue KernelLowering::lowerReduce(const typed::Reduce *node) {
  TileValue operand = lowerExpr(node->operand);
  auto lower = [&]() -> TileValue {
    switch (node->op) {
    case typed::ReduceKind::Sum:
      return reduce(tile::ReduceKind::Sum, operand, node->over);
    case typed::ReduceKind::Prod:
      return reduce(tile::ReduceKind::Prod, operand, node->over);
    case typed::ReduceKind::Max:
      return reduce(tile::ReduceKind::Max, operand, node->over);
    case typed::ReduceKind::Min:
      return reduce(tile::ReduceKind::Min, operand, node->over);
    case typed::ReduceKind::FMax:
    case typed::ReduceKind::FMin: {
      bool isMax = node->op == typed::ReduceKind::FMax;
      // Integers have no NaN to ignore.
      if (isFloat(node->operand->type.dtype))
        return reduce(isMax ? tile::ReduceKind::FMax : tile::ReduceKind::FMin,
                      operand, node->over);
      return reduce(isMax ? tile::ReduceKind::Max : tile::ReduceKind::Min,
                    operand, node->over);
    }
    case typed::ReduceKind::Any:
      return reduce(tile::ReduceKind::Any, operand, node->over);
    case typed::ReduceKind::All:
      return reduce(tile::ReduceKind::All, operand, node->over);
    case typed::ReduceKind::ArgMax:
      return argReduce(tile::ReduceKind::Max, operand, node->over.front());
    case typed::ReduceKind::ArgMin:
      return argReduce(tile::ReduceKind::Min, operand, node->over.front());
    case typed::ReduceKind::Mean:
      return mean(operand, node->over);
    case typed::ReduceKind::LogSumExp:
      return logSumExp(operand, node->over.front());
    }
    llvm_unreachable("unknown reduction");
  };
  return broadcast(lower(), node->type.axes);
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

TileValue KernelLowering::logSumExp(const TileValue &value, typed::Axis *over) {
  Type element = getElementTypeOrSelf(value.value.getType());
  auto number = [&](Axes axes, double constant) {
    return constantFloat(axes, element, constant);
  };
  TileValue max = reduce(tile::ReduceKind::Max, value, over);
  Value isInfinite = emit<arith::CmpFOp>(
      arith::CmpFPredicate::OEQ, emit<math::AbsFOp>(max.value),
      number(max.axes, std::numeric_limits<double>::infinity()));
  TileValue base(
      emit<arith::SelectOp>(isInfinite, number(max.axes, 0), max.value),
      max.axes);
  Value shifted =
      emit<arith::SubFOp>(value.value, broadcast(base, value.axes).value);
  TileValue exp(emit<math::ExpOp>(shifted), value.axes);
  TileValue sum = reduce(tile::ReduceKind::Sum, exp, over);
  return TileValue(
      emit<arith::AddFOp>(emit<math::LogOp>(sum.value), base.value), sum.axes);
}

TileValue KernelLowering::softmax(const TileValue &value, typed::Axis *over) {
  Type element = getElementTypeOrSelf(value.value.getType());
  auto number = [&](Axes axes, double constant) {
    return constantFloat(axes, element, constant);
  };
  TileValue max = reduce(tile::ReduceKind::Max, value, over);
  Value isLowest = emit<arith::CmpFOp>(
      arith::CmpFPredicate::OEQ, max.value,
      number(max.axes, -std::numeric_limits<double>::infinity()));
  TileValue base(
      emit<arith::SelectOp>(isLowest, number(max.axes, 0), max.value),
      max.axes);
  Value shifted =
      emit<arith::SubFOp>(value.value, broadcast(base, value.axes).value);
  TileValue exp(emit<math::ExpOp>(shifted), value.axes);
  TileValue sum = reduce(tile::ReduceKind::Sum, exp, over);
  // Only if all of the row is -inf: the maximum itself contributes 1.
  Value isEmpty = emit<arith::CmpFOp>(arith::CmpFPredicate::OEQ, sum.value,
                                      number(sum.axes, 0));
  TileValue divisor(
      emit<arith::SelectOp>(isEmpty, number(sum.axes, 1), sum.value), sum.axes);
  // One division a row.
  TileValue factor(emit<arith::DivFOp>(number(sum.axes, 1), divisor.value),
                   sum.axes);
  return TileValue(
      emit<arith::MulFOp>(exp.value, broadcast(factor, value.axes).value),
      value.axes);
}

TileValue KernelLowering::lowerScan(const typed::Scan *scan) {
  TileValue operand = lowerExpr(scan->operand);
  if (scan->op == typed::ScanKind::Softmax)
    return broadcast(softmax(operand, scan->over), scan->type.axes);
  operand = selectValid(operand, scan->over, tile::Pad::Zero);
  Value sums = tile::ScanOp::create(b, tile::ReduceKind::Sum, operand.value,
                                    placesOf(scan->over, operand.axes).front());
  return broadcast(TileValue(sums, operand.axes), scan->type.axes);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static tile::Precision precisionOf(typed::Precision precision) {
  switch (precision) {
  case typed::Precision::IEEE:
    return tile::Precision::IEEE;
  case typed::Precision::TF32:
    return tile::Precision::TF32;
  case typed::Precision::TF32x3:
    return tile::Precision::TF32x3;
  }
  llvm_unreachable("unknown precision");
}

TileValue KernelLowering::lowerDot(const typed::Dot *dot) {
  TileValue lhs =
      selectValid(lowerExpr(dot->lhs), dot->contract, tile::Pad::Zero);
  TileValue rhs =
      selectValid(lowerExpr(dot->rhs), dot->contract, tile::Pad::Zero);
  AxisList batch, axes;
  for (typed::Axis *axis : lhs.axes)
    if (llvm::is_contained(rhs.axes, axis) &&
        !llvm::is_contained(dot->contract, axis))
      batch.push_back(axis);
  axes = batch;
  AxisList used = batch;
  used.append(dot->contract.begin(), dot->contract.end());
  axes.append(without(lhs.axes, used));
  axes.append(without(rhs.axes, used));

  DType left = dot->lhs->type.dtype, right = dot->rhs->type.dtype;
  typed::Precision precision = dot->precision;
  // tf32 operands are f32 here; rounding them to what they already are lets
  // tensor cores multiply them.
  if (left == DType::TF32 && right == DType::TF32 &&
      precision == typed::Precision::IEEE)
    precision = typed::Precision::TF32;

  Type element =
      tile::getDotResultElement(getElementTypeOrSelf(lhs.value.getType()),
                                getElementTypeOrSelf(rhs.value.getType()));
  Value result = tile::DotOp::create(
      b, tensorType(axes, element), lhs.value, rhs.value, /*acc=*/Value(),
      placesOf(dot->contract, lhs.axes), placesOf(dot->contract, rhs.axes),
      placesOf(batch, lhs.axes), placesOf(batch, rhs.axes),
      precisionOf(precision), left == DType::U8, right == DType::U8);
  return broadcast(fromTensor(result, axes), dot->type.axes);
}

} // namespace tilec::lowering
