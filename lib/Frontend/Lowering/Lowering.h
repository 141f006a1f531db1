//===- Lowering.h - From a typed kernel to the tile dialect -----*- C++ -*-===//
//
// The last step of the front end: an elaborated kernel (TypedAST.h) becomes a
// module with one `tile.kernel` (dialects/Tile/IR/*.td). Nothing is decided
// here. The axes, types and tile sizes are all in the tree; what is added is
// what the language promises without being asked:
//
//   * Tails. Each tile axis has one `tile.valid`, in the loop or grid that
//     defines it. Blocks are loaded and stored up to it, and every op that
//     combines lanes along the axis has a `tile.select_valid` in front.
//   * Bounds. A subscript that is not in range by construction is checked by
//     `tile.in_bounds` and its access guarded; gathers are masked.
//   * Reads inside `where` are made only where the condition allows.
//
//     kernel scale(X: f32[N], s: f32, Y: out f32[N]) {
//       grid n in tile(N, 128)
//       Y[n] = X[n] * s
//     }
//
// becomes
//
//     tile.kernel @scale(%X: !tile.view<?xf32> {...}, %s: f32 {...},
//                        %Y: !tile.view<?xf32> {...}) {
//       %N = tile.dim %X, 0 : !tile.view<?xf32>
//       scf.forall (%n) = (0) to (%N) step (128) {
//         %v = tile.valid %n to %N size 128
//         %0 = tile.load %X[%n] dims [0] valid [%v] pad zero : ...
//         %1 = tensor.splat %s : tensor<128xf32>
//         %2 = arith.mulf %0, %1 : tensor<128xf32>
//         tile.store %2, %Y[%n] dims [0] valid [%v] : ...
//       }
//       tile.return
//     }
//
// A kernel without a grid is lowered to the same ops on whole tensors.
//
// Locations: every op has the file, line and column of its source; the op that
// computes the value of a variable, and the block argument that carries it
// through a loop, have them in a NameLoc with the variable's name.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_LOWERING_LOWERING_H
#define TILEC_FRONTEND_LOWERING_LOWERING_H

#include "lib/Frontend/TypedAST.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace tilec {

struct LoweringOptions {
  /// Known extents by dimension name. Those of dimensions that occur as whole
  /// axes become part of the types, as targets with static tiles need; the
  /// others stay run-time values unless `specializeAll` is set.
  llvm::StringMap<int64_t> dims;
  bool specializeAll = false;

  /// Per parameter (by index), the dimension with stride 1, or -1 if it is not
  /// known. May be shorter than the list of parameters. It becomes the argument
  /// attribute `tile.unit_stride`.
  llvm::SmallVector<int64_t> unitStride;

  /// Also report integer divisions by zero, each by a `tile.assert`. (The other
  /// checks are always in the IR: whether they report is up to the code
  /// generator.)
  bool reportDivisionByZero = false;
};

/// The name of the argument attribute made from LoweringOptions::unitStride.
inline constexpr llvm::StringLiteral unitStrideAttrName = "tile.unit_stride";

/// Lowers `kernel`, whose schedule is settled: every tile axis has a size and
/// every attention a kvTile. The result is verified.
///
/// It is null only after an internal error, which is reported through the
/// context's diagnostic handler: programs are judged by semantic analysis.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernel(const typed::Kernel &kernel,
                                              const LoweringOptions &options,
                                              mlir::MLIRContext &context,
                                              const SourceManager &sources);

} // namespace tilec

#endif // TILEC_FRONTEND_LOWERING_LOWERING_H
