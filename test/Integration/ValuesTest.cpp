//===- ValuesTest.cpp - Values, and what is no value ------------*- C++ -*-===//
//
// A compiler that works in place must not let a store change a value that was
// read before it, nor exchange variables by halves; and lanes beyond the end of
// a tile must not count, fault, or report.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

TEST_CASE("values: a store does not change what was read", "[values]") {
  for (int64_t N : {1, 77, 1025})
    for (int64_t n : {16, 2000}) {
      Launch launch("values.tile", "old_value", {}, {{"n", n}});
      Tensor &Y = launch.inout("Y", {N}, row, integers());
      Tensor &Z = launch.out("Z", {N});
      launch.run();
      expectExact(Y, [&](Index i) { return Y(i[0]) * 2 + 1; });
      expectExact(Z, [&](Index i) { return Y(i[0]) * 3 + 1; });
    }
  {
    Launch launch("values.tile", "old_value_whole");
    Tensor &Y = launch.inout("Y", {9, 33});
    Tensor &Z = launch.out("Z", {9, 33});
    launch.run();
    auto softmax = [&](Index i) {
      double sum = 0;
      for (int64_t n = 0; n < 33; ++n)
        sum += std::exp(Y(i[0], n));
      return std::exp(Y(i[0], i[1])) / sum;
    };
    expectClose(Y, softmax);
    expectClose(Z, [&](Index i) { return Y(i[0], i[1]) + softmax(i); });
  }
  {
    Launch launch("values.tile", "before_loop");
    Tensor &Y = launch.inout("Y", {77}, Layout::Gaps2, integers());
    Tensor &Z = launch.out("Z", {77});
    launch.run();
    expectExact(Y, [&](Index i) { return 4 * Y(i[0]); });
    expectExact(Z, [&](Index i) { return Y(i[0]); });
  }
  Launch launch("values.tile", "stored_twice");
  Tensor &X = launch.in("X", {77}, row, integers());
  Tensor &Y = launch.out("Y", {77});
  launch.run();
  expectExact(Y, [&](Index i) { return X(i[0]) * X(i[0]); });
}

TEST_CASE("values: variables change places", "[values]") {
  for (int64_t steps : {0, 1, 2, 3, 10}) {
    Launch launch("values.tile", "fibonacci");
    launch.scalarInt("steps", steps);
    Tensor &X = launch.in("X", {77}, row, integers());
    Tensor &Y = launch.in("Y", {77}, row, integers());
    Tensor &A = launch.out("A", {77});
    Tensor &B = launch.out("B", {77});
    launch.run();
    auto pair = [&](Index i) {
      double a = X(i[0]), b = Y(i[0]);
      for (int64_t t = 0; t < steps; ++t)
        a = std::exchange(b, a + b);
      return std::pair(a, b);
    };
    expectExact(A, [&](Index i) { return pair(i).first; });
    expectExact(B, [&](Index i) { return pair(i).second; });
  }
  for (int64_t steps : {0, 1, 3, 7}) {
    Launch launch("values.tile", "rotate_three");
    launch.scalarInt("steps", steps);
    Tensor &X = launch.in("X", {77}, row, integers());
    Tensor *results[] = {&launch.out("A", {77}), &launch.out("B", {77}),
                         &launch.out("C", {77})};
    launch.run();
    for (size_t r = 0; r < 3; ++r)
      expectExact(*results[r], [&](Index i) {
        double v[] = {X(i[0]), X(i[0]) * 10, X(i[0]) * 100};
        for (int64_t t = 0; t < steps; ++t) {
          if (t % 3 != 2)
            std::rotate(v, v + 1, v + 3);
          else
            std::swap(v[0], v[2]);
        }
        return v[r];
      });
    Launch none("values.tile", "no_iteration");
    none.scalarInt("steps", steps);
    Tensor &W = none.in("X", {77}, row, integers());
    Tensor &Y = none.out("Y", {77});
    none.run();
    expectExact(
        Y, [&](Index i) { return W(i[0]) * (std::exp2(double(steps)) - 1); });
  }
}

TEST_CASE("values: stores broadcast by the names of axes", "[values]") {
  for (int64_t M : {1, 33})
    for (int64_t N : {1, 77}) {
      Launch launch("values.tile", "broadcast_stores");
      launch.scalar("s", 2.5);
      Tensor &x = launch.in("x", {M}), &y = launch.in("y", {N});
      Tensor &A = launch.out("A", {M, N}), &B = launch.out("B", {N, M}),
             &C = launch.out("C", {M, N}, Layout::Transposed),
             &D = launch.out("D", {N, M}, Layout::Padded);
      launch.run();
      expectExact(A, [&](Index) { return 2.5; });
      expectExact(B, [&](Index i) { return x(i[1]); });
      expectExact(C, [&](Index i) { return y(i[1]); });
      expectExact(D, [&](Index i) {
        return static_cast<float>(y(i[0])) - static_cast<float>(x(i[1]));
      });
    }
}

