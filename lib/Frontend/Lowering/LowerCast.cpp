//===- LowerCast.cpp - Conversions between element types --------*- C++ -*-===//
//
// The language's conversions are total where arith's are not: a float becomes
// the nearest integer towards zero that the type has (NaN becomes 0), and an
// fp8 number saturates. Each is spelled out in selects around the plain op.
//
//   from \ to   float                      integer          bool
//   float       extf, or clamp + truncf    saturate+fptosi  != 0
//   integer     sitofp / uitofp (as f32    ext / trunc      != 0
//               for the narrow floats)
//   bool        uitofp                     extui
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering/LoweringImpl.h"

using namespace mlir;

namespace tilec::lowering {

TileValue KernelLowering::lowerCast(const typed::Cast *cast) {
  // Before the broadcast, so that fewer elements are converted.
  TileValue operand = lowerExpr(cast->operand);
  operand.value = convert(operand, cast->operand->type.dtype, cast->type.dtype);
  return broadcast(operand, cast->type.axes);
}

Type KernelLowering::withElement(Value like, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(like.getType()))
    return tensor.clone(element);
  return element;
}

Value KernelLowering::convert(const TileValue &value, DType from, DType to) {
  if (from == to)
    return value.value;
  Type source = elementType(from);
  if (to == DType::Bool) {
    if (isNarrowFloat(from)) // There are no comparisons of the narrow floats.
      return convert(
          TileValue(convertFloat(value, from, DType::F32), value.axes),
          DType::F32, to);
    // NaN is not 0.
    if (isFloat(from))
      return emit<arith::CmpFOp>(arith::CmpFPredicate::UNE, value.value,
                                 constantFloat(value.axes, source, 0));
    return emit<arith::CmpIOp>(arith::CmpIPredicate::ne, value.value,
                               constantInt(value.axes, source, 0));
  }
  if (isFloat(from))
    return isFloat(to)
               ? convertFloat(value, from, to)
               : convertFloatToInt(
                     TileValue(convertFloat(value, from,
                                            from == DType::F64 ? DType::F64
                                                               : DType::F32),
                               value.axes),
                     to);
  if (!isFloat(to))
    return convertInt(value.value, from, to);

  // Integers have no conversion to the narrow floats on most targets; f32 is
  // exact for all but the widest, and those round once more.
  DType wide = to == DType::F64 ? DType::F64 : DType::F32;
  Type wideType = withElement(value.value, elementType(wide));
  bool isUnsigned = from == DType::Bool || from == DType::U8;
  Value number = isUnsigned ? emit<arith::UIToFPOp>(wideType, value.value)
                            : emit<arith::SIToFPOp>(wideType, value.value);
  return convertFloat(TileValue(number, value.axes), wide, to);
}

Value KernelLowering::convertInt(Value value, DType from, DType to) {
  Type type = withElement(value, elementType(to));
  unsigned width =
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned newWidth = elementType(to).getIntOrFloatBitWidth();
  if (newWidth == width) // i8 and u8 differ in their reading only.
    return value;
  if (newWidth < width)
    return emit<arith::TruncIOp>(type, value);
  if (from == DType::Bool || from == DType::U8)
    return emit<arith::ExtUIOp>(type, value);
  return emit<arith::ExtSIOp>(type, value);
}

