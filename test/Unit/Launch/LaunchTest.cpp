//===- LaunchTest.cpp - Matching arguments with a kernel --------*- C++ -*-===//
//
// Kinds, dtypes, extents, scalars and requirements: what is accepted, and each
// way to be wrong.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/Launch/Launching.h"
#include <cmath>

using namespace tilec;
using namespace tilec::test;
using Catch::Matchers::Contains;

static constexpr const char *matmul =
    "kernel matmul(A: f32[M, K], B: f32[K, N], C: out f32[M, N])\n"
    "    requires K % 4 == 0 && M <= N {\n"
    "  grid m in tile(M)\n"
    "  C[m] = dot<K>(A[m], B)\n"
    "}\n";

TEST_CASE("a launch gives every dimension its extent") {
  Launching launching(matmul);
  std::optional<BoundLaunch> bound =
      launching.bind({view({3, 8}), view({8, 5}, 100), view({3, 5}, 200)});
  REQUIRE(bound);
  CHECK(bound->extents.size() == 3);
  CHECK(bound->extents.lookup("M") == 3);
  CHECK(bound->extents.lookup("K") == 8);
  CHECK(bound->extents.lookup("N") == 5);
  REQUIRE(bound->args.size() == 3);
  CHECK(std::get<TensorView>(bound->args[1]).data == memory + 100);
}

TEST_CASE("any strides and empty arrays bind") {
  Launching launching(matmul);
  // Transposed, reversed, and broadcast inputs.
  CHECK(launching.binds({strided({3, 8}, {1, 3}), strided({8, 5}, {-5, 1}, 135),
                         view({3, 5}, 200)}));
  CHECK(launching.binds(
      {strided({3, 8}, {0, 0}), view({8, 5}, 100), view({3, 5}, 200)}));
  // An array without elements needs no memory.
  TensorView none = TensorView::contiguous(nullptr, DType::F32, {0, 8});
  CHECK(launching.binds({none, view({8, 5}),
                         TensorView::contiguous(nullptr, DType::F32, {0, 5})}));
  CHECK(launching.binds({view({3, 0}), view({0, 5}), view({3, 5}, 200)}));
}

TEST_CASE("the number of arguments") {
  Launching launching(matmul);
  CHECK_THAT(launching.failure({view({3, 8})}),
             Contains("k.tile:1:8: error: kernel 'matmul' takes 3 arguments, "
                      "got 1"));
  CHECK_THAT(launching.failure(
                 {view({3, 8}), view({8, 5}), view({3, 5}, 99), view({1})}),
             Contains("takes 3 arguments, got 4"));
  CHECK_THAT(launching.failure({}), Contains("takes 3 arguments, got 0"));
}

TEST_CASE("an argument of the wrong kind") {
  Launching launching("kernel k(X: f32[N], s: f32, d: f32 = 1, "
                      "Y: out f32[N]) {\n  Y = X * s * d\n}\n");
  Argument s = ScalarValue::ofFloat(2), d;
  CHECK(launching.binds({view({3}), s, d, view({3}, 10)}));

  CHECK_THAT(launching.failure({{}, s, d, view({3}, 10)}),
             Contains("k.tile:1:10: error: tensor 'X' of type f32[N] has no "
                      "value"));
  CHECK_THAT(launching.failure({s, s, d, view({3}, 10)}),
             Contains("tensor 'X' of type f32[N] got a scalar for its value"));
  CHECK_THAT(launching.failure({view({3}), view({3}), d, view({3}, 10)}),
             Contains("k.tile:1:21: error: argument 's' is expected to be a "
                      "scalar f32, got f32[3]"));
  // A default is no excuse.
  CHECK_THAT(launching.failure({view({3}), s, view({3}), view({3}, 10)}),
             Contains("argument 'd' is expected to be a scalar"));
  CHECK_THAT(launching.failure({view({3}), {}, d, view({3}, 10)}),
             Contains("scalar 's' of type f32 has no value and no default"));
}

