//===- AttentionTest.cpp - Attention on the emulator ------------*- C++ -*-===//
//
// attention.cu: a producer warp, two or three consumer warpgroups, rings of
// barriers, products that overlap the softmax; with a static and a dynamic
// order of tiles. Compared with a plain softmax in double precision.
//
//===----------------------------------------------------------------------===//

#include "test/Emulator/Prototypes/Common.h"
#include <cmath>

using namespace tilec::test;
using namespace tilec::emulator;

namespace {
struct Config {
  unsigned headDim = 128, tileN = 128, consumers = 2, outBoxes = 1;
  int schedule = 2, pingPong = 0, qInRegisters = 0, lazyRescale = 8, causal = 0;
};
struct Size {
  unsigned batch, heads, groups, queries, keys;
};
/// As the kernel has it.
struct KernelParams {
  uint64_t lse, scheduler, slopes, profile;
  int queries, keys, heads, group, tilesM, tiles, sectionHeads, window;
  float scoreScale, expScale;
};
} // namespace

static bool runAttention(const Config &config, Size size, unsigned ctas,
                         uint64_t seed, unsigned hostThreads = 0) {
  std::optional<Code> code =
      compileFile(pathOf("Attention/attention.cu"),
                  defines({{"HEAD_DIM", config.headDim},
                           {"TILE_N", config.tileN},
                           {"CONSUMERS", config.consumers},
                           {"OUT_BOXES", config.outBoxes},
                           {"SCHEDULE", config.schedule},
                           {"PING_PONG", config.pingPong},
                           {"Q_IN_REGISTERS", config.qInRegisters},
                           {"LAZY_RESCALE", config.lazyRescale},
                           {"CAUSAL", config.causal}}));
  if (!code)
    return false;
  Emulation gpu(*code);
  auto [batch, heads, groups, queries, keys] = size;
  size_t d = config.headDim;
  Matrix q(size_t(batch) * heads * queries * d, 1);
  Matrix k(size_t(batch) * groups * keys * d, 2);
  Matrix v(size_t(batch) * groups * keys * d, 3);
  uint64_t qAt = gpu.upload<uint16_t>(q.bits, "Q");
  uint64_t kAt = gpu.upload<uint16_t>(k.bits, "K");
  uint64_t vAt = gpu.upload<uint16_t>(v.bits, "V");
  uint64_t oAt = gpu.allocate(2 * q.bits.size(), "O");
  uint64_t rows = uint64_t(batch) * heads * queries;

  KernelParams p = {};
  p.lse = gpu.allocate(4 * rows, "LSE");
  p.scheduler = gpu.upload<uint32_t>({0, 0}, "scheduler");
  p.queries = int(queries);
  p.keys = int(keys);
  p.heads = int(heads);
  p.group = int(heads / groups);
  unsigned tileM = 64 * config.consumers;
  p.tilesM = int((queries + tileM - 1) / tileM);
  p.tiles = p.tilesM * int(batch * heads);
  p.sectionHeads = config.causal ? int(batch * heads) : 1;
  double scale = 1 / std::sqrt(double(d));
  p.scoreScale = 1;
  p.expScale = float(scale * std::log2(std::exp(1.0)));

  Params params;
  params.add(mapOf(qAt, {batch, heads, queries, d}, 64));
  params.add(mapOf(kAt, {batch, groups, keys, d}, config.tileN));
  params.add(mapOf(vAt, {batch, groups, keys, d}, config.tileN));
  params.add(mapOf(oAt, {batch, heads, queries, d}, 64));
  params.add(p);
  unsigned boxes = config.headDim / 64;
  LaunchOptions options;
  options.grid = {config.schedule ? std::min<unsigned>(ctas, p.tiles)
                                  : unsigned(p.tiles),
                  1, 1};
  options.block = {128 * (config.consumers + 1), 1, 1};
  options.dynamicShared = config.consumers * boxes * 8192 +
                          4 * boxes * config.tileN * 128 +
                          config.consumers * config.outBoxes * 8192 +
                          8 * (2 * config.consumers + 8) + 4 * config.consumers;
  options.seed = seed;
  options.hostThreads = hostThreads;
  LaunchResult result = gpu.launch("attention", params, options);
  expectNoReports(result, gpu);

  std::vector<uint16_t> o = gpu.download<uint16_t>(oAt, q.bits.size());
  std::vector<float> lse = gpu.download<float>(p.lse, rows);
  size_t wrong = 0;
  std::vector<double> weights(keys);
  for (size_t row = 0; row < rows; ++row) {
    size_t i = row % queries, head = row / queries;
    size_t group = head / heads * groups + head % heads / p.group;
    double sum = 0;
    for (size_t j = 0; j < keys; ++j) {
      double dot = 0;
      for (size_t x = 0; x < d; ++x)
        dot += q[row * d + x] * k[(group * keys + j) * d + x];
      bool isVisible = !config.causal || j + queries <= i + keys;
      weights[j] = isVisible ? std::exp(dot * scale) : 0;
      sum += weights[j];
    }
    for (size_t x = 0; x < d; ++x) {
      double expected = 0;
      for (size_t j = 0; j < keys; ++j)
        expected += weights[j] * v[(group * keys + j) * d + x];
      expected = sum == 0 ? 0 : expected / sum;
      wrong += !isNear(fromBF16(o[row * d + x]), expected, 0.01);
    }
    if (sum > 0)
      wrong += !isNear(lse[row], std::log(sum), 0.01);
  }
  CHECK(wrong == 0);
  return true;
}

TEST_CASE("attention: dynamic order, ragged ends") {
  for (uint64_t seed : {0, 1}) {
    INFO("seed " << seed);
    if (!runAttention({.headDim = 64}, {1, 2, 1, 150, 200}, 2, seed))
      return;
  }
}

TEST_CASE("attention: causal, static order") {
  runAttention({.headDim = 64, .schedule = 1, .causal = 1}, {1, 2, 2, 150, 150},
               2, 1);
}

TEST_CASE("attention: consumers in turn") {
  runAttention({.headDim = 64, .consumers = 3, .pingPong = 1, .lazyRescale = 0},
               {1, 1, 1, 200, 270}, 1, 2);
}

TEST_CASE("attention: queries in registers, a tile a block") {
  runAttention({.outBoxes = 2, .schedule = 0, .qInRegisters = 1},
               {1, 1, 1, 77, 140}, 1, 3);
}

TEST_CASE("attention: two heads of 256", "[speed]") {
  auto start = std::chrono::steady_clock::now();
  if (!runAttention({}, {1, 2, 2, 256, 256}, 132, 0, /*hostThreads=*/1))
    return;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  WARN("took " << seconds.count() << " s, the comparison included");
}
