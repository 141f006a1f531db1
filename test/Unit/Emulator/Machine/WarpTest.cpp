//===- WarpTest.cpp - shfl, vote, match, redux, elect ---------------------===//

#include "test/Unit/Emulator/Machine/Launching.h"
#include <algorithm>
#include <random>

using namespace tilec::emulator;

namespace {

// Runs `body`, which leaves a word in %r1 from the words %r2, %r3 and %r4 of
// each lane.
std::vector<uint32_t> lanes(const std::string &body,
                            const std::vector<uint32_t> &in,
                            unsigned threads = 32,
                            LaunchResult *result = nullptr) {
  Runner runner(R"(
    mul.wide.u32 %rd4, %r0, 12;
    add.s64 %rd4, %rd1, %rd4;
    ld.global.u32 %r2, [%rd4];
    ld.global.u32 %r3, [%rd4+4];
    ld.global.u32 %r4, [%rd4+8];
    mul.wide.u32 %rd5, %r0, 4;
    add.s64 %rd5, %rd2, %rd5;
    mov.u32 %r1, 0;
)" + body + R"(
    st.global.u32 [%rd5], %r1;
    ret;)");
  runner.options.block = {threads, 1, 1};
  uint64_t a = runner.array(in),
           b = runner.array(std::vector<uint32_t>(threads));
  auto made = runner.run(a, b);
  if (result)
    *result = std::move(made);
  else
    CHECK_SOUND(made);
  return runner.read<uint32_t>(b, threads);
}

std::vector<uint32_t> randomWords(unsigned count, uint32_t mask = ~0u) {
  std::mt19937 random(5);
  std::vector<uint32_t> result(count);
  for (uint32_t &word : result)
    word = random() & mask;
  return result;
}

} // namespace

TEST_CASE("shuffles of all modes, widths and offsets") {
  auto in = randomWords(96);
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (unsigned width : {1, 4, 16, 32})
      for (unsigned offset : {0, 1, 3, 5, 16, 31}) {
        unsigned control = ((32 - width) << 8) | (mode == "up" ? 0 : 31);
        INFO(mode << " " << width << " " << offset);
        auto out =
            lanes("shfl.sync." + mode + ".b32 %r1|%p1, %r2, " +
                      std::to_string(offset) + ", " + std::to_string(control) +
                      ", -1;\n"
                      "selp.u32 %r5, 0x80000000, 0, %p1;\n"
                      "xor.b32 %r1, %r1, %r5;",
                  in);
        for (unsigned i = 0; i != 32; ++i) {
          // As __shfl_*_sync says: within segments of `width` lanes.
          int segment = int(i / width * width), source = 0;
          bool isIn = true;
          if (mode == "up") {
            source = int(i) - int(offset);
            isIn = source >= segment;
          } else if (mode == "down") {
            source = int(i + offset);
            isIn = source < segment + int(width);
          } else if (mode == "bfly") {
            source = int(i ^ offset);
            isIn = source < segment + int(width);
          } else {
            source = segment + int(offset % width);
          }
          uint32_t expected = in[3 * unsigned(isIn ? source : int(i))];
          CHECK(out[i] == (expected ^ (isIn ? 0x80000000 : 0)));
        }
      }
}

TEST_CASE("each lane may have offsets of its own, and a result its source") {
  auto in = randomWords(96);
  auto out =
      lanes("shfl.sync.idx.b32 %r2, %r2, %r3, 31, -1; mov.u32 %r1, %r2;", in);
  for (unsigned i = 0; i != 32; ++i)
    CHECK(out[i] == in[3 * (in[3 * i + 1] & 31)]);
}

TEST_CASE("votes") {
  auto in = randomWords(96, 1);
  for (bool isAll : {false, true}) {
    if (isAll)
      for (unsigned i = 0; i != 32; ++i)
        in[3 * i] = 1;
    auto out = lanes(R"(
      setp.ne.u32 %p1, %r2, 0;
      vote.sync.all.pred %p2, %p1, -1;
      vote.sync.any.pred %p3, !%p1, -1;
      vote.sync.uni.pred %p4, %p1, 0xffffffff;
      vote.sync.ballot.b32 %r1, !%p1, -1;
      selp.u32 %r5, 1, 0, %p2;
      selp.u32 %r6, 2, 0, %p3;
      selp.u32 %r7, 4, 0, %p4;
      add.u32 %r5, %r5, %r6;
      add.u32 %r5, %r5, %r7;
      shl.b32 %r1, %r1, 3;
      add.u32 %r1, %r1, %r5;)",
                     in);
    uint32_t ballot = 0;
    for (unsigned i = 0; i != 32; ++i)
      ballot |= (in[3 * i] ? 0u : 1u) << i;
    CHECK(out ==
          std::vector<uint32_t>(32, (ballot << 3) + (isAll ? 1 + 4 : 2)));
  }
}

TEST_CASE("matches") {
  auto in = randomWords(96, 3);
  auto any = lanes("match.any.sync.b32 %r1, %r2, -1;", in);
  auto all = lanes("match.all.sync.b32 %r1|%p1, %r2, -1;", in);
  auto same = lanes("mov.u64 %rd9, 7; match.all.sync.b64 %r1|%p1, %rd9, -1; "
                    "@!%p1 mov.u32 %r1, 5;",
                    in);
  for (unsigned i = 0; i != 32; ++i) {
    uint32_t expected = 0;
    for (unsigned j = 0; j != 32; ++j)
      expected |= uint32_t(in[3 * i] == in[3 * j]) << j;
    CHECK(any[i] == expected);
    CHECK(all[i] == 0);
    CHECK(same[i] == ~0u);
  }
}

