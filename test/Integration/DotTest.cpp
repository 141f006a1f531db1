//===- DotTest.cpp - All forms of dot ---------------------------*- C++ -*-===//
//
// Transposed operands, batch axes, several contracted axes, extents below any
// hardware tile, precisions, mixed types, and products without a grid.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/NarrowFloat.h"
#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

TEST_CASE("dot: both operands transposed by their subscripts", "[dot]") {
  for (const char *dtype : {"f32", "bf16"})
    for (Layout a : {row, Layout::Transposed})
      for (Layout b : {row, Layout::Transposed, Layout::Reversed}) {
        Launch launch("dot.tile", "both_transposed", {{"T", dtype}});
        Tensor &A = launch.in("A", {77, 70}, a, integers());
        Tensor &B = launch.in("B", {33, 77}, b, integers());
        Tensor &C = launch.out("C", {70, 33});
        launch.run();
        expectExact(C, [&](Index i) {
          double sum = 0;
          for (int64_t k = 0; k < 77; ++k)
            sum += A(k, i[0]) * B(i[1], k);
          return sum;
        });
      }
  for (int64_t m : {4, 64}) {
    Launch launch("dot.tile", "result_transposed", {}, {{"m", m}});
    Tensor &A = launch.in("A", {66, 20}, row, integers());
    Tensor &B = launch.in("B", {20, 131}, row, integers());
    Tensor &C = launch.out("C", {131, 66});
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < 20; ++k)
        sum += A(i[1], k) * B(k, i[0]);
      return sum;
    });
  }
}

TEST_CASE("dot: whole axes and no grid", "[dot]") {
  for (const char *kernel : {"whole_k", "untiled"})
    for (const char *dtype : {"f32", "bf16", "f8e4m3"})
      for (auto [M, N, K] : std::vector<std::array<int64_t, 3>>{
               {70, 33, 77}, {1, 1, 8}, {3, 131, 0}, {8, 8, 200}}) {
        Launch launch("dot.tile", kernel, {{"T", dtype}});
        int64_t extent = K;
        Tensor &A = launch.in("A", {M, K}, row, integers());
        Tensor &B = launch.in("B", {K, N}, row, integers());
        Tensor &C = launch.out("C", {M, N});
        launch.run();
        expectExact(C, [&](Index i) {
          double sum = 0;
          for (int64_t k = 0; k < extent; ++k)
            sum += A(i[0], k) * B(k, i[1]);
          return sum;
        });
      }
}

/// One for each way of multiplying.
static constexpr const char *narrowTypes[] = {"f32", "bf16", "f16", "f8e4m3"};

TEST_CASE("dot: several contracted axes, and batches", "[dot]") {
  // Together below an instruction, some of them, and too many for one tile.
  for (const char *dtype : narrowTypes)
    for (auto [J, K] : std::vector<std::array<int64_t, 2>>{
             {5, 7}, {1, 3}, {4, 16}, {33, 70}}) {
      Launch launch("dot.tile", "two_contracted", {{"T", dtype}});
      Tensor &A = launch.in("A", {10, J, K}, row, integers(-2, 3));
      Tensor &B = launch.in("B", {K, 66, J}, row, integers(-2, 3));
      Tensor &C = launch.out("C", {10, 66});
      launch.run();
      std::array<int64_t, 2> extents = {J, K};
      expectExact(C, [&](Index i) {
        double sum = 0;
        for (int64_t j = 0; j < extents[0]; ++j)
          for (int64_t k = 0; k < extents[1]; ++k)
            sum += A(i[0], j, k) * B(k, i[1], j);
        return sum;
      });
    }
  for (const char *dtype : narrowTypes) {
    Launch launch("dot.tile", "tiled_contracted", {{"T", dtype}});
    Tensor &A = launch.in("A", {3, 40, 70}, row, integers(-2, 3));
    Tensor &B = launch.in("B", {70, 3, 66}, row, integers(-2, 3));
    Tensor &C = launch.out("C", {40, 66});
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t j = 0; j < 3; ++j)
        for (int64_t k = 0; k < 70; ++k)
          sum += A(j, i[0], k) * B(k, j, i[1]);
      return sum;
    });
  }
  {
    Launch launch("dot.tile", "batch_axes", {}, {{"m", 3}, {"n", 8}});
    Tensor &A = launch.in("A", {10, 3, 6, 2}, row, integers());
    Tensor &X = launch.in("X", {2, 6, 3, 20}, row, integers());
    Tensor &C = launch.out("C", {3, 2, 10, 20});
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < 6; ++k)
        sum += A(i[2], i[0], k, i[1]) * X(i[1], k, i[0], i[3]);
      return sum;
    });
  }
  {
    Launch launch("dot.tile", "untiled_batch");
    Tensor &A = launch.in("A", {3, 10, 33}, row, integers());
    Tensor &X = launch.in("X", {3, 20, 33}, Layout::Transposed, integers());
    Tensor &C = launch.out("C", {3, 10, 20});
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < 33; ++k)
        sum += A(i[0], i[1], k) * X(i[0], i[2], k);
      return sum;
    });
  }
}

