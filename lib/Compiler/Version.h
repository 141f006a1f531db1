//===- Version.h - Which tilec this is --------------------------*- C++ -*-===//

#ifndef TILEC_COMPILER_VERSION_H
#define TILEC_COMPILER_VERSION_H

#include <string>

namespace tilec {

/// "0.1.0".
extern const char *const versionText;

/// What tells this build of the compiler from any other: versions of tilec and
/// LLVM, and the build id that the linker gave the program or library this code
/// is in. Empty if it has none.
const std::string &buildIdentity();

} // namespace tilec

#endif // TILEC_COMPILER_VERSION_H
