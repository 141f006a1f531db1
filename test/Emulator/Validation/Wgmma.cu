// wgmma: operands from shared memory and from registers, every type, both
// majors, every swizzle. Shared memory is filled with numbers as they come: what
// a descriptor reads of them is what is tested.

// The accumulators of m64n16 in f32 or s32, in f16, and of m64n64.
#define F8                                                                     \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),      \
      "+f"(d[6]), "+f"(d[7])
#define R8                                                                     \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]),      \
      "+r"(d[6]), "+r"(d[7])
#define R4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define LIST8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define LIST32                                                                 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "     \
  "%30, %31}"

#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
// Values are in their registers before the fence.
__device__ inline void settle(float &x) { asm volatile("" : "+f"(x)::"memory"); }
__device__ inline void settle(u32 &x) { asm volatile("" : "+r"(x)::"memory"); }
#define SETTLE(array)                                                          \
  for (auto &settled : array)                                                  \
  settle(settled)
#define FINISH                                                                 \
  asm volatile("wgmma.commit_group.sync.aligned;\n"                            \
               "wgmma.wait_group.sync.aligned 0;" ::                           \
                   : "memory")

// Fills 32 KiB and makes descriptors of a place in it: strides in bytes.
#define START(change)                                                          \
  extern __shared__ __align__(1024) u8 stage[];                                \
  THREAD;                                                                      \
  for (u32 at = i; at < 8192; at += 128) {                                     \
    u32 x = in[at % 2048] ^ (at >> 11) * 0x00110100;                           \
    change;                                                                    \
    ((u32 *)stage)[at] = x;                                                    \
  }                                                                            \
  fenceAsync();                                                                \
  __syncthreads();                                                             \
  u32 base = sharedAddress(stage);                                             \
  auto descriptor = [&](u32 offset, u32 leading, u32 stride, u64 swizzle) {    \
    return (u64)((base + offset) >> 4 & 0x3fff) | (u64)(leading >> 4) << 16 |  \
           (u64)(stride >> 4) << 32 | swizzle << 62;                           \
  }
// Numbers that do not differ by much.
#define HALVES x = (x & 0x8fff8fff) | 0x30003000
#define BFLOATS x = (x & 0x83ff83ff) | 0x3c003c00
#define FLOATS x = (x & 0x83ffffff) | 0x3c000000
#define BYTES

// One product of m64n16 into eight registers; C starts as something.
#define SS_F8(text, tail, a, b)                                                \
  do {                                                                         \
    float d[8];                                                                \
    for (u32 at = 0; at < 8; ++at)                                             \
      d[at] = (s32)(in[at * 128 + i] % 4001) / 16.0f - 125.0f;                 \
    u64 da = a, db = b;                                                        \
    SETTLE(d);                                                                 \
    FENCE;                                                                     \
    asm volatile("{.reg .pred p;\n"                                            \
                 "setp.ne.b32 p, %10, 0;\n"                                    \
                 "wgmma.mma_async.sync.aligned." text " " LIST8                \
                 ", %8, %9, p, " tail ";}"                                     \
                 : F8                                                          \
                 : "l"(da), "l"(db), "r"(1));                                  \
    FINISH;                                                                    \
    for (u32 at = 0; at < 8; ++at)                                             \
      PUT(__float_as_uint(d[at]));                                             \
  } while (0)
