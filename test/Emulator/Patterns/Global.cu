// Blocks and global memory.
#include "Prelude.cuh"

// run: grid=4 block=64 -> none
KERNEL each_its_own(u32 *a, u32 *b) {
  u32 i = blockIdx.x * 64 + threadIdx.x;
  b[i] = a[i] + 1;
}

// run: grid=4 block=64 -> global-race
KERNEL neighbors(u32 *a, u32 *b) {
  u32 i = blockIdx.x * 64 + threadIdx.x;
  a[i] = b[i];
  b[i] = a[i ^ 64];
}

// run: grid=2 block=64 -> global-race
KERNEL bytes_of_one_word(u32 *a, u32 *b) {
  if (threadIdx.x == 0)
    reinterpret_cast<u16 *>(b)[blockIdx.x] = 1;
  if (threadIdx.x == 32 && blockIdx.x == 1)
    b[0] = 2;
}

// run: grid=2 block=64 -> none
KERNEL halves_of_one_word(u32 *a, u32 *b) {
  if (threadIdx.x == 0)
    reinterpret_cast<u16 *>(b)[blockIdx.x] = 1;
}

// The last block sums: the sample of threadfence.
// run: grid=4 block=64 -> none
KERNEL last_block(u32 *a, u32 *b) {
  __shared__ bool isLast;
  b[blockIdx.x * 64 + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    isLast = atomicAdd(&a[0], 1) == gridDim.x - 1;
  __syncthreads();
  if (isLast) {
    __threadfence();
    u32 sum = 0;
    for (u32 i = 0; i < gridDim.x; ++i)
      sum += b[i * 64 + threadIdx.x];
    a[64 + threadIdx.x] = sum;
  }
}

// run: grid=4 block=64 -> none
KERNEL last_block_fence_by_one(u32 *a, u32 *b) {
  __shared__ bool isLast;
  b[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    isLast = atomicAdd(&a[0], 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (isLast) {
    u32 sum = 0;
    for (u32 i = 0; i < gridDim.x; ++i)
      sum += b[i * 64 + threadIdx.x];
    a[64 + threadIdx.x] = sum;
  }
}

// run: grid=4 block=64 -> global-race
KERNEL last_block_without_barrier(u32 *a, u32 *b) {
  __shared__ bool isLast;
  b[blockIdx.x * 64 + threadIdx.x] = 1;
  if (threadIdx.x == 0) {
    __threadfence();
    isLast = atomicAdd(&a[0], 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (isLast) {
    u32 sum = 0;
    for (u32 i = 0; i < gridDim.x; ++i)
      sum += b[i * 64 + threadIdx.x];
    a[64 + threadIdx.x] = sum;
  }
}

// run: grid=4 block=64 -> global-race
KERNEL last_block_without_fence(u32 *a, u32 *b) {
  __shared__ bool isLast;
  b[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0)
    isLast = atomicAdd(&a[0], 1) == gridDim.x - 1;
  __syncthreads();
  if (isLast) {
    u32 sum = 0;
    for (u32 i = 0; i < gridDim.x; ++i)
      sum += b[i * 64 + threadIdx.x];
    a[64 + threadIdx.x] = sum;
  }
}

// A lock: compare and swap, exchange.
// run: grid=3 block=32 -> none
KERNEL lock(u32 *a, u32 *b) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&a[0], 0, 1) != 0)
      ;
    __threadfence();
    b[0] += 1;
    __threadfence();
    atomicExch(&a[0], 0);
  }
}

// run: grid=3 block=32 -> none
KERNEL lock_with_orders(u32 *a, u32 *b) {
  if (threadIdx.x == 0) {
    u32 old = 1;
    do
      asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(a) : "memory");
    while (old);
    b[0] += 1;
    asm volatile("st.release.gpu.global.b32 [%0], 0;" ::"l"(a) : "memory");
  }
}

// run: grid=3 block=32 -> global-race
KERNEL lock_of_a_block(u32 *a, u32 *b) {
  if (threadIdx.x == 0) {
    u32 old = 1;
    do
      asm volatile("atom.acquire.cta.global.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(a) : "memory");
    while (old);
    b[0] += 1;
    asm volatile("st.release.cta.global.b32 [%0], 0;" ::"l"(a) : "memory");
  }
}

// A barrier of the grid by a counter, as cooperative groups have it.
// run: grid=4 block=64 -> none
KERNEL grid_barrier(u32 *a, u32 *b) {
  b[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&a[0], 1);
    while (*(volatile u32 *)&a[0] < gridDim.x)
      ;
    __threadfence();
  }
  __syncthreads();
  a[64 + blockIdx.x * 64 + threadIdx.x] = b[(blockIdx.x ^ 1) * 64 + threadIdx.x];
}

// Blocks pass a value on, one after the other.
// run: grid=4 block=32 -> none
KERNEL chain(u32 *a, u32 *b) {
  if (threadIdx.x == 0) {
    u32 ready = 0;
    if (blockIdx.x != 0)
      do
        asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(ready) : "l"(a + blockIdx.x) : "memory");
      while (!ready);
    b[0] += blockIdx.x;
    asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(a + blockIdx.x + 1) : "memory");
  }
}

