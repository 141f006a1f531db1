//===- PadAnalysis.h - What the invalid lanes of tiles hold ----*- C++ -*-===//
//
// A tile that overhangs the end of its axis has lanes that stand for no
// position. This answers what they hold:
//
//     %x = tile.load %X[%i] dims [0] valid [%v] pad zero : ...
//     %y = arith.mulf %x, %x           lanes at or beyond %v hold 0 * 0 = 0
//     %z = math.exp %x                                            e^0 = 1
//     %w = arith.mulf %x, %b           nothing known: 0 * b is NaN if b is
//                                      infinite
//
// An answer is a constant, relative to one `valid` value and one axis, and says
// that *all* lanes with an index of at least `valid` on that axis hold it,
// whatever their other indices. Elementwise ops answer by folding themselves on
// the constants of their operands, so that the rules of arithmetic (signed
// zeros, NaN and infinity included) are those of the folders.
//
// Loop-carried values and block arguments have no answer. Answers are cached:
// make a new analysis after changing what a tile holds.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_TRANSFORMS_PADANALYSIS_H
#define TILEC_DIALECTS_TILE_TRANSFORMS_PADANALYSIS_H

#include "dialects/Tile/IR/Tile.h"

namespace mlir::tile {

class PadAnalysis {
public:
  /// What the lanes of `tile` at or beyond `valid` along `axis` hold; null if
  /// that is not one known number.
  TypedAttr query(Value tile, int64_t axis, Value valid);

  /// What `op` gives on these operands, where each is a constant or null; null
  /// if it is not elementwise or not known.
  static TypedAttr foldElementwise(Operation *op, ArrayRef<TypedAttr> operands);

private:
  TypedAttr compute(Value tile, int64_t axis, Value valid);
  TypedAttr computeReduce(ReduceOp op, int64_t axis, Value valid);
  TypedAttr computeElementwise(Operation *op, int64_t axis, Value valid);

  DenseMap<std::tuple<Value, int64_t, Value>, TypedAttr> cache;
};

/// Whether `a <= b` is known of two extents.
bool isValidAtMost(Value a, Value b);

/// Whether `valid` cuts nothing off an axis of this extent.
bool coversAxis(Value valid, int64_t extent);

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_TRANSFORMS_PADANALYSIS_H
