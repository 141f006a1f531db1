//===- DotTest.cpp - Contractions on the cpu target -------------*- C++ -*-===//
//
// Every layout, element type and shape that the microkernels treat differently.
// Operands are small integers, so results are exact whatever the order of the
// sums.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "lib/Runtime/NarrowFloat.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

namespace {

/// One dot of whole tensors, in one program: C = A . B, with A [M, K] or
/// [K, M], B [K, N] or [N, K].
std::string wholeDot(int64_t m, int64_t n, int64_t k, bool transposeA,
                     bool transposeB, const std::string &type,
                     const std::string &result, const std::string &flags = "",
                     const std::string &precision = "ieee") {
  auto shape = [](int64_t x, int64_t y, const std::string &type) {
    return std::to_string(x) + "x" + std::to_string(y) + "x" + type;
  };
  std::string a = transposeA ? shape(k, m, type) : shape(m, k, type);
  std::string b = transposeB ? shape(n, k, type) : shape(k, n, type);
  std::string c = shape(m, n, result);
  return fill(R"(
tile.kernel @dot($X, $Y, $Z) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero
        : !tile.view<$a> -> tensor<$a>
    %b = tile.load %B[%c0, %c0] dims [0, 1] pad zero
        : !tile.view<$b> -> tensor<$b>
    %c = tile.dot %a, %b contract [$i] x [$j] batch [] x [] precision $P $F
        : tensor<$a>, tensor<$b> -> tensor<$c>
    tile.store %c, %C[%c0, %c0] dims [0, 1] : tensor<$c>, !tile.view<$c>
  }
  tile.return
})",
              {{"X", view("A", a, "in", 1)},
               {"Y", view("B", b, "in", 1)},
               {"Z", view("C", c, "out", 1)},
               {"a", a},
               {"b", b},
               {"c", c},
               {"i", transposeA ? "0" : "1"},
               {"j", transposeB ? "1" : "0"},
               {"F", flags},
               {"P", precision}});
}

template <typename T, typename R>
void checkWholeDot(
    int64_t m, int64_t n, int64_t k, bool transposeA, bool transposeB,
    const std::string &type, const std::string &result,
    double (*decode)(T) = [](T x) { return double(x); },
    T (*encode)(double) = [](double x) { return T(x); },
    const std::string &flags = "") {
  INFO(type << " " << m << "x" << n << "x" << k << " transposed " << transposeA
            << transposeB);
  Kernel kernel(wholeDot(m, n, k, transposeA, transposeB, type, result, flags));
  Tensor<double> a({m * k}), b({k * n});
  a.randomIntegers(1);
  b.randomIntegers(2);
  Tensor<T> aBits(transposeA ? std::vector<int64_t>{k, m}
                             : std::vector<int64_t>{m, k});
  Tensor<T> bBits(transposeB ? std::vector<int64_t>{n, k}
                             : std::vector<int64_t>{k, n});
  for (int64_t i = 0; i < m * k; ++i)
    aBits[i] = encode(a[i]);
  for (int64_t i = 0; i < k * n; ++i)
    bBits[i] = encode(b[i]);
  Tensor<R> c({m, n}, R(55));
  kernel.run({aBits.argument(), bBits.argument(), c.argument()});
  CHECK(c.guardsIntact());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += decode(aBits[transposeA ? l * m + i : i * k + l]) *
               decode(bBits[transposeB ? j * k + l : l * n + j]);
      REQUIRE(c[i * n + j] == R(sum));
    }
}

} // namespace

TEST_CASE("f32 dots of every shape and layout", "[cpu]") {
  int64_t shape[][3] = {{64, 64, 64}, {8, 32, 16},   {1, 64, 32}, {64, 1, 32},
                        {1, 1, 7},    {2, 3, 5},     {7, 33, 17}, {65, 31, 63},
                        {5, 100, 40}, {130, 17, 16}, {3, 160, 9}, {40, 48, 1}};
  for (auto [m, n, k] : shape)
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        checkWholeDot<float, float>(m, n, k, transposeA, transposeB, "f32",
                                    "f32");
}

