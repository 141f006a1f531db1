//===- SemaBuiltins.h - The built-in functions ------------------*- C++ -*-===//
//
// One row a function: how it is called, and which node of the typed tree it
// becomes. The analysis of a kind of call is in SemaCalls.cpp and its
// neighbors; a new function of an existing kind is a new row only.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_SEMABUILTINS_H
#define TILEC_FRONTEND_SEMABUILTINS_H

#include "lib/Frontend/TypedAST.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tilec::sema {

struct Builtin {
  enum class Kind {
    Math,      // exp(x), ...: `math`
    Abs,       // abs(x)
    Pow,       // pow(x, y)
    MinMax,    // max(x, y) by `binary`, max<j>(x) by `reduce`
    Where,     // where(c, a, b)
    Reduce,    // sum<j>(x): `reduce`
    Scan,      // softmax<j>(x): `scan`
    Dot,       // dot<k>(a, b, precision = tf32)
    Random,    // random(seed, offset)
    Attention, // attention(q, k, v, ...)
    Print,     // Statements.
    Assert,
  };
  llvm::StringLiteral name;
  Kind kind;
  /// How a call looks, for messages.
  llvm::StringLiteral usage;
  unsigned minArgs, maxArgs; // Positional ones.
  bool takesAxes = false;
  typed::MathFn math = typed::MathFn::Exp;
  typed::BinaryOp binary = typed::BinaryOp::Max;
  typed::ReduceKind reduce = typed::ReduceKind::Sum;
  typed::ScanKind scan = typed::ScanKind::CumSum;

  bool isStatement() const {
    return kind == Kind::Print || kind == Kind::Assert;
  }
  /// Works element by element, so it can stand for a `fn(f32) -> f32`.
  bool isElementwise() const {
    return kind == Kind::Math || kind == Kind::Abs || kind == Kind::Pow ||
           kind == Kind::MinMax || kind == Kind::Where;
  }
  /// Exactly one axis: argmax, argmin, logsumexp and the scans.
  bool takesOneAxis() const {
    return kind == Kind::Scan ||
           (kind == Kind::Reduce && (reduce == typed::ReduceKind::ArgMax ||
                                     reduce == typed::ReduceKind::ArgMin ||
                                     reduce == typed::ReduceKind::LogSumExp));
  }
  llvm::ArrayRef<llvm::StringRef> namedArgs() const;
};

/// At most this many arguments to max(...) and its like.
constexpr unsigned maxCombinedArgs = 64;

llvm::ArrayRef<Builtin> allBuiltins();
const Builtin *findBuiltin(llvm::StringRef name);

} // namespace tilec::sema

#endif // TILEC_FRONTEND_SEMABUILTINS_H
