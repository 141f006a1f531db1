//===- SourcePlace.h - From a location to a file ----------------*- C++ -*-===//

#ifndef TILEC_DIALECTS_TILE_IR_SOURCEPLACE_H
#define TILEC_DIALECTS_TILE_IR_SOURCEPLACE_H

#include "mlir/IR/Location.h"

namespace mlir::tile {

/// The place in a source file that a location leads to: of a call chain the
/// place that was called, of a fused location the first that has one. Null if
/// there is none.
FileLineColLoc findFile(Location location);

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_IR_SOURCEPLACE_H
