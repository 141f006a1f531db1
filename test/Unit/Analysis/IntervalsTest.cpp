//===- IntervalsTest.cpp - Integer intervals -------------------*- C++ -*-===//
//
// Each operation against all pairs of values of small intervals, and the ends
// of the 64-bit range by example.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/Intervals.h"
#include "test/Unit/Analysis/RandomExprs.h"

#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

static std::string str(Interval interval) {
  std::string text;
  llvm::raw_string_ostream(text) << interval;
  return text;
}

TEST_CASE("floor division rounds towards minus infinity") {
  CHECK(floorDivide(7, 4) == 1);
  CHECK(floorDivide(-1, 4) == -1);
  CHECK(floorDivide(-8, 4) == -2);
  CHECK(floorDivide(7, -4) == -2);
  CHECK(floorDivide(5, 0) == 0);
  CHECK(floorDivide(INT64_MIN, -1) == INT64_MAX);
  CHECK(floorModulo(-1, 4) == 3);
  CHECK(floorModulo(7, -4) == -1);
  CHECK(floorModulo(5, 0) == 0);
  CHECK(floorModulo(INT64_MIN, -1) == 0);
}

TEST_CASE("saturating arithmetic stops at the ends") {
  CHECK(saturatingAdd(INT64_MAX, 1) == INT64_MAX);
  CHECK(saturatingAdd(INT64_MIN, -1) == INT64_MIN);
  CHECK(saturatingMul(INT64_MAX, -2) == INT64_MIN);
  CHECK(saturatingMul(INT64_MIN, -1) == INT64_MAX);
}

TEST_CASE("interval arithmetic with infinities") {
  Interval extent = Interval::atLeast(0);
  CHECK(str(extent + Interval::point(63)) == "[63, +inf)");
  CHECK(str(extent - Interval::point(1)) == "[-1, +inf)");
  CHECK(str(-extent) == "(-inf, 0]");
  CHECK(str(extent * Interval::point(-2)) == "(-inf, 0]");
  CHECK(str(extent * Interval::point(0)) == "[0, 0]");
  CHECK(str(extent - extent) == "(-inf, +inf)");
  CHECK(str(floorDiv(extent, Interval::point(64))) == "[0, +inf)");
  CHECK(str(floorDiv(Interval{-5, 5}, Interval::atLeast(1))) == "[-5, 5]");
  CHECK(str(floorDiv(Interval{3, 5}, extent)) == "(-inf, +inf)");
  CHECK(str(mod(extent, Interval::point(64))) == "[0, 63]");
  CHECK(str(mod(Interval{65, 70}, Interval::point(64))) == "[1, 6]");
  CHECK(str(mod(Interval{0, 3}, Interval::atLeast(1))) == "[0, 3]");
  CHECK(str(min(extent, Interval::point(7))) == "[0, 7]");
  CHECK(str(max(Interval::all(), extent)) == "[0, +inf)");
  CHECK(hull(Interval{0, 1}, Interval{5, 6}) == Interval{0, 6});
  CHECK(intersect(Interval{0, 1}, Interval{5, 6}).isEmpty());
  CHECK(Interval::all().contains(INT64_MIN));
}

TEST_CASE("an interval's overflow widens it") {
  Interval huge = Interval::point(INT64_MAX);
  CHECK(huge.contains(INT64_MAX));
  CHECK((huge + Interval::point(1)).hi == Interval::posInf);
  CHECK((huge - Interval::point(1)).lo <= INT64_MAX - 1);
  CHECK(floorDiv(huge, Interval::point(2)).lo <= INT64_MAX / 2);
  CHECK((Interval::point(INT64_MIN) * Interval::point(2)).lo ==
        Interval::negInf);
}

TEST_CASE("interval operations contain every result") {
  const uint32_t seed = 20240611;
  Random random(seed);
  for (int round = 0; round < 4000; ++round) {
    auto interval = [&] {
      int64_t lo = random.in(-9, 9);
      return Interval{lo, lo + random.in(0, 5)};
    };
    Interval a = interval(), b = interval();
    for (int64_t x = a.lo; x <= a.hi; ++x) {
      for (int64_t y = b.lo; y <= b.hi; ++y) {
        bool allHold = (a + b).contains(x + y) && (a - b).contains(x - y) &&
                       (a * b).contains(x * y) &&
                       floorDiv(a, b).contains(floorQuotient(x, y)) &&
                       mod(a, b).contains(floorRemainder(x, y)) &&
                       min(a, b).contains(std::min(x, y)) &&
                       max(a, b).contains(std::max(x, y)) &&
                       hull(a, b).contains(x) && hull(a, b).contains(y) &&
                       intersect(a, b).contains(x) == b.contains(x);
        if (allHold)
          continue;
        CAPTURE(seed, round, str(a), str(b), x, y);
        FAIL("a result lies outside its interval");
      }
    }
  }
}
