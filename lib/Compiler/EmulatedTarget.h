//===- EmulatedTarget.h - What the emulator says of a kernel ----*- C++ -*-===//
//
// The emulator runs the code of a GPU target on the host (GpuExecutable.h, with
// CompileOptions::emulated). What it finds wrong is told in lines of PTX; here
// it becomes diagnostics at the lines of the .tile file that those came from.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_EMULATEDTARGET_H
#define TILEC_COMPILER_EMULATEDTARGET_H

#include "lib/Compiler/Program.h"
#include "lib/Frontend/TypedAST.h"
#include "lib/Runtime/Emulated/EmulatedDriver.h"

namespace tilec {

/// What several runs of one kernel found. What is found at the same lines in
/// several runs, even of code that was compiled for other arguments, is one
/// finding.
class EmulationFindings {
public:
  /// Takes the reports of a run. `when` tells runs apart in messages: "with
  /// M=7"; may be empty.
  void add(const emulator::EmulatedRun &run, llvm::StringRef when = "");

  bool empty() const { return findings.empty(); }
  size_t size() const { return findings.size(); }

  /// Makes an error of each finding. False if there are none.
  bool report(Program &program, const typed::Kernel &kernel) const;

private:
  struct Finding {
    emulator::Report report;
    std::shared_ptr<const emulator::Program> code; // Whose lines it names.
    std::string when; // Of the first run that showed it.
    uint64_t seed = 0;
    unsigned runs = 0;    // That showed it.
    unsigned lastRun = 0; // From 1.
  };
  std::vector<Finding> findings; // In the order in which they were found.
  unsigned numRuns = 0;
};

/// The line of the program that code comes from, without the blanks around it;
/// invalid if it is of none of its files.
SourceRange sourceLine(const SourceManager &sources,
                       const emulator::ptx::Module &module,
                       const emulator::ptx::Location &location);

} // namespace tilec

#endif // TILEC_COMPILER_EMULATEDTARGET_H
