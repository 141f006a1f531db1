//===- BackwardTest.cpp - Gradients of attention on the emulator *- C++ -*-===//
//
// backward.cu: three kernels one after the other; the second adds to dQ by bulk
// reductions from many blocks. Compared with plain loops in double precision.
//
//===----------------------------------------------------------------------===//

#include "test/Emulator/Prototypes/Common.h"
#include <cmath>

using namespace tilec::test;
using namespace tilec::emulator;

namespace {
struct Size {
  unsigned batch, heads, groups, queries, keys;
};
struct Strides {
  long long batch, head, row;
};
/// As the kernels have it.
struct KernelParams {
  uint64_t lse, negativeLse, negativeDelta, dq, o, g, dqOut, scheduler, profile;
  Strides oStrides, gStrides, dqStrides;
  int queries, keys, heads, kvHeads, group, blocksM, blocksN, pairs, section,
      tiles;
  float expScale, scale;
};
using Values = std::vector<double>;

/// Attention and its gradients by plain loops.
struct Oracle {
  Oracle(Size size, size_t d, bool causal, const Matrix &q, const Matrix &k,
         const Matrix &v, const Matrix &g)
      : o(q.bits.size()), lse(q.bits.size() / d), dq(q.bits.size()),
        dk(k.bits.size()), dv(k.bits.size()) {
    auto [batch, heads, groups, queries, keys] = size;
    double scale = 1 / std::sqrt(double(d));
    for (size_t row = 0; row < lse.size(); ++row) {
      size_t head = row / queries;
      size_t base =
          (head / heads * groups + head % heads / (heads / groups)) * keys * d;
      Values p(keys);
      double sum = 0;
      for (size_t j = 0; j < keys; ++j) {
        double dot = 0;
        for (size_t x = 0; x < d; ++x)
          dot += q[row * d + x] * k[base + j * d + x];
        bool isVisible = !causal || j + queries <= row % queries + keys;
        p[j] = isVisible ? std::exp(dot * scale) : 0;
        sum += p[j];
      }
      lse[row] = std::log(sum);
      double delta = 0;
      for (size_t x = 0; x < d; ++x) {
        for (size_t j = 0; j < keys; ++j)
          o[row * d + x] += p[j] / sum * v[base + j * d + x];
        delta += o[row * d + x] * g[row * d + x];
      }
      for (size_t j = 0; j < keys; ++j) {
        double dp = 0;
        for (size_t x = 0; x < d; ++x)
          dp += g[row * d + x] * v[base + j * d + x];
        double ds = p[j] / sum * (dp - delta) * scale;
        for (size_t x = 0; x < d; ++x) {
          dv[base + j * d + x] += p[j] / sum * g[row * d + x];
          dk[base + j * d + x] += ds * q[row * d + x];
          dq[row * d + x] += ds * k[base + j * d + x];
        }
      }
    }
  }
  Values o, lse, dq, dk, dv;
};
} // namespace

static size_t countWrong(Emulation &gpu, uint64_t address,
                         const Values &expected) {
  std::vector<uint16_t> found =
      gpu.download<uint16_t>(address, expected.size());
  size_t wrong = 0;
  for (size_t i = 0; i < found.size(); ++i)
    wrong += !isNear(fromBF16(found[i]), expected[i],
                     0.02 + 0.02 * std::abs(expected[i]));
  return wrong;
}

