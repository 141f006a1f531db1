//===- SemaTypes.cpp - Conversions and broadcasting -------------*- C++ -*-===//
//
// Which type an operation has, and how its operands get there.
//
// Numbers in the source have no type of their own. A literal is kept as an i64
// or f64 constant marked `literal`, takes the type of the operand it meets, and
// becomes i64 or f32 where it meets none. Operations on literals alone are
// computed here and give literals again.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"

#include <cmath>

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::isa;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

std::string sema::describeAxes(llvm::ArrayRef<Axis *> axes) {
  std::string text = "[";
  for (const Axis *axis : axes) {
    if (text.size() > 1)
      text += ", ";
    text += axis->name;
  }
  return text + "]";
}

std::string sema::describe(const ValueType &type) {
  std::string text = dtypeName(type.dtype).str();
  return type.isScalar() ? text : text + describeAxes(type.axes);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Expr *Analyzer::constant(ScalarValue value, SourceRange range) {
  Expr *result;
  if (value.dtype == DType::Bool)
    return boolConst(value.integer != 0, range);
  if (isFloat(value.dtype)) {
    auto *node = make<FloatConst>(range);
    node->value = value.real;
    result = node;
  } else {
    auto *node = make<IntConst>(range);
    node->value = value.integer;
    result = node;
  }
  result->type.dtype = value.dtype;
  return result;
}

Value Analyzer::intLiteral(int64_t value, SourceRange range) {
  Value result = constant(ScalarValue::ofInt(value), range);
  result.literal = true;
  return result;
}

Value Analyzer::floatLiteral(double value, SourceRange range) {
  Value result = constant(ScalarValue::ofFloat(value, DType::F64), range);
  result.literal = true;
  return result;
}

Expr *Analyzer::boolConst(bool value, SourceRange range) {
  auto *node = make<BoolConst>(range);
  node->value = value;
  node->type.dtype = DType::Bool;
  return node;
}

static bool isConstant(const Expr &expr) {
  return isa<IntConst, FloatConst, BoolConst>(expr);
}

static ScalarValue valueOf(const Expr &expr) {
  if (const auto *node = llvm::dyn_cast<IntConst>(&expr))
    return ScalarValue::ofInt(node->value, expr.type.dtype);
  if (const auto *node = llvm::dyn_cast<FloatConst>(&expr))
    return ScalarValue::ofFloat(node->value, expr.type.dtype);
  return ScalarValue::ofBool(cast<BoolConst>(expr).value);
}

bool sema::isSameNumber(const Expr &a, const Expr &b) {
  if (!isConstant(a) || !isConstant(b) || a.type.dtype != b.type.dtype)
    return false;
  ScalarValue x = valueOf(a), y = valueOf(b);
  return isFloat(x.dtype)
             ? x.real == y.real || (std::isnan(x.real) && std::isnan(y.real))
             : x.integer == y.integer;
}

Expr *Analyzer::fold(Expr *expr) {
  bool allConstant = true;
  switch (expr->kind) {
  case Expr::Kind::Unary:
    allConstant = isConstant(*cast<Unary>(expr)->operand);
    break;
  case Expr::Kind::Binary:
    allConstant = isConstant(*cast<Binary>(expr)->lhs) &&
                  isConstant(*cast<Binary>(expr)->rhs);
    break;
  case Expr::Kind::Math:
    allConstant = isConstant(*cast<Math>(expr)->operand);
    break;
  case Expr::Kind::Cast:
    allConstant = isConstant(*cast<Cast>(expr)->operand);
    break;
  case Expr::Kind::Where:
    allConstant = isConstant(*cast<Where>(expr)->condition) &&
                  isConstant(*cast<Where>(expr)->onTrue) &&
                  isConstant(*cast<Where>(expr)->onFalse);
    break;
  default:
    return expr;
  }
  if (!allConstant)
    return expr;
  llvm::Expected<ScalarValue> value = evaluateScalar(*expr, {});
  if (!value) {
    llvm::consumeError(value.takeError());
    return expr;
  }
  return constant(*value, expr->range);
}

Value Analyzer::foldLiteral(Expr *expr, bool literal) {
  Value result = fold(expr);
  // A comparison of literals is a bool, which always has its type.
  result.literal =
      literal && result.dtype() != DType::Bool && isConstant(*result.expr);
  return result;
}

//===----------------------------------------------------------------------===//
// Arithmetic types
//===----------------------------------------------------------------------===//

DType Analyzer::arithmeticType(DType dtype) {
  if (isFloat(dtype))
    return dtype == DType::F64 ? DType::F64 : DType::F32;
  return dtype == DType::I64 || dtype == DType::Bool ? dtype : DType::I32;
}

DType Analyzer::commonType(DType a, DType b) {
  a = arithmeticType(a);
  b = arithmeticType(b);
  if (isFloat(a) || isFloat(b)) {
    if (!isFloat(a))
      return b;
    if (!isFloat(b))
      return a;
    return a == DType::F64 || b == DType::F64 ? DType::F64 : DType::F32;
  }
  return a == DType::I64 || b == DType::I64 ? DType::I64 : DType::I32;
}

static bool fits(int64_t value, DType dtype) {
  IntegerRange range = integerRange(dtype);
  return value >= range.min && value <= range.max;
}

/// Whether every value of `value`, which adapts and is an integer, is one of
/// `dtype`.
static bool fits(const Value &value, DType dtype) {
  if (value.choice)
    return fits(value.choice->onTrue, dtype) &&
           fits(value.choice->onFalse, dtype);
  return fits(cast<IntConst>(value.expr)->value, dtype);
}

/// The type that what adapts takes beside an operand of type `other`.
static DType adaptedType(const Value &value, DType other) {
  if (isFloat(value.dtype()) || isFloat(other))
    return other == DType::F64 ? DType::F64 : DType::F32;
  // A number that i32 cannot hold makes the operation one of i64.
  return other == DType::I64 || !fits(value, DType::I32) ? DType::I64
                                                         : DType::I32;
}

bool Analyzer::toNumber(Value &value, const Twine &what) {
  if (!value)
    return false;
  if (value.dtype() == DType::Bool) {
    error(value.range(),
          "expected a number for " + what + ", found " + describe(value.type()))
        .remedy("a bool becomes 0 or 1 with a conversion such as i32(...), or "
                "choose values with where(...)");
    return false;
  }
  if (!value.literal)
    value = convert(value, arithmeticType(value.dtype()));
  return true;
}

bool Analyzer::toReal(Value &value, const Twine &what) {
  if (!toNumber(value, what))
    return false;
  if (!isFloat(value.dtype()))
    warnIfTruncated(value);
  if (value.literal) {
    // Stays a literal, so that rsqrt(128) is computed once and in double.
    if (!isFloat(value.dtype())) {
      value.expr = convert(Value(value.expr), DType::F64);
      value.digits = {};
    }
    return true;
  }
  if (!isFloat(value.dtype()))
    value = convert(value, DType::F32);
  return true;
}

bool Analyzer::unify(Value &a, Value &b, const Twine &what, bool allowBool) {
  if (!a || !b)
    return false;
  bool boolA = a.dtype() == DType::Bool, boolB = b.dtype() == DType::Bool;
  if (boolA && boolB && allowBool)
    return true;
  if (boolA || boolB) {
    const Value &wrong = boolA ? a : b;
    Diagnostic &diagnostic =
        error(wrong.range(),
              what +
                  (boolA && boolB ? " takes numbers: expected numbers, found "
                                  : " takes operands of one kind: expected "
                                    "numbers, found ") +
                  describe(wrong.type()));
    diagnostic.remedy("a bool becomes 0 or 1 with a conversion such as "
                      "i32(...), or choose values with where(...)");
    return false;
  }
  if (isFloat(a.dtype()) != isFloat(b.dtype()))
    warnIfTruncated(isFloat(a.dtype()) ? b : a);
  if (a.literal && b.literal) {
    if (isFloat(a.dtype()) != isFloat(b.dtype())) {
      Value &integer = isFloat(a.dtype()) ? b : a;
      integer = asFloatLiteral(integer);
    }
    return true;
  }
  // There is nothing to adapt to.
  if (a.adapts() && b.adapts()) {
    a = settle(a);
    b = settle(b);
  }
  DType dtype;
  if (a.adapts())
    dtype = commonType(b.dtype(), adaptedType(a, b.dtype()));
  else if (b.adapts())
    dtype = commonType(a.dtype(), adaptedType(b, a.dtype()));
  else
    dtype = commonType(a.dtype(), b.dtype());
  a = convert(a, dtype);
  b = convert(b, dtype);
  return true;
}

Value Analyzer::asFloatLiteral(Value value) {
  if (isFloat(value.dtype()))
    return value;
  if (const Choice *choice = value.choice)
    return makeChoice(choice->condition, asFloatLiteral(choice->onTrue),
                      asFloatLiteral(choice->onFalse), value.range());
  Value result = convert(Value(value.expr), DType::F64);
  result.literal = true;
  return result;
}

Expr *Analyzer::makeWhere(Expr *condition, Expr *onTrue, Expr *onFalse,
                          SourceRange range) {
  auto *node = make<Where>(range);
  node->condition = condition;
  node->onTrue = onTrue;
  node->onFalse = onFalse;
  // The chosen values say the order before the condition does.
  node->type = onTrue->type;
  joinAxes(node->type.axes, onFalse->type.axes);
  joinAxes(node->type.axes, condition->type.axes);
  return node;
}

Value Analyzer::makeChoice(Expr *condition, Value onTrue, Value onFalse,
                           SourceRange range) {
  auto *choice = kernel->arena.make<Choice>();
  choice->condition = condition;
  choice->onTrue = onTrue;
  choice->onFalse = onFalse;
  Value result =
      makeWhere(condition, settle(onTrue).expr, settle(onFalse).expr, range);
  result.choice = choice;
  return result;
}

void Analyzer::warnIfTruncated(const Value &value) {
  if (value.choice) {
    warnIfTruncated(value.choice->onTrue);
    warnIfTruncated(value.choice->onFalse);
    return;
  }
  SourceRange range = value.truncated;
  // One over an extent, known or not, is 0.
  const auto *quotient = llvm::dyn_cast<Binary>(value.expr);
  if (quotient && quotient->op == BinaryOp::FloorDiv)
    if (const auto *dividend = llvm::dyn_cast<IntConst>(quotient->lhs);
        dividend && dividend->value == 1)
      range = quotient->range;
  if (!range.isValid())
    return;
  StringRef text = diags.getSources().getText(range);
  warning(range, "'" + text +
                     "' is a division of integers, which drops the fraction, "
                     "and is used as a float")
      .remedy("to keep the fraction make one of the two a float, as in '1.0 / "
              "2'; if the whole number is meant, write f32(" +
              text + ")");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Expr *Analyzer::convert(Value value, DType dtype) {
  if (const Choice *choice = value.choice; choice && value.dtype() != dtype)
    return makeWhere(choice->condition, convert(choice->onTrue, dtype),
                     convert(choice->onFalse, dtype), value.range());
  if (value.literal && !value.digits.empty() && isFloat(dtype))
    return constant(ScalarValue::ofFloat(
                        parseFloat(value.digits, value.negative, dtype), dtype),
                    value.range());
  if (value.dtype() == dtype)
    return value.expr;
  auto *node = make<Cast>(value.range());
  node->type = value.type();
  node->type.dtype = dtype;
  node->operand = value.expr;
  return fold(node);
}

Value Analyzer::settle(Value value) {
  if (!value || !value.adapts())
    return value;
  return convert(value, isFloat(value.dtype()) ? DType::F32 : DType::I64);
}

/// Whether every value of `from` is one of `to`.
static bool widens(DType from, DType to) {
  if (from == to)
    return true;
  if (isFloat(from) && isFloat(to)) {
    const FloatFormat &a = floatFormat(from), &b = floatFormat(to);
    return a.exponentBits <= b.exponentBits && a.fractionBits <= b.fractionBits;
  }
  if (isInteger(from) && isInteger(to)) {
    IntegerRange a = integerRange(from), b = integerRange(to);
    return a.min >= b.min && a.max <= b.max;
  }
  // As in arithmetic, where an integer beside an f32 becomes one.
  return isInteger(from) && (to == DType::F32 || to == DType::F64);
}

static bool convertsImplicitly(const Value &value, DType to, bool isStore) {
  if (value.choice)
    return convertsImplicitly(value.choice->onTrue, to, isStore) &&
           convertsImplicitly(value.choice->onFalse, to, isStore);
  DType from = value.dtype();
  if (from == DType::Bool || to == DType::Bool)
    return from == to;
  if (value.literal) {
    if (isFloat(to))
      return true;
    return !isFloat(from) && fits(cast<IntConst>(value.expr)->value, to);
  }
  if (widens(from, to))
    return true;
  return isStore && isFloat(to);
}

Expr *Analyzer::convertImplicitly(Value value, DType dtype, Conversion how,
                                  const Twine &what, SourceRange declared) {
  if (!value)
    return nullptr;
  if (convertsImplicitly(value, dtype, how == Conversion::Store)) {
    if (isFloat(dtype) && !isFloat(value.dtype()))
      warnIfTruncated(value);
    return convert(value, dtype);
  }
  // The choice that does not fit is what there is to say something about.
  if (const Choice *choice = value.choice) {
    bool isFirst =
        !convertsImplicitly(choice->onTrue, dtype, how == Conversion::Store);
    return convertImplicitly(isFirst ? choice->onTrue : choice->onFalse, dtype,
                             how, what, declared);
  }
  StringRef to = dtypeName(dtype);
  const auto *number = llvm::dyn_cast<IntConst>(value.expr);
  if (value.literal && number && isInteger(dtype)) {
    IntegerRange range = integerRange(dtype);
    error(value.range(), Twine(number->value) + " does not fit into " + what)
        .note(declared, "it has the type " + to + ", which holds " +
                            Twine(range.min) + " to " + Twine(range.max))
        .remedy("use a wider type, or convert with " + to +
                "(...), which "
                "wraps");
    return nullptr;
  }
  DType from =
      value.literal && isFloat(value.dtype()) ? DType::F32 : value.dtype();
  ValueType found = value.type();
  found.dtype = from;
  Diagnostic &diagnostic =
      error(value.range(),
            "expected " + to + " for " + what + ", found " + describe(found));
  if (declared.isValid())
    diagnostic.note(declared, "declared here");
  if (from == DType::Bool)
    diagnostic.remedy("write where(..., 1, 0), or convert it with " + to +
                      "(...)");
  else if (dtype == DType::Bool)
    diagnostic.remedy("compare it, for example with '!= 0'");
  else if (isFloat(from) && isInteger(dtype))
    diagnostic.remedy("convert it with " + to +
                      "(...), which drops the fraction; floor(...) and "
                      "round(...) choose another way");
  else if (isFloat(from))
    diagnostic.remedy("convert it with " + to +
                      "(...), or give the variable the wider type where it is "
                      "defined");
  else
    diagnostic.remedy("convert it with " + to +
                      "(...), which keeps the low bits");
  return nullptr;
}

std::optional<DType> Analyzer::resolveDType(const ast::TypeSpec &type) {
  if (type.dtype)
    return type.dtype;
  const Symbol *symbol = lookup(type.dtypeParam);
  if (symbol && symbol->kind == Symbol::Kind::CtDType)
    return symbol->ctDType;
  if (!symbol || symbol->kind != Symbol::Kind::Poison)
    error(type.dtypeRange, "'" + type.dtypeParam + "' is not an element type")
        .remedy("the element types are " + listDTypes());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

void Analyzer::joinAxes(llvm::SmallVector<Axis *, 4> &axes,
                        llvm::ArrayRef<Axis *> more) {
  // If `more` has them all, its order is the result's.
  if (llvm::all_of(
          axes, [&](Axis *axis) { return llvm::is_contained(more, axis); }) &&
      more.size() > axes.size()) {
    axes.assign(more.begin(), more.end());
    return;
  }
  for (Axis *axis : more)
    if (!llvm::is_contained(axes, axis))
      axes.push_back(axis);
}

Axis *Analyzer::wholeAxis(Dimension *dim) {
  dim->isWhole = true;
  Axis *&axis = wholeAxes[dim];
  if (!axis) {
    axis = kernel->arena.make<Axis>();
    axis->kind = Axis::Kind::Whole;
    axis->name = dim->name;
    axis->dim = dim;
    kernel->axes.push_back(axis);
  }
  return axis;
}

Axis *Analyzer::constantAxis(StringRef name, int64_t extent) {
  // By name, as two compile-time parameters of one value are two axes.
  Axis *&axis = constantAxes[name];
  if (!axis) {
    axis = kernel->arena.make<Axis>();
    axis->kind = Axis::Kind::Whole;
    axis->name = kernel->arena.intern(name);
    axis->constant = extent;
    kernel->axes.push_back(axis);
  }
  return axis;
}

Axis *Analyzer::wholeAxis(const Param &param, unsigned dim) {
  const Param::Extent &extent = param.shape[dim];
  return extent.dim ? wholeAxis(extent.dim)
                    : constantAxis(param.shape[dim].name, extent.constant);
}

Axis *Analyzer::findAxis(StringRef name, SourceRange range) {
  Symbol *symbol = lookup(name);
  if (symbol) {
    switch (symbol->kind) {
    case Symbol::Kind::Loop:
      if (symbol->loop->isTile)
        return symbol->loop->axis;
      break;
    case Symbol::Kind::Dim:
      return wholeAxis(symbol->dim);
    case Symbol::Kind::CtInt:
      if (symbol->ctInt >= 0)
        return constantAxis(name, symbol->ctInt);
      break;
    case Symbol::Kind::Poison:
      return nullptr;
    default:
      break;
    }
    Diagnostic &diagnostic =
        error(range, "'" + name +
                         "' is not an axis: expected a tile variable "
                         "or a dimension, found " +
                         (symbol->kind == Symbol::Kind::Loop
                              ? StringRef("a variable that visits positions "
                                          "one by one")
                              : describeSymbol(*symbol)));
    noteSymbol(diagnostic, *symbol);
    if (symbol->kind == Symbol::Kind::Loop)
      diagnostic.remedy("write 'in tile(...)' where '" + name +
                        "' is declared, or drop the axis: a position has none");
    else
      diagnostic.remedy("axes are named after tile variables and the "
                        "dimensions of tensors");
    return nullptr;
  }
  if (env->closed.count(name) || env->assigned.count(name)) {
    reportUnknown(name, range);
    return nullptr;
  }
  llvm::SmallVector<StringRef> names;
  for (const auto &scope : env->scopes)
    for (const auto &entry : scope) {
      const Symbol &other = entry.second;
      if (other.kind == Symbol::Kind::Dim ||
          other.kind == Symbol::Kind::CtInt ||
          (other.kind == Symbol::Kind::Loop && other.loop->isTile))
        names.push_back(other.name);
    }
  llvm::sort(names);
  error(range, "unknown axis '" + name + "'")
      .remedy(suggest(name, names,
                      names.empty()
                          ? "there is no axis here"
                          : "the axes here are " + joinNames(names, " and ")));
  return nullptr;
}

Axis *Analyzer::findAxis(const ast::TypeArg &arg) {
  switch (arg.kind) {
  case ast::TypeArg::Kind::Name:
    return findAxis(arg.name, arg.range);
  case ast::TypeArg::Kind::Int:
    if (arg.intValue >= 0)
      return constantAxis(std::to_string(arg.intValue), arg.intValue);
    break;
  case ast::TypeArg::Kind::Bool:
  case ast::TypeArg::Kind::DType:
    break;
  }
  error(arg.range, "expected the name of an axis between < and >")
      .remedy("axes are named after tile variables and dimensions; a type is "
              "converted to with T(...)");
  return nullptr;
}
