//===- Convert.cpp - cvt: between any two numeric types -------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Arithmetic/Formats.h"
#include <algorithm>
#include <cmath>

namespace tilec::emulator {

namespace {

using ptx::Type;
using Int128 = __int128;

struct Range {
  Int128 low, high;
  explicit Range(Type type) {
    unsigned bits = ptx::bitsOf(type);
    low = ptx::isSigned(type) ? -(Int128(1) << (bits - 1)) : Int128(0);
    high = (Int128(1) << (ptx::isSigned(type) ? bits - 1 : bits)) - 1;
  }
};

uint64_t maskOf(Type type) {
  unsigned bits = ptx::bitsOf(type);
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

/// The value of an integer register read as `type`.
Int128 integerValue(Type type, uint64_t bits) {
  bits &= maskOf(type);
  if (!ptx::isSigned(type))
    return bits;
  unsigned unused = 64 - ptx::bitsOf(type);
  return int64_t(bits << unused) >> unused;
}

double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return std::rint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestAway:
    return std::round(value);
  }
  return value;
}

double doubleValue(Type type, uint64_t bits, bool flush) {
  if (type == Type::F64)
    return asDouble(bits);
  if (type == Type::F32 && flush)
    bits = flushFloat(bits);
  return toFloat(type, bits);
}

uint64_t floatToInteger(Type to, Type from, double value, Rounding rounding) {
  if (std::isnan(value)) {
    bool hasOnlyTopBit = from == Type::F64 || ptx::bitsOf(to) == 64;
    return hasOnlyTopBit ? uint64_t(1) << (ptx::bitsOf(to) - 1) : 0;
  }
  value = roundToInteger(value, rounding);
  Range range(to);
  Int128 integer;
  if (value >= 0x1p64)
    integer = range.high;
  else if (value <= -0x1p64)
    integer = range.low;
  else
    integer = std::clamp(Int128(value), range.low, range.high);
  return uint64_t(integer) & maskOf(to);
}

uint64_t integerToInteger(Type to, Type from, uint64_t bits, bool saturate) {
  Int128 value = integerValue(from, bits);
  if (saturate) {
    Range range(to);
    value = std::clamp(value, range.low, range.high);
  }
  return uint64_t(value) & maskOf(to);
}

/// .sat, .relu and .ftz of a result that is a float.
uint64_t finish(Type to, uint64_t result, const ConvertMode &mode) {
  Format format = formatOf(to);
  unsigned position = to == Type::TF32 ? 13 : 0;
  bool isNaN = format.isNaN(result);
  if (mode.saturate) {
    uint64_t one = uint64_t(format.bias()) << format.fractionBits;
    if (isNaN || (result & format.signBit()))
      return 0;
    result = std::min(result, one);
  } else if (mode.relu && !isNaN && (result & format.signBit())) {
    return 0;
  }
  if (mode.flush && to == Type::F32)
    result = flushFloat(result);
  return result << position;
}

uint64_t integerToFloat(Type to, Type from, uint64_t bits,
                        const ConvertMode &mode) {
  Int128 value = integerValue(from, bits);
  bool negative = value < 0;
  UInt128 magnitude = negative ? -value : value;
  uint64_t result;
  if (to == Type::F32 && mode.rounding == Rounding::NearestEven)
    result = bitsOfFloat(negative ? -float(uint64_t(magnitude))
                                  : float(uint64_t(magnitude)));
  else
    result = pack<UInt128>(formatOf(to), negative, magnitude, 0, false,
                           mode.rounding, mode.saturateFinite);
  return finish(to, result, mode);
}

bool isFloating(Type type) { return ptx::isFloat(type); }

/// What becomes of a NaN. Only conversions from or to f64 carry its sign and as
/// much of its payload as there is room for.
uint64_t convertNaN(Type to, Type from, uint64_t bits,
                    const ConvertMode &mode) {
  if (mode.saturate)
    return 0;
  if (to == Type::TF32) {
    // Converted to nearest by dropping bits, which leaves a NaN as it is;
    // .satfinite then takes one off.
    if (mode.rounding != Rounding::NearestAway)
      return tf32Format.nan() << 13;
    return (bits & ~uint64_t(0x1fff)) - (mode.saturateFinite ? 0x2000 : 0);
  }
  if (to == Type::F32 && from == Type::BF16)
    return bits << 16;
  if (from == Type::F32 && mode.flush)
    bits = floatNaN; // By an addition, before.
  if (to != Type::F64 && from != Type::F64)
    return formatOf(to).nan();
  Format source = formatOf(from), result = formatOf(to);
  uint64_t sign = bits & source.signBit() ? result.signBit() : 0;
  uint64_t payload = bits & ((uint64_t(1) << source.fractionBits) - 1);
  int shift = int(result.fractionBits) - int(source.fractionBits);
  payload = shift >= 0 ? payload << shift : payload >> -shift;
  uint64_t quiet = uint64_t(1) << (result.fractionBits - 1);
  return sign | result.infinity() | quiet | payload;
}

uint64_t floatToFloat(Type to, Type from, uint64_t bits,
                      const ConvertMode &mode) {
  bool isPlain = mode.rounding == Rounding::NearestEven && !mode.flush &&
                 !mode.saturate && !mode.saturateFinite && !mode.relu &&
                 !mode.integerRounding;
  if (isPlain && from == Type::F32 && (to == Type::BF16 || to == Type::F16))
    return fromFloat(to, asFloat(bits));
  if (from == Type::F16 || from == Type::BF16)
    bits &= 0xffff;
  double value = doubleValue(from, bits, mode.flush);
  if (std::isnan(value))
    return convertNaN(to, from, bits, mode);
  Rounding rounding = mode.rounding;
  if (mode.integerRounding) {
    value = roundToInteger(value, rounding);
    rounding = Rounding::NearestEven;
  }
  uint64_t result;
  if (to == Type::F64)
    result = bitsOfDouble(value);
  else if (to == Type::F32 && rounding == Rounding::NearestEven && !mode.flush)
    result = bitsOfFloat(float(value));
  else if (to == Type::F32 && mode.flush)
    result = packFlushed(floatFormat, value, rounding);
  else
    result = packDouble(formatOf(to), value, rounding, mode.saturateFinite);
  return finish(to, result, mode);
}

} // namespace

