//===- EvaluateTest.cpp - Scalar expressions on the host --------*- C++ -*-===//
//
// The arithmetic of constants, defaults and requirements, against C++'s own.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Evaluate.h"

#include "test/Unit/Frontend/Analyzing.h"
#include <cmath>
#include <limits>

using namespace tilec;
using namespace tilec::test;

/// The value of a constant expression of a type, as a parameter's default.
static ScalarValue valueOf(const std::string &expr, const std::string &type) {
  Analyzed program("kernel k(x: " + type + " = " + expr +
                   ", C: out f32[M]) { C = 0 }");
  INFO(expr << "\n" << program.messages());
  REQUIRE(program.kernel);
  auto value = evaluateScalar(*program.kernel->params[0]->defaultValue, {});
  REQUIRE(static_cast<bool>(value));
  return *value;
}

static int64_t intOf(const std::string &expr) {
  return valueOf(expr, "i64").integer;
}
static double f32Of(const std::string &expr) {
  return valueOf(expr, "f32").real;
}
static double f64Of(const std::string &expr) {
  return valueOf(expr, "f64").real;
}

/// The value of a requirement for given sizes.
static bool holds(const std::string &requirement,
                  llvm::StringMap<int64_t> dims) {
  Analyzed program("kernel k(n: i32, s: f32, A: f32[M, N], C: out f32[M]) "
                   "requires " +
                   requirement + " { C = 0 }");
  INFO(requirement << "\n" << program.messages());
  REQUIRE(program.kernel);
  REQUIRE(program.kernel->requirements.size() == 1);
  ScalarBindings bindings;
  bindings.dims = std::move(dims);
  bindings.params["n"] = ScalarValue::ofInt(-3, DType::I32);
  bindings.params["s"] = ScalarValue::ofFloat(0.1f, DType::F32);
  auto value = evaluateRequirement(*program.kernel->requirements[0], bindings);
  REQUIRE(static_cast<bool>(value));
  return *value;
}

TEST_CASE("integer division floors and gives 0 for 0", "[evaluate]") {
  for (int64_t a = -7; a <= 7; ++a)
    for (int64_t b = -3; b <= 3; ++b) {
      auto text = "(" + std::to_string(a) + ")";
      auto divisor = "(" + std::to_string(b) + ")";
      int64_t quotient =
          b == 0 ? 0
                 : static_cast<int64_t>(std::floor(static_cast<double>(a) /
                                                   static_cast<double>(b)));
      int64_t remainder = b == 0 ? 0 : a - quotient * b;
      CHECK(intOf(text + " / " + divisor) == quotient);
      CHECK(intOf(text + " % " + divisor) == remainder);
    }
}

TEST_CASE("integers wrap", "[evaluate]") {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  CHECK(intOf("9223372036854775807 + 1") == least);
  CHECK(intOf("-9223372036854775808") == least);
  CHECK(intOf("-(-9223372036854775808)") == least);
  CHECK(intOf("-9223372036854775808 - 1") == most);
  CHECK(intOf("-9223372036854775808 / -1") == least);
  CHECK(intOf("-9223372036854775808 % -1") == 0);
  CHECK(intOf("abs(-9223372036854775808)") == least);
  CHECK(intOf("4611686018427387904 * 2") == least);
  CHECK(valueOf("i32(2147483647) + i32(1)", "i32").integer == INT32_MIN);
  CHECK(valueOf("-i32(-2147483648)", "i32").integer == INT32_MIN);
}

