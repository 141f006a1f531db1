//===- IndexExprSimplify.cpp - How expressions simplify --------*- C++ -*-===//
//
// The operations on IndexExpr. Linear combinations have one normal form (terms
// merged and sorted, one constant), because most of what the analysis asks is
// whether the difference of two bounds is a constant. Everything that makes a
// constant is checked: where a coefficient would overflow, the operation is
// kept as it was written.
//
// Every rule is an identity of the integers, given the promises made for
// symbols. The tests compare values before and after on random expressions.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/IndexExpr.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <numeric>

namespace tilec {

using Kind = IndexExpr::Kind;

struct IndexExprBuilder {
  /// Whatever can only have one value is that value.
  static IndexExpr make(Kind kind, int64_t constant,
                        std::vector<IndexExpr> operands,
                        std::vector<int64_t> coefficients = {}) {
    IndexExpr expr = IndexExpr::make(kind, constant, std::move(operands),
                                     std::move(coefficients));
    if (expr.range().isPoint())
      return IndexExpr(expr.range().lo);
    return expr;
  }
};

static IndexExpr make(Kind kind, std::vector<IndexExpr> operands) {
  return IndexExprBuilder::make(kind, 0, std::move(operands));
}

static bool isPositive(const IndexExpr &expr) { return expr.range().lo >= 1; }

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// Collects a linear combination. Once anything has overflowed, `finish` gives
/// nothing and the caller keeps its operands apart.
class SumBuilder {
public:
  SumBuilder &add(const IndexExpr &expr, int64_t factor = 1) {
    if (expr.isConstant()) {
      addConstant(expr.constant(), factor);
    } else if (expr.kind() == Kind::Sum) {
      addConstant(expr.constant(), factor);
      for (auto [term, k] : llvm::zip(expr.operands(), expr.coefficients())) {
        int64_t product;
        overflow |= __builtin_mul_overflow(k, factor, &product);
        if (!overflow)
          addTerm(term, product);
      }
    } else {
      addTerm(expr, factor);
    }
    return *this;
  }

  std::optional<IndexExpr> finish() {
    llvm::sort(terms, [](const Term &a, const Term &b) {
      return a.expr.compare(b.expr) < 0;
    });
    std::vector<IndexExpr> operands;
    std::vector<int64_t> coefficients;
    for (const Term &term : terms) {
      if (!operands.empty() && operands.back() == term.expr) {
        overflow |= __builtin_add_overflow(
            coefficients.back(), term.coefficient, &coefficients.back());
        continue;
      }
      if (!operands.empty() && coefficients.back() == 0) {
        operands.pop_back();
        coefficients.pop_back();
      }
      operands.push_back(term.expr);
      coefficients.push_back(term.coefficient);
    }
    if (overflow)
      return std::nullopt;
    if (!operands.empty() && coefficients.back() == 0) {
      operands.pop_back();
      coefficients.pop_back();
    }
    if (operands.empty())
      return IndexExpr(constant);
    if (operands.size() == 1 && coefficients[0] == 1 && constant == 0)
      return operands[0];
    return IndexExprBuilder::make(Kind::Sum, constant, std::move(operands),
                                  std::move(coefficients));
  }

private:
  struct Term {
    IndexExpr expr;
    int64_t coefficient;
  };

  void addConstant(int64_t value, int64_t factor) {
    int64_t product;
    overflow |= __builtin_mul_overflow(value, factor, &product) ||
                __builtin_add_overflow(constant, product, &constant);
  }

  void addTerm(const IndexExpr &expr, int64_t coefficient) {
    if (coefficient == 0)
      return;
    // 64 * (x / 64) is x where x is a multiple of 64.
    if (expr.kind() == Kind::FloorDiv && expr.operands()[1].isConstant()) {
      int64_t divisor = expr.operands()[1].constant();
      if (divisor > 1 && coefficient % divisor == 0 &&
          expr.operands()[0].multipleOf() % divisor == 0) {
        add(expr.operands()[0], coefficient / divisor);
        return;
      }
    }
    terms.push_back({expr, coefficient});
  }

  int64_t constant = 0;
  llvm::SmallVector<Term, 4> terms;
  bool overflow = false;
};

} // namespace

