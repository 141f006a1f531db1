//===- Module.h - The kernels of a file -------------------------*- C++ -*-===//
//
// What compileFile() gives: a checked program and how to compile it. Nothing of
// a module changes once it is made, but for the folder of compiled kernels,
// which may be used by several threads.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_API_MODULE_H
#define TILEC_API_MODULE_H

#include "lib/API/Error.h"
#include "lib/Compiler/GpuCache.h"

namespace tilec::api {

struct Module {
  std::unique_ptr<const Program> program;
  /// "cpu" or a GPU's; empty: for each launch that of its GPU.
  std::string target;
  /// What kernels are analyzed for: the target, or that of the current GPU.
  std::string analysisTarget;
  CompileTimeArgs defines;
  llvm::StringMap<int64_t> schedule;
  bool checked = true;
  unsigned threads = 0;
  std::vector<std::string> kernelNames;
  mutable gpu::DiskCache cache;

  explicit Module(const tilec_options &options);

  /// From a file or, if `text` is given, a text called `path`.
  static ErrorPtr make(llvm::StringRef path, const char *text,
                       const tilec_options &options,
                       std::shared_ptr<const Module> &result);

  bool isCpu() const { return target == "cpu"; }
  CompileOptions compileOptions(llvm::StringRef forTarget) const;

  /// Passes the warnings of `diags` on.
  void warnOf(const DiagnosticEngine &diags) const;

private:
  ErrorPtr chooseTarget(const char *name);
  void warn(llvm::StringRef text) const;

  void (*warnFunction)(const char *text, void *user);
  void *warnUser;
  mutable std::mutex warnMutex;
};

} // namespace tilec::api

#endif // TILEC_API_MODULE_H
