//===- Main.cpp - The tilec command -----------------------------*- C++ -*-===//
//
// Parses the command line and hands over to a command.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/Options.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg(
      "tilec: internal error; please report it with the program, the command "
      "line and the lines below\n");
  int exitCode = 0;
  std::optional<tilec::cli::Options> options = tilec::cli::parseCommandLine(
      llvm::ArrayRef<const char *>(argv + 1, argv + argc), exitCode);
  if (!options)
    return exitCode;
  switch (options->command) {
  case tilec::cli::Command::Compile:
    return tilec::cli::compileCommand(*options);
  case tilec::cli::Command::Run:
    return tilec::cli::runCommand(*options);
  }
  return tilec::cli::InternalError;
}
