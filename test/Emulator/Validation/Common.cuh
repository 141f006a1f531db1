// What every program of the suite begins with: the recorder and the test put
// this text in front of each file, since NVRTC has no headers of its own.
//
// A program is a file with kernels, each under a line of directives:
//
//     //! NAME in=KIND:WORDS out=WORDS [block=X[xYxZ]] [grid=X] [cluster=X]
//     //!      [shared=BYTES] [compare=...] [map=...]...
//
//   in       words of input, pseudo-random from the kernel's name. KIND is bits,
//            or f16, bf16, f32, f64: floats of which some are special, some
//            subnormal, some huge, and many of a like size.
//   out      words of output; they are 0xcdcdcdcd before.
//   compare  bits (which is also meant if there is none), or TYPE:REL[:ABS] for
//            approximate results: elements of TYPE within REL of the recorded
//            value, or ABS of it; special values and zeros must be the same.
//   map      a tensor map, passed as one more parameter:
//            in|out,TYPE,dims,strides,box,elementStrides,swizzle[,nan][,+BYTES]
//            with x between the numbers of a list, strides in bytes without the
//            innermost; swizzle is 0, 32, 64 or 128; TYPE is one of u8 u16 u32
//            s32 u64 s64 f16 bf16 f32 f64; +BYTES is where in the buffer it
//            begins.
//
// A kernel takes the input, the output, then its maps.

// Kernels need not use all of a, b, c and next.
#pragma nv_diag_suppress 550
#pragma nv_diag_suppress 177

using u8 = unsigned char;
using s8 = signed char;
using u16 = unsigned short;
using s16 = short;
using u32 = unsigned int;
using s32 = int;
using u64 = unsigned long long;
using s64 = long long;

struct alignas(64) Map {
  u64 words[16];
};

#define KERNEL extern "C" __global__ void

// Kernels that try many instructions on the same operands: thread i has a, b
// and c, and stores one word after another, `count` apart.
#define THREAD                                                                 \
  const u32 count = gridDim.x * blockDim.x;                                    \
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;                         \
  u32 *next = out + i
#define PUT(value) (*next = (u32)(value), next += count)
#define PUT64(value)                                                           \
  do {                                                                         \
    u64 put64 = (u64)(value);                                                       \
    PUT(put64);                                                                \
    PUT(put64 >> 32);                                                          \
  } while (0)
#define WORDS                                                                  \
  u32 a = in[i], b = in[count + i], c = in[2 * count + i];                     \
  (void)a, (void)b, (void)c
#define PAIRS                                                                  \
  u64 a = in[2 * i] | (u64)in[2 * i + 1] << 32,                                \
      b = in[2 * (count + i)] | (u64)in[2 * (count + i) + 1] << 32,            \
      c = in[2 * (2 * count + i)] | (u64)in[2 * (2 * count + i) + 1] << 32;    \
  (void)a, (void)b, (void)c

#define OP1(text)                                                              \
  do {                                                                         \
    u32 r;                                                                     \
    asm volatile(text " %0, %1;" : "=r"(r) : "r"(a));                          \
    PUT(r);                                                                    \
  } while (0)
#define OP2(text)                                                              \
  do {                                                                         \
    u32 r;                                                                     \
    asm volatile(text " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));              \
    PUT(r);                                                                    \
  } while (0)
#define OP3(text)                                                              \
  do {                                                                         \
    u32 r;                                                                     \
    asm volatile(text " %0, %1, %2, %3;"                                       \
                 : "=r"(r)                                                     \
                 : "r"(a), "r"(b), "r"(c));                                    \
    PUT(r);                                                                    \
  } while (0)
// 64 bits.
#define LOP1(text)                                                             \
  do {                                                                         \
    u64 r;                                                                     \
    asm volatile(text " %0, %1;" : "=l"(r) : "l"(a));                          \
    PUT64(r);                                                                  \
  } while (0)
#define LOP2(text)                                                             \
  do {                                                                         \
    u64 r;                                                                     \
    asm volatile(text " %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));              \
    PUT64(r);                                                                  \
  } while (0)
#define LOP3(text)                                                             \
  do {                                                                         \
    u64 r;                                                                     \
    asm volatile(text " %0, %1, %2, %3;"                                       \
                 : "=l"(r)                                                     \
                 : "l"(a), "l"(b), "l"(c));                                    \
    PUT64(r);                                                                  \
  } while (0)
// 64 bits that are a float. In registers that are not typed as such the assembler
// may take a store of the lower half for a conversion.
__device__ inline double asDouble(u64 x) { return __longlong_as_double(x); }
#define DOP1(text)                                                             \
  do {                                                                         \
    double r;                                                                  \
    asm volatile(text " %0, %1;"                                               \
                 : "=d"(r)                                                     \
                 : "d"(asDouble(a)));                                          \
    PUT64(__double_as_longlong(r));                                            \
  } while (0)
#define DOP2(text)                                                             \
  do {                                                                         \
    double r;                                                                  \
    asm volatile(text " %0, %1, %2;"                                           \
                 : "=d"(r)                                                     \
                 : "d"(asDouble(a)), "d"(asDouble(b)));                        \
    PUT64(__double_as_longlong(r));                                            \
  } while (0)
#define DOP3(text)                                                             \
  do {                                                                         \
    double r;                                                                  \
    asm volatile(text " %0, %1, %2, %3;"                                       \
                 : "=d"(r)                                                     \
                 : "d"(asDouble(a)), "d"(asDouble(b)), "d"(asDouble(c)));      \
    PUT64(__double_as_longlong(r));                                            \
  } while (0)
// 16 bits: the low halves of the words.
#define HOP1(text)                                                             \
  do {                                                                         \
    u16 r;                                                                     \
    asm volatile(text " %0, %1;" : "=h"(r) : "h"((u16)a));                     \
    PUT(r);                                                                    \
  } while (0)
#define HOP2(text)                                                             \
  do {                                                                         \
    u16 r;                                                                     \
    asm volatile(text " %0, %1, %2;" : "=h"(r) : "h"((u16)a), "h"((u16)b));    \
    PUT(r);                                                                    \
  } while (0)
#define HOP3(text)                                                             \
  do {                                                                         \
    u16 r;                                                                     \
    asm volatile(text " %0, %1, %2, %3;"                                       \
                 : "=h"(r)                                                     \
                 : "h"((u16)a), "h"((u16)b), "h"((u16)c));                     \
    PUT(r);                                                                    \
  } while (0)

__device__ inline u32 sharedAddress(const void *pointer) {
  return (u32)__cvta_generic_to_shared(pointer);
}

// mbarriers.
__device__ inline void barrierInit(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(arrivals)
               : "memory");
}
__device__ inline void barrierExpect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   barrier),
               "r"(bytes)
               : "memory");
}
__device__ inline void barrierWait(u32 barrier, u32 parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra ready;\n"
               "bra again;\n"
               "ready:\n"
               "}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}
__device__ inline void fenceBarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void fenceAsync() {
  asm volatile("fence.proxy.async;" ::: "memory");
}
__device__ inline void clusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
