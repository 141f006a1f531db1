// Split-K: four blocks sum a part of each row; the last one to finish, which a
// counter tells, adds the parts up. Then a chain: blocks add their part in turn,
// passing a semaphore on. 64 threads, four blocks.
#include "Prelude.cuh"

#define LOAD_ACQUIRE(value, address)                                           \
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"                           \
               : "=r"(value)                                                   \
               : "l"(address)                                                  \
               : "memory")
#define LOAD_RELAXED(value, address)                                           \
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"                           \
               : "=r"(value)                                                   \
               : "l"(address)                                                  \
               : "memory")
#define STORE_RELEASE(address, value)                                          \
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address),           \
               "r"(value)                                                      \
               : "memory")
#define STORE_RELEASE_BLOCK(address, value)                                    \
  asm volatile("st.release.cta.global.u32 [%0], %1;" ::"l"(address),           \
               "r"(value)                                                      \
               : "memory")
#define STORE_RELAXED(address, value)                                          \
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address),           \
               "r"(value)                                                      \
               : "memory")

KERNEL lastBlock(const float *in, float *out, float *parts, u32 *counter) {
  __shared__ bool isLast;
  int i = threadIdx.x;
  parts[blockIdx.x * 64 + i] = in[blockIdx.x * 64 + i]; // fault 2: a fence of one thread alone [global-race]
  ONLY(2, __threadfence());
  UNLESS(2, __syncthreads());
  if (i == 0) {
    UNLESS(1, __threadfence());
    isLast = atomicAdd(counter, 1) == gridDim.x - 1;
    UNLESS(3, __threadfence());
  }
  __syncthreads();
  if (!isLast)
    return;
  float sum = 0;
  for (int b = 0; b < gridDim.x; ++b)
    sum += parts[b * 64 + i]; // fault 1: nothing is released [global-race] fault 3: nothing is acquired [global-race]
  out[i] = sum;
}

KERNEL chain(const float *in, float *out, u32 *turn) {
  int i = threadIdx.x;
  if (i == 0) {
    u32 now = 0;
    do {
      if (FAULT == 5)
        LOAD_RELAXED(now, turn);
      else if (FAULT == 8)
        now = *(volatile u32 *)turn == blockIdx.x ? blockIdx.x : ~0u;
      else
        LOAD_ACQUIRE(now, turn);
    } while (now != blockIdx.x);
  }
  UNLESS(6, __syncthreads());
  float before = blockIdx.x ? out[i] : 0; // fault 4: the turn is passed on without release [global-race] fault 5: without acquire [global-race] fault 6: the others do not wait [global-race] fault 8: volatile does not acquire [global-race] fault 9: released to the block only [global-race]
  out[i] = before + in[blockIdx.x * 64 + i]; // fault 7: the turn is passed on too early [global-race]
  UNLESS(7, __syncthreads());
  if (i == 0) {
    if (FAULT == 4)
      STORE_RELAXED(turn, blockIdx.x + 1);
    else if (FAULT == 9)
      STORE_RELEASE_BLOCK(turn, blockIdx.x + 1);
    else
      STORE_RELEASE(turn, blockIdx.x + 1);
  }
}
