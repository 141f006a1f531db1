//===- Intervals.cpp - Integer intervals with infinities -------*- C++ -*-===//
//
// The ends are computed separately. An infinite operand makes an end infinite
// in the widening direction only, so that `[5, +inf) - 1` keeps its lower end.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/Intervals.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tilec {

static bool isInfinite(int64_t x) {
  return x == Interval::negInf || x == Interval::posInf;
}

int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return a < 0 ? Interval::negInf : Interval::posInf;
}

int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product))
    return product;
  return (a < 0) != (b < 0) ? Interval::negInf : Interval::posInf;
}

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return a == Interval::negInf ? Interval::posInf : -a;
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t floorModulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return 0;
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                      : remainder;
}

/// A lower end of +inf would claim that the value is larger than any integer;
/// such ends arise from constants at the edge of the range, which are finite.
static Interval finiteInside(int64_t lo, int64_t hi) {
  return {std::min(lo, Interval::posInf - 1),
          std::max(hi, Interval::negInf + 1)};
}

Interval Interval::point(int64_t value) { return finiteInside(value, value); }

/// The sum of two ends; `infinity` is the one this end may widen to.
static int64_t addEnds(int64_t a, int64_t b, int64_t infinity) {
  return a == infinity || b == infinity ? infinity : saturatingAdd(a, b);
}

static int64_t negateEnd(int64_t a) {
  if (isInfinite(a))
    return a == Interval::negInf ? Interval::posInf : Interval::negInf;
  return -a;
}

/// The product of two ends, where 0 times infinity is 0: the infinity stands
/// for arbitrarily large finite values.
static int64_t mulEnds(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  if (isInfinite(a) || isInfinite(b))
    return (a < 0) != (b < 0) ? Interval::negInf : Interval::posInf;
  return saturatingMul(a, b);
}

/// The quotient of an end by a positive one, which may be infinite.
static int64_t divEnds(int64_t a, int64_t b) {
  if (isInfinite(a))
    return a;
  if (b == Interval::posInf)
    return a < 0 ? -1 : 0;
  return floorDivide(a, b);
}

Interval operator+(Interval a, Interval b) {
  return finiteInside(addEnds(a.lo, b.lo, Interval::negInf),
                      addEnds(a.hi, b.hi, Interval::posInf));
}

Interval operator-(Interval a) { return {negateEnd(a.hi), negateEnd(a.lo)}; }

Interval operator-(Interval a, Interval b) { return a + -b; }

Interval operator*(Interval a, Interval b) {
  int64_t corners[] = {mulEnds(a.lo, b.lo), mulEnds(a.lo, b.hi),
                       mulEnds(a.hi, b.lo), mulEnds(a.hi, b.hi)};
  auto [lo, hi] = std::minmax_element(std::begin(corners), std::end(corners));
  return finiteInside(*lo, *hi);
}

Interval floorDiv(Interval a, Interval b) {
  if (b.hi < 0)
    return floorDiv(-a, -b);
  if (b.lo < 1)
    return Interval::all();
  return {divEnds(a.lo, a.lo < 0 ? b.lo : b.hi),
          divEnds(a.hi, a.hi < 0 ? b.hi : b.lo)};
}

Interval mod(Interval a, Interval b) {
  if (b.lo < 1)
    return Interval::all();
  if (b.isPoint() && !isInfinite(a.lo) && !isInfinite(a.hi) &&
      floorDivide(a.lo, b.lo) == floorDivide(a.hi, b.lo))
    return {floorModulo(a.lo, b.lo), floorModulo(a.hi, b.lo)};
  int64_t hi = b.hi == Interval::posInf ? b.hi : b.hi - 1;
  return {0, a.lo >= 0 ? std::min(hi, a.hi) : hi};
}

Interval min(Interval a, Interval b) {
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}

Interval max(Interval a, Interval b) {
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval hull(Interval a, Interval b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval intersect(Interval a, Interval b) {
  return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Interval interval) {
  if (interval.lo == Interval::negInf)
    os << "(-inf, ";
  else
    os << '[' << interval.lo << ", ";
  if (interval.hi == Interval::posInf)
    return os << "+inf)";
  return os << interval.hi << ']';
}

} // namespace tilec
