// Types, threads, arrays in registers.

#define DEVICE __device__ __forceinline__

// Two bytes and one: the bits of a float of that format.
typedef unsigned short f16;

typedef unsigned short bf16;

typedef unsigned char e4m3;

typedef unsigned char e5m2;

DEVICE float infinity() { return __int_as_float(0x7f800000); }

DEVICE double infinity_f64() {
  return __longlong_as_double(0x7ff0000000000000ll);
}

// A value that is the same in all lanes, made known as such.
DEVICE int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

// The value of the lane whose number differs in the bits of `mask`.
template <typename T> DEVICE T from_lane_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

template <typename T> DEVICE T from_lane(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

// Exchanges elements i and i ^ mask if asked to.
template <int mask, typename T, int N>
DEVICE void exchange(T (&array)[N], bool wanted) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < (i ^ mask)) {
      T low = array[i], high = array[i ^ mask];
      array[i] = wanted ? high : low;
      array[i ^ mask] = wanted ? low : high;
    }
}

// Sets all elements of an array.
template <typename T, typename U, int N>
DEVICE void fill(T (&array)[N], U value) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    array[i] = value;
}

// Element i of packed 16-bit elements.
template <int N>
DEVICE unsigned short half_at(const unsigned (&words)[N], int i) {
  return (unsigned short)(words[i / 2] >> i % 2 * 16);
}

template <int N> DEVICE short s16_at(const unsigned (&words)[N], int i) {
  return (short)half_at(words, i);
}

// Element i of packed 8-bit elements.
template <int N>
DEVICE unsigned char byte_at(const unsigned (&words)[N], int i) {
  return (unsigned char)(words[i / 4] >> i % 4 * 8);
}

template <int N> DEVICE signed char s8_at(const unsigned (&words)[N], int i) {
  return (signed char)byte_at(words, i);
}

// Packs 16-bit elements, two to a word.
template <int W, typename T, int N>
DEVICE void pack_16(unsigned (&to)[W], const T (&from)[N]) {
#pragma unroll
  for (int i = 0; i < W; ++i) {
    to[i] = (unsigned short)from[2 * i];
    if (2 * i + 1 < N)
      to[i] |= (unsigned)(unsigned short)from[2 * i + 1] << 16;
  }
}

// Packs 8-bit elements, four to a word.
template <int W, typename T, int N>
DEVICE void pack_8(unsigned (&to)[W], const T (&from)[N]) {
#pragma unroll
  for (int i = 0; i < W; ++i) {
    to[i] = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (4 * i + j < N)
        to[i] |= (unsigned)(unsigned char)from[4 * i + j] << 8 * j;
  }
}
