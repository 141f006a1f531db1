//===- BlockAccess.cpp - Loads and stores of blocks -------------*- C++ -*-===//
//
// A block of a view is a memref: an address, the view's strides along the
// tile's axes. What an access costs depends on what is known about the block:
//
//   * Full, of an `in` argument: the tile is that memory, nothing is copied.
//     The arguments of a kernel are disjoint, so nothing changes under it.
//   * Possibly cut off, of an `in` argument: that memory if it turns out full,
//     else a buffer with the valid part copied and the pad elsewhere. All the
//     programs but the last ones along an axis take the fast side.
//   * Of an argument that the kernel writes too: always a copy, taken here.
//
// A store mirrors this. What computes the tile shall write to its place in the
// view directly, so the place is offered as the destination: the block, or if
// it is cut off a buffer of which the valid part is then copied. The offer is
// `materialize_in_destination ... restrict`. Writing may happen where the value
// is computed then, before the store. Nobody can see that as long as the
// argument is never read and no other program writes these elements; whether
// another store of this program is in between, Bufferize.cpp finds out.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/IndexMath.h"
#include "codegen/TileToLinalg/KernelLowering.h"

using namespace mlir;

namespace tilec {

struct KernelLowering::TileBlock {
  LoweredView view;
  OpFoldResult offset;
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> valid, strides; // One per axis of the tile.
  Type element;
  /// Null if it always holds.
  Value predicate;
  /// Whether all lanes are valid and the predicate holds; null if always.
  Value full;
  /// Some lanes are invalid whatever happens.
  bool neverFull = false;

  /// The type of the memory of the first `sizes` positions.
  MemRefType memRefType(ArrayRef<OpFoldResult> sizes) const {
    SmallVector<int64_t> extents, steps;
    for (OpFoldResult size : sizes)
      extents.push_back(knownOrDynamic(size));
    for (OpFoldResult stride : strides)
      steps.push_back(knownOrDynamic(stride));
    auto layout = StridedLayoutAttr::get(element.getContext(),
                                         ShapedType::kDynamic, steps);
    return MemRefType::get(extents, element, layout);
  }
  bool isFull() const { return !full && !neverFull; }
  /// The axis whose stride is known to be 1, or -1.
  int64_t unitAxis() const {
    for (int64_t axis = int64_t(strides.size()) - 1; axis >= 0; --axis)
      if (isConstantIntValue(strides[axis], 1))
        return axis;
    return -1;
  }
};

KernelLowering::TileBlock
KernelLowering::blockOf(Value viewValue, ValueRange indices, ValueRange valid,
                        Value predicate, ArrayRef<int64_t> dims,
                        ArrayRef<int64_t> shape) {
  TileBlock block;
  block.view = views.at(viewValue);
  block.element = cast<tile::ViewType>(viewValue.getType()).getElementType();
  block.shape.assign(shape.begin(), shape.end());
  block.offset = block.view.offset;
  for (auto [d, position] : llvm::enumerate(indices))
    block.offset = add(block.offset, multiply(getAsOpFoldResult(position),
                                              block.view.strides[d]));
  for (int64_t d : dims)
    block.strides.push_back(block.view.strides[d]);
  block.predicate = both(block.view.predicate, predicate);
  block.full = block.predicate;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    OpFoldResult count = b.getIndexAttr(extent);
    if (!valid.empty())
      count = getAsOpFoldResult(valid[axis]);
    block.valid.push_back(count);
    std::optional<int64_t> known = getConstantIntValue(count);
    if (known && *known != extent)
      block.neverFull = true;
    if (!known) {
      Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          value(count), index(extent));
      block.full = both(block.full, holds);
    }
  }
  return block;
}

/// The memory of the block's first `sizes` positions.
Value KernelLowering::blockMemRef(const TileBlock &block,
                                  ArrayRef<OpFoldResult> sizes) {
  MemRefType type = block.memRefType(sizes);
  SmallVector<OpFoldResult> foldedSizes, foldedStrides;
  for (OpFoldResult size : sizes)
    foldedSizes.push_back(foldIndex(b, size));
  for (OpFoldResult stride : block.strides)
    foldedStrides.push_back(foldIndex(b, stride));
  // A constant offset is a value too, so that all such types agree.
  return memref::ReinterpretCastOp::create(b, loc, type, block.view.base,
                                           OpFoldResult(value(block.offset)),
                                           foldedSizes, foldedStrides);
}

