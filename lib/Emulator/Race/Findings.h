//===- Findings.h - Races in words ------------------------------*- C++ -*-===//
//
// What kind of defect two accesses without order are, and how that is said to
// the author of a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_RACE_FINDINGS_H
#define TILEC_EMULATOR_RACE_FINDINGS_H

#include "lib/Emulator/Report.h"

namespace tilec::emulator {

/// How an earlier access stands to a later one.
enum class Relation : uint8_t {
  Ordered,   // It happens before.
  Unordered, // Nothing says so.
  NotFenced, // It does, but is not visible to the async proxy.
  NotLoaded, // A load whose value has perhaps not been read from memory yet.
};

/// One of the two.
struct Party {
  const ptx::Instruction *instruction = nullptr; // Null: not known.
  std::array<unsigned, 3> block = {};
  uint64_t cluster = 0;
  unsigned rank = 0;    // Of its block, or of the block that started it.
  unsigned thread = 0;  // In its block; the issuer of an operation.
  bool isAsync = false; // An operation; not the thread itself.
  bool isWrite = false, isUpdate = false, isStrong = false;
};

struct Finding {
  Relation relation = Relation::Unordered;
  Party earlier, later;
  bool isShared = false; // Shared memory.
  std::string buffer;
};

/// `later` conflicts with `earlier`, which is not Ordered.
Report describe(const Finding &finding);
/// `later` reads shared memory that nobody wrote.
Report describeUninitialized(const Finding &finding);

/// `later` uses shared memory of a block that it does not know to have begun.
Report describeNotBegun(const Finding &finding);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_RACE_FINDINGS_H
