//===- AccessTest.cpp - Reads and writes at computed positions --*- C++ -*-===//
//
// Gathers, guarded reads, neighbors, scatters and atomic sums. Out of range
// reads give 0, out of range writes are dropped, both are reported, and the
// guards of the arrays show that neither touches memory.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

TEST_CASE("gather rows", "[access]") {
  struct Types {
    const char *T, *I;
  };
  for (Types t : {Types{"f32", "i64"}, Types{"bf16", "i32"},
                  Types{"f8e4m3", "u8"}, Types{"i16", "i16"}})
    for (int64_t M : {0, 1, 77})
      for (int64_t D : {1, 33}) {
        Launch launch("access.tile", "gather_rows", {{"T", t.T}, {"I", t.I}});
        Tensor &table = launch.in("table", {9, D}, Layout::Transposed);
        Tensor &rows = launch.in("row", {M}, Layout::Gaps2, integers(0, 9));
        Tensor &Y = launch.out("Y", {M, D});
        launch.run();
        expectExact(Y,
                    [&](Index i) { return table(int64_t(rows(i[0])), i[1]); });
      }
  {
    // Positions from 128 up, as u8.
    Launch launch("access.tile", "gather_rows", {{"T", "f32"}, {"I", "u8"}});
    Tensor &table = launch.in("table", {256, 3});
    Tensor &rows = launch.in("row", {256});
    rows.setAll([](Index i) { return double(255 - i[0]); });
    Tensor &Y = launch.out("Y", {256, 3});
    launch.run();
    expectExact(Y, [&](Index i) { return table(255 - i[0], i[1]); });
  }
  for (int64_t M : {1, 20}) {
    Launch launch("access.tile", "gather_untiled");
    Tensor &table = launch.in("table", {9, 12});
    Tensor &rows = launch.in("row", {M}, row, integers(0, 9));
    Tensor &Y = launch.out("Y", {M, 12});
    launch.run();
    expectExact(Y, [&](Index i) { return table(int64_t(rows(i[0])), i[1]); });
  }
}

TEST_CASE("gather elements", "[access]") {
  for (Layout x : inputLayouts()) {
    Launch launch("access.tile", "gather_elements", {}, {{"m", 5}, {"n", 16}});
    Tensor &X = launch.in("X", {12, 8}, x);
    Tensor &i = launch.in("i", {33, 70}, Layout::Reversed, integers(0, 12));
    Tensor &j = launch.in("j", {70}, row, integers(-1, 7));
    Tensor &Y = launch.out("Y", {33, 70});
    launch.run();
    expectExact(Y, [&](Index k) {
      return X(int64_t(i(k[0], k[1])), int64_t(j(k[1])) + 1);
    });
  }
  Launch launch("access.tile", "gather_twice");
  Tensor &X = launch.in("X", {12}, Layout::Gaps3);
  Tensor &i = launch.in("i", {20}, row, integers(0, 12));
  Tensor &j = launch.in("j", {77}, row, integers(0, 20));
  Tensor &Y = launch.out("Y", {77});
  launch.run();
  expectExact(Y, [&](Index k) { return X(int64_t(i(int64_t(j(k[0]))))); });
}

TEST_CASE("reads under where are made only where it holds", "[access]") {
  for (int64_t N : {0, 1, 2, 77, 1025})
    for (int64_t n : {1, 64}) {
      if (n == 1 && N > 100)
        continue;
      Launch launch("access.tile", "stencil", {}, {{"n", n}});
      Tensor &X = launch.in("X", {N}, row, integers());
      Tensor &Y = launch.out("Y", {N});
      launch.run();
      auto at = [&](int64_t k) { return k >= 0 && k < N ? X(k) : 0; };
      expectExact(Y, [&](Index i) {
        return at(i[0] - 1) - 2 * at(i[0]) + at(i[0] + 1);
      });
    }
  Launch launch("access.tile", "guarded");
  Tensor &X = launch.in("X", {10}, row, integers());
  Tensor &i = launch.in("i", {200}, row, integers(-10, 40));
  i.setInt({0}, INT64_MIN);
  i.setInt({1}, INT64_MAX);
  i.setInt({2}, int64_t(1) << 61); // Times 4 bytes it wraps to 0.
  Tensor &Y = launch.out("Y", {200});
  launch.run();
  expectExact(Y, [&](Index n) {
    double k = i(n[0]);
    return k < 0    ? -1
           : k < 10 ? X(int64_t(k))
           : k < 20 ? X(int64_t(k) - 10)
                    : -2;
  });
}

