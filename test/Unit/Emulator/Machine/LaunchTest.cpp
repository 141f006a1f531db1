//===- LaunchTest.cpp - Checks of the call, special registers -------------===//

#include "test/Unit/Emulator/Machine/Launching.h"
#include <cmath>

using namespace tilec::emulator;

TEST_CASE("calls that the target cannot run are errors") {
  Runner runner("ret;");
  CHECK(runner.refusal() == "");
  CHECK_THAT(runner.refusal("other"), Catch::Contains("no kernel 'other'"));
  CHECK_THAT(runner.refusal("k", 23), Catch::Contains("24 bytes"));
  auto with = [&](auto change) {
    LaunchOptions saved = runner.options;
    change(runner.options);
    std::string error = runner.refusal();
    runner.options = saved;
    return error;
  };
  CHECK(with([](auto &o) { o.block = {1024, 1, 1}; }) == "");
  CHECK_THAT(with([](auto &o) { o.block = {1024, 2, 1}; }),
             Catch::Contains("more than 1024"));
  CHECK_THAT(with([](auto &o) { o.block = {1, 1, 65}; }),
             Catch::Contains("beyond"));
  CHECK_THAT(with([](auto &o) { o.block = {0, 1, 1}; }),
             Catch::Contains("beyond"));
  CHECK_THAT(with([](auto &o) { o.grid = {1, 65536, 1}; }),
             Catch::Contains("beyond"));
  CHECK_THAT(with([](auto &o) { o.grid = {1, 0, 1}; }),
             Catch::Contains("beyond"));
  CHECK_THAT(with([](auto &o) { o.cluster = {2, 1, 1}; }),
             Catch::Contains("do not divide"));
  CHECK_THAT(with([](auto &o) {
               o.grid = {32, 1, 1};
               o.cluster = {32, 1, 1};
             }),
             Catch::Contains("more than 16"));
  CHECK(with([](auto &o) { o.dynamicShared = 232448; }) == "");
  CHECK_THAT(with([](auto &o) { o.dynamicShared = 232449; }),
             Catch::Contains("232448"));

  Runner directed("ret;", "",
                  ".reqntid 32, 2, 1\n.reqnctapercluster 2, 1, 1\n");
  CHECK_THAT(directed.refusal(), Catch::Contains("blocks of 32 x 2 x 1"));
  directed.options.block = {32, 2, 1};
  CHECK_THAT(directed.refusal(), Catch::Contains("clusters of 2 x 1 x 1"));
  directed.options.grid = directed.options.cluster = {2, 1, 1};
  CHECK(directed.refusal() == "");

  Runner limited("ret;", "", ".maxntid 64, 1, 1\n");
  limited.options.block = {65, 1, 1};
  CHECK_THAT(limited.refusal(), Catch::Contains("at most 64 threads"));
}

TEST_CASE("special registers") {
  const char *names[] = {"%tid.x",
                         "%tid.y",
                         "%tid.z",
                         "%ntid.x",
                         "%ntid.y",
                         "%ntid.z",
                         "%ctaid.x",
                         "%ctaid.y",
                         "%ctaid.z",
                         "%nctaid.x",
                         "%nctaid.y",
                         "%nctaid.z",
                         "%clusterid.x",
                         "%clusterid.y",
                         "%nclusterid.x",
                         "%nclusterid.y",
                         "%cluster_ctaid.x",
                         "%cluster_ctaid.y",
                         "%cluster_nctaid.x",
                         "%cluster_nctaid.y",
                         "%cluster_ctarank",
                         "%cluster_nctarank",
                         "%laneid",
                         "%warpid",
                         "%nwarpid",
                         "%lanemask_eq",
                         "%lanemask_lt",
                         "%lanemask_le",
                         "%lanemask_gt",
                         "%lanemask_ge"};
  constexpr unsigned count = std::size(names);
  std::string body = R"(
    mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.y;
    mad.lo.u32 %r3, %r1, %r2, %r0;
    mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x;
    mad.lo.u32 %r4, %r5, %r6, %r4;
    mad.lo.u32 %r3, %r4, 60, %r3;
    mul.wide.u32 %rd4, %r3, )" +
                     std::to_string(4 * count) +
                     ";\nadd.s64 %rd4, %rd1, %rd4;\n";
  for (unsigned i = 0; i != count; ++i)
    body += std::string("mov.u32 %r7, ") + names[i] +
            ";\nst.global.u32 [%rd4+" + std::to_string(4 * i) + "], %r7;\n";
  Runner runner(body + "ret;");
  runner.options.grid = {4, 6, 1};
  runner.options.block = {20, 3, 1};
  runner.options.cluster = {2, 3, 1};
  uint64_t out = runner.array(std::vector<uint32_t>(24 * 60 * count));
  CHECK_SOUND(runner.run(out));
  auto values = runner.read<uint32_t>(out, 24 * 60 * count);
  for (unsigned block = 0; block != 24; ++block)
    for (unsigned thread = 0; thread != 60; ++thread) {
      unsigned x = block % 4, y = block / 4, lane = thread % 32;
      std::vector<uint32_t> expected = {thread % 20,
                                        thread / 20,
                                        0,
                                        20,
                                        3,
                                        1,
                                        x,
                                        y,
                                        0,
                                        4,
                                        6,
                                        1,
                                        x / 2,
                                        y / 3,
                                        2,
                                        2,
                                        x % 2,
                                        y % 3,
                                        2,
                                        3,
                                        x % 2 + y % 3 * 2,
                                        6,
                                        lane,
                                        thread / 32,
                                        2,
                                        1u << lane,
                                        (1u << lane) - 1,
                                        (1u << lane) - 1 + (1u << lane),
                                        ~((1u << lane) - 1) & ~(1u << lane),
                                        ~((1u << lane) - 1)};
      auto begin = values.begin() + (block * 60 + thread) * count;
      CHECK(std::vector<uint32_t>(begin, begin + count) == expected);
    }
}

