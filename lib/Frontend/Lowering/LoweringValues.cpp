//===- LoweringValues.cpp - Axes as shapes ----------------------*- C++ -*-===//
//
// What every part of the lowering needs to put values with axes into tensors:
// element types, extents, positions, constants, broadcasts by axis, and the
// masking of lanes that lie outside their axis.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering/LoweringImpl.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilec::lowering {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type KernelLowering::elementType(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return b.getF64Type();
  case DType::F32:
  case DType::TF32:
    return b.getF32Type();
  case DType::F16:
    return b.getF16Type();
  case DType::BF16:
    return b.getBF16Type();
  case DType::F8E4M3:
    return Float8E4M3FNType::get(b.getContext());
  case DType::F8E5M2:
    return Float8E5M2Type::get(b.getContext());
  case DType::I64:
    return b.getI64Type();
  case DType::I32:
    return b.getI32Type();
  case DType::I16:
    return b.getI16Type();
  case DType::I8:
  case DType::U8:
    return b.getI8Type();
  case DType::Bool:
    return b.getI1Type();
  }
  llvm_unreachable("unknown dtype");
}

/// In memory a bool is a byte.
Type KernelLowering::storageType(DType dtype) {
  return dtype == DType::Bool ? b.getI8Type() : elementType(dtype);
}

RankedTensorType KernelLowering::tensorType(Axes axes, Type element) {
  SmallVector<int64_t> shape;
  for (const typed::Axis *axis : axes)
    shape.push_back(staticExtent(axis).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, element);
}

Type KernelLowering::valueType(Axes axes, Type element) {
  return axes.empty() ? element : Type(tensorType(axes, element));
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

std::optional<int64_t>
KernelLowering::staticExtent(const typed::Dimension *dim) const {
  auto known = options.dims.find(dim->name);
  if (known == options.dims.end() || !(dim->isWhole || options.specializeAll))
    return std::nullopt;
  return known->second;
}

std::optional<int64_t>
KernelLowering::staticExtent(const typed::Axis *axis) const {
  if (axis->isTile())
    return axis->tileSize;
  return axis->dim ? staticExtent(axis->dim) : axis->constant;
}

Value KernelLowering::atEntry(llvm::function_ref<Value()> make) {
  OpBuilder::InsertionGuard guard(b);
  if (lastAtEntry)
    b.setInsertionPointAfter(lastAtEntry);
  else
    b.setInsertionPointToStart(entry);
  Value value = make();
  if (Operation *op = value.getDefiningOp())
    lastAtEntry = op;
  return value;
}

Value KernelLowering::indexConstant(int64_t value) {
  Value &known = indexConstants[value];
  if (!known)
    known = atEntry(
        [&] { return arith::ConstantIndexOp::create(b, value).getResult(); });
  return known;
}

Value KernelLowering::dimension(const typed::Dimension *dim) {
  if (std::optional<int64_t> extent = staticExtent(dim))
    return indexConstant(*extent);
  if (Value known = dimensions.lookup(dim))
    return known;
  // All dimensions with one symbol are equal; take the first.
  for (const typed::Param *param : kernel.params)
    for (auto [i, extent] : llvm::enumerate(param->shape)) {
      if (extent.dim != dim)
        continue;
      Value view = entry->getArgument(param->index);
      Value value = atEntry([&, i = i]() -> Value {
        return tile::DimOp::create(b, locate(dim->name, dim->range), view, i);
      });
      dimensions[dim] = value;
      return value;
    }
  llvm_unreachable("a dimension that no parameter has");
}

Value KernelLowering::dimensionAsInteger(const typed::Dimension *dim) {
  if (std::optional<int64_t> extent = staticExtent(dim))
    return constantInt({}, b.getI64Type(), *extent);
  if (Value known = dimensionIntegers.lookup(dim))
    return known;
  Value index = dimension(dim);
  Value value = atEntry([&]() -> Value {
    return arith::IndexCastOp::create(b, locate(dim->name, dim->range),
                                      b.getI64Type(), index);
  });
  dimensionIntegers[dim] = value;
  return value;
}

Value KernelLowering::extentOf(const typed::Param &param, unsigned dim) {
  const typed::Param::Extent &extent = param.shape[dim];
  return extent.dim ? dimension(extent.dim) : indexConstant(extent.constant);
}

Value KernelLowering::lanes(const typed::Axis *axis) {
  if (std::optional<int64_t> extent = staticExtent(axis))
    return indexConstant(*extent);
  return dimension(axis->dim);
}

SmallVector<Value> KernelLowering::dynamicSizes(Axes axes) {
  SmallVector<Value> sizes;
  for (const typed::Axis *axis : axes)
    if (!staticExtent(axis))
      sizes.push_back(lanes(axis));
  return sizes;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

TileValue KernelLowering::positions(typed::Axis *axis) {
  RankedTensorType type = tensorType(axis, b.getI64Type());
  if (!axis->isTile()) {
    Value known = wholePositions.lookup(axis);
    if (!known) {
      Value zero = indexConstant(0);
      SmallVector<Value> sizes = dynamicSizes(axis);
      known = atEntry([&]() -> Value {
        return tile::IotaOp::create(b, type, zero, sizes);
      });
      wholePositions[axis] = known;
    }
    return TileValue(known, axis);
  }
  LoopState &loop = loops[axis->var];
  if (!loop.positions) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.body);
    loop.positions =
        tile::IotaOp::create(b, locate(axis->var->name, axis->var->range), type,
                             loop.begin, ValueRange());
  }
  return TileValue(loop.positions, axis);
}

