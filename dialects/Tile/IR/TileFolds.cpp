//===- TileFolds.cpp - Folds of the tile dialect ---------------*- C++ -*-===//
//
// Simplifications that need no new op: a result that is a constant or an
// existing value, or an op that reads a simpler operand. Rewrites that create
// ops are in TileCanonicalize.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/Tile.h"

#include "mlir/Dialect/CommonFolders.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// The first dimension among the kernel's arguments that is named like
/// dimension `dim` of `argument`: dimensions with one name have one extent, so
/// asking the first of them lets CSE see that they are equal.
static std::pair<BlockArgument, int64_t> firstNamesake(BlockArgument argument,
                                                       int64_t dim) {
  auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
  if (!kernel)
    return {argument, dim};
  auto names = [&](unsigned i) {
    return kernel.getArgAttrOfType<ArrayAttr>(i, KernelOp::kDimsAttr);
  };
  ArrayAttr own = names(argument.getArgNumber());
  auto name = own ? dyn_cast<StringAttr>(own[dim]) : StringAttr();
  if (!name || name.getValue().empty())
    return {argument, dim};
  for (unsigned i = 0; i <= argument.getArgNumber(); ++i)
    if (ArrayAttr candidates = names(i))
      for (auto [d, candidate] : llvm::enumerate(candidates))
        if (candidate == name)
          return {kernel.getArgument(i), static_cast<int64_t>(d)};
  return {argument, dim};
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  int64_t dim = getDim();
  ViewType view = getView().getType();
  if (dim < 0 || dim >= view.getRank())
    return {};
  if (!view.isDynamicDim(dim))
    return IntegerAttr::get(IndexType::get(getContext()), view.getDimSize(dim));
  if (auto slice = getView().getDefiningOp<SliceOp>()) {
    getViewMutable().assign(slice.getView());
    setDim(slice.getDims()[dim]);
    return getResult();
  }
  if (auto argument = dyn_cast<BlockArgument>(getView())) {
    auto [first, firstDim] = firstNamesake(argument, dim);
    if (first != argument || firstDim != dim) {
      getViewMutable().assign(first);
      setDim(firstDim);
      return getResult();
    }
  }
  return {};
}

namespace {
/// The bounds of the loop dimension of which `iv` is the induction variable.
struct LoopRange {
  std::optional<int64_t> lower, step;
  OpFoldResult upper;
};
} // namespace

static std::optional<LoopRange> rangeOf(Value iv) {
  auto argument = dyn_cast<BlockArgument>(iv);
  if (!argument)
    return std::nullopt;
  auto loop =
      dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  if (!loop)
    return std::nullopt;
  auto ivs = loop.getLoopInductionVars();
  auto lowers = loop.getLoopLowerBounds(), uppers = loop.getLoopUpperBounds(),
       steps = loop.getLoopSteps();
  if (!ivs || !lowers || !uppers || !steps)
    return std::nullopt;
  for (auto [k, candidate] : llvm::enumerate(*ivs))
    if (candidate == iv)
      return LoopRange{getConstantIntValue((*lowers)[k]),
                       getConstantIntValue((*steps)[k]), (*uppers)[k]};
  return std::nullopt;
}

OpFoldResult ValidOp::fold(FoldAdaptor adaptor) {
  int64_t size = getSize();
  auto constant = [&](int64_t value) {
    return IntegerAttr::get(IndexType::get(getContext()), value);
  };
  auto extent = dyn_cast_or_null<IntegerAttr>(adaptor.getExtent());
  if (!extent || size < 1)
    return {};
  int64_t end = extent.getInt();
  if (auto begin = dyn_cast_or_null<IntegerAttr>(adaptor.getBegin())) {
    int64_t rest;
    if (llvm::SubOverflow(end, begin.getInt(), rest))
      return {};
    return constant(std::clamp<int64_t>(rest, 0, size));
  }
  // begin < upper <= extent, all of them multiples of size: the whole tile
  // lies inside.
  std::optional<LoopRange> range = rangeOf(getBegin());
  if (!range || !range->lower || !range->step)
    return {};
  std::optional<int64_t> upper = getConstantIntValue(range->upper);
  if (upper && *upper <= end && *range->lower % size == 0 &&
      *range->step % size == 0 && end % size == 0)
    return constant(size);
  return {};
}

//===----------------------------------------------------------------------===//
// Shapes and pads
//===----------------------------------------------------------------------===//

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  auto isIdentity = [](auto indexed) {
    return static_cast<int64_t>(indexed.index()) == indexed.value();
  };
  if (getValue().getType() == getType() && getType().hasStaticShape() &&
      llvm::all_of(llvm::enumerate(getDims()), isIdentity))
    return getValue();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getValue());
  if (splat && getType().hasStaticShape())
    return splat.resizeSplat(getType());
  return {};
}

static bool isSplatOf(Attribute value, TypedAttr element) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(value);
  return splat && element && splat.getSplatValue<Attribute>() == element;
}

OpFoldResult SelectValidOp::fold(FoldAdaptor adaptor) {
  // Attributes that are not integers are of no use: poison may turn up.
  auto covers = [&](auto pair) {
    auto [valid, extent] = pair;
    auto constant = dyn_cast_or_null<IntegerAttr>(valid);
    return constant && !ShapedType::isDynamic(extent) &&
           constant.getInt() >= extent;
  };
  if (llvm::all_of(llvm::zip(adaptor.getValid(), getType().getShape()), covers))
    return getValue();
  if (isSplatOf(adaptor.getValue(),
                getPadValue(getPad(), getType().getElementType())))
    return adaptor.getValue();
  // Of two that replace the same lanes, the second wins.
  auto inner = getValue().getDefiningOp<SelectValidOp>();
  if (inner && llvm::equal(inner.getValid(), getValid())) {
    if (inner.getPad() == getPad())
      return inner.getResult();
    getValueMutable().assign(inner.getValue());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

OpFoldResult GeluOp::fold(FoldAdaptor adaptor) {
  return constFoldUnaryOp<FloatAttr, APFloat, void>(
      adaptor.getOperands(), [](const APFloat &number) {
        double x = number.convertToDouble();
        double y = std::max(x, std::numeric_limits<double>::lowest()) *
                   (0.5 * std::erfc(x * -std::numbers::sqrt2 / 2));
        APFloat result(number.isNaN() ? x : y);
        bool losesInfo = false;
        result.convert(number.getSemantics(), APFloat::rmNearestTiesToEven,
                       &losesInfo);
        return result;
      });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getValue());
  if (!splat || !getType().hasStaticShape())
    return {};
  RankedTensorType operand = getValue().getType();
  auto isPositive = [&](int64_t axis) {
    return !ShapedType::isDynamic(operand.getDimSize(axis)) &&
           operand.getDimSize(axis) > 0;
  };
  switch (getKind()) {
  case ReduceKind::Any:
  case ReduceKind::All:
  case ReduceKind::Max:
  case ReduceKind::Min:
    // Combining equal values gives that value, once there is one.
    if (!llvm::all_of(getAxes(), isPositive))
      return {};
    return splat.resizeSplat(getType());
  default:
    return {};
  }
}
