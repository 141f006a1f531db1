//===- CompareTest.cpp - Tests of the comparison of arrays ------*- C++ -*-===//
//
// What rounding can explain agrees, and what it cannot does not. Sums that are
// rounded after each addition are made here, in several orders, by the
// conversions of NarrowFloat.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Reference.h"
#include "lib/Runtime/Array.h"
#include "lib/Runtime/NarrowFloat.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace tilec;

namespace {

/// An array of one element.
Array scalar(DType dtype, double value) {
  llvm::Expected<Array> array = Array::create(dtype, {1});
  REQUIRE(bool(array));
  array->setDouble({0}, value);
  return std::move(*array);
}

Additions additionsOf(double first, llvm::ArrayRef<double> addends) {
  Additions additions;
  additions.sums = {first};
  additions.magnitudes = {std::fabs(first)};
  additions.counts = {static_cast<uint32_t>(addends.size())};
  for (double addend : addends) {
    additions.sums[0] += addend;
    additions.magnitudes[0] += std::fabs(addend);
  }
  return additions;
}

bool agrees(DType dtype, double actual, double expected,
            const Additions *additions = nullptr) {
  return compareArrays(scalar(dtype, actual), scalar(dtype, expected), dtype,
                       additions)
      .agrees();
}

/// The sum in this order, rounded after each addition.
double sumInOrder(DType dtype, double first, llvm::ArrayRef<double> addends) {
  double sum = first;
  for (double addend : addends)
    sum = roundToFloat(dtype, sum + addend);
  return sum;
}

} // namespace

TEST_CASE("one rounding of the stored type agrees", "[compare]") {
  CHECK(agrees(DType::F32, 1 + 1e-5, 1));
  CHECK_FALSE(agrees(DType::F32, 1 + 1e-3, 1));
  CHECK(agrees(DType::BF16, 1 + 1.0 / 128, 1));
  CHECK_FALSE(agrees(DType::BF16, 1 + 3.0 / 128, 1));
  CHECK(agrees(DType::I32, 7, 7));
  CHECK_FALSE(agrees(DType::I32, 8, 7));
}

TEST_CASE("infinities and NaN agree with themselves alone", "[compare]") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(agrees(DType::F32, inf, inf));
  CHECK(agrees(DType::F32, nan, nan));
  CHECK_FALSE(agrees(DType::F32, inf, -inf));
  CHECK_FALSE(agrees(DType::F32, inf, 1));
  CHECK_FALSE(agrees(DType::F32, nan, 1));
  CHECK_FALSE(agrees(DType::F32, 1, nan));
}

TEST_CASE("additions in any order agree", "[compare]") {
  std::mt19937_64 engine(1);
  DType dtype = GENERATE(DType::F16, DType::BF16);
  size_t count = GENERATE(1u, 2u, 10u, 300u, 3000u);
  double scale = GENERATE(1e-6, 1.0, 3.0);
  bool isPositive = GENERATE(false, true);
  std::vector<double> addends(count);
  std::normal_distribution<double> normal(0, scale);
  for (double &addend : addends) {
    double value = normal(engine);
    addend = roundToFloat(dtype, isPositive ? std::fabs(value) : value);
  }
  double first = roundToFloat(dtype, 2 * scale);
  Additions additions = additionsOf(first, addends);
  double expected = roundToFloat(dtype, additions.sums[0]);
  for (int order = 0; order < 8; ++order) {
    std::shuffle(addends.begin(), addends.end(), engine);
    if (order == 0)
      std::sort(addends.begin(), addends.end());
    CHECK(
        agrees(dtype, sumInOrder(dtype, first, addends), expected, &additions));
  }
}

TEST_CASE("sums that stand still agree", "[compare]") {
  // 256 + 1 is a tie in bf16, and goes to 256.
  std::vector<double> ones(10000, 1.0);
  Additions additions = additionsOf(0, ones);
  double found = sumInOrder(DType::BF16, 0, ones);
  CHECK(found == 256);
  double expected = roundToFloat(DType::BF16, 10000);
  CHECK(agrees(DType::BF16, found, expected, &additions));
  CHECK_FALSE(agrees(DType::BF16, found, expected));
  CHECK_FALSE(agrees(DType::BF16, -256, expected, &additions));
}

TEST_CASE("the bound of few additions is tight", "[compare]") {
  // A unit of rounding of bf16 is 2^-8: three additions allow 3 of them, two
  // for what the addends may have been rounded to, and the usual tolerance.
  std::vector<double> ones(3, 1.0);
  Additions additions = additionsOf(0, ones);
  CHECK(agrees(DType::BF16, 3 + 3 * 5.0 / 256, 3, &additions));
  CHECK_FALSE(agrees(DType::BF16, 3 + 3 * 9.0 / 256, 3, &additions));
  CHECK_FALSE(agrees(DType::BF16, 2, 3, &additions));
  CHECK_FALSE(agrees(DType::BF16, 4, 3, &additions));
  // No addition, no rounding.
  Additions none = additionsOf(3, {});
  CHECK_FALSE(agrees(DType::BF16, 3 + 3 * 5.0 / 256, 3, &none));
}

TEST_CASE("f32 sums have no bound of their own", "[compare]") {
  std::vector<double> ones(10000, 1.0);
  Additions additions = additionsOf(0, ones);
  CHECK(agrees(DType::F32, 10000.5, 10000, &additions));
  CHECK_FALSE(agrees(DType::F32, 9990, 10000, &additions));
}

TEST_CASE("partial sums may overflow", "[compare]") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::vector<double> addends = {60000, 60000, -60000};
  Additions additions = additionsOf(0, addends);
  CHECK(agrees(DType::F16, inf, 60000, &additions));
  CHECK(agrees(DType::F16, std::nan(""), 60000, &additions));
  CHECK(agrees(DType::F16, 60000, 60000, &additions));
  std::vector<double> few = {30000, 30000};
  Additions cannot = additionsOf(0, few);
  CHECK_FALSE(agrees(DType::F16, inf, 60000, &cannot));
  CHECK_FALSE(agrees(DType::F16, std::nan(""), 60000, &cannot));
}

TEST_CASE("the tolerance shown covers the additions", "[compare]") {
  std::vector<double> ones(10000, 1.0);
  Additions additions = additionsOf(0, ones);
  double expected = roundToFloat(DType::BF16, 10000);
  Comparison result =
      compareArrays(scalar(DType::BF16, 256), scalar(DType::BF16, expected),
                    DType::BF16, &additions);
  CHECK(result.maxRelative > 0.97);
  CHECK(result.tolerance >= result.maxRelative);
}

TEST_CASE("results that nearly cancel", "[compare]") {
  // Of weights rounded to bf16, with values of 3 and results of at most 0.3.
  llvm::Expected<Array> expected = Array::create(DType::F32, {2});
  llvm::Expected<Array> actual = Array::create(DType::F32, {2});
  REQUIRE((expected && actual));
  auto agrees = [&](double first, double cancellation) {
    expected->view().setDouble({0}, 0.01);
    expected->view().setDouble({1}, 0.3);
    actual->view().setDouble({0}, first);
    actual->view().setDouble({1}, 0.3);
    return compareArrays(actual->view(), expected->view(), DType::BF16, nullptr,
                         cancellation)
        .agrees();
  };
  CHECK_FALSE(agrees(0.013, 1));
  CHECK(agrees(0.013, 3 / 0.3));
  CHECK_FALSE(agrees(0.03, 3 / 0.3));
}