IndexExpr operator+(const IndexExpr &a, const IndexExpr &b) {
  if (std::optional<IndexExpr> sum = SumBuilder().add(a).add(b).finish())
    return *sum;
  return IndexExprBuilder::make(Kind::Sum, 0, {a, b}, {1, 1});
}

IndexExpr operator-(const IndexExpr &a, const IndexExpr &b) {
  if (std::optional<IndexExpr> sum = SumBuilder().add(a).add(b, -1).finish())
    return *sum;
  return IndexExprBuilder::make(Kind::Sum, 0, {a, b}, {1, -1});
}

IndexExpr operator-(const IndexExpr &a) { return IndexExpr(0) - a; }

static IndexExpr scale(const IndexExpr &expr, int64_t factor) {
  if (std::optional<IndexExpr> sum = SumBuilder().add(expr, factor).finish())
    return *sum;
  return IndexExprBuilder::make(Kind::Sum, 0, {expr}, {factor});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Multiplying out is what lets `w * (q + 1) - w * q` come to `w`, but a
/// product of long sums would grow without end.
static constexpr unsigned maxDistributedTerms = 12;

IndexExpr operator*(const IndexExpr &a, const IndexExpr &b) {
  if (a.isConstant())
    return scale(b, a.constant());
  if (b.isConstant())
    return scale(a, b.constant());
  if (b.kind() == Kind::Sum && a.kind() != Kind::Sum)
    return b * a;
  if (a.kind() == Kind::Sum) {
    size_t terms =
        a.operands().size() * (b.kind() == Kind::Sum ? b.operands().size() : 1);
    if (terms <= maxDistributedTerms) {
      SumBuilder sum;
      sum.add(b, a.constant());
      for (auto [term, k] : llvm::zip(a.operands(), a.coefficients()))
        sum.add(term * b, k);
      if (std::optional<IndexExpr> result = sum.finish())
        return *result;
    }
    return make(Kind::Product, {a, b});
  }
  std::vector<IndexExpr> factors;
  for (const IndexExpr &side : {a, b}) {
    if (side.kind() == Kind::Product)
      llvm::append_range(factors, side.operands());
    else
      factors.push_back(side);
  }
  llvm::sort(factors, [](const IndexExpr &x, const IndexExpr &y) {
    return x.compare(y) < 0;
  });
  return make(Kind::Product, std::move(factors));
}

/// `expr / divisor` where the division is exact because the divisor is a factor
/// written in it.
static std::optional<IndexExpr> removeFactor(const IndexExpr &expr,
                                             const IndexExpr &divisor) {
  if (expr == divisor)
    return IndexExpr(1);
  if (expr.kind() != Kind::Product)
    return std::nullopt;
  const IndexExpr *found = llvm::find(expr.operands(), divisor);
  if (found == expr.operands().end())
    return std::nullopt;
  IndexExpr rest(1);
  for (const IndexExpr &factor : expr.operands())
    if (&factor != found)
      rest = rest * factor;
  return rest;
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// The terms of any expression, as those of a sum.
static llvm::SmallVector<std::pair<IndexExpr, int64_t>, 4>
termsOf(const IndexExpr &expr) {
  llvm::SmallVector<std::pair<IndexExpr, int64_t>, 4> terms;
  if (expr.kind() == Kind::Sum) {
    for (auto [term, k] : llvm::zip(expr.operands(), expr.coefficients()))
      terms.push_back({term, k});
  } else if (!expr.isConstant()) {
    terms.push_back({expr, 1});
  }
  return terms;
}

static int64_t constantTermOf(const IndexExpr &expr) {
  return expr.isConstant() || expr.kind() == Kind::Sum ? expr.constant() : 0;
}

/// Whether `coefficient * term` is a multiple of `divisor` (> 0).
static bool isMultiple(const IndexExpr &term, int64_t coefficient,
                       int64_t divisor) {
  if (coefficient % divisor == 0)
    return true;
  if (coefficient == Interval::negInf)
    return false;
  int64_t needed = divisor / std::gcd(divisor, coefficient);
  return term.multipleOf() % needed == 0;
}

/// Splits what a positive constant divides off a numerator, since
/// (d * x + y) / d is x + y / d whatever the signs.
static IndexExpr divideByConstant(const IndexExpr &a, int64_t d) {
  SumBuilder whole, aligned, rest;
  bool hasWhole = false, hasAligned = false, hasRest = false;
  int64_t common = d;
  for (const auto &[term, k] : termsOf(a)) {
    if (k % d == 0) {
      whole.add(term, k / d);
      hasWhole = true;
      continue;
    }
    // The least integer has no absolute value for gcd to take.
    common = k == Interval::negInf ? 1 : std::gcd(common, k);
    if (isMultiple(term, k, d)) {
      aligned.add(term, k);
      hasAligned = true;
    } else {
      rest.add(term, k);
      hasRest = true;
    }
  }
  int64_t remainder = floorModulo(constantTermOf(a), d);
  int64_t quotient = floorDivide(constantTermOf(a), d);
  hasRest |= remainder != 0;
  rest.add(IndexExpr(remainder));
  if (hasWhole || quotient != 0 || (hasAligned && hasRest)) {
    std::optional<IndexExpr> alignedSum = aligned.finish();
    std::optional<IndexExpr> restSum = rest.finish();
    if (alignedSum && restSum) {
      whole.add(IndexExpr(quotient));
      whole.add(floorDiv(*alignedSum, IndexExpr(d)));
      whole.add(floorDiv(*restSum, IndexExpr(d)));
      if (std::optional<IndexExpr> sum = whole.finish())
        return *sum;
    }
    return make(Kind::FloorDiv, {a, IndexExpr(d)});
  }
  // (g * x + r) / (g * e) is (x + r / g) / e.
  if (common > 1) {
    SumBuilder reduced;
    for (const auto &[term, k] : termsOf(a))
      reduced.add(term, k / common);
    reduced.add(IndexExpr(floorDivide(remainder, common)));
    if (std::optional<IndexExpr> numerator = reduced.finish())
      return floorDiv(*numerator, IndexExpr(d / common));
  }
  // (x / c + r) / d is (x + c * r) / (c * d).
  auto terms = termsOf(a);
  if (terms.size() == 1 && terms[0].second == 1 &&
      terms[0].first.kind() == Kind::FloorDiv) {
    const IndexExpr &inner = terms[0].first.operands()[1];
    int64_t product;
    if (inner.isConstant() && inner.constant() > 0 &&
        !__builtin_mul_overflow(inner.constant(), d, &product))
      return floorDiv(terms[0].first.operands()[0] + inner * remainder,
                      IndexExpr(product));
  }
  return make(Kind::FloorDiv, {a, IndexExpr(d)});
}

IndexExpr floorDiv(const IndexExpr &a, const IndexExpr &b) {
  if (b.isConstant()) {
    int64_t d = b.constant();
    if (d == 0 || d == Interval::negInf)
      return make(Kind::FloorDiv, {a, b});
    if (d < 0)
      return floorDiv(-a, IndexExpr(-d));
    if (d == 1)
      return a;
    if (a.isConstant())
      return IndexExpr(floorDivide(a.constant(), d));
    return divideByConstant(a, d);
  }
  if (!isPositive(b))
    return make(Kind::FloorDiv, {a, b});
  SumBuilder whole, rest;
  bool hasWhole = false;
  rest.add(IndexExpr(constantTermOf(a)));
  for (const auto &[term, k] : termsOf(a)) {
    std::optional<IndexExpr> quotient = removeFactor(term, b);
    hasWhole |= quotient.has_value();
    if (quotient)
      whole.add(*quotient, k);
    else
      rest.add(term, k);
  }
  std::optional<IndexExpr> wholeSum = whole.finish(), restSum = rest.finish();
  if (hasWhole && wholeSum && restSum)
    return *wholeSum + floorDiv(*restSum, b);
  return make(Kind::FloorDiv, {a, b});
}

IndexExpr ceilDiv(const IndexExpr &a, const IndexExpr &b) {
  return isPositive(b) ? floorDiv(a + b - 1, b) : -floorDiv(-a, b);
}

IndexExpr mod(const IndexExpr &a, const IndexExpr &b) {
  if (b.isConstant()) {
    int64_t d = b.constant();
    if (d == 0 || d == Interval::negInf)
      return make(Kind::Mod, {a, b});
    if (d < 0)
      return -mod(-a, IndexExpr(-d));
    if (d == 1)
      return IndexExpr(0);
  } else if (!isPositive(b)) {
    return make(Kind::Mod, {a, b});
  }
  SumBuilder rest;
  int64_t constant = constantTermOf(a);
  rest.add(IndexExpr(b.isConstant() ? floorModulo(constant, b.constant())
                                    : constant));
  for (const auto &[term, k] : termsOf(a)) {
    bool vanishes = b.isConstant() ? isMultiple(term, k, b.constant())
                                   : removeFactor(term, b).has_value();
    if (!vanishes)
      rest.add(term, k);
  }
  std::optional<IndexExpr> restSum = rest.finish();
  const IndexExpr &reduced = restSum ? *restSum : a;
  Interval range = reduced.range();
  // Within one period the remainder is a shift.
  if (range.lo >= 0 && range.hi < b.range().lo)
    return reduced;
  if (b.isConstant() && range.lo != Interval::negInf &&
      range.hi != Interval::posInf &&
      floorDivide(range.lo, b.constant()) ==
          floorDivide(range.hi, b.constant()))
    return reduced - IndexExpr(floorDivide(range.lo, b.constant())) * b;
  return make(Kind::Mod, {reduced, b});
}

//===----------------------------------------------------------------------===//
// Minimum, maximum, selection
//===----------------------------------------------------------------------===//

static IndexExpr extremum(Kind kind, const IndexExpr &a, const IndexExpr &b) {
  llvm::SmallVector<IndexExpr, 4> all;
  for (const IndexExpr &side : {a, b}) {
    if (side.kind() == kind)
      llvm::append_range(all, side.operands());
    else
      all.push_back(side);
  }
  std::vector<IndexExpr> kept;
  for (const IndexExpr &candidate : all) {
    auto losesTo = [&](const IndexExpr &x, const IndexExpr &y) {
      return kind == Kind::Min ? provablyLessEqual(y, x)
                               : provablyLessEqual(x, y);
    };
    if (llvm::any_of(kept, [&](const IndexExpr &other) {
          return losesTo(candidate, other);
        }))
      continue;
    llvm::erase_if(kept, [&](const IndexExpr &other) {
      return losesTo(other, candidate);
    });
    kept.push_back(candidate);
  }
  if (kept.size() == 1)
    return kept[0];
  llvm::sort(kept, [](const IndexExpr &x, const IndexExpr &y) {
    return x.compare(y) < 0;
  });
  return make(kind, std::move(kept));
}

IndexExpr min(const IndexExpr &a, const IndexExpr &b) {
  return extremum(Kind::Min, a, b);
}

IndexExpr max(const IndexExpr &a, const IndexExpr &b) {
  return extremum(Kind::Max, a, b);
}

/// min(x, y) + r >= 0 asks for x + r >= 0 and y + r >= 0, of which one may be
/// known: min(S, i) - S >= 0 is i - S >= 0.
static IndexExpr simplifyCondition(const IndexExpr &condition) {
  for (const auto &[term, k] : termsOf(condition)) {
    if (term.kind() != (k > 0 ? Kind::Min : Kind::Max))
      continue;
    std::optional<IndexExpr> open;
    bool severalOpen = false;
    for (const IndexExpr &operand : term.operands()) {
      IndexExpr choice = condition + k * (operand - term);
      if (provablyNonNegative(choice))
        continue;
      severalOpen |= open.has_value();
      open = choice;
    }
    if (open && !severalOpen)
      return simplifyCondition(*open);
  }
  return condition;
}

IndexExpr select(const IndexExpr &condition, const IndexExpr &ifTrue,
                 const IndexExpr &ifFalse) {
  if (ifTrue == ifFalse || provablyNonNegative(condition))
    return ifTrue;
  if (provablyNonNegative(-condition - 1))
    return ifFalse;
  return make(Kind::Select, {simplifyCondition(condition), ifTrue, ifFalse});
}

//===----------------------------------------------------------------------===//
// Proof of sign
//===----------------------------------------------------------------------===//

namespace {

/// Proves that an expression is never negative by replacing the terms that hide
/// cancellations: a minimum by each of its operands, a difference of two
/// quotients by its bound, a quotient by its numerator. The number of steps is
/// bounded: failing to prove something costs a `min` in the output, no more.
class SignProver {
public:
  bool prove(const IndexExpr &e) {
    if (e.range().lo >= 0)
      return true;
    if (e.range().hi < 0 || e.size() > maxSize || steps == 0)
      return false;
    --steps;
    auto recurse = [&](const IndexExpr &x) { return prove(x); };
    switch (e.kind()) {
    case Kind::Min:
      return llvm::all_of(e.operands(), recurse);
    case Kind::Max:
      return llvm::any_of(e.operands(), recurse);
    case Kind::Select:
      return llvm::all_of(e.operands().drop_front(), recurse);
    case Kind::Sum:
      return proveSum(e);
    default:
      return false;
    }
  }

private:
  static constexpr unsigned maxSize = 160;
  unsigned steps = 48;

  bool proveSum(const IndexExpr &e) {
    // A sum is at least 0 if and only if it is so for each choice at a term
    // that acts as a minimum: no other rule is needed then.
    for (auto [term, k] : llvm::zip(e.operands(), e.coefficients()))
      if (term.kind() == Kind::Select || actsAs(Kind::Min, term, k))
        return llvm::all_of(choices(term), [&, &term = term, &k = k](auto &x) {
          return prove(e + k * (x - term));
        });
    if (std::optional<IndexExpr> simpler = boundQuotientPair(e))
      if (prove(*simpler))
        return true;
    for (auto [term, k] : llvm::zip(e.operands(), e.coefficients()))
      if (actsAs(Kind::Max, term, k))
        return llvm::any_of(choices(term), [&, &term = term, &k = k](auto &x) {
          return prove(e + k * (x - term));
        });
    for (auto [term, k] : llvm::zip(e.operands(), e.coefficients())) {
      if (term.kind() != Kind::FloorDiv || !term.operands()[1].isConstant())
        continue;
      int64_t d = term.operands()[1].constant();
      if (d <= 0)
        continue;
      // x - d + 1 <= d * (x / d) <= x.
      IndexExpr bound = term.operands()[0] - (k > 0 ? d - 1 : 0);
      return prove(d * (e - k * term) + k * bound);
    }
    return false;
  }

  static bool actsAs(Kind kind, const IndexExpr &term, int64_t coefficient) {
    if (term.kind() != Kind::Min && term.kind() != Kind::Max)
      return false;
    return (term.kind() == kind) == (coefficient > 0);
  }

  static llvm::ArrayRef<IndexExpr> choices(const IndexExpr &term) {
    return term.kind() == Kind::Select ? term.operands().drop_front()
                                       : term.operands();
  }

  /// x / d - y / d is at least (x - y) / d.
  static std::optional<IndexExpr> boundQuotientPair(const IndexExpr &e) {
    for (auto [x, kx] : llvm::zip(e.operands(), e.coefficients())) {
      if (x.kind() != Kind::FloorDiv || kx <= 0)
        continue;
      const IndexExpr &d = x.operands()[1];
      for (auto [y, ky] : llvm::zip(e.operands(), e.coefficients())) {
        if (y.kind() != Kind::FloorDiv || ky >= 0 || y.operands()[1] != d ||
            !isPositive(d))
          continue;
        int64_t least = (x.operands()[0] - y.operands()[0]).range().lo;
        if (least == Interval::negInf)
          continue;
        int64_t k = std::min(kx, ky == Interval::negInf ? kx : -ky);
        // Of a divisor that varies, only the sign of the quotient is known.
        int64_t quotient = d.isConstant() ? floorDivide(least, d.constant())
                           : least >= 0   ? 0
                                          : least;
        return e + k * (IndexExpr(quotient) - x + y);
      }
    }
    return std::nullopt;
  }
};

} // namespace

bool provablyNonNegative(const IndexExpr &e) { return SignProver().prove(e); }

bool provablyLessEqual(const IndexExpr &a, const IndexExpr &b) {
  return provablyNonNegative(b - a);
}

} // namespace tilec
