// mma.sync of every type and shape. Each warp multiplies fragments that are the
// input's words as they are, or small numbers made from them.

#define REGS1(x) "r"((x)[0])
#define REGS2(x) "r"((x)[0]), "r"((x)[1])
#define REGS4(x) "r"((x)[0]), "r"((x)[1]), "r"((x)[2]), "r"((x)[3])

// Fragments of a lane: four words of A, two of B, four of C.
#define FRAGMENTS                                                              \
  THREAD;                                                                      \
  u32 a[4], b[2], c[4], d[4];                                                  \
  for (u32 at = 0; at < 4; ++at) {                                             \
    a[at] = in[at * count + i];                                                \
    c[at] = in[(6 + at) * count + i];                                          \
  }                                                                            \
  b[0] = in[4 * count + i];                                                    \
  b[1] = in[5 * count + i]
#define PUT2                                                                   \
  PUT(d[0]);                                                                   \
  PUT(d[1])
#define PUT4                                                                   \
  PUT2;                                                                        \
  PUT(d[2]);                                                                   \
  PUT(d[3])

// D of four registers; A of 4, 2 or 1 and B of 2 or 1; C of four.
#define MMA442(text)                                                           \
  asm volatile("mma.sync.aligned." text                                        \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "               \
               "{%10, %11, %12, %13};"                                         \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                \
               : REGS4(a), REGS2(b), REGS4(c));                                \
  PUT4
#define MMA421(text)                                                           \
  asm volatile("mma.sync.aligned." text                                        \
               " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"         \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                \
               : REGS2(a), REGS1(b), REGS4(c));                                \
  PUT4
// D of two.
#define MMA242(text)                                                           \
  asm volatile("mma.sync.aligned." text                                        \
               " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"              \
               : "=r"(d[0]), "=r"(d[1])                                        \
               : REGS4(a), REGS2(b), REGS2(c));                                \
  PUT2
#define MMA221(text)                                                           \
  asm volatile("mma.sync.aligned." text " {%0, %1}, {%2, %3}, {%4}, {%5, %6};" \
               : "=r"(d[0]), "=r"(d[1])                                        \
               : REGS2(a), REGS1(b), REGS2(c));                                \
  PUT2
#define MMA211(text)                                                           \
  asm volatile("mma.sync.aligned." text " {%0, %1}, {%2}, {%3}, {%4, %5};"     \
               : "=r"(d[0]), "=r"(d[1])                                        \
               : REGS1(a), REGS1(b), REGS2(c));                                \
  PUT2

// Whole numbers from -8 to 8 in each half of a word: their sums are exact.
template <typename Function> __device__ u32 eachHalf(u32 x, Function function) {
  return function((s32)(x % 17) - 8) | function((s32)(x / 17 % 17) - 8) << 16;
}
__device__ u32 smallHalves(u32 x) {
  return eachHalf(x, [](s32 value) -> u32 {
    u16 r;
    asm("cvt.rn.f16.s32 %0, %1;" : "=h"(r) : "r"(value));
    return r;
  });
}
__device__ u32 smallBfloats(u32 x) {
  return eachHalf(x, [](s32 value) -> u32 {
    return __float_as_uint((float)value) >> 16;
  });
}
__device__ u32 smallFloat(u32 x) {
  return __float_as_uint((float)((s32)(x % 17) - 8));
}

//! halfExact in=bits:640 out=768 block=64
KERNEL halfExact(const u32 *in, u32 *out) {
  FRAGMENTS;
  for (u32 &x : a)
    x = smallHalves(x);
  for (u32 &x : b)
    x = smallHalves(x);
  for (u32 &x : c)
    x = smallFloat(x);
  MMA442("m16n8k16.row.col.f32.f16.f16.f32");
  MMA421("m16n8k8.row.col.f32.f16.f16.f32");
  for (u32 &x : c)
    x = smallHalves(x);
  MMA242("m16n8k16.row.col.f16.f16.f16.f16");
  MMA221("m16n8k8.row.col.f16.f16.f16.f16");
}

//! bfloatExact in=bits:640 out=1024 block=64
KERNEL bfloatExact(const u32 *in, u32 *out) {
  FRAGMENTS;
  for (u32 &x : c)
    x = smallFloat(x);
  for (u32 &x : a)
    x = smallBfloats(x);
  for (u32 &x : b)
    x = smallBfloats(x);
  MMA442("m16n8k16.row.col.f32.bf16.bf16.f32");
  MMA421("m16n8k8.row.col.f32.bf16.bf16.f32");
  for (u32 at = 0; at < 4; ++at)
    a[at] = smallFloat(in[at * count + i] >> 7);
  for (u32 at = 0; at < 2; ++at)
    b[at] = smallFloat(in[(4 + at) * count + i] >> 7);
  MMA442("m16n8k8.row.col.f32.tf32.tf32.f32");
  MMA421("m16n8k4.row.col.f32.tf32.tf32.f32");
}

// Numbers of a like size: how sums are cut off shows.
//! halfSums in=f16:1280 out=1536 block=128
KERNEL halfSums(const u32 *in, u32 *out) {
  FRAGMENTS;
  // Exponents between 2^-8 and 2^7.
  for (u32 &x : a)
    x = (x & 0xbfffbfff & ~0x40004000) + 0x1c001c00;
  for (u32 &x : b)
    x = (x & 0xbfffbfff & ~0x40004000) + 0x1c001c00;
  u32 halves[2] = {c[0] & 0xbfffbfff, c[1] & 0xbfffbfff};
  for (u32 &x : c)
    x = (x & 0x807fffff) | (120 + (x >> 23) % 16) << 23;
  MMA442("m16n8k16.row.col.f32.f16.f16.f32");
  MMA421("m16n8k8.row.col.f32.f16.f16.f32");
  c[0] = halves[0], c[1] = halves[1];
  MMA242("m16n8k16.row.col.f16.f16.f16.f16");
  MMA221("m16n8k8.row.col.f16.f16.f16.f16");
}

//! bfloatSums in=bits:1280 out=2048 block=128
KERNEL bfloatSums(const u32 *in, u32 *out) {
  FRAGMENTS;
  for (u32 &x : a)
    x = (x & 0x87ff87ff) | 0x3c003c00;
  for (u32 &x : b)
    x = (x & 0x87ff87ff) | 0x3c003c00;
  for (u32 &x : c)
    x = (x & 0x807fffff) | (116 + (x >> 23) % 20) << 23;
  MMA442("m16n8k16.row.col.f32.bf16.bf16.f32");
  MMA421("m16n8k8.row.col.f32.bf16.bf16.f32");
  for (u32 at = 0; at < 4; ++at)
    a[at] = (in[at * count + i] & 0x83ffffff) | 0x3c000000;
  for (u32 at = 0; at < 2; ++at)
    b[at] = (in[(4 + at) * count + i] & 0x83ffffff) | 0x3c000000;
  MMA442("m16n8k8.row.col.f32.tf32.tf32.f32");
  MMA421("m16n8k4.row.col.f32.tf32.tf32.f32");
}

// Any bits: infinities, NaN, zeros, subnormal numbers.
//! halfSpecials in=f16:640 out=768 block=64
KERNEL halfSpecials(const u32 *in, u32 *out) {
  FRAGMENTS;
  MMA442("m16n8k16.row.col.f32.f16.f16.f32");
  MMA421("m16n8k8.row.col.f32.f16.f16.f32");
  MMA242("m16n8k16.row.col.f16.f16.f16.f16");
  MMA221("m16n8k8.row.col.f16.f16.f16.f16");
}

// The same with zeros in place of what is special in A and B.
//! halfRange in=f16:640 out=1024 block=64
KERNEL halfRange(const u32 *in, u32 *out) {
  FRAGMENTS;
  for (u32 *x : {a, a + 1, a + 2, a + 3, b, b + 1}) {
    if ((*x & 0x7c00) == 0x7c00)
      *x &= 0xffff0000;
    if ((*x & 0x7c000000) == 0x7c000000)
      *x &= 0xffff;
  }
  for (u32 &x : c)
    if ((x & 0x7f800000) == 0x7f800000)
      x = 0x80000000;
  MMA442("m16n8k16.row.col.f32.f16.f16.f32");
  MMA421("m16n8k8.row.col.f32.f16.f16.f32");
  // Subnormal accumulators and nothing else.
  for (u32 &x : a)
    x = 0;
  for (u32 &x : c)
    x &= 0x800fffff;
  MMA442("m16n8k16.row.col.f32.f16.f16.f32");
  MMA421("m16n8k8.row.col.f32.f16.f16.f32");
}

//! bfloatSpecials in=bf16:640 out=1024 block=64
KERNEL bfloatSpecials(const u32 *in, u32 *out) {
  FRAGMENTS;
  MMA442("m16n8k16.row.col.f32.bf16.bf16.f32");
  MMA421("m16n8k8.row.col.f32.bf16.bf16.f32");
  MMA442("m16n8k8.row.col.f32.tf32.tf32.f32");
  MMA421("m16n8k4.row.col.f32.tf32.tf32.f32");
}

// Exponents of all sizes, but nothing special before the product.
//! bfloatRange in=bf16:640 out=1024 block=64
KERNEL bfloatRange(const u32 *in, u32 *out) {
  FRAGMENTS;
  for (u32 *x :
       {a, a + 1, a + 2, a + 3, b, b + 1, c, c + 1, c + 2, c + 3}) {
    if ((*x & 0x7f80) == 0x7f80)
      *x &= 0xffff0000;
    if ((*x & 0x7f800000) == 0x7f800000)
      *x &= 0x80ffffff;
  }
  MMA442("m16n8k16.row.col.f32.bf16.bf16.f32");
  MMA421("m16n8k8.row.col.f32.bf16.bf16.f32");
  MMA442("m16n8k8.row.col.f32.tf32.tf32.f32");
  MMA421("m16n8k4.row.col.f32.tf32.tf32.f32");
}

// Products of subnormal numbers, and sums that are subnormal.
//! bfloatTiny in=bits:640 out=1024 block=64
KERNEL bfloatTiny(const u32 *in, u32 *out) {
  FRAGMENTS;
  for (u32 &x : a)
    x = (x & 0x81ff81ff) | (i & 1 ? 0 : 0x00800080);
  for (u32 &x : b)
    x = (x & 0x83ff83ff) | 0x3c003c00;
  for (u32 &x : c)
    x = x & 0x80ffffff;
  MMA442("m16n8k16.row.col.f32.bf16.bf16.f32");
  MMA421("m16n8k8.row.col.f32.bf16.bf16.f32");
  MMA442("m16n8k8.row.col.f32.tf32.tf32.f32");
  MMA421("m16n8k4.row.col.f32.tf32.tf32.f32");
}

//! fp8Specials in=bits:640 out=896 block=64
KERNEL fp8Specials(const u32 *in, u32 *out) {
  FRAGMENTS;
  // About one NaN or infinity in a hundred.
  for (u32 *x : {a, a + 1, a + 2, a + 3, b, b + 1})
    if (*x >> 5 & 7)
      *x &= 0xbfbfbfbf;
  MMA442("m16n8k32.row.col.f32.e4m3.e4m3.f32");
  MMA442("m16n8k32.row.col.f32.e5m2.e5m2.f32");
  MMA242("m16n8k32.row.col.f16.e5m2.e5m2.f16");
  MMA421("m16n8k16.row.col.f32.e4m3.e5m2.f32");
}

//! integers8 in=bits:640 out=3584 block=64
KERNEL integers8(const u32 *in, u32 *out) {
  FRAGMENTS;
  MMA442("m16n8k32.row.col.s32.s8.s8.s32");
  MMA442("m16n8k32.row.col.s32.u8.u8.s32");
  MMA442("m16n8k32.row.col.s32.s8.u8.s32");
  MMA442("m16n8k32.row.col.s32.u8.s8.s32");
  MMA442("m16n8k32.row.col.satfinite.s32.s8.s8.s32");
  c[0] |= 0x7fff0000;
  c[3] = (c[3] & 0x8000ffff) | 0x80000000;
  MMA442("m16n8k32.row.col.satfinite.s32.u8.u8.s32");
  MMA442("m16n8k32.row.col.s32.u8.u8.s32");
  MMA421("m16n8k16.row.col.s32.s8.s8.s32");
  MMA421("m16n8k16.row.col.s32.u8.u8.s32");
  MMA421("m16n8k16.row.col.satfinite.s32.s8.u8.s32");
  MMA211("m8n8k16.row.col.s32.s8.s8.s32");
  MMA211("m8n8k16.row.col.s32.u8.s8.s32");
  MMA211("m8n8k16.row.col.satfinite.s32.u8.u8.s32");
  MMA211("m8n8k16.row.col.s32.s8.u8.s32");
  MMA421("m16n8k16.row.col.s32.u8.s8.s32");
  MMA442("m16n8k32.row.col.satfinite.s32.s8.u8.s32");
}

//! integers4 in=bits:640 out=2048 block=64
KERNEL integers4(const u32 *in, u32 *out) {
  FRAGMENTS;
  MMA442("m16n8k64.row.col.s32.s4.s4.s32");
  MMA442("m16n8k64.row.col.s32.u4.u4.s32");
  MMA442("m16n8k64.row.col.satfinite.s32.s4.u4.s32");
  MMA421("m16n8k32.row.col.s32.s4.s4.s32");
  MMA421("m16n8k32.row.col.s32.u4.s4.s32");
  MMA421("m16n8k32.row.col.satfinite.s32.u4.u4.s32");
  MMA211("m8n8k32.row.col.s32.s4.s4.s32");
  MMA211("m8n8k32.row.col.s32.u4.u4.s32");
  MMA211("m8n8k32.row.col.s32.s4.u4.s32");
  MMA211("m8n8k32.row.col.satfinite.s32.u4.s4.s32");
}

//! binary in=bits:640 out=1280 block=64
KERNEL binary(const u32 *in, u32 *out) {
  FRAGMENTS;
  MMA442("m16n8k256.row.col.s32.b1.b1.s32.and.popc");
  MMA442("m16n8k256.row.col.s32.b1.b1.s32.xor.popc");
  MMA421("m16n8k128.row.col.s32.b1.b1.s32.and.popc");
  MMA421("m16n8k128.row.col.s32.b1.b1.s32.xor.popc");
  MMA211("m8n8k128.row.col.s32.b1.b1.s32.and.popc");
  MMA211("m8n8k128.row.col.s32.b1.b1.s32.xor.popc");
}

//! fp8 in=bits:640 out=2048 block=64
KERNEL fp8(const u32 *in, u32 *out) {
  FRAGMENTS;
  // No NaN, and for e5m2 no infinity: 0x3f clears the top of the exponent.
  for (u32 &x : a)
    x &= 0xbfbfbfbf;
  for (u32 &x : b)
    x &= 0xbfbfbfbf;
  for (u32 &x : c)
    x = (x & 0x807fffff) | (110 + (x >> 23) % 24) << 23;
  MMA442("m16n8k32.row.col.f32.e4m3.e4m3.f32");
  MMA442("m16n8k32.row.col.f32.e5m2.e5m2.f32");
  MMA442("m16n8k32.row.col.f32.e4m3.e5m2.f32");
  MMA442("m16n8k32.row.col.f32.e5m2.e4m3.f32");
  MMA421("m16n8k16.row.col.f32.e4m3.e4m3.f32");
  MMA421("m16n8k16.row.col.f32.e5m2.e4m3.f32");
  for (u32 &x : c)
    x &= 0xbfffbfff;
  MMA242("m16n8k32.row.col.f16.e4m3.e4m3.f16");
  MMA242("m16n8k32.row.col.f16.e5m2.e5m2.f16");
  MMA221("m16n8k16.row.col.f16.e4m3.e4m3.f16");
  MMA221("m16n8k16.row.col.f16.e5m2.e4m3.f16");
}

//! doubles in=f64:1792 out=1920 block=64
KERNEL doubles(const u32 *in, u32 *out) {
  THREAD;
  const u64 *words = (const u64 *)in;
  double a[8], b[4], c[4], d[4];
  // Of a like size: fused and in what order shows.
  auto load = [&](u32 at) {
    u64 x = words[(at * count + i) % 896];
    return asDouble((x & 0x800fffffffffffff) | (1020 + (x >> 52) % 7) << 52);
  };
  for (u32 at = 0; at < 8; ++at)
    a[at] = load(at);
  for (u32 at = 0; at < 4; ++at)
    b[at] = load(8 + at), c[at] = load(12 + at) * (at != 3);
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, "
               "{%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]));
  for (u32 at = 0; at < 2; ++at)
    PUT64(__double_as_longlong(d[at]));
#define D4 "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
#define C4 "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3])
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
               : D4
               : "d"(a[0]), "d"(a[1]), "d"(b[0]), C4);
  for (u32 at = 0; at < 4; ++at)
    PUT64(__double_as_longlong(d[at]));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%10, %11, %12, %13};"
               : D4
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]),
                 "d"(b[1]), C4);
  for (u32 at = 0; at < 4; ++at)
    PUT64(__double_as_longlong(d[at]));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
               "{%12, %13, %14, %15}, {%16, %17, %18, %19};"
               : D4
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]),
                 "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
                 "d"(b[2]), "d"(b[3]), C4);
  for (u32 at = 0; at < 4; ++at)
    PUT64(__double_as_longlong(d[at]));
  PUT64(0);
}