TEST_CASE("values: products of products", "[values]") {
  for (int64_t m : {5, 64}) {
    Launch launch("values.tile", "mlp", {}, {{"m", m}});
    Tensor &X = launch.in("X", {33, 20}, row, integers(-2, 3));
    Tensor &W1 = launch.in("W1", {20, 48}, row, integers(-1, 2));
    Tensor &W2 = launch.in("W2", {48, 17}, row, integers());
    Tensor &Y = launch.out("Y", {33, 17});
    launch.run();
    expectExact(Y, [&](Index i) {
      double sum = 0;
      for (int64_t h = 0; h < 48; ++h) {
        double x = 0;
        for (int64_t k = 0; k < 20; ++k)
          x += X(i[0], k) * W1(k, h);
        sum += std::max(x, 0.0) * W2(h, i[1]);
      }
      return sum;
    });
  }
  for (int64_t i : {8, 64}) {
    Launch launch("values.tile", "gram", {}, {{"i", i}, {"j", 24}, {"n", 16}});
    Tensor &X = launch.in("X", {50, 77}, Layout::Transposed, integers());
    Tensor &Y = launch.out("Y", {50, 50});
    launch.run();
    expectExact(Y, [&](Index k) {
      double sum = 0;
      for (int64_t n = 0; n < 77; ++n)
        sum += X(k[0], n) * X(k[1], n);
      return sum;
    });
  }
}

TEST_CASE("values: nothing beyond the end counts", "[values]") {
  for (int64_t N : {0, 1, 32, 33, 77}) {
    Launch launch("values.tile", "beyond_the_end");
    Tensor &X = launch.in("X", {N}, row, integers(1, 9));
    Tensor &I = launch.in("I", {N}, row, integers(5, 14));
    Tensor &J = launch.in("J", {N}, row, integers(1, 9));
    Tensor &table = launch.in("table", {9}, row, integers());
    Tensor &inverse = launch.out("inverse", {1});
    Tensor &logs = launch.out("logs", {1});
    Tensor &least = launch.out("least", {1});
    Tensor &gathered = launch.out("gathered", {1});
    Tensor &quotients = launch.out("quotients", {1});
    launch.run();
    double a = 0, b = 0, c = INFINITY, d = 0, e = 0;
    for (int64_t n = 0; n < N; ++n) {
      a += 1 / X(n);
      b += std::log(X(n));
      c = std::min(c, X(n) * X(n));
      d += table(int64_t(I(n)) - 5);
      e += std::floor(100 / J(n));
    }
    expectClose(inverse, [&](Index) { return a; });
    expectClose(logs, [&](Index) { return b; });
    expectExact(least, [&](Index) { return c; });
    expectExact(gathered, [&](Index) { return d; });
    expectExact(quotients, [&](Index) { return e; });
  }
}

