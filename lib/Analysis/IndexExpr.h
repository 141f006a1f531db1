//===- IndexExpr.h - Symbolic integer expressions --------------*- C++ -*-===//
//
// An IndexExpr is an integer that the compiler can write down but not compute:
// a row tile's first position, the extent of a tensor, the tile at which a
// loop should stop. It is a small immutable expression over constants and
// numbered symbols, cheap to copy (one shared pointer) and simplified as it is
// built, so that callers combine expressions freely and look at what is left:
//
//   IndexExpr S  = IndexExpr::symbol(0, "S", Interval::atLeast(0));
//   IndexExpr i0 = IndexExpr::symbol(1, "i0", Interval::atLeast(0), 128);
//
//   (i0 + 127) + 1 - i0                is 128
//   max(S, 0)                          is S               (S is never negative)
//   min(i0 + 1, i0 + 128)              is i0 + 1
//   floorDiv(128 * S + 127, 128)       is S
//   64 * floorDiv(i0 + 1, 64)          is i0              (i0 is a multiple)
//   mod(S, 64)                         stays `S % 64`
//   select(S, a, b)                    is a               (a where S >= 0)
//
// The numbers of symbols are the caller's: a pass keeps a table from number to
// SSA value. A symbol's interval and its known divisor are promises that every
// simplification may rely on; two mentions of one number must agree on them.
//
// Arithmetic is that of the integers. Simplification never makes a constant
// that overflows 64 bits, and `evaluate` saturates, but the values met at run
// time are taken to fit.
//
// To turn an expression into operations (or numbers, or text) derive from
// IndexExprEmitter, at the end of this file; `evaluate` is one such emitter.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_ANALYSIS_INDEXEXPR_H
#define TILEC_ANALYSIS_INDEXEXPR_H

#include "lib/Analysis/Intervals.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cassert>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec {

class IndexExpr {
public:
  enum class Kind : uint8_t {
    Constant, ///< constant()
    Symbol,   ///< symbolId(), name()
    Opaque,   ///< like Symbol, but its value differs from position to position
    Sum,      ///< constant() + sum over k of coefficients()[k] * operands()[k]
    Product,  ///< of two or more operands, none of them constant
    FloorDiv, ///< operands()[0] / operands()[1], rounded down
    Mod,      ///< operands()[0] % operands()[1], with the divisor's sign
    Min,      ///< of two or more operands
    Max,      ///< of two or more operands
    Select,   ///< operands()[0] >= 0 ? operands()[1] : operands()[2]
  };

  /// Constants convert, so that `i + 1` and `max(x, 0)` read as they should.
  IndexExpr(int64_t constant = 0);

  static IndexExpr symbol(uint32_t id, llvm::StringRef name,
                          Interval range = Interval::all(),
                          int64_t multipleOf = 1);
  /// An integer about which only its range is known and which may differ from
  /// one position to the next (`doc[i]`). Ids are shared with symbols.
  static IndexExpr opaque(uint32_t id, llvm::StringRef name,
                          Interval range = Interval::all());

  Kind kind() const;
  bool isConstant() const { return kind() == Kind::Constant; }
  bool isConstant(int64_t value) const {
    return isConstant() && constant() == value;
  }
  bool isLeafVariable() const {
    return kind() == Kind::Symbol || kind() == Kind::Opaque;
  }
  /// The value of a Constant; the constant term of a Sum.
  int64_t constant() const;
  uint32_t symbolId() const;
  llvm::StringRef name() const;
  llvm::ArrayRef<IndexExpr> operands() const;
  llvm::ArrayRef<int64_t> coefficients() const;

  /// All values this can take, from the ranges of the symbols.
  Interval range() const;
  /// A positive number that divides every value this can take; 0 for the
  /// constant 0, which everything divides.
  int64_t multipleOf() const;
  /// Whether every divisor in it is known to be positive, so that computing it
  /// speculatively cannot trap.
  bool isSpeculatable() const;
  /// The number of nodes when written out as a tree (saturating).
  unsigned size() const;

  /// Structural equality: `==` implies equal values, not the reverse.
  bool operator==(const IndexExpr &other) const;
  bool operator!=(const IndexExpr &other) const { return !(*this == other); }
  /// A total order that does not depend on addresses.
  int compare(const IndexExpr &other) const;

  /// Whether a symbol or opaque leaf satisfies the predicate.
  bool
  mentions(llvm::function_ref<bool(const IndexExpr &leaf)> predicate) const;
  /// This with the leaves replaced for which `replacement` gives a value, and
  /// simplified anew.
  IndexExpr
  substitute(llvm::function_ref<std::optional<IndexExpr>(const IndexExpr &leaf)>
                 replacement) const;
  /// The value where the symbols have the values that `valueOf` gives.
  int64_t evaluate(llvm::function_ref<int64_t(uint32_t id)> valueOf) const;

  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  struct Node;
  explicit IndexExpr(std::shared_ptr<const Node> node)
      : node(std::move(node)) {}
  /// Builds a node as it stands; only the simplifier may.
  static IndexExpr make(Kind kind, int64_t constant,
                        std::vector<IndexExpr> operands,
                        std::vector<int64_t> coefficients = {});
  friend struct IndexExprBuilder;

  std::shared_ptr<const Node> node;
};

IndexExpr operator+(const IndexExpr &a, const IndexExpr &b);
IndexExpr operator-(const IndexExpr &a, const IndexExpr &b);
IndexExpr operator-(const IndexExpr &a);
IndexExpr operator*(const IndexExpr &a, const IndexExpr &b);
IndexExpr floorDiv(const IndexExpr &a, const IndexExpr &b);
/// Rounds up.
IndexExpr ceilDiv(const IndexExpr &a, const IndexExpr &b);
IndexExpr mod(const IndexExpr &a, const IndexExpr &b);
IndexExpr min(const IndexExpr &a, const IndexExpr &b);
IndexExpr max(const IndexExpr &a, const IndexExpr &b);
/// `ifTrue` where `condition` >= 0, else `ifFalse`.
IndexExpr select(const IndexExpr &condition, const IndexExpr &ifTrue,
                 const IndexExpr &ifFalse);

