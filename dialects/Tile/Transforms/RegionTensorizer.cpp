//===- RegionTensorizer.cpp - Scalar regions made elementwise --*- C++ -*-===//
//
// See RegionTensorizer.h.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/RegionTensorizer.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;

Type RegionTensorizer::typeAlong(unsigned axes, Type elementType) const {
  SmallVector<int64_t, 2> shape;
  if (axes & Lanes::Rows)
    shape.push_back(rows);
  if (axes & Lanes::Keys)
    shape.push_back(keys);
  if (shape.empty())
    return elementType;
  return RankedTensorType::get(shape, elementType);
}

Value RegionTensorizer::broadcast(const Lanes &lanes, unsigned axes,
                                  OpBuilder &builder, Location loc) {
  if (lanes.axes == axes)
    return lanes.value;
  auto type = cast<RankedTensorType>(
      typeAlong(axes, getElementTypeOrSelf(lanes.value)));
  if (lanes.axes != Lanes::None)
    return BroadcastOp::create(
        builder, loc, type, lanes.value, ValueRange(),
        ArrayRef<int64_t>(lanes.axes == Lanes::Rows ? 0 : 1));
  // As a constant, it folds into what uses it.
  Attribute constant;
  if (matchPattern(lanes.value, m_Constant(&constant)))
    return arith::ConstantOp::create(builder, loc,
                                     SplatElementsAttr::get(type, constant));
  return tensor::SplatOp::create(builder, loc, type, lanes.value);
}

Lanes RegionTensorizer::lookup(Value value) const {
  auto it = lanesOf.find(value);
  // What is not of the region comes from outside, in front of the loop.
  return it == lanesOf.end() ? Lanes{value} : it->second;
}

FailureOr<Value> RegionTensorizer::run(Region &region,
                                       ArrayRef<Lanes> arguments,
                                       ReadMask readMask) {
  Block &block = region.front();
  for (auto [argument, lanes] : llvm::zip(block.getArguments(), arguments))
    lanesOf[argument] = lanes;
  for (Operation &op : block.without_terminator()) {
    FailureOr<Lanes> lanes = tensorize(op, readMask);
    if (failed(lanes))
      return failure();
    lanesOf[op.getResult(0)] = *lanes;
  }
  auto yield = cast<YieldOp>(block.getTerminator());
  return broadcast(lookup(yield.getValue()), Lanes::Both, inLoop,
                   yield.getLoc());
}

FailureOr<Lanes> RegionTensorizer::tensorize(Operation &op, ReadMask readMask) {
  if (auto gather = dyn_cast<GatherOp>(op))
    return tensorizeGather(gather, readMask);

  bool isConstant = op.hasTrait<OpTrait::ConstantLike>();
  bool isElementwise = OpTrait::hasElementwiseMappableTraits(&op) ||
                       isa<RoundTF32Op, RandomOp>(op);
  if (op.getNumResults() != 1 || !isMemoryEffectFree(&op) ||
      (!isConstant && !isElementwise))
    return op.emitOpError() << "has no form on tiles: expected elementwise "
                               "operations and tile.gather in a region of "
                               "tile.attention";

  unsigned axes = Lanes::None;
  bool hoisted = true;
  for (Value operand : op.getOperands()) {
    Lanes lanes = lookup(operand);
    axes |= lanes.axes;
    hoisted &= lanes.hoisted;
  }
  auto random = dyn_cast<RandomOp>(op);
  if (random && lookup(random.getSeed()).axes != Lanes::None)
    return op.emitOpError()
           << "expected a seed that does not depend on the position";

  OpBuilder &builder = hoisted ? beforeLoop : inLoop;
  IRMapping mapping;
  for (Value operand : op.getOperands()) {
    bool isSeed = random && operand == random.getSeed();
    mapping.map(operand, broadcast(lookup(operand), isSeed ? Lanes::None : axes,
                                   builder, op.getLoc()));
  }
  Operation *clone = builder.clone(op, mapping);
  Value result = clone->getResult(0);
  result.setType(typeAlong(axes, result.getType()));
  return Lanes{result, axes, hoisted};
}

Lanes RegionTensorizer::tensorizeGather(GatherOp gather, ReadMask readMask) {
  Location loc = gather.getLoc();
  unsigned axes = Lanes::None;
  bool hoisted = true;
  for (Value operand : gather->getOperands().drop_front()) {
    Lanes lanes = lookup(operand);
    axes |= lanes.axes;
    hoisted &= lanes.hoisted;
  }
  Lanes allowed = readMask(axes);
  hoisted &= !allowed.value || allowed.hoisted;
  OpBuilder &builder = hoisted ? beforeLoop : inLoop;

  Value mask = allowed.value;
  if (gather.getMask()) {
    Value own = broadcast(lookup(gather.getMask()), axes, builder, loc);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, own) : own;
  }
  // Scalar indices hold for all lanes; the others need the result's shape.
  SmallVector<Value> indices;
  for (Value index : gather.getIndices()) {
    Lanes lanes = lookup(index);
    indices.push_back(lanes.axes == Lanes::None
                          ? lanes.value
                          : broadcast(lanes, axes, builder, loc));
  }
  auto result =
      GatherOp::create(builder, loc, typeAlong(axes, gather.getType()),
                       gather.getView(), indices, mask);
  return {result, axes, hoisted};
}
