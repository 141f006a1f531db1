//===- Programs.cpp - The programs in which faults are planted ------------===//

#include "test/Emulator/Faults/Programs.h"

using namespace tilec;
using namespace tilec::test;
using namespace tilec::emulator;

/// Numbers that a seed gives, below a bound.
static std::vector<uint32_t> words(size_t count, uint32_t bound) {
  std::vector<uint32_t> result(count);
  uint32_t state = 12345;
  for (uint32_t &word : result) {
    state = state * 1664525 + 1013904223;
    word = (state >> 8) % bound;
  }
  return result;
}

/// Small whole numbers, whose sums are exact in any order.
static std::vector<float> wholes(size_t count) {
  std::vector<float> result;
  for (uint32_t word : words(count, 9))
    result.push_back(float(word) - 4);
  return result;
}

static void runReduction(Run &run) {
  unsigned n = std::array{128u, 256u, 300u}[run.size];
  std::vector<float> in = wholes(n), expected(128);
  float sum = 0;
  for (float x : in)
    sum += x;
  for (unsigned i = 0; i < 128; ++i)
    expected[i] = sum * float(i);
  uint64_t x = run.emulation.upload<float>(in, "in");
  uint64_t y = run.emulation.allocate(512, "out");
  run.launch("reduction", Params().add(x).add(y).add<int>(n),
             {.block = {128, 1, 1}});
  run.compare<float>(y, expected);
}

static void runTranspose(Run &run) {
  unsigned blocks = 1 + run.size, n = blocks * 64;
  std::vector<uint32_t> in = words(32 * n, 1000), expected(32 * n);
  for (unsigned row = 0; row < 32; ++row)
    for (unsigned column = 0; column < n; ++column)
      expected[column * 32 + row] = in[row * n + column];
  uint64_t x = run.emulation.upload<uint32_t>(in, "in");
  uint64_t y = run.emulation.allocate(4 * 32 * n, "out");
  run.launch("transpose", Params().add(x).add(y).add<int>(n),
             {.grid = {blocks, 1, 1}, .block = {32, 8, 1}});
  run.compare<uint32_t>(y, expected);
}

static void runAtomics(Run &run) {
  unsigned n = std::array{512u, 600u, 1024u}[run.size];
  std::vector<uint32_t> in = words(n, 16), expected(16, 5);
  for (uint32_t value : in)
    ++expected[value];
  uint64_t x = run.emulation.upload<uint32_t>(in, "in");
  uint64_t y =
      run.emulation.upload<uint32_t>(std::vector<uint32_t>(16, 5), "out");
  run.launch("histogram", Params().add(x).add(y).add<int>(n),
             {.grid = {2, 1, 1}, .block = {128, 1, 1}});
  run.compare<uint32_t>(y, expected);
}

static void runSplitK(Run &run) {
  unsigned blocks = 2 + run.size;
  std::vector<float> in = wholes(64 * blocks), expected(64);
  for (unsigned i = 0; i < in.size(); ++i)
    expected[i % 64] += in[i];
  Emulation &emulation = run.emulation;
  uint64_t x = emulation.upload<float>(in, "in");
  uint64_t y = emulation.allocate(256, "out");
  uint64_t parts = emulation.allocate(256 * blocks, "parts");
  std::vector<uint32_t> zero(1);
  uint64_t counter = emulation.upload<uint32_t>(zero, "counter");
  LaunchOptions options{.grid = {blocks, 1, 1}, .block = {64, 1, 1}};
  run.launch("lastBlock", Params().add(x).add(y).add(parts).add(counter),
             options);
  run.compare<float>(y, expected);
  uint64_t z = emulation.allocate(256, "chained");
  uint64_t turn = emulation.upload<uint32_t>(zero, "turn");
  run.launch("chain", Params().add(x).add(z).add(turn), options);
  run.compare<float>(z, expected);
}

static void runExchange(Run &run) {
  unsigned blocks = 1;
  std::vector<uint32_t> in = words(256, 1 << 16), expected(128);
  for (unsigned round = 0; round < 2; ++round)
    for (unsigned i = 0; i < 64; ++i) {
      auto turned = [&](unsigned thread) {
        uint32_t sum = 0;
        for (unsigned k = 0; k < 4; ++k) {
          unsigned at = thread % 32 * 4 + k;
          sum = sum * 3 + in[at / 32 * 64 + thread / 32 * 32 + at % 32] + round;
        }
        return sum;
      };
      expected[round * 64 + i] = turned(i) + turned(i ^ 1);
    }
  uint64_t x = run.emulation.upload<uint32_t>(in, "in");
  uint64_t y = run.emulation.allocate(512, "out");
  run.launch("exchange", Params().add(x).add(y),
             {.grid = {blocks, 1, 1}, .block = {64, 1, 1}});
  run.compare<uint32_t>(y, expected);
}

