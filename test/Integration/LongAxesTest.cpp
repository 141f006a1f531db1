//===- LongAxesTest.cpp - tile-loop-long-axes changes no number -*- C++ -*-===//
//
// Kernels over whole axes, compiled with tile-loop-long-axes and budgets so
// small that every row is processed in chunks, compared with plain loops in
// double precision, or with the reference evaluator where the mathematics is
// tested elsewhere.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr const char *file = "long.tile";

/// The pass and what simplifies behind it, for a budget.
static std::string looping(int64_t maxElements) {
  return "tile-loop-long-axes{max-elements=" + std::to_string(maxElements) +
         "},canonicalize,cse,tile-split-loops,canonicalize,"
         "tile-simplify-pads,canonicalize,cse";
}

/// Extents of a row: shorter than a chunk, equal, one more, odd, long.
static constexpr int64_t lengths[] = {1, 7, 64, 65, 1000, 4095};

static std::vector<double> rowOf(const Tensor &X, int64_t m) {
  std::vector<double> row;
  for (int64_t n = 0; n < X.shape()[1]; ++n)
    row.push_back(X(m, n));
  return row;
}

static double maxOf(const std::vector<double> &row) {
  double top = -INFINITY;
  for (double x : row)
    top = std::isnan(top) || std::isnan(x) ? NAN : std::max(top, x);
  return top;
}

static double sumExp(const std::vector<double> &row, double reference) {
  double sum = 0;
  for (double x : row)
    sum += std::exp(x - reference);
  return sum;
}

/// Rows of ordinary numbers, and with infinities and NaN at the ends, in the
/// middle, everywhere.
static void makeSpecial(Tensor &X) {
  int64_t N = X.shape()[1];
  auto fillRow = [&](int64_t m, double value) {
    for (int64_t n = 0; n < N; ++n)
      X.view().setDouble({m, n}, value);
  };
  fillRow(1, -INFINITY);
  fillRow(2, -INFINITY);
  X.view().setDouble({2, N - 1}, 3); // Finite only in the last chunk.
  fillRow(3, -1e4);
  X.view().setDouble({4, N / 2}, INFINITY);
  X.view().setDouble({5, N / 2}, NAN);
  X.view().setDouble({6, N - 1}, INFINITY);
  X.view().setDouble({7, 0}, NAN);
  fillRow(8, INFINITY);
  for (int64_t n = 0; n < N; ++n)
    X.view().setDouble({9, n}, double(n)); // The maximum grows all the time.
  X.view().setDouble({10, 0}, 90);         // Or never.
  X.refresh();
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

TEST_CASE("chunks: softmax", "[long]") {
  for (const char *kernel : {"softmax_grid", "softmax_rows", "softmax_whole"})
    for (int64_t N : lengths) {
      const int64_t M = 12;
      Launch launch(file, kernel);
      launch.passes = looping(kernel == std::string("softmax_grid") ? 64 : 256);
      Tensor &X = launch.in("X", {M, N});
      makeSpecial(X);
      Tensor &Y = launch.out("Y", {M, N});
      launch.run();
      std::vector<std::vector<double>> expected;
      for (int64_t m = 0; m < M; ++m) {
        std::vector<double> row = rowOf(X, m);
        double top = maxOf(row), sum = sumExp(row, top);
        for (double &x : row)
          x = top == -INFINITY ? 0 : std::exp(x - top) / sum;
        expected.push_back(row);
      }
      expectClose(
          Y, [&](Index i) { return expected[size_t(i[0])][size_t(i[1])]; });
    }
}

TEST_CASE("chunks: softmax by hand, where a row of -inf is NaN", "[long]") {
  for (int64_t N : lengths) {
    const int64_t M = 12;
    Launch launch(file, "softmax_naive");
    launch.passes = looping(64);
    Tensor &X = launch.in("X", {M, N});
    makeSpecial(X);
    Tensor &Y = launch.out("Y", {M});
    launch.run();
    expectClose(Y, [&](Index i) {
      std::vector<double> row = rowOf(X, i[0]);
      return sumExp(row, maxOf(row));
    });
  }
}

TEST_CASE("chunks: logsumexp", "[long]") {
  for (int64_t N : lengths) {
    const int64_t M = 12;
    Launch launch(file, "logsumexp_rows");
    launch.passes = looping(128);
    Tensor &X = launch.in("X", {M, N});
    makeSpecial(X);
    Tensor &Y = launch.out("Y", {M});
    launch.run();
    expectClose(Y, [&](Index i) {
      std::vector<double> row = rowOf(X, i[0]);
      double top = maxOf(row);
      return std::isfinite(top) ? top + std::log(sumExp(row, top)) : top;
    });
  }
}

TEST_CASE("chunks: normalizations of std", "[long]") {
  for (const char *T : {"f32", "bf16"})
    for (int64_t N : lengths) {
      {
        Launch launch("std/norms.tile", "rmsnorm", {{"T", T}}, {{"m", 3}});
        launch.passes = looping(200);
        launch.in("X", {7, N});
        launch.in("w", {N});
        launch.out("Y", {7, N});
        launch.run();
        launch.expectReference();
      }
      if (N > 1) { // Of one element the variance is 0.
        Launch launch("std/norms.tile", "layernorm", {{"T", T}}, {{"m", 3}});
        launch.passes = looping(200);
        launch.in("X", {7, N});
        launch.in("w", {N});
        launch.in("b", {N});
        launch.out("Y", {7, N});
        launch.run();
        launch.expectReference();
      }
      {
        Launch launch("std/softmax.tile", "cross_entropy", {{"T", T}},
                      {{"m", 3}});
        launch.passes = looping(200);
        launch.in("logits", {7, N});
        launch.in("target", {7}, Layout::RowMajor, integers(-1, N));
        launch.out("loss", {7});
        launch.run();
        launch.expectReference();
      }
    }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The first place of the best element; a NaN is better than all numbers.
static double placeOf(const std::vector<double> &row, bool isMax) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    if (std::isnan(row[best]))
      break;
    if (std::isnan(row[i]) || (isMax ? row[i] > row[best] : row[i] < row[best]))
      best = i;
  }
  return double(best);
}

