//===- EvaluatorExpr.cpp - Elementwise expressions --------------*- C++ -*-===//
//
// Leaves and elementwise operations, by their definition in docs/language.md.
// What runs along axes is in EvaluatorAxes.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Evaluator.h"
#include "lib/Runtime/NarrowFloat.h"
#include "lib/Support/Philox.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace tilec;
using namespace tilec::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// A constant of a float type as the compiled kernel sees it.
static double asTyped(DType dtype, double value) {
  return dtype == DType::F64 ? value : static_cast<float>(value);
}

Value Evaluator::evaluate(const typed::Expr &expr) {
  using Kind = typed::Expr::Kind;
  DType dtype = expr.type.dtype;
  switch (expr.kind) {
  case Kind::IntConst:
    return Value::ofInt(dtype, llvm::cast<typed::IntConst>(expr).value);
  case Kind::FloatConst:
    return Value::ofDouble(
        dtype, asTyped(dtype, llvm::cast<typed::FloatConst>(expr).value));
  case Kind::BoolConst:
    return Value::ofInt(dtype, llvm::cast<typed::BoolConst>(expr).value);
  case Kind::DimExtent:
    return Value::ofInt(
        dtype,
        launch.extents.lookup(llvm::cast<typed::DimExtent>(expr).dim->name));
  case Kind::ScalarParam:
    return scalarParam(llvm::cast<typed::ScalarParam>(expr));
  case Kind::VarRef:
    return vars.find(llvm::cast<typed::VarRef>(expr).var)->second;
  case Kind::Position: {
    const typed::LoopVar &var = *llvm::cast<typed::Position>(expr).var;
    return var.isTile ? along(*var.axis)
                      : Value::ofInt(DType::I64, loops.lookup(&var).begin);
  }
  case Kind::Load:
    return load(llvm::cast<typed::Load>(expr));
  case Kind::Unary:
    return unary(llvm::cast<typed::Unary>(expr));
  case Kind::Binary:
    return binary(llvm::cast<typed::Binary>(expr));
  case Kind::Math:
    return math(llvm::cast<typed::Math>(expr));
  case Kind::Cast:
    return cast(llvm::cast<typed::Cast>(expr));
  case Kind::Where:
    return where(llvm::cast<typed::Where>(expr));
  case Kind::Full:
    return full(llvm::cast<typed::Full>(expr));
  case Kind::Reduce:
    return reduce(llvm::cast<typed::Reduce>(expr));
  case Kind::Scan:
    return scan(llvm::cast<typed::Scan>(expr));
  case Kind::Dot:
    return dot(llvm::cast<typed::Dot>(expr));
  case Kind::Random:
    return random(llvm::cast<typed::Random>(expr));
  case Kind::Let: {
    const auto &let = llvm::cast<typed::Let>(expr);
    for (const auto &[var, value] : let.bindings)
      vars[var] = evaluate(*value);
    return evaluate(*let.body);
  }
  case Kind::Attention:
    return attention(llvm::cast<typed::Attention>(expr)).first;
  }
  llvm_unreachable("every kind is handled");
}

