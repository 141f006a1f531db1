//===- MemoryTest.cpp - Blocks of views on the cpu target -------*- C++ -*-===//
//
// Loads and stores of blocks: tails, strides of any sign, transpositions,
// predicates, empty tensors, arguments that are read and written.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

namespace {

std::string copyKernel(int unit) {
  return fill(R"(
tile.kernel @copy($X, $Y) {
  %M = tile.dim %X, 0 : !tile.view<?x?xf32>
  %N = tile.dim %X, 1 : !tile.view<?x?xf32>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (8, 32) {
    %vm = tile.valid %m to %M size 8
    %vn = tile.valid %n to %N size 32
    %x = tile.load %X[%m, %n] dims [0, 1] valid [%vm, %vn] pad zero
        : !tile.view<?x?xf32> -> tensor<8x32xf32>
    %y = arith.addf %x, %x : tensor<8x32xf32>
    tile.store %y, %Y[%m, %n] dims [0, 1] valid [%vm, %vn]
        : tensor<8x32xf32>, !tile.view<?x?xf32>
  }
  tile.return
})",
              {{"X", view("X", "?x?xf32", "in", unit)},
               {"Y", view("Y", "?x?xf32", "out", unit)}});
}

} // namespace

TEST_CASE("a copy with tails writes every element and no other", "[cpu]") {
  Kernel kernel(copyKernel(1));
  for (auto [m, n] : {std::pair(8, 32), std::pair(1, 1), std::pair(7, 31),
                      std::pair(9, 33), std::pair(40, 100), std::pair(64, 64)})
    for (unsigned threads : {1, 2, 5}) {
      Tensor<float> x({m, n}), y({m, n});
      x.randomReals(1);
      INFO(m << "x" << n);
      kernel.run({x.argument(), y.argument()}, threads);
      CHECK(y.guardsIntact());
      for (int i = 0; i < m * n; ++i)
        REQUIRE(y[i] == 2 * x[i]);
    }
}

TEST_CASE("strides may be anything", "[cpu]") {
  int unit = GENERATE(-1, 1);
  Kernel kernel(copyKernel(unit));
  constexpr int64_t m = 19, n = 70;
  Tensor<float> x({m, 3 * n}), y({m, 2 * n});
  x.randomReals(2);
  int64_t last = unit == 1 ? 1 : -2;
  // Rows from the last to the first; columns too if nothing is promised.
  auto xView =
      cpu::Argument::tensor(&x[(m - 1) * 3 * n + (last < 0 ? 2 * (n - 1) : 0)],
                            {m, n}, {-3 * n, last});
  auto yView =
      cpu::Argument::tensor(y.data(), {m, n}, {2 * n, unit == 1 ? 1 : 2});
  kernel.run({xView, yView});
  CHECK(y.guardsIntact());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float from =
          x[(m - 1 - i) * 3 * n + (last < 0 ? 2 * (n - 1) - 2 * j : j)];
      REQUIRE(y[i * 2 * n + j * (unit == 1 ? 1 : 2)] == 2 * from);
    }
}

TEST_CASE("a stride of zero repeats a row", "[cpu]") {
  Kernel kernel(copyKernel(1));
  Tensor<float> x({1, 50}), y({10, 50});
  x.randomReals(3);
  kernel.run({cpu::Argument::tensor(x.data(), {10, 50}, {0, 1}), y.argument()});
  for (int i = 0; i < 500; ++i)
    REQUIRE(y[i] == 2 * x[i % 50]);
}

TEST_CASE("empty tensors have no programs", "[cpu]") {
  Kernel kernel(copyKernel(1));
  for (auto [m, n] : {std::pair(0, 5), std::pair(5, 0), std::pair(0, 0)}) {
    std::vector<cpu::Argument> arguments = {
        cpu::Argument::tensor(nullptr, {m, n}),
        cpu::Argument::tensor(nullptr, {m, n})};
    CHECK(kernel.compiled->numPrograms(arguments) == 0);
    kernel.run(arguments);
  }
}