TEST_CASE("dot: several free axes, and products in one tile", "[dot]") {
  for (const char *dtype : narrowTypes) {
    Launch launch("dot.tile", "free_axes", {{"T", dtype}});
    Tensor &A = launch.in("A", {3, 37, 50}, row, integers());
    Tensor &B = launch.in("B", {50, 2, 20}, row, integers());
    Tensor &C = launch.out("C", {3, 37, 2, 20});
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < 50; ++k)
        sum += A(i[0], i[1], k) * B(k, i[2], i[3]);
      return sum;
    });
  }
  for (const char *dtype : narrowTypes)
    for (Layout layout : {row, Layout::Transposed}) {
      Launch launch("dot.tile", "batch_tile", {{"T", dtype}});
      Tensor &A = launch.in("A", {7, 35, 50}, layout, integers());
      Tensor &X = launch.in("X", {7, 50, 40}, layout, integers());
      Tensor &C = launch.out("C", {7, 35, 40});
      launch.run();
      expectExact(C, [&](Index i) {
        double sum = 0;
        for (int64_t k = 0; k < 50; ++k)
          sum += A(i[0], i[1], k) * X(i[0], k, i[2]);
        return sum;
      });
    }
  for (const char *dtype : {"f32", "bf16", "f16"}) {
    Launch launch("dot.tile", "grouped_chain", {{"T", dtype}});
    Tensor &Q = launch.in("Q", {3, 21, 12}, row, integers(-1, 2));
    Tensor &K = launch.in("K", {45, 12}, row, integers(-1, 2));
    Tensor &V = launch.in("V", {45, 24}, row, integers());
    Tensor &O = launch.out("O", {3, 21, 24});
    launch.run();
    expectExact(O, [&](Index i) {
      double sum = 0;
      for (int64_t n = 0; n < 45; ++n) {
        double s = 0;
        for (int64_t d = 0; d < 12; ++d)
          s += Q(i[0], i[1], d) * K(n, d);
        sum += s * V(n, i[2]);
      }
      return sum;
    });
  }
}

TEST_CASE("dot: vectors", "[dot]") {
  for (int64_t K : {0, 1, 7, 1000})
    for (int64_t M : {1, 77}) {
      Launch launch("dot.tile", "matrix_vector");
      Tensor &A = launch.in("A", {M, K}, Layout::Padded, integers());
      Tensor &x = launch.in("x", {K}, Layout::Gaps2, integers());
      Tensor &y = launch.out("y", {M});
      launch.run();
      expectExact(y, [&](Index i) {
        double sum = 0;
        for (int64_t k = 0; k < K; ++k)
          sum += A(i[0], k) * x(k);
        return sum;
      });
    }
  for (int64_t K : extents) {
    Launch launch("dot.tile", "inner_product");
    Tensor &x = launch.in("x", {K}, row, integers());
    Tensor &y = launch.in("y", {K}, Layout::Reversed, integers());
    Tensor &z = launch.out("z", {1});
    launch.run();
    expectExact(z, [&](Index) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += x(k) * y(k);
      return sum;
    });
  }
}

