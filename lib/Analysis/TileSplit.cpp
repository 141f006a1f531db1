//===- TileSplit.cpp - From ranges of positions to tiles -------*- C++ -*-===//
//
// Rounds what the mask analysis found to tiles: outwards for what must be
// visited, inwards for what needs no mask.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/MaskIntervals.h"

#include "llvm/Support/raw_ostream.h"

namespace tilec {

using ExprKind = IndexExpr::Kind;

namespace {

/// Rounds positions to multiples of the tile size from the loop's begin.
class TileGrid {
public:
  explicit TileGrid(const LoopAxis &loop)
      : begin(loop.begin), tileSize(loop.tileSize) {}

  IndexExpr roundDown(const IndexExpr &position) const {
    return round(position, 0);
  }
  IndexExpr roundUp(const IndexExpr &position) const {
    return round(position, tileSize - 1);
  }

private:
  /// Rounding is monotone, so it may be done inside a minimum or a maximum,
  /// where aligned operands need none.
  IndexExpr round(const IndexExpr &position, int64_t addend) const {
    if (position.kind() == ExprKind::Min || position.kind() == ExprKind::Max) {
      IndexExpr result = round(position.operands()[0], addend);
      for (const IndexExpr &operand : position.operands().drop_front())
        result = position.kind() == ExprKind::Min
                     ? min(result, round(operand, addend))
                     : max(result, round(operand, addend));
      return result;
    }
    return begin +
           tileSize * floorDiv(position - begin + addend, IndexExpr(tileSize));
  }

  IndexExpr begin;
  int64_t tileSize;
};

} // namespace

TileSplit splitTiles(const MaskRanges &ranges, const LoopAxis &loop,
                     Tail tail) {
  assert(loop.tileSize > 0 && "a tile has some position");
  TileGrid grid(loop);
  IndexExpr end = max(loop.begin, loop.end);
  const PositionRange &any = ranges.any, &all = ranges.all;

  TileSplit split;
  split.visitLo = grid.roundDown(any.lo);
  // An empty range within a tile would round to the tile, unless its lower end
  // is on the tile's edge already.
  split.visitHi =
      any.lo == split.visitLo
          ? max(split.visitLo, grid.roundUp(any.hi))
          : select(any.hi - any.lo - 1, grid.roundUp(any.hi), split.visitLo);

  // Where the mask is never full, the one masked loop is the leading one.
  if (all.provablyEmpty()) {
    split.fullLo = split.fullHi = split.visitHi;
    return split;
  }
  IndexExpr fullHi = grid.roundDown(all.hi);
  if (tail == Tail::AsOthers)
    fullHi = select(all.hi - end, grid.roundUp(end), fullHi);
  split.fullLo = min(max(grid.roundUp(all.lo), split.visitLo), split.visitHi);
  split.fullHi = min(max(fullHi, split.fullLo), split.visitHi);
  return split;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const PositionRange &range) {
  return os << '[' << range.lo << ", " << range.hi << ')';
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const TileSplit &split) {
  return os << "partial [" << split.visitLo << ", " << split.fullLo
            << "), full [" << split.fullLo << ", " << split.fullHi
            << "), partial [" << split.fullHi << ", " << split.visitHi << ')';
}

} // namespace tilec