TEST_CASE("arguments that do not fit are refused", "[cpu]") {
  Kernel kernel(copyKernel(1));
  Tensor<float> x({8, 8}), y({8, 8});
  auto messageFor = [&](std::vector<cpu::Argument> arguments) {
    return llvm::toString(kernel.compiled->run(arguments, kernel.reports, {}));
  };
  CHECK(messageFor({x.argument()}) == "expected 2 arguments, found 1");
  CHECK(messageFor({cpu::Argument::f32(1), y.argument()}) ==
        "argument 'X': expected a tensor, found a scalar");
  CHECK(messageFor({cpu::Argument::tensor(x.data(), {8}), y.argument()}) ==
        "argument 'X': expected rank 2, found 1");
  CHECK(messageFor(
            {cpu::Argument::tensor(x.data(), {8, 8}, {1, 8}), y.argument()}) ==
        "argument 'X': expected stride 1 of dimension 1, found 8");
}

TEST_CASE("a load may transpose and fix dimensions", "[cpu]") {
  int unit = GENERATE(-1, 0, 2, 3);
  Kernel kernel(fill(R"(
tile.kernel @transpose($X, $Y) {
  %B = tile.dim %X, 0 : !tile.view<?x?x?x?xf32>
  %M = tile.dim %X, 1 : !tile.view<?x?x?x?xf32>
  %H = tile.dim %X, 2 : !tile.view<?x?x?x?xf32>
  %N = tile.dim %X, 3 : !tile.view<?x?x?x?xf32>
  scf.forall (%b, %h, %m, %n) = (0, 0, 0, 0) to (%B, %H, %M, %N)
      step (1, 1, 16, 16) {
    %c0 = arith.constant 0 : index
    %vm = tile.valid %m to %M size 16
    %vn = tile.valid %n to %N size 16
    %s = tile.slice %X[%b, %c0, %h, %c0] dims [1, 3]
        : !tile.view<?x?x?x?xf32> -> !tile.view<?x?xf32>
    %x = tile.load %s[%m, %n] dims [1, 0] valid [%vn, %vm] pad zero
        : !tile.view<?x?xf32> -> tensor<16x16xf32>
    tile.store %x, %Y[%b, %n, %h, %m] dims [1, 3] valid [%vn, %vm]
        : tensor<16x16xf32>, !tile.view<?x?x?x?xf32>
  }
  tile.return
})",
                     {{"X", view("X", "?x?x?x?xf32", "in", unit)},
                      {"Y", view("Y", "?x?x?x?xf32", "out", unit)}}));
  constexpr int64_t sizes[4] = {2, 21, 3, 37};
  // Row-major except that the promised dimension comes last in memory.
  auto strides = [&](std::vector<int64_t> shape) {
    std::vector<int64_t> order;
    for (int d = 0; d < 4; ++d)
      if (d != unit)
        order.push_back(d);
    if (unit >= 0)
      order.push_back(unit);
    std::vector<int64_t> result(4);
    int64_t stride = unit < 0 ? 2 : 1;
    for (int i = 3; i >= 0; --i) {
      result[order[i]] = stride;
      stride *= shape[order[i]];
    }
    return result;
  };
  std::vector<int64_t> xShape(sizes, sizes + 4), yShape = {2, 37, 3, 21};
  auto xs = strides(xShape), ys = strides(yShape);
  Tensor<float> x({2 * 21 * 3 * 37 * 2}), y({2 * 21 * 3 * 37 * 2});
  x.randomReals(4);
  kernel.run({cpu::Argument::tensor(x.data(), xShape, xs),
              cpu::Argument::tensor(y.data(), yShape, ys)});
  CHECK(y.guardsIntact());
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t m = 0; m < 21; ++m)
      for (int64_t h = 0; h < 3; ++h)
        for (int64_t n = 0; n < 37; ++n)
          REQUIRE(y[b * ys[0] + n * ys[1] + h * ys[2] + m * ys[3]] ==
                  x[b * xs[0] + m * xs[1] + h * xs[2] + n * xs[3]]);
}

