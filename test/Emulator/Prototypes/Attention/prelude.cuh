// Device prelude for generated Hopper (sm_90a) kernels: one function per hardware instruction.
//
// Self-contained: no headers, so NVRTC compiles it alone. Everything is __forceinline__ because ptxas never inlines a call
// and a call anywhere in a kernel serialises wgmma. bf16 values are raw 16-bit patterns.
#pragma once

typedef unsigned char u8;
typedef unsigned short bf16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE __device__ __forceinline__
#define CONSTANT __host__ __device__ constexpr

DEVICE float infinity() { return __int_as_float(0x7f800000); }
constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

// A CUtensorMap: opaque, 128 bytes, passed by value as a __grid_constant__ parameter.
struct alignas(64) TensorMap {
  u64 opaque[16];
};

// ---------------------------------------------------------------------------------------------------------------------
// Threads
// ---------------------------------------------------------------------------------------------------------------------

// The 32-bit shared-window address of a generic pointer.
DEVICE u32 shared_address(const void *pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

// Makes a value that is equal in all lanes provably so.
DEVICE int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

// True in exactly one lane of a converged warp.
DEVICE bool elect_one() {
  u32 elected;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(elected));
  return elected != 0;
}

template <int kRegisters> DEVICE void register_budget_up() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters> DEVICE void register_budget_down() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

DEVICE void exit_if_negative(int value) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.lt.s32 p, %0, 0;\n\t@p exit;\n\t}" ::"r"(value));
}

// ---------------------------------------------------------------------------------------------------------------------
// Named barriers (id 0 is __syncthreads)
// ---------------------------------------------------------------------------------------------------------------------

DEVICE void named_barrier_sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

DEVICE void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---------------------------------------------------------------------------------------------------------------------
// mbarrier (addresses are 32-bit shared-window addresses)
// ---------------------------------------------------------------------------------------------------------------------

DEVICE void mbarrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

DEVICE void mbarrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

DEVICE void mbarrier_arrive_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

DEVICE bool mbarrier_try_wait(u32 barrier, u32 parity) {
  u32 done;
  asm volatile("{\n\t.reg .pred p;\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}

// Blocks until the phase with the given parity has completed.
DEVICE void mbarrier_wait(u32 barrier, u32 parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Clusters
// ---------------------------------------------------------------------------------------------------------------------

// ---------------------------------------------------------------------------------------------------------------------
// Fences
// ---------------------------------------------------------------------------------------------------------------------

// Barrier initialisation becomes visible to the copy engine.
DEVICE void fence_barrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Earlier generic-proxy writes to shared memory become visible to wgmma and the copy engine.
DEVICE void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---------------------------------------------------------------------------------------------------------------------
// Bulk tensor copies (TMA)
// ---------------------------------------------------------------------------------------------------------------------

DEVICE void tensor_map_prefetch(const TensorMap *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

DEVICE void tma_load_4d(u32 shared, const TensorMap *map, u32 barrier, int c0, int c1, int c2, int c3) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared),
               "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}

DEVICE void tma_prefetch_4d(const TensorMap *map, int c0, int c1, int c2, int c3) { // into L2
  asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %3, %4}];" ::"l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}

DEVICE void tma_store_4d(const TensorMap *map, u32 shared, int c0, int c1, int c2, int c3) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
               "r"(shared), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}

DEVICE void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until at most kPending of this thread's store groups still read shared memory.
template <int kPending> DEVICE void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Waits until at most kPending of this thread's store groups are incomplete (their writes too).
template <int kPending> DEVICE void tma_store_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory"); }

// Contiguous bytes (a multiple of 16, both addresses multiples of 16).
DEVICE void bulk_load(u32 shared, const void *global, u32 barrier, u32 bytes) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared), "l"(global),
               "r"(bytes), "r"(barrier)
               : "memory");
}

// global[i] += shared[i], f32, in L2.
DEVICE void bulk_reduce_add_f32(float *global, u32 shared, u32 bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(global), "r"(shared), "r"(bytes)
               : "memory");
}

// ---------------------------------------------------------------------------------------------------------------------
// Shared memory
// ---------------------------------------------------------------------------------------------------------------------

