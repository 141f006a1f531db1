//===- Pipelines.h - Which passes run, in which order -----------*- C++ -*-===//
//
// The passes on the tile dialect, as data: each step has a name that users see
// (--print-after, --stop-after, --list-passes) and a reason for its place.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_PIPELINES_H
#define TILEC_COMPILER_PIPELINES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tilec {

/// One step of a pipeline.
struct PipelineStep {
  llvm::StringLiteral name;     // "tile-split-loops"
  llvm::StringLiteral pipeline; // What it runs, in MLIR's textual form.
  llvm::StringLiteral reason;   // Why here.
};

/// The steps between the front end and a target, in order.
llvm::ArrayRef<PipelineStep> tilePipeline();

struct PipelineOptions {
  std::string printAfter; // A step's name, "all", or empty.
  std::string stopAfter;  // A step's name, or empty.
  std::string remarks;    // A regular expression over pass names, or empty.
  /// Passes behind the last step, in MLIR's textual form. For tests of passes
  /// that no target's pipeline has.
  std::string extraPasses;
};

enum class PipelineResult { Done, Stopped, Failed };

/// Runs the steps on a module. Diagnostics go to the context's handlers; IR
/// asked for by `printAfter` goes to `os`. If a pass fails for a reason that is
/// the compiler's own, a reproducer is written and named in the message.
PipelineResult runTilePipeline(mlir::ModuleOp module,
                               const PipelineOptions &options,
                               llvm::raw_ostream &os);

/// Registers all passes by name and all dialects; once per process and context.
void registerPasses();
void registerDialects(mlir::DialectRegistry &registry);

} // namespace tilec

#endif // TILEC_COMPILER_PIPELINES_H
