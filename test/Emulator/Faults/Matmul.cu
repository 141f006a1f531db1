// C[128 x 8] = A[128 x K] B[8 x K]^T, bf16 to f32: one warpgroup loads by tensor
// copies into a ring, two multiply 64 rows each, and store by tensor copies.
// 384 threads. That a stage is free is told by `releasers` threads of each
// warpgroup, one for each warp or one for all: a wait for products stands for
// the whole warpgroup.
#include "Prelude.cuh"

constexpr int STAGES = PICK(15, 3, 2), DEPTH = 64;
struct alignas(1024) Stage {
  u8 a[128 * 128];
  u8 b[8 * 128];
};
constexpr int BYTES = sizeof(Stage);

KERNEL __launch_bounds__(384, 1) matmul(const __grid_constant__ TensorMap mapA, const __grid_constant__ TensorMap mapB, const __grid_constant__ TensorMap mapC, int steps, int releasers) {
  extern __shared__ __align__(1024) u8 memory[];
  __shared__ __align__(8) u64 full[2], empty[2];
  Stage *stages = (Stage *)memory;
  float(*tiles)[64][8] = (float(*)[64][8])(memory + 2 * BYTES);
  int i = threadIdx.x, group = i / 128;
  if (i == 0) {
    for (int s = 0; s < 2; ++s) {
      BAR_INIT(SHARED(&full[s]), 1);
      BAR_INIT(SHARED(&empty[s]), PICK(7, releasers, PICK(8, 2 * releasers + 1, 2 * releasers)));
    }
    BAR_INIT_FENCE;
  }
  __syncthreads();
  if (group == 0) {
    SETMAXNREG_DEC(24);
    if (i == 0) {
      for (int step = 0; step < steps; ++step) {
        int s = step % STAGES;
        UNLESS(1, BAR_WAIT(SHARED(&empty[s]), (step / STAGES & 1) ^ PICK(2, 0, 1))); // fault 2: the wrong parity [deadlock] fault 8: an arrival that never comes [deadlock] fault 9: nobody arrives [deadlock] fault 7: phases end too early [deadlock] fault 15: a third stage of two [out-of-bounds|barrier-misuse]
        u32 bar = SHARED(&full[s]);
        BAR_EXPECT(bar, PICK(10, BYTES + 128, BYTES));
        TENSOR_LOAD(SHARED(stages[s].a), &mapA, step * DEPTH, 0, bar); // fault 1: no wait for a free stage [overwritten-in-flight]
        TENSOR_LOAD(SHARED(stages[s].b) + PICK(11, 64, 0), &mapB, step * DEPTH, 0, bar); // fault 11: the destination is misaligned [misaligned] fault 4: freed before the products are done [overwritten-in-flight] fault 22: freed while the last products run [overwritten-in-flight] fault 7: one of two consumers is enough [overwritten-in-flight]
      }
    }
    return;
  }
  SETMAXNREG_INC(PICK(12, 248, 240)); // fault 12: more registers than there are [register-pool|deadlock]
  int part = group - 1, lane = i % 128;
  float acc[4];
  for (int v = 0; v < 4; ++v)
    acc[v] = 0;
  for (int step = 0; step < steps; ++step) {
    int s = step % STAGES;
    UNLESS(3, BAR_WAIT(SHARED(&full[s]), step / STAGES & 1)); // fault 10: bytes that never come [deadlock] fault 14: a box one row short [deadlock] fault 7: phases end too early [deadlock]
    u64 a = DESCRIPTOR(SHARED(stages[s].a) + part * 64 * 128, PICK(13, 2048, 1024)), b = DESCRIPTOR(SHARED(stages[s].b), 1024);
    UNLESS(5, WGMMA_FENCE);
    for (int k = 0; k < DEPTH / 16; ++k)
      WGMMA(acc, a + k * 2, b + k * 2, 1); // fault 3: no wait for the copies [read-in-flight|uninitialized] fault 5: registers written, no fence [missing-wgmma-fence] fault 13: the stride of rows is wrong [uninitialized|out-of-bounds|read-in-flight|shared-race]
    WGMMA_COMMIT;
    UNLESS(4, WGMMA_WAIT(PICK(22, 1, 0)));
    ONLY(6, WGMMA_FENCE; WGMMA(acc, a, b, 1); acc[0] += 1); // fault 6: a register of a product under way [register-in-flight]
    if (FAULT != 9 && lane % (128 / releasers) == 0)
      BAR_ARRIVE(SHARED(&empty[s]));
  }
  WGMMA_WAIT(0);
  if (FAULT == 16) {
    WGMMA_FENCE;
    WGMMA(acc, DESCRIPTOR(SHARED(stages[0].a), 1024), DESCRIPTOR(SHARED(stages[0].b), 1024), 1);
    WGMMA_COMMIT;
  }
  // Row and column of an accumulator, as wgmma has them.
  for (int v = 0; v < 4; ++v) {
    int row = lane / 32 * 16 + lane % 32 / 4 + v / 2 * 8;
    tiles[part][row][lane % 4 * 2 + v % 2] = acc[v]; // fault 16: registers of a product under way [register-in-flight]
  }
  UNLESS(17, PROXY_FENCE);
  UNLESS(18, NAMED_SYNC(PICK(19, 1, 1 + part), PICK(20, 160, 128))); // fault 20: more threads than come [deadlock|barrier-misuse]
  if (lane == 0) {
    TENSOR_STORE(&mapC, 0, part * 64, SHARED(tiles[part])); // fault 17: no proxy fence [missing-proxy-fence] fault 18: not all have written [shared-race] fault 19: two groups at one barrier [shared-race sometimes]
    BULK_COMMIT;
    UNLESS(21, BULK_WAIT_READ(0));
  }
  if (FAULT == 21) {
    NAMED_SYNC(3 + part, 128);
    tiles[part][lane / 2][0] = 0; // fault 21: the store still reads [overwritten-in-flight]
  }
}
