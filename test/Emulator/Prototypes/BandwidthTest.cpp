//===- BandwidthTest.cpp - Kernels bound by memory on the emulator *- C++ -*-=//
//
// rows.cu, pointwise.cu and transpose.cu: rows in registers, rows shared by a
// cluster, rows that come through a ring of bulk copies. REFILL_EARLY plants a
// race that a GPU shows only now and then: a stage of the ring is refilled when
// loads from it may still be queued.
//
//===----------------------------------------------------------------------===//

#include "test/Emulator/Prototypes/Common.h"
#include <cmath>

using namespace tilec::test;
using namespace tilec::emulator;

namespace {
struct RowParams {
  uint64_t x, residual, weight, bias, y, sum, target, loss, lse;
  int rows;
  float eps;
};
enum Op { RMSNorm, LayerNorm, Softmax };
struct Rows {
  Op op = RMSNorm;
  int columns = 512, threadsPerRow = 64, rowsOfBlock = 1, cluster = 1;
  int isPersistent = 0, stages = 0, refillsEarly = 0;
};
} // namespace

/// Runs it on 12 rows and so many clusters; nothing if there is no NVRTC.
static std::optional<std::vector<Report>> runRows(const Rows &config,
                                                  unsigned clusters,
                                                  uint64_t seed,
                                                  bool expectsResults = true) {
  constexpr int rows = 12;
  std::optional<Code> code =
      compileFile(pathOf("Bandwidth/rows.cu"),
                  defines({{"OP", config.op},
                           {"COLUMNS", config.columns},
                           {"VECTOR_BYTES", 16},
                           {"THREADS_PER_ROW", config.threadsPerRow},
                           {"ROWS", config.rowsOfBlock},
                           {"UNROLL_ROWS", 1},
                           {"CLUSTER", config.cluster},
                           {"PERSISTENT", config.isPersistent},
                           {"PREFETCH", 0},
                           {"STAGES", config.stages},
                           {"CHUNK", 0},
                           {"WEIGHT", 0},
                           {"MIN_CTAS", 1},
                           {"KEEP_PACKED", 1},
                           {"EXP_ONCE", 0},
                           {"ONE_EXCHANGE", 0},
                           {"REFILL_EARLY", config.refillsEarly},
                           {"LOAD_HINT", 0},
                           {"STORE_HINT", 0}}));
  if (!code)
    return std::nullopt;
  Emulation gpu(*code);
  size_t columns = config.columns;
  Matrix x(rows * columns, 1), weight(columns, 2), bias(columns, 3);
  // Rows that do not begin at a vector are read with what surrounds them, and
  // weights a vector at a time.
  for (Matrix *values : {&x, &weight, &bias})
    values->bits.resize(values->bits.size() + 8);
  RowParams p = {};
  p.x = gpu.upload<uint16_t>(x.bits, "x");
  p.weight = gpu.upload<uint16_t>(weight.bits, "weight");
  p.bias = gpu.upload<uint16_t>(bias.bits, "bias");
  p.y = gpu.allocate(2 * rows * columns, "y");
  p.rows = rows;
  p.eps = 1e-5f;
  LaunchOptions options;
  unsigned tiles = (rows + config.rowsOfBlock - 1) / config.rowsOfBlock;
  options.grid = {(config.isPersistent ? std::min(clusters, tiles) : tiles) *
                      config.cluster,
                  1, 1};
  options.block = {unsigned(config.threadsPerRow * config.rowsOfBlock), 1, 1};
  options.cluster = {unsigned(config.cluster), 1, 1};
  size_t vectors = (columns + 7) / 8;
  size_t perThread = config.threadsPerRow * config.cluster;
  size_t stage =
      config.cluster > 1
          ? (vectors + perThread - 1) / perThread * config.threadsPerRow * 16
          : (config.rowsOfBlock * columns * 2 + 45) / 16 * 16;
  if (config.stages)
    options.dynamicShared = config.stages * stage + 128;
  options.seed = seed;
  LaunchResult result = gpu.launch("rows", Params().add(p), options);
  if (!expectsResults)
    return std::move(result.reports);

  expectNoReports(result, gpu);
  std::vector<uint16_t> y = gpu.download<uint16_t>(p.y, rows * columns);
  size_t wrong = 0;
  for (size_t row = 0; row < rows; ++row) {
    double mean = 0, square = 0, sum = 0;
    for (size_t i = 0; i < columns; ++i) {
      double value = x[row * columns + i];
      mean += value / double(columns);
      square += value * value / double(columns);
      sum += std::exp(value);
    }
    for (size_t i = 0; i < columns; ++i) {
      double value = x[row * columns + i], expected = 0;
      switch (config.op) {
      case RMSNorm:
        expected = value / std::sqrt(square + p.eps) * weight[i];
        break;
      case LayerNorm:
        expected = (value - mean) / std::sqrt(square - mean * mean + p.eps) *
                       weight[i] +
                   bias[i];
        break;
      case Softmax:
        expected = std::exp(value) / sum;
        break;
      }
      wrong += !isNear(fromBF16(y[row * columns + i]), expected,
                       0.01 * std::abs(expected) + 1e-5);
    }
  }
  CHECK(wrong == 0);
  return std::move(result.reports);
}

