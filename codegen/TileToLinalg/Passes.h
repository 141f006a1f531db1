//===- Passes.h - From tile to linalg ---------------------------*- C++ -*-===//
//
// Declares the pass that takes kernels out of the tile dialect (Passes.td says
// what it makes of them), and the names that it and the rest of the `cpu`
// target share.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOLINALG_PASSES_H
#define TILEC_CODEGEN_TILETOLINALG_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace tilec {

/// Kernel argument: the dimension (an integer) whose stride is 1.
inline constexpr llvm::StringLiteral kUnitStrideArgAttr = "tile.unit_stride";
/// Function: a kernel, or what counts its programs. An array with the rank of
/// each of the kernel's arguments, -1 for a scalar.
inline constexpr llvm::StringLiteral kKernelFuncAttr = "tilec.kernel";
/// Function: an array of the numbers of the arguments that other arguments may
/// be the same as.
inline constexpr llvm::StringLiteral kAliasingAttr = "tilec.aliasing";
/// linalg.generic: multiplies and sums, in the plain form.
inline constexpr llvm::StringLiteral kContractionAttr = "tilec.contraction";
/// linalg.generic: its body reads memory that the kernel writes, or its loops
/// must run in order, so it stays as it is and where it is.
inline constexpr llvm::StringLiteral kPinnedAttr = "tilec.pinned";
/// Module: the table of the places that report.
inline constexpr llvm::StringLiteral kSitesAttr = "tilec.sites";

/// The functions of the run time that a lowered kernel may call.
namespace runtime {
/// (ctx: ptr, site: i64, index: i64, extent: i64)
inline constexpr llvm::StringLiteral kReportIndex = "tilec_cpu_report_index";
/// (ctx: ptr, site: i64)
inline constexpr llvm::StringLiteral kReportAssert = "tilec_cpu_report_assert";
/// (ctx: ptr, site: i64, value number: i64, elements in row-major order: i64)
inline constexpr llvm::StringLiteral kPrint = "tilec_cpu_print";
/// (element's address: i64, value to add: f32)
inline constexpr llvm::StringLiteral kAtomicAddF16 = "tilec_cpu_atomic_add_f16";
inline constexpr llvm::StringLiteral kAtomicAddBF16 =
    "tilec_cpu_atomic_add_bf16";
} // namespace runtime

#define GEN_PASS_DECL
#include "codegen/TileToLinalg/Passes.h.inc"

/// Makes `convert-tile-to-linalg` known to pass pipelines given as text.
void registerTileToLinalgPasses();

} // namespace tilec

#endif // TILEC_CODEGEN_TILETOLINALG_PASSES_H
