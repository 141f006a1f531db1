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

/// Rows and columns of an operand as it is stored.
static std::pair<int64_t, int64_t> storedExtents(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return {buffer.getRows(), buffer.getColumns()};
  auto tensor = cast<RankedTensorType>(type);
  int64_t columns = tensor.getRank() ? tensor.getShape().back() : 1;
  return {tensor.getNumElements() / columns, columns};
}

/// The extents of acc [.., M, N], lhs and rhs go together, `batch` positions of
/// which are rows of the operands.
static LogicalResult verifyExtents(Operation *op, RankedTensorType acc,
                                   Type lhs, bool lhsTransposed, Type rhs,
                                   bool rhsTransposed, int64_t batch) {
  int64_t rank = acc.getRank();
  int64_t m = acc.getDimSize(rank - 2), n = acc.getDimSize(rank - 1);
  auto [lhsRows, lhsColumns] = storedExtents(lhs);
  auto [rhsRows, rhsColumns] = storedExtents(rhs);
  int64_t foundM = lhsTransposed ? lhsColumns : lhsRows / batch;
  int64_t lhsK = lhsTransposed ? lhsRows / batch : lhsColumns;
  int64_t foundN = rhsTransposed ? rhsRows / batch : rhsColumns;
  int64_t rhsK = rhsTransposed ? rhsColumns : rhsRows / batch;
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
  if (acc.getRank() < 2 || !getLayout(acc))
    return emitOpError() << "expected an accumulator of at least two axes with "
                            "a layout, found "
                         << acc;
  for (int64_t extent : acc.getShape().drop_back(2))
    if (extent != 1)
      return emitOpError() << "expected batch axes of extent 1, found "
                           << extent;
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
  return verifyExtents(*this, acc, getLhs().getType(), getLhsTransposed(),
                       getRhs().getType(), getRhsTransposed(), 1);
}

LogicalResult FMADotOp::verify() {
  RankedTensorType acc = getAcc().getType();
  auto batchAxes = static_cast<int64_t>(getBatch());
  if (acc.getRank() != batchAxes + 2 || !getLayout(acc))
    return emitOpError() << "expected an accumulator of " << batchAxes + 2
                         << " axes with a layout, found " << acc;
  int64_t batch = 1;
  for (int64_t extent : acc.getShape().drop_back(2))
    batch *= extent;
  Type lhs = elementOf(getLhs().getType()), rhs = elementOf(getRhs().getType());
  if (tile::getDotResultElement(lhs, rhs) != acc.getElementType())
    return emitOpError() << "expected an accumulator of the sum's type of "
                         << lhs << " and " << rhs << ", found "
                         << acc.getElementType();
  return verifyExtents(*this, acc, getLhs().getType(), getLhsTransposed(),
                       getRhs().getType(), getRhsTransposed(), batch);
}
