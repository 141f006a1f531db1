//===- WgmmaReportTest.cpp - What wgmma and setmaxnreg forbid -------------===//

#include "test/Unit/Emulator/Async/Run.h"
#include <catch2/catch.hpp>

using namespace tilec::emulator;

namespace {

/// Warpgroups with A and B, zeros, in shared memory; their descriptors are %rd2
/// and %rd3, and $0 is a product of m64n8k16 into %f0 to %f3.
LaunchResult runBody(std::string body, uint64_t seed, unsigned threads = 128,
                     const std::string &directives = "") {
  const std::string mma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                          "{%f0, %f1, %f2, %f3}, %rd2, %rd3, 1, 1, 1, 0, 0;";
  const std::string mmaRS =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
      "{%f0, %f1, %f2, %f3}, {%r20, %r21, %r22, %r23}, %rd3, 1, 1, 1, 0;";
  body = fill(body, {mma, mmaRS, "wgmma.fence.sync.aligned;",
                     "wgmma.commit_group.sync.aligned;",
                     "wgmma.wait_group.sync.aligned"});
  std::string text = fill(R"(
.visible .entry k(.param .u64 out) $1 {
  .reg .pred %p<8>;
  .reg .b32 %r<32>;
  .reg .f32 %f<32>;
  .reg .b64 %rd<16>;
  .shared .align 1024 .b8 stage[16384];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd5, %r0, 4;
  add.u64 %rd1, %rd1, %rd5;
  mov.u32 %r7, stage;
  shr.u32 %r8, %r7, 4;
  cvt.u64.u32 %rd4, %r8;
  mov.b64 %rd6, 0x4000004000010000;
  or.b64 %rd2, %rd4, %rd6;
  add.u64 %rd3, %rd2, 512;
  shl.b32 %r1, %r0, 2;
  add.u32 %r1, %r1, %r7;
  mov.u32 %r9, %ntid.x;
  shl.b32 %r9, %r9, 2;
  shl.b32 %r2, %r0, 2;
zero:
  add.u32 %r3, %r7, %r2;
  st.shared.b32 [%r3], 0;
  add.u32 %r2, %r2, %r9;
  setp.lt.u32 %p1, %r2, 16384;
  @%p1 bra zero;
  fence.proxy.async;
  bar.sync 0;
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  mov.b32 %r20, 0;
  mov.b32 %r21, 0;
  mov.b32 %r22, 0;
  mov.b32 %r23, 0;
$0
  ret;
}
)",
                          {body, directives});
  DeviceMemory memory;
  uint64_t out = memory.allocate(4096, "out");
  LaunchOptions options;
  options.block = {threads, 1, 1};
  options.seed = seed;
  return run(text, Params().add(out), options, memory);
}

} // namespace

