//===- SchedulerTest.cpp - Fairness, seeds, spinning ----------------------===//

#include "test/Unit/Emulator/Machine/Launching.h"
#include <ctime>
#include <set>

using namespace tilec::emulator;

namespace {
// Each thread takes a lock by compare-and-swap and adds to a word without an
// atomic operation.
constexpr char spinLock[] = R"(
  AGAIN:
    atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    ld.global.u32 %r2, [%rd1+4];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd1+4], %r2;
    fence.acq_rel.gpu;
    atom.release.gpu.global.exch.b32 %r1, [%rd1], 0;
    ret;)";
} // namespace

TEST_CASE("a spin lock among the lanes of a warp") {
  // The lane that has the lock is behind those that spin.
  Runner runner(spinLock);
  for (auto [blocks, threads, hostThreads] : {std::tuple(1u, 32u, 1u),
                                              {1u, 200u, 1u},
                                              {30u, 40u, 1u},
                                              {30u, 40u, 4u}}) {
    runner.options.grid = {blocks, 1, 1};
    runner.options.block = {threads, 1, 1};
    runner.options.hostThreads = hostThreads;
    uint64_t lock = runner.array(std::vector<uint32_t>(2));
    CHECK_SOUND(runner.run(lock));
    CHECK(runner.read<uint32_t>(lock, 2) ==
          std::vector<uint32_t>{0, blocks * threads});
  }
}

TEST_CASE("lanes that wait do not hold up those that release them") {
  // Lanes 1..31 poll what lane 0 writes, which is later in the text.
  Runner runner(R"(
    .shared .align 4 .b32 s[1];
    setp.eq.u32 %p1, %r0, 0;
    @%p1 st.volatile.shared.u32 [s], 0;
    bar.sync 0;
    @%p1 bra WRITE;
  POLL:
    ld.volatile.shared.u32 %r1, [s];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra POLL;
    bra END;
  WRITE:
    st.volatile.shared.u32 [s], 1;
  END:
    red.global.add.u32 [%rd1], 1;
    ret;)");
  runner.options.block = {64, 1, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(1));
  CHECK_SOUND(runner.run(out));
  CHECK(runner.read<uint32_t>(out, 1)[0] == 64);
}

TEST_CASE("blocks wait for each other through global memory") {
  // A barrier of the whole grid.
  Runner runner(R"(
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra JOIN;
    atom.release.gpu.global.add.u32 %r1, [%rd1], 1;
    mov.u32 %r2, %nctaid.x;
  POLL:
    ld.acquire.gpu.global.u32 %r1, [%rd1];
    setp.lt.u32 %p2, %r1, %r2;
    @%p2 bra POLL;
  JOIN:
    bar.sync 0;
    red.global.add.u32 [%rd1+4], 1;
    ret;)");
  runner.options.block = {64, 1, 1};
  for (unsigned blocks : {1, 5, 100}) {
    runner.options.grid = {blocks, 1, 1};
    for (unsigned hostThreads : {1, 3}) {
      runner.options.hostThreads = hostThreads;
      uint64_t out = runner.array(std::vector<uint32_t>(2));
      CHECK_SOUND(runner.run(out));
      CHECK(runner.read<uint32_t>(out, 2) ==
            std::vector<uint32_t>{blocks, blocks * 64});
    }
  }
  // More blocks than fit on the target: those that came first wait for ever.
  runner.options.block = {256, 1, 1};
  runner.options.registersPerThread = 255;
  runner.options.grid = {133, 1, 1};
  runner.options.hostThreads = 1;
  uint64_t out = runner.array(std::vector<uint32_t>(2));
  auto result = runner.run(out);
  REQUIRE(!result.reports.empty());
  CHECK(result.reports[0].kind == ReportKind::Deadlock);
}

TEST_CASE("polling what nobody writes is a deadlock, and soon") {
  Runner runner(R"(
    setp.eq.u32 %p1, %r0, 0;
    @!%p1 bra JOIN;
  POLL:
    nanosleep.u32 20;
    ld.acquire.gpu.global.u32 %r1, [%rd1];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra POLL;
  JOIN:
    bar.sync 0;
    ret;)");
  runner.options.block = {64, 1, 1};
  runner.options.grid = {3, 1, 1};
  uint64_t word = runner.array(std::vector<uint32_t>(1));
  for (unsigned hostThreads : {1, 2}) {
    runner.options.hostThreads = hostThreads;
    auto result = runner.run(word);
    std::string text = summary(result);
    INFO(text);
    REQUIRE(!result.reports.empty());
    CHECK(result.reports[0].kind == ReportKind::Deadlock);
    CHECK_THAT(text, Catch::Contains("barrier 0"));
    CHECK_THAT(text, Catch::Contains("memory that does not change"));
    CHECK(result.counters.warpInstructions < 10'000'000);
  }
}

