// The narrow floats. Conversions to them round to nearest even; those to the
// 8-bit formats saturate, as the language does, and keep NaN.

DEVICE float bf16_to_f32(bf16 x) { return __uint_as_float((unsigned)x << 16); }

DEVICE bf16 f32_to_bf16(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

// Two in a word, the first in the low half.
DEVICE unsigned f32_to_bf16x2(float low, float high) {
  unsigned y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}

template <int N> DEVICE float bf16_at(const unsigned (&words)[N], int i) {
  return __uint_as_float(i % 2 ? words[i / 2] & 0xffff0000u
                               : words[i / 2] << 16);
}

template <int W, int N>
DEVICE void pack_bf16(unsigned (&to)[W], const float (&from)[N]) {
#pragma unroll
  for (int i = 0; i < W; ++i)
    to[i] = f32_to_bf16x2(from[2 * i], 2 * i + 1 < N ? from[2 * i + 1] : 0.0f);
}

DEVICE float f16_to_f32(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}

DEVICE f16 f32_to_f16(float x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

DEVICE unsigned f32_to_f16x2(float low, float high) {
  unsigned y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}

template <int N> DEVICE float f16_at(const unsigned (&words)[N], int i) {
  return f16_to_f32((f16)(words[i / 2] >> i % 2 * 16));
}

template <int W, int N>
DEVICE void pack_f16(unsigned (&to)[W], const float (&from)[N]) {
#pragma unroll
  for (int i = 0; i < W; ++i)
    to[i] = f32_to_f16x2(from[2 * i], 2 * i + 1 < N ? from[2 * i + 1] : 0.0f);
}

// The code of an 8-bit float with `bias` and `fraction` bits of fraction.
template <int fraction, int bias, int greatest>
DEVICE unsigned f32_to_fp8(float x) {
  unsigned bits = __float_as_uint(x) & 0x7fffffffu;
  int code;
  if (bits > 0x7f800000u) // NaN.
    code = 0x7f;
  else if (bits < (128u - bias) << 23) // Multiples of the least.
    code = (int)rintf(__uint_as_float(bits) *
                      __uint_as_float((126u + bias + fraction) << 23));
  else
    code = min((int)((bits + (1u << (22 - fraction)) - 1 +
                      (bits >> (23 - fraction) & 1)) >>
                     (23 - fraction)) -
                   ((127 - bias) << fraction),
               greatest);
  return (unsigned)code | __float_as_uint(x) >> 24 & 0x80;
}

// Packs 8-bit floats, four to a word; `encode` makes two of them.
template <unsigned (*encode)(float, float), int W, int N>
DEVICE void pack_fp8(unsigned (&to)[W], const float (&from)[N]) {
#pragma unroll
  for (int i = 0; i < W; ++i) {
    to[i] = 0;
#pragma unroll
    for (int j = 4 * i; j < 4 * i + 4 && j < N; j += 2)
      to[i] |= encode(from[j], j + 1 < N ? from[j + 1] : 0.0f) << j % 4 * 8;
  }
}

// Exponent and fraction as those of an f32, 120 binary orders too small.
DEVICE float e4m3_to_f32(e4m3 x) {
#if __CUDA_ARCH__ >= 890
  unsigned halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((unsigned short)x));
  return f16_to_f32((f16)halves);
#else
  float y = __uint_as_float((unsigned)(x & 0x7f) << 20) * 0x1p120f;
  if ((x & 0x7f) == 0x7f)
    y = __int_as_float(0x7fc00000);
  return x & 0x80 ? -y : y;
#endif
}

// Two in a half word, the first in the low byte.
DEVICE unsigned f32_to_e4m3x2(float low, float high) {
#if __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(high), "f"(low));
  return pair;
#else
  return f32_to_fp8<3, 7, 0x7e>(low) | f32_to_fp8<3, 7, 0x7e>(high) << 8;
#endif
}

DEVICE e4m3 f32_to_e4m3(float x) {
  return (e4m3)f32_to_e4m3x2(x, 0.0f);
}

template <int N> DEVICE float e4m3_at(const unsigned (&words)[N], int i) {
  return e4m3_to_f32((e4m3)(words[i / 4] >> i % 4 * 8));
}

template <int W, int N>
DEVICE void pack_e4m3(unsigned (&to)[W], const float (&from)[N]) {
  pack_fp8<f32_to_e4m3x2>(to, from);
}

// An f16 with the low byte 0.
DEVICE float e5m2_to_f32(e5m2 x) { return f16_to_f32((f16)(x << 8)); }

// Two in a half word, the first in the low byte.
DEVICE unsigned f32_to_e5m2x2(float low, float high) {
#if __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(high), "f"(low));
  return pair;
#else
  return f32_to_fp8<2, 15, 0x7b>(low) | f32_to_fp8<2, 15, 0x7b>(high) << 8;
#endif
}

DEVICE e5m2 f32_to_e5m2(float x) {
  return (e5m2)f32_to_e5m2x2(x, 0.0f);
}

template <int N> DEVICE float e5m2_at(const unsigned (&words)[N], int i) {
  return e5m2_to_f32((e5m2)(words[i / 4] >> i % 4 * 8));
}

template <int W, int N>
DEVICE void pack_e5m2(unsigned (&to)[W], const float (&from)[N]) {
  pack_fp8<f32_to_e5m2x2>(to, from);
}

// f64 to f32, rounded to odd: toward zero, and with the last bit set if that is
// not exact. Rounding that to fewer bits is as rounding the f64.
DEVICE float f64_to_odd(double x) {
  float y = __double2float_rz(x);
  return (double)y == x ? y : __int_as_float(__float_as_int(y) | 1);
}

DEVICE bf16 f64_to_bf16(double x) { return f32_to_bf16(f64_to_odd(x)); }

DEVICE f16 f64_to_f16(double x) { return f32_to_f16(f64_to_odd(x)); }

DEVICE e4m3 f64_to_e4m3(double x) { return f32_to_e4m3(f64_to_odd(x)); }

DEVICE e5m2 f64_to_e5m2(double x) { return f32_to_e5m2(f64_to_odd(x)); }
