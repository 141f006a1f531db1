//===- MemoryTest.cpp - Loads, stores, atomics ----------------------------===//

#include "test/Unit/Emulator/Machine/Launching.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace tilec::emulator;

TEST_CASE("memory has addresses that are apart, and knows its bytes") {
  DeviceMemory memory;
  uint64_t a = memory.allocate(100, "a", 4), b = memory.allocate(0, "b");
  REQUIRE(a != 0);
  REQUIRE(b != 0);
  CHECK(a % 4 == 0);
  CHECK(b % 256 == 0);
  CHECK(b >= a + 100 + 4096);
  CHECK(memory.find(a, 100) != nullptr);
  CHECK(memory.find(a + 1, 100) == nullptr);
  CHECK(memory.find(a + 100, 1) == nullptr);
  CHECK(memory.find(a - 1, 1) == nullptr);
  CHECK(memory.find(a + 40, ~uint64_t(0)) == nullptr);
  CHECK(memory.find(b, 1) == nullptr);
  CHECK(memory.nearest(a + 200)->name == "a");
  CHECK(memory.nearest(a - 1) == nullptr);
  float first;
  std::memcpy(&first, memory.find(a, 4), 4);
  CHECK(std::isnan(first));
  CHECK(memory.free(a));
  CHECK_FALSE(memory.free(a));
  CHECK_FALSE(memory.free(b + 1));
  CHECK(memory.find(a, 1) == nullptr);
  CHECK(memory.allocate(1, "", 3) == 0);
  CHECK(memory.allocate(uint64_t(1) << 60) == 0);
}

TEST_CASE("loads extend, and stores truncate") {
  Runner runner(R"(
    ld.global.s8 %r1, [%rd1];
    st.global.u32 [%rd2], %r1;
    ld.global.u8 %r1, [%rd1];
    st.global.u32 [%rd2+4], %r1;
    ld.global.s16 %rd4, [%rd1+2];
    st.global.u64 [%rd2+8], %rd4;
    ld.global.b16 %r1, [%rd1+2];
    st.global.u32 [%rd2+16], %r1;
    ld.global.s8 %h1, [%rd1];
    mov.b32 %r1, {%h1, %h1};
    st.global.u32 [%rd2+20], %r1;
    mov.u32 %r1, 0x12345678;
    st.global.u8 [%rd2+24], %r1;
    st.global.u16 [%rd2+26], %r1;
    ld.global.s32 %rd4, [%rd1+4];
    st.global.u64 [%rd2+32], %rd4;
    ret;)");
  uint64_t in = runner.array<uint8_t>({0x80, 1, 0x34, 0xf2, 0, 0, 0, 0x80});
  uint64_t out = runner.array<uint8_t>(std::vector<uint8_t>(40));
  CHECK_SOUND(runner.run(in, out));
  CHECK(runner.read<uint32_t>(out, 2) ==
        std::vector<uint32_t>{0xffffff80u, 0x80u});
  CHECK(runner.read<uint64_t>(out + 8, 1)[0] == 0xfffffffffffff234u);
  CHECK(runner.read<uint32_t>(out + 16, 2) ==
        std::vector<uint32_t>{0xf234u, 0xff80ff80u});
  CHECK(runner.read<uint8_t>(out + 24, 4) ==
        std::vector<uint8_t>{0x78, 0, 0x78, 0x56});
  CHECK(runner.read<uint64_t>(out + 32, 1)[0] == 0xffffffff80000000u);
}

TEST_CASE("vectors, wide registers and partial warps") {
  Runner runner(R"(
    mul.wide.u32 %rd4, %r0, 16;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    ld.global.nc.L1::no_allocate.v4.f32 {%f0, %f1, %f2, %f3}, [%rd5];
    st.global.cs.v2.f32 [%rd6], {%f3, %f2};
    st.global.v2.f32 [%rd6+8], {%f1, %f0};
    ld.global.b128 %q0, [%rd6];
    add.s64 %rd6, %rd3, %rd4;
    st.global.b128 [%rd6], %q0;
    ld.global.v2.b64 {_, %rd7}, [%rd5];
    st.global.b64 [%rd6+8], %rd7;
    ret;)");
  unsigned threads = 37;
  runner.options.block = {threads, 1, 1};
  std::vector<float> values(4 * threads);
  for (unsigned i = 0; i != values.size(); ++i)
    values[i] = float(i);
  uint64_t in = runner.array(values);
  uint64_t out = runner.array(std::vector<float>(4 * threads));
  uint64_t copy = runner.array(std::vector<float>(4 * threads));
  CHECK_SOUND(runner.run(in, out, copy));
  auto reversed = runner.read<float>(out, 4 * threads);
  auto copied = runner.read<float>(copy, 4 * threads);
  for (unsigned i = 0; i != threads; ++i)
    for (unsigned j = 0; j != 4; ++j) {
      CHECK(reversed[4 * i + j] == values[4 * i + 3 - j]);
      CHECK(copied[4 * i + j] ==
            (j < 2 ? values[4 * i + 3 - j] : values[4 * i + j]));
    }
}

