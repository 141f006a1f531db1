//===- CExpression.cpp - Scalar expressions in C ----------------*- C++ -*-===//
//
// Every integer is an int64_t in C and wrapped to its own type where that is
// narrower; sums are made unsigned, as signed overflow is undefined.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/KernelHeader.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace tilec;
using namespace tilec::typed;
using Text = std::optional<std::string>;

namespace {
class CPrinter {
public:
  CPrinter(const llvm::StringMap<std::string> &names, llvm::StringRef prefix)
      : names(names), prefix(prefix) {}
  Text print(const Expr &expr);

private:
  Text printUnary(const Unary &unary);
  Text printBinary(const Binary &binary);
  Text printWhere(const Where &where);
  Text printCast(const Cast &cast);

  const llvm::StringMap<std::string> &names;
  llvm::StringRef prefix;
  llvm::DenseMap<const Var *, std::string> vars;
};
} // namespace

/// The type of a value in an expression; empty if C has none.
static llvm::StringRef typeOfValue(DType dtype) {
  if (dtype == DType::Bool)
    return "int";
  bool isNumber = !isFloat(dtype) || dtype == DType::F32 || dtype == DType::F64;
  return isNumber ? typeInC(dtype) : "";
}

/// As an operand: in parentheses unless it is a word.
static std::string operand(llvm::StringRef text) {
  bool isWord =
      llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isWord ? text.str() : ("(" + text + ")").str();
}

/// Narrowed to its type; integers are widened again.
static Text converted(DType dtype, const std::string &value) {
  llvm::StringRef type = typeOfValue(dtype);
  if (type.empty())
    return std::nullopt;
  std::string cast = "(" + type.str() + ")" + operand(value);
  return isFloat(dtype) || dtype == DType::I64 ? cast : "(int64_t)" + cast;
}

Text CPrinter::print(const Expr &expr) {
  if (!expr.type.isScalar())
    return std::nullopt;
  switch (expr.kind) {
  case Expr::Kind::IntConst: {
    int64_t value = llvm::cast<IntConst>(expr).value;
    if (value >= 0 && value <= INT32_MAX)
      return std::to_string(value);
    // The smallest number has no literal.
    return "(int64_t)UINT64_C(" + std::to_string(uint64_t(value)) + ")";
  }
  case Expr::Kind::FloatConst: {
    double value = llvm::cast<FloatConst>(expr).value;
    if (!std::isfinite(value))
      return std::nullopt;
    std::string digits;
    llvm::raw_string_ostream(digits) << llvm::format("%.17e", value);
    return converted(expr.type.dtype, digits);
  }
  case Expr::Kind::BoolConst:
    return llvm::cast<BoolConst>(expr).value ? "1" : "0";
  case Expr::Kind::DimExtent:
    return names.lookup(llvm::cast<DimExtent>(expr).dim->name);
  case Expr::Kind::ScalarParam:
    return converted(expr.type.dtype,
                     names.lookup(llvm::cast<ScalarParam>(expr).param->name));
  case Expr::Kind::VarRef: {
    auto found = vars.find(llvm::cast<VarRef>(expr).var);
    return found == vars.end() ? Text() : Text(found->second);
  }
  case Expr::Kind::Unary:
    return printUnary(llvm::cast<Unary>(expr));
  case Expr::Kind::Binary:
    return printBinary(llvm::cast<Binary>(expr));
  case Expr::Kind::Cast:
    return printCast(llvm::cast<Cast>(expr));
  case Expr::Kind::Where:
    return printWhere(llvm::cast<Where>(expr));
  case Expr::Kind::Full:
    return print(*llvm::cast<Full>(expr).value);
  case Expr::Kind::Let: {
    const auto &let = llvm::cast<Let>(expr);
    for (auto [var, value] : let.bindings) {
      Text text = print(*value);
      if (!text)
        return std::nullopt;
      vars[var] = *text;
    }
    return print(*let.body);
  }
  default:
    return std::nullopt;
  }
}

Text CPrinter::printUnary(const Unary &unary) {
  Text printed = print(*unary.operand);
  DType dtype = unary.type.dtype;
  if (!printed)
    return std::nullopt;
  std::string value = operand(*printed);
  if (unary.op == UnaryOp::Not)
    return "!" + value;
  Text negated = isFloat(dtype) ? Text("-" + value)
                                : converted(dtype, "0 - (uint64_t)" + value);
  if (!negated || unary.op == UnaryOp::Neg)
    return negated;
  return value + " < 0 ? " + *negated + " : " + value;
}

Text CPrinter::printBinary(const Binary &binary) {
  Text lhs = print(*binary.lhs), rhs = print(*binary.rhs);
  if (!lhs || !rhs)
    return std::nullopt;
  std::string a = operand(*lhs), b = operand(*rhs);
  auto infix = [&](const char *op) { return a + op + b; };
  bool isReal = isFloat(binary.lhs->type.dtype);
  auto arithmetic = [&](const char *op) {
    return converted(binary.type.dtype,
                     isReal ? infix(op)
                            : "(uint64_t)" + a + op + "(uint64_t)" + b);
  };
  auto choose = [&](const char *op) {
    // Of floats NaN would have to win or lose.
    return isReal ? Text() : Text(infix(op) + " ? " + a + " : " + b);
  };
  auto call = [&](const char *function) {
    std::string text = prefix.str() + function + "(" + *lhs + ", " + *rhs + ")";
    return converted(binary.type.dtype, text);
  };
  switch (binary.op) {
  case BinaryOp::Add:
    return arithmetic(" + ");
  case BinaryOp::Sub:
    return arithmetic(" - ");
  case BinaryOp::Mul:
    return arithmetic(" * ");
  case BinaryOp::Div:
    return arithmetic(" / ");
  case BinaryOp::FloorDiv:
    return call("_floor_div");
  case BinaryOp::FloorMod:
    return call("_floor_mod");
  case BinaryOp::Min:
  case BinaryOp::FMin:
    return choose(" < ");
  case BinaryOp::Max:
  case BinaryOp::FMax:
    return choose(" > ");
  case BinaryOp::And:
    return infix(" && ");
  case BinaryOp::Or:
    return infix(" || ");
  case BinaryOp::Eq:
    return infix(" == ");
  case BinaryOp::Ne:
    return infix(" != ");
  case BinaryOp::Lt:
    return infix(" < ");
  case BinaryOp::Le:
    return infix(" <= ");
  case BinaryOp::Gt:
    return infix(" > ");
  case BinaryOp::Ge:
    return infix(" >= ");
  case BinaryOp::Pow:
    return std::nullopt;
  }
  return std::nullopt;
}

Text CPrinter::printWhere(const Where &where) {
  Text condition = print(*where.condition), onTrue = print(*where.onTrue),
       onFalse = print(*where.onFalse);
  if (!condition || !onTrue || !onFalse)
    return std::nullopt;
  return operand(*condition) + " ? " + operand(*onTrue) + " : " +
         operand(*onFalse);
}

Text CPrinter::printCast(const Cast &cast) {
  Text value = print(*cast.operand);
  DType from = cast.operand->type.dtype, to = cast.type.dtype;
  // From a float the language saturates, which C leaves undefined.
  if (!value || (isFloat(from) && !isFloat(to)))
    return std::nullopt;
  if (to == DType::Bool)
    return operand(*value) + " != 0";
  return converted(to, *value);
}

std::optional<std::string>
tilec::printCExpression(const Expr &expr,
                        const llvm::StringMap<std::string> &names,
                        llvm::StringRef prefix) {
  return CPrinter(names, prefix).print(expr);
}