Value Evaluator::scalarParam(const typed::ScalarParam &expr) const {
  const auto &scalar = std::get<ScalarValue>(launch.args[expr.param->index]);
  DType dtype = expr.param->dtype;
  if (isFloat(dtype))
    return Value::ofDouble(dtype, roundToFloat(dtype, scalar.real));
  return Value::ofInt(dtype, wrapTo(dtype, scalar.integer));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value Evaluator::unary(const typed::Unary &expr) {
  Value value = evaluate(*expr.operand);
  for (double &x : value.floats)
    x = expr.op == typed::UnaryOp::Neg ? -x : std::fabs(x);
  for (int64_t &x : value.ints) {
    if (expr.op == typed::UnaryOp::Not)
      x = !x;
    else if (expr.op == typed::UnaryOp::Neg || x < 0)
      x = wrapTo(value.dtype, -static_cast<uint64_t>(x));
  }
  return value;
}

static double apply(typed::BinaryOp op, double a, double b) {
  using Op = typed::BinaryOp;
  bool nan = std::isnan(a) || std::isnan(b);
  switch (op) {
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::Div:
    return a / b;
  case Op::Min:
    return nan ? std::nan("") : std::fmin(a, b);
  case Op::Max:
    return nan ? std::nan("") : std::fmax(a, b);
  case Op::FMin:
    return std::fmin(a, b);
  case Op::FMax:
    return std::fmax(a, b);
  case Op::Pow:
    return std::pow(a, b);
  default:
    llvm_unreachable("not an operation on floats");
  }
}

template <typename T> static bool compares(typed::BinaryOp op, T a, T b) {
  using Op = typed::BinaryOp;
  switch (op) {
  case Op::Eq:
    return a == b;
  case Op::Ne:
    return a != b;
  case Op::Lt:
    return a < b;
  case Op::Le:
    return a <= b;
  case Op::Gt:
    return a > b;
  case Op::Ge:
    return a >= b;
  default:
    llvm_unreachable("not a comparison");
  }
}

static int64_t apply(typed::BinaryOp op, int64_t a, int64_t b) {
  using Op = typed::BinaryOp;
  auto u = [](int64_t x) { return static_cast<uint64_t>(x); };
  switch (op) {
  case Op::Add:
    return static_cast<int64_t>(u(a) + u(b));
  case Op::Sub:
    return static_cast<int64_t>(u(a) - u(b));
  case Op::Mul:
    return static_cast<int64_t>(u(a) * u(b));
  case Op::FloorDiv:
  case Op::FloorMod: {
    if (b == 0)
      return 0;
    if (b == -1) // The least integer has no negative.
      return op == Op::FloorDiv ? static_cast<int64_t>(-u(a)) : 0;
    int64_t quotient = a / b, rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
      --quotient;
      rest += b;
    }
    return op == Op::FloorDiv ? quotient : rest;
  }
  case Op::Min:
  case Op::FMin:
    return std::min(a, b);
  case Op::Max:
  case Op::FMax:
    return std::max(a, b);
  case Op::And:
    return a && b;
  case Op::Or:
    return a || b;
  default:
    llvm_unreachable("not an operation on integers");
  }
}

Value Evaluator::binary(const typed::Binary &expr) {
  Value lhs = evaluate(*expr.lhs), rhs = evaluate(*expr.rhs);
  Space space;
  for (const typed::Axis *axis : expr.type.axes) {
    space.axes.push_back(axis);
    space.shape.push_back(coverage(*axis).second);
  }
  space.add(lhs);
  space.add(rhs);
  Value result(expr.type.dtype, space.axes, space.shape);
  bool comparison =
      expr.op >= typed::BinaryOp::Eq && expr.op <= typed::BinaryOp::Ge;
  bool floats = isFloat(lhs.dtype);
  forEachPosition(
      space.shape, {stridesIn(lhs, space), stridesIn(rhs, space)},
      [&](int64_t i, llvm::ArrayRef<int64_t> at) {
        if (comparison)
          result.ints[i] =
              floats ? compares(expr.op, lhs.floats[at[0]], rhs.floats[at[1]])
                     : compares(expr.op, lhs.ints[at[0]], rhs.ints[at[1]]);
        else if (floats)
          result.floats[i] =
              apply(expr.op, lhs.floats[at[0]], rhs.floats[at[1]]);
        else
          result.ints[i] =
              wrapTo(result.dtype,
                     static_cast<uint64_t>(
                         apply(expr.op, lhs.ints[at[0]], rhs.ints[at[1]])));
      });
  return result;
}

