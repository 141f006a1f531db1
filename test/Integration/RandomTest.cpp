//===- RandomTest.cpp - random(seed, offset) and dropout --------*- C++ -*-===//
//
// The numbers are those of Support/Philox.h, which has known answers of its
// own, for any seed and offset of 64 bits; and std/random.tile.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Philox.h"
#include "test/Integration/Harness.h"

using namespace tilec;
using namespace tilec::test;

static const int64_t seeds[] = {0,
                                1,
                                -1,
                                INT32_MAX,
                                INT32_MIN,
                                int64_t(1) << 32,
                                (int64_t(1) << 32) + 1,
                                INT64_MAX,
                                INT64_MIN};

TEST_CASE("random: all seeds and offsets", "[random]") {
  for (int64_t seed : seeds)
    for (int64_t first : {int64_t(0), int64_t(-10), int64_t(INT32_MAX) - 10,
                          (int64_t(1) << 32) - 10, INT64_MAX - 100}) {
      Launch launch("random.tile", "uniform");
      launch.scalarInt("seed", seed);
      launch.scalarInt("first", first);
      Tensor &Y = launch.out("Y", {77});
      launch.run();
      expectExact(Y, [&](Index i) {
        return philoxUniform(uint64_t(seed), uint64_t(first) + uint64_t(i[0]));
      });
    }
  Launch launch("random.tile", "narrow_operands");
  launch.scalarInt("seed", -5);
  Tensor &offset = launch.in("offset", {33}, Layout::RowMajor, integers(-9, 9));
  Tensor &Y = launch.out("Y", {33});
  launch.run();
  expectExact(Y, [&](Index i) {
    return philoxUniform(uint64_t(-5), uint64_t(int64_t(offset(i[0]))));
  });
}

TEST_CASE("random: a function of position alone", "[random]") {
  for (int64_t m : {1, 5, 64}) {
    Launch launch("random.tile", "matrix", {}, {{"m", m}, {"n", 12}});
    Launch again("random.tile", "matrix_again", {}, {{"m", m}});
    for (Launch *l : {&launch, &again})
      l->scalarInt("seed", 1234567890123);
    Tensor &Y = launch.out("Y", {33, 50}, Layout::Gaps2);
    Tensor &Z = again.out("Y", {50, 33});
    launch.run();
    again.run();
    auto at = [](int64_t i, int64_t j) {
      return philoxUniform(1234567890123, uint64_t(i * 50 + j));
    };
    expectExact(Y, [&](Index i) { return at(i[0], i[1]); });
    expectExact(Z, [&](Index i) { return at(i[1], i[0]); });
  }
}

TEST_CASE("dropout", "[random]") {
  for (const char *dtype : {"f32", "bf16", "f64"})
    for (double p : {0.0, 0.25, 0.9, 1.0}) {
      Launch launch("std/random.tile", "dropout", {{"T", dtype}});
      Tensor &X = launch.in("X", {33, 131}, Layout::Padded);
      Tensor &Y = launch.out("Y", {33, 131});
      launch.scalar("p", p);
      launch.scalarInt("seed", -(int64_t(1) << 50));
      launch.run();
      expectClose(Y, [&](Index i) {
        bool keep = philoxUniform(uint64_t(-(int64_t(1) << 50)),
                                  uint64_t(i[0] * 131 + i[1])) >= float(p);
        // The f32 parameter is what the kernel divides by.
        return keep ? X(i[0], i[1]) / (1 - double(float(p))) : 0;
      });
    }
  // The defaults: p = 0.1 and seed 0.
  for (int64_t M : {0, 1, 1025})
    for (int64_t N : {0, 1, 77}) {
      Launch launch("std/random.tile", "dropout");
      Tensor &X = launch.in("X", {M, N});
      Tensor &Y = launch.out("Y", {M, N});
      launch.run();
      expectClose(Y, [&](Index i) {
        bool keep = philoxUniform(0, uint64_t(i[0] * N + i[1])) >= 0.1f;
        return keep ? X(i[0], i[1]) / (1 - double(0.1f)) : 0;
      });
    }
}
