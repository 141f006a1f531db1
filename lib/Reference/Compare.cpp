//===- Compare.cpp - How far two arrays are apart ---------------*- C++ -*-===//
//
// Tolerances: half a unit in the last place of the stored type (a result in the
// other half of a rounding interval is one unit off), plus what f32 arithmetic
// and reassociated sums leave, relative to the largest magnitude in the array.
//
// An element of an `add` parameter narrower than f32 is rounded after each of
// its n additions. With u half a unit in the last place of 1, x_i the addends,
// s_0 the first value and S = |s_0| + sum |x_i|, rounding a partial sum s + x
// is off by at most u |s + x| <= u S; and by at most |x|, since s is a number
// of the type. So in any order the result is within
//
//     min(n u, 1) S
//
// of the sum (N. Higham, Accuracy and Stability of Numerical Algorithms,
// section 4.2, has the first half), plus 2 u |x_i| for every addend that an
// error before it made round to the other neighbor.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/TypedVisitor.h"
#include "lib/Reference/Reference.h"
#include <cmath>

using namespace tilec;

/// Relative to an element, and to the largest element.
static std::pair<double, double> tolerances(DType dtype) {
  if (!isFloat(dtype))
    return {0, 0};
  if (dtype == DType::F64)
    return {1e-11, 1e-11};
  return {1e-4 + 1.01 * floatFormat(dtype).epsilon, 1e-5};
}

DType tilec::coarsestFloat(const typed::Kernel &kernel) {
  DType coarsest = DType::F64;
  auto consider = [&](DType dtype) {
    if (isFloat(dtype) &&
        floatFormat(dtype).epsilon > floatFormat(coarsest).epsilon)
      coarsest = dtype;
  };
  for (const typed::Param *param : kernel.params)
    if (param->isTensor)
      consider(param->dtype);
  typed::walkExprs(kernel.body,
                   [&](typed::Expr &expr) { consider(expr.type.dtype); });
  return coarsest;
}

namespace {
/// What rounding after each addition allows for one element.
struct AdditionBound {
  double error = 0;
  /// Partial sums may be infinite, or NaN from two infinities.
  bool mayOverflow = false;
};
} // namespace

static AdditionBound additionBound(const Additions *additions, DType dtype,
                                   int64_t i) {
  if (!additions || !isNarrowFloat(dtype))
    return {};
  const FloatFormat &format = floatFormat(dtype);
  double magnitude = additions->magnitudes[i];
  // Without an addend there is no rounding; with an infinite one, no bound.
  if (additions->counts[i] == 0 || !std::isfinite(magnitude))
    return {};
  double unit = format.epsilon / 2;
  double count = additions->counts[i];
  return {(std::min(count * unit, 1.0) + 2 * unit) * magnitude,
          magnitude > format.maxFinite};
}

Comparison tilec::compareArrays(const TensorView &actual,
                                const TensorView &expected, DType coarsest,
                                const Additions *additions,
                                double cancellation) {
  Comparison result;
  double largest = 0;
  forEachElement(expected, [&](void *element, int64_t) {
    double value = std::fabs(loadAsDouble(expected.dtype, element));
    if (std::isfinite(value))
      largest = std::max(largest, value);
  });
  // An f64 is as exact as the f32 that it is computed from.
  auto [perElement, perArray] = tolerances(
      actual.dtype == DType::F64 && coarsest != DType::F64 ? DType::F32
                                                           : actual.dtype);
  // What is rounded on the way may add up to an error of the largest element;
  // where products cancel, to one of their magnitudes. What follows scales this
  // as it scales the results.
  if (isFloat(actual.dtype) &&
      floatFormat(coarsest).epsilon > floatFormat(DType::F32).epsilon)
    perArray += cancellation * floatFormat(coarsest).epsilon / 2;
  result.tolerance = perElement + perArray;

  // Walked in step: both in row-major order of one shape.
  std::vector<double> wanted;
  wanted.reserve(static_cast<size_t>(expected.numElements()));
  forEachElement(expected, [&](void *element, int64_t) {
    wanted.push_back(loadAsDouble(expected.dtype, element));
  });
  forEachElement(actual, [&](void *element, int64_t i) {
    double a = loadAsDouble(actual.dtype, element), b = wanted[i];
    AdditionBound bound = additionBound(additions, actual.dtype, i);
    bool agrees;
    if (bound.mayOverflow && !std::isfinite(a)) {
      agrees = true;
    } else if (std::isnan(a) || std::isnan(b)) {
      agrees = std::isnan(a) && std::isnan(b);
    } else if (std::isinf(a) || std::isinf(b)) {
      agrees = a == b;
    } else {
      double error = std::fabs(a - b);
      double scale = std::max(std::fabs(b), largest * 1e-3);
      result.maxAbsolute = std::max(result.maxAbsolute, error);
      if (scale > 0) {
        result.maxRelative = std::max(result.maxRelative, error / scale);
        result.tolerance = std::max(result.tolerance, perElement + perArray +
                                                          bound.error / scale);
      }
      agrees =
          error <= perElement * std::fabs(b) + perArray * largest + bound.error;
    }
    if (!agrees) {
      if (result.firstMismatch < 0)
        result.firstMismatch = i;
      ++result.mismatches;
    }
  });
  return result;
}
