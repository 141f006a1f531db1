//===- MemoryBarrierTest.cpp - mbarrier instructions ----------------------===//

#include "test/Unit/Emulator/Async/Run.h"
#include <catch2/catch.hpp>

using namespace tilec::emulator;

namespace {

/// Runs a body with a barrier at %r9, the thread's number in %r0, memory at
/// %rd1 and a buffer in shared memory at %r7.
LaunchResult runBody(const std::string &body, unsigned threads, uint64_t seed,
                     DeviceMemory &memory, uint64_t out) {
  std::string text = fill(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<8>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<16>;
  .shared .align 128 .b8 buffer[1024];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p1, %r0, 0;
  mov.u32 %r9, bar;
  mov.u32 %r7, buffer;
$0
  ret;
}
)",
                          {body});
  LaunchOptions options;
  options.block = {threads, 1, 1};
  options.seed = seed;
  return run(text, Params().add(out), options, memory);
}

LaunchResult runBody(const std::string &body, unsigned threads, uint64_t seed) {
  DeviceMemory memory;
  uint64_t out = memory.allocate(4096, "out");
  std::memset(memory.find(out, 4096), 0, 4096);
  return runBody(body, threads, seed, memory, out);
}

std::string init(const std::string &count) {
  return "  @%p1 mbarrier.init.shared::cta.b64 [%r9], " + count +
         ";\n  bar.sync 0;\n";
}

const char *waitParity0 = R"(
wait0:
  mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r9], 0;
  @!%p0 bra wait0;
)";

} // namespace

TEST_CASE("A ring passes numbers from one warp to another") {
  uint64_t seed = GENERATE(range(0, 20));
  // Warp 0 writes 16 numbers through one slot, warp 1 reads them: full at bar,
  // empty at bar + 8.
  std::string body = R"(
  add.u32 %r10, %r7, 512;
  add.u32 %r11, %r7, 520;
  @%p1 mbarrier.init.shared::cta.b64 [%r10], 32;
  @%p1 mbarrier.init.shared::cta.b64 [%r11], 32;
  bar.sync 0;
  mov.u32 %r1, 0;
  and.b32 %r2, %r0, 31;
  shl.b32 %r3, %r2, 2;
  add.u32 %r3, %r3, %r7;
  setp.lt.u32 %p2, %r0, 32;
  @!%p2 bra consume;
produce:
  and.b32 %r4, %r1, 1;
  xor.b32 %r4, %r4, 1;
w1:
  mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r11], %r4;
  @!%p0 bra w1;
  mad.lo.u32 %r5, %r1, 1000, %r2;
  st.shared.b32 [%r3], %r5;
  mbarrier.arrive.shared::cta.b64 _, [%r10];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p3, %r1, 16;
  @%p3 bra produce;
  ret;
consume:
  and.b32 %r4, %r1, 1;
w2:
  mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r10], %r4;
  @!%p0 bra w2;
  xor.b32 %r6, %r2, 5;
  shl.b32 %r6, %r6, 2;
  add.u32 %r6, %r6, %r7;
  ld.shared.b32 %r5, [%r6];
  mbarrier.arrive.shared::cta.b64 _, [%r11];
  mad.lo.u32 %r8, %r1, 32, %r2;
  mul.wide.u32 %rd2, %r8, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.b32 [%rd2], %r5;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p3, %r1, 16;
  @%p3 bra consume;
)";
  DeviceMemory memory;
  uint64_t out = memory.allocate(4096, "out");
  LaunchResult result = runBody(body, 64, seed, memory, out);
  CHECK(describe(result) == "");
  auto found = download<uint32_t>(memory, out, 512);
  for (unsigned i = 0; i < 512; ++i)
    REQUIRE(found[i] == i / 32 * 1000 + (i % 32 ^ 5));
}

TEST_CASE("Tokens, counts and dropping out") {
  uint64_t seed = GENERATE(range(0, 6));
  std::string body = init("64") + R"(
  mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd2, [%r9], 1;
  mbarrier.pending_count.b64 %r1, %rd2;
  setp.gt.u32 %p4, %r1, 64;
  @%p4 trap;
  mbarrier.arrive_drop.release.cta.shared::cta.b64 %rd3, [%r9], 1;
wait:
  mbarrier.test_wait.shared::cta.b64 %p0, [%r9], %rd3;
  @!%p0 bra wait;
  mbarrier.arrive.shared::cta.b64 %rd4, [%r9];
wait2:
  mbarrier.try_wait.shared::cta.b64 %p0, [%r9], %rd4, 100;
  @!%p0 bra wait2;
)";
  CHECK(describe(runBody(body, 32, seed)) == "");
}

