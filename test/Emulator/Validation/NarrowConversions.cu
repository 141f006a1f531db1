// Conversions of packed pairs, fp8, tf32, and cvt.pack.

#define PAIR(text)                                                             \
  do {                                                                         \
    u32 r;                                                                     \
    asm volatile("cvt." text " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));       \
    PUT(r);                                                                    \
  } while (0)
#define SHORT_PAIR(text)                                                       \
  do {                                                                         \
    u16 r;                                                                     \
    asm volatile("cvt." text " %0, %1, %2;" : "=h"(r) : "r"(a), "r"(b));       \
    PUT(r);                                                                    \
  } while (0)
#define ONE(text)                                                              \
  do {                                                                         \
    u32 r;                                                                     \
    asm volatile("cvt." text " %0, %1;" : "=r"(r) : "r"(a));                   \
    PUT(r);                                                                    \
  } while (0)

//! pairs in=f32:512 out=2048 block=128 grid=2
KERNEL pairs(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  if (i % 2)
    a = (a & 0x807fffff) | (112 - 12 + (a >> 23) % 44) << 23;
  PAIR("rn.f16x2.f32");
  PAIR("rn.relu.f16x2.f32");
  PAIR("rz.f16x2.f32");
  PAIR("rz.relu.f16x2.f32");
  PAIR("rn.bf16x2.f32");
  PAIR("rn.relu.bf16x2.f32");
  PAIR("rz.bf16x2.f32");
  PAIR("rz.relu.bf16x2.f32");
}

//! toFp8 in=f32:512 out=1024 block=128 grid=2
KERNEL toFp8(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  if (i % 4)
    a = (a & 0x807fffff) | (127 - 12 + (a >> 23) % 24) << 23;
  if (i % 4 == 1)
    a &= ~0x7ffffu;
  if (i % 4 > 1)
    b = (b & 0x807fffff) | (127 - 20 + (b >> 23) % 38) << 23;
  if (i % 4 == 2)
    b &= ~0xfffffu;
  SHORT_PAIR("rn.satfinite.e4m3x2.f32");
  SHORT_PAIR("rn.satfinite.e5m2x2.f32");
  SHORT_PAIR("rn.satfinite.relu.e4m3x2.f32");
  SHORT_PAIR("rn.satfinite.relu.e5m2x2.f32");
}

//! halvesToFp8 in=f16:256 out=1024 block=128 grid=2
KERNEL halvesToFp8(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  if (i % 2)
    a &= 0xffc0ffc0;
  u16 r;
  asm volatile("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(r) : "r"(a));
  PUT(r);
  asm volatile("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(r) : "r"(a));
  PUT(r);
  asm volatile("cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;" : "=h"(r) : "r"(a));
  PUT(r);
  asm volatile("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;" : "=h"(r) : "r"(a));
  PUT(r);
}

// All codes.
//! fromFp8 in=bits:128 out=512 block=128
KERNEL fromFp8(const u32 *in, u32 *out) {
  THREAD;
  u16 pair = 2 * i | (2 * i + 1) << 8;
  u32 r;
  asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(pair));
  PUT(r);
  asm volatile("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(pair));
  PUT(r);
  asm volatile("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(pair));
  PUT(r);
  asm volatile("cvt.rn.relu.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(pair));
  PUT(r);
}

//! tf32 in=f32:256 out=1536 block=128 grid=2
KERNEL tf32(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  if (i % 4 == 1)
    a &= ~0xfffu;
  ONE("rna.tf32.f32");
  ONE("rna.satfinite.tf32.f32");
  ONE("rn.tf32.f32");
  ONE("rz.tf32.f32");
  ONE("rn.relu.tf32.f32");
  ONE("rz.relu.tf32.f32");
}

//! packIntegers in=bits:384 out=768 block=128
KERNEL packIntegers(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  if (i % 4)
    a = (u32)((s32)a >> (a & 31));
  if (i % 4 != 2)
    b = (u32)((s32)b >> (b & 31));
  OP2("cvt.pack.sat.s16.s32");
  OP2("cvt.pack.sat.u16.s32");
  OP3("cvt.pack.sat.s8.s32.b32");
  OP3("cvt.pack.sat.u8.s32.b32");
  OP3("cvt.pack.sat.s4.s32.b32");
  OP3("cvt.pack.sat.u4.s32.b32");
}
