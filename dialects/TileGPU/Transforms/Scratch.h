//===- Scratch.h - Shared memory of exchanges -------------------*- C++ -*-===//
//
// Some ops move values between warps by way of shared memory: reductions and
// scans along an axis that several warps share, conversions of layouts, and the
// printing of tiles. How much they need follows from the layouts.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILEGPU_TRANSFORMS_SCRATCH_H
#define TILEC_DIALECTS_TILEGPU_TRANSFORMS_SCRATCH_H

#include "dialects/TileGPU/IR/TileGPU.h"

namespace mlir::tilegpu {

/// Bytes of shared memory that `op` uses between its threads; 0 for ops that
/// exchange nothing, or within warps only.
int64_t getScratchBytes(Operation *op);

} // namespace mlir::tilegpu

#endif // TILEC_DIALECTS_TILEGPU_TRANSFORMS_SCRATCH_H
