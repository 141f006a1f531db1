//===- RandomExprs.h - Random expressions with an oracle -------*- C++ -*-===//
//
// For property tests: builds an expression twice, once through the library
// (which simplifies it) and once as a closure that computes it from the values
// of the leaves in plain 64-bit arithmetic, together with its text as built.
// Values stay so small that nothing overflows.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_ANALYSIS_RANDOMEXPRS_H
#define TILEC_TEST_UNIT_ANALYSIS_RANDOMEXPRS_H

#include "lib/Analysis/MaskExpr.h"

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace tilec::test {

/// The same sequence on every platform, unlike the standard's distributions.
class Random {
public:
  explicit Random(uint32_t seed) : engine(seed) {}
  /// From lo to hi, both included.
  int64_t in(int64_t lo, int64_t hi) {
    return lo + int64_t(engine() % uint64_t(hi - lo + 1));
  }
  bool chance(int percent) { return in(1, 100) <= percent; }
  template <typename T> const T &pick(const std::vector<T> &choices) {
    return choices[size_t(in(0, int64_t(choices.size()) - 1))];
  }

private:
  std::mt19937 engine;
};

/// The values of the leaves, by id.
using Values = std::vector<int64_t>;

struct IntTree {
  IndexExpr expr;
  std::function<int64_t(const Values &)> value;
  std::string text;
};

struct BoolTree {
  MaskExpr mask;
  std::function<bool(const Values &)> value;
  std::string text;
};

// Floor division by its definition, through floating point: exact for the
// small values here, and unlike the library's.
inline int64_t floorQuotient(int64_t a, int64_t b) {
  return b == 0 ? 0 : int64_t(std::floor(double(a) / double(b)));
}
inline int64_t floorRemainder(int64_t a, int64_t b) {
  return b == 0 ? 0 : a - b * floorQuotient(a, b);
}

inline IntTree constantTree(int64_t c) {
  return {IndexExpr(c), [c](const Values &) { return c; }, std::to_string(c)};
}

inline IntTree leafTree(const IndexExpr &leaf) {
  uint32_t id = leaf.symbolId();
  return {leaf, [id](const Values &values) { return values[id]; },
          leaf.name().str()};
}

template <typename Expr, typename Value>
IntTree combineTrees(const char *name, const IntTree &a, const IntTree &b,
                     Expr expr, Value value) {
  return {expr(a.expr, b.expr),
          [f = a.value, g = b.value, value](const Values &values) {
            return int64_t(value(f(values), g(values)));
          },
          std::string(name) + "(" + a.text + ", " + b.text + ")"};
}

inline IntTree add(const IntTree &a, const IntTree &b) {
  return combineTrees(
      "add", a, b, [](auto &x, auto &y) { return x + y; },
      [](int64_t x, int64_t y) { return x + y; });
}
inline IntTree sub(const IntTree &a, const IntTree &b) {
  return combineTrees(
      "sub", a, b, [](auto &x, auto &y) { return x - y; },
      [](int64_t x, int64_t y) { return x - y; });
}
inline IntTree mul(const IntTree &a, const IntTree &b) {
  return combineTrees(
      "mul", a, b, [](auto &x, auto &y) { return x * y; },
      [](int64_t x, int64_t y) { return x * y; });
}
inline IntTree div(const IntTree &a, const IntTree &b) {
  return combineTrees(
      "div", a, b, [](auto &x, auto &y) { return tilec::floorDiv(x, y); },
      floorQuotient);
}
inline IntTree rem(const IntTree &a, const IntTree &b) {
  return combineTrees(
      "rem", a, b, [](auto &x, auto &y) { return tilec::mod(x, y); },
      floorRemainder);
}
inline IntTree least(const IntTree &a, const IntTree &b) {
  return combineTrees(
      "min", a, b, [](auto &x, auto &y) { return tilec::min(x, y); },
      [](int64_t x, int64_t y) { return x < y ? x : y; });
}
inline IntTree most(const IntTree &a, const IntTree &b) {
  return combineTrees(
      "max", a, b, [](auto &x, auto &y) { return tilec::max(x, y); },
      [](int64_t x, int64_t y) { return x < y ? y : x; });
}
inline IntTree choose(const IntTree &c, const IntTree &a, const IntTree &b) {
  return {tilec::select(c.expr, a.expr, b.expr),
          [c, a, b](const Values &values) {
            return c.value(values) >= 0 ? a.value(values) : b.value(values);
          },
          "select(" + c.text + ", " + a.text + ", " + b.text + ")"};
}

/// A random integer expression over the leaves, with constants of both signs.
inline IntTree randomInt(Random &random, const std::vector<IntTree> &leaves,
                         int depth) {
  if (depth == 0 || random.chance(15)) {
    if (random.chance(20))
      return constantTree(random.in(-12, 12));
    return random.pick(leaves);
  }
  auto operand = [&] { return randomInt(random, leaves, depth - 1); };
  // A divisor is most often a positive constant, as in real masks.
  auto divisor = [&] {
    return random.chance(80)   ? constantTree(random.in(1, 9))
           : random.chance(50) ? constantTree(random.in(-4, 4))
                               : operand();
  };
  IntTree a = operand();
  switch (random.in(0, 9)) {
  case 0:
  case 1:
    return add(a, operand());
  case 2:
  case 3:
    return sub(a, operand());
  case 4:
    return mul(a, random.chance(70) ? constantTree(random.in(-4, 4))
                                    : random.pick(leaves));
  case 5:
    return div(a, divisor());
  case 6:
    return rem(a, divisor());
  case 7:
    return least(a, operand());
  case 8:
    return most(a, operand());
  default: {
    IntTree b = operand();
    return choose(a, b, operand());
  }
  }
}

enum class Comparison { Lt, Le, Gt, Ge, Eq, Ne };

inline BoolTree compare(Comparison comparison, const IntTree &a,
                        const IntTree &b) {
  auto build = [&](const char *name, const MaskExpr &mask, auto predicate) {
    return BoolTree{mask,
                    [f = a.value, g = b.value, predicate](const Values &v) {
                      return predicate(f(v), g(v));
                    },
                    a.text + " " + name + " " + b.text};
  };
  switch (comparison) {
  case Comparison::Lt:
    return build("<", lt(a.expr, b.expr), std::less<>());
  case Comparison::Le:
    return build("<=", le(a.expr, b.expr), std::less_equal<>());
  case Comparison::Gt:
    return build(">", gt(a.expr, b.expr), std::greater<>());
  case Comparison::Ge:
    return build(">=", ge(a.expr, b.expr), std::greater_equal<>());
  case Comparison::Eq:
    return build("==", eq(a.expr, b.expr), std::equal_to<>());
  case Comparison::Ne:
    return build("!=", ne(a.expr, b.expr), std::not_equal_to<>());
  }
  return {};
}

inline BoolTree both(const BoolTree &a, const BoolTree &b) {
  return {a.mask && b.mask,
          [f = a.value, g = b.value](const Values &v) { return f(v) && g(v); },
          "(" + a.text + " && " + b.text + ")"};
}
inline BoolTree either(const BoolTree &a, const BoolTree &b) {
  return {a.mask || b.mask,
          [f = a.value, g = b.value](const Values &v) { return f(v) || g(v); },
          "(" + a.text + " || " + b.text + ")"};
}
inline BoolTree negate(const BoolTree &a) {
  return {!a.mask, [f = a.value](const Values &v) { return !f(v); },
          "!(" + a.text + ")"};
}

/// A random condition over integer leaves and opaque conditions.
inline BoolTree randomBool(Random &random, const std::vector<IntTree> &leaves,
                           const std::vector<BoolTree> &conditions, int depth) {
  if (depth == 0 || random.chance(20)) {
    if (random.chance(3)) {
      bool value = random.chance(50);
      return {MaskExpr(value), [value](const Values &) { return value; },
              value ? "true" : "false"};
    }
    if (random.chance(5))
      return random.pick(conditions);
    auto comparison = Comparison(random.in(0, 5));
    IntTree a = randomInt(random, leaves, int(random.in(0, 3)));
    return compare(comparison, a,
                   randomInt(random, leaves, int(random.in(0, 2))));
  }
  BoolTree a = randomBool(random, leaves, conditions, depth - 1);
  if (random.chance(20))
    return negate(a);
  BoolTree b = randomBool(random, leaves, conditions, depth - 1);
  return random.chance(55) ? both(a, b) : either(a, b);
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_ANALYSIS_RANDOMEXPRS_H
