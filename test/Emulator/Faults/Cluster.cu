// Two blocks of a cluster. multicast: each loads half of a tile and sends it to
// both; a ring of one stage, with consumers that free it in both blocks.
// reduction: each sums, and reads the sum of the other. 128 threads.
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
