//===- ControlFlowTest.cpp - Loops, branches, variables ---------*- C++ -*-===//
//
// Trip counts from zero up, variables carried through loops and branches,
// compile-time parameters, requirements, and loops that skip tiles.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

TEST_CASE("loops: positions and carried values", "[control]") {
  for (int64_t N : {0, 1, 2, 33})
    for (int64_t m : {1, 16}) {
      Launch launch("control.tile", "recurrence", {}, {{"m", m}});
      launch.scalar("a", -2);
      Tensor &X = launch.in("X", {20, N}, row, integers(0, 2));
      Tensor &Y = launch.out("Y", {20, N});
      launch.run();
      expectClose(Y, [&](Index i) {
        double h = 0;
        for (int64_t n = 0; n <= i[1]; ++n)
          h = -2 * h + X(i[0], n);
        return h;
      });
    }
  for (int64_t K : {1, 2, 3, 20}) {
    Launch launch("control.tile", "delayed");
    Tensor &X = launch.in("X", {K, 33});
    Tensor &Y = launch.out("Y", {K, 33});
    launch.run();
    expectExact(Y, [&](Index i) { return i[0] ? X(i[0] - 1, i[1]) : 0; });
  }
  Launch launch("control.tile", "read_back");
  Tensor &X = launch.in("X", {77}, row, integers());
  Tensor &Y = launch.inout("Y", {77});
  Tensor &D = launch.out("D", {77});
  launch.run();
  expectExact(Y, [&](Index i) { return X(i[0]) + 1; });
  expectExact(D, [](Index) { return 1.0; });
}

TEST_CASE("loops: nested", "[control]") {
  for (Shape shape :
       {Shape{3, 50, 33}, Shape{0, 5, 7}, Shape{4, 0, 7}, Shape{1, 1, 1}})
    for (int64_t b : {1, 16, 64}) {
      Launch launch("control.tile", "nested", {}, {{"b", b}, {"c", 8}});
      Tensor &X = launch.in("X", shape, row, integers());
      Tensor &Y = launch.out("Y", {shape[2]});
      launch.run();
      expectExact(Y, [&](Index i) {
        double sum = 0;
        for (int64_t a = 0; a < shape[0]; ++a)
          for (int64_t b = 0; b < shape[1]; ++b)
            sum += X(a, b, i[0]) * double(a + 1);
        return sum;
      });
    }
  Launch launch("control.tile", "two_in_one", {}, {{"a", 8}});
  Tensor &X = launch.in("X", {33, 10}, Layout::Transposed, integers());
  Tensor &Y = launch.out("Y", {1});
  launch.run();
  expectExact(Y, [&](Index) {
    double sum = 0;
    for (int64_t a = 0; a < 33; ++a)
      for (int64_t b = 0; b < 10; ++b)
        sum += X(a, b) * double(b + 1);
    return sum;
  });
}

TEST_CASE("loops: extents that are expressions", "[control]") {
  for (int64_t N : {0, 1, 33}) {
    Launch launch("control.tile", "triangle");
    Tensor &X = launch.in("X", {N, N}, Layout::Padded, integers());
    Tensor &Y = launch.out("Y", {N});
    launch.run();
    expectExact(Y, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k <= i[0]; ++k)
        sum += X(i[0], k);
      return sum;
    });
  }
  for (int64_t limit : {0, 1, 16, 17, 77}) {
    Launch launch("control.tile", "tiled_expression");
    launch.scalarInt("limit", limit);
    Tensor &X = launch.in("X", {77}, row, integers());
    Tensor &Y = launch.out("Y", {1});
    launch.run();
    expectExact(Y, [&](Index) {
      double sum = 0;
      for (int64_t k = 0; k < limit; ++k)
        sum += X(k);
      return sum;
    });
  }
  for (int64_t times : {-3, 0, 1, 5}) {
    Launch launch("control.tile", "repeated");
    launch.scalarInt("times", times);
    Tensor &X = launch.in("X", {77}, row, integers());
    Tensor &Y = launch.out("Y", {77});
    launch.run();
    expectExact(Y, [&](Index i) {
      double y = X(i[0]);
      for (int64_t t = 0; t < times; ++t)
        y = y * 2 + double(t);
      return y;
    });
  }
}

TEST_CASE("branches: carried scalars", "[control]") {
  Launch launch("control.tile", "collatz");
  launch.scalarInt("limit", 120);
  Tensor &X = launch.in("X", {77}, row, integers(1, 1000));
  X.set({0}, 27); // 111 steps.
  X.set({1}, 871);
  X.set({2}, 1);
  Tensor &steps = launch.out("steps", {77});
  Tensor &done = launch.out("done", {77});
  launch.run();
  auto run = [&](Index i) {
    int64_t x = int64_t(X(i[0])), count = 0;
    for (; x != 1 && count < 120; ++count)
      x = x % 2 ? 3 * x + 1 : x / 2;
    return std::pair(count, x == 1);
  };
  expectExact(steps, [&](Index i) { return double(run(i).first); });
  expectExact(done, [&](Index i) { return double(run(i).second); });
  CHECK(steps.result(0) == 111);
  CHECK(done.result(1) == 0);
}

