//===- CommandSupport.h - What the commands share ---------------*- C++ -*-===//
//
// From options to a kernel and what the command line says about it, and
// printing messages.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_COMMANDSUPPORT_H
#define TILEC_TOOLS_TILEC_COMMANDSUPPORT_H

#include "lib/Compiler/CpuTarget.h"
#include "lib/Runtime/GPU/DiskCache.h"
#include "tools/tilec/Options.h"
#include "llvm/ADT/StringSet.h"

namespace tilec::cli {

/// A kernel elaborated for the compile-time parameters given by -D, and the
/// extents given by -D and --size.
struct Subject {
  std::unique_ptr<typed::Kernel> kernel;
  CompileTimeArgs args;
  llvm::StringMap<int64_t> extents;
};

/// Analyzes a kernel. Nothing after reporting errors. A define that names
/// nothing in the kernel is one, unless there are several kernels: then `used`
/// collects the names that are something, for checkUsed().
std::optional<Subject> analyzeSubject(Program &program,
                                      const ast::KernelDecl &decl,
                                      const Options &options,
                                      llvm::StringSet<> *used = nullptr);

/// False after reporting a define that is not in `used`.
bool checkUsed(Program &program, const Options &options,
               const llvm::StringSet<> &used);

/// Reports that dimensions have no extent: "the extent of 'N' is PROBLEM". The
/// remedy is to give them by --size, `example` for one, or in a file if the
/// command reads files. Always false.
bool reportExtents(Program &program,
                   llvm::ArrayRef<const typed::Dimension *> missing,
                   const llvm::Twine &problem, int64_t example, bool canRead);

CompileOptions makeCompileOptions(const Options &options);

/// The cache of compiled kernels; with --no-cache one that keeps nothing.
gpu::DiskCache::Options cacheOptions(const Options &options);

/// Adds a copy of a message that another fork of the program has.
Diagnostic &addMessage(Program &program, const Diagnostic &message);

/// Makes the folder of --ptx. False after reporting why it cannot be.
bool makePTXFolder(Program &program, const Options &options);
/// Writes PTX into that folder. False after reporting errors.
bool writePTX(Program &program, const Options &options, llvm::StringRef name,
              llvm::StringRef text);

/// Prints all messages to standard error, as the options ask, and gives the
/// exit code that follows from them.
int finish(Program &program, const Options &options);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_COMMANDSUPPORT_H
