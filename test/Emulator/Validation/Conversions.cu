// cvt between integers, floats, and both.

// From a register of one class to one of another.
#define CVT(text, toClass, To, fromClass, From)                                \
  do {                                                                         \
    To r;                                                                      \
    asm volatile("cvt." text " %0, %1;" : "=" toClass(r) : fromClass(From(a)));\
    PUT(r);                                                                    \
  } while (0)
#define CVT64(text, fromClass, From)                                           \
  do {                                                                         \
    u64 r;                                                                     \
    asm volatile("cvt." text " %0, %1;" : "=l"(r) : fromClass(From(a)));       \
    PUT64(r);                                                                  \
  } while (0)
#define CVT_TO_DOUBLE(text, fromClass, From)                                   \
  do {                                                                         \
    double r;                                                                  \
    asm volatile("cvt." text " %0, %1;" : "=d"(r) : fromClass(From(a)));       \
    PUT64(__double_as_longlong(r));                                            \
  } while (0)

//! integers in=bits:64 out=3456 block=64
KERNEL integers(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  CVT("u8.s8", "r", u32, "r", u32);
  CVT("s16.s8", "h", u16, "r", u32);
  CVT("u16.s8", "h", u16, "r", u32);
  CVT("s32.s8", "r", u32, "r", u32);
  CVT("u32.s8", "r", u32, "r", u32);
  CVT64("s64.s8", "r", u32);
  CVT64("u64.s8", "r", u32);
  CVT("s8.u8", "r", u32, "r", u32);
  CVT("s16.u8", "h", u16, "r", u32);
  CVT("u16.u8", "h", u16, "r", u32);
  CVT("s32.u8", "r", u32, "r", u32);
  CVT("u32.u8", "r", u32, "r", u32);
  CVT64("s64.u8", "r", u32);
  CVT64("u64.u8", "r", u32);
  CVT("s8.s16", "r", u32, "h", u16);
  CVT("u8.s16", "r", u32, "h", u16);
  CVT("u16.s16", "h", u16, "h", u16);
  CVT("s32.s16", "r", u32, "h", u16);
  CVT("u32.s16", "r", u32, "h", u16);
  CVT64("s64.s16", "h", u16);
  CVT64("u64.s16", "h", u16);
  CVT("s8.u16", "r", u32, "h", u16);
  CVT("u8.u16", "r", u32, "h", u16);
  CVT("s16.u16", "h", u16, "h", u16);
  CVT("s32.u16", "r", u32, "h", u16);
  CVT("u32.u16", "r", u32, "h", u16);
  CVT64("s64.u16", "h", u16);
  CVT64("u64.u16", "h", u16);
  CVT("s8.s32", "r", u32, "r", u32);
  CVT("u8.s32", "r", u32, "r", u32);
  CVT("s16.s32", "h", u16, "r", u32);
  CVT("u16.s32", "h", u16, "r", u32);
  CVT("u32.s32", "r", u32, "r", u32);
  CVT64("s64.s32", "r", u32);
  CVT64("u64.s32", "r", u32);
  CVT("s8.u32", "r", u32, "r", u32);
  CVT("u8.u32", "r", u32, "r", u32);
  CVT("s16.u32", "h", u16, "r", u32);
  CVT("u16.u32", "h", u16, "r", u32);
  CVT("s32.u32", "r", u32, "r", u32);
  CVT64("s64.u32", "r", u32);
  CVT64("u64.u32", "r", u32);
}

//! saturated in=bits:64 out=1728 block=64
KERNEL saturated(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  CVT("sat.u8.s8", "r", u32, "r", u32);
  CVT("sat.u16.s8", "h", u16, "r", u32);
  CVT("sat.u32.s8", "r", u32, "r", u32);
  CVT64("sat.u64.s8", "r", u32);
  CVT("sat.s8.u8", "r", u32, "r", u32);
  CVT("sat.s8.s16", "r", u32, "h", u16);
  CVT("sat.u8.s16", "r", u32, "h", u16);
  CVT("sat.u16.s16", "h", u16, "h", u16);
  CVT("sat.u32.s16", "r", u32, "h", u16);
  CVT64("sat.u64.s16", "h", u16);
  CVT("sat.s8.u16", "r", u32, "h", u16);
  CVT("sat.u8.u16", "r", u32, "h", u16);
  CVT("sat.s16.u16", "h", u16, "h", u16);
  CVT("sat.s8.s32", "r", u32, "r", u32);
  CVT("sat.u8.s32", "r", u32, "r", u32);
  CVT("sat.s16.s32", "h", u16, "r", u32);
  CVT("sat.u16.s32", "h", u16, "r", u32);
  CVT("sat.u32.s32", "r", u32, "r", u32);
  CVT64("sat.u64.s32", "r", u32);
  CVT("sat.s8.u32", "r", u32, "r", u32);
  CVT("sat.u8.u32", "r", u32, "r", u32);
  CVT("sat.s16.u32", "h", u16, "r", u32);
  CVT("sat.u16.u32", "h", u16, "r", u32);
  CVT("sat.s32.u32", "r", u32, "r", u32);
}

