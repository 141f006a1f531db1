//===- MaskTranslator.cpp - IR as expressions over positions ---*- C++ -*-===//
//
// See MaskTranslator.h. Tiles and scalars are read by one recursion: a scalar
// is a tile without axes.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/MaskTranslator.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tile;
using tilec::IndexExpr;
using tilec::Interval;
using tilec::MaskExpr;

MaskTranslator::MaskTranslator(scf::ForOp loop, int64_t tileSize) : loop(loop) {
  axis.position = fresh(Value(), "j", Interval::all());
  axis.begin = scalar(loop.getLowerBound());
  axis.end = scalar(loop.getUpperBound());
  axis.tileSize = tileSize;
  // Tiles of one position are that position.
  iv = tileSize == 1 ? axis.position
                     : fresh(loop.getInductionVar(), "tile", Interval::all());
  ivId = iv.symbolId();
  symbols.try_emplace(loop.getInductionVar(), iv);
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

bool MaskTranslator::isInsideLoop(Value value) const {
  return loop->isAncestor(value.getParentRegion()->getParentOp());
}

bool MaskTranslator::mentionsIv(const IndexExpr &expr) const {
  return axis.tileSize != 1 && expr.mentions([&](const IndexExpr &leaf) {
    return leaf.symbolId() == ivId;
  });
}

IndexExpr MaskTranslator::fresh(Value value, StringRef name, Interval range,
                                int64_t multipleOf) {
  uint32_t id = nextId++;
  if (value)
    values[id] = value;
  return IndexExpr::symbol(id, name, range, multipleOf);
}

/// The name that the source gives a value, for remarks.
static std::string nameOf(Value value, uint32_t id) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto kernel = dyn_cast<KernelOp>(parent))
      if (StringRef name = kernel.getArgName(argument.getArgNumber());
          !name.empty())
        return name.str();
  }
  if (auto dim = value.getDefiningOp<DimOp>())
    if (auto view = dyn_cast<BlockArgument>(dim.getView()))
      if (auto kernel = dyn_cast<KernelOp>(view.getOwner()->getParentOp())) {
        auto names = kernel.getArgAttrOfType<ArrayAttr>(view.getArgNumber(),
                                                        KernelOp::kDimsAttr);
        if (names && dim.getDim() < names.size())
          if (auto name = dyn_cast<StringAttr>(names[dim.getDim()]))
            if (!name.getValue().empty())
              return name.str();
      }
  if (auto loc = dyn_cast<NameLoc>(value.getLoc()))
    return loc.getName().str();
  return "v" + std::to_string(id);
}

