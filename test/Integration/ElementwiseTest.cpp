//===- ElementwiseTest.cpp - Kernels without reductions ---------*- C++ -*-===//
//
// std/elementwise.tile, examples/vector_add.tile, and every elementwise
// function on every float type, in all memory layouts.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/NarrowFloat.h"
#include "test/Integration/Harness.h"

#include <cfloat>
#include <cmath>

using namespace tilec;
using namespace tilec::test;

static double gelu(double x) { return 0.5 * x * (1 + std::erf(x / M_SQRT2)); }
static double silu(double x) { return x / (1 + std::exp(-x)); }

TEST_CASE("add: all types, lengths and layouts", "[elementwise]") {
  for (const char *dtype :
       {"f32", "f64", "bf16", "f16", "f8e4m3", "f8e5m2", "i32", "i64"})
    for (int64_t N : extents) {
      Launch launch("std/elementwise.tile", "add_arrays", {{"T", dtype}});
      Tensor &X = launch.in("X", {N}, Layout::RowMajor, integers(-8, 8));
      Tensor &Y = launch.in("Y", {N}, Layout::RowMajor, integers(-6, 7));
      Tensor &Z = launch.out("Z", {N});
      launch.run();
      expectExact(Z, [&](Index i) { return X(i[0]) + Y(i[0]); });
    }
  for (Layout x : inputLayouts())
    for (Layout z : {Layout::RowMajor, Layout::Gaps2, Layout::Reversed}) {
      Launch launch("std/elementwise.tile", "add_arrays", {{"T", "f32"}});
      Tensor &X = launch.in("X", {1025}, x);
      Tensor &Y = launch.in("Y", {1025}, Layout::Offset);
      Tensor &Z = launch.out("Z", {1025}, z);
      launch.run();
      expectClose(Z, [&](Index i) { return X(i[0]) + Y(i[0]); });
    }
}

TEST_CASE("vector_add: any tile size gives the same bits", "[elementwise]") {
  for (int64_t tile : {1, 3, 64, 1000})
    for (unsigned threads : {1, 5}) {
      Launch launch("examples/vector_add.tile", "vector_add", {},
                    {{"n", tile}});
      Tensor &X = launch.in("X", {1025}, Layout::RowMajor);
      Tensor &Y = launch.in("Y", {1025}, Layout::RowMajor);
      Tensor &Z = launch.out("Z", {1025});
      launch.threads = threads;
      launch.run();
      CHECK(launch.numPrograms == (1025 + tile - 1) / tile);
      expectExact(Z, [&](Index i) {
        return static_cast<float>(X(i[0])) + static_cast<float>(Y(i[0]));
      });
    }
}

TEST_CASE("elu: a scalar with a default", "[elementwise]") {
  for (const char *kernel : {"elu_forward", "elu_untiled"})
    for (const char *dtype : {"f32", "f64", "bf16", "f16"})
      for (bool given : {false, true}) {
        Launch launch("pointwise.tile", kernel, {{"T", dtype}});
        Tensor &X = launch.in("X", {77});
        Tensor &Y = launch.out("Y", {77});
        double alpha = given ? 0.375 : 1.0;
        if (given)
          launch.scalar("alpha", alpha);
        launch.run();
        Tolerance tolerance = toleranceOf(Y.dtype());
        if (Y.dtype() == DType::F64) // The function is one of f32.
          tolerance = toleranceOf(DType::F32);
        expectClose(
            Y,
            [&](Index i) {
              double x = X(i[0]);
              return x > 0 ? x : alpha * (std::exp(x) - 1);
            },
            tolerance);
      }
}

