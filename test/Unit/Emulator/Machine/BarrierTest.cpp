//===- BarrierTest.cpp - bar, barrier.cluster, and how they fail ----------===//

#include "test/Unit/Emulator/Machine/Launching.h"

using namespace tilec::emulator;

namespace {
// %rd4 = &a[tid], %rd5 = &b[tid] of words.
constexpr char addresses[] = R"(
    mul.wide.u32 %rd4, %r0, 4;
    add.s64 %rd5, %rd2, %rd4;
    add.s64 %rd4, %rd1, %rd4;
)";
} // namespace

TEST_CASE("a block exchanges values over a barrier") {
  Runner runner(std::string(addresses) + R"(
    .shared .align 4 .b32 s[256];
    mov.u32 %r1, s;
    shl.b32 %r2, %r0, 2;
    add.u32 %r3, %r1, %r2;
    mov.u32 %r9, 0;
    mov.u32 %r10, 0;
  LOOP:
    add.u32 %r4, %r0, %r9;
    st.shared.u32 [%r3], %r4;
    bar.sync 0;
    mov.u32 %r5, %ntid.x;
    sub.u32 %r5, %r5, %r0;
    sub.u32 %r5, %r5, 1;
    shl.b32 %r5, %r5, 2;
    add.u32 %r5, %r1, %r5;
    ld.shared.u32 %r6, [%r5];
    barrier.cta.sync 3;
    add.u32 %r10, %r10, %r6;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p1, %r9, 5;
    @%p1 bra LOOP;
    st.global.u32 [%rd4], %r10;
    ret;)");
  for (unsigned threads : {1u, 31u, 32u, 33u, 200u, 256u})
    for (uint64_t seed : {0, 1, 2}) {
      runner.options.block = {threads, 1, 1};
      runner.options.seed = seed;
      runner.options.detectRaces = seed == 2;
      uint64_t out = runner.array(std::vector<uint32_t>(threads));
      CHECK_SOUND(runner.run(out, out));
      auto result = runner.read<uint32_t>(out, threads);
      for (unsigned i = 0; i != threads; ++i)
        CHECK(result[i] == 5 * (threads - 1 - i) + 10);
    }
}

TEST_CASE("named barriers of producers and consumers") {
  // Warp 0 produces, warps 1 and 2 consume, over two barriers each way.
  Runner runner(R"(
    .shared .align 4 .b32 s[32];
    mov.u32 %r1, s;
    and.b32 %r2, %r0, 31;
    shl.b32 %r2, %r2, 2;
    add.u32 %r3, %r1, %r2;
    mov.u32 %r9, 0;
    mov.u32 %r10, 0;
    setp.ge.u32 %p1, %r0, 32;
    @%p1 bra CONSUMER;
  PRODUCER:
    bar.sync 2, 96;
    st.shared.u32 [%r3], %r9;
    bar.arrive 1, 96;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p2, %r9, 50;
    @%p2 bra PRODUCER;
    ret;
  CONSUMER:
    bar.arrive 2, 96;
    bar.sync 1, 96;
    ld.shared.u32 %r4, [%r3];
    add.u32 %r10, %r10, %r4;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p2, %r9, 50;
    @%p2 bra CONSUMER;
    red.global.add.u32 [%rd1], %r10;
    ret;)");
  runner.options.block = {96, 1, 1};
  for (unsigned seed = 0; seed != 5; ++seed) {
    runner.options.seed = seed;
    runner.options.detectRaces = true;
    uint64_t out = runner.array(std::vector<uint32_t>(1));
    CHECK_SOUND(runner.run(out));
    CHECK(runner.read<uint32_t>(out, 1)[0] == 64 * (49 * 50 / 2));
  }
}

TEST_CASE("barriers that reduce") {
  Runner runner(std::string(addresses) + R"(
    setp.lt.u32 %p1, %r0, 50;
    bar.red.popc.u32 %r1, 0, %p1;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, %p1;
    barrier.cta.red.and.pred %p4, 1, 96, !%p1;
    bar.red.popc.u32 %r5, 0, 96, !%p1;
    selp.u32 %r2, 100, 0, %p2;
    selp.u32 %r3, 1000, 0, %p3;
    selp.u32 %r4, 10000, 0, %p4;
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r4;
    st.global.u32 [%rd4], %r1;
    st.global.u32 [%rd5], %r5;
    ret;)");
  runner.options.block = {96, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(96));
  uint64_t more = runner.array(std::vector<uint32_t>(96));
  CHECK_SOUND(runner.run(out, more));
  CHECK(runner.read<uint32_t>(out, 96) == std::vector<uint32_t>(96, 1050));
  CHECK(runner.read<uint32_t>(more, 96) == std::vector<uint32_t>(96, 46));
}

