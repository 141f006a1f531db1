//===- ElementwiseTest.cpp - Lane by lane on the cpu target -----*- C++ -*-===//
//
// Positions, broadcasts, pads, random numbers, branches and loops that carry
// tiles: what fusion and bufferization have to keep right.
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "lib/Runtime/NarrowFloat.h"
#include "lib/Support/Philox.h"

#include "llvm/ADT/bit.h"
#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

TEST_CASE("positions, broadcasts and pads", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @mask($X, $W, $Y, %s: f32 {tile.name = "s"}) {
  %M = tile.dim %X, 0 : !tile.view<?x?xf32>
  %N = tile.dim %X, 1 : !tile.view<?x?xf32>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (8, 16) {
    %vm = tile.valid %m to %M size 8
    %vn = tile.valid %n to %N size 16
    %x = tile.load %X[%m, %n] dims [0, 1] valid [%vm, %vn] pad undef
        : !tile.view<?x?xf32> -> tensor<8x16xf32>
    %w = tile.load %W[%n] dims [0] valid [%vn] pad zero
        : !tile.view<?xf32> -> tensor<16xf32>
    %i = tile.iota %m : tensor<8xi64>
    %j = tile.iota %n : tensor<16xi64>
    %ib = tile.broadcast %i dims [0] : tensor<8xi64> -> tensor<8x16xi64>
    %jb = tile.broadcast %j dims [1] : tensor<16xi64> -> tensor<8x16xi64>
    %causal = arith.cmpi sge, %ib, %jb : tensor<8x16xi64>
    %wb = tile.broadcast %w dims [1] : tensor<16xf32> -> tensor<8x16xf32>
    %scale = tensor.splat %s : tensor<8x16xf32>
    %xs = arith.mulf %x, %scale : tensor<8x16xf32>
    %xw = arith.addf %xs, %wb : tensor<8x16xf32>
    %off = arith.constant dense<-1.0> : tensor<8x16xf32>
    %masked = arith.select %causal, %xw, %off
        : tensor<8x16xi1>, tensor<8x16xf32>
    %valid = tile.select_valid %masked valid [%vm, %vn] pad zero
        : tensor<8x16xf32>
    %rows = tile.reduce sum %valid axes [1] : tensor<8x16xf32> -> tensor<8xf32>
    tile.atomic_add %rows, %Y[%m] dims [0] valid [%vm]
        : tensor<8xf32>, !tile.view<?xf32>
  }
  tile.return
})",
                     {{"X", view("X", "?x?xf32", "in", 1)},
                      {"W", view("W", "?xf32", "in", 0)},
                      {"Y", view("Y", "?xf32", "add", 0)}}));
  for (auto [m, n] : {std::pair(8, 16), std::pair(21, 37), std::pair(3, 2)}) {
    Tensor<float> x({m, n}), w({n}), y({m});
    x.randomIntegers(21);
    w.randomIntegers(22);
    kernel.run(
        {x.argument(), w.argument(), y.argument(), cpu::Argument::f32(3)});
    CHECK(y.guardsIntact());
    for (int i = 0; i < m; ++i) {
      float sum = 0;
      for (int j = 0; j < n; ++j)
        sum += i >= j ? 3 * x[i * n + j] + w[j] : -1;
      REQUIRE(y[i] == sum);
    }
  }
}

TEST_CASE("random numbers are a function of seed and position", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @random($Y, %seed: i64 {tile.name = "seed"},
                    %first: i64 {tile.name = "first"}) {
  %N = tile.dim %Y, 0 : !tile.view<?xf32>
  scf.forall (%n) = (0) to (%N) step (64) {
    %v = tile.valid %n to %N size 64
    %i = tile.iota %n : tensor<64xi64>
    %f = tensor.splat %first : tensor<64xi64>
    %p = arith.addi %i, %f : tensor<64xi64>
    %r = tile.random %seed, %p : tensor<64xi64> -> tensor<64xf32>
    tile.store %r, %Y[%n] dims [0] valid [%v]
        : tensor<64xf32>, !tile.view<?xf32>
  }
  tile.return
})",
                     {{"Y", view("Y", "?xf32", "out", 0)}}));
  for (int64_t seed :
       {int64_t(0), int64_t(42), int64_t(-1), int64_t(0x123456789ABCDEF)})
    for (int64_t first : {int64_t(0), int64_t(0xFFFFFFF0), int64_t(-50)}) {
      Tensor<float> y({100});
      kernel.run({y.argument(), cpu::Argument::integer(seed),
                  cpu::Argument::integer(first)});
      for (int i = 0; i < 100; ++i)
        REQUIRE(y[i] == philoxUniform(uint64_t(seed), uint64_t(first + i)));
    }
}

