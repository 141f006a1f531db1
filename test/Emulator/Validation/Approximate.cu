// Functions that PTX only bounds: compared within twice the documented error.

//! reciprocal in=f32:256 out=1024 block=128 grid=2 compare=f32:2e-7:2e-45
KERNEL reciprocal(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  OP1("rcp.approx.f32");
  OP1("rcp.approx.ftz.f32");
  OP1("rsqrt.approx.f32");
  OP1("rsqrt.approx.ftz.f32");
}

//! root in=f32:256 out=512 block=128 grid=2 compare=f32:2.5e-7
KERNEL root(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  OP1("sqrt.approx.f32");
  OP1("sqrt.approx.ftz.f32");
}

//! quotient in=f32:512 out=1024 block=128 grid=2 compare=f32:4.8e-7
KERNEL quotient(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  OP2("div.approx.f32");
  OP2("div.approx.ftz.f32");
  OP2("div.full.f32");
  OP2("div.full.ftz.f32");
}

//! exponential in=f32:256 out=512 block=128 grid=2 compare=f32:5e-7
KERNEL exponential(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  OP1("ex2.approx.f32");
  OP1("ex2.approx.ftz.f32");
}

//! logarithm in=f32:256 out=512 block=128 grid=2 compare=f32:5e-7:5e-7
KERNEL logarithm(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  if (i % 8)
    a &= 0x7fffffff;
  OP1("lg2.approx.f32");
  OP1("lg2.approx.ftz.f32");
}

//! sine in=f32:256 out=1024 block=128 grid=2 compare=f32:0:1e-6
KERNEL sine(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  // Beyond two turns the bound is another.
  if ((a & 0x7fffffff) > 0x40c00000 && (a & 0x7fffffff) < 0x7f800000)
    a = (a & 0x807fffff) | 0x40000000;
  OP1("sin.approx.f32");
  OP1("sin.approx.ftz.f32");
  OP1("cos.approx.f32");
  OP1("cos.approx.ftz.f32");
}

//! tangent in=f32:256 out=256 block=128 grid=2 compare=f32:1e-3:1e-35
KERNEL tangent(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  OP1("tanh.approx.f32");
}

//! half in=f16:256 out=512 block=128 grid=2 compare=f16:2e-3:1e-7
KERNEL half(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  OP1("ex2.approx.f16x2");
  OP1("tanh.approx.f16x2");
}

//! bfloat in=bf16:256 out=512 block=128 grid=2 compare=bf16:1.6e-2:1e-38
KERNEL bfloat(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  OP1("ex2.approx.ftz.bf16x2");
  OP1("tanh.approx.bf16x2");
}

//! reciprocals64 in=f64:256 out=512 block=128 compare=f64:2e-6
KERNEL reciprocals64(const u32 *in, u32 *out) {
  THREAD;
  u64 a = in[2 * i] | (u64)in[2 * i + 1] << 32;
  DOP1("rcp.approx.ftz.f64");
  DOP1("rsqrt.approx.ftz.f64");
}