TEST_CASE("branches: carried tiles", "[control]") {
  for (int64_t mode : {0, 1, 2, 50}) {
    Launch launch("control.tile", "branches", {}, {{"m", 8}});
    launch.scalarInt("mode", mode);
    Tensor &X = launch.in("X", {20, 33}, row, integers());
    Tensor &Y = launch.out("Y", {20, 33});
    Tensor &seen = launch.out("seen", {20});
    launch.run();
    expectExact(Y, [&](Index i) {
      double x = X(i[0], i[1]);
      return mode == 0 ? 2 * x + 1 : mode == 1 ? 3 * x - 5 : x;
    });
    expectExact(seen, [&](Index) {
      return mode == 0 ? 0.0 : mode == 1 ? 1 : mode > 10 ? 3 : 2;
    });
  }
  for (bool on : {false, true}) {
    Launch launch("control.tile", "store_in_branch");
    launch.scalarInt("on", on);
    Tensor &X = launch.in("X", {77});
    Tensor &Y = launch.inout("Y", {77});
    launch.run();
    expectExact(Y, [&](Index i) { return on ? X(i[0]) : Y(i[0]); });

    Launch indirect("control.tile", "indirect");
    indirect.scalarInt("on", on);
    Tensor &I = indirect.in("I", {17}, row, integers(0, 20));
    Tensor &Z = indirect.inout("Y", {20});
    indirect.run();
    expectExact(Z, [&](Index i) {
      double z = Z(i[0]);
      for (int64_t n = 0; n < 17; ++n)
        if (on && I(n) == double(i[0]))
          z = double(n + 1);
      return z;
    });
  }
  for (int64_t n : {1, 5, 16}) {
    Launch launch("control.tile", "branch_on_position", {}, {{"n", n}});
    Tensor &X = launch.in("X", {77});
    Tensor &Y = launch.out("Y", {77});
    launch.run();
    expectExact(
        Y, [&](Index i) { return i[0] / n * n % 2 == 0 ? X(i[0]) : -X(i[0]); });
  }
}

TEST_CASE("compile-time parameters", "[control]") {
  for (bool square : {false, true})
    for (int64_t times : {0, 1, 4})
      for (const char *dtype : {"f32", "bf16"})
        for (const char *f : {"scaled", "shifted", "relu"}) {
          Launch launch("control.tile", "compile_time",
                        {{"square", square ? "true" : "false"},
                         {"times", std::to_string(times)},
                         {"T", dtype},
                         {"f", f}});
          Tensor &X = launch.in("X", {33}, row, integers());
          Tensor &Y = launch.out("Y", {33});
          launch.run();
          expectExact(Y, [&](Index i) {
            double x = X(i[0]);
            x = (square ? x * x : x) + double(times);
            if (dtype[0] == 'b')
              x = -x;
            return f[1] == 'c' ? 3 * x : f[1] == 'h' ? x + 7 : std::max(x, 0.0);
          });
        }
  Launch launch("control.tile", "functions");
  Tensor &X = launch.in("X", {77}, row, integers());
  Tensor &a = launch.out("a", {77});
  Tensor &b = launch.out("b", {77});
  Tensor &c = launch.out("c", {77});
  launch.run();
  expectExact(a, [&](Index i) { return X(i[0]) + 14 + 9 * X(i[0]); });
  expectExact(b, [&](Index i) { return std::clamp(X(i[0]), -1.0, 1.0); });
  expectExact(c, [&](Index i) {
    double x = X(i[0]);
    return x + 10 * x * x + 100 * x * x * x;
  });
}

TEST_CASE("schedules: the nearest one wins", "[control]") {
  struct Case {
    const char *kernel;
    ScheduleArgs given;
    int64_t tile;
  };
  for (const Case &c :
       {Case{"own_schedule", {}, 10}, Case{"own_schedule", {{"n", 4}}, 4},
        Case{"target_schedule", {}, 20}, Case{"target_schedule", {{"n", 4}}, 4},
        Case{"fixed_size", {}, 7}}) {
    Launch launch("control.tile", c.kernel, {}, c.given);
    Tensor &X = launch.in("X", {77});
    Tensor &Y = launch.out("Y", {77});
    launch.run();
    expectExact(Y, [&](Index i) { return X(i[0]); });
    CHECK(launch.numPrograms == (77 + c.tile - 1) / c.tile);
  }
}

