//===- Products.h - Operands of products go where they are read -*- C++ -*-===//
//
// The second step of convert-tile-to-tilegpu: tile.dot becomes tilegpu.mma or
// tilegpu.fma_dot, and its operands are placed in shared memory or registers.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOTILEGPU_PRODUCTS_H
#define TILEC_CODEGEN_TILETOTILEGPU_PRODUCTS_H

#include "dialects/TileGPU/IR/TileGPU.h"

#include "llvm/ADT/MapVector.h"

namespace tilec {

/// Layouts that ops insist on: of a result, and of operands that are not the
/// result's.
struct Anchors {
  llvm::DenseMap<mlir::Value, layout::LinearLayout> results;
  llvm::DenseMap<mlir::OpOperand *, layout::LinearLayout> operands;
};

/// Makes loops over contracted axes of products whose operands are too large to
/// be in shared memory as a whole.
void loopContractedAxes(mlir::tile::KernelOp kernel);

/// Replaces all tile.dot of `kernel`. `arch` is the compute capability times
/// ten.
mlir::LogicalResult placeProducts(mlir::tile::KernelOp kernel, int64_t warps,
                                  int64_t arch, Anchors &anchors);

} // namespace tilec

#endif // TILEC_CODEGEN_TILETOTILEGPU_PRODUCTS_H
