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

  /// Where the elements of a tensor are; nothing after reporting errors.
  using Place = llvm::function_ref<std::optional<TensorView>(
      const typed::Param &, const Extents &shape)>;

  /// Makes everything, arrays in memory of the host. False after reporting
  /// errors.
  bool prepare();
  /// The same with arrays wherever `place` puts them; there are no files.
  bool prepareAt(Place place);

  /// Fills an array as the command line says, or with what a parameter of that
  /// access starts as. False after reporting errors.
  bool fill(const typed::Param &param, Array &array);

  // After prepare():

  /// Copies of the outputs, in the order of the parameters; of those alone
  /// whose first values count if `onlyRead`. Nothing after reporting errors.
  std::optional<std::vector<Array>> copyOutputs(bool onlyRead);
  /// Sets back the outputs whose first values count, from such copies.
  void restoreOutputs(llvm::ArrayRef<Array> copies);

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
  bool makeAll(Place place);
  std::optional<TensorView> makeArray(const typed::Param &param,
                                      const Extents &shape);
  bool makeScalar(const typed::Param &param);
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
