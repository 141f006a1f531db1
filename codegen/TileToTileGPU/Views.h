//===- Views.h - Where a view comes from ------------------------*- C++ -*-===//
//
// Facts about arguments hold for their slices too.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOTILEGPU_VIEWS_H
#define TILEC_CODEGEN_TILETOTILEGPU_VIEWS_H

#include "dialects/TileGPU/IR/TileGPU.h"

namespace tilec {

/// The argument that a view is a slice of, and for each dimension of the view
/// that of the argument.
struct ViewOrigin {
  mlir::BlockArgument argument;
  llvm::SmallVector<int64_t> dims;

  static ViewOrigin of(mlir::Value view);

  mlir::tile::KernelOp kernel() const {
    return llvm::cast<mlir::tile::KernelOp>(argument.getOwner()->getParentOp());
  }
  /// The dimension of the view along which neighbours are adjacent, or -1.
  int64_t unitDim() const;
  /// The power of two that divides the base address and every other stride, in
  /// bytes.
  int64_t alignment() const;
  llvm::StringRef name() const {
    return kernel().getArgName(argument.getArgNumber());
  }
};

} // namespace tilec

#endif // TILEC_CODEGEN_TILETOTILEGPU_VIEWS_H
