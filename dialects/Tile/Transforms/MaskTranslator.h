//===- MaskTranslator.h - IR as expressions over positions -----*- C++ -*-===//
//
// lib/Analysis reasons about masks as expressions over positions and knows no
// IR. This is the bridge, for one loop over tiles: it reads masks, extents and
// bounds from the IR as expressions, and writes expressions as IR.
//
//     scf.for %j = %c0 to %T step %c64 {       loop axis: position `j`,
//       %k  = tile.iota %j : tensor<64xi64>      [0, T) by 64
//       %q  = tile.iota %i : tensor<128xi64>   row axis: position `r0`,
//       %b0 = tile.broadcast %q dims [0]         [i, i + 128)
//       %b1 = tile.broadcast %k dims [1]
//       %m  = arith.cmpi sge, %b0, %b1         mask: r0 >= j
//
// A position is a tile.iota along one axis of the mask. The same iota along two
// axes is two positions: lane (3, 5) has different values of them. Whatever is
// not understood becomes opaque, which is never wrong.
//
// Scalars from outside the loop become symbols, of which some facts are known:
// an extent is not negative, a loop's variable is a multiple of its step.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_TRANSFORMS_MASKTRANSLATOR_H
#define TILEC_DIALECTS_TILE_TRANSFORMS_MASKTRANSLATOR_H

#include "dialects/Tile/IR/Tile.h"
#include "lib/Analysis/MaskIntervals.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace mlir::tile {

class MaskTranslator {
public:
  /// For a loop whose step is the constant `tileSize`.
  MaskTranslator(scf::ForOp loop, int64_t tileSize);

  /// A scalar integer or index.
  tilec::IndexExpr scalar(Value value);
  /// A condition: an i1, or a tile of them.
  tilec::MaskExpr mask(Value value);

  const tilec::LoopAxis &loopAxis() const { return axis; }
  /// The row axes that the masks translated so far have.
  ArrayRef<tilec::RowAxis> rowAxes() const { return rows; }

  /// The value that a symbol stands for, an integer or an index.
  Value valueOf(const tilec::IndexExpr &leaf) const {
    return values.at(leaf.symbolId());
  }

private:
  /// Which axis of the mask each axis of a tile runs along.
  using AxisMap = SmallVector<int64_t, 2>;

  tilec::IndexExpr integer(Value value, const AxisMap &axes);
  tilec::IndexExpr integerOp(Operation *op, const AxisMap &axes);
  tilec::IndexExpr difference(const tilec::IndexExpr &a,
                              const tilec::IndexExpr &b);
  tilec::IndexExpr positions(IotaOp iota, int64_t axis);
  tilec::IndexExpr leaf(Value value, const AxisMap &axes);
  tilec::IndexExpr symbol(Value value);
  tilec::IndexExpr fresh(Value value, StringRef name, tilec::Interval range,
                         int64_t multipleOf = 1);
  tilec::MaskExpr condition(Value value, const AxisMap &axes);
  tilec::MaskExpr comparison(arith::CmpIOp op, const AxisMap &axes);
  tilec::MaskExpr insideValid(SelectValidOp op, const AxisMap &axes);
  tilec::MaskExpr opaqueCondition(Value value, const AxisMap &axes);
  uint32_t opaqueId(Value value, const AxisMap &axes);
  bool mentionsIv(const tilec::IndexExpr &expr) const;
  bool isInsideLoop(Value value) const;

  scf::ForOp loop;
  tilec::LoopAxis axis;
  /// The loop's variable where it is not a position: the begin of the tile.
  tilec::IndexExpr iv;
  uint32_t ivId;
  SmallVector<tilec::RowAxis> rows;
  /// The mask axis of each of `rows`, and that of the loop's positions.
  SmallVector<int64_t> rowAxisOf;
  std::optional<int64_t> loopAxisOf;

  uint32_t nextId = 0;
  DenseMap<Value, tilec::IndexExpr> symbols;
  std::map<uint32_t, Value> values;
  std::map<std::pair<void *, std::vector<int64_t>>, uint32_t> opaqueIds;
};

/// Writes expressions as index arithmetic at the builder's position.
class IndexExprBuilder : public tilec::IndexExprEmitter<Value> {
public:
  IndexExprBuilder(const MaskTranslator &translator, OpBuilder &builder,
                   Location loc)
      : translator(translator), builder(builder), loc(loc) {}

protected:
  Value constant(int64_t value) override;
  Value symbol(const tilec::IndexExpr &leaf) override;
  Value add(Value a, Value b) override;
  Value sub(Value a, Value b) override;
  Value mul(Value a, Value b) override;
  Value floorDiv(Value a, Value b) override;
  Value mod(Value a, Value b) override;
  Value min(Value a, Value b) override;
  Value max(Value a, Value b) override;
  Value selectNonNegative(Value condition, Value ifTrue,
                          Value ifFalse) override;

private:
  const MaskTranslator &translator;
  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_TRANSFORMS_MASKTRANSLATOR_H
