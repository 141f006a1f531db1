//===- LowerAttention.cpp - Attention ---------------------------*- C++ -*-===//
//
// attention(...) becomes one tile.attention. The query is a tile of rows, the
// keys and values are views cut out of their parameters by tile.slice, and the
// score and mask functions become its regions: scalar code, in which the
// lambda's parameters are block arguments, scalars from outside are used as
// they are, and a captured tensor is read by a scalar tile.gather, which checks
// its bounds.
//
// One row (a query without a row axis) is a tile of one row, whose axis is
// taken off the results again by a reduction over its single lane.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering/LoweringImpl.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilec::lowering {

/// The view with the dimensions of axes `first` and `second`, in that order;
/// the other subscripts are scalars.
Value KernelLowering::lowerAttentionView(const typed::Load *load,
                                         typed::Axis *first,
                                         typed::Axis *second) {
  LocScope scope(*this, load->range);
  Value view = entry->getArgument(load->param->index);
  BlockAccess block = lowerBlock(*load->param, load->indices);
  SmallVector<int64_t> dims, shape;
  for (const typed::Axis *axis : {first, second}) {
    const auto *place = llvm::find(block.axes, axis);
    assert(place != block.axes.end() && "keys and values are [kv, ...]");
    dims.push_back(block.dims[place - block.axes.begin()]);
  }
  // Nothing to cut off.
  if (load->indices.size() == 2 && dims[0] == 0)
    return view;
  auto type = cast<tile::ViewType>(view.getType());
  for (int64_t dim : dims)
    shape.push_back(type.getDimSize(dim));
  return tile::SliceOp::create(
      b, tile::ViewType::get(shape, type.getElementType()), view, block.indices,
      block.predicate, dims);
}

void KernelLowering::lowerLambda(Region &region, const typed::Lambda &lambda) {
  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore scalar(inLambda, true);
  // Conditions on tiles say nothing about the one row and key seen here.
  llvm::SaveAndRestore outside(predicates);
  llvm::erase_if(predicates, [](const Predicate &predicate) {
    return !predicate.condition.isScalar();
  });
  Block *block = b.createBlock(&region);
  for (typed::Var *param : lambda.params)
    variables[param] = TileValue(block->addArgument(
        elementType(param->type.dtype), locate(param->name, param->range)));
  tile::YieldOp::create(b, lowerScalar(lambda.body));
}

KernelLowering::AttentionResults
KernelLowering::lowerAttention(const typed::Attention *attention) {
  LocScope scope(*this, attention->range);
  typed::Axis *row = attention->row;
  TileValue query = lowerExpr(attention->query);
  Type queryElement = getElementTypeOrSelf(query.value.getType());
  int64_t rows = ShapedType::kDynamic;
  Value begin, valid, tile;
  if (row) {
    tile = broadcast(query, {row, attention->d}).value;
    begin = row->isTile() ? loops[row->var].begin : indexConstant(0);
    valid = partialExtent(row);
    rows = staticExtent(row).value_or(ShapedType::kDynamic);
  } else {
    rows = 1;
    int64_t depth = staticExtent(attention->d).value_or(ShapedType::kDynamic);
    tile = emit<tile::BroadcastOp>(
        RankedTensorType::get({1, depth}, queryElement), query.value,
        dynamicSizes(attention->d), ArrayRef<int64_t>{1});
    begin = toIndex(lowerScalar(attention->rowPosition));
  }
  Value keys = lowerAttentionView(attention->keys, attention->kv, attention->d);
  Value values =
      lowerAttentionView(attention->values, attention->kv, attention->e);
  Value scale = lowerScalar(attention->scale);

  int64_t width = staticExtent(attention->e).value_or(ShapedType::kDynamic);
  auto op = tile::AttentionOp::create(
      b, RankedTensorType::get({rows, width}, b.getF32Type()),
      RankedTensorType::get(rows, b.getF32Type()), tile, keys, values, scale,
      begin, valid, attention->kvTile);
  if (attention->score)
    lowerLambda(op.getScore(), *attention->score);
  if (attention->mask)
    lowerLambda(op.getMask(), *attention->mask);

  if (row)
    return {TileValue(op.getResult(), {row, attention->e}),
            TileValue(op.getLse(), row)};
  // Max, because it keeps every value as it is, -0 and NaN included.
  auto dropRow = [&](Value value, Axes axes) {
    Value dropped = tile::ReduceOp::create(b, tensorType(axes, b.getF32Type()),
                                           tile::ReduceKind::Max, value,
                                           ArrayRef<int64_t>{0});
    return fromTensor(dropped, axes);
  };
  return {dropRow(op.getResult(), attention->e), dropRow(op.getLse(), {})};
}

} // namespace tilec::lowering
