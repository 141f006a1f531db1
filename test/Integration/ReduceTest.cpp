//===- ReduceTest.cpp - Sums, extremes, positions ---------------*- C++ -*-===//
//
// Every reduction over lengths that are no multiple of anything, over empty
// axes, with NaN and infinities, ties, and integers of every width.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

/// What the reductions of one line give.
namespace {
struct Line {
  double sum = 0, prod = 1, max = -INFINITY, min = INFINITY, fmax = -INFINITY,
         fmin = INFINITY;
  int64_t argmax = -1, argmin = -1;
  bool any = false, all = true;

  explicit Line(const std::vector<double> &x) {
    bool isNaN = false;
    for (size_t i = 0; i < x.size(); ++i) {
      double value = x[i];
      sum += value;
      prod *= value;
      any |= value > 2;
      all &= value > -2;
      if (std::isnan(value)) {
        if (!isNaN)
          argmax = argmin = int64_t(i);
        isNaN = true;
        continue;
      }
      if (!isNaN && (argmax < 0 || value > max))
        argmax = int64_t(i);
      if (!isNaN && (argmin < 0 || value < min))
        argmin = int64_t(i);
      max = std::max(max, value);
      min = std::min(min, value);
    }
    fmax = max;
    fmin = min;
    if (isNaN)
      max = min = NAN;
  }
};
} // namespace

static std::vector<double> lineOf(const Tensor &X, int64_t index, bool isRow) {
  std::vector<double> values;
  for (int64_t i = 0; i < X.shape()[isRow ? 1 : 0]; ++i)
    values.push_back(isRow ? X(index, i) : X(i, index));
  return values;
}

/// Lines with NaN and infinities at various places, and ties.
static void makeSpecialLines(Tensor &X, bool rows) {
  int64_t lines = X.shape()[rows ? 0 : 1], length = X.shape()[rows ? 1 : 0];
  if (length == 0 || lines < 6)
    return;
  auto put = [&](int64_t line, int64_t i, double value) {
    i = std::min(i, length - 1);
    if (rows)
      X.view().setDouble({line, i}, value);
    else
      X.view().setDouble({i, line}, value);
  };
  put(0, 0, NAN);
  put(0, 1, INFINITY);
  put(1, 0, INFINITY);
  put(1, 1, NAN);
  put(2, length - 1, NAN);
  put(3, length / 2, -INFINITY);
  for (int64_t i = 0; i < length; ++i) {
    put(4, i, NAN);
    put(5, i, -INFINITY);
    if (lines > 6)
      put(6, i, 7.0);
  }
  X.refresh();
}

static void floatLines(const char *kernel, CtArgs types, int64_t lines,
                       int64_t length, Layout layout = row,
                       ScheduleArgs schedule = {}) {
  bool rows = llvm::StringRef(kernel) == "float_rows";
  Launch launch("reduce.tile", kernel, types, schedule);
  Tensor &X = launch.in("X", rows ? Shape{lines, length} : Shape{length, lines},
                        layout, integers(-2, 3));
  if (layout != Layout::Broadcast && layout != Layout::BroadcastLast)
    makeSpecialLines(X, rows);
  std::map<std::string, std::function<double(const Line &)>> oracles = {
      {"sum_", [](const Line &l) { return l.sum; }},
      {"prod_", [](const Line &l) { return l.prod; }},
      {"max_", [](const Line &l) { return l.max; }},
      {"min_", [](const Line &l) { return l.min; }},
      {"fmax_", [](const Line &l) { return l.fmax; }},
      {"fmin_", [](const Line &l) { return l.fmin; }},
      {"argmax_", [](const Line &l) { return double(l.argmax); }},
      {"argmin_", [](const Line &l) { return double(l.argmin); }},
      {"any_", [](const Line &l) { return double(l.any); }},
      {"all_", [](const Line &l) { return double(l.all); }}};
  std::map<std::string, Tensor *> results;
  for (auto &[name, oracle] : oracles)
    results[name] = &launch.out(name, {lines});
  Tensor &mean = launch.out("mean_", {lines});
  launch.run();
  std::vector<Line> expected;
  for (int64_t i = 0; i < lines; ++i)
    expected.emplace_back(lineOf(X, i, rows));
  for (auto &[name, oracle] : oracles) {
    auto f = oracle;
    // A product of many numbers may be rounded on the way.
    auto value = [&](Index i) { return f(expected[size_t(i[0])]); };
    if (name == "prod_")
      expectClose(*results[name], value);
    else
      expectExact(*results[name], value);
  }
  expectClose(mean, [&](Index i) {
    return expected[size_t(i[0])].sum / double(length);
  });
}

