//===- AxisClasses.h - Which axes of tiles are the same --------*- C++ -*-===//
//
// In `c = a + b` the axes of a, b and c are the same in pairs: they have one
// extent and lane x of one belongs to lane x of the others. This divides the
// axes of all tiles in a kernel into classes of such axes:
//
//     %r = tile.reduce sum %x axes [1] : tensor<64x40xf32> -> tensor<64xf32>
//     %b = tile.broadcast %r dims [0] : tensor<64xf32> -> tensor<64x40xf32>
//     %y = arith.divf %x, %b : tensor<64x40xf32>
//
// has two: axis 0 of %x, %r, %b and %y, and axis 1 of %x, %b and %y. A
// transformation that changes an extent changes it for a class.
//
// Constants, splats and positions that several ops share would tie axes that
// have nothing to do with each other; separateSources gives each use its own.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILE_TRANSFORMS_AXISCLASSES_H
#define TILEC_DIALECTS_TILE_TRANSFORMS_AXISCLASSES_H

#include "dialects/Tile/IR/Tile.h"

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tile {

/// Gives every use of an op without tensor operands that computes from scalars
/// alone (arith.constant, tensor.splat, tensor.empty, tile.iota) an op of its
/// own. CSE undoes it.
void separateSources(KernelOp kernel);

class AxisClasses {
public:
  /// The classes of `kernel`. Fails, after an error that names `passName`, at
  /// an op with tensors that this does not know, and at dynamic extents.
  static FailureOr<AxisClasses> compute(KernelOp kernel, StringRef passName);

  /// The number of the class of an axis of a tile in the kernel, from 0 to
  /// size().
  unsigned classOf(Value tile, int64_t axis) const {
    return classes[first.lookup(tile) + axis];
  }
  unsigned size() const { return classes.getNumClasses(); }
  /// Whether a tile was in the kernel when the classes were made.
  bool contains(Value tile) const { return first.contains(tile); }

  /// Every tile in the kernel, in program order.
  auto tiles() const { return llvm::make_first_range(first); }

private:
  LogicalResult add(Operation *op, StringRef passName);
  void tie(Value a, int64_t axisOfA, Value b, int64_t axisOfB);
  void tieAll(Value a, Value b);
  void tieDot(DotOp op);
  void tieLoop(scf::ForOp op);
  void tieBranch(scf::IfOp op);
  /// Axes of `whole` other than `dropped` with those of `rest`, in order.
  void tieRest(Value whole, ArrayRef<int64_t> dropped, Value rest);

  /// The number of axis 0 of each tile; the others follow.
  llvm::MapVector<Value, unsigned> first;
  llvm::IntEqClasses classes;
};

} // namespace mlir::tile

#endif // TILEC_DIALECTS_TILE_TRANSFORMS_AXISCLASSES_H
