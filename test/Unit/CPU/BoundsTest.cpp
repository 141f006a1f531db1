//===- BoundsTest.cpp - Indices that may be out of range --------*- C++ -*-===//
//
// Gathers, scatters and guarded accesses: out of range reads give 0 and writes
// are dropped, always; in a checked build they are also reported.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "lib/Runtime/NarrowFloat.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

namespace {

cpu::CompileOptions checkedOptions(bool checked) {
  cpu::CompileOptions options = Kernel::defaultOptions();
  options.checked = checked;
  return options;
}

std::string gatherKernel(const std::string &access, bool masked) {
  return fill(R"(
tile.kernel @gather($T, $I, $Y) {
  %N = tile.dim %I, 0 : !tile.view<?xi64>
  scf.forall (%n) = (0) to (%N) step (16) {
    %v = tile.valid %n to %N size 16
    %c0 = arith.constant 0 : index
    %i = tile.load %I[%n] dims [0] valid [%v] pad zero
        : !tile.view<?xi64> -> tensor<16xi64>
    %two = arith.constant 2 : i64
    %p = tile.iota %n : tensor<16xi64>
    %zero = arith.constant dense<0> : tensor<16xi64>
    %limit = arith.constant dense<30> : tensor<16xi64>
    %on = arith.cmpi slt, %p, %limit : tensor<16xi64>
    %y = tile.gather %T[%i, %two] $M
        : !tile.view<?x?xf32>[tensor<16xi64>, i64] $MT -> tensor<16xf32>
    tile.store %y, %Y[%n] dims [0] valid [%v]
        : tensor<16xf32>, !tile.view<?xf32>
  }
  tile.return
})",
              {{"T", view("T", "?x?xf32", access, 1)},
               {"I", view("I", "?xi64", "in", 0)},
               {"Y", view("Y", "?xf32", "out", 0)},
               {"M", masked ? "mask %on" : ""},
               {"MT", masked ? "mask tensor<16xi1>" : ""}});
}

} // namespace

TEST_CASE("a gather out of range reads 0", "[cpu]") {
  std::string access = GENERATE("in", "inout");
  bool masked = GENERATE(false, true);
  bool checked = GENERATE(false, true);
  Kernel kernel(gatherKernel(access, masked), checkedOptions(checked));
  Tensor<float> table({10, 4}), y({48});
  Tensor<int64_t> index({48});
  table.randomReals(41, 1, 2);
  index.randomIntegers(42, -3, 12);
  index[5] = INT64_MIN;
  index[6] = INT64_MAX;
  index[7] = int64_t(1) << 32;
  kernel.run({table.argument(), index.argument(), y.argument()});
  uint64_t outside = 0;
  for (int i = 0; i < 48; ++i) {
    bool on = !masked || i < 30;
    bool inside = index[i] >= 0 && index[i] < 10;
    outside += on && !inside;
    REQUIRE(y[i] == (on && inside ? table[index[i] * 4 + 2] : 0));
  }
  auto reports = kernel.reports.reports();
  if (!checked) {
    CHECK(reports.empty());
    return;
  }
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].count == outside);
  CHECK(reports[0].indices[0].extent == 10);
}

TEST_CASE("a gather from an empty tensor reads 0", "[cpu]") {
  Kernel kernel(gatherKernel("in", false));
  Tensor<float> y({20}, 5);
  Tensor<int64_t> index({20}, 0);
  kernel.run(
      {cpu::Argument::tensor(nullptr, {0, 4}), index.argument(), y.argument()});
  for (int i = 0; i < 20; ++i)
    REQUIRE(y[i] == 0);
}