uint64_t convert(ptx::Type to, ptx::Type from, uint64_t a, ConvertMode mode) {
  Type toElement = elementOf(to), fromElement = elementOf(from);
  if (toElement != Type::None && fromElement != Type::None) {
    unsigned toBits = ptx::bitsOf(toElement),
             fromBits = ptx::bitsOf(fromElement);
    uint64_t low = a & maskOf(fromElement), high = a >> fromBits;
    return convert(toElement, fromElement, low, mode) |
           convert(toElement, fromElement, high & maskOf(fromElement), mode)
               << toBits;
  }
  if (isFloating(from)) {
    if (isFloating(to))
      return floatToFloat(to, from, a, mode);
    return floatToInteger(to, from, doubleValue(from, a, mode.flush),
                          mode.rounding);
  }
  if (isFloating(to))
    return integerToFloat(to, from, a, mode);
  return integerToInteger(to, from, a, mode.saturate);
}

uint64_t convertPair(ptx::Type to, uint64_t high, uint64_t low,
                     ConvertMode mode) {
  Type element = elementOf(to);
  return convert(element, Type::F32, low, mode) |
         convert(element, Type::F32, high, mode) << ptx::bitsOf(element);
}

uint64_t packIntegers(ptx::Type to, ptx::Type from, uint64_t a, uint64_t b,
                      uint64_t c) {
  unsigned bits = ptx::bitsOf(to);
  uint64_t high = integerToInteger(to, from, a, /*saturate=*/true);
  uint64_t low = integerToInteger(to, from, b, /*saturate=*/true);
  uint64_t above = bits < 16 ? c << (2 * bits) : 0;
  return (above | high << bits | low) & 0xffffffff;
}

} // namespace tilec::emulator
