// cp.async and its groups.

//! groups in=bits:2048 out=2048 block=128 shared=16384
KERNEL groups(const u32 *in, u32 *out) {
  extern __shared__ __align__(16) u8 stage[];
  u32 i = threadIdx.x, base = sharedAddress(stage);
  // Four groups, each of 512 words; read as they come.
  for (u32 group = 0; group < 4; ++group) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     base + group * 2048 + 16 * i),
                 "l"(in + group * 512 + 4 * i)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  u32 sum = 0;
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  __syncthreads();
  for (u32 at = 0; at < 4; ++at)
    out[at * 128 + i] = ((u32 *)stage)[at * 128 + (i ^ 5)];
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  for (u32 at = 4; at < 12; ++at)
    sum += out[at * 128 + i] = ((u32 *)stage)[at * 128 + (i ^ 9)] + sum;
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (u32 at = 12; at < 16; ++at)
    out[at * 128 + i] = ((u32 *)stage)[at * 128 + (i ^ 17)];
}

// Small sizes, zero fill, and completion at an mbarrier.
//! sizes in=bits:1024 out=1024 block=128 shared=4096
KERNEL sizes(const u32 *in, u32 *out) {
  extern __shared__ __align__(16) u8 stage[];
  __shared__ __align__(8) u64 done;
  u32 i = threadIdx.x, base = sharedAddress(stage), barrier = sharedAddress(&done);
  for (u32 at = 0; at < 8; ++at)
    ((u32 *)stage)[8 * i + at] = 0x11111111 * at;
  if (i == 0)
    barrierInit(barrier, 128);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(base + 32 * i),
               "l"(in + 8 * i + 3)
               : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(
                   base + 32 * i + 8),
               "l"(in + 8 * i + 2), "r"(i % 9)
               : "memory");
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(
                   base + 32 * i + 16),
               "l"(in + 8 * i + 4), "r"(i % 17)
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier)
               : "memory");
  barrierWait(barrier, 0);
  for (u32 at = 0; at < 8; ++at)
    out[at * 128 + i] = ((u32 *)stage)[8 * (i ^ 3) + at];
}
