//===- MaskExpr.cpp - Boolean expressions over positions -------*- C++ -*-===//
//
// Construction brings a mask into negation normal form and decides the
// comparisons that the ranges of the symbols already decide.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/MaskExpr.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

using Kind = MaskExpr::Kind;

struct MaskExpr::Node {
  Kind kind;
  /// The value of a Constant; whether an Opaque condition is negated.
  bool flag = false;
  uint32_t id = 0;
  std::string name;
  IndexExpr expr;
  std::vector<MaskExpr> operands;
};

MaskExpr::MaskExpr(bool value)
    : node(std::make_shared<const Node>(
          Node{Kind::Constant, value, 0, {}, {}, {}})) {}

MaskExpr MaskExpr::opaque(uint32_t id, llvm::StringRef name) {
  return MaskExpr(std::make_shared<const Node>(
      Node{Kind::Opaque, false, id, name.str(), {}, {}}));
}

MaskExpr MaskExpr::compare(Kind kind, const IndexExpr &expr) {
  bool isNonNegative = provablyNonNegative(expr);
  bool isNegative = !isNonNegative && provablyNonNegative(-expr - 1);
  if (kind == Kind::NonNegative) {
    if (isNonNegative || isNegative)
      return MaskExpr(isNonNegative);
  } else {
    if (expr.isConstant(0))
      return MaskExpr(kind == Kind::Zero);
    if (isNegative || provablyNonNegative(expr - 1))
      return MaskExpr(kind == Kind::NonZero);
  }
  return MaskExpr(
      std::make_shared<const Node>(Node{kind, false, 0, {}, expr, {}}));
}

MaskExpr MaskExpr::connect(Kind kind, const MaskExpr &a, const MaskExpr &b) {
  // The constant that decides: false for an and, true for an or.
  bool absorbing = kind == Kind::Or;
  if (a.kind() == Kind::Constant)
    return a.isTrue() == absorbing ? a : b;
  if (b.kind() == Kind::Constant)
    return b.isTrue() == absorbing ? b : a;
  std::vector<MaskExpr> operands;
  for (const MaskExpr &side : {a, b}) {
    llvm::ArrayRef<MaskExpr> parts =
        side.kind() == kind ? side.operands() : llvm::ArrayRef(side);
    for (const MaskExpr &part : parts)
      if (!llvm::is_contained(operands, part))
        operands.push_back(part);
  }
  if (operands.size() == 1)
    return operands[0];
  return MaskExpr(std::make_shared<const Node>(
      Node{kind, false, 0, {}, {}, std::move(operands)}));
}

Kind MaskExpr::kind() const { return node->kind; }

bool MaskExpr::isTrue() const {
  return node->kind == Kind::Constant && node->flag;
}

bool MaskExpr::isFalse() const {
  return node->kind == Kind::Constant && !node->flag;
}

const IndexExpr &MaskExpr::expr() const {
  assert((kind() == Kind::NonNegative || kind() == Kind::Zero ||
          kind() == Kind::NonZero) &&
         "not a comparison");
  return node->expr;
}

uint32_t MaskExpr::opaqueId() const {
  assert(kind() == Kind::Opaque && "not an opaque condition");
  return node->id;
}

bool MaskExpr::isNegated() const {
  assert(kind() == Kind::Opaque && "not an opaque condition");
  return node->flag;
}

llvm::ArrayRef<MaskExpr> MaskExpr::operands() const { return node->operands; }

bool MaskExpr::operator==(const MaskExpr &other) const {
  if (node == other.node)
    return true;
  return node->kind == other.node->kind && node->flag == other.node->flag &&
         node->id == other.node->id && node->expr == other.node->expr &&
         node->operands == other.node->operands;
}

MaskExpr lt(const IndexExpr &a, const IndexExpr &b) { return le(a + 1, b); }

MaskExpr le(const IndexExpr &a, const IndexExpr &b) {
  return MaskExpr::compare(Kind::NonNegative, b - a);
}

MaskExpr gt(const IndexExpr &a, const IndexExpr &b) { return lt(b, a); }
MaskExpr ge(const IndexExpr &a, const IndexExpr &b) { return le(b, a); }

