//===- NarrowFloatTest.cpp - Tests of storage float conversions -*- C++ -*-===//
//
// The 8- and 16-bit formats are small enough to be tested exhaustively: every
// pattern, every midpoint between neighbors, and the doubles next to it. Random
// doubles are compared with llvm::APFloat, which was written independently.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/NarrowFloat.h"

#include "llvm/ADT/APFloat.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

using namespace tilec;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

const llvm::fltSemantics &semantics(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return llvm::APFloat::IEEEsingle();
  case DType::TF32:
    return llvm::APFloat::FloatTF32();
  case DType::F16:
    return llvm::APFloat::IEEEhalf();
  case DType::BF16:
    return llvm::APFloat::BFloat();
  case DType::F8E4M3:
    return llvm::APFloat::Float8E4M3FN();
  case DType::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

unsigned formatBits(DType dtype) {
  return dtype == DType::TF32 ? 19 : 8 * byteSize(dtype);
}

/// The bits APFloat rounds to, with fp8 overflow turned into saturation.
uint64_t referenceEncode(DType dtype, double value) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(semantics(dtype), llvm::APFloat::rmNearestTiesToEven, &lost);
  if (isFloat8(dtype) && !std::isnan(value) && !number.isFinite())
    number = llvm::APFloat::getLargest(semantics(dtype), std::signbit(value));
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  return dtype == DType::TF32 ? bits << 13 : bits;
}

double referenceDecode(DType dtype, uint64_t bits) {
  if (dtype == DType::TF32)
    bits >>= 13;
  llvm::APFloat number(semantics(dtype), llvm::APInt(formatBits(dtype), bits));
  bool lost;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

bool sameValue(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) && std::signbit(a) == std::signbit(b);
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

constexpr DType narrowTypes[] = {DType::F16, DType::BF16, DType::F8E4M3,
                                 DType::F8E5M2, DType::TF32};

/// The step between neighboring patterns.
uint64_t patternStep(DType dtype) { return dtype == DType::TF32 ? 1 << 13 : 1; }

} // namespace

TEST_CASE("every pattern decodes to its value and encodes back", "[narrow]") {
  for (DType dtype : narrowTypes) {
    CAPTURE(dtypeName(dtype).str());
    unsigned wrongDecode = 0, wrongEncode = 0, nans = 0, infinities = 0;
    for (uint64_t i = 0; i < uint64_t(1) << formatBits(dtype); ++i) {
      uint64_t bits = i * patternStep(dtype);
      double value = decodeFloat(dtype, bits);
      wrongDecode += !sameValue(value, referenceDecode(dtype, bits));
      uint64_t again = encodeFloat(dtype, value);
      if (std::isnan(value)) {
        ++nans;
        // Canonical, and of the same sign.
        wrongEncode += !sameValue(decodeFloat(dtype, again), value);
      } else if (std::isinf(value) && isFloat8(dtype)) {
        ++infinities;
        wrongEncode += again != bits - 1;
      } else {
        infinities += std::isinf(value);
        wrongEncode += again != bits;
      }
    }
    CHECK(wrongDecode == 0);
    CHECK(wrongEncode == 0);
    unsigned fractions = 1u << floatFormat(dtype).fractionBits;
    CHECK(infinities == (dtype == DType::F8E4M3 ? 0 : 2));
    CHECK(nans == (dtype == DType::F8E4M3 ? 2 : 2 * (fractions - 1)));
  }
}

TEST_CASE("midpoints go to the even neighbor, others to the nearer",
          "[narrow]") {
  for (DType dtype : narrowTypes) {
    CAPTURE(dtypeName(dtype).str());
    unsigned wrong = 0, midpoints = 0;
    uint64_t step = patternStep(dtype);
    uint64_t sign = uint64_t(1) << (8 * byteSize(dtype) - 1);
    for (uint64_t bits = 0;; bits += step) {
      double low = decodeFloat(dtype, bits);
      double high = decodeFloat(dtype, bits + step);
      if (!std::isfinite(high))
        break;
      ++midpoints;
      double middle = low + (high - low) / 2;
      uint64_t even = (bits / step) % 2 == 0 ? bits : bits + step;
      wrong += encodeFloat(dtype, middle) != even;
      wrong += encodeFloat(dtype, std::nextafter(middle, 0.0)) != bits;
      wrong +=
          encodeFloat(dtype, std::nextafter(middle, infinity)) != bits + step;
      wrong += encodeFloat(dtype, -middle) != (even | sign);
    }
    CHECK(wrong == 0);
    CHECK(midpoints > 100);
  }
}