TEST_CASE("spaces: shared, local, param, and generic addresses of all") {
  Runner runner(R"(
    .shared .align 8 .b32 s[64];
    .local .align 8 .b8 l[16];
    mov.u32 %r1, s;
    shl.b32 %r2, %r0, 2;
    add.s32 %r3, %r1, %r2;
    st.shared.u32 [%r3], %r0;
    mov.u64 %rd4, l;
    st.local.u32 [%rd4+4], %r0;
    cvta.local.u64 %rd5, %rd4;
    ld.u32 %r4, [%rd5+4];          // Of its own local memory: tid.
    mov.u64 %rd6, s;
    cvta.shared.u64 %rd7, %rd6;
    cvt.u64.u32 %rd8, %r2;
    add.s64 %rd9, %rd7, %rd8;
    ld.u32 %r5, [%rd9];            // The same of shared memory: tid.
    add.s64 %rd10, %rd1, %rd8;
    ld.u32 %r6, [%rd10];           // Of global memory.
    add.u32 %r7, %r4, %r5;
    add.u32 %r7, %r7, %r6;
    st.u32 [%rd10], %r7;
    ret;)");
  runner.options.block = {64, 1, 1};
  std::vector<uint32_t> values(64);
  for (unsigned i = 0; i != 64; ++i)
    values[i] = 1000 * i;
  uint64_t data = runner.array(values);
  CHECK_SOUND(runner.run(data));
  auto result = runner.read<uint32_t>(data, 64);
  for (unsigned i = 0; i != 64; ++i)
    CHECK(result[i] == 1002 * i);
}

TEST_CASE("dynamic shared memory comes after static") {
  Runner runner(R"(
    .shared .align 4 .b8 s[12];
    mov.u32 %r1, d;
    mov.u32 %r2, s;
    st.shared.u32 [%r2+8], 7;
    st.shared.u32 [%r1], 9;
    ld.shared.u32 %r3, [%r2+8];
    ld.shared.u32 %r4, [d+96];
    st.global.v2.u32 [%rd1], {%r3, %r4};
    mov.u32 %r5, %dynamic_smem_size;
    st.global.u32 [%rd1+8], %r5;
    ret;)",
                ".extern .shared .align 16 .b8 d[];\n");
  runner.options.dynamicShared = 100;
  uint64_t out = runner.array(std::vector<uint32_t>(4));
  CHECK_SOUND(runner.run(out));
  auto result = runner.read<uint32_t>(out, 3);
  CHECK(result[0] == 7);
  CHECK(result[1] == 0xffffffff); // Nobody wrote it.
  CHECK(result[2] == 100);
  runner.options.dynamicShared = 96;
  CHECK_REPORT(runner.run(out), ReportKind::OutOfBounds, "a read of 4 bytes",
               "0 bytes past its end");
}

TEST_CASE("accesses outside of memory are reported with what is near") {
  auto report = [](const std::string &body, const std::string &part,
                   ReportKind kind = ReportKind::OutOfBounds) {
    Runner runner(body + "\nret;");
    uint64_t x = runner.array(std::vector<float>(256), "X");
    uint64_t y = runner.array(std::vector<float>(256), "Y");
    auto result = runner.run(x, y, 8);
    CHECK_REPORT(result, kind, part.c_str());
  };
  report("ld.global.u32 %r1, [%rd2+1024];",
         "a read of 4 bytes at 0x" + std::string());
  report("ld.global.u32 %r1, [%rd2+1028];",
         "4 bytes past the end of 'Y' (1024 bytes)");
  report("st.global.u32 [%rd1+1024], %r1;",
         "0 bytes past the end of 'X' (1024 bytes)");
  report("ld.global.v2.u64 {%rd4, %rd5}, [%rd1+1016];",
         "whose last 8 are past the end of 'X' (1024 bytes)");
  report("ld.global.u32 %r1, [%rd1+-4];", "4 bytes before the start of 'X'");
  report("ld.u32 %r1, [%rd3];", "a null pointer");
  report("atom.global.add.u32 %r1, [%rd2+1024], 1;", "past the end of 'Y'");
  report("ld.global.u32 %r1, [%rd1+2];", "is not a multiple of 4",
         ReportKind::Misaligned);
  report("mov.u32 %r1, 8; ld.shared.u32 %r2, [%r1];", "before its start");
  report("ld.local.u32 %r2, [%rd3];", "of local memory at 8 of 0 bytes");
}