TEST_CASE("a long computation is no deadlock") {
  Runner runner(R"(
    mov.u32 %r1, 0;
  LOOP:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 1000000;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r1;
    ret;)");
  uint64_t out = runner.array(std::vector<uint32_t>(1));
  CHECK_SOUND(runner.run(out));
  CHECK(runner.read<uint32_t>(out, 1)[0] == 1000000);
}

TEST_CASE("a run without end stops at the limit") {
  Runner runner(R"(
    mov.u32 %r1, 0;
  LOOP:
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    bra LOOP;)");
  runner.options.stepLimit = 1'000'000;
  uint64_t out = runner.array(std::vector<uint32_t>(1));
  auto result = runner.run(out);
  CHECK_REPORT(result, ReportKind::StepLimit, "has not ended");
  CHECK(result.counters.warpInstructions < 1'200'000);
}

TEST_CASE("the seed decides the order, and alone") {
  // The order in which warps come to a counter.
  Runner runner(R"(
    and.b32 %r1, %r0, 31;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 exit;
    atom.global.add.u32 %r2, [%rd1], 1;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd4, %rd2, %rd4;
    st.global.u32 [%rd4], %r0;
    ret;)");
  runner.options.block = {256, 1, 1};
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed != 10; ++seed) {
    runner.options.seed = seed;
    std::vector<uint32_t> first;
    for (unsigned i = 0; i != 3; ++i) {
      uint64_t counter = runner.array(std::vector<uint32_t>(1));
      uint64_t order = runner.array(std::vector<uint32_t>(8));
      CHECK_SOUND(runner.run(counter, order));
      auto got = runner.read<uint32_t>(order, 8);
      if (i == 0)
        first = got;
      CHECK(got == first);
    }
    orders.insert(first);
  }
  CHECK(orders.size() > 3);
}

TEST_CASE("a persistent kernel draws its tiles from a counter") {
  Runner runner(R"(
    .shared .align 4 .b32 s[1];
  NEXT:
    setp.eq.u32 %p1, %r0, 0;
    @!%p1 bra WAIT;
    atom.global.add.u32 %r1, [%rd1], 1;
    st.shared.u32 [s], %r1;
  WAIT:
    bar.sync 0;
    ld.shared.u32 %r2, [s];
    bar.sync 0;
    setp.ge.u32 %p2, %r2, 1000;
    @%p2 ret;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd4, %rd2, %rd4;
    red.global.add.u32 [%rd4], 1;
    bra NEXT;)");
  runner.options.block = {96, 1, 1};
  runner.options.grid = {16, 1, 1};
  for (unsigned hostThreads : {1, 4}) {
    runner.options.hostThreads = hostThreads;
    uint64_t counter = runner.array(std::vector<uint32_t>(1));
    uint64_t tiles = runner.array(std::vector<uint32_t>(1000));
    CHECK_SOUND(runner.run(counter, tiles));
    CHECK(runner.read<uint32_t>(tiles, 1000) ==
          std::vector<uint32_t>(1000, 96));
    CHECK(runner.read<uint32_t>(counter, 1)[0] == 1016);
  }
}

// Not run unless asked for: how fast the machine is, on a loop like that of a
// product without tensor cores.
TEST_CASE("instructions of warps a second", "[.speed]") {
  Runner runner(R"(
    .shared .align 16 .b32 s[2048];
    shl.b32 %r1, %r0, 4;
    mov.u32 %r2, s;
    add.u32 %r3, %r2, %r1;
    cvt.u64.u32 %rd4, %r1;
    add.s64 %rd4, %rd1, %rd4;
    mov.u32 %r4, 0;
    mov.f32 %f9, 0f00000000;
    mov.f32 %f10, 0f00000000;
  LOOP:
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
    st.shared.v4.f32 [%r3], {%f1, %f2, %f3, %f4};
    bar.sync 0;
    mov.u32 %r5, 0;
    mov.u32 %r6, %r2;
  INNER:
    ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r6];
    ld.shared.f32 %f5, [%r3];
    fma.rn.f32 %f9, %f1, %f5, %f9;
    fma.rn.f32 %f10, %f2, %f5, %f10;
    fma.rn.f32 %f9, %f3, %f5, %f9;
    fma.rn.f32 %f10, %f4, %f5, %f10;
    add.u32 %r6, %r6, 16;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 64;
    @%p1 bra INNER;
    bar.sync 0;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 400;
    @%p2 bra LOOP;
    add.f32 %f9, %f9, %f10;
    st.global.f32 [%rd4], %f9;
    ret;)");
  runner.options.block = {256, 1, 1};
  uint64_t data = runner.array(std::vector<float>(1024, 0.5f));
  for (bool detects : {false, true}) {
    if (detects && std::getenv("WITHOUT"))
      continue;
    runner.options.detectRaces = detects;
    std::clock_t start = std::clock(); // Of the processor: others may be busy.
    auto result = runner.run(data);
    double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    CHECK_SOUND(result);
    WARN((detects ? "with" : "without")
         << " detection: "
         << double(result.counters.warpInstructions) / seconds / 1e6
         << " million a second");
  }
}