//! integers64 in=bits:128 out=2048 block=64
KERNEL integers64(const u32 *in, u32 *out) {
  THREAD;
  u64 a = in[2 * i] | (u64)in[2 * i + 1] << 32;
  if (i % 2)
    a = (u64)((s64)a >> (i % 64));
  CVT("s8.s64", "r", u32, "l", u64);
  CVT("sat.s8.s64", "r", u32, "l", u64);
  CVT("u8.s64", "r", u32, "l", u64);
  CVT("sat.u8.s64", "r", u32, "l", u64);
  CVT("s16.s64", "h", u16, "l", u64);
  CVT("sat.s16.s64", "h", u16, "l", u64);
  CVT("u16.s64", "h", u16, "l", u64);
  CVT("sat.u16.s64", "h", u16, "l", u64);
  CVT("s32.s64", "r", u32, "l", u64);
  CVT("sat.s32.s64", "r", u32, "l", u64);
  CVT("u32.s64", "r", u32, "l", u64);
  CVT("sat.u32.s64", "r", u32, "l", u64);
  CVT64("u64.s64", "l", u64);
  CVT64("sat.u64.s64", "l", u64);
  CVT("s8.u64", "r", u32, "l", u64);
  CVT("sat.s8.u64", "r", u32, "l", u64);
  CVT("u8.u64", "r", u32, "l", u64);
  CVT("sat.u8.u64", "r", u32, "l", u64);
  CVT("s16.u64", "h", u16, "l", u64);
  CVT("sat.s16.u64", "h", u16, "l", u64);
  CVT("u16.u64", "h", u16, "l", u64);
  CVT("sat.u16.u64", "h", u16, "l", u64);
  CVT("s32.u64", "r", u32, "l", u64);
  CVT("sat.s32.u64", "r", u32, "l", u64);
  CVT("u32.u64", "r", u32, "l", u64);
  CVT("sat.u32.u64", "r", u32, "l", u64);
  CVT64("s64.u64", "l", u64);
  CVT64("sat.s64.u64", "l", u64);
}