// From registers: words of the input, changed as shared memory was.
#define RS_F8(text, tail, change, b)                                           \
  do {                                                                         \
    float d[8];                                                                \
    u32 r[4];                                                                  \
    for (u32 at = 0; at < 8; ++at)                                             \
      d[at] = (s32)(in[at * 128 + i] % 4001) / 16.0f - 125.0f;                 \
    for (u32 at = 0; at < 4; ++at) {                                           \
      u32 x = in[1024 + at * 128 + i];                                         \
      change;                                                                  \
      r[at] = x;                                                               \
    }                                                                          \
    u64 db = b;                                                                \
    SETTLE(d);                                                                 \
    SETTLE(r);                                                                 \
    FENCE;                                                                     \
    asm volatile("{.reg .pred p;\n"                                            \
                 "setp.ne.b32 p, %13, 0;\n"                                    \
                 "wgmma.mma_async.sync.aligned." text " " LIST8                \
                 ", {%8, %9, %10, %11}, %12, p, " tail ";}"                    \
                 : F8                                                          \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db),        \
                   "r"(1));                                                    \
    FINISH;                                                                    \
    for (u32 at = 0; at < 8; ++at)                                             \
      PUT(__float_as_uint(d[at]));                                             \
  } while (0)
// Whole numbers.
#define SS_R8(text, tail, a, b)                                                \
  do {                                                                         \
    u32 d[8];                                                                  \
    for (u32 at = 0; at < 8; ++at)                                             \
      d[at] = in[at * 128 + i];                                                \
    u64 da = a, db = b;                                                        \
    SETTLE(d);                                                                 \
    FENCE;                                                                     \
    asm volatile("{.reg .pred p;\n"                                            \
                 "setp.ne.b32 p, %10, 0;\n"                                    \
                 "wgmma.mma_async.sync.aligned." text " " LIST8                \
                 ", %8, %9, p" tail ";}"                                       \
                 : R8                                                          \
                 : "l"(da), "l"(db), "r"(1));                                  \
    FINISH;                                                                    \
    for (u32 at = 0; at < 8; ++at)                                             \
      PUT(d[at]);                                                              \
  } while (0)
#define RS_R8(text, tail, b)                                                   \
  do {                                                                         \
    u32 d[8], r[4];                                                            \
    for (u32 at = 0; at < 8; ++at)                                             \
      d[at] = in[at * 128 + i];                                                \
    for (u32 at = 0; at < 4; ++at)                                             \
      r[at] = in[1024 + at * 128 + i];                                         \
    u64 db = b;                                                                \
    SETTLE(d);                                                                 \
    SETTLE(r);                                                                 \
    FENCE;                                                                     \
    asm volatile("{.reg .pred p;\n"                                            \
                 "setp.ne.b32 p, %13, 0;\n"                                    \
                 "wgmma.mma_async.sync.aligned." text " " LIST8                \
                 ", {%8, %9, %10, %11}, %12, p" tail ";}"                      \
                 : R8                                                          \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db),        \
                   "r"(1));                                                    \
    FINISH;                                                                    \
    for (u32 at = 0; at < 8; ++at)                                             \
      PUT(d[at]);                                                              \
  } while (0)
// Accumulators of f16: four registers.
#define SS_H4(text, tail, a, b)                                                \
  do {                                                                         \
    u32 d[4];                                                                  \
    for (u32 at = 0; at < 4; ++at)                                             \
      d[at] = (in[at * 128 + i] & 0x8fff8fff) | 0x30003000;                    \
    u64 da = a, db = b;                                                        \
    SETTLE(d);                                                                 \
    FENCE;                                                                     \
    asm volatile("{.reg .pred p;\n"                                            \
                 "setp.ne.b32 p, %6, 0;\n"                                     \
                 "wgmma.mma_async.sync.aligned." text                          \
                 " {%0, %1, %2, %3}, %4, %5, p, " tail ";}"                    \
                 : R4                                                          \
                 : "l"(da), "l"(db), "r"(1));                                  \
    FINISH;                                                                    \
    for (u32 at = 0; at < 4; ++at)                                             \
      PUT(d[at]);                                                              \
  } while (0)
