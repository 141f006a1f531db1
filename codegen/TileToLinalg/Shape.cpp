//===- Shape.cpp - Positions, broadcasts, pads ------------------*- C++ -*-===//
//
// Ops that make or rearrange tiles: each is one linalg.generic, which the
// fusion of elementwise ops then merges into its users.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/KernelLowering.h"

using namespace mlir;

namespace tilec {

Value KernelLowering::padConstant(tile::Pad pad, Type type) {
  if (auto floating = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    APFloat number = APFloat::getZero(semantics);
    if (pad == tile::Pad::One)
      number = APFloat::getOne(semantics);
    if (pad == tile::Pad::Lowest || pad == tile::Pad::Highest) {
      bool negative = pad == tile::Pad::Lowest;
      // f8E4M3FN has no infinity; its extremes are finite.
      number = APFloat::semanticsHasInf(semantics)
                   ? APFloat::getInf(semantics, negative)
                   : APFloat::getLargest(semantics, negative);
    }
    return arith::ConstantOp::create(b, loc, FloatAttr::get(type, number));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt number = APInt::getZero(width);
  if (pad == tile::Pad::One)
    number = APInt(width, 1);
  else if (pad == tile::Pad::Lowest)
    number = width == 1 ? APInt::getZero(1) : APInt::getSignedMinValue(width);
  else if (pad == tile::Pad::Highest)
    number = width == 1 ? APInt(1, 1) : APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(b, loc, IntegerAttr::get(type, number));
}

void KernelLowering::lower(tile::IotaOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Value begin =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), op.getBegin());
  Value iota =
      elementwise({}, type.getShape(), type.getElementType(), [&](ValueRange) {
        Value lane = linalg::IndexOp::create(b, loc, 0);
        lane = arith::IndexCastOp::create(b, loc, b.getI64Type(), lane);
        return SmallVector<Value>{
            arith::AddIOp::create(b, loc, begin, lane).getResult()};
      });
  b.replaceAllUsesWith(op.getResult(), iota);
}

void KernelLowering::lower(tile::BroadcastOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<AffineExpr> exprs;
  for (int64_t d : op.getDims())
    exprs.push_back(b.getAffineDimExpr(d));
  AffineMap from = AffineMap::get(type.getRank(), 0, exprs, b.getContext());
  AffineMap to = b.getMultiDimIdentityMap(type.getRank());
  auto made =
      generic(op.getValue(), empty(type.getShape(), type.getElementType()),
              {from, to}, {}, [](ValueRange operands) {
                return SmallVector<Value>{operands.front()};
              });
  b.replaceAllUsesWith(op.getResult(), made.getResult(0));
}

void KernelLowering::lower(tile::SelectValidOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Value pad = padConstant(op.getPad(), type.getElementType());
  Value selected = elementwise(
      op.getValue(), type.getShape(), type.getElementType(),
      [&](ValueRange operands) {
        Value inside;
        for (auto [axis, valid] : llvm::enumerate(op.getValid())) {
          if (getConstantIntValue(valid) == type.getDimSize(axis))
            continue;
          Value lane = linalg::IndexOp::create(b, loc, axis);
          inside =
              both(inside, arith::CmpIOp::create(
                               b, loc, arith::CmpIPredicate::slt, lane, valid));
        }
        Value lane = operands.front();
        if (inside)
          lane = arith::SelectOp::create(b, loc, inside, lane, pad);
        return SmallVector<Value>{lane};
      });
  b.replaceAllUsesWith(op.getResult(), selected);
}

void KernelLowering::lower(tensor::SplatOp op) {
  b.replaceAllUsesWith(op.getResult(),
                       filled(op.getType().getShape(), op.getInput()));
}

/// A constant tile would become a global variable; equal lanes are a fill.
void KernelLowering::lower(arith::ConstantOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto dense = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!dense) {
    // Kept, but lowerOp erases what it lowered.
    b.replaceAllUsesWith(op.getResult(), b.clone(*op)->getResult(0));
    return;
  }
  Value scalar = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  b.replaceAllUsesWith(op.getResult(), filled(type.getShape(), scalar));
}

} // namespace tilec
