//===- SystemCalls.h - Functions that the system provides -------*- C++ -*-===//
//
// CUDA C++ reaches printf and assert through functions without a body.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_EXECUTE_SYSTEMCALLS_H
#define TILEC_EMULATOR_EXECUTE_SYSTEMCALLS_H

#include "lib/Emulator/Machine/Instruction.h"

namespace tilec::emulator {

enum class SystemCall : uint8_t {
  None,
  Print,      // vprintf(format, buffer)
  AssertFail, // __assertfail(message, file, line, function, char size)
};
constexpr unsigned maxSystemArguments = 5;

/// None if it is not known. There is no heap: malloc and free are not.
SystemCall systemCallNamed(llvm::StringRef name);

/// What the function returns.
uint64_t runSystemCall(SystemCall call, Warp &warp, unsigned lane,
                       const Instruction &at, const uint64_t *arguments);

/// printf's text. `load` copies bytes of generic memory, and says whether they
/// exist; `buffer` is the address of the arguments, each at its own alignment.
std::string
formatPrinted(uint64_t format, uint64_t buffer,
              llvm::function_ref<bool(uint64_t, void *, unsigned)> load);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_EXECUTE_SYSTEMCALLS_H
