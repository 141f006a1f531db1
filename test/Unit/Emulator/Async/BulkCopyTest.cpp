//===- BulkCopyTest.cpp - Lines of memory, groups, asynchronous stores ----===//

#include "test/Unit/Emulator/Async/Run.h"
#include <catch2/catch.hpp>
#include <numeric>

using namespace tilec::emulator;

namespace {

LaunchOptions options(unsigned threads, uint64_t seed) {
  LaunchOptions result;
  result.block = {threads, 1, 1};
  result.seed = seed;
  return result;
}

std::vector<uint32_t> counting(size_t count) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), 1u);
  return values;
}

} // namespace

TEST_CASE("cp.async copies, fills with zeros, and waits by groups") {
  uint64_t seed = GENERATE(range(0, 8));
  DeviceMemory memory;
  auto values = counting(128);
  uint64_t in = upload(memory, values, "in");
  uint64_t out = upload(memory, std::vector<uint32_t>(128), "out");
  // Each of 32 threads copies 16 bytes; of those of thread t, t % 17 are of
  // the source. Odd threads ignore it.
  std::string text = R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 buffer[512];
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd2, %r0, 16;
  add.u64 %rd0, %rd0, %rd2;
  add.u64 %rd1, %rd1, %rd2;
  shl.b32 %r1, %r0, 4;
  mov.u32 %r2, buffer;
  add.u32 %r1, %r1, %r2;
  rem.u32 %r3, %r0, 17;
  and.b32 %r4, %r0, 1;
  setp.ne.u32 %p0, %r4, 0;
  @!%p0 cp.async.cg.shared.global [%r1], [%rd0], 16, %r3;
  @%p0 cp.async.ca.shared.global [%r1], [%rd0], 16, %p0;
  cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r1];
  st.global.v4.b32 [%rd1], {%r5, %r6, %r7, %r8};
  ret;
}
)";
  LaunchResult result =
      run(text, Params().add(in).add(out), options(32, seed), memory);
  CHECK(describe(result) == "");
  std::vector<char> expected(512, 0);
  for (unsigned t = 0; t < 32; t += 2)
    std::memcpy(&expected[16 * t],
                reinterpret_cast<const char *>(values.data()) + 16 * t, t % 17);
  CHECK(download<char>(memory, out, 512) == expected);
}

TEST_CASE("cp.async without the wait is a report, with it none") {
  std::string wait =
      GENERATE("cp.async.wait_group 0;", "cp.async.wait_group 1;",
               "cp.async.wait_all;", "");
  uint64_t seed = GENERATE(range(0, 6));
  DeviceMemory memory;
  uint64_t in = upload(memory, counting(64), "in");
  uint64_t out = upload(memory, std::vector<uint32_t>(64), "out");
  std::string text = fill(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 buffer[16];
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, buffer;
  cp.async.ca.shared.global [%r1], [%rd0], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r1+4], [%rd0+4], 4;
  cp.async.commit_group;
  $0
  ld.shared.b32 %r5, [%r1+4];
  st.global.b32 [%rd1], %r5;
  cp.async.wait_all;
  ret;
}
)",
                          {wait});
  LaunchResult result =
      run(text, Params().add(in).add(out), options(1, seed), memory);
  CAPTURE(wait, seed, describe(result));
  bool isRight =
      wait == "cp.async.wait_group 0;" || wait == "cp.async.wait_all;";
  CHECK(result.reports.empty() == isRight);
  if (!isRight)
    CHECK(count(result, ReportKind::ReadInFlight) == 1);
}

TEST_CASE("cp.async arrives at an mbarrier") {
  std::string noinc = GENERATE(".noinc", "");
  uint64_t seed = GENERATE(range(0, 6));
  DeviceMemory memory;
  auto values = counting(32);
  uint64_t in = upload(memory, values, "in");
  uint64_t out = upload(memory, std::vector<uint32_t>(32), "out");
  std::string text = fill(
      R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 buffer[128];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r9, bar;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared.b64 [%r9], 32;
  bar.sync 0;
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd0, %rd0, %rd2;
  add.u64 %rd1, %rd1, %rd2;
  shl.b32 %r1, %r0, 2;
  mov.u32 %r2, buffer;
  add.u32 %r1, %r1, %r2;
  cp.async.ca.shared.global [%r1], [%rd0], 4;
  cp.async.mbarrier.arrive$0.shared.b64 [%r9];
  $1
wait:
  mbarrier.try_wait.parity.shared.b64 %p0, [%r9], 0;
  @!%p0 bra wait;
  xor.b32 %r3, %r0, 31;
  shl.b32 %r3, %r3, 2;
  add.u32 %r3, %r3, %r2;
  ld.shared.b32 %r5, [%r3];
  st.global.b32 [%rd1], %r5;
  ret;
}
)",
      {noinc, noinc.empty() ? "mbarrier.arrive.shared.b64 %rd3, [%r9];" : ""});
  LaunchResult result =
      run(text, Params().add(in).add(out), options(32, seed), memory);
  CHECK(describe(result) == "");
  std::vector<uint32_t> expected(values.rbegin(), values.rend());
  CHECK(download<uint32_t>(memory, out, 32) == expected);
}