static double apply(typed::MathFn fn, double x) {
  using Fn = typed::MathFn;
  switch (fn) {
  case Fn::Exp:
    return std::exp(x);
  case Fn::Exp2:
    return std::exp2(x);
  case Fn::Log:
    return std::log(x);
  case Fn::Log2:
    return std::log2(x);
  case Fn::Sqrt:
    return std::sqrt(x);
  case Fn::Rsqrt:
    return 1 / std::sqrt(x);
  case Fn::Tanh:
    return std::tanh(x);
  case Fn::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case Fn::Erf:
    return std::erf(x);
  case Fn::Gelu:
    return x == -infinity ? 0 : 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case Fn::Silu:
    return x == -infinity ? 0 : x / (1 + std::exp(-x));
  case Fn::Relu:
    return x < 0 ? 0 : x; // NaN stays.
  case Fn::Floor:
    return std::floor(x);
  case Fn::Ceil:
    return std::ceil(x);
  case Fn::Round:
    return std::nearbyint(x);
  case Fn::Sin:
    return std::sin(x);
  case Fn::Cos:
    return std::cos(x);
  }
  llvm_unreachable("every function is handled");
}

Value Evaluator::math(const typed::Math &expr) {
  Value value = evaluate(*expr.operand);
  for (double &x : value.floats)
    x = apply(expr.fn, x);
  return value;
}

/// Float to integer: toward zero, saturating, NaN to 0.
static int64_t truncateTo(DType dtype, double x) {
  if (std::isnan(x))
    return 0;
  IntegerRange range = integerRange(dtype);
  // The upper bound of i64 is no double; 2^63 is the first one beyond.
  if (x >= std::ldexp(1.0, 63))
    return range.max;
  if (x <= -std::ldexp(1.0, 63))
    return range.min;
  return std::clamp(static_cast<int64_t>(x), range.min, range.max);
}

Value Evaluator::cast(const typed::Cast &expr) {
  Value value = evaluate(*expr.operand);
  DType to = expr.type.dtype;
  Value result(to, value.axes, value.shape);
  for (int64_t i = 0, size = value.size(); i < size; ++i) {
    double x = value.asDouble(i);
    if (isFloat(to)) {
      // f32 stays in double precision: that is what makes it a reference. But
      // what a kernel rounds on purpose is rounded here too.
      bool keep =
          to == DType::F64 || (to == DType::F32 && isFloat(value.dtype));
      result.floats[i] = keep ? x : roundToFloat(to, x);
    } else if (to == DType::Bool) {
      result.ints[i] = x != 0;
    } else if (isFloat(value.dtype)) {
      result.ints[i] = truncateTo(to, x);
    } else {
      result.ints[i] = wrapTo(to, static_cast<uint64_t>(value.ints[i]));
    }
  }
  return result;
}

Value Evaluator::where(const typed::Where &expr) {
  Value condition = evaluate(*expr.condition);
  Value onTrue = evaluate(*expr.onTrue), onFalse = evaluate(*expr.onFalse);
  Space space;
  for (const typed::Axis *axis : expr.type.axes) {
    space.axes.push_back(axis);
    space.shape.push_back(coverage(*axis).second);
  }
  space.add(condition);
  space.add(onTrue);
  space.add(onFalse);
  Value result(expr.type.dtype, space.axes, space.shape);
  forEachPosition(space.shape,
                  {stridesIn(condition, space), stridesIn(onTrue, space),
                   stridesIn(onFalse, space)},
                  [&](int64_t i, llvm::ArrayRef<int64_t> at) {
                    bool taken = condition.ints[at[0]] != 0;
                    const Value &from = taken ? onTrue : onFalse;
                    int64_t offset = taken ? at[1] : at[2];
                    if (isFloat(result.dtype))
                      result.floats[i] = from.floats[offset];
                    else
                      result.ints[i] = from.ints[offset];
                  });
  return result;
}

Value Evaluator::full(const typed::Full &expr) {
  Space space;
  for (const typed::Axis *axis : expr.type.axes) {
    space.axes.push_back(axis);
    space.shape.push_back(coverage(*axis).second);
  }
  return broadcastTo(evaluate(*expr.value), space);
}

Value Evaluator::random(const typed::Random &expr) {
  uint64_t seed = static_cast<uint64_t>(evaluate(*expr.seed).scalarInt());
  Value offset = evaluate(*expr.offset);
  Value result(DType::F32, offset.axes, offset.shape);
  for (int64_t i = 0, size = offset.size(); i < size; ++i)
    result.floats[i] =
        philoxUniform(seed, static_cast<uint64_t>(offset.ints[i]));
  return result;
}