TEST_CASE("Registers in flight and fences of wgmma") {
  struct Case {
    const char *name;
    std::string body;
    std::optional<ReportKind> kind;
  };
  const ReportKind inFlight = ReportKind::RegisterInFlight;
  const ReportKind noFence = ReportKind::MissingWgmmaFence;
  Case cases[] = {
      {"right", "$2\n$0\n$0\n$3\n$4 0;\nst.global.f32 [%rd1], %f0;", {}},
      {"read before the wait", "$2\n$0\n$3\nst.global.f32 [%rd1], %f0;\n$4 0;",
       inFlight},
      {"read under a wait that leaves it",
       "$2\n$0\n$3\n$4 1;\nst.global.f32 [%rd1], %f0;\n$4 0;", inFlight},
      {"written before the wait", "$2\n$0\n$3\nadd.f32 %f3, %f4, %f4;\n$4 0;",
       inFlight},
      {"set before the wait", "$2\n$0\n$3\nmov.f32 %f3, 0f00000000;\n$4 0;",
       inFlight},
      {"A written before the wait", "$2\n$1\n$3\nadd.u32 %r20, %r0, 1;\n$4 0;",
       inFlight},
      {"A read before the wait",
       "$2\n$1\n$3\nadd.u32 %r4, %r20, 1;\n$4 0;",
       {}},
      {"renamed before the wait, read after it",
       "$2\n$0\n$3\nmov.f32 %f4, %f0;\n$4 0;\nst.global.f32 [%rd1], %f4;",
       {}},
      {"renamed and read before the wait",
       "$2\n$0\n$3\nmov.f32 %f4, %f0;\nst.global.f32 [%rd1], %f4;\n$4 0;",
       inFlight},
      {"the copy of a rename is free",
       "$2\n$0\n$3\nmov.f32 %f4, %f0;\nmov.f32 %f4, 0f00000000;\n$4 0;",
       {}},
      {"a group that was not committed",
       "$2\n$0\n$4 0;\nst.global.f32 [%rd1], %f0;\n$3\n$4 0;", inFlight},
      {"two groups, the first awaited",
       "$2\n$0\n$3\n$2\n"
       "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
       "{%f4, %f5, %f6, %f7}, %rd2, %rd3, 0, 1, 1, 0, 0;\n$3\n$4 1;\n"
       "st.global.f32 [%rd1], %f0;\n$4 0;",
       {}},
      {"two groups, the second read",
       "$2\n$0\n$3\n$2\n"
       "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
       "{%f4, %f5, %f6, %f7}, %rd2, %rd3, 0, 1, 1, 0, 0;\n$3\n$4 1;\n"
       "st.global.f32 [%rd1], %f4;\n$4 0;",
       inFlight},
      {"no fence, and accumulators that are overwritten",
       "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
       "{%f4, %f5, %f6, %f7}, %rd2, %rd3, 0, 1, 1, 0, 0;\n$3\n$4 0;",
       noFence},
      {"overwritten accumulators that were set after the fence",
       "$2\nmov.f32 %f4, 0f00000000;\n"
       "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
       "{%f4, %f5, %f6, %f7}, %rd2, %rd3, 0, 1, 1, 0, 0;\n$3\n$4 0;",
       {}},
      {"no fence", "$0\n$3\n$4 0;", noFence},
      {"written after the fence", "$2\nadd.f32 %f0, %f0, %f0;\n$0\n$3\n$4 0;",
       noFence},
      {"A written after the fence", "$2\nadd.u32 %r20, %r0, 1;\n$1\n$3\n$4 0;",
       noFence},
      {"written between two waits",
       "$2\n$0\n$3\n$4 0;\nadd.f32 %f0, %f0, %f0;\n$0\n$3\n$4 0;", noFence},
      {"written between two waits, with a fence",
       "$2\n$0\n$3\n$4 0;\nadd.f32 %f0, %f0, %f0;\n$2\n$0\n$3\n$4 0;",
       {}},
      {"chained after a wait", "$2\n$0\n$3\n$4 0;\n$0\n$3\n$4 0;", {}},
      {"accumulators of another shape",
       "$2\n$0\n"
       "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
       "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %rd2, %rd3, 0, 1, 1, 0, 0;\n"
       "$3\n$4 0;",
       noFence},
  };
  for (const Case &test : cases) {
    LaunchResult result = runBody(test.body, 1);
    INFO(test.name << "\n" << describe(result));
    if (!test.kind)
      CHECK(result.reports.empty());
    else
      CHECK((!result.reports.empty() &&
             count(result, *test.kind) == result.reports.size()));
  }
}

TEST_CASE("Operands in shared memory are read until the wait") {
  uint64_t seed = GENERATE(range(0, 6));
  std::string body = GENERATE("$4 0;\nbar.sync 0;\nst.shared.b32 [%r1], 1;",
                              "bar.sync 0;\nst.shared.b32 [%r1], 1;\n$4 0;");
  bool waits = body.front() == '$';
  LaunchResult result = runBody("$2\n$0\n$3\n" + body, seed);
  INFO(describe(result));
  if (waits)
    CHECK(result.reports.empty());
  else
    CHECK(count(result, ReportKind::OverwrittenInFlight) >= 1);
}