TEST_CASE("rows in registers") {
  for (Op op : {RMSNorm, LayerNorm, Softmax}) {
    INFO("program " << op);
    if (!runRows({.op = op}, 1, 0))
      return;
    runRows({.op = op, .columns = 333, .threadsPerRow = 16, .rowsOfBlock = 4},
            1, 1);
  }
}

TEST_CASE("rows that a cluster shares") {
  for (uint64_t seed : {0, 1})
    runRows({.op = LayerNorm, .columns = 1024, .cluster = 2}, 1, seed);
}

TEST_CASE("rows through a ring of bulk copies") {
  for (uint64_t seed : {0, 1, 2}) {
    runRows({.isPersistent = 1, .stages = 2}, 2, seed);
    runRows({.columns = 1024, .cluster = 2, .isPersistent = 1, .stages = 2}, 2,
            seed);
  }
}

TEST_CASE("a ring that is refilled too early") {
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::optional<std::vector<Report>> reports =
        runRows({.isPersistent = 1, .stages = 2, .refillsEarly = 1}, 2, seed,
                /*expectsResults=*/false);
    if (!reports)
      return;
    INFO("seed " << seed);
    CHECK(llvm::any_of(*reports, [](const Report &report) {
      return report.kind == ReportKind::OverwrittenInFlight;
    }));
  }
}

//===----------------------------------------------------------------------===//
// Pointwise, transpose
//===----------------------------------------------------------------------===//

TEST_CASE("silu(x) * gate") {
  struct PointParams {
    uint64_t x, other, cosine, sine, y, elements;
  };
  constexpr size_t elements = 5000 + 3;
  std::optional<Code> code =
      compileFile(pathOf("Bandwidth/pointwise.cu"), defines({{"OP", 1},
                                                             {"COLUMNS", 64},
                                                             {"HEADS", 32},
                                                             {"THREADS", 128},
                                                             {"UNROLL", 2},
                                                             {"PERSISTENT", 1},
                                                             {"ERF", 1},
                                                             {"MIN_CTAS", 1}}));
  if (!code)
    return;
  Emulation gpu(*code);
  Matrix x(elements, 1), gate(elements, 2);
  PointParams p = {};
  p.x = gpu.upload<uint16_t>(x.bits, "x");
  p.other = gpu.upload<uint16_t>(gate.bits, "gate");
  p.y = gpu.allocate(2 * elements, "y");
  p.elements = elements;
  LaunchResult result = gpu.launch("pointwise", Params().add(p),
                                   {.grid = {2, 1, 1}, .block = {128, 1, 1}});
  expectNoReports(result, gpu);
  std::vector<uint16_t> y = gpu.download<uint16_t>(p.y, elements);
  size_t wrong = 0;
  for (size_t i = 0; i < elements; ++i) {
    double expected = x[i] / (1 + std::exp(-x[i])) * gate[i];
    wrong +=
        !isNear(fromBF16(y[i]), expected, 0.01 * std::abs(expected) + 1e-6);
  }
  CHECK(wrong == 0);
}

TEST_CASE("transpose, through shared memory and element by element") {
  struct TransposeParams {
    uint64_t x, y;
    int rows, columns;
  };
  for (bool byElements : {false, true}) {
    std::optional<Code> code = compileFile(pathOf("Bandwidth/transpose.cu"),
                                           defines({{"TILE_ROWS", 64},
                                                    {"TILE_COLUMNS", 64},
                                                    {"BLOCKS", 1},
                                                    {"EXCHANGE", 1},
                                                    {"ELEMENTS", byElements},
                                                    {"MIN_CTAS", 1}}));
    if (!code)
      return;
    Emulation gpu(*code);
    int rows = byElements ? 77 : 72, columns = byElements ? 91 : 104;
    Matrix x(size_t(rows) * columns, 1);
    TransposeParams p = {};
    p.x = gpu.upload<uint16_t>(x.bits, "x");
    p.y = gpu.allocate(2ull * rows * columns, "y");
    p.rows = rows;
    p.columns = columns;
    LaunchResult result = gpu.launch("transpose", Params().add(p),
                                     {.grid = {2, 2, 1}, .block = {64, 1, 1}});
    expectNoReports(result, gpu);
    std::vector<uint16_t> y =
        gpu.download<uint16_t>(p.y, size_t(rows) * columns);
    size_t wrong = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        wrong += y[size_t(c) * rows + r] != x.bits[size_t(r) * columns + c];
    CHECK(wrong == 0);
  }
}
