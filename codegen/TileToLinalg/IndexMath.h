//===- IndexMath.h - Sums and products of indices ---------------*- C++ -*-===//
//
// Offsets and strides are half known at compile time: `OpFoldResult` is either
// a constant or a value. These build an operation only where something is left
// to compute, which keeps known strides known.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOLINALG_INDEXMATH_H
#define TILEC_CODEGEN_TILETOLINALG_INDEXMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

namespace tilec {

inline mlir::Value indexValue(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::OpFoldResult x) {
  return mlir::getValueOrCreateConstantIndexOp(b, loc, x);
}

inline mlir::OpFoldResult multiplyIndex(mlir::OpBuilder &b, mlir::Location loc,
                                        mlir::OpFoldResult x,
                                        mlir::OpFoldResult y) {
  std::optional<int64_t> cx = mlir::getConstantIntValue(x);
  std::optional<int64_t> cy = mlir::getConstantIntValue(y);
  if (cx && cy)
    return b.getIndexAttr(*cx * *cy);
  if (cx == 0 || cy == 0)
    return b.getIndexAttr(0);
  if (cx == 1)
    return y;
  if (cy == 1)
    return x;
  return mlir::arith::MulIOp::create(b, loc, indexValue(b, loc, x),
                                     indexValue(b, loc, y))
      .getResult();
}

inline mlir::OpFoldResult addIndex(mlir::OpBuilder &b, mlir::Location loc,
                                   mlir::OpFoldResult x, mlir::OpFoldResult y) {
  std::optional<int64_t> cx = mlir::getConstantIntValue(x);
  std::optional<int64_t> cy = mlir::getConstantIntValue(y);
  if (cx && cy)
    return b.getIndexAttr(*cx + *cy);
  if (cx == 0)
    return y;
  if (cy == 0)
    return x;
  return mlir::arith::AddIOp::create(b, loc, indexValue(b, loc, x),
                                     indexValue(b, loc, y))
      .getResult();
}

/// `x` as a constant if it is one, so that it can become part of a type.
inline mlir::OpFoldResult foldIndex(mlir::OpBuilder &b, mlir::OpFoldResult x) {
  std::optional<int64_t> known = mlir::getConstantIntValue(x);
  return known ? mlir::OpFoldResult(b.getIndexAttr(*known)) : x;
}

/// `x` if it is constant, else what types write for an unknown size.
inline int64_t knownOrDynamic(mlir::OpFoldResult x) {
  return mlir::getConstantIntValue(x).value_or(mlir::ShapedType::kDynamic);
}

} // namespace tilec

#endif // TILEC_CODEGEN_TILETOLINALG_INDEXMATH_H