TEST_CASE("literals are rounded once", "[evaluate]") {
  CHECK(f32Of("0.1") == static_cast<double>(0.1f));
  CHECK(f64Of("0.1") == 0.1);
  CHECK(f64Of("-0.1") == -0.1);
  // Halfway between two f32 but for its last digit, which a double drops.
  CHECK(f32Of("1.000000059604644775390625000000001") ==
        static_cast<double>(std::nextafter(1.0f, 2.0f)));
  CHECK(f32Of("1.000000059604644775390625") == 1.0);
  CHECK(f32Of("-1.000000059604644775390625000000001") ==
        -static_cast<double>(std::nextafter(1.0f, 2.0f)));
  CHECK(f32Of("16777217") == 16777216.0);
  CHECK(f32Of("16777219") == 16777220.0);
  CHECK(f64Of("9007199254740993") == 9007199254740992.0);
  CHECK(std::isinf(f32Of("inf")));
  CHECK(f32Of("-inf") < 0);
  CHECK(std::isnan(f32Of("nan")));
  CHECK(std::isinf(f32Of("1e39")));
  CHECK(f32Of("1e-50") == 0);
}

TEST_CASE("f32 arithmetic is rounded to f32", "[evaluate]") {
  volatile float third = 1.0f / 3.0f, tenth = 0.1f;
  CHECK(f32Of("f32(1) / f32(3)") == static_cast<double>(third));
  volatile float sum = third + tenth;
  CHECK(f32Of("f32(1) / f32(3) + f32(0.1)") == static_cast<double>(sum));
  CHECK(f64Of("f64(1) / f64(3)") == 1.0 / 3.0);
  CHECK(f32Of("sqrt(f32(2))") == static_cast<double>(std::sqrt(2.0f)));
  CHECK(f32Of("1 / 0.0") == std::numeric_limits<double>::infinity());
  CHECK(f32Of("pow(2, 10)") == 1024);
  CHECK(f32Of("round(2.5)") == 2);
  CHECK(f32Of("round(3.5)") == 4);
  CHECK(f32Of("floor(-1.5) + ceil(-1.5)") == -3);
  CHECK(f32Of("relu(-1.0)") == 0);
  CHECK(std::isnan(f32Of("max(nan, 1.0)")));
  CHECK(f32Of("fmax(nan, 1.0)") == 1);
  CHECK(f32Of("where(1 < 2, 3, 4)") == 3);
}

TEST_CASE("functions of reals are those of C++", "[evaluate]") {
  double x = 0.75;
  auto check = [&](const std::string &name, double expected) {
    INFO(name);
    CHECK(f64Of(name + "(0.75)") == Approx(expected).epsilon(1e-14));
    // Of an f32, not of a literal: rounded once.
    CHECK(f32Of(name + "(f32(0.75))") ==
          static_cast<double>(static_cast<float>(expected)));
  };
  check("exp", std::exp(x));
  check("exp2", std::exp2(x));
  check("log", std::log(x));
  check("log2", std::log2(x));
  check("sqrt", std::sqrt(x));
  check("rsqrt", 1 / std::sqrt(x));
  check("tanh", std::tanh(x));
  check("sigmoid", 1 / (1 + std::exp(-x)));
  check("erf", std::erf(x));
  check("gelu", 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))));
  check("silu", x / (1 + std::exp(-x)));
  check("sin", std::sin(x));
  check("cos", std::cos(x));
  CHECK(f64Of("min(3, 1.5) - max(2.0, 1)") == -0.5);
  CHECK(f64Of("fmin(nan, 2.0)") == 2);
  CHECK(std::isnan(f64Of("min(1.0, nan)")));
  CHECK(f64Of("abs(-2.5)") == 2.5);
}

