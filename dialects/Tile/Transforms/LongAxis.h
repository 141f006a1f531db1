//===- LongAxis.h - Parts of tile-loop-long-axes ---------------*- C++ -*-===//
//
// Passes.td describes the pass. Its parts, by file:
//
//   LoopLongAxes.cpp      which axis, and how long its chunks are
//   LongAxisPlan.cpp      which ops share a loop, and the order of the loops
//   LongAxisLoops.cpp     a loop: what it reads and computes of one chunk
//   LongAxisResults.cpp   what a loop carries: sums, products, scans
//   OnlineSoftmax.cpp     finds max and sum of exponentials that need one loop
//
// Words: a tile is *long* if it has the long axis. A *slice op* makes a long
// tile; it is copied into each loop that needs it, with tiles of one chunk. A
// *sink* takes long tiles and makes none: a reduction, a product that contracts
// the axis, a store. Sinks are why there are loops.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_TRANSFORMS_LONGAXIS_H
#define TILEC_DIALECTS_TILE_TRANSFORMS_LONGAXIS_H

#include "dialects/Tile/Transforms/AxisClasses.h"

namespace mlir::tile {

/// An axis that is processed in chunks.
struct LongAxis {
  const AxisClasses &classes;
  /// The classes that are divided together: all of one dimension, so that those
  /// that share nothing else share loops.
  SmallVector<unsigned, 2> numbers;
  int64_t extent = 0, chunk = 0;
  std::string name; // That of the dimension, or "".

  /// Where a tile has this axis, or -1. Also -1 for tiles made after `classes`.
  int64_t axisOf(Value tile) const;
  bool isLong(Value tile) const { return axisOf(tile) >= 0; }
  bool isSliceOp(Operation *op) const;
  bool isSink(Operation *op) const;
  /// Whether the last chunk is shorter.
  bool isPartial() const { return extent % chunk != 0; }
  /// "axis 'N' (extent 4096)", for messages.
  std::string describe() const;
};

/// The view argument that a view is part of.
Value getRootView(Value view);

/// What is subtracted from numbers before their exponential, as a function of
/// their maximum m.
enum class OnlineReference {
  Max,            // m
  MaxOrZero,      // m, or 0 if m is -inf
  FiniteMaxOrZero // m, or 0 if m is infinite
};

/// The sum of exp(x - r) with r the reference of the maximum of x.
struct OnlineSum {
  ReduceOp max, sum;
  Value shifted;                      // The x of the exponential.
  Operation *exponential;             // math.exp or math.exp2.
  SmallVector<SelectValidOp> selects; // Between it and the sum, inner first.
  OnlineReference reference;
};

/// Recognizes such a sum, along `axis` among others.
std::optional<OnlineSum> matchOnlineSum(ReduceOp sum, const LongAxis &axis);

/// A sink, with the sums that a maximum is computed together with.
struct ChunkSink {
  Operation *op;
  SmallVector<OnlineSum> sums;
};

/// What a block becomes: ops that stay, and sinks that share a loop.
struct PlanStep {
  Operation *op = nullptr;
  SmallVector<ChunkSink> sinks;
};
struct BlockPlan {
  Block *block;
  SmallVector<PlanStep> steps;
};

/// Orders the ops of `block`, which has sinks or ops with sinks inside. Fails,
/// after an error, if what a slice op reads is overwritten before all sinks
/// that need it are done.
FailureOr<BlockPlan> planBlock(Block &block, const LongAxis &axis);

/// Puts the ops of the block in order, and a loop in place of each group of
/// sinks, which are then without uses. Slice ops are left where they are, and
/// nothing is erased. `numLoops`, of the kernel so far, is increased by those
/// that it makes.
void applyPlan(const BlockPlan &plan, const LongAxis &axis, unsigned &numLoops);

/// On reads of all loops over chunks but the first of the kernel: the loop's
/// number. Where few chunks are unrolled, reads of one chunk by two loops would
/// be merged otherwise, and the chunk kept in between.
inline constexpr llvm::StringLiteral kRereadAttr = "tile.reread";

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_TRANSFORMS_LONGAXIS_H
