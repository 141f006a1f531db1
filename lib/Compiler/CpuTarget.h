//===- CpuTarget.h - From a typed kernel to a run on the host ---*- C++ -*-===//
//
// Specializes a kernel for a launch (the extents of its whole axes and which
// dimension of each tensor is contiguous), compiles it for the host and runs
// it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_CPUTARGET_H
#define TILEC_COMPILER_CPUTARGET_H

#include "codegen/CPU/JIT.h"
#include "lib/Compiler/DiagnosticBridge.h"
#include "lib/Compiler/Pipelines.h"
#include "lib/Compiler/Program.h"
#include "lib/Launch/Launch.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace tilec {

struct CompileOptions {
  /// Whose schedules and defaults are taken.
  std::string target = "cpu";
  /// Entries that override the schedule in the source: "m" -> 64.
  llvm::StringMap<int64_t> schedule;
  PipelineOptions pipeline;
  /// Report indices out of range.
  bool checked = true;
  /// For a GPU target: the code is run by the emulator, as PTX that knows the
  /// lines of the source.
  bool emulated = false;
  /// Where IR that was asked for goes.
  llvm::raw_ostream *dump = nullptr;
};

/// What a kernel is specialized on.
struct Specialization {
  llvm::StringMap<int64_t> extents; // Of dimensions that are whole axes.
  /// For each parameter the dimension whose stride is 1, or -1.
  llvm::SmallVector<int> unitStride;

  static Specialization of(const typed::Kernel &kernel,
                           const BoundLaunch &launch);
};

/// Gives the tiles of `kernel` their sizes, those of `options.schedule` before
/// all others. Everything that visits tiles relies on them. False after
/// reporting to `program.diags`.
bool settleSchedule(Program &program, typed::Kernel &kernel,
                    const Specialization &specialization,
                    const CompileOptions &options);

/// The kernel in the tile dialect, before any pass. Settles the schedule of
/// `kernel` on the way. Null after reporting to `program.diags`.
mlir::OwningOpRef<mlir::ModuleOp>
buildTileModule(Program &program, typed::Kernel &kernel,
                const Specialization &specialization,
                const CompileOptions &options, mlir::MLIRContext &context);

/// Makes a context with all of tilec's dialects.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// The LLVM IR of a kernel for the host, not optimized, from the module that
/// runPipeline leaves. Nothing after reporting to `program.diags`.
std::optional<std::string> emitLLVM(Program &program,
                                    const typed::Kernel &kernel,
                                    mlir::ModuleOp module,
                                    const CompileOptions &options);

/// A kernel compiled for the host.
class CpuExecutable {
public:
  /// Null after reporting to `program.diags`.
  static std::unique_ptr<CpuExecutable>
  create(Program &program, typed::Kernel &kernel,
         const Specialization &specialization, const CompileOptions &options);

  /// Runs it. False after reporting errors (an index out of range, a failed
  /// assert) to `program.diags`. The launch must fit the specialization.
  bool run(Program &program, const typed::Kernel &kernel,
           const BoundLaunch &launch, unsigned threads = 0) const;

  int64_t numPrograms(const typed::Kernel &kernel,
                      const BoundLaunch &launch) const;
  /// Milliseconds from the typed kernel to machine code.
  double compileMilliseconds() const { return milliseconds; }

private:
  std::unique_ptr<cpu::CompiledKernel> compiled;
  double milliseconds = 0;
};

} // namespace tilec

#endif // TILEC_COMPILER_CPUTARGET_H