/// A buffer for the tile, contiguous along the axis that the block is
/// contiguous along, so that loops over both have one good order.
Value KernelLowering::allocateLike(const TileBlock &block) {
  int64_t rank = block.shape.size(), unit = block.unitAxis();
  SmallVector<int64_t> order, allocated, strides(rank, 1);
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != unit)
      order.push_back(axis);
  if (unit >= 0)
    order.push_back(unit);
  int64_t stride = 1;
  for (int64_t axis : llvm::reverse(order)) {
    strides[axis] = stride;
    stride *= block.shape[axis];
  }
  for (int64_t axis : order)
    allocated.push_back(block.shape[axis]);
  Value buffer = memref::AllocOp::create(
      b, loc, MemRefType::get(allocated, block.element));
  if (unit < 0 || unit == rank - 1)
    return buffer;
  auto type = MemRefType::get(
      block.shape, block.element,
      StridedLayoutAttr::get(b.getContext(), /*offset=*/0, strides));
  return memref::ReinterpretCastOp::create(b, loc, type, buffer, /*offset=*/0,
                                           block.shape, strides);
}

/// Copies the valid part of the block to or from a buffer of the tile's shape.
void KernelLowering::copyValid(const TileBlock &block, Value buffer,
                               bool toBuffer) {
  auto copy = [&] {
    Value outside = blockMemRef(block, block.valid);
    Value inside = buffer;
    if (block.neverFull || block.full) {
      SmallVector<OpFoldResult> zeros(block.shape.size(), b.getIndexAttr(0));
      SmallVector<OpFoldResult> ones(block.shape.size(), b.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes;
      for (OpFoldResult size : block.valid)
        sizes.push_back(foldIndex(b, size));
      inside = memref::SubViewOp::create(b, loc, buffer, zeros, sizes, ones);
    }
    AffineMap identity = b.getMultiDimIdentityMap(block.shape.size());
    generic(toBuffer ? outside : inside, toBuffer ? inside : outside,
            {identity, identity}, {}, [](ValueRange operands) {
              return SmallVector<Value>{operands.front()};
            });
  };
  if (!block.predicate)
    return copy();
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, loc, block.predicate, /*withElse=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  copy();
}

/// The block itself if it is full, else the buffer, made ready by `prepare`.
Value KernelLowering::blockOrBuffer(const TileBlock &block, Value buffer,
                                    function_ref<void()> prepare) {
  SmallVector<OpFoldResult> whole =
      getAsIndexOpFoldResult(b.getContext(), ArrayRef<int64_t>(block.shape));
  MemRefType type = block.memRefType(whole);
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, block.full,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, blockMemRef(block, whole));
  b.setInsertionPointToStart(branch.elseBlock());
  prepare();
  Value cast = memref::CastOp::create(b, loc, type, buffer);
  scf::YieldOp::create(b, loc, cast);
  return branch.getResult(0);
}

void KernelLowering::lower(tile::LoadOp op) {
  RankedTensorType type = cast<RankedTensorType>(op.getType());
  TileBlock block = blockOf(op.getView(), op.getIndices(), op.getValid(),
                            op.getPredicate(), op.getDims(), type.getShape());
  SmallVector<OpFoldResult> whole =
      getAsIndexOpFoldResult(b.getContext(), ArrayRef<int64_t>(block.shape));
  bool readOnly = block.view.access == tile::Access::In;

  auto fillAndCopy = [&](Value buffer) {
    if (!block.isFull())
      linalg::FillOp::create(b, loc, padConstant(op.getPad(), block.element),
                             buffer);
    copyValid(block, buffer, /*toBuffer=*/true);
  };
  auto toTensor = [&](Value memref, bool writable) {
    b.replaceAllUsesWith(op.getResult(), bufferization::ToTensorOp::create(
                                             b, loc, type, memref,
                                             /*restrict=*/true, writable));
  };

  if (readOnly && block.isFull())
    return toTensor(blockMemRef(block, whole), /*writable=*/false);
  Value buffer = allocateLike(block);
  if (!readOnly || block.neverFull) {
    fillAndCopy(buffer);
    return toTensor(buffer, /*writable=*/true);
  }
  Value memory = blockOrBuffer(block, buffer, [&] { fillAndCopy(buffer); });
  toTensor(memory, /*writable=*/false);
}