TEST_CASE("chunks: all reductions at once", "[long]") {
  for (const char *T : {"f32", "bf16"})
    for (int64_t N : lengths) {
      const int64_t M = 12;
      Launch launch(file, "reductions", {{"T", T}});
      launch.passes = looping(64);
      Tensor &X = launch.in("X", {M, N}, Layout::RowMajor, integers());
      makeSpecial(X);
      Tensor &top = launch.out("top", {M}), &low = launch.out("low", {M});
      Tensor &ftop = launch.out("ftop", {M}), &flow = launch.out("flow", {M});
      Tensor &at = launch.out("at", {M}), &atLow = launch.out("at_low", {M});
      Tensor &some = launch.out("some", {M}), &every = launch.out("every", {M});
      Tensor &sum = launch.out("total", {M});
      launch.run();
      auto fold = [&](int64_t m, double start,
                      const std::function<double(double, double)> &op) {
        for (double x : rowOf(X, m))
          start = op(start, x);
        return start;
      };
      expectExact(top, [&](Index i) { return maxOf(rowOf(X, i[0])); });
      expectExact(low, [&](Index i) {
        return fold(i[0], INFINITY, [](double a, double x) {
          return std::isnan(a) || std::isnan(x) ? NAN : std::min(a, x);
        });
      });
      auto fmax = [](double a, double x) { return std::fmax(a, x); };
      auto fmin = [](double a, double x) { return std::fmin(a, x); };
      expectExact(ftop, [&](Index i) { return fold(i[0], -INFINITY, fmax); });
      expectExact(flow, [&](Index i) { return fold(i[0], INFINITY, fmin); });
      expectExact(at, [&](Index i) { return placeOf(rowOf(X, i[0]), true); });
      expectExact(atLow,
                  [&](Index i) { return placeOf(rowOf(X, i[0]), false); });
      expectExact(some, [&](Index i) {
        return fold(i[0], 0, [](double a, double x) { return a || x > 3; });
      });
      expectExact(every, [&](Index i) {
        return fold(i[0], 1, [](double a, double x) { return a && x > -4; });
      });
      expectClose(sum, [&](Index i) {
        return fold(i[0], 0, [](double a, double x) { return a + x; });
      });
    }
}

TEST_CASE("chunks: equal maxima, the first wins", "[long]") {
  for (int64_t first : {0, 63, 64, 200, 999}) {
    Launch launch(file, "reductions", {{"T", "f32"}});
    launch.passes = looping(64);
    Tensor &X = launch.in("X", {1, 1000});
    X.fill(1);
    for (int64_t n = first; n < 1000; n += 7)
      X.set({0, n}, 2);
    for (const char *name :
         {"top", "low", "ftop", "flow", "at_low", "some", "every", "total"})
      launch.out(name, {1});
    Tensor &at = launch.out("at", {1});
    launch.run();
    expectExact(at, [&](Index) { return double(first); });
  }
}

