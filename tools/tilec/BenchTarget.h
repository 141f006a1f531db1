//===- BenchTarget.h - Where kernels are measured ---------------*- C++ -*-===//
//
// What `tilec bench` does on the host and on a GPU in its own way: where the
// arrays are, what is compiled, and how a launch is timed.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_BENCHTARGET_H
#define TILEC_TOOLS_TILEC_BENCHTARGET_H

#include "lib/Compiler/CpuTarget.h"
#include "lib/Runtime/GPU/Launcher.h"
#include "tools/tilec/BenchReport.h"
#include "tools/tilec/CommandSupport.h"
#include "tools/tilec/RunArguments.h"

namespace tilec::cli {

/// A schedule to measure. It has messages and a typed tree of its own, as
/// several are compiled at the same time.
struct BenchCase {
  Options options; // With the entries of this schedule.
  std::unique_ptr<Program> program;
  Subject subject;
  BenchFigures figures;

  // What compile() gives, one of the two.
  std::unique_ptr<CpuExecutable> onCpu;
  std::unique_ptr<gpu::Launcher> onGpu;
};

/// Functions return false after reporting errors to the program of their case.
class BenchTarget {
public:
  virtual ~BenchTarget() = default;

  /// Makes what a kernel is run on.
  virtual bool makeArguments(Program &program, const typed::Kernel &kernel,
                             RunArguments &arguments) = 0;
  /// Compiles a case, whose compile time it fills in. May be called by several
  /// threads with different cases.
  virtual bool compile(BenchCase &item, const BoundLaunch &bound) = 0;
  /// Measures the cases, which have been compiled, and fills in their figures
  /// and what else the report tells of the target.
  virtual bool measure(llvm::ArrayRef<BenchCase *> cases,
                       const BoundLaunch &bound, RunArguments &arguments,
                       BenchReport &report) = 0;
};

std::unique_ptr<BenchTarget> makeCpuBench();
/// Null after reporting why there is no GPU.
std::unique_ptr<BenchTarget> makeGpuBench(Program &program,
                                          const typed::Kernel &kernel);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_BENCHTARGET_H
