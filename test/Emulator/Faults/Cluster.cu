// Two blocks of a cluster. multicast: each loads half of a tile and sends it to
// both; a ring of one stage, with consumers that free it in both blocks.
// reduction: each sums, and reads the sum of the other. handOver: a relaxed
// barrier of the cluster orders what fences before it say. 128 threads.
#include "Prelude.cuh"

constexpr int ROWS = 8, BYTES = 2 * ROWS * 128;

KERNEL __cluster_dims__(2, 1, 1) multicast(const __grid_constant__ TensorMap map, u32 *out, int steps) {
  __shared__ __align__(1024) u32 tile[2][ROWS][32];
  __shared__ __align__(8) u64 full, empty;
  u32 rank = blockIdx.x % 2;
  int i = threadIdx.x;
  if (i == 0) {
    BAR_INIT(SHARED(&full), 1);
    BAR_INIT(SHARED(&empty), PICK(4, 1, 2)); // fault 4: one block is enough
    BAR_INIT_FENCE;
  }
  UNLESS(1, CLUSTER_ARRIVE; CLUSTER_WAIT);
  ONLY(1, __syncthreads());
  u32 sum = 0;
  for (int step = 0; step < steps; ++step) {
    if (i == 0) {
      UNLESS(2, BAR_WAIT_CLUSTER(SHARED(&empty), (step & 1) ^ 1)); // fault 3: the other block is not told [deadlock]
      BAR_EXPECT(SHARED(&full), BYTES);
      TENSOR_LOAD_MULTICAST(SHARED(tile[rank]), &map, 0, (step * 2 + rank) * ROWS, SHARED(&full), 3); // fault 1: the barrier of the other is not there yet [barrier-misuse|shared-race] fault 2: the other may still read [shared-race|overwritten-in-flight|transaction-count] fault 4: the other may still read [shared-race|overwritten-in-flight|transaction-count]
    }
    BAR_WAIT_CLUSTER(SHARED(&full), step & 1);
    for (int row = 0; row < 2 * ROWS; row += 4)
      sum = sum * 5 + (&tile[0][0][0])[row * 32 + i];
    __syncthreads();
    if (i == 0) {
      BAR_ARRIVE_REMOTE(SHARED(&empty), 0);
      UNLESS(3, BAR_ARRIVE_REMOTE(SHARED(&empty), 1));
    }
  }
  out[blockIdx.x * 128 + i] = sum;
  // Nobody leaves while the other may still send or arrive.
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
}

KERNEL __cluster_dims__(2, 1, 1) reduction(const u32 *in, u32 *out) {
  __shared__ u32 sum;
  int i = threadIdx.x;
  if (i == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * 128 + i]);
  UNLESS(5, CLUSTER_ARRIVE; CLUSTER_WAIT);
  ONLY(5, __syncthreads());
  u32 there = 0, value = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(SHARED(&sum)), "r"((blockIdx.x & 1) ^ 1));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there + PICK(7, 1 << 20, 0)) : "memory"); // fault 5: the other has not summed yet [shared-race] fault 6: the other may have ended [shared-race] fault 7: beyond its memory [out-of-bounds] fault 8: overwritten too early [shared-race]
  out[blockIdx.x * 128 + i] = value;
  if (FAULT == 8 && i == 0)
    sum = 1; // fault 8: overwritten too early [shared-race]
  UNLESS(6, CLUSTER_ARRIVE; CLUSTER_WAIT);
}

KERNEL __cluster_dims__(2, 1, 1) handOver(const u32 *in, u32 *out) {
  __shared__ u32 mine[128];
  __shared__ __align__(8) u64 full;
  int i = threadIdx.x;
  u32 other = (blockIdx.x & 1) ^ 1, there = 0, value = 0;
  if (i == 0) {
    BAR_INIT(SHARED(&full), PICK(13, 129, 128));
    UNLESS(9, BAR_INIT_FENCE);
  }
  if (i >= 32) {
    mine[i] = in[blockIdx.x * 128 + i];
    // That fence is for mbarriers alone.
    UNLESS(10, CLUSTER_FENCE);
    ONLY(10, BAR_INIT_FENCE);
  }
  UNLESS(12, CLUSTER_ARRIVE_RELAXED; CLUSTER_WAIT);
  ONLY(12, __syncthreads());
  if (i >= 32) {
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(SHARED(&mine[i])), "r"(other));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory"); // fault 10: not released [shared-race]
  }
  BAR_ARRIVE_REMOTE(SHARED(&full), other); // fault 9: the relaxed barrier does not tell of it [shared-race] fault 12: the barrier of the block does not [shared-race|barrier-misuse]
  BAR_WAIT_CLUSTER(SHARED(&full), 0); // fault 13: one arrival fewer [deadlock]
  ONLY(11, BAR_INIT(SHARED(&full), 128)); // fault 11: initialized again [barrier-misuse]
  out[blockIdx.x * 128 + i] = value;
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
}

// A bulk copy into the other block, which waits for it: the mbarrier there must
// have been made known to this one. Of the own block a barrier tells.
KERNEL __cluster_dims__(2, 1, 1) send(const u32 *in, u32 *out) {
  __shared__ __align__(16) u32 tile[128], got[128];
  __shared__ __align__(8) u64 full, own;
  int i = threadIdx.x;
  u32 other = (blockIdx.x & 1) ^ 1;
  if (i == 0) {
    BAR_INIT(SHARED(&own), 1);
    BAR_INIT(SHARED(&full), 1);
    UNLESS(14, BAR_INIT_FENCE);
  }
  CLUSTER_ARRIVE_RELAXED;
  __syncthreads();
  if (i == 0) {
    BAR_EXPECT(SHARED(&full), 512);
    BAR_EXPECT(SHARED(&own), 512);
    BULK_LOAD(SHARED(tile), in + blockIdx.x * 128, 512, SHARED(&own));
    BAR_WAIT(SHARED(&own), 0);
  }
  UNLESS(15, CLUSTER_WAIT);
  if (i == 0) {
    asm volatile("{ .reg .b32 data, bar; mapa.shared::cluster.u32 data, %0, %3; mapa.shared::cluster.u32 bar, %2, %3; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [data], [%1], 512, [bar]; }" ::"r"(SHARED(got)), "r"(SHARED(tile)), "r"(SHARED(&full)), "r"(other) : "memory"); // fault 14: not known here [shared-race] fault 15: without waiting [shared-race|barrier-misuse]
  }
  BAR_WAIT_CLUSTER(SHARED(&full), 0);
  out[blockIdx.x * 128 + i] = got[i];
  ONLY(15, CLUSTER_WAIT);
  CLUSTER_ARRIVE;
  CLUSTER_WAIT;
}
