//===- IndexExprTest.cpp - Symbolic integer expressions --------*- C++ -*-===//
//
// The simplifications by example, their soundness on random expressions
// against plain arithmetic, and emission.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/IndexExpr.h"
#include "test/Unit/Analysis/RandomExprs.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

namespace {
struct Symbols {
  IndexExpr S = IndexExpr::symbol(0, "S", Interval::atLeast(0));
  IndexExpr i0 = IndexExpr::symbol(1, "i0", Interval::atLeast(0), 128);
  IndexExpr w = IndexExpr::symbol(2, "w", Interval::atLeast(1));
  IndexExpr x = IndexExpr::symbol(3, "x");
  IndexExpr y = IndexExpr::symbol(4, "y");
};
} // namespace

TEST_CASE_METHOD(Symbols, "sums have one normal form") {
  CHECK((x + y).str() == "x + y");
  CHECK(y + x == x + y);
  CHECK(((i0 + 127) + 1 - i0).str() == "128");
  CHECK((3 * (x - 2 * y) + 1).str() == "3 * x - 6 * y + 1");
  CHECK((5 - x).str() == "5 - x");
  CHECK((-x).str() == "-x");
  CHECK((x - x).isConstant(0));
  CHECK((2 * x - x - x + 7).isConstant(7));
}

TEST_CASE_METHOD(Symbols, "products are multiplied out") {
  CHECK((w * (x + 1) - w * x) == w);
  CHECK((x * y) == (y * x));
  CHECK(((2 * x) * (3 * y)).str() == "6 * (x * y)");
}

TEST_CASE_METHOD(Symbols, "division splits off what divides") {
  CHECK(floorDiv(128 * x + 127, 128) == x);
  CHECK(floorDiv(x + 67, 64).str() == "((x + 3) / 64) + 1");
  CHECK(floorDiv(floorDiv(x, 4), 8).str() == "x / 32");
  CHECK(floorDiv(2 * x + 1, 4).str() == "x / 2");
  CHECK(floorDiv(x, 1) == x);
  CHECK(floorDiv(x, -2) == floorDiv(-x, 2));
  CHECK((64 * floorDiv(i0 + 1, 64)) == i0);
  CHECK((64 * floorDiv(i0 + 64 + x, 64)).str() == "i0 + 64 * (x / 64) + 64");
  CHECK(floorDiv(w * x + w, w) == x + 1);
  CHECK(floorDiv(IndexExpr(-7), 2).isConstant(-4));
  CHECK(ceilDiv(IndexExpr(7), 2).isConstant(4));
  // The sign of x is not known: nothing may be cancelled.
  CHECK(floorDiv(x * y, x).kind() == IndexExpr::Kind::FloorDiv);
  CHECK(!floorDiv(y, x).isSpeculatable());
  CHECK(floorDiv(y, w).isSpeculatable());
}

TEST_CASE_METHOD(Symbols, "remainders within one period vanish") {
  CHECK(mod(S, 64).str() == "S % 64");
  CHECK(mod(64 * x + S + 128, 64) == mod(S, 64));
  CHECK(mod(i0, 64).isConstant(0));
  IndexExpr small = IndexExpr::symbol(9, "n", Interval{64, 127});
  CHECK(mod(small, 64) == small - 64);
  CHECK(mod(small, 128) == small);
  CHECK(mod(x, 1).isConstant(0));
}

TEST_CASE_METHOD(Symbols, "dominated operands of min and max go") {
  CHECK(max(S, 0) == S);
  CHECK(min(i0 + 1, i0 + 128) == i0 + 1);
  CHECK(min(x, max(x, y)) == x);
  CHECK(max(x, min(x, y)) == x);
  CHECK(min(min(x, y), x) == min(x, y));
  CHECK(min(x, S).str() == "min(S, x)");
  CHECK(max(64 * floorDiv(S + 63, 64), S) == 64 * floorDiv(S + 63, 64));
  CHECK(min(64 * floorDiv(S, 64), S) == 64 * floorDiv(S, 64));
}

TEST_CASE_METHOD(Symbols, "select folds where the sign is known") {
  CHECK(select(S, x, y) == x);
  CHECK(select(-w, x, y) == y);
  CHECK(select(x, y, y) == y);
  CHECK(select(min(S, x) - S, 1, 0) == select(x - S, 1, 0));
  CHECK(select(x, y, 0).str() == "select(x >= 0, y, 0)");
}

TEST_CASE_METHOD(Symbols, "order is proved through min, max and rounding") {
  IndexExpr down = 64 * floorDiv(x, 64), up = 64 * floorDiv(x + 63, 64);
  CHECK(provablyLessEqual(down, x));
  CHECK(provablyLessEqual(x, up));
  CHECK(provablyLessEqual(down, up));
  CHECK(provablyLessEqual(min(x, y), x));
  CHECK(provablyLessEqual(min(i0, S), min(i0 + 128, S)));
  CHECK(provablyLessEqual(floorDiv(x, w), floorDiv(x + 5, w)));
  CHECK_FALSE(provablyLessEqual(x, down));
  CHECK_FALSE(provablyLessEqual(x, y));
  CHECK_FALSE(provablyNonNegative(x));
  CHECK(provablyNonNegative(S));
  CHECK_FALSE(provablyNonNegative(S - 1));
}

