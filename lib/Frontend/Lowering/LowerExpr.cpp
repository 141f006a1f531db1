//===- LowerExpr.cpp - Constants and elementwise expressions ----*- C++ -*-===//
//
// Each operand is computed on its own axes and broadcast to the node's just
// before it is used, so that nothing is computed more often than it must be.
//
// The functions without an op of their own are written out here in forms that
// are right at the ends of the range:
//
//   sigmoid(x) = 1 / (1 + exp(-x))    exp overflows to infinity where the
//                                     result is 0 anyway
//   silu(x)    = x * sigmoid(x)       x kept finite below, as -inf would give
//                                     -inf * 0 = NaN
//   relu(x)    = max(x, 0)            the max that keeps NaN
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering/IntegerOps.h"
#include "lib/Frontend/Lowering/LoweringImpl.h"
#include "mlir/IR/Matchers.h"
#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilec::lowering {

TileValue KernelLowering::lowerExpr(const typed::Expr *expr) {
  using Kind = typed::Expr::Kind;
  LocScope scope(*this, expr->range);
  switch (expr->kind) {
  case Kind::IntConst:
  case Kind::FloatConst:
  case Kind::BoolConst:
    return TileValue(lowerConstant(expr));
  case Kind::DimExtent:
    return TileValue(
        dimensionAsInteger(llvm::cast<typed::DimExtent>(expr)->dim));
  case Kind::ScalarParam:
    return TileValue(
        entry->getArgument(llvm::cast<typed::ScalarParam>(expr)->param->index));
  case Kind::VarRef: {
    auto *variable = variables.find(llvm::cast<typed::VarRef>(expr)->var);
    assert(variable != variables.end() && "a variable without a value");
    return variable->second;
  }
  case Kind::Position: {
    const typed::LoopVar *var = llvm::cast<typed::Position>(expr)->var;
    return var->isTile ? positions(var->axis)
                       : TileValue(positionAsInteger(var));
  }
  case Kind::Load:
    return lowerLoad(llvm::cast<typed::Load>(expr));
  case Kind::Unary:
    return lowerUnary(llvm::cast<typed::Unary>(expr));
  case Kind::Binary:
    return lowerBinary(llvm::cast<typed::Binary>(expr));
  case Kind::Math:
    return lowerMath(llvm::cast<typed::Math>(expr));
  case Kind::Cast:
    return lowerCast(llvm::cast<typed::Cast>(expr));
  case Kind::Where:
    return lowerWhere(llvm::cast<typed::Where>(expr));
  case Kind::Full:
    return broadcast(lowerExpr(llvm::cast<typed::Full>(expr)->value),
                     expr->type.axes);
  case Kind::Reduce:
    return lowerReduce(llvm::cast<typed::Reduce>(expr));
  case Kind::Scan:
    return lowerScan(llvm::cast<typed::Scan>(expr));
  case Kind::Dot:
    return lowerDot(llvm::cast<typed::Dot>(expr));
  case Kind::Random:
    return lowerRandom(llvm::cast<typed::Random>(expr));
  case Kind::Let:
    return lowerLet(llvm::cast<typed::Let>(expr));
  case Kind::Attention:
    return lowerAttention(llvm::cast<typed::Attention>(expr)).result;
  }
  llvm_unreachable("unknown expression");
}

Value KernelLowering::lowerScalar(const typed::Expr *expr) {
  TileValue value = lowerExpr(expr);
  assert(value.isScalar() && "expected a scalar");
  return value.value;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// The float constant that a number is in a storage type: rounded to nearest
/// even, and for the fp8 types clamped as a conversion would.
static FloatAttr floatConstant(FloatType type, DType dtype, double value) {
  if (isFloat8(dtype) && !std::isnan(value)) {
    double limit = floatFormat(dtype).maxFinite;
    value = std::clamp(value, -limit, limit);
  }
  APFloat rounded(value);
  bool inexact = false;
  if (dtype == DType::TF32)
    rounded.convert(APFloat::FloatTF32(), APFloat::rmNearestTiesToEven,
                    &inexact);
  rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &inexact);
  return FloatAttr::get(type, rounded);
}

Value KernelLowering::lowerConstant(const typed::Expr *expr) {
  DType dtype = expr->type.dtype;
  Type element = elementType(dtype);
  if (const auto *integer = llvm::dyn_cast<typed::IntConst>(expr))
    return constantInt({}, element, integer->value);
  if (const auto *boolean = llvm::dyn_cast<typed::BoolConst>(expr))
    return constantInt({}, element, boolean->value);
  const auto *real = llvm::cast<typed::FloatConst>(expr);
  return constant({},
                  floatConstant(cast<FloatType>(element), dtype, real->value));
}

TileValue KernelLowering::lowerRandom(const typed::Random *random) {
  Axes axes = random->type.axes;
  Value seed = lowerScalar(random->seed);
  TileValue offset = broadcast(lowerExpr(random->offset), axes);
  return TileValue(tile::RandomOp::create(b, valueType(axes, b.getF32Type()),
                                          seed, offset.value),
                   axes);
}

