//===- Elementwise.cpp - arith and math on tiles ----------------*- C++ -*-===//
//
// One linalg.generic per op, with the op on scalars as its body. Operands that
// are the same in every lane go into the body as scalars: then no tile of
// constants is ever made.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/KernelLowering.h"

using namespace mlir;

namespace tilec {

/// The scalar that all lanes of an operand hold, or null.
static Value uniformScalar(Value operand) {
  if (!isa<RankedTensorType>(operand.getType()))
    return operand; // The condition of a select, say.
  if (auto splat = operand.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  if (auto fill = operand.getDefiningOp<linalg::FillOp>())
    return fill.getInputs().front();
  return {};
}

void KernelLowering::lowerElementwise(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> inputs;
  SmallVector<Value> scalars;
  for (Value operand : op->getOperands()) {
    scalars.push_back(uniformScalar(operand));
    if (!scalars.back())
      inputs.push_back(operand);
  }
  auto compute = [&](ValueRange lanes) {
    SmallVector<Value> operands;
    for (Value scalar : scalars) {
      operands.push_back(scalar ? scalar : lanes.front());
      if (!scalar)
        lanes = lanes.drop_front();
    }
    Operation *made = b.create(loc, op->getName().getIdentifier(), operands,
                               {type.getElementType()}, op->getAttrs());
    return SmallVector<Value>{made->getResult(0)};
  };
  Value result;
  if (inputs.empty())
    result = filled(type.getShape(), compute({}).front());
  else
    result =
        elementwise(inputs, type.getShape(), type.getElementType(), compute);
  b.replaceAllUsesWith(op->getResult(0), result);
}

void KernelLowering::lowerUnary(Operation *op,
                                llvm::function_ref<Value(Value)> compute) {
  Value operand = op->getOperand(0);
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type) {
    b.replaceAllUsesWith(op->getResult(0), compute(operand));
    return;
  }
  Value result = elementwise(
      operand, type.getShape(), type.getElementType(), [&](ValueRange lanes) {
        return SmallVector<Value>{compute(lanes.front())};
      });
  b.replaceAllUsesWith(op->getResult(0), result);
}

void KernelLowering::lower(tile::GeluOp op) {
  lowerUnary(op, [&](Value x) -> Value {
    auto type = cast<FloatType>(x.getType());
    auto number = [&](const APFloat &value) {
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
    };
    auto real = [&](double value) {
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
    };
    Value scaled = arith::MulFOp::create(b, loc, x, real(-M_SQRT1_2));
    Value tail = math::ErfcOp::create(b, loc, scaled);
    // -inf would give -inf * 0 = NaN.
    Value finite = arith::MaximumFOp::create(
        b, loc, x, number(APFloat::getLargest(type.getFloatSemantics(), true)));
    Value factor = arith::MulFOp::create(b, loc, tail, real(0.5));
    return arith::MulFOp::create(b, loc, finite, factor);
  });
}

} // namespace tilec
