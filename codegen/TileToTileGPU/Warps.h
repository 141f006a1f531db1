//===- Warps.h - How many warps, and how they share a product ---*- C++ -*-===//
//
// The number of warps of a thread block is the schedule's `warps`, or else:
//
//   * with products: enough that an accumulator takes at most 128 registers of
//     a thread, from 1 to 8 warps. (Half of the register file of a thread; the
//     rest holds operands and addresses.) At most 64 where one product feeds
//     another, as both accumulators are there at a time, and for operands other
//     than of 16 bits, which come to registers one by one.
//   * without: from the 16-byte vectors of the largest tile. Rows to reduce
//     want two to eight vectors a thread, since the exchange between threads
//     costs the same however many; others want one.
//
// A product's warps form a grid over its result. Products that a tile has
// several of (batch axes) are shared out first, since a warp then reads nothing
// that another does. Where rows are reduced or feed another product, all of a
// row should be in one warp: all warps that are left lie along M. Otherwise the
// grid is as square as possible in elements, so that operands are read the
// fewest times.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOTILEGPU_WARPS_H
#define TILEC_CODEGEN_TILETOTILEGPU_WARPS_H

#include "dialects/Tile/IR/Tile.h"

namespace tilec {

/// The number of warps; a power of two from 1 to 32.
int64_t chooseWarps(mlir::tile::KernelOp kernel);

/// How the warps lie over the result of a product.
struct WarpGrid {
  unsigned batch = 1, m = 1, n = 1;
};

/// The grid of `warps` warps for `dot`, which has free axes on both sides.
WarpGrid chooseWarpGrid(mlir::tile::DotOp dot, int64_t warps);

} // namespace tilec

#endif // TILEC_CODEGEN_TILETOTILEGPU_WARPS_H
