//===- OptionTable.h - The options there are --------------------*- C++ -*-===//
//
// Options.td as the table that LLVM's option library works with.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_OPTIONTABLE_H
#define TILEC_TOOLS_TILEC_OPTIONTABLE_H

#include "tools/tilec/Options.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec::cli {

enum OptionID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/tilec/Options.inc"
#undef OPTION
};

/// Which command takes an option.
enum OptionVisibility : unsigned {
  CompileVisible = 1 << 8,
  RunVisible = 1 << 9,
  BenchVisible = 1 << 10,
  CheckVisible = 1 << 11
};

class OptionTable : public llvm::opt::GenericOptTable {
public:
  OptionTable();
};

/// Prints `text` from column `column` on, the cursor being at `at`, in lines of
/// at most 79 columns.
void printWrapped(llvm::raw_ostream &os, llvm::StringRef text, unsigned column,
                  unsigned at = 0);

/// The options that a command takes.
OptionVisibility visibilityOf(Command command);

/// Prints the help of a command, at most 80 columns wide.
void printHelp(llvm::raw_ostream &os, Command command);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_OPTIONTABLE_H
