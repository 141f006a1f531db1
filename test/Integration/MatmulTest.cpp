//===- MatmulTest.cpp - The matrix products of std and examples -*- C++ -*-===//
//
// Sizes around and far from the tile sizes, all layouts, all operand types, and
// the promise that no tile size changes a result.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

static double gelu(double x) { return 0.5 * x * (1 + std::erf(x / M_SQRT2)); }

namespace {
struct Case {
  int64_t M, N, K;
  CtArgs types = {};
  Layout a = row, b = row, c = row;
  bool integer = true;
  ScheduleArgs schedule = {};
};
} // namespace

static double product(const Tensor &A, const Tensor &B, int64_t m, int64_t n) {
  double sum = 0;
  for (int64_t k = 0; k < A.shape()[1]; ++k)
    sum += A(m, k) * B(k, n);
  return sum;
}

static void matmul(const Case &c) {
  Launch launch("std/matmul.tile", "matmul", c.types, c.schedule);
  FillOptions fill = c.integer ? integers() : FillOptions();
  Tensor &A = launch.in("A", {c.M, c.K}, c.a, fill);
  Tensor &B = launch.in("B", {c.K, c.N}, c.b, fill);
  Tensor &C = launch.out("C", {c.M, c.N}, c.c);
  launch.run();
  auto oracle = [&](Index i) { return product(A, B, i[0], i[1]); };
  if (c.integer)
    expectExact(C, oracle);
  else
    expectClose(C, oracle);
}

TEST_CASE("matmul: extents", "[matmul]") {
  for (int64_t M : {0, 1, 7, 77})
    for (int64_t N : {0, 1, 7, 131})
      for (int64_t K : {0, 1, 7, 77})
        matmul({.M = M, .N = N, .K = K});
  matmul({.M = 1000, .N = 7, .K = 1025});
  matmul({.M = 1, .N = 1025, .K = 1000});
  matmul({.M = 77, .N = 1025, .K = 1});
  matmul({.M = 1025, .N = 77, .K = 77});
  matmul({.M = 200, .N = 199, .K = 201, .types = {{"T", "f16"}}});
  matmul({.M = 1, .N = 128, .K = 1, .types = {{"T", "f16"}}});
  matmul({.M = 150, .N = 150, .K = 333, .integer = false});
}

TEST_CASE("matmul: all types of operands", "[matmul]") {
  for (const char *dtype : {"f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2"})
    for (int64_t K : {1, 15, 130}) {
      matmul({.M = 65, .N = 129, .K = K, .types = {{"T", dtype}}});
      matmul({.M = 65,
              .N = 129,
              .K = K,
              .types = {{"T", dtype}, {"R", "f32"}},
              .integer = false});
    }
  for (const char *dtype : {"i8", "u8"})
    for (int64_t K : {0, 1, 130}) {
      Launch launch("std/matmul.tile", "matmul",
                    {{"T", dtype}, {"Sum", "i32"}, {"R", "i32"}});
      bool isSigned = dtype[0] == 'i';
      FillOptions all = integers(isSigned ? -128 : 0, isSigned ? 128 : 256);
      Tensor &A = launch.in("A", {65, K}, row, all);
      Tensor &B = launch.in("B", {K, 129}, Layout::Transposed, all);
      Tensor &C = launch.out("C", {65, 129});
      launch.run();
      expectExact(C, [&](Index i) { return product(A, B, i[0], i[1]); });
    }
  CtArgs f64 = {{"T", "f64"}, {"Sum", "f64"}};
  matmul({.M = 65, .N = 129, .K = 130, .types = f64});
  matmul({.M = 65, .N = 129, .K = 130, .types = f64, .integer = false});
}

TEST_CASE("matmul: layouts", "[matmul]") {
  for (Layout a : inputLayouts())
    for (Layout b : {row, Layout::Transposed, Layout::Gaps3})
      matmul({.M = 70, .N = 131, .K = 77, .a = a, .b = b});
  for (Layout b : inputLayouts())
    matmul({.M = 70, .N = 131, .K = 77, .a = Layout::Transposed, .b = b});
  for (Layout c : outputLayouts())
    for (const char *dtype : {"f32", "bf16"})
      matmul({.M = 70,
              .N = 131,
              .K = 77,
              .types = {{"T", dtype}},
              .b = Layout::Transposed,
              .c = c});
  // Rows of 130 bytes, and an operand with one row, transposed.
  matmul({.M = 64,
          .N = 64,
          .K = 60,
          .types = {{"T", "f16"}},
          .a = Layout::Padded,
          .b = Layout::Padded,
          .c = Layout::Padded});
  matmul({.M = 1,
          .N = 7,
          .K = 15,
          .types = {{"T", "f16"}},
          .a = Layout::Transposed,
          .b = Layout::Transposed});
}

