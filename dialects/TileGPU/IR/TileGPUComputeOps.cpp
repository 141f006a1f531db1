//===- TileGPUComputeOps.cpp - Layouts and products -------------*- C++ -*-===//
//
// Verifiers, folds and memory effects of the ops on fragments.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/IR/TileGPU.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tilegpu;

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

//===----------------------------------------------------------------------===//
// tilegpu.convert_layout
//===----------------------------------------------------------------------===//

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType from = getValue().getType(), to = getType();
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType())
    return emitOpError() << "expected types that differ in the layout only, "
                            "found "
                         << from << " and " << to;
  if (!getLayout(from) || !getLayout(to))
    return emitOpError() << "expected tensors with a layout, found "
                         << (getLayout(from) ? to : from);
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getValue().getType() == getType())
    return getValue();
  // There and back again.
  if (auto inner = getValue().getDefiningOp<ConvertLayoutOp>();
      inner && inner.getValue().getType() == getType())
    return inner.getValue();
  return {};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static void addBufferRead(Effects &effects, OpOperand &operand) {
  if (isa<BufferType>(operand.get().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         SideEffects::DefaultResource::get());
}

void MMAOp::getEffects(Effects &effects) {
  addBufferRead(effects, getLhsMutable());
  addBufferRead(effects, getRhsMutable());
}

void FMADotOp::getEffects(Effects &effects) {
  addBufferRead(effects, getLhsMutable());
  addBufferRead(effects, getRhsMutable());
}

std::array<int64_t, 3> mlir::tilegpu::getMatrixShape(RankedTensorType acc,
                                                     int64_t batchAxes,
                                                     int64_t rowAxes) {
  std::array<int64_t, 3> shape = {1, 1, 1};
  for (auto [axis, extent] : llvm::enumerate(acc.getShape())) {
    auto number = static_cast<int64_t>(axis);
    shape[number < batchAxes             ? 0
          : number < batchAxes + rowAxes ? 1
                                         : 2] *= extent;
  }
  return shape;
}

/// The accumulator has axes for batches, rows and columns, and a layout.
static LogicalResult verifyAccumulator(Operation *op, RankedTensorType acc,
                                       int64_t batchAxes, int64_t rowAxes) {
  if (batchAxes < 0 || rowAxes < 1)
    return op->emitOpError()
           << "expected at least 0 batch axes and 1 row axis, found "
           << batchAxes << " and " << rowAxes;
  if (acc.getRank() > batchAxes + rowAxes && getLayout(acc))
    return success();
  return op->emitOpError() << "expected an accumulator of at least "
                           << batchAxes + rowAxes + 1
                           << " axes with a layout, found " << acc;
}

std::array<int64_t, 2> mlir::tilegpu::getStoredShape(Type type, int64_t batches,
                                                     int64_t rows) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return {buffer.getRows() / batches, buffer.getColumns()};
  // Of a fragment the leading axes are the rows.
  int64_t found = 1, columns = 1;
  for (int64_t extent : cast<RankedTensorType>(type).getShape())
    (found < batches * rows ? found : columns) *= extent;
  return {found / batches, columns};
}

/// The extents of acc, lhs and rhs go together.
static LogicalResult verifyExtents(Operation *op, std::array<int64_t, 3> acc,
                                   Type lhs, bool lhsTransposed, Type rhs,
                                   bool rhsTransposed) {
  auto [batches, m, n] = acc;
  auto [lhsRows, lhsColumns] = getStoredShape(lhs, batches, m);
  int64_t foundM = lhsTransposed ? lhsColumns : lhsRows;
  int64_t lhsK = lhsTransposed ? lhsRows : lhsColumns;
  auto [rhsRows, rhsColumns] = getStoredShape(rhs, batches, lhsK);
  int64_t foundN = rhsTransposed ? rhsRows : rhsColumns;
  int64_t rhsK = rhsTransposed ? rhsColumns : rhsRows;
  if (foundM != m)
    return op->emitOpError()
           << "expected lhs with " << m << " rows, found " << foundM;
  if (foundN != n)
    return op->emitOpError()
           << "expected rhs with " << n << " columns, found " << foundN;
  if (lhsK != rhsK)
    return op->emitOpError()
           << "expected rhs with " << lhsK
           << " contracted positions as lhs has, found " << rhsK;
  // Of a buffer with fewer rows than there are batches nothing is left.
  if (lhsK == 0)
    return op->emitOpError() << "expected lhs and rhs with at least 1 row for "
                                "each of "
                             << batches << " batches";
  return success();
}

static Type elementOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getElementType();
  return cast<RankedTensorType>(type).getElementType();
}

int64_t MMAOp::getInstructionK() {
  return 256 / elementOf(getLhs().getType()).getIntOrFloatBitWidth();
}

LogicalResult MMAOp::verify() {
  RankedTensorType acc = getAcc().getType();
  auto batchAxes = static_cast<int64_t>(getBatch());
  auto rowAxes = static_cast<int64_t>(getRowAxes());
  if (failed(verifyAccumulator(*this, acc, batchAxes, rowAxes)))
    return failure();
  Type lhs = elementOf(getLhs().getType()), rhs = elementOf(getRhs().getType());
  Type sum = tile::getDotResultElement(lhs, rhs);
  if (!sum || sum != acc.getElementType() ||
      !(sum.isF32() || sum.isSignlessInteger(32)) || lhs.isSignlessInteger(32))
    return emitOpError() << "expected f16, bf16, f8, f32 or i8 operands and "
                            "their sum's type, found "
                         << lhs << ", " << rhs << " and "
                         << acc.getElementType();
  if (lhs.isF32() != (getPrecision() != tile::Precision::IEEE))
    return emitOpError() << "expected precision "
                         << (lhs.isF32() ? "'tf32' or 'tf32x3' for f32"
                                         : "'ieee' for other than f32")
                         << " operands, found '"
                         << tile::stringifyPrecision(getPrecision()) << "'";
  auto verifySlot = [&](StringRef what, Value operand,
                        Value slot) -> LogicalResult {
    bool isBuffer = isa<BufferType>(operand.getType());
    if (isBuffer == static_cast<bool>(slot))
      return success();
    return emitOpError() << "expected " << what
                         << (isBuffer ? ", a buffer, with a slot"
                                      : ", a fragment, without a slot");
  };
  if (failed(verifySlot("lhs", getLhs(), getLhsSlot())) ||
      failed(verifySlot("rhs", getRhs(), getRhsSlot())))
    return failure();
  return verifyExtents(*this, getMatrixShape(acc, batchAxes, rowAxes),
                       getLhs().getType(), getLhsTransposed(),
                       getRhs().getType(), getRhsTransposed());
}

LogicalResult FMADotOp::verify() {
  RankedTensorType acc = getAcc().getType();
  auto batchAxes = static_cast<int64_t>(getBatch());
  auto rowAxes = static_cast<int64_t>(getRowAxes());
  if (failed(verifyAccumulator(*this, acc, batchAxes, rowAxes)))
    return failure();
  Type lhs = elementOf(getLhs().getType()), rhs = elementOf(getRhs().getType());
  if (tile::getDotResultElement(lhs, rhs) != acc.getElementType())
    return emitOpError() << "expected an accumulator of the sum's type of "
                         << lhs << " and " << rhs << ", found "
                         << acc.getElementType();
  return verifyExtents(*this, getMatrixShape(acc, batchAxes, rowAxes),
                       getLhs().getType(), getLhsTransposed(),
                       getRhs().getType(), getRhsTransposed());
}
