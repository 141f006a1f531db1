//===- Views.cpp - Where a view comes from ----------------------*- C++ -*-===//
//
// See Views.h.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToTileGPU/Views.h"

using namespace mlir;
using namespace tilec;

ViewOrigin ViewOrigin::of(Value view) {
  ViewOrigin origin;
  auto type = cast<tile::ViewType>(view.getType());
  for (int64_t i = 0; i < type.getRank(); ++i)
    origin.dims.push_back(i);
  while (auto slice = view.getDefiningOp<tile::SliceOp>()) {
    for (int64_t &dim : origin.dims)
      dim = slice.getDims()[dim];
    view = slice.getView();
  }
  origin.argument = cast<BlockArgument>(view);
  return origin;
}

static std::optional<int64_t> argInteger(const ViewOrigin &origin,
                                         StringRef name) {
  auto attr = origin.kernel().getArgAttrOfType<IntegerAttr>(
      origin.argument.getArgNumber(), name);
  return attr ? std::optional(attr.getInt()) : std::nullopt;
}

int64_t ViewOrigin::unitDim() const {
  int64_t unit =
      argInteger(*this, tilegpu::TileGPUDialect::kUnitDimAttr).value_or(-1);
  const auto *found = llvm::find(dims, unit);
  return found == dims.end() ? -1 : found - dims.begin();
}

int64_t ViewOrigin::alignment() const {
  int64_t element = tilegpu::getElementBytes(
      cast<tile::ViewType>(argument.getType()).getElementType());
  return argInteger(*this, tilegpu::TileGPUDialect::kAlignAttr)
      .value_or(element);
}
