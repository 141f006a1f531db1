//===- NormTest.cpp - Normalizations, softmax, losses -----------*- C++ -*-===//
//
// std/norms.tile, std/softmax.tile, std/rope.tile, examples/rmsnorm.tile, and
// the same mathematics in other forms. Rows shorter and longer than any tile;
// rows of -inf.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

/// Statistics are f32 whatever the element type is.
static Tolerance normTolerance(const Tensor &Y) {
  return toleranceOf(Y.dtype() == DType::F64 ? DType::F32 : Y.dtype());
}

static void rmsnorm(const char *file, const char *kernel, CtArgs types,
                    int64_t M, int64_t N, Layout x = row, Layout y = row,
                    double eps = 0, ScheduleArgs schedule = {}) {
  Launch launch(file, kernel, types, schedule);
  Tensor &X = launch.in("X", {M, N}, x);
  Tensor &w = launch.in("w", {N}, Layout::Gaps2);
  Tensor &Y = launch.out("Y", {M, N}, y);
  if (eps > 0)
    launch.scalar("eps", eps);
  launch.run();
  std::vector<double> scale;
  for (int64_t m = 0; m < M; ++m) {
    double squares = 0;
    for (int64_t n = 0; n < N; ++n)
      squares += X(m, n) * X(m, n);
    scale.push_back(1 / std::sqrt(squares / double(N) + (eps ? eps : 1e-6)));
  }
  expectClose(
      Y, [&](Index i) { return X(i[0], i[1]) * scale[size_t(i[0])] * w(i[1]); },
      normTolerance(Y));
}

TEST_CASE("rmsnorm", "[norms]") {
  for (int64_t N : extents)
    for (int64_t M : {0, 1, 77})
      rmsnorm("std/norms.tile", "rmsnorm", {}, M, N);
  for (const char *dtype : {"f64", "bf16", "f16", "f8e4m3", "f8e5m2"})
    rmsnorm("std/norms.tile", "rmsnorm", {{"T", dtype}}, 7, 1000);
  for (Layout x : inputLayouts())
    rmsnorm("std/norms.tile", "rmsnorm", {}, 77, 131, x, row, 0.5);
  for (Layout y : outputLayouts())
    rmsnorm("std/norms.tile", "rmsnorm", {}, 77, 131, row, y);
  for (int64_t m : {1, 3, 16, 64})
    rmsnorm("std/norms.tile", "rmsnorm", {}, 77, 131, row, row, 0, {{"m", m}});
  for (int64_t M : {0, 1, 77})
    for (int64_t N : {0, 1, 131})
      rmsnorm("rows.tile", "rmsnorm_untiled", {}, M, N);
  for (int64_t N : {1, 77, 1000})
    rmsnorm("examples/rmsnorm.tile", "rmsnorm", {}, 33, N);
}