TEMPLATE_TEST_CASE("tiles of every size of element transpose", "[cpu]", uint8_t,
                   int8_t, uint16_t, float, double) {
  // A narrow float is its bits here.
  std::string type = std::is_same_v<TestType, uint8_t>    ? "f8E5M2"
                     : std::is_same_v<TestType, int8_t>   ? "i8"
                     : std::is_same_v<TestType, uint16_t> ? "bf16"
                     : std::is_same_v<TestType, float>    ? "f32"
                                                          : "f64";
  Kernel kernel(fill(R"(
tile.kernel @transpose($X, $Y) {
  %M = tile.dim %X, 0 : !tile.view<?x?x$T>
  %N = tile.dim %X, 1 : !tile.view<?x?x$T>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (40, 24) {
    %vm = tile.valid %m to %M size 40
    %vn = tile.valid %n to %N size 24
    %x = tile.load %X[%m, %n] dims [0, 1] valid [%vm, %vn] pad zero
        : !tile.view<?x?x$T> -> tensor<40x24x$T>
    %y = tile.broadcast %x dims [1, 0]
        : tensor<40x24x$T> -> tensor<24x40x$T>
    tile.store %y, %Y[%n, %m] dims [0, 1] valid [%vn, %vm]
        : tensor<24x40x$T>, !tile.view<?x?x$T>
  }
  tile.return
})",
                     {{"X", view("X", "?x?x" + type, "in", 1)},
                      {"Y", view("Y", "?x?x" + type, "out", 1)},
                      {"T", type}}));
  Tensor<TestType> x({100, 70}), y({70, 100});
  x.randomIntegers(9, 0, 120);
  kernel.run({x.argument(), y.argument()});
  CHECK(y.guardsIntact());
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 70; ++j)
      REQUIRE(y[j * 100 + i] == x[i * 70 + j]);
}

TEST_CASE("lanes that are not loaded hold the pad", "[cpu]") {
  std::string pad = GENERATE("zero", "one", "lowest", "highest");
  Kernel kernel(fill(R"(
tile.kernel @pads($X, $Y, %size: i64 {tile.name = "size"},
                  %on: i1 {tile.name = "on"}) {
  scf.forall (%p) = (0) to (1) step (1) {
    %n = arith.index_cast %size : i64 to index
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] dims [0] valid [%n] if %on pad $PAD
        : !tile.view<16xf32> -> tensor<16xf32>
    tile.store %x, %Y[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  }
  tile.return
})",
                     {{"X", view("X", "16xf32", "in", 0)},
                      {"Y", view("Y", "16xf32", "out", 0)},
                      {"PAD", pad}}));
  float expected = pad == "zero"     ? 0
                   : pad == "one"    ? 1
                   : pad == "lowest" ? -INFINITY
                                     : INFINITY;
  for (int valid : {0, 5, 16})
    for (bool on : {false, true}) {
      Tensor<float> x({16}), y({16});
      x.randomReals(5);
      // Nothing is read if the predicate is false, wherever that would be.
      auto from = on ? x.argument() : cpu::Argument::tensor(nullptr, {16});
      kernel.run({from, y.argument(), cpu::Argument::integer(valid),
                  cpu::Argument::integer(on)});
      for (int i = 0; i < 16; ++i)
        REQUIRE(y[i] == (on && i < valid ? x[i] : expected));
    }
}

