//===- IntegerFacts.cpp - What is known about integers ----------*- C++ -*-===//

#include "dialects/TileGPU/Analysis/IntegerFacts.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using tilegpu::TileGPUDialect;

namespace mlir::tilegpu {

using Wide = __int128;

static constexpr int64_t greatestDivisor = int64_t(1) << 20;
/// Extents are below this: more bytes than an address space has.
static constexpr int64_t extentLimit = int64_t(1) << 56;

bool IntegerRange::fits(unsigned bits) const {
  IntegerRange all = ofBits(bits);
  return low >= all.low && high <= all.high;
}

IntegerRange IntegerRange::ofBits(unsigned bits) {
  return {llvm::minIntN(bits), llvm::maxIntN(bits)};
}

static IntegerRange unite(IntegerRange a, IntegerRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// Whether an index is only a position in a view. One that is out of range is
/// guarded by its 64-bit value, so that cutting it to 32 bits does no harm.
static bool isPositionOnly(Value index) {
  return llvm::all_of(index.getUsers(), [](Operation *user) {
    return isa<tile::SliceOp, tile::LoadOp, tile::StoreOp, tile::AtomicAddOp>(
        user);
  });
}

IntegerFacts::IntegerFacts(tile::KernelOp kernel)
    : kernel(kernel), index32(kernel->hasAttr(TileGPUDialect::kIndex32Attr)) {
  if (!index32)
    return;
  // That offsets fit says nothing about numbers of the user's that bounds of
  // loops are computed from, such as the width of a window.
  index32 =
      !kernel
           .walk([&](arith::IndexCastOp cast) {
             bool isFine = !cast.getType().isIndex() ||
                           isPositionOnly(cast.getResult()) ||
                           rangeOf(cast.getIn()).fits(32);
             return isFine ? WalkResult::advance() : WalkResult::interrupt();
           })
           .wasInterrupted();
  if (!index32) {
    ranges.clear();
    divisors.clear();
  }
}

IntegerFacts::Extent IntegerFacts::extentOf(Value view, unsigned dim) const {
  while (auto slice = view.getDefiningOp<tile::SliceOp>()) {
    dim = slice.getDims()[dim];
    view = slice.getView();
  }
  unsigned arg = cast<BlockArgument>(view).getArgNumber();
  tile::KernelOp owner = kernel;
  auto names =
      owner.getArgAttrOfType<ArrayAttr>(arg, tile::KernelOp::kDimsAttr);
  return {arg, dim,
          names ? cast<StringAttr>(names[dim]).getValue() : StringRef()};
}

/// Whether a tile begins at the variable of a grid or loop and ends where that
/// ends at the latest: the body does not run for tiles that begin behind it.
static bool beginsInside(tile::ValidOp valid) {
  auto variable = dyn_cast<BlockArgument>(valid.getBegin());
  if (!variable)
    return false;
  OpFoldResult upper;
  Operation *parent = variable.getOwner()->getParentOp();
  if (auto grid = dyn_cast<scf::ForallOp>(parent))
    upper = grid.getMixedUpperBound()[variable.getArgNumber()];
  else if (auto loop = dyn_cast<scf::ForOp>(parent);
           loop && variable == loop.getInductionVar())
    upper = getAsOpFoldResult(loop.getUpperBound());
  return upper &&
         isEqualConstantIntOrValue(upper, getAsOpFoldResult(valid.getExtent()));
}

/// The divisor of x - x / d * d with a quotient that is rounded down, or null.
static Value divisorOfRemainder(arith::SubIOp sub) {
  auto product = sub.getRhs().getDefiningOp<arith::MulIOp>();
  if (!product)
    return {};
  auto quotient = product.getLhs().getDefiningOp<arith::FloorDivSIOp>();
  return quotient && quotient.getLhs() == sub.getLhs() &&
                 quotient.getRhs() == product.getRhs()
             ? product.getRhs()
             : Value();
}

//===--- Ranges ----------------------------------------------------------===//

IntegerRange IntegerFacts::rangeOf(Value value) {
  if (auto known = ranges.find(value); known != ranges.end())
    return known->second;
  IntegerRange range = compute(value);
  ranges.insert({value, range});
  return range;
}

IntegerRange IntegerFacts::compute(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  IntegerRange all =
      type.isIndex()      ? (index32 ? IntegerRange::ofBits(32)
                                     : IntegerRange{-extentLimit, extentLimit})
      : type.isInteger(1) ? IntegerRange{0, 1}
                          : IntegerRange::ofBits(type.getIntOrFloatBitWidth());
  std::optional<IntegerRange> known;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    known =
        constant.getBitWidth() == 1
            ? IntegerRange{constant.getZExtValue() ? 1 : 0,
                           constant.getZExtValue() ? 1 : 0}
            : IntegerRange{constant.getSExtValue(), constant.getSExtValue()};
  } else if (Operation *op = value.getDefiningOp()) {
    known = computeOp(op);
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent);
        loop && value == loop.getInductionVar()) {
      // The step is positive, so the variable never is below the bound.
      known = IntegerRange{rangeOf(loop.getLowerBound()).low,
                           std::max(rangeOf(loop.getUpperBound()).high,
                                    rangeOf(loop.getLowerBound()).low)};
    } else if (auto grid = dyn_cast<scf::ForallOp>(parent)) {
      unsigned axis = argument.getArgNumber();
      OpBuilder b(grid.getContext());
      OpFoldResult upper = grid.getMixedUpperBound()[axis];
      std::optional<int64_t> low =
          getConstantIntValue(grid.getMixedLowerBound()[axis]);
      std::optional<int64_t> high = getConstantIntValue(upper);
      known =
          IntegerRange{low.value_or(all.low),
                       high ? *high : rangeOf(llvm::cast<Value>(upper)).high};
    }
  }
  // What does not overflow stays within the type; what may, can be anything.
  // An index does not overflow.
  if (!known)
    return all;
  if (type.isIndex()) {
    IntegerRange cut{std::max(known->low, all.low),
                     std::min(known->high, all.high)};
    return cut.low <= cut.high ? cut : all;
  }
  return known->low >= all.low && known->high <= all.high ? *known : all;
}

