//===- CastTest.cpp - Conversions between all types -------------*- C++ -*-===//
//
// Every pair of types, with the values at which conversions go wrong: halves
// between two neighbors, the ends of each range, subnormals, infinities, NaN.
// The oracle for narrow floats searches all values of the format for the
// nearest, which shares no code and no idea with any conversion.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/NarrowFloat.h"
#include "test/Integration/Harness.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

//===----------------------------------------------------------------------===//
// Oracle
//===----------------------------------------------------------------------===//

/// The finite values of a narrow format that are not negative, ascending, which
/// is also the order of their bits.
static const std::vector<double> &valuesOf(DType dtype) {
  static std::map<DType, std::vector<double>> all;
  std::vector<double> &values = all[dtype];
  if (!values.empty())
    return values;
  const FloatFormat &format = floatFormat(dtype);
  double step = format.minNormal * format.epsilon; // Of subnormals.
  double value = 0;
  int64_t perBinade = int64_t(1) << format.fractionBits;
  for (int64_t bits = 0; value <= format.maxFinite; ++bits) {
    values.push_back(value);
    value += step;
    if (bits >= perBinade && (bits + 1) % perBinade == 0)
      step *= 2;
  }
  return values;
}

/// To the nearest value; of two equally near to that with an even last bit.
static double toNarrow(double x, DType dtype) {
  if (std::isnan(x))
    return x;
  const std::vector<double> &values = valuesOf(dtype);
  double a = std::fabs(x);
  bool isFloat8Type = isFloat8(dtype);
  double top = values.back(), gap = top - values[values.size() - 2];
  double result;
  if (a >= top) {
    result = isFloat8Type || a < top + gap / 2 ? top : INFINITY;
  } else {
    auto above = llvm::upper_bound(values, a);
    double low = above[-1], high = *above;
    bool lowIsEven = (above - values.begin() - 1) % 2 == 0;
    bool isLow = a - low < high - a || (a - low == high - a && lowIsEven);
    result = isLow ? low : high;
  }
  return std::copysign(result, x);
}

static double toF32(double x) { return static_cast<float>(x); }

/// tf32 by adding and subtracting a number with the wanted last bit.
static double toTF32(double x) {
  if (std::isnan(x) || std::isinf(x) || x == 0)
    return x;
  int exponent = std::max(std::ilogb(x), -126);
  double ulp = std::ldexp(1.0, exponent - 10);
  double scaled = x / ulp, rounded = std::nearbyint(scaled);
  double result = rounded * ulp;
  return std::fabs(result) >= std::ldexp(1.0, 128) ? std::copysign(INFINITY, x)
                                                   : result;
}

/// `from` matters only if it is the same type: then nothing is converted, and
/// an infinity of f8e5m2 stays one.
static double convertFloat(double x, DType from, DType to) {
  if (from == to)
    return x;
  if (isFloat(to)) {
    if (to == DType::F64)
      return x;
    if (to == DType::F32)
      return toF32(x);
    return to == DType::TF32 ? toTF32(x) : toNarrow(x, to);
  }
  if (to == DType::Bool)
    return x != 0;
  if (std::isnan(x))
    return 0;
  IntegerRange range = integerRange(to);
  x = std::trunc(x);
  // The largest i64 is no double; the comparison is right all the same.
  return x >= double(range.max) ? double(range.max)
                                : std::max(x, double(range.min));
}

