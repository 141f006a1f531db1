//===- WarpSync.h - Instructions with a member mask -------------*- C++ -*-===//
//
// They wait until all threads that the mask names and that have not exited are
// there. Threads at one instruction may belong to several groups with masks of
// their own; each group goes on when it is complete.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_EXECUTE_WARPSYNC_H
#define TILEC_EMULATOR_EXECUTE_WARPSYNC_H

#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Machine/Machine.h"

namespace tilec::emulator {

/// "0-3, 7".
std::string nameLanes(LaneMask lanes);

/// Calls `body` with each set of lanes that is complete, and lets these go on.
template <typename Body>
Outcome forEachGroup(Warp &warp, const Instruction &at, LaneMask lanes,
                     Slot maskSlot, Body body) {
  LaneMask live = warp.all & ~warp.exited;
  const uint64_t *mask = warp.values(maskSlot);
  LaneMask left = lanes, done = 0;
  while (left) {
    unsigned first = firstLane(left);
    LaneMask named = LaneMask(mask[first]);
    // Those who name the same threads.
    LaneMask group = 0;
    forEachLane(left, [&](unsigned lane) {
      group |= LaneMask(LaneMask(mask[lane]) == named) << lane;
    });
    left &= ~group;
    if (LaneMask strangers = group & ~named) [[unlikely]] {
      warp.report(ReportKind::BadOperand, firstLane(strangers), at,
                  "a thread executes it that its member mask does not name");
      group &= named;
      done |= strangers;
      if (!group)
        continue;
    }
    LaneMask missing = named & live & ~group;
    if (!missing) {
      body(group);
      done |= group;
      continue;
    }
    warp.waitForWarp(group);
    if (warp.block.cluster.isExplaining())
      forEachLane(group, [&](unsigned lane) {
        warp.setWaiting(
            lane, at,
            std::string(llvm::popcount(missing) == 1 ? "lane " : "lanes ") +
                nameLanes(missing) +
                " of its warp, which its member mask names");
      });
  }
  if (done == lanes)
    return Outcome::Next;
  warp.advance(done);
  return Outcome::Wait;
}

/// The common case: all lanes at once, with one mask that names them all.
inline bool isWholeWarp(const Warp &warp, LaneMask lanes, Slot maskSlot) {
  return maskSlot >= Program::firstConstant && lanes == warp.all &&
         LaneMask(warp.values(maskSlot)[0]) == allLanes;
}

template <typename Body>
Outcome forEachSync(Warp &warp, const Instruction &at, LaneMask lanes,
                    Slot maskSlot, Body body) {
  if (isWholeWarp(warp, lanes, maskSlot)) {
    body(lanes);
    return Outcome::Next;
  }
  return forEachGroup(warp, at, lanes, maskSlot, body);
}

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_EXECUTE_WARPSYNC_H
