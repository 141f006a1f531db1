// cp.async, bulk copies and mbarriers.
#include "Prelude.cuh"

// run: block=32 -> none
KERNEL one_group_behind(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[2][128];
  u32 sum = 0;
  CP_ASYNC(SHARED(&s[0][4 * threadIdx.x]), a + 4 * threadIdx.x);
  CP_COMMIT;
  for (int i = 0; i < 5; ++i) {
    if (i + 1 < 5)
      CP_ASYNC(SHARED(&s[(i + 1) % 2][4 * threadIdx.x]), a + 4 * threadIdx.x + 128 * (i + 1));
    CP_COMMIT;
    CP_WAIT(1);
    __syncthreads();
    sum += s[i % 2][127 - 4 * threadIdx.x];
    __syncthreads();
  }
  b[threadIdx.x] = sum;
}

// run: block=32 -> read-in-flight|overwritten-in-flight
KERNEL one_group_too_few(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[2][128];
  u32 sum = 0;
  CP_ASYNC(SHARED(&s[0][4 * threadIdx.x]), a + 4 * threadIdx.x);
  CP_COMMIT;
  for (int i = 0; i < 5; ++i) {
    if (i + 1 < 5) {
      CP_ASYNC(SHARED(&s[(i + 1) % 2][4 * threadIdx.x]), a + 4 * threadIdx.x + 128 * (i + 1));
      CP_COMMIT;
    }
    CP_WAIT(1);
    __syncthreads();
    sum += s[i % 2][127 - 4 * threadIdx.x];
    __syncthreads();
  }
  b[threadIdx.x] = sum;
}

// A wait is of a thread: others need a barrier.
// run: block=64 -> read-in-flight|shared-race|uninitialized
KERNEL wait_without_barrier(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[256];
  CP_ASYNC(SHARED(&s[4 * threadIdx.x]), a + 4 * threadIdx.x);
  CP_COMMIT;
  CP_WAIT(0);
  b[threadIdx.x] = s[255 - 4 * threadIdx.x];
}

// run: block=32 -> overwritten-in-flight
KERNEL store_into_a_copy(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[128];
  CP_ASYNC(SHARED(&s[4 * threadIdx.x]), a + 4 * threadIdx.x);
  s[4 * threadIdx.x + 1] = 5;
  CP_COMMIT;
  CP_WAIT(0);
  b[threadIdx.x] = s[4 * threadIdx.x];
}

// run: block=64 -> none
KERNEL bulk_ring(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[2][32];
  __shared__ __align__(8) u64 full[2], empty[2];
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) {
      BAR_INIT(SHARED(&full[i]), 1);
      BAR_INIT(SHARED(&empty[i]), 32);
      BAR_INIT_FENCE;
    }
  PROXY_FENCE;
  __syncthreads();
  u32 sum = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 6; ++i) {
      BAR_WAIT(SHARED(&empty[i % 2]), (i / 2 & 1) ^ 1);
      BAR_EXPECT(SHARED(&full[i % 2]), 128);
      BULK_LOAD(SHARED(s[i % 2]), a + 32 * i, 128, SHARED(&full[i % 2]));
    }
  } else if (threadIdx.x >= 32) {
    for (int i = 0; i < 6; ++i) {
      BAR_WAIT(SHARED(&full[i % 2]), i / 2 & 1);
      sum += s[i % 2][threadIdx.x % 32];
      BAR_ARRIVE(SHARED(&empty[i % 2]));
    }
    b[threadIdx.x] = sum;
  }
}

