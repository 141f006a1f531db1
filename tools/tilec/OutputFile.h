//===- OutputFile.h - Files that the user named -----------------*- C++ -*-===//
//
// A file is written whole or not at all: a temporary file beside it takes its
// place when it is complete. Whether that can work is found out before the work
// whose result it takes.
//
// Errors have their remedy after "\nhelp: ".
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_OUTPUTFILE_H
#define TILEC_TOOLS_TILEC_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tilec::cli {

/// Why a file cannot be written at `path`, if so. Leaves no trace. Devices and
/// pipes pass only if `allowSpecial`: they can be written to, not replaced.
llvm::Error checkWritable(llvm::StringRef path, bool allowSpecial);

/// Writes `text`, into a device or pipe directly.
llvm::Error writeText(llvm::StringRef path, llvm::StringRef text);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_OUTPUTFILE_H