// m64n64 without the accumulators before: eight registers to a word.
#define SS_F32(text, tail, a, b)                                               \
  do {                                                                         \
    float d[32];                                                               \
    for (u32 at = 0; at < 32; ++at)                                            \
      d[at] = 1e30f;                                                           \
    u64 da = a, db = b;                                                        \
    SETTLE(d);                                                                 \
    FENCE;                                                                     \
    asm volatile("{.reg .pred p;\n"                                            \
                 "setp.ne.b32 p, %34, 0;\n"                                    \
                 "wgmma.mma_async.sync.aligned." text " " LIST32               \
                 ", %32, %33, p, " tail ";}"                                   \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) \
                 : "l"(da), "l"(db), "r"(0));                                  \
    FINISH;                                                                    \
    for (u32 at = 0; at < 32; at += 8) {                                       \
      u32 mixed = 0;                                                           \
      for (u32 k = 0; k < 8; ++k)                                              \
        mixed = mixed * 31 + __float_as_uint(d[at + k]);                       \
      PUT(mixed);                                                              \
    }                                                                          \
  } while (0)

//! kMajor in=bits:2048 out=8192 block=128 shared=32768
KERNEL kMajor(const u32 *in, u32 *out) {
  START(HALVES);
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 0, 0", descriptor(0, 1152, 256, 0), descriptor(16384, 1152, 256, 0));
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 0, 0", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 0, 0", descriptor(0, 16, 512, 2), descriptor(16384, 16, 512, 2));
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 0, 0", descriptor(0, 16, 256, 3), descriptor(16384, 16, 256, 3));
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 0, 0", descriptor(32, 16, 1024, 1), descriptor(16480, 16, 1024, 1));
  SS_F8("m64n16k16.f32.f16.f16", "-1, 1, 0, 0", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 512, 2));
  SS_F8("m64n16k16.f32.f16.f16", "1, -1, 0, 0", descriptor(64, 16, 1024, 1), descriptor(16384, 16, 256, 3));
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 0, 0", descriptor(256, 128, 2048, 0), descriptor(16896, 1024, 128, 0));
}

//! mnMajor in=bits:2048 out=8704 block=128 shared=32768
KERNEL mnMajor(const u32 *in, u32 *out) {
  START(HALVES);
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 256, 2176, 0), descriptor(16384, 256, 2176, 0));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 2048, 256, 0), descriptor(16384, 2048, 256, 0));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 2048, 1024, 1), descriptor(16384, 2048, 1024, 1));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 0", descriptor(0, 2048, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 0, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 2048, 1024, 1));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 4096, 1024, 1), descriptor(16384, 4096, 1024, 1));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 0", descriptor(0, 4096, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 0, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 4096, 1024, 1));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 2048, 512, 2), descriptor(16384, 2048, 512, 2));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 0", descriptor(0, 2048, 512, 2), descriptor(16384, 16, 512, 2));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 1024, 512, 2), descriptor(16384, 1024, 512, 2));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 0", descriptor(0, 1024, 512, 2), descriptor(16384, 16, 512, 2));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 1024, 256, 3), descriptor(16384, 1024, 256, 3));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 0, 1", descriptor(0, 16, 256, 3), descriptor(16384, 1024, 256, 3));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 512, 256, 3), descriptor(16384, 512, 256, 3));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 0, 1", descriptor(0, 16, 256, 3), descriptor(16384, 512, 256, 3));
  SS_F32("m64n64k16.f32.f16.f16", "1, 1, 1, 1", descriptor(2048, 2048, 1024, 1), descriptor(18432, 2048, 1024, 1));
}

//! mnMajorWords in=bits:2048 out=2048 block=128 shared=32768
KERNEL mnMajorWords(const u32 *in, u32 *out) {
  START(HALVES);
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 2048, 1024, 1), descriptor(16384, 2048, 256, 3));
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 1, 1", descriptor(0, 256, 2048, 0), descriptor(16384, 256, 2048, 0));
}

