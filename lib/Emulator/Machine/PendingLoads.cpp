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
  Load &added = loads.emplace_back();
  added.lanes = lanes;
  for (unsigned i = 0; i < load.numResults; ++i) {
    if (load.result(i) == noSlot)
      continue;
    added.slots.push_back(load.result(i));
    filter |= bitOf(load.result(i));
  }
  forLanes(lanes, [&](unsigned lane) {
    ThreadId thread = firstThread + lane;
    added.step[lane] = detector.nextStep(thread);
    bool isFirst =
        llvm::none_of(llvm::drop_end(loads), [&](const Load &earlier) {
          return earlier.lanes >> lane & 1;
        });
    if (isFirst)
      detector.loadsPendingSince(thread, added.step[lane]);
  });
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
      if (isMove && llvm::any_of(values, has)) {
        load.slots.append(results.begin(), results.end());
        for (Slot slot : results)
          filter |= bitOf(slot);
      }
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
  forLanes(changed, [&](unsigned lane) {
    auto oldest = llvm::find_if(
        loads, [&](const Load &load) { return load.lanes >> lane & 1; });
    detector.loadsPendingSince(firstThread + lane,
                               oldest == loads.end() ? 0 : oldest->step[lane]);
  });
  llvm::erase_if(loads, [](const Load &load) { return load.lanes == 0; });
  filter = 0;
  for (const Load &load : loads)
    for (Slot slot : load.slots)
      filter |= bitOf(slot);
}

} // namespace tilec::emulator
