// Threads of one block and its shared memory.
#include "Prelude.cuh"

// run: block=64 -> none
KERNEL ordered(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = s[63 - threadIdx.x];
}

// run: block=64 -> shared-race
KERNEL half_word_of_a_word(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  // The last byte of the word of thread 0 is written by thread 32.
  if (threadIdx.x == 32)
    ((volatile u8 *)s)[3] = 1;
  if (threadIdx.x == 0)
    b[0] = ((u16 *)s)[1];
}

// run: block=64 -> none
KERNEL neighboring_bytes(u32 *a, u32 *b) {
  __shared__ u8 s[64];
  s[threadIdx.x] = a[threadIdx.x];
  u32 own = s[threadIdx.x];
  b[threadIdx.x] = own;
}

// run: block=64 -> shared-race
KERNEL vector_over_scalar(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[256];
  reinterpret_cast<uint4 *>(s)[threadIdx.x] = make_uint4(1, 2, 3, 4);
  if (threadIdx.x < 32)
    s[4 * (threadIdx.x + 32) + 3] = a[0];
  __syncthreads();
  b[threadIdx.x] = s[threadIdx.x];
}

// A shuffle orders nothing in memory.
// run: block=32 -> shared-race
KERNEL shuffle_is_no_barrier(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  s[threadIdx.x] = a[threadIdx.x];
  u32 sum = __shfl_xor_sync(~0u, threadIdx.x, 1);
  b[threadIdx.x] = sum + s[threadIdx.x ^ 1];
}

// run: block=64 -> none
KERNEL volatile_flag_with_fences(u32 *a, u32 *b) {
  __shared__ volatile u32 flag;
  __shared__ u32 value;
  if (threadIdx.x == 0)
    flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = 7;
    __threadfence_block();
    flag = 1;
  }
  if (threadIdx.x == 32) {
    while (flag == 0)
      ;
    __threadfence_block();
    b[0] = value;
  }
}

// run: block=64 -> shared-race
KERNEL volatile_flag_without_fences(u32 *a, u32 *b) {
  __shared__ volatile u32 flag;
  __shared__ u32 value;
  if (threadIdx.x == 0)
    flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = 7;
    flag = 1;
  }
  if (threadIdx.x == 32) {
    while (flag == 0)
      ;
    b[0] = *(volatile u32 *)&value;
  }
}

// run: block=64 -> none
KERNEL all_write_the_same_way_in_turn(u32 *a, u32 *b) {
  __shared__ u32 s;
  if (threadIdx.x == 0)
    s = 0;
  for (int i = 0; i < 4; ++i) {
    __syncthreads();
    if (threadIdx.x == 16 * i)
      s += i;
  }
  __syncthreads();
  b[threadIdx.x] = s;
}

// Two slots and one barrier an iteration: the reader of a slot is passed by
// the writer of the next iteration but one, never sooner.
// run: block=64 -> none
KERNEL two_slots(u32 *a, u32 *b) {
  __shared__ u32 s[2][64];
  u32 sum = 0;
  for (int i = 0; i < 6; ++i) {
    s[i % 2][threadIdx.x] = a[threadIdx.x] + i;
    __syncthreads();
    sum += s[i % 2][63 - threadIdx.x];
  }
  b[threadIdx.x] = sum;
}

// run: block=64 -> shared-race
KERNEL one_slot(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  u32 sum = 0;
  for (int i = 0; i < 6; ++i) {
    s[threadIdx.x] = a[threadIdx.x] + i;
    __syncthreads();
    sum += s[63 - threadIdx.x];
  }
  b[threadIdx.x] = sum;
}

// Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
// run: block=128 -> none
KERNEL named_barriers(u32 *a, u32 *b) {
  __shared__ u32 s[128];
  u32 half = threadIdx.x / 64;
  s[threadIdx.x] = a[threadIdx.x];
  NAMED_SYNC(1 + half, 64);
  b[threadIdx.x] = s[threadIdx.x ^ 32];
}

// run: block=128 -> shared-race|uninitialized
KERNEL named_barriers_of_others(u32 *a, u32 *b) {
  __shared__ u32 s[128];
  u32 half = threadIdx.x / 64;
  s[threadIdx.x] = a[threadIdx.x];
  NAMED_SYNC(1 + half, 64);
  b[threadIdx.x] = s[threadIdx.x ^ 64];
}

// run: block=128 -> deadlock
KERNEL named_barrier_for_too_many(u32 *a, u32 *b) {
  if (threadIdx.x < 64)
    NAMED_SYNC(1, 96);
}

// run: block=96 -> barrier-misuse|shared-race|deadlock|uninitialized
KERNEL named_barrier_for_too_few(u32 *a, u32 *b) {
  __shared__ u32 s[96];
  s[threadIdx.x] = a[threadIdx.x];
  NAMED_SYNC(1, 64);
  b[threadIdx.x] = s[95 - threadIdx.x];
}

