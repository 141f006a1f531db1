//===- TensorCoreTest.cpp - Fragments and products ------------------------===//

#include "lib/Emulator/Arithmetic/TensorCore.h"
#include "test/Unit/Emulator/Arithmetic/Numbers.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace tilec::test;
using namespace tilec::emulator;

namespace {

float floatOf(uint32_t bits) { return llvm::bit_cast<float>(bits); }
uint32_t bitsOf(float value) { return llvm::bit_cast<uint32_t>(value); }

/// Matrices of whole numbers in any type, and their product by plain loops.
struct Sample {
  unsigned m, n, k;
  std::vector<int> a, b, c; // m x k, n x k, m x n.
  TensorOperand left, right;

  Sample(Type type, unsigned m, unsigned n, unsigned k, int most, bool isFloat)
      : m(m), n(n), k(k), a(m * k), b(n * k), c(m * n) {
    std::mt19937 random(m + n + k);
    auto draw = [&] { return int(random() % (2 * most + 1)) - most; };
    left.reset(type, m, k);
    right.reset(type, n, k);
    auto code = [&](int value) -> uint64_t {
      return isFloat ? fromFloat(type, float(value)) : uint64_t(value);
    };
    for (unsigned i = 0; i < m * k; ++i)
      left.set(i / k, i % k, code(a[i] = draw()));
    for (unsigned i = 0; i < n * k; ++i)
      right.set(i / k, i % k, code(b[i] = draw()));
    for (int &value : c)
      value = draw();
  }
  int expected(unsigned i, unsigned j, bool accumulates) const {
    int sum = accumulates ? c[i * n + j] : 0;
    for (unsigned at = 0; at < k; ++at)
      sum += a[i * k + at] * b[j * k + at];
    return sum;
  }
};

} // namespace

TEST_CASE("Lanes have every element of a fragment once") {
  struct {
    unsigned m, bits, k;
  } shapes[] = {{16, 16, 8}, {16, 16, 16}, {16, 32, 4}, {16, 32, 8},
                {16, 8, 16}, {16, 8, 32},  {16, 4, 64}, {8, 8, 16},
                {8, 4, 32},  {16, 1, 256}, {8, 1, 128}, {8, 32, 4},
                {16, 32, 16}};
  for (auto [m, bits, k] : shapes) {
    std::set<std::pair<unsigned, unsigned>> a, b, c;
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < m * k / 32; ++i) {
        Element place = elementOfA(m, bits, lane, i);
        CHECK(place.row < m);
        CHECK(place.column < k);
        a.insert({place.row, place.column});
      }
      for (unsigned i = 0; i < 8 * k / 32; ++i) {
        Element place = elementOfB(bits, lane, i);
        CHECK(place.row < k);
        CHECK(place.column < 8);
        b.insert({place.row, place.column});
      }
      for (unsigned i = 0; i < m * 8 / 32; ++i) {
        Element place = elementOfC(lane, i);
        c.insert({place.row, place.column});
      }
    }
    CHECK(a.size() == m * k);
    CHECK(b.size() == 8 * k);
    CHECK(c.size() == m * 8);
  }
  // The figures of PTX: m16n8k16 of f16, lane 5.
  CHECK(elementOfA(16, 16, 5, 0).row == 1);
  CHECK(elementOfA(16, 16, 5, 0).column == 2);
  CHECK(elementOfA(16, 16, 5, 3).row == 9);
  CHECK(elementOfA(16, 16, 5, 5).column == 11);
  CHECK(elementOfB(16, 5, 2).row == 10);
  CHECK(elementOfB(16, 5, 2).column == 1);
  CHECK(elementOfC(5, 3).row == 9);
  CHECK(elementOfC(5, 3).column == 3);
}

TEST_CASE("Products of whole numbers are exact") {
  for (Type type : {Type::F16, Type::BF16, Type::TF32, Type::E4M3, Type::E5M2})
    for (bool isWarpgroup : {false, true})
      for (bool accumulates : {false, true}) {
        int most = type == Type::E5M2 ? 4 : 8;
        Sample sample(type, 17, 24, 32, most, /*isFloat=*/true);
        for (Type result : {Type::F32, Type::F16}) {
          std::vector<uint32_t> d;
          for (int value : sample.c)
            d.push_back(fromFloat(result, float(value)));
          multiplyAccumulate(sample.left, sample.right, result, d.data(),
                             accumulates, false, sumModel(type, isWarpgroup));
          for (unsigned i = 0; i < sample.m * sample.n; ++i) {
            int expected =
                sample.expected(i / sample.n, i % sample.n, accumulates);
            REQUIRE(toFloat(result, d[i]) == float(expected));
          }
        }
      }
}

