//===- MaskExprTest.cpp - Boolean expressions over positions ---*- C++ -*-===//
//
// Normal forms by example, and random masks against plain evaluation.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/MaskExpr.h"
#include "test/Unit/Analysis/RandomExprs.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

namespace {
struct Positions {
  IndexExpr i = IndexExpr::symbol(0, "i", Interval::atLeast(0));
  IndexExpr j = IndexExpr::symbol(1, "j", Interval::atLeast(0));
};
} // namespace

TEST_CASE_METHOD(Positions, "comparisons have three forms") {
  CHECK(ge(i, j).str() == "i - j >= 0");
  CHECK(lt(i, j).str() == "j - i - 1 >= 0");
  CHECK(eq(i, j).str() == "i - j == 0");
  CHECK(ne(i, j).str() == "i - j != 0");
  CHECK(gt(i, j) == lt(j, i));
  CHECK(le(i, j) == ge(j, i));
}

TEST_CASE_METHOD(Positions, "what the ranges decide is decided") {
  CHECK(ge(i, 0).isTrue());
  CHECK(lt(j, 0).isFalse());
  CHECK(eq(i + 1, 0).isFalse());
  CHECK(ne(i, i).isFalse());
  CHECK((ge(i, 0) && ge(i, j)) == ge(i, j));
  CHECK((ge(i, 0) || ge(i, j)).isTrue());
  CHECK((lt(i, 0) || ge(i, j)) == ge(i, j));
  CHECK((ge(i, j) && ge(i, j)) == ge(i, j));
}

TEST_CASE_METHOD(Positions, "negation reaches the comparisons") {
  MaskExpr doc = MaskExpr::opaque(5, "doc[i] == doc[j]");
  CHECK((!ge(i, j)) == lt(i, j));
  CHECK((!eq(i, j)) == ne(i, j));
  CHECK((!(ge(i, j) && doc)).str() == "j - i - 1 >= 0 || !(doc[i] == doc[j])");
  CHECK((!!doc) == doc);
  CHECK((!MaskExpr(true)).isFalse());
}

TEST_CASE("masks have the values they were built with") {
  const uint32_t seed = 11;
  Random random(seed);
  std::vector<IntTree> leaves = {
      leafTree(IndexExpr::symbol(0, "i", Interval::atLeast(0))),
      leafTree(IndexExpr::symbol(1, "j", Interval::atLeast(0))),
      leafTree(IndexExpr::symbol(2, "w"))};
  std::vector<BoolTree> conditions = {
      {MaskExpr::opaque(3, "c"), [](const Values &v) { return v[3] != 0; },
       "c"}};
  for (int round = 0; round < 3000; ++round) {
    BoolTree tree = randomBool(random, leaves, conditions, 4);
    for (int sample = 0; sample < 8; ++sample) {
      Values values = {random.in(0, 20), random.in(0, 20), random.in(-9, 9),
                       random.in(0, 1)};
      bool expected = tree.value(values);
      bool actual =
          tree.mask.evaluate([&](uint32_t id) { return values[id]; },
                             [&](uint32_t id) { return values[id] != 0; });
      if (actual == expected)
        continue;
      CAPTURE(seed, round, tree.text, tree.mask.str(), values);
      FAIL("the mask has another value than it was built with");
    }
  }
}
