// Atomic operations. Each kernel has results that do not depend on an order.

// Every thread has words of its own: old values and what is left are known.
//! alone in=bits:384 out=6144 block=128
KERNEL alone(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  __shared__ u32 shared[128];
  u32 r;
#define GLOBAL2(text)                                                          \
  do {                                                                         \
    u32 *cell = next;                                                          \
    PUT(a);                                                                    \
    asm volatile("atom.global." text " %0, [%1], %2;"                          \
                 : "=r"(r)                                                     \
                 : "l"(cell), "r"(b)                                           \
                 : "memory");                                                  \
    PUT(r);                                                                    \
  } while (0)
#define SHARED2(text)                                                          \
  do {                                                                         \
    shared[i] = a;                                                             \
    asm volatile("atom.shared." text " %0, [%1], %2;"                          \
                 : "=r"(r)                                                     \
                 : "r"(sharedAddress(shared + i)), "r"(b)                      \
                 : "memory");                                                  \
    PUT(r);                                                                    \
    PUT(shared[i]);                                                            \
  } while (0)
  GLOBAL2("add.u32");
  GLOBAL2("min.s32");
  GLOBAL2("max.u32");
  GLOBAL2("and.b32");
  GLOBAL2("or.b32");
  GLOBAL2("xor.b32");
  GLOBAL2("exch.b32");
  GLOBAL2("inc.u32");
  GLOBAL2("dec.u32");
  GLOBAL2("relaxed.gpu.add.s32");
  GLOBAL2("acq_rel.sys.max.s32");
  GLOBAL2("cta.min.u32");
  SHARED2("add.u32");
  SHARED2("min.s32");
  SHARED2("max.u32");
  SHARED2("and.b32");
  SHARED2("or.b32");
  SHARED2("xor.b32");
  SHARED2("exch.b32");
  SHARED2("inc.u32");
  SHARED2("dec.u32");
  shared[i] = i & 1 ? b : a;
  asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;"
               : "=r"(r)
               : "r"(sharedAddress(shared + i)), "r"(a), "r"(c)
               : "memory");
  PUT(r);
  PUT(shared[i]);
  u32 *cell = next;
  PUT(i & 1 ? b : a);
  asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(r)
               : "l"(cell), "r"(a), "r"(c)
               : "memory");
  PUT(r);
  // Increments that wrap around.
  cell = next;
  PUT(i % 7);
  PUT(atomicInc(cell, 3));
}

//! alone64 in=bits:768 out=5120 block=128
KERNEL alone64(const u32 *in, u32 *out) {
  THREAD;
  PAIRS;
  u64 *cells = (u64 *)out + i;
  u64 r;
#define GLOBAL64(text)                                                         \
  do {                                                                         \
    *cells = a;                                                                \
    asm volatile("atom.global." text " %0, [%1], %2;"                          \
                 : "=l"(r)                                                     \
                 : "l"(cells), "l"(b)                                          \
                 : "memory");                                                  \
    cells += count;                                                            \
    *cells = r;                                                                \
    cells += count;                                                            \
  } while (0)
  GLOBAL64("add.u64");
  GLOBAL64("min.s64");
  GLOBAL64("max.s64");
  GLOBAL64("min.u64");
  GLOBAL64("max.u64");
  GLOBAL64("and.b64");
  GLOBAL64("or.b64");
  GLOBAL64("xor.b64");
  GLOBAL64("exch.b64");
  *cells = i & 1 ? b : a;
  asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(r)
               : "l"(cells), "l"(a), "l"(c)
               : "memory");
  cells += count;
  *cells = r;
}

//! floatAdd in=f32:768 out=3072 block=128
KERNEL floatAdd(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  __shared__ u32 shared[128];
  u32 r, *cell = next;
  PUT(a);
  asm volatile("atom.global.add.f32 %0, [%1], %2;"
               : "=r"(r)
               : "l"(cell), "r"(b)
               : "memory");
  PUT(r);
  shared[i] = a;
  asm volatile("atom.shared.add.f32 %0, [%1], %2;"
               : "=r"(r)
               : "r"(sharedAddress(shared + i)), "r"(b)
               : "memory");
  PUT(r);
  PUT(shared[i]);
#define PAIR(text)                                                             \
  cell = next;                                                                 \
  PUT(a);                                                                      \
  asm volatile("atom.global." text " %0, [%1], %2;"                            \
               : "=r"(r)                                                       \
               : "l"(cell), "r"(b)                                             \
               : "memory");                                                    \
  PUT(r)
  PAIR("add.noftz.f16x2");
  PAIR("add.noftz.bf16x2");
  u16 h;
  cell = next;
  PUT(a);
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;"
               : "=h"(h)
               : "l"(cell), "h"((u16)b)
               : "memory");
  PUT(h);
  cell = next;
  PUT(a);
  asm volatile("atom.global.add.noftz.bf16 %0, [%1], %2;"
               : "=h"(h)
               : "l"(cell), "h"((u16)b)
               : "memory");
  PUT(h);
  cell = next;
  PUT(a);
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(cell), "r"(c) : "memory");
  // A vector of floats.
  u32 *vector = out + 13 * count + 4 * i;
  vector[0] = a, vector[1] = b, vector[2] = c, vector[3] = a;
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %3};" ::"l"(vector),
               "r"(c), "r"(a), "r"(b)
               : "memory");
  u64 *wide = (u64 *)(out + 17 * count) + i;
  *wide = (u64)a << 32 | c;
  u64 x = (u64)b << 32 | a, y;
  asm volatile("atom.global.add.f64 %0, [%1], %2;"
               : "=l"(y)
               : "l"(wide), "l"(x)
               : "memory");
  wide[count] = y;
  u32 *pairs = out + 21 * count + 2 * i;
  pairs[0] = a, pairs[1] = b;
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(pairs),
               "r"(b), "r"(c)
               : "memory");
  cell = out + 23 * count + i;
  *cell = a;
  asm volatile("red.global.max.s32 [%0], %1;" ::"l"(cell), "r"(c) : "memory");
}

// All at the same words.
//! together in=bits:256 out=64 block=128 grid=2
KERNEL together(const u32 *in, u32 *out) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x, a = in[i];
  __shared__ u32 shared[16];
  if (threadIdx.x < 16)
    shared[threadIdx.x] = threadIdx.x == 3 ? ~0u : 0;
  __syncthreads();
  atomicAdd(&shared[0], a);
  atomicXor(&shared[1], a);
  atomicMax(&shared[2], a);
  atomicMin(&shared[3], a);
  atomicInc(&shared[4], 100);
  atomicAdd(&shared[5 + i % 4], 1);
  // A lock: cas and exchange.
  for (bool done = false; !done;) {
    if (atomicCAS(&shared[10], 0, 1) == 0) {
      atomicAdd(&shared[11], 3);
      __threadfence_block();
      atomicExch(&shared[10], 0);
      done = true;
    }
  }
  __syncthreads();
  if (threadIdx.x < 16)
    out[blockIdx.x * 16 + threadIdx.x] = shared[threadIdx.x];
}