TEST_CASE("dot: tf32 rounds operands, ieee does not", "[dot]") {
  {
    Launch launch("dot.tile", "tf32_product");
    Tensor &A = launch.in("A", {20, 40});
    Tensor &B = launch.in("B", {40, 30});
    Tensor &C = launch.out("C", {20, 30});
    Tensor &C3 = launch.out("C3", {20, 30});
    launch.run();
    expectClose(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < 40; ++k)
        sum += double(doubleToTF32(A(i[0], k))) * doubleToTF32(B(k, i[1]));
      return sum;
    });
    expectClose(C3, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < 40; ++k)
        sum += A(i[0], k) * B(k, i[1]);
      return sum;
    });
  }
  {
    // Products of 1 + 2^-7 and 1 + 2^-20 keep all bits only without tf32.
    Launch launch("dot.tile", "upcast");
    Tensor &A = launch.in("A", {5, 3});
    Tensor &B = launch.in("B", {3, 4});
    A.fill(1 + 0x1p-7);
    B.fill(1 + 0x1p-15);
    Tensor &C = launch.out("C", {5, 4});
    launch.run();
    expectExact(C, [&](Index) { return 3 * (1 + 0x1p-7) * (1 + 0x1p-15); });
  }
}

TEST_CASE("dot: two products in one loop", "[dot]") {
  for (int64_t k : {1, 16, 100})
    for (int64_t K : {0, 1, 77}) {
      Launch launch("dot.tile", "two_products", {}, {{"k", k}});
      Tensor &A = launch.in("A", {9, K}, row, integers());
      Tensor &B = launch.in("B", {K, 20}, row, integers());
      Tensor &C = launch.in("C", {9, K}, row, integers());
      Tensor &D = launch.in("D", {K, 20}, row, integers());
      Tensor &Y = launch.out("Y", {9, 20});
      launch.run();
      expectExact(Y, [&](Index i) {
        double sum = 1;
        for (int64_t k = 0; k < K; ++k)
          sum += A(i[0], k) * B(k, i[1]) - C(i[0], k) * D(k, i[1]);
        return sum;
      });
    }
}

TEST_CASE("dot: extents below 16", "[dot]") {
  for (int64_t R : {1, 4, 8}) {
    Launch launch("dot.tile", "low_rank");
    Tensor &X = launch.in("X", {40, 50}, row, integers(-2, 3));
    Tensor &A = launch.in("A", {50, R}, row, integers(-1, 2));
    Tensor &B = launch.in("B", {R, 30}, row, integers());
    Tensor &Y = launch.out("Y", {40, 30});
    launch.run();
    expectExact(Y, [&](Index i) {
      double sum = 0;
      for (int64_t r = 0; r < R; ++r) {
        double h = 0;
        for (int64_t k = 0; k < 50; ++k)
          h += X(i[0], k) * A(k, r);
        sum += h * B(r, i[1]);
      }
      return sum;
    });
  }
}

TEST_CASE("dot: mixed types", "[dot]") {
  struct Types {
    const char *S, *T, *R;
  };
  for (Types types : {Types{"bf16", "f32", "f32"}, Types{"f16", "bf16", "f32"},
                      Types{"f8e4m3", "f8e5m2", "f32"},
                      Types{"f32", "f64", "f64"}, Types{"i8", "u8", "i32"},
                      Types{"u8", "i8", "i32"}, Types{"i32", "i32", "i32"},
                      Types{"i64", "i32", "i64"}, Types{"i16", "i8", "i32"}}) {
    Launch launch("dot.tile", "mixed",
                  {{"S", types.S}, {"T", types.T}, {"R", types.R}});
    bool isUnsigned = types.S[0] == 'u' || types.T[0] == 'u';
    FillOptions fill = isUnsigned ? integers(0, 100) : integers();
    Tensor &A = launch.in("A", {18, 33}, row, fill);
    Tensor &B = launch.in("B", {33, 20}, row, fill);
    Tensor &C = launch.out("C", {18, 20});
    // The extremes of each type.
    if (isUnsigned) {
      A.set({0, 0}, types.S[0] == 'u' ? 255 : -128);
      B.set({0, 0}, types.T[0] == 'u' ? 255 : -128);
    }
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < 33; ++k)
        sum += A(i[0], k) * B(k, i[1]);
      return sum;
    });
  }
}

TEST_CASE("dot: operands computed in the loop", "[dot]") {
  for (int64_t K : {1, 129}) {
    Launch launch("dot.tile", "split_k", {}, {{"k", 32}});
    Tensor &A = launch.in("A", {10, K}, row, integers());
    Tensor &B = launch.in("B", {K, 20}, row, integers());
    Tensor &C = launch.out("C", {10, 20});
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += A(i[0], k) * B(k, i[1]);
      return sum;
    });
  }
}
