//===- TileGPUMemoryOps.cpp - Shared memory and order -----------*- C++ -*-===//
//
// Verifiers and memory effects of the ops on buffers. Effects on shared memory
// name the buffer, so that whoever asks about one is not told about others.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/IR/TileGPU.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tilegpu;

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

static void addEffect(Effects &effects, MemoryEffects::Effect *effect,
                      OpOperand &operand) {
  effects.emplace_back(effect, &operand, SideEffects::DefaultResource::get());
}

/// Whether the last axes of a tile of `shape` are a row of `buffer`, and the
/// others all of its rows.
static bool isRowsAndColumns(ArrayRef<int64_t> shape, BufferType buffer) {
  int64_t columns = 1, rows = 1;
  for (int64_t extent : llvm::reverse(shape))
    (columns < buffer.getColumns() ? columns : rows) *= extent;
  return columns == buffer.getColumns() && rows == buffer.getRows();
}

LogicalResult AllocOp::verify() {
  if (getOffset() && *getOffset() % 16 != 0)
    return emitOpError()
           << "expected an offset that is a multiple of 16, found "
           << static_cast<int64_t>(*getOffset());
  return success();
}

LogicalResult WaitOp::verify() {
  if (static_cast<int64_t>(getPending()) < 0)
    return emitOpError() << "expected at least 0 pending groups, found "
                         << static_cast<int64_t>(getPending());
  return success();
}

//===----------------------------------------------------------------------===//
// tilegpu.async_copy
//===----------------------------------------------------------------------===//

void AsyncCopyOp::getEffects(Effects &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getViewMutable());
  addEffect(effects, MemoryEffects::Write::get(), getBufferMutable());
}

LogicalResult AsyncCopyOp::verify() {
  int64_t rank = getShape().size();
  if (static_cast<int64_t>(getIndices().size()) !=
      getView().getType().getRank())
    return emitOpError() << "expected one index per dimension of the view ("
                         << getView().getType().getRank() << "), found "
                         << getIndices().size();
  if (static_cast<int64_t>(getDims().size()) != rank)
    return emitOpError() << "expected one of dims per extent of shape (" << rank
                         << "), found " << getDims().size();
  for (int64_t dim : getDims())
    if (dim < 0 || dim >= getView().getType().getRank())
      return emitOpError() << "expected dims below "
                           << getView().getType().getRank() << ", found "
                           << dim;
  if (!getValid().empty() && static_cast<int64_t>(getValid().size()) != rank)
    return emitOpError() << "expected no valid extent or one per axis (" << rank
                         << "), found " << getValid().size();
  BufferType buffer = getBuffer().getType();
  if (!isRowsAndColumns(getShape(), buffer))
    return emitOpError() << "expected a shape of " << buffer.getRows()
                         << " rows of " << buffer.getColumns()
                         << " elements as the buffer has, found [" << getShape()
                         << "]";
  if (buffer.getElementType() != getView().getType().getElementType())
    return emitOpError() << "expected a buffer of the view's element type "
                         << getView().getType().getElementType() << ", found "
                         << buffer.getElementType();
  auto vector = static_cast<int64_t>(getVector());
  if (vector > 16 || vector < buffer.getElementBytes() ||
      !llvm::isPowerOf2_64(vector))
    return emitOpError() << "expected a vector of a power of two from "
                         << buffer.getElementBytes() << " to 16 bytes, found "
                         << vector;
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// A fragment fits the slot of a buffer that it is read from or written to.
static LogicalResult verifyFragment(Operation *op, RankedTensorType fragment,
                                    BufferType buffer) {
  if (fragment.getRank() > 0 && !getLayout(fragment))
    return op->emitOpError()
           << "expected a tensor with a layout, found " << fragment;
  if (fragment.getElementType() != buffer.getElementType())
    return op->emitOpError()
           << "expected a buffer of elements of " << fragment.getElementType()
           << ", found " << buffer.getElementType();
  if (isRowsAndColumns(fragment.getShape(), buffer))
    return success();
  int64_t columns = fragment.getRank() ? fragment.getShape().back() : 1;
  return op->emitOpError() << "expected a buffer of "
                           << fragment.getNumElements() / columns << " x "
                           << columns << " elements, found " << buffer.getRows()
                           << " x " << buffer.getColumns();
}

void LocalStoreOp::getEffects(Effects &effects) {
  addEffect(effects, MemoryEffects::Write::get(), getBufferMutable());
}

LogicalResult LocalStoreOp::verify() {
  return verifyFragment(*this, getValue().getType(), getBuffer().getType());
}

void LocalLoadOp::getEffects(Effects &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getBufferMutable());
}

LogicalResult LocalLoadOp::verify() {
  return verifyFragment(*this, getType(), getBuffer().getType());
}
