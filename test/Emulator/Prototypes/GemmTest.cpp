//===- GemmTest.cpp - A warp-specialized matmul on the emulator -*- C++ -*-===//
//
// gemm.cu in the configurations that synchronize in different ways: one block a
// tile, clusters that share operands by multicast, tiles that are divided along
// K among blocks. All products are exact, so results are compared to the bit.
//
//===----------------------------------------------------------------------===//

#include "test/Emulator/Prototypes/Common.h"

using namespace tilec::test;
using namespace tilec::emulator;

namespace {
struct Config {
  unsigned clusterM = 1, clusterN = 1, tileM = 128, tileN = 256;
  bool isKN = false, streamK = false;
};
struct Size {
  unsigned m, n, k;
};
/// What the kernel calls Exchange.
struct Exchange {
  uint64_t sums, ready;
};
} // namespace

static unsigned ceilDiv(unsigned a, unsigned b) { return (a + b - 1) / b; }

/// Runs it on so many clusters; false if there is no NVRTC.
static bool runGemm(const Config &config, Size size, unsigned workers,
                    uint64_t seed, unsigned hostThreads = 0) {
  constexpr unsigned consumers = 2, buffers = 2;
  unsigned stageBytes = (config.tileM + config.tileN) * 128;
  unsigned stages =
      std::min(8u, (232448 - consumers * buffers * 8192) / (stageBytes + 16));
  std::optional<Code> code = compileFile(
      pathOf("Gemm/gemm.cu"), defines({{"TILE_M", config.tileM},
                                       {"TILE_N", config.tileN},
                                       {"CLUSTER_M", config.clusterM},
                                       {"CLUSTER_N", config.clusterN},
                                       {"CONSUMERS", consumers},
                                       {"STAGES", stages},
                                       {"STORE_BUFFERS", buffers},
                                       {"B_IS_KN", config.isKN},
                                       {"STREAM_K", config.streamK}}));
  if (!code)
    return false;
  Emulation gpu(*code);
  auto [m, n, k] = size;
  Matrix a(size_t(m) * k, 1), b(size_t(n) * k, 2);
  uint64_t aAt = gpu.upload<uint16_t>(a.bits, "A");
  uint64_t bAt = gpu.upload<uint16_t>(b.bits, "B");
  uint64_t cAt = gpu.allocate(2ull * m * n, "C");
  unsigned ctas = workers * config.clusterM * config.clusterN;
  Exchange exchange = {
      gpu.allocate(uint64_t(ctas) * consumers * 64 * config.tileN * 4, "sums"),
      gpu.upload<uint32_t>(std::vector<uint32_t>(ctas * consumers), "ready")};

  Params params;
  params.add(mapOf(aAt, {m, k}, config.tileM / config.clusterN));
  params.add(config.isKN ? mapOf(bAt, {k, n}, 64 / config.clusterM)
                         : mapOf(bAt, {n, k}, config.tileN / config.clusterM));
  params.add(mapOf(cAt, {m, n}, 64));
  unsigned tiles = ceilDiv(m, config.tileM * config.clusterM) *
                   ceilDiv(n, config.tileN * config.clusterN);
  int split = config.streamK && tiles > workers ? int(tiles % workers) : 0;
  constexpr int band = 8;
  params.add(int(m)).add(int(n)).add(int(k)).add(band).add(split);
  params.add(exchange);

  LaunchOptions options;
  options.grid = {ctas, 1, 1};
  options.block = {128 * (consumers + 1), 1, 1};
  options.cluster = {config.clusterM * config.clusterN, 1, 1};
  options.dynamicShared =
      stages * (stageBytes + 16) + consumers * buffers * 8192;
  options.seed = seed;
  options.hostThreads = hostThreads;
  LaunchResult result = gpu.launch("gemm_bf16", params, options);
  expectNoReports(result, gpu);

  std::vector<uint16_t> c = gpu.download<uint16_t>(cAt, size_t(m) * n);
  size_t wrong = 0;
  for (size_t row = 0; row < m; ++row)
    for (size_t column = 0; column < n; ++column) {
      double sum = 0;
      for (size_t i = 0; i < k; ++i)
        sum += a[row * k + i] *
               (config.isKN ? b[i * n + column] : b[column * k + i]);
      wrong += c[row * n + column] != toBF16(float(sum));
    }
  CHECK(wrong == 0);
  return true;
}

TEST_CASE("matmul: blocks that walk several tiles") {
  for (uint64_t seed : {0, 1, 2}) {
    INFO("seed " << seed);
    if (!runGemm({}, {136, 264, 136}, 2, seed))
      return;
  }
}

TEST_CASE("matmul: B with N contiguous") {
  runGemm({.isKN = true}, {72, 264, 200}, 1, 3);
}

TEST_CASE("matmul: clusters that share operands by multicast") {
  for (bool isKN : {false, true})
    runGemm({.clusterM = 2, .isKN = isKN}, {200, 264, 136}, 1, 4);
  runGemm({.clusterN = 2, .tileN = 128}, {136, 200, 136}, 1, 5);
}

TEST_CASE("matmul: a tile divided along K") {
  for (uint64_t seed : {0, 1})
    runGemm({.tileN = 128, .streamK = true}, {264, 120, 576}, 2, seed);
}

TEST_CASE("matmul: one block with 8 steps", "[speed]") {
  auto start = std::chrono::steady_clock::now();
  if (!runGemm({}, {128, 256, 512}, 1, 0, /*hostThreads=*/1))
    return;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  WARN("took " << seconds.count() << " s, the comparison included");
}
