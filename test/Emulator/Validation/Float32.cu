// Arithmetic of f32: every rounding, .ftz and .sat.

//! add in=f32:1024 out=8192 block=128 grid=4
KERNEL add(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  OP2("add.rn.f32");
  OP2("add.rz.f32");
  OP2("add.rm.f32");
  OP2("add.rp.f32");
  OP2("add.rn.ftz.f32");
  OP2("add.rz.ftz.f32");
  OP2("add.rm.ftz.sat.f32");
  OP2("add.rp.ftz.f32");
  OP2("add.sat.f32");
  OP2("sub.rn.f32");
  OP2("sub.rz.f32");
  OP2("sub.rm.f32");
  OP2("sub.rp.f32");
  OP2("sub.rn.ftz.sat.f32");
  OP2("sub.rp.sat.f32");
  PUT(__float_as_uint(__uint_as_float(a) + __uint_as_float(b)));
}

//! multiply in=f32:1024 out=4608 block=128 grid=4
KERNEL multiply(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  OP2("mul.rn.f32");
  OP2("mul.rz.f32");
  OP2("mul.rm.f32");
  OP2("mul.rp.f32");
  OP2("mul.rn.ftz.f32");
  OP2("mul.rz.ftz.f32");
  OP2("mul.rm.ftz.f32");
  OP2("mul.rp.ftz.f32");
  OP2("mul.rn.sat.f32");
}

// Products and quotients beside the smallest normal number, where .ftz must
// know whether the exact or the rounded one counts.
//! tiny in=f32:512 out=2304 block=128 grid=2
KERNEL tiny(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  // a in [2^-64, 2^-63); b so that the product is 2^-126 but for a few places.
  a = 0x1f800000 | (a & 0x7fffff);
  float wanted = __uint_as_float(0x00800000 - (i & 3));
  float exact = wanted * 0x1p100f / __uint_as_float(a) * 0x1p-100f;
  b = __float_as_uint(exact) + ((b >> 9) % 5) - 2;
  u32 c = 0x00000000;
  OP2("mul.rn.f32");
  OP2("mul.rn.ftz.f32");
  OP2("mul.rz.ftz.f32");
  OP2("mul.rp.ftz.f32");
  OP3("fma.rn.ftz.f32");
  OP3("fma.rp.ftz.f32");
  a = 0x00800000 + (i % 7), b = 0x3f800000 + (i / 7 % 5);
  OP2("div.rn.f32");
  OP2("div.rn.ftz.f32");
  OP2("div.rp.ftz.f32");
}

//! fused in=f32:1536 out=6656 block=128 grid=4
KERNEL fused(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  // Sums that cancel, every other time.
  if (i % 2)
    c = __float_as_uint(-(__uint_as_float(a) * __uint_as_float(b))) + i % 3;
  OP3("fma.rn.f32");
  OP3("fma.rz.f32");
  OP3("fma.rm.f32");
  OP3("fma.rp.f32");
  OP3("fma.rn.ftz.f32");
  OP3("fma.rz.ftz.f32");
  OP3("fma.rm.ftz.f32");
  OP3("fma.rp.ftz.f32");
  OP3("fma.rn.sat.f32");
  OP3("fma.rn.ftz.sat.f32");
  OP3("mad.rn.f32");
  OP3("mad.rz.ftz.f32");
  PUT(__float_as_uint(__uint_as_float(a) * __uint_as_float(b) +
                      __uint_as_float(c)));
}

//! divide in=f32:512 out=2304 block=128 grid=2
KERNEL divide(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  OP2("div.rn.f32");
  OP2("div.rz.f32");
  OP2("div.rm.f32");
  OP2("div.rp.f32");
  OP2("div.rn.ftz.f32");
  OP2("div.rz.ftz.f32");
  OP2("div.rm.ftz.f32");
  OP2("div.rp.ftz.f32");
  PUT(__float_as_uint(__uint_as_float(a) / __uint_as_float(b)));
}

//! roots in=f32:256 out=4096 block=128 grid=2
KERNEL roots(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  OP1("rcp.rn.f32");
  OP1("rcp.rz.f32");
  OP1("rcp.rm.f32");
  OP1("rcp.rp.f32");
  OP1("rcp.rn.ftz.f32");
  OP1("rcp.rz.ftz.f32");
  OP1("rcp.rm.ftz.f32");
  OP1("rcp.rp.ftz.f32");
  if (i % 8)
    a &= 0x7fffffff;
  OP1("sqrt.rn.f32");
  OP1("sqrt.rz.f32");
  OP1("sqrt.rm.f32");
  OP1("sqrt.rp.f32");
  OP1("sqrt.rn.ftz.f32");
  OP1("sqrt.rz.ftz.f32");
  OP1("sqrt.rm.ftz.f32");
  OP1("sqrt.rp.ftz.f32");
}

//! minMax in=f32:768 out=4096 block=128 grid=2
KERNEL minMax(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  if (i < 16) {
    a = i & 1 ? 0x80000000 : 0;
    b = i & 2 ? 0x80000000 : i & 4 ? 0x7fc00001 : 0;
  }
  OP2("min.f32");
  OP2("max.f32");
  OP2("min.ftz.f32");
  OP2("max.ftz.f32");
  OP2("min.NaN.f32");
  OP2("max.NaN.f32");
  OP2("min.ftz.NaN.f32");
  OP2("max.xorsign.abs.f32");
  OP2("min.xorsign.abs.f32");
  OP2("min.NaN.xorsign.abs.f32");
  OP2("max.ftz.NaN.xorsign.abs.f32");
  PUT(__float_as_uint(fminf(__uint_as_float(a), __uint_as_float(b))));
  // The sign of a NaN is nobody's.
  if ((a & 0x7fffffff) > 0x7f800000)
    a = 0x00000001;
  OP1("abs.f32");
  OP1("neg.f32");
  OP1("abs.ftz.f32");
  OP1("neg.ftz.f32");
}
