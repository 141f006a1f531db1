//===- Main.cpp - The tilec command -----------------------------*- C++ -*-===//
//
// Parses the command line, hands over to a command, and sees to it that
// whatever happens ends in a message and the right exit code.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/Options.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <unistd.h>

using namespace tilec::cli;

/// Runs last of the handlers of a crash: those before it have printed the stack
/// and removed temporary files.
static void exitAfterCrash(void *) { ::_exit(InternalError); }

/// No memory may be had here, not even by a stream.
static void reportOutOfMemory(void *, const char *, bool) {
  constexpr llvm::StringLiteral text =
      "tilec: error: out of memory\n"
      "  help: choose smaller extents, or leave out --check\n";
  [[maybe_unused]] ssize_t written =
      ::write(STDERR_FILENO, text.data(), text.size());
  llvm::sys::RunInterruptHandlers();
  ::_exit(UserError);
}

static int runTilec(llvm::ArrayRef<const char *> args) {
  int exitCode = Success;
  std::optional<Options> options = parseCommandLine(args, exitCode);
  if (!options)
    return exitCode;
  switch (options->command) {
  case Command::Compile:
    return compileCommand(*options);
  case Command::Run:
    return runCommand(*options);
  case Command::Bench:
    return benchCommand(*options);
  case Command::Check:
    return checkCommand(*options);
  }
  llvm_unreachable("unknown command");
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg(
      "tilec: internal error: this is a bug of tilec; please report it with "
      "the program, the command line and the lines below\n");
  llvm::sys::AddSignalHandler(exitAfterCrash, nullptr);
  // A write beyond the limit of a file's size is an error, not a crash.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  llvm::install_bad_alloc_error_handler(reportOutOfMemory);

  int exitCode = runTilec(llvm::ArrayRef<const char *>(argv + 1, argv + argc));

  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    llvm::errs() << "tilec: error: cannot write to standard output: "
                 << llvm::outs().error().message()
                 << "\n  help: check the disk, or where the output goes\n";
    llvm::outs().clear_error();
    return exitCode == Success ? UserError : exitCode;
  }
  return exitCode;
}
