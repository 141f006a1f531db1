//===- Float.cpp - Arithmetic with the rounding of the hardware -----------===//
//
// Rounding to nearest in f32 and f64 is the host's own. Everything else is
// computed so that nothing is lost before pack() rounds it: narrow types and
// directed rounding of f32 as a double rounded to odd, directed rounding of f64
// in integers of 128 bits.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Arithmetic/Formats.h"
#include <cmath>
#include <utility>

namespace tilec::emulator {

namespace {

//===----------------------------------------------------------------------===//
// f64 with directed rounding
//===----------------------------------------------------------------------===//

/// A finite double that is not zero: magnitude * 2^exponent, where the
/// magnitude has its highest bit at 52.
struct Unpacked {
  bool negative;
  uint64_t magnitude;
  int exponent;

  explicit Unpacked(double value) {
    uint64_t bits = bitsOfDouble(value);
    negative = bits >> 63;
    int field = (bits >> 52) & 0x7ff;
    magnitude = bits & ((uint64_t(1) << 52) - 1);
    if (field) {
      magnitude |= uint64_t(1) << 52;
      exponent = field - 1075;
    } else {
      int shift = std::countl_zero(magnitude) - 11;
      magnitude <<= shift;
      exponent = -1074 - shift;
    }
  }
};

struct Wide {
  bool negative;
  UInt128 magnitude; // The highest bit is 124 or 125.
  int exponent;
};

double addWide(Wide a, Wide b, Rounding rounding) {
  if (a.exponent < b.exponent ||
      (a.exponent == b.exponent && a.magnitude < b.magnitude))
    std::swap(a, b);
  int shift = a.exponent - b.exponent;
  bool sticky = false;
  if (shift >= 126) {
    sticky = true;
    b.magnitude = 0;
  } else if (shift) {
    sticky = (b.magnitude & ((UInt128(1) << shift) - 1)) != 0;
    b.magnitude >>= shift;
  }
  UInt128 sum;
  bool negative = a.negative;
  if (a.negative == b.negative) {
    sum = a.magnitude + b.magnitude;
  } else if (a.magnitude >= b.magnitude + sticky) {
    sum = a.magnitude - b.magnitude - sticky;
  } else {
    // Possible with a shift of one: then nothing was cut off.
    sum = b.magnitude - a.magnitude;
    negative = b.negative;
  }
  if (sum == 0 && !sticky)
    return rounding == Rounding::Down ? -0.0 : 0.0;
  return asDouble(
      pack<UInt128>(doubleFormat, negative, sum, a.exponent, sticky, rounding));
}

double fmaDirected(double a, double b, double c, Rounding rounding) {
  double plain = std::fma(a, b, c);
  bool isFinite = std::isfinite(a) && std::isfinite(b) && std::isfinite(c);
  if (!isFinite)
    return plain;
  bool negative = std::signbit(a) != std::signbit(b);
  if (a == 0 || b == 0) {
    if (c != 0)
      return c;
    if (negative == std::signbit(c))
      return c;
    return rounding == Rounding::Down ? -0.0 : 0.0;
  }
  Unpacked x(a), y(b);
  UInt128 product = UInt128(x.magnitude) * y.magnitude;
  int exponent = x.exponent + y.exponent;
  if (c == 0)
    return asDouble(pack<UInt128>(doubleFormat, negative, product, exponent,
                                  false, rounding));
  Unpacked z(c);
  return addWide({negative, product << 20, exponent - 20},
                 {z.negative, UInt128(z.magnitude) << 73, z.exponent - 73},
                 rounding);
}

double divDirected(double a, double b, Rounding rounding) {
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0)
    return a / b;
  Unpacked x(a), y(b);
  UInt128 numerator = UInt128(x.magnitude) << 64;
  UInt128 quotient = numerator / y.magnitude;
  return asDouble(pack<UInt128>(doubleFormat, x.negative != y.negative,
                                quotient, x.exponent - 64 - y.exponent,
                                quotient * y.magnitude != numerator, rounding));
}

double sqrtDirected(double a, Rounding rounding) {
  if (!(a > 0) || std::isinf(a))
    return std::sqrt(a);
  Unpacked x(a);
  // The root of magnitude * 2^(2k): 57 bits, found from the top.
  int shift = (x.exponent & 1) ? 61 : 60;
  UInt128 square = UInt128(x.magnitude) << shift;
  uint64_t root = 0;
  for (int bit = 57; bit >= 0; --bit) {
    uint64_t next = root | (uint64_t(1) << bit);
    if (UInt128(next) * next <= square)
      root = next;
  }
  return asDouble(pack<UInt128>(doubleFormat, false, root,
                                (x.exponent - shift) / 2,
                                UInt128(root) * root != square, rounding));
}

//===----------------------------------------------------------------------===//
// What is done with operands and results
//===----------------------------------------------------------------------===//

bool isNearest(const FloatMode &mode) {
  return mode.rounding == Rounding::NearestEven;
}

/// A narrow result: NaN, .ftz, .relu and .sat.
uint64_t finishNarrow(const Format &format, uint64_t result,
                      const FloatMode &mode) {
  bool isNaN = format.isNaN(result);
  if (mode.saturate) {
    uint64_t one = uint64_t(format.bias()) << format.fractionBits;
    if (isNaN || (result & format.signBit()))
      return 0;
    return std::min(result, one);
  }
  if (isNaN)
    return format.nan();
  if (mode.flush && !(result & format.infinity()))
    result &= format.signBit();
  if (mode.relu && (result & format.signBit()))
    return 0;
  return result;
}

uint64_t finishFloat(uint64_t result, const FloatMode &mode) {
  if ((result & 0x7fffffff) > 0x7f800000)
    return mode.saturate ? 0 : floatNaN;
  if (mode.flush)
    result = flushFloat(result);
  if (mode.saturate) {
    if (result & 0x80000000)
      return 0;
    return std::min<uint64_t>(result, 0x3f800000);
  }
  if (mode.relu && (result & 0x80000000))
    return 0;
  return result;
}

/// A NaN is the last of those among the operands, made quiet. Callers order
/// them as the hardware prefers them, which differs with the instruction.
uint64_t finishDouble(double result, std::initializer_list<uint64_t> operands) {
  if (!std::isnan(result))
    return bitsOfDouble(result);
  uint64_t nan = doubleNaN;
  for (uint64_t operand : operands)
    if (doubleFormat.isNaN(operand))
      nan = operand | 0x0008000000000000;
  return nan;
}

uint64_t flushIf(bool flush, uint64_t bits) {
  return flush ? flushFloat(bits) : bits;
}

double narrowOperand(ptx::Type type, uint64_t bits, bool flush) {
  float value = toFloat(type, bits);
  if (flush) {
    Format format = formatOf(type);
    if (!(bits & format.infinity()))
      value = std::copysign(0.0f, value);
  }
  return value;
}

/// The sum of numbers that are doubles, to odd, with the zero that the
/// direction asks for. The sum of infinities is what the host says.
double sumToOdd(double a, double b, Rounding rounding) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  sum = addToOdd(a, b);
  if (sum == 0 && rounding == Rounding::Down &&
      (std::signbit(a) || a != 0 || std::signbit(b)))
    return -0.0;
  return sum;
}

