//===- TileComputeOps.cpp - Computation on tiles ---------------*- C++ -*-===//
//
// Verifiers of contractions, reductions, scans, random numbers and attention.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileVerify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// tile.dot
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> freeAxes(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contracted) {
  SmallVector<int64_t> free;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batch, axis) &&
        !llvm::is_contained(contracted, axis))
      free.push_back(axis);
  return free;
}

SmallVector<int64_t> DotOp::getLhsFree() {
  return freeAxes(getLhs().getType().getRank(), getLhsBatch(),
                  getLhsContract());
}

SmallVector<int64_t> DotOp::getRhsFree() {
  return freeAxes(getRhs().getType().getRank(), getRhsBatch(),
                  getRhsContract());
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

Type mlir::tile::getDotResultElement(Type lhs, Type rhs) {
  MLIRContext *context = lhs.getContext();
  if (isFloat8(lhs) && isFloat8(rhs))
    return Float32Type::get(context);
  if (lhs != rhs)
    return {};
  if (lhs.isF16() || lhs.isBF16() || lhs.isF32())
    return Float32Type::get(context);
  if (lhs.isSignlessInteger(8))
    return IntegerType::get(context, 32);
  if (lhs.isF64() || lhs.isSignlessInteger(16) || lhs.isSignlessInteger(32) ||
      lhs.isSignlessInteger(64))
    return lhs;
  return {};
}

/// Paired axes have one extent.
static LogicalResult verifyPairs(DotOp dot, StringRef what,
                                 ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() != rhs.size())
    return dot.emitOpError()
           << "expected as many " << what << " axes of rhs as of lhs ("
           << lhs.size() << "), found " << rhs.size();
  for (auto [l, r] : llvm::zip(lhs, rhs)) {
    int64_t expected = dot.getLhs().getType().getDimSize(l);
    int64_t found = dot.getRhs().getType().getDimSize(r);
    if (expected != found && !ShapedType::isDynamic(expected) &&
        !ShapedType::isDynamic(found))
      return dot.emitOpError()
             << "expected extent " << expected << " on " << what << " axis "
             << r << " of rhs, found " << found;
  }
  return success();
}

static LogicalResult verifyDotAxes(DotOp dot) {
  // A batch axis must not be contracted too, so both lists are one set.
  SmallVector<int64_t> lhs(dot.getLhsBatch()), rhs(dot.getRhsBatch());
  llvm::append_range(lhs, dot.getLhsContract());
  llvm::append_range(rhs, dot.getRhsContract());
  if (failed(verifyAxes(dot, "axes of lhs", lhs,
                        dot.getLhs().getType().getRank())) ||
      failed(verifyAxes(dot, "axes of rhs", rhs,
                        dot.getRhs().getType().getRank())))
    return failure();
  if (dot.getLhsContract().empty())
    return dot.emitOpError() << "expected a contracted axis, found none";
  if (failed(verifyPairs(dot, "batch", dot.getLhsBatch(), dot.getRhsBatch())))
    return failure();
  return verifyPairs(dot, "contracted", dot.getLhsContract(),
                     dot.getRhsContract());
}

LogicalResult DotOp::verify() {
  if (failed(verifyDotAxes(*this)))
    return failure();
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  Type lhsElement = lhs.getElementType(), rhsElement = rhs.getElementType();

  Type element = getDotResultElement(lhsElement, rhsElement);
  if (!element)
    return emitOpError() << "expected operands of one element type other than "
                            "i1, or both of f8, found "
                         << lhsElement << " and " << rhsElement;
  if (getType().getElementType() != element)
    return emitOpError() << "expected a result with elements of " << element
                         << ", found " << getType().getElementType();
  if (getPrecision() != Precision::IEEE && !lhsElement.isF32())
    return emitOpError() << "expected operands of f32 for precision '"
                         << stringifyPrecision(getPrecision()) << "', found "
                         << lhsElement;
  if ((getLhsUnsigned() || getRhsUnsigned()) &&
      !lhsElement.isSignlessInteger(8))
    return emitOpError() << "expected operands of i8 for unsigned operands, "
                            "found "
                         << lhsElement;

  SmallVector<int64_t> expected;
  for (int64_t axis : getLhsBatch())
    expected.push_back(lhs.getDimSize(axis));
  for (int64_t axis : getLhsFree())
    expected.push_back(lhs.getDimSize(axis));
  for (int64_t axis : getRhsFree())
    expected.push_back(rhs.getDimSize(axis));
  if (failed(verifyShape(*this, "a result", expected, getType().getShape())))
    return failure();
  if (getAcc() && getAcc().getType() != getType())
    return emitOpError() << "expected acc of the result's type " << getType()
                         << ", found " << getAcc().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  RankedTensorType operand = getValue().getType();
  if (getAxes().empty())
    return emitOpError() << "expected at least one axis, found none";
  if (failed(verifyAxes(*this, "axes", getAxes(), operand.getRank())) ||
      failed(verifyReduceElement(*this, getKind(), operand.getElementType())))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t axis = 0; axis < operand.getRank(); ++axis)
    if (!llvm::is_contained(getAxes(), axis))
      expected.push_back(operand.getDimSize(axis));
  if (failed(verifyShape(*this, "a result", expected, getType().getShape())))
    return failure();
  if (getType().getElementType() != operand.getElementType())
    return emitOpError() << "expected a result with elements of "
                         << operand.getElementType() << ", found "
                         << getType().getElementType();
  return success();
}