TileValue KernelLowering::lowerLet(const typed::Let *let) {
  for (const auto &[var, value] : let->bindings)
    define(var, lowerExpr(value));
  return broadcast(lowerExpr(let->body), let->type.axes);
}

TileValue KernelLowering::lowerWhere(const typed::Where *where) {
  Axes axes = where->type.axes;
  TileValue condition = lowerExpr(where->condition);
  auto lowerUnder = [&](bool negated, const typed::Expr *branch) {
    predicates.push_back({condition, negated});
    TileValue value = broadcast(lowerExpr(branch), axes);
    predicates.pop_back();
    return value.value;
  };
  Value onTrue = lowerUnder(false, where->onTrue);
  Value onFalse = lowerUnder(true, where->onFalse);
  return TileValue(
      emit<arith::SelectOp>(broadcast(condition, axes).value, onTrue, onFalse),
      axes);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

TileValue KernelLowering::lowerUnary(const typed::Unary *unary) {
  TileValue operand = broadcast(lowerExpr(unary->operand), unary->type.axes);
  Axes axes = operand.axes;
  Type element = elementType(unary->type.dtype);
  switch (unary->op) {
  case typed::UnaryOp::Neg:
    if (isFloat(unary->type.dtype))
      return TileValue(emit<arith::NegFOp>(operand.value), axes);
    return TileValue(
        emit<arith::SubIOp>(constantInt(axes, element, 0), operand.value),
        axes);
  case typed::UnaryOp::Not:
    return TileValue(
        emit<arith::XOrIOp>(operand.value, constantInt(axes, element, 1)),
        axes);
  case typed::UnaryOp::Abs:
    if (isFloat(unary->type.dtype))
      return TileValue(emit<math::AbsFOp>(operand.value), axes);
    return TileValue(emit<math::AbsIOp>(operand.value), axes);
  }
  llvm_unreachable("unknown operator");
}

TileValue KernelLowering::lowerBinary(const typed::Binary *binary) {
  Axes axes = binary->type.axes;
  TileValue lhs = lowerExpr(binary->lhs), rhs = lowerExpr(binary->rhs);
  bool divides = binary->op == typed::BinaryOp::FloorDiv ||
                 binary->op == typed::BinaryOp::FloorMod;
  if (divides && options.reportDivisionByZero && !inLambda)
    reportZeroDivisor(rhs, axes);
  lhs = broadcast(lhs, axes);
  rhs = broadcast(rhs, axes);
  return TileValue(lowerArithmetic(binary, lhs.value, rhs.value), axes);
}

/// Only where the division counts: not in lanes outside the axes, nor where a
/// `where` around it takes the other branch.
void KernelLowering::reportZeroDivisor(const TileValue &divisor, Axes axes) {
  std::optional<int64_t> known = getConstantLanes(divisor.value);
  if (known && *known != 0)
    return;
  TileValue full = broadcast(divisor, axes);
  Type element = getElementTypeOrSelf(full.value.getType());
  Value bad = emit<arith::CmpIOp>(arith::CmpIPredicate::eq, full.value,
                                  constantInt(axes, element, 0));
  if (Value counts = excludeInvalid(predicateOver(axes), axes))
    bad = emit<arith::AndIOp>(bad, counts);
  Value fine = emit<arith::XOrIOp>(bad, constantInt(axes, b.getI1Type(), 1));
  tile::AssertOp::create(b, fine, "division by zero");
}

Value KernelLowering::lowerArithmetic(const typed::Binary *binary, Value lhs,
                                      Value rhs) {
  using Op = typed::BinaryOp;
  DType dtype = binary->lhs->type.dtype;
  bool real = isFloat(dtype), boolean = dtype == DType::Bool;
  auto constantLike = [&](int64_t value) {
    return constantInt(binary->type.axes, elementType(dtype), value);
  };
  switch (binary->op) {
  case Op::Add:
    return real ? emit<arith::AddFOp>(lhs, rhs) : emit<arith::AddIOp>(lhs, rhs);
  case Op::Sub:
    return real ? emit<arith::SubFOp>(lhs, rhs) : emit<arith::SubIOp>(lhs, rhs);
  case Op::Mul:
    return real ? emit<arith::MulFOp>(lhs, rhs) : emit<arith::MulIOp>(lhs, rhs);
  case Op::Div:
    return emit<arith::DivFOp>(lhs, rhs);
  case Op::FloorDiv:
    return createFloorDiv(b, lhs, rhs, constantLike);
  case Op::FloorMod:
    return createFloorMod(b, lhs, rhs, constantLike);
  case Op::Min:
    return real      ? emit<arith::MinimumFOp>(lhs, rhs)
           : boolean ? emit<arith::AndIOp>(lhs, rhs)
                     : emit<arith::MinSIOp>(lhs, rhs);
  case Op::Max:
    return real      ? emit<arith::MaximumFOp>(lhs, rhs)
           : boolean ? emit<arith::OrIOp>(lhs, rhs)
                     : emit<arith::MaxSIOp>(lhs, rhs);
  case Op::FMin:
    return real ? emit<arith::MinNumFOp>(lhs, rhs)
                : emit<arith::MinSIOp>(lhs, rhs);
  case Op::FMax:
    return real ? emit<arith::MaxNumFOp>(lhs, rhs)
                : emit<arith::MaxSIOp>(lhs, rhs);
  case Op::And:
    return emit<arith::AndIOp>(lhs, rhs);
  case Op::Or:
    return emit<arith::OrIOp>(lhs, rhs);
  case Op::Pow:
    return real ? emit<math::PowFOp>(lhs, rhs) : emit<math::IPowIOp>(lhs, rhs);
  case Op::Eq:
  case Op::Ne:
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge:
    return lowerCompare(binary->op, dtype, lhs, rhs);
  }
  llvm_unreachable("unknown operator");
}

Value KernelLowering::lowerCompare(typed::BinaryOp op, DType dtype, Value lhs,
                                   Value rhs) {
  struct Predicates {
    arith::CmpFPredicate real;
    arith::CmpIPredicate isSigned, isUnsigned;
  };
  auto predicatesOf = [&]() -> Predicates {
    using F = arith::CmpFPredicate;
    using I = arith::CmpIPredicate;
    switch (op) {
    case typed::BinaryOp::Eq:
      return {F::OEQ, I::eq, I::eq};
    case typed::BinaryOp::Ne: // The only one that holds for NaN.
      return {F::UNE, I::ne, I::ne};
    case typed::BinaryOp::Lt:
      return {F::OLT, I::slt, I::ult};
    case typed::BinaryOp::Le:
      return {F::OLE, I::sle, I::ule};
    case typed::BinaryOp::Gt:
      return {F::OGT, I::sgt, I::ugt};
    case typed::BinaryOp::Ge:
      return {F::OGE, I::sge, I::uge};
    default:
      llvm_unreachable("not a comparison");
    }
  };
  Predicates predicate = predicatesOf();
  if (isFloat(dtype))
    return emit<arith::CmpFOp>(predicate.real, lhs, rhs);
  // false < true: as one bit, true would be -1.
  bool isUnsigned = dtype == DType::U8 || dtype == DType::Bool;
  return emit<arith::CmpIOp>(
      isUnsigned ? predicate.isUnsigned : predicate.isSigned, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Value KernelLowering::sigmoid(const TileValue &x) {
  Type element = getElementTypeOrSelf(x.value.getType());
  Value one = constantFloat(x.axes, element, 1);
  Value exp = emit<math::ExpOp>(emit<arith::NegFOp>(x.value));
  return emit<arith::DivFOp>(one, emit<arith::AddFOp>(one, exp));
}

TileValue KernelLowering::lowerMath(const typed::Math *math) {
  TileValue operand = broadcast(lowerExpr(math->operand), math->type.axes);
  Axes axes = operand.axes;
  Value x = operand.value;
  Type element = elementType(math->type.dtype);
  auto number = [&](double value) {
    return constantFloat(axes, element, value);
  };
  auto lower = [&]() -> Value {
    switch (math->fn) {
    case typed::MathFn::Exp:
      return emit<math::ExpOp>(x);
    case typed::MathFn::Exp2:
      return emit<math::Exp2Op>(x);
    case typed::MathFn::Log:
      return emit<math::LogOp>(x);
    case typed::MathFn::Log2:
      return emit<math::Log2Op>(x);
    case typed::MathFn::Sqrt:
      return emit<math::SqrtOp>(x);
    case typed::MathFn::Rsqrt:
      // `rsqrt(D)` is the usual scale of attention; math does not fold it.
      if (FloatAttr known;
          operand.isScalar() && matchPattern(x, m_Constant(&known)))
        return number(1 / std::sqrt(known.getValueAsDouble()));
      return emit<math::RsqrtOp>(x);
    case typed::MathFn::Tanh:
      return emit<math::TanhOp>(x);
    case typed::MathFn::Sigmoid:
      return sigmoid(operand);
    case typed::MathFn::Erf:
      return emit<math::ErfOp>(x);
    case typed::MathFn::Gelu:
      return emit<tile::GeluOp>(x);
    case typed::MathFn::Silu: {
      auto least = APFloat::getLargest(
          cast<FloatType>(element).getFloatSemantics(), /*Negative=*/true);
      Value finite = emit<arith::MaximumFOp>(
          x, constant(axes, b.getFloatAttr(element, least)));
      return emit<arith::MulFOp>(finite, sigmoid(operand));
    }
    case typed::MathFn::Relu:
      return emit<arith::MaximumFOp>(x, number(0));
    case typed::MathFn::Floor:
      return emit<math::FloorOp>(x);
    case typed::MathFn::Ceil:
      return emit<math::CeilOp>(x);
    case typed::MathFn::Round:
      return emit<math::RoundEvenOp>(x);
    case typed::MathFn::Sin:
      return emit<math::SinOp>(x);
    case typed::MathFn::Cos:
      return emit<math::CosOp>(x);
    }
    llvm_unreachable("unknown function");
  };
  return TileValue(lower(), axes);
}

} // namespace tilec::lowering