// run: grid=4 block=32 -> global-race
KERNEL chain_of_relaxed(u32 *a, u32 *b) {
  if (threadIdx.x == 0) {
    u32 ready = 0;
    if (blockIdx.x != 0)
      do
        asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(ready) : "l"(a + blockIdx.x) : "memory");
      while (!ready);
    b[0] += blockIdx.x;
    asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(a + blockIdx.x + 1) : "memory");
  }
}

// run: grid=4 block=64 -> none
KERNEL histogram_of_all(u32 *a, u32 *b) {
  atomicAdd(&b[threadIdx.x % 8], 1);
}

// run: grid=2 block=64 -> global-race
KERNEL atomics_and_a_store(u32 *a, u32 *b) {
  atomicAdd(&b[0], 1);
  if (blockIdx.x == 1 && threadIdx.x == 0)
    b[0] = 0;
}

// Past the read-only path nothing orders: the line may be in the cache from
// before.
// run: block=64 -> global-race
KERNEL read_only_after_write(u32 *a, u32 *b) {
  b[threadIdx.x] = 1;
  __syncthreads();
  u32 value;
  asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(value) : "l"(b + (threadIdx.x ^ 32)));
  a[threadIdx.x] = value;
}

// Nor does it help that somebody has seen the write.
// run: block=64 -> global-race
KERNEL read_only_after_an_atomic(u32 *a, u32 *b) {
  if (threadIdx.x == 0)
    atomicAdd(b, 1);
  __syncthreads();
  u32 seen, value;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(seen) : "l"(b) : "memory");
  __syncthreads();
  asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(value) : "l"(b));
  a[threadIdx.x] = seen + value;
}

// What one block wrote, another copies by the asynchronous proxy.
// run: grid=2 block=32 -> none
KERNEL bulk_load_of_another_block(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[32];
  __shared__ __align__(8) u64 bar;
  if (blockIdx.x == 0) {
    b[threadIdx.x] = 5;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(a) : "memory");
  } else if (threadIdx.x == 0) {
    u32 ready;
    BAR_INIT(SHARED(&bar), 1);
    do
      asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(ready) : "l"(a) : "memory");
    while (!ready);
    PROXY_FENCE;
    BAR_EXPECT(SHARED(&bar), 128);
    BULK_LOAD(SHARED(s), b, 128, SHARED(&bar));
    BAR_WAIT(SHARED(&bar), 0);
    a[1] = s[7];
  }
}

// run: grid=2 block=32 -> missing-proxy-fence
KERNEL bulk_load_of_another_block_without_fence(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[32];
  __shared__ __align__(8) u64 bar;
  if (blockIdx.x == 0) {
    b[threadIdx.x] = 5;
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(a) : "memory");
  } else if (threadIdx.x == 0) {
    u32 ready;
    BAR_INIT(SHARED(&bar), 1);
    do
      asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(ready) : "l"(a) : "memory");
    while (!ready);
    BAR_EXPECT(SHARED(&bar), 128);
    BULK_LOAD(SHARED(s), b, 128, SHARED(&bar));
    BAR_WAIT(SHARED(&bar), 0);
    a[1] = s[7];
  }
}

// What a bulk copy stored, another block reads.
// run: grid=2 block=32 -> none
KERNEL bulk_store_for_another_block(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[32];
  if (blockIdx.x == 0) {
    s[threadIdx.x] = 5;
    PROXY_FENCE;
    __syncwarp();
    if (threadIdx.x == 0) {
      BULK_STORE(b, SHARED(s), 128);
      BULK_COMMIT;
      BULK_WAIT(0);
      asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(a) : "memory");
    }
  } else if (threadIdx.x == 0) {
    u32 ready;
    do
      asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(ready) : "l"(a) : "memory");
    while (!ready);
    a[1] = b[7];
  }
}

// run: grid=2 block=32 -> global-race|read-in-flight
KERNEL bulk_store_for_another_block_unwaited(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[32];
  if (blockIdx.x == 0) {
    s[threadIdx.x] = 5;
    PROXY_FENCE;
    __syncwarp();
    if (threadIdx.x == 0) {
      BULK_STORE(b, SHARED(s), 128);
      BULK_COMMIT;
      BULK_WAIT_READ(0);
      asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(a) : "memory");
    }
  } else if (threadIdx.x == 0) {
    u32 ready;
    do
      asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(ready) : "l"(a) : "memory");
    while (!ready);
    a[1] = b[7];
  }
}

// A semaphore of split products: wait for a turn, work, give the turn on.
// run: grid=3 block=64 -> none
KERNEL semaphore(u32 *a, u32 *b) {
  u32 turn;
  if (threadIdx.x == 0)
    do
      asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(turn) : "l"(a) : "memory");
    while (turn != blockIdx.x);
  __syncthreads();
  b[threadIdx.x] += blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(a) : "memory");
}

// run: grid=2 block=32 -> none
KERNEL things_that_order_nothing(u32 *a, u32 *b) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("prefetch.global.L2 [%0];" ::"l"(a) : "memory");
  __nanosleep(20);
  u32 isElected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(isElected));
  u32 sum = __reduce_add_sync(~0u, threadIdx.x) + __match_any_sync(~0u, threadIdx.x / 4) + __activemask();
  sum += __dp4a(threadIdx.x, sum, 3u) + __byte_perm(sum, threadIdx.x, 0x5410);
  b[blockIdx.x * 32 + threadIdx.x] = sum + isElected;
}