/// What is known of a scalar from where it comes from.
static std::pair<Interval, int64_t> factsOf(Value value) {
  if (value.getDefiningOp<DimOp>())
    return {Interval::atLeast(0), 1};
  if (auto extend = value.getDefiningOp<arith::ExtSIOp>()) {
    unsigned width = extend.getIn().getType().getIntOrFloatBitWidth();
    if (width < 64)
      return {{-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1},
              1};
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast_or_null<LoopLikeOpInterface>(
                             argument.getOwner()->getParentOp())
                       : LoopLikeOpInterface();
  if (!loop)
    return {Interval::all(), 1};
  auto ivs = loop.getLoopInductionVars();
  auto lowers = loop.getLoopLowerBounds(), uppers = loop.getLoopUpperBounds(),
       steps = loop.getLoopSteps();
  if (!ivs || !lowers || !uppers || !steps)
    return {Interval::all(), 1};
  for (auto [k, candidate] : llvm::enumerate(*ivs)) {
    if (candidate != value)
      continue;
    Interval range = Interval::all();
    int64_t multiple = 1;
    std::optional<int64_t> lower = getConstantIntValue((*lowers)[k]);
    std::optional<int64_t> upper = getConstantIntValue((*uppers)[k]);
    std::optional<int64_t> step = getConstantIntValue((*steps)[k]);
    if (lower) {
      range.lo = *lower;
      // Steps are positive, so the variable never falls below its start.
      if (step && *step > 0)
        multiple = std::gcd(*lower, *step);
    }
    if (upper && *upper > range.lo && *upper != Interval::negInf)
      range.hi = *upper - 1;
    return {range, multiple};
  }
  return {Interval::all(), 1};
}

/// A scalar with one value throughout the loop.
IndexExpr MaskTranslator::symbol(Value value) {
  auto it = symbols.find(value);
  if (it != symbols.end())
    return it->second;
  auto [range, multipleOf] = factsOf(value);
  IndexExpr expr = fresh(value, nameOf(value, nextId), range, multipleOf);
  symbols.try_emplace(value, expr);
  return expr;
}

/// What is not understood: a symbol if it has one value throughout the loop,
/// otherwise opaque. An opaque tile along different axes is different values.
IndexExpr MaskTranslator::leaf(Value value, const AxisMap &axes) {
  bool isScalar = value.getType().isIntOrIndex();
  if (isScalar && (value == loop.getInductionVar() || !isInsideLoop(value)))
    return symbol(value);
  return IndexExpr::opaque(opaqueId(value, axes), "?");
}

MaskExpr MaskTranslator::opaqueCondition(Value value, const AxisMap &axes) {
  return MaskExpr::opaque(opaqueId(value, axes), "?");
}

uint32_t MaskTranslator::opaqueId(Value value, const AxisMap &axes) {
  std::vector<int64_t> along(axes.begin(), axes.end());
  auto [it, isNew] =
      opaqueIds.try_emplace({value.getAsOpaquePointer(), along}, nextId);
  if (isNew)
    ++nextId;
  return it->second;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

IndexExpr MaskTranslator::scalar(Value value) { return integer(value, {}); }

/// The positions of an iota along `axis` of the mask.
IndexExpr MaskTranslator::positions(IotaOp iota, int64_t maskAxis) {
  AxisMap along = {maskAxis};
  IndexExpr begin = scalar(iota.getBegin());
  int64_t size = iota.getType().getDimSize(0);
  auto *row = llvm::find(rowAxisOf, maskAxis);
  bool isRow = row != rowAxisOf.end();

  IndexExpr offset = begin - iv;
  bool isOfLoop = axis.tileSize == 1
                      ? begin.mentions([&](const IndexExpr &leaf) {
                          return leaf.symbolId() == ivId;
                        })
                      : mentionsIv(begin);
  if (isOfLoop) {
    // Tiles of the loop's own size, at a fixed distance from its tiles: the
    // positions are the loop's, shifted.
    bool isShifted = !offset.mentions(
        [&](const IndexExpr &leaf) { return leaf.symbolId() == ivId; });
    if (!isShifted || size != axis.tileSize || isRow ||
        (loopAxisOf && *loopAxisOf != maskAxis))
      return leaf(iota.getResult(), along);
    loopAxisOf = maskAxis;
    return axis.position + offset;
  }
  bool isInvariant = !begin.mentions([](const IndexExpr &leaf) {
    return leaf.kind() == IndexExpr::Kind::Opaque;
  });
  if (!isInvariant || loopAxisOf == maskAxis || ShapedType::isDynamic(size))
    return leaf(iota.getResult(), along);
  // All iotas along one axis advance together: a second one is the first one,
  // shifted.
  if (isRow) {
    const tilec::RowAxis &known = rows[row - rowAxisOf.begin()];
    return known.position + (begin - known.begin);
  }
  tilec::RowAxis added;
  added.position =
      fresh(Value(), "r" + std::to_string(maskAxis), Interval::all());
  added.begin = begin;
  added.size = size;
  rows.push_back(added);
  rowAxisOf.push_back(maskAxis);
  return added.position;
}

/// a - b, and the remainder that `n - n / c * c` is.
IndexExpr MaskTranslator::difference(const IndexExpr &a, const IndexExpr &b) {
  using Kind = IndexExpr::Kind;
  if (b.kind() == Kind::Sum && b.constant() == 0 && b.operands().size() == 1) {
    IndexExpr quotient = b.operands()[0];
    int64_t divisor = b.coefficients()[0];
    if (divisor > 0 && quotient.kind() == Kind::FloorDiv &&
        quotient.operands()[1].isConstant(divisor) &&
        quotient.operands()[0] == a)
      return mod(a, divisor);
  }
  return a - b;
}

IndexExpr MaskTranslator::integer(Value value, const AxisMap &axes) {
  Type element = getElementTypeOrSelf(value);
  // Narrow integers wrap, which the expressions do not.
  if (!element.isIndex() && !element.isSignlessInteger(64))
    return leaf(value, axes);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return IndexExpr(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  return op ? integerOp(op, axes) : leaf(value, axes);
}

IndexExpr MaskTranslator::integerOp(Operation *op, const AxisMap &axes) {
  Value result = op->getResult(0);
  auto operand = [&](unsigned i) { return integer(op->getOperand(i), axes); };

  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    AxisMap mapped;
    for (int64_t dim : broadcast.getDims())
      mapped.push_back(axes[dim]);
    return integer(broadcast.getValue(), mapped);
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    IndexExpr expr = integer(splat.getInput(), {});
    // In a tile, the begin of the loop's tile is neither a position nor fixed.
    return mentionsIv(expr) ? leaf(result, axes) : expr;
  }
  if (auto iota = dyn_cast<IotaOp>(op))
    return positions(iota, axes[0]);
  if (auto valid = dyn_cast<ValidOp>(op))
    return min(static_cast<int64_t>(valid.getSize()),
               max(0, operand(1) - operand(0)));
  if (isa<arith::IndexCastOp>(op)) {
    Type from = getElementTypeOrSelf(op->getOperand(0));
    if (from.isIndex() || from.isSignlessInteger(64))
      return operand(0);
    return leaf(result, axes);
  }
  if (isa<arith::AddIOp>(op))
    return operand(0) + operand(1);
  if (isa<arith::SubIOp>(op))
    return difference(operand(0), operand(1));
  if (isa<arith::MulIOp>(op))
    return operand(0) * operand(1);
  if (isa<arith::MinSIOp>(op))
    return min(operand(0), operand(1));
  if (isa<arith::MaxSIOp>(op))
    return max(operand(0), operand(1));
  if (isa<arith::FloorDivSIOp, arith::DivSIOp, arith::RemSIOp,
          arith::CeilDivSIOp>(op)) {
    IndexExpr a = operand(0), b = operand(1);
    if (!b.isConstant() || b.constant() < 1)
      return leaf(result, axes);
    if (isa<arith::FloorDivSIOp>(op))
      return floorDiv(a, b);
    if (isa<arith::CeilDivSIOp>(op))
      return ceilDiv(a, b);
    // These round to zero, which is down only for what is not negative.
    if (!provablyNonNegative(a))
      return leaf(result, axes);
    return isa<arith::DivSIOp>(op) ? floorDiv(a, b) : mod(a, b);
  }
  return leaf(result, axes);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

MaskExpr MaskTranslator::mask(Value value) {
  AxisMap axes;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t a = 0; a < type.getRank(); ++a)
      axes.push_back(a);
  return condition(value, axes);
}

MaskExpr MaskTranslator::comparison(arith::CmpIOp op, const AxisMap &axes) {
  using Predicate = arith::CmpIPredicate;
  Type element = getElementTypeOrSelf(op.getLhs());
  if (!element.isIndex() && !element.isSignlessInteger(64))
    return opaqueCondition(op.getResult(), axes);
  IndexExpr a = integer(op.getLhs(), axes), b = integer(op.getRhs(), axes);
  if (mentionsIv(a) || mentionsIv(b))
    return opaqueCondition(op.getResult(), axes);
  switch (op.getPredicate()) {
  case Predicate::eq:
    return eq(a, b);
  case Predicate::ne:
    return ne(a, b);
  case Predicate::slt:
    return lt(a, b);
  case Predicate::sle:
    return le(a, b);
  case Predicate::sgt:
    return gt(a, b);
  case Predicate::sge:
    return ge(a, b);
  default:
    return opaqueCondition(op.getResult(), axes);
  }
}

/// That a lane lies below the valid extents: for a tile.valid that belongs to
/// the axis's positions, a comparison of those.
MaskExpr MaskTranslator::insideValid(SelectValidOp op, const AxisMap &axes) {
  MaskExpr inside(true);
  for (auto [a, valid] : llvm::enumerate(op.getValid())) {
    int64_t size = op.getType().getDimSize(a);
    std::optional<int64_t> constant = getConstantIntValue(valid);
    if (constant && !ShapedType::isDynamic(size) && *constant >= size)
      continue;
    auto validOp = valid.getDefiningOp<ValidOp>();
    if (!validOp || static_cast<int64_t>(validOp.getSize()) < size) {
      inside = inside && opaqueCondition(valid, {axes[a]});
      continue;
    }
    IndexExpr begin = scalar(validOp.getBegin());
    IndexExpr extent = scalar(validOp.getExtent());
    std::optional<IndexExpr> position;
    if (loopAxisOf == axes[a] && size == axis.tileSize &&
        !mentionsIv(begin - iv))
      position = axis.position + (begin - iv);
    for (auto [row, rowAxis] : llvm::zip(rows, rowAxisOf))
      if (rowAxis == axes[a] && !mentionsIv(begin))
        position = row.position + (begin - row.begin);
    bool isKnown = position && !mentionsIv(extent);
    inside = inside && (isKnown ? lt(*position, extent)
                                : opaqueCondition(valid, {axes[a]}));
  }
  return inside;
}

MaskExpr MaskTranslator::condition(Value value, const AxisMap &axes) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return MaskExpr(!constant.isZero());
  Operation *op = value.getDefiningOp();
  if (!op)
    return opaqueCondition(value, axes);
  auto operand = [&](unsigned i) { return condition(op->getOperand(i), axes); };

  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    AxisMap mapped;
    for (int64_t dim : broadcast.getDims())
      mapped.push_back(axes[dim]);
    return condition(broadcast.getValue(), mapped);
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return condition(splat.getInput(), {});
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return comparison(compare, axes);
  if (auto select = dyn_cast<SelectValidOp>(op)) {
    // The mask first: it says which positions run along which axis.
    MaskExpr inner = condition(select.getValue(), axes);
    if (select.getPad() == Pad::Zero)
      return inner && insideValid(select, axes);
    return opaqueCondition(value, axes);
  }
  if (isa<arith::AndIOp>(op))
    return operand(0) && operand(1);
  if (isa<arith::OrIOp>(op))
    return operand(0) || operand(1);
  if (isa<arith::XOrIOp>(op)) {
    MaskExpr a = operand(0), b = operand(1);
    if (b.isTrue())
      return !a;
    return (a && !b) || (!a && b);
  }
  if (isa<arith::SelectOp>(op)) {
    Type conditionType = op->getOperand(0).getType();
    MaskExpr c = condition(op->getOperand(0),
                           isa<ShapedType>(conditionType) ? axes : AxisMap());
    return (c && operand(1)) || (!c && operand(2));
  }
  return opaqueCondition(value, axes);
}

//===----------------------------------------------------------------------===//
// Back to IR
//===----------------------------------------------------------------------===//

Value IndexExprBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value IndexExprBuilder::symbol(const IndexExpr &leaf) {
  Value value = translator.valueOf(leaf);
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

Value IndexExprBuilder::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value IndexExprBuilder::sub(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}

Value IndexExprBuilder::mul(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}

Value IndexExprBuilder::floorDiv(Value a, Value b) {
  return builder.createOrFold<arith::FloorDivSIOp>(loc, a, b);
}

Value IndexExprBuilder::mod(Value a, Value b) {
  Value quotient = floorDiv(a, b);
  return sub(a, mul(quotient, b));
}

Value IndexExprBuilder::min(Value a, Value b) {
  return builder.createOrFold<arith::MinSIOp>(loc, a, b);
}

Value IndexExprBuilder::max(Value a, Value b) {
  return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
}

Value IndexExprBuilder::selectNonNegative(Value condition, Value ifTrue,
                                          Value ifFalse) {
  Value zero = constant(0);
  Value isSo = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::sge, condition, zero);
  return builder.createOrFold<arith::SelectOp>(loc, isSo, ifTrue, ifFalse);
}
