// Order between blocks that goes through words of global memory, as CUDA C++
// has it: atomics and volatile accesses between __threadfence(), and what
// plain accesses may do to such a word itself. 64 threads, several blocks.
#include "Prelude.cuh"

// The last block to finish sums the parts, and resets the counter by a plain
// store: its atomic has observed those of all others.
KERNEL tickets(const float *in, float *out, float *parts, u32 *counter) {
  __shared__ u32 ticket;
  int i = threadIdx.x;
  parts[blockIdx.x * 64 + i] = in[blockIdx.x * 64 + i]; // fault 1: nothing is released [global-race]
  UNLESS(1, __threadfence());
  __syncthreads();
  if (i == 0)
    ticket = atomicInc(counter, 1000); // fault 3: reset by a block that has not seen all [global-race]
  __syncthreads();
  if (FAULT == 3 && i == 0 && ticket == 0)
    *counter = 1;
  if (ticket != gridDim.x - 1)
    return;
  UNLESS(2, __threadfence());
  float sum = 0;
  for (int b = 0; b < gridDim.x; ++b)
    sum += parts[b * 64 + i]; // fault 2: nothing is acquired [global-race]
  out[i] = sum;
  if (i == 0)
    *counter = 0;
}

// A lock: fences on both sides of it, or none.
KERNEL spinLock(const float *in, float *sum, u32 *lock) {
  for (int turn = 0; turn < 2; ++turn) {
    if (threadIdx.x % 32 == 0) {
      while (atomicCAS(lock, 0, 1) != 0)
        __nanosleep(20);
      UNLESS(4, __threadfence());
      *sum += in[(blockIdx.x * 2 + threadIdx.x / 32) * 2 + turn]; // fault 4: the lock does not acquire [global-race] fault 5: it does not release [global-race] fault 6: freed by a plain store before a fence [global-race] fault 7: fences of the block [global-race]
      UNLESS(5, if (FAULT == 7) __threadfence_block(); else __threadfence());
      if (FAULT == 6)
        *lock = 0; // fault 6: [global-race]
      else if (turn == 0)
        atomicExch(lock, 0);
      else
        *(volatile u32 *)lock = 0;
    }
    __syncwarp();
  }
}

// A flag for each block: the block before writes a row and raises it, this one
// waits for it, reads the row and lowers it by a plain store.
KERNEL flags(const float *in, float *rows, u32 *raised) {
  int i = threadIdx.x, b = blockIdx.x;
  float before = 0;
  if (b > 0) {
    if (i == 0) {
      while (*(volatile u32 *)&raised[b - 1] == 0) // fault 10: polled by plain stores [global-race]
        ;
      UNLESS(8, __threadfence());
      if (b % 2)
        raised[b - 1] = 0;
    }
    if (FAULT == 12 && i == 32)
      raised[b - 1] = 1; // fault 12: touched by one who has not seen it [global-race]
    UNLESS(11, __syncthreads());
    // Or another thread lowers it, which the barrier tells that it was seen.
    if (FAULT != 12 && b % 2 == 0 && i == 32)
      raised[b - 1] = 0;
    before = rows[(b - 1) * 64 + i]; // fault 8: nothing is acquired [global-race] fault 9: nothing is released [global-race] fault 11: the others do not wait [global-race]
  }
  rows[b * 64 + i] = before + in[b * 64 + i];
  __syncthreads();
  if (i == 0) {
    UNLESS(9, __threadfence());
    if (FAULT == 10)
      raised[b] = 1;
    else
      *(volatile u32 *)&raised[b] = 1;
  }
}

// A barrier of the whole grid: one thread of each block arrives and polls.
KERNEL gridBarrier(u32 *values, u32 *out, u32 *arrived) {
  int i = threadIdx.x;
  u32 n = gridDim.x, value = blockIdx.x * 64 + i;
  for (u32 round = 1; round <= 3; ++round) {
    values[blockIdx.x * 64 + i] = value; // fault 13: nothing is released [global-race]
    UNLESS(15, __syncthreads());
    if (i == 0) {
      UNLESS(13, __threadfence());
      atomicAdd(arrived, 1);
      while (*(volatile u32 *)arrived < (2 * round - 1) * n)
        ;
      UNLESS(14, __threadfence());
    }
    __syncthreads();
    value = value * 3 + values[(blockIdx.x + 1) % n * 64 + (i + round) % 64]; // fault 14: nothing is acquired [global-race] fault 15: not all have written [global-race]
    __syncthreads();
    if (i == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      while (*(volatile u32 *)arrived < 2 * round * n)
        ;
      __threadfence();
    }
    __syncthreads();
  }
  out[blockIdx.x * 64 + i] = value;
}

// A semaphore as libraries of matrix products have it: who adds passes the turn
// on by a reduction that releases.
KERNEL semaphore(const float *in, float *out, u32 *turn) {
  int i = threadIdx.x;
  u32 now = 0;
  do {
    if (i == 0)
      asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(now) : "l"(turn) : "memory");
  } while (__syncthreads_or(i == 0 && now != blockIdx.x));
  float before = blockIdx.x ? out[i] : 0; // fault 16: nothing is released [global-race] fault 17: released to the block [global-race]
  out[i] = before + in[blockIdx.x * 64 + i];
  __syncthreads();
  if (i == 0) {
    if (FAULT == 16)
      asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
    else if (FAULT == 17)
      asm volatile("fence.acq_rel.cta;\nred.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
    else if (blockIdx.x & 1)
      asm volatile("fence.acq_rel.gpu;\nred.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
    else
      asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
  }
}

// Three blocks hand a value on through two words: order is transitive, also
// where the second block neither wrote nor read the data.
KERNEL relay(const float *in, float *out, float *row, u32 *words) {
  int i = threadIdx.x;
  u32 *first = words, *second = words + 1;
  if (blockIdx.x == 0) {
    row[i] = in[i]; // fault 18: the second does not acquire [global-race] fault 19: nor release [global-race]
    __threadfence();
    __syncthreads();
    if (i == 0)
      atomicExch(first, 1);
  } else if (blockIdx.x == 1) {
    if (i == 0) {
      u32 seen = 0;
      do {
        if (FAULT == 18)
          asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(first) : "memory");
        else
          asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(first) : "memory");
      } while (seen == 0);
    }
    // Another warp goes on: the barrier has the order.
    __syncthreads();
    if (i == 32) {
      if (FAULT == 18 || FAULT == 19)
        asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(second) : "memory");
      else
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(second) : "memory");
    }
  } else {
    while (atomicAdd(second, 0) == 0)
      ;
    __threadfence();
    out[i] = row[i];
  }
}

// Bins of shared memory behind a lock of the block.
KERNEL blockLock(const u32 *in, u32 *out) {
  __shared__ u32 lock, sum;
  if (threadIdx.x == 0)
    lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 16 == 0) {
    bool isDone = false;
    while (!isDone)
      if (atomicExch(&lock, 1) == 0) {
        UNLESS(20, __threadfence_block());
        sum = sum * 3 + in[blockIdx.x]; // fault 20: the lock does not acquire [shared-race] fault 21: it does not release [shared-race]
        UNLESS(21, __threadfence_block());
        atomicExch(&lock, 0);
        isDone = true;
      }
  }
  __syncthreads();
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}
