//===- TileGPU.td - The tilegpu dialect, whole ---------*- tablegen -*-===//
//
// What TableGen reads; the parts are split by role.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILEGPU_TD
#define TILEC_TILEGPU_TD

include "dialects/TileGPU/IR/TileGPUMemoryOps.td"
include "dialects/TileGPU/IR/TileGPUComputeOps.td"

#endif // TILEC_TILEGPU_TD
