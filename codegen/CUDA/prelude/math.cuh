// Functions of f32 that are fast and exact to a few units in the last place,
// without branches to slow paths.

// The greater; NaN if one is.
DEVICE float maximum(float a, float b) {
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}

DEVICE double maximum(double a, double b) { return a > b || a != a ? a : b; }

// The less; NaN if one is.
DEVICE float minimum(float a, float b) {
  float c;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}

DEVICE double minimum(double a, double b) { return a < b || a != a ? a : b; }

// a / b, to 2 units in the last place.
DEVICE float divide(float a, float b) {
  float c;
  asm("div.full.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}

// 1 / x, to 1 unit in the last place.
DEVICE float reciprocal(float x) {
  float y;
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The same for x that is neither small nor great: 2^-126 <= |x| <= 2^126.
DEVICE float reciprocal_of_normal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 2^x, to 2 units in the last place; less than 2^-126 becomes 0.
DEVICE float exp2_f32(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// e^x, to 2 + |x| / 2 units in the last place.
DEVICE float exp_f32(float x) { return exp2_f32(1.44269504f * x); }

// To 1 unit in the last place.
DEVICE float sqrt_f32(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// To 2 units in the last place.
DEVICE float rsqrt_f32(float x) {
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// To the 10 fraction bits of tf32, nearest even. NaN and infinity stay.
DEVICE float round_tf32(float x) {
  unsigned bits = __float_as_uint(x);
  unsigned rounded = bits + 0xfffu + (bits >> 13 & 1);
  return __uint_as_float((x != x ? bits | 0x400000u : rounded) & ~0x1fffu);
}

// The bits of 2 / pi, the point behind the first word.
__constant__ unsigned two_over_pi[8] = {0x00000000u, 0xa2f9836eu, 0x4e441529u,
                                        0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
                                        0x3c439041u, 0xfe5163abu};

// What x leaves modulo pi / 2, in [-pi/4, pi/4], and the quadrant (modulo 4).
// A large x is an integer times a power of two; multiplied by 2 / pi, of which
// those 96 bits are taken that matter: earlier ones give multiples of 4.
DEVICE float reduce_angle(float x, int &quadrant) {
  if (fabsf(x) < 32768.0f) {
    float k = rintf(x * 0.636619772f);
    quadrant = (int)k;
    float y = fmaf(k, -1.57079601e+00f, x);
    y = fmaf(k, -3.13916473e-07f, y);
    return fmaf(k, -5.39030253e-15f, y);
  }
  unsigned bits = __float_as_uint(x);
  unsigned factor = (bits & 0x7fffffu) | 0x800000u;
  int skipped = min((int)(bits >> 23 & 0xff), 254) - 120;
  int word = skipped / 32, shift = skipped % 32;
  unsigned w0 = two_over_pi[word], w1 = two_over_pi[word + 1];
  unsigned w2 = two_over_pi[word + 2], w3 = two_over_pi[word + 3];
  w0 = __funnelshift_l(w1, w0, shift);
  w1 = __funnelshift_l(w2, w1, shift);
  w2 = __funnelshift_l(w3, w2, shift);
  // Quarter turns: two bits, the point, 62 bits.
  unsigned long long turns = ((unsigned long long)factor * w0 << 32) +
                             (unsigned long long)factor * w1 +
                             __umulhi(factor, w2);
  long long rest = (long long)(turns << 2);
  quadrant = (int)(turns >> 62) + (rest < 0);
  float y = (float)((double)rest * 8.5153039502163873e-20); // pi / 2 / 2^64
  if (bits >> 31) {
    quadrant = -quadrant;
    y = -y;
  }
  return fabsf(x) < infinity() ? y : x - x;
}

// The sine of x + quadrant * pi / 2 for x in [-pi/4, pi/4].
DEVICE float sin_reduced(float x, int quadrant) {
  float s = x * x;
  float sine = fmaf(-1.9515295891e-4f, s, 8.3321608736e-3f);
  sine = fmaf(sine, s, -1.6666654611e-1f);
  sine = fmaf(sine * s, x, x);
  float cosine = fmaf(2.443315711809948e-5f, s, -1.388731625493765e-3f);
  cosine = fmaf(cosine, s, 4.166664568298827e-2f);
  cosine = fmaf(cosine, s * s, fmaf(-0.5f, s, 1.0f));
  float y = quadrant & 1 ? cosine : sine;
  return quadrant & 2 ? -y : y;
}

// To 2 units in the last place, for every x.
DEVICE float sin_f32(float x) {
  int quadrant;
  float y = reduce_angle(x, quadrant);
  return sin_reduced(y, quadrant);
}

DEVICE float cos_f32(float x) {
  int quadrant;
  float y = reduce_angle(x, quadrant);
  return sin_reduced(y, quadrant + 1);
}

// The error function, to 4e-7 of itself: a rational function, fitted for the
// least greatest relative error, up to where the result rounds to 1.
DEVICE float erf_f32(float x) {
  float s = fminf(x * x, 3.85f * 3.85f);
  float p =
      1.12837911f +
      s * (0.188257918f +
           s * (0.052520819f +
                s * (0.0036876034f +
                     s * (0.000285659888f + s * 2.10121084e-06f))));
  float q =
      1.0f +
      s * (0.500172138f +
           s * (0.113271855f +
                s * (0.0148125486f +
                     s * (0.00114821724f + s * 3.86581269e-05f))));
  float y = x * p * reciprocal_of_normal(q);
  return copysignf(minimum(fabsf(y), 1.0f), x);
}

// x times the normal distribution function of x: to 5e-7, and to 5e-7 of itself
// above -0.5. The binary logarithm of that function is nearly a square; this
// polynomial was fitted for errors that are small beside the product, which at
// the bound is 0.
DEVICE float gelu_f32(float x) {
  float z = fminf(fabsf(x), 15.0f);
  float log2_tail =
      -0.999999814f +
      z * (-1.15111504f +
           z * (-0.459122018f +
                z * (-0.052772824f +
                     z * (0.00747887463f +
                          z * (-0.000459251400f +
                               z * (-5.40742214e-05f +
                                    z * (1.23824516e-05f +
                                         z * -6.79637135e-07f)))))));
  return fmaf(-z, exp2_f32(log2_tail), maximum(x, 0.0f));
}
