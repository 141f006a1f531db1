//===- Tile.td - The tile dialect, whole ---------------*- tablegen -*-===//
//
// What TableGen reads; the parts are split by role.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_TD
#define TILEC_TILE_TD

include "dialects/Tile/IR/TileKernelOps.td"
include "dialects/Tile/IR/TileMemoryOps.td"
include "dialects/Tile/IR/TileShapeOps.td"
include "dialects/Tile/IR/TileComputeOps.td"
include "dialects/Tile/IR/TileDebugOps.td"

#endif // TILEC_TILE_TD
