//===- Evaluate.cpp - Scalar expressions on the host ------------*- C++ -*-===//
//
// An interpreter of the scalar part of the typed tree. f32 arithmetic is done
// in double and rounded: for + - * / and sqrt that is exact f32 arithmetic, as
// a double has more than twice the digits.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Evaluate.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/DenseMap.h"
#include <cmath>
#include <limits>

using namespace tilec;
using namespace tilec::typed;
using llvm::APFloat;
using llvm::cast;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// tf32 has no semantics of its own in LLVM that saturates like f32; it is f32
/// rounded to ten fraction bits, which FloatTF32 describes.
static const llvm::fltSemantics &semanticsOf(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return APFloat::IEEEsingle();
  case DType::TF32:
    return APFloat::FloatTF32();
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F8E4M3:
    return APFloat::Float8E4M3FN();
  case DType::F8E5M2:
    return APFloat::Float8E5M2();
  default:
    return APFloat::IEEEdouble();
  }
}

/// To nearest even; fp8 takes its largest finite number where the result does
/// not fit, infinities included.
static double narrow(APFloat value, DType dtype) {
  if (value.isNaN())
    return std::numeric_limits<double>::quiet_NaN();
  bool negative = value.isNegative();
  if (isFloat8(dtype) && value.isInfinity())
    return negative ? -floatFormat(dtype).maxFinite
                    : floatFormat(dtype).maxFinite;
  bool losesInfo;
  value.convert(semanticsOf(dtype), APFloat::rmNearestTiesToEven, &losesInfo);
  if (isFloat8(dtype) && !value.isFinite())
    return negative ? -floatFormat(dtype).maxFinite
                    : floatFormat(dtype).maxFinite;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

double tilec::roundToFloat(double value, DType dtype) {
  return dtype == DType::F64 ? value : narrow(APFloat(value), dtype);
}

double tilec::parseFloat(llvm::StringRef digits, bool negative, DType dtype) {
  // Quad precision tells every halfway case of a narrower type apart from its
  // neighbors, unless the literal has more than 33 significant digits.
  const llvm::fltSemantics &wide =
      dtype == DType::F64 ? APFloat::IEEEdouble() : APFloat::IEEEquad();
  APFloat value(wide);
  auto status = value.convertFromString(digits, APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (negative)
    value.changeSign();
  return dtype == DType::F64 ? value.convertToDouble() : narrow(value, dtype);
}

static int64_t wrapInteger(int64_t value, DType dtype) {
  switch (dtype) {
  case DType::I32:
    return static_cast<int32_t>(value);
  case DType::I16:
    return static_cast<int16_t>(value);
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::U8:
    return static_cast<uint8_t>(value);
  default:
    return value;
  }
}

static int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1) // INT64_MIN / -1 wraps.
    return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t floorModulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return 0;
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                      : remainder;
}

static int64_t floatToInteger(double value, DType dtype) {
  if (std::isnan(value))
    return 0;
  // APSInt saturates where a cast would be undefined.
  llvm::APSInt result(64, /*isUnsigned=*/false);
  bool isExact;
  APFloat(value).convertToInteger(result, APFloat::rmTowardZero, &isExact);
  IntegerRange range = integerRange(dtype);
  return std::clamp(result.getSExtValue(), range.min, range.max);
}

