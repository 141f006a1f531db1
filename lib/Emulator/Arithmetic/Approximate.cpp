//===- Approximate.cpp - Functions that PTX only bounds -------------------===//
//
// Computed as doubles and rounded once. The hardware's own results differ by up
// to the error that PTX states for each, but infinities, zeros and NaN are
// where PTX has them.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Arithmetic/Formats.h"
#include <cmath>

namespace tilec::emulator {

namespace {

double evaluate(Approximate function, double x) {
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
    return x == 0 ? -HUGE_VAL : std::log2(x);
  case Approximate::Exp2:
    return std::exp2(x);
  case Approximate::Tanh:
    return std::tanh(x);
  }
  return 0;
}

} // namespace

uint64_t approximate(Approximate function, ptx::Type type, uint64_t a,
                     bool flush) {
  if (type == ptx::Type::F32) {
    if (flush)
      a = flushFloat(a);
    float x = asFloat(a);
    // The float function is within an ulp, and this one is called most.
    float y = function == Approximate::Exp2 ? std::exp2(x)
                                            : float(evaluate(function, x));
    uint64_t result = std::isnan(y) ? floatNaN : bitsOfFloat(y);
    return flush ? flushFloat(result) : result;
  }
  if (type == ptx::Type::F64) {
    // rcp and rsqrt .approx.ftz.f64 look at the upper word alone, and make one.
    if (flush) {
      a &= ~uint64_t(0xffffffff);
      if (!(a & doubleFormat.infinity()))
        a &= doubleFormat.signBit();
    }
    double y = evaluate(function, asDouble(a));
    uint64_t result = std::isnan(y) ? 0x7fffffff00000000 : bitsOfDouble(y);
    if (flush) {
      if (!(result & doubleFormat.infinity()))
        result &= doubleFormat.signBit();
      result &= ~uint64_t(0xffffffff);
    }
    return result;
  }
  if (ptx::Type element = elementOf(type); element != ptx::Type::None)
    return onHalves([&](unsigned at) {
      return approximate(function, element, half(a, at), flush);
    });
  Format format = formatOf(type);
  if (flush && !(a & format.infinity()))
    a &= format.signBit();
  uint64_t result = packDouble(format, evaluate(function, toFloat(type, a)),
                               Rounding::NearestEven);
  if (flush && !(result & format.infinity()))
    result &= format.signBit();
  return result;
}

uint64_t divApproximate(uint64_t a, uint64_t b, bool isFull, bool flush) {
  if (flush) {
    a = flushFloat(a);
    b = flushFloat(b);
  }
  float x = asFloat(a), y = asFloat(b);
  float quotient = x / y;
  // A divisor above 2^126 has a reciprocal that the hardware takes for zero;
  // div.full scales both first.
  if (!isFull && std::isfinite(y) && std::fabs(y) > 0x1p126f)
    quotient = x * std::copysign(0.0f, y);
  uint64_t result = std::isnan(quotient) ? floatNaN : bitsOfFloat(quotient);
  return flush ? flushFloat(result) : result;
}

} // namespace tilec::emulator
