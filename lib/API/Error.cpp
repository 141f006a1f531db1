//===- Error.cpp - What functions of the API return -------------*- C++ -*-===//

#include "lib/API/Error.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::api;

/// Of the first error; warnings may come before it.
static tilec_error_kind kindOf(const DiagnosticEngine &diags) {
  for (const auto &diagnostic : diags.all()) {
    if (diagnostic->severity != Severity::Error)
      continue;
    if (llvm::StringRef(diagnostic->message).contains("internal error"))
      return TILEC_ERROR_INTERNAL;
    return llvm::StringSwitch<tilec_error_kind>(diagnostic->kind)
        .Case("", TILEC_ERROR_PROGRAM)
        .Case("usage", TILEC_ERROR_USAGE)
        .Case("argument-count", TILEC_ERROR_ARGUMENT_COUNT)
        .Case("argument-type", TILEC_ERROR_ARGUMENT_TYPE)
        .Case("argument-value", TILEC_ERROR_ARGUMENT_VALUE)
        .Case("extent", TILEC_ERROR_EXTENT)
        .Case("requirement", TILEC_ERROR_REQUIREMENT)
        .Case("overlap", TILEC_ERROR_OVERLAP)
        .Case("host-memory", TILEC_ERROR_HOST_MEMORY)
        .Case("wrong-device", TILEC_ERROR_WRONG_DEVICE)
        .Case("too-large", TILEC_ERROR_TOO_LARGE)
        .Case("specialization", TILEC_ERROR_SPECIALIZATION)
        .Case("no-compiler", TILEC_ERROR_NO_COMPILER)
        .Case("no-driver", TILEC_ERROR_NO_DRIVER)
        .Case("no-device", TILEC_ERROR_NO_DEVICE)
        .Case("driver-too-old", TILEC_ERROR_DRIVER_TOO_OLD)
        .Case("out-of-memory", TILEC_ERROR_OUT_OF_MEMORY)
        .Case("compile", TILEC_ERROR_COMPILE)
        .Case("kernel-failed", TILEC_ERROR_KERNEL_FAILED)
        .Case("driver", TILEC_ERROR_DRIVER)
        .Case("report", TILEC_ERROR_REPORT)
        .Default(TILEC_ERROR_OTHER);
  }
  return TILEC_ERROR_OTHER;
}

ErrorPtr api::errorOf(const DiagnosticEngine &diags) {
  auto error = std::make_unique<tilec_error>();
  error->kind = kindOf(diags);
  llvm::raw_string_ostream text(error->message), json(error->json);
  diags.print(text);
  diags.printJson(json);
  return error;
}

ErrorPtr api::errorOf(llvm::StringRef kind, const llvm::Twine &message,
                      const llvm::Twine &help) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  diags.error({}, message).remedy(help).of(kind);
  return errorOf(diags);
}
