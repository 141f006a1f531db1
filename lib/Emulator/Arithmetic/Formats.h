//===- Formats.h - Packing and unpacking of float formats -------*- C++ -*-===//
//
// What the rest of Arithmetic/ is built on. A float format has a sign, some
// bits of exponent and some of fraction; a number on its way into one is a
// magnitude of integers,
//
//     (-1)^negative * (magnitude + something below 1 if `sticky`) * 2^exponent
//
// and pack() is the only place that rounds: results that a float or double of
// the host cannot hold are brought there as such a magnitude. A double may be
// *rounded to odd* before: cut off, with the last bit set if anything was lost.
// Rounding that once more, to a format with at least two bits less, gives what
// rounding the exact number would have, whatever the direction.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ARITHMETIC_FORMATS_H
#define TILEC_EMULATOR_ARITHMETIC_FORMATS_H

#include "lib/Emulator/Arithmetic/Float.h"
#include "llvm/ADT/bit.h"
#include <bit>

namespace tilec::emulator {

struct Format {
  unsigned exponentBits, fractionBits;
  bool hasInfinity = true; // E4M3 has none: its last code is the NaN.

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr int minExponent() const { return 1 - bias(); } // Of normal numbers.
  constexpr unsigned bits() const { return 1 + exponentBits + fractionBits; }
  constexpr uint64_t signBit() const { return uint64_t(1) << (bits() - 1); }
  constexpr uint64_t infinity() const {
    return ((uint64_t(1) << exponentBits) - 1) << fractionBits;
  }
  constexpr uint64_t maxFinite() const {
    return hasInfinity ? infinity() - 1 : signBit() - 2;
  }
  constexpr uint64_t nan() const { return signBit() - 1; } // All ones.
  constexpr bool isNaN(uint64_t value) const {
    uint64_t magnitude = value & (signBit() - 1);
    return hasInfinity ? magnitude > infinity() : magnitude == nan();
  }
};

constexpr Format halfFormat = {5, 10}, bfloatFormat = {8, 7},
                 tf32Format = {8, 10}, floatFormat = {8, 23},
                 doubleFormat = {11, 52}, e4m3Format = {4, 3, false},
                 e5m2Format = {5, 2};

/// The format of a type that is one float.
constexpr Format formatOf(ptx::Type type) {
  switch (type) {
  case ptx::Type::F16:
    return halfFormat;
  case ptx::Type::BF16:
    return bfloatFormat;
  case ptx::Type::TF32:
    return tf32Format;
  case ptx::Type::E4M3:
    return e4m3Format;
  case ptx::Type::E5M2:
    return e5m2Format;
  case ptx::Type::F64:
    return doubleFormat;
  default:
    return floatFormat;
  }
}

using UInt128 = unsigned __int128;

/// Whether a magnitude is rounded up: `isOdd` of what is kept, `rest` of what
/// is cut off in units of which `half` is half of the last place kept.
template <typename Integer>
bool roundsUp(Rounding rounding, bool negative, bool isOdd, Integer rest,
              Integer half, bool sticky) {
  switch (rounding) {
  case Rounding::NearestEven:
    return rest > half || (rest == half && (sticky || isOdd));
  case Rounding::NearestAway:
    return rest >= half;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return negative && (rest != 0 || sticky);
  case Rounding::Up:
    return !negative && (rest != 0 || sticky);
  }
  return false;
}

/// What a number too large for the format becomes.
inline uint64_t packOverflow(const Format &format, bool negative,
                             Rounding rounding, bool saturateFinite) {
  bool toFinite = saturateFinite || rounding == Rounding::Zero ||
                  (rounding == Rounding::Down && !negative) ||
                  (rounding == Rounding::Up && negative);
  uint64_t magnitude = toFinite             ? format.maxFinite()
                       : format.hasInfinity ? format.infinity()
                                            : format.nan();
  return (negative ? format.signBit() : 0) | magnitude;
}

/// Rounds a number into a format. `magnitude` must leave its top bit free.
template <typename Integer>
uint64_t pack(const Format &format, bool negative, Integer magnitude,
              int exponent, bool sticky, Rounding rounding,
              bool saturateFinite = false) {
  uint64_t sign = negative ? format.signBit() : 0;
  if (magnitude == 0 && !sticky)
    return sign;
  constexpr int width = sizeof(Integer) * 8;
  int leading = 0; // The position of the highest bit.
  if constexpr (sizeof(Integer) == 16)
    leading = uint64_t(magnitude >> 64)
                  ? 127 - std::countl_zero(uint64_t(magnitude >> 64))
                  : 63 - std::countl_zero(uint64_t(magnitude) | 1);
  else
    leading = 63 - std::countl_zero(uint64_t(magnitude) | 1);
  int top = exponent + leading; // The number is in [2^top, 2^(top+1)).
  int fraction = format.fractionBits;
  // Bits below the last place of the result, which does not sink below that of
  // the smallest subnormal number.
  int shift = std::max(top, format.minExponent()) - fraction - exponent;
  uint64_t kept;
  if (shift <= 0) {
    kept = uint64_t(magnitude) << -shift; // Only when no bit is lost: exact.
    if (sticky && roundsUp<uint64_t>(rounding, negative, kept & 1, 0, 1, true))
      ++kept;
  } else if (shift >= width) {
    kept = roundsUp<uint64_t>(rounding, negative, false, 0, 1, true);
  } else {
    Integer half = Integer(1) << (shift - 1);
    Integer rest = magnitude & ((half << 1) - 1);
    kept = uint64_t(magnitude >> shift);
    kept += roundsUp<Integer>(rounding, negative, kept & 1, rest, half, sticky);
  }
  // The leading one of a normal number counts one up in the exponent's field.
  uint64_t result = kept;
  if (top >= format.minExponent()) {
    if (top > format.bias() + 1)
      return packOverflow(format, negative, rounding, saturateFinite);
    result += uint64_t(top + format.bias() - 1) << fraction;
  }
  if (result > format.maxFinite())
    return packOverflow(format, negative, rounding, saturateFinite);
  return sign | result;
}

/// A double into a format; NaN becomes the format's NaN.
inline uint64_t packDouble(const Format &format, double value,
                           Rounding rounding, bool saturateFinite = false) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  bool negative = bits >> 63;
  int field = (bits >> 52) & 0x7ff;
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  if (field == 0x7ff) {
    if (fraction)
      return format.nan();
    uint64_t sign = negative ? format.signBit() : 0;
    if (saturateFinite)
      return sign | format.maxFinite();
    return sign | (format.hasInfinity ? format.infinity() : format.nan());
  }
  if (field == 0)
    return pack<uint64_t>(format, negative, fraction, -1074, false, rounding,
                          saturateFinite);
  return pack<uint64_t>(format, negative, fraction | (uint64_t(1) << 52),
                        field - 1075, false, rounding, saturateFinite);
}