TEST_CASE("A line goes to shared memory and back") {
  uint64_t seed = GENERATE(range(0, 12));
  unsigned bytes = GENERATE(16u, 48u, 4096u);
  std::string reduction =
      GENERATE("", "add.u32", "min.s32", "xor.b32", "inc.u32");
  DeviceMemory memory;
  auto values = counting(1024);
  auto before = std::vector<uint32_t>(1024, 7);
  uint64_t in = upload(memory, values, "in");
  uint64_t out = upload(memory, before, "out");
  std::string text =
      fill(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 buffer[4096];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r9, bar;
  mbarrier.init.shared::cta.b64 [%r9], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 %rd3, [%r9], $0;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%rd0], $0, [%r9];
wait:
  mbarrier.try_wait.shared::cta.b64 %p0, [%r9], %rd3;
  @!%p0 bra wait;
  $1.async.bulk.global.shared::cta.bulk_group$2 [%rd1], [buffer], $0;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  ret;
}
)",
           {std::to_string(bytes), reduction.empty() ? "cp" : "cp.reduce",
            reduction.empty() ? "" : "." + reduction});
  LaunchResult result =
      run(text, Params().add(in).add(out), options(1, seed), memory);
  CHECK(describe(result) == "");
  auto expected = before;
  for (unsigned i = 0; i < bytes / 4; ++i) {
    uint32_t old = before[i], value = values[i];
    expected[i] = reduction == "add.u32"   ? old + value
                  : reduction == "min.s32" ? std::min(old, value)
                  : reduction == "xor.b32" ? old ^ value
                  : reduction == "inc.u32" ? (old >= value ? 0 : old + 1)
                                           : value;
  }
  CHECK(download<uint32_t>(memory, out, 1024) == expected);
}

TEST_CASE("Multicast delivers to each block of the mask") {
  uint64_t seed = GENERATE(range(0, 8));
  DeviceMemory memory;
  auto values = counting(256);
  uint64_t in = upload(memory, values, "in");
  uint64_t out = upload(memory, std::vector<uint32_t>(4 * 64), "out");
  // Block 1 loads a part for itself and block 3.
  std::string text = R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>;
  .reg .b16 %h<2>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 128 .b8 buffer[256];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r8, %cluster_ctarank;
  mov.u32 %r9, bar;
  mov.u32 %r7, buffer;
  mbarrier.init.shared::cta.b64 [%r9], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  and.b32 %r1, %r8, 1;
  setp.ne.u32 %p1, %r1, 1;
  @%p1 bra done;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 256;
  setp.eq.u32 %p2, %r8, 1;
  mov.b16 %h0, 10;
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r7], [%rd0], 256, [%r9], %h0;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r9], 0;
  @!%p0 bra wait;
  mul.wide.u32 %rd2, %r8, 256;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r2, 0;
copy:
  add.u32 %r3, %r7, %r2;
  ld.shared.b32 %r4, [%r3];
  cvt.u64.u32 %rd3, %r2;
  add.u64 %rd4, %rd1, %rd3;
  st.global.b32 [%rd4], %r4;
  add.u32 %r2, %r2, 4;
  setp.lt.u32 %p3, %r2, 256;
  @%p3 bra copy;
done:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
}
)";
  LaunchOptions how = options(1, seed);
  how.grid = how.cluster = {4, 1, 1};
  LaunchResult result = run(text, Params().add(in).add(out), how, memory);
  CHECK(describe(result) == "");
  std::vector<uint32_t> expected(256, 0);
  for (unsigned i = 0; i < 64; ++i)
    expected[64 + i] = expected[192 + i] = values[i];
  CHECK(download<uint32_t>(memory, out, 256) == expected);
}

TEST_CASE("Threads write to each other's blocks with st.async") {
  uint64_t seed = GENERATE(range(0, 8));
  bool isCopy = GENERATE(false, true);
  DeviceMemory memory;
  uint64_t out = upload(memory, std::vector<uint32_t>(64), "out");
  // Each thread of block b sends its number, plus 100 b, to the other block.
  std::string send = isCopy ? R"(
  shl.b32 %r5, %r0, 2;
  add.u32 %r5, %r5, %r6;
  st.shared.b32 [%r5], %r1;
  fence.proxy.async;
  bar.sync 0;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r11], [%r6], 128, [%r10];
)"
                            : R"(
  shl.b32 %r5, %r0, 2;
  add.u32 %r11, %r11, %r5;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r11], %r1, [%r10];
)";
  std::string text = fill(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 buffer[128];
  .shared .align 16 .b8 outgoing[128];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r8, %cluster_ctarank;
  mov.u32 %r9, bar;
  mov.u32 %r7, buffer;
  mov.u32 %r6, outgoing;
  setp.eq.u32 %p1, %r0, 0;
  @%p1 mbarrier.init.shared::cta.b64 [%r9], 1;
  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 128;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mad.lo.u32 %r1, %r8, 100, %r0;
  xor.b32 %r2, %r8, 1;
  mapa.shared::cluster.u32 %r10, %r9, %r2;
  mapa.shared::cluster.u32 %r11, %r7, %r2;
  $0
wait:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p0, [%r9], 0;
  @!%p0 bra wait;
  shl.b32 %r3, %r0, 2;
  add.u32 %r3, %r3, %r7;
  ld.shared.b32 %r4, [%r3];
  mad.lo.u32 %r5, %r8, 32, %r0;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.b32 [%rd1], %r4;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
}
)",
                          {send});
  LaunchOptions how = options(32, seed);
  how.grid = how.cluster = {2, 1, 1};
  LaunchResult result = run(text, Params().add(out), how, memory);
  CHECK(describe(result) == "");
  auto found = download<uint32_t>(memory, out, 64);
  for (unsigned i = 0; i < 64; ++i)
    CHECK(found[i] == (i < 32 ? 100 + i : i - 32));
}
