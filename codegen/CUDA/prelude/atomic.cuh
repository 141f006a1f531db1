// Atomic additions to global memory, of which nobody waits for the result.

DEVICE void atomic_add(float *to, float value) {
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(value) : "memory");
}

DEVICE void atomic_add(double *to, double value) {
  asm volatile("red.global.add.f64 [%0], %1;" ::"l"(to), "d"(value) : "memory");
}

DEVICE void atomic_add(int *to, int value) {
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

DEVICE void atomic_add(long long *to, long long value) {
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

DEVICE void atomic_add_f16(f16 *to, f16 value) {
  asm volatile("red.global.add.noftz.f16 [%0], %1;" ::"l"(to), "h"(value)
               : "memory");
}

DEVICE void atomic_add_bf16(bf16 *to, bf16 value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.noftz.bf16 [%0], %1;" ::"l"(to), "h"(value)
               : "memory");
#else
  bf16 old = *(volatile bf16 *)to, expected;
  do {
    expected = old;
    bf16 sum = f32_to_bf16(bf16_to_f32(expected) + bf16_to_f32(value));
    asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;"
                 : "=h"(old)
                 : "l"(to), "h"(expected), "h"(sum)
                 : "memory");
  } while (old != expected);
#endif
}
