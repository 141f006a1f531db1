//===- Gather.cpp - Reads and adds at computed positions --------*- C++ -*-===//
//
// An index may be anything, so an access is made in two steps: is the position
// inside the view, and if not, which position is accessed instead. That is
// position 0 of every dimension. Its value is not used, but it is readable even
// if the view is empty, for the launcher passes a pointer to something. So a
// load needs no branch, which keeps loops with gathers straight.
//
//===----------------------------------------------------------------------===//

#include "codegen/TileToLinalg/IndexMath.h"
#include "codegen/TileToLinalg/KernelLowering.h"

using namespace mlir;

namespace tilec {

Value KernelLowering::viewMemRef(const LoweredView &view) {
  SmallVector<int64_t> shape, strides;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    shape.push_back(knownOrDynamic(size));
    strides.push_back(knownOrDynamic(stride));
  }
  Type element = cast<MemRefType>(view.base.getType()).getElementType();
  auto layout =
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  Value offset = value(view.offset);
  // The offset of a slice that a predicate empties may be wild.
  if (view.predicate)
    offset = arith::SelectOp::create(b, loc, view.predicate, offset, index(0));
  return memref::ReinterpretCastOp::create(
      b, loc, MemRefType::get(shape, element, layout), view.base,
      OpFoldResult(offset), view.sizes, view.strides);
}

Value KernelLowering::checkIndices(const LoweredView &view, ValueRange indices,
                                   Value mask, int64_t site,
                                   SmallVectorImpl<Value> &position) {
  Value wanted = both(mask, view.predicate);
  Value allowed = wanted;
  for (auto [at, size] : llvm::zip_equal(indices, view.sizes)) {
    Value extent =
        arith::IndexCastOp::create(b, loc, b.getI64Type(), value(size));
    // Unsigned, so that a negative index is out of range too.
    Value inRange =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, extent);
    allowed = both(allowed, inRange);
    if (!checked)
      continue;
    Value violated =
        arith::XOrIOp::create(b, loc, inRange, constantInt(b.getI1Type(), 1));
    auto branch = scf::IfOp::create(b, loc, both(violated, wanted),
                                    /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    callRuntime(runtime::kReportIndex,
                {context, constantInt(b.getI64Type(), site), at, extent});
  }
  if (!allowed) // A view of rank 0, always.
    allowed = constantInt(b.getI1Type(), 1);
  Value zero = constantInt(b.getI64Type(), 0);
  for (Value at : indices)
    position.push_back(
        toIndex(arith::SelectOp::create(b, loc, allowed, at, zero)));
  return allowed;
}

/// Splits operands into the tiles, which become inputs of a generic op, and
/// the scalars, and puts lanes and scalars together again inside it.
namespace {
struct Lanes {
  SmallVector<Value> all, tiles;

  void add(Value operand) {
    all.push_back(operand);
    if (operand && isa<RankedTensorType>(operand.getType()))
      tiles.push_back(operand);
  }
  SmallVector<Value> at(ValueRange lanes) const {
    SmallVector<Value> result;
    for (Value operand : all) {
      bool isTile = operand && isa<RankedTensorType>(operand.getType());
      result.push_back(isTile ? lanes.front() : operand);
      if (isTile)
        lanes = lanes.drop_front();
    }
    return result;
  }
};
} // namespace

void KernelLowering::lower(tile::GatherOp op) {
  LoweredView view = views.at(op.getView());
  int64_t site = checked && view.rank() ? sites.add(op, "out_of_range", "") : 0;
  auto type = dyn_cast<RankedTensorType>(op.getType());
  Type element = type ? type.getElementType() : op.getType();
  Value memory = viewMemRef(view);
  Lanes lanes;
  for (Value operand : op.getIndices())
    lanes.add(operand);
  lanes.add(op.getMask());

  bool readOnly = view.access == tile::Access::In;
  Value contents;
  if (readOnly && type) {
    auto whole = RankedTensorType::get(
        cast<MemRefType>(memory.getType()).getShape(), element);
    contents = bufferization::ToTensorOp::create(b, loc, whole, memory,
                                                 /*restrict=*/true,
                                                 /*writable=*/false);
  }
  auto read = [&](ValueRange operands) {
    SmallVector<Value> here = lanes.at(operands), position;
    Value mask = here.pop_back_val();
    Value allowed = checkIndices(view, here, mask, site, position);
    Value lane;
    if (contents)
      lane = tensor::ExtractOp::create(b, loc, contents, position);
    else
      lane = memref::LoadOp::create(b, loc, memory, position);
    Value zero = padConstant(tile::Pad::Zero, element);
    return SmallVector<Value>{
        arith::SelectOp::create(b, loc, allowed, lane, zero).getResult()};
  };

  if (!type) {
    b.replaceAllUsesWith(op.getResult(), read({}).front());
    return;
  }
  Value gathered = elementwise(lanes.tiles, type.getShape(), element, read);
  // Reads of what the kernel also writes, and reports, happen once, here.
  if (!readOnly || checked)
    gathered.getDefiningOp()->setAttr(kPinnedAttr, b.getUnitAttr());
  b.replaceAllUsesWith(op.getResult(), gathered);
}

void KernelLowering::lower(tile::ScatterAddOp op) {
  LoweredView view = views.at(op.getView());
  int64_t site = checked && view.rank() ? sites.add(op, "out_of_range", "") : 0;
  Value memory = viewMemRef(view);
  SmallVector<OpFoldResult> sizes;
  if (auto type = dyn_cast<RankedTensorType>(op.getValue().getType()))
    sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
  OpBuilder::InsertionGuard guard(b);
  loops(sizes, [&](ValueRange at) {
    auto lane = [&](Value operand) -> Value {
      if (!operand || !isa<RankedTensorType>(operand.getType()))
        return operand;
      return tensor::ExtractOp::create(b, loc, operand, at);
    };
    SmallVector<Value> indices, position;
    for (Value operand : op.getIndices())
      indices.push_back(lane(operand));
    Value allowed =
        checkIndices(view, indices, lane(op.getMask()), site, position);
    auto branch = scf::IfOp::create(b, loc, allowed, /*withElse=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    emitAtomicAdd(lane(op.getValue()), memory, position);
  });
}

} // namespace tilec
