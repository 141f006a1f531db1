//===- PadAnalysis.cpp - What the invalid lanes of tiles hold --*- C++ -*-===//
//
// See PadAnalysis.h. A query walks from a tile to what it is made of, asking
// the same question there.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/PadAnalysis.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;

bool mlir::tile::isValidAtMost(Value a, Value b) {
  if (a == b)
    return true;
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return *x <= *y;
  if (auto valid = a.getDefiningOp<ValidOp>(); valid && y)
    return static_cast<int64_t>(valid.getSize()) <= *y;
  if (auto min = a.getDefiningOp<arith::MinSIOp>())
    return isValidAtMost(min.getLhs(), b) || isValidAtMost(min.getRhs(), b);
  return false;
}

bool mlir::tile::coversAxis(Value valid, int64_t extent) {
  std::optional<int64_t> constant = getConstantIntValue(valid);
  return constant && !ShapedType::isDynamic(extent) && *constant >= extent;
}

/// The constant that a scalar, or each lane of a tile, is.
static TypedAttr constantOf(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      return cast<TypedAttr>(splat.getSplatValue<Attribute>());
    if (isa<FloatAttr, IntegerAttr>(constant))
      return cast<TypedAttr>(constant);
    return {};
  }
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return constantOf(splat.getInput());
  return {};
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// `op` on one lane, folded. The copy has fresh operands, so that it is folded
/// on these constants and on nothing else.
static TypedAttr foldOneLane(Operation *op, ArrayRef<TypedAttr> operands) {
  Block scratch;
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(scratch.addArgument(
        getElementTypeOrSelf(operand.getType()), op->getLoc()));
  state.addTypes(getElementTypeOrSelf(op->getResult(0).getType()));
  state.addAttributes(op->getAttrs());
  Operation *lane = Operation::create(state);
  scratch.push_back(lane);

  auto attributeOf = [&](Value value) -> Attribute {
    return operands[cast<BlockArgument>(value).getArgNumber()];
  };
  // Folding in place (moving a constant to the right) asks for another turn.
  for (unsigned turn = 0; turn < 3; ++turn) {
    SmallVector<Attribute> attributes =
        llvm::map_to_vector(lane->getOperands(), attributeOf);
    SmallVector<OpFoldResult, 1> results;
    if (failed(lane->fold(attributes, results)))
      return {};
    if (results.empty())
      continue;
    if (auto value = dyn_cast<Value>(results[0]))
      return dyn_cast_if_present<TypedAttr>(attributeOf(value));
    return dyn_cast<TypedAttr>(cast<Attribute>(results[0]));
  }
  return {};
}

TypedAttr PadAnalysis::foldElementwise(Operation *op,
                                       ArrayRef<TypedAttr> operands) {
  if (op->getNumResults() != 1)
    return {};
  if (isa<RoundTF32Op>(op)) {
    // The numbers that pads are have few mantissa bits.
    auto number = dyn_cast_if_present<FloatAttr>(operands[0]);
    if (!number)
      return {};
    APFloat rounded = number.getValue();
    bool losesInfo = false;
    rounded.convert(APFloat::FloatTF32(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    return losesInfo ? TypedAttr() : operands[0];
  }
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return {};
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (auto condition = dyn_cast_if_present<IntegerAttr>(operands[0]))
      return operands[condition.getValue().isZero() ? 2 : 1];
    return operands[1] == operands[2] ? operands[1] : TypedAttr();
  }
  return foldOneLane(op, operands);
}

TypedAttr PadAnalysis::computeElementwise(Operation *op, int64_t axis,
                                          Value valid) {
  // Others, such as tile.dot, have operands with axes of their own.
  if (!OpTrait::hasElementwiseMappableTraits(op) && !isa<RoundTF32Op>(op))
    return {};
  SmallVector<TypedAttr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType())
                           ? query(operand, axis, valid)
                           : constantOf(operand));
  if (llvm::none_of(operands, [](TypedAttr operand) { return !!operand; }))
    return {};
  return foldElementwise(op, operands);
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

