// Integers of the language wrap and divide toward minus infinity.

// Toward minus infinity.
template <typename T> DEVICE T floor_div(T a, T b) {
  T q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// Toward plus infinity.
template <typename T> DEVICE T ceil_div(T a, T b) {
  T q = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
}

DEVICE int clamp(int x, int low, int high) { return min(max(x, low), high); }

DEVICE int wrap_add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }

DEVICE long long wrap_add(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}

DEVICE int wrap_sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }

DEVICE long long wrap_sub(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}

DEVICE int wrap_mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }

DEVICE long long wrap_mul(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}

template <typename T> DEVICE T wrap_abs(T a) {
  return a < 0 ? wrap_sub((T)0, a) : a;
}

// a^b. For negative b what 1 / a^-b is, cut: 0 unless a is 1 or -1 (or 0).
template <typename T> DEVICE T int_pow(T a, T b) {
  if (b < 0)
    return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  T y = 1;
  for (; b != 0; b >>= 1) {
    if (b & 1)
      y = wrap_mul(y, a);
    a = wrap_mul(a, a);
  }
  return y;
}