TEST_CASE("clocks go on") {
  Runner runner(R"(
    mov.u64 %rd4, %clock64;
    mov.u64 %rd5, %globaltimer;
  WAIT:
    mov.u64 %rd6, %clock64;
    sub.u64 %rd6, %rd6, %rd4;
    setp.lt.u64 %p1, %rd6, 5000;
    @%p1 bra WAIT;
    mov.u64 %rd7, %globaltimer;
    sub.u64 %rd7, %rd7, %rd5;
    st.global.u64 [%rd1], %rd7;
    ret;)");
  uint64_t out = runner.array(std::vector<uint64_t>(1));
  CHECK_SOUND(runner.run(out));
  CHECK(runner.read<uint64_t>(out, 1)[0] >= 5000);
}

TEST_CASE("registers that are not set hold no zeros") {
  Runner runner("st.global.f32 [%rd1], %f9; st.global.u64 [%rd1+8], %rd40; "
                "st.global.f64 [%rd1+16], %fd7; ret;");
  uint64_t out = runner.array(std::vector<uint64_t>(3));
  CHECK_SOUND(runner.run(out));
  CHECK(std::isnan(runner.read<float>(out, 1)[0]));
  CHECK(runner.read<uint64_t>(out + 8, 1)[0] != 0);
  CHECK(std::isnan(runner.read<double>(out + 16, 1)[0]));
}

TEST_CASE("counters of instructions") {
  Runner runner(R"(
    setp.lt.u32 %p1, %r0, 8;
    @%p1 bra L;
    add.u32 %r1, %r0, 1;
  L:
    ret;)");
  runner.options.block = {32, 1, 1};
  runner.options.grid = {10, 1, 1};
  Counters counters = runner.run().counters;
  CHECK(counters.byOpcode["add"] == 10);
  CHECK(counters.byOpcode["ld"] == 30);
  CHECK(counters.byOpcode["bra"] == 10);
  CHECK(counters.warpInstructions == 10 * (3 + 1 + 4));
  // The branch is executed by 8, the addition by 24.
  CHECK(counters.threadInstructions == 10 * (4 * 32 + 32 + 8 + 24 + 32));
  CHECK(contains(format(counters), "80 instructions of warps"));
  auto json = toJSON(counters);
  CHECK(json.getAsObject()->getInteger("warp_instructions") == 80);
  CHECK(json.getAsObject()->getObject("by_opcode")->getInteger("add") == 10);
}

TEST_CASE("a big grid of small blocks") {
  Runner runner(R"(
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ctaid.y;
    mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd4, %r4, 4;
    add.s64 %rd4, %rd1, %rd4;
    st.global.u32 [%rd4], %r4;
    ret;)");
  runner.options.grid = {173, 61, 1};
  for (unsigned hostThreads : {0, 1}) {
    runner.options.hostThreads = hostThreads;
    uint64_t out = runner.array(std::vector<uint32_t>(173 * 61));
    CHECK_SOUND(runner.run(out));
    auto values = runner.read<uint32_t>(out, 173 * 61);
    for (unsigned i = 0; i != values.size(); ++i)
      if (values[i] != i)
        FAIL("block " << i);
  }
}