TEST_CASE("threads that have exited do not hold up a barrier for all") {
  Runner runner(R"(
    setp.ge.u32 %p1, %r0, 40;
    @%p1 exit;
    barrier.sync 0;
    barrier.sync 0;
    red.global.add.u32 [%rd1], 1;
    ret;)");
  runner.options.block = {96, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(1));
  CHECK_SOUND(runner.run(out));
  CHECK(runner.read<uint32_t>(out, 1)[0] == 40);
}

TEST_CASE("but they are missing where a barrier counts") {
  Runner runner(R"(
    setp.ge.u32 %p1, %r0, 64;
    @%p1 exit;
    bar.sync 5, 96;
    ret;)");
  runner.options.block = {96, 1, 1};
  CHECK_REPORT(runner.run(), ReportKind::Deadlock,
               "warps 0, 1 wait for barrier 5, to which 64 of 96 threads");
}

TEST_CASE("a deadlock says who waits where for what") {
  Runner runner(R"(
    setp.ge.u32 %p1, %r0, 64;
    @%p1 bra OTHER;
    bar.sync 1, 128;
    ret;
  OTHER:
    bar.sync 2, 128;
    ret;)");
  runner.options.block = {128, 1, 1};
  auto result = runner.run();
  CHECK_REPORT(result, ReportKind::Deadlock,
               "warps 0, 1 wait for barrier 1, to which 64 of 128",
               "warps 2, 3 wait for barrier 2, to which 64 of 128");
  CHECK(result.reports[0].participants.size() == 2);
  CHECK(result.reports[0].participants[0].location.ptxLine != 0);
}

TEST_CASE("a count of all threads is the same as none") {
  Runner runner(R"(
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra L;
    bar.sync 0, 96;
    ret;
  L:
    bar.sync 0;
    ret;)");
  runner.options.block = {75, 1, 1};
  CHECK_SOUND(runner.run());
}

TEST_CASE("misuse of barriers") {
  auto report = [](const std::string &body, const char *part,
                   unsigned threads = 64) {
    Runner runner(body + "\nret;");
    runner.options.block = {threads, 1, 1};
    auto result = runner.run();
    std::string text = summary(result);
    INFO(body << "\n" << text);
    REQUIRE(!result.reports.empty());
    CHECK(result.reports[0].kind == ReportKind::BarrierMisuse);
    CHECK_THAT(text, Catch::Contains(part));
  };
  report("mov.u32 %r1, 16; barrier.sync %r1;", "a block has 0 to 15");
  report("mov.u32 %r1, 33; bar.sync 1, %r1;", "not a positive multiple of 32");
  report("mov.u32 %r1, 0; bar.sync 1, %r1;", "not a positive multiple of 32");
  report("bar.sync 1, 96;", "in a block of 64");
  report("bar.arrive 1, 64; bar.arrive 1, 64;", "again before it is complete",
         32 + 32);
  report("shr.u32 %r1, %r0, 5; setp.eq.u32 %p1, %r1, 1; @%p1 bra L; "
         "bar.sync 1, 96; ret; L: bar.sync 1, 64;",
         "where others came to it", 96);
}

TEST_CASE("an .aligned barrier needs the whole warp") {
  Runner runner(R"(
    setp.lt.u32 %p1, %r0, 7;
    @%p1 bra FEW;
    bar.sync 0;
    bra END;
  FEW:
    bar.sync 0;
  END:
    red.global.add.u32 [%rd1], 1;
    ret;)");
  runner.options.block = {64, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(1));
  auto result = runner.run(out);
  std::string text = summary(result);
  INFO(text);
  REQUIRE(!result.reports.empty());
  CHECK(result.reports[0].kind == ReportKind::DivergentAligned);
  CHECK_THAT(text, Catch::Contains("25 of the 32 threads"));
  CHECK_THAT(text, Catch::Contains("is here instead"));
  // The run goes on.
  CHECK(runner.read<uint32_t>(out, 1)[0] == 64);

  Runner guarded(R"(
    setp.lt.u32 %p1, %r0, 7;
    @%p1 bar.sync 0;
    @!%p1 bar.sync 0;
    ret;)");
  guarded.options.block = {32, 1, 1};
  result = guarded.run();
  REQUIRE(!result.reports.empty());
  CHECK(result.reports[0].kind == ReportKind::DivergentAligned);
}

TEST_CASE("an .aligned barrier after lanes diverged and met") {
  Runner runner(std::string(addresses) + R"(
    and.b32 %r1, %r0, 3;
    mov.u32 %r2, 0;
  LOOP:
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra OUT;
    add.u32 %r2, %r2, 1;
    bra LOOP;
  OUT:
    bar.sync 0;
    st.global.u32 [%rd4], %r2;
    ret;)");
  runner.options.block = {48, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(48));
  CHECK_SOUND(runner.run(out));
  auto result = runner.read<uint32_t>(out, 48);
  for (unsigned i = 0; i != 48; ++i)
    CHECK(result[i] == (i & 3));
}

