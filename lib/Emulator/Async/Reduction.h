//===- Reduction.h - Reductions of bulk copies ------------------*- C++ -*-===//
//
// cp.reduce.async.bulk combines what it copies with what is there, element by
// element, each atomically.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_REDUCTION_H
#define TILEC_EMULATOR_ASYNC_REDUCTION_H

#include "lib/Emulator/PTX/Module.h"
#include <cstdint>
#include <optional>

namespace tilec::emulator {

enum class ReduceOperation : uint8_t { Add, Min, Max, And, Or, Xor, Inc, Dec };

/// "add", "min", ...
std::optional<ReduceOperation> reduceOperation(llvm::StringRef name);

/// Whether PTX has it: and, or, xor for integers and bits; inc and dec for u32;
/// f32 and f64 can only be added.
bool isReducible(ReduceOperation operation, ptx::Type type);

/// The new value of an element that was `old`.
uint64_t reduce(ReduceOperation operation, ptx::Type type, uint64_t old,
                uint64_t value);

/// Reduces an array of elements. Threads of the host may do so at the same time
/// with the same elements.
void reduceElements(ReduceOperation operation, ptx::Type type, char *to,
                    const char *from, uint64_t bytes);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_REDUCTION_H