TEST_CASE("casts follow the language", "[evaluate]") {
  CHECK(valueOf("i32(2.9)", "i32").integer == 2);
  CHECK(valueOf("i32(-2.9)", "i32").integer == -2);
  CHECK(valueOf("i32(1e20)", "i32").integer == INT32_MAX);
  CHECK(valueOf("i64(-1e30)", "i64").integer == INT64_MIN);
  CHECK(valueOf("i64(inf)", "i64").integer == INT64_MAX);
  CHECK(valueOf("i8(nan)", "i8").integer == 0);
  CHECK(valueOf("u8(-1)", "u8").integer == 255);
  CHECK(valueOf("u8(-1.5)", "u8").integer == 0);
  CHECK(valueOf("u8(300.0)", "u8").integer == 255);
  CHECK(valueOf("i8(200)", "i8").integer == -56);
  CHECK(valueOf("f8e4m3(1000)", "f8e4m3").real == 448);
  CHECK(valueOf("f8e4m3(-inf)", "f8e4m3").real == -448);
  CHECK(valueOf("f8e5m2(1e9)", "f8e5m2").real == 57344);
  CHECK(std::isnan(valueOf("f8e4m3(nan)", "f8e4m3").real));
  CHECK(valueOf("f8e4m3(1.0625001)", "f8e4m3").real == 1.125);
  CHECK(valueOf("f8e4m3(1.0625)", "f8e4m3").real == 1.0);
  CHECK(std::isinf(valueOf("f16(70000)", "f16").real));
  CHECK(valueOf("bf16(1.00390625)", "bf16").real == 1.0);
  CHECK(valueOf("tf32(1.00048828125)", "tf32").real == 1.0);
  CHECK(valueOf("f32(true)", "f32").real == 1);
  CHECK(valueOf("bool(0.5)", "bool").integer == 1);
  CHECK(valueOf("bool(nan)", "bool").integer == 1);
  CHECK(valueOf("f32(9007199791611905)", "f32").real ==
        9007200328482816.0); // Not by way of a double, which gives a tie.
}

TEST_CASE("requirements are evaluated for given sizes", "[evaluate]") {
  CHECK(holds("M % 4 == 0", {{"M", 8}}));
  CHECK_FALSE(holds("M % 4 == 0", {{"M", 9}}));
  CHECK(holds("M == N", {{"M", 3}, {"N", 3}}));
  CHECK(holds("M < N && N < 10 || M == 0", {{"M", 3}, {"N", 5}}));
  CHECK(holds("n / 2 == -2", {}));
  CHECK(holds("n % 2 == 1", {}));
  CHECK(holds("M * 0.5 > 1", {{"M", 3}}));
  CHECK(holds("s < 0.11 && s == 0.1", {}));
  CHECK_FALSE(holds("!(M > 0)", {{"M", 3}}));
  CHECK(holds("max(M, N) == 7 && min(M, N) == 2", {{"M", 7}, {"N", 2}}));
  // The left side of && and || decides alone, bound or not.
  CHECK_FALSE(holds("M > 5 && N > 5", {{"M", 1}}));
  CHECK(holds("M == 0 || N == 0", {{"M", 0}}));
}

TEST_CASE("functions work in requirements", "[evaluate]") {
  Analyzed program("fn divides(a: i64, b: i64) -> bool {\n"
                   "  rest = b % (a * 1)\n  rest == 0\n}\n"
                   "kernel k(A: f32[M, N], C: out f32[M]) "
                   "requires divides(M + 1, N * 2) { C = 0 }");
  REQUIRE(program.kernel);
  ScalarBindings bindings;
  bindings.dims = {{"M", 2}, {"N", 3}};
  auto value = evaluateRequirement(*program.kernel->requirements[0], bindings);
  REQUIRE(static_cast<bool>(value));
  CHECK(*value);
}

TEST_CASE("what has no value is an error that names it", "[evaluate]") {
  Analyzed program("kernel k(n: i64, A: f32[M], C: out f32[M]) "
                   "requires M > 3, n > 3 { C = 0 }");
  REQUIRE(program.kernel);
  auto dim = evaluateRequirement(*program.kernel->requirements[0], {});
  REQUIRE_FALSE(static_cast<bool>(dim));
  CHECK(llvm::toString(dim.takeError()) == "dimension 'M' has no value");
  auto param = evaluateRequirement(*program.kernel->requirements[1], {});
  REQUIRE_FALSE(static_cast<bool>(param));
  CHECK(llvm::toString(param.takeError()) == "parameter 'n' has no value");
}
