//===- RegressionTest.cpp - What random programs found ----------*- C++ -*-===//
//
// Kernels that were once compiled wrongly, or not at all: values that share a
// buffer with a destination, or with another value that a loop carries.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <array>
#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

TEST_CASE("regressions: stores keep their value", "[regression]") {
  Launch later("regressions.tile", "changed_later");
  Tensor &X = later.in("X", {77}, row, integers());
  Tensor &Y = later.out("Y", {77});
  Tensor &Z = later.out("Z", {77});
  later.run();
  expectExact(Y, [&](Index i) { return 2 * X(i[0]); });
  expectExact(Z, [&](Index i) { return 2 * X(i[0]) + 4; });

  for (int64_t n : {0, 1, 4}) {
    Launch often("regressions.tile", "stored_often");
    Tensor &X = often.in("X", {33, 7}, row, integers());
    often.scalarInt("n", n);
    Tensor &Y = often.out("Y", {33});
    Tensor &Z = often.out("Z", {33});
    often.run();
    auto sum = [&](int64_t a) {
      double total = 0;
      for (int64_t b = 0; b < 7; ++b)
        total += X(a, b);
      return total;
    };
    // What is never stored keeps the poison, a NaN.
    expectExact(Y, [&](Index i) { return n ? sum(i[0]) : NAN; });
    expectExact(Z, [&](Index i) {
      double c = 0;
      for (int64_t k = 0; k < n; ++k)
        c = (k ? 2 * c : 0) + sum(i[0]);
      return n ? c : NAN;
    });
  }
}

TEST_CASE("regressions: branches in loops", "[regression]") {
  for (int64_t p : {0, 1, 3, 9}) {
    Launch chosen("regressions.tile", "chosen");
    chosen.scalarInt("p", p);
    Tensor &Y = chosen.out("Y", {33});
    chosen.run();
    double c = 0;
    for (int64_t k = 0; k < 5; ++k)
      c = (p > k ? 3 : c) - 1;
    expectExact(Y, [&](Index) { return c; });

    constexpr int64_t A = 19, C = 4;
    Launch passed("regressions.tile", "passed_on");
    Tensor &X = passed.in("X", {A, C}, row, integers(-3, 2));
    passed.scalarInt("p", p);
    Tensor &U = passed.out("Y", {A});
    Tensor &V = passed.out("Z", {A});
    passed.run();
    std::vector<double> u(A, 0), v(A, 3);
    for (int64_t k = 0; k < C; ++k) {
      bool some = false;
      for (int64_t a = 0; a < A; ++a)
        some |= X(a, k) > 0;
      for (int64_t l = 0; some && l < 3; ++l)
        for (int64_t a = 0; a < A; ++a) {
          if (p > k)
            u[a] = 1 - u[a] + X(a, k);
          v[a] = u[a];
          if (p > k + l)
            u[a] *= 2;
        }
    }
    expectExact(U, [&](Index i) { return u[i[0]]; });
    expectExact(V, [&](Index i) { return v[i[0]]; });
  }
}

TEST_CASE("regressions: contractions of one operand", "[regression]") {
  for (int64_t B : {0, 1, 7, 33}) {
    Launch launch("regressions.tile", "one_operand");
    Tensor &X = launch.in("X", {20, B}, row, integers());
    Tensor &Y = launch.out("Y", {20});
    Tensor &Z = launch.out("Z", {20, 5});
    launch.run();
    auto sum = [&](int64_t a, bool squares) {
      double total = 0;
      for (int64_t b = 0; b < B; ++b)
        total += squares ? (X(a, b) + 1) * (X(a, b) + 1) : 2 * (X(a, b) + 1);
      return total;
    };
    expectExact(Y, [&](Index i) { return sum(i[0], true); });
    expectExact(Z, [&](Index i) { return sum(i[0], false); });
  }
}

TEST_CASE("regressions: reductions of all lengths", "[regression]") {
  for (int64_t B : {1, 3, 5, 7, 9, 13, 15, 17, 31, 33}) {
    Launch launch("regressions.tile", "rest");
    Tensor &X = launch.in("X", {33, B}, row);
    Tensor &Y = launch.out("Y", {33});
    Tensor &Z = launch.out("Z", {33});
    launch.run();
    auto find = [&](int64_t a, double sign) {
      double best = -INFINITY;
      for (int64_t b = 0; b < B; ++b)
        best = std::max(best, sign * X(a, b));
      return sign * best;
    };
    expectExact(Y, [&](Index i) { return find(i[0], 1); });
    expectExact(Z, [&](Index i) { return find(i[0], -1); });
  }
}

