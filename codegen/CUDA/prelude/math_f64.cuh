// Sine and cosine of f64. Those of the CUDA library keep an array in memory of
// the thread for arguments that are large.

// The bits of 2 / pi, the point behind the first word.
__constant__ unsigned long long two_over_pi_f64[20] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull,
    0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull,
    0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull,
    0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull};

// What x leaves modulo pi / 2, in [-pi/4, pi/4], and the quadrant (modulo 4). A
// large x is an integer times a power of two; multiplied by 2 / pi, of which
// those 192 bits are taken that matter: earlier ones give multiples of 4.
DEVICE double reduce_angle_f64(double x, int &quadrant) {
  if (fabs(x) < 1048576.0) {
    double k = rint(x * 0.63661977236758134);
    quadrant = (int)k;
    double y = fma(k, -1.5707963267948966, x);
    y = fma(k, -6.1232339957367574e-17, y);
    return fma(k, -8.4784276603688985e-32, y);
  }
  unsigned long long bits = (unsigned long long)__double_as_longlong(x);
  unsigned long long factor =
      (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  int skipped = min((int)(bits >> 52 & 0x7ff), 2046) - 1013;
  int word = skipped / 64, shift = skipped % 64;
  unsigned long long w0 = two_over_pi_f64[word], w1 = two_over_pi_f64[word + 1];
  unsigned long long w2 = two_over_pi_f64[word + 2];
  if (shift > 0) {
    w0 = w0 << shift | w1 >> (64 - shift);
    w1 = w1 << shift | w2 >> (64 - shift);
    w2 = w2 << shift | two_over_pi_f64[word + 3] >> (64 - shift);
  }
  // Quarter turns: two bits, the point, 126 bits.
  unsigned long long low = factor * w1 + __umul64hi(factor, w2);
  unsigned long long high = factor * w0 + __umul64hi(factor, w1) +
                            (low < factor * w1 ? 1ull : 0ull);
  quadrant = (int)(high >> 62);
  high = high << 2 | low >> 62;
  low <<= 2;
  bool isNegative = high >> 63 != 0;
  if (isNegative) { // Nearer to the next quarter turn.
    ++quadrant;
    low = 0 - low;
    high = ~high + (low == 0 ? 1ull : 0ull);
  }
  int zeros = __clzll((long long)(high | 1));
  if (zeros > 0)
    high = high << zeros | low >> (64 - zeros);
  // pi / 2 / 2^64, then 2^-zeros.
  double y = (double)high * 8.5153039502163873e-20 *
             __longlong_as_double((long long)(1023 - zeros) << 52);
  if (bits >> 63)
    quadrant = -quadrant;
  if (isNegative != (bits >> 63 != 0))
    y = -y;
  return fabs(x) < infinity_f64() ? y : x - x;
}

// The sine of x + quadrant * pi / 2 for x in [-pi/4, pi/4].
DEVICE double sin_reduced_f64(double x, int quadrant) {
  double s = x * x;
  double sine = fma(1.58969099521155010221e-10, s, -2.50507602534068634195e-8);
  sine = fma(sine, s, 2.75573137070700676789e-6);
  sine = fma(sine, s, -1.98412698298579493134e-4);
  sine = fma(sine, s, 8.33333333332248946124e-3);
  sine = fma(sine, s, -1.66666666666666324348e-1);
  sine = fma(sine * s, x, x);
  double cosine =
      fma(-1.13596475577881948265e-11, s, 2.08757232129817482790e-9);
  cosine = fma(cosine, s, -2.75573143513906633035e-7);
  cosine = fma(cosine, s, 2.48015872894767294178e-5);
  cosine = fma(cosine, s, -1.38888888888741095749e-3);
  cosine = fma(cosine, s, 4.16666666666666019037e-2);
  double half = 0.5 * s, rest = 1.0 - half;
  cosine = rest + fma(cosine, s * s, 1.0 - rest - half);
  double y = quadrant & 1 ? cosine : sine;
  return quadrant & 2 ? -y : y;
}

// To 3 units in the last place, for every x.
DEVICE double sin_f64(double x) {
  int quadrant;
  double y = reduce_angle_f64(x, quadrant);
  return sin_reduced_f64(y, quadrant);
}

DEVICE double cos_f64(double x) {
  int quadrant;
  double y = reduce_angle_f64(x, quadrant);
  return sin_reduced_f64(y, quadrant + 1);
}

// The product of -inf and 0 would be NaN.
DEVICE double gelu_f64(double x) {
  double finite = maximum(x, -1.7976931348623157e+308);
  return finite * (0.5 * erfc(x * -0.70710678118654752));
}
