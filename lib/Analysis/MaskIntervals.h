//===- MaskIntervals.h - Where along a loop a mask is true -----*- C++ -*-===//
//
// A program owns a tile of rows (query positions i in [i0, i0 + 128)) and loops
// over tiles of columns (key positions j, 64 at a time), applying a mask at
// every (i, j). For most columns the answer is the same for all its rows, and
// then no mask is needed, or the tile need not be visited at all:
//
//               mask i >= j               i >= j && i - j < 7
//
//               j -->                     j -->
//     i0        ############.......       ....#######........
//               #############......       .....#######.......
//               ##############.....       ......#######......
//     i0 + 3    ###############....       .......#######.....
//
//     column    FFFFFFFFFFFFPPPEEEE       EEEEPPPFFFFPPPEEEEE
//               full, partial or empty: true for all, some or no rows
//
// `analyzeMask` finds, as run-time expressions,
//
//   any = [lo, hi): outside it the mask is false for every row       (sound),
//   all = [lo, hi): inside it the mask is true for every row         (sound).
//
// For the causal mask above any is [0, i0 + 128) and all is [0, i0 + 1): column
// j is seen by some row if the last row sees it, by all if the first does.
// For the window `i >= j && i - j < w` any is [i0 - w + 1, i0 + 128) and all is
// [i0 + 127 - w + 1, i0 + 1), which is empty where w is less than 128.
//
// `splitTiles` rounds them to tiles: a tile is visited if any touches it and
// full if all contains it. The causal loop over j becomes two loops,
//
//   for j in [0, i0) step 64            without a mask (64 divides i0)
//   for j in [i0, i0 + 128) step 64     with it
//
// More examples, with rows [i0, i0 + 127] and both ranges cut to [0, S):
//
//   mask                     any                        all
//   true                     [0, S)                     [0, S)
//   j < p || i >= j          [0, max(p, i0 + 128))      [0, max(p, i0 + 1))
//   i / 64 == j / 64         [64 * (i0 / 64),           the one block that
//                             64 * ((i0+127) / 64 + 1))  holds all rows, if any
//   2 * j <= i               [0, (i0 + 127) / 2 + 1)    [0, i0 / 2 + 1)
//   j % 2 == 0               [0, S)                     none
//   doc[i] == doc[j]         [0, S)                     none
//   doc[i]==doc[j] && i>=j   [0, i0 + 128)              none
//   i != j                   [0, S)                     the longer side of the
//                                                       rows: [0, i0) or the
//                                                       positions from i0 + 128
//
// What is exact: comparisons in which the column occurs once, under any nest of
// addition, multiplication by and floor division by positive invariants, min
// and max, and equality of such; disjunctions of ranges that share an end, as
// prefixes do; conjunctions, for `all` always, and for `any` where a column
// that meets each condition with some row meets all of them with one row, as in
// windows (of width >= 1) and blocks. What is not: remainders (unless within
// one period), opaque values, rows that occur several times in one comparison,
// and unions that are no interval: `any` takes their hull, `all` the longer
// part. Inexact means visiting or masking more than needed, never less.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_ANALYSIS_MASKINTERVALS_H
#define TILEC_ANALYSIS_MASKINTERVALS_H

#include "lib/Analysis/MaskExpr.h"

namespace tilec {

/// The loop that visits tiles [begin + k * tileSize, begin + (k+1) * tileSize)
/// while they start before `end`. Where `end` is not after `begin` there are
/// none.
struct LoopAxis {
  /// The symbol that stands for a position of this axis in the mask.
  IndexExpr position;
  IndexExpr begin = 0;
  IndexExpr end;
  int64_t tileSize = 1;
};

/// An axis on which the program already stands at a tile: positions
/// [begin, begin + size), less those from `extent` on, which no result depends
/// on. The tile that an enclosing loop is at is such an axis too.
struct RowAxis {
  /// The symbol that stands for a position of this axis in the mask.
  IndexExpr position;
  IndexExpr begin;
  IndexExpr size;
  std::optional<IndexExpr> extent;
};

/// Positions lo <= x < hi; none if hi <= lo.
struct PositionRange {
  IndexExpr lo, hi;

  bool provablyEmpty() const { return provablyLessEqual(hi, lo); }
};

struct MaskRanges {
  /// Both lie within [begin, end) of the loop.
  PositionRange any, all;
};

/// Symbols of the mask that are neither the loop's position nor a row's are
/// run-time values known before the loop. What comes back mentions only those
/// and the symbols of the axes' bounds, divides only by positive values, and
/// holds whatever their values (within the ranges promised for them).
MaskRanges analyzeMask(const MaskExpr &mask, const LoopAxis &loop,
                       llvm::ArrayRef<RowAxis> rows);

/// What to make of a last tile that overhangs the loop's end.
enum class Tail {
  /// It is partial: the positions beyond the end need to be masked out.
  Partial,
  /// It is full if the mask is true at those of its positions that exist; the
  /// overhang is harmless or is dealt with elsewhere.
  AsOthers,
};

/// Loop bounds in positions, each a multiple of the tile size from the loop's
/// begin, with visitLo <= fullLo <= fullHi <= visitHi:
///
///   [visitLo, fullLo)   some rows or columns are masked: apply the mask
///   [fullLo, fullHi)    nothing is masked
///   [fullHi, visitHi)   apply the mask
///
/// and the mask is false in all other tiles.
struct TileSplit {
  IndexExpr visitLo, fullLo, fullHi, visitHi;

  // Which of the loops need not be emitted at all.
  bool hasLeading() const { return !provablyLessEqual(fullLo, visitLo); }
  bool hasFull() const { return !provablyLessEqual(fullHi, fullLo); }
  bool hasTrailing() const { return !provablyLessEqual(visitHi, fullHi); }
};

TileSplit splitTiles(const MaskRanges &ranges, const LoopAxis &loop,
                     Tail tail = Tail::Partial);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const PositionRange &range);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const TileSplit &split);

} // namespace tilec

#endif // TILEC_ANALYSIS_MASKINTERVALS_H
