// Comparisons, selections, predicates.

// A bit for each comparison: setp with one and with two results.
#define SETP(at, op, type, constraint, x, y)                                   \
  do {                                                                         \
    u32 holds;                                                                 \
    asm volatile("{.reg .pred p;\n"                                            \
                 "setp." op "." type " p, %1, %2;\n"                           \
                 "selp.u32 %0, 1, 0, p;}"                                      \
                 : "=r"(holds)                                                 \
                 : constraint(x), constraint(y));                              \
    bits |= holds << at;                                                       \
  } while (0)
#define SIX(type, constraint, x, y)                                            \
  SETP(0, "eq", type, constraint, x, y);                                       \
  SETP(1, "ne", type, constraint, x, y);                                       \
  SETP(2, "lt", type, constraint, x, y);                                       \
  SETP(3, "le", type, constraint, x, y);                                       \
  SETP(4, "gt", type, constraint, x, y);                                       \
  SETP(5, "ge", type, constraint, x, y)
#define FOUR_UNSIGNED(type, constraint, x, y)                                  \
  SETP(6, "lo", type, constraint, x, y);                                       \
  SETP(7, "ls", type, constraint, x, y);                                       \
  SETP(8, "hi", type, constraint, x, y);                                       \
  SETP(9, "hs", type, constraint, x, y)
#define UNORDERED(type, constraint, x, y)                                      \
  SETP(6, "equ", type, constraint, x, y);                                      \
  SETP(7, "neu", type, constraint, x, y);                                      \
  SETP(8, "ltu", type, constraint, x, y);                                      \
  SETP(9, "leu", type, constraint, x, y);                                      \
  SETP(10, "gtu", type, constraint, x, y);                                     \
  SETP(11, "geu", type, constraint, x, y);                                     \
  SETP(12, "num", type, constraint, x, y);                                     \
  SETP(13, "nan", type, constraint, x, y)

//! compareIntegers in=bits:256 out=768 block=128
KERNEL compareIntegers(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  if (i % 4 == 0)
    b = a;
  if (i % 4 == 1)
    b = (a & 0xffff) | (b << 16);
  u64 x = (u64)b << 32 | a, y = (u64)b << 32 | (i & 1 ? a : b);
  u32 bits = 0;
  SIX("s32", "r", a, b);
  PUT(bits);
  bits = 0;
  SIX("u32", "r", a, b);
  FOUR_UNSIGNED("u32", "r", a, b);
  PUT(bits);
  bits = 0;
  SIX("s16", "h", (u16)a, (u16)b);
  PUT(bits);
  bits = 0;
  SIX("u16", "h", (u16)a, (u16)b);
  PUT(bits);
  bits = 0;
  SIX("s64", "l", x, y);
  PUT(bits);
  bits = 0;
  SIX("u64", "l", x, y);
  SETP(6, "eq", "b32", "r", a, b);
  SETP(7, "ne", "b64", "l", x, y);
  PUT(bits);
}

//! compareFloats in=f32:512 out=512 block=128 grid=1
KERNEL compareFloats(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = in[count + i];
  if (i % 4 == 0)
    b = a;
  if (i % 8 == 1)
    a = i & 8 ? 0x80000000 : 0, b = i & 16 ? 0x80000000 : 0;
  u32 bits = 0;
  SIX("f32", "r", a, b);
  UNORDERED("f32", "r", a, b);
  PUT(bits);
  bits = 0;
  SIX("ftz.f32", "r", a, b);
  UNORDERED("ftz.f32", "r", a, b);
  PUT(bits);
  u64 x = in[2 * i] | (u64)in[2 * i + 1] << 32,
      y = i % 3 ? in[2 * i + 256] | (u64)in[2 * i + 257] << 32 : x;
  bits = 0;
  SIX("f64", "l", x, y);
  UNORDERED("f64", "l", x, y);
  PUT(bits);
  PUT((a < b) | (__uint_as_float(a) < __uint_as_float(b)) << 1 |
      (__uint_as_float(a) != __uint_as_float(b)) << 2);
}