TEST_CASE("reductions of floats", "[reduce]") {
  for (const char *kernel : {"float_rows", "float_columns"}) {
    for (int64_t length : {0, 1, 2, 7, 48, 77, 229, 1025})
      floatLines(kernel, {}, 9, length);
    for (const char *dtype : {"bf16", "f16", "f8e5m2", "tf32"})
      floatLines(kernel, {{"T", dtype}}, 9, 48);
    floatLines(kernel, {{"T", "f64"}, {"S", "f64"}}, 9, 77);
    for (Layout layout : inputLayouts())
      floatLines(kernel, {}, 20, 33, layout);
  }
  for (int64_t m : {1, 3, 16})
    floatLines("float_rows", {}, 20, 77, row, {{"m", m}});
  floatLines("float_rows", {}, 1000, 7);
  floatLines("float_rows", {}, 0, 7);
}

template <typename S, typename T>
static void intRows(const char *dtype, const char *sums,
                    std::vector<int64_t> extremes) {
  constexpr int64_t M = 6;
  for (int64_t N : {1, 20, 77}) {
    Launch launch("reduce.tile", "int_rows", {{"T", dtype}, {"S", sums}});
    bool isUnsigned = dtype[0] == 'u';
    Tensor &X = launch.in("X", {M, N}, row,
                          isUnsigned ? integers(0, 200) : integers(-100, 100));
    for (size_t i = 0; i < extremes.size(); ++i)
      X.setInt({int64_t(i), N / 2}, extremes[i]);
    const char *names[] = {"sum_",    "prod_",   "max_",   "min_",
                           "argmax_", "argmin_", "absmax_"};
    std::vector<Tensor *> results;
    for (const char *name : names)
      results.push_back(&launch.out(name, {M}));
    launch.run();
    for (int64_t m = 0; m < M; ++m) {
      // Arithmetic wraps, which unsigned arithmetic does in C++.
      std::make_unsigned_t<S> sum = 0, prod = 1;
      S max = std::numeric_limits<S>::min(),
        min = std::numeric_limits<S>::max();
      S absmax = std::numeric_limits<S>::min();
      int64_t argmax = 0, argmin = 0;
      for (int64_t n = 0; n < N; ++n) {
        S x = S(X.view().getInt({m, n}));
        sum += std::make_unsigned_t<S>(x);
        prod *= std::make_unsigned_t<S>(x);
        if (n == 0 || x > max)
          max = x, argmax = n;
        if (n == 0 || x < min)
          min = x, argmin = n;
        S a = x < 0 ? S(0 - std::make_unsigned_t<S>(x)) : x;
        absmax = std::max(absmax, a);
      }
      const int64_t expected[] = {S(sum), S(prod), max,   min,
                                  argmax, argmin,  absmax};
      for (size_t i = 0; i < std::size(expected); ++i) {
        INFO(names[i] << " of row " << m << " in " << launch.describe());
        CHECK(results[i]->view().getInt({m}) == expected[i]);
      }
    }
  }
}

