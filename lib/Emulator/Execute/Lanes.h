//===- Lanes.h - Loops over the lanes of a warp -----------------*- C++ -*-===//

#ifndef TILEC_EMULATOR_EXECUTE_LANES_H
#define TILEC_EMULATOR_EXECUTE_LANES_H

#include "lib/Emulator/Machine/Instruction.h"
#include "llvm/ADT/bit.h"

namespace tilec::emulator {

constexpr LaneMask allLanes = ~LaneMask(0);

inline unsigned firstLane(LaneMask lanes) {
  return unsigned(llvm::countr_zero(lanes));
}

/// Calls `body` with the number of each lane that is set.
template <typename Body> void forEachLane(LaneMask lanes, Body body) {
  if (lanes == allLanes) {
    for (unsigned lane = 0; lane != warpSize; ++lane)
      body(lane);
    return;
  }
  for (; lanes; lanes &= lanes - 1)
    body(firstLane(lanes));
}

/// The lanes of which a predicate holds.
inline LaneMask lanesOf(const uint64_t *predicate) {
  LaneMask result = 0;
  for (unsigned lane = 0; lane != warpSize; ++lane)
    result |= LaneMask(predicate[lane] & 1) << lane;
  return result;
}

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_EXECUTE_LANES_H
