//===- GPUError.cpp - What can go wrong on the way to a GPU -----*- C++ -*-===//

#include "lib/Runtime/GPU/GPUError.h"

using namespace tilec;
using namespace tilec::gpu;

char GPUError::ID = 0;

std::error_code GPUError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Error gpu::gpuError(ErrorKind kind, const llvm::Twine &what,
                          const llvm::Twine &help) {
  return llvm::make_error<GPUError>(kind, (what + "\nhelp: " + help).str());
}

llvm::StringRef gpu::kindName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::NoCompiler:
    return "no-compiler";
  case ErrorKind::Compile:
    return "compile";
  case ErrorKind::NoDriver:
    return "no-driver";
  case ErrorKind::NoDevice:
    return "no-device";
  case ErrorKind::WrongDevice:
    return "wrong-device";
  case ErrorKind::DriverTooOld:
    return "driver-too-old";
  case ErrorKind::OutOfMemory:
    return "out-of-memory";
  case ErrorKind::HostMemory:
    return "host-memory";
  case ErrorKind::BadArgument:
    return "specialization";
  case ErrorKind::TooLarge:
    return "too-large";
  case ErrorKind::KernelFailed:
    return "kernel-failed";
  case ErrorKind::Driver:
    return "driver";
  }
  return "";
}

std::optional<ErrorKind> gpu::kindOf(const llvm::Error &error) {
  std::optional<ErrorKind> kind;
  llvm::visitErrors(error, [&](const llvm::ErrorInfoBase &info) {
    if (info.isA<GPUError>())
      kind = static_cast<const GPUError &>(info).getKind();
  });
  return kind;
}

llvm::Error gpu::aboutArgument(llvm::Error error, unsigned argument) {
  return llvm::handleErrors(std::move(error),
                            [&](std::unique_ptr<GPUError> found) {
                              found->argument = argument;
                              return llvm::Error(std::move(found));
                            });
}

std::optional<unsigned> gpu::argumentOf(const llvm::Error &error) {
  std::optional<unsigned> argument;
  llvm::visitErrors(error, [&](const llvm::ErrorInfoBase &info) {
    if (info.isA<GPUError>())
      argument = static_cast<const GPUError &>(info).argument;
  });
  return argument;
}
