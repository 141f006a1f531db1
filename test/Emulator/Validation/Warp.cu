// Shuffles, votes, matches, reductions of a warp.

//! shuffle in=bits:128 out=2816 block=128
KERNEL shuffle(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  u32 r, inside;
#define SHUFFLE(mode, b, c)                                                    \
  asm volatile("{.reg .pred p;\n"                                              \
               "shfl.sync." mode ".b32 %0|p, %2, %3, %4, 0xffffffff;\n"        \
               "selp.u32 %1, 1, 0, p;}"                                        \
               : "=r"(r), "=r"(inside)                                         \
               : "r"(a), "r"(b), "r"(c));                                      \
  PUT(r);                                                                      \
  PUT(inside)
  SHUFFLE("up", 1, 0);
  SHUFFLE("up", 3, 0x1800);
  SHUFFLE("down", 1, 0x1f);
  SHUFFLE("down", 5, 0x181f);
  SHUFFLE("down", a & 31, 0x1f);
  SHUFFLE("bfly", 16, 0x1f);
  SHUFFLE("bfly", 5, 0x1c1f);
  SHUFFLE("bfly", i & 31, 0x1f);
  SHUFFLE("idx", a & 63, 0x1f);
  SHUFFLE("idx", a & 31, 0x181f);
  // Different segments in each lane.
  SHUFFLE("idx", a >> 8, (a & 0x1f1f));
}

//! partial in=bits:128 out=1024 block=128
KERNEL partial(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], lane = i & 31;
  const u32 masks[5] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00,
                        0xffff0000};
  for (u32 round = 0; round < 8; ++round) {
    u32 r = 0;
    // Lanes whose bit is set, and the others: apart from each other.
    u32 bit = round % 5, mask = masks[bit];
    if (lane >> bit & 1)
      r = __shfl_xor_sync(mask, a, bit == 0 ? 2 : 1);
    else
      r = __shfl_sync(~mask, a, lane & ~(1 << bit) & (a >> 3));
    __syncwarp();
    PUT(r);
  }
}

//! vote in=bits:128 out=1024 block=128
KERNEL vote(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], warp = i / 32;
  bool holds = warp == 0 ? a & 1 : warp == 1 ? true : warp == 2 ? false : a & 4;
  PUT(__all_sync(0xffffffff, holds));
  PUT(__any_sync(0xffffffff, holds));
  PUT(__ballot_sync(0xffffffff, holds));
  u32 r;
  asm volatile("{.reg .pred p, q;\n"
               "setp.ne.u32 p, %1, 0;\n"
               "vote.sync.uni.pred q, p, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, q;}"
               : "=r"(r)
               : "r"((u32)holds));
  PUT(r);
  asm volatile("{.reg .pred p, q;\n"
               "setp.ne.u32 p, %1, 0;\n"
               "vote.sync.all.pred q, !p, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, q;}"
               : "=r"(r)
               : "r"((u32)holds));
  PUT(r);
  r = 0;
  if (i & 1)
    r = __ballot_sync(0xaaaaaaaa, holds);
  PUT(r);
  r = 0;
  if (i % 32 < 20)
    r = __activemask();
  __syncwarp();
  PUT(r);
  asm volatile("{.reg .pred p;\n"
               "mov.u32 %0, 0;\n"
               "elect.sync %0|p, 0xffffffff;\n"
               "@p add.u32 %0, %0, 100;}"
               : "=r"(r));
  PUT(r);
}

//! match in=bits:128 out=1024 block=128
KERNEL match(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], warp = i / 32;
  u32 key = warp == 0 ? a & 3 : warp == 1 ? 7 : warp == 2 ? a & 15 : a;
  u64 wide = (u64)(key & 1) << 40 | key >> 1;
  PUT(__match_any_sync(0xffffffff, key));
  PUT(__match_any_sync(0xffffffff, wide));
  int all;
  PUT(__match_all_sync(0xffffffff, key, &all));
  PUT(all);
  PUT(__match_all_sync(0xffffffff, wide, &all));
  PUT(all);
  u32 r = 0;
  if (i % 32 >= 7)
    r = __match_any_sync(0xffffff80, key);
  PUT(r);
  all = 3;
  if (i % 32 >= 7)
    __match_all_sync(0xffffff80, key, &all);
  PUT(all);
}

//! redux in=bits:128 out=1280 block=128
KERNEL redux(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i];
  u32 r;
#define REDUX(text)                                                            \
  asm volatile("redux.sync." text " %0, %1, 0xffffffff;" : "=r"(r) : "r"(a));  \
  PUT(r)
  REDUX("add.u32");
  REDUX("add.s32");
  REDUX("min.u32");
  REDUX("max.u32");
  REDUX("min.s32");
  REDUX("max.s32");
  REDUX("and.b32");
  REDUX("or.b32");
  REDUX("xor.b32");
  r = 0;
  u32 some = __ballot_sync(0xffffffff, i % 3 != 0);
  if (i % 3)
    asm volatile("redux.sync.add.u32 %0, %1, %2;"
                 : "=r"(r)
                 : "r"(a), "r"(some));
  PUT(r);
}

//! specials in=bits:32 out=5120 block=8x4x2 grid=4
KERNEL specials(const u32 *in, u32 *out) {
  u32 thread = threadIdx.x + 8 * (threadIdx.y + 4 * threadIdx.z);
  u32 *next = out + blockIdx.x * 64 + thread;
  u32 count = 64 * gridDim.x;
  u32 r;
#define SPECIAL(name)                                                          \
  asm volatile("mov.u32 %0, %" name ";" : "=r"(r));                            \
  PUT(r)
  SPECIAL("%tid.x");
  SPECIAL("%tid.y");
  SPECIAL("%tid.z");
  SPECIAL("%ntid.x");
  SPECIAL("%ntid.y");
  SPECIAL("%ntid.z");
  SPECIAL("%ctaid.x");
  SPECIAL("%ctaid.y");
  SPECIAL("%nctaid.x");
  SPECIAL("%nctaid.z");
  SPECIAL("%laneid");
  SPECIAL("%lanemask_eq");
  SPECIAL("%lanemask_le");
  SPECIAL("%lanemask_lt");
  SPECIAL("%lanemask_ge");
  SPECIAL("%lanemask_gt");
  SPECIAL("%cluster_ctarank");
  SPECIAL("%cluster_nctarank");
  SPECIAL("%nclusterid.x");
  SPECIAL("%clusterid.x");
}
