// Loads and stores of every width, local arrays, constants, calls.

//! widths in=bits:512 out=2304 block=128
KERNEL widths(const u32 *in, u32 *out) {
  THREAD;
  const u8 *bytes = (const u8 *)in + 4 * i;
  const u32 *words = in + 4 * i;
  u32 r, x, y, z;
  u16 h;
  u64 l, m;
#define LOAD(text, from)                                                       \
  asm volatile("ld.global." text " %0, [%1];" : "=r"(r) : "l"(from));          \
  PUT(r)
  LOAD("u8", bytes + 1);
  LOAD("s8", bytes + 3);
  LOAD("b8", bytes);
  LOAD("u16", bytes + 2);
  LOAD("s16", bytes + 2);
  asm volatile("ld.global.b16 %0, [%1];" : "=h"(h) : "l"(bytes));
  PUT(h);
  asm volatile("ld.global.s8 %0, [%1+2];" : "=h"(h) : "l"(bytes));
  PUT(h);
  asm volatile("ld.global.s32 %0, [%1];" : "=l"(l) : "l"(words));
  PUT64(l);
  asm volatile("ld.global.u32 %0, [%1+4];" : "=l"(l) : "l"(words));
  PUT64(l);
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2+8];"
               : "=r"(x), "=r"(y)
               : "l"(words));
  PUT(x ^ y << 1);
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(r)
               : "l"(words));
  PUT(x + 3 * y + 5 * z + 7 * r);
  asm volatile("ld.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(l), "=l"(m)
               : "l"(words));
  PUT64(l * 3 + m);
  asm volatile("ld.global.v4.u8 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(r)
               : "l"(words));
  PUT(x | y << 8 | z << 16 | r << 24);
  asm volatile("ld.global.nc.v2.s16 {%0, %1}, [%2];"
               : "=r"(x), "=r"(y)
               : "l"(words));
  PUT(x * 31 + y);
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.u32 %0, [%1];"
               : "=r"(r)
               : "l"(words));
  PUT(r);
}

//! stores in=bits:512 out=1536 block=128
KERNEL stores(const u32 *in, u32 *out) {
  u32 i = threadIdx.x;
  const u32 *words = in + 4 * i;
  u32 *to = out + 12 * i;
  u8 *bytes = (u8 *)to;
  asm volatile("st.global.u8 [%0+1], %1;" ::"l"(bytes), "r"(words[0])
               : "memory");
  asm volatile("st.global.u16 [%0+2], %1;" ::"l"(bytes), "h"((u16)words[1])
               : "memory");
  asm volatile("st.global.u32 [%0+4], %1;" ::"l"(bytes),
               "l"((u64)words[2] << 32 | words[3])
               : "memory");
  asm volatile("st.global.v2.u32 [%0+8], {%1, %2};" ::"l"(bytes), "r"(words[0]),
               "r"(words[1])
               : "memory");
  asm volatile("st.global.v4.u32 [%0+16], {%1, %2, %3, %4};" ::"l"(bytes),
               "r"(words[3]), "r"(words[2]), "r"(words[1]), "r"(words[0])
               : "memory");
  asm volatile("st.global.v4.u8 [%0+32], {%1, %2, %3, %4};" ::"l"(bytes),
               "r"(words[3]), "r"(words[2]), "r"(words[1]), "r"(words[0])
               : "memory");
  asm volatile("st.global.b64 [%0+40], %1;" ::"l"(bytes), "l"((u64)words[2] * 9)
               : "memory");
}

