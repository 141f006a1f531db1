//===- Options.h - The command line, parsed ---------------------*- C++ -*-===//
//
// `tilec FILE ...` compiles, `tilec run FILE [KERNEL] ...` compiles and runs,
// `tilec bench FILE [KERNEL] ...` compiles and measures,
// `tilec check FILE [KERNEL] ...` runs on the emulator and looks for races.
// Exit codes: 0 success, 1 an error in the user's program or data, 2 a wrong
// command line, 3 an internal error.
//
// Everything that can be said of the command line alone is checked here and is
// a usage error: values that are no numbers, options that exclude each other.
// Names of kernels, dimensions and parameters need the program.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_OPTIONS_H
#define TILEC_TOOLS_TILEC_OPTIONS_H

#include "tools/tilec/ArgumentSpec.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilec::cli {

enum ExitCode { Success = 0, UserError = 1, UsageError = 2, InternalError = 3 };

enum class Command { Compile, Run, Bench, Check };

/// "tilec", "tilec run", "tilec bench", "tilec check".
llvm::StringRef commandName(Command command);

/// In the order of compilation; those from LLVM on are of one kernel, those
/// from TileGPU on of GPU targets.
enum class Stage {
  Check,
  AST,
  Source,
  Typed,
  Tile,
  LLVM,
  TileGPU,
  CUDA,
  PTX,
  Cubin,
  Header
};

/// What was given by name, in the order of the command line; of two with one
/// name the last counts.
template <typename T> using Named = std::vector<std::pair<std::string, T>>;

/// A --try: entries that win over those of --schedule, and the text they were
/// written as.
struct ScheduleTrial {
  std::string text;
  Named<int64_t> schedule;
};

struct Options {
  Command command = Command::Compile;
  std::string file;
  std::string kernel; // Empty: the only one, or all.

  Named<std::string> defines; // -D: extents and compile-time parameters.
  Named<int64_t> sizes;       // --size: the same, numbers only.
  Named<int64_t> schedule;
  std::vector<ScheduleTrial> trials;
  std::vector<std::string> includePaths;
  std::string target = "cpu";
  /// The code for `target`, a GPU, is run by the emulator.
  bool emulated = false;

  Stage emit = Stage::Check;
  std::string output; // Empty: standard output.
  std::string printAfter, stopAfter, remarks;
  bool listPasses = false;
  bool jsonDiagnostics = false;

  Named<ArgumentSpec> args;
  Named<std::string> outs; // Paths.
  uint64_t seed = 0;
  bool check = false;
  bool checked = true;
  bool quiet = false;
  bool cache = true;
  bool json = false;
  bool counters = false;
  std::string ptx;    // The folder for emulated PTX; empty: none.
  unsigned seeds = 4; // Of `tilec check`.
  unsigned repeat = 1;
  unsigned threads = 0; // 0: all cores.
};

/// Parses the command line without the program's name. Prints help, the version
/// or a usage error itself and then gives the exit code in `exitCode`.
std::optional<Options> parseCommandLine(llvm::ArrayRef<const char *> args,
                                        int &exitCode);

/// The commands.
int compileCommand(const Options &options);
int runCommand(const Options &options);
int benchCommand(const Options &options);
int checkCommand(const Options &options);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_OPTIONS_H