TEST_CASE("reductions of a warp") {
  auto in = randomWords(96);
  in[0] = 0x80000000;
  in[3] = 0x7fffffff;
  uint32_t sum = 0, least = ~0u, conjunction = ~0u, disjunction = 0, parity = 0;
  int32_t most = INT32_MIN;
  for (unsigned i = 0; i != 32; ++i) {
    uint32_t x = in[3 * i];
    sum += x;
    least = std::min(least, x);
    most = std::max(most, int32_t(x));
    conjunction &= x;
    disjunction |= x;
    parity ^= x;
  }
  auto reduce = [&](const std::string &what) {
    auto out = lanes("redux.sync." + what + " %r1, %r2, -1;", in);
    CHECK(out == std::vector<uint32_t>(32, out[0]));
    return out[0];
  };
  CHECK(reduce("add.u32") == sum);
  CHECK(reduce("add.s32") == sum);
  CHECK(reduce("min.u32") == least);
  CHECK(reduce("max.s32") == uint32_t(most));
  CHECK(reduce("and.b32") == conjunction);
  CHECK(reduce("or.b32") == disjunction);
  CHECK(reduce("xor.b32") == parity);
}

TEST_CASE("elect and activemask") {
  auto out = lanes(R"(
    setp.lt.u32 %p1, %r0, 5;
    @%p1 bra END;
    activemask.b32 %r1;
    elect.sync %r5|%p2, 0xffffffe0;
    @%p2 add.u32 %r1, %r1, 1;
    mad.lo.u32 %r1, %r5, 0x100, %r1;
  END:)",
                   std::vector<uint32_t>(96));
  for (unsigned i = 0; i != 32; ++i)
    CHECK(out[i] == (i < 5 ? 0 : 0xffffffe0 + 0x500 + (i == 5)));
}

TEST_CASE("groups with masks of their own at one instruction") {
  auto in = randomWords(96);
  auto out = lanes(R"(
    setp.lt.u32 %p1, %r0, 12;
    selp.b32 %r5, 0xfff, 0xfffff000, %p1;
    redux.sync.add.u32 %r1, %r2, %r5;)",
                   in);
  uint32_t sums[2] = {};
  for (unsigned i = 0; i != 32; ++i)
    sums[i >= 12] += in[3 * i];
  for (unsigned i = 0; i != 32; ++i)
    CHECK(out[i] == sums[i >= 12]);
}

TEST_CASE("lanes wait for those that their mask names, wherever these are") {
  // Odd lanes come later.
  auto in = randomWords(96);
  auto out = lanes(R"(
    and.b32 %r5, %r0, 1;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra MEET;
    add.u32 %r2, %r2, 0;
    bra LATE;
  MEET:
    bar.warp.sync 0xffffffff;
    shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;
    bra END;
  LATE:
    mov.u32 %r6, 0;
  SPIN:
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, 100;
    @%p2 bra SPIN;
    bra MEET;
  END:)",
                   in);
  for (unsigned i = 0; i != 32; ++i)
    CHECK(out[i] == in[3 * (i ^ 1)]);
}

TEST_CASE("a mask that names lanes that exited is complete without them") {
  auto out = lanes(R"(
    setp.ge.u32 %p1, %r0, 20;
    @%p1 ret;
    bar.warp.sync -1;
    redux.sync.add.u32 %r1, 1, -1;)",
                   std::vector<uint32_t>(96));
  for (unsigned i = 0; i != 32; ++i)
    CHECK(out[i] == (i < 20 ? 20 : 0));
}

TEST_CASE("warps that are not full") {
  auto in = randomWords(3 * 45);
  auto out = lanes("redux.sync.add.u32 %r1, %r2, -1;", in, 45);
  uint32_t sum = 0;
  for (unsigned i = 32; i != 45; ++i)
    sum += in[3 * i];
  for (unsigned i = 32; i != 45; ++i)
    CHECK(out[i] == sum);
}

TEST_CASE("faults of member masks") {
  LaunchResult result;
  lanes("redux.sync.add.u32 %r1, %r2, 0xffff;", randomWords(96), 32, &result);
  CHECK_REPORT(result, ReportKind::BadOperand, "does not name");

  lanes("setp.lt.u32 %p1, %r0, 16; @%p1 shfl.sync.bfly.b32 %r1, %r2, 16, 31, "
        "0xffff;",
        randomWords(96), 32, &result);
  CHECK_REPORT(result, ReportKind::BadOperand, "does not take part");

  lanes(R"(
    setp.lt.u32 %p1, %r0, 16;
    @%p1 bra A;
    bar.warp.sync -1;
    bra END;
  A:
    redux.sync.add.u32 %r1, %r2, -1;
  END:)",
        randomWords(96), 32, &result);
  CHECK_REPORT(result, ReportKind::Deadlock,
               "threads 0-15 wait for lanes 16-31",
               "threads 16-31 wait for lanes 0-15");
}

TEST_CASE("forms of other targets are refused") {
  auto error = [](const std::string &instruction) {
    DeviceMemory memory;
    auto loaded = loadProgram(header() + kernel(instruction + "\nret;"),
                              "bad.ptx", memory);
    return loaded ? "" : llvm::toString(loaded.takeError());
  };
  for (const char *each :
       {"shfl.idx.b32 %r1, %r2, 0, 31;", "vote.all.pred %p1, %p2;",
        "redux.sync.min.f32 %f1, %f2, -1;", "redux.sync.min.b32 %r1, %r2, -1;",
        "shfl.sync.idx.b32 %p1, %r2, 0, 31, -1;",
        "vote.sync.all.pred %r1, %p1, -1;", "elect.sync %r1, -1;",
        "match.any.sync.b16 %r1, %h1, -1;", "bar.warp.sync;"}) {
    INFO(each);
    CHECK_THAT(error(each), Catch::StartsWith("bad.ptx:"));
  }
}
