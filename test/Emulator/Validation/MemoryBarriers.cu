// mbarrier: arrivals, phases, states, transactions.

//! phases in=bits:128 out=640 block=128
KERNEL phases(const u32 *in, u32 *out) {
  THREAD;
  __shared__ __align__(8) u64 cell;
  __shared__ u32 values[128];
  u32 barrier = sharedAddress(&cell), x = in[i];
  if (i == 0)
    barrierInit(barrier, 128);
  __syncthreads();
  for (u32 phase = 0; phase < 4; ++phase) {
    values[i] = x;
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(barrier)
                 : "memory");
    if (phase & 1) {
      u32 done = 0;
      while (!done)
        asm volatile("{.reg .pred p;\n"
                     "mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(barrier), "l"(state)
                     : "memory");
    } else {
      barrierWait(barrier, phase & 1);
    }
    x = x * 5 + values[(i + 77) % 128];
    PUT(x);
    __syncthreads();
  }
  if (i == 0) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(barrier) : "memory");
  }
  PUT(0);
}

// A producer and consumers around a ring of two slots.
//! ring in=bits:512 out=512 block=160
KERNEL ring(const u32 *in, u32 *out) {
  __shared__ __align__(8) u64 full[2], empty[2];
  __shared__ u32 slots[2][64];
  u32 i = threadIdx.x;
  if (i == 0)
    for (u32 at = 0; at < 2; ++at) {
      barrierInit(sharedAddress(&full[at]), 32);
      barrierInit(sharedAddress(&empty[at]), 64);
    }
  __syncthreads();
  if (i < 32) {
    for (u32 step = 0; step < 8; ++step) {
      u32 slot = step % 2;
      barrierWait(sharedAddress(&empty[slot]), (step / 2 % 2) ^ 1);
      slots[slot][i] = in[step * 64 + i];
      slots[slot][32 + i] = in[step * 64 + 32 + i];
      asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(
                       sharedAddress(&full[slot]))
                   : "memory");
    }
  } else if (i < 96) {
    u32 lane = i - 32;
    for (u32 step = 0; step < 8; ++step) {
      u32 slot = step % 2;
      barrierWait(sharedAddress(&full[slot]), step / 2 % 2);
      out[step * 64 + lane] = slots[slot][63 - lane] * 3;
      asm volatile("mbarrier.arrive.shared.b64 _, [%0], 1;" ::"r"(
                       sharedAddress(&empty[slot]))
                   : "memory");
    }
  }
}

// What a thread alone sees: pending counts, phases, drops.
//! counts in=bits:32 out=32 block=1
KERNEL counts(const u32 *in, u32 *out) {
  __shared__ __align__(8) u64 cell;
  u32 barrier = sharedAddress(&cell), at = 0;
  u64 state;
  u32 r;
  barrierInit(barrier, 5);
#define PENDING                                                                \
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(r) : "l"(state));   \
  out[at++] = r
#define TEST(parity)                                                           \
  asm volatile("{.reg .pred p;\n"                                              \
               "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"           \
               "selp.u32 %0, 1, 0, p;}"                                        \
               : "=r"(r)                                                       \
               : "r"(barrier), "r"(parity)                                     \
               : "memory");                                                    \
  out[at++] = r
  TEST(0);
  TEST(1);
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(state)
               : "r"(barrier)
               : "memory");
  PENDING;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 3;"
               : "=l"(state)
               : "r"(barrier)
               : "memory");
  PENDING;
  TEST(0);
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
               : "=l"(state)
               : "r"(barrier)
               : "memory");
  PENDING;
  TEST(0);
  TEST(1);
  // Now four are expected, and bytes.
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(
                   barrier)
               : "memory");
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 4;"
               : "=l"(state)
               : "r"(barrier)
               : "memory");
  PENDING;
  TEST(1);
  asm volatile(
      "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(barrier)
      : "memory");
  TEST(1);
  TEST(0);
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;"
               : "=l"(state)
               : "r"(barrier)
               : "memory");
  PENDING;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 16;"
               : "=l"(state)
               : "r"(barrier)
               : "memory");
  PENDING;
  asm volatile(
      "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(barrier)
      : "memory");
  for (; at < 32; ++at)
    out[at] = in[at];
}
