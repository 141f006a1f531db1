//===- Reduction.cpp - Reductions of bulk copies --------------------------===//

#include "lib/Emulator/Async/Reduction.h"
#include "lib/Emulator/Arithmetic/Float.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace tilec::emulator {

std::optional<ReduceOperation> reduceOperation(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<ReduceOperation>>(name)
      .Case("add", ReduceOperation::Add)
      .Case("min", ReduceOperation::Min)
      .Case("max", ReduceOperation::Max)
      .Case("and", ReduceOperation::And)
      .Case("or", ReduceOperation::Or)
      .Case("xor", ReduceOperation::Xor)
      .Case("inc", ReduceOperation::Inc)
      .Case("dec", ReduceOperation::Dec)
      .Default(std::nullopt);
}

bool isReducible(ReduceOperation operation, ptx::Type type) {
  bool isHalf = type == ptx::Type::F16 || type == ptx::Type::BF16;
  bool isWord = ptx::bitsOf(type) == 32 || ptx::bitsOf(type) == 64;
  bool isBits = type == ptx::Type::B32 || type == ptx::Type::B64;
  switch (operation) {
  case ReduceOperation::Add:
    return isHalf || (isWord && !isBits);
  case ReduceOperation::Min:
  case ReduceOperation::Max:
    return isHalf || (isWord && !isBits && !ptx::isFloat(type));
  case ReduceOperation::And:
  case ReduceOperation::Or:
  case ReduceOperation::Xor:
    return isWord && !ptx::isFloat(type);
  case ReduceOperation::Inc:
  case ReduceOperation::Dec:
    return type == ptx::Type::U32;
  }
  return false;
}

static uint64_t reduceFloat(ReduceOperation operation, ptx::Type type,
                            uint64_t old, uint64_t value) {
  switch (operation) {
  case ReduceOperation::Min:
    return minFloat(type, old, value, {});
  case ReduceOperation::Max:
    return maxFloat(type, old, value, {});
  default: {
    // As atomic additions to global memory are: of the types, only f32 flushes
    // subnormals.
    FloatMode mode;
    mode.flush = type == ptx::Type::F32;
    return addFloat(type, old, value, mode);
  }
  }
}

uint64_t reduce(ReduceOperation operation, ptx::Type type, uint64_t old,
                uint64_t value) {
  if (ptx::isFloat(type))
    return reduceFloat(operation, type, old, value);
  unsigned bits = ptx::bitsOf(type);
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  auto less = [&](uint64_t a, uint64_t b) {
    if (!ptx::isSigned(type))
      return a < b;
    uint64_t sign = uint64_t(1) << (bits - 1);
    return (a ^ sign) < (b ^ sign);
  };
  switch (operation) {
  case ReduceOperation::Add:
    return (old + value) & mask;
  case ReduceOperation::Min:
    return less(value, old) ? value : old;
  case ReduceOperation::Max:
    return less(old, value) ? value : old;
  case ReduceOperation::And:
    return old & value;
  case ReduceOperation::Or:
    return old | value;
  case ReduceOperation::Xor:
    return old ^ value;
  case ReduceOperation::Inc:
    return old >= value ? 0 : old + 1;
  case ReduceOperation::Dec:
    return old == 0 || old > value ? value : old - 1;
  }
  return old;
}

/// Of bulk copies. Unlike atomic additions to global memory theirs keep
/// subnormal numbers, and of f64 a NaN as it is.
static uint64_t reduceInBulk(ReduceOperation operation, ptx::Type type,
                             uint64_t old, uint64_t value) {
  if (operation != ReduceOperation::Add || !ptx::isFloat(type))
    return reduce(operation, type, old, value);
  if (type == ptx::Type::F64)
    for (uint64_t operand : {value, old})
      if (std::isnan(llvm::bit_cast<double>(operand)))
        return operand;
  return addFloat(type, old, value, {});
}

template <typename Word>
static void reduceWords(ReduceOperation operation, ptx::Type type, char *to,
                        const char *from, uint64_t bytes) {
  for (uint64_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
    Word value;
    std::memcpy(&value, from + at, sizeof value);
    // Bulk copies are aligned to 16 bytes, and so is memory on the host.
    std::atomic_ref<Word> place(*reinterpret_cast<Word *>(to + at));
    Word old = place.load(std::memory_order_relaxed);
    while (!place.compare_exchange_weak(
        old, Word(reduceInBulk(operation, type, old, value)),
        std::memory_order_relaxed))
      ;
  }
}

void reduceElements(ReduceOperation operation, ptx::Type type, char *to,
                    const char *from, uint64_t bytes) {
  switch (ptx::bytesOf(type)) {
  case 2:
    return reduceWords<uint16_t>(operation, type, to, from, bytes);
  case 4:
    return reduceWords<uint32_t>(operation, type, to, from, bytes);
  case 8:
    return reduceWords<uint64_t>(operation, type, to, from, bytes);
  default:
    return;
  }
}

} // namespace tilec::emulator