// A producer arrives and goes on; consumers wait.
// run: block=64 -> none
KERNEL arrive_and_sync(u32 *a, u32 *b) {
  __shared__ u32 s[2][32];
  u32 lane = threadIdx.x % 32;
  for (int i = 0; i < 6; ++i) {
    if (threadIdx.x < 32) {
      if (i >= 2)
        NAMED_SYNC(3 + i % 2, 64);
      s[i % 2][lane] = i;
      NAMED_ARRIVE(1 + i % 2, 64);
    } else {
      NAMED_SYNC(1 + i % 2, 64);
      b[i * 32 + lane] = s[i % 2][31 - lane];
      if (i < 4)
        NAMED_ARRIVE(3 + i % 2, 64);
    }
  }
}

// run: block=64 -> shared-race|uninitialized
KERNEL arrive_in_place_of_sync(u32 *a, u32 *b) {
  __shared__ u32 s[32];
  u32 lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    s[lane] = a[lane];
    NAMED_SYNC(1, 64);
  } else {
    NAMED_ARRIVE(1, 64);
    b[lane] = s[lane];
  }
}

// run: block=64 -> uninitialized
KERNEL padding_is_read(u32 *a, u32 *b) {
  __shared__ u32 s[65];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = s[threadIdx.x + 1];
}

// A reduction by warps, each with its own word, and one that sums them.
// run: block=256 -> none
KERNEL block_reduction(u32 *a, u32 *b) {
  __shared__ u32 parts[8];
  u32 sum = a[threadIdx.x];
  for (int i = 16; i; i /= 2)
    sum += __shfl_xor_sync(~0u, sum, i);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = threadIdx.x < 8 ? parts[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    for (int i = 4; i; i /= 2)
      sum += __shfl_xor_sync(~0u, sum, i);
  if (threadIdx.x == 0)
    b[0] = sum;
}

// The classic of the first samples, with the barrier of a warp.
// run: block=64 -> none
KERNEL tree_in_a_warp(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 32; i; i /= 2) {
      u32 other = s[threadIdx.x + (i == 32 ? 32 : i) % 64];
      __syncwarp();
      s[threadIdx.x] += other;
      __syncwarp();
    }
    if (threadIdx.x == 0)
      b[0] = s[0];
  }
}

// run: block=64 -> shared-race
KERNEL tree_without_barriers(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32)
    for (int i = 16; i; i /= 2)
      s[threadIdx.x] += s[threadIdx.x + i];
  if (threadIdx.x == 0)
    b[0] = s[0];
}

// An early return: those who are left meet alone.
// run: block=96 -> none
KERNEL some_return_early(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  if (threadIdx.x >= 64)
    return;
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = s[63 - threadIdx.x];
}

// run: block=64 -> none
KERNEL votes_decide_a_barrier(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  s[threadIdx.x] = a[threadIdx.x];
  if (__syncthreads_or(threadIdx.x == 5))
    b[threadIdx.x] = s[63 - threadIdx.x];
}

// run: block=64 -> none
KERNEL atomics_and_barrier(u32 *a, u32 *b) {
  __shared__ u32 sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, a[threadIdx.x] + 1);
  __syncthreads();
  b[threadIdx.x] = sum;
}

// run: block=64 -> shared-race
KERNEL atomics_without_barrier(u32 *a, u32 *b) {
  __shared__ u32 sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  u32 own = atomicAdd(&sum, a[threadIdx.x] + 1);
  b[threadIdx.x] = sum + own;
}

// A stage that one warp fills is reused for something else.
// run: block=64 -> shared-race
KERNEL reuse_of_a_scratch(u32 *a, u32 *b) {
  __shared__ u32 s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  u32 x = s[63 - threadIdx.x];
  b[64 + threadIdx.x] = x;
  if (threadIdx.x % 32 == 0)
    s[threadIdx.x / 32] = x;
  __syncthreads();
  b[threadIdx.x] = s[0] + s[1];
}

// ldmatrix reads what other lanes name.
// run: block=64 -> shared-race|uninitialized
KERNEL ldmatrix_of_others(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[2][128];
  u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, r[4];
  for (int i = 0; i < 4; ++i)
    s[warp][i * 32 + lane] = a[i];
  __syncwarp();
  LDMATRIX_X4(r, SHARED(&s[warp ^ 1][lane * 4]));
  b[threadIdx.x] = r[0] + r[1] + r[2] + r[3];
}

// run: block=64 -> none
KERNEL ldmatrix_of_the_warp(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[2][128];
  u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, r[4];
  for (int i = 0; i < 4; ++i)
    s[warp][i * 32 + lane] = a[i];
  __syncwarp();
  LDMATRIX_X4(r, SHARED(&s[warp][lane * 4]));
  b[threadIdx.x] = r[0] + r[1] + r[2] + r[3];
}
