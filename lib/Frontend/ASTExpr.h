//===- ASTExpr.h - Types and expressions of the syntax tree -----*- C++ -*-===//
//
// The part of the tree below statements; see AST.h for the whole of it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_ASTEXPR_H
#define TILEC_FRONTEND_ASTEXPR_H

#include "lib/Support/DType.h"
#include "lib/Support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"
#include <algorithm>
#include <cstdint>
#include <optional>

namespace tilec::ast {

/// How deep brackets, unary operators, lambdas and blocks may nest.
constexpr unsigned maxNesting = 256;
/// How high the tree of one expression may be; it bounds `a + b + c + …` too.
constexpr unsigned maxExprHeight = 512;

class Expr;

/// A name as it stands in the source.
struct Ident {
  llvm::StringRef name;
  SourceRange range;
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// One extent of a type: `M` (a symbolic dimension, a compile-time integer or a
/// tile variable) or `64`.
struct Dim {
  llvm::StringRef name; // Empty for a number.
  int64_t value = 0;    // Only for a number; not negative.
  SourceRange range;
  bool isName() const { return !name.empty(); }
};

/// `bf16[M, 64]`, `f32`, or `T[M]` with T a compile-time dtype parameter.
struct TypeSpec {
  std::optional<DType> dtype; // Empty: the type is `dtypeParam`.
  llvm::StringRef dtypeParam;
  SourceRange dtypeRange;
  bool hasDims = false; // `[…]` was written; it has at least one dimension.
  llvm::ArrayRef<Dim> dims;
  SourceRange range;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

class Expr {
public:
  enum class Kind : uint8_t {
    IntLiteral,
    FloatLiteral,
    BoolLiteral,
    InfLiteral,
    NanLiteral,
    StringLiteral,
    Name,
    DType,
    Unary,
    Binary,
    Call,
    Subscript,
    Cast,
    Lambda,
    Zeros,
    Full,
  };

  Kind getKind() const { return kind; }
  /// The text of the expression, without parentheses around it.
  SourceRange getRange() const { return range; }
  /// 1 for a leaf, else one more than the highest child.
  unsigned getHeight() const { return height; }

protected:
  Expr(Kind kind, SourceRange range, unsigned childHeight = 0)
      : kind(kind), height(static_cast<uint16_t>(childHeight + 1)),
        range(range) {}

private:
  Kind kind;
  uint16_t height;
  SourceRange range;
};

/// `128`, `1_000`, `0x1F`. The value is at most 2^63 - 1, except for the
/// operand of a unary minus, where 2^63 is allowed and appears here as
/// INT64_MIN (so that wrapping negation gives the right value).
class IntLiteral : public Expr {
public:
  IntLiteral(SourceRange range, int64_t value)
      : Expr(Kind::IntLiteral, range), value(value) {}
  int64_t getValue() const { return value; }
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::IntLiteral;
  }

private:
  int64_t value;
};

/// `1e-6`. The text is kept, as it can be rounded to f32 only once: from it.
class FloatLiteral : public Expr {
public:
  FloatLiteral(SourceRange range, llvm::StringRef text, double value)
      : Expr(Kind::FloatLiteral, range), text(text), value(value) {}
  /// The digits without underscores, such as APFloat takes them.
  llvm::StringRef getText() const { return text; }
  /// The nearest double; always finite.
  double getValue() const { return value; }
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::FloatLiteral;
  }

private:
  llvm::StringRef text;
  double value;
};

class BoolLiteral : public Expr {
public:
  BoolLiteral(SourceRange range, bool value)
      : Expr(Kind::BoolLiteral, range), value(value) {}
  bool getValue() const { return value; }
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::BoolLiteral;
  }

private:
  bool value;
};

class InfLiteral : public Expr {
public:
  explicit InfLiteral(SourceRange range) : Expr(Kind::InfLiteral, range) {}
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::InfLiteral;
  }
};

class NanLiteral : public Expr {
public:
  explicit NanLiteral(SourceRange range) : Expr(Kind::NanLiteral, range) {}
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::NanLiteral;
  }
};

/// `"text"`, for print and assert. The value has its escapes replaced.
class StringLiteral : public Expr {
public:
  StringLiteral(SourceRange range, llvm::StringRef value)
      : Expr(Kind::StringLiteral, range), value(value) {}
  llvm::StringRef getValue() const { return value; }
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::StringLiteral;
  }

private:
  llvm::StringRef value;
};

class NameExpr : public Expr {
public:
  NameExpr(SourceRange range, llvm::StringRef name)
      : Expr(Kind::Name, range), name(name) {}
  llvm::StringRef getName() const { return name; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Name; }

private:
  llvm::StringRef name;
};

/// The name of an element type used as a value: `precision = tf32`, or the
/// default `bf16` of a compile-time dtype parameter.
class DTypeExpr : public Expr {
public:
  DTypeExpr(SourceRange range, DType dtype)
      : Expr(Kind::DType, range), dtype(dtype) {}
  DType getDType() const { return dtype; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::DType; }

private:
  DType dtype;
};

enum class UnaryOp : uint8_t { Neg, Not };

/// "-" or "!".
llvm::StringRef spelling(UnaryOp op);

class UnaryExpr : public Expr {
public:
  UnaryExpr(SourceRange range, UnaryOp op, Expr *operand)
      : Expr(Kind::Unary, range, operand->getHeight()), op(op),
        operand(operand) {}
  UnaryOp getOp() const { return op; }
  Expr *getOperand() const { return operand; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Unary; }

private:
  UnaryOp op;
  Expr *operand;
};

enum class BinaryOp : uint8_t {
  Or,
  And,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Add,
  Sub,
  Mul,
  Div,
  Mod,
};