TEST_CASE("a wrong dtype, rank or extent") {
  Launching launching("kernel k(X: bf16[N, 4], Y: out f32[N]) {\n"
                      "  grid n in tile(N)\n  Y[n] = sum(X[n])\n}\n");
  auto bf16 = [](std::initializer_list<int64_t> shape) {
    return view(shape, 0, DType::BF16);
  };
  TensorView y = view({3}, 100);
  CHECK(launching.binds({bf16({3, 4}), y}));

  CHECK_THAT(launching.failure({view({3, 4}), y}),
             Contains("argument 'X' is expected to be bf16, got f32") &&
                 Contains("help: convert the array, or declare the parameter "
                          "as 'f32'"));
  // The same size is not the same type.
  CHECK_THAT(launching.failure({view({3, 4}, 0, DType::F16), y}),
             Contains("is expected to be bf16, got f16"));
  CHECK_THAT(launching.failure({bf16({12}), y}),
             Contains("argument 'X' is expected to have 2 dimensions bf16[N, "
                      "4], got bf16[12]"));
  CHECK_THAT(launching.failure({bf16({3, 4, 1}), y}),
             Contains("expected to have 2 dimensions"));
  CHECK_THAT(launching.failure({bf16({3, 5}), y}),
             Contains("dimension 1 of 'X' is expected to be 4, got 5"));
  CHECK_THAT(launching.failure({bf16({3, 4}), view({2}, 100)}),
             Contains("k.tile:1:25: error: dimension 'N' disagrees: it is 3 in "
                      "'X' (dimension 0) and 2 in 'Y' (dimension 0)") &&
                 Contains("k.tile:1:10: note: 'X' is bf16[N, 4]"));
  // Each mistake is told.
  std::string both = launching.failure({bf16({3, 5}), view({2}, 100)});
  CHECK_THAT(both, Contains("is expected to be 4, got 5"));
  CHECK_THAT(both, Contains("dimension 'N' disagrees"));
}

TEST_CASE("one name, one extent, within an argument too") {
  Launching launching("kernel k(X: f32[N, N], Y: out f32[N]) {\n"
                      "  for n in N { Y[n] = X[n, n] }\n}\n");
  CHECK(launching.binds({view({3, 3}), view({3}, 100)}));
  CHECK_THAT(launching.failure({view({3, 4}), view({3}, 100)}),
             Contains("it is 3 in 'X' (dimension 0) and 4 in 'X' (dimension "
                      "1)"));
}

TEST_CASE("views that make no sense") {
  Launching launching("kernel k(X: f32[N], Y: out f32[N]) { Y = X }\n");
  TensorView y = view({3}, 100);
  TensorView null = TensorView::contiguous(nullptr, DType::F32, {3});
  CHECK_THAT(launching.failure({null, y}),
             Contains("k.tile:1:10: error: tensor 'X': expected the address of "
                      "f32[3], found a null pointer"));
  CHECK_THAT(launching.failure({strided({3}, {1, 1}), y}),
             Contains("expected 1 strides, one for each extent, found 2"));
  TensorView negative = view({3});
  negative.shape[0] = -3;
  CHECK_THAT(launching.failure({negative, y}),
             Contains("expected an extent of 0 or more, found -3"));
  CHECK_THAT(launching.failure({strided({3}, {INT64_MAX}), y}),
             Contains("k.tile:1:10: error: tensor 'X': expected"));
}

TEST_CASE("scalars are converted to the parameter's type") {
  Launching launching(
      "kernel k(f: f32 = 0.1, h: bf16 = 0.1, i: i32 = -7, u: u8 = 3,\n"
      "         b: bool = true, Y: out f32[1]) {\n"
      "  Y[0] = f + f32(h) + f32(i) + f32(u) + where(b, 1, 0)\n}\n");
  TensorView y = view({1});
  auto scalarOf = [&](const std::optional<BoundLaunch> &bound, unsigned i) {
    REQUIRE(bound);
    return std::get<ScalarValue>(bound->args[i]);
  };

  std::optional<BoundLaunch> defaults = launching.bind({{}, {}, {}, {}, {}, y});
  CHECK(scalarOf(defaults, 0).real == double(0.1f));
  CHECK(scalarOf(defaults, 1).real == 0.10009765625);
  CHECK(scalarOf(defaults, 1).dtype == DType::BF16);
  CHECK(scalarOf(defaults, 2).integer == -7);
  CHECK(scalarOf(defaults, 3).integer == 3);
  CHECK(scalarOf(defaults, 3).dtype == DType::U8);
  CHECK(scalarOf(defaults, 4).integer == 1);

  // Floats round, from whole numbers too.
  std::optional<BoundLaunch> given =
      launching.bind({ScalarValue::ofFloat(0.1, DType::F64),
                      ScalarValue::ofInt(257), ScalarValue::ofInt(5),
                      ScalarValue::ofInt(255), ScalarValue::ofInt(0), y});
  CHECK(scalarOf(given, 0).real == double(0.1f));
  CHECK(scalarOf(given, 1).real == 256);
  CHECK(scalarOf(given, 2).integer == 5);
  CHECK(scalarOf(given, 3).integer == 255);
  CHECK(scalarOf(given, 4).integer == 0);
  std::optional<BoundLaunch> nan =
      launching.bind({ScalarValue::ofFloat(NAN), {}, {}, {}, {}, y});
  CHECK(std::isnan(scalarOf(nan, 0).real));

  // Integers neither wrap nor lose a fraction.
  CHECK_THAT(launching.failure({{}, {}, ScalarValue::ofFloat(1.5), {}, {}, y}),
             Contains("argument 'i' is expected to be i32, a whole number from "
                      "-2147483648 to 2147483647, got a f32"));
  CHECK_THAT(launching.failure(
                 {{}, {}, ScalarValue::ofInt(int64_t(1) << 31), {}, {}, y}),
             Contains("got 2147483648"));
  CHECK_THAT(launching.failure({{}, {}, {}, ScalarValue::ofInt(-1), {}, y}),
             Contains("argument 'u' is expected to be u8, a whole number from "
                      "0 to 255, got -1"));
  CHECK_THAT(launching.failure({{}, {}, {}, {}, ScalarValue::ofInt(2), y}),
             Contains("argument 'b' is expected to be bool"));
}

