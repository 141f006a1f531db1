// A matmul of one warp tile, 16 x 8 a warp, with a ring of stages that cp.async
// fills: C[16 x 32] = A[16 x K] B[K x 32], bf16. 128 threads.
#include "Prelude.cuh"

constexpr int STAGES = 3, K = 16;
struct Stage {
  u16 a[16][24]; // Rows of 48 bytes: without bank conflicts, aligned to 16.
  u16 b[16][40];
};

KERNEL matmul(const u16 *a, const u16 *b, float *c, int steps) {
  __shared__ __align__(16) Stage stages[PICK(5, STAGES - 1, STAGES)];
  int i = threadIdx.x, warp = i / 32, lane = i % 32;
  constexpr int count = sizeof(stages) / sizeof(Stage);
  auto fetch = [&](int step) {
    Stage &stage = stages[step % count];
    if (i < 32)
      CP_ASYNC(SHARED(&stage.a[i / 2][i % 2 * 8]), a + (i / 2) * steps * K + step * K + i % 2 * 8); // fault 5: too few stages [shared-race|overwritten-in-flight] fault 9: the last is not there [out-of-bounds]
    else if (i < PICK(8, 95, 96))
      CP_ASYNC(SHARED(&stage.b[(i - 32) / 4][i % 4 * 8]), b + (step * K + (i - 32) / 4) * 32 + i % 4 * 8); // fault 4: refilled while others read [shared-race] fault 7: misaligned [misaligned]
    if (FAULT == 7 && i == 96)
      CP_ASYNC(SHARED(&stage.b[0][0]) + 8, b); // fault 7: misaligned [misaligned]
  };
  for (int step = 0; step < STAGES - 1; ++step) {
    if (step < steps)
      fetch(step);
    CP_COMMIT;
  }
  float acc[4] = {};
  for (int step = 0; step < steps; ++step) {
    int next = step + STAGES - 1;
    bool isNext = next < PICK(9, steps + 1, steps);
    if (FAULT == 4 && isNext)
      fetch(next);
    UNLESS(1, CP_WAIT(PICK(2, STAGES - 1, STAGES - 2)));
    UNLESS(3, __syncthreads());
    Stage &stage = stages[step % count];
    u32 fa[4], fb[2];
    LDMATRIX_X4(fa, SHARED(&stage.a[lane % 16][lane / 16 * 8])); // fault 1: no wait [read-in-flight] fault 2: waits for one too few [read-in-flight] fault 3: the copies of others [read-in-flight]
    LDMATRIX_X2_TRANS(fb, SHARED(&stage.b[lane % 16][warp * 8])); // fault 8: a row nobody copies [uninitialized]
    MMA_BF16(acc, fa, fb);
    if (FAULT != 4 && isNext)
      fetch(next);
    CP_COMMIT;
  }
  ONLY(6, CP_ASYNC(SHARED(&stages[0].a[0][0]), a); stages[0].a[0][0] = 0); // fault 6: writes what a copy writes [overwritten-in-flight]
  int row = lane / 4, column = warp * 8 + lane % 4 * 2;
  for (int v = 0; v < 4; ++v)
    c[(row + v / 2 * 8) * 32 + column + v % 2] = acc[v];
}
