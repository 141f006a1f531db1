//===- Tile.h - The tile dialect --------------------------------*- C++ -*-===//
//
// The one header to include for the tile dialect: its types, attributes and
// ops. TileBase.td describes the dialect, dialects/Tile/IR/*.td each op.
//
// A tool makes the dialect known with `registerTileDialect(registry)`; a pass
// that creates its ops lists `tile::TileDialect` among its dependent dialects.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_IR_TILE_H
#define TILEC_DIALECTS_TILE_IR_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "dialects/Tile/IR/TileDialect.h.inc"

#include "dialects/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Tile/IR/TileOps.h.inc"

namespace mlir::tile {

/// Makes the dialect loadable from `registry`.
void registerTileDialect(DialectRegistry &registry);

/// The number that `pad` stands for in tiles of `elementType`; null for
/// `undef` and for types that tiles do not have.
TypedAttr getPadValue(Pad pad, Type elementType);

/// The pad under which invalid lanes do not influence a reduction of `kind`.
std::optional<Pad> getNeutralPad(ReduceKind kind);

/// The element type in which tile.dot sums products of these element types;
/// null where they do not go together.
Type getDotResultElement(Type lhs, Type rhs);

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_IR_TILE_H