//! integersToFloats in=bits:64 out=4288 block=64
KERNEL integersToFloats(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  if (i % 2)
    a = (u32)((s32)a >> (i % 32));
  CVT("rn.f16.s8", "h", u16, "r", u32);
  CVT("rz.f16.s8", "h", u16, "r", u32);
  CVT("rm.f16.s8", "h", u16, "r", u32);
  CVT("rp.f16.s8", "h", u16, "r", u32);
  CVT("rn.f32.s8", "r", u32, "r", u32);
  CVT("rz.f32.s8", "r", u32, "r", u32);
  CVT("rm.f32.s8", "r", u32, "r", u32);
  CVT("rp.f32.s8", "r", u32, "r", u32);
  CVT_TO_DOUBLE("rn.f64.s8", "r", u32);
  CVT("rn.f16.u8", "h", u16, "r", u32);
  CVT("rz.f16.u8", "h", u16, "r", u32);
  CVT("rm.f16.u8", "h", u16, "r", u32);
  CVT("rp.f16.u8", "h", u16, "r", u32);
  CVT("rn.f32.u8", "r", u32, "r", u32);
  CVT("rz.f32.u8", "r", u32, "r", u32);
  CVT("rm.f32.u8", "r", u32, "r", u32);
  CVT("rp.f32.u8", "r", u32, "r", u32);
  CVT_TO_DOUBLE("rn.f64.u8", "r", u32);
  CVT("rn.f16.s16", "h", u16, "h", u16);
  CVT("rz.f16.s16", "h", u16, "h", u16);
  CVT("rm.f16.s16", "h", u16, "h", u16);
  CVT("rp.f16.s16", "h", u16, "h", u16);
  CVT("rn.f32.s16", "r", u32, "h", u16);
  CVT("rz.f32.s16", "r", u32, "h", u16);
  CVT("rm.f32.s16", "r", u32, "h", u16);
  CVT("rp.f32.s16", "r", u32, "h", u16);
  CVT_TO_DOUBLE("rn.f64.s16", "h", u16);
  CVT("rn.f16.u16", "h", u16, "h", u16);
  CVT("rz.f16.u16", "h", u16, "h", u16);
  CVT("rm.f16.u16", "h", u16, "h", u16);
  CVT("rp.f16.u16", "h", u16, "h", u16);
  CVT("rn.f32.u16", "r", u32, "h", u16);
  CVT("rz.f32.u16", "r", u32, "h", u16);
  CVT("rm.f32.u16", "r", u32, "h", u16);
  CVT("rp.f32.u16", "r", u32, "h", u16);
  CVT_TO_DOUBLE("rn.f64.u16", "h", u16);
  CVT("rn.f16.s32", "h", u16, "r", u32);
  CVT("rz.f16.s32", "h", u16, "r", u32);
  CVT("rm.f16.s32", "h", u16, "r", u32);
  CVT("rp.f16.s32", "h", u16, "r", u32);
  CVT("rn.f32.s32", "r", u32, "r", u32);
  CVT("rz.f32.s32", "r", u32, "r", u32);
  CVT("rm.f32.s32", "r", u32, "r", u32);
  CVT("rp.f32.s32", "r", u32, "r", u32);
  CVT_TO_DOUBLE("rn.f64.s32", "r", u32);
  CVT_TO_DOUBLE("rz.f64.s32", "r", u32);
  CVT_TO_DOUBLE("rm.f64.s32", "r", u32);
  CVT_TO_DOUBLE("rp.f64.s32", "r", u32);
  CVT("rn.f16.u32", "h", u16, "r", u32);
  CVT("rz.f16.u32", "h", u16, "r", u32);
  CVT("rm.f16.u32", "h", u16, "r", u32);
  CVT("rp.f16.u32", "h", u16, "r", u32);
  CVT("rn.f32.u32", "r", u32, "r", u32);
  CVT("rz.f32.u32", "r", u32, "r", u32);
  CVT("rm.f32.u32", "r", u32, "r", u32);
  CVT("rp.f32.u32", "r", u32, "r", u32);
  CVT_TO_DOUBLE("rn.f64.u32", "r", u32);
  CVT("rn.sat.f32.s32", "r", u32, "r", u32);
}

//! integers64ToFloats in=bits:128 out=2048 block=64
KERNEL integers64ToFloats(const u32 *in, u32 *out) {
  THREAD;
  u64 a = in[2 * i] | (u64)in[2 * i + 1] << 32;
  if (i % 2)
    a = (u64)((s64)a >> (i % 64));
  CVT("rn.f16.s64", "h", u16, "l", u64);
  CVT("rz.f16.s64", "h", u16, "l", u64);
  CVT("rm.f16.s64", "h", u16, "l", u64);
  CVT("rp.f16.s64", "h", u16, "l", u64);
  CVT("rn.f32.s64", "r", u32, "l", u64);
  CVT("rz.f32.s64", "r", u32, "l", u64);
  CVT("rm.f32.s64", "r", u32, "l", u64);
  CVT("rp.f32.s64", "r", u32, "l", u64);
  CVT_TO_DOUBLE("rn.f64.s64", "l", u64);
  CVT_TO_DOUBLE("rz.f64.s64", "l", u64);
  CVT_TO_DOUBLE("rm.f64.s64", "l", u64);
  CVT_TO_DOUBLE("rp.f64.s64", "l", u64);
  CVT("rn.f16.u64", "h", u16, "l", u64);
  CVT("rz.f16.u64", "h", u16, "l", u64);
  CVT("rm.f16.u64", "h", u16, "l", u64);
  CVT("rp.f16.u64", "h", u16, "l", u64);
  CVT("rn.f32.u64", "r", u32, "l", u64);
  CVT("rz.f32.u64", "r", u32, "l", u64);
  CVT("rm.f32.u64", "r", u32, "l", u64);
  CVT("rp.f32.u64", "r", u32, "l", u64);
  CVT_TO_DOUBLE("rn.f64.u64", "l", u64);
  CVT_TO_DOUBLE("rz.f64.u64", "l", u64);
  CVT_TO_DOUBLE("rm.f64.u64", "l", u64);
  CVT_TO_DOUBLE("rp.f64.u64", "l", u64);
}

