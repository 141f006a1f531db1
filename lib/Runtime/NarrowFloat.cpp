//===- NarrowFloat.cpp - Bit-exact storage float conversions ----*- C++ -*-===//
//
// One encoder and one decoder, driven by the format table of DType.h. Both work
// on the integer significand, so the host's rounding mode and flush-to-zero
// settings have no say in the result.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/NarrowFloat.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

using namespace tilec;

namespace {

constexpr unsigned doubleFractionBits = 52;
constexpr uint64_t doubleHiddenBit = uint64_t(1) << doubleFractionBits;
constexpr uint64_t doubleInfinity = uint64_t(0x7FF) << doubleFractionBits;

constexpr int bias(const FloatFormat &format) {
  return (1 << (format.exponentBits - 1)) - 1;
}

uint64_t exponentMask(const FloatFormat &format) {
  return ((uint64_t(1) << format.exponentBits) - 1) << format.fractionBits;
}

/// All exponent bits and the top fraction bit, except in f8e4m3, where the one
/// NaN pattern is all ones.
uint64_t quietNaN(const FloatFormat &format) {
  if (!format.hasInfinity)
    return exponentMask(format) | ((uint64_t(1) << format.fractionBits) - 1);
  return exponentMask(format) | uint64_t(1) << (format.fractionBits - 1);
}

/// The pattern just below infinity, or below NaN where there is no infinity.
uint64_t largestFinite(const FloatFormat &format) {
  return format.hasInfinity ? exponentMask(format) - 1 : quietNaN(format) - 1;
}

/// Encodes a format with fewer fraction bits than double has.
uint64_t encode(const FloatFormat &format, bool saturate, double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  uint64_t sign = (bits >> 63) << (format.exponentBits + format.fractionBits);
  uint64_t overflow = saturate ? largestFinite(format) : exponentMask(format);
  if (magnitude > doubleInfinity)
    return sign | quietNaN(format);
  if (magnitude == doubleInfinity)
    return sign | overflow;

  // The value is significand * 2^(exponent - 52).
  int biased = static_cast<int>(magnitude >> doubleFractionBits);
  uint64_t significand = magnitude & (doubleHiddenBit - 1);
  if (biased != 0)
    significand |= doubleHiddenBit;
  int exponent = std::max(biased, 1) - 1023;

  // Below the normal range the spacing of the result stops shrinking.
  int minExponent = 1 - bias(format);
  int spacing = std::max(exponent, minExponent) - int(format.fractionBits);
  int dropped = spacing - (exponent - int(doubleFractionBits));
  assert(dropped > 0 && "the format is not narrower than double");
  // A 53-bit significand shifted by 54 is below half a unit: it rounds to 0.
  if (dropped > int(doubleFractionBits) + 1)
    return sign;

  uint64_t half = uint64_t(1) << (dropped - 1);
  uint64_t rounded = significand >> dropped;
  uint64_t remainder = significand & ((uint64_t(1) << dropped) - 1);
  if (remainder > half || (remainder == half && (rounded & 1)))
    ++rounded;

  // Adding, not or-ing, the exponent lets a carry out of the fraction move on
  // into it: to the next binade, from subnormal to normal, or to overflow.
  uint64_t result = rounded;
  if (exponent >= minExponent)
    result += uint64_t(exponent - minExponent) << format.fractionBits;
  return sign | (result > largestFinite(format) ? overflow : result);
}

double decode(const FloatFormat &format, uint64_t bits) {
  unsigned signShift = format.exponentBits + format.fractionBits;
  bool negative = (bits >> signShift) & 1;
  uint64_t magnitude = bits & ((uint64_t(1) << signShift) - 1);
  double result;
  if (magnitude > largestFinite(format)) {
    result = format.hasInfinity && magnitude == exponentMask(format)
                 ? std::numeric_limits<double>::infinity()
                 : std::numeric_limits<double>::quiet_NaN();
  } else {
    int biased = static_cast<int>(magnitude >> format.fractionBits);
    uint64_t fraction = magnitude & ((uint64_t(1) << format.fractionBits) - 1);
    if (biased != 0)
      fraction |= uint64_t(1) << format.fractionBits;
    int exponent = std::max(biased, 1) - bias(format);
    result = std::ldexp(static_cast<double>(fraction),
                        exponent - int(format.fractionBits));
  }
  return std::copysign(result, negative ? -1.0 : 1.0);
}

} // namespace

uint64_t tilec::encodeFloat(DType dtype, double value) {
  if (dtype == DType::F64)
    return std::bit_cast<uint64_t>(value);
  uint64_t bits = encode(floatFormat(dtype), isFloat8(dtype), value);
  // tf32 lives in the top bits of an f32.
  return dtype == DType::TF32 ? bits << 13 : bits;
}

double tilec::decodeFloat(DType dtype, uint64_t bits) {
  if (dtype == DType::F64)
    return std::bit_cast<double>(bits);
  return decode(floatFormat(dtype == DType::TF32 ? DType::F32 : dtype), bits);
}

double tilec::roundToFloat(DType dtype, double value) {
  return decodeFloat(dtype, encodeFloat(dtype, value));
}

uint16_t tilec::doubleToF16(double value) {
  return static_cast<uint16_t>(encodeFloat(DType::F16, value));
}

uint16_t tilec::doubleToBF16(double value) {
  return static_cast<uint16_t>(encodeFloat(DType::BF16, value));
}

uint8_t tilec::doubleToF8E4M3(double value) {
  return static_cast<uint8_t>(encodeFloat(DType::F8E4M3, value));
}

uint8_t tilec::doubleToF8E5M2(double value) {
  return static_cast<uint8_t>(encodeFloat(DType::F8E5M2, value));
}

float tilec::doubleToTF32(double value) {
  return std::bit_cast<float>(
      static_cast<uint32_t>(encodeFloat(DType::TF32, value)));
}

double tilec::f16ToDouble(uint16_t bits) {
  return decodeFloat(DType::F16, bits);
}

double tilec::bf16ToDouble(uint16_t bits) {
  return decodeFloat(DType::BF16, bits);
}

double tilec::f8e4m3ToDouble(uint8_t bits) {
  return decodeFloat(DType::F8E4M3, bits);
}

double tilec::f8e5m2ToDouble(uint8_t bits) {
  return decodeFloat(DType::F8E5M2, bits);
}
