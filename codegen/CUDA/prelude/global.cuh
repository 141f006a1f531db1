// Global memory: 16, 8 or 4 bytes at a time between it and registers. `load`
// is for memory that nobody writes while the kernel runs, `reload` for other.
// The functions with `_if` leave the registers as they are unless `ok`.

// How what nobody writes is read.
#define LOAD_GLOBAL "ld.global.nc"

template <typename T> DEVICE void load_16(T *to, const void *from) {
  unsigned words[4];
  asm volatile(LOAD_GLOBAL ".v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "l"(from));
  memcpy(to, words, 16);
}

template <typename T> DEVICE void load_16_if(T *to, const void *from, bool ok) {
  unsigned words[4];
  memcpy(words, to, 16);
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %5, 0;\n\t"
               "@p " LOAD_GLOBAL ".v4.b32 {%0, %1, %2, %3}, [%4];\n\t}"
               : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3])
               : "l"(from), "r"((int)ok));
  memcpy(to, words, 16);
}

template <typename T> DEVICE void load_8(T *to, const void *from) {
  unsigned words[2];
  asm volatile(LOAD_GLOBAL ".v2.b32 {%0, %1}, [%2];"
               : "=r"(words[0]), "=r"(words[1])
               : "l"(from));
  memcpy(to, words, 8);
}

template <typename T> DEVICE void load_8_if(T *to, const void *from, bool ok) {
  unsigned words[2];
  memcpy(words, to, 8);
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %3, 0;\n\t"
               "@p " LOAD_GLOBAL ".v2.b32 {%0, %1}, [%2];\n\t}"
               : "+r"(words[0]), "+r"(words[1])
               : "l"(from), "r"((int)ok));
  memcpy(to, words, 8);
}

template <typename T> DEVICE void load_4(T *to, const void *from) {
  unsigned words[1];
  asm volatile(LOAD_GLOBAL ".b32 %0, [%1];" : "=r"(words[0]) : "l"(from));
  memcpy(to, words, 4);
}

template <typename T> DEVICE void load_4_if(T *to, const void *from, bool ok) {
  unsigned words[1];
  memcpy(words, to, 4);
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %2, 0;\n\t"
               "@p " LOAD_GLOBAL ".b32 %0, [%1];\n\t}"
               : "+r"(words[0])
               : "l"(from), "r"((int)ok));
  memcpy(to, words, 4);
}

// One element.
template <typename T> DEVICE T load_value(const T *from) { return __ldg(from); }

// The first `count` of N elements, unless that is none or all of them.
template <typename E, int N, typename T>
DEVICE void load_part(T *to, const E *from, int count) {
  E elements[N];
  memcpy(elements, to, N * sizeof(E));
#pragma unroll
  for (int i = 0; i < N - 1; ++i)
    if (i < count && count < N)
      elements[i] = __ldg(from + i);
  memcpy(to, elements, N * sizeof(E));
}

template <typename T> DEVICE void reload_16(T *to, const void *from) {
  unsigned words[4];
  asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "l"(from)
               : "memory");
  memcpy(to, words, 16);
}

template <typename T>
DEVICE void reload_16_if(T *to, const void *from, bool ok) {
  unsigned words[4];
  memcpy(words, to, 16);
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %5, 0;\n\t"
               "@p ld.global.v4.b32 {%0, %1, %2, %3}, [%4];\n\t}"
               : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3])
               : "l"(from), "r"((int)ok)
               : "memory");
  memcpy(to, words, 16);
}

template <typename T> DEVICE void reload_8(T *to, const void *from) {
  unsigned words[2];
  asm volatile("ld.global.v2.b32 {%0, %1}, [%2];"
               : "=r"(words[0]), "=r"(words[1])
               : "l"(from)
               : "memory");
  memcpy(to, words, 8);
}

template <typename T>
DEVICE void reload_8_if(T *to, const void *from, bool ok) {
  unsigned words[2];
  memcpy(words, to, 8);
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %3, 0;\n\t"
               "@p ld.global.v2.b32 {%0, %1}, [%2];\n\t}"
               : "+r"(words[0]), "+r"(words[1])
               : "l"(from), "r"((int)ok)
               : "memory");
  memcpy(to, words, 8);
}

template <typename T> DEVICE void reload_4(T *to, const void *from) {
  unsigned words[1];
  asm volatile("ld.global.b32 %0, [%1];"
               : "=r"(words[0])
               : "l"(from)
               : "memory");
  memcpy(to, words, 4);
}

template <typename T>
DEVICE void reload_4_if(T *to, const void *from, bool ok) {
  unsigned words[1];
  memcpy(words, to, 4);
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %2, 0;\n\t"
               "@p ld.global.b32 %0, [%1];\n\t}"
               : "+r"(words[0])
               : "l"(from), "r"((int)ok)
               : "memory");
  memcpy(to, words, 4);
}

// One element.
template <typename T> DEVICE T reload_value(const T *from) {
  return *(const volatile T *)from;
}

// The first `count` of N elements, unless that is none or all of them.
template <typename E, int N, typename T>
DEVICE void reload_part(T *to, const E *from, int count) {
  E elements[N];
  memcpy(elements, to, N * sizeof(E));
#pragma unroll
  for (int i = 0; i < N - 1; ++i)
    if (i < count && count < N)
      elements[i] = *(const volatile E *)(from + i);
  memcpy(to, elements, N * sizeof(E));
}

template <typename T> DEVICE void store_16(void *to, const T *from) {
  unsigned words[4];
  memcpy(words, from, 16);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

template <typename T> DEVICE void store_8(void *to, const T *from) {
  unsigned words[2];
  memcpy(words, from, 8);
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(words[0]),
               "r"(words[1])
               : "memory");
}

template <typename T> DEVICE void store_4(void *to, const T *from) {
  unsigned words[1];
  memcpy(words, from, 4);
  asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(words[0]) : "memory");
}

template <typename T, typename U> DEVICE void store_value(T *to, U value) {
  *to = value;
}

template <typename E, int N, typename T>
DEVICE void store_part(E *to, const T *from, int count) {
  E elements[N];
  memcpy(elements, from, N * sizeof(E));
#pragma unroll
  for (int i = 0; i < N - 1; ++i)
    if (i < count && count < N)
      to[i] = elements[i];
}