TEST_CASE("large dots are blocked for the caches", "[cpu]") {
  checkWholeDot<float, float>(300, 600, 300, false, false, "f32", "f32");
  checkWholeDot<float, float>(258, 520, 523, true, true, "f32", "f32");
}

TEST_CASE("dots of wide types", "[cpu]") {
  int64_t shape[][3] = {{16, 32, 24}, {9, 21, 13}};
  for (auto [m, n, k] : shape) {
    checkWholeDot<double, double>(m, n, k, false, false, "f64", "f64");
    checkWholeDot<double, double>(m, n, k, false, true, "f64", "f64");
    checkWholeDot<int32_t, int32_t>(m, n, k, false, false, "i32", "i32");
    checkWholeDot<int64_t, int64_t>(m, n, k, true, false, "i64", "i64");
  }
}

TEST_CASE("dots of narrow types accumulate in wide ones", "[cpu]") {
  int64_t shape[][3] = {{64, 64, 64}, {16, 48, 32}, {9, 21, 13}};
  for (auto [m, n, k] : shape)
    for (bool transposeB : {false, true}) {
      checkWholeDot<uint16_t, float>(m, n, k, false, transposeB, "bf16", "f32",
                                     bf16ToDouble, doubleToBF16);
      checkWholeDot<uint16_t, float>(m, n, k, true, transposeB, "f16", "f32",
                                     f16ToDouble, doubleToF16);
      checkWholeDot<uint8_t, float>(m, n, k, false, transposeB, "f8E4M3FN",
                                    "f32", f8e4m3ToDouble, doubleToF8E4M3);
      checkWholeDot<uint8_t, float>(m, n, k, false, transposeB, "f8E5M2", "f32",
                                    f8e5m2ToDouble, doubleToF8E5M2);
      checkWholeDot<int8_t, int32_t>(m, n, k, false, transposeB, "i8", "i32");
      checkWholeDot<uint8_t, int32_t>(
          m, n, k, false, transposeB, "i8", "i32",
          [](uint8_t x) { return double(x); },
          [](double x) { return uint8_t(int(x) & 255); },
          "{lhs_unsigned, rhs_unsigned}");
    }
}

TEST_CASE("an unsigned operand beside a signed one", "[cpu]") {
  Kernel kernel(
      wholeDot(4, 32, 8, false, false, "i8", "i32", "{rhs_unsigned}"));
  Tensor<int8_t> a({4, 8});
  Tensor<uint8_t> b({8, 32});
  a.randomIntegers(1, -128, 127);
  b.randomIntegers(2, 0, 255);
  Tensor<int32_t> c({4, 32});
  kernel.run({a.argument(), b.argument(), c.argument()});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 32; ++j) {
      int sum = 0;
      for (int l = 0; l < 8; ++l)
        sum += int(a[i * 8 + l]) * int(b[l * 32 + j]);
      REQUIRE(c[i * 32 + j] == sum);
    }
}

TEST_CASE("tf32 rounds its operands", "[cpu]") {
  Kernel kernel(wholeDot(2, 2, 1, false, false, "f32", "f32", "", "tf32"));
  Tensor<float> a({2, 1}), b({1, 2}, 1), c({2, 2});
  // Just above, and exactly at, half a unit of tf32's last place.
  a[0] = 1 + 0x1p-11f + 0x1p-20f;
  a[1] = 1 + 0x1p-11f;
  kernel.run({a.argument(), b.argument(), c.argument()});
  CHECK(c[0] == 1 + 0x1p-10f);
  CHECK(c[2] == 1);
  CHECK(double(c[0]) == doubleToTF32(a[0]));
}