static void runCopyPipeline(Run &run) {
  unsigned steps = std::array{4u, 1u, 7u}[run.size], k = steps * 16;
  std::vector<float> a = wholes(16 * k), b = wholes(k * 32);
  std::vector<float> expected(16 * 32);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 32; ++j)
      for (unsigned l = 0; l < k; ++l)
        expected[i * 32 + j] += a[i * k + l] * b[l * 32 + j];
  uint64_t x = run.emulation.upload<uint16_t>(toBF16(a), "a");
  uint64_t y = run.emulation.upload<uint16_t>(toBF16(b), "b");
  uint64_t z = run.emulation.allocate(4 * 16 * 32, "c");
  run.launch("matmul", Params().add(x).add(y).add(z).add<int>(steps),
             {.block = {128, 1, 1}});
  run.compare<float>(z, expected);
}

static void runBulkRing(Run &run) {
  unsigned tiles = std::array{7u, 4u, 12u}[run.size];
  std::vector<float> in = wholes(128 * tiles), expected(128 * tiles);
  for (unsigned tile = 0; tile < tiles; ++tile) {
    float sum = 0;
    for (unsigned i = 0; i < 128; ++i)
      sum += in[tile * 128 + i];
    for (unsigned i = 0; i < 128; ++i)
      expected[tile * 128 + i] = in[tile * 128 + i] + sum;
  }
  uint64_t x = run.emulation.upload<float>(in, "in");
  uint64_t y = run.emulation.allocate(512 * tiles, "out");
  run.launch("ring", Params().add(x).add(y).add<int>(tiles),
             {.block = {128, 1, 1}});
  run.compare<float>(y, expected);
}

static void runMatmul(Run &run) {
  unsigned steps = std::array{4u, 1u, 5u}[run.size], k = steps * 64;
  std::vector<float> a = wholes(128 * k), b = wholes(8 * k);
  std::vector<float> expected(128 * 8);
  for (unsigned i = 0; i < 128; ++i)
    for (unsigned j = 0; j < 8; ++j)
      for (unsigned l = 0; l < k; ++l)
        expected[i * 8 + j] += a[i * k + l] * b[j * k + l];
  Emulation &emulation = run.emulation;
  uint64_t x = emulation.upload<uint16_t>(toBF16(a), "a");
  uint64_t y = emulation.upload<uint16_t>(toBF16(b), "b");
  uint64_t z = emulation.allocate(4 * 128 * 8, "c");
  auto mapA =
      makeTensorMap(TensorMapType::BFloat16, x, {k, 128}, {k * 2},
                    {64, run.fault == 14 ? 127u : 128u}, Swizzle::Bytes128);
  auto mapB = makeTensorMap(TensorMapType::BFloat16, y, {k, 8}, {k * 2},
                            {64, 8}, Swizzle::Bytes128);
  auto mapC = makeTensorMap(TensorMapType::Float32, z, {8, 128}, {32}, {8, 64},
                            Swizzle::None);
  // Of four arrivals two may come from each warpgroup, and then they stand for
  // both, as they should: fault 7 is none.
  int releasers = run.fault == 7 || run.seed % 2 ? 1 : 4;
  run.launch("matmul",
             Params().add(mapA).add(mapB).add(mapC).add<int>(steps).add<int>(
                 releasers),
             {.block = {384, 1, 1}, .dynamicShared = 2 * 17408 + 4096});
  run.compare<float>(z, expected);
}

static void runCluster(Run &run) {
  unsigned steps = 2 + run.size, rows = steps * 16;
  std::vector<uint32_t> in = words(rows * 32, 1 << 16), expected(256);
  for (unsigned step = 0; step < steps; ++step)
    for (unsigned row = 0; row < 16; row += 4)
      for (unsigned i = 0; i < 256; ++i)
        expected[i] = expected[i] * 5 + in[(step * 16 + row) * 32 + i % 128];
  Emulation &emulation = run.emulation;
  uint64_t x = emulation.upload<uint32_t>(in, "in");
  uint64_t y = emulation.allocate(1024, "out");
  auto map = makeTensorMap(TensorMapType::UInt32, x, {32, rows}, {128}, {32, 8},
                           Swizzle::None);
  LaunchOptions options{
      .grid = {2, 1, 1}, .block = {128, 1, 1}, .cluster = {2, 1, 1}};
  run.launch("multicast", Params().add(map).add(y).add<int>(steps), options);
  run.compare<uint32_t>(y, expected);

  std::vector<uint32_t> sums(256);
  for (unsigned i = 0; i < 256; ++i)
    for (unsigned j = 0; j < 128; ++j)
      sums[i] += in[(i < 128 ? 128 : 0) + j];
  uint64_t z = emulation.allocate(1024, "sums");
  run.launch("reduction", Params().add(x).add(z), options);
  run.compare<uint32_t>(z, sums);

  std::vector<uint32_t> handed(256), sent(256);
  for (unsigned i = 0; i < 256; ++i) {
    sent[i] = in[i ^ 128];
    handed[i] = i % 128 < 32 ? 0 : sent[i];
  }
  uint64_t others = emulation.allocate(1024, "handed");
  run.launch("handOver", Params().add(x).add(others), options);
  run.compare<uint32_t>(others, handed);
  uint64_t copies = emulation.allocate(1024, "sent");
  run.launch("send", Params().add(x).add(copies), options);
  run.compare<uint32_t>(copies, sent);
}

