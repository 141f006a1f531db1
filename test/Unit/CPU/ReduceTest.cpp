//===- ReduceTest.cpp - Reductions and scans on the cpu target --*- C++ -*-===//
//
// Every kind along every axis, NaN and infinities included.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

/// Integers are numbers.
template <typename T> bool isNaN(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

/// An op from a 6x5x37 tensor to one of another shape.
std::string unaryKernel(const std::string &op, const std::string &from,
                        const std::string &to, unsigned toRank) {
  std::string zeros, dims;
  for (unsigned i = 0; i < toRank; ++i) {
    zeros += i ? ", %c0" : "%c0";
    dims += (i ? ", " : "") + std::to_string(i);
  }
  return fill(
      R"(
tile.kernel @unary($X, $Y, %size: i64 {tile.name = "size"}) {
  scf.forall (%p) = (0) to (1) step (1) {
    %n = arith.index_cast %size : i64 to index
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0, %c0, %c0] dims [0, 1, 2] pad zero
        : !tile.view<$F> -> tensor<$F>
    %y = $OP : tensor<$F> $ARROW
    tile.store %y, %Y[$Z] dims [$D] : tensor<$R>, !tile.view<$R>
  }
  tile.return
})",
      {{"X", view("X", from, "in", 2)},
       {"Y", view("Y", to, "out", int(toRank) - 1)},
       {"F", from},
       {"R", to},
       {"OP", op},
       {"ARROW",
        op.find("scan") == std::string::npos ? "-> tensor<" + to + ">" : ""},
       {"Z", zeros},
       {"D", dims}});
}

template <typename T, typename F>
void checkReduction(const std::string &kind, const std::string &type, T neutral,
                    F combine, bool special) {
  constexpr int64_t sizes[3] = {6, 5, 37};
  for (unsigned axes = 1; axes < 8; ++axes) {
    std::string list, to;
    unsigned rank = 0;
    for (unsigned d = 0; d < 3; ++d) {
      if (axes & (1 << d))
        list += (list.empty() ? "" : ", ") + std::to_string(d);
      else {
        to += std::to_string(sizes[d]) + "x";
        ++rank;
      }
    }
    INFO(kind << " " << type << " axes " << list);
    Kernel kernel(unaryKernel("tile.reduce " + kind + " %x axes [" + list + "]",
                              "6x5x37x" + type, to + type, rank));
    Tensor<T> x({6, 5, 37});
    x.randomIntegers(11, kind == "prod" ? 1 : -4, kind == "prod" ? 1 : 4);
    x[100] = T(2);
    if constexpr (std::is_floating_point_v<T>)
      if (special) {
        x[50] = T(notANumber);
        x[400] = -std::numeric_limits<T>::infinity();
        x[401] = std::numeric_limits<T>::infinity();
      }
    std::vector<T> expected(6 * 5 * 37, neutral);
    int64_t total = 1;
    for (unsigned d = 0; d < 3; ++d)
      if (!(axes & (1 << d)))
        total *= sizes[d];
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 5; ++j)
        for (int64_t k = 0; k < 37; ++k) {
          int64_t at = 0;
          int64_t position[3] = {i, j, k};
          for (unsigned d = 0; d < 3; ++d)
            if (!(axes & (1 << d)))
              at = at * sizes[d] + position[d];
          expected[at] = combine(expected[at], x[(i * 5 + j) * 37 + k]);
        }
    Tensor<T> y({total});
    std::vector<int64_t> shape;
    for (unsigned d = 0; d < 3; ++d)
      if (!(axes & (1 << d)))
        shape.push_back(sizes[d]);
    kernel.run({x.argument(), cpu::Argument::tensor(y.data(), shape),
                cpu::Argument::integer(0)});
    CHECK(y.guardsIntact());
    for (int64_t i = 0; i < total; ++i) {
      if (isNaN(expected[i]))
        REQUIRE(isNaN(y[i]));
      else
        REQUIRE(y[i] == expected[i]);
    }
  }
}

template <typename T> T propagatingMax(T x, T y) {
  return isNaN(x) || isNaN(y) ? T(notANumber) : std::max(x, y);
}
template <typename T> T propagatingMin(T x, T y) {
  return isNaN(x) || isNaN(y) ? T(notANumber) : std::min(x, y);
}

} // namespace

TEST_CASE("float reductions", "[cpu]") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  checkReduction<float>("sum", "f32", 0, std::plus<float>(), false);
  checkReduction<float>("prod", "f32", 1, std::multiplies<float>(), false);
  checkReduction<float>("max", "f32", -inf, propagatingMax<float>, true);
  checkReduction<float>("min", "f32", inf, propagatingMin<float>, true);
  checkReduction<float>("fmax", "f32", -inf, std::fmax<float, float>, true);
  checkReduction<float>("fmin", "f32", inf, std::fmin<float, float>, true);
  checkReduction<double>("sum", "f64", 0, std::plus<double>(), false);
  checkReduction<double>("max", "f64", -inf, propagatingMax<double>, true);
}

