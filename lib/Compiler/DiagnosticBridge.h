//===- DiagnosticBridge.h - MLIR's messages as tilec's ----------*- C++ -*-===//
//
// Passes and verifiers report through MLIR, with locations that the front end
// took from the source. While a bridge lives, such messages become diagnostics
// of the program, with its source lines: errors, warnings, and the remarks that
// were asked for. A note that begins with "help: " is the message's remedy.
// What a running kernel reports becomes a diagnostic here, too.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_DIAGNOSTICBRIDGE_H
#define TILEC_COMPILER_DIAGNOSTICBRIDGE_H

#include "lib/Compiler/Program.h"
#include "lib/Runtime/Reports.h"
#include "mlir/IR/MLIRContext.h"

namespace tilec {

class DiagnosticBridge {
public:
  /// `remarks` is a regular expression that some part of a pass's name has to
  /// match for its remarks to be shown; empty means none. A context takes the
  /// remarks of one bridge only.
  DiagnosticBridge(mlir::MLIRContext &context, Program &program,
                   llvm::StringRef remarks = "");
  ~DiagnosticBridge();
  DiagnosticBridge(const DiagnosticBridge &) = delete;

private:
  mlir::MLIRContext &context;
  uint64_t handler;
};

/// The word at a line and column (from 1) of the file that messages call
/// `name`; invalid if there is no such place.
SourceRange findWord(const SourceManager &sources, llvm::StringRef name,
                     unsigned line, unsigned column);

/// Makes errors of what a run found: indices out of range, failed asserts. True
/// if there are any.
bool reportFailures(Program &program, const ReportSink &reports);

} // namespace tilec

#endif // TILEC_COMPILER_DIAGNOSTICBRIDGE_H