bool IntegerFacts::mayWrap(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (type.isIndex())
    return false;
  std::optional<IntegerRange> range = computeOp(op);
  return !range || !range->fits(type.getIntOrFloatBitWidth());
}

IntegerRange IntegerFacts::rangeUnless(Value condition, Value value) {
  IntegerRange range = rangeOf(value);
  SmallVector<Value> excluded{condition};
  while (!excluded.empty()) {
    Value test = excluded.pop_back_val();
    if (auto either = test.getDefiningOp<arith::OrIOp>()) {
      excluded.append({either.getLhs(), either.getRhs()});
      continue;
    }
    auto compare = test.getDefiningOp<arith::CmpIOp>();
    APInt constant;
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
        compare.getLhs() != value ||
        !matchPattern(compare.getRhs(), m_ConstantInt(&constant)) ||
        range.low == range.high)
      continue;
    if (constant.getSExtValue() == range.low)
      ++range.low;
    else if (constant.getSExtValue() == range.high)
      --range.high;
  }
  return range;
}

std::optional<IntegerRange> IntegerFacts::computeOp(Operation *op) {
  auto operand = [&](unsigned i) { return rangeOf(op->getOperand(i)); };
  // The hull of what an operation gives at the ends of its operands.
  auto corners = [&](auto compute) -> std::optional<IntegerRange> {
    IntegerRange a = operand(0), b = operand(1);
    Wide low = 0, high = 0;
    bool first = true;
    for (Wide x : {a.low, a.high})
      for (Wide y : {b.low, b.high}) {
        Wide value = compute(x, y);
        low = first ? value : std::min(low, value);
        high = first ? value : std::max(high, value);
        first = false;
      }
    if (low < INT64_MIN || high > INT64_MAX)
      return std::nullopt;
    return IntegerRange{static_cast<int64_t>(low), static_cast<int64_t>(high)};
  };
  auto floorDiv = [](Wide x, Wide y) {
    return x / y - ((x % y != 0) && ((x < 0) != (y < 0)));
  };
  return llvm::TypeSwitch<Operation *, std::optional<IntegerRange>>(op)
      .Case<tile::DimOp>([&](tile::DimOp dim) {
        int64_t extent = dim.getView().getType().getDimSize(dim.getDim());
        if (!ShapedType::isDynamic(extent))
          return IntegerRange{extent, extent};
        return IntegerRange{0, index32 ? INT32_MAX : extentLimit};
      })
      .Case<tile::ValidOp>([](tile::ValidOp valid) {
        return IntegerRange{beginsInside(valid) ? 1 : 0,
                            static_cast<int64_t>(valid.getSize())};
      })
      .Case<tile::IotaOp>(
          [&](tile::IotaOp iota) -> std::optional<IntegerRange> {
            IntegerRange begin = rangeOf(iota.getBegin());
            // Its positions are indices, and these do not overflow.
            int64_t last = iota.getType().getDimSize(0) - 1;
            int64_t limit = index32 ? INT32_MAX : 2 * extentLimit;
            return IntegerRange{begin.low,
                                std::min(begin.high, limit - last) + last};
          })
      .Case<arith::AddIOp>(
          [&](auto) { return corners([](Wide x, Wide y) { return x + y; }); })
      .Case<arith::SubIOp>(
          [&](arith::SubIOp sub) -> std::optional<IntegerRange> {
            if (Value divisor = divisorOfRemainder(sub))
              if (IntegerRange range = rangeOf(divisor); range.low > 0)
                return IntegerRange{0, range.high - 1};
            return corners([](Wide x, Wide y) { return x - y; });
          })
      .Case<arith::MulIOp>(
          [&](auto) { return corners([](Wide x, Wide y) { return x * y; }); })
      .Case<arith::MinSIOp>([&](auto) {
        return corners([](Wide x, Wide y) { return std::min(x, y); });
      })
      .Case<arith::MaxSIOp>([&](auto) {
        return corners([](Wide x, Wide y) { return std::max(x, y); });
      })
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::CeilDivSIOp>(
          [&](Operation *) -> std::optional<IntegerRange> {
            if (operand(1).low <= 0)
              return std::nullopt;
            auto result = corners(floorDiv);
            if (result && !isa<arith::FloorDivSIOp>(op))
              result->high += result->high < INT64_MAX ? 1 : 0;
            return result;
          })
      .Case<arith::RemSIOp>([&](auto) -> std::optional<IntegerRange> {
        IntegerRange divisor = operand(1);
        if (divisor.low <= 0)
          return std::nullopt;
        return IntegerRange{operand(0).low < 0 ? 1 - divisor.high : 0,
                            divisor.high - 1};
      })
      .Case<arith::AndIOp>([&](auto) -> std::optional<IntegerRange> {
        for (IntegerRange range : {operand(0), operand(1)})
          if (range.low >= 0)
            return IntegerRange{0, range.high};
        return std::nullopt;
      })
      .Case<math::AbsIOp>([&](auto) -> std::optional<IntegerRange> {
        IntegerRange a = operand(0);
        if (a.low == INT64_MIN)
          return std::nullopt;
        return IntegerRange{a.low > 0 ? a.low : 0, std::max(a.high, -a.low)};
      })
      .Case<arith::SelectOp>([&](arith::SelectOp select) {
        Value otherwise = select.getFalseValue();
        return unite(operand(1), rangeUnless(select.getCondition(), otherwise));
      })
      .Case<tile::SelectValidOp>(
          [&](tile::SelectValidOp select) -> std::optional<IntegerRange> {
            auto pad = dyn_cast_if_present<IntegerAttr>(tile::getPadValue(
                select.getPad(), select.getType().getElementType()));
            if (!pad)
              return std::nullopt;
            int64_t value =
                pad.getType().isInteger(1)
                    ? static_cast<int64_t>(pad.getValue().getZExtValue())
                    : pad.getInt();
            return unite(operand(0), {value, value});
          })
      .Case<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(
          [&](auto cast) -> std::optional<IntegerRange> {
            IntegerRange range = operand(0);
            // As a signed number true is -1.
            if (getElementTypeOrSelf(cast.getIn().getType()).isInteger(1))
              return IntegerRange{-1, 0};
            return range;
          })
      .Case<arith::ExtUIOp>([&](arith::ExtUIOp ext)
                                -> std::optional<IntegerRange> {
        IntegerRange range = operand(0);
        if (range.low >= 0)
          return range;
        unsigned bits =
            getElementTypeOrSelf(ext.getIn().getType()).getIntOrFloatBitWidth();
        return IntegerRange{0, static_cast<int64_t>(llvm::maxUIntN(bits))};
      })
      .Case<tensor::SplatOp, tensor::ExtractOp, tensor::FromElementsOp,
            tile::BroadcastOp, tilegpu::ConvertLayoutOp>(
          [&](auto) -> std::optional<IntegerRange> { return operand(0); })
      .Case<tile::ArgReduceOp>([](tile::ArgReduceOp reduce) {
        RankedTensorType type = reduce.getValue().getType();
        return IntegerRange{-1, type.getDimSize(reduce.getAxis()) - 1};
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===--- Divisors --------------------------------------------------------===//

static int64_t divisorOfConstant(int64_t value) {
  if (value == 0)
    return greatestDivisor;
  return std::min(greatestDivisor, int64_t(1) << llvm::countr_zero(
                                       static_cast<uint64_t>(value)));
}

int64_t IntegerFacts::divisorOf(Value value) {
  if (auto known = divisors.find(value); known != divisors.end())
    return known->second;
  int64_t divisor = computeDivisor(value);
  divisors.insert({value, divisor});
  return divisor;
}

int64_t IntegerFacts::computeDivisor(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return divisorOfConstant(constant.getSExtValue());
  auto both = [&](Value a, Value b) {
    return std::min(divisorOf(a), divisorOf(b));
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent);
        loop && value == loop.getInductionVar())
      return both(loop.getLowerBound(), loop.getStep());
    if (auto grid = dyn_cast<scf::ForallOp>(parent)) {
      auto divisor = [&](OpFoldResult bound) {
        if (std::optional<int64_t> known = getConstantIntValue(bound))
          return divisorOfConstant(*known);
        return divisorOf(llvm::cast<Value>(bound));
      };
      unsigned axis = argument.getArgNumber();
      return std::min(divisor(grid.getMixedLowerBound()[axis]),
                      divisor(grid.getMixedStep()[axis]));
    }
    return 1;
  }
  return llvm::TypeSwitch<Operation *, int64_t>(value.getDefiningOp())
      .Case<tile::DimOp>([&](tile::DimOp dim) -> int64_t {
        int64_t size = dim.getView().getType().getDimSize(dim.getDim());
        if (!ShapedType::isDynamic(size))
          return divisorOfConstant(size);
        Extent extent = extentOf(dim.getView(), dim.getDim());
        auto facts = kernel->getAttrOfType<DictionaryAttr>(
            TileGPUDialect::kDivisibleAttr);
        if (!facts || extent.name.empty())
          return 1;
        auto fact = facts.getAs<IntegerAttr>(extent.name);
        return fact ? divisorOfConstant(fact.getInt()) : 1;
      })
      .Case<tile::ValidOp>([&](tile::ValidOp valid) {
        return std::min(both(valid.getBegin(), valid.getExtent()),
                        divisorOfConstant(valid.getSize()));
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(
          [&](auto op) { return both(op.getLhs(), op.getRhs()); })
      .Case<arith::MulIOp>([&](arith::MulIOp op) {
        return std::min(greatestDivisor,
                        divisorOf(op.getLhs()) * divisorOf(op.getRhs()));
      })
      .Case<arith::SelectOp>([&](arith::SelectOp op) {
        return both(op.getTrueValue(), op.getFalseValue());
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp>(
          [&](auto op) { return divisorOf(op.getIn()); })
      .Default([](Operation *) -> int64_t { return 1; });
}

} // namespace mlir::tilegpu
