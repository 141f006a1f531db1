//===- ResourceLog.h - What ptxas says about a kernel -----------*- C++ -*-===//
//
// ptxas, the assembler behind NVRTC, reports the registers, memory and barriers
// that each function takes, and advises where it could not do what the code
// asked for. Some of that advice is about speed alone and easily missed:
// spilled registers, products of a warpgroup (wgmma) that run one by one, a
// register budget (setmaxnreg) that is ignored. A compiler that generates the
// code should treat all of these as defects of its own.
//
// The log is text for people and its form is nowhere promised. The parser takes
// what it knows, line by line, and passes over the rest.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_RESOURCELOG_H
#define TILEC_RUNTIME_GPU_RESOURCELOG_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilec::gpu {

/// What one function takes. Bytes of the stack are per thread, of shared memory
/// per block.
struct FunctionResources {
  std::string name; // As in the machine code.
  bool isKernel = false;
  unsigned registers = 0; // 0 for functions that kernels call: not told.
  unsigned barriers = 0;
  /// Local memory: spilled registers, and arrays that are indexed by something
  /// the compiler does not know or whose address is taken.
  uint64_t stackBytes = 0;
  uint64_t spillStoreBytes = 0;
  uint64_t spillLoadBytes = 0;
  uint64_t sharedBytes = 0;   // Static; what the launch adds is not in it.
  uint64_t constantBytes = 0; // Of all banks.
  double compileMilliseconds = 0;

  bool spills() const { return spillStoreBytes || spillLoadBytes; }
};

/// A message: an advisory "(C7510) ...", a warning or an error.
struct ResourceMessage {
  enum class Severity { Info, Warning, Error };
  Severity severity = Severity::Info;
  unsigned code = 0;    // 7510; 0 if it has none.
  unsigned line = 0;    // Of the PTX; 0 if it has none.
  std::string function; // Empty if it names none.
  std::string text;     // Without what precedes it.

  /// Products of a warpgroup wait for one another (C7510 to C7516, C7520 and
  /// others of that text).
  bool isSerialization() const;
  /// setmaxnreg has no effect (C7504 to C7508).
  bool isIgnoredRegisterBudget() const;
};

struct ResourceLog {
  std::vector<FunctionResources> functions;
  std::vector<ResourceMessage> messages;
  uint64_t globalBytes = 0; // Static, of the whole module.

  /// The function of that name, or null.
  const FunctionResources *find(llvm::StringRef name) const;

  /// What a code generator must not leave behind, one line each: spills, local
  /// arrays, serialized products, ignored budgets, warnings and errors. Empty
  /// if all is well. Injected waits and arrives (C7517, C7519) are listed too:
  /// the result is right, but the code forgot something. `ptx` is the module
  /// that was assembled: it tells arrays from what ptxas keeps on the stack
  /// when it calls functions of its own, such as 64-bit divisions, which is no
  /// defect.
  std::vector<std::string> defects(llvm::StringRef ptx) const;
};

/// Takes a log apart. Never fails: text that is not understood is passed over.
ResourceLog parseResourceLog(llvm::StringRef log);

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_RESOURCELOG_H