//! floatsToIntegers in=f32:96 out=4128 block=96
KERNEL floatsToIntegers(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  // Into the range of the integers, most of the time.
  if (i % 8)
    a = (a & 0x807fffff) | (127 + (a >> 23) % 68 - 2) << 23;
  CVT("rni.s8.f32", "r", u32, "r", u32);
  CVT("rzi.s8.f32", "r", u32, "r", u32);
  CVT("rni.u8.f32", "r", u32, "r", u32);
  CVT("rzi.u8.f32", "r", u32, "r", u32);
  CVT("rni.s16.f32", "h", u16, "r", u32);
  CVT("rzi.s16.f32", "h", u16, "r", u32);
  CVT("rni.u16.f32", "h", u16, "r", u32);
  CVT("rzi.u16.f32", "h", u16, "r", u32);
  CVT("rni.s32.f32", "r", u32, "r", u32);
  CVT("rzi.s32.f32", "r", u32, "r", u32);
  CVT("rmi.s32.f32", "r", u32, "r", u32);
  CVT("rpi.s32.f32", "r", u32, "r", u32);
  CVT("rni.u32.f32", "r", u32, "r", u32);
  CVT("rzi.u32.f32", "r", u32, "r", u32);
  CVT("rmi.u32.f32", "r", u32, "r", u32);
  CVT("rpi.u32.f32", "r", u32, "r", u32);
  CVT64("rni.s64.f32", "r", u32);
  CVT64("rzi.s64.f32", "r", u32);
  CVT64("rmi.s64.f32", "r", u32);
  CVT64("rpi.s64.f32", "r", u32);
  CVT64("rni.u64.f32", "r", u32);
  CVT64("rzi.u64.f32", "r", u32);
  CVT64("rmi.u64.f32", "r", u32);
  CVT64("rpi.u64.f32", "r", u32);
  CVT("rpi.ftz.s8.f32", "r", u32, "r", u32);
  CVT("rpi.ftz.u8.f32", "r", u32, "r", u32);
  CVT("rpi.ftz.s16.f32", "h", u16, "r", u32);
  CVT("rpi.ftz.u16.f32", "h", u16, "r", u32);
  CVT("rpi.ftz.s32.f32", "r", u32, "r", u32);
  CVT("rpi.ftz.u32.f32", "r", u32, "r", u32);
  CVT64("rpi.ftz.s64.f32", "r", u32);
  CVT64("rpi.ftz.u64.f32", "r", u32);
  CVT("rzi.sat.s32.f32", "r", u32, "r", u32);
}

//! doublesToIntegers in=f64:128 out=1664 block=64
KERNEL doublesToIntegers(const u32 *in, u32 *out) {
  THREAD;
  u64 a = in[2 * i] | (u64)in[2 * i + 1] << 32;
  // Into the range of the integers, most of the time.
  if (i % 8)
    a = (a & 0x800fffffffffffff) | (1023 + (a >> 52) % 68 - 2) << 52;
  CVT("rni.s8.f64", "r", u32, "d", asDouble);
  CVT("rmi.s8.f64", "r", u32, "d", asDouble);
  CVT("rni.u8.f64", "r", u32, "d", asDouble);
  CVT("rmi.u8.f64", "r", u32, "d", asDouble);
  CVT("rni.s16.f64", "h", u16, "d", asDouble);
  CVT("rmi.s16.f64", "h", u16, "d", asDouble);
  CVT("rni.u16.f64", "h", u16, "d", asDouble);
  CVT("rmi.u16.f64", "h", u16, "d", asDouble);
  CVT("rni.s32.f64", "r", u32, "d", asDouble);
  CVT("rzi.s32.f64", "r", u32, "d", asDouble);
  CVT("rmi.s32.f64", "r", u32, "d", asDouble);
  CVT("rpi.s32.f64", "r", u32, "d", asDouble);
  CVT("rni.u32.f64", "r", u32, "d", asDouble);
  CVT("rmi.u32.f64", "r", u32, "d", asDouble);
  CVT64("rni.s64.f64", "d", asDouble);
  CVT64("rzi.s64.f64", "d", asDouble);
  CVT64("rmi.s64.f64", "d", asDouble);
  CVT64("rpi.s64.f64", "d", asDouble);
  CVT64("rni.u64.f64", "d", asDouble);
  CVT64("rmi.u64.f64", "d", asDouble);
}