TEST_CASE("bias_gelu and silu_mul: sizes, types and layouts", "[elementwise]") {
  auto biasGelu = [](const char *kernel, const char *dtype, int64_t M,
                     int64_t N, Layout x, Layout b, Layout y) {
    Launch launch("pointwise.tile", kernel, {{"T", dtype}});
    Tensor &X = launch.in("X", {M, N}, x);
    Tensor &bias = launch.in("bias", {N}, b);
    Tensor &Y = launch.out("Y", {M, N}, y);
    launch.run();
    expectClose(Y, [&](Index i) { return gelu(X(i[0], i[1]) + bias(i[1])); });
  };
  auto siluMul = [](const char *dtype, int64_t M, int64_t N, Layout g, Layout u,
                    Layout y) {
    Launch launch("std/elementwise.tile", "silu_mul", {{"T", dtype}});
    Tensor &gate = launch.in("gate", {M, N}, g);
    Tensor &up = launch.in("up", {M, N}, u);
    Tensor &Y = launch.out("Y", {M, N}, y);
    launch.run();
    expectClose(
        Y, [&](Index i) { return silu(gate(i[0], i[1])) * up(i[0], i[1]); });
  };
  constexpr Layout row = Layout::RowMajor;
  for (int64_t M : {0, 1, 7, 77})
    for (int64_t N : {0, 1, 77, 1025}) {
      biasGelu("bias_gelu", "f32", M, N, row, row, row);
      siluMul("bf16", M, N, row, row, row);
    }
  for (const char *dtype : {"f64", "bf16", "f16", "f8e4m3", "f8e5m2", "tf32"}) {
    biasGelu("bias_gelu", dtype, 7, 1000, row, row, row);
    siluMul(dtype, 77, 7, row, row, row);
  }
  for (Layout x : inputLayouts())
    for (Layout y : outputLayouts())
      if (x == row || y == row || x == y)
        biasGelu("bias_gelu", "f32", 77, 131, x, Layout::Gaps2, y);
  for (int64_t M : {0, 1, 7})
    for (int64_t N : {0, 1, 77})
      biasGelu("bias_gelu_untiled", "f32", M, N, row, row, row);
  biasGelu("bias_gelu_untiled", "bf16", 77, 1000, row, row, row);
  // Rows that begin at any byte: whole tiles, parts of them, the first and the
  // last row.
  for (int64_t N : {511, 513, 1025, 1534, 2051}) {
    biasGelu("bias_gelu", "bf16", 11, N, row, row, row);
    biasGelu("bias_gelu", "f8e5m2", 11, N, row, row, row);
  }
  biasGelu("bias_gelu_untiled", "f32", 77, 131, Layout::Transposed,
           Layout::Gaps3, Layout::Reversed);
}

TEST_CASE("gelu: how exact", "[elementwise]") {
  constexpr int64_t N = 100000;
  Launch launch("pointwise.tile", "gelu_alone");
  Tensor &X = launch.in("X", {N});
  // From -16 to 16, and half of them near 0.
  X.setAll([](Index i) {
    double x = double(i[0]) * 2 / N - 1;
    return i[0] % 2 ? 16 * x : x * x * x;
  });
  Tensor &Y = launch.out("Y", {N});
  launch.run();
  double worst = 0;
  for (int64_t i = 0; i < N; ++i) {
    double x = X(i), expected = x * 0.5 * std::erfc(-x / M_SQRT2);
    double error = std::fabs(Y.result(i) - expected);
    worst = std::max(worst,
                     x > -0.5 && x != 0 ? error / std::fabs(expected) : error);
  }
  CHECK(worst < 5e-7);
}

/// Values that functions are special at, and a spread of ordinary ones.
static std::vector<double> interestingValues(DType dtype) {
  std::vector<double> values = {
      0.0,  -0.0,  1.0,   -1.0,   0.5,      -0.5,      1.5,  -1.5, 2.5,
      -2.5, 3.49,  -3.49, 1e-3,   -1e-3,    9.0,       -9.0, 30.0, -30.0,
      88.0, -88.0, 100.0, -100.0, INFINITY, -INFINITY, NAN};
  if (!isFloat8(dtype))
    for (double value : {1e-7, -1e-7, 1e4, -1e4, 6.02e4})
      values.push_back(value);
  for (uint64_t i = 0; i < 100; ++i)
    values.push_back(normalAt(streamSeed(Catch::rngSeed(), "values"), i) * 3);
  return values;
}