ScalarValue tilec::convertScalar(ScalarValue value, DType dtype) {
  if (isFloat(dtype)) {
    if (isFloat(value.dtype))
      return ScalarValue::ofFloat(roundToFloat(value.real, dtype), dtype);
    // An i64 may have more bits than a double: round once, from the integer.
    APFloat exact(APFloat::IEEEquad());
    exact.convertFromAPInt(llvm::APInt(64, static_cast<uint64_t>(value.integer),
                                       /*isSigned=*/true),
                           /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
    return ScalarValue::ofFloat(narrow(exact, dtype), dtype);
  }
  if (dtype == DType::Bool)
    return ScalarValue::ofBool(isFloat(value.dtype) ? value.real != 0
                                                    : value.integer != 0);
  if (isFloat(value.dtype))
    return ScalarValue::ofInt(floatToInteger(value.real, dtype), dtype);
  return ScalarValue::ofInt(wrapInteger(value.integer, dtype), dtype);
}

//===----------------------------------------------------------------------===//
// The interpreter
//===----------------------------------------------------------------------===//

static double applyMath(MathFn fn, double x) {
  switch (fn) {
  case MathFn::Exp:
    return std::exp(x);
  case MathFn::Exp2:
    return std::exp2(x);
  case MathFn::Log:
    return std::log(x);
  case MathFn::Log2:
    return std::log2(x);
  case MathFn::Sqrt:
    return std::sqrt(x);
  case MathFn::Rsqrt:
    return 1 / std::sqrt(x);
  case MathFn::Tanh:
    return std::tanh(x);
  case MathFn::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case MathFn::Erf:
    return std::erf(x);
  case MathFn::Gelu:
    return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
  case MathFn::Silu:
    return x / (1 + std::exp(-x));
  case MathFn::Relu:
    return std::isnan(x) || x > 0 ? x : 0;
  case MathFn::Floor:
    return std::floor(x);
  case MathFn::Ceil:
    return std::ceil(x);
  case MathFn::Round:
    return std::nearbyint(x); // Half to even in the default mode.
  case MathFn::Sin:
    return std::sin(x);
  case MathFn::Cos:
    return std::cos(x);
  }
  llvm_unreachable("not a math function");
}

template <typename T> static bool compare(BinaryOp op, T a, T b) {
  switch (op) {
  case BinaryOp::Eq:
    return a == b;
  case BinaryOp::Ne:
    return a != b;
  case BinaryOp::Lt:
    return a < b;
  case BinaryOp::Le:
    return a <= b;
  case BinaryOp::Gt:
    return a > b;
  case BinaryOp::Ge:
    return a >= b;
  default:
    llvm_unreachable("not a comparison");
  }
}

static double applyFloat(BinaryOp op, double a, double b) {
  switch (op) {
  case BinaryOp::Add:
    return a + b;
  case BinaryOp::Sub:
    return a - b;
  case BinaryOp::Mul:
    return a * b;
  case BinaryOp::Div:
    return a / b;
  case BinaryOp::Pow:
    return std::pow(a, b);
  case BinaryOp::Min:
    return std::isnan(a) || std::isnan(b) ? a + b : std::fmin(a, b);
  case BinaryOp::Max:
    return std::isnan(a) || std::isnan(b) ? a + b : std::fmax(a, b);
  case BinaryOp::FMin:
    return std::fmin(a, b);
  case BinaryOp::FMax:
    return std::fmax(a, b);
  default:
    llvm_unreachable("not an operation on floats");
  }
}

static int64_t applyInteger(BinaryOp op, int64_t a, int64_t b) {
  // Unsigned arithmetic wraps; signed overflow would be undefined.
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
  case BinaryOp::Add:
    return static_cast<int64_t>(ua + ub);
  case BinaryOp::Sub:
    return static_cast<int64_t>(ua - ub);
  case BinaryOp::Mul:
    return static_cast<int64_t>(ua * ub);
  case BinaryOp::FloorDiv:
    return floorDivide(a, b);
  case BinaryOp::FloorMod:
    return floorModulo(a, b);
  case BinaryOp::Min:
  case BinaryOp::FMin:
    return std::min(a, b);
  case BinaryOp::Max:
  case BinaryOp::FMax:
    return std::max(a, b);
  default:
    llvm_unreachable("not an operation on integers");
  }
}

namespace {
class Interpreter {
public:
  explicit Interpreter(const ScalarBindings &bindings) : bindings(bindings) {}
  Expected<ScalarValue> evaluate(const Expr &expr);

private:
  Expected<ScalarValue> evaluateUnary(const Unary &unary);
  Expected<ScalarValue> evaluateBinary(const Binary &binary);
  Expected<ScalarValue> evaluateLet(const Let &let);
  static Error noValue(const llvm::Twine &what) {
    return llvm::createStringError(what);
  }
  const ScalarBindings &bindings;
  llvm::DenseMap<const Var *, ScalarValue> vars;
};
} // namespace