TEST_CASE("loops carry several tiles, exchanged and chosen", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @loops($X, $Y, %size: i64 {tile.name = "size"}) {
  scf.forall (%p) = (0) to (1) step (1) {
    %n = arith.index_cast %size : i64 to index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = tile.load %X[%c0] dims [0] pad zero
        : !tile.view<16xf32> -> tensor<16xf32>
    %one = arith.constant dense<1.0> : tensor<16xf32>
    %a, %b, %c = scf.for %i = %c0 to %n step %c1
        iter_args(%u = %x, %v = %one, %w = %x)
        -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
      %sum = arith.addf %u, %v : tensor<16xf32>
      %three = arith.constant 3 : index
      %early = arith.cmpi ult, %i, %three : index
      %chosen = scf.if %early -> tensor<16xf32> {
        %d = arith.addf %w, %sum : tensor<16xf32>
        scf.yield %d : tensor<16xf32>
      } else {
        scf.yield %w : tensor<16xf32>
      }
      scf.yield %v, %sum, %chosen
          : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
    }
    %ab = arith.addf %a, %b : tensor<16xf32>
    %abc = arith.addf %ab, %c : tensor<16xf32>
    tile.store %abc, %Y[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  }
  tile.return
})",
                     {{"X", view("X", "16xf32", "in", 0)},
                      {"Y", view("Y", "16xf32", "out", 0)}}));
  for (int n : {0, 1, 2, 3, 4, 7}) {
    Tensor<float> x({16}), y({16});
    x.randomIntegers(23);
    kernel.run({x.argument(), y.argument(), cpu::Argument::integer(n)});
    for (int i = 0; i < 16; ++i) {
      float u = x[i], v = 1, w = x[i];
      for (int k = 0; k < n; ++k) {
        float sum = u + v;
        if (k < 3)
          w += sum;
        u = v;
        v = sum;
      }
      REQUIRE(y[i] == u + v + w);
    }
  }
}

TEST_CASE("a tile used after it seems free keeps its value", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @uses($X, $Y) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] dims [0] pad zero
        : !tile.view<16xf32> -> tensor<16xf32>
    %e = math.exp %x : tensor<16xf32>
    %sum = tile.reduce sum %e axes [0] : tensor<16xf32> -> tensor<f32>
    %total = tensor.extract %sum[] : tensor<f32>
    %all = tensor.splat %total : tensor<16xf32>
    %q = arith.divf %e, %all : tensor<16xf32>
    %c = tile.scan sum %q axis 0 : tensor<16xf32>
    %r = arith.subf %c, %q : tensor<16xf32>
    %s = arith.addf %r, %e : tensor<16xf32>
    tile.store %s, %Y[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  }
  tile.return
})",
                     {{"X", view("X", "16xf32", "in", 0)},
                      {"Y", view("Y", "16xf32", "out", 0)}}));
  Tensor<float> x({16}), y({16});
  x.randomReals(24);
  kernel.run({x.argument(), y.argument()});
  double total = 0, before = 0;
  for (int i = 0; i < 16; ++i)
    total += std::exp(x[i]);
  for (int i = 0; i < 16; ++i) {
    REQUIRE(y[i] == Approx(before + std::exp(x[i])).epsilon(1e-5));
    before += std::exp(x[i]) / total;
  }
}

