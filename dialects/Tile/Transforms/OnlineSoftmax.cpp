//===- OnlineSoftmax.cpp - Max and sum of exponentials ---------*- C++ -*-===//
//
// Recognizes what the front end makes of `softmax` and `logsumexp`, and what
// people write by hand:
//
//     m = reduce max x
//     r = m  |  select (m == -inf), 0, m  |  select (|m| == inf), 0, m
//     s = reduce sum (exp (x - broadcast r))
//
// with select_valid between and for scalars (a row alone) tensor.extract and
// tensor.splat in place of the broadcast.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/LongAxis.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;

/// The number whose maximum is taken, as invalid lanes are none.
static Value stripLowest(Value value) {
  while (auto select = value.getDefiningOp<SelectValidOp>()) {
    if (select.getPad() != Pad::Lowest)
      break;
    value = select.getValue();
  }
  return value;
}

/// Whether all lanes of a constant are this infinity.
static bool isInfinity(Value value, bool negative) {
  APFloat number(0.0);
  return matchPattern(value, m_ConstantFloat(&number)) && number.isInfinity() &&
         number.isNegative() == negative;
}

/// The maximum itself, as the tile or, of rank 0, the scalar in it.
static ReduceOp findMax(Value value) {
  if (auto extract = value.getDefiningOp<tensor::ExtractOp>())
    value = extract.getTensor();
  auto reduce = value.getDefiningOp<ReduceOp>();
  return reduce && reduce.getKind() == ReduceKind::Max ? reduce : ReduceOp();
}

/// The maximum that `value` is the reference of, and how.
static std::pair<ReduceOp, OnlineReference> matchReference(Value value) {
  if (ReduceOp max = findMax(value))
    return {max, OnlineReference::Max};
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || !matchPattern(select.getTrueValue(), m_AnyZeroFloat()))
    return {};
  ReduceOp max = findMax(select.getFalseValue());
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!max || !compare || compare.getPredicate() != arith::CmpFPredicate::OEQ)
    return {};
  Value compared = compare.getLhs();
  if (compared == select.getFalseValue() &&
      isInfinity(compare.getRhs(), /*negative=*/true))
    return {max, OnlineReference::MaxOrZero};
  auto magnitude = compared.getDefiningOp<math::AbsFOp>();
  if (magnitude && magnitude.getOperand() == select.getFalseValue() &&
      isInfinity(compare.getRhs(), /*negative=*/false))
    return {max, OnlineReference::FiniteMaxOrZero};
  return {};
}

/// What was repeated along `axes`, which the others of the tile are without.
static Value matchRepeated(Value tile, ArrayRef<int64_t> axes) {
  if (auto splat = tile.getDefiningOp<tensor::SplatOp>()) {
    bool isAll = static_cast<int64_t>(axes.size()) == splat.getType().getRank();
    return isAll ? splat.getInput() : Value();
  }
  auto broadcast = tile.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < broadcast.getType().getRank(); ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  return broadcast.getDims() == ArrayRef<int64_t>(others) ? broadcast.getValue()
                                                          : Value();
}

std::optional<OnlineSum> mlir::tile::matchOnlineSum(ReduceOp sum,
                                                    const LongAxis &axis) {
  if (sum.getKind() != ReduceKind::Sum || !axis.isSink(sum))
    return std::nullopt;
  SmallVector<SelectValidOp> selects;
  Value value = sum.getValue();
  while (auto select = value.getDefiningOp<SelectValidOp>()) {
    // Extents of whatever origin might depend on the maximum.
    auto isSimple = [](Value valid) {
      return getConstantIntValue(valid) || valid.getDefiningOp<ValidOp>();
    };
    if (select.getPad() != Pad::Zero ||
        !llvm::all_of(select.getValid(), isSimple))
      return std::nullopt;
    selects.insert(selects.begin(), select);
    value = select.getValue();
  }
  Operation *exponential = value.getDefiningOp();
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(exponential))
    return std::nullopt;
  auto difference = exponential->getOperand(0).getDefiningOp<arith::SubFOp>();
  if (!difference)
    return std::nullopt;
  Value repeated = matchRepeated(difference.getRhs(), sum.getAxes());
  if (!repeated)
    return std::nullopt;
  auto [max, reference] = matchReference(repeated);
  if (!max || !axis.isSink(max) || max->getBlock() != sum->getBlock() ||
      max.getAxes() != sum.getAxes() ||
      stripLowest(max.getValue()) != stripLowest(difference.getLhs()))
    return std::nullopt;
  return OnlineSum{max,         sum,     difference.getLhs(),
                   exponential, selects, reference};
}
