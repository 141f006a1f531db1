//===- PipelineTest.cpp - Loops whose copies run ahead ----------*- C++ -*-===//
//
// As many iterations as it takes to fill a pipeline, one less, one more, one
// and none, for every number of stages; and runs repeated, in which threads
// that race give other results now and then.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/AttentionOracle.h"

using namespace tilec;
using namespace tilec::test;

static constexpr int64_t tileK = 16; // As in pipeline.tile.

/// Contracted extents of 0, 1, stages - 1, stages and stages + 1 tiles, the
/// last of them whole, and short by 3.
static std::vector<int64_t> extentsFor(int64_t stages) {
  std::vector<int64_t> extents = {0, 1};
  for (int64_t trips : {int64_t(1), stages - 1, stages, stages + 1})
    if (trips > 0) {
      extents.push_back(trips * tileK);
      extents.push_back(trips * tileK - 3);
    }
  llvm::sort(extents);
  extents.erase(llvm::unique(extents), extents.end());
  return extents;
}

static double product(const Tensor &A, const Tensor &B, int64_t m, int64_t n,
                      int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; ++k)
    sum += A(m, k) * B(k, n);
  return sum;
}

namespace {
struct Form {
  const char *type, *sum;
  Layout a, b;
};
} // namespace

TEST_CASE("pipelines: numbers of iterations", "[pipeline]") {
  // Copies of 16 bytes, of the 2 or 4 of unaligned rows, of other types.
  const Form form =
      GENERATE(Form{"bf16", "f32", Layout::RowMajor, Layout::RowMajor},
               Form{"bf16", "f32", Layout::Offset, Layout::Transposed},
               Form{"f32", "f32", Layout::Offset, Layout::RowMajor},
               Form{"i8", "i32", Layout::RowMajor, Layout::Transposed});
  for (int64_t stages = 1; stages <= 5; ++stages)
    for (int64_t K : extentsFor(stages)) {
      Launch launch("pipeline.tile", "product",
                    {{"T", form.type}, {"Sum", form.sum}},
                    {{"stages", stages}});
      Tensor &A = launch.in("A", {33, K}, form.a, integers());
      Tensor &B = launch.in("B", {K, 40}, form.b, integers());
      Tensor &C = launch.out("C", {33, 40}, Layout::Padded);
      launch.run();
      expectExact(C, [&](Index i) { return product(A, B, i[0], i[1], K); });
    }
}

TEST_CASE("pipelines: one loop after another", "[pipeline]") {
  for (int64_t stages = 1; stages <= 5; ++stages)
    for (int64_t K : extentsFor(stages)) {
      Launch launch("pipeline.tile", "two_loops", {}, {{"stages", stages}});
      Tensor &A = launch.in("A", {33, K}, Layout::RowMajor, integers());
      Tensor &B = launch.in("B", {K, 40}, Layout::RowMajor, integers());
      Tensor &D = launch.in("D", {K, 40}, Layout::RowMajor, integers());
      Tensor &C = launch.out("C", {33, 40});
      launch.run();
      expectExact(C, [&](Index i) {
        return product(A, B, i[0], i[1], K) + 2 * product(A, D, i[0], i[1], K);
      });
    }
}

TEST_CASE("pipelines: iterations left out", "[pipeline]") {
  for (int64_t stages = 1; stages <= 5; ++stages)
    for (int64_t K : {1, 16, 35, 80, 130}) {
      Launch launch("pipeline.tile", "lower", {}, {{"stages", stages}});
      Tensor &A = launch.in("A", {70, K}, Layout::RowMajor, integers());
      Tensor &B = launch.in("B", {K, 40}, Layout::RowMajor, integers());
      Tensor &C = launch.out("C", {70, 40});
      launch.run();
      expectExact(C, [&](Index i) {
        return product(A, B, i[0], i[1], std::min(K, i[0] + 1));
      });
    }
}