TEST_CASE("requirements are checked") {
  Launching launching(matmul);
  std::string divisible =
      launching.failure({view({3, 6}), view({6, 5}, 100), view({3, 5}, 200)});
  CHECK_THAT(divisible,
             Contains("k.tile:2:14: error: the arguments do not meet the "
                      "requirement 'K % 4 == 0 && M <= N'"));
  CHECK_THAT(divisible, Contains("note: K = 6"));
  CHECK_THAT(divisible, Contains("'K % 4' is 2"));
  // The side that holds needs no words.
  CHECK_THAT(divisible, !Contains("'M' is"));
  CHECK_THAT(
      launching.failure({view({6, 8}), view({8, 5}, 100), view({6, 5}, 200)}),
      Contains("do not meet the requirement"));

  // Scalars count, with their defaults too.
  Launching scalars("kernel k(X: f32[N], w: i32 = 4, Y: out f32[N]) "
                    "requires w < N {\n  Y = X + f32(w)\n}\n");
  Argument none;
  CHECK(scalars.binds({view({5}), none, view({5}, 10)}));
  CHECK_FALSE(scalars.binds({view({4}), none, view({4}, 10)}));
  CHECK(scalars.binds({view({4}), ScalarValue::ofInt(3), view({4}, 10)}));
  std::string less =
      scalars.failure({view({4}), ScalarValue::ofInt(9), view({4}, 10)});
  CHECK_THAT(less, Contains("'w < N'"));
  CHECK_THAT(less, Contains("note: w = 9"));
  CHECK_THAT(less, Contains("note: N = 4"));
  CHECK_THAT(less, Contains("help: pass arguments that meet it"));
  // Nothing is required of extents that disagree: they are the mistake.
  std::string disagree = scalars.failure({view({4}), none, view({3}, 10)});
  CHECK_THAT(disagree, !Contains("requirement"));
}

TEST_CASE("a requirement that is not met shows what its sides are") {
  Launching launching(
      "kernel k(X: f32[N], Z: f32[M], W: f32[L], s: f32 = 0.1, Y: out f32[N])\n"
      "    requires N == 2 * M || N > 3 * M && L + 1 < 2 * N, !(s * 2 > 0.5),\n"
      "             (N > 2) == (M > 7) {\n  Y = X\n}\n");
  auto failure = [&](int64_t n, int64_t m, Argument s) {
    return launching.failure({view({n}), view({m}, 100), view({5}, 200),
                              std::move(s), view({n}, 300)});
  };
  std::string sides = failure(4, 1, ScalarValue::ofFloat(0.1));
  CHECK_THAT(sides, Contains("requirement '(N > 2) == (M > 7)'"));
  CHECK_THAT(sides, Contains("'N > 2' is true"));
  CHECK_THAT(sides, Contains("'M > 7' is false"));
  // Dimensions that do not take part are left out, others are shown once.
  CHECK_THAT(sides, !Contains("L = "));
  CHECK(sides.find("N = 4") == sides.rfind("N = 4"));
  CHECK_THAT(sides, Contains("help: pass arrays whose extents meet it"));

  std::string nested = failure(2, 3, ScalarValue::ofFloat(0.1));
  CHECK_THAT(nested, Contains("'2 * M' is 6"));
  CHECK_THAT(nested, Contains("'3 * M' is 9"));
  CHECK_THAT(nested, Contains("'L + 1' is 6"));
  CHECK_THAT(nested, Contains("'2 * N' is 4"));

  std::string negated = failure(2, 1, ScalarValue::ofFloat(0.5));
  CHECK_THAT(negated, Contains("requirement '!(s * 2 > 0.5)'"));
  CHECK_THAT(negated, Contains("note: s = 0.5"));
}

TEST_CASE("shapes and types of parameters") {
  Launching launching("kernel k(X: bf16[M, 4], s: i8 = 1, Y: out f32[M]) {\n"
                      "  grid m in tile(M)\n  Y[m] = sum(X[m])\n}\n");
  CHECK(typeText(*launching.kernel->params[0]) == "bf16[M, 4]");
  CHECK(typeText(*launching.kernel->params[1]) == "i8");
  llvm::StringMap<int64_t> extents;
  CHECK_FALSE(shapeOf(*launching.kernel->params[0], extents));
  extents["M"] = 7;
  CHECK(shapeOf(*launching.kernel->params[0], extents) == Extents({7, 4}));
  CHECK(shapeOf(*launching.kernel->params[2], extents) == Extents({7}));
}