//! halfAccumulators in=bits:2048 out=1536 block=128 shared=32768
KERNEL halfAccumulators(const u32 *in, u32 *out) {
  START(HALVES);
  SS_H4("m64n16k16.f16.f16.f16", "1, 1, 0, 0", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_H4("m64n16k16.f16.f16.f16", "1, 1, 1, 1", descriptor(0, 2048, 1024, 1), descriptor(16384, 2048, 256, 3));
  SS_H4("m64n16k16.f16.f16.f16", "-1, 1, 0, 0", descriptor(0, 16, 512, 2), descriptor(16384, 16, 256, 3));
}

//! bfloat in=bits:2048 out=4096 block=128 shared=32768
KERNEL bfloat(const u32 *in, u32 *out) {
  START(BFLOATS);
  SS_F8("m64n16k16.f32.bf16.bf16", "1, 1, 0, 0", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k16.f32.bf16.bf16", "1, 1, 1, 1", descriptor(0, 2048, 1024, 1), descriptor(16384, 2048, 256, 3));
  RS_F8("m64n16k16.f32.bf16.bf16", "1, 1, 0", BFLOATS, descriptor(16384, 16, 1024, 1));
  RS_F8("m64n16k16.f32.bf16.bf16", "1, 1, 1", BFLOATS, descriptor(16384, 2048, 256, 3));
}

//! registers in=bits:2048 out=3072 block=128 shared=32768
KERNEL registers(const u32 *in, u32 *out) {
  START(HALVES);
  RS_F8("m64n16k16.f32.f16.f16", "1, 1, 0", HALVES, descriptor(16384, 16, 1024, 1));
  RS_F8("m64n16k16.f32.f16.f16", "-1, 1, 0", HALVES, descriptor(16384, 1152, 256, 0));
  RS_F8("m64n16k16.f32.f16.f16", "1, 1, 1", HALVES, descriptor(16384, 2048, 256, 3));
}

//! tf32 in=bits:2048 out=3072 block=128 shared=32768
KERNEL tf32(const u32 *in, u32 *out) {
  START(FLOATS);
  SS_F8("m64n16k8.f32.tf32.tf32", "1, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k8.f32.tf32.tf32", "1, -1", descriptor(0, 16, 256, 3), descriptor(16384, 1152, 256, 0));
  RS_F8("m64n16k8.f32.tf32.tf32", "1, 1", FLOATS, descriptor(16384, 16, 512, 2));
}

//! fp8 in=bits:2048 out=7168 block=128 shared=32768
KERNEL fp8(const u32 *in, u32 *out) {
  START(x &= 0xbfbfbfbf);
  SS_F8("m64n16k32.f32.e4m3.e4m3", "1, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k32.f32.e4m3.e5m2", "1, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k32.f32.e5m2.e4m3", "1, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k32.f32.e5m2.e5m2", "1, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  RS_F8("m64n16k32.f32.e4m3.e4m3", "1, 1", x &= 0xbfbfbfbf, descriptor(16384, 16, 512, 2));
  RS_F8("m64n16k32.f32.e5m2.e4m3", "-1, 1", x &= 0xbfbfbfbf, descriptor(16384, 1152, 256, 0));
  SS_H4("m64n16k32.f16.e4m3.e4m3", "1, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_H4("m64n16k32.f16.e5m2.e5m2", "1, 1", descriptor(0, 16, 256, 3), descriptor(16384, 16, 1024, 1));
}

//! fp8Near in=bits:2048 out=2048 block=128 shared=32768
KERNEL fp8Near(const u32 *in, u32 *out) {
  START(x = (x & 0x8f8f8f8f) | 0x30303030);
  SS_F8("m64n16k32.f32.e4m3.e4m3", "1, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k32.f32.e5m2.e5m2", "1, 1", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
}

//! integers in=bits:2048 out=9216 block=128 shared=32768
KERNEL integers(const u32 *in, u32 *out) {
  START(BYTES);
  SS_R8("m64n16k32.s32.s8.s8", "", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_R8("m64n16k32.s32.s8.u8", "", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_R8("m64n16k32.s32.u8.s8", "", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_R8("m64n16k32.s32.u8.u8", "", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_R8("m64n16k32.s32.s8.s8.satfinite", "", descriptor(0, 16, 512, 2), descriptor(16384, 16, 256, 3));
  RS_R8("m64n16k32.s32.s8.u8", "", descriptor(16384, 16, 1024, 1));
  RS_R8("m64n16k32.s32.u8.s8.satfinite", "", descriptor(16384, 1152, 256, 0));
  SS_R8("m64n16k256.s32.b1.b1.and.popc", "", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  RS_R8("m64n16k256.s32.b1.b1.and.popc", "", descriptor(16384, 16, 1024, 1));
}

//! halfSpecials in=bits:2048 out=2560 block=128 shared=32768
KERNEL halfSpecials(const u32 *in, u32 *out) {
  START();
  SS_F8("m64n16k16.f32.f16.f16", "1, 1, 0, 0", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_H4("m64n16k16.f16.f16.f16", "1, 1, 0, 0", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k16.f32.bf16.bf16", "1, 1, 0, 0", descriptor(0, 16, 1024, 1), descriptor(16384, 16, 1024, 1));
}

// A chain of four products, and two chains in turns.
//! chain in=bits:2048 out=2048 block=128 shared=32768
KERNEL chain(const u32 *in, u32 *out) {
  START(HALVES);
  float d[8], e[8];
  for (u32 at = 0; at < 8; ++at)
    d[at] = e[at] = 3.0f;
  SETTLE(d);
  SETTLE(e);
  FENCE;
  for (u32 k = 0; k < 4; ++k) {
    u64 da = descriptor(32 * k, 16, 1024, 1);
    u64 db = descriptor(16384 + 32 * k, 16, 1024, 1);
    asm volatile("{.reg .pred p;\n"
                 "setp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 " LIST8
                 ", %8, %9, p, 1, 1, 0, 0;}"
                 : F8
                 : "l"(da), "l"(db), "r"(k));
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  {
    float(&d)[8] = e;
    u64 da = descriptor(8192, 16, 1024, 1);
    u64 db = descriptor(24576, 16, 1024, 1);
    asm volatile("{.reg .pred p;\n"
                 "setp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 " LIST8
                 ", %8, %9, p, 1, 1, 0, 0;}"
                 : F8
                 : "l"(da), "l"(db), "r"(1));
  }
  asm volatile("wgmma.commit_group.sync.aligned;\n"
               "wgmma.wait_group.sync.aligned 0;" ::
                   : "memory");
  for (u32 at = 0; at < 8; ++at)
    PUT(__float_as_uint(d[at]));
  for (u32 at = 0; at < 8; ++at)
    PUT(__float_as_uint(e[at]));
}

// Two warpgroups, each with half of A; registers moved from one to the other.
//! warpgroups in=bits:2048 out=2048 block=256 shared=32768
KERNEL __maxnreg__(120) warpgroups(const u32 *in, u32 *out) {
  extern __shared__ __align__(1024) u8 stage[];
  THREAD;
  for (u32 at = i; at < 8192; at += 256) {
    u32 x = in[at % 2048] ^ (at >> 11) * 0x00110100;
    HALVES;
    ((u32 *)stage)[at] = x;
  }
  fenceAsync();
  __syncthreads();
  u32 base = sharedAddress(stage);
  if (i < 128)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 104;");
  else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 136;");
  float d[8];
  for (float &x : d)
    x = 1;
  u64 da = (u64)((base + i / 128 * 8192) >> 4) | 1ull << 16 | 64ull << 32 |
           1ull << 62;
  u64 db = (u64)((base + 16384) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
  SETTLE(d);
  FENCE;
  asm volatile("{.reg .pred p;\n"
               "setp.ne.b32 p, %10, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 " LIST8
               ", %8, %9, p, 1, 1, 0, 0;}"
               : F8
               : "l"(da), "l"(db), "r"(1));
  FINISH;
  for (u32 at = 0; at < 8; ++at)
    PUT(__float_as_uint(d[at]));
}

// Other widths: eight registers to a word.
#define WIDE(n, list, registers, a, b)                                         \
  do {                                                                         \
    float d[n / 2];                                                            \
    for (u32 at = 0; at < n / 2; ++at)                                         \
      d[at] = (s32)(in[at * 37 % 1024 + i] % 4001) / 16.0f - 125.0f;           \
    u64 da = a, db = b;                                                        \
    SETTLE(d);                                                                 \
    FENCE;                                                                     \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n                        \
                 "k16.f32.bf16.bf16 " list ", 1, 1, 1, 0, 0;"                  \
                 : registers                                                   \
                 : "l"(da), "l"(db));                                          \
    FINISH;                                                                    \
    for (u32 at = 0; at < n / 2; at += 4) {                                    \
      u32 mixed = 0;                                                           \
      for (u32 k = 0; k < 4; ++k)                                              \
        mixed = mixed * 31 + __float_as_uint(d[at + k]);                       \
      PUT(mixed);                                                              \
    }                                                                          \
  } while (0)

#define REGISTERS8                                                             \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define LIST8_                                                                 \
  "{%0, %1, %2, %3}, %4, %5"
#define REGISTERS24                                                            \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]),                  \
  "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),                  \
  "+f"(d[10]), "+f"(d[11])
#define LIST24_                                                                \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11}, %12, %13"
#define REGISTERS136                                                           \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]),                  \
  "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),                  \
  "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),             \
  "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),             \
  "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),             \
  "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),             \
  "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),             \
  "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),             \
  "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]),             \
  "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),             \
  "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]),             \
  "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),             \
  "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]),             \
  "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define LIST136_                                                               \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "         \
  "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "          \
  "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, "          \
  "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "          \
  "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, "          \
  "%67}, %68, %69"
#define REGISTERS256                                                           \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]),                  \
  "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),                  \
  "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),             \
  "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),             \
  "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),             \
  "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),             \
  "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),             \
  "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),             \
  "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]),             \
  "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),             \
  "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]),             \
  "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),             \
  "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]),             \
  "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]),             \
  "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]),             \
  "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),             \
  "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]),             \
  "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]),             \
  "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]),             \
  "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]),             \
  "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]),        \
  "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]),        \
  "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]),        \
  "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),        \
  "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]),        \
  "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
