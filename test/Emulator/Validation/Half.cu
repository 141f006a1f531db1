// Arithmetic of f16 and f16x2.

//! half in=f16:768 out=8192 block=128 grid=2
KERNEL half(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  OP2("add.f16x2");
  OP2("add.rn.f16x2");
  OP2("add.ftz.f16x2");
  OP2("add.sat.f16x2");
  OP2("add.rn.ftz.sat.f16x2");
  OP2("sub.f16x2");
  OP2("sub.ftz.f16x2");
  OP2("sub.sat.f16x2");
  OP2("mul.f16x2");
  OP2("mul.ftz.f16x2");
  OP2("mul.sat.f16x2");
  OP3("fma.rn.f16x2");
  OP3("fma.rn.ftz.f16x2");
  OP3("fma.rn.sat.f16x2");
  OP3("fma.rn.relu.f16x2");
  OP3("fma.rn.ftz.relu.f16x2");
  OP2("min.f16x2");
  OP2("max.f16x2");
  OP2("min.ftz.f16x2");
  OP2("max.NaN.f16x2");
  OP2("min.NaN.f16x2");
  OP2("min.xorsign.abs.f16x2");
  OP2("max.NaN.xorsign.abs.f16x2");
  HOP2("add.f16");
  HOP2("sub.rn.f16");
  HOP2("mul.f16");
  HOP3("fma.rn.f16");
  HOP3("fma.rn.relu.f16");
  HOP2("min.f16");
  HOP2("max.NaN.f16");
  // The sign of a NaN is nobody's.
  a &= 0xbbffbbff;
  OP1("abs.f16x2");
  OP1("neg.f16x2");
}

// Products beside the smallest normal number, 2^-14: see Float32.tiny.
//! tinyHalf in=bits:512 out=1280 block=128 grid=2
KERNEL tinyHalf(const u32 *in, u32 *out) {
  THREAD;
  // 2^-7 and up, times 2^-8 and up: between a half and twice that.
  u32 a = 0x20002000 | (in[i] & 0x03ff03ff);
  u32 b = 0x1c001c00 | (in[count + i] & 0x03ff03ff);
  // Most are of 2^-14 but for a few places.
  if (i % 8) {
    u32 m = 1024 + (in[i] & 0x3ff), n = 1024 * 1024 / m + i % 5 - 1;
    a = 0x20002000 | (m & 0x3ff);
    b = n >= 1024 ? 0x20002000 | (n & 0x3ff) : 0x1c001c00 | (2 * n & 0x3ff);
  }
  u32 c = i % 3 ? 0 : 0x00010001;
  OP2("mul.f16x2");
  OP2("mul.ftz.f16x2");
  OP3("fma.rn.ftz.f16x2");
  OP3("fma.rn.f16x2");
  HOP2("mul.ftz.f16");
}
