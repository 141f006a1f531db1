//===- SplitLoops.h - Parts of tile-split-loops ----------------*- C++ -*-===//
//
// Passes.td describes the pass. Its two halves are functions, for pipelines
// that want one on a kernel of their choice.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_TRANSFORMS_SPLITLOOPS_H
#define TILEC_DIALECTS_TILE_TRANSFORMS_SPLITLOOPS_H

#include "dialects/Tile/IR/Tile.h"

namespace mlir::tile {

/// On a loop: the StringAttr "full" or "partial".
inline constexpr StringLiteral kRangeAttr = "tile.range";
/// On the scf.if that tells full grid tiles from others: a UnitAttr.
inline constexpr StringLiteral kVersionedAttr = "tile.versioned";
/// The category of the remarks.
inline constexpr StringLiteral kSplitLoopsCategory = "tile-split-loops";

/// Gives the programs whose grid tiles are all full a body of their own.
/// Returns whether there was something to do.
bool versionGrid(KernelOp kernel);

/// Divides a loop over tiles into full and partial ranges. Returns whether it
/// did; says why not in a remark. With `keepCopies` it leaves loops alone in
/// which only operands of dots are cut short.
bool splitLoop(scf::ForOp loop, bool keepCopies = false);

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_TRANSFORMS_SPLITLOOPS_H