#define LIST256_                                                               \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "         \
  "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "          \
  "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, "          \
  "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "          \
  "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, "          \
  "%67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "          \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, "          \
  "%93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, "          \
  "%105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, "         \
  "%116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "         \
  "%127}, %128, %129"

//! widths in=bits:2048 out=6784 block=128 shared=32768
KERNEL widths(const u32 *in, u32 *out) {
  START(BFLOATS);
  WIDE(8, LIST8_, REGISTERS8, descriptor(0, 16, 1024, 1),
       descriptor(8192, 16, 512, 2));
  WIDE(24, LIST24_, REGISTERS24, descriptor(0, 16, 1024, 1),
       descriptor(8192, 16, 512, 2));
  WIDE(136, LIST136_, REGISTERS136, descriptor(0, 16, 1024, 1),
       descriptor(8192, 16, 512, 2));
  WIDE(256, LIST256_, REGISTERS256, descriptor(0, 16, 1024, 1),
       descriptor(8192, 16, 512, 2));
}

//! fp8Specials in=bits:2048 out=2048 block=128 shared=32768
KERNEL fp8Specials(const u32 *in, u32 *out) {
  START(if (x >> 5 & 7) x &= 0xbfbfbfbf);
  SS_F8("m64n16k32.f32.e4m3.e4m3", "1, 1", descriptor(0, 16, 1024, 1),
        descriptor(16384, 16, 1024, 1));
  SS_F8("m64n16k32.f32.e5m2.e5m2", "1, 1", descriptor(0, 16, 1024, 1),
        descriptor(16384, 16, 1024, 1));
}