uint64_t packResult(const Format &format, double value, const FloatMode &mode) {
  return mode.flush ? packFlushed(format, value, mode.rounding)
                    : packDouble(format, value, mode.rounding);
}

/// A double to odd, as the narrow float that the mode asks for. Rounded to odd
/// once more, to a float, it takes the quick way.
uint64_t packNarrow(ptx::Type type, double value, const FloatMode &mode) {
  Format format = formatOf(type);
  if (!isNearest(mode) || mode.flush)
    return finishNarrow(format, packResult(format, value, mode), mode);
  auto nearest = float(value);
  if (double error = value - nearest; error != 0 && std::isfinite(nearest)) {
    uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
    if (!(bits & 1))
      bits += (error > 0) == !(bits >> 31) ? 1 : -1;
    nearest = llvm::bit_cast<float>(bits);
  }
  return finishNarrow(format, fromFloat(type, nearest), mode);
}

uint64_t fmaNarrow(ptx::Type type, uint64_t a, uint64_t b, uint64_t c,
                   const FloatMode &mode) {
  double product =
      narrowOperand(type, a, mode.flush) * narrowOperand(type, b, mode.flush);
  double sum =
      sumToOdd(product, narrowOperand(type, c, mode.flush), mode.rounding);
  return packNarrow(type, sum, mode);
}