TEST_CASE("lanes that have no place do not disturb the others") {
  Runner runner(R"(
    mul.wide.u32 %rd4, %r0, 4;
    add.s64 %rd5, %rd1, %rd4;
    ld.global.u32 %r1, [%rd5];
    add.s64 %rd6, %rd2, %rd4;
    st.global.u32 [%rd6], %r1;
    ret;)");
  runner.options.block = {32, 1, 1};
  std::vector<uint32_t> values(20, 5);
  uint64_t in = runner.array(values, "in");
  uint64_t out = runner.array(std::vector<uint32_t>(32, 1));
  auto result = runner.run(in, out);
  CHECK_REPORT(result, ReportKind::OutOfBounds, "'in' (80 bytes)", "thread 20");
  CHECK(result.reports[0].count == 12);
  auto copied = runner.read<uint32_t>(out, 32);
  for (unsigned i = 0; i != 32; ++i)
    CHECK(copied[i] == (i < 20 ? 5 : 0));
}

TEST_CASE("atomic operations, one of each") {
  struct Case {
    const char *instruction; // On %rd4, the word of 8 bytes.
    uint64_t before, after, returned;
  };
  const Case cases[] = {
      {"atom.global.add.u32 %r1, [%rd4], 5;", 0xffffffff, 4, 0xffffffff},
      {"atom.add.s32 %r1, [%rd4], -1;", 0, 0xffffffff, 0},
      {"atom.global.min.s32 %r1, [%rd4], -1;", 3, 0xffffffff, 3},
      {"atom.global.min.u32 %r1, [%rd4], -1;", 3, 3, 3},
      {"atom.global.max.s32 %r1, [%rd4], 7;", 0x80000000, 7, 0x80000000},
      {"atom.global.max.u32 %r1, [%rd4], 7;", 0x80000000, 0x80000000,
       0x80000000},
      {"atom.global.inc.u32 %r1, [%rd4], 4;", 4, 0, 4},
      {"atom.global.inc.u32 %r1, [%rd4], 4;", 3, 4, 3},
      {"atom.global.dec.u32 %r1, [%rd4], 4;", 0, 4, 0},
      {"atom.global.dec.u32 %r1, [%rd4], 4;", 9, 4, 9},
      {"atom.global.dec.u32 %r1, [%rd4], 4;", 3, 2, 3},
      {"atom.global.and.b32 %r1, [%rd4], 6;", 3, 2, 3},
      {"atom.global.or.b32 %r1, [%rd4], 6;", 3, 7, 3},
      {"atom.global.xor.b32 %r1, [%rd4], 6;", 3, 5, 3},
      {"atom.global.exch.b32 %r1, [%rd4], 6;", 3, 6, 3},
      {"atom.global.cas.b32 %r1, [%rd4], 3, 9;", 3, 9, 3},
      {"atom.relaxed.gpu.global.cas.b32 %r1, [%rd4], 4, 9;", 3, 3, 3},
      {"atom.acq_rel.sys.global.add.f32 %f1, [%rd4], 0f3F800000; "
       "mov.b32 %r1, %f1;",
       0x40000000, 0x40400000, 0x40000000},
      {"red.global.add.u32 [%rd4], 5; mov.u32 %r1, 1;", 2, 7, 1},
      {"red.release.gpu.global.or.b32 [%rd4], 5; mov.u32 %r1, 1;", 2, 7, 1},
      {"atom.global.add.noftz.f16x2 %r1, [%rd4], 0x3c003c00;", 0x40003c00,
       0x42004000, 0x40003c00},
      {"mov.b16 %h1, 7; mov.b16 %h2, 9; atom.global.cas.b16 %h3, [%rd4], %h1, "
       "%h2; cvt.u32.u16 %r1, %h3;",
       7, 9, 7},
      // Subnormals are zero in the sums of global memory.
      {"red.global.add.f32 [%rd4], 0f00000001; mov.u32 %r1, 0;", 1, 0, 0},
  };
  for (const Case &each : cases) {
    INFO(each.instruction);
    Runner runner(std::string("mov.b64 %rd4, %rd1;") + each.instruction +
                  "st.global.u32 [%rd2], %r1; ret;");
    uint64_t word = runner.array(std::vector<uint64_t>{each.before});
    uint64_t out = runner.array(std::vector<uint32_t>(1));
    CHECK_SOUND(runner.run(word, out));
    CHECK(runner.read<uint64_t>(word, 1)[0] == each.after);
    CHECK(runner.read<uint32_t>(out, 1)[0] == each.returned);
  }
}

