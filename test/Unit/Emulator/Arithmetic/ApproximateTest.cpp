//===- ApproximateTest.cpp - Functions that PTX only bounds ---------------===//

#include "test/Unit/Emulator/Arithmetic/Numbers.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tilec::test;
using namespace tilec::emulator;

namespace {

constexpr uint64_t infinity = 0x7f800000, minusInfinity = 0xff800000,
                   canonicalNaN = 0x7fffffff;

uint64_t apply(Approximate function, uint64_t a, bool flush = true) {
  return approximate(function, Type::F32, a, flush);
}

long double exact(Approximate function, long double x) {
  switch (function) {
  case Approximate::Reciprocal:
    return 1 / x;
  case Approximate::SquareRoot:
    return std::sqrt(x);
  case Approximate::ReciprocalSquareRoot:
    return 1 / std::sqrt(x);
  case Approximate::Sine:
    return std::sin(x);
  case Approximate::Cosine:
    return std::cos(x);
  case Approximate::Log2:
    return std::log2(x);
  case Approximate::Exp2:
    return std::exp2(x);
  case Approximate::Tanh:
    return std::tanh(x);
  }
  return 0;
}

} // namespace

TEST_CASE("Approximations are within an ulp of f32") {
  for (Approximate function :
       {Approximate::Reciprocal, Approximate::SquareRoot,
        Approximate::ReciprocalSquareRoot, Approximate::Sine,
        Approximate::Cosine, Approximate::Log2, Approximate::Exp2,
        Approximate::Tanh}) {
    Numbers numbers{uint64_t(function)};
    for (unsigned i = 0; i < 20000; ++i) {
      uint64_t a = numbers.next(Type::F32);
      float x = llvm::bit_cast<float>(uint32_t(a));
      long double y = exact(function, x);
      float found = llvm::bit_cast<float>(uint32_t(apply(function, a, false)));
      INFO(int(function) << std::hex << " " << a);
      if (std::isnan(y) || std::isnan(x)) {
        REQUIRE(std::isnan(found));
        continue;
      }
      if (std::fabs(y) > 0x1p127L || std::fabs(y) < 0x1p-126L)
        continue;
      REQUIRE(std::fabs(found - y) <= 0x1p-23L * std::fabs(y));
    }
  }
}

TEST_CASE("Approximations of special values") {
  CHECK(apply(Approximate::Exp2, minusInfinity) == 0);
  CHECK(apply(Approximate::Exp2, infinity) == infinity);
  CHECK(apply(Approximate::Exp2, 0x80000000) == 0x3f800000);
  CHECK(apply(Approximate::Exp2, 0x00000001) == 0x3f800000);
  CHECK(apply(Approximate::Exp2, 0xffc00000) == canonicalNaN);
  CHECK(apply(Approximate::Log2, 0) == minusInfinity);
  CHECK(apply(Approximate::Log2, 0x80000000) == minusInfinity);
  CHECK(apply(Approximate::Log2, 0x007fffff) == minusInfinity);
  CHECK(apply(Approximate::Log2, 0xbf800000) == canonicalNaN);
  CHECK(apply(Approximate::Log2, infinity) == infinity);
  CHECK(apply(Approximate::Reciprocal, 0x80000000) == minusInfinity);
  CHECK(apply(Approximate::Reciprocal, 0x00000001) == infinity);
  CHECK(apply(Approximate::Reciprocal, minusInfinity) == 0x80000000);
  CHECK(apply(Approximate::Reciprocal, 0x7f000000) == 0);
  CHECK(apply(Approximate::Reciprocal, 0x7f000000, false) == 0x00400000);
  CHECK(apply(Approximate::ReciprocalSquareRoot, 0x80000000) == minusInfinity);
  CHECK(apply(Approximate::ReciprocalSquareRoot, infinity) == 0);
  CHECK(apply(Approximate::SquareRoot, 0x80000000) == 0x80000000);
  CHECK(apply(Approximate::SquareRoot, 0xbf800000) == canonicalNaN);
  CHECK(apply(Approximate::Sine, infinity) == canonicalNaN);
  CHECK(apply(Approximate::Sine, 0x80000000) == 0x80000000);
  CHECK(apply(Approximate::Cosine, 0) == 0x3f800000);
  CHECK(apply(Approximate::Tanh, infinity) == 0x3f800000);
  CHECK(apply(Approximate::Tanh, minusInfinity) == 0xbf800000);
}

TEST_CASE("Approximations of narrow types, packed or not") {
  auto exp2 = [](Type type, uint64_t a) {
    return approximate(Approximate::Exp2, type, a, type != Type::F16);
  };
  CHECK(exp2(Type::F16, 0x4200) == 0x4800); // 2^3.
  CHECK(exp2(Type::F16, 0xcc00) == 0x0100); // 2^-16.
  CHECK(exp2(Type::F16x2, 0x4200fc00) == 0x48000000);
  CHECK(exp2(Type::BF16x2, 0x40407f80) == 0x41007f80);
  CHECK(exp2(Type::BF16, 0xc300) == 0); // 2^-128, flushed.
}

TEST_CASE("div.approx has no reciprocals of huge numbers") {
  uint64_t huge = 0x7f000001; // Above 2^127.
  CHECK(divApproximate(0x3f800000, huge, false, false) == 0);
  CHECK(divApproximate(0xff000000, huge, false, false) == 0x80000000);
  CHECK(divApproximate(infinity, huge, false, false) == canonicalNaN);
  CHECK(divApproximate(0x7f000001, huge, true, false) == 0x3f800000);
  CHECK(divApproximate(0x40400000, 0x40000000, false, true) == 0x3fc00000);
  CHECK(divApproximate(0x3f800000, 0, false, false) == infinity);
}
