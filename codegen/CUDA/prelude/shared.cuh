// Shared memory, by 32-bit addresses within it.

DEVICE unsigned shared_address(const void *pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}

// Begins to copy from global to shared memory.
DEVICE void copy_async_16(unsigned to, const void *from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to),
               "l"(from)
               : "memory");
}

DEVICE void copy_async_8(unsigned to, const void *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from)
               : "memory");
}

DEVICE void copy_async_4(unsigned to, const void *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from)
               : "memory");
}

// The same for the first `bytes`, the others become zero. Nothing is read if
// that is 0.
DEVICE void copy_async_16_part(unsigned to, const void *from, int bytes) {
  asm volatile(
      "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to),
      "l"(from), "r"(bytes)
      : "memory");
}

DEVICE void copy_async_8_part(unsigned to, const void *from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to),
               "l"(from), "r"(bytes)
               : "memory");
}

DEVICE void copy_async_4_part(unsigned to, const void *from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to),
               "l"(from), "r"(bytes)
               : "memory");
}

// Closes a group of copies.
DEVICE void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most N groups are pending.
template <int N> DEVICE void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

template <typename T> DEVICE void load_shared_16(T *to, unsigned from) {
  unsigned words[4];
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
  memcpy(to, words, 16);
}

template <typename T> DEVICE void load_shared_8(T *to, unsigned from) {
  unsigned words[2];
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
               : "=r"(words[0]), "=r"(words[1])
               : "r"(from)
               : "memory");
  memcpy(to, words, 8);
}

template <typename T> DEVICE void load_shared_4(T *to, unsigned from) {
  unsigned word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  memcpy(to, &word, 4);
}

// One element.
template <typename T> DEVICE T load_shared_value(unsigned from) {
  return *(const volatile T *)__cvta_shared_to_generic(from);
}

template <typename T> DEVICE void store_shared_16(unsigned to, const T *from) {
  unsigned words[4];
  memcpy(words, from, 16);
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

template <typename T> DEVICE void store_shared_8(unsigned to, const T *from) {
  unsigned words[2];
  memcpy(words, from, 8);
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(words[0]),
               "r"(words[1])
               : "memory");
}

template <typename T> DEVICE void store_shared_4(unsigned to, const T *from) {
  unsigned word;
  memcpy(&word, from, 4);
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
}

template <typename T> DEVICE void store_shared_value(unsigned to, T value) {
  *(volatile T *)__cvta_shared_to_generic(to) = value;
}
