//===- TileGPU.h - The tilegpu dialect --------------------------*- C++ -*-===//
//
// The one header to include for the tilegpu dialect. TileGPUBase.td describes
// the dialect, dialects/TileGPU/IR/*.td each op.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILEGPU_IR_TILEGPU_H
#define TILEC_DIALECTS_TILEGPU_IR_TILEGPU_H

#include "dialects/Tile/IR/Tile.h"
#include "lib/Layout/LinearLayout.h"
#include "mlir/Dialect/SCF/IR/DeviceMappingInterface.h"

#include "dialects/TileGPU/IR/TileGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/TileGPU/IR/TileGPUAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/TileGPU/IR/TileGPUTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/TileGPU/IR/TileGPUOps.h.inc"

namespace mlir::tilegpu {

/// Makes the dialect loadable from `registry`.
void registerTileGPUDialect(DialectRegistry &registry);

/// The layout of a fragment; null for other types, and for tensors of rank 0,
/// which have none.
LayoutAttr getLayout(Type type);

/// The type of a fragment of `type`'s shape and elements in `layout`.
RankedTensorType withLayout(RankedTensorType type,
                            const tilec::layout::LinearLayout &layout);

/// The layout of a fragment as lib/Layout computes with it. `type` has one.
tilec::layout::LinearLayout getLinearLayout(RankedTensorType type);

/// What the accumulator of a product is as matrices: their number, rows and
/// columns. Of its axes the first `batchAxes` number the matrices, the next
/// `rowAxes` make the rows and the others the columns.
std::array<int64_t, 3> getMatrixShape(RankedTensorType acc, int64_t batchAxes,
                                      int64_t rowAxes);

/// Rows and columns of one of the `batches` matrices that an operand of a
/// product holds, a buffer, or a fragment whose first axes are `rows` rows of
/// each.
std::array<int64_t, 2> getStoredShape(Type type, int64_t batches, int64_t rows);

/// Bytes of an element in memory (a `tile.view` has no i1).
int64_t getElementBytes(Type elementType);

} // namespace mlir::tilegpu

#endif // TILEC_DIALECTS_TILEGPU_IR_TILEGPU_H
