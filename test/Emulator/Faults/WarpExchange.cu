// Each warp turns a tile of 32 x 4 words in shared memory of its own; then
// votes and shuffles. 64 threads.
#include "Prelude.cuh"

KERNEL exchange(const u32 *in, u32 *out) {
  __shared__ u32 tiles[2][32 * 4 + PICK(4, -8, 0)];
  u32 *tile = tiles[threadIdx.x / 32];
  int i = threadIdx.x, lane = i % 32;
  u32 sums[2];
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < 4; ++k)
      tile[k * 32 + lane] = in[k * 64 + i] + round; // fault 2: the next round overwrites [shared-race] fault 4: the tiles overlap [shared-race|out-of-bounds]
    UNLESS(1, __syncwarp());
    u32 sum = 0;
    for (int k = 0; k < 4; ++k)
      sum = sum * 3 + tile[lane * 4 + k]; // fault 1: lanes without order [shared-race]
    UNLESS(2, __syncwarp());
    sums[round] = sum;
  }
  for (int round = 0; round < 2; ++round) {
    u32 sum = sums[round];
    if (FAULT == 3 && lane < 7)
      sum += __shfl_xor_sync(0xffffffff, sum, 1); // fault 3: some lanes are not there [divergent-aligned|deadlock|barrier-misuse]
    else
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
    out[round * 64 + i] = sum;
  }
}
