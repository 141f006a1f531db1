//===- LayoutAssignment.h - A layout for every tile -------------*- C++ -*-===//
//
// The third step of convert-tile-to-tilegpu, as an analysis: which layout each
// value of a kernel gets, and which one each operand has to be in.
//
// Values differ in how much they care:
//
//   Product   the accumulator of tensor cores has one layout and no other
//   Access    a large load wants coalesced accesses, a reduction or scan has
//             exchanged values in its layout
//   Weak      a small load has a preference, and gives way
//   None      positions, constants and broadcasts can be made in any layout
//
// Forward, an elementwise op takes the layout of the operand that cares most,
// until nothing changes (a loop carries layouts around). Then backward, what is
// Weak or None takes the layout in which its last user wants it. What nobody
// wants anything of gets the layout of a coalesced access.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOTILEGPU_LAYOUTASSIGNMENT_H
#define TILEC_CODEGEN_TILETOTILEGPU_LAYOUTASSIGNMENT_H

#include "codegen/TileToTileGPU/Products.h"

namespace tilec {

enum class Care : uint8_t { None, Weak, Access, Product };

class LayoutAssignment {
public:
  LayoutAssignment(mlir::tile::KernelOp kernel, int64_t warps,
                   const Anchors &anchors)
      : kernel(kernel), warps(warps), anchors(anchors) {}

  void run();

  /// The layout of a tile of rank 1 or more.
  const layout::LinearLayout &of(mlir::Value value) const {
    return final.find(representative(value))->second;
  }
  /// The layout in which an op takes an operand, a tile of rank 1 or more,
  /// whose results have their final layouts; nothing if any will do.
  std::optional<layout::LinearLayout> required(mlir::OpOperand &operand) const;

  /// Coalesced accesses: threads along `contiguous` first, `bytes` each.
  layout::LinearLayout coalesced(mlir::RankedTensorType type,
                                 int64_t contiguous, int64_t bytes = 16) const;

private:
  struct Wish {
    Care care = Care::None;
    std::optional<layout::LinearLayout> layout;
  };

  /// The one of the values that share a layout with `value` that stands for
  /// them: a loop's result for what the loop carries.
  static mlir::Value representative(mlir::Value value);
  const Wish &wish(mlir::Value value);
  void spread(mlir::Value value, Care care,
              const std::optional<layout::LinearLayout> &layout);
  void forward(mlir::Operation *op);
  void forwardToFixpoint();
  bool settleReductions();
  std::optional<layout::LinearLayout> wantedByUsers(mlir::Value value);
  void backward(mlir::Operation *op);
  void settle(mlir::Value value);
  void settleLoad(mlir::tile::LoadOp load);
  std::optional<layout::LinearLayout> preference(mlir::Operation *op,
                                                 mlir::Value result) const;
  std::optional<layout::LinearLayout> loadLayout(mlir::tile::LoadOp load);
  layout::LinearLayout storeLayout(mlir::tile::StoreOp store,
                                   const layout::LinearLayout &value) const;

  mlir::tile::KernelOp kernel;
  int64_t warps;
  const Anchors &anchors;
  bool changed = false;
  llvm::DenseMap<mlir::Value, Wish> wishes;
  llvm::DenseMap<mlir::Value, layout::LinearLayout> final;
};

/// The layout without `axes`.
layout::LinearLayout sliceAxes(const layout::LinearLayout &layout,
                               llvm::ArrayRef<int64_t> axes);

/// The layout of a tile.broadcast's operand for a result in `layout`.
layout::LinearLayout operandOfBroadcast(const layout::LinearLayout &layout,
                                        llvm::ArrayRef<int64_t> dims);

} // namespace tilec

#endif // TILEC_CODEGEN_TILETOTILEGPU_LAYOUTASSIGNMENT_H