TEST_CASE("matmul: no tile size changes the result", "[matmul]") {
  for (int64_t m : {1, 3, 16, 64})
    for (int64_t n : {5, 64})
      for (int64_t k : {7, 128})
        matmul({.M = 67,
                .N = 70,
                .K = 131,
                .schedule = {{"m", m}, {"n", n}, {"k", k}}});
  for (int64_t k : {1, 20, 77, 200}) {
    Case c{.M = 33, .N = 10, .K = 77, .types = {{"T", "bf16"}}};
    c.schedule = {{"k", k}};
    matmul(c);
  }
}

TEST_CASE("batched_matmul", "[matmul]") {
  auto run = [](Shape s, CtArgs types, Layout a, Layout x, Layout c) {
    int64_t B = s[0], M = s[1], N = s[2], K = s[3];
    Launch launch("std/matmul.tile", "batched_matmul", types);
    Tensor &A = launch.in("A", {B, M, K}, a, integers());
    Tensor &X = launch.in("X", {B, K, N}, x, integers());
    Tensor &C = launch.out("C", {B, M, N}, c);
    launch.run();
    expectExact(C, [&](Index i) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += A(i[0], i[1], k) * X(i[0], k, i[2]);
      return sum;
    });
  };
  for (int64_t B : {0, 1, 7})
    for (int64_t M : {1, 77})
      for (int64_t N : {0, 7, 131})
        run({B, M, N, 33}, {}, row, row, row);
  run({7, 65, 33, 0}, {}, row, row, row);
  run({3, 65, 33, 77}, {{"T", "bf16"}}, Layout::Transposed, row, row);
  run({3, 65, 33, 77}, {{"T", "f8e5m2"}, {"R", "f32"}}, row, Layout::Transposed,
      Layout::Transposed);
  run({3, 65, 33, 77}, {{"T", "f64"}, {"Sum", "f64"}}, Layout::Broadcast, row,
      Layout::Reversed);
  run({3, 65, 33, 77}, {}, Layout::Offset, Layout::Gaps2, Layout::Gaps3);
}

TEST_CASE("linear: the activation is a parameter", "[matmul]") {
  std::map<std::string, double (*)(double)> activations = {
      {"identity", [](double x) { return x; }},
      {"gelu_of", gelu},
      {"relu_of", [](double x) { return std::max(x, 0.0); }},
      {"silu_of", [](double x) { return x / (1 + std::exp(-x)); }}};
  for (auto &[name, activation] : activations)
    for (const char *dtype : {"f32", "bf16"}) {
      Launch launch("std/matmul.tile", "linear",
                    {{"T", dtype}, {"activation", name}});
      FillOptions small;
      small.scale = 0.3;
      Tensor &A = launch.in("A", {66, 77}, row, small);
      Tensor &B = launch.in("B", {77, 50}, Layout::Transposed, small);
      Tensor &bias = launch.in("bias", {50});
      Tensor &C = launch.out("C", {66, 50});
      launch.run();
      auto f = activation;
      expectClose(C, [&](Index i) {
        return f(product(A, B, i[0], i[1]) + bias(i[1]));
      });
    }
}

TEST_CASE("examples/linear_gelu: with a grid and without", "[matmul]") {
  for (const char *kernel : {"linear_gelu", "linear_gelu2"})
    for (auto [M, N, K] : std::vector<std::array<int64_t, 3>>{{0, 7, 7},
                                                              {7, 0, 7},
                                                              {7, 7, 0},
                                                              {1, 1, 1},
                                                              {77, 131, 77},
                                                              {1000, 7, 77}}) {
      Launch launch("examples/linear_gelu.tile", kernel);
      FillOptions small;
      small.scale = 0.3;
      Tensor &A = launch.in("A", {M, K}, row, small);
      Tensor &B = launch.in("B", {K, N}, row, small);
      Tensor &bias = launch.in("bias", {N});
      Tensor &C = launch.out("C", {M, N});
      launch.run();
      expectClose(C, [&](Index i) {
        return gelu(product(A, B, i[0], i[1]) + bias(i[1]));
      });
    }
}