TEST_CASE("integer arithmetic and conversions", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @integers($X, $Y, $Z) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] dims [0] pad zero
        : !tile.view<32xi8> -> tensor<32xi8>
    %s = arith.extsi %x : tensor<32xi8> to tensor<32xi32>
    %u = arith.extui %x : tensor<32xi8> to tensor<32xi32>
    %seven = arith.constant dense<-7> : tensor<32xi32>
    %q = arith.floordivsi %s, %seven : tensor<32xi32>
    %big = arith.constant dense<1000> : tensor<32xi32>
    %qb = arith.muli %q, %big : tensor<32xi32>
    %y = arith.addi %qb, %u : tensor<32xi32>
    tile.store %y, %Y[%c0] dims [0] : tensor<32xi32>, !tile.view<32xi32>
    %f = arith.sitofp %s : tensor<32xi32> to tensor<32xf32>
    %zero = arith.constant dense<0.0> : tensor<32xf32>
    %neg = arith.cmpf olt, %f, %zero : tensor<32xf32>
    %b = arith.extui %neg : tensor<32xi1> to tensor<32xi8>
    tile.store %b, %Z[%c0] dims [0] : tensor<32xi8>, !tile.view<32xi8>
  }
  tile.return
})",
                     {{"X", view("X", "32xi8", "in", 0)},
                      {"Y", view("Y", "32xi32", "out", 0)},
                      {"Z", view("Z", "32xi8", "out", 0)}}));
  Tensor<int8_t> x({32}), z({32});
  Tensor<int32_t> y({32});
  x.randomIntegers(25, -128, 127);
  kernel.run({x.argument(), y.argument(), z.argument()});
  for (int i = 0; i < 32; ++i) {
    int quotient = int(std::floor(x[i] / -7.0));
    REQUIRE(y[i] == quotient * 1000 + int(uint8_t(x[i])));
    REQUIRE(z[i] == (x[i] < 0));
  }
}

TEST_CASE("scalars of every type arrive", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @scalars($Y, %a: f32 {tile.name = "a"}, %b: f64 {tile.name = "b"},
                     %c: i32 {tile.name = "c"}, %d: i64 {tile.name = "d"},
                     %e: i8 {tile.name = "e"}, %f: i1 {tile.name = "f"}) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %a64 = arith.extf %a : f32 to f64
    %cf = arith.sitofp %c : i32 to f64
    %df = arith.sitofp %d : i64 to f64
    %ef = arith.sitofp %e : i8 to f64
    %ff = arith.uitofp %f : i1 to f64
    %s0 = arith.addf %a64, %b : f64
    %s1 = arith.addf %s0, %cf : f64
    %s2 = arith.addf %s1, %df : f64
    %s3 = arith.addf %s2, %ef : f64
    %s4 = arith.addf %s3, %ff : f64
    %t = tensor.splat %s4 : tensor<1xf64>
    tile.store %t, %Y[%c0] dims [0] : tensor<1xf64>, !tile.view<1xf64>
  }
  tile.return
})",
                     {{"Y", view("Y", "1xf64", "out", 0)}}));
  Tensor<double> y({1});
  kernel.run({y.argument(), cpu::Argument::f32(0.5f), cpu::Argument::f64(0.25),
              cpu::Argument::integer(-3), cpu::Argument::integer(1LL << 40),
              cpu::Argument::integer(-100), cpu::Argument::integer(1)});
  CHECK(y[0] == 0.75 - 3 + double(1LL << 40) - 100 + 1);
}

TEST_CASE("tf32 rounding keeps NaN and infinity", "[cpu]") {
  Kernel kernel(fill(R"(
tile.kernel @round($X, $Y) {
  scf.forall (%p) = (0) to (1) step (1) {
    %c0 = arith.constant 0 : index
    %x = tile.load %X[%c0] dims [0] pad zero
        : !tile.view<4096xf32> -> tensor<4096xf32>
    %y = tile.round_tf32 %x : tensor<4096xf32>
    tile.store %y, %Y[%c0] dims [0] : tensor<4096xf32>, !tile.view<4096xf32>
  }
  tile.return
})",
                     {{"X", view("X", "4096xf32", "in", 0)},
                      {"Y", view("Y", "4096xf32", "out", 0)}}));
  Tensor<float> x({4096}), y({4096});
  for (uint32_t i = 0; i < 4096; ++i) {
    // All exponents, and significands near the middle between two results.
    uint32_t bits = (i << 20) | (0x0FFF + i % 3) | ((i & 1) << 13);
    std::memcpy(&x[i], &bits, 4);
  }
  kernel.run({x.argument(), y.argument()});
  for (int i = 0; i < 4096; ++i) {
    float expected = doubleToTF32(x[i]);
    if (expected != expected)
      REQUIRE(y[i] != y[i]);
    else
      REQUIRE(llvm::bit_cast<uint32_t>(y[i]) ==
              llvm::bit_cast<uint32_t>(expected));
  }
}