TEST_CASE("an inout argument is read before it is written", "[cpu]") {
  // Exchanges the halves: both loads come first, both stores after.
  Kernel kernel(fill(R"(
tile.kernel @exchange($X, $Y) {
  %N = tile.dim %X, 0 : !tile.view<?x64xf32>
  scf.forall (%p) = (0) to (%N) step (1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %low = tile.load %X[%p, %c0] dims [1] pad zero
        : !tile.view<?x64xf32> -> tensor<32xf32>
    %high = tile.load %X[%p, %c32] dims [1] pad zero
        : !tile.view<?x64xf32> -> tensor<32xf32>
    %sum = arith.addf %low, %high : tensor<32xf32>
    tile.store %low, %X[%p, %c32] dims [1]
        : tensor<32xf32>, !tile.view<?x64xf32>
    tile.store %high, %X[%p, %c0] dims [1]
        : tensor<32xf32>, !tile.view<?x64xf32>
    %again = tile.load %X[%p, %c0] dims [1] pad zero
        : !tile.view<?x64xf32> -> tensor<32xf32>
    %y = arith.addf %again, %sum : tensor<32xf32>
    tile.store %y, %Y[%p, %c0] dims [1]
        : tensor<32xf32>, !tile.view<?x32xf32>
  }
  tile.return
})",
                     {{"X", view("X", "?x64xf32", "inout", 1)},
                      {"Y", view("Y", "?x32xf32", "out", 1)}}));
  Tensor<float> x({9, 64}), before({9, 64}), y({9, 32});
  x.randomIntegers(6);
  std::copy_n(x.data(), x.size, before.data());
  kernel.run({x.argument(), y.argument()});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 64; ++j) {
      REQUIRE(x[i * 64 + j] == before[i * 64 + (j + 32) % 64]);
      if (j < 32)
        REQUIRE(y[i * 32 + j] ==
                before[i * 64 + j] + 2 * before[i * 64 + j + 32]);
    }
}

TEST_CASE("of two stores to one place the later stays", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @twice($X, $Y) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] dims [0] pad zero
        : !tile.view<16xf32> -> tensor<16xf32>
    %first = arith.negf %x : tensor<16xf32>
    %second = arith.mulf %x, %x : tensor<16xf32>
    tile.store %second, %Y[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
    tile.store %first, %Y[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  }
  tile.return
})",
                     {{"X", view("X", "16xf32", "in", 0)},
                      {"Y", view("Y", "16xf32", "out", 0)}}));
  Tensor<float> x({16}), y({16});
  x.randomReals(7);
  kernel.run({x.argument(), y.argument()});
  for (int i = 0; i < 16; ++i)
    REQUIRE(y[i] == -x[i]);
}

TEST_CASE("a kernel without a grid is one program", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @single($X, $Y) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[] dims [] pad zero : !tile.view<f32> -> tensor<f32>
  %y = arith.addf %x, %x : tensor<f32>
  tile.store %y, %Y[%c0] dims [] : tensor<f32>, !tile.view<4xf32>
  tile.return
})",
                     {{"X", view("X", "f32", "in", -1)},
                      {"Y", view("Y", "4xf32", "out", 0)}}));
  Tensor<float> x({}, 3), y({4});
  CHECK(kernel.compiled->numPrograms({x.argument(), y.argument()}) == 1);
  kernel.run({x.argument(), y.argument()});
  CHECK(y[0] == 6);
  CHECK(y[1] == 0);
}

TEMPLATE_TEST_CASE("atomic additions from many programs add up", "[cpu]", float,
                   double, int32_t, int64_t) {
  std::string type = std::is_same_v<TestType, float>     ? "f32"
                     : std::is_same_v<TestType, double>  ? "f64"
                     : std::is_same_v<TestType, int32_t> ? "i32"
                                                         : "i64";
  Kernel kernel(fill(R"(
tile.kernel @columns($X, $Y) {
  %M = tile.dim %X, 0 : !tile.view<?x?x$T>
  %N = tile.dim %X, 1 : !tile.view<?x?x$T>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (1, 16) {
    %vn = tile.valid %n to %N size 16
    %x = tile.load %X[%m, %n] dims [1] valid [%vn] pad zero
        : !tile.view<?x?x$T> -> tensor<16x$T>
    tile.atomic_add %x, %Y[%n] dims [0] valid [%vn]
        : tensor<16x$T>, !tile.view<?x$T>
  }
  tile.return
})",
                     {{"X", view("X", "?x?x" + type, "in", 1)},
                      {"Y", view("Y", "?x" + type, "add", 0)},
                      {"T", type}}));
  Tensor<TestType> x({300, 37}), y({37}, 5);
  x.randomIntegers(8);
  kernel.run({x.argument(), y.argument()}, 4);
  CHECK(y.guardsIntact());
  for (int j = 0; j < 37; ++j) {
    TestType sum = 5;
    for (int i = 0; i < 300; ++i)
      sum += x[i * 37 + j];
    REQUIRE(y[j] == sum);
  }
}
