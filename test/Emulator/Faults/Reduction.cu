// A sum through shared memory: a tree whose last steps are those of one warp.
// The sum goes to all threads, and each stores its share.
// 128 threads.
#include "Prelude.cuh"

KERNEL reduction(const float *in, float *out, int n) {
  __shared__ float parts[128];
  __shared__ float sum;
  int i = threadIdx.x;
  float mine = 0;
  for (int at = i; at < PICK(8, n + 128, n); at += 128)
    mine += in[at]; // fault 8: the bound is wrong [out-of-bounds]
  if (i < PICK(5, 127, 128))
    parts[i] = mine; // fault 1: no barrier before the tree [shared-race]
  UNLESS(1, __syncthreads());
  for (int half = 64; half >= 32; half /= 2) {
    if (i < half)
      parts[i] += parts[i + half]; // fault 2: no barrier in the tree [shared-race] fault 5: one part nobody writes [uninitialized]
    UNLESS(2, __syncthreads());
  }
  if (i < 32) {
    for (int half = 16; half; half /= 2) {
      if (i < half)
        parts[i] += parts[i + half]; // fault 3: lanes without order [shared-race]
      UNLESS(3, __syncwarp());
    }
    if (i == 0)
      sum = parts[0]; // fault 6: read without a barrier [shared-race]
  }
  if (FAULT != 6 && (FAULT != 4 || i % 3))
    __syncthreads(); // fault 4: a barrier not for all lanes [divergent-aligned|deadlock]
  out[i] = sum * i; // fault 4: for them it was no barrier [shared-race]
}