TEST_CASE("every function of one number", "[elementwise]") {
  struct Function {
    const char *name;
    double (*value)(double);
    double least = 0; // What may be wrong with an f32 anywhere.
  };
  // GPUs give 0 for results that would be subnormal.
  const double flushed = runsOnGpu() ? FLT_MIN : 0;
  const Function functions[] = {
      {"exp_", [](double x) { return std::exp(x); }, flushed},
      {"exp2_", [](double x) { return std::exp2(x); }, flushed},
      {"log_", [](double x) { return std::log(x); }},
      {"log2_", [](double x) { return std::log2(x); }},
      {"sqrt_", [](double x) { return std::sqrt(x); }},
      {"rsqrt_", [](double x) { return 1 / std::sqrt(x); }},
      {"tanh_", [](double x) { return std::tanh(x); }},
      // exp(-x) may be infinite.
      {"sigmoid_", [](double x) { return 1 / (1 + std::exp(-x)); }, 1e-37},
      {"erf_", [](double x) { return std::erf(x); }},
      // 1 + erf(x) cancels where erf is near -1.
      {"gelu_", gelu, 1e-6},
      {"silu_", silu, 1e-37},
      {"relu_",
       [](double x) { return std::isnan(x) ? NAN : std::max(x, 0.0); }},
      {"floor_", [](double x) { return std::floor(x); }},
      {"ceil_", [](double x) { return std::ceil(x); }},
      {"round_", [](double x) { return std::nearbyint(x); }},
      {"sin_", [](double x) { return std::sin(x); }},
      {"cos_", [](double x) { return std::cos(x); }},
      {"abs_", [](double x) { return std::fabs(x); }},
      {"neg_", [](double x) { return -x; }},
  };
  for (const char *dtype : {"f32", "f64", "bf16", "f16", "f8e4m3", "f8e5m2"}) {
    Launch launch("pointwise.tile", "unary", {{"T", dtype}});
    std::vector<double> values = interestingValues(*parseDType(dtype));
    auto N = static_cast<int64_t>(values.size());
    Tensor &X = launch.in("X", {N});
    X.setAll(values);
    std::vector<Tensor *> results;
    for (const Function &function : functions)
      results.push_back(&launch.out(function.name, {N}));
    launch.run();
    for (size_t f = 0; f < results.size(); ++f) {
      // Relative to each element: the largest of exp says nothing about others.
      Tolerance tolerance = toleranceOf(*parseDType(dtype));
      tolerance.absolute = 0;
      tolerance.least = functions[f].least;
      const Tensor &result = *results[f];
      // At -inf the limit of x * sigmoid(x) is 0, the product is NaN; either
      // will do.
      auto isSpecial = [&](double x) {
        return x == -INFINITY &&
               (result.name() == "gelu_" || result.name() == "silu_");
      };
      expectClose(
          result,
          [&](Index i) {
            double x = X(i[0]);
            if (isSpecial(x))
              return result.result(i[0]) == 0 ? 0.0 : std::nan("");
            return functions[f].value(x);
          },
          tolerance);
    }
  }
}

TEST_CASE("every function of two numbers", "[elementwise]") {
  for (const char *dtype : {"f32", "f64", "bf16", "f16", "f8e5m2"}) {
    Launch launch("pointwise.tile", "binary", {{"T", dtype}});
    std::vector<double> special = {0.0,   1.0, -1.0,     2.5,       -3.0,
                                   0.125, 8.0, INFINITY, -INFINITY, NAN};
    auto n = static_cast<int64_t>(special.size());
    int64_t N = n * n + 60;
    Tensor &X = launch.in("X", {N});
    Tensor &Y = launch.in("Y", {N});
    for (int64_t i = 0; i < n * n; ++i) {
      X.view().setDouble({i}, special[static_cast<size_t>(i / n)]);
      Y.view().setDouble({i}, special[static_cast<size_t>(i % n)]);
    }
    X.refresh();
    Y.refresh();
    std::map<std::string, double (*)(double, double)> functions = {
        {"add_", [](double x, double y) { return x + y; }},
        {"sub_", [](double x, double y) { return x - y; }},
        {"mul_", [](double x, double y) { return x * y; }},
        {"div_", [](double x, double y) { return x / y; }},
        {"max_",
         [](double x, double y) {
           return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y);
         }},
        {"min_",
         [](double x, double y) {
           return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y);
         }},
        {"fmax_", [](double x, double y) { return std::fmax(x, y); }},
        {"fmin_", [](double x, double y) { return std::fmin(x, y); }},
        {"pow_", [](double x, double y) { return std::pow(std::fabs(x), y); }},
        {"lt", [](double x, double y) { return double(x < y); }},
        {"le", [](double x, double y) { return double(x <= y); }},
        {"gt", [](double x, double y) { return double(x > y); }},
        {"ge", [](double x, double y) { return double(x >= y); }},
        {"eq", [](double x, double y) { return double(x == y); }},
        {"ne", [](double x, double y) { return double(x != y); }},
        {"both", [](double x, double y) { return double(x > 0 && y > 0); }},
        {"either", [](double x, double y) { return double(x > 0 || y > 0); }},
        {"neither",
         [](double x, double y) { return double(!(x > 0 || y > 0)); }}};
    std::map<std::string, Tensor *> results;
    for (auto &[name, function] : functions)
      results[name] = &launch.out(name, {N});
    launch.run();
    for (auto &[name, function] : functions) {
      Tolerance tolerance = toleranceOf(results[name]->dtype());
      tolerance.absolute = 0;
      auto f = function;
      expectClose(
          *results[name], [&](Index i) { return f(X(i[0]), Y(i[0])); },
          tolerance);
    }
  }
}

TEST_CASE("a chain of operations is computed in f32", "[elementwise]") {
  for (int64_t M : {1, 33}) {
    Launch launch("pointwise.tile", "chain");
    Tensor &X = launch.in("X", {M, 77});
    Tensor &bias = launch.in("bias", {77});
    Tensor &Y = launch.out("Y", {M, 77});
    launch.scalar("scale", 0.3);
    launch.run();
    expectClose(Y, [&](Index i) {
      double x = X(i[0], i[1]);
      return 2 * (x > 0 ? 1 / (1 + std::exp(-x * 0.3f)) - 0.5 : bias(i[1]));
    });
  }
}

