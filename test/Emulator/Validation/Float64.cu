// Arithmetic of f64.

//! add64 in=f64:1024 out=2560 block=128 grid=1
KERNEL add64(const u32 *in, u32 *out) {
  THREAD;
  PAIRS;
  DOP2("add.rn.f64");
  DOP2("add.rz.f64");
  DOP2("add.rm.f64");
  DOP2("add.rp.f64");
  DOP2("sub.rn.f64");
  DOP2("sub.rz.f64");
  DOP2("sub.rm.f64");
  DOP2("sub.rp.f64");
  DOP2("min.f64");
  DOP2("max.f64");
}

//! multiply64 in=f64:768 out=2560 block=128
KERNEL multiply64(const u32 *in, u32 *out) {
  THREAD;
  PAIRS;
  DOP2("mul.rn.f64");
  DOP2("mul.rz.f64");
  DOP2("mul.rm.f64");
  DOP2("mul.rp.f64");
  double product = asDouble(a) * asDouble(b);
  if (i % 2 && product == product)
    c = __double_as_longlong(-product) + i % 3;
  DOP3("fma.rn.f64");
  DOP3("fma.rz.f64");
  DOP3("fma.rm.f64");
  DOP3("fma.rp.f64");
  DOP3("mad.rn.f64");
  PUT64(__double_as_longlong(__longlong_as_double(a) * 3.5 + 0.25));
}

//! divide64 in=f64:768 out=3584 block=128
KERNEL divide64(const u32 *in, u32 *out) {
  THREAD;
  PAIRS;
  DOP2("div.rn.f64");
  DOP2("div.rz.f64");
  DOP2("div.rm.f64");
  DOP2("div.rp.f64");
  DOP1("rcp.rn.f64");
  DOP1("rcp.rz.f64");
  DOP1("rcp.rm.f64");
  DOP1("rcp.rp.f64");
  if (i % 8)
    a &= ~0ull >> 1;
  DOP1("sqrt.rn.f64");
  DOP1("sqrt.rz.f64");
  DOP1("sqrt.rm.f64");
  DOP1("sqrt.rp.f64");
  if ((a & ~0ull >> 1) > 0x7ff0000000000000)
    a = 1;
  DOP1("abs.f64");
  DOP1("neg.f64");
}

//! other64 in=f64:768 out=384 block=128
KERNEL other64(const u32 *in, u32 *out) {
  THREAD;
  PAIRS;
  u32 r, bits = 0;
#define TESTP(at, what)                                                        \
  asm volatile("{.reg .pred p;\n"                                              \
               "testp." what ".f64 p, %1;\n"                                   \
               "selp.u32 %0, 1, 0, p;}"                                        \
               : "=r"(r)                                                       \
               : "l"(a));                                                      \
  bits |= r << at
  TESTP(0, "finite");
  TESTP(1, "infinite");
  TESTP(2, "number");
  TESTP(3, "notanumber");
  TESTP(4, "normal");
  TESTP(5, "subnormal");
  PUT(bits);
  DOP2("copysign.f64");
}

// Which of several NaN comes out.
//! nan64 in=bits:384 out=1280 block=64
KERNEL nan64(const u32 *in, u32 *out) {
  THREAD;
  PAIRS;
  // Quiet and signaling ones, and numbers.
  u64 most = 0x7ff0000000000000;
  a = i & 1 ? a | most : 0x3ff0000000000000 | i;
  b = i & 2 ? b | most : 0xbff0000000000000 | i;
  c = i & 4 ? c | most : 0x4010000000000000;
  DOP2("add.rn.f64");
  DOP2("sub.rz.f64");
  DOP2("mul.rn.f64");
  DOP2("div.rn.f64");
  DOP3("fma.rn.f64");
  DOP3("fma.rm.f64");
  DOP2("min.f64");
  DOP2("max.f64");
  DOP1("sqrt.rn.f64");
  DOP1("rcp.rn.f64");
}
