// Logic, shifts, fields, permutations.

//! logic in=bits:384 out=2688 block=128
KERNEL logic(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  OP2("and.b32");
  OP2("or.b32");
  OP2("xor.b32");
  OP1("not.b32");
  OP1("cnot.b32");
  u32 r;
#define LUT3(table)                                                            \
  asm volatile("lop3.b32 %0, %1, %2, %3, " #table ";"                          \
               : "=r"(r)                                                       \
               : "r"(a), "r"(b), "r"(c));                                      \
  PUT(r)
  LUT3(0x00);
  LUT3(0x1b);
  LUT3(0x96);
  LUT3(0xe8);
  LUT3(0xca);
  LUT3(0xff);
  HOP2("and.b16");
  HOP2("or.b16");
  HOP2("xor.b16");
  HOP1("not.b16");
  u64 x = (u64)a << 32 | b, y = (u64)b << 32 | c, z;
  asm volatile("and.b64 %0, %1, %2;" : "=l"(z) : "l"(x), "l"(y));
  PUT64(z);
  asm volatile("xor.b64 %0, %1, %2;" : "=l"(z) : "l"(x), "l"(y));
  PUT64(z);
  asm volatile("not.b64 %0, %1;" : "=l"(z) : "l"(x));
  PUT64(z);
}

//! shifts in=bits:384 out=3584 block=128
KERNEL shifts(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  if (i < 64)
    b = i;
  else if (i < 100)
    b &= 127;
  u32 r;
  OP2("shl.b32");
  OP2("shr.u32");
  OP2("shr.s32");
  OP3("shf.l.wrap.b32");
  OP3("shf.r.wrap.b32");
  OP3("shf.l.clamp.b32");
  OP3("shf.r.clamp.b32");
  u32 saved = c;
  c = b;
  OP3("shf.l.wrap.b32");
  OP3("shf.r.wrap.b32");
  OP3("shf.l.clamp.b32");
  OP3("shf.r.clamp.b32");
  c = saved;
  u16 h;
  asm volatile("shl.b16 %0, %1, %2;" : "=h"(h) : "h"((u16)a), "r"(b));
  PUT(h);
  asm volatile("shr.u16 %0, %1, %2;" : "=h"(h) : "h"((u16)a), "r"(b));
  PUT(h);
  asm volatile("shr.s16 %0, %1, %2;" : "=h"(h) : "h"((u16)a), "r"(b));
  PUT(h);
  u64 x = (u64)a << 32 | c, y;
  asm volatile("shl.b64 %0, %1, %2;" : "=l"(y) : "l"(x), "r"(b));
  PUT64(y);
  asm volatile("shr.u64 %0, %1, %2;" : "=l"(y) : "l"(x), "r"(b));
  PUT64(y);
  asm volatile("shr.s64 %0, %1, %2;" : "=l"(y) : "l"(x), "r"(b));
  PUT64(y);
  asm volatile("bmsk.clamp.b32 %0, %1, %2;"
               : "=r"(r)
               : "r"(b & 63), "r"(c & 63));
  PUT(r);
  asm volatile("bmsk.wrap.b32 %0, %1, %2;" : "=r"(r) : "r"(b), "r"(c));
  PUT(r);
  asm volatile("szext.wrap.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  PUT(r);
  asm volatile("szext.wrap.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  PUT(r);
  asm volatile("szext.clamp.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  PUT(r);
  asm volatile("szext.clamp.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  PUT(r);
  PUT(__funnelshift_lc(a, c, b));
  PUT(__funnelshift_r(a, c, b));
}

//! fields in=bits:512 out=3840 block=128
KERNEL fields(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  u32 d = in[3 * count + i];
  if (i < 96)
    b = i & 63, c = (i * 7) % 48;
  b &= 255, c &= 255;
  u32 r;
  OP3("bfe.u32");
  OP3("bfe.s32");
  asm volatile("bfi.b32 %0, %1, %2, %3, %4;"
               : "=r"(r)
               : "r"(a), "r"(d), "r"(b), "r"(c));
  PUT(r);
  u64 x = (u64)a << 32 | d, y = (u64)d << 32 | b, z;
  asm volatile("bfe.u64 %0, %1, %2, %3;" : "=l"(z) : "l"(x), "r"(b), "r"(c));
  PUT64(z);
  asm volatile("bfe.s64 %0, %1, %2, %3;" : "=l"(z) : "l"(x), "r"(b), "r"(c));
  PUT64(z);
  asm volatile("bfi.b64 %0, %1, %2, %3, %4;"
               : "=l"(z)
               : "l"(x), "l"(y), "r"(b), "r"(c));
  PUT64(z);
  // Of few bits, so that leading ones are everywhere; and of none.
  a = i == 0 ? 0 : i == 1 ? ~0u : a >> (d & 31);
  if (d & 64)
    a = ~a;
  x = i == 0 ? 0 : i == 1 ? ~0ull : x >> (d & 63);
  if (d & 64)
    x = ~x;
  OP1("clz.b32");
  OP1("popc.b32");
  OP1("brev.b32");
  OP1("bfind.u32");
  OP1("bfind.s32");
  OP1("bfind.shiftamt.u32");
  OP1("bfind.shiftamt.s32");
#define NARROW(text)                                                           \
  asm volatile(text " %0, %1;" : "=r"(r) : "l"(x));                            \
  PUT(r)
  NARROW("clz.b64");
  NARROW("popc.b64");
  NARROW("bfind.u64");
  NARROW("bfind.s64");
  NARROW("bfind.shiftamt.u64");
  NARROW("bfind.shiftamt.s64");
  asm volatile("brev.b64 %0, %1;" : "=l"(z) : "l"(x));
  PUT64(z);
  asm volatile("fns.b32 %0, %1, %2, %3;"
               : "=r"(r)
               : "r"(in[i]), "r"(d & 31), "r"((s32)(d >> 8) % 9));
  PUT(r);
  PUT(__ffs(a));
  PUT(__ffsll(x));
  PUT(__clzll(x));
  PUT(__brev(a));
}

//! permute in=bits:384 out=1152 block=128
KERNEL permute(const u32 *in, u32 *out) {
  THREAD;
  WORDS;
  if (i < 8)
    c = i;
  OP3("prmt.b32");
  OP3("prmt.b32.f4e");
  OP3("prmt.b32.b4e");
  OP3("prmt.b32.rc8");
  OP3("prmt.b32.ecl");
  OP3("prmt.b32.ecr");
  OP3("prmt.b32.rc16");
  PUT(__byte_perm(a, b, c & 0x7777));
  PUT(__byte_perm(a, b, 0x5410));
}