TEST_CASE("extents of 1 and ranks up to 4", "[elementwise]") {
  for (int64_t M : {1, 7})
    for (int64_t N : {1, 77}) {
      Launch launch("pointwise.tile", "ones");
      Tensor &A = launch.in("A", {1, N}, Layout::RowMajor, integers());
      Tensor &B = launch.in("B", {M, 1}, Layout::RowMajor, integers());
      Tensor &C = launch.in("C", {1}, Layout::RowMajor, integers());
      Tensor &Y = launch.out("Y", {M, N});
      launch.run();
      expectExact(Y, [&](Index i) { return A(0, i[1]) * B(i[0], 0) + C(0); });
    }
  for (const char *kernel : {"rank4", "rank4_untiled"})
    for (Layout layout : {Layout::RowMajor, Layout::Transposed,
                          Layout::Reversed, Layout::Offset})
      for (Shape shape : {Shape{3, 5, 7, 4}, Shape{1, 1, 1, 1},
                          Shape{2, 0, 3, 2}, Shape{6, 2, 1, 70}}) {
        Launch launch("pointwise.tile", kernel);
        int64_t A = shape[0], B = shape[1], C = shape[2], D = shape[3];
        Tensor &X = launch.in("X", shape, layout, integers());
        Tensor &s = launch.in("s", {B, D}, Layout::RowMajor, integers());
        Tensor &t = launch.in("t", {C}, Layout::Gaps2, integers());
        Tensor &Y = launch.out("Y", {D, B, A, C}, layout);
        launch.run();
        expectExact(Y, [&](Index i) {
          return X(i[2], i[1], i[3], i[0]) * s(i[1], i[0]) + t(i[3]);
        });
      }
}

TEST_CASE("scalar parameters of every type", "[elementwise]") {
  Launch launch("pointwise.tile", "scalars");
  launch.scalar("a", 0.1);
  launch.scalar("b", 0.1);
  launch.scalar("c", 0.1);
  launch.scalar("d", 0.1);
  launch.scalar("k", 0.1);
  launch.scalar("l", 0.1);
  launch.scalar("m", 0.1);
  launch.scalarInt("e", -(int64_t(1) << 40) - 3);
  launch.scalarInt("f", -2000000000);
  launch.scalarInt("g", -30000);
  launch.scalarInt("h", -128);
  launch.scalarInt("i", 200);
  launch.scalarInt("j", 1);
  Tensor &real = launch.out("real", {8});
  Tensor &whole = launch.out("whole", {6});
  launch.run();
  auto rounded = [](DType dtype) { return roundToFloat(dtype, 0.1); };
  const double reals[] = {0.1,
                          rounded(DType::F32),
                          rounded(DType::F16),
                          rounded(DType::BF16),
                          rounded(DType::TF32),
                          rounded(DType::F8E4M3),
                          rounded(DType::F8E5M2),
                          0.1 * rounded(DType::F32)};
  expectExact(real, [&](Index i) { return reals[i[0]]; });
  const double ints[] = {
      -double(int64_t(1) << 40) - 3, -2e9, -30000, -128, 200, 1};
  expectExact(whole, [&](Index i) { return ints[i[0]]; });
}

TEST_CASE("inout parameters are read and written in place", "[elementwise]") {
  for (Layout layout : outputLayouts())
    for (int64_t N : {0, 1, 77, 1025}) {
      Launch launch("pointwise.tile", "in_place");
      Tensor &X = launch.in("X", {N}, Layout::RowMajor, integers());
      Tensor &Y = launch.inout("Y", {N}, layout, integers());
      launch.run();
      expectExact(Y, [&](Index i) { return Y(i[0]) * 2 + X(i[0]) - 1; });
    }
}

TEST_CASE("constants and positions fill every element", "[elementwise]") {
  for (int64_t N : {1, 3, 4, 5, 77, 1025}) {
    Launch launch("pointwise.tile", "fill_negative");
    Tensor &Y = launch.out("Y", {N});
    launch.run();
    expectExact(Y, [](Index) { return -5.0; });
  }
  for (int64_t tile : {1, 7, 64}) {
    Launch launch("pointwise.tile", "fill_positions", {},
                  {{"m", tile}, {"n", 13}});
    Tensor &Y = launch.out("Y", {77, 131}, Layout::Padded);
    launch.run();
    expectExact(Y, [](Index i) { return double(i[0] * 1000 + i[1]); });
  }
}
