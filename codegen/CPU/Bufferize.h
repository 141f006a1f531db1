//===- Bufferize.h - Parts of bufferization (internal) ----------*- C++ -*-===//
//
// What Bufferize.cpp and CarryInPlace.cpp share.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_BUFFERIZE_H
#define TILEC_CODEGEN_CPU_BUFFERIZE_H

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace tilec {

/// Writes `from` over `to`, both tensors of one static shape or both memrefs,
/// by a linalg.generic. Of tensors, the result has the elements of `from` and,
/// if bufferization finds that it may, the buffer of `to`; of memrefs, there is
/// no result.
mlir::Value copyInto(mlir::OpBuilder &b, mlir::Location loc, mlir::Value from,
                     mlir::Value to);

/// A copy of a tensor of static shape in a buffer of its own.
mlir::Value copyOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor);

/// Adds copies to `module` until every tensor that an scf.for carries keeps one
/// buffer, and returns an analysis of the result, ready to be carried out. Null
/// if the analysis fails, with an error emitted.
std::unique_ptr<mlir::bufferization::OneShotAnalysisState>
carryInPlace(mlir::ModuleOp module,
             const mlir::bufferization::OneShotBufferizationOptions &options);

} // namespace tilec

#endif // TILEC_CODEGEN_CPU_BUFFERIZE_H
