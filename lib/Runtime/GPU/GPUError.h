//===- GPUError.h - What can go wrong on the way to a GPU -------*- C++ -*-===//
//
// Every error of this library is a GPUError: a kind, for callers that do
// something about it (fall back to the cpu, skip a test), and a message that
// says what was expected, what was found and, on a line that begins with
// "help: ", what to do.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_GPUERROR_H
#define TILEC_RUNTIME_GPU_GPUERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace tilec::gpu {

enum class ErrorKind {
  NoCompiler,   // NVRTC is not there or cannot be used.
  Compile,      // NVRTC rejects the source or the options.
  NoDriver,     // The driver is not there or cannot be used.
  NoDevice,     // The driver is there, but no GPU that it lets us use.
  WrongDevice,  // The kernel is for another GPU, or a tensor is on another.
  DriverTooOld, // For this machine code.
  OutOfMemory,  // On the device.
  HostMemory,   // A tensor where no GPU can reach it.
  BadArgument,  // A tensor or an extent that this code is not for.
  TooLarge,     // More blocks, threads or shared memory than there can be.
  KernelFailed, // A kernel that ran before broke; the context is lost.
  Driver,       // Anything else that the driver reports.
};

class GPUError : public llvm::ErrorInfo<GPUError> {
public:
  static char ID; // NOLINT(readability-identifier-naming): LLVM asks for it.

  GPUError(ErrorKind kind, std::string message)
      : kind(kind), message(std::move(message)) {}

  ErrorKind getKind() const { return kind; }
  /// The argument of the kernel that it is about, if it is about one.
  std::optional<unsigned> argument;
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override;

private:
  ErrorKind kind;
  std::string message;
};

/// An error whose message is `what` and a line of `help`.
llvm::Error gpuError(ErrorKind kind, const llvm::Twine &what,
                     const llvm::Twine &help);

/// The error as one about an argument of the kernel.
llvm::Error aboutArgument(llvm::Error error, unsigned argument);
/// The argument that an error is about. Does not consume the error.
std::optional<unsigned> argumentOf(const llvm::Error &error);

/// "no-driver" and the like: the kind's name for Diagnostic::kind.
llvm::StringRef kindName(ErrorKind kind);

/// The kind of an error that this library made; nothing for others. Does not
/// consume the error.
std::optional<ErrorKind> kindOf(const llvm::Error &error);

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_GPUERROR_H