TEST_CASE("reads out of range give 0 and a report", "[access]") {
  for (bool checked : {true, false}) {
    Launch launch("access.tile", "stencil_unguarded");
    launch.checked = checked;
    Tensor &X = launch.in("X", {77}, row, integers());
    Tensor &Y = launch.out("Y", {77});
    std::string report = launch.runReporting();
    if (checked)
      CHECK_THAT(report, Catch::Contains("out of range") &&
                             Catch::Contains("-1") && Catch::Contains("77"));
    else
      CHECK(report.empty());
    expectExact(Y, [&](Index i) {
      return (i[0] > 0 ? X(i[0] - 1) : 0) + (i[0] < 76 ? X(i[0] + 1) : 0);
    });

    Launch gather("access.tile", "gather_rows");
    gather.checked = checked;
    Tensor &table = gather.in("table", {9, 33});
    Tensor &rows = gather.in("row", {77}, row, integers(-5, 15));
    rows.setInt({0}, INT64_MAX);
    rows.setInt({1}, INT64_MIN);
    Tensor &Z = gather.out("Y", {77, 33});
    CHECK(gather.runReporting().empty() == !checked);
    expectExact(Z, [&](Index i) {
      double r = rows(i[0]);
      return r >= 0 && r < 9 ? table(int64_t(r), i[1]) : 0;
    });

    for (int64_t M : {20, 77}) {
      Launch prefix("access.tile", "prefix");
      prefix.checked = checked;
      Tensor &P = prefix.in("X", {33});
      Tensor &Q = prefix.out("Y", {M});
      CHECK(prefix.runReporting().empty() == (!checked || M <= 33));
      expectExact(Q, [&](Index i) { return i[0] < 33 ? P(i[0]) : 0; });
    }
  }
}

TEST_CASE("shifted and diagonal reads", "[access]") {
  for (int64_t s : {1, 76, -1, -200})
    for (int64_t N : {1, 77}) {
      Launch launch("access.tile", "roll");
      launch.scalarInt("s", s);
      Tensor &X = launch.in("X", {N}, row, integers());
      Tensor &Y = launch.out("Y", {N});
      launch.run();
      expectExact(
          Y, [&](Index i) { return X(i[0]) + X(((i[0] + s) % N + N) % N); });
    }
  for (Layout layout : inputLayouts()) {
    Launch launch("access.tile", "diagonal");
    Tensor &A = launch.in("A", {77, 77}, layout);
    Tensor &Y = launch.out("Y", {77});
    launch.run();
    expectExact(Y, [&](Index i) { return A(i[0], i[0]); });
  }
  for (int64_t i : {8, 50}) {
    Launch launch("access.tile", "pairwise", {}, {{"i", i}, {"j", 12}});
    Tensor &X = launch.in("X", {77, 20}, row, integers());
    Tensor &Y = launch.out("Y", {77, 77});
    launch.run();
    expectExact(Y, [&](Index k) {
      double sum = 0;
      for (int64_t d = 0; d < 20; ++d)
        sum += X(k[0], d) * X(k[1], d);
      return sum;
    });
  }
}

TEST_CASE("stores at computed positions", "[access]") {
  for (int64_t N : {0, 1, 77}) {
    Launch launch("access.tile", "reverse");
    Tensor &X = launch.in("X", {N});
    Tensor &Y = launch.out("Y", {N}, Layout::Gaps2);
    launch.run();
    expectExact(Y, [&](Index i) { return X(N - 1 - i[0]); });
  }
  for (int64_t s : {0, 3, -3, 100})
    for (bool checked : {true, false}) {
      Launch launch("access.tile", "shifted_store");
      launch.checked = checked;
      launch.scalarInt("s", s);
      Tensor &X = launch.in("X", {20});
      Tensor &Y = launch.inout("Y", {20});
      CHECK(launch.runReporting().empty() == (!checked || s == 0));
      expectExact(Y, [&](Index i) {
        int64_t from = i[0] - s;
        return from >= 0 && from < 20 ? X(from) : Y(i[0]);
      });
    }
  Launch launch("access.tile", "constants");
  Tensor &X = launch.in("X", {33, 3, 20}, Layout::Padded, integers());
  Tensor &Y = launch.out("Y", {2, 33, 20});
  launch.run();
  expectExact(Y, [&](Index i) {
    return i[0] == 0 ? X(i[1], 2, i[2]) - X(i[1], 0, i[2]) : X(i[1], 1, i[2]);
  });
}

