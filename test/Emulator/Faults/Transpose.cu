// Tiles of 32 x 32 words transposed through shared memory, two tiles a block,
// one after the other. 32 x 8 threads, two blocks.
#include "Prelude.cuh"

KERNEL transpose(const u32 *in, u32 *out, int n) {
  __shared__ u32 tile[PICK(2, 31, 32)][33];
  int x = threadIdx.x;
  for (int t = 0; t < 2; ++t) {
    int column = (blockIdx.x * 2 + t) * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
      tile[y][x] = in[y * n + column + x + PICK(4, 4 * n, 0)]; // fault 2: a row short [out-of-bounds] fault 3: the next tile overwrites [shared-race] fault 4: rows beyond the end [out-of-bounds]
    UNLESS(1, __syncthreads());
    for (int y = threadIdx.y; y < 32; y += 8)
      out[(column + y) * 32 + x] = tile[x][y]; // fault 1: no barrier [shared-race]
    UNLESS(3, __syncthreads());
    if (FAULT == 5 && threadIdx.y == 0)
      out[0] = *(const u64 *)&tile[x][1]; // fault 5: rows are not aligned [misaligned]
  }
}
