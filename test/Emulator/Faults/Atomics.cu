// A histogram: in shared memory, then added to global memory. 128 threads, two
// blocks.
#include "Prelude.cuh"

KERNEL histogram(const u32 *in, u32 *out, int n) {
  __shared__ u32 bins[16];
  int i = threadIdx.x;
  if (i < PICK(5, 15, 16))
    bins[i] = 0; // fault 1: no barrier after the zeros [shared-race]
  UNLESS(1, __syncthreads());
  for (int at = blockIdx.x * 128 + i; at < n; at += 256)
    if (FAULT == 2)
      ++bins[in[at] & 15]; // fault 2: not atomic [shared-race]
    else
      atomicAdd(&bins[in[at] & 15], 1); // fault 5: a bin nobody zeroed [uninitialized]
  UNLESS(3, __syncthreads());
  if (i < 16) {
    u32 count = bins[i]; // fault 3: no barrier before the counts are read [shared-race]
    if (FAULT == 4)
      out[i] += count; // fault 4: blocks without order [global-race]
    else if (FAULT == 6)
      atomicAdd_block(&out[i], count); // fault 6: the scope is too narrow [global-race]
    else
      atomicAdd(&out[i], count);
  }
}