// The parity of one stage with two of them.
// run: block=64 -> read-in-flight|overwritten-in-flight|deadlock|transaction-count|shared-race|uninitialized
KERNEL bulk_ring_wrong_parity(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[2][32];
  __shared__ __align__(8) u64 full[2], empty[2];
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) {
      BAR_INIT(SHARED(&full[i]), 1);
      BAR_INIT(SHARED(&empty[i]), 32);
      BAR_INIT_FENCE;
    }
  PROXY_FENCE;
  __syncthreads();
  u32 sum = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 6; ++i) {
      BAR_WAIT(SHARED(&empty[i % 2]), (i / 2 & 1) ^ 1);
      BAR_EXPECT(SHARED(&full[i % 2]), 128);
      BULK_LOAD(SHARED(s[i % 2]), a + 32 * i, 128, SHARED(&full[i % 2]));
    }
  } else if (threadIdx.x >= 32) {
    for (int i = 0; i < 6; ++i) {
      BAR_WAIT(SHARED(&full[i % 2]), i & 1);
      sum += s[i % 2][threadIdx.x % 32];
      BAR_ARRIVE(SHARED(&empty[i % 2]));
    }
    b[threadIdx.x] = sum;
  }
}

// run: block=64 -> none
KERNEL bulk_store_and_reuse(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x == 0)
      BULK_WAIT_READ(0);
    __syncthreads();
    s[threadIdx.x] = i;
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
      BULK_STORE(b + 64 * i, SHARED(s), 256);
      BULK_COMMIT;
    }
  }
  if (threadIdx.x == 0)
    BULK_WAIT_READ(0);
}

// run: block=64 -> overwritten-in-flight
KERNEL bulk_store_reuse_without_wait(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  for (int i = 0; i < 3; ++i) {
    __syncthreads();
    s[threadIdx.x] = i;
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
      BULK_STORE(b + 64 * i, SHARED(s), 256);
      BULK_COMMIT;
    }
  }
  if (threadIdx.x == 0)
    BULK_WAIT_READ(0);
}

// run: block=64 -> missing-proxy-fence
KERNEL bulk_store_without_fence(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED(s), 256);
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}

// Only some of those who write fence.
// run: block=64 -> missing-proxy-fence|shared-race
KERNEL bulk_store_fence_before_barrier_by_some(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  s[threadIdx.x] = 1;
  if (threadIdx.x == 0)
    PROXY_FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED(s), 256);
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}

// The reads are done, but not the writes.
// run: block=64 -> read-in-flight
KERNEL bulk_store_read_back(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  s[threadIdx.x] = 1;
  PROXY_FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED(s), 256);
    BULK_COMMIT;
    BULK_WAIT_READ(0);
    a[0] = b[5];
  }
}

// run: block=64 -> none
KERNEL bulk_store_read_back_waited(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  s[threadIdx.x] = 1;
  PROXY_FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED(s), 256);
    BULK_COMMIT;
    BULK_WAIT(0);
    a[0] = b[5];
  }
}

// run: block=64 -> none
KERNEL barrier_invalidated_and_used_again(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  __shared__ u32 s[64];
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x == 0)
      BAR_INIT(SHARED(&bar), 64);
    __syncthreads();
    s[threadIdx.x] = i;
    BAR_ARRIVE(SHARED(&bar));
    BAR_WAIT(SHARED(&bar), 0);
    b[64 * i + threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(SHARED(&bar)) : "memory");
  }
}

// run: block=64 -> shared-race|barrier-misuse
KERNEL barrier_invalidated_too_early(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 64);
  __syncthreads();
  BAR_ARRIVE(SHARED(&bar));
  BAR_WAIT(SHARED(&bar), 0);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(SHARED(&bar)) : "memory");
}

// run: block=64 -> shared-race
KERNEL barrier_not_awaited(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  __shared__ u32 s[64];
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 64);
  __syncthreads();
  s[threadIdx.x] = 1;
  BAR_ARRIVE(SHARED(&bar));
  BAR_WAIT(SHARED(&bar), 1);
  b[threadIdx.x] = s[63 - threadIdx.x];
}

// run: block=64 -> barrier-misuse|shared-race
KERNEL barrier_used_before_init_is_known(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 64);
  __syncwarp();
  BAR_ARRIVE(SHARED(&bar));
}

// run: block=64 -> none
KERNEL cp_async_arrives_on_a_barrier(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  __shared__ __align__(16) u32 s[256];
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 64);
  __syncthreads();
  CP_ASYNC(SHARED(&s[4 * threadIdx.x]), a + 4 * threadIdx.x);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SHARED(&bar)) : "memory");
  BAR_WAIT(SHARED(&bar), 0);
  b[threadIdx.x] = s[255 - 4 * threadIdx.x];
}