TEST_CASE("integer reductions", "[cpu]") {
  checkReduction<int32_t>("sum", "i32", 0, std::plus<int32_t>(), false);
  checkReduction<int64_t>("prod", "i64", 1, std::multiplies<int64_t>(), false);
  checkReduction<int32_t>(
      "max", "i32", INT32_MIN,
      [](int32_t x, int32_t y) { return std::max(x, y); }, false);
  checkReduction<int64_t>(
      "min", "i64", INT64_MAX,
      [](int64_t x, int64_t y) { return std::min(x, y); }, false);
}

TEST_CASE("any and all of a comparison, kept in memory", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @quantifiers($X, $Y) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero
        : !tile.view<9x20xf32> -> tensor<9x20xf32>
    %zero = arith.constant dense<0.0> : tensor<9x20xf32>
    %positive = arith.cmpf ogt, %x, %zero : tensor<9x20xf32>
    %any = tile.reduce any %positive axes [1]
        : tensor<9x20xi1> -> tensor<9xi1>
    %all = tile.reduce all %positive axes [1]
        : tensor<9x20xi1> -> tensor<9xi1>
    %a = arith.extui %any : tensor<9xi1> to tensor<9xi32>
    %b = arith.extui %all : tensor<9xi1> to tensor<9xi32>
    tile.store %a, %Y[%c0, %c0] dims [1] : tensor<9xi32>, !tile.view<2x9xi32>
    tile.store %b, %Y[%c1, %c0] dims [1] : tensor<9xi32>, !tile.view<2x9xi32>
  }
  tile.return
})",
                     {{"X", view("X", "9x20xf32", "in", 1)},
                      {"Y", view("Y", "2x9xi32", "out", 1)}}));
  Tensor<float> x({9, 20});
  Tensor<int32_t> y({2, 9});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 20; ++j)
      x[i * 20 + j] = i == 0 ? -1 : i == 1 ? 1 : j == i ? 1 : -1;
  kernel.run({x.argument(), y.argument()});
  for (int i = 0; i < 9; ++i) {
    CHECK(y[i] == (i != 0));
    CHECK(y[9 + i] == (i == 1));
  }
}

TEST_CASE("the place of the greatest and least element", "[cpu]") {
  int axis = GENERATE(0, 1, 2);
  bool isMax = GENERATE(false, true);
  bool bounded = GENERATE(false, true);
  constexpr int64_t sizes[3] = {6, 5, 37};
  std::string to;
  for (int d = 0; d < 3; ++d)
    if (d != axis)
      to += std::to_string(sizes[d]) + "x";
  std::string op = std::string("tile.arg_reduce ") + (isMax ? "max" : "min") +
                   " %x axis " + std::to_string(axis) +
                   (bounded ? " valid %n" : "");
  Kernel kernel(unaryKernel(op, "6x5x37xf32", to + "i64", 2));
  Tensor<float> x({6, 5, 37});
  x.randomIntegers(12, -3, 3); // Many ties.
  x[3] = notANumber;
  x[40] = notANumber;
  x[75] = -std::numeric_limits<float>::infinity();
  x[110] = std::numeric_limits<float>::infinity();
  std::vector<int64_t> shape;
  for (int d = 0; d < 3; ++d)
    if (d != axis)
      shape.push_back(sizes[d]);
  for (int64_t valid : {int64_t(0), int64_t(1), int64_t(3), sizes[axis]}) {
    if (!bounded)
      valid = sizes[axis];
    Tensor<int64_t> y(shape, 99);
    kernel.run({x.argument(), y.argument(), cpu::Argument::integer(valid)});
    int64_t strides[3] = {5 * 37, 37, 1};
    int64_t first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
    for (int64_t i = 0; i < sizes[first]; ++i)
      for (int64_t j = 0; j < sizes[second]; ++j) {
        int64_t best = -1;
        float most = 0;
        for (int64_t k = 0; k < valid; ++k) {
          float lane =
              x[i * strides[first] + j * strides[second] + k * strides[axis]];
          bool better = best < 0 ||
                        (most == most &&
                         (lane != lane || (isMax ? lane > most : lane < most)));
          if (better) {
            best = k;
            most = lane;
          }
        }
        REQUIRE(y[i * sizes[second] + j] == best);
      }
  }
}

TEST_CASE("running combinations", "[cpu]") {
  int axis = GENERATE(0, 1, 2);
  std::string kind = GENERATE("sum", "prod", "max", "min");
  Kernel kernel(
      unaryKernel("tile.scan " + kind + " %x axis " + std::to_string(axis),
                  "6x5x37xf32", "6x5x37xf32", 3));
  Tensor<float> x({6, 5, 37}), y({6, 5, 37});
  x.randomIntegers(13, 1, 2);
  kernel.run({x.argument(), y.argument(), cpu::Argument::integer(0)});
  int64_t strides[3] = {5 * 37, 37, 1};
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 5; ++j)
      for (int64_t k = 0; k < 37; ++k) {
        int64_t position[3] = {i, j, k};
        int64_t at = i * strides[0] + j * strides[1] + k;
        double value = kind == "sum"    ? 0
                       : kind == "prod" ? 1
                       : kind == "max"  ? -1e9
                                        : 1e9;
        for (int64_t l = 0; l <= position[axis]; ++l) {
          double lane = x[at + (l - position[axis]) * strides[axis]];
          value = kind == "sum"    ? value + lane
                  : kind == "prod" ? value * lane
                  : kind == "max"  ? std::max(value, lane)
                                   : std::min(value, lane);
        }
        REQUIRE(y[at] == float(value));
      }
}

