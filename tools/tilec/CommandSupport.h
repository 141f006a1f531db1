//===- CommandSupport.h - What the commands share ---------------*- C++ -*-===//
//
// Turning options into what the compiler takes, and printing messages.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_COMMANDSUPPORT_H
#define TILEC_TOOLS_TILEC_COMMANDSUPPORT_H

#include "lib/Compiler/CpuTarget.h"
#include "tools/tilec/Options.h"

namespace tilec::cli {

/// `-D` and `--size`, told apart: compile-time parameters of the kernel, and
/// extents of dimensions.
struct Defines {
  CompileTimeArgs compileTime;
  llvm::StringMap<int64_t> extents;
};

/// Fills `defines`. False after reporting a value that is no extent.
bool splitDefines(Program &program, const ast::KernelDecl &decl,
                  const Options &options, Defines &defines);

/// False after reporting a define that names nothing in the kernel.
bool checkDefines(Program &program, const typed::Kernel &kernel,
                  const Defines &defines);

bool fillCompileOptions(Program &program, const Options &options,
                        CompileOptions &compileOptions);

/// False after reporting that --print-after or --stop-after names no pass.
bool checkPassNames(const Options &options);

/// Prints all messages to standard error, as the options ask.
void printDiagnostics(const Program &program, const Options &options);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_COMMANDSUPPORT_H
