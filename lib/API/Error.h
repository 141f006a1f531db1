//===- Error.h - What functions of the API return ---------------*- C++ -*-===//

#ifndef TILEC_API_ERROR_H
#define TILEC_API_ERROR_H

#include "include/tilec/c.h"
#include "lib/Support/Diagnostics.h"
#include <memory>
#include <string>

// NOLINTNEXTLINE(readability-identifier-naming): the name of c.h.
struct tilec_error {
  tilec_error_kind kind;
  std::string message;
  std::string json;
};

namespace tilec::api {

/// Null is success.
using ErrorPtr = std::unique_ptr<tilec_error>;

/// All messages of `diags`, which has an error.
ErrorPtr errorOf(const DiagnosticEngine &diags);

/// An error that is not about a place in a program.
ErrorPtr errorOf(llvm::StringRef kind, const llvm::Twine &message,
                 const llvm::Twine &help);

} // namespace tilec::api

#endif // TILEC_API_ERROR_H
