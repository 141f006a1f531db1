//===- SemaExpr.cpp - Operators, literals and names -------------*- C++ -*-===//
//
// The analysis of everything in an expression that is neither a call nor a
// subscript.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"

#include <limits>

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;
using llvm::StringRef;
using llvm::Twine;

Value Analyzer::analyze(const ast::Expr *expr) {
  if (aborted)
    return {};
  // The parser bounds the height of an expression, but an inlined function
  // continues where its call stands.
  constexpr unsigned maxDepth = 1500;
  if (depth >= maxDepth) {
    giveUp(expr->getRange(),
           "this is nested more than " + Twine(maxDepth) +
               " levels deep once functions are inlined",
           "keep parts of the functions' expressions in local variables");
    return {};
  }
  ++depth;
  Value result = analyzeUncounted(expr);
  --depth;
  return result;
}

Value Analyzer::analyzeUncounted(const ast::Expr *expr) {
  SourceRange range = expr->getRange();
  switch (expr->getKind()) {
  case ast::Expr::Kind::IntLiteral:
    return intLiteral(cast<ast::IntLiteral>(expr)->getValue(), range);
  case ast::Expr::Kind::FloatLiteral: {
    const auto *literal = cast<ast::FloatLiteral>(expr);
    Value result = floatLiteral(literal->getValue(), range);
    result.digits = literal->getText();
    return result;
  }
  case ast::Expr::Kind::BoolLiteral:
    return boolConst(cast<ast::BoolLiteral>(expr)->getValue(), range);
  case ast::Expr::Kind::InfLiteral:
    return floatLiteral(std::numeric_limits<double>::infinity(), range);
  case ast::Expr::Kind::NanLiteral:
    return floatLiteral(std::numeric_limits<double>::quiet_NaN(), range);
  case ast::Expr::Kind::StringLiteral:
    error(range, "expected a value, found a text")
        .remedy("texts are for print(\"...\", x) and assert(c, \"...\")");
    return {};
  case ast::Expr::Kind::Name:
    return analyzeName(*cast<ast::NameExpr>(expr));
  case ast::Expr::Kind::DType: {
    StringRef name = dtypeName(cast<ast::DTypeExpr>(expr)->getDType());
    error(range, "expected a value, found the type '" + name + "'")
        .remedy("to convert a value write " + name + "(x)");
    return {};
  }
  case ast::Expr::Kind::Unary:
    return analyzeUnary(*cast<ast::UnaryExpr>(expr));
  case ast::Expr::Kind::Binary:
    return analyzeBinary(*cast<ast::BinaryExpr>(expr));
  case ast::Expr::Kind::Call:
    return analyzeCall(*cast<ast::CallExpr>(expr));
  case ast::Expr::Kind::Subscript:
    return analyzeSubscript(*cast<ast::SubscriptExpr>(expr));
  case ast::Expr::Kind::Cast:
    return analyzeCast(*cast<ast::CastExpr>(expr));
  case ast::Expr::Kind::Lambda:
    error(range, "a lambda cannot be used here")
        .remedy("lambdas are for the arguments 'mask' and 'score' of "
                "attention(...); elsewhere declare a 'fn'");
    return {};
  case ast::Expr::Kind::Zeros:
    return analyzeFull(range, cast<ast::ZerosExpr>(expr)->getType(), nullptr);
  case ast::Expr::Kind::Full:
    return analyzeFull(range, cast<ast::FullExpr>(expr)->getType(),
                       cast<ast::FullExpr>(expr)->getValue());
  }
  llvm_unreachable("not an expression");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Value Analyzer::analyzeName(const ast::NameExpr &name) {
  SourceRange range = name.getRange();
  Symbol *symbol = require(name.getName(), range);
  if (!symbol)
    return {};
  switch (symbol->kind) {
  case Symbol::Kind::Var: {
    if (!checkCapture(symbol->var->type, "the tile '" + name.getName() + "'",
                      range, symbol->range))
      return {};
    auto *node = make<VarRef>(range);
    node->var = symbol->var;
    node->type = symbol->var->type;
    return node;
  }
  case Symbol::Kind::Loop: {
    ValueType type{DType::I64, {}};
    if (symbol->loop->isTile)
      type.axes.push_back(symbol->loop->axis);
    if (!checkCapture(type, "the tile variable '" + name.getName() + "'", range,
                      symbol->range))
      return {};
    auto *node = make<Position>(range);
    node->var = symbol->loop;
    node->type = type;
    return node;
  }
  case Symbol::Kind::Param: {
    Param *param = symbol->param;
    if (param->isTensor) {
      if (!checkReadable(*param, range))
        return {};
      std::optional<Place> place =
          analyzePlace(param, range, {}, AccessKind::Read);
      return place ? load(*place) : Value();
    }
    auto *node = make<ScalarParam>(range);
    node->param = param;
    node->type.dtype = param->dtype;
    return node;
  }
  case Symbol::Kind::Dim: {
    auto *node = make<DimExtent>(range);
    node->dim = symbol->dim;
    node->type.dtype = DType::I64;
    return node;
  }
  case Symbol::Kind::CtInt:
    return intLiteral(symbol->ctInt, range);
  case Symbol::Kind::CtBool:
    return boolConst(symbol->ctBool, range);
  case Symbol::Kind::CtDType:
    error(range,
          "expected a value, found the element type '" + name.getName() + "'")
        .remedy("to convert a value write " + name.getName() + "(x)");
    return {};
  case Symbol::Kind::CtFn:
    error(range, "'" + name.getName() + "' is a function, not a value")
        .note(symbol->range, "'" + name.getName() + "' is declared here")
        .remedy("call it: '" + name.getName() + "(...)'");
    return {};
  case Symbol::Kind::Alias:
    return symbol->expr;
  case Symbol::Kind::Poison:
    return {};
  }
  llvm_unreachable("not a kind of symbol");
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

bool Analyzer::requireBool(Value value, const Twine &what) {
  if (!value)
    return false;
  if (value.dtype() == DType::Bool)
    return true;
  ValueType found = value.type();
  if (value.literal && isFloat(found.dtype))
    found.dtype = DType::F32;
  error(value.range(),
        "expected bool for " + what + ", found " + describe(found))
      .remedy("compare it, for example with '!= 0'");
  return false;
}

Value Analyzer::negate(Value operand, SourceRange range) {
  if (const Choice *choice = operand.choice)
    return makeChoice(choice->condition, negate(choice->onTrue, range),
                      negate(choice->onFalse, range), range);
  bool literal = operand.literal;
  if (!toNumber(operand, "the operand of '-'"))
    return {};
  auto *node = make<Unary>(range);
  node->op = UnaryOp::Neg;
  node->operand = operand.expr;
  node->type = operand.type();
  Value result = foldLiteral(node, literal);
  if (result.literal) {
    result.digits = operand.digits;
    result.negative = !operand.negative;
    result.truncated = operand.truncated;
  }
  return result;
}

Value Analyzer::analyzeUnary(const ast::UnaryExpr &unary) {
  Value operand = analyze(unary.getOperand());
  if (!operand)
    return {};
  if (unary.getOp() == ast::UnaryOp::Neg)
    return negate(operand, unary.getRange());
  if (!requireBool(operand, "the operand of '!'"))
    return {};
  auto *node = make<Unary>(unary.getRange());
  node->op = UnaryOp::Not;
  node->operand = operand.expr;
  node->type = operand.type();
  return fold(node);
}

Value Analyzer::analyzeBinary(const ast::BinaryExpr &binary) {
  if (ast::isLogical(binary.getOp()))
    return analyzeLogical(binary);
  if (ast::isComparison(binary.getOp())) {
    std::optional<DType> lhs = asDType(binary.getLHS());
    std::optional<DType> rhs = asDType(binary.getRHS());
    if (lhs && rhs)
      return compareDTypes(binary, *lhs, *rhs);
  }
  // Both sides are analyzed before either is given up, for the messages.
  Value lhs = analyze(binary.getLHS());
  Value rhs = analyze(binary.getRHS());
  if (!lhs || !rhs)
    return {};
  return this->binary(binary.getOp(), lhs, rhs, binary.getRange());
}

std::optional<DType> Analyzer::asDType(const ast::Expr *expr) {
  if (const auto *dtype = dyn_cast<ast::DTypeExpr>(expr))
    return dtype->getDType();
  if (const auto *name = dyn_cast<ast::NameExpr>(expr))
    if (const Symbol *symbol = lookup(name->getName());
        symbol && symbol->kind == Symbol::Kind::CtDType)
      return symbol->ctDType;
  return std::nullopt;
}

Value Analyzer::compareDTypes(const ast::BinaryExpr &binary, DType lhs,
                              DType rhs) {
  if (binary.getOp() == ast::BinaryOp::Eq)
    return boolConst(lhs == rhs, binary.getRange());
  if (binary.getOp() == ast::BinaryOp::Ne)
    return boolConst(lhs != rhs, binary.getRange());
  error(binary.getOpRange(), "element types have no order")
      .remedy("compare them with == or !=");
  return {};
}

Value Analyzer::analyzeLogical(const ast::BinaryExpr &binary) {
  bool isAnd = binary.getOp() == ast::BinaryOp::And;
  StringRef what = isAnd ? "an operand of '&&'" : "an operand of '||'";
  Value lhs = analyze(binary.getLHS());
  if (lhs && !requireBool(lhs, what))
    lhs = {};
  // As with `if`: what a compile-time value decides is not looked at.
  const auto *decided =
      lhs ? dyn_cast<BoolConst>(lhs.expr) : static_cast<BoolConst *>(nullptr);
  if (decided && decided->value != isAnd)
    return lhs;
  Value rhs = analyze(binary.getRHS());
  if (!rhs || !requireBool(rhs, what) || !lhs)
    return {};
  if (decided)
    return rhs;
  if (const auto *constant = dyn_cast<BoolConst>(rhs.expr);
      constant && constant->value == isAnd)
    return lhs;
  auto *node = make<Binary>(binary.getRange());
  node->op = isAnd ? BinaryOp::And : BinaryOp::Or;
  node->lhs = lhs.expr;
  node->rhs = rhs.expr;
  node->type = lhs.type();
  joinAxes(node->type.axes, rhs.type().axes);
  return node;
}

ast::BinaryOp sema::arithmeticOp(ast::AssignOp op) {
  switch (op) {
  case ast::AssignOp::Sub:
    return ast::BinaryOp::Sub;
  case ast::AssignOp::Mul:
    return ast::BinaryOp::Mul;
  case ast::AssignOp::Div:
    return ast::BinaryOp::Div;
  case ast::AssignOp::Add:
  case ast::AssignOp::Set:
    return ast::BinaryOp::Add;
  }
  llvm_unreachable("not an assignment");
}

/// Arithmetic on integers has its own division.
static BinaryOp typedOp(ast::BinaryOp op, bool floats) {
  switch (op) {
  case ast::BinaryOp::Or:
    return BinaryOp::Or;
  case ast::BinaryOp::And:
    return BinaryOp::And;
  case ast::BinaryOp::Eq:
    return BinaryOp::Eq;
  case ast::BinaryOp::Ne:
    return BinaryOp::Ne;
  case ast::BinaryOp::Lt:
    return BinaryOp::Lt;
  case ast::BinaryOp::Le:
    return BinaryOp::Le;
  case ast::BinaryOp::Gt:
    return BinaryOp::Gt;
  case ast::BinaryOp::Ge:
    return BinaryOp::Ge;
  case ast::BinaryOp::Add:
    return BinaryOp::Add;
  case ast::BinaryOp::Sub:
    return BinaryOp::Sub;
  case ast::BinaryOp::Mul:
    return BinaryOp::Mul;
  case ast::BinaryOp::Div:
    return floats ? BinaryOp::Div : BinaryOp::FloorDiv;
  case ast::BinaryOp::Mod:
    return BinaryOp::FloorMod;
  }
  llvm_unreachable("not a binary operator");
}

/// Whether the quotient of two integer literals has a fraction.
static bool leavesRemainder(const Value &a, const Value &b) {
  const auto *dividend = dyn_cast<IntConst>(a.expr);
  const auto *divisor = dyn_cast<IntConst>(b.expr);
  return dividend && divisor && divisor->value != 0 && divisor->value != -1 &&
         dividend->value % divisor->value != 0;
}

Value Analyzer::binary(ast::BinaryOp op, Value a, Value b, SourceRange range) {
  std::string what = ("'" + ast::spelling(op) + "'").str();
  bool equality = op == ast::BinaryOp::Eq || op == ast::BinaryOp::Ne;
  bool literal = a && b && a.literal && b.literal;
  // A choice among numbers, and a number: a choice among two results.
  if (!ast::isComparison(op) && a.adapts() && b.adapts() && !literal &&
      (a.literal || b.literal)) {
    const Choice &choice = a.choice ? *a.choice : *b.choice;
    auto apply = [&](Value chosen) {
      return binary(op, a.choice ? chosen : a, b.choice ? chosen : b, range);
    };
    Value onTrue = apply(choice.onTrue);
    Value onFalse = onTrue ? apply(choice.onFalse) : Value();
    if (!onTrue || !onFalse)
      return {};
    if (onTrue.adapts() && onFalse.adapts())
      return makeChoice(choice.condition, onTrue, onFalse, range);
  }
  SourceRange truncated = a.truncated.isValid() ? a.truncated : b.truncated;
  if (!unify(a, b, what, /*allowBool=*/equality))
    return {};
  bool floats = isFloat(a.dtype());
  if (op == ast::BinaryOp::Mod && floats) {
    ValueType found = a.type();
    if (literal)
      found.dtype = DType::F32;
    error(range, "expected integers for '%', found " + describe(found))
        .remedy("the remainder of real numbers is x - floor(x / y) * y");
    return {};
  }
  auto *node = make<Binary>(range);
  node->op = typedOp(op, floats);
  node->lhs = a.expr;
  node->rhs = b.expr;
  node->type = a.type();
  joinAxes(node->type.axes, b.type().axes);
  if (ast::isComparison(op))
    node->type.dtype = DType::Bool;
  Value result = foldLiteral(node, literal);
  if (result.literal && !floats)
    result.truncated = node->op == BinaryOp::FloorDiv && leavesRemainder(a, b)
                           ? range
                           : truncated;
  return result;
}

//===----------------------------------------------------------------------===//
// Casts and constants with axes
//===----------------------------------------------------------------------===//

Value Analyzer::analyzeCast(const ast::CastExpr &cast) {
  Value operand = analyze(cast.getOperand());
  std::optional<DType> dtype = resolveDType(cast.getType());
  if (!operand || !dtype)
    return {};
  if (operand.dtype() == *dtype && !operand.literal)
    return operand.expr;
  Expr *result = convert(operand, *dtype);
  // An i64 literal is of its type already, but no longer without one.
  return Value(result);
}

Value Analyzer::analyzeFull(SourceRange range, const ast::TypeSpec &type,
                            const ast::Expr *value) {
  std::optional<DType> dtype = resolveDType(type);
  bool valid = dtype.has_value();
  ValueType result;
  for (const ast::Dim &dim : type.dims) {
    Axis *axis = dim.isName()
                     ? findAxis(dim.name, dim.range)
                     : constantAxis(std::to_string(dim.value), dim.value);
    if (!axis) {
      valid = false;
      continue;
    }
    if (result.hasAxis(axis)) {
      error(dim.range, "the axis '" + axis->name + "' occurs twice")
          .remedy("every axis of a value has a name of its own");
      valid = false;
      continue;
    }
    result.axes.push_back(axis);
  }
  Value scalar;
  if (value) {
    scalar = analyze(value);
    valid &= static_cast<bool>(scalar);
  }
  if (!valid)
    return {};
  result.dtype = *dtype;
  if (!checkCapture(result, "a tile", range, range))
    return {};
  Expr *element;
  if (value) {
    if (!scalar.type().isScalar()) {
      error(scalar.range(),
            "expected a scalar for 'full', found " + describe(scalar.type()))
          .remedy("a value with axes needs no 'full': it is broadcast by the "
                  "names of its axes");
      return {};
    }
    element = convertImplicitly(scalar, *dtype, Conversion::Store,
                                "the elements of 'full'", type.dtypeRange);
    if (!element)
      return {};
  } else {
    ScalarValue zero;
    zero.dtype = *dtype;
    element = constant(zero, range);
  }
  if (result.isScalar())
    return element;
  auto *node = make<Full>(range);
  node->value = element;
  node->type = result;
  return node;
}