// What a copy leaves out may be anywhere.
// run: block=32 -> none
KERNEL copy_of_nothing_from_nowhere(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[128];
  u32 bytes = threadIdx.x < 8 ? 16 : 0;
  u32 *from = threadIdx.x < 8 ? a + 4 * threadIdx.x : nullptr;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(SHARED(&s[4 * threadIdx.x])), "l"(from), "r"(bytes) : "memory");
  CP_COMMIT;
  CP_WAIT(0);
  __syncwarp();
  b[threadIdx.x] = s[127 - 4 * threadIdx.x];
}

// One lane arrives for its warp.
// run: block=64 -> none
KERNEL one_lane_arrives(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  __shared__ u32 s[64];
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 2);
  __syncthreads();
  s[threadIdx.x] = 1;
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    BAR_ARRIVE(SHARED(&bar));
  BAR_WAIT(SHARED(&bar), 0);
  b[threadIdx.x] = s[63 - threadIdx.x];
}

// run: block=64 -> shared-race
KERNEL one_lane_arrives_too_early(u32 *a, u32 *b) {
  __shared__ __align__(8) u64 bar;
  __shared__ u32 s[64];
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 2);
  __syncthreads();
  s[threadIdx.x] = 1;
  if (threadIdx.x % 32 == 0)
    BAR_ARRIVE(SHARED(&bar));
  BAR_WAIT(SHARED(&bar), 0);
  b[threadIdx.x] = s[63 - threadIdx.x];
}

// Values that were loaded are used only after the copy that overwrites them
// was started: the loads may be queued behind it.
// run: block=64 -> overwritten-in-flight
KERNEL refill_before_use(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  __shared__ __align__(8) u64 bar;
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 1);
  PROXY_FENCE;
  __syncthreads();
  u32 x;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(SHARED(&s[63 - threadIdx.x])) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BAR_EXPECT(SHARED(&bar), 256);
    BULK_LOAD(SHARED(s), a, 256, SHARED(&bar));
  }
  BAR_WAIT(SHARED(&bar), 0);
  b[threadIdx.x] = s[threadIdx.x] + x;
}

// run: block=64 -> overwritten-in-flight
KERNEL refill_before_use_of_volatile(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  __shared__ __align__(8) u64 bar;
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 1);
  PROXY_FENCE;
  __syncthreads();
  u32 x = *(volatile u32 *)&s[63 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    BAR_EXPECT(SHARED(&bar), 256);
    BULK_LOAD(SHARED(s), a, 256, SHARED(&bar));
  }
  BAR_WAIT(SHARED(&bar), 0);
  b[threadIdx.x] = s[threadIdx.x] + x;
}

// run: block=64 -> none
KERNEL refill_after_use(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  __shared__ __align__(8) u64 bar;
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x == 0)
    BAR_INIT(SHARED(&bar), 1);
  PROXY_FENCE;
  __syncthreads();
  u32 x = *(volatile u32 *)&s[63 - threadIdx.x];
  asm volatile("add.u32 %0, %0, 1;" : "+r"(x));
  __syncthreads();
  if (threadIdx.x == 0) {
    BAR_EXPECT(SHARED(&bar), 256);
    BULK_LOAD(SHARED(s), a, 256, SHARED(&bar));
  }
  BAR_WAIT(SHARED(&bar), 0);
  b[threadIdx.x] = s[threadIdx.x] + x;
}

// run: block=64 -> none
KERNEL fence_of_shared_memory(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  s[threadIdx.x] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED(s), 256);
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}

// Shared memory that one stores must be written.
// run: block=64 -> uninitialized
KERNEL bulk_store_of_nothing(u32 *a, u32 *b) {
  __shared__ __align__(16) u32 s[64];
  if (threadIdx.x < 60)
    s[threadIdx.x] = 1;
  PROXY_FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED(s), 256);
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}
