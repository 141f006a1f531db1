//===- TransposeTest.cpp - Axes stored in another order ---------*- C++ -*-===//
//
// std/transpose.tile and permutations of three and four axes, with every
// combination of memory layouts.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

TEST_CASE("transpose", "[transpose]") {
  auto transpose = [](std::string dtype, int64_t M, int64_t N, Layout x,
                      Layout y, ScheduleArgs schedule) {
    Launch launch("std/transpose.tile", "transpose", {{"T", dtype}}, schedule);
    Tensor &X = launch.in("X", {M, N}, x);
    Tensor &Y = launch.out("Y", {N, M}, y);
    launch.run();
    expectExact(Y, [&](Index i) { return X(i[1], i[0]); });
  };
  for (int64_t M : {0, 1, 7, 77, 1000})
    for (int64_t N : {0, 1, 77, 1025})
      transpose("f32", M, N, row, row, {});
  for (DType dtype : allDTypes())
    transpose(dtypeName(dtype).str(), 77, 66, row, row, {});
  for (Layout x : inputLayouts())
    for (Layout y : outputLayouts())
      transpose("f32", 77, 131, x, y, {});
  for (int64_t m : {1, 3, 64})
    for (int64_t n : {1, 16, 200})
      transpose("bf16", 77, 131, row, row, {{"m", m}, {"n", n}});
}

TEST_CASE("permutations of three axes", "[transpose]") {
  struct Permutation {
    const char *kernel;
    int order[3]; // Dimension d of Y is dimension order[d] of X.
  };
  for (Permutation p :
       {Permutation{"swap_last", {0, 2, 1}}, Permutation{"rotate", {2, 0, 1}},
        Permutation{"reverse_axes", {2, 1, 0}}})
    for (Layout layout :
         {row, Layout::Transposed, Layout::Reversed, Layout::Gaps2}) {
      Shape shape = {5, 33, 70};
      Launch launch("transpose.tile", p.kernel);
      Tensor &X = launch.in("X", shape, layout);
      Tensor &Y =
          launch.out("Y", {shape[size_t(p.order[0])], shape[size_t(p.order[1])],
                           shape[size_t(p.order[2])]});
      launch.run();
      expectExact(Y, [&](Index i) {
        int64_t x[3];
        for (int d = 0; d < 3; ++d)
          x[p.order[d]] = i[size_t(d)];
        return X(x[0], x[1], x[2]);
      });
    }
}

TEST_CASE("permutations of four axes, and both ways at once", "[transpose]") {
  for (int64_t tile : {1, 5, 64}) {
    Launch launch("transpose.tile", "permute4", {},
                  {{"b", tile}, {"c", 4}, {"d", tile}});
    Tensor &X = launch.in("X", {2, 9, 7, 33});
    Tensor &Y = launch.out("Y", {7, 2, 33, 9});
    launch.run();
    expectExact(Y, [&](Index i) { return X(i[1], i[3], i[0], i[2]); });
  }
  // Tiles of different sizes along the diagonal.
  for (int64_t m : {16, 50}) {
    Launch launch("transpose.tile", "symmetric", {}, {{"m", m}, {"n", 20}});
    Tensor &X = launch.in("X", {77, 77}, row, integers());
    Tensor &Y = launch.out("Y", {77, 77});
    launch.run();
    expectExact(Y, [&](Index i) { return X(i[0], i[1]) + X(i[1], i[0]); });
  }
  Launch wrong("transpose.tile", "symmetric");
  wrong.in("X", {3, 4});
  wrong.out("Y", {3, 4});
  CHECK_THAT(wrong.bindErrors(), Catch::Contains("M == N"));
}
