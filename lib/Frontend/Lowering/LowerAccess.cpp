//===- LowerAccess.cpp - Reads and writes of tensors ------------*- C++ -*-===//
//
// Two kinds of access. A *block* has no computed tile of positions among its
// subscripts and becomes tile.load, tile.store or tile.atomic_add, bounded by
// the valid extents of its tile axes. Everything else is *elements*:
// tile.gather and tile.scatter_add, which compare each index with the extent
// themselves and need a mask for what they cannot know: the lanes outside a
// tile's axis, and the branch of a `where` that they are in.
//
// Subscripts of a block that are not in range by construction:
//
//   X[e]   a scalar: tile.in_bounds guards the whole access. The index is used
//          as it is, since the access is not made if it is wrong.
//   X[m]   a tile of another dimension: lanes beyond the end are cut off like
//          those beyond the end of the tile's own axis; tile.in_bounds on the
//          last position used reports it.
//
// Inside a `where`, such a check is active only if the branch is taken by some
// lane that uses it. A result that is only reported matters to checked builds
// alone; others may drop the op, and then its operands are dead.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering/LoweringImpl.h"

using namespace mlir;

namespace tilec::lowering {

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Conditions within the axes are combined lane by lane; for the others, a lane
/// counts if they hold together anywhere along the axes that it lacks.
Value KernelLowering::predicateOver(Axes axes) {
  Value result;
  TileValue outside;
  auto conjoin = [&](Value a, Value c) {
    return a ? emit<arith::AndIOp>(a, c) : c;
  };
  for (const Predicate &predicate : predicates) {
    TileValue condition = predicate.condition;
    if (predicate.negated)
      condition.value = emit<arith::XOrIOp>(
          condition.value, constantInt(condition.axes, b.getI1Type(), 1));
    bool isInside = llvm::all_of(condition.axes, [&](typed::Axis *axis) {
      return llvm::is_contained(axes, axis);
    });
    if (isInside) {
      result = conjoin(result, broadcast(condition, axes).value);
      continue;
    }
    if (!outside.value) {
      outside = condition;
      continue;
    }
    llvm::SetVector<typed::Axis *> all(outside.axes.begin(),
                                       outside.axes.end());
    all.insert_range(condition.axes);
    Value both =
        emit<arith::AndIOp>(broadcast(outside, all.getArrayRef()).value,
                            broadcast(condition, all.getArrayRef()).value);
    outside = TileValue(both, all.getArrayRef());
  }
  if (!outside.value)
    return result;
  AxisList extra;
  for (typed::Axis *axis : outside.axes)
    if (!llvm::is_contained(axes, axis))
      extra.push_back(axis);
  TileValue any = reduce(tile::ReduceKind::Any, outside, extra);
  return conjoin(result, broadcast(any, axes).value);
}

Value KernelLowering::excludeInvalid(Value mask, Axes axes) {
  bool isPartial = llvm::any_of(axes, [&](const typed::Axis *axis) {
    return static_cast<bool>(partialExtent(axis));
  });
  if (!isPartial)
    return mask;
  if (!mask)
    mask = constantInt(axes, b.getI1Type(), 1);
  return selectValid(TileValue(mask, axes), axes, tile::Pad::Zero).value;
}

Value KernelLowering::checkInBounds(Value index, Value extent, Value active) {
  // `K[b, g]` and `V[b, g]` ask the same: one report is enough. An earlier
  // check is of use where it dominates, that is in this block or one around it.
  Region *here = b.getInsertionBlock()->getParent();
  for (tile::InBoundsOp check : llvm::reverse(boundsChecks))
    if (check.getIndex() == index && check.getExtent() == extent &&
        check.getActive() == active &&
        check->getParentRegion()->isAncestor(here))
      return check.getResult();
  boundsChecks.push_back(
      tile::InBoundsOp::create(b, b.getI1Type(), index, extent, active));
  return boundsChecks.back().getResult();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value KernelLowering::clampToExtent(typed::Axis *axis, Value extent) {
  const LoopState &loop = loops[axis->var];
  Value inside = emit<tile::ValidOp>(loop.begin, extent, axis->tileSize);
  Value one = indexConstant(1);
  // The last position that is used.
  Value last;
  Value active = predicateOver({});
  if (!active) {
    last = toInteger(
        emit<arith::SubIOp>(emit<arith::AddIOp>(loop.begin, loop.valid), one));
  } else {
    TileValue used = positions(axis);
    used.value =
        emit<arith::SelectOp>(predicateOver(used.axes), used.value,
                              constantInt(used.axes, b.getI64Type(), 0));
    used = selectValid(used, used.axes, tile::Pad::Zero);
    last = reduce(tile::ReduceKind::Max, used, used.axes).value;
  }
  checkInBounds(last, extent, active);
  return emit<arith::MinSIOp>(loop.valid, inside);
}

BlockAccess KernelLowering::lowerBlock(const typed::Param &param,
                                       ArrayRef<typed::Index> indices) {
  BlockAccess block;
  SmallVector<Value> limits;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    LocScope scope(*this, index.range);
    switch (index.kind) {
    case typed::Index::Kind::Whole:
      block.indices.push_back(indexConstant(0));
      limits.push_back({});
      break;
    case typed::Index::Kind::Tile:
      block.indices.push_back(loops[index.axis->var].begin);
      limits.push_back(index.proven
                           ? partialExtent(index.axis)
                           : clampToExtent(index.axis, extentOf(param, dim)));
      break;
    case typed::Index::Kind::Scalar: {
      Value position = lowerScalar(index.expr);
      block.indices.push_back(toIndex(position));
      if (!index.proven) {
        Value active = predicateOver({});
        Value fine = checkInBounds(position, extentOf(param, dim), active);
        block.predicate =
            block.predicate ? emit<arith::AndIOp>(block.predicate, fine) : fine;
      }
      continue;
    }
    case typed::Index::Kind::Gather:
      llvm_unreachable("a gather is not a block");
    }
    block.dims.push_back(dim);
    block.axes.push_back(index.axis);
  }
  block.valid = validOperands(block.axes, limits);
  return block;
}

TileValue KernelLowering::lowerLoad(const typed::Load *load) {
  // The regions of tile.attention are scalar and may contain gathers only.
  if (load->isGather() || inLambda)
    return lowerGather(load);
  BlockAccess block = lowerBlock(*load->param, load->indices);
  Value view = entry->getArgument(load->param->index);
  Value loaded = tile::LoadOp::create(
      b, tensorType(block.axes, storageType(load->param->dtype)), view,
      block.indices, block.valid, block.predicate, block.dims, tile::Pad::Zero);
  TileValue value = fromTensor(loaded, block.axes);
  return broadcast(fromStorage(value.value, block.axes, load->param->dtype),
                   load->type.axes);
}

void KernelLowering::lowerStore(const typed::Store *store) {
  bool isScatter = llvm::any_of(store->indices, [](const typed::Index &index) {
    return index.kind == typed::Index::Kind::Gather;
  });
  if (isScatter)
    return lowerScatter(store);
  TileValue value = lowerExpr(store->value);
  BlockAccess block = lowerBlock(*store->param, store->indices);
  value.value = toStorage(value.value, store->param->dtype);
  Value tensor = toTensor(broadcast(value, block.axes));
  Value view = entry->getArgument(store->param->index);
  if (store->isAdd)
    tile::AtomicAddOp::create(b, tensor, view, block.indices, block.valid,
                              block.predicate, block.dims);
  else
    tile::StoreOp::create(b, tensor, view, block.indices, block.valid,
                          block.predicate, block.dims);
}

/// In memory a bool is a byte, and any byte but 0 is true.
TileValue KernelLowering::fromStorage(Value loaded, Axes axes, DType dtype) {
  if (dtype != DType::Bool)
    return TileValue(loaded, axes);
  return TileValue(emit<arith::CmpIOp>(arith::CmpIPredicate::ne, loaded,
                                       constantInt(axes, b.getI8Type(), 0)),
                   axes);
}

Value KernelLowering::toStorage(Value value, DType dtype) {
  if (dtype != DType::Bool)
    return value;
  return emit<arith::ExtUIOp>(withElement(value, b.getI8Type()), value);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

ElementAccess KernelLowering::lowerElements(const typed::Param &param,
                                            ArrayRef<typed::Index> indices,
                                            Axes axes) {
  ElementAccess access;
  for (const typed::Index &index : indices) {
    LocScope scope(*this, index.range);
    bool isAxis = index.kind == typed::Index::Kind::Tile ||
                  index.kind == typed::Index::Kind::Whole;
    TileValue position = isAxis ? positions(index.axis) : lowerExpr(index.expr);
    // A scalar index holds for all lanes as it is.
    if (!position.isScalar())
      position = broadcast(position, axes);
    access.indices.push_back(position.value);
  }
  access.mask = excludeInvalid(predicateOver(axes), axes);
  return access;
}

TileValue KernelLowering::lowerGather(const typed::Load *load) {
  Axes axes = load->type.axes;
  ElementAccess access = lowerElements(*load->param, load->indices, axes);
  Value gathered = tile::GatherOp::create(
      b, valueType(axes, storageType(load->param->dtype)),
      entry->getArgument(load->param->index), access.indices, access.mask);
  return fromStorage(gathered, axes, load->param->dtype);
}

void KernelLowering::lowerScatter(const typed::Store *store) {
  llvm::SetVector<typed::Axis *> all;
  for (const typed::Index &index : store->indices) {
    if (index.kind == typed::Index::Kind::Gather)
      all.insert_range(index.expr->type.axes);
    else if (index.axis)
      all.insert(index.axis);
  }
  Axes axes = all.getArrayRef();
  TileValue value = lowerExpr(store->value);
  value.value = toStorage(value.value, store->param->dtype);
  value = broadcast(value, axes);
  ElementAccess access = lowerElements(*store->param, store->indices, axes);
  tile::ScatterAddOp::create(b, value.value,
                             entry->getArgument(store->param->index),
                             access.indices, access.mask);
}

} // namespace tilec::lowering
