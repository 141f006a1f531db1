//===- TileShapeOps.cpp - Positions, broadcasts, pads ----------*- C++ -*-===//
//
// Verifiers of the ops that make or rearrange tiles.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileVerify.h"

using namespace mlir;
using namespace mlir::tile;

/// One run-time extent is given for each dynamic axis of the result.
static LogicalResult verifySizes(Operation *op, RankedTensorType result,
                                 size_t found) {
  size_t expected = result.getNumDynamicDims();
  if (found != expected)
    return op->emitOpError()
           << "expected one size per dynamic axis of the result (" << expected
           << "), found " << found;
  return success();
}

LogicalResult IotaOp::verify() {
  return verifySizes(*this, getType(), getSize().size());
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType operand = getValue().getType(), result = getType();
  if (static_cast<int64_t>(getDims().size()) != operand.getRank())
    return emitOpError() << "expected one of dims per axis of the operand ("
                         << operand.getRank() << "), found "
                         << getDims().size();
  if (failed(verifyAxes(*this, "dims", getDims(), result.getRank())))
    return failure();
  for (auto [axis, dim] : llvm::enumerate(getDims())) {
    int64_t expected = operand.getDimSize(axis), found = result.getDimSize(dim);
    if (expected != found && !ShapedType::isDynamic(expected) &&
        !ShapedType::isDynamic(found))
      return emitOpError() << "expected extent " << expected
                           << " on result axis " << dim << ", found " << found;
  }
  if (operand.getElementType() != result.getElementType())
    return emitOpError() << "expected a result with elements of "
                         << operand.getElementType() << ", found "
                         << result.getElementType();
  return verifySizes(*this, result, getSizes().size());
}

LogicalResult SelectValidOp::verify() {
  if (static_cast<int64_t>(getValid().size()) != getType().getRank())
    return emitOpError() << "expected one valid extent per axis ("
                         << getType().getRank() << "), found "
                         << getValid().size();
  if (getPad() == Pad::Undef)
    return emitOpError() << "expected a pad other than 'undef'";
  if (getType().getElementType().isSignlessInteger(1) &&
      getPad() != Pad::Zero && getPad() != Pad::One)
    return emitOpError() << "expected pad 'zero' or 'one' for elements of i1, "
                            "found '"
                         << stringifyPad(getPad()) << "'";
  return success();
}
