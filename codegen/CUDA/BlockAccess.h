//===- BlockAccess.h - A block of a tensor, thread by thread ----*- C++ -*-===//
//
// How the threads of a block reach their elements of a tile in global memory:
// what tile.load, tile.store and tile.atomic_add share.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_BLOCKACCESS_H
#define TILEC_CODEGEN_CUDA_BLOCKACCESS_H

#include "codegen/CUDA/KernelEmitter.h"

namespace tilec::cuda {

/// How each thread accesses its elements of a block.
struct KernelEmitter::BlockAccess {
  BlockAccess(View view, layout::LinearLayout layout)
      : view(std::move(view)), layout(std::move(layout)) {}

  View view;
  layout::LinearLayout layout;
  /// Elements of one access, and the axis they run along, if there is one of
  /// stride 1.
  unsigned vector = 1;
  unsigned vectorAxis = 0;
  bool alongUnit = false;
  /// A pointer variable, at the thread's coordinates.
  std::string pointer;
  /// Per axis: the stride, and whether the thread's part is in the pointer.
  llvm::SmallVector<Expr> strides;
  llvm::SmallVector<bool> isSeparable;
  llvm::SmallVector<mlir::Value> valid;
  /// An axis that is known to be valid all along, where this is used.
  std::optional<unsigned> wholeAxis;
  /// Whether the valid extent along the vectors may end within one.
  bool hasTail = false;
  /// Nothing is accessed unless this holds.
  std::optional<Expr> predicate;
};

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_BLOCKACCESS_H