/// f64 is converted to a narrow type at once: two roundings are not one.
Value KernelLowering::convertFloat(const TileValue &value, DType from,
                                   DType to) {
  if (from == to)
    return value.value;
  // The narrow types are not contained in one another; f32 contains them all.
  if (isNarrowFloat(from) && to != DType::F32 && to != DType::F64) {
    Type f32 = withElement(value.value, b.getF32Type());
    Value wide = emit<arith::ExtFOp>(f32, value.value);
    // f16, bf16 and fp8 have at most the ten fraction bits of tf32.
    if (to == DType::TF32)
      return wide;
    return convertFloat(TileValue(wide, value.axes), DType::F32, to);
  }
  Type type = withElement(value.value, elementType(to));
  if (isNarrowFloat(from) || (to == DType::F64 && from != DType::F64))
    return emit<arith::ExtFOp>(type, value.value);

  // From here on, from f64 or f32 (tf32) to something not larger.
  Value number = value.value;
  if (to == DType::TF32) {
    if (from == DType::F64)
      number = truncateToOdd(value);
    return tile::RoundTF32Op::create(b, number);
  }
  if (isFloat8(to)) {
    double limit = floatFormat(to).maxFinite;
    Type source = elementType(from);
    number = emit<arith::MinimumFOp>(number,
                                     constantFloat(value.axes, source, limit));
    number = emit<arith::MaximumFOp>(number,
                                     constantFloat(value.axes, source, -limit));
  }
  if (number.getType() == type) // tf32 to f32.
    return number;
  return emit<arith::TruncFOp>(type, number);
}

/// f64 to f32, rounded to odd: toward zero, and with the last bit set if that
/// is not exact. A later rounding to fewer bits then sees on which side of a
/// midpoint the number was.
Value KernelLowering::truncateToOdd(const TileValue &value) {
  Type f32 = withElement(value.value, b.getF32Type());
  Type i32 = withElement(value.value, b.getI32Type());
  Value one = constantInt(value.axes, b.getI32Type(), 1);
  Value nearest = emit<arith::TruncFOp>(f32, value.value);
  Value back = emit<arith::ExtFOp>(value.value.getType(), nearest);
  Value inexact =
      emit<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, value.value);
  Value isAway =
      emit<arith::CmpFOp>(arith::CmpFPredicate::OGT, emit<math::AbsFOp>(back),
                          emit<math::AbsFOp>(value.value));
  // Sign and magnitude: one less is one step toward zero.
  Value bits = emit<arith::BitcastOp>(i32, nearest);
  bits = emit<arith::SelectOp>(isAway, emit<arith::SubIOp>(bits, one), bits);
  bits = emit<arith::SelectOp>(inexact, emit<arith::OrIOp>(bits, one), bits);
  return emit<arith::BitcastOp>(f32, bits);
}

/// `value` is f32 or f64. The bounds are powers of two or 0, hence exact.
Value KernelLowering::convertFloatToInt(const TileValue &value, DType to) {
  Axes axes = value.axes;
  Type real = getElementTypeOrSelf(value.value.getType());
  // The narrow integers are truncated from i32, within their own bounds.
  DType wide = to == DType::I64 ? DType::I64 : DType::I32;
  Type integer = elementType(wide);
  IntegerRange range = integerRange(to);
  Value low = constantFloat(axes, real, static_cast<double>(range.min));
  Value end = constantFloat(axes, real, static_cast<double>(range.max) + 1.0);
  if (to == DType::I64) // The greatest i64 is not a double; 2^63 is.
    end = constantFloat(axes, real, 0x1p63);

  Value atLeast =
      emit<arith::CmpFOp>(arith::CmpFPredicate::OGE, value.value, low);
  Value below =
      emit<arith::CmpFOp>(arith::CmpFPredicate::OLT, value.value, end);
  Value tooLow =
      emit<arith::CmpFOp>(arith::CmpFPredicate::OLT, value.value, low);
  Value tooHigh =
      emit<arith::CmpFOp>(arith::CmpFPredicate::OGE, value.value, end);
  Value inside = emit<arith::AndIOp>(atLeast, below);
  Value safe =
      emit<arith::SelectOp>(inside, value.value, constantFloat(axes, real, 0));
  Value result = emit<arith::FPToSIOp>(withElement(value.value, integer), safe);
  result = emit<arith::SelectOp>(tooLow, constantInt(axes, integer, range.min),
                                 result);
  result = emit<arith::SelectOp>(tooHigh, constantInt(axes, integer, range.max),
                                 result);
  return convertInt(result, wide, to);
}

} // namespace tilec::lowering