TEST_CASE("A wait of one warp stands for its warpgroup") {
  // One thread of the first warpgroup tells one of the second that it may
  // overwrite the operands: in A a word of the rows of each warp, and one of B.
  // The second product reads the next 32 bytes of the same rows.
  const std::string second =
      "add.u64 %rd7, %rd2, 2;\nadd.u64 %rd8, %rd3, 2;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
      "{%f0, %f1, %f2, %f3}, %rd7, %rd8, 1, 1, 1, 0, 0;\n";
  const std::string arrive = "@%p3 mbarrier.arrive.shared::cta.b64 _, [bar];\n";
  struct Case {
    const char *name;
    std::string products; // Of the first warpgroup.
    unsigned offset;      // Of the words that are overwritten.
    bool isRight;
  };
  Case cases[] = {
      {"after the wait", "$2\n$0\n$3\n$4 0;\n" + arrive, 0, true},
      {"before the wait", "$2\n$0\n$3\n" + arrive + "$4 0;\n", 0, false},
      {"after a wait that leaves it",
       "$2\n$0\n$3\n$4 1;\n" + arrive + "$4 0;\n", 0, false},
      {"the first of two groups",
       "$2\n$0\n$3\n" + second + "$3\n$4 1;\n" + arrive + "$4 0;\n", 0, true},
      {"the second of two groups",
       "$2\n$0\n$3\n" + second + "$3\n$4 1;\n" + arrive + "$4 0;\n", 32, false},
      {"both groups, by two waits",
       "$2\n$0\n$3\n" + second + "$3\n$4 1;\n$4 0;\n" + arrive, 32, true},
  };
  unsigned releaser = GENERATE(0u, 37u, 64u, 127u);
  for (const Case &test : cases)
    for (uint64_t seed = 0; seed < 6; ++seed) {
      std::string stores; // To rows that the swizzle leaves as they are.
      for (unsigned row : {0u, 16u, 32u, 48u, 64u})
        stores += "@%p4 st.shared.b32 [stage+" +
                  std::to_string(row * 128 + test.offset) + "], 1;\n";
      LaunchResult result =
          runBody("setp.eq.u32 %p3, %r0, " + std::to_string(releaser) +
                      ";\nsetp.eq.u32 %p4, %r0, 200;\n"
                      "@%p4 mbarrier.init.shared::cta.b64 [bar], 1;\n"
                      "bar.sync 0;\nsetp.ge.u32 %p2, %r0, 128;\n"
                      "@%p2 bra other;\n" +
                      test.products +
                      "ret;\nother:\nwait:\n"
                      "mbarrier.try_wait.parity.shared::cta.b64 %p5, [bar], "
                      "0;\n@!%p5 bra wait;\n" +
                      stores,
                  seed, 256);
      INFO(test.name << ", thread " << releaser << ", seed " << seed << "\n"
                     << describe(result));
      if (test.isRight)
        CHECK(result.reports.empty());
      else // A race with parts of warps that come later still.
        CHECK((count(result, ReportKind::OverwrittenInFlight) >= 1 &&
               count(result, ReportKind::OverwrittenInFlight) +
                       count(result, ReportKind::SharedRace) ==
                   result.reports.size()));
    }
}

TEST_CASE("A wait ends when the last warp issues its part, or exits") {
  // Others go round in a loop meanwhile, so nothing else wakes who waits. The
  // product of the last warp is not that of the others, which is reported. With
  // "ret" the last warp leaves a product out.
  std::string ofLast = GENERATE("$0\n$3\n$4 0;\n", "ret;\n");
  bool isRight = ofLast.front() == '$';
  for (uint64_t seed = 0; seed < 10; ++seed) {
    LaunchResult result = runBody(R"(
  setp.ge.u32 %p2, %r0, 128;
  @%p2 bra poll;
  $2
  setp.ge.u32 %p2, %r0, 96;
  @%p2 bra last;
  $0
  $3
  $4 0;
  setp.eq.u32 %p3, %r0, 0;
  @%p3 st.volatile.shared.b32 [stage+12288], 1;
  ret;
last:
  )" + ofLast + R"(
  ret;
poll:
  ld.volatile.shared.b32 %r4, [stage+12288];
  setp.eq.u32 %p5, %r4, 0;
  @%p5 bra poll;
)",
                                  seed, 256);
    INFO("seed " << seed << "\n" << describe(result));
    CHECK(result.reports.size() == 1);
    CHECK(count(result, ReportKind::DivergentAligned) == 1);
    bool isMissing = describe(result).find("ends without") != std::string::npos;
    CHECK(isMissing != isRight);
  }
}