//! halvesToIntegers in=f16:64 out=1536 block=64
KERNEL halvesToIntegers(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  CVT("rni.s8.f16", "r", u32, "h", u16);
  CVT("rpi.s8.f16", "r", u32, "h", u16);
  CVT("rni.u8.f16", "r", u32, "h", u16);
  CVT("rpi.u8.f16", "r", u32, "h", u16);
  CVT("rni.s16.f16", "h", u16, "h", u16);
  CVT("rzi.s16.f16", "h", u16, "h", u16);
  CVT("rmi.s16.f16", "h", u16, "h", u16);
  CVT("rpi.s16.f16", "h", u16, "h", u16);
  CVT("rni.u16.f16", "h", u16, "h", u16);
  CVT("rpi.u16.f16", "h", u16, "h", u16);
  CVT("rni.s32.f16", "r", u32, "h", u16);
  CVT("rzi.s32.f16", "r", u32, "h", u16);
  CVT("rmi.s32.f16", "r", u32, "h", u16);
  CVT("rpi.s32.f16", "r", u32, "h", u16);
  CVT("rni.u32.f16", "r", u32, "h", u16);
  CVT("rpi.u32.f16", "r", u32, "h", u16);
  CVT64("rni.s64.f16", "h", u16);
  CVT64("rpi.s64.f16", "h", u16);
  CVT64("rni.u64.f16", "h", u16);
  CVT64("rpi.u64.f16", "h", u16);
}

//! toWholeFloats in=f32:128 out=1536 block=128
KERNEL toWholeFloats(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  if (i % 8)
    a = (a & 0x807fffff) | (127 + (a >> 23) % 26 - 2) << 23;
  CVT("rni.f32.f32", "r", u32, "r", u32);
  CVT("rni.f16.f16", "h", u16, "h", u16);
  CVT("rzi.f32.f32", "r", u32, "r", u32);
  CVT("rzi.f16.f16", "h", u16, "h", u16);
  CVT("rmi.f32.f32", "r", u32, "r", u32);
  CVT("rmi.f16.f16", "h", u16, "h", u16);
  CVT("rpi.f32.f32", "r", u32, "r", u32);
  CVT("rpi.f16.f16", "h", u16, "h", u16);
  CVT("rni.ftz.f32.f32", "r", u32, "r", u32);
  CVT("rmi.sat.f32.f32", "r", u32, "r", u32);
  CVT("sat.f32.f32", "r", u32, "r", u32);
  CVT("ftz.sat.f32.f32", "r", u32, "r", u32);
}

//! toWholeDoubles in=f64:128 out=640 block=64
KERNEL toWholeDoubles(const u32 *in, u32 *out) {
  THREAD;
  u64 a = in[2 * i] | (u64)in[2 * i + 1] << 32;
  if (i % 8)
    a = (a & 0x800fffffffffffff) | (1023 + (a >> 52) % 55 - 2) << 52;
  CVT_TO_DOUBLE("rni.f64.f64", "d", asDouble);
  CVT_TO_DOUBLE("rzi.f64.f64", "d", asDouble);
  CVT_TO_DOUBLE("rmi.f64.f64", "d", asDouble);
  CVT_TO_DOUBLE("rpi.f64.f64", "d", asDouble);
  CVT_TO_DOUBLE("sat.f64.f64", "d", asDouble);
}

//! floats in=f32:256 out=5632 block=128 grid=2
KERNEL floats(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  // Into the range of f16, every other time.
  if (i % 2)
    a = (a & 0x807fffff) | (112 - 12 + (a >> 23) % 44) << 23;
  if (i % 8 == 1)
    a &= ~0xfffu;
  CVT("rn.f16.f32", "h", u16, "r", u32);
  CVT("rz.f16.f32", "h", u16, "r", u32);
  CVT("rm.f16.f32", "h", u16, "r", u32);
  CVT("rp.f16.f32", "h", u16, "r", u32);
  CVT("rn.ftz.f16.f32", "h", u16, "r", u32);
  CVT("rn.sat.f16.f32", "h", u16, "r", u32);
  CVT("rn.relu.f16.f32", "h", u16, "r", u32);
  CVT("rz.relu.f16.f32", "h", u16, "r", u32);
  CVT("rn.bf16.f32", "h", u16, "r", u32);
  CVT("rz.bf16.f32", "h", u16, "r", u32);
  CVT("rn.relu.bf16.f32", "h", u16, "r", u32);
  CVT("rz.relu.bf16.f32", "h", u16, "r", u32);
  CVT_TO_DOUBLE("f64.f32", "r", u32);
  CVT_TO_DOUBLE("ftz.f64.f32", "r", u32);
  CVT("f32.f16", "r", u32, "h", u16);
  CVT("ftz.f32.f16", "r", u32, "h", u16);
  CVT("sat.f32.f16", "r", u32, "h", u16);
  CVT_TO_DOUBLE("f64.f16", "h", u16);
  CVT("f32.bf16", "r", u32, "h", u16);
}

