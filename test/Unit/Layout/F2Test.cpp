//===- F2Test.cpp - Vectors of bits and the spaces they span ---*- C++ -*-===//
//
// Spans against the enumeration of all sums.
//
//===----------------------------------------------------------------------===//

#include "lib/Layout/F2.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace tilec::layout;

TEST_CASE("a span is the set of all sums") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::uniform_int_distribution<uint64_t> value(0, 63);
    llvm::SmallVector<uint64_t> vectors;
    std::set<uint64_t> sums = {0};
    Span span;
    for (int i = 0; i < 5; ++i) {
      uint64_t vector = value(random);
      vectors.push_back(vector);
      CHECK(span.insert(vector) == (sums.count(vector) == 0));
      std::set<uint64_t> more = sums;
      for (uint64_t sum : sums)
        more.insert(sum ^ vector);
      sums = more;
      REQUIRE(uint64_t(1) << span.dimension() == sums.size());
    }
    for (uint64_t vector = 0; vector < 64; ++vector) {
      std::optional<uint64_t> mask = span.express(vector);
      CHECK(span.contains(vector) == (sums.count(vector) == 1));
      REQUIRE(mask.has_value() == (sums.count(vector) == 1));
      if (mask)
        CHECK(multiply<uint64_t>(vectors, *mask) == vector);
    }
  }
}

TEST_CASE("expressions use only vectors that were new") {
  Span span;
  CHECK(span.insert(0b0110));
  CHECK(span.insert(0b0011));
  CHECK_FALSE(span.insert(0b0101));
  CHECK_FALSE(span.insert(0));
  CHECK(span.insert(0b1000));
  CHECK(span.dimension() == 3);
  CHECK(span.express(0b0101) == 0b00011u);
  CHECK(span.express(0b1101) == 0b10011u);
  CHECK(span.express(0) == 0u);
  CHECK_FALSE(span.express(0b0001).has_value());
}