//===----------------------------------------------------------------------===//
// Atomic sums
//===----------------------------------------------------------------------===//

TEST_CASE("histogram", "[access]") {
  struct Case {
    int64_t N, B;
    const char *kernel;
  };
  std::vector<Case> cases;
  for (int64_t N : extents)
    for (int64_t B : {1, 7, 1000})
      cases.push_back({N, B, "histogram"});
  for (int64_t N : {0, 1, 77})
    cases.push_back({N, 7, "histogram_untiled"});
  for (auto [N, B, kernel] : cases) {
    Launch launch("access.tile", kernel);
    launch.threads = 4;
    Tensor &bin = launch.in("bin", {N}, Layout::Gaps2, integers(0, B));
    Tensor &count = launch.inout("count", {B});
    count.fill(3);
    launch.run();
    std::vector<double> expected(size_t(B), 3.0);
    for (int64_t n = 0; n < bin.numElements(); ++n)
      expected[size_t(bin(n))] += 1;
    expectExact(count, [&](Index i) { return expected[size_t(i[0])]; });
  }
  // Bins out of range are dropped and reported.
  Launch launch("access.tile", "histogram");
  Tensor &bin = launch.in("bin", {77}, row, integers(-5, 15));
  Tensor &count = launch.inout("count", {10});
  count.fill(0);
  CHECK_THAT(launch.runReporting(), Catch::Contains("out of range"));
  expectExact(count, [&](Index i) {
    double sum = 0;
    for (int64_t n = 0; n < 77; ++n)
      sum += bin(n) == double(i[0]);
    return sum;
  });
}

TEST_CASE("scatter-add with many programs on one row", "[access]") {
  for (const char *dtype : {"f32", "bf16", "f16"})
    for (int64_t n : {1, 5, 200})
      for (Layout y : {row, Layout::Transposed, Layout::Gaps2}) {
        Launch launch("access.tile", "scatter_add", {{"T", dtype}}, {{"n", n}});
        launch.threads = 4;
        Tensor &X = launch.in("X", {100, 6}, row, integers(-1, 2));
        Tensor &rows = launch.in("row", {100}, row, integers(0, 7));
        Tensor &Y = launch.inout("Y", {7, 6}, y, integers());
        launch.run();
        expectExact(Y, [&](Index i) {
          double sum = Y(i[0], i[1]);
          for (int64_t k = 0; k < 100; ++k)
            if (rows(k) == double(i[0]))
              sum += X(k, i[1]);
          return sum;
        });
      }
}

TEST_CASE("add: tiles, elements and blocks", "[access]") {
  for (const char *dtype : {"f32", "i32", "bf16", "f16"})
    for (int64_t m : {1, 16, 100})
      for (Layout y : {row, Layout::Gaps3, Layout::Reversed}) {
        if (y != row && m != 16)
          continue;
        Launch launch("access.tile", "column_sums", {{"T", dtype}},
                      {{"m", m}, {"n", 32}});
        launch.threads = 4;
        Tensor &X = launch.in("X", {77, 70}, row, integers(-1, 2));
        Tensor &Y = launch.inout("Y", {70}, y, integers());
        launch.run();
        expectExact(Y, [&](Index i) {
          double sum = Y(i[0]);
          for (int64_t k = 0; k < 77; ++k)
            sum += X(k, i[0]);
          return sum;
        });
      }
  for (int64_t M : {0, 1, 77}) {
    Launch launch("access.tile", "grand_total", {}, {{"m", 4}, {"n", 8}});
    launch.threads = 4;
    Tensor &X = launch.in("X", {M, 77}, row, integers(-100, 101));
    Tensor &Y = launch.inout("Y", {1}, row, integers());
    launch.run();
    expectExact(Y, [&](Index) {
      double sum = Y(0);
      for (int64_t k = 0; k < M * 77; ++k)
        sum += X(k / 77, k % 77);
      return sum;
    });
  }
  Launch launch("access.tile", "add_blocks", {}, {{"m", 7}});
  launch.threads = 4;
  Tensor &X = launch.in("X", {13, 20, 33}, Layout::Padded, integers());
  Tensor &Y = launch.inout("Y", {20, 33}, Layout::Transposed, integers());
  launch.run();
  expectExact(Y, [&](Index i) {
    double sum = Y(i[0], i[1]);
    for (int64_t p = 0; p < 13; ++p)
      sum += X(p, i[0], i[1]);
    return sum;
  });
}