//! doubles in=f64:256 out=1280 block=128
KERNEL doubles(const u32 *in, u32 *out) {
  THREAD;
  u64 a = in[2 * i] | (u64)in[2 * i + 1] << 32;
  // Into the range of f32, or f16.
  if (i % 2)
    a = (a & 0x800fffffffffffff) | (1023 - 152 + (a >> 52) % 290) << 52;
  if (i % 4 == 1)
    a = (a & 0x800fffffffffffff) | (1023 - 27 + (a >> 52) % 45) << 52;
  CVT("rn.f32.f64", "r", u32, "d", asDouble);
  CVT("rz.f32.f64", "r", u32, "d", asDouble);
  CVT("rm.f32.f64", "r", u32, "d", asDouble);
  CVT("rp.f32.f64", "r", u32, "d", asDouble);
  CVT("rn.f16.f64", "h", u16, "d", asDouble);
  CVT("rz.f16.f64", "h", u16, "d", asDouble);
  CVT("rm.f16.f64", "h", u16, "d", asDouble);
  CVT("rp.f16.f64", "h", u16, "d", asDouble);
  CVT("rn.ftz.f32.f64", "r", u32, "d", asDouble);
  CVT("rn.sat.f32.f64", "r", u32, "d", asDouble);
}

//! bfloats in=bf16:128 out=2304 block=128
KERNEL bfloats(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  if (i % 4 == 3)
    a = (a & 0x807f) | (127 + (a >> 7) % 34) << 7;
  CVT("rn.bf16.f16", "h", u16, "h", u16);
  CVT("rz.bf16.f16", "h", u16, "h", u16);
  CVT("rn.f16.bf16", "h", u16, "h", u16);
  CVT("rz.f16.bf16", "h", u16, "h", u16);
  CVT("rn.bf16.s16", "h", u16, "h", u16);
  CVT("rn.bf16.u16", "h", u16, "h", u16);
  CVT("rni.bf16.bf16", "h", u16, "h", u16);
  CVT("rmi.bf16.bf16", "h", u16, "h", u16);
  CVT("rzi.s16.bf16", "h", u16, "h", u16);
  CVT("rni.u16.bf16", "h", u16, "h", u16);
  CVT("rn.bf16.s32", "h", u16, "r", u32);
  CVT("rz.bf16.u32", "h", u16, "r", u32);
  CVT("rzi.s32.bf16", "r", u32, "h", u16);
  CVT("rni.u32.bf16", "r", u32, "h", u16);
  CVT_TO_DOUBLE("f64.bf16", "h", u16);
  CVT64("rzi.s64.bf16", "h", u16);
}

// To f32 beside its smallest normal number.
//! tinyDoubles in=bits:256 out=1024 block=128
KERNEL tinyDoubles(const u32 *in, u32 *out) {
  THREAD;
  u64 a = in[2 * i] | (u64)in[2 * i + 1] << 32;
  // Within a few places of an f32 of 2^-126.
  a = 0x3810000000000000 + (u64)((s64)a >> 32);
  if (i % 4 == 0)
    a = 0x3810000000000000 - ((u64)(i % 16) << 27);
  CVT("rn.f32.f64", "r", u32, "d", asDouble);
  CVT("rn.ftz.f32.f64", "r", u32, "d", asDouble);
  CVT("rz.ftz.f32.f64", "r", u32, "d", asDouble);
  CVT("rm.ftz.f32.f64", "r", u32, "d", asDouble);
  CVT("rp.ftz.f32.f64", "r", u32, "d", asDouble);
  CVT("rz.f32.f64", "r", u32, "d", asDouble);
  CVT("rm.f32.f64", "r", u32, "d", asDouble);
  CVT("rp.f32.f64", "r", u32, "d", asDouble);
}