MaskExpr eq(const IndexExpr &a, const IndexExpr &b) {
  return MaskExpr::compare(Kind::Zero, a - b);
}

MaskExpr ne(const IndexExpr &a, const IndexExpr &b) {
  return MaskExpr::compare(Kind::NonZero, a - b);
}

MaskExpr operator&&(const MaskExpr &a, const MaskExpr &b) {
  return MaskExpr::connect(Kind::And, a, b);
}

MaskExpr operator||(const MaskExpr &a, const MaskExpr &b) {
  return MaskExpr::connect(Kind::Or, a, b);
}

MaskExpr operator!(const MaskExpr &a) {
  switch (a.kind()) {
  case Kind::Constant:
    return MaskExpr(!a.isTrue());
  case Kind::NonNegative:
    return MaskExpr::compare(Kind::NonNegative, -a.expr() - 1);
  case Kind::Zero:
    return MaskExpr::compare(Kind::NonZero, a.expr());
  case Kind::NonZero:
    return MaskExpr::compare(Kind::Zero, a.expr());
  case Kind::Opaque: {
    MaskExpr::Node node = *a.node;
    node.flag = !node.flag;
    return MaskExpr(std::make_shared<const MaskExpr::Node>(std::move(node)));
  }
  case Kind::And:
  case Kind::Or: {
    Kind dual = a.kind() == Kind::And ? Kind::Or : Kind::And;
    MaskExpr result(dual == Kind::And);
    for (const MaskExpr &operand : a.operands())
      result = MaskExpr::connect(dual, result, !operand);
    return result;
  }
  }
  llvm_unreachable("unknown kind");
}

MaskExpr MaskExpr::substitute(
    llvm::function_ref<std::optional<IndexExpr>(const IndexExpr &)> replacement)
    const {
  switch (kind()) {
  case Kind::Constant:
  case Kind::Opaque:
    return *this;
  case Kind::NonNegative:
  case Kind::Zero:
  case Kind::NonZero:
    return compare(kind(), expr().substitute(replacement));
  case Kind::And:
  case Kind::Or: {
    MaskExpr result(kind() == Kind::And);
    for (const MaskExpr &operand : operands())
      result = connect(kind(), result, operand.substitute(replacement));
    return result;
  }
  }
  llvm_unreachable("unknown kind");
}

bool MaskExpr::evaluate(llvm::function_ref<int64_t(uint32_t)> valueOf,
                        llvm::function_ref<bool(uint32_t)> conditionOf) const {
  auto evaluateOperand = [&](const MaskExpr &operand) {
    return operand.evaluate(valueOf, conditionOf);
  };
  switch (kind()) {
  case Kind::Constant:
    return isTrue();
  case Kind::NonNegative:
    return expr().evaluate(valueOf) >= 0;
  case Kind::Zero:
    return expr().evaluate(valueOf) == 0;
  case Kind::NonZero:
    return expr().evaluate(valueOf) != 0;
  case Kind::Opaque:
    return conditionOf(opaqueId()) != isNegated();
  case Kind::And:
    return llvm::all_of(operands(), evaluateOperand);
  case Kind::Or:
    return llvm::any_of(operands(), evaluateOperand);
  }
  llvm_unreachable("unknown kind");
}

void MaskExpr::print(llvm::raw_ostream &os) const {
  switch (kind()) {
  case Kind::Constant:
    os << (isTrue() ? "true" : "false");
    return;
  case Kind::NonNegative:
    os << expr() << " >= 0";
    return;
  case Kind::Zero:
    os << expr() << " == 0";
    return;
  case Kind::NonZero:
    os << expr() << " != 0";
    return;
  case Kind::Opaque:
    os << (isNegated() ? "!(" : "(") << node->name << ')';
    return;
  case Kind::And:
  case Kind::Or:
    llvm::interleave(
        operands(), os,
        [&](const MaskExpr &operand) {
          bool nested = !operand.operands().empty();
          os << (nested ? "(" : "") << operand << (nested ? ")" : "");
        },
        kind() == Kind::And ? " && " : " || ");
    return;
  }
}

std::string MaskExpr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const MaskExpr &mask) {
  mask.print(os);
  return os;
}

} // namespace tilec