TEST_CASE("pipelines: iterations of each program", "[pipeline]") {
  for (int64_t stages = 1; stages <= 5; ++stages) {
    constexpr int64_t M = 33, K = 100, N = 40;
    const std::vector<double> lengths = {0,
                                         1,
                                         16,
                                         double(16 * stages - 16),
                                         double(16 * stages),
                                         double(16 * stages + 16),
                                         double(16 * stages + 17),
                                         100};
    auto count = static_cast<int64_t>(lengths.size());
    Launch launch("pipeline.tile", "ragged", {}, {{"stages", stages}});
    Tensor &A = launch.in("A", {count, M, K}, Layout::RowMajor, integers());
    Tensor &X = launch.in("X", {K, N}, Layout::RowMajor, integers());
    Tensor &length = launch.in("length", {count});
    length.setAll(lengths);
    Tensor &C = launch.out("C", {count, M, N});
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < std::min<int64_t>(K, int64_t(length(i[0]))); ++k)
        sum += A(i[0], i[1], k) * X(k, i[2]);
      return sum;
    });
  }
}

TEST_CASE("pipelines: attention", "[pipeline]") {
  constexpr int64_t tileKV = 16;
  for (int64_t stages = 1; stages <= 5; ++stages)
    for (int64_t trips :
         {int64_t(0), int64_t(1), stages - 1, stages, stages + 1})
      for (int64_t missing : {0, 3}) {
        const int64_t T = trips * tileKV - missing;
        if (T < 0)
          continue;
        Launch launch("std/attention.tile", "attention_forward",
                      {{"T", "bf16"}, {"mask", "causal"}},
                      {{"stages", stages}, {"kv", tileKV}, {"i", 32}});
        Tensor &Q = launch.in("Q", {1, 2, 70, 32});
        Tensor &K = launch.in("K", {1, 1, T, 32});
        Tensor &V = launch.in("V", {1, 1, T, 32});
        Tensor &O = launch.out("O", {1, 2, 70, 32});
        Tensor &lse = launch.out("lse", {1, 2, 70});
        launch.run();
        expectAttention(Q, K, V, O, &lse, {.mask = isCausal});
      }
}

//===----------------------------------------------------------------------===//
// The same bits every time
//===----------------------------------------------------------------------===//

static constexpr unsigned times = 100;

TEST_CASE("repeated runs: products", "[pipeline][repeat]") {
  for (int64_t stages : {1, 3, 5}) {
    Launch launch("pipeline.tile", "product", {}, {{"stages", stages}});
    launch.in("A", {300, 250});
    launch.in("B", {250, 270});
    launch.out("C", {300, 270});
    launch.runRepeatedly(times);
  }
  Launch launch("std/matmul.tile", "matmul", {{"T", "f16"}});
  launch.in("A", {300, 250});
  launch.in("B", {250, 270}, Layout::Transposed);
  launch.out("C", {300, 270});
  launch.runRepeatedly(times);
}

TEST_CASE("repeated runs: attention", "[pipeline][repeat]") {
  for (const char *type : {"bf16", "f32"}) {
    Launch launch("std/attention.tile", "attention_forward",
                  {{"T", type}, {"mask", "causal"}});
    launch.in("Q", {1, 4, 300, 64});
    launch.in("K", {1, 2, 310, 64});
    launch.in("V", {1, 2, 310, 64});
    launch.out("O", {1, 4, 300, 64});
    launch.out("lse", {1, 4, 300});
    launch.runRepeatedly(times);
  }
}

TEST_CASE("repeated runs: reductions, scans and transpositions",
          "[pipeline][repeat]") {
  Launch softmax("std/softmax.tile", "softmax_rows");
  softmax.in("X", {200, 1000});
  softmax.out("Y", {200, 1000});
  softmax.runRepeatedly(times);

  Launch columns("rows.tile", "softmax_columns");
  columns.in("X", {1000, 200});
  columns.out("Y", {1000, 200});
  columns.runRepeatedly(times);

  Launch norm("std/norms.tile", "layernorm", {{"T", "bf16"}});
  norm.in("X", {200, 5000});
  norm.in("w", {5000});
  norm.in("b", {5000});
  norm.out("Y", {200, 5000});
  norm.runRepeatedly(times);

  Launch scan("scan.tile", "cumsum_rows", {{"T", "f32"}, {"S", "f32"}});
  scan.in("X", {200, 1000});
  scan.out("Y", {200, 1000});
  scan.runRepeatedly(times);

  Launch transpose("std/transpose.tile", "transpose", {{"T", "bf16"}});
  transpose.in("X", {300, 500});
  transpose.out("Y", {500, 300});
  transpose.runRepeatedly(times);
}
