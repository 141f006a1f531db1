// Arithmetic of bf16 and bf16x2.

//! bfloat in=bf16:768 out=5632 block=128 grid=2
KERNEL bfloat(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  OP2("add.bf16x2");
  OP2("add.rn.bf16x2");
  OP2("sub.bf16x2");
  OP2("mul.bf16x2");
  OP3("fma.rn.bf16x2");
  OP3("fma.rn.relu.bf16x2");
  OP2("min.bf16x2");
  OP2("max.bf16x2");
  OP2("min.NaN.bf16x2");
  OP2("max.NaN.bf16x2");
  OP2("min.xorsign.abs.bf16x2");
  OP2("max.NaN.xorsign.abs.bf16x2");
  HOP2("add.bf16");
  HOP2("sub.rn.bf16");
  HOP2("mul.bf16");
  HOP3("fma.rn.bf16");
  HOP3("fma.rn.relu.bf16");
  HOP2("min.bf16");
  HOP2("max.NaN.bf16");
  // The sign of a NaN is nobody's.
  a &= 0xbfffbfff;
  OP1("abs.bf16x2");
  OP1("neg.bf16x2");
  HOP1("abs.bf16");
}
