//===- AxisBox.h - Extremes over a program's tile --------------*- C++ -*-===//
//
// What a program at one row tile knows of the positions in a mask: which symbol
// is the loop's, between which run-time bounds each axis lies, and from that
// the greatest and least value an expression has over all of them. With rows
// i in [i0, i0 + 127]:
//
//   i / 64 + p    is at most (i0 + 127) / 64 + p    and at least i0 / 64 + p
//   3 - i         is at most 3 - i0                 and at least -i0 - 124
//   i % w         is at most w - 1                  and at least 0
//   doc[i]        has no bound
//
// A bound is exact where each position occurs once and monotonically.
// Internal to the mask analysis.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_ANALYSIS_AXISBOX_H
#define TILEC_ANALYSIS_AXISBOX_H

#include "lib/Analysis/MaskIntervals.h"

#include "llvm/ADT/SmallVector.h"

namespace tilec {

class AxisBox {
public:
  AxisBox(const LoopAxis &loop, llvm::ArrayRef<RowAxis> rows);

  /// The loop's positions, with end >= begin.
  const IndexExpr &begin() const { return loopBegin; }
  const IndexExpr &end() const { return loopEnd; }

  bool isLoop(const IndexExpr &leaf) const {
    return leaf.kind() == IndexExpr::Kind::Symbol && leaf.symbolId() == loopId;
  }
  bool dependsOnLoop(const IndexExpr &expr) const {
    return expr.mentions([&](const IndexExpr &leaf) { return isLoop(leaf); });
  }
  /// Whether it has one value throughout the program and may be computed before
  /// the loop.
  bool isInvariant(const IndexExpr &expr) const;

  /// The greatest or least value of e over all rows (and over the loop, where e
  /// mentions its position) or a bound beyond it; nothing if there is none.
  std::optional<IndexExpr> extreme(const IndexExpr &e, bool greatest) const;

  /// The mask with the axes' bounds made known to the simplifier, so that for
  /// example `j % 4096` becomes j in a loop that ends at 2048.
  MaskExpr narrow(const MaskExpr &mask) const;

private:
  struct Row {
    uint32_t id;
    IndexExpr first, last;
  };

  const Row *findRow(const IndexExpr &leaf) const;
  std::optional<IndexExpr> extremeOfProduct(const IndexExpr &product,
                                            bool greatest) const;
  std::optional<IndexExpr> extremeOfChoice(const IndexExpr &choice,
                                           bool greatest) const;

  uint32_t loopId;
  IndexExpr loopBegin, loopEnd;
  llvm::SmallVector<Row, 2> rows;
};

} // namespace tilec

#endif // TILEC_ANALYSIS_AXISBOX_H
