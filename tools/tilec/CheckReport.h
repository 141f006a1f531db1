//===- CheckReport.h - What tilec check found, in words ---------*- C++ -*-===//

#ifndef TILEC_TOOLS_TILEC_CHECKREPORT_H
#define TILEC_TOOLS_TILEC_CHECKREPORT_H

#include "lib/Emulator/Machine/Counters.h"
#include <string>
#include <utility>
#include <vector>

namespace tilec::cli {

/// A kernel run at some extents.
struct CheckCase {
  /// In the order of the kernel's dimensions.
  std::vector<std::pair<std::string, int64_t>> extents;
  int64_t programs = 0;
  unsigned runs = 0;           // Each with a seed of its own.
  bool hasFailed = false;      // It did not compile, or its results are wrong.
  uint64_t instructions = 0;   // Of warps, in all runs.
  double milliseconds = 0;     // Of all runs.
  emulator::Counters counters; // Of the first run.

  /// "M=7, N=77".
  std::string sizes() const;
};

struct CheckedKernel {
  std::string name;
  std::string skipped; // Why it was not checked; empty if it was.
  std::vector<CheckCase> cases;
  size_t findings = 0;

  bool hasFailed() const;
  bool hasRun() const; // At some extents at least.
};

struct CheckReport {
  std::string target;
  uint64_t seed = 0; // The first.
  bool counters = false;
  std::vector<CheckedKernel> kernels;

  /// A few lines for each kernel.
  void print(llvm::raw_ostream &os) const;
  void printJson(llvm::raw_ostream &os) const;
};

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_CHECKREPORT_H