/// "||", "<=", "+", …
llvm::StringRef spelling(BinaryOp op);
inline bool isComparison(BinaryOp op) {
  return op >= BinaryOp::Eq && op <= BinaryOp::Ge;
}
inline bool isLogical(BinaryOp op) { return op <= BinaryOp::And; }

class BinaryExpr : public Expr {
public:
  BinaryExpr(SourceRange range, BinaryOp op, SourceRange opRange, Expr *lhs,
             Expr *rhs)
      : Expr(Kind::Binary, range, std::max(lhs->getHeight(), rhs->getHeight())),
        op(op), opRange(opRange), lhs(lhs), rhs(rhs) {}
  BinaryOp getOp() const { return op; }
  SourceRange getOpRange() const { return opRange; }
  Expr *getLHS() const { return lhs; }
  Expr *getRHS() const { return rhs; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Binary; }

private:
  BinaryOp op;
  SourceRange opRange;
  Expr *lhs, *rhs;
};

/// One argument between the angle brackets of a call: an axis, a compile-time
/// value, the name of a function, or an element type.
struct TypeArg {
  enum class Kind : uint8_t { Name, Int, Bool, DType };
  Kind kind = Kind::Name;
  SourceRange range;
  llvm::StringRef name;     // Name
  int64_t intValue = 0;     // Int
  bool boolValue = false;   // Bool
  DType dtype = DType::F32; // DType
};

/// `x` or `scale = x`.
struct CallArg {
  llvm::StringRef name; // Empty for a positional argument.
  SourceRange nameRange;
  Expr *value = nullptr;
  bool isNamed() const { return !name.empty(); }
};

/// `max<j>(s)`, `attention(q, k, v, mask = …)`, `softcap(s, 50.0)`. Positional
/// arguments come before named ones, and no name occurs twice.
class CallExpr : public Expr {
public:
  CallExpr(SourceRange range, Ident callee, llvm::ArrayRef<TypeArg> typeArgs,
           llvm::ArrayRef<CallArg> args)
      : Expr(Kind::Call, range, highest(args)), callee(callee),
        typeArgs(typeArgs), args(args) {}
  llvm::StringRef getCallee() const { return callee.name; }
  SourceRange getCalleeRange() const { return callee.range; }
  /// Angle brackets were written; they hold at least one argument.
  bool hasTypeArgs() const { return !typeArgs.empty(); }
  llvm::ArrayRef<TypeArg> getTypeArgs() const { return typeArgs; }
  llvm::ArrayRef<CallArg> getArgs() const { return args; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Call; }

private:
  static unsigned highest(llvm::ArrayRef<CallArg> args) {
    unsigned height = 0;
    for (const CallArg &arg : args)
      height = std::max(height, arg.value->getHeight());
    return height;
  }
  Ident callee;
  llvm::ArrayRef<TypeArg> typeArgs;
  llvm::ArrayRef<CallArg> args;
};

/// One subscript: an expression, or `:` for a whole axis.
struct Subscript {
  Expr *index = nullptr; // Null: the whole axis.
  SourceRange range;
  bool isWholeAxis() const { return index == nullptr; }
};

/// `A[m, :, idx[k]]`, at least one subscript.
class SubscriptExpr : public Expr {
public:
  SubscriptExpr(SourceRange range, NameExpr *base,
                llvm::ArrayRef<Subscript> subscripts)
      : Expr(Kind::Subscript, range, highest(subscripts)), base(base),
        subscripts(subscripts) {}
  NameExpr *getBase() const { return base; }
  llvm::ArrayRef<Subscript> getSubscripts() const { return subscripts; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Subscript; }

private:
  static unsigned highest(llvm::ArrayRef<Subscript> subscripts) {
    unsigned height = 1;
    for (const Subscript &subscript : subscripts)
      if (subscript.index)
        height = std::max(height, subscript.index->getHeight());
    return height;
  }
  NameExpr *base;
  llvm::ArrayRef<Subscript> subscripts;
};

/// `bf16(x)`, `T(x)`. The type has no dimensions.
class CastExpr : public Expr {
public:
  CastExpr(SourceRange range, TypeSpec type, Expr *operand)
      : Expr(Kind::Cast, range, operand->getHeight()), type(type),
        operand(operand) {}
  const TypeSpec &getType() const { return type; }
  Expr *getOperand() const { return operand; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Cast; }

private:
  TypeSpec type;
  Expr *operand;
};

/// `|q, kv| q >= kv`, at least one parameter, all different.
class LambdaExpr : public Expr {
public:
  LambdaExpr(SourceRange range, llvm::ArrayRef<Ident> params, Expr *body)
      : Expr(Kind::Lambda, range, body->getHeight()), params(params),
        body(body) {}
  llvm::ArrayRef<Ident> getParams() const { return params; }
  Expr *getBody() const { return body; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Lambda; }

private:
  llvm::ArrayRef<Ident> params;
  Expr *body;
};

/// `zeros f32[m, n]`.
class ZerosExpr : public Expr {
public:
  ZerosExpr(SourceRange range, TypeSpec type)
      : Expr(Kind::Zeros, range), type(type) {}
  const TypeSpec &getType() const { return type; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Zeros; }

private:
  TypeSpec type;
};

/// `full f32[i] -inf`.
class FullExpr : public Expr {
public:
  FullExpr(SourceRange range, TypeSpec type, Expr *value)
      : Expr(Kind::Full, range, value->getHeight()), type(type), value(value) {}
  const TypeSpec &getType() const { return type; }
  Expr *getValue() const { return value; }
  static bool classof(const Expr *e) { return e->getKind() == Kind::Full; }

private:
  TypeSpec type;
  Expr *value;
};

} // namespace tilec::ast

#endif // TILEC_FRONTEND_ASTEXPR_H