TEST_CASE("random doubles round as APFloat rounds them", "[narrow]") {
  std::mt19937_64 random(20240229);
  std::uniform_real_distribution<double> exponent(-170, 140);
  for (DType dtype : narrowTypes) {
    CAPTURE(dtypeName(dtype).str());
    unsigned wrong = 0;
    for (int i = 0; i < 100000; ++i) {
      // All bit patterns of double, and then a range in which formats differ.
      double any = std::bit_cast<double>(random());
      wrong += !std::isnan(any) &&
               encodeFloat(dtype, any) != referenceEncode(dtype, any);
      double value =
          std::bit_cast<double>((random() >> 12) | 0x3FF0000000000000) *
          std::exp2(exponent(random)) * (random() & 1 ? 1 : -1);
      wrong += encodeFloat(dtype, value) != referenceEncode(dtype, value);
      double near1 = std::exp2(exponent(random) / 16);
      wrong += encodeFloat(dtype, near1) != referenceEncode(dtype, near1);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("f32 follows the same rules as the hardware's conversion",
          "[narrow]") {
  std::mt19937_64 random(7);
  unsigned wrong = 0;
  for (int i = 0; i < 100000; ++i) {
    double value = std::bit_cast<double>(random());
    if (std::isnan(value))
      continue;
    float expected = static_cast<float>(value);
    wrong +=
        encodeFloat(DType::F32, value) != std::bit_cast<uint32_t>(expected);
    wrong += !sameValue(decodeFloat(DType::F32, encodeFloat(DType::F32, value)),
                        expected);
  }
  CHECK(wrong == 0);
}

TEST_CASE("rounding is straight from the double", "[narrow]") {
  // A little above the midpoint of 1 and the next bf16; the little is lost in
  // an f32, and the tie would go down to 1.
  double value = 1 + 0x1p-8 + 0x1p-40;
  CHECK(static_cast<float>(value) == 1 + 0x1p-8f);
  CHECK(bf16ToDouble(doubleToBF16(value)) == 1 + 0x1p-7);
  CHECK(bf16ToDouble(doubleToBF16(static_cast<float>(value))) == 1);
}

TEST_CASE("cases that went wrong in other compilers", "[narrow]") {
  // Just above the midpoint of 1.0 and 1.125.
  CHECK(f8e4m3ToDouble(doubleToF8E4M3(1.0625001f)) == 1.125);
  CHECK(f8e4m3ToDouble(doubleToF8E4M3(1.0625)) == 1.0);
  // Exactly the midpoint of 1.0 and 1.25.
  CHECK(f8e5m2ToDouble(doubleToF8E5M2(f16ToDouble(doubleToF16(1.125)))) == 1.0);
  CHECK(f8e5m2ToDouble(doubleToF8E5M2(1.375)) == 1.5);
}

TEST_CASE("fp8 saturates and the others overflow to infinity", "[narrow]") {
  for (double large : {449.0, 464.0, 480.0, 1e300, infinity}) {
    CHECK(doubleToF8E4M3(large) == 0x7E);
    CHECK(doubleToF8E4M3(-large) == 0xFE);
  }
  for (double large : {61440.0, 65536.0, 1e300, infinity}) {
    CHECK(doubleToF8E5M2(large) == 0x7B);
    CHECK(doubleToF8E5M2(-large) == 0xFB);
  }
  CHECK(f8e4m3ToDouble(0x7E) == 448);
  CHECK(f8e5m2ToDouble(0x7B) == 57344);
  CHECK(f8e5m2ToDouble(0x7C) == infinity);
  // 65520 is the midpoint of 65504 and what would be the next.
  CHECK(doubleToF16(65519.999) == 0x7BFF);
  CHECK(doubleToF16(65520) == 0x7C00);
  CHECK(doubleToF16(-infinity) == 0xFC00);
  CHECK(doubleToBF16(std::numeric_limits<double>::max()) == 0x7F80);
  CHECK(std::isinf(doubleToTF32(0x1.ffep127)));
  CHECK(doubleToTF32(0x1.ffdfp127) == 0x1.ffcp127f);
}

TEST_CASE("NaN stays NaN with its sign", "[narrow]") {
  CHECK(doubleToF16(quietNaN) == 0x7E00);
  CHECK(doubleToBF16(quietNaN) == 0x7FC0);
  CHECK(doubleToF8E4M3(quietNaN) == 0x7F);
  CHECK(doubleToF8E5M2(quietNaN) == 0x7E);
  CHECK(doubleToF8E4M3(std::copysign(quietNaN, -1.0)) == 0xFF);
  CHECK(doubleToF16(std::copysign(quietNaN, -1.0)) == 0xFE00);
  CHECK(std::isnan(doubleToTF32(quietNaN)));
  // A signaling NaN whose payload lies only in bits that a narrow type drops.
  double signaling = std::bit_cast<double>(uint64_t(0x7FF0000000000001));
  for (DType dtype : narrowTypes)
    CHECK(std::isnan(roundToFloat(dtype, signaling)));
}

TEST_CASE("subnormals and zeros keep their value and sign", "[narrow]") {
  CHECK(doubleToF16(0x1p-24) == 0x0001);
  CHECK(doubleToF16(0x1p-25) == 0x0000);
  CHECK(doubleToF16(0x1.000001p-25) == 0x0001);
  CHECK(doubleToF8E4M3(0x1p-9) == 0x01);
  CHECK(doubleToF8E4M3(0x1p-10) == 0x00);
  CHECK(doubleToBF16(0x1p-133) == 0x0001);
  CHECK(doubleToTF32(0x1p-136) == 0x1p-136f);
  CHECK(doubleToF16(-0.0) == 0x8000);
  CHECK(doubleToF8E5M2(-1e-300) == 0x80);
  CHECK(doubleToF16(std::numeric_limits<double>::denorm_min()) == 0);
  CHECK(std::signbit(f8e4m3ToDouble(0x80)));
}

TEST_CASE("the host's rounding mode has no influence", "[narrow]") {
  REQUIRE(std::fesetround(FE_UPWARD) == 0);
  uint16_t down = doubleToBF16(1.0001);
  double decoded = bf16ToDouble(0x0001);
  std::fesetround(FE_TONEAREST);
  CHECK(down == 0x3F80);
  CHECK(decoded == 0x1p-133);
}