TEST_CASE("values: every reduction of a tile with a tail", "[values]") {
  for (int64_t N : {1, 32, 77})
    for (double value : {0.0, 3.0, -3.0, double(-INFINITY), double(INFINITY)}) {
      int64_t B = (N + 31) / 32, M = 5;
      Launch launch("values.tile", "tile_reductions");
      Tensor &X = launch.in("X", {M, N}, Layout::Padded);
      // One row of random numbers, and rows in which all are alike, so that any
      // neutral element that takes part is seen.
      for (int64_t m = 1; m < M; ++m)
        for (int64_t n = 0; n < N; ++n)
          X.view().setDouble({m, n}, value);
      X.refresh();
      std::map<std::string, Tensor *> results;
      for (const char *name :
           {"sum_", "prod_", "max_", "min_", "fmax_", "fmin_", "mean_",
            "argmax_", "argmin_", "any_", "all_", "lse_"})
        results[name] = &launch.out(name, {M, B});
      Tensor &cumsum = launch.out("cumsum_", {M, N});
      Tensor &softmax = launch.out("softmax_", {M, N});
      launch.run();
      // Of the elements of row i[0] and tile i[1] that exist.
      auto over = [&](const char *name, auto &&fold, double start) {
        expectClose(*results[name], [&, fold, start](Index i) {
          double result = start;
          for (int64_t n = i[1] * 32; n < std::min(N, i[1] * 32 + 32); ++n)
            result = fold(result, X(i[0], n));
          return result;
        });
      };
      auto length = [&](Index i) {
        return double(std::min<int64_t>(32, N - i[1] * 32));
      };
      over("sum_", [](double a, double x) { return a + x; }, 0);
      over("prod_", [](double a, double x) { return a * x; }, 1);
      for (const char *name : {"max_", "fmax_"})
        over(
            name, [](double a, double x) { return std::max(a, x); }, -INFINITY);
      for (const char *name : {"min_", "fmin_"})
        over(name, [](double a, double x) { return std::min(a, x); }, INFINITY);
      over("any_", [](double a, double x) { return a != 0 || x > 2; }, 0);
      over("all_", [](double a, double x) { return a != 0 && x < -2; }, 1);
      expectClose(*results["mean_"], [&](Index i) {
        double sum = 0;
        for (int64_t n = i[1] * 32; n < std::min(N, i[1] * 32 + 32); ++n)
          sum += X(i[0], n);
        return sum / length(i);
      });
      auto place = [&](Index i, double sign) {
        int64_t best = i[1] * 32;
        for (int64_t n = best; n < std::min(N, i[1] * 32 + 32); ++n)
          if (sign * X(i[0], n) > sign * X(i[0], best))
            best = n;
        return double(best);
      };
      expectExact(*results["argmax_"], [&](Index i) { return place(i, 1); });
      expectExact(*results["argmin_"], [&](Index i) { return place(i, -1); });
      auto exponentials = [&](int64_t m, int64_t tile) {
        double top = -INFINITY, sum = 0;
        for (int64_t n = tile * 32; n < std::min(N, tile * 32 + 32); ++n)
          top = std::max(top, X(m, n));
        for (int64_t n = tile * 32; n < std::min(N, tile * 32 + 32); ++n)
          sum += std::exp(X(m, n) - (std::isinf(top) ? 0 : top));
        return std::pair(std::isinf(top) ? 0 : top, sum);
      };
      expectClose(*results["lse_"], [&](Index i) {
        auto [top, sum] = exponentials(i[0], i[1]);
        return top + std::log(sum);
      });
      expectClose(cumsum, [&](Index i) {
        double sum = 0;
        for (int64_t n = i[1] / 32 * 32; n <= i[1]; ++n)
          sum += X(i[0], n);
        return sum;
      });
      expectClose(softmax, [&](Index i) {
        double x = X(i[0], i[1]);
        if (i[0] > 0 && std::isinf(value))
          return value < 0 ? 0 : std::nan("");
        auto [top, sum] = exponentials(i[0], i[1] / 32);
        return std::exp(x - top) / sum;
      });
    }
}

TEST_CASE("values: single elements under run-time conditions", "[values]") {
  for (int64_t i : {int64_t(0), int64_t(6), int64_t(7), int64_t(-1), INT64_MAX,
                    INT64_MIN}) {
    Launch launch("values.tile", "guarded_elements");
    launch.scalarInt("i", i);
    Tensor &X = launch.in("X", {7}, Layout::Gaps2);
    Tensor &Y = launch.out("Y", {3});
    launch.run();
    bool in = i >= 0 && i < 7;
    double x = in ? X(i) : 0;
    const double expected[] = {in ? x : -1, in ? x : -2, in ? 2 * x : -3};
    expectExact(Y, [&](Index k) { return expected[k[0]]; });
  }
  for (int64_t limit : {0, 1, 16, 50, 77}) {
    Launch launch("values.tile", "scalar_grid");
    launch.scalarInt("limit", limit);
    Tensor &X = launch.in("X", {77});
    Tensor &Y = launch.inout("Y", {77});
    launch.run();
    CHECK(launch.numPrograms == (limit + 15) / 16);
    expectExact(Y, [&](Index i) { return i[0] < limit ? X(i[0]) : Y(i[0]); });
  }
  Launch launch("values.tile", "bools");
  Tensor &X = launch.in("X", {77}, Layout::Gaps3);
  Tensor &Y = launch.in("Y", {77});
  Tensor &a = launch.out("a", {77}), &b = launch.out("b", {77}, Layout::Gaps2),
         &c = launch.out("c", {77});
  launch.run();
  expectExact(a, [&](Index i) { return double(X(i[0]) && !Y(i[0])); });
  expectExact(b, [&](Index i) { return double(X(i[0]) == Y(i[0])); });
  expectExact(c, [&](Index i) { return (X(i[0]) ? 10 : 20) + Y(i[0]); });
}