TEST_CASE("Misuse of a barrier is reported") {
  uint64_t seed = GENERATE(0u, 3u);
  struct Case {
    const char *name;
    std::string body;
    ReportKind kind;
  };
  Case cases[] = {
      {"not initialized", "  mbarrier.arrive.shared::cta.b64 _, [%r9];",
       ReportKind::BarrierMisuse},
      {"twice initialized", init("1") + init("1"), ReportKind::BarrierMisuse},
      {"used after inval",
       init("32") + "  @%p1 mbarrier.inval.shared::cta.b64 [%r9];\n"
                    "  bar.sync 0;\n"
                    "  mbarrier.arrive.shared::cta.b64 _, [%r9];",
       ReportKind::BarrierMisuse},
      {"overwritten",
       init("32") + "  @%p1 st.shared.b32 [%r9], %r0;\n  bar.sync 0;\n"
                    "  mbarrier.arrive.shared::cta.b64 _, [%r9];",
       ReportKind::BarrierMisuse},
      {"count of 0", init("0"), ReportKind::BarrierMisuse},
      {"too many arrivals",
       init("32") + "  mbarrier.arrive.shared::cta.b64 _, [%r9];\n"
                    "  @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 "
                    "[%r9], 16;\n"
                    "  bar.sync 0;\n"
                    "  mbarrier.arrive.shared::cta.b64 _, [%r9], 33;",
       ReportKind::BarrierMisuse},
      {"misaligned", "  mbarrier.init.shared::cta.b64 [%r7+4], 1;",
       ReportKind::Misaligned},
      {"too many bytes",
       init("1") + "  @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 "
                   "[%r9], 1048576;",
       ReportKind::TransactionCount},
      {"initialized without order",
       "  @%p1 mbarrier.init.shared::cta.b64 [%r9], 32;\n"
       "  mbarrier.arrive.shared::cta.b64 _, [%r9];",
       ReportKind::SharedRace},
  };
  for (const Case &test : cases) {
    LaunchResult result = runBody(test.body, 32, seed);
    INFO(test.name << "\n" << describe(result));
    CHECK(count(result, test.kind) >= 1);
  }
}

TEST_CASE("Bytes that do not add up are reported") {
  uint64_t seed = GENERATE(range(0, 6));
  std::string expected = GENERATE("128", "144", "112");
  std::string body = init("1") +
                     "  @!%p1 bra done;\n"
                     "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], " +
                     expected +
                     ";\n"
                     "  cp.async.bulk.shared::cluster.global.mbarrier::"
                     "complete_tx::bytes [%r7], [%rd1], 128, [%r9];\n" +
                     waitParity0 + "done:\n";
  LaunchResult result = runBody(body, 32, seed);
  INFO(expected << "\n" << describe(result));
  if (expected == "128")
    CHECK(result.reports.empty());
  else
    CHECK(count(result, ReportKind::TransactionCount) == 1);
}

TEST_CASE("A wait for ever is a deadlock that names the barrier") {
  std::string body =
      init("33") + "  mbarrier.arrive.shared::cta.b64 _, [%r9];" + waitParity0;
  LaunchResult result = runBody(body, 32, 1);
  INFO(describe(result));
  REQUIRE(count(result, ReportKind::Deadlock) == 1);
  CHECK(describe(result).find("which waits for 1 arrival") !=
        std::string::npos);
}

TEST_CASE("Reading before the barrier's phase is a report") {
  uint64_t seed = GENERATE(range(0, 10));
  bool waits = GENERATE(false, true);
  std::string body =
      init("1") +
      "  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 512;\n"
      "  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%r7], [%rd1], 512, [%r9];\n" +
      std::string(waits ? waitParity0 : "") +
      "  shl.b32 %r1, %r0, 2;\n  add.u32 %r1, %r1, %r7;\n"
      "  ld.shared.b32 %r2, [%r1];\n" +
      std::string(waits ? "" : waitParity0);
  LaunchResult result = runBody(body, 32, seed);
  INFO(describe(result));
  if (waits)
    CHECK(result.reports.empty());
  else
    CHECK(count(result, ReportKind::ReadInFlight) >= 1);
}

TEST_CASE("Stores need a proxy fence and a wait for their reads") {
  uint64_t seed = GENERATE(range(0, 10));
  std::string fence = GENERATE("fence.proxy.async;", "");
  std::string wait = GENERATE("cp.async.bulk.wait_group.read 0;",
                              "cp.async.bulk.wait_group 0;", "");
  std::string body = fill(R"(
  shl.b32 %r1, %r0, 2;
  add.u32 %r1, %r1, %r7;
  st.shared.b32 [%r1], %r0;
  $0
  bar.sync 0;
  @!%p1 bra skip;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r7], 128;
  cp.async.bulk.commit_group;
  $1
skip:
  bar.sync 0;
  st.shared.b32 [%r1], %r0;
)",
                          {fence, wait});
  LaunchResult result = runBody(body, 32, seed);
  INFO(describe(result));
  CHECK((count(result, ReportKind::MissingProxyFence) >= 1) == fence.empty());
  CHECK((count(result, ReportKind::OverwrittenInFlight) >= 1) == wait.empty());
  if (!fence.empty() && !wait.empty())
    CHECK(result.reports.empty());
}