/// All numbers are on the one side of 0, as pads of 0 would win.
static void oneReduction(const char *dtype, int64_t N, Layout layout) {
  constexpr int64_t M = 5;
  bool isUnsigned = dtype[0] == 'u';
  for (bool isMax : {true, false}) {
    Launch launch("reduce.tile", isMax ? "one_max" : "one_min", {{"T", dtype}});
    Tensor &X =
        launch.in("X", {M, N}, layout,
                  isMax && !isUnsigned ? integers(-8, 0) : integers(1, 8));
    Tensor &Y = launch.out("Y", {M});
    launch.run();
    expectExact(Y, [&](Index i) {
      double best = X(i[0], 0);
      for (int64_t n = 1; n < N; ++n)
        best = isMax ? std::max(best, X(i[0], n)) : std::min(best, X(i[0], n));
      return best;
    });
  }
}

TEST_CASE("reductions: pads of every type", "[reduce]") {
  for (const char *dtype : {"i64", "i32", "i16", "i8", "u8", "f64", "f32",
                            "tf32", "f16", "bf16", "f8e4m3", "f8e5m2"})
    for (int64_t N : {1, 20, 77})
      oneReduction(dtype, N, row);
  for (const char *dtype : {"i16", "i8", "bf16"})
    for (Layout layout : inputLayouts())
      oneReduction(dtype, 40, layout);
  for (const char *dtype : {"i32", "i16", "i8", "u8"})
    for (int64_t N : {1, 20, 400}) {
      Launch launch("reduce.tile", "tile_sum", {{"T", dtype}});
      Tensor &X = launch.in("X", {N}, row, integers(0, 5));
      Tensor &Y = launch.out("Y", {N});
      launch.run();
      expectClose(Y, [&](Index i) {
        double sum = 0;
        int64_t begin = i[0] / 256 * 256;
        for (int64_t n = begin; n < std::min(N, begin + 256); ++n)
          sum -= X(n) * 0.5 * std::erfc(-X(n) / std::sqrt(2.0));
        return sum;
      });
    }
}

TEST_CASE("reductions of integers", "[reduce]") {
  intRows<int64_t, int64_t>(
      "i64", "i64",
      {int64_t(1) << 40, -(int64_t(1) << 40), INT64_MAX, INT64_MIN, 0});
  intRows<int32_t, int32_t>("i32", "i32", {INT32_MAX, INT32_MIN, 1 << 20, 0});
  intRows<int32_t, int16_t>("i16", "i32", {INT16_MAX, INT16_MIN, 0});
  intRows<int32_t, int8_t>("i8", "i32", {127, -128, 0});
  intRows<int32_t, uint8_t>("u8", "i32", {255, 0, 200});
}

TEST_CASE("a long row in tiles", "[reduce]") {
  for (int64_t n : {1, 7, 64, 2000})
    for (int64_t N : {0, 1, 77, 1025}) {
      Launch launch("reduce.tile", "tiled_row", {}, {{"n", n}});
      Tensor &X = launch.in("X", {N}, row, integers(-9, 3));
      Tensor &sum = launch.out("sum_", {1});
      Tensor &max = launch.out("max_", {1});
      Tensor &arg = launch.out("arg", {1});
      Tensor &any = launch.out("any_", {1});
      if (N > 100)
        X.set({N - 20}, 50);
      launch.run();
      std::vector<double> values;
      for (int64_t i = 0; i < N; ++i)
        values.push_back(X(i));
      Line line(values);
      expectExact(sum, [&](Index) { return line.sum; });
      expectExact(max, [&](Index) { return line.max; });
      expectExact(arg, [&](Index) { return double(line.argmax); });
      expectExact(any, [&](Index) { return double(line.any); });
    }
}

