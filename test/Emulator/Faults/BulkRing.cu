// A ring of stages that bulk copies fill, a block's sum of each tile, and the
// tile plus the sum stored by a bulk copy. One thread issues; all read.
// 128 threads.
#include "Prelude.cuh"

constexpr int STAGES = 3, TILE = 128, BYTES = TILE * 4;

KERNEL ring(const float *in, float *out, int tiles) {
  __shared__ __align__(128) float stages[STAGES][TILE];
  __shared__ __align__(128) float result[TILE];
  __shared__ float parts[2][4];
  __shared__ __align__(8) u64 full[STAGES];
  int i = threadIdx.x;
  auto fetch = [&](int tile) {
    u32 bar = SHARED(&full[tile % STAGES]);
    UNLESS(6, BAR_EXPECT(bar, PICK(4, BYTES + 16, PICK(5, BYTES - 16, BYTES)))); // fault 5: fewer bytes than come [transaction-count]
    ONLY(6, BAR_ARRIVE(bar));
    BULK_LOAD(SHARED(stages[tile % STAGES]) + PICK(8, 8, 0), in + tile * TILE, PICK(9, BYTES - 16, BYTES), bar); // fault 1: refilled before the values are used [overwritten-in-flight] fault 8: the destination is misaligned [misaligned] fault 10: without a barrier [shared-race|overwritten-in-flight] fault 12: copies without a tile [out-of-bounds] fault 6: bytes nobody expects [transaction-count|read-in-flight]
  };
  if (i == 0) {
    for (int s = 0; s < STAGES; ++s)
      BAR_INIT(SHARED(&full[s]), PICK(7, 2, 1));
    ONLY(11, BAR_INIT(SHARED(&full[0]), 1)); // fault 11: initialized twice [barrier-misuse]
    BAR_INIT_FENCE;
  }
  UNLESS(13, __syncthreads());
  if (i == 0)
    for (int tile = 0; tile < STAGES && tile < tiles; ++tile)
      fetch(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    int s = tile % STAGES;
    UNLESS(2, BAR_WAIT(SHARED(&full[s]), (tile / STAGES & 1) ^ PICK(3, 1, 0))); // fault 4: bytes that never come [deadlock] fault 7: arrivals that never come [deadlock] fault 9: fewer bytes than expected [deadlock] fault 13: not initialized for all [barrier-misuse|shared-race]
    float x = stages[s][i]; // fault 2: no wait [read-in-flight] fault 3: the wrong parity [read-in-flight|uninitialized]
    int next = tile + STAGES;
    if (FAULT == 1) {
      __syncthreads();
      if (i == 0 && next < tiles)
        fetch(next);
    }
    float sum = x;
    for (int lane = 16; lane; lane /= 2)
      sum += __shfl_xor_sync(0xffffffff, sum, lane);
    if (i % 32 == 0)
      parts[tile % 2][i / 32] = sum; // fault 10: [shared-race]
    UNLESS(10, __syncthreads());
    if (FAULT != 1 && i == 0 && next < PICK(12, tiles + 1, tiles))
      fetch(next);
    for (int w = 0; w < 4; ++w)
      x += parts[tile % 2][w];
    // The store before must have read what is overwritten.
    if (i == 0)
      UNLESS(14, BULK_WAIT_READ(0));
    UNLESS(15, __syncthreads());
    result[i] = x; // fault 14: the store before still reads [overwritten-in-flight] fault 15: nobody knows that it does not [overwritten-in-flight] fault 18: not committed [overwritten-in-flight]
    UNLESS(16, PROXY_FENCE);
    UNLESS(17, __syncthreads());
    if (i == 0) {
      BULK_STORE(out + tile * TILE, SHARED(result), BYTES); // fault 16: no proxy fence [missing-proxy-fence] fault 17: not all have written [shared-race]
      UNLESS(18, BULK_COMMIT);
    }
  }
  if (i == 0) {
    UNLESS(19, BULK_WAIT(0));
    ONLY(19, BULK_WAIT_READ(0));
    out[0] += 0; // fault 19: read while the store writes [read-in-flight]
  }
}