TEST_CASE("batches, several free axes and several contracted", "[cpu]") {
  // C[b, m, h, n] = sum over k, l of A[m, k, b, h, l] * B[l, b, n, k]
  Kernel kernel(fill(R"(
tile.kernel @dot($X, $Y, $Z) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %a = tile.load %A[%c0, %c0, %c0, %c0, %c0] dims [0, 1, 2, 3, 4] pad zero
        : !tile.view<5x6x2x3x4xf32> -> tensor<5x6x2x3x4xf32>
    %b = tile.load %B[%c0, %c0, %c0, %c0] dims [0, 1, 2, 3] pad zero
        : !tile.view<4x2x17x6xf32> -> tensor<4x2x17x6xf32>
    %c = tile.dot %a, %b contract [1, 4] x [3, 0] batch [2] x [1]
        precision ieee
        : tensor<5x6x2x3x4xf32>, tensor<4x2x17x6xf32> -> tensor<2x5x3x17xf32>
    tile.store %c, %C[%c0, %c0, %c0, %c0] dims [0, 1, 2, 3]
        : tensor<2x5x3x17xf32>, !tile.view<2x5x3x17xf32>
  }
  tile.return
})",
                     {{"X", view("A", "5x6x2x3x4xf32", "in", 4)},
                      {"Y", view("B", "4x2x17x6xf32", "in", 3)},
                      {"Z", view("C", "2x5x3x17xf32", "out", 3)}}));
  Tensor<float> a({5, 6, 2, 3, 4}), b({4, 2, 17, 6}), c({2, 5, 3, 17});
  a.randomIntegers(1);
  b.randomIntegers(2);
  kernel.run({a.argument(), b.argument(), c.argument()});
  for (int batch = 0; batch < 2; ++batch)
    for (int m = 0; m < 5; ++m)
      for (int h = 0; h < 3; ++h)
        for (int n = 0; n < 17; ++n) {
          float sum = 0;
          for (int k = 0; k < 6; ++k)
            for (int l = 0; l < 4; ++l)
              sum += a[(((m * 6 + k) * 2 + batch) * 3 + h) * 4 + l] *
                     b[((l * 2 + batch) * 17 + n) * 6 + k];
          REQUIRE(c[((batch * 5 + m) * 3 + h) * 17 + n] == sum);
        }
}

TEST_CASE("a product with a vector", "[cpu]") {
  bool rowMajor = GENERATE(false, true);
  Kernel kernel(fill(R"(
tile.kernel @product($X, $Y, $Z) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero
        : !tile.view<40x33xbf16> -> tensor<40x33xbf16>
    %b = tile.load %B[%c0] dims [0] pad zero
        : !tile.view<33xbf16> -> tensor<33xbf16>
    %c = tile.dot %b, %a contract [0] x [1] batch [] x [] precision ieee
        : tensor<33xbf16>, tensor<40x33xbf16> -> tensor<40xf32>
    tile.store %c, %C[%c0] dims [0] : tensor<40xf32>, !tile.view<40xf32>
  }
  tile.return
})",
                     {{"X", view("A", "40x33xbf16", "in", rowMajor ? 1 : 0)},
                      {"Y", view("B", "33xbf16", "in", 0)},
                      {"Z", view("C", "40xf32", "out", 0)}}));
  Tensor<double> a({40 * 33}), b({33});
  a.randomIntegers(1);
  b.randomIntegers(2);
  Tensor<uint16_t> aBits({40 * 33}), bBits({33});
  int64_t sm = rowMajor ? 33 : 1, sk = rowMajor ? 1 : 40;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 33; ++j)
      aBits[i * sm + j * sk] = doubleToBF16(a[i * 33 + j]);
  for (int j = 0; j < 33; ++j)
    bBits[j] = doubleToBF16(b[j]);
  Tensor<float> c({40});
  kernel.run({cpu::Argument::tensor(aBits.data(), {40, 33}, {sm, sk}),
              bBits.argument(), c.argument()});
  for (int i = 0; i < 40; ++i) {
    double sum = 0;
    for (int j = 0; j < 33; ++j)
      sum += a[i * 33 + j] * b[j];
    REQUIRE(c[i] == sum);
  }
}

