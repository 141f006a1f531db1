//===- Intervals.h - Integer intervals with infinities ---------*- C++ -*-===//
//
// Closed intervals [lo, hi] of 64-bit integers whose ends may be infinite, and
// the arithmetic on them. They answer "what values can this expression take?"
// when all that is known of a run-time symbol is, say, that it is at least 0:
//
//   S in [0, +inf)      =>  S + 63      in [63, +inf)
//                           (S+63) / 64 in [0, +inf)
//                           S % 64      in [0, 63]
//                           -2 * S      in (-inf, 0]
//
// Every result contains all values the operation can give (it is sound); it
// need not be the least such interval, because operands are taken to be
// independent. The least and greatest 64-bit integers stand for the
// infinities, so an overflow widens an interval and never wraps it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_ANALYSIS_INTERVALS_H
#define TILEC_ANALYSIS_INTERVALS_H

#include <cstdint>
#include <limits>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec {

/// Arithmetic that saturates at the ends of the 64-bit range.
int64_t saturatingAdd(int64_t a, int64_t b);
int64_t saturatingMul(int64_t a, int64_t b);
/// Division and remainder that round towards minus infinity, as the
/// language's `/` and `%` do: -1 / 4 is -1 and -1 % 4 is 3. Dividing by zero
/// gives 0, so that evaluating a meaningless expression is still defined.
int64_t floorDivide(int64_t a, int64_t b);
int64_t floorModulo(int64_t a, int64_t b);

struct Interval {
  static constexpr int64_t negInf = std::numeric_limits<int64_t>::min();
  static constexpr int64_t posInf = std::numeric_limits<int64_t>::max();

  int64_t lo = negInf;
  int64_t hi = posInf;

  static Interval all() { return {}; }
  static Interval point(int64_t value);
  static Interval atLeast(int64_t lo) { return {lo, posInf}; }
  static Interval atMost(int64_t hi) { return {negInf, hi}; }

  bool isEmpty() const { return lo > hi; }
  bool isPoint() const { return lo == hi && lo != negInf && lo != posInf; }
  bool contains(int64_t value) const { return lo <= value && value <= hi; }
  bool operator==(const Interval &other) const = default;
};

// All operands below are non-empty.
Interval operator+(Interval a, Interval b);
Interval operator-(Interval a);
Interval operator-(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
/// Of a divisor that may be zero or of either sign, nothing is known.
Interval floorDiv(Interval a, Interval b);
Interval mod(Interval a, Interval b);
Interval min(Interval a, Interval b);
Interval max(Interval a, Interval b);
/// The least interval that contains both.
Interval hull(Interval a, Interval b);
/// What both contain; empty where they are disjoint.
Interval intersect(Interval a, Interval b);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Interval interval);

} // namespace tilec

#endif // TILEC_ANALYSIS_INTERVALS_H
