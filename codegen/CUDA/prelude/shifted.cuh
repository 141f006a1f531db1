// Rows of elements narrower than 4 bytes that begin anywhere in memory. The
// bytes of a row lie in aligned words, which are shifted into place.

// How many bytes an address is behind a multiple of 16.
DEVICE int phase_of(const void *at) {
  return (int)((unsigned long long)at & 15);
}

// The five words that 16 bytes lie in; only four if these are aligned.
DEVICE void load_around(unsigned *words, const void *from) {
  int phase = phase_of(from) % 4;
  const char *low = (const char *)from - phase;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    load_4(words + i, low + 4 * i);
  load_4_if(words + 4, low + 16, phase != 0);
}
DEVICE void load_around(unsigned *words, const void *from, bool ok) {
  int phase = phase_of(from) % 4;
  const char *low = (const char *)from - phase;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    load_4_if(words + i, low + 4 * i, ok);
  load_4_if(words + 4, low + 16, ok && phase != 0);
}

// The 16 bytes from there, of what load_around has loaded.
template <typename T>
DEVICE void take_shifted(T *to, const unsigned *words, const void *from) {
  unsigned shifted[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    shifted[i] =
        __funnelshift_r(words[i], words[i + 1], phase_of(from) % 4 * 8);
  memcpy(to, shifted, 16);
}

// Puts `pad` behind the first `count` elements of 16 bytes.
template <typename E, typename T>
DEVICE void cut_behind(T *to, int count, E pad) {
  constexpr int N = 16 / sizeof(E);
  E elements[N];
  memcpy(elements, to, 16);
  if (count >= N)
    return;
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i >= count)
      elements[i] = pad;
  memcpy(to, elements, 16);
}

// The first `count` elements from there, one by one.
template <typename E, typename T>
DEVICE void load_elements(T *to, const E *from, int count) {
  constexpr int N = 16 / sizeof(E);
  E elements[N];
  memcpy(elements, to, 16);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < count)
      elements[i] = __ldg(from + i);
  memcpy(to, elements, 16);
}

// Stores the bytes of a warp, 16 a lane, that are W words and up to 4 bytes more
// behind a multiple of 16: `phase`, the same in all lanes. Each lane stores the
// aligned vector that its bytes begin in, with the last ones of the lane before.
// For the first lane these are the last ones of all, which belong behind
// everything else; so what it holds are the two ends, which it stores in parts.
template <int W, typename E>
DEVICE void store_turned(E *to, const unsigned (&words)[4], int phase) {
  int lane = threadIdx.x % 32;
  unsigned around[5], turned[4];
#pragma unroll
  for (int i = 0; i <= W; ++i)
    around[i] = __shfl_sync(0xffffffffu, words[3 - W + i], lane + 31);
#pragma unroll
  for (int i = 0; i < 4 - W; ++i)
    around[W + 1 + i] = words[i];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    turned[i] = __funnelshift_r(around[i], around[i + 1], -phase * 8);
  char *begin = (char *)to - phase, *end = begin + 512;
  if (lane > 0) {
    store_16(begin, turned);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i != W)
      store_4((i < W ? end : begin) + 4 * i, turned + i);
  if (phase % 4 == 0) {
    store_4(end + 4 * W, turned + W);
    return;
  }
  constexpr int N = 4 / sizeof(E);
  E elements[N];
  memcpy(elements, turned + W, 4);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (N == 2 ? i == 0 : i < phase % 4)
      ((E *)(end + 4 * W))[i] = elements[i];
    else
      ((E *)(begin + 4 * W))[i] = elements[i];
}

// Stores 16 bytes of each lane of a warp, which are one run of memory.
template <typename E, typename T> DEVICE void store_run(E *to, const T *from) {
  unsigned words[4];
  memcpy(words, from, 16);
  int phase = uniform(phase_of(to));
  if (phase == 0)
    store_16(to, words);
  else if (phase <= 4)
    store_turned<0>(to, words, phase);
  else if (phase <= 8)
    store_turned<1>(to, words, phase);
  else if (phase <= 12)
    store_turned<2>(to, words, phase);
  else
    store_turned<3>(to, words, phase);
}

// The 16 bytes from byte `begin`, 0 to 15, of 32.
DEVICE void shift_words(unsigned *to, const unsigned (&words)[8], int begin) {
  unsigned by_8[6], by_4[5];
#pragma unroll
  for (int i = 0; i < 6; ++i)
    by_8[i] = begin & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i)
    by_4[i] = begin & 4 ? by_8[i + 1] : by_8[i];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    to[i] = __funnelshift_r(by_4[i], by_4[i + 1], begin % 4 * 8);
}

// Stores the first `count` elements of 16 bytes. Groups of L lanes hold 16
// bytes each of one run of memory: a lane stores the aligned vector that ends
// within its bytes, part of which it gets from the lane before. What no vector
// takes is stored one by one. All lanes of a warp take part.
template <int L, typename E, typename T>
DEVICE void store_shifted(E *to, const T *from, int count) {
  constexpr int N = 16 / sizeof(E);
  if (L == 32 && __all_sync(0xffffffffu, count >= N))
    return store_run(to, from);
  int phase = phase_of(to), lane = threadIdx.x % L;
  unsigned words[8], shifted[4];
  memcpy(words + 4, from, 16);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    unsigned before = __shfl_up_sync(0xffffffffu, words[i + 4], 1);
    words[i] = phase == 0 ? words[i + 4] : before;
  }
  shift_words(shifted, words, -phase & 15);
  // The vector takes the elements before `head`, the next lane's the others.
  int head = N - phase / (int)sizeof(E);
  bool joins = count >= head && (lane > 0 || phase == 0);
  bool next_joins = lane + 1 < L && count - N >= head;
  if (joins)
    store_16((char *)to - phase, shifted);
  int first = joins ? head : 0;
  int last = next_joins ? head : max(min(count, N), 0);
  if (first >= last)
    return;
  unsigned rest = (1u << last) - (1u << first);
  E elements[N];
  memcpy(elements, from, 16);
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (rest >> i & 1)
      to[i] = elements[i];
}
