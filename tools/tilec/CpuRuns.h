//===- CpuRuns.h - Running a kernel on the host again and again -*- C++ -*-===//
//
// What `tilec run` and `tilec bench` have in common on the target cpu.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_CPURUNS_H
#define TILEC_TOOLS_TILEC_CPURUNS_H

#include "lib/Compiler/CpuTarget.h"
#include "tools/tilec/RunArguments.h"

namespace tilec::cli {

/// Runs `options.repeat` times, each from the same arguments, and gives the
/// milliseconds of each run. Nothing after reporting errors.
std::optional<std::vector<double>>
timeOnCpu(Program &program, const typed::Kernel &kernel,
          const CpuExecutable &executable, const BoundLaunch &bound,
          RunArguments &arguments, const Options &options);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_CPURUNS_H
