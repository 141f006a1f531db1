//===- Kernel.h - Kernels that compile themselves ---------------*- C++ -*-===//
//
// A kernel is compiled when it meets arguments of a new kind: other extents of
// its whole axes, another contiguous dimension, less alignment, or a GPU of
// another architecture. What has been compiled is kept in a map under exactly
// that, so a launch finds the code made for it, never code that merely fits.
//
// Threads that meet a new kind at the same time all compile, outside of any
// lock; the first result goes into the map, and everyone uses that one.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_API_KERNEL_H
#define TILEC_API_KERNEL_H

#include "lib/API/Module.h"
#include "lib/API/RepeatedLaunch.h"
#include "lib/Runtime/GPU/Launcher.h"
#include <shared_mutex>
#include <unordered_map>

namespace tilec::api {

class Kernel;

/// Machine code of a kernel for one kind of arguments. Immutable, but for what
/// is loaded into devices.
struct Code {
  std::string target;
  std::string specialization; // As text.
  // One of the two.
  GpuCode gpu;
  std::unique_ptr<gpu::Launcher> launcher;
  std::unique_ptr<CpuExecutable> cpu;
  std::string image; // As JSON.
};

/// Code, and how it was come by.
struct FoundCode {
  std::shared_ptr<const Code> code;
  tilec_origin origin = TILEC_COMPILED;
  double milliseconds = 0;
};

/// A launch of checked arguments that can be repeated.
struct Prepared {
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const Code> code;
  std::optional<gpu::PreparedLaunch> onGpu;
  BoundLaunch bound; // On the cpu.

  ErrorPtr run(tilec_stream stream) const;
};

class Kernel : public std::enable_shared_from_this<Kernel> {
public:
  static ErrorPtr make(std::shared_ptr<const Module> module,
                       llvm::StringRef name,
                       llvm::ArrayRef<tilec_define> defines,
                       std::shared_ptr<const Kernel> &result);

  const typed::Kernel &signature() const { return *typedKernel; }

  ErrorPtr launch(tilec_stream stream, llvm::ArrayRef<tilec_arg> args) const;
  ErrorPtr prepare(llvm::ArrayRef<tilec_arg> args, Prepared &result) const;
  ErrorPtr compile(llvm::ArrayRef<tilec_arg> args, FoundCode &result) const;
  ErrorPtr compileFor(llvm::ArrayRef<tilec_number> extents,
                      FoundCode &result) const;
  ErrorPtr launchCode(const Code &code, tilec_stream stream,
                      llvm::ArrayRef<tilec_arg> args) const;

  ErrorPtr collectReports(tilec_stream stream) const;

  /// Names of dimensions and extents of a parameter, for tilec_parameter.
  struct Shape {
    std::string name;
    std::vector<std::string> texts;
    std::vector<const char *> axes;
    std::vector<int64_t> extents;
  };
  const Shape &shapeOf(unsigned param) const { return shapes[param]; }

private:
  friend struct Prepared;
  Kernel() = default;

  /// One call: its own messages and its arguments.
  struct Call {
    explicit Call(const Kernel &kernel)
        : program(kernel.module->program->fork()) {}
    ErrorPtr fail() const { return errorOf(program->diags); }
    ErrorPtr fail(const Kernel &kernel, llvm::Error error) {
      reportLaunchError(*program, *kernel.typedKernel, std::move(error));
      return fail();
    }

    std::unique_ptr<Program> program;
    BoundLaunch bound;
  };
  ErrorPtr bind(llvm::ArrayRef<tilec_arg> args, Call &call) const;
  ErrorPtr checkStream(tilec_stream stream) const;
  ErrorPtr findStream(tilec_stream stream, Call &call,
                      gpu::StreamRef &result) const;
  ErrorPtr findDevice(Call &call, gpu::Device *&result) const;
  ErrorPtr targetFor(const gpu::Device &device, Call &call,
                     llvm::StringRef &target) const;
  /// Code for the arguments of a call, from the map or compiled.
  ErrorPtr find(Call &call, llvm::StringRef target, FoundCode &result) const;
  ErrorPtr launchOnCpu(tilec_stream stream,
                       llvm::ArrayRef<tilec_arg> args) const;
  /// Launches once more what was launched with arguments of that pattern, if it
  /// was and these are right; then `error` is how it went.
  bool launchAgain(gpu::StreamRef where, const Key &pattern,
                   llvm::ArrayRef<tilec_arg> args, ErrorPtr &error) const;
  /// Launches code on a stream of a GPU.
  ErrorPtr start(const Code &code, gpu::StreamRef where, Call &call) const;
  ErrorPtr find(Call &call, llvm::StringRef target,
                const Specialization &specialization, const GpuFacts &facts,
                FoundCode &result) const;
  std::shared_ptr<const Code> compile(Call &call, llvm::StringRef target,
                                      const Specialization &specialization,
                                      const GpuFacts &facts,
                                      bool &isFromDisk) const;
  /// What code is compiled for.
  Key keyOf(llvm::StringRef target, const Specialization &specialization,
            const GpuFacts &facts) const;
  std::string describe(llvm::StringRef target,
                       const Specialization &specialization,
                       const GpuFacts &facts) const;

  std::shared_ptr<const Module> module;
  const ast::KernelDecl *decl = nullptr;
  CompileTimeArgs defines; // Of parameters that it has.
  /// For signatures and binding only; each compilation analyzes anew, since it
  /// settles the schedule in what it compiles.
  std::unique_ptr<const typed::Kernel> typedKernel;
  std::vector<Shape> shapes; // By parameter.

  mutable std::shared_mutex mutex;
  mutable std::unordered_map<Key, std::shared_ptr<const Code>, KeyHash> codes;
  mutable RepeatedLaunches repeated;
};

} // namespace tilec::api

#endif // TILEC_API_KERNEL_H