TEST_CASE("chunks: running sums", "[long]") {
  for (int64_t N : lengths) {
    Launch launch(file, "running");
    launch.passes = looping(64);
    Tensor &X = launch.in("X", {5, N}, Layout::RowMajor, integers());
    Tensor &Y = launch.out("Y", {5, N});
    Tensor &Z = launch.out("Z", {5});
    launch.run();
    auto prefix = [&](int64_t m, int64_t end) {
      double sum = 0;
      for (int64_t n = 0; n <= end; ++n)
        sum += X(m, n);
      return sum;
    };
    expectExact(Y, [&](Index i) { return prefix(i[0], i[1]); });
    expectExact(Z, [&](Index i) {
      double top = -INFINITY;
      for (int64_t n = 0; n < N; ++n)
        top = std::max(top, prefix(i[0], n));
      return top;
    });
  }
}

TEST_CASE("chunks: products", "[long]") {
  for (const char *T : {"f32", "bf16"})
    for (int64_t K : {1, 7, 64, 65, 3000}) {
      Launch launch(file, "whole_product", {{"T", T}}, {{"m", 8}, {"n", 8}});
      launch.passes = looping(1024);
      launch.in("A", {20, K});
      launch.in("B", {K, 40});
      launch.in("bias", {40});
      launch.out("C", {20, 40});
      launch.run();
      launch.expectReference();
    }
  // Tiles of default size have a place in shared memory.
  for (const char *T : {"f32", "bf16", "i8"}) {
    Launch launch(file, "whole_product", {{"T", T}});
    launch.in("A", {20, 300}, Layout::RowMajor, integers());
    launch.in("B", {300, 40}, Layout::RowMajor, integers());
    launch.in("bias", {40});
    launch.out("C", {20, 40});
    launch.run();
    launch.expectReference();
  }
  // Both operands are computed, and have the long axis elsewhere.
  for (int64_t K : {7, 300}) {
    Launch launch(file, "weighted_product", {}, {{"m", 8}});
    launch.passes = looping(512);
    Tensor &A = launch.in("A", {20, K});
    Tensor &B = launch.in("B", {30, K});
    Tensor &w = launch.in("w", {K});
    Tensor &C = launch.out("C", {20, 30});
    launch.run();
    expectClose(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += A(i[0], k) * w(k) * std::exp(B(i[1], k));
      return sum;
    });
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_CASE("chunks: several operands and results", "[long]") {
  for (int64_t N : lengths) {
    Launch launch(file, "bias_gelu_residual", {}, {{"m", 4}});
    launch.passes = looping(256);
    for (const char *name : {"X", "R"})
      launch.in(name, {9, N});
    for (const char *name : {"bias", "scale"})
      launch.in(name, {N});
    launch.out("Y", {9, N});
    launch.out("Z", {9, N});
    launch.out("norm", {9});
    launch.run();
    launch.expectReference();
  }
}

TEST_CASE("chunks: updates in place", "[long]") {
  for (const char *kernel :
       {"softmax_inplace", "center_inplace", "exchange", "read_after"})
    for (int64_t N : lengths) {
      Launch launch(file, kernel);
      launch.passes = looping(64);
      launch.inout("X", {5, N});
      launch.inout("Y", {5, N});
      launch.run();
      launch.expectReference();
    }
}

TEST_CASE("chunks: elements, random numbers, conditions", "[long]") {
  for (int64_t N : lengths) {
    Launch launch(file, "elements", {}, {{"m", 2}});
    launch.passes = looping(128);
    launch.in("X", {5, N});
    launch.in("index", {N}, Layout::RowMajor, integers(0, 5));
    launch.inout("count", {5}, Layout::RowMajor, integers());
    launch.inout("sums", {N}, Layout::RowMajor, integers());
    launch.out("Y", {5, N});
    launch.out("Z", {5, N});
    launch.run();
    launch.expectReference();
  }
}

TEST_CASE("chunks: inside loops and branches", "[long]") {
  for (int64_t N : lengths) {
    Launch launch(file, "inside", {}, {{"t", 3}});
    launch.passes = looping(64);
    launch.in("X", {5, N});
    launch.in("W", {8, N});
    launch.out("Y", {5, 8});
    launch.out("Z", {5, N});
    launch.run();
    launch.expectReference();
  }
}

TEST_CASE("chunks: two long axes", "[long]") {
  for (auto [M, N] : {std::pair<int64_t, int64_t>(70, 90), {1, 500}, {33, 1}})
    for (const char *kernel : {"rows_then_all", "all_at_once", "whole_norm"}) {
      Launch launch(file, kernel);
      launch.passes = looping(64);
      launch.in("X", {M, N});
      launch.out("Y", {M, N});
      launch.out("Z", {1});
      launch.run();
      launch.expectReference();
    }
}
