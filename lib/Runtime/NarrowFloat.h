//===- NarrowFloat.h - Bit-exact storage float conversions ------*- C++ -*-===//
//
// Conversions between double and the storage floats of the language: f16,
// bf16, f8e4m3, f8e5m2 and tf32. They are the definition that generated code on
// every target is tested against, so they favour plainness over speed.
//
// To a storage float:
//
//   * The value is rounded once, straight from the double, to nearest with ties
//     to even. Rounding through f32 first can be wrong: a value just above the
//     midpoint of two bf16 neighbors becomes the midpoint in f32, and then ties
//     the wrong way. Pass the exact double, not a float made from it.
//   * Subnormals are kept, on input and output.
//   * f16, bf16 and tf32 overflow to infinity, as IEEE 754 says. The fp8 types
//     saturate: anything too large, infinity included, becomes the largest
//     finite value (448 or 57344) with its sign. That is how they are used as
//     storage, where one infinity would ruin a whole row.
//   * NaN stays NaN: the canonical quiet one of the format, with the sign kept.
//
// From a storage float every value is exact, in double and also in float. NaN
// becomes the canonical NaN of double with the sign kept; the payload is lost.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_RUNTIME_NARROWFLOAT_H
#define TILEC_LIB_RUNTIME_NARROWFLOAT_H

#include "lib/Support/DType.h"

#include <cstdint>

namespace tilec {

uint16_t doubleToF16(double value);
uint16_t doubleToBF16(double value);
uint8_t doubleToF8E4M3(double value);
uint8_t doubleToF8E5M2(double value);
/// The result is an f32 whose last thirteen significand bits are zero.
float doubleToTF32(double value);

double f16ToDouble(uint16_t bits);
double bf16ToDouble(uint16_t bits);
double f8e4m3ToDouble(uint8_t bits);
double f8e5m2ToDouble(uint8_t bits);

/// The bits `value` is stored as in any float type. f64 and f32 are included so
/// that generic code needs no special case; f32 follows the rules above.
uint64_t encodeFloat(DType dtype, double value);

/// The value of the low byteSize(dtype) bytes of `bits`. Bits of tf32 that a
/// proper tf32 has as zero are taken as they are: hardware may ignore them or
/// not, so no one should store them.
double decodeFloat(DType dtype, uint64_t bits);

/// What `value` becomes when stored as `dtype` and loaded again.
double roundToFloat(DType dtype, double value);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_NARROWFLOAT_H
