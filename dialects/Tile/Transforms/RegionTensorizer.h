//===- RegionTensorizer.h - Scalar regions made elementwise ----*- C++ -*-===//
//
// The `score` and `mask` regions of tile.attention are scalar functions of one
// query position and one key position. This turns such a region into ops on
// tiles, for all rows and keys of a tile at once.
//
// An op is done on no more axes than its operands have. In `doc[q] == doc[kv]`
// the first gather becomes one of a tensor<64xi64> of rows, the second one of a
// tensor<32xi64> of keys, and only the comparison is made on 64x32 lanes:
//
//     ^bb0(%q: i64, %kv: i64):             %d0 = tile.gather %doc[%rows] ...
//       %0 = tile.gather %doc[%q]          (before the loop)
//       %1 = tile.gather %doc[%kv]         %d1 = tile.gather %doc[%keys] ...
//       %2 = arith.cmpi eq, %0, %1         %b0 = tile.broadcast %d0 dims [0]
//       tile.yield %2                      %b1 = tile.broadcast %d1 dims [1]
//                                          %m = arith.cmpi eq, %b0, %b1
//
// What depends on no key is moved in front of the loop over the keys.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_TRANSFORMS_REGIONTENSORIZER_H
#define TILEC_DIALECTS_TILE_TRANSFORMS_REGIONTENSORIZER_H

#include "dialects/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::tile {

/// A value of the region for all rows and keys: a scalar, a tile along the
/// rows, along the keys, or [rows, keys].
struct Lanes {
  enum : unsigned { None = 0, Rows = 1, Keys = 2, Both = Rows | Keys };

  Value value;
  unsigned axes = None;
  /// Whether it is defined before the loop.
  bool hoisted = true;
};

class RegionTensorizer {
public:
  /// Gives the lanes, along these axes, at which reads are allowed; null if
  /// that is all of them. A gather whose mask is not `hoisted` stays in the
  /// loop.
  using ReadMask = llvm::function_ref<Lanes(unsigned axes)>;

  RegionTensorizer(int64_t rows, int64_t keys, OpBuilder &beforeLoop,
                   OpBuilder &inLoop)
      : rows(rows), keys(keys), beforeLoop(beforeLoop), inLoop(inLoop) {}

  /// The value of `region` at `arguments`, as a [rows, keys] tile. Reports ops
  /// that have no form on tiles.
  FailureOr<Value> run(Region &region, ArrayRef<Lanes> arguments,
                       ReadMask readMask);

  /// `lanes` repeated along the axes that it lacks.
  Value broadcast(const Lanes &lanes, unsigned axes, OpBuilder &builder,
                  Location loc);

  /// The type of a tile of `elementType` along `axes`; `elementType` for none.
  Type typeAlong(unsigned axes, Type elementType) const;

private:
  Lanes lookup(Value value) const;
  FailureOr<Lanes> tensorize(Operation &op, ReadMask readMask);
  Lanes tensorizeGather(GatherOp gather, ReadMask readMask);

  int64_t rows, keys;
  OpBuilder &beforeLoop, &inLoop;
  DenseMap<Value, Lanes> lanesOf;
};

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_TRANSFORMS_REGIONTENSORIZER_H