TEST_CASE("requirements are checked at launch", "[control]") {
  struct Case {
    int64_t N, k;
    const char *error; // Null: none.
  };
  for (Case c : {Case{8, 3, nullptr}, Case{7, 3, "N % 4 == 0"},
                 Case{8, 8, "k > 0 && k < N"}, Case{8, 0, "k > 0 && k < N"}}) {
    Launch launch("control.tile", "required");
    launch.scalarInt("k", c.k);
    Tensor &X = launch.in("X", {c.N}, row, integers());
    Tensor &Y = launch.out("Y", {c.N});
    if (c.error) {
      CHECK_THAT(launch.bindErrors(), Catch::Contains(c.error));
      continue;
    }
    launch.run();
    expectExact(Y, [&](Index i) { return X(i[0]) * double(c.k); });
  }
}

TEST_CASE("loops visit the tiles in which the condition holds", "[control]") {
  struct Range {
    int64_t low, high;
  };
  for (Range r : {Range{0, 100}, Range{0, 1}, Range{15, 17}, Range{16, 32},
                  Range{76, 77}, Range{50, 20}, Range{77, 200}, Range{-10, 0}})
    for (int64_t N : {0, 77}) {
      Launch launch("control.tile", "visited");
      launch.scalarInt("low", r.low);
      launch.scalarInt("high", r.high);
      Tensor &X = launch.in("X", {N}, row, integers());
      Tensor &Y = launch.out("Y", {1});
      Tensor &tiles = launch.out("tiles", {1});
      launch.run();
      double sum = 0, count = 0;
      for (int64_t t = 0; t < N; t += 16) {
        bool any = false;
        for (int64_t n = t; n < std::min(t + 16, N); ++n)
          if (n >= r.low && n < r.high)
            any = true, sum += X(n);
        count += any;
      }
      expectExact(Y, [&](Index) { return sum; });
      expectExact(tiles, [&](Index) { return count; });
    }
  Launch launch("control.tile", "visited_by_data");
  Tensor &X = launch.in("X", {200}, row, integers(-50, 5));
  Tensor &Y = launch.out("Y", {1});
  Tensor &tiles = launch.out("tiles", {1});
  launch.run();
  double total = 0, count = 0;
  for (int64_t t = 0; t < 200; t += 16) {
    bool any = false;
    double sum = 0;
    for (int64_t n = t; n < std::min<int64_t>(t + 16, 200); ++n)
      any |= X(n) > 3, sum += X(n);
    if (any)
      total += sum, ++count;
  }
  expectExact(Y, [&](Index) { return total; });
  expectExact(tiles, [&](Index) { return count; });
}

TEST_CASE("grids whose size is known when compiled", "[control]") {
  Launch one("control.tile", "one_program");
  Tensor &X = one.in("X", {5, 8});
  Tensor &Y = one.out("Y", {5, 8});
  one.run();
  CHECK(one.numPrograms == 1);
  expectClose(Y, [&](Index i) { return X(i[0], i[1]) + 1; });

  for (int64_t h : {0, 1, 2, 7, 20}) {
    Launch launch("control.tile", "one_along");
    Tensor &X = launch.in("X", {1, 10, 40}, Layout::RowMajor, integers());
    Tensor &Y = launch.inout("Y", {1, 10, 40}, Layout::RowMajor, integers());
    launch.scalarInt("h", h);
    launch.run();
    // Three tiles of N.
    CHECK(launch.numPrograms == h / 2 * 3);
    expectExact(Y, [&](Index i) {
      return i[1] < h / 2 ? X(0, i[1], i[2]) + 1 : Y(0, i[1], i[2]);
    });
  }

  for (int64_t M : {1, 2, 64, 65}) {
    Launch launch("control.tile", "whole_and_tiled");
    Tensor &X = launch.in("X", {M, M}, Layout::RowMajor, integers());
    Tensor &Y = launch.out("Y", {M});
    launch.run();
    expectExact(Y, [&](Index i) {
      double sum = 0;
      for (int64_t m = 0; m < M; ++m)
        sum += X(m, i[0]);
      return sum;
    });
  }
}

TEST_CASE("assertions are reported with their text", "[control]") {
  for (bool fails : {false, true}) {
    Launch launch("control.tile", "checks");
    Tensor &X = launch.in("X", {77});
    if (fails)
      X.set({70}, 1000);
    Tensor &Y = launch.out("Y", {77});
    std::string report = launch.runReporting();
    if (fails)
      CHECK_THAT(report, Catch::Contains("too large") &&
                             Catch::Contains("control.tile"));
    else
      CHECK(report.empty());
    expectExact(Y, [&](Index i) { return X(i[0]); });
  }
}
