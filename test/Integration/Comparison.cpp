//===- Comparison.cpp - Results against oracles -----------------*- C++ -*-===//
//
// The comparing half of Harness.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/NarrowFloat.h"
#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

FillOptions test::integers(int64_t min, int64_t maxExclusive) {
  FillOptions options;
  options.integerValued = true;
  options.minInclusive = min;
  options.maxExclusive = maxExclusive;
  return options;
}

Tolerance test::toleranceOf(DType dtype) {
  if (!isFloat(dtype))
    return {0, 0};
  if (dtype == DType::F64)
    return {1e-12, 1e-13};
  if (dtype == DType::F32)
    return {1e-5, 2e-6};
  return {1e-5 + 0.501 * floatFormat(dtype).epsilon, 2e-6};
}

static std::string text(Index index) {
  std::string result = "[";
  for (int64_t i : index)
    result += (result.size() > 1 ? ", " : "") + std::to_string(i);
  return result + "]";
}

/// Compares with `agrees(actual, expected)` and reports the first few that do
/// not.
static void compare(const Tensor &actual, llvm::ArrayRef<double> expected,
                    llvm::function_ref<bool(double, double)> agrees) {
  llvm::ArrayRef<double> values = actual.results();
  REQUIRE(values.size() == expected.size());
  int64_t mismatches = 0, position = 0;
  std::string first;
  forEachIndex(actual.shape(), [&](Index index) {
    double a = values[static_cast<size_t>(position)],
           e = expected[static_cast<size_t>(position)];
    ++position;
    if (std::isnan(a) || std::isnan(e) ? std::isnan(a) && std::isnan(e)
                                       : agrees(a, e))
      return;
    if (++mismatches <= 4) {
      char numbers[96];
      std::snprintf(numbers, sizeof numbers, ": got %.9g, expected %.9g", a, e);
      first += "\n  " + actual.name().str() + text(index) + numbers;
    }
  });
  if (mismatches > 0)
    FAIL_CHECK(mismatches << " of " << expected.size() << " elements of "
                          << actual.name().str() << " are wrong" << first
                          << "\nin " << actual.describeLaunch());
  else
    SUCCEED();
}

static std::vector<double> evaluate(const Tensor &actual,
                                    const Oracle &oracle) {
  std::vector<double> expected;
  expected.reserve(static_cast<size_t>(actual.numElements()));
  forEachIndex(actual.shape(),
               [&](Index index) { expected.push_back(oracle(index)); });
  return expected;
}

void test::expectClose(const Tensor &actual, const Oracle &oracle,
                       Tolerance tolerance) {
  std::vector<double> expected = evaluate(actual, oracle);
  double largest = 0;
  for (double value : expected)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  // Below the smallest normal number a rounding is not relative any more, and
  // above the largest it gives infinity, or for fp8 the largest.
  double tiny = 0, maxFinite = INFINITY;
  if (isFloat(actual.dtype())) {
    const FloatFormat &format = floatFormat(actual.dtype());
    tiny = format.minNormal * format.epsilon;
    maxFinite = format.maxFinite;
  }
  compare(actual, expected, [&](double a, double e) {
    if (std::fabs(e) > maxFinite)
      e = roundToFloat(actual.dtype(), e);
    if (std::isinf(a) || std::isinf(e))
      return a == e;
    return std::fabs(a - e) <= tolerance.relative * std::fabs(e) +
                                   tolerance.absolute * largest +
                                   std::max(tolerance.least, tiny);
  });
}

void test::expectClose(const Tensor &actual, const Oracle &oracle) {
  expectClose(actual, oracle, toleranceOf(actual.dtype()));
}

void test::expectExact(const Tensor &actual, const Oracle &oracle) {
  std::vector<double> expected = evaluate(actual, oracle);
  for (double &value : expected) {
    // An infinity is meant as such, although a conversion to fp8 makes none.
    if (std::isinf(value))
      continue;
    uint8_t element[8];
    storeDouble(actual.dtype(), element, value);
    value = loadAsDouble(actual.dtype(), element);
  }
  compare(actual, expected, [](double a, double e) { return a == e; });
}

void test::expectSame(const Tensor &a, const Tensor &b) {
  REQUIRE(a.shape() == b.shape());
  compare(a, b.results(), [](double x, double y) { return x == y; });
}
