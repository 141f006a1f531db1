//===- RunArguments.h - The arguments of one run ----------------*- C++ -*-===//
//
// Reads, makes and keeps what a kernel is run on: the files that --arg names
// first, as they settle extents, then an array for each other tensor.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_RUNARGUMENTS_H
#define TILEC_TOOLS_TILEC_RUNARGUMENTS_H

#include "lib/Compiler/Program.h"
#include "lib/Launch/Launch.h"
#include "lib/Runtime/Array.h"
#include "tools/tilec/Options.h"

namespace tilec::cli {

/// Whether a parameter is a tensor that the kernel writes.
inline bool isOutput(const typed::Param &param) {
  return param.isTensor && param.access != ast::Access::In;
}

class RunArguments {
public:
  /// `extents` are those of the command line.
  RunArguments(Program &program, const typed::Kernel &kernel,
               const Options &options, llvm::StringMap<int64_t> extents);

  /// Makes everything. False after reporting errors.
  bool prepare();

  /// One for each parameter, as bindLaunch takes them.
  std::vector<Argument> values;

  Array &arrayOf(const typed::Param &param) const {
    return *arrays[param.index];
  }

private:
  bool checkNames();
  bool readFiles();
  bool checkExtents();
  bool checkMemory();
  bool makeArray(const typed::Param &param);
  bool makeScalar(const typed::Param &param);
  bool fill(const typed::Param &param, Array &array);
  const ArgumentSpec *findSpec(const typed::Param &param) const;
  Diagnostic &error(const typed::Param &param, const llvm::Twine &message);
  bool fail(const typed::Param &param, llvm::Error error);

  Program &program;
  const typed::Kernel &kernel;
  const Options &options;
  llvm::StringMap<int64_t> extents;
  std::vector<std::unique_ptr<Array>> arrays; // By parameter; tensors only.
};

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_RUNARGUMENTS_H
