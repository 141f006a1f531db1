//===- PendingLoads.cpp - Loads whose values nobody has used --------------===//

#include "lib/Emulator/Machine/PendingLoads.h"
#include "lib/Emulator/Race/Detector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace tilec::emulator {

/// More than this are not under way at once: older ones are done.
constexpr size_t mostLoads = 64;

template <typename Visit> static void forLanes(LaneMask lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1)
    visit(unsigned(llvm::countr_zero(lanes)));
}

void PendingLoads::issue(const Instruction &load, LaneMask lanes) {
  if (loads.size() == mostLoads)
    done(0, ~LaneMask(0));
  isNews = true;
  Load &added = loads.emplace_back();
  added.lanes = lanes;
  for (unsigned i = 0; i < load.numResults; ++i)
    if (load.result(i) != noSlot)
      note(added, load.result(i));
  detector.nextSteps(firstThread, lanes, added.step.data());
  if (LaneMask first = lanes & ~pending)
    detector.loadsPendingSince(firstThread, first, added.step.data());
  pending |= lanes;
}

void PendingLoads::note(Load &load, Slot slot) {
  load.slots.push_back(slot);
  if (numLoads.size() <= slot)
    numLoads.resize(slot + 1);
  ++numLoads[slot];
}

void PendingLoads::exchange(LaneMask lanes) {
  if (!isNews)
    return;
  detector.exchange(firstThread, lanes);
  isNews = lanes != ~LaneMask(0) || !loads.empty();
}

void PendingLoads::use(const Instruction &instruction, LaneMask lanes) {
  bool isMove = instruction.source && instruction.source->opcode() == "mov";
  auto results =
      llvm::ArrayRef(instruction.slots).take_front(instruction.numResults);
  auto values =
      llvm::ArrayRef(instruction.slots).drop_front(instruction.numResults);
  for (size_t i = loads.size(); i-- > 0;) {
    Load &load = loads[i];
    if (!(load.lanes & lanes))
      continue;
    auto has = [&](Slot slot) { return llvm::is_contained(load.slots, slot); };
    // A result that is overwritten must be there before.
    if (!llvm::any_of(isMove ? results : llvm::ArrayRef(instruction.slots),
                      has)) {
      if (isMove && llvm::any_of(values, has))
        for (Slot slot : results)
          if (slot != noSlot)
            note(load, slot);
      continue;
    }
    done(i, lanes);
    return;
  }
}

void PendingLoads::done(size_t last, LaneMask lanes) {
  LaneMask changed = 0;
  for (size_t i = 0; i <= last; ++i) {
    changed |= loads[i].lanes & lanes;
    loads[i].lanes &= ~lanes;
  }
  pending = 0;
  llvm::erase_if(loads, [&](const Load &load) {
    pending |= load.lanes;
    if (load.lanes)
      return false;
    for (Slot slot : load.slots)
      --numLoads[slot];
    return true;
  });
  // The oldest of those that are left, of each lane.
  for (const Load &load : loads) {
    if (LaneMask oldest = changed & load.lanes)
      detector.loadsPendingSince(firstThread, oldest, load.step.data());
    changed &= ~load.lanes;
  }
  constexpr std::array<uint32_t, warpSize> none = {};
  if (changed)
    detector.loadsPendingSince(firstThread, changed, none.data());
}

} // namespace tilec::emulator