TEST_CASE("constants never overflow") {
  IndexExpr x = IndexExpr::symbol(0, "x");
  IndexExpr sum = IndexExpr(INT64_MAX) + (x + 1);
  CHECK(sum.evaluate([](uint32_t) { return -1; }) == INT64_MAX);
  CHECK(sum.evaluate([](uint32_t) { return 0; }) == INT64_MAX);
  IndexExpr product = INT64_MAX * (x * 3);
  CHECK(product.evaluate([](uint32_t) { return 0; }) == 0);
  CHECK(product.evaluate([](uint32_t) { return -2; }) == INT64_MIN);
  IndexExpr least = INT64_MIN * x;
  CHECK(least.evaluate([](uint32_t) { return 1; }) == INT64_MIN);
  CHECK(floorDiv(least, 6).evaluate([](uint32_t) { return 0; }) == 0);
  CHECK(mod(least, 6).evaluate([](uint32_t) { return 1; }) ==
        floorModulo(INT64_MIN, 6));
  CHECK((-least).evaluate([](uint32_t) { return 1; }) == INT64_MAX);
}

TEST_CASE_METHOD(Symbols, "leaves are replaced and expressions folded anew") {
  IndexExpr e = min(x + 1, S) - y;
  IndexExpr replaced =
      e.substitute([&](const IndexExpr &leaf) -> std::optional<IndexExpr> {
        if (leaf == y)
          return x;
        if (leaf == S)
          return x + 5;
        return std::nullopt;
      });
  CHECK(replaced.isConstant(1));
  CHECK(e.mentions([&](const IndexExpr &leaf) { return leaf == S; }));
  CHECK_FALSE(e.mentions([&](const IndexExpr &leaf) { return leaf == w; }));
}

namespace {
/// Writes the operations in the order they are asked for.
struct Recorder : IndexExprEmitter<std::string> {
  std::string log;
  int next = 0;

  std::string record(const std::string &text) {
    std::string name = "v" + std::to_string(next++);
    log += name + " = " + text + "\n";
    return name;
  }
  std::string constant(int64_t c) override { return std::to_string(c); }
  std::string symbol(const IndexExpr &leaf) override {
    return leaf.name().str();
  }
  std::string add(std::string a, std::string b) override {
    return record("add " + a + ", " + b);
  }
  std::string sub(std::string a, std::string b) override {
    return record("sub " + a + ", " + b);
  }
  std::string mul(std::string a, std::string b) override {
    return record("mul " + a + ", " + b);
  }
  std::string floorDiv(std::string a, std::string b) override {
    return record("div " + a + ", " + b);
  }
  std::string mod(std::string a, std::string b) override {
    return record("mod " + a + ", " + b);
  }
  std::string min(std::string a, std::string b) override {
    return record("min " + a + ", " + b);
  }
  std::string max(std::string a, std::string b) override {
    return record("max " + a + ", " + b);
  }
  std::string selectNonNegative(std::string c, std::string a,
                                std::string b) override {
    return record("select " + c + ", " + a + ", " + b);
  }
};
} // namespace

TEST_CASE_METHOD(Symbols, "emission shares common subexpressions") {
  Recorder recorder;
  IndexExpr rounded = 64 * floorDiv(S + 63, 64);
  recorder.emit(min(rounded, x));
  recorder.emit(rounded - 3 * y);
  recorder.emit(2 - x);
  CHECK(recorder.log == "v0 = add S, 63\n"
                        "v1 = div v0, 64\n"
                        "v2 = mul v1, 64\n"
                        "v3 = min x, v2\n"
                        "v4 = mul y, 3\n"
                        "v5 = sub v2, v4\n"
                        "v6 = sub 2, x\n");
}

TEST_CASE("simplification keeps values, ranges and divisors") {
  const uint32_t seed = 7;
  Random random(seed);
  struct Leaf {
    IndexExpr expr;
    int64_t lo, hi, step;
  };
  std::vector<Leaf> table = {
      {IndexExpr::symbol(0, "a"), -20, 20, 1},
      {IndexExpr::symbol(1, "b", Interval::atLeast(0)), 0, 30, 1},
      {IndexExpr::symbol(2, "c", Interval{1, 6}), 1, 6, 1},
      {IndexExpr::symbol(3, "d", Interval::atLeast(0), 4), 0, 8, 4},
      {IndexExpr::symbol(4, "e", Interval::atMost(-1)), -9, -1, 1},
      {IndexExpr::symbol(5, "f", Interval::all(), 6), -3, 3, 6},
  };
  std::vector<IntTree> leaves;
  for (const Leaf &leaf : table)
    leaves.push_back(leafTree(leaf.expr));
  int simplified = 0, proved = 0;
  for (int round = 0; round < 6000; ++round) {
    IntTree tree = randomInt(random, leaves, 4);
    IntTree other = randomInt(random, leaves, 2);
    bool ordered = provablyLessEqual(tree.expr, other.expr);
    proved += ordered;
    simplified += tree.expr.isConstant();
    IndexExpr again =
        tree.expr.substitute([](const IndexExpr &) { return std::nullopt; });
    for (int sample = 0; sample < 12; ++sample) {
      Values values;
      for (const Leaf &leaf : table)
        values.push_back(leaf.step * random.in(leaf.lo, leaf.hi));
      auto valueOf = [&](uint32_t id) { return values[id]; };
      int64_t expected = tree.value(values);
      int64_t actual = tree.expr.evaluate(valueOf);
      int64_t divisor = tree.expr.multipleOf();
      // Captures are slow: only a failure makes its text.
      bool holds = actual == expected && again.evaluate(valueOf) == expected &&
                   tree.expr.range().contains(expected) &&
                   (divisor == 0 ? expected == 0 : expected % divisor == 0) &&
                   (!ordered || expected <= other.value(values));
      if (holds)
        continue;
      CAPTURE(seed, round, tree.text, tree.expr.str(), values, expected, actual,
              other.text, ordered, divisor);
      FAIL("simplification changed a value or promised what is not so");
    }
  }
  // The tests above would hold of a simplifier that does nothing.
  CHECK(simplified > 100);
  CHECK(proved > 100);
}