//! compareHalves in=f16:256 out=1024 block=128
KERNEL compareHalves(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], b = i % 3 ? in[count + i] : in[i] ^ 0x80000000;
  u32 bits = 0;
  SIX("f16", "h", (u16)a, (u16)b);
  UNORDERED("f16", "h", (u16)a, (u16)b);
  PUT(bits);
  bits = 0;
  SIX("ftz.f16", "h", (u16)a, (u16)b);
  PUT(bits);
  bits = 0;
  SIX("bf16", "h", (u16)a, (u16)b);
  UNORDERED("bf16", "h", (u16)a, (u16)b);
  PUT(bits);
  u32 p, q;
#define BOTH(op, type)                                                         \
  asm volatile("{.reg .pred p, q;\n"                                           \
               "setp." op "." type " p|q, %2, %3;\n"                           \
               "selp.u32 %0, 1, 0, p;\n"                                       \
               "selp.u32 %1, 1, 0, q;}"                                        \
               : "=r"(p), "=r"(q)                                              \
               : "r"(a), "r"(b));                                              \
  PUT(p | q << 1)
  BOTH("lt", "f16x2");
  BOTH("geu", "f16x2");
  BOTH("gt", "bf16x2");
  OP2("set.lt.f16x2.f16x2");
  OP2("set.le.bf16x2.bf16x2");
}

//! predicates in=bits:384 out=1536 block=128
KERNEL predicates(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  u32 p, q;
#define COMBINED(logic, negation)                                              \
  asm volatile("{.reg .pred p, q, s;\n"                                        \
               "setp.gt.s32 s, %4, 0;\n"                                       \
               "setp.lt." logic ".u32 p|q, %2, %3, " negation "s;\n"           \
               "selp.u32 %0, 1, 0, p;\n"                                       \
               "selp.u32 %1, 1, 0, q;}"                                        \
               : "=r"(p), "=r"(q)                                              \
               : "r"(a), "r"(b), "r"(c));                                      \
  PUT(p | q << 1)
  COMBINED("and", "");
  COMBINED("or", "");
  COMBINED("xor", "");
  COMBINED("and", "!");
  COMBINED("or", "!");
  COMBINED("xor", "!");
  OP2("set.lt.u32.s32");
  OP2("set.ge.f32.u32");
  OP2("set.eq.s32.u32");
  OP3("slct.u32.s32");
  asm volatile("{.reg .pred p, q, s;\n"
               "setp.lt.s32 p, %1, 0;\n"
               "setp.lt.s32 q, %2, 0;\n"
               "and.pred s, p, q;\n"
               "not.pred s, s;\n"
               "xor.pred s, s, p;\n"
               "or.pred s, s, q;\n"
               "selp.b32 %0, %1, %2, s;}"
               : "=r"(p)
               : "r"(a), "r"(b));
  PUT(p);
  q = a;
  asm volatile("{.reg .pred p;\n"
               "setp.lt.s32 p, %1, 0;\n"
               "@p add.s32 %0, %0, 5;\n"
               "@!p sub.s32 %0, %0, 7;}"
               : "+r"(q)
               : "r"(b));
  PUT(q);
}

//! selectFloats in=f32:384 out=896 block=128
KERNEL selectFloats(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  OP2("set.lt.f32.f32");
  OP2("set.geu.u32.f32");
  OP2("set.nan.ftz.s32.f32");
  OP3("slct.b32.f32");
  OP3("slct.ftz.b32.f32");
  u32 r;
  u32 bits = 0;
#define TESTP(at, what)                                                        \
  asm volatile("{.reg .pred p;\n"                                              \
               "testp." what ".f32 p, %1;\n"                                   \
               "selp.u32 %0, 1, 0, p;}"                                        \
               : "=r"(r)                                                       \
               : "r"(a));                                                      \
  bits |= r << at
  TESTP(0, "finite");
  TESTP(1, "infinite");
  TESTP(2, "number");
  TESTP(3, "notanumber");
  TESTP(4, "normal");
  TESTP(5, "subnormal");
  PUT(bits);
  OP2("copysign.f32");
}