namespace {

std::string tiledMatmul(const std::string &type, int tileM, int tileN,
                        int tileK) {
  auto shape = [](int x, int y) {
    return std::to_string(x) + "x" + std::to_string(y);
  };
  return fill(R"(
tile.kernel @matmul($X, $Y, $Z) {
  %M = tile.dim %A, 0 : !tile.view<?x?x$T>
  %K = tile.dim %A, 1 : !tile.view<?x?x$T>
  %N = tile.dim %B, 1 : !tile.view<?x?x$T>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step ($tm, $tn) {
    %c0 = arith.constant 0 : index
    %step = arith.constant $tk : index
    %vm = tile.valid %m to %M size $tm
    %vn = tile.valid %n to %N size $tn
    %zero = arith.constant dense<0.0> : tensor<$mnxf32>
    %sum = scf.for %k = %c0 to %K step %step iter_args(%acc = %zero)
        -> tensor<$mnxf32> {
      %vk = tile.valid %k to %K size $tk
      %a = tile.load %A[%m, %k] dims [0, 1] valid [%vm, %vk] pad zero
          : !tile.view<?x?x$T> -> tensor<$mkx$T>
      %b = tile.load %B[%k, %n] dims [0, 1] valid [%vk, %vn] pad zero
          : !tile.view<?x?x$T> -> tensor<$knx$T>
      %d = tile.dot %a, %b acc %acc contract [1] x [0] batch [] x []
          precision ieee
          : tensor<$mkx$T>, tensor<$knx$T>, tensor<$mnxf32> -> tensor<$mnxf32>
      scf.yield %d : tensor<$mnxf32>
    }
    %c = arith.truncf %sum : tensor<$mnxf32> to tensor<$mnxbf16>
    tile.store %c, %C[%m, %n] dims [0, 1] valid [%vm, %vn]
        : tensor<$mnxbf16>, !tile.view<?x?xbf16>
  }
  tile.return
})",
              {{"X", view("A", "?x?x" + type, "in", 1)},
               {"Y", view("B", "?x?x" + type, "in", 1)},
               {"Z", view("C", "?x?xbf16", "out", 1)},
               {"T", type},
               {"tm", std::to_string(tileM)},
               {"tn", std::to_string(tileN)},
               {"tk", std::to_string(tileK)},
               {"mnxf32", shape(tileM, tileN) + "xf32"},
               {"mnxbf16", shape(tileM, tileN) + "xbf16"},
               {"mkx", shape(tileM, tileK) + "x"},
               {"knx", shape(tileK, tileN) + "x"}});
}

} // namespace

TEST_CASE("a tiled matrix product with tails on every axis", "[cpu]") {
  Kernel kernel(tiledMatmul("bf16", 32, 48, 16));
  int64_t shape[][3] = {
      {32, 48, 16}, {33, 49, 17}, {1, 1, 1}, {100, 70, 50}, {5, 200, 0}};
  for (auto [m, n, k] : shape) {
    INFO(m << "x" << n << "x" << k);
    Tensor<double> a({m * k}), b({k * n});
    a.randomIntegers(3, -2, 2);
    b.randomIntegers(4, -2, 2);
    Tensor<uint16_t> aBits({m, k}), bBits({k, n}), c({m, n});
    for (int64_t i = 0; i < m * k; ++i)
      aBits[i] = doubleToBF16(a[i]);
    for (int64_t i = 0; i < k * n; ++i)
      bBits[i] = doubleToBF16(b[i]);
    kernel.run({aBits.argument(), bBits.argument(), c.argument()});
    CHECK(c.guardsIntact());
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += a[i * k + l] * b[l * n + j];
        REQUIRE(c[i * n + j] == doubleToBF16(sum));
      }
  }
}

TEST_CASE("code for older processors computes the same", "[cpu]") {
  std::string cpu = GENERATE("x86-64", "x86-64-v3");
  cpu::CompileOptions options = Kernel::defaultOptions();
  options.cpu = cpu;
  Kernel kernel(wholeDot(37, 45, 29, false, true, "f16", "f32"), options);
  Tensor<double> a({37 * 29}), b({45 * 29});
  a.randomIntegers(3);
  b.randomIntegers(4);
  Tensor<uint16_t> aBits({37, 29}), bBits({45, 29});
  for (int64_t i = 0; i < a.size; ++i)
    aBits[i] = doubleToF16(a[i]);
  for (int64_t i = 0; i < b.size; ++i)
    bBits[i] = doubleToF16(b[i]);
  Tensor<float> c({37, 45});
  kernel.run({aBits.argument(), bBits.argument(), c.argument()});
  for (int64_t i = 0; i < 37; ++i)
    for (int64_t j = 0; j < 45; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < 29; ++l)
        sum += a[i * 29 + l] * b[j * 29 + l];
      REQUIRE(c[i * 45 + j] == float(sum));
    }
}