LogicalResult ArgReduceOp::verify() {
  RankedTensorType operand = getValue().getType();
  int64_t axis = getAxis();
  if (failed(verifyAxes(*this, "an axis", axis, operand.getRank())))
    return failure();
  if (getKind() != ReduceKind::Max && getKind() != ReduceKind::Min)
    return emitOpError() << "expected kind 'max' or 'min', found '"
                         << stringifyReduceKind(getKind()) << "'";
  SmallVector<int64_t> expected(operand.getShape());
  expected.erase(expected.begin() + axis);
  return verifyShape(*this, "a result", expected, getType().getShape());
}

LogicalResult ScanOp::verify() {
  int64_t axis = getAxis();
  if (failed(verifyAxes(*this, "an axis", axis, getType().getRank())))
    return failure();
  switch (getKind()) {
  case ReduceKind::Sum:
  case ReduceKind::Prod:
  case ReduceKind::Max:
  case ReduceKind::Min:
    break;
  default:
    return emitOpError() << "expected kind 'sum', 'prod', 'max' or 'min', "
                            "found '"
                         << stringifyReduceKind(getKind()) << "'";
  }
  return verifyReduceElement(*this, getKind(), getType().getElementType());
}

LogicalResult RandomOp::verify() {
  auto offset = dyn_cast<RankedTensorType>(getOffset().getType());
  auto result = dyn_cast<RankedTensorType>(getResult().getType());
  if (!offset != !result)
    return emitOpError() << "expected offset and result to be both tiles or "
                            "both scalars, found "
                         << getOffset().getType() << " and "
                         << getResult().getType();
  if (!offset)
    return success();
  return verifyShape(*this, "a result", offset.getShape(), result.getShape());
}

//===----------------------------------------------------------------------===//
// tile.attention
//===----------------------------------------------------------------------===//

void AttentionOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getKeysMutable(),
                       SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Read::get(), &getValuesMutable(),
                       SideEffects::DefaultResource::get());
  // A gather in a region reads a view that is not an operand.
  auto gathers = [](Operation *op) {
    return isa<GatherOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if ((*this)->walk(gathers).wasInterrupted())
    effects.emplace_back(MemoryEffects::Read::get());
}

LogicalResult AttentionOp::verify() {
  RankedTensorType query = getQuery().getType();
  ViewType keys = getKeys().getType(), values = getValues().getType();
  auto verifyRank = [&](StringRef what, int64_t rank) -> LogicalResult {
    if (rank == 2)
      return success();
    return emitOpError() << "expected " << what << " of rank 2, found rank "
                         << rank;
  };
  if (failed(verifyRank("query", query.getRank())) ||
      failed(verifyRank("keys", keys.getRank())) ||
      failed(verifyRank("values", values.getRank())))
    return failure();

  auto differ = [](int64_t a, int64_t b) {
    return a != b && !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b);
  };
  if (differ(query.getDimSize(1), keys.getDimSize(1)))
    return emitOpError() << "expected keys with the query's head dimension "
                         << query.getDimSize(1) << ", found "
                         << keys.getDimSize(1);
  if (differ(keys.getDimSize(0), values.getDimSize(0)))
    return emitOpError() << "expected as many values as keys ("
                         << keys.getDimSize(0) << "), found "
                         << values.getDimSize(0);
  if (static_cast<int64_t>(getKvTile()) < 1)
    return emitOpError() << "expected kv_tile of at least 1, found "
                         << static_cast<int64_t>(getKvTile());
  int64_t rows = query.getDimSize(0);
  if (failed(verifyShape(*this, "a result", {rows, values.getDimSize(1)},
                         getResult().getType().getShape())))
    return failure();
  return verifyShape(*this, "lse", rows, getLse().getType().getShape());
}

/// One block, these arguments, and a yield of `yielded` at its end.
static LogicalResult verifyScalarRegion(AttentionOp op, StringRef what,
                                        Region &region, TypeRange arguments,
                                        Type yielded) {
  if (region.empty())
    return success();
  if (!region.hasOneBlock())
    return op.emitOpError() << "expected " << what << " of one block, found "
                            << region.getBlocks().size();
  if (region.getArgumentTypes() != arguments)
    return op.emitOpError()
           << "expected " << what << " with arguments (" << arguments
           << "), found (" << region.getArgumentTypes() << ")";
  Block &block = region.front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op.emitOpError() << "expected " << what << " to end with tile.yield";
  if (yield.getValue().getType() != yielded)
    return yield.emitOpError() << "expected " << yielded << " from " << what
                               << ", found " << yield.getValue().getType();
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  Builder builder(getContext());
  Type f32 = builder.getF32Type(), i64 = builder.getI64Type();
  if (failed(
          verifyScalarRegion(*this, "score", getScore(), {f32, i64, i64}, f32)))
    return failure();
  return verifyScalarRegion(*this, "mask", getMask(), {i64, i64},
                            builder.getI1Type());
}