static bool runBackward(unsigned d, bool causal, Size size, unsigned ctas,
                        uint64_t seed) {
  unsigned tileM = d == 64 ? 128 : 64;
  constexpr unsigned stages = 2, keysOfBlock = 128;
  std::optional<Code> code = compileFile(pathOf("Attention/backward.cu"),
                                         defines({{"HEAD_DIM", int(d)},
                                                  {"TILE_M", int(tileM)},
                                                  {"CAUSAL", causal},
                                                  {"EARLY_DV", 0},
                                                  {"STAGES", stages},
                                                  {"PING_PONG", 0},
                                                  {"SCHEDULE", 2},
                                                  {"START_AT_ROWS", 0},
                                                  {"PREFETCH", 1},
                                                  {"ISSUE_TOGETHER", 0},
                                                  {"REVERSE", 1}}));
  if (!code)
    return false;
  Emulation gpu(*code);
  auto [batch, heads, groups, queries, keys] = size;
  size_t elements = size_t(batch) * heads * queries * d;
  size_t keyElements = size_t(batch) * groups * keys * d;
  Matrix q(elements, 1), k(keyElements, 2), v(keyElements, 3), g(elements, 4);
  Oracle oracle(size, d, causal, q, k, v, g);
  std::vector<float> o(oracle.o.begin(), oracle.o.end());
  std::vector<float> lse(oracle.lse.begin(), oracle.lse.end());

  KernelParams p = {};
  unsigned blocksM = (queries + tileM - 1) / tileM;
  unsigned blocksN = (keys + keysOfBlock - 1) / keysOfBlock;
  uint64_t rows = uint64_t(batch) * heads * blocksM * tileM;
  p.lse = gpu.upload<float>(lse, "LSE");
  p.negativeLse = gpu.allocate(4 * rows, "-LSE");
  p.negativeDelta = gpu.allocate(4 * rows, "-delta");
  p.dq = gpu.allocate(4 * rows * d, "sums of dQ");
  p.o = gpu.upload<uint16_t>(toBF16(o), "O");
  p.g = gpu.upload<uint16_t>(g.bits, "dO");
  p.dqOut = gpu.allocate(2 * elements, "dQ");
  p.scheduler = gpu.upload<uint32_t>({0, 0}, "scheduler");
  p.oStrides = p.gStrides = p.dqStrides = {
      (long long)heads * queries * d, (long long)queries * d, (long long)d};
  p.queries = int(queries);
  p.keys = int(keys);
  p.heads = int(heads);
  p.kvHeads = int(groups);
  p.group = int(heads / groups);
  p.blocksM = int(blocksM);
  p.blocksN = int(blocksN);
  p.pairs = int(batch * groups);
  p.section = causal ? p.pairs : 1;
  p.tiles = p.blocksN * p.pairs;
  double scale = 1 / std::sqrt(double(d));
  p.scale = float(scale);
  p.expScale = float(scale * std::log2(std::exp(1.0)));

  uint64_t qAt = gpu.upload<uint16_t>(q.bits, "Q");
  uint64_t kAt = gpu.upload<uint16_t>(k.bits, "K");
  uint64_t vAt = gpu.upload<uint16_t>(v.bits, "V");
  uint64_t dkAt = gpu.allocate(2 * keyElements, "dK");
  uint64_t dvAt = gpu.allocate(2 * keyElements, "dV");
  Params small, large;
  small.add(p);
  large.add(mapOf(qAt, {batch, heads, queries, d}, tileM));
  large.add(mapOf(kAt, {batch, groups, keys, d}, keysOfBlock));
  large.add(mapOf(vAt, {batch, groups, keys, d}, keysOfBlock));
  large.add(mapOf(p.g, {batch, heads, queries, d}, tileM));
  large.add(mapOf(dkAt, {batch, groups, keys, d}, 64));
  large.add(mapOf(dvAt, {batch, groups, keys, d}, 64));
  large.add(p);

  LaunchOptions rowsOptions;
  rowsOptions.grid = {blocksM, batch * heads, 1};
  rowsOptions.block = {256, 1, 1};
  rowsOptions.seed = seed;
  expectNoReports(gpu.launch("preprocess", small, rowsOptions), gpu);
  LaunchOptions options;
  options.grid = {std::min<unsigned>(ctas, p.tiles), 1, 1};
  options.block = {384, 1, 1};
  unsigned tile = tileM * d * 2;
  options.dynamicShared = 2 * 128 * d * 2 + 2 * stages * tile +
                          3 * 2 * tileM * 128 + 2 * 16384 +
                          2 * stages * 4 * tileM + 8 * (4 * stages + 18) + 8;
  options.seed = seed;
  expectNoReports(gpu.launch("backward", large, options), gpu);
  expectNoReports(gpu.launch("postprocess", small, rowsOptions), gpu);
  CHECK(countWrong(gpu, p.dqOut, oracle.dq) == 0);
  CHECK(countWrong(gpu, dkAt, oracle.dk) == 0);
  CHECK(countWrong(gpu, dvAt, oracle.dv) == 0);
  return true;
}

TEST_CASE("gradients of attention: heads of 128") {
  for (uint64_t seed : {0, 1})
    if (!runBackward(128, false, {1, 2, 1, 100, 150}, 2, seed))
      return;
}

TEST_CASE("gradients of attention: heads of 64, causal") {
  runBackward(64, true, {1, 2, 2, 150, 150}, 2, 2);
}
