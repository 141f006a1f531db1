//===- MaskIntervals.cpp - Where along a loop a mask is true ---*- C++ -*-===//
//
// One recursion over the mask serves both questions. At a comparison e >= 0 it
// solves for the loop's position, after replacing what is left of e by its
// greatest value over the rows (to ask "for any row?") or its least ("for all
// rows?"). A conjunction intersects ranges and a disjunction unites them, for
// either question; where the union is no interval, `any` takes the hull and
// `all` a part of it. Negations are gone before (MaskExpr.h), so `all` is never
// derived from the complement of an `any`, which would not be an interval.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/MaskIntervals.h"

#include "lib/Analysis/AxisBox.h"

#include "llvm/Support/ErrorHandling.h"

namespace tilec {

namespace {

using ExprKind = IndexExpr::Kind;

enum class Quantifier { Any, All };

/// A range of positions while it is being worked out. An end that is missing is
/// infinite. The range is empty where the guard is negative.
struct Range {
  std::optional<IndexExpr> lo, hi, guard;

  static Range everything() { return {}; }
  static Range nothing() { return {std::nullopt, std::nullopt, IndexExpr(-1)}; }
  /// The sound answer where nothing is known.
  static Range unknown(Quantifier quantifier) {
    return quantifier == Quantifier::Any ? everything() : nothing();
  }
  static Range from(IndexExpr lo) { return {lo, std::nullopt, std::nullopt}; }
  static Range before(IndexExpr hi) { return {std::nullopt, hi, std::nullopt}; }
  static Range where(const IndexExpr &condition) {
    if (provablyNonNegative(condition))
      return everything();
    if (provablyNonNegative(-condition - 1))
      return nothing();
    return {std::nullopt, std::nullopt, condition};
  }

  bool isEverything() const { return !lo && !hi && !guard; }
  bool isNothing() const { return guard && provablyNonNegative(-*guard - 1); }
};

template <typename Combine>
std::optional<IndexExpr> combineKnown(const std::optional<IndexExpr> &a,
                                      const std::optional<IndexExpr> &b,
                                      Combine combine) {
  return a && b ? combine(*a, *b) : a ? a : b;
}

Range intersect(const Range &a, const Range &b) {
  auto least = [](const IndexExpr &x, const IndexExpr &y) { return min(x, y); };
  auto most = [](const IndexExpr &x, const IndexExpr &y) { return max(x, y); };
  return {combineKnown(a.lo, b.lo, most), combineKnown(a.hi, b.hi, least),
          combineKnown(a.guard, b.guard, least)};
}

class Solver {
public:
  Solver(const LoopAxis &loop, llvm::ArrayRef<RowAxis> rows)
      : box(loop, rows), begin(box.begin()), end(box.end()) {}

  MaskRanges analyze(const MaskExpr &mask) {
    MaskExpr narrowed = box.narrow(mask);
    Range any = solve(narrowed, Quantifier::Any);
    Range all = solve(narrowed, Quantifier::All);
    return {clip(any), clip(all)};
  }

private:
  /// Unions of guarded ranges repeat their parts; past this size the result is
  /// approximated, so that no mask makes the generated bounds explode.
  static constexpr unsigned maxBoundSize = 400;
  /// Comparisons (after splitting min and max) that are solved for one mask.
  unsigned solveBudget = 512;

  AxisBox box;
  const IndexExpr &begin, &end;

  Range solve(const MaskExpr &mask, Quantifier quantifier);
  Range solveNonNegative(const IndexExpr &e, Quantifier quantifier);
  Range solveSingle(const IndexExpr &term, int64_t k, const IndexExpr &rest,
                    Quantifier quantifier);
  Range solveChoices(const IndexExpr &term, int64_t k, const IndexExpr &rest,
                     Quantifier quantifier);
  Range relax(const IndexExpr &e, const IndexExpr &term, int64_t k,
              Quantifier quantifier);

