//===- Narrow.cpp - Narrow floats as floats, and back ---------------------===//

#include "lib/Emulator/Arithmetic/Formats.h"
#include <cmath>

namespace tilec::emulator {

namespace {

struct Table {
  float values[256];
  explicit Table(const Format &format) {
    for (unsigned i = 0; i < 256; ++i)
      values[i] = widen(format, i);
  }
};

} // namespace

float toFloat(ptx::Type type, uint64_t bits) {
  static const Table e4m3(e4m3Format), e5m2(e5m2Format);
  switch (type) {
  case ptx::Type::F16:
    return widen(halfFormat, bits & 0xffff);
  case ptx::Type::BF16:
    return llvm::bit_cast<float>(uint32_t(bits) << 16);
  case ptx::Type::TF32:
    return llvm::bit_cast<float>(uint32_t(bits) & ~0x1fffu);
  case ptx::Type::E4M3:
    return e4m3.values[bits & 0xff];
  case ptx::Type::E5M2:
    return e5m2.values[bits & 0xff];
  default:
    return asFloat(bits);
  }
}

/// To nearest. A sum with a half has the places of a subnormal f16 as its last
/// ones.
static uint64_t toHalf(uint32_t bits) {
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  constexpr uint32_t overflow = 0x477ff000; // 65520, between two f16.
  constexpr uint32_t smallest = 0x38800000; // 2^-14.
  if (magnitude > 0x7f800000)
    return halfFormat.nan();
  if (magnitude >= overflow)
    return sign | halfFormat.infinity();
  if (magnitude < smallest) {
    float sum = llvm::bit_cast<float>(magnitude) + 0.5f;
    return sign | (llvm::bit_cast<uint32_t>(sum) - 0x3f000000);
  }
  uint32_t isOdd = magnitude >> 13 & 1;
  return sign | ((magnitude - ((127 - 15) << 23) + 0xfff + isOdd) >> 13);
}

uint64_t fromFloat(ptx::Type type, float value, Rounding rounding) {
  switch (type) {
  case ptx::Type::BF16: {
    uint32_t bits = llvm::bit_cast<uint32_t>(value);
    if (rounding != Rounding::NearestEven)
      break;
    if (std::isnan(value))
      return bfloatFormat.nan();
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  }
  case ptx::Type::F16:
    if (rounding != Rounding::NearestEven)
      break;
    return toHalf(llvm::bit_cast<uint32_t>(value));
  case ptx::Type::TF32:
    if (std::isnan(value))
      return floatNaN;
    return packDouble(tf32Format, value, rounding) << 13;
  case ptx::Type::F32:
    return bitsOfFloat(value);
  default:
    break;
  }
  return packDouble(formatOf(type), value, rounding);
}

} // namespace tilec::emulator
