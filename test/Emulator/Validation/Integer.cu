// Integer arithmetic.

//! add32 in=bits:768 out=6912 block=128 grid=2
KERNEL add32(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  OP2("add.s32");
  OP2("sub.s32");
  OP2("add.sat.s32");
  OP2("sub.sat.s32");
  OP2("min.s32");
  OP2("max.s32");
  OP2("min.u32");
  OP2("max.u32");
  OP1("abs.s32");
  OP1("neg.s32");
  OP3("sad.s32");
  OP3("sad.u32");
  OP2("min.relu.s32");
  OP2("max.relu.s32");
  OP2("min.s16x2");
  OP2("max.s16x2");
  OP2("min.u16x2");
  OP2("max.u16x2");
  OP2("min.relu.s16x2");
  OP2("max.relu.s16x2");
  OP2("add.u16x2");
  OP2("add.s16x2");
  PUT(a + b * c);
  PUT(a - b);
  PUT((s32)a >> 3);
  PUT((s32)a / 7);
  PUT(a / 1000003u);
}

//! mul32 in=bits:384 out=5888 block=128
KERNEL mul32(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  OP2("mul.lo.s32");
  OP2("mul.hi.s32");
  OP2("mul.hi.u32");
  OP3("mad.lo.s32");
  OP3("mad.hi.s32");
  OP3("mad.hi.u32");
  OP3("mad.hi.sat.s32");
  OP2("mul24.lo.s32");
  OP2("mul24.hi.s32");
  OP2("mul24.lo.u32");
  OP2("mul24.hi.u32");
  OP3("mad24.lo.s32");
  OP3("mad24.hi.s32");
  OP3("mad24.lo.u32");
  OP3("mad24.hi.u32");
  OP3("mad24.hi.sat.s32");
  u64 wide;
  asm volatile("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(a), "r"(b));
  PUT64(wide);
  asm volatile("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(a), "r"(b));
  PUT64(wide);
  u64 sum = (u64)c << 32 | a;
  asm volatile("mad.wide.s32 %0, %1, %2, %3;"
               : "=l"(wide)
               : "r"(a), "r"(b), "l"(sum));
  PUT64(wide);
  asm volatile("mad.wide.u32 %0, %1, %2, %3;"
               : "=l"(wide)
               : "r"(a), "r"(b), "l"(sum));
  PUT64(wide);
  u32 r;
  asm volatile("mul.wide.s16 %0, %1, %2;"
               : "=r"(r)
               : "h"((u16)a), "h"((u16)b));
  PUT(r);
  asm volatile("mul.wide.u16 %0, %1, %2;"
               : "=r"(r)
               : "h"((u16)a), "h"((u16)b));
  PUT(r);
  asm volatile("mad.wide.s16 %0, %1, %2, %3;"
               : "=r"(r)
               : "h"((u16)a), "h"((u16)b), "r"(c));
  PUT(r);
  OP3("dp4a.s32.s32");
  OP3("dp4a.s32.u32");
  OP3("dp4a.u32.s32");
  OP3("dp4a.u32.u32");
  OP3("dp2a.lo.s32.s32");
  OP3("dp2a.lo.s32.u32");
  OP3("dp2a.lo.u32.s32");
  OP3("dp2a.lo.u32.u32");
  OP3("dp2a.hi.s32.s32");
  OP3("dp2a.hi.s32.u32");
  OP3("dp2a.hi.u32.s32");
  OP3("dp2a.hi.u32.u32");
  PUT(__mulhi((s32)a, (s32)c));
  PUT(__umul24(b, c));
  PUT(__sad((s32)a, (s32)b, c));
  PUT(__hadd((s32)a, (s32)b));
  PUT(__rhadd((s32)a, (s32)b));
  PUT(__uhadd(a, b));
  PUT(__urhadd(a, b));
}

//! int16 in=bits:384 out=2048 block=128
KERNEL int16(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  HOP2("add.s16");
  HOP2("sub.s16");
  HOP2("mul.lo.s16");
  HOP2("mul.hi.s16");
  HOP2("mul.hi.u16");
  HOP3("mad.lo.s16");
  HOP2("min.s16");
  HOP2("max.s16");
  HOP2("min.u16");
  HOP2("max.u16");
  HOP1("abs.s16");
  HOP1("neg.s16");
  b |= 1;
  HOP2("div.s16");
  HOP2("div.u16");
  HOP2("rem.s16");
  HOP2("rem.u16");
}

//! divide in=bits:384 out=2048 block=128
KERNEL divide(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  // Divisors of all sizes; never zero.
  b = (b >> (c & 31)) | 1;
  if (i == 0)
    a = 0x80000000, b = 2;
  OP2("div.s32");
  OP2("div.u32");
  OP2("rem.s32");
  OP2("rem.u32");
  u64 x = (u64)a << 32 | c, y = (((u64)b << 32 | a) >> (c & 63)) | 1, r;
  asm volatile("div.s64 %0, %1, %2;" : "=l"(r) : "l"(x), "l"(y));
  PUT64(r);
  asm volatile("div.u64 %0, %1, %2;" : "=l"(r) : "l"(x), "l"(y));
  PUT64(r);
  asm volatile("rem.s64 %0, %1, %2;" : "=l"(r) : "l"(x), "l"(y));
  PUT64(r);
  asm volatile("rem.u64 %0, %1, %2;" : "=l"(r) : "l"(x), "l"(y));
  PUT64(r);
  PUT((s32)a / 10);
  PUT(a % 37u);
  PUT64((s64)x / 1000);
}

//! int64 in=bits:768 out=3584 block=128
KERNEL int64(const u32 *in, u32 *out) {
  THREAD;
  PAIRS;
  LOP2("add.s64");
  LOP2("sub.s64");
  LOP2("mul.lo.s64");
  LOP2("mul.hi.s64");
  LOP2("mul.hi.u64");
  LOP3("mad.lo.s64");
  LOP3("mad.hi.u64");
  LOP2("min.s64");
  LOP2("max.s64");
  LOP2("min.u64");
  LOP2("max.u64");
  LOP1("abs.s64");
  LOP1("neg.s64");
  LOP3("sad.s64");
}

//! carry in=bits:768 out=2176 block=128
KERNEL carry(const u32 *in, u32 *out) {
  THREAD;
  PAIRS;
  u32 a0 = a, a1 = a >> 32, b0 = b, b1 = b >> 32, c0 = c, c1 = c >> 32;
  if (i < 4)
    a0 = b0 = ~0u, c0 = i & 1;
  u32 r0, r1, r2, r3;
  asm volatile("add.cc.u32 %0, %3, %5;\n"
               "addc.cc.u32 %1, %4, %6;\n"
               "addc.u32 %2, %7, %8;"
               : "=r"(r0), "=r"(r1), "=r"(r2)
               : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "r"(c0), "r"(c1));
  PUT(r0);
  PUT(r1);
  PUT(r2);
  asm volatile("sub.cc.u32 %0, %3, %5;\n"
               "subc.cc.u32 %1, %4, %6;\n"
               "subc.u32 %2, %7, %8;"
               : "=r"(r0), "=r"(r1), "=r"(r2)
               : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "r"(c0), "r"(c1));
  PUT(r0);
  PUT(r1);
  PUT(r2);
  asm volatile("mad.lo.cc.u32 %0, %4, %6, %8;\n"
               "madc.hi.cc.u32 %1, %4, %6, %9;\n"
               "madc.lo.cc.u32 %2, %5, %7, %8;\n"
               "madc.hi.u32 %3, %5, %7, %9;"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "r"(c0), "r"(c1));
  PUT(r0);
  PUT(r1);
  PUT(r2);
  PUT(r3);
  u64 l0, l1;
  asm volatile("add.cc.u64 %0, %2, %3;\n"
               "addc.u64 %1, %4, 0;"
               : "=l"(l0), "=l"(l1)
               : "l"(a), "l"(b), "l"(c));
  PUT64(l0);
  PUT64(l1);
  PUT64(__umul64hi(b, c));
  PUT((u32)__mul64hi(a, c));
}