bool isNarrow(ptx::Type type) {
  return type == ptx::Type::F16 || type == ptx::Type::BF16;
}

/// A double to odd, as the f32 that the mode asks for.
uint64_t roundFloat(double value, const FloatMode &mode) {
  return finishFloat(packResult(floatFormat, value, mode), mode);
}

/// Whether the host's result is what the mode asks for. With .ftz that is not
/// known of the smallest normal number, which may come from below.
bool isSettled(float result, const FloatMode &mode) {
  return isNearest(mode) &&
         (!mode.flush || (bitsOfFloat(result) & 0x7fffffff) != 0x00800000);
}

} // namespace

//===----------------------------------------------------------------------===//
// The instructions
//===----------------------------------------------------------------------===//

uint64_t addFloat(ptx::Type type, uint64_t a, uint64_t b, FloatMode mode) {
  if (type == ptx::Type::F32) {
    a = flushIf(mode.flush, a);
    b = flushIf(mode.flush, b);
    if (isNearest(mode))
      return finishFloat(bitsOfFloat(asFloat(a) + asFloat(b)), mode);
    return roundFloat(sumToOdd(asFloat(a), asFloat(b), mode.rounding), mode);
  }
  if (type == ptx::Type::F64) {
    double x = asDouble(a), y = asDouble(b);
    return finishDouble(isNearest(mode) ? x + y
                                        : fmaDirected(x, 1.0, y, mode.rounding),
                        {a, b});
  }
  if (isNarrow(type)) {
    double sum = sumToOdd(narrowOperand(type, a, mode.flush),
                          narrowOperand(type, b, mode.flush), mode.rounding);
    return packNarrow(type, sum, mode);
  }
  ptx::Type element = elementOf(type);
  return onHalves([&](unsigned at) {
    return addFloat(element, half(a, at), half(b, at), mode);
  });
}

uint64_t subFloat(ptx::Type type, uint64_t a, uint64_t b, FloatMode mode) {
  if (type == ptx::Type::F32 || isNarrow(type))
    return addFloat(type, a, b ^ formatOf(type).signBit(), mode);
  if (type == ptx::Type::F64) {
    double x = asDouble(a), y = asDouble(b);
    return finishDouble(
        isNearest(mode) ? x - y : fmaDirected(x, 1.0, -y, mode.rounding),
        {a, b});
  }
  return addFloat(type, a, b ^ 0x80008000, mode);
}

uint64_t mulFloat(ptx::Type type, uint64_t a, uint64_t b, FloatMode mode) {
  if (type == ptx::Type::F32) {
    a = flushIf(mode.flush, a);
    b = flushIf(mode.flush, b);
    float result = asFloat(a) * asFloat(b);
    if (isSettled(result, mode))
      return finishFloat(bitsOfFloat(result), mode);
    return roundFloat(double(asFloat(a)) * asFloat(b), mode);
  }
  if (type == ptx::Type::F64) {
    double x = asDouble(a), y = asDouble(b);
    double zero = std::signbit(x) != std::signbit(y) ? -0.0 : 0.0;
    return finishDouble(
        isNearest(mode) ? x * y : fmaDirected(x, y, zero, mode.rounding),
        {a, b});
  }
  if (isNarrow(type)) {
    double product =
        narrowOperand(type, a, mode.flush) * narrowOperand(type, b, mode.flush);
    return packNarrow(type, product, mode);
  }
  ptx::Type element = elementOf(type);
  return onHalves([&](unsigned at) {
    return mulFloat(element, half(a, at), half(b, at), mode);
  });
}

uint64_t fmaFloat(ptx::Type type, uint64_t a, uint64_t b, uint64_t c,
                  FloatMode mode) {
  if (type == ptx::Type::F32) {
    a = flushIf(mode.flush, a);
    b = flushIf(mode.flush, b);
    c = flushIf(mode.flush, c);
    float result = std::fma(asFloat(a), asFloat(b), asFloat(c));
    if (isSettled(result, mode))
      return finishFloat(bitsOfFloat(result), mode);
    double product = double(asFloat(a)) * asFloat(b);
    return roundFloat(sumToOdd(product, asFloat(c), mode.rounding), mode);
  }
  if (type == ptx::Type::F64) {
    double x = asDouble(a), y = asDouble(b), z = asDouble(c);
    return finishDouble(isNearest(mode) ? std::fma(x, y, z)
                                        : fmaDirected(x, y, z, mode.rounding),
                        {a, c, b});
  }
  if (isNarrow(type))
    return fmaNarrow(type, a, b, c, mode);
  ptx::Type element = elementOf(type);
  return onHalves([&](unsigned at) {
    return fmaFloat(element, half(a, at), half(b, at), half(c, at), mode);
  });
}

