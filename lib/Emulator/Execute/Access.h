//===- Access.h - Memory as instructions of warps reach it ------*- C++ -*-===//
//
// What loads, stores and atomic operations have in common: their qualifiers,
// the bytes that each lane means, what the detector is told, what is counted.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_EXECUTE_ACCESS_H
#define TILEC_EMULATOR_EXECUTE_ACCESS_H

#include "lib/Emulator/Machine/Decoder.h"
#include "lib/Emulator/Machine/Machine.h"

namespace tilec::emulator {

/// The parts of ld, st, ldu, atom and red that say how.
struct MemoryAccess : Details {
  ptx::Space space = ptx::Space::Generic;
  unsigned bytes = 4; // Of an element.
  unsigned count = 1; // Elements of a lane.
  unsigned total() const { return bytes * count; }

  bool isSigned = false;        // What is loaded is extended by its sign...
  uint64_t mask = ~uint64_t(0); // ... to these bits, those of the register.

  bool isReadOnly = false; // .nc

  Order order = Order::Weak;
  Scope scope = Scope::Device;
};

/// The qualifiers that all these instructions may have, and the space; what
/// only tunes caches is taken and forgotten. `hasPolicy`: the last operand is a
/// cache policy.
void takeAccess(Pieces &pieces, MemoryAccess &access, bool &hasPolicy);

/// The bytes of each lane.
struct LanePlaces {
  LaneMask lanes = 0; // Those that have a place; others are reported.
  std::array<char *, warpSize> data;
  std::array<uint64_t, warpSize> address; // Canonical.
};
void resolveLanes(Warp &warp, const Instruction &at, const MemoryAccess &access,
                  const uint64_t *base, LaneMask lanes, bool isWrite,
                  LanePlaces &places);

/// Whether the detector is told of an access there: other memory is a thread's
/// own, or never written.
inline bool isWatched(ptx::Space space, uint64_t address) {
  switch (space) {
  case ptx::Space::Shared:
  case ptx::Space::Global:
    return true;
  case ptx::Space::Generic:
    return isShared(address) || address < paramWindow;
  default:
    return false;
  }
}

/// Sectors or wavefronts of an access, by its space.
void countAccess(Cluster &cluster, const Instruction &at,
                 const MemoryAccess &access, const LanePlaces &places,
                 bool isWrite);

// Of Memory.cpp's family.
void addAtomics(InstructionSet &set);
void addCacheInstructions(InstructionSet &set);

/// Held around a strong access and what the detector is told of it. Nothing to
/// hold where no other host thread comes.
std::unique_lock<std::mutex> lockStrong(Launch &launch, bool isDetecting,
                                        uint64_t address);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_EXECUTE_ACCESS_H