  IndexExpr clippedLo(const Range &r) const {
    return r.lo ? max(*r.lo, begin) : begin;
  }
  IndexExpr clippedHi(const Range &r) const {
    return r.hi ? min(*r.hi, end) : end;
  }
  /// At least 0 where the range holds a position of the loop.
  IndexExpr nonEmptiness(const Range &r) const {
    IndexExpr length = clippedHi(r) - clippedLo(r) - 1;
    return r.guard ? min(*r.guard, length) : length;
  }
  Range unite(const Range &a, const Range &b, Quantifier quantifier);
  Range hullOf(const Range &a, const Range &b);
  Range partOf(const Range &a, const Range &b);
  PositionRange clip(const Range &range) const;
};

Range Solver::solve(const MaskExpr &mask, Quantifier quantifier) {
  switch (mask.kind()) {
  case MaskExpr::Kind::Constant:
    return mask.isTrue() ? Range::everything() : Range::nothing();
  case MaskExpr::Kind::NonNegative:
    return solveNonNegative(mask.expr(), quantifier);
  case MaskExpr::Kind::Zero:
    return intersect(solveNonNegative(mask.expr(), quantifier),
                     solveNonNegative(-mask.expr(), quantifier));
  case MaskExpr::Kind::NonZero:
    // The hull of both sides leaves out nothing worth a test at run time.
    if (quantifier == Quantifier::Any && box.dependsOnLoop(mask.expr()))
      return Range::everything();
    return unite(solveNonNegative(mask.expr() - 1, quantifier),
                 solveNonNegative(-mask.expr() - 1, quantifier), quantifier);
  case MaskExpr::Kind::Opaque:
    return Range::unknown(quantifier);
  case MaskExpr::Kind::And: {
    Range result = Range::everything();
    for (const MaskExpr &operand : mask.operands())
      result = intersect(result, solve(operand, quantifier));
    return result;
  }
  case MaskExpr::Kind::Or: {
    Range result = Range::nothing();
    for (const MaskExpr &operand : mask.operands())
      result = unite(result, solve(operand, quantifier), quantifier);
    return result;
  }
  }
  llvm_unreachable("unknown kind");
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

Range Solver::solveNonNegative(const IndexExpr &e, Quantifier quantifier) {
  if (solveBudget == 0)
    return Range::unknown(quantifier);
  --solveBudget;
  llvm::SmallVector<std::pair<IndexExpr, int64_t>, 4> loopTerms;
  if (e.kind() == ExprKind::Sum) {
    for (auto [term, k] : llvm::zip(e.operands(), e.coefficients()))
      if (box.dependsOnLoop(term))
        loopTerms.push_back({term, k});
  } else if (box.dependsOnLoop(e)) {
    loopTerms.push_back({e, 1});
  }
  if (loopTerms.empty()) {
    std::optional<IndexExpr> bound =
        box.extreme(e, quantifier == Quantifier::Any);
    return bound ? Range::where(*bound) : Range::unknown(quantifier);
  }
  for (auto &[term, k] : loopTerms)
    if (term.kind() == ExprKind::Min || term.kind() == ExprKind::Max)
      return solveChoices(term, k, e - k * term, quantifier);
  if (loopTerms.size() == 1) {
    auto &[term, k] = loopTerms.front();
    return solveSingle(term, k, e - k * term, quantifier);
  }
  // Two or more occurrences of the position: give up one that is not linear.
  for (auto &[term, k] : loopTerms)
    if (!term.isLeafVariable())
      return relax(e, term, k, quantifier);
  return Range::unknown(quantifier);
}

/// min(a, b) + rest >= 0 is a conjunction, max(a, b) + rest >= 0 a disjunction.
Range Solver::solveChoices(const IndexExpr &term, int64_t k,
                           const IndexExpr &rest, Quantifier quantifier) {
  bool isConjunction = (term.kind() == ExprKind::Min) == (k > 0);
  Range result = isConjunction ? Range::everything() : Range::nothing();
  for (const IndexExpr &operand : term.operands()) {
    Range range = solveNonNegative(rest + k * operand, quantifier);
    result = isConjunction ? intersect(result, range)
                           : unite(result, range, quantifier);
  }
  return result;
}

/// k * term + rest >= 0, where the position occurs in `term` alone.
Range Solver::solveSingle(const IndexExpr &term, int64_t k,
                          const IndexExpr &rest, Quantifier quantifier) {
  if (box.isLoop(term)) {
    std::optional<IndexExpr> bound =
        box.extreme(rest, quantifier == Quantifier::Any);
    if (!bound || k == Interval::negInf)
      return Range::unknown(quantifier);
    // k * j >= -bound, rounded to the positions for which it holds.
    if (k > 0)
      return Range::from(ceilDiv(-*bound, k));
    return Range::before(floorDiv(*bound, -k) + 1);
  }
  IndexExpr all = k * term + rest;
  if (term.kind() == ExprKind::FloorDiv) {
    const IndexExpr &numerator = term.operands()[0];
    const IndexExpr &divisor = term.operands()[1];
    if (!box.isInvariant(divisor) || divisor.range().lo < 1 ||
        k == Interval::negInf)
      return relax(all, term, k, quantifier);
    // k * (f / d) >= -rest  <=>  f / d >= -(rest / k)  <=>  f >= -d * (rest/k),
    // |k| * (f / d) <= rest <=>  f / d <= rest / |k|   <=>
    //                                          f <= d * (rest / |k|) + d - 1.
    if (k > 0)
      return solveNonNegative(numerator + divisor * floorDiv(rest, k),
                              quantifier);
    return solveNonNegative(
        divisor * floorDiv(rest, -k) + divisor - 1 - numerator, quantifier);
  }
  if (term.kind() == ExprKind::Product && k != Interval::negInf) {
    // s * x with an invariant s of known sign: divide by it.
    IndexExpr scale(1), varying(1);
    unsigned numVarying = 0;
    for (const IndexExpr &factor : term.operands()) {
      if (box.dependsOnLoop(factor)) {
        varying = varying * factor;
        ++numVarying;
      } else {
        scale = scale * factor;
      }
    }
    if (numVarying == 1 && box.isInvariant(scale)) {
      IndexExpr factor = k * scale;
      if (factor.range().lo >= 1)
        return solveNonNegative(varying + floorDiv(rest, factor), quantifier);
      if (factor.range().hi <= -1)
        return solveNonNegative(floorDiv(rest, -factor) - varying, quantifier);
    }
  }
  return relax(all, term, k, quantifier);
}

/// Replaces one term of e by a bound, so that the result is true wherever
/// e >= 0 is (for Any), or only there (for All).
Range Solver::relax(const IndexExpr &e, const IndexExpr &term, int64_t k,
                    Quantifier quantifier) {
  bool greatest = (quantifier == Quantifier::Any) == (k > 0);
  IndexExpr rest = e - k * term;
  if (term.kind() == ExprKind::FloorDiv && term.operands()[1].isConstant() &&
      term.operands()[1].constant() > 0) {
    // f - d + 1 <= d * (f / d) <= f.
    int64_t d = term.operands()[1].constant();
    IndexExpr bound = term.operands()[0] - (greatest ? 0 : d - 1);
    return solveNonNegative(d * rest + k * bound, quantifier);
  }
  std::optional<IndexExpr> bound = box.extreme(term, greatest);
  if (!bound)
    return Range::unknown(quantifier);
  return solveNonNegative(rest + k * *bound, quantifier);
}

//===----------------------------------------------------------------------===//
// Unions
//===----------------------------------------------------------------------===//

Range Solver::unite(const Range &a, const Range &b, Quantifier quantifier) {
  if (a.isNothing() || b.isEverything())
    return b;
  if (b.isNothing() || a.isEverything())
    return a;
  // Ranges that share an end unite to a range, whichever of them are empty.
  if (!a.lo && !b.lo) {
    auto effectiveHi = [&](const Range &r) {
      IndexExpr hi = r.hi ? *r.hi : end;
      return r.guard ? select(*r.guard, hi, begin) : hi;
    };
    return Range::before(max(effectiveHi(a), effectiveHi(b)));
  }
  if (!a.hi && !b.hi) {
    auto effectiveLo = [&](const Range &r) {
      IndexExpr lo = r.lo ? *r.lo : begin;
      return r.guard ? select(*r.guard, lo, end) : lo;
    };
    return Range::from(min(effectiveLo(a), effectiveLo(b)));
  }
  return quantifier == Quantifier::Any ? hullOf(a, b) : partOf(a, b);
}

/// The least interval that holds both. An empty range must not stretch it, and
/// whether a range is empty is often known only at run time: the ends of such a
/// range are replaced by those that change nothing.
Range Solver::hullOf(const Range &a, const Range &b) {
  IndexExpr aExists = nonEmptiness(a), bExists = nonEmptiness(b);
  IndexExpr lo = min(select(aExists, clippedLo(a), end),
                     select(bExists, clippedLo(b), end));
  IndexExpr hi = max(select(aExists, clippedHi(a), begin),
                     select(bExists, clippedHi(b), begin));
  if (lo.size() > maxBoundSize || hi.size() > maxBoundSize)
    return Range::everything();
  return {lo, hi, std::nullopt};
}

/// Both, where together they are an interval, else the longer one.
Range Solver::partOf(const Range &a, const Range &b) {
  IndexExpr aLo = clippedLo(a), aHi = clippedHi(a);
  IndexExpr bLo = clippedLo(b), bHi = clippedHi(b);
  IndexExpr aExists = nonEmptiness(a), bExists = nonEmptiness(b);
  IndexExpr touch = min(min(aExists, bExists), min(aHi, bHi) - max(aLo, bLo));
  IndexExpr aLength = select(aExists, aHi - aLo, 0);
  IndexExpr bLength = select(bExists, bHi - bLo, 0);
  IndexExpr aIsLonger = aLength - bLength;
  Range result;
  result.lo = select(touch, min(aLo, bLo), select(aIsLonger, aLo, bLo));
  result.hi = select(touch, max(aHi, bHi), select(aIsLonger, aHi, bHi));
  // A range whose guard fails has length 0; if it is the longer one, so has the
  // other. Without guards an empty range is empty by its ends.
  if (a.guard || b.guard)
    result.guard = max(aLength, bLength) - 1;
  unsigned size = std::max(result.lo->size(), result.hi->size());
  if (result.guard)
    size = std::max(size, result.guard->size());
  if (size <= maxBoundSize)
    return result;
  return aLo.size() + aHi.size() <= bLo.size() + bHi.size() ? a : b;
}

PositionRange Solver::clip(const Range &range) const {
  if (range.isNothing())
    return {begin, begin};
  IndexExpr lo = clippedLo(range), hi = clippedHi(range);
  if (range.guard)
    hi = select(*range.guard, hi, begin);
  return {lo, hi};
}

} // namespace

MaskRanges analyzeMask(const MaskExpr &mask, const LoopAxis &loop,
                       llvm::ArrayRef<RowAxis> rows) {
  return Solver(loop, rows).analyze(mask);
}

} // namespace tilec
