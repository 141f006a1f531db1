//===- TileMemoryOps.cpp - Access to views ---------------------*- C++ -*-===//
//
// Verifiers and memory effects of the ops that touch memory. An effect names
// the view operand, so that whoever asks about one view (and knows which views
// may overlap) is not told about the others. Reading what nobody writes is no
// effect: such reads may be merged.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileVerify.h"

using namespace mlir;
using namespace mlir::tile;

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// Whether a view is part of an `in` argument, which nothing overlaps that is
/// written.
static bool isNeverWritten(Value view) {
  while (auto slice = view.getDefiningOp<SliceOp>())
    view = slice.getView();
  auto argument = dyn_cast<BlockArgument>(view);
  if (!argument)
    return false;
  auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
  return kernel && kernel.getArgAccess(argument.getArgNumber()) == Access::In;
}

static void addRead(Effects &effects, OpOperand &view) {
  if (isNeverWritten(view.get()))
    return;
  effects.emplace_back(MemoryEffects::Read::get(), &view,
                       SideEffects::DefaultResource::get());
}

static void addWrite(Effects &effects, OpOperand &view) {
  effects.emplace_back(MemoryEffects::Write::get(), &view,
                       SideEffects::DefaultResource::get());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  return verifyBlockAccess(*this, getView().getType(), getType(),
                           getIndices().size(), getDims(), getValid().size());
}

void LoadOp::getEffects(Effects &effects) {
  addRead(effects, getViewMutable());
}

LogicalResult StoreOp::verify() {
  return verifyBlockAccess(*this, getView().getType(), getValue().getType(),
                           getIndices().size(), getDims(), getValid().size());
}

void StoreOp::getEffects(Effects &effects) {
  addWrite(effects, getViewMutable());
}

LogicalResult AtomicAddOp::verify() {
  if (failed(verifyBlockAccess(*this, getView().getType(), getValue().getType(),
                               getIndices().size(), getDims(),
                               getValid().size())))
    return failure();
  return verifyAtomicElement(*this, getView().getType().getElementType());
}

void AtomicAddOp::getEffects(Effects &effects) {
  addRead(effects, getViewMutable());
  addWrite(effects, getViewMutable());
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  return verifyElementAccess(*this, getView().getType(), getType(),
                             getIndices(), getMask());
}

void GatherOp::getEffects(Effects &effects) {
  addRead(effects, getViewMutable());
}

LogicalResult ScatterAddOp::verify() {
  if (failed(verifyElementAccess(*this, getView().getType(),
                                 getValue().getType(), getIndices(),
                                 getMask())))
    return failure();
  return verifyAtomicElement(*this, getView().getType().getElementType());
}

void ScatterAddOp::getEffects(Effects &effects) {
  addRead(effects, getViewMutable());
  addWrite(effects, getViewMutable());
}