static double convertInt(int64_t x, DType to) {
  if (isFloat(to)) {
    if (to == DType::F64)
      return double(x);
    if (to == DType::F32)
      return float(x);
    return convertFloat(double(x), DType::F64, to);
  }
  switch (to) {
  case DType::I32:
    return int32_t(x);
  case DType::I16:
    return int16_t(x);
  case DType::I8:
    return int8_t(x);
  case DType::U8:
    return uint8_t(x);
  case DType::Bool:
    return x != 0;
  default:
    return double(x);
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Values where roundings differ: a neighborhood of powers of two and of the
/// limits of every type, with midpoints and numbers just beside them.
static std::vector<double> hardValues() {
  std::vector<double> values = {0.0, -0.0, INFINITY, -INFINITY, NAN,
                                // f32 to e4m3 through f16 would round twice.
                                1.0625001, 1.125, 0.1};
  for (DType dtype :
       {DType::F8E4M3, DType::F8E5M2, DType::F16, DType::BF16, DType::TF32}) {
    const FloatFormat &format = floatFormat(dtype);
    double eps = format.epsilon, tiny = format.minNormal * eps;
    for (double base :
         {1.0, 1 + eps, 1 + 2 * eps, 2 - eps, format.minNormal, tiny, 2 * tiny,
          3 * tiny, format.maxFinite, 37.0, 240.0})
      for (double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        double ulp = std::max(std::ldexp(eps, std::ilogb(base)), tiny);
        double x = base + part * ulp;
        for (double y : {x, std::nextafter(x, INFINITY), std::nextafter(x, 0.0),
                         double(std::nextafter(float(x), INFINITY)),
                         double(std::nextafter(float(x), 0.0f))})
          for (double z : {y, -y})
            values.push_back(z);
      }
    values.push_back(tiny / 2);
    values.push_back(tiny / 4);
  }
  for (DType dtype :
       {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8}) {
    IntegerRange range = integerRange(dtype);
    for (double x : {double(range.min), double(range.max)})
      for (double y : {x, x + 0.5, x - 0.5, x + 1, x - 1, 2 * x, 1e30})
        values.push_back(y);
  }
  for (double x : {0.5, 0.999, 1.5, 2.5, 1e-40, 3e38, 1e300})
    for (double y : {x, -x})
      values.push_back(y);
  return values;
}

static const char *const names[] = {
    "f64_", "f32_", "tf32_", "f16_", "bf16_", "f8e4m3_", "f8e5m2_",
    "i64_", "i32_", "i16_",  "i8_",  "u8_",   "bool_"};

TEST_CASE("casts: from every float to every type", "[cast]") {
  for (DType from : allDTypes()) {
    if (!isFloat(from))
      continue;
    for (const char *kernel : {"from", "stored"}) {
      Launch launch("cast.tile", kernel, {{"T", dtypeName(from).str()}});
      std::vector<double> values = hardValues();
      auto N = int64_t(values.size());
      Tensor &X = launch.in("X", {N});
      // What is stored here is rounded by the runtime, but what counts is only
      // that the kernel and the oracle start from the same stored value.
      X.setAll(values);
      std::vector<Tensor *> results;
      size_t count = kernel == llvm::StringRef("from") ? std::size(names) : 7;
      for (const char *name : llvm::ArrayRef(names).take_front(count))
        results.push_back(&launch.out(name, {N}));
      launch.run();
      for (Tensor *result : results)
        expectExact(*result, [&](Index i) {
          return convertFloat(X(i[0]), from, result->dtype());
        });
    }
  }
}

TEST_CASE("casts: from every integer to every type", "[cast]") {
  for (DType from : allDTypes()) {
    if (isFloat(from))
      continue;
    std::vector<int64_t> values = {0, 1};
    if (from != DType::Bool) {
      IntegerRange range = integerRange(from);
      for (DType dtype :
           {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8}) {
        IntegerRange other = integerRange(dtype);
        for (int64_t limit : {other.min, other.max})
          for (int64_t x : {limit, limit / 2, limit / 2 + 1, limit - 1})
            if (x >= range.min && x <= range.max)
              values.push_back(x);
      }
      for (int64_t x : {37ll, 2049ll, 2051ll, 16777217ll, 16777219ll,
                        (1ll << 53) - 1, 70000ll, 464ll, 465ll, 61440ll})
        for (int64_t y : {x, -x})
          if (y >= range.min && y <= range.max)
            values.push_back(y);
    }
    Launch launch("cast.tile", "from", {{"T", dtypeName(from).str()}});
    auto N = int64_t(values.size());
    Tensor &X = launch.in("X", {N});
    for (int64_t i = 0; i < N; ++i)
      X.view().setInt({i}, values[size_t(i)]);
    X.refresh();
    std::vector<Tensor *> results;
    for (const char *name : names)
      results.push_back(&launch.out(name, {N}));
    launch.run();
    for (Tensor *result : results) {
      if (result->dtype() == DType::I64) {
        // Doubles cannot tell neighbors apart here.
        for (int64_t i = 0; i < N; ++i)
          CHECK(result->view().getInt({i}) == values[size_t(i)]);
        continue;
      }
      expectExact(*result, [&](Index i) {
        return convertInt(values[size_t(i[0])], result->dtype());
      });
    }
  }
}

TEST_CASE("casts: every bit pattern of the narrow floats", "[cast]") {
  for (DType from : {DType::F8E4M3, DType::F8E5M2, DType::F16, DType::BF16}) {
    int64_t N = byteSize(from) == 1 ? 256 : 65536;
    Launch launch("cast.tile", "stored", {{"T", dtypeName(from).str()}});
    Tensor &X = launch.in("X", {N});
    forEachElement(X.view(), [&](void *element, int64_t i) {
      for (unsigned byte = 0; byte < byteSize(from); ++byte)
        static_cast<uint8_t *>(element)[byte] = uint8_t(i >> (8 * byte));
    });
    X.refresh();
    std::vector<Tensor *> results;
    for (const char *name : llvm::ArrayRef(names).take_front(7))
      results.push_back(&launch.out(name, {N}));
    launch.run();
    // The value of a bit pattern, from the table of the format.
    const FloatFormat &format = floatFormat(from);
    const std::vector<double> &values = valuesOf(from);
    auto valueOf = [&](int64_t bits) {
      int64_t sign = N / 2;
      size_t magnitude = size_t(bits % sign);
      double value = magnitude < values.size() ? values[magnitude]
                     : magnitude == values.size() && format.hasInfinity
                         ? INFINITY
                         : NAN;
      return bits >= sign ? -value : value;
    };
    for (Tensor *result : results)
      expectExact(*result, [&](Index i) {
        return convertFloat(valueOf(i[0]), from, result->dtype());
      });
  }
}

TEST_CASE("casts: rounding happens in registers too", "[cast]") {
  for (DType through :
       {DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2, DType::TF32,
        DType::I8, DType::I32, DType::U8, DType::Bool}) {
    Launch launch("cast.tile", "through", {{"T", dtypeName(through).str()}});
    std::vector<double> values = hardValues();
    auto N = int64_t(values.size());
    Tensor &X = launch.in("X", {N}, row);
    X.setAll(values);
    Tensor &Y = launch.out("Y", {N});
    launch.run();
    expectExact(Y, [&](Index i) {
      return toF32(convertFloat(X(i[0]), DType::F32, through)) * 2;
    });
  }
}
