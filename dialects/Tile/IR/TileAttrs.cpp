//===- TileAttrs.cpp - Attributes of the tile dialect ----------*- C++ -*-===//
//
// The enumerations (pads, accesses, kinds, precisions) and the schedule.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;

#include "dialects/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/IR/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/IR/TileAttrs.cpp.inc"
      >();
}

int64_t ScheduleAttr::get(StringRef name, int64_t otherwise) const {
  auto value = getEntries().getAs<IntegerAttr>(name);
  return value ? value.getInt() : otherwise;
}

TypedAttr mlir::tile::getPadValue(Pad pad, Type elementType) {
  Builder builder(elementType.getContext());
  if (auto type = dyn_cast<FloatType>(elementType)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    auto extreme = [&](bool negative) {
      // f8E4M3FN has no infinity; its greatest value stands in.
      return APFloat::semanticsHasInf(semantics)
                 ? APFloat::getInf(semantics, negative)
                 : APFloat::getLargest(semantics, negative);
    };
    switch (pad) {
    case Pad::Undef:
      return {};
    case Pad::Zero:
      return builder.getFloatAttr(type, APFloat::getZero(semantics));
    case Pad::One:
      return builder.getFloatAttr(type, APFloat(semantics, 1));
    case Pad::Lowest:
      return builder.getFloatAttr(type, extreme(/*negative=*/true));
    case Pad::Highest:
      return builder.getFloatAttr(type, extreme(/*negative=*/false));
    }
  }
  auto type = dyn_cast<IntegerType>(elementType);
  if (!type)
    return {};
  unsigned width = type.getWidth();
  switch (pad) {
  case Pad::Undef:
    return {};
  case Pad::Zero:
    return builder.getIntegerAttr(type, APInt::getZero(width));
  case Pad::One:
    return builder.getIntegerAttr(type, APInt(width, 1));
  case Pad::Lowest:
    return builder.getIntegerAttr(type, APInt::getSignedMinValue(width));
  case Pad::Highest:
    return builder.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  }
  return {};
}

std::optional<Pad> mlir::tile::getNeutralPad(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Any:
    return Pad::Zero;
  case ReduceKind::Prod:
  case ReduceKind::All:
    return Pad::One;
  case ReduceKind::Max:
  case ReduceKind::FMax:
    return Pad::Lowest;
  case ReduceKind::Min:
  case ReduceKind::FMin:
    return Pad::Highest;
  }
  return std::nullopt;
}