TypedAttr PadAnalysis::query(Value tile, int64_t axis, Value valid) {
  auto key = std::make_tuple(tile, axis, valid);
  if (auto it = cache.find(key); it != cache.end())
    return it->second;
  TypedAttr result = compute(tile, axis, valid);
  cache[key] = result;
  return result;
}

static bool isZero(TypedAttr constant) {
  if (auto number = dyn_cast_if_present<FloatAttr>(constant))
    return number.getValue().isPosZero();
  auto integer = dyn_cast_if_present<IntegerAttr>(constant);
  return integer && integer.getValue().isZero();
}

static bool isOne(TypedAttr constant) {
  if (auto number = dyn_cast_if_present<FloatAttr>(constant))
    return number.getValue().isExactlyValue(1);
  auto integer = dyn_cast_if_present<IntegerAttr>(constant);
  return integer && integer.getValue().isOne();
}

/// What combining one or more equal numbers gives, if it is that number.
static TypedAttr combineEqual(ReduceKind kind, TypedAttr constant) {
  switch (kind) {
  case ReduceKind::Sum:
    return isZero(constant) ? constant : TypedAttr();
  case ReduceKind::Prod:
    return isOne(constant) ? constant : TypedAttr();
  default:
    return constant;
  }
}

TypedAttr PadAnalysis::computeReduce(ReduceOp op, int64_t axis, Value valid) {
  RankedTensorType operand = op.getValue().getType();
  // Over an empty axis the result is the neutral element.
  for (int64_t reduced : op.getAxes())
    if (ShapedType::isDynamic(operand.getDimSize(reduced)) ||
        operand.getDimSize(reduced) == 0)
      return {};
  int64_t seen = -1;
  for (int64_t a = 0; a < operand.getRank(); ++a) {
    if (llvm::is_contained(op.getAxes(), a))
      continue;
    if (++seen == axis)
      return combineEqual(op.getKind(), query(op.getValue(), a, valid));
  }
  return {};
}

TypedAttr PadAnalysis::compute(Value tile, int64_t axis, Value valid) {
  if (TypedAttr constant = constantOf(tile))
    return constant;
  Operation *op = tile.getDefiningOp();
  if (!op)
    return {};
  Type element = getElementTypeOrSelf(tile.getType());

  if (auto load = dyn_cast<LoadOp>(op)) {
    if (load.getValid().empty() || !isValidAtMost(load.getValid()[axis], valid))
      return {};
    return getPadValue(load.getPad(), element);
  }
  if (auto select = dyn_cast<SelectValidOp>(op)) {
    TypedAttr pad = getPadValue(select.getPad(), element);
    if (isValidAtMost(select.getValid()[axis], valid) ||
        query(select.getValue(), axis, valid) == pad)
      return pad;
    return {};
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [a, dim] : llvm::enumerate(broadcast.getDims()))
      if (dim == axis)
        return query(broadcast.getValue(), a, valid);
    return {};
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    Value mask = gather.getMask();
    if (!mask)
      return {};
    TypedAttr reads = isa<RankedTensorType>(mask.getType())
                          ? query(mask, axis, valid)
                          : constantOf(mask);
    return isZero(reads) ? getPadValue(Pad::Zero, element) : TypedAttr();
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return computeReduce(reduce, axis, valid);
  if (auto scan = dyn_cast<ScanOp>(op)) {
    if (static_cast<int64_t>(scan.getAxis()) == axis)
      return {};
    return combineEqual(scan.getKind(), query(scan.getValue(), axis, valid));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getElseRegion().empty())
      return {};
    unsigned i = cast<OpResult>(tile).getResultNumber();
    TypedAttr yes = query(branch.thenYield().getOperand(i), axis, valid);
    TypedAttr no = query(branch.elseYield().getOperand(i), axis, valid);
    return yes == no ? yes : TypedAttr();
  }
  return computeElementwise(op, axis, valid);
}