uint64_t divFloat(ptx::Type type, uint64_t a, uint64_t b, FloatMode mode) {
  if (type == ptx::Type::F64) {
    double x = asDouble(a), y = asDouble(b);
    return finishDouble(
        isNearest(mode) ? x / y : divDirected(x, y, mode.rounding), {b, a});
  }
  a = flushIf(mode.flush, a);
  b = flushIf(mode.flush, b);
  float result = asFloat(a) / asFloat(b);
  if (isSettled(result, mode))
    return finishFloat(bitsOfFloat(result), mode);
  double x = asFloat(a), y = asFloat(b);
  double quotient = x / y;
  if (std::isfinite(quotient) && std::isfinite(y)) {
    // The sign of what is missing, seen from the quotient.
    double rest = std::fma(-quotient, y, x);
    quotient = roundToOdd(quotient, y < 0 ? -rest : rest);
  }
  return roundFloat(quotient, mode);
}

uint64_t sqrtFloat(ptx::Type type, uint64_t a, FloatMode mode) {
  if (type == ptx::Type::F64) {
    double x = asDouble(a);
    return finishDouble(
        isNearest(mode) ? std::sqrt(x) : sqrtDirected(x, mode.rounding), {a});
  }
  a = flushIf(mode.flush, a);
  if (isNearest(mode))
    return finishFloat(bitsOfFloat(std::sqrt(asFloat(a))), mode);
  double x = asFloat(a);
  double root = std::sqrt(x);
  if (std::isfinite(root))
    root = roundToOdd(root, std::fma(-root, root, x));
  return roundFloat(root, mode);
}

//===----------------------------------------------------------------------===//
// Minimum and maximum
//===----------------------------------------------------------------------===//

namespace {

/// In any format. Magnitudes of floats are ordered as integers are.
uint64_t choose(const Format &format, uint64_t a, uint64_t b, MinMaxMode mode,
                bool isMax, uint64_t nan) {
  uint64_t sign = format.signBit();
  if (mode.flush) {
    if (!(a & format.infinity()))
      a &= sign;
    if (!(b & format.infinity()))
      b &= sign;
  }
  uint64_t signs = 0;
  if (mode.xorSign) {
    signs = (a ^ b) & sign;
    a &= sign - 1;
    b &= sign - 1;
  }
  bool isNaN[] = {format.isNaN(a), format.isNaN(b)};
  if (isNaN[0] || isNaN[1]) {
    if (mode.propagateNaN || (isNaN[0] && isNaN[1]))
      return nan;
    return (isNaN[0] ? b : a) | signs;
  }
  // -0 is below +0.
  auto key = [&](uint64_t value) {
    return value & sign ? -int64_t(value & (sign - 1)) - 1
                        : int64_t(value & (sign - 1));
  };
  bool takesA = isMax ? key(a) >= key(b) : key(a) <= key(b);
  return (takesA ? a : b) | signs;
}

uint64_t chooseFloat(ptx::Type type, uint64_t a, uint64_t b, MinMaxMode mode,
                     bool isMax) {
  if (ptx::Type element = elementOf(type); element != ptx::Type::None)
    return onHalves([&](unsigned at) {
      return chooseFloat(element, half(a, at), half(b, at), mode, isMax);
    });
  Format format = formatOf(type);
  uint64_t nan = format.nan();
  if (type == ptx::Type::F64) // The one that there is; of two the second.
    nan = (format.isNaN(b) ? b : a) | 0x0008000000000000;
  return choose(format, a, b, mode, isMax, nan);
}

} // namespace

uint64_t minFloat(ptx::Type type, uint64_t a, uint64_t b, MinMaxMode mode) {
  return chooseFloat(type, a, b, mode, /*isMax=*/false);
}

uint64_t maxFloat(ptx::Type type, uint64_t a, uint64_t b, MinMaxMode mode) {
  return chooseFloat(type, a, b, mode, /*isMax=*/true);
}

} // namespace tilec::emulator