Value KernelLowering::positionAsInteger(const typed::LoopVar *var) {
  LoopState &loop = loops[var];
  if (!loop.asInteger) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.body);
    loop.asInteger = arith::IndexCastOp::create(
        b, locate(var->name, var->range), b.getI64Type(), loop.begin);
  }
  return loop.asInteger;
}

Value KernelLowering::toIndex(Value integer) {
  if (auto cast = integer.getDefiningOp<arith::IndexCastOp>())
    return cast.getIn();
  APInt constant;
  if (matchPattern(integer, m_ConstantInt(&constant)))
    return indexConstant(constant.getSExtValue());
  return arith::IndexCastOp::create(b, b.getIndexType(), integer);
}

Value KernelLowering::toInteger(Value index) {
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    return cast.getIn();
  return emit<arith::IndexCastOp>(b.getI64Type(), index);
}

//===----------------------------------------------------------------------===//
// Constants and broadcasts
//===----------------------------------------------------------------------===//

Value KernelLowering::constant(Axes axes, TypedAttr element) {
  if (axes.empty())
    return arith::ConstantOp::create(b, element);
  RankedTensorType type = tensorType(axes, element.getType());
  if (type.hasStaticShape())
    return arith::ConstantOp::create(b, SplatElementsAttr::get(type, element));
  return tensor::SplatOp::create(b, arith::ConstantOp::create(b, element),
                                 Type(type), dynamicSizes(axes));
}

Value KernelLowering::constantFloat(Axes axes, Type element, double value) {
  return constant(axes, b.getFloatAttr(element, value));
}

Value KernelLowering::constantInt(Axes axes, Type element, int64_t value) {
  // Through APInt: values are taken modulo the width.
  unsigned width = element.getIntOrFloatBitWidth();
  return constant(
      axes, b.getIntegerAttr(element, APInt(64, value).sextOrTrunc(width)));
}

TileValue KernelLowering::broadcast(const TileValue &value, Axes axes) {
  if (Axes(value.axes) == axes)
    return value;
  if (value.isScalar()) {
    Attribute element;
    RankedTensorType type = tensorType(axes, value.value.getType());
    if (type.hasStaticShape() &&
        matchPattern(value.value, m_Constant(&element)))
      return TileValue(constant(axes, cast<TypedAttr>(element)), axes);
    return TileValue(
        tensor::SplatOp::create(b, value.value, Type(type), dynamicSizes(axes)),
        axes);
  }
  SmallVector<int64_t> dims;
  for (const typed::Axis *axis : value.axes) {
    const auto *place = llvm::find(axes, axis);
    assert(place != axes.end() && "a broadcast cannot drop an axis");
    dims.push_back(place - axes.begin());
  }
  Type element = getElementTypeOrSelf(value.value.getType());
  return TileValue(emit<tile::BroadcastOp>(tensorType(axes, element),
                                           value.value, dynamicSizes(axes),
                                           dims),
                   axes);
}

Value KernelLowering::toTensor(const TileValue &value) {
  if (!value.isScalar())
    return value.value;
  return tensor::FromElementsOp::create(
      b, RankedTensorType::get({}, value.value.getType()), value.value);
}

TileValue KernelLowering::fromTensor(Value tensor, Axes axes) {
  if (!axes.empty())
    return TileValue(tensor, axes);
  return TileValue(tensor::ExtractOp::create(b, tensor, ValueRange()));
}

//===----------------------------------------------------------------------===//
// Invalid lanes
//===----------------------------------------------------------------------===//

Value KernelLowering::partialExtent(const typed::Axis *axis) {
  if (!axis->isTile())
    return {};
  Value valid = loops[axis->var].valid;
  if (getConstantIntValue(valid) == axis->tileSize)
    return {};
  return valid;
}

SmallVector<Value, 4> KernelLowering::validOperands(Axes axes,
                                                    ArrayRef<Value> limits) {
  SmallVector<Value, 4> valid;
  if (llvm::all_of(limits, [](Value limit) { return !limit; }))
    return valid;
  for (auto [axis, limit] : llvm::zip(axes, limits))
    valid.push_back(limit ? limit : lanes(axis));
  return valid;
}

TileValue KernelLowering::selectValid(const TileValue &value, Axes over,
                                      tile::Pad pad) {
  SmallVector<Value> limits;
  for (const typed::Axis *axis : value.axes)
    limits.push_back(llvm::is_contained(over, axis) ? partialExtent(axis)
                                                    : Value());
  SmallVector<Value, 4> valid = validOperands(value.axes, limits);
  if (valid.empty())
    return value;
  return TileValue(emit<tile::SelectValidOp>(value.value, valid, pad),
                   value.axes);
}

} // namespace tilec::lowering