/// Whether `e` >= 0 (`a` <= `b`) for all values of the symbols. False means
/// "not proved".
bool provablyNonNegative(const IndexExpr &e);
bool provablyLessEqual(const IndexExpr &a, const IndexExpr &b);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const IndexExpr &expr);

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Turns expressions into values of some other kind by binary operations. Equal
/// subexpressions are emitted once per emitter, so an emitter must not outlive
/// the place its values are visible in. For example, in a pass:
///
///   struct ArithEmitter : IndexExprEmitter<Value> {
///     Value constant(int64_t c) override {
///       return arith::ConstantIndexOp::create(builder, loc, c);
///     }
///     Value symbol(const IndexExpr &leaf) override {
///       return table[leaf.symbolId()];
///     }
///     Value add(Value a, Value b) override { ... }
///     ...
///   };
///   Value bound = emitter.emit(split.visitHi);
///
/// Divisors are positive in everything that `analyzeMask` returns.
template <typename Value> class IndexExprEmitter {
public:
  virtual ~IndexExprEmitter() = default;

  Value emit(const IndexExpr &expr) {
    if (auto it = emitted.find(expr); it != emitted.end())
      return it->second;
    Value value = emitNew(expr);
    emitted.emplace(expr, value);
    return value;
  }

protected:
  virtual Value constant(int64_t value) = 0;
  /// Of a Symbol or Opaque leaf.
  virtual Value symbol(const IndexExpr &leaf) = 0;
  virtual Value add(Value a, Value b) = 0;
  virtual Value sub(Value a, Value b) = 0;
  virtual Value mul(Value a, Value b) = 0;
  virtual Value floorDiv(Value a, Value b) = 0;
  virtual Value mod(Value a, Value b) = 0;
  virtual Value min(Value a, Value b) = 0;
  virtual Value max(Value a, Value b) = 0;
  virtual Value selectNonNegative(Value condition, Value ifTrue,
                                  Value ifFalse) = 0;

private:
  struct Less {
    bool operator()(const IndexExpr &a, const IndexExpr &b) const {
      return a.compare(b) < 0;
    }
  };

  Value emitNew(const IndexExpr &expr);
  Value emitSum(const IndexExpr &sum);

  std::map<IndexExpr, Value, Less> emitted;
};

template <typename Value>
Value IndexExprEmitter<Value>::emitNew(const IndexExpr &expr) {
  using Kind = IndexExpr::Kind;
  auto operand = [&](unsigned k) { return emit(expr.operands()[k]); };
  // Operands are emitted in separate statements: the order in which a call's
  // arguments are evaluated is unspecified, and the output must not vary.
  auto chain = [&](auto combine) {
    Value value = operand(0);
    for (unsigned k = 1; k < expr.operands().size(); ++k) {
      Value next = operand(k);
      value = combine(value, next);
    }
    return value;
  };
  switch (expr.kind()) {
  case Kind::Constant:
    return constant(expr.constant());
  case Kind::Symbol:
  case Kind::Opaque:
    return symbol(expr);
  case Kind::Sum:
    return emitSum(expr);
  case Kind::Product:
    return chain([&](Value a, Value b) { return mul(a, b); });
  case Kind::FloorDiv:
    return chain([&](Value a, Value b) { return floorDiv(a, b); });
  case Kind::Mod:
    return chain([&](Value a, Value b) { return mod(a, b); });
  case Kind::Min:
    return chain([&](Value a, Value b) { return min(a, b); });
  case Kind::Max:
    return chain([&](Value a, Value b) { return max(a, b); });
  case Kind::Select: {
    Value condition = operand(0), ifTrue = operand(1), ifFalse = operand(2);
    return selectNonNegative(condition, ifTrue, ifFalse);
  }
  }
  assert(false && "unknown kind");
  return constant(0);
}

template <typename Value>
Value IndexExprEmitter<Value>::emitSum(const IndexExpr &sum) {
  std::optional<Value> total;
  bool isScaled = sum.operands().size() == 1 && sum.constant() == 0;
  auto accumulate = [&](bool negative) {
    for (auto [k, term] : llvm::enumerate(sum.operands())) {
      int64_t coefficient = sum.coefficients()[k];
      if ((coefficient < 0) != negative)
        continue;
      // Subtracting is only possible from something, and the most negative
      // coefficient has no absolute value.
      bool subtract = negative && total && coefficient != Interval::negInf;
      int64_t factor = subtract ? -coefficient : coefficient;
      // A term of a longer sum goes through `emit`, to be shared.
      Value value =
          emit(factor == 1 || isScaled ? term : IndexExpr(factor) * term);
      if (factor != 1 && isScaled)
        value = mul(value, emit(IndexExpr(factor)));
      total = !total     ? value
              : subtract ? sub(*total, value)
                         : add(*total, value);
    }
  };
  accumulate(/*negative=*/false);
  // `5 - x` rather than `-1 * x + 5`.
  bool constantFirst = !total && sum.constant() != 0;
  if (constantFirst)
    total = emit(IndexExpr(sum.constant()));
  accumulate(/*negative=*/true);
  if (!constantFirst && sum.constant() != 0)
    total = add(*total, emit(IndexExpr(sum.constant())));
  return *total;
}

} // namespace tilec

#endif // TILEC_ANALYSIS_INDEXEXPR_H
