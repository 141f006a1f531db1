//===- ScanTest.cpp - Running sums ------------------------------*- C++ -*-===//
//
// Each element is compared, as scans tend to go wrong from some lane on.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

TEST_CASE("cumsum of rows and columns", "[scan]") {
  struct Types {
    const char *T, *S;
  };
  for (Types types :
       {Types{"f32", "f32"}, Types{"bf16", "f32"}, Types{"f64", "f64"},
        Types{"i32", "i32"}, Types{"i64", "i64"}, Types{"i8", "i32"},
        Types{"u8", "i32"}})
    for (int64_t N : {0, 1, 8, 96, 1025}) {
      Launch launch("scan.tile", "cumsum_rows",
                    {{"T", types.T}, {"S", types.S}});
      bool isUnsigned = types.T[0] == 'u';
      Tensor &X = launch.in("X", {9, N}, row,
                            isUnsigned ? integers(0, 256) : integers());
      if (N > 2 && types.S == llvm::StringRef("i64"))
        X.setInt({1, 2}, int64_t(1) << 40);
      if (N == 8)
        X.fill(1);
      Tensor &Y = launch.out("Y", {9, N});
      launch.run();
      expectExact(Y, [&](Index i) {
        double sum = 0;
        for (int64_t n = 0; n <= i[1]; ++n)
          sum += X(i[0], n);
        return sum;
      });
    }
  for (Layout x : inputLayouts()) {
    Layout y = x == Layout::Broadcast || x == Layout::BroadcastLast ? row : x;
    Launch launch("scan.tile", "cumsum_columns");
    Tensor &X = launch.in("X", {33, 20}, x, integers());
    Tensor &Y = launch.out("Y", {33, 20}, y);
    launch.run();
    expectExact(Y, [&](Index i) {
      double sum = 0;
      for (int64_t m = 0; m <= i[0]; ++m)
        sum += X(m, i[1]);
      return sum;
    });
  }
}

TEST_CASE("cumsum carried from tile to tile", "[scan]") {
  for (int64_t n : {1, 7, 64, 2000})
    for (int64_t N : {0, 1, 64, 77, 1025}) {
      Launch launch("scan.tile", "cumsum_carried", {}, {{"n", n}});
      Tensor &X = launch.in("X", {N}, Layout::Gaps2, integers());
      Tensor &Y = launch.out("Y", {N});
      launch.run();
      double sum = 0;
      expectExact(Y, [&](Index i) { return sum += X(i[0]); });
    }
  Launch launch("scan.tile", "count_up_to");
  Tensor &X = launch.in("X", {77}, row, integers());
  Tensor &Y = launch.out("Y", {77});
  launch.run();
  double count = 0;
  expectExact(Y, [&](Index i) { return count += X(i[0]) > 0; });
}
