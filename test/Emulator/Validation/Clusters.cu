// Clusters: distributed shared memory, remote barriers, multicast.

//! distributed in=bits:512 out=1032 block=128 grid=4 cluster=4
KERNEL distributed(const u32 *in, u32 *out) {
  __shared__ u32 values[128];
  THREAD;
  u32 rank, blocks;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  values[threadIdx.x] = in[i];
  clusterSync();
  u32 address, r;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(sharedAddress(values + (threadIdx.x ^ 1))), "r"((rank + 1) % blocks));
  asm volatile("ld.shared::cluster.u32 %0, [%1];"
               : "=r"(r)
               : "r"(address)
               : "memory");
  PUT(r);
  u64 generic;
  asm("mapa.u64 %0, %1, %2;"
      : "=l"(generic)
      : "l"(values + (threadIdx.x ^ 2)), "r"((rank + 3) % blocks));
  u32 owner;
  asm("getctarank.u64 %0, %1;" : "=r"(owner) : "l"(generic));
  PUT(*(u32 *)generic * 4 + owner);
  clusterSync();
  // A word of the next block, added to by all of this one.
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(sharedAddress(values)), "r"(rank ^ 1));
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;"
               : "=r"(r)
               : "r"(address), "r"(threadIdx.x)
               : "memory");
  if (threadIdx.x & 1)
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address +
                                                          4 * threadIdx.x),
                 "r"(threadIdx.x * 3)
                 : "memory");
  clusterSync();
  if (threadIdx.x < 2)
    out[2 * count + 2 * rank + threadIdx.x] = values[threadIdx.x];
}

// Arrivals at the barrier of another block, and st.async with its bytes.
//! remote in=bits:256 out=256 block=128 grid=2 cluster=2
KERNEL remote(const u32 *in, u32 *out) {
  __shared__ __align__(16) u32 values[128];
  __shared__ __align__(8) u64 arrived, sent;
  THREAD;
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    barrierInit(sharedAddress(&arrived), 128);
    barrierInit(sharedAddress(&sent), 1);
    fenceBarrierInit();
    barrierExpect(sharedAddress(&sent), 512);
  }
  clusterSync();
  u32 to, bytesBarrier, barrier;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(to)
      : "r"(sharedAddress(values + (threadIdx.x ^ 7))), "r"(rank ^ 1));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(bytesBarrier)
      : "r"(sharedAddress(&sent)), "r"(rank ^ 1));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(barrier)
      : "r"(sharedAddress(&arrived)), "r"(rank ^ 1));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 "
               "[%0], %1, [%2];" ::"r"(to),
               "r"(in[i]), "r"(bytesBarrier)
               : "memory");
  barrierWait(sharedAddress(&sent), 0);
  PUT(values[threadIdx.x]);
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
          barrier)
      : "memory");
  asm volatile(
      "{.reg .pred p;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
      "@!p bra again;}" ::"r"(sharedAddress(&arrived))
      : "memory");
  clusterSync();
}

// Shared memory of one block to that of another.
//! bulk in=bits:512 out=512 block=128 grid=2 cluster=2 shared=4096
KERNEL bulk(const u32 *in, u32 *out) {
  extern __shared__ __align__(1024) u8 stage[];
  __shared__ __align__(8) u64 done;
  u32 i = threadIdx.x, base = sharedAddress(stage), barrier = sharedAddress(&done);
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (u32 at = i; at < 256; at += 128)
    ((u32 *)stage)[at] = in[rank * 256 + at];
  if (i == 0) {
    barrierInit(barrier, 1);
    fenceBarrierInit();
    barrierExpect(barrier, 1024);
  }
  fenceAsync();
  clusterSync();
  if (i == 0) {
    u32 to, remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(to)
        : "r"(base + 2048), "r"(rank ^ 1));
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(remote)
        : "r"(barrier), "r"(rank ^ 1));
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_"
                 "tx::bytes [%0], [%1], 1024, [%2];" ::"r"(to),
                 "r"(base), "r"(remote)
                 : "memory");
  }
  barrierWait(barrier, 0);
  for (u32 at = i; at < 256; at += 128)
    out[rank * 256 + at] = ((u32 *)stage)[512 + at];
  clusterSync();
}

// One copy for all blocks of the cluster, and a tensor's.
//! multicast in=bits:512 out=1024 block=128 grid=4 cluster=4 shared=4096 map=in,u32,32x16,128,32x4,1x1,128
KERNEL multicast(const u32 *in, u32 *out, const __grid_constant__ Map map) {
  extern __shared__ __align__(1024) u8 stage[];
  __shared__ __align__(8) u64 done;
  u32 i = threadIdx.x, base = sharedAddress(stage), barrier = sharedAddress(&done);
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (i == 0) {
    barrierInit(barrier, 1);
    fenceBarrierInit();
    // Ranks 0 and 2 get both copies, the others one.
    barrierExpect(barrier, rank % 2 == 0 ? 1024 : 512);
  }
  for (u32 at = i; at < 1024; at += 128)
    ((u32 *)stage)[at] = 7;
  fenceAsync();
  clusterSync();
  if (rank == 1 && i == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster [%0], [%1], 512, [%2], %3;" ::"r"(base + 1024),
        "l"(in + 200), "r"(barrier), "h"((u16)15)
        : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
                 "[%4], %5;" ::"r"(base),
                 "l"(&map), "r"(0), "r"(5), "r"(barrier), "h"((u16)5)
                 : "memory");
  }
  barrierWait(barrier, 0);
  out[rank * 256 + i] = ((u32 *)stage)[i];
  out[rank * 256 + 128 + i] = ((u32 *)stage)[256 + i];
  clusterSync();
}