TEST_CASE("layernorm", "[norms]") {
  auto layernorm = [](const char *file, const char *kernel, CtArgs types,
                      int64_t M, int64_t N, Layout x, Layout y) {
    Launch launch(file, kernel, types);
    FillOptions wide;
    wide.scale = 3;
    Tensor &X = launch.in("X", {M, N}, x, wide);
    Tensor &w = launch.in("w", {N});
    Tensor &b = launch.in("b", {N}, Layout::Reversed);
    Tensor &Y = launch.out("Y", {M, N}, y);
    launch.run();
    std::vector<double> mean, scale;
    for (int64_t m = 0; m < M; ++m) {
      double sum = 0, squares = 0;
      for (int64_t n = 0; n < N; ++n)
        sum += X(m, n);
      mean.push_back(sum / double(N));
      for (int64_t n = 0; n < N; ++n)
        squares += std::pow(X(m, n) - mean.back(), 2);
      scale.push_back(1 / std::sqrt(squares / double(N) + 1e-5));
    }
    expectClose(
        Y,
        [&](Index i) {
          size_t m = size_t(i[0]);
          // One element is its own mean, whatever the arithmetic.
          double centered = N == 1 ? 0 : X(i[0], i[1]) - mean[m];
          return centered * scale[m] * w(i[1]) + b(i[1]);
        },
        normTolerance(Y));
  };
  for (int64_t N : extents)
    layernorm("std/norms.tile", "layernorm", {}, 77, N, row, row);
  for (const char *dtype : {"f64", "bf16", "f16", "f8e4m3"})
    layernorm("std/norms.tile", "layernorm", {{"T", dtype}}, 7, 77, row, row);
  for (Layout layout : outputLayouts())
    layernorm("std/norms.tile", "layernorm", {}, 33, 131, layout, layout);
  for (int64_t N : {1, 131, 1025})
    layernorm("rows.tile", "layernorm_untiled", {}, 20, N, row, row);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Ordinary rows, and rows of -inf, with one finite element, with +-6e4.
static void makeSpecialRows(Tensor &X) {
  int64_t M = X.shape()[0], N = X.shape()[1];
  if (N == 0)
    return;
  for (int64_t m = 1; m < M; m += 4)
    for (int64_t n = 0; n < N; ++n) {
      double value = m % 16 == 1   ? -INFINITY
                     : m % 16 == 5 ? (n == N / 2 ? -3.0 : -INFINITY)
                     : m % 16 == 9 ? (n % 2 ? 6e4 : -6e4)
                                   : -6e4 + double(n % 7);
      X.view().setDouble({m, n}, value);
    }
  X.refresh();
}

static std::vector<double> softmaxOf(const std::vector<double> &x) {
  double top = -INFINITY, sum = 0;
  for (double value : x)
    top = std::max(top, value);
  std::vector<double> result;
  for (double value : x) {
    result.push_back(top == -INFINITY ? 0 : std::exp(value - top));
    sum += result.back();
  }
  for (double &value : result)
    value = sum > 0 ? value / sum : 0;
  return result;
}

static double logSumExpOf(const std::vector<double> &x) {
  double top = -INFINITY, sum = 0;
  for (double value : x)
    top = std::max(top, value);
  if (top == -INFINITY)
    return top;
  for (double value : x)
    sum += std::exp(value - top);
  return top + std::log(sum);
}

/// Rows or columns of a matrix before the run.
static std::vector<double> line(const Tensor &X, int64_t index, bool isRow,
                                int64_t begin = 0, int64_t end = -1) {
  std::vector<double> values;
  if (end < 0)
    end = X.shape()[isRow ? 1 : 0];
  for (int64_t i = begin; i < end; ++i)
    values.push_back(isRow ? X(index, i) : X(i, index));
  return values;
}

static void softmax(const char *file, const char *kernel, CtArgs types,
                    int64_t M, int64_t N, bool rows = true, Layout x = row,
                    Layout y = row, ScheduleArgs schedule = {}) {
  Launch launch(file, kernel, types, schedule);
  Tensor &X = launch.in("X", {M, N}, x);
  if (x != Layout::Broadcast && x != Layout::BroadcastLast)
    makeSpecialRows(X);
  Tensor &Y = launch.out("Y", {M, N}, y);
  launch.run();
  std::vector<std::vector<double>> expected;
  for (int64_t i = 0; i < (rows ? M : N); ++i)
    expected.push_back(softmaxOf(line(X, i, rows)));
  expectClose(Y, [&](Index i) {
    return rows ? expected[size_t(i[0])][size_t(i[1])]
                : expected[size_t(i[1])][size_t(i[0])];
  });
}

TEST_CASE("softmax of rows", "[softmax]") {
  for (int64_t N : extents)
    for (int64_t M : {0, 1, 77})
      softmax("std/softmax.tile", "softmax_rows", {}, M, N);
  for (const char *dtype : {"f64", "bf16", "f16", "f8e5m2"})
    softmax("std/softmax.tile", "softmax_rows", {{"T", dtype}}, 33, 1000);
  for (Layout x : inputLayouts())
    softmax("std/softmax.tile", "softmax_rows", {}, 77, 131, true, x);
  for (Layout y : outputLayouts())
    softmax("std/softmax.tile", "softmax_rows", {}, 77, 131, true, row, y);
  for (int64_t N : {1, 7, 77})
    softmax("rows.tile", "softmax_untiled", {}, 33, N);
  for (int64_t M : {1, 7, 77}) {
    softmax("rows.tile", "softmax_columns", {}, M, 131, false);
    softmax("rows.tile", "softmax_columns", {}, M, 131, false,
            Layout::Transposed, Layout::Gaps2);
  }
}

TEST_CASE("softmax written out over tiles", "[softmax]") {
  for (int64_t n : {1, 60, 64, 500})
    for (int64_t N : {0, 1, 60, 77, 1025})
      if (n > 1 || N < 100)
        softmax("rows.tile", "softmax_passes", {}, 33, N, true, row, row,
                {{"n", n}});
  for (int64_t n : {7, 64})
    for (int64_t N : {0, 1, 77, 1025}) {
      Launch launch("rows.tile", "logsumexp_online", {}, {{"n", n}});
      Tensor &X = launch.in("X", {33, N});
      makeSpecialRows(X);
      Tensor &Y = launch.out("Y", {33});
      Tensor &Z = launch.out("Z", {33});
      launch.run();
      auto oracle = [&](Index i) { return logSumExpOf(line(X, i[0], true)); };
      expectClose(Y, oracle);
      expectClose(Z, oracle);
    }
  // 131 = 64 + 64 + 3: the last tile's pads are no part of its sum.
  Launch launch("rows.tile", "tile_softmax");
  Tensor &X = launch.in("X", {20, 131});
  Tensor &Y = launch.out("Y", {20, 131});
  launch.run();
  expectClose(Y, [&](Index i) {
    int64_t begin = i[1] / 64 * 64;
    auto values =
        line(X, i[0], true, begin, std::min<int64_t>(begin + 64, 131));
    return softmaxOf(values)[size_t(i[1] - begin)];
  });
}

TEST_CASE("cross_entropy: targets that are no class have loss 0", "[softmax]") {
  for (const char *dtype : {"f32", "bf16", "f16"})
    for (int64_t V : {1, 7, 1025}) {
      int64_t M = 77;
      Launch launch("std/softmax.tile", "cross_entropy", {{"T", dtype}});
      Tensor &logits = launch.in("logits", {M, V});
      Tensor &target = launch.in("target", {M}, row, integers(0, V));
      target.set({0}, -100);
      target.set({1}, double(V));
      target.set({2}, -1);
      target.set({3}, double(V - 1));
      target.setInt({4}, INT64_MAX);
      target.setInt({5}, INT64_MIN);
      Tensor &loss = launch.out("loss", {M});
      launch.run();
      expectClose(loss, [&](Index i) {
        double t = target(i[0]);
        return t < 0 || t >= double(V) ? 0
                                       : logSumExpOf(line(logits, i[0], true)) -
                                             logits(i[0], int64_t(t));
      });
    }
  for (int64_t m : {1, 5, 64}) {
    Launch launch("std/softmax.tile", "cross_entropy", {}, {{"m", m}});
    Tensor &logits = launch.in("logits", {33, 50}, Layout::Transposed);
    Tensor &target = launch.in("target", {33}, Layout::Gaps2, integers(0, 50));
    Tensor &loss = launch.out("loss", {33}, Layout::Gaps3);
    launch.run();
    expectClose(loss, [&](Index i) {
      return logSumExpOf(line(logits, i[0], true)) -
             logits(i[0], int64_t(target(i[0])));
    });
  }
}

TEST_CASE("rope rotates pairs", "[rope]") {
  struct Shapes {
    int64_t B, S, H, P;
  };
  for (const char *dtype : {"f32", "bf16", "f16"})
    for (Shapes s : {Shapes{2, 77, 3, 32}, Shapes{1, 1, 1, 1},
                     Shapes{1, 0, 2, 4}, Shapes{3, 7, 1, 5}})
      for (Layout layout : {row, Layout::Transposed, Layout::Offset}) {
        if (layout != row && s.S != 77)
          continue;
        Launch launch("std/rope.tile", "rope", {{"T", dtype}});
        Tensor &X = launch.in("X", {s.B, s.S, s.H, 2, s.P}, layout);
        Tensor &cosine = launch.in("cosine", {s.S, s.P});
        Tensor &sine = launch.in("sine", {s.S, s.P});
        Tensor &Y = launch.out("Y", {s.B, s.S, s.H, 2, s.P}, layout);
        launch.run();
        expectClose(Y, [&](Index i) {
          double x1 = X(i[0], i[1], i[2], 0, i[4]),
                 x2 = X(i[0], i[1], i[2], 1, i[4]);
          double c = cosine(i[1], i[4]), s = sine(i[1], i[4]);
          return i[3] == 0 ? x1 * c - x2 * s : x2 * c + x1 * s;
        });
      }
}
