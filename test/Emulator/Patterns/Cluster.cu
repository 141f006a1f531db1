// Blocks of a cluster and their shared memory.
#include "Prelude.cuh"

#define MAPA(to, from, rank) asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(from), "r"(rank))
#define LD_REMOTE(v, at) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory")
#define ST_REMOTE(at, v) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(v) : "memory")

// run: grid=4 cluster=2 block=32 -> none
KERNEL exchange(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  s[threadIdx.x] = blockIdx.x;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  u32 at, value;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  LD_REMOTE(value, at);
  b[blockIdx.x * 32 + threadIdx.x] = value;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
}

// run: grid=4 cluster=2 block=32 -> shared-race
KERNEL read_after_the_peer_ended(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  s[threadIdx.x] = blockIdx.x;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  u32 at, value;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  LD_REMOTE(value, at);
  b[blockIdx.x * 32 + threadIdx.x] = value;
}

// Nothing is to be known of memory, only that the other is so far.
// run: grid=4 cluster=2 block=32 -> none
KERNEL end_after_a_relaxed_arrival(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  s[threadIdx.x] = blockIdx.x;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  u32 at, value;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  LD_REMOTE(value, at);
  b[blockIdx.x * 32 + threadIdx.x] = value;
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  CLUSTER_WAIT;
}

// run: grid=4 cluster=2 block=32 -> shared-race
KERNEL write_after_the_peer_ended(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  s[threadIdx.x] = blockIdx.x;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  u32 at;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  ST_REMOTE(at, 3);
}

// run: grid=2 cluster=2 block=32 -> shared-race|barrier-misuse
KERNEL arrive_after_the_peer_ended(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  if (threadIdx.x == 0) {
    BAR_INIT(SHARED(&bar), 1);
    BAR_INIT_FENCE;
  }
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  if (threadIdx.x == 0)
    BAR_ARRIVE_REMOTE(SHARED(&bar), (blockIdx.x & 1) ^ 1);
}

// Waiting for what the peer does is enough.
// run: grid=2 cluster=2 block=32 -> none
KERNEL wait_for_the_arrival(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  __shared__ u32 s[32];
  if (threadIdx.x == 0) {
    BAR_INIT(SHARED(&bar), 32);
    BAR_INIT_FENCE;
  }
  s[threadIdx.x] = blockIdx.x;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  u32 at, value;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  LD_REMOTE(value, at);
  b[blockIdx.x * 32 + threadIdx.x] = value;
  BAR_ARRIVE_REMOTE(SHARED(&bar), (blockIdx.x & 1) ^ 1);
  BAR_WAIT_CLUSTER(SHARED(&bar), 0);
}

// One thread of the block is enough to keep it.
// run: grid=2 cluster=2 block=64 -> none
KERNEL one_warp_stays(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  __shared__ u32 s[32];
  if (threadIdx.x == 0) {
    BAR_INIT(SHARED(&bar), 32);
    BAR_INIT_FENCE;
  }
  if (threadIdx.x < 32)
    s[threadIdx.x] = blockIdx.x;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  if (threadIdx.x < 32) {
    u32 at, value;
    MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
    LD_REMOTE(value, at);
    b[blockIdx.x * 32 + threadIdx.x] = value;
    BAR_ARRIVE_REMOTE(SHARED(&bar), (blockIdx.x & 1) ^ 1);
  } else if (threadIdx.x == 32) {
    BAR_WAIT_CLUSTER(SHARED(&bar), 0);
  }
}

// Blocks that do not touch each other may end when they like.
// run: grid=4 cluster=2 block=64 -> none
KERNEL no_exchange(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

// run: grid=2 cluster=2 block=32 -> shared-race
KERNEL remote_write_without_order(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  s[threadIdx.x] = 0;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  u32 at;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  ST_REMOTE(at, 3);
  b[threadIdx.x + 32 * blockIdx.x] = s[threadIdx.x];
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
}

// The peer may not have begun.
// run: grid=2 cluster=2 block=32 -> shared-race
KERNEL write_before_the_peer_began(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  u32 at;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  ST_REMOTE(at, 3);
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  b[threadIdx.x + 32 * blockIdx.x] = s[threadIdx.x];
}

// run: grid=2 cluster=2 block=32 -> none
KERNEL write_after_a_relaxed_arrival(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  u32 at;
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  CLUSTER_WAIT;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  ST_REMOTE(at, 3);
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  b[threadIdx.x + 32 * blockIdx.x] = s[threadIdx.x];
}

// run: grid=2 cluster=2 block=32 -> none
KERNEL write_when_the_peer_has_begun(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  u32 at;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  MAPA(at, SHARED(&s[threadIdx.x]), (blockIdx.x & 1) ^ 1);
  ST_REMOTE(at, 3);
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
  b[threadIdx.x + 32 * blockIdx.x] = s[threadIdx.x];
}