TEST_CASE("softmax along a row", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @softmax($X, $Y) {
  %M = tile.dim %X, 0 : !tile.view<?x300xf32>
  scf.forall (%m) = (0) to (%M) step (8) {
    %c0 = arith.constant 0 : index
    %c300 = arith.constant 300 : index
    %v = tile.valid %m to %M size 8
    %x = tile.load %X[%m, %c0] dims [0, 1] valid [%v, %c300] pad zero
        : !tile.view<?x300xf32> -> tensor<8x300xf32>
    %max = tile.reduce max %x axes [1] : tensor<8x300xf32> -> tensor<8xf32>
    %all = tile.broadcast %max dims [0] : tensor<8xf32> -> tensor<8x300xf32>
    %d = arith.subf %x, %all : tensor<8x300xf32>
    %e = math.exp %d : tensor<8x300xf32>
    %sum = tile.reduce sum %e axes [1] : tensor<8x300xf32> -> tensor<8xf32>
    %s = tile.broadcast %sum dims [0] : tensor<8xf32> -> tensor<8x300xf32>
    %y = arith.divf %e, %s : tensor<8x300xf32>
    tile.store %y, %Y[%m, %c0] dims [0, 1] valid [%v, %c300]
        : tensor<8x300xf32>, !tile.view<?x300xf32>
  }
  tile.return
})",
                     {{"X", view("X", "?x300xf32", "in", 1)},
                      {"Y", view("Y", "?x300xf32", "out", 1)}}));
  Tensor<float> x({21, 300}), y({21, 300});
  x.randomReals(14, -20, 20);
  kernel.run({x.argument(), y.argument()});
  CHECK(y.guardsIntact());
  for (int i = 0; i < 21; ++i) {
    double most = -1e30, sum = 0;
    for (int j = 0; j < 300; ++j)
      most = std::max(most, double(x[i * 300 + j]));
    for (int j = 0; j < 300; ++j)
      sum += std::exp(x[i * 300 + j] - most);
    for (int j = 0; j < 300; ++j)
      REQUIRE(y[i * 300 + j] ==
              Approx(std::exp(x[i * 300 + j] - most) / sum).epsilon(1e-5));
  }
}

TEST_CASE("over an empty axis everything is neutral", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @empty($X, $Y, $Z, $C, $E) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero
        : !tile.view<4x0xf32> -> tensor<4x0xf32>
    %y = tile.load %Y[%c0, %c0] dims [0, 1] pad zero
        : !tile.view<0x8xf32> -> tensor<0x8xf32>
    %d = tile.dot %x, %y contract [1] x [0] batch [] x [] precision ieee
        : tensor<4x0xf32>, tensor<0x8xf32> -> tensor<4x8xf32>
    %m = tile.reduce max %x axes [1] : tensor<4x0xf32> -> tensor<4xf32>
    %b = tile.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x8xf32>
    %z = arith.addf %d, %b : tensor<4x8xf32>
    tile.store %z, %Z[%c0, %c0] dims [0, 1]
        : tensor<4x8xf32>, !tile.view<4x8xf32>
    %i = tile.arg_reduce min %x axis 1 : tensor<4x0xf32> -> tensor<4xi64>
    tile.store %i, %C[%c0] dims [0] : tensor<4xi64>, !tile.view<4xi64>
    %s = tile.scan sum %x axis 1 : tensor<4x0xf32>
    tile.store %s, %E[%c0, %c0] dims [0, 1]
        : tensor<4x0xf32>, !tile.view<4x0xf32>
  }
  tile.return
})",
                     {{"X", view("X", "4x0xf32", "in", 1)},
                      {"Y", view("Y", "0x8xf32", "in", 1)},
                      {"Z", view("Z", "4x8xf32", "out", 1)},
                      {"C", view("C", "4xi64", "out", 0)},
                      {"E", view("E", "4x0xf32", "out", 1)}}));
  Tensor<float> z({4, 8});
  Tensor<int64_t> c({4});
  kernel.run({cpu::Argument::tensor(nullptr, {4, 0}),
              cpu::Argument::tensor(nullptr, {0, 8}), z.argument(),
              c.argument(), cpu::Argument::tensor(nullptr, {4, 0})});
  for (int i = 0; i < 32; ++i)
    CHECK(z[i] == -INFINITY);
  for (int i = 0; i < 4; ++i)
    CHECK(c[i] == -1);
}
