//===- MinMaxTest.cpp - Minimum and maximum -------------------------------===//

#include "test/Unit/Emulator/Arithmetic/Numbers.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tilec::test;
using namespace tilec::emulator;

static double valueOf(Type type, uint64_t bits) {
  return toAP(type, bits).convertToDouble();
}

TEST_CASE("Minimum and maximum know zeros and NaN") {
  for (Type type : {Type::F16, Type::BF16, Type::F32, Type::F64}) {
    Numbers numbers(11);
    for (unsigned i = 0; i < 20000; ++i) {
      uint64_t a = numbers.next(type), b = i % 5 ? numbers.next(type) : a;
      double x = valueOf(type, a), y = valueOf(type, b);
      uint64_t less = minFloat(type, a, b, {}), more = maxFloat(type, a, b, {});
      MinMaxMode nan;
      nan.propagateNaN = true;
      INFO(nameOf(type).str() << std::hex << " " << a << " " << b);
      if (std::isnan(x) || std::isnan(y)) {
        REQUIRE(std::isnan(valueOf(type, minFloat(type, a, b, nan))));
        REQUIRE(std::isnan(valueOf(type, maxFloat(type, a, b, nan))));
        if (std::isnan(x) && std::isnan(y)) {
          REQUIRE(std::isnan(valueOf(type, less)));
        } else {
          REQUIRE(less == (std::isnan(x) ? b : a));
          REQUIRE(more == less);
        }
        continue;
      }
      bool isALess = x < y || (x == y && std::signbit(x));
      REQUIRE(less == (isALess ? a : b));
      REQUIRE(more == (less == a ? b : a));
      REQUIRE(minFloat(type, a, b, nan) == less);
    }
  }
}

TEST_CASE("xorsign.abs compares magnitudes and multiplies signs") {
  MinMaxMode mode;
  mode.xorSign = true;
  // -2 and 3.
  CHECK(maxFloat(Type::F32, 0xc0000000, 0x40400000, mode) == 0xc0400000);
  CHECK(minFloat(Type::F32, 0xc0000000, 0x40400000, mode) == 0xc0000000);
  CHECK(minFloat(Type::F32, 0xc0000000, 0xc0400000, mode) == 0x40000000);
}

TEST_CASE("Minima flush what they compare") {
  MinMaxMode mode;
  mode.flush = true;
  CHECK(minFloat(Type::F32, 0x00000001, 0x00000002, mode) == 0);
  CHECK(maxFloat(Type::F32, 0x80000001, 0x80000002, mode) == 0x80000000);
}