TEST_CASE("clusters exchange values through each other's shared memory") {
  Runner runner(R"(
    .shared .align 4 .b32 s[64];
    mov.u32 %r1, s;
    shl.b32 %r2, %r0, 2;
    add.u32 %r3, %r1, %r2;
    mov.u32 %r4, %ctaid.x;
    mad.lo.u32 %r5, %r4, 1000, %r0;
    st.shared.u32 [%r3], %r5;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mov.u32 %r6, %cluster_ctarank;
    mov.u32 %r7, %cluster_nctarank;
    add.u32 %r6, %r6, 1;
    rem.u32 %r6, %r6, %r7;
    mapa.shared::cluster.u32 %r8, %r3, %r6;
    ld.shared::cluster.u32 %r9, [%r8];
    mov.u32 %r10, %ntid.x;
    mad.lo.u32 %r11, %r4, %r10, %r0;
    mul.wide.u32 %rd4, %r11, 4;
    add.s64 %rd4, %rd1, %rd4;
    st.global.u32 [%rd4], %r9;
    barrier.cluster.arrive.relaxed;
    barrier.cluster.wait;
    ret;)");
  runner.options.grid = {12, 1, 1};
  runner.options.block = {64, 1, 1};
  runner.options.cluster = {4, 1, 1};
  runner.options.detectRaces = true;
  uint64_t out = runner.array(std::vector<uint32_t>(12 * 64));
  CHECK_SOUND(runner.run(out));
  auto result = runner.read<uint32_t>(out, 12 * 64);
  for (unsigned block = 0; block != 12; ++block)
    for (unsigned i = 0; i != 64; ++i)
      CHECK(result[block * 64 + i] ==
            1000 * (block / 4 * 4 + (block + 1) % 4) + i);
}

TEST_CASE("the cluster's barrier: exits, misuse, deadlock") {
  Runner exits(R"(
    mov.u32 %r1, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 exit;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    red.global.add.u32 [%rd1], 1;
    ret;)");
  exits.options.grid = exits.options.cluster = {2, 1, 1};
  exits.options.block = {32, 1, 1};
  uint64_t out = exits.array(std::vector<uint32_t>(1));
  CHECK_SOUND(exits.run(out));
  CHECK(exits.read<uint32_t>(out, 1)[0] == 32);

  Runner twice("barrier.cluster.arrive; barrier.cluster.arrive; ret;");
  twice.options.block = {32, 1, 1};
  twice.options.grid = twice.options.cluster = {2, 1, 1};
  // The second one may come after all have arrived once; then it is right.
  auto result = twice.run();
  REQUIRE(result.reports.size() == 1);
  CHECK(result.reports[0].kind == ReportKind::BarrierMisuse);

  Runner lonely("barrier.cluster.wait; ret;");
  lonely.options.block = {32, 1, 1};
  CHECK_REPORT(lonely.run(), ReportKind::BarrierMisuse, "without having");

  Runner half(R"(
    barrier.cluster.arrive;
    mov.u32 %r1, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    bar.sync 1, 64;
  WAIT:
    barrier.cluster.wait;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;)");
  half.options.grid = half.options.cluster = {2, 1, 1};
  half.options.block = {64, 1, 1};
  CHECK_SOUND(half.run());
  half.options.block = {32, 1, 1};
  result = half.run();
  REQUIRE(!result.reports.empty());
  CHECK(result.reports[0].kind == ReportKind::BarrierMisuse);

  Runner stuck(R"(
    mov.u32 %r1, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra FIRST;
    bar.sync 1, 64;
  FIRST:
    setp.lt.u32 %p2, %r0, 32;
    @%p2 bra WARP0;
    @%p1 bar.sync 2, 64;
  WARP0:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;)");
  stuck.options.grid = stuck.options.cluster = {2, 1, 1};
  stuck.options.block = {64, 1, 1};
  CHECK_REPORT(stuck.run(), ReportKind::Deadlock,
               "the barrier of the cluster, to which 96 of 128 threads",
               "barrier 2, to which 32 of 64 threads");
}

TEST_CASE("fences of all kinds are accepted") {
  Runner runner(R"(
    membar.cta; membar.gl; membar.sys;
    fence.sc.cta; fence.acq_rel.cluster; fence.acq_rel.gpu; fence.sc.sys;
    fence.acquire.gpu; fence.release.cta;
    fence.mbarrier_init.release.cluster;
    fence.proxy.alias; fence.proxy.async; fence.proxy.async.global;
    fence.proxy.async.shared::cta; fence.proxy.async.shared::cluster;
    fence.proxy.tensormap::generic.release.gpu;
    fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
    ret;)");
  runner.options.detectRaces = true;
  CHECK_SOUND(runner.run(runner.array(std::vector<uint32_t>(32))));
}
