//===- Scratch.cpp - Shared memory of exchanges -----------------*- C++ -*-===//
//
// See Scratch.h.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/Transforms/Scratch.h"

#include "lib/Layout/Conversion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tilegpu;
using tilec::layout::Basis;
using tilec::layout::ConversionPlan;
using tilec::layout::InDim;
using tilec::layout::LinearLayout;

/// How many warps have different parts of one line along `axes`.
static int64_t warpsAlong(const LinearLayout &layout, ArrayRef<int64_t> axes) {
  int64_t warps = 1;
  for (const Basis &basis : layout.bases(InDim::Warp))
    if (llvm::any_of(axes, [&](int64_t axis) { return basis[axis] != 0; }))
      warps *= 2;
  return warps;
}

/// One value (of `bytes`) for each line along `axes` and each of its warps.
static int64_t slotBytes(RankedTensorType type, ArrayRef<int64_t> axes,
                         int64_t bytes) {
  int64_t warps = warpsAlong(getLinearLayout(type), axes);
  if (warps == 1)
    return 0;
  int64_t lines = type.getNumElements();
  for (int64_t axis : axes)
    lines /= type.getDimSize(axis);
  return llvm::alignTo(lines * warps * bytes, 16);
}

int64_t mlir::tilegpu::getScratchBytes(Operation *op) {
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    RankedTensorType type = reduce.getValue().getType();
    return slotBytes(type, reduce.getAxes(),
                     getElementBytes(type.getElementType()));
  }
  if (auto reduce = dyn_cast<tile::ArgReduceOp>(op)) {
    // A value and where it was, each in a slot of 8 bytes.
    return slotBytes(reduce.getValue().getType(),
                     static_cast<int64_t>(reduce.getAxis()), 16);
  }
  if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    RankedTensorType type = scan.getType();
    return slotBytes(type, static_cast<int64_t>(scan.getAxis()),
                     getElementBytes(type.getElementType()));
  }
  if (auto print = dyn_cast<tile::PrintOp>(op)) {
    // One thread finds the place of each tile's text for all others.
    return 8 * llvm::count_if(print.getValues(), [](Value value) {
             return static_cast<bool>(getLayout(value.getType()));
           });
  }
  if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    RankedTensorType from = convert.getValue().getType();
    RankedTensorType to = convert.getType();
    ConversionPlan plan = tilec::layout::planConversion(getLinearLayout(from),
                                                        getLinearLayout(to));
    if (plan.kind != ConversionPlan::Kind::Shared)
      return 0;
    // An eighth more lets rows be padded.
    int64_t bytes =
        from.getNumElements() * getElementBytes(from.getElementType());
    return bytes + bytes / 8 + 16;
  }
  return 0;
}