/// The same for .ftz: what is below the normal numbers, *after* rounding to as
/// many bits as they have, is zero.
inline uint64_t packFlushed(const Format &format, double value,
                            Rounding rounding) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  int minField = 1023 + format.minExponent();
  int field = (bits >> 52) & 0x7ff;
  if (field >= minField)
    return packDouble(format, value, rounding);
  uint64_t sign = bits >> 63 ? format.signBit() : 0;
  if (field + 1 < minField || field == 0)
    return sign;
  // One binade below: rounded one binade higher, it may come out of it.
  uint64_t raised = packDouble(format, value * 2, rounding);
  uint64_t smallest = uint64_t(1) << format.fractionBits;
  return (raised & ~format.signBit()) >= 2 * smallest ? sign | smallest : sign;
}

/// `value` + `error`, where |error| is at most half a last place of `value`,
/// rounded to odd.
inline double roundToOdd(double value, double error) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  if (error == 0 || (bits & 1))
    return value;
  return llvm::bit_cast<double>((error > 0) == (value > 0) ? bits + 1
                                                           : bits - 1);
}

/// a + b rounded to odd; the operands must not be near overflow.
inline double addToOdd(double a, double b) {
  double sum = a + b;
  double part = sum - a;
  double error = (a - (sum - part)) + (b - part);
  return roundToOdd(sum, error);
}

inline float asFloat(uint64_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits));
}
inline double asDouble(uint64_t bits) { return llvm::bit_cast<double>(bits); }
inline uint64_t bitsOfFloat(float value) {
  return llvm::bit_cast<uint32_t>(value);
}
inline uint64_t bitsOfDouble(double value) {
  return llvm::bit_cast<uint64_t>(value);
}

constexpr uint64_t floatNaN = 0x7fffffff;
constexpr uint64_t doubleNaN = 0xfff8000000000000;

/// Any IEEE-like format narrower than float: its bits are moved into those of a
/// float, and the exponent put right by a multiplication, which also makes
/// normal numbers of subnormal ones.
inline float widen(const Format &format, uint64_t bits) {
  uint64_t magnitude = bits & (format.signBit() - 1);
  uint32_t sign = bits & format.signBit() ? 0x80000000u : 0;
  if (format.isNaN(bits))
    return llvm::bit_cast<float>(uint32_t(floatNaN));
  uint32_t moved = uint32_t(magnitude) << (23 - format.fractionBits);
  if (format.hasInfinity && magnitude >= format.infinity())
    return llvm::bit_cast<float>(sign | 0x7f800000u);
  float scale =
      llvm::bit_cast<float>(uint32_t(127 + 127 - format.bias()) << 23);
  return llvm::bit_cast<float>(
      llvm::bit_cast<uint32_t>(llvm::bit_cast<float>(moved) * scale) | sign);
}

/// Zero with its sign in place of a subnormal float.
inline uint64_t flushFloat(uint64_t bits) {
  return (bits & 0x7f800000) ? bits : bits & 0x80000000;
}

/// Applies a function to both halves of a packed pair.
template <typename Function> uint64_t onHalves(Function function) {
  return (uint64_t(function(16) & 0xffff) << 16) | (function(0) & 0xffff);
}
inline uint64_t half(uint64_t pair, unsigned shift) {
  return (pair >> shift) & 0xffff;
}
/// The type of each half of a packed type; None if it is not packed.
constexpr ptx::Type elementOf(ptx::Type type) {
  switch (type) {
  case ptx::Type::F16x2:
    return ptx::Type::F16;
  case ptx::Type::BF16x2:
    return ptx::Type::BF16;
  case ptx::Type::E4M3x2:
    return ptx::Type::E4M3;
  case ptx::Type::E5M2x2:
    return ptx::Type::E5M2;
  default:
    return ptx::Type::None;
  }
}

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ARITHMETIC_FORMATS_H
