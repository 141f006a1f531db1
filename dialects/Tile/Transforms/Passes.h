//===- Passes.h - Passes over the tile dialect ------------------*- C++ -*-===//
//
// Constructors and registration of the passes that Passes.td describes.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_TRANSFORMS_PASSES_H
#define TILEC_DIALECTS_TILE_TRANSFORMS_PASSES_H

#include "dialects/Tile/IR/Tile.h"

#include "mlir/Pass/Pass.h"

namespace mlir::tile {

#define GEN_PASS_DECL
#include "dialects/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dialects/Tile/Transforms/Passes.h.inc"

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_TRANSFORMS_PASSES_H