TEST_CASE("Sums of floats are within the bound") {
  for (Type type : {Type::F16, Type::BF16, Type::TF32}) {
    constexpr unsigned m = 5, n = 9, k = 16;
    SumModel model = sumModel(type, false);
    Numbers numbers{uint64_t(type)};
    for (unsigned round = 0; round < 200; ++round) {
      TensorOperand a, b;
      a.reset(type, m, k);
      b.reset(type, n, k);
      std::vector<double> x(m * k), y(n * k);
      auto draw = [&](TensorOperand &to, std::vector<double> &values) {
        for (unsigned i = 0; i < values.size(); ++i) {
          float value = float(int(numbers.bits() % 4001) - 2000) / 512;
          uint64_t code = fromFloat(type, value);
          to.set(i / k, i % k, code);
          values[i] = toFloat(type, code);
        }
      };
      draw(a, x);
      draw(b, y);
      std::vector<uint32_t> d(m * n);
      std::vector<double> c(m * n);
      for (unsigned i = 0; i < m * n; ++i)
        d[i] = bitsOf(float(c[i] = float(int(numbers.bits() % 2001)) / 7));
      multiplyAccumulate(a, b, Type::F32, d.data(), true, false, model);
      for (unsigned i = 0; i < m; ++i)
        for (unsigned j = 0; j < n; ++j) {
          double sum = float(c[i * n + j]), largest = std::fabs(sum);
          for (unsigned at = 0; at < k; ++at) {
            double product = x[i * k + at] * y[j * k + at];
            sum += product;
            largest = std::max(largest, std::fabs(product));
          }
          double found = floatOf(d[i * n + j]);
          largest = std::max(largest, std::fabs(found));
          double bound = 2 * (k + 1) * std::ldexp(largest, -25) +
                         std::ldexp(std::fabs(sum), -23);
          REQUIRE(std::fabs(found - sum) <= bound * (k / double(model.depth)));
        }
    }
  }
}

TEST_CASE("Small terms beside a large one are cut off") {
  TensorOperand a, b;
  a.reset(Type::F16, 1, 16);
  b.reset(Type::F16, 1, 16);
  for (unsigned k = 0; k < 16; ++k) {
    a.set(0, k, fromFloat(Type::F16, 1));
    b.set(0, k, fromFloat(Type::F16, k == 0 ? 1 : 0x1p-13f));
  }
  uint32_t d[] = {bitsOf(-0x1p13f)};
  // Below 2^13 there are 25 bits: 2^-12 and up. 2^-13 fifteen times is nothing.
  multiplyAccumulate(a, b, Type::F32, d, true, false,
                     sumModel(Type::F16, false));
  CHECK(floatOf(d[0]) == -8191.0f);
}

TEST_CASE("Infinities and NaN go through products") {
  auto product = [](float x, float y, float other, float c) {
    TensorOperand a, b;
    a.reset(Type::BF16, 1, 16);
    b.reset(Type::BF16, 2, 16);
    for (unsigned k = 0; k < 16; ++k) {
      a.set(0, k, fromFloat(Type::BF16, k == 3 ? x : k == 4 ? other : 1.0f));
      for (unsigned j = 0; j < 2; ++j)
        b.set(j, k, fromFloat(Type::BF16, k == 3 ? y : 1.0f));
    }
    uint32_t d[] = {bitsOf(c), bitsOf(c)};
    multiplyAccumulate(a, b, Type::F32, d, true, false,
                       sumModel(Type::BF16, true));
    CHECK(d[0] == d[1]);
    return d[0];
  };
  CHECK(product(INFINITY, 2, 1, 0) == 0x7f800000);
  CHECK(product(INFINITY, -2, 1, 0) == 0xff800000);
  CHECK(product(INFINITY, 0, 1, 0) == 0x7fffffff);
  CHECK(product(INFINITY, 1, -INFINITY, 0) == 0x7fffffff);
  CHECK(product(NAN, 1, 1, 0) == 0x7fffffff);
  CHECK(product(1, 1, 1, INFINITY) == 0x7f800000);
  CHECK(product(1, 1, 1, 4) == bitsOf(20.0f));
  // Too large for f32.
  CHECK(product(0x1p127f, 0x1p127f, 1, 0) == 0x7f800000);
}

TEST_CASE("Integers wrap around, or saturate") {
  for (Type type : {Type::S8, Type::S4}) {
    Sample sample(type, 16, 8, 32, type == Type::S8 ? 127 : 7,
                  /*isFloat=*/false);
    std::vector<uint32_t> d(sample.c.begin(), sample.c.end());
    multiplyAccumulate(sample.left, sample.right, Type::S32, d.data(), true,
                       false, {});
    for (unsigned i = 0; i < d.size(); ++i)
      REQUIRE(int(d[i]) == sample.expected(i / 8, i % 8, true));
  }
  TensorOperand a, b;
  a.reset(Type::U8, 1, 16);
  b.reset(Type::U8, 1, 16);
  for (unsigned k = 0; k < 16; ++k) {
    a.set(0, k, 255);
    b.set(0, k, 255);
  }
  uint32_t wrapped[] = {0x7fffffff}, clamped[] = {0x7fffffff};
  multiplyAccumulate(a, b, Type::S32, wrapped, true, false, {});
  multiplyAccumulate(a, b, Type::S32, clamped, true, true, {});
  CHECK(wrapped[0] == 0x7fffffffu + 16 * 255 * 255);
  CHECK(clamped[0] == 0x7fffffff);
}

TEST_CASE("Operands can be negated") {
  TensorOperand a, b;
  a.reset(Type::F16, 1, 16);
  b.reset(Type::F16, 1, 16);
  for (unsigned k = 0; k < 16; ++k) {
    a.set(0, k, fromFloat(Type::F16, 2), /*negate=*/true);
    b.set(0, k, fromFloat(Type::F16, 3));
  }
  uint32_t d[] = {0};
  multiplyAccumulate(a, b, Type::F32, d, false, false,
                     sumModel(Type::F16, true));
  CHECK(floatOf(d[0]) == -96.0f);
}
