//===- AxisBox.cpp - Extremes over a program's tile ------------*- C++ -*-===//
//
// Extremes by structure: a sum is greatest where its terms are, a quotient by a
// positive invariant where its numerator is. Operands are treated as
// independent, so a position that occurs twice may give a bound that no row
// attains.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/AxisBox.h"

namespace tilec {

using ExprKind = IndexExpr::Kind;

AxisBox::AxisBox(const LoopAxis &loop, llvm::ArrayRef<RowAxis> rows)
    : loopId(loop.position.symbolId()), loopBegin(loop.begin),
      loopEnd(max(loop.begin, loop.end)) {
  for (const RowAxis &row : rows) {
    IndexExpr past = row.begin + row.size;
    if (row.extent)
      past = min(past, *row.extent);
    this->rows.push_back({row.position.symbolId(), row.begin, past - 1});
  }
}

const AxisBox::Row *AxisBox::findRow(const IndexExpr &leaf) const {
  for (const Row &row : rows)
    if (leaf.kind() == ExprKind::Symbol && leaf.symbolId() == row.id)
      return &row;
  return nullptr;
}

bool AxisBox::isInvariant(const IndexExpr &expr) const {
  return expr.isSpeculatable() && !expr.mentions([&](const IndexExpr &leaf) {
    return isLoop(leaf) || findRow(leaf) || leaf.kind() == ExprKind::Opaque;
  });
}

MaskExpr AxisBox::narrow(const MaskExpr &mask) const {
  auto narrowLeaf = [](const IndexExpr &leaf, const IndexExpr &first,
                       const IndexExpr &last) -> std::optional<IndexExpr> {
    Interval range =
        intersect(leaf.range(), {first.range().lo, last.range().hi});
    // An axis without positions: whatever is said about it is true.
    if (range.isEmpty())
      return std::nullopt;
    return IndexExpr::symbol(leaf.symbolId(), leaf.name(), range,
                             leaf.multipleOf());
  };
  return mask.substitute(
      [&](const IndexExpr &leaf) -> std::optional<IndexExpr> {
        if (isLoop(leaf))
          return narrowLeaf(leaf, loopBegin, loopEnd - 1);
        if (const Row *row = findRow(leaf))
          return narrowLeaf(leaf, row->first, row->last);
        return std::nullopt;
      });
}

std::optional<IndexExpr> AxisBox::extreme(const IndexExpr &e,
                                          bool greatest) const {
  if (isInvariant(e))
    return e;
  switch (e.kind()) {
  case ExprKind::Symbol:
    if (const Row *row = findRow(e))
      return greatest ? row->last : row->first;
    if (isLoop(e))
      return greatest ? loopEnd - 1 : loopBegin;
    break;
  case ExprKind::Sum: {
    IndexExpr sum(e.constant());
    for (auto [term, k] : llvm::zip(e.operands(), e.coefficients())) {
      std::optional<IndexExpr> bound = extreme(term, greatest == (k > 0));
      if (!bound)
        return std::nullopt;
      sum = sum + k * *bound;
    }
    return sum;
  }
  case ExprKind::FloorDiv: {
    const IndexExpr &divisor = e.operands()[1];
    if (!isInvariant(divisor) || divisor.range().lo < 1)
      break;
    if (std::optional<IndexExpr> bound = extreme(e.operands()[0], greatest))
      return floorDiv(*bound, divisor);
    break;
  }
  case ExprKind::Mod: {
    const IndexExpr &divisor = e.operands()[1];
    if (!isInvariant(divisor) || divisor.range().lo < 1)
      break;
    return greatest ? divisor - 1 : IndexExpr(0);
  }
  case ExprKind::Product:
    if (std::optional<IndexExpr> bound = extremeOfProduct(e, greatest))
      return bound;
    break;
  case ExprKind::Min:
  case ExprKind::Max:
  case ExprKind::Select:
    if (std::optional<IndexExpr> bound = extremeOfChoice(e, greatest))
      return bound;
    break;
  case ExprKind::Constant:
  case ExprKind::Opaque:
    break;
  }
  int64_t bound = greatest ? e.range().hi : e.range().lo;
  if (bound == Interval::negInf || bound == Interval::posInf)
    return std::nullopt;
  return IndexExpr(bound);
}

/// Corners repeat their factors; past this size a product has no bound.
static constexpr unsigned maxSize = 400;

/// A product is extreme at a corner of its factors' ranges; at which, is known
/// if all factors but one are invariant and their sign is.
std::optional<IndexExpr> AxisBox::extremeOfProduct(const IndexExpr &product,
                                                   bool greatest) const {
  IndexExpr scale(1), varying(1);
  for (const IndexExpr &factor : product.operands())
    (isInvariant(factor) ? scale : varying) =
        (isInvariant(factor) ? scale : varying) * factor;
  if (varying.kind() != ExprKind::Product &&
      (scale.range().lo >= 0 || scale.range().hi <= 0)) {
    std::optional<IndexExpr> bound =
        extreme(varying, greatest == (scale.range().lo >= 0));
    return bound ? std::optional(scale * *bound) : std::nullopt;
  }
  std::optional<IndexExpr> lo, hi;
  for (const IndexExpr &factor : product.operands()) {
    std::optional<IndexExpr> factorLo = extreme(factor, /*greatest=*/false);
    std::optional<IndexExpr> factorHi = extreme(factor, /*greatest=*/true);
    if (!factorLo || !factorHi)
      return std::nullopt;
    if (!lo) {
      lo = factorLo;
      hi = factorHi;
      continue;
    }
    IndexExpr corners[] = {*lo * *factorLo, *lo * *factorHi, *hi * *factorLo,
                           *hi * *factorHi};
    lo = hi = corners[0];
    for (const IndexExpr &corner : llvm::drop_begin(corners)) {
      lo = min(*lo, corner);
      hi = max(*hi, corner);
    }
    if (lo->size() > maxSize || hi->size() > maxSize)
      return std::nullopt;
  }
  return greatest ? hi : lo;
}

std::optional<IndexExpr> AxisBox::extremeOfChoice(const IndexExpr &choice,
                                                  bool greatest) const {
  llvm::ArrayRef<IndexExpr> operands = choice.operands();
  if (choice.kind() == ExprKind::Select) {
    operands = operands.drop_front();
    if (isInvariant(choice.operands()[0])) {
      std::optional<IndexExpr> a = extreme(operands[0], greatest);
      std::optional<IndexExpr> b = extreme(operands[1], greatest);
      if (a && b)
        return select(choice.operands()[0], *a, *b);
      return std::nullopt;
    }
  }
  bool takesMin = choice.kind() == ExprKind::Select
                      ? !greatest
                      : choice.kind() == ExprKind::Min;
  // Of the greatest value of a minimum any operand's is a bound, so one that is
  // unknown may be left out; of its least value it may not.
  bool needsAll = takesMin != greatest;
  std::optional<IndexExpr> result;
  for (const IndexExpr &operand : operands) {
    std::optional<IndexExpr> bound = extreme(operand, greatest);
    if (!bound && needsAll)
      return std::nullopt;
    if (bound)
      result = !result    ? *bound
               : takesMin ? min(*result, *bound)
                          : max(*result, *bound);
  }
  return result;
}

} // namespace tilec