//! sharedMemory in=bits:1024 out=1024 block=128 shared=4096
KERNEL sharedMemory(const u32 *in, u32 *out) {
  extern __shared__ __align__(16) u8 dynamic[];
  __shared__ u16 fixed[256];
  THREAD;
  u32 base = sharedAddress(dynamic);
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(base + 16 * i),
               "r"(in[4 * i]), "r"(in[4 * i + 1]), "r"(in[4 * i + 2]),
               "r"(in[4 * i + 3])
               : "memory");
  fixed[i] = in[512 + i];
  fixed[128 + i] = in[640 + i] >> 7;
  for (u32 at = 2048 + i; at < 4096; at += 128)
    dynamic[at] = in[at % 1024] >> (at % 25);
  __syncthreads();
  u32 other = (i * 37 + 5) % 128, r, x;
  asm volatile("ld.shared.u8 %0, [%1+5];" : "=r"(r) : "r"(base + 16 * other));
  PUT(r);
  asm volatile("ld.shared.s8 %0, [%1+5];" : "=r"(r) : "r"(base + 16 * other));
  PUT(r);
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+8];"
               : "=r"(r), "=r"(x)
               : "r"(base + 16 * other));
  PUT(r ^ x >> 3);
  PUT(fixed[other] | fixed[255 - other] << 16);
  u32 sum = 0;
  for (u32 at = 0; at < 16; ++at)
    sum = sum * 31 + dynamic[2048 + 16 * other + at];
  PUT(sum);
  const void *generic = dynamic + 4 * other;
  asm volatile("ld.u32 %0, [%1];" : "=r"(r) : "l"(generic));
  PUT(r);
  PUT(__isShared(generic) | __isGlobal(in) << 1 | __isLocal(&sum) << 2);
  volatile u32 *loud = (volatile u32 *)dynamic;
  PUT(loud[other]);
}

//! locals in=bits:128 out=384 block=128
KERNEL locals(const u32 *in, u32 *out) {
  THREAD;
  u32 array[32];
  u32 a = in[i];
  for (u32 at = 0; at < 32; ++at)
    array[at] = a * at;
  for (u32 step = 0; step < 40; ++step) {
    u32 at = a >> (step % 27) & 31;
    array[at] += array[(at + step) & 31] ^ step;
  }
  u32 sum = 0;
  for (u32 at = 0; at < 32; ++at)
    sum = sum * 5 + array[at];
  PUT(sum);
  u8 bytes[16];
  *(u64 *)bytes = a * 0x10001ull;
  *(u64 *)(bytes + 8) = a * 0x1003ull;
  PUT(bytes[a & 15] + 3 * bytes[a >> 4 & 15]);
  u32 *pointer = a & 1 ? &array[a & 31] : &out[2 * count + i];
  *pointer = 77;
  out[2 * count + i] = array[a & 31] * 2;
}

__constant__ u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ u32 counters[4] = {10, 20, 30, 40};
__device__ const float ratios[4] = {0.5f, 1.5f, -2.0f, 1e10f};
__device__ u32 *const pointers[2] = {&counters[1], &counters[3]};

//! variables in=bits:128 out=640 block=128
KERNEL variables(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  PUT(table[a & 15]);
  PUT(table[a >> 4 & 15] + table[7]);
  PUT(counters[a & 3]);
  PUT(__float_as_uint(ratios[a & 3]));
  PUT(*pointers[a & 1]);
}

__device__ __noinline__ u32 mix(u32 a, u32 b) { return a * 31 + (b ^ a >> 7); }
__device__ __noinline__ u64 wideMix(u64 a, u8 b, float c) {
  return a * b + (u64)__float_as_uint(c);
}
struct Several {
  u32 a;
  u64 b;
  u8 c[5];
};
__device__ __noinline__ Several change(Several value, u32 by) {
  value.a += by;
  value.b = value.b << 3 | by;
  for (u8 &c : value.c)
    c += by;
  return value;
}
__device__ __noinline__ u32 first(u32 a) { return a + 1; }
__device__ __noinline__ u32 second(u32 a) { return a * 3; }
__device__ __noinline__ u32 third(u32 a) { return mix(a, 9) ^ second(a); }

//! calls in=bits:128 out=768 block=128
KERNEL calls(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  PUT(mix(a, i));
  PUT64(wideMix((u64)a << 20, a >> 3, __uint_as_float(a)));
  Several value = {a, a * 5ull, {1, 2, 3, 4, u8(a)}};
  value = change(value, i);
  PUT(value.a + (u32)value.b + value.c[4] * 7 + value.c[1]);
  u32 (*function)(u32) = a % 3 == 0 ? first : a % 3 == 1 ? second : third;
  PUT(function(a));
  // Calls from places that diverged.
  u32 r = 0;
  if (a & 1)
    r = third(a);
  else if (a & 2)
    r = mix(a, 3);
  PUT(r);
}