TEST_CASE("atomic operations on 64 and 128 bits and on vectors") {
  Runner runner(R"(
    atom.global.add.u64 %rd4, [%rd1], -3;
    st.global.u64 [%rd2], %rd4;
    atom.global.min.s64 %rd4, [%rd1+8], -7;
    atom.global.add.f64 %fd1, [%rd1+16], 0d3FF0000000000000;
    red.global.add.v4.f32 [%rd1+32], {%f1, 0f3F800000, 0f40000000, 0fFF800000};
    mov.b128 %q0, {%rd1, %rd2};
    atom.global.exch.b128 %q1, [%rd1+48], %q0;
    st.global.b128 [%rd2+16], %q1;
    atom.global.cas.b128 %q2, [%rd1+48], %q0, %q1;
    st.global.b128 [%rd2+32], %q2;
    ret;)");
  uint64_t data = runner.array(
      std::vector<uint64_t>{10, 5, 0x4000000000000000, 0, 0, 0, 111, 222});
  uint64_t out = runner.array(std::vector<uint64_t>(6));
  CHECK_SOUND(runner.run(data, out));
  auto words = runner.read<uint64_t>(data, 8);
  CHECK(words[0] == 7);
  CHECK(words[1] == uint64_t(-7));
  CHECK(words[2] == 0x4008000000000000);
  auto floats = runner.read<float>(data + 32, 4);
  CHECK(std::isnan(floats[0])); // %f1 is not set.
  CHECK(floats[1] == 1);
  CHECK(floats[2] == 2);
  CHECK(floats[3] == -std::numeric_limits<float>::infinity());
  CHECK(words[6] == 111);
  CHECK(words[7] == 222);
  auto returned = runner.read<uint64_t>(out, 6);
  CHECK(returned == std::vector<uint64_t>{10, 0, 111, 222, data, out});
}

TEST_CASE("atomic sums of many blocks, on several host threads") {
  Runner runner(R"(
    .shared .align 4 .b32 s[1];
    setp.eq.u32 %p1, %r0, 0;
    @%p1 st.shared.u32 [s], 0;
    bar.sync 0;
    atom.shared.add.u32 %r1, [s], 1;
    bar.sync 0;
    ld.shared.u32 %r2, [s];
    @%p1 red.global.add.u32 [%rd1], %r2;
    red.global.add.u32 [%rd1+4], 1;
    mov.u32 %r3, %ctaid.x;
    red.global.max.u32 [%rd1+8], %r3;
    ret;)");
  runner.options.grid = {501, 1, 1};
  runner.options.block = {67, 1, 1};
  for (unsigned hostThreads : {1, 4}) {
    runner.options.hostThreads = hostThreads;
    uint64_t sums = runner.array(std::vector<uint32_t>(3));
    auto result = runner.run(sums);
    CHECK_SOUND(result);
    CHECK(runner.read<uint32_t>(sums, 3) ==
          std::vector<uint32_t>{501 * 67, 501 * 67, 500});
    CHECK(result.counters.globalAtomics == 501 + 2 * 501 * 67);
  }
}

