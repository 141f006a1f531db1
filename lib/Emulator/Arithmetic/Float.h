//===- Float.h - Floating-point arithmetic of PTX ---------------*- C++ -*-===//
//
// What the instructions compute, as functions of values, bit for bit as the
// hardware does where PTX defines the bits: rounding to nearest even, towards
// zero, down and up; subnormals kept, or flushed with .ftz; results that are
// NaN are the canonical NaN of the type (0x7fffffff for f32, 0x7fff for f16 and
// bf16). Functions that PTX calls approximate are computed in double precision
// and rounded, which is within every documented bound.
//
// Narrow types: values are the bits in the low end of a uint64_t, as registers
// have them.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ARITHMETIC_FLOAT_H
#define TILEC_EMULATOR_ARITHMETIC_FLOAT_H

#include "lib/Emulator/PTX/Module.h"
#include <cstdint>

namespace tilec::emulator {

enum class Rounding : uint8_t {
  NearestEven, // .rn
  Zero,        // .rz
  Down,        // .rm
  Up,          // .rp
  NearestAway, // .rna
};

struct FloatMode {
  Rounding rounding = Rounding::NearestEven;
  bool flush = false;    // .ftz: subnormal operands and results are zeros.
  bool saturate = false; // .sat: clamped to [0, 1], NaN is 0.
  bool relu = false;     // .relu: negative is 0; NaN stays.
};

// Each works on one value of `type` (F16, BF16, F32, F64), or on both halves of
// F16x2 and BF16x2.
uint64_t addFloat(ptx::Type type, uint64_t a, uint64_t b, FloatMode mode);
uint64_t subFloat(ptx::Type type, uint64_t a, uint64_t b, FloatMode mode);
uint64_t mulFloat(ptx::Type type, uint64_t a, uint64_t b, FloatMode mode);
uint64_t fmaFloat(ptx::Type type, uint64_t a, uint64_t b, uint64_t c,
                  FloatMode mode);
uint64_t divFloat(ptx::Type type, uint64_t a, uint64_t b, FloatMode mode);
uint64_t sqrtFloat(ptx::Type type, uint64_t a, FloatMode mode);

struct MinMaxMode {
  bool flush = false;
  bool propagateNaN = false; // .NaN
  bool xorSign = false;      // .xorsign.abs
};
uint64_t minFloat(ptx::Type type, uint64_t a, uint64_t b, MinMaxMode mode);
uint64_t maxFloat(ptx::Type type, uint64_t a, uint64_t b, MinMaxMode mode);

enum class Approximate : uint8_t {
  Reciprocal,
  SquareRoot,
  ReciprocalSquareRoot,
  Sine,
  Cosine,
  Log2,
  Exp2,
  Tanh,
};
uint64_t approximate(Approximate function, ptx::Type type, uint64_t a,
                     bool flush);

/// div.approx.f32 and div.full.f32. The first returns zero for divisors above
/// 2^126, and NaN if the dividend is infinite then.
uint64_t divApproximate(uint64_t a, uint64_t b, bool isFull, bool flush);

/// cvt: from any numeric type to any, and from a packed pair to another. Floats
/// become integers within the range of the type; of NaN comes 0, or if one of
/// the types has 64 bits (f64, s64, u64) the integer with only its top bit set.
/// `integerRounding`: to an integer in a float type, .rni and its kin;
/// `saturate`: .sat; `saturateFinite`: .satfinite. The result has the bits of
/// `to` and zeros above.
struct ConvertMode {
  Rounding rounding = Rounding::NearestEven;
  bool integerRounding = false; // .rni .rzi .rmi .rpi
  bool flush = false;
  bool saturate = false;
  bool saturateFinite = false;
  bool relu = false;
};
uint64_t convert(ptx::Type to, ptx::Type from, uint64_t a, ConvertMode mode);
/// Two f32 to a packed pair; `high` goes into the upper half.
uint64_t convertPair(ptx::Type to, uint64_t high, uint64_t low,
                     ConvertMode mode);
/// cvt.pack: two integers saturated to `to`, `a` above `b`; if they are
/// narrower than 16 bits, `c` above both.
uint64_t packIntegers(ptx::Type to, ptx::Type from, uint64_t a, uint64_t b,
                      uint64_t c);

/// A narrow float or tf32 as a float, exactly, and back with rounding.
float toFloat(ptx::Type type, uint64_t bits);
uint64_t fromFloat(ptx::Type type, float value,
                   Rounding rounding = Rounding::NearestEven);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ARITHMETIC_FLOAT_H
