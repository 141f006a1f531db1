// Barriers of blocks: all threads, some threads, reductions.

//! exchange in=bits:256 out=768 block=256
KERNEL exchange(const u32 *in, u32 *out) {
  __shared__ u32 values[256];
  THREAD;
  u32 x = in[i];
  for (u32 step = 1; step < 256; step *= 2) {
    values[i] = x;
    __syncthreads();
    x = x * 3 + values[i ^ step];
    __syncthreads();
  }
  PUT(x);
  PUT(__syncthreads_count(x & 1));
  PUT(__syncthreads_and(x != 0) | __syncthreads_or(x == in[0]) << 1);
}

//! named in=bits:256 out=256 block=256
KERNEL named(const u32 *in, u32 *out) {
  __shared__ u32 values[256];
  u32 i = threadIdx.x;
  values[i] = in[i];
  // Two halves apart from each other, then producer and consumer.
  if (i < 128)
    asm volatile("bar.sync 1, 128;" ::: "memory");
  else
    asm volatile("barrier.sync 2, 128;" ::: "memory");
  u32 x = values[i ^ 64];
  __syncthreads();
  if (i < 64) {
    values[i] = x * 7;
    asm volatile("bar.arrive 3, 192;" ::: "memory");
  } else if (i < 192) {
    asm volatile("bar.sync 3, 192;" ::: "memory");
    x += values[i & 63];
  }
  out[i] = x;
}

//! reduced in=bits:128 out=384 block=128
KERNEL reduced(const u32 *in, u32 *out) {
  THREAD;
  u32 a = in[i], r;
  asm volatile("{.reg .pred p;\n"
               "setp.gt.s32 p, %1, 0;\n"
               "bar.red.popc.u32 %0, 4, 128, p;}"
               : "=r"(r)
               : "r"(a));
  PUT(r);
  asm volatile("{.reg .pred p, q;\n"
               "setp.gt.s32 p, %1, 0;\n"
               "bar.red.and.pred q, 5, !p;\n"
               "selp.u32 %0, 1, 0, q;}"
               : "=r"(r)
               : "r"(a));
  PUT(r);
  asm volatile("{.reg .pred p, q;\n"
               "setp.gt.s32 p, %1, 0;\n"
               "bar.red.or.pred q, 5, p;\n"
               "selp.u32 %0, 1, 0, q;}"
               : "=r"(r)
               : "r"(a));
  PUT(r);
}

// Warps that take part or not, by a mask.
//! warps in=bits:128 out=128 block=128
KERNEL warps(const u32 *in, u32 *out) {
  __shared__ u32 values[128];
  u32 i = threadIdx.x;
  values[i] = in[i];
  __syncwarp();
  u32 x = values[i ^ 31];
  __syncwarp();
  if (i % 32 < 16) {
    values[i] = x + 1;
    __syncwarp(0xffff);
    x = values[i ^ 15];
  }
  out[i] = x;
}