TEST_CASE("traffic is counted in sectors and wavefronts") {
  auto counters = [](const std::string &body) {
    Runner runner(".shared .align 128 .b8 s[16384];\n" + body + "\nret;");
    runner.options.block = {32, 1, 1};
    uint64_t data = runner.array(std::vector<uint32_t>(8192));
    auto result = runner.run(data);
    CHECK_SOUND(result);
    return result.counters;
  };
  auto load = [&](unsigned stride, const std::string &instruction) {
    return counters("mul.lo.u32 %r1, %r0, " + std::to_string(stride) +
                    "; cvt.u64.u32 %rd4, %r1; add.s64 %rd4, %rd4, %rd1;\n"
                    "mov.u32 %r2, s; add.u32 %r2, %r2, %r1;" +
                    instruction);
  };
  CHECK(load(4, "ld.global.u32 %r3, [%rd4];").globalLoadSectors == 4);
  CHECK(load(4, "ld.global.u32 %r3, [%rd4];").globalLoadBytes == 128);
  CHECK(load(4, "ld.global.u32 %r3, [%rd4+4];").globalLoadSectors == 5);
  CHECK(load(32, "st.global.u32 [%rd4], %r3;").globalStoreSectors == 32);
  CHECK(load(0, "ld.global.u32 %r3, [%rd4];").globalLoadSectors == 1);
  CHECK(load(16, "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd4];")
            .globalLoadSectors == 16);
  auto shared = [&](unsigned stride, const std::string &instruction) {
    Counters result = load(stride, instruction);
    return std::pair(result.sharedLoadWavefronts, result.sharedLoadIdeal);
  };
  using Pair = std::pair<uint64_t, uint64_t>;
  CHECK(shared(4, "ld.shared.u32 %r3, [%r2];") == Pair(1, 1));
  CHECK(shared(8, "ld.shared.u32 %r3, [%r2];") == Pair(2, 1));
  CHECK(shared(128, "ld.shared.u32 %r3, [%r2];") == Pair(32, 1));
  CHECK(shared(0, "ld.shared.u32 %r3, [%r2];") == Pair(1, 1));
  CHECK(shared(132, "ld.shared.u32 %r3, [%r2];") == Pair(1, 1));
  CHECK(shared(1, "ld.shared.u8 %r3, [%r2];") == Pair(1, 1));
  CHECK(shared(8, "ld.shared.u64 %rd5, [%r2];") == Pair(2, 2));
  CHECK(shared(16, "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];") ==
        Pair(4, 4));
  CHECK(shared(128, "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];") ==
        Pair(32, 4));
}

TEST_CASE("instructions that tune caches are accepted") {
  Runner runner(R"(
    createpolicy.fractional.L2::evict_last.b64 %rd4, 1.0;
    ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd4;
    st.global.L1::evict_last.L2::cache_hint.u32 [%rd1+4], %r1, %rd4;
    red.global.add.L2::cache_hint.u32 [%rd1+8], 1, %rd4;
    prefetch.global.L2 [%rd1];
    prefetchu.L1 [%rd1];
    prefetch.global.L2::evict_last [%rd1];
    applypriority.global.L2::evict_normal [%rd1], 128;
    nanosleep.u32 100;
    griddepcontrol.wait;
    griddepcontrol.launch_dependents;
    ld.global.ca.L2::128B.u32 %r1, [%rd1];
    ld.volatile.global.u32 %r1, [%rd1];
    ld.relaxed.sys.global.u32 %r1, [%rd1];
    ld.acquire.gpu.global.u32 %r1, [%rd1];
    st.release.gpu.global.u32 [%rd1+12], %r1;
    ldu.global.u32 %r1, [%rd1];
    ret;)");
  uint64_t data = runner.array(std::vector<uint32_t>{3, 0, 0, 0});
  CHECK_SOUND(runner.run(data));
  CHECK(runner.read<uint32_t>(data, 4) == std::vector<uint32_t>{3, 3, 1, 3});
}

TEST_CASE("what memory instructions do not know is an error of the line") {
  auto error = [](const std::string &instruction) {
    DeviceMemory memory;
    auto loaded = loadProgram(header() + kernel(instruction + "\nret;"),
                              "bad.ptx", memory);
    return loaded ? "" : llvm::toString(loaded.takeError());
  };
  CHECK(error("ld.global.u32 %r1, [%rd1];") == "");
  for (const char *each :
       {"ld.global.u32 %h1, [%rd1];", "ld.global.pred %p1, [%rd1];",
        "ld.global.v2.u32 %r1, [%rd1];", "ld.global.v2.u32 {%r1}, [%rd1];",
        "ld.global.u32 %p1, [%rd1];", "ld.global.u32 %r1;",
        "ld.global.u32.foo %r1, [%rd1];", "st.const.u32 [%rd1], %r1;",
        "ld.global [%rd1], %r1;", "atom.global.foo.u32 %r1, [%rd1], 1;",
        "atom.global.add.b32 %r1, [%rd1], 1;",
        "atom.global.cas.b32 %r1, [%rd1], 1;",
        "atom.local.add.u32 %r1, [%rd1], 1;", "red.exch.b32 [%rd1], 1;",
        "atom.shared.add.v2.f32 {%f1, %f2}, [%rd1], {%f1, %f2};",
        "ld.global.v8.b64 {_, _, _, _, _, _, _, _}, [%rd1];",
        "discard.global.L2 [%rd1], 64;"}) {
    INFO(each);
    CHECK_THAT(error(each), Catch::StartsWith("bad.ptx:"));
  }
}