static void runFlags(Run &run) {
  unsigned blocks = 3 + run.size;
  std::vector<float> in = wholes(64 * blocks), total(64), prefixes;
  for (unsigned i = 0; i < in.size(); ++i) {
    total[i % 64] += in[i];
    prefixes.push_back(total[i % 64]);
  }
  Emulation &emulation = run.emulation;
  uint64_t x = emulation.upload<float>(in, "in");
  auto zeros = [&](unsigned count, llvm::StringRef name) {
    return emulation.upload<uint32_t>(std::vector<uint32_t>(count), name);
  };
  LaunchOptions options{.grid = {blocks, 1, 1}, .block = {64, 1, 1}};
  // A fault is of one of the kernels.
  auto has = [&](unsigned first, unsigned last) {
    return run.fault == 0 || (run.fault >= first && run.fault <= last);
  };
  uint64_t parts = emulation.allocate(256 * blocks, "parts");
  uint64_t counter = zeros(1, "counter");
  for (unsigned time = 0; time < 2 && has(1, 3);
       ++time) { // It resets its counter.
    uint64_t y = emulation.allocate(256, "out");
    run.launch("tickets", Params().add(x).add(y).add(parts).add(counter),
               options);
    run.compare<float>(y, total);
  }

  if (has(4, 7)) {
    float locked = 0;
    for (unsigned i = 0; i < 4 * blocks; ++i)
      locked += in[i];
    uint64_t sum = zeros(1, "sum");
    run.launch("spinLock", Params().add(x).add(sum).add(zeros(1, "lock")),
               options);
    run.compare<float>(sum, locked);
  }

  if (has(8, 12)) {
    uint64_t rows = emulation.allocate(256 * blocks, "rows");
    uint64_t raised = zeros(blocks, "raised");
    run.launch("flags", Params().add(x).add(rows).add(raised), options);
    run.compare<float>(rows, prefixes);
  }

  if (has(13, 15)) {
    std::vector<uint32_t> values(64 * blocks);
    for (unsigned i = 0; i < values.size(); ++i)
      values[i] = i;
    for (unsigned round = 1; round <= 3; ++round) {
      std::vector<uint32_t> before = values;
      for (unsigned i = 0; i < values.size(); ++i)
        values[i] = before[i] * 3 +
                    before[(i / 64 + 1) % blocks * 64 + (i % 64 + round) % 64];
    }
    uint64_t shared = emulation.allocate(256 * blocks, "values");
    uint64_t last = emulation.allocate(256 * blocks, "last");
    run.launch("gridBarrier",
               Params().add(shared).add(last).add(zeros(1, "arrived")),
               options);
    run.compare<uint32_t>(last, values);
  }

  if (has(16, 17)) {
    uint64_t chained = emulation.allocate(256, "chained");
    run.launch("semaphore", Params().add(x).add(chained).add(zeros(1, "turn")),
               options);
    run.compare<float>(chained, total);
  }

  options.grid = {3, 1, 1};
  if (has(18, 19)) {
    uint64_t row = emulation.allocate(256, "row");
    uint64_t relayed = emulation.allocate(256, "relayed");
    run.launch("relay",
               Params().add(x).add(relayed).add(row).add(zeros(2, "words")),
               options);
    run.compare<float>(relayed, llvm::ArrayRef(in).take_front(64));
  }

  if (has(20, 21)) {
    std::vector<uint32_t> numbers = words(3, 100), sums;
    for (uint32_t number : numbers)
      sums.push_back(number * (1 + 3 + 9 + 27));
    uint64_t counted = emulation.allocate(12, "sums");
    run.launch("blockLock",
               Params()
                   .add(emulation.upload<uint32_t>(numbers, "numbers"))
                   .add(counted),
               options);
    run.compare<uint32_t>(counted, sums);
  }
}

std::vector<FaultyProgram> test::faultyPrograms() {
  return {
      {"Reduction.cu", runReduction},   {"Transpose.cu", runTranspose},
      {"Atomics.cu", runAtomics},       {"SplitK.cu", runSplitK},
      {"WarpExchange.cu", runExchange}, {"CopyPipeline.cu", runCopyPipeline},
      {"BulkRing.cu", runBulkRing},     {"Matmul.cu", runMatmul},
      {"Cluster.cu", runCluster},       {"Flags.cu", runFlags},
  };
}
