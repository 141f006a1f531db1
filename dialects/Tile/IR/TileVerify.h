//===- TileVerify.h - Checks shared by the op verifiers --------*- C++ -*-===//
//
// Private to the dialect. Each function checks one rule that several ops have
// in common and reports it in one wording: expected before found, with both
// values.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_IR_TILEVERIFY_H
#define TILEC_DIALECTS_TILE_IR_TILEVERIFY_H

#include "dialects/Tile/IR/Tile.h"

namespace mlir::tile {

/// `axes`, called `what` in messages, are distinct and in [0, rank).
LogicalResult verifyAxes(Operation *op, StringRef what, ArrayRef<int64_t> axes,
                         int64_t rank);

/// `found` is `expected`, where a dynamic extent agrees with every other.
LogicalResult verifyShape(Operation *op, StringRef what,
                          ArrayRef<int64_t> expected, ArrayRef<int64_t> found);

/// The indices, dims and valid extents of tile.load and its like fit the view
/// and the tile.
LogicalResult verifyBlockAccess(Operation *op, ViewType view,
                                RankedTensorType tile, size_t numIndices,
                                ArrayRef<int64_t> dims, size_t numValid);

/// The indices and the mask of tile.gather and tile.scatter_add fit the view
/// and the value read or added, a tile or a scalar.
LogicalResult verifyElementAccess(Operation *op, ViewType view, Type value,
                                  OperandRange indices, Value mask);

/// Memory can add to elements of this type atomically.
LogicalResult verifyAtomicElement(Operation *op, Type elementType);

/// The element type has the reduction.
LogicalResult verifyReduceElement(Operation *op, ReduceKind kind,
                                  Type elementType);

/// A shape as messages show it: `[64, ?]`.
std::string shapeText(ArrayRef<int64_t> shape);

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_IR_TILEVERIFY_H
