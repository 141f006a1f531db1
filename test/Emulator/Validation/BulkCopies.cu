// cp.async.bulk and cp.reduce.async.bulk without tensor maps.

//! load in=bits:1024 out=1024 block=128 shared=8192
KERNEL load(const u32 *in, u32 *out) {
  extern __shared__ __align__(128) u8 stage[];
  __shared__ __align__(8) u64 done;
  u32 i = threadIdx.x, base = sharedAddress(stage), barrier = sharedAddress(&done);
  for (u32 at = i; at < 2048; at += 128)
    ((u32 *)stage)[at] = at;
  if (i == 0) {
    barrierInit(barrier, 1);
    fenceBarrierInit();
  }
  fenceAsync();
  __syncthreads();
  if (i == 0) {
    barrierExpect(barrier, 2048 + 16 + 1040);
    auto copy = [&](u32 to, const u32 *from, u32 bytes) {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx:"
                   ":bytes [%0], [%1], %2, [%3];" ::"r"(base + to),
                   "l"(from), "r"(bytes), "r"(barrier)
                   : "memory");
    };
    copy(16, in, 2048);
    copy(2064, in + 700, 16);
    copy(2112, in + 600, 1040);
  }
  barrierWait(barrier, 0);
  for (u32 at = i; at < 1024; at += 128)
    out[at] = ((u32 *)stage)[at];
}

//! store in=bits:1024 out=1024 block=128 shared=4096
KERNEL store(const u32 *in, u32 *out) {
  extern __shared__ __align__(128) u8 stage[];
  u32 i = threadIdx.x, base = sharedAddress(stage);
  for (u32 at = i; at < 1024; at += 128)
    ((u32 *)stage)[at] = in[at] ^ 0x5555;
  fenceAsync();
  __syncthreads();
  if (i == 0) {
    auto copy = [&](u32 *to, u32 from, u32 bytes) {
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
              to),
          "r"(base + from), "r"(bytes)
          : "memory");
    };
    copy(out, 1024, 512);
    copy(out + 132, 0, 16);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    copy(out + 512, 2048, 2048);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    ((u32 *)stage)[0] = 0;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// In place of `out` each time: what a reduction finds is written before.
#define REDUCE(kernel, text)                                                   \
  KERNEL kernel(const u32 *in, u32 *out) {                                     \
    extern __shared__ __align__(128) u8 stage[];                               \
    u32 i = threadIdx.x;                                                       \
    ((u32 *)stage)[i] = in[i];                                                 \
    out[i] = in[128 + i];                                                      \
    __threadfence();                                                           \
    asm volatile("fence.proxy.async;" ::: "memory");                           \
    __syncthreads();                                                           \
    if (i == 0) {                                                              \
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." text  \
                   " [%0], [%1], 512;" ::"l"(out),                             \
                   "r"(sharedAddress(stage))                                   \
                   : "memory");                                                \
      asm volatile("cp.async.bulk.commit_group;\n"                             \
                   "cp.async.bulk.wait_group 0;" ::                            \
                       : "memory");                                            \
    }                                                                          \
  }
//! addU32 in=bits:256 out=128 block=128 shared=512
REDUCE(addU32, "add.u32")
//! addS32 in=bits:256 out=128 block=128 shared=512
REDUCE(addS32, "add.s32")
//! addU64 in=bits:256 out=128 block=128 shared=512
REDUCE(addU64, "add.u64")
//! minU32 in=bits:256 out=128 block=128 shared=512
REDUCE(minU32, "min.u32")
//! maxS32 in=bits:256 out=128 block=128 shared=512
REDUCE(maxS32, "max.s32")
//! minS64 in=bits:256 out=128 block=128 shared=512
REDUCE(minS64, "min.s64")
//! maxU64 in=bits:256 out=128 block=128 shared=512
REDUCE(maxU64, "max.u64")
//! incU32 in=bits:256 out=128 block=128 shared=512
REDUCE(incU32, "inc.u32")
//! decU32 in=bits:256 out=128 block=128 shared=512
REDUCE(decU32, "dec.u32")
//! andB32 in=bits:256 out=128 block=128 shared=512
REDUCE(andB32, "and.b32")
//! orB32 in=bits:256 out=128 block=128 shared=512
REDUCE(orB32, "or.b32")
//! xorB64 in=bits:256 out=128 block=128 shared=512
REDUCE(xorB64, "xor.b64")
//! addF32 in=f32:256 out=128 block=128 shared=512
REDUCE(addF32, "add.f32")
//! addF64 in=f64:256 out=128 block=128 shared=512
REDUCE(addF64, "add.f64")
//! addF16 in=f16:256 out=128 block=128 shared=512
REDUCE(addF16, "add.noftz.f16")
//! addBF16 in=bf16:256 out=128 block=128 shared=512
REDUCE(addBF16, "add.noftz.bf16")
//! minF16 in=f16:256 out=128 block=128 shared=512
REDUCE(minF16, "min.f16")
//! maxF16 in=f16:256 out=128 block=128 shared=512
REDUCE(maxF16, "max.f16")
//! minBF16 in=bf16:256 out=128 block=128 shared=512
REDUCE(minBF16, "min.bf16")
//! maxBF16 in=bf16:256 out=128 block=128 shared=512
REDUCE(maxBF16, "max.bf16")

// Into shared memory of the block itself, adding to what is there.
//! toShared in=bits:256 out=128 block=128 shared=1024 cluster=2 grid=2
KERNEL toShared(const u32 *in, u32 *out) {
  extern __shared__ __align__(128) u8 stage[];
  __shared__ __align__(8) u64 done;
  u32 i = threadIdx.x, base = sharedAddress(stage), barrier = sharedAddress(&done);
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  ((u32 *)stage)[i] = in[i] + rank;
  ((u32 *)stage)[128 + i] = in[128 + i];
  if (i == 0) {
    barrierInit(barrier, 1);
    fenceBarrierInit();
    if (rank == 1)
      barrierExpect(barrier, 512);
  }
  fenceAsync();
  clusterSync();
  if (rank == 0 && i == 0) {
    u32 to, remote;
    asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(to) : "r"(base + 512));
    asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(remote) : "r"(barrier));
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx:"
        ":bytes.add.u32 [%0], [%1], 512, [%2];" ::"r"(to),
        "r"(base), "r"(remote)
        : "memory");
  }
  if (rank == 1) {
    barrierWait(barrier, 0);
    out[i] = ((u32 *)stage)[128 + i];
  }
  clusterSync();
}
