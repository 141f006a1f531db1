// What the programs of the planted faults begin with. A program is right as it
// stands; -DFAULT=n plants one fault:
//
//     UNLESS(3, __syncthreads());    the statement is missing
//     PICK(4, BYTES + 16, BYTES)     the first value in place of the second
//
// and at a line that the report must name stands which fault and what kind, or
// kinds if several are as good:
//
//     out[i] = stage[i];  // fault 3: the barrier is missing [shared-race]
//
// Some faults show only in some orders of events: "[shared-race sometimes]".
//
// Instructions are macros, so that their lines are those of their use.

#ifndef FAULT
#define FAULT 0
#endif
#define PICK(n, wrong, right) (FAULT == (n) ? (wrong) : (right))
#define UNLESS(n, ...)                                                         \
  if constexpr (FAULT != (n)) {                                                \
    __VA_ARGS__;                                                               \
  }
#define ONLY(n, ...)                                                           \
  if constexpr (FAULT == (n)) {                                                \
    __VA_ARGS__;                                                               \
  }

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
struct alignas(64) TensorMap {
  u64 words[16];
};
#define KERNEL extern "C" __global__ void
#define SHARED(pointer) ((u32)__cvta_generic_to_shared(pointer))

// Barriers.
#define NAMED_SYNC(id, threads)                                                \
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory")
#define NAMED_ARRIVE(id, threads)                                              \
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory")
#define CLUSTER_ARRIVE                                                         \
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define CLUSTER_ARRIVE_RELAXED                                                 \
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define CLUSTER_FENCE asm volatile("fence.acq_rel.cluster;" ::: "memory")
#define CLUSTER_WAIT                                                           \
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
#define PROXY_FENCE asm volatile("fence.proxy.async;" ::: "memory")

// mbarriers; `bar` is an address in shared memory.
#define BAR_INIT(bar, count)                                                   \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar),           \
               "r"(count)                                                      \
               : "memory")
#define BAR_INIT_FENCE                                                         \
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")
#define BAR_ARRIVE(bar)                                                        \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar)           \
               : "memory")
#define BAR_ARRIVE_REMOTE(bar, rank)                                           \
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"  \
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, "       \
               "[there]; }" ::"r"(bar),                                        \
               "r"(rank)                                                       \
               : "memory")
#define BAR_EXPECT(bar, bytes)                                                 \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"( \
                   bar),                                                       \
               "r"(bytes)                                                      \
               : "memory")
#define BAR_WAIT(bar, parity)                                                  \
  asm volatile("{ .reg .pred done; again:\n"                                   \
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"    \
               "@!done bra again; }" ::"r"(bar),                               \
               "r"(parity)                                                     \
               : "memory")
#define BAR_WAIT_CLUSTER(bar, parity)                                          \
  asm volatile("{ .reg .pred done; again:\n"                                   \
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "     \
               "done, [%0], %1;\n"                                             \
               "@!done bra again; }" ::"r"(bar),                               \
               "r"(parity)                                                     \
               : "memory")

// Copies.
#define CP_ASYNC(to, from)                                                     \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),          \
               "l"(from)                                                       \
               : "memory")
#define CP_COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define CP_WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define BULK_LOAD(to, from, bytes, bar)                                        \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"  \
               "bytes [%0], [%1], %2, [%3];" ::"r"(to),                        \
               "l"(from), "r"(bytes), "r"(bar)                                 \
               : "memory")
#define BULK_STORE(to, from, bytes)                                            \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"   \
               ::"l"(to),                                                      \
               "r"(from), "r"(bytes)                                           \
               : "memory")
#define TENSOR_LOAD(to, map, x, y, bar)                                        \
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile."          \
               "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::   \
                   "r"(to),                                                    \
               "l"(map), "r"(x), "r"(y), "r"(bar)                              \
               : "memory")
#define TENSOR_LOAD_MULTICAST(to, map, x, y, bar, mask)                        \
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile."          \
               "mbarrier::complete_tx::bytes.multicast::cluster "              \
               "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),                    \
               "l"(map), "r"(x), "r"(y), "r"(bar), "h"((u16)(mask))            \
               : "memory")
#define TENSOR_STORE(map, x, y, from)                                          \
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "   \
               "[%0, {%1, %2}], [%3];" ::"l"(map),                             \
               "r"(x), "r"(y), "r"(from)                                       \
               : "memory")
#define BULK_COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT(n)                                                           \
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory")
#define BULK_WAIT_READ(n)                                                      \
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory")

// Products.
#define LDMATRIX_X4(a, address)                                                \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, "      \
               "[%4];"                                                         \
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])                \
               : "r"(address)                                                  \
               : "memory")
#define LDMATRIX_X2_TRANS(b, address)                                          \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, "      \
               "[%2];"                                                         \
               : "=r"(b[0]), "=r"(b[1])                                        \
               : "r"(address)                                                  \
               : "memory")
#define MMA_BF16(c, a, b)                                                      \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "          \
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"         \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),        \
                 "r"(b[1]))
#define WGMMA_FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT(n)                                                          \
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")
// d is 4 floats: m64n8k16, both operands K-major.
#define WGMMA(d, a, b, accumulate)                                             \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"                       \
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "          \
               "{%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0; }"                       \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                \
               : "l"(a), "l"(b), "r"(accumulate)                               \
               : "memory")
// Rows of 128 bytes with the 128-byte swizzle, 8 rows `stride` bytes apart.
#define DESCRIPTOR(address, stride)                                            \
  (u64(((address) & 0x3ffff) >> 4) | u64(1) << 16 | u64((stride) >> 4) << 32 | \
   u64(1) << 62)
#define SETMAXNREG_INC(n)                                                      \
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))
#define SETMAXNREG_DEC(n)                                                      \
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))
