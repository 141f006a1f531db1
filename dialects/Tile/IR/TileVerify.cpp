//===- TileVerify.cpp - Checks shared by the op verifiers ------*- C++ -*-===//
//
// See TileVerify.h.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileVerify.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tile;

std::string mlir::tile::shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      os << '?';
    else
      os << extent;
  });
  os << ']';
  return text;
}

LogicalResult mlir::tile::verifyAxes(Operation *op, StringRef what,
                                     ArrayRef<int64_t> axes, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank)
      return op->emitOpError()
             << "expected " << what << " below " << rank << ", found " << axis;
    if (seen.test(axis))
      return op->emitOpError()
             << "expected distinct " << what << ", found " << axis << " twice";
    seen.set(axis);
  }
  return success();
}

LogicalResult mlir::tile::verifyShape(Operation *op, StringRef what,
                                      ArrayRef<int64_t> expected,
                                      ArrayRef<int64_t> found) {
  auto agree = [](auto pair) {
    auto [a, b] = pair;
    return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
  };
  if (expected.size() == found.size() &&
      llvm::all_of(llvm::zip(expected, found), agree))
    return success();
  return op->emitOpError() << "expected " << what << " of shape "
                           << shapeText(expected) << ", found "
                           << shapeText(found);
}

LogicalResult mlir::tile::verifyBlockAccess(Operation *op, ViewType view,
                                            RankedTensorType tile,
                                            size_t numIndices,
                                            ArrayRef<int64_t> dims,
                                            size_t numValid) {
  int64_t rank = tile.getRank();
  if (static_cast<int64_t>(numIndices) != view.getRank())
    return op->emitOpError() << "expected one index per dimension of the view ("
                             << view.getRank() << "), found " << numIndices;
  if (static_cast<int64_t>(dims.size()) != rank)
    return op->emitOpError() << "expected one of dims per axis of the tile ("
                             << rank << "), found " << dims.size();
  if (failed(verifyAxes(op, "dims", dims, view.getRank())))
    return failure();
  if (numValid != 0 && static_cast<int64_t>(numValid) != rank)
    return op->emitOpError()
           << "expected no valid extent or one per axis of the tile (" << rank
           << "), found " << numValid;
  if (tile.getElementType() != view.getElementType())
    return op->emitOpError()
           << "expected a tile of the view's element type "
           << view.getElementType() << ", found " << tile.getElementType();
  return success();
}

LogicalResult mlir::tile::verifyElementAccess(Operation *op, ViewType view,
                                              Type value, OperandRange indices,
                                              Value mask) {
  if (static_cast<int64_t>(indices.size()) != view.getRank())
    return op->emitOpError() << "expected one index per dimension of the view ("
                             << view.getRank() << "), found " << indices.size();
  auto tile = dyn_cast<RankedTensorType>(value);
  // A scalar operand holds for all lanes of a tile; a tile has no meaning for
  // a scalar result.
  auto verifyOperand = [&](StringRef what, Value operand) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      return success();
    if (!tile)
      return op->emitOpError() << "expected a scalar " << what
                               << " for a scalar value, found " << type;
    return verifyShape(op, what, tile.getShape(), type.getShape());
  };
  for (Value index : indices)
    if (failed(verifyOperand("index", index)))
      return failure();
  if (mask && failed(verifyOperand("mask", mask)))
    return failure();
  Type elementType = getElementTypeOrSelf(value);
  if (elementType != view.getElementType())
    return op->emitOpError()
           << "expected a value of the view's element type "
           << view.getElementType() << ", found " << elementType;
  return success();
}

LogicalResult mlir::tile::verifyAtomicElement(Operation *op, Type elementType) {
  if (elementType.isF64() || elementType.isF32() || elementType.isF16() ||
      elementType.isBF16() || elementType.isSignlessInteger(64) ||
      elementType.isSignlessInteger(32))
    return success();
  return op->emitOpError() << "expected an element type with atomic addition "
                              "(f64 f32 f16 bf16 i64 i32), found "
                           << elementType;
}

LogicalResult mlir::tile::verifyReduceElement(Operation *op, ReduceKind kind,
                                              Type elementType) {
  bool isFloat = elementType.isF32() || elementType.isF64();
  bool isInt =
      elementType.isSignlessInteger(32) || elementType.isSignlessInteger(64);
  auto require = [&](bool holds, StringRef types) -> LogicalResult {
    if (holds)
      return success();
    return op->emitOpError()
           << "expected elements of " << types << " for '"
           << stringifyReduceKind(kind) << "', found " << elementType;
  };
  switch (kind) {
  case ReduceKind::Any:
  case ReduceKind::All:
    return require(elementType.isSignlessInteger(1), "i1");
  case ReduceKind::FMax:
  case ReduceKind::FMin:
    return require(isFloat, "f32 or f64");
  default:
    return require(isFloat || isInt, "i32, i64, f32 or f64");
  }
}