TEST_CASE("A wait for a warp that waits for it is a deadlock") {
  // The last warp issues its part when the first has waited for its own.
  for (uint64_t seed = 0; seed < 4; ++seed) {
    LaunchResult result = runBody(R"(
  setp.ge.u32 %p2, %r0, 96;
  @%p2 bar.sync 1, 64;
  $2
  $0
  $3
  $4 0;
  setp.lt.u32 %p3, %r0, 32;
  @%p3 bar.sync 1, 64;
)",
                                  seed);
    std::string text = describe(result);
    INFO(text);
    REQUIRE(result.reports.size() == 1);
    CHECK(count(result, ReportKind::Deadlock) == 1);
    bool isExplained = false;
    for (const Participant &who : result.reports[0].participants)
      isExplained |= who.role.find("wgmmas that warp 3 of its warpgroup has "
                                   "not issued") != std::string::npos;
    CHECK(isExplained);
  }
}

TEST_CASE("What a warpgroup must do together") {
  // The last warp leaves one product out.
  LaunchResult result = runBody(R"(
  setp.ge.u32 %p2, %r0, 96;
  $2
  $0
  @%p2 bra skip;
  $0
skip:
  $3
  $4 0;
)",
                                1);
  INFO(describe(result));
  CHECK(result.reports.size() == 1);
  CHECK(count(result, ReportKind::DivergentAligned) == 1);
  // A descriptor that differs within a warp.
  result = runBody("cvt.u64.u32 %rd7, %r0;\nadd.u64 %rd2, %rd2, %rd7;\n"
                   "$2\n$0\n$3\n$4 0;",
                   1);
  INFO(describe(result));
  CHECK(count(result, ReportKind::BadOperand) >= 1);
  // A descriptor outside of shared memory.
  result = runBody("add.u64 %rd2, %rd2, 4096;\n$2\n$0\n$3\n$4 0;", 1);
  INFO(describe(result));
  CHECK(count(result, ReportKind::OutOfBounds) == 1);
  // Too few warps.
  result = runBody("$2\n$0\n$3\n$4 0;", 1, 96);
  INFO(describe(result));
  CHECK(count(result, ReportKind::DivergentAligned) == 1);
}

TEST_CASE("setmaxnreg moves registers between warpgroups") {
  struct Case {
    const char *name;
    std::string first, second; // Of each warpgroup, of 128 registers.
    std::optional<ReportKind> kind;
  };
  Case cases[] = {
      {"right", "dec.sync.aligned.u32 24", "inc.sync.aligned.u32 232", {}},
      {"more than there is", "dec.sync.aligned.u32 32",
       "inc.sync.aligned.u32 240", ReportKind::RegisterPool},
      {"not a multiple of 8", "dec.sync.aligned.u32 24",
       "inc.sync.aligned.u32 231", ReportKind::RegisterPool},
      {"too few", "dec.sync.aligned.u32 16", "inc.sync.aligned.u32 232",
       ReportKind::RegisterPool},
      {"dec to more", "dec.sync.aligned.u32 24", "dec.sync.aligned.u32 232",
       ReportKind::RegisterPool},
  };
  for (const Case &test : cases)
    for (uint64_t seed = 0; seed < 5; ++seed) {
      LaunchResult result =
          runBody("  setp.lt.u32 %p2, %r0, 128;\n"
                  "  @!%p2 bra second;\n  setmaxnreg." +
                      test.first + ";\n  ret;\nsecond:\n  setmaxnreg." +
                      test.second + ";\n",
                  seed, 256, ".maxnreg 128");
      INFO(test.name << "\n" << describe(result));
      if (!test.kind)
        CHECK(result.reports.empty());
      else
        CHECK(count(result, *test.kind) >= 1);
    }
}