bool KernelLowering::isOwn(tile::StoreOp op) const {
  // The dimensions at whose beginning a program's tile is, or that it is at one
  // position of, with the number of positions written.
  SmallVector<std::pair<Value, int64_t>> begins;
  auto add = [&](Value position, int64_t extent) {
    while (auto cast = position.getDefiningOp<arith::IndexCastOp>()) {
      Type from = cast.getIn().getType();
      if (!from.isIndex() && !from.isInteger(64))
        break;
      position = cast.getIn();
    }
    begins.emplace_back(position, extent);
  };
  for (Value position : views.at(op.getView()).fixed)
    add(position, 1);
  ArrayRef<int64_t> dims = op.getDims();
  auto shape = cast<RankedTensorType>(op.getValue().getType()).getShape();
  for (auto [d, position] : llvm::enumerate(op.getIndices())) {
    const auto *axis = llvm::find(dims, int64_t(d));
    add(position, axis == dims.end() ? 1 : shape[axis - dims.begin()]);
  }
  return llvm::all_of(programAxes, [&](const ProgramAxis &axis) {
    return llvm::any_of(begins, [&](const auto &begin) {
      return begin.first == axis.position && begin.second <= axis.step;
    });
  });
}

void KernelLowering::lower(tile::StoreOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  TileBlock block = blockOf(op.getView(), op.getIndices(), op.getValid(),
                            op.getPredicate(), op.getDims(), type.getShape());
  SmallVector<OpFoldResult> whole =
      getAsIndexOpFoldResult(b.getContext(), ArrayRef<int64_t>(block.shape));
  int64_t rank = type.getRank();

  // Computing in place along a large stride is slower than copying once.
  bool direct = block.view.access == tile::Access::Out && isOwn(op) &&
                !block.neverFull && (rank == 0 || block.unitAxis() == rank - 1);
  auto materialize = [&](Value tensor, Value memref, bool restrict) {
    auto made = bufferization::MaterializeInDestinationOp::create(
        b, loc, tensor, memref);
    made.setRestrict(restrict);
    made.setWritable(true);
  };

  if (!direct) {
    OpBuilder::InsertionGuard guard(b);
    if (block.predicate) {
      auto branch =
          scf::IfOp::create(b, loc, block.predicate, /*withElse=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    Value tensor = op.getValue();
    if (!block.isFull() && rank > 0) {
      SmallVector<OpFoldResult> zeros(rank, b.getIndexAttr(0));
      SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
      tensor = tensor::ExtractSliceOp::create(b, loc, tensor, zeros,
                                              block.valid, ones);
    }
    Value memory = blockMemRef(block, block.valid);
    return materialize(tensor, memory, /*restrict=*/false);
  }
  if (block.isFull())
    return materialize(op.getValue(), blockMemRef(block, whole),
                       /*restrict=*/true);

  Value buffer = allocateLike(block);
  Value destination = blockOrBuffer(block, buffer, [] {});
  materialize(op.getValue(), destination, /*restrict=*/true);
  Value cutOff =
      arith::XOrIOp::create(b, loc, block.full, constantInt(b.getI1Type(), 1));
  auto branch = scf::IfOp::create(b, loc, cutOff, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  copyValid(block, buffer, /*toBuffer=*/false);
}

void KernelLowering::lower(tile::AtomicAddOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  TileBlock block = blockOf(op.getView(), op.getIndices(), op.getValid(),
                            op.getPredicate(), op.getDims(), type.getShape());
  OpBuilder::InsertionGuard guard(b);
  if (block.predicate) {
    auto branch =
        scf::IfOp::create(b, loc, block.predicate, /*withElse=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  Value memory = blockMemRef(block, block.valid);
  loops(block.valid, [&](ValueRange position) {
    Value lane = tensor::ExtractOp::create(b, loc, op.getValue(), position);
    emitAtomicAdd(lane, memory, position);
  });
}

/// memory[position] += lane, as one step that other threads see whole.
void KernelLowering::emitAtomicAdd(Value lane, Value memory,
                                   ValueRange position) {
  Type type = lane.getType();
  if (!type.isF16() && !type.isBF16()) {
    auto kind = isa<FloatType>(type) ? arith::AtomicRMWKind::addf
                                     : arith::AtomicRMWKind::addi;
    memref::AtomicRMWOp::create(b, loc, kind, lane, memory, position);
    return;
  }
  // Narrow floats have no atomic addition, so the run time compares and
  // swaps, adding in f32.
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  for (auto [stride, at] :
       llvm::zip_equal(metadata.getConstifiedMixedStrides(), position))
    offset = add(offset, multiply(stride, OpFoldResult(at)));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(
      b, loc, metadata.getBaseBuffer());
  OpFoldResult bytes = multiply(offset, b.getIndexAttr(2));
  Value address = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                             value(add(base, bytes)));
  Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), lane);
  callRuntime(type.isF16() ? runtime::kAtomicAddF16 : runtime::kAtomicAddBF16,
              {address, wide});
}

} // namespace tilec