TEST_CASE("reductions of tiles cover valid positions only", "[reduce]") {
  for (int64_t N : {1, 20, 32, 33, 77}) {
    int64_t B = (N + 31) / 32;
    Launch launch("reduce.tile", "tile_argmin");
    Tensor &X = launch.in("X", {5, N}, Layout::Padded, integers(1, 100));
    Tensor &at = launch.out("at", {5, B});
    Tensor &least = launch.out("least", {5, B});
    launch.run();
    auto find = [&](Index i) {
      int64_t best = i[1] * 32;
      for (int64_t n = best; n < std::min(i[1] * 32 + 32, N); ++n)
        if (X(i[0], n) < X(i[0], best))
          best = n;
      return best;
    };
    expectExact(at, [&](Index i) { return double(find(i)); });
    expectExact(least, [&](Index i) { return X(i[0], find(i)); });
  }
  Launch launch("reduce.tile", "tile_total");
  Tensor &X = launch.in("X", {10, 33}, row, integers(-3, 4));
  Tensor &Y = launch.out("Y", {3, 3});
  Tensor &Z = launch.out("Z", {3, 3});
  launch.run();
  auto total = [&](Index i) {
    double sum = 0;
    bool all = true;
    for (int64_t m = i[0] * 4; m < std::min<int64_t>(i[0] * 4 + 4, 10); ++m)
      for (int64_t n = i[1] * 16; n < std::min<int64_t>(i[1] * 16 + 16, 33);
           ++n) {
        sum += X(m, n);
        all &= X(m, n) > -2;
      }
    return std::pair(sum, all);
  };
  expectExact(Y, [&](Index i) { return total(i).first; });
  expectExact(Z, [&](Index i) { return double(total(i).second); });
}

TEST_CASE("reductions over several axes", "[reduce]") {
  for (Shape shape :
       {Shape{3, 5, 7, 10}, Shape{1, 4, 1, 3}, Shape{2, 3, 0, 4}}) {
    Launch launch("reduce.tile", "several_axes");
    int64_t A = shape[0], B = shape[1], C = shape[2], D = shape[3];
    Tensor &X = launch.in("X", shape, Layout::Transposed, integers());
    Tensor &ab = launch.out("ab", {C, D});
    Tensor &ad = launch.out("ad", {B, C});
    Tensor &bcd = launch.out("bcd", {A});
    Tensor &all = launch.out("all_", {1});
    Tensor &most = launch.out("most", {C, A});
    launch.run();
    // Sums and maxima over the axes that `fixed` leaves at -1.
    auto over = [&](std::array<int64_t, 4> fixed, bool isMax = false) {
      double sum = 0, max = -INFINITY;
      for (int64_t a = 0; a < A; ++a)
        for (int64_t b = 0; b < B; ++b)
          for (int64_t c = 0; c < C; ++c)
            for (int64_t d = 0; d < D; ++d) {
              int64_t at[] = {a, b, c, d};
              bool in = true;
              for (size_t k = 0; k < 4; ++k)
                in &= fixed[k] < 0 || fixed[k] == at[k];
              if (!in)
                continue;
              sum += X(a, b, c, d);
              max = std::max(max, X(a, b, c, d));
            }
      return isMax ? max : sum;
    };
    expectExact(ab, [&](Index i) { return over({-1, -1, i[0], i[1]}); });
    expectExact(ad, [&](Index i) { return over({-1, i[0], i[1], -1}); });
    expectExact(bcd, [&](Index i) { return over({i[0], -1, -1, -1}); });
    expectExact(all, [&](Index) { return over({-1, -1, -1, -1}); });
    expectExact(most,
                [&](Index i) { return over({i[1], -1, i[0], -1}, true); });
  }
  struct Types {
    const char *T, *S;
  };
  for (Types types : {Types{"u8", "i32"}, Types{"i64", "i64"},
                      Types{"f8e4m3", "f32"}, Types{"f64", "f64"}}) {
    Launch launch("reduce.tile", "total", {{"T", types.T}, {"S", types.S}});
    bool isUnsigned = types.T[0] == 'u';
    Tensor &X = launch.in("X", {33, 61}, row,
                          isUnsigned ? integers(0, 256) : integers());
    Tensor &Y = launch.out("Y", {1});
    if (types.T[0] == 'i')
      X.setInt({3, 3}, int64_t(1) << 40);
    launch.run();
    expectExact(Y, [&](Index) {
      double sum = 0;
      for (int64_t m = 0; m < 33; ++m)
        for (int64_t n = 0; n < 61; ++n)
          sum += X(m, n);
      return sum;
    });
  }
}