DEVICE void shared_store(u32 address, int value) { asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory"); }

DEVICE int shared_load(u32 address) {
  int value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

// Four 8x8 matrices of 16-bit elements; lane i addresses row i % 8 of matrix i / 8.
DEVICE void stmatrix_x4(u32 address, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r0), "r"(r1), "r"(r2),
               "r"(r3)
               : "memory");
}

// The same, each 8x8 matrix transposed: lane i addresses column i % 8 (as held in registers) of matrix i / 8.
DEVICE void stmatrix_x4_trans(u32 address, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r0), "r"(r1), "r"(r2),
               "r"(r3)
               : "memory");
}

DEVICE void shared_load_f32x2(float &x, float &y, u32 address) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(address) : "memory");
}

DEVICE void shared_store_f32x4(u32 address, float x, float y, float z, float w) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
}

DEVICE void ldmatrix_x4(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// ---------------------------------------------------------------------------------------------------------------------
// Arithmetic
// ---------------------------------------------------------------------------------------------------------------------

// low in bits 0-15, high in bits 16-31, round to nearest even.
DEVICE u32 pack_bf16x2(float low, float high) {
  u32 packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

DEVICE float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

DEVICE float log2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

DEVICE float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

DEVICE float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

DEVICE int max3(int x, int y, int z) { return __vimax3_s32(x, y, z); }

// Maximum that propagates NaN.
DEVICE float max_nan(float x, float y) {
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}

DEVICE float add_round_down(float x, float y) {
  float z;
  asm("add.rm.ftz.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}

// 2^x without the special-function unit, for x <= 127: integer part into the exponent, cubic polynomial for the fraction
// (relative error below 9e-5, under the rounding of a bf16 result). Below 2^-127 the result is about 0.
DEVICE float exp2_polynomial(float x) {
  const float kMagic = 12582912.0f; // 1.5 * 2^23: adding it leaves the integer part in the low mantissa bits
  x = max_nan(x, -127.0f);
  float shifted = add_round_down(x, kMagic);
  float fraction = x - (shifted - kMagic);
  float y = __fmaf_rn(__fmaf_rn(__fmaf_rn(0.07711909f, fraction, 0.22756439f), fraction, 0.69514614f), fraction, 1.0f);
  return __int_as_float(__float_as_int(y) + (__float_as_int(shifted) << 23));
}

// ---------------------------------------------------------------------------------------------------------------------
// wgmma
// ---------------------------------------------------------------------------------------------------------------------

// Shared-memory matrix descriptor for 128-byte swizzle; the tile must start on a 1024-byte boundary.
//   leading: K-major, ignored; MN-major, distance between 64-element column blocks.
//   stride:  distance between groups of 8 rows (K-major) or of 8 k (MN-major).
CONSTANT u64 wgmma_layout_128b(u32 leading_bytes, u32 stride_bytes) {
  return (u64(1) << 62) | (u64(stride_bytes >> 4) << 32) | (u64(leading_bytes >> 4) << 16);
}

DEVICE u64 wgmma_descriptor(u64 layout, u32 address) { return layout | u64((address & 0x3ffffu) >> 4); }

// Orders earlier register writes (accumulators, A fragments) before the following wgmma.
DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Waits until at most kPending groups are in flight.
template <int kPending> DEVICE void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory"); }

// Makes later uses of the registers depend on everything volatile before this point (a wait, in practice). No instruction.
template <int kCount> DEVICE void pin(float (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    asm volatile("" : "+f"(registers[i])::"memory");
}

template <int kCount> DEVICE void pin(u32 (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    asm volatile("" : "+r"(registers[i])::"memory");
}

// D[64, N] = A[64, 16] * B[16, N] (+ D when accumulate != 0), bf16 in, f32 out.
//   wgmma_ss<tb>(d, a, b, accumulate)          A and B by descriptor
//   wgmma_rs<tb>(d, a0..a3, b, accumulate)     A in registers
//   tb = 0: B is K-major ([N][K] in memory); tb = 1: B is MN-major ([K][N] in memory).
// N follows from the size of d.
#define WG_STR(x) #x
#define WG_D8_0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WG_D8_1 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WG_D8_2 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define WG_D8_3 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define WG_D8_4 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define WG_D8_5 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define WG_D8_6 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define WG_D8_7 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define WG_D8_8 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define WG_D8_9 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define WG_D8_10 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define WG_D8_11 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define WG_D8_12 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define WG_D8_13 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define WG_D8_14 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define WG_D8_15 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define WG_D32 WG_D8_0 WG_D8_1 WG_D8_2 WG_D8_3
#define WG_D40 WG_D32 WG_D8_4
#define WG_D48 WG_D40 WG_D8_5
#define WG_D56 WG_D48 WG_D8_6
#define WG_D64 WG_D56 WG_D8_7
#define WG_D72 WG_D64 WG_D8_8
#define WG_D80 WG_D72 WG_D8_9
#define WG_D88 WG_D80 WG_D8_10
#define WG_D96 WG_D88 WG_D8_11
#define WG_D104 WG_D96 WG_D8_12
#define WG_D112 WG_D104 WG_D8_13
#define WG_D120 WG_D112 WG_D8_14
#define WG_D128 WG_D120 WG_D8_15
#define WG_O8(i)                                                                                                       \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define WG_O32 WG_O8(0), WG_O8(8), WG_O8(16), WG_O8(24)
#define WG_O40 WG_O32, WG_O8(32)
#define WG_O48 WG_O40, WG_O8(40)
#define WG_O56 WG_O48, WG_O8(48)
#define WG_O64 WG_O56, WG_O8(56)
#define WG_O72 WG_O64, WG_O8(64)
#define WG_O80 WG_O72, WG_O8(72)
#define WG_O88 WG_O80, WG_O8(80)
#define WG_O96 WG_O88, WG_O8(88)
#define WG_O104 WG_O96, WG_O8(96)
#define WG_O112 WG_O104, WG_O8(104)
#define WG_O120 WG_O112, WG_O8(112)
#define WG_O128 WG_O120, WG_O8(120)

// N; C = N / 2 accumulators; the numbers of the operands that follow them.
#define WG_DEFINE(N, C, C1, C2, C3, C4, C5, C6)                                                                        \
  template <int kTransposeB> DEVICE void wgmma_ss(float (&d)[C], u64 a, u64 b, int accumulate) {                       \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" WG_STR(C2) ", 0;\n\t"                                        \
                 "wgmma.mma_async.sync.aligned.m64n" WG_STR(N) "k16.f32.bf16.bf16 {" WG_D##C "}, %" WG_STR(C) ", "     \
                 "%" WG_STR(C1) ", p, 1, 1, 0, %" WG_STR(C3) ";\n\t}"                                                  \
                 : WG_O##C                                                                                             \
                 : "l"(a), "l"(b), "r"(accumulate), "n"(kTransposeB));                                                 \
  }                                                                                                                    \
  template <int kTransposeB>                                                                                           \
  DEVICE void wgmma_rs(float (&d)[C], u32 a0, u32 a1, u32 a2, u32 a3, u64 b, int accumulate) {                         \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" WG_STR(C5) ", 0;\n\t"                                        \
                 "wgmma.mma_async.sync.aligned.m64n" WG_STR(N) "k16.f32.bf16.bf16 {" WG_D##C "}, "                     \
                 "{%" WG_STR(C) ", %" WG_STR(C1) ", %" WG_STR(C2) ", %" WG_STR(C3) "}, "                               \
                 "%" WG_STR(C4) ", p, 1, 1, %" WG_STR(C6) ";\n\t}"                                                     \
                 : WG_O##C                                                                                             \
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(accumulate), "n"(kTransposeB));                     \
  }

WG_DEFINE(64, 32, 33, 34, 35, 36, 37, 38)
WG_DEFINE(80, 40, 41, 42, 43, 44, 45, 46)
WG_DEFINE(96, 48, 49, 50, 51, 52, 53, 54)
WG_DEFINE(112, 56, 57, 58, 59, 60, 61, 62)
WG_DEFINE(128, 64, 65, 66, 67, 68, 69, 70)
WG_DEFINE(144, 72, 73, 74, 75, 76, 77, 78)
WG_DEFINE(160, 80, 81, 82, 83, 84, 85, 86)
WG_DEFINE(176, 88, 89, 90, 91, 92, 93, 94)
WG_DEFINE(192, 96, 97, 98, 99, 100, 101, 102)
WG_DEFINE(208, 104, 105, 106, 107, 108, 109, 110)
WG_DEFINE(224, 112, 113, 114, 115, 116, 117, 118)
WG_DEFINE(240, 120, 121, 122, 123, 124, 125, 126)
WG_DEFINE(256, 128, 129, 130, 131, 132, 133, 134)
