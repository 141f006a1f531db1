//===- MathAccuracyTest.cpp - How far off the functions are -----*- C++ -*-===//
//
// Sweeps all f32 numbers in steps, with every special value and the ends of the
// ranges, and compares with the C library in double.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace tilec;
using namespace tilec::test;

namespace {

std::string functionKernel(const std::string &op, const std::string &type) {
  return fill(R"(
tile.kernel @function($X, $Y) {
  %N = tile.dim %X, 0 : !tile.view<?x$T>
  scf.forall (%n) = (0) to (%N) step (1024) {
    %v = tile.valid %n to %N size 1024
    %x = tile.load %X[%n] dims [0] valid [%v] pad zero
        : !tile.view<?x$T> -> tensor<1024x$T>
    %y = math.$OP %x : tensor<1024x$T>
    tile.store %y, %Y[%n] dims [0] valid [%v]
        : tensor<1024x$T>, !tile.view<?x$T>
  }
  tile.return
})",
              {{"X", view("X", "?x" + type, "in", 0)},
               {"Y", view("Y", "?x" + type, "out", 0)},
               {"OP", op},
               {"T", type}});
}

/// The distance of an f32 from a real number, in units of the f32's last place.
double unitsOff(float found, double expected) {
  float nearest = float(expected);
  if (found == nearest || (found != found && expected != expected))
    return 0;
  if (found != found || expected != expected || std::isinf(nearest) ||
      std::isinf(found))
    return 1e30;
  int exponent;
  std::frexp(expected, &exponent);
  double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::abs(found - expected) / unit;
}

void checkFunction(const std::string &op, double (*reference)(double),
                   double limit, const std::string &processor = "") {
  cpu::CompileOptions options = Kernel::defaultOptions();
  options.cpu = processor;
  Kernel kernel(functionKernel(op, "f32"), options);
  std::vector<float> inputs = {0.0f, -0.0f, INFINITY, -INFINITY, NAN,
                               1.0f, -1.0f, 1e-45f,   -1e-45f};
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 1999) {
    uint32_t word = uint32_t(bits);
    float x;
    std::memcpy(&x, &word, 4);
    inputs.push_back(x);
  }
  // Where results leave the range, where formulas change, around 1.
  for (float center :
       {88.72284f, -87.33655f, -103.97208f, 128.0f, -126.0f, -149.0f, -149.5f,
        -150.0f, 0.625f, 0.925f, 3.9f, 9.01f, 1.0f, 0.70710678f, 1.41421356f}) {
    float x = center, y = center;
    for (int i = 0; i < 300; ++i) {
      inputs.insert(inputs.end(), {x, y, -x, -y});
      x = std::nextafter(x, INFINITY);
      y = std::nextafter(y, -INFINITY);
    }
  }
  for (int i = -4000; i <= 4000; ++i)
    inputs.push_back(float(i) / 37);
  int64_t count = inputs.size();
  Tensor<float> x({count}), y({count});
  llvm::copy(inputs, x.data());
  kernel.run({x.argument(), y.argument()});
  double worst = 0;
  float at = 0;
  for (int64_t i = 0; i < count; ++i) {
    double off = unitsOff(y[i], reference(double(x[i])));
    if (off > worst) {
      worst = off;
      at = x[i];
    }
  }
  INFO(op << ": off by " << worst << " units at " << at << " on '" << processor
          << "'");
  CHECK(worst <= limit);
}

} // namespace

TEST_CASE("f32 functions are accurate everywhere", "[cpu]") {
  std::string processor = GENERATE("", "x86-64");
  checkFunction("exp", std::exp, 1.5, processor);
  checkFunction("exp2", std::exp2, 1.5, processor);
  checkFunction("log", std::log, 1.5, processor);
  checkFunction("log2", std::log2, 2.5, processor);
  checkFunction("tanh", std::tanh, 2.5, processor);
  checkFunction("erf", std::erf, 2.0, processor);
  checkFunction("sqrt", std::sqrt, 0.51, processor);
  checkFunction(
      "rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.6, processor);
}

TEST_CASE("functions of the C library", "[cpu]") {
  checkFunction("sin", std::sin, 1);
  checkFunction("cos", std::cos, 1);
  checkFunction("floor", std::floor, 0);
  checkFunction("ceil", std::ceil, 0);
  checkFunction("roundeven", std::nearbyint, 0);
  checkFunction("absf", std::fabs, 0);
}

TEST_CASE("f64 functions", "[cpu]") {
  std::pair<const char *, double (*)(double)> functions[] = {
      {"exp", std::exp},   {"exp2", std::exp2}, {"log", std::log},
      {"log2", std::log2}, {"tanh", std::tanh}, {"erf", std::erf},
      {"sin", std::sin},   {"cos", std::cos},   {"sqrt", std::sqrt}};
  for (auto [op, reference] : functions) {
    INFO(op);
    Kernel kernel(functionKernel(op, "f64"));
    Tensor<double> x({2000}), y({2000});
    x.randomReals(31, 0.001, 30);
    kernel.run({x.argument(), y.argument()});
    for (int i = 0; i < 2000; ++i)
      REQUIRE(y[i] == Approx(reference(x[i])).epsilon(1e-14));
  }
}

TEST_CASE("powers", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @power($X, $Y, $Z) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] dims [0] pad zero
        : !tile.view<256xf32> -> tensor<256xf32>
    %y = tile.load %Y[%c0] dims [0] pad zero
        : !tile.view<256xf32> -> tensor<256xf32>
    %z = math.powf %x, %y : tensor<256xf32>
    tile.store %z, %Z[%c0] dims [0] : tensor<256xf32>, !tile.view<256xf32>
  }
  tile.return
})",
                     {{"X", view("X", "256xf32", "in", 0)},
                      {"Y", view("Y", "256xf32", "in", 0)},
                      {"Z", view("Z", "256xf32", "out", 0)}}));
  Tensor<float> x({256}), y({256}), z({256});
  x.randomReals(32, 0, 10);
  y.randomReals(33, -5, 5);
  x[0] = 0, y[0] = 0;
  x[1] = -2, y[1] = 3;
  x[2] = -2, y[2] = 0.5;
  kernel.run({x.argument(), y.argument(), z.argument()});
  for (int i = 0; i < 256; ++i)
    REQUIRE(unitsOff(z[i], std::pow(double(x[i]), double(y[i]))) <= 1);
}
