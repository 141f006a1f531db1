//===- Pipelines.h - Which passes run, in which order -----------*- C++ -*-===//
//
// The passes between the front end and a code generator, as data: each step has
// a name that users see
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
  llvm::StringLiteral name; // "tile-split-loops"
  /// What it runs, in MLIR's textual form; @capability@ and @shared@ stand for
  /// the target's limits, @tile@ for the elements of the longest tile.
  llvm::StringLiteral pipeline;
  llvm::StringLiteral reason; // Why here.
  /// Whether it rejects programs that the front end accepts.
  bool mayReject = false;
};

/// The steps between the front end and the code generator of a target ("cpu",
/// "sm_90a"), in order. Those of GPUs end in the tilegpu dialect.
llvm::ArrayRef<PipelineStep> pipelineFor(llvm::StringRef target);

/// What a GPU target can do, or null for another target.
struct GpuLimits {
  llvm::StringLiteral target;
  int capability;      // Compute capability times ten.
  int64_t sharedBytes; // Of one thread block.
};
const GpuLimits *gpuLimitsOf(llvm::StringRef target);
/// Of all GPU targets, the oldest first.
llvm::ArrayRef<GpuLimits> allGpuLimits();

struct PipelineOptions {
  std::string printAfter; // A step's name, "all", or empty.
  std::string stopAfter;  // A step's name, or empty.
  std::string remarks;    // A regular expression over pass names, or empty.
  /// Passes behind the last step, in MLIR's textual form. For tests of passes
  /// that no target's pipeline has.
  std::string extraPasses;
};

enum class PipelineResult { Done, Stopped, Failed };

/// Runs the steps of a target on a module. Diagnostics go to the context's
/// handlers; IR asked for by `printAfter` goes to `os`. If a pass fails for a
/// reason that is the compiler's own, a reproducer is written and named in the
/// message.
PipelineResult runPipeline(mlir::ModuleOp module, llvm::StringRef target,
                           const PipelineOptions &options,
                           llvm::raw_ostream &os);

/// Registers all passes by name and all dialects; once per process and context.
void registerPasses();
void registerDialects(mlir::DialectRegistry &registry);

} // namespace tilec

#endif // TILEC_COMPILER_PIPELINES_H
