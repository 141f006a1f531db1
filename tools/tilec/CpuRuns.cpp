//===- CpuRuns.cpp - Running a kernel on the host again and again -*- C++ -*-=//
//
// See CpuRuns.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/CpuRuns.h"
#include <chrono>

using namespace tilec;
using namespace tilec::cli;

std::optional<std::vector<double>>
cli::timeOnCpu(Program &program, const typed::Kernel &kernel,
               const CpuExecutable &executable, const BoundLaunch &bound,
               RunArguments &arguments, const Options &options) {
  // What a run adds to or changes in place is set back before the next.
  std::optional<std::vector<Array>> before = std::vector<Array>();
  if (options.repeat > 1) {
    before = arguments.copyOutputs(/*onlyRead=*/true);
    if (!before)
      return std::nullopt;
  }
  std::vector<double> times;
  for (unsigned i = 0; i < options.repeat; ++i) {
    if (i > 0)
      arguments.restoreOutputs(*before);
    auto start = std::chrono::steady_clock::now();
    if (!executable.run(program, kernel, bound, options.threads))
      return std::nullopt;
    times.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - start)
                        .count());
  }
  return times;
}