Expected<ScalarValue> Interpreter::evaluate(const Expr &expr) {
  if (!expr.type.isScalar())
    return noValue("a value with axes is not known on the host");
  switch (expr.kind) {
  case Expr::Kind::IntConst:
    return ScalarValue::ofInt(cast<IntConst>(expr).value, expr.type.dtype);
  case Expr::Kind::FloatConst:
    return ScalarValue::ofFloat(cast<FloatConst>(expr).value, expr.type.dtype);
  case Expr::Kind::BoolConst:
    return ScalarValue::ofBool(cast<BoolConst>(expr).value);
  case Expr::Kind::DimExtent: {
    llvm::StringRef name = cast<DimExtent>(expr).dim->name;
    auto found = bindings.dims.find(name);
    if (found == bindings.dims.end())
      return noValue("dimension '" + name + "' has no value");
    return ScalarValue::ofInt(found->second);
  }
  case Expr::Kind::ScalarParam: {
    llvm::StringRef name = cast<ScalarParam>(expr).param->name;
    auto found = bindings.params.find(name);
    if (found == bindings.params.end())
      return noValue("parameter '" + name + "' has no value");
    return convertScalar(found->second, expr.type.dtype);
  }
  case Expr::Kind::VarRef: {
    auto found = vars.find(cast<VarRef>(expr).var);
    if (found == vars.end())
      return noValue("variable '" + cast<VarRef>(expr).var->name +
                     "' is not known on the host");
    return found->second;
  }
  case Expr::Kind::Unary:
    return evaluateUnary(cast<Unary>(expr));
  case Expr::Kind::Binary:
    return evaluateBinary(cast<Binary>(expr));
  case Expr::Kind::Math: {
    auto operand = evaluate(*cast<Math>(expr).operand);
    if (!operand)
      return operand;
    return ScalarValue::ofFloat(
        roundToFloat(applyMath(cast<Math>(expr).fn, operand->real),
                     expr.type.dtype),
        expr.type.dtype);
  }
  case Expr::Kind::Cast: {
    auto operand = evaluate(*cast<Cast>(expr).operand);
    if (!operand)
      return operand;
    return convertScalar(*operand, expr.type.dtype);
  }
  case Expr::Kind::Where: {
    const auto &where = cast<Where>(expr);
    auto condition = evaluate(*where.condition);
    if (!condition)
      return condition;
    return evaluate(condition->integer ? *where.onTrue : *where.onFalse);
  }
  case Expr::Kind::Full:
    return evaluate(*cast<Full>(expr).value);
  case Expr::Kind::Let:
    return evaluateLet(cast<Let>(expr));
  case Expr::Kind::Position:
    return noValue("the position '" + cast<Position>(expr).var->name +
                   "' is not known on the host");
  case Expr::Kind::Load:
    return noValue("the elements of '" + cast<Load>(expr).param->name +
                   "' are not known on the host");
  case Expr::Kind::Reduce:
  case Expr::Kind::Scan:
  case Expr::Kind::Dot:
  case Expr::Kind::Random:
  case Expr::Kind::Attention:
    return noValue("this can only be computed by a kernel");
  }
  llvm_unreachable("not an expression");
}

Expected<ScalarValue> Interpreter::evaluateUnary(const Unary &unary) {
  auto operand = evaluate(*unary.operand);
  if (!operand)
    return operand;
  ScalarValue value = *operand;
  switch (unary.op) {
  case UnaryOp::Not:
    return ScalarValue::ofBool(!value.integer);
  case UnaryOp::Abs:
    if (isFloat(value.dtype))
      return ScalarValue::ofFloat(std::fabs(value.real), value.dtype);
    if (value.integer >= 0)
      return value;
    [[fallthrough]];
  case UnaryOp::Neg:
    if (isFloat(value.dtype))
      return ScalarValue::ofFloat(-value.real, value.dtype);
    return ScalarValue::ofInt(
        wrapInteger(applyInteger(BinaryOp::Sub, 0, value.integer), value.dtype),
        value.dtype);
  }
  llvm_unreachable("not a unary operation");
}

Expected<ScalarValue> Interpreter::evaluateBinary(const Binary &binary) {
  auto lhs = evaluate(*binary.lhs);
  if (!lhs)
    return lhs;
  // The right side may have no value where the left decides.
  if (binary.op == BinaryOp::And && !lhs->integer)
    return ScalarValue::ofBool(false);
  if (binary.op == BinaryOp::Or && lhs->integer)
    return ScalarValue::ofBool(true);
  auto rhs = evaluate(*binary.rhs);
  if (!rhs)
    return rhs;
  if (binary.op == BinaryOp::And || binary.op == BinaryOp::Or)
    return ScalarValue::ofBool(rhs->integer);
  bool floats = isFloat(lhs->dtype);
  if (binary.op >= BinaryOp::Eq && binary.op <= BinaryOp::Ge)
    return ScalarValue::ofBool(
        floats ? compare(binary.op, lhs->real, rhs->real)
               : compare(binary.op, lhs->integer, rhs->integer));
  DType dtype = binary.type.dtype;
  if (floats)
    return ScalarValue::ofFloat(
        roundToFloat(applyFloat(binary.op, lhs->real, rhs->real), dtype),
        dtype);
  return ScalarValue::ofInt(
      wrapInteger(applyInteger(binary.op, lhs->integer, rhs->integer), dtype),
      dtype);
}

Expected<ScalarValue> Interpreter::evaluateLet(const Let &let) {
  for (auto [var, value] : let.bindings) {
    auto result = evaluate(*value);
    if (!result)
      return result;
    vars[var] = *result;
  }
  return evaluate(*let.body);
}

Expected<ScalarValue> tilec::evaluateScalar(const Expr &expr,
                                            const ScalarBindings &bindings) {
  return Interpreter(bindings).evaluate(expr);
}

Expected<bool> tilec::evaluateRequirement(const Expr &requirement,
                                          const ScalarBindings &bindings) {
  auto value = evaluateScalar(requirement, bindings);
  if (!value)
    return value.takeError();
  return value->integer != 0;
}