TEST_CASE("regressions: tiles that change places", "[regression]") {
  for (int64_t n : {0, 1, 2, 5})
    for (int64_t m : {0, 1, 2}) {
      Launch launch("regressions.tile", "circle");
      Tensor &X = launch.in("X", {37}, row, integers());
      launch.scalarInt("n", n);
      launch.scalarInt("m", m);
      Tensor &U = launch.out("U", {37});
      Tensor &V = launch.out("V", {37});
      Tensor &W = launch.out("W", {37});
      launch.run();
      auto expected = [&](int64_t x) {
        std::array<double, 3> tile = {X(x), X(x) * 2, X(x) + 5};
        for (int64_t i = 0; i < n; ++i) {
          tile = {tile[1], tile[2], tile[0] + 1};
          if (m % 2)
            std::swap(tile[0], tile[1]);
        }
        return tile;
      };
      expectExact(U, [&](Index i) { return expected(i[0])[0]; });
      expectExact(V, [&](Index i) { return expected(i[0])[1]; });
      expectExact(W, [&](Index i) { return expected(i[0])[2]; });
    }
}

TEST_CASE("regressions: arguments in carried tiles", "[regression]") {
  for (int64_t n : {0, 1, 2, 3, 6}) {
    Launch chosen("regressions.tile", "argument_chosen");
    Tensor &X = chosen.in("X", {37}, row, integers());
    chosen.scalarInt("n", n);
    Tensor &U = chosen.out("U", {37});
    Tensor &V = chosen.out("V", {37});
    chosen.run();
    auto expected = [&](int64_t x) {
      double a = 0, s = 0;
      for (int64_t i = 0; i < n; ++i) {
        double old = a;
        a = i == 1 ? X(x) : s;
        s += old + 1;
      }
      return std::array<double, 2>{a, s};
    };
    expectExact(U, [&](Index i) { return expected(i[0])[0]; });
    expectExact(V, [&](Index i) { return expected(i[0])[1]; });

    Launch changed("regressions.tile", "argument_changed");
    Tensor &Z = changed.in("X", {37}, row, integers());
    changed.scalarInt("n", n);
    Tensor &R = changed.out("U", {37});
    Tensor &C = changed.inout("V", {37}, row, integers());
    changed.run();
    expectExact(R, [&](Index x) {
      double a = 0;
      for (int64_t i = 0; i < n; ++i)
        a = (i % 2 ? a : Z(x[0])) * 2 + 1;
      return a;
    });
    int64_t additions = (n + 1) / 2;
    expectExact(C, [&](Index x) { return C(x[0]) + double(additions); });

    for (bool p : {false, true}) {
      Launch either("regressions.tile", "result_or_argument");
      Tensor &T = either.in("X", {37}, row, integers());
      either.scalarInt("n", n);
      either.scalarInt("p", p);
      Tensor &E = either.out("U", {37});
      either.run();
      expectExact(E, [&](Index x) {
        double a = 0;
        for (int64_t i = 0; i < n; ++i)
          a = a + (i > 2 ? T(x[0]) : a) + T(x[0]);
        return p ? T(x[0]) : a;
      });
    }
  }
}

TEST_CASE("regressions: loads and stores in turns", "[regression]") {
  for (int64_t n : {0, 1, 2, 5}) {
    Launch launch("regressions.tile", "in_turns");
    Tensor &X = launch.in("X", {37}, row, integers());
    launch.scalarInt("n", n);
    Tensor &Y = launch.inout("Y", {5, 37}, row, integers());
    launch.run();
    expectExact(Y, [&](Index at) {
      double a = X(at[1]), b = X(at[1]) * 2, y[5];
      for (int64_t k = 0; k < 5; ++k)
        y[k] = Y(k, at[1]);
      for (int64_t i = 0; i < n; ++i) {
        y[0] = a;
        y[1] = b;
        double t = a;
        a = b;
        b = t + y[0];
        y[2] = a;
        if (i % 2 == 1)
          a = y[1];
      }
      y[3] = a;
      y[4] = b;
      return y[at[0]];
    });
  }

  Launch twice("regressions.tile", "stored_twice");
  Tensor &X = twice.in("X", {77}, row, integers());
  Tensor &Y = twice.out("Y", {77});
  Tensor &Z = twice.out("Z", {77});
  twice.run();
  expectExact(Y, [&](Index i) { return X(i[0]) + 1; });
  expectExact(Z, [&](Index i) { return 3 * X(i[0]); });
}

TEST_CASE("regressions: programs that store to one place", "[regression]") {
  constexpr int64_t B = 16, N = 500, n = 200;
  Launch launch("regressions.tile", "shared_rows");
  launch.scalarInt("n", n);
  Tensor &Y = launch.out("Y", {2, N});
  launch.in("X", {B}, row, integers());
  launch.run();
  for (int64_t c : {0, 1})
    for (int64_t i = 0; i < N; ++i) {
      // The number of the program, from 1, if its sum was complete.
      double number = Y.result(c, i) / n;
      REQUIRE(number == std::floor(number));
      REQUIRE((number >= 1 && number <= B));
      REQUIRE((int64_t(number) - 1) % 2 == c);
    }
}
