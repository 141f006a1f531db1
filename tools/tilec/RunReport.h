//===- RunReport.h - What a run gave, in words ------------------*- C++ -*-===//
//
// The summary of the outputs, and the comparison with the reference.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_RUNREPORT_H
#define TILEC_TOOLS_TILEC_RUNREPORT_H

#include "lib/Compiler/Program.h"
#include "lib/Frontend/TypedAST.h"
#include "lib/Reference/Reference.h"

namespace tilec::cli {

/// "  Y = f32[4, 7]  min -1.2  mean 0.1  max 3.4", and how many elements are
/// NaN or infinite, if any. With `startsAsPoison` also how many were never
/// written.
void printOutput(llvm::raw_ostream &os, llvm::StringRef name,
                 const TensorView &view, bool startsAsPoison);

/// Compares an output with what the reference computed and says of errors.
/// Reports an error with the first wrong
/// element if they differ. Returns a line for the summary.
std::string compareOutput(Program &program, const typed::Kernel &kernel,
                          const typed::Param &param, const TensorView &actual,
                          const TensorView &expected,
                          const RoundingFacts &facts);

/// What the emulator found: "no race, no deadlock, ...", "3 findings".
std::string describeFindings(size_t count);

/// "0.52 ms", "12.3 s".
std::string formatMilliseconds(double milliseconds);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_RUNREPORT_H
