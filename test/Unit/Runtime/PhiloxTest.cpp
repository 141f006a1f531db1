//===- PhiloxTest.cpp - Tests of the random number definition ---*- C++ -*-===//
//
// The vectors are those published with the algorithm (Random123, kat_vectors).
// Generated code on every target must agree with them.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Philox.h"

#include <catch2/catch.hpp>

using namespace tilec;

TEST_CASE("Philox reproduces the published vectors", "[philox]") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) ==
        PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t ones = 0xffffffff;
  CHECK(philox4x32({ones, ones, ones, ones}, {ones, ones}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("seed and offset go in low word first", "[philox]") {
  CHECK(philoxBlock(0x1111111122222222, 0x3333333344444444) ==
        philox4x32({0x44444444, 0x33333333, 0, 0}, {0x22222222, 0x11111111}));
  // It is a constant expression, so tables can be made of it.
  static_assert(philoxBlock(0, 0)[0] == 0x6627e8d5);
}

TEST_CASE("the uniform value is the top 24 bits", "[philox]") {
  CHECK(uniformFromWord(0) == 0.0f);
  CHECK(uniformFromWord(0xff) == 0.0f);
  CHECK(uniformFromWord(0x100) == 0x1p-24f);
  CHECK(uniformFromWord(0x80000000) == 0.5f);
  CHECK(uniformFromWord(0xffffffff) == 1.0f - 0x1p-24f);
  CHECK(philoxUniform(0, 0) == static_cast<float>(0x6627e8) / 16777216.0f);
}