TEMPLATE_TEST_CASE("a scatter adds what is in range", "[cpu]", float, int32_t,
                   uint16_t, int16_t) {
  bool checked = GENERATE(false, true);
  // The 16-bit integers stand for the bits of bf16 and f16.
  std::string type = std::is_same_v<TestType, float>      ? "f32"
                     : std::is_same_v<TestType, int32_t>  ? "i32"
                     : std::is_same_v<TestType, uint16_t> ? "bf16"
                                                          : "f16";
  auto encode = [&](double x) {
    return type == "bf16"  ? TestType(doubleToBF16(x))
           : type == "f16" ? TestType(doubleToF16(x))
                           : TestType(x);
  };
  auto decode = [&](TestType x) {
    return type == "bf16"  ? bf16ToDouble(uint16_t(x))
           : type == "f16" ? f16ToDouble(uint16_t(x))
                           : double(x);
  };
  Kernel kernel(fill(R"(
tile.kernel @histogram($X, $I, $H) {
  %N = tile.dim %I, 0 : !tile.view<?xi64>
  scf.forall (%n) = (0) to (%N) step (16) {
    %v = tile.valid %n to %N size 16
    %i = tile.load %I[%n] dims [0] valid [%v] pad zero
        : !tile.view<?xi64> -> tensor<16xi64>
    %x = tile.load %X[%n] dims [0] valid [%v] pad zero
        : !tile.view<?x$T> -> tensor<16x$T>
    %true = arith.constant dense<true> : tensor<16xi1>
    %on = tile.select_valid %true valid [%v] pad zero : tensor<16xi1>
    tile.scatter_add %x, %H[%i] mask %on
        : tensor<16x$T>, !tile.view<?x$T>[tensor<16xi64>] mask tensor<16xi1>
  }
  tile.return
})",
                     {{"X", view("X", "?x" + type, "in", 0)},
                      {"I", view("I", "?xi64", "in", 0)},
                      {"H", view("H", "?x" + type, "add", 0)},
                      {"T", type}}),
                checkedOptions(checked));
  Tensor<TestType> x({100}), h({8});
  Tensor<int64_t> index({100});
  index.randomIntegers(43, -2, 9);
  for (int i = 0; i < 100; ++i)
    x[i] = encode(i % 3);
  for (int i = 0; i < 8; ++i)
    h[i] = encode(1);
  kernel.run({x.argument(), index.argument(), h.argument()}, 4);
  CHECK(h.guardsIntact());
  uint64_t outside = 0;
  for (int bin = 0; bin < 8; ++bin) {
    double sum = 1;
    for (int i = 0; i < 100; ++i)
      sum += index[i] == bin ? i % 3 : 0;
    REQUIRE(decode(h[bin]) == sum);
  }
  for (int i = 0; i < 100; ++i)
    outside += index[i] < 0 || index[i] >= 8;
  auto reports = kernel.reports.reports();
  CHECK(reports.size() == (checked ? 1 : 0));
  if (checked)
    CHECK(reports[0].count == outside);
}

TEST_CASE("an index out of range makes a slice empty", "[cpu]") {
  bool checked = GENERATE(false, true);
  Kernel kernel(fill(R"(
tile.kernel @row($X, $Y, %r: i64 {tile.name = "r"}) {
  %R = tile.dim %X, 0 : !tile.view<?x16xf32>
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %ok = tile.in_bounds %r of %R
    %ri = arith.index_cast %r : i64 to index
    %s = tile.slice %X[%ri, %c0] dims [1] if %ok
        : !tile.view<?x16xf32> -> !tile.view<16xf32>
    %x = tile.load %s[%c0] dims [0] pad one
        : !tile.view<16xf32> -> tensor<16xf32>
    %five = arith.constant 5 : i64
    %e = tile.gather %s[%five] : !tile.view<16xf32>[i64] -> f32
    %es = tensor.splat %e : tensor<16xf32>
    %y = arith.addf %x, %es : tensor<16xf32>
    tile.store %y, %Y[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
    %o = tile.slice %X[%ri, %c0] dims [1] if %ok
        : !tile.view<?x16xf32> -> !tile.view<16xf32>
    tile.store %y, %o[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  }
  tile.return
})",
                     {{"X", view("X", "?x16xf32", "inout", 1)},
                      {"Y", view("Y", "16xf32", "out", 0)}}),
                checkedOptions(checked));
  for (int64_t row :
       {int64_t(0), int64_t(3), int64_t(-1), int64_t(4), int64_t(1) << 60}) {
    Tensor<float> x({4, 16}), before({4, 16}), y({16});
    x.randomIntegers(44);
    std::copy_n(x.data(), x.size, before.data());
    kernel.reports.clear();
    kernel.run({x.argument(), y.argument(), cpu::Argument::integer(row)});
    CHECK(x.guardsIntact());
    bool inside = row >= 0 && row < 4;
    for (int j = 0; j < 16; ++j) {
      float expected = inside ? before[row * 16 + j] + before[row * 16 + 5] : 1;
      REQUIRE(y[j] == expected);
      for (int i = 0; i < 4; ++i)
        REQUIRE(x[i * 16 + j] == (i == row ? expected : before[i * 16 + j]));
    }
    auto reports = kernel.reports.reports();
    REQUIRE(reports.size() == (checked && !inside ? 1 : 0));
    if (!reports.empty())
      CHECK(reports[0].message() == "index " + std::to_string(row) +
                                        " is out of range, the extent is 4");
  }
}
