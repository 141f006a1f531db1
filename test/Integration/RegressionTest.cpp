//===- RegressionTest.cpp - What random programs found ----------*- C++ -*-===//
//
// Kernels that were once compiled wrongly, or not at all: values that share a
// buffer with a destination, or with another value that a loop carries.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

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
