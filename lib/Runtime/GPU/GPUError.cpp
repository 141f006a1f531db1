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

std::optional<ErrorKind> gpu::kindOf(const llvm::Error &error) {
  std::optional<ErrorKind> kind;
  llvm::visitErrors(error, [&](const llvm::ErrorInfoBase &info) {
    if (info.isA<GPUError>())
      kind = static_cast<const GPUError &>(info).getKind();
  });
  return kind;
}
