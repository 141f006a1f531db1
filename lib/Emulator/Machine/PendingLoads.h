//===- PendingLoads.h - Loads whose values nobody has used ------*- C++ -*-===//
//
// A load from shared memory is queued, and its thread goes on until it uses the
// value; a barrier in between does not wait for it. Another thread's ordinary
// store does not overtake it, but a bulk copy may (see Race/Detector.h). So a
// warp keeps the loads whose values none of its instructions has used yet, and
// tells the detector from which step of a thread on loads are pending. Loads
// are made in order: with one, all before it are done.
//
// A register that is only moved is not used: the assembler makes nothing of
// that.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_MACHINE_PENDINGLOADS_H
#define TILEC_EMULATOR_MACHINE_PENDINGLOADS_H

#include "lib/Emulator/Machine/Instruction.h"
#include "llvm/ADT/ArrayRef.h"
#include <deque>
#include <vector>

namespace tilec::emulator {

class Detector;

/// Of one warp, whose first thread is `firstThread`.
class PendingLoads {
public:
  PendingLoads(Detector &detector, uint32_t firstThread)
      : detector(detector), firstThread(firstThread) {}

  bool isEmpty() const { return loads.empty(); }
  /// Lanes load from shared memory into the results of an instruction. To be
  /// said before the detector is told of what they read.
  void issue(const Instruction &load, LaneMask lanes);
  /// Lanes give each other values.
  void exchange(LaneMask lanes);
  /// Lanes are about to execute an instruction: it may use what was loaded.
  void observe(const Instruction &instruction, LaneMask lanes) {
    for (Slot slot : instruction.slots)
      if (slot < numLoads.size() && numLoads[slot])
        return use(instruction, lanes);
  }

private:
  struct Load {
    llvm::SmallVector<Slot, 8> slots; // Which have its values.
    LaneMask lanes = 0;               // For which it is pending.
    std::array<uint32_t, warpSize> step;
  };

  void note(Load &load, Slot slot);
  void use(const Instruction &instruction, LaneMask lanes);
  void done(size_t last, LaneMask lanes);

  Detector &detector;
  uint32_t firstThread;
  std::deque<Load> loads;         // The oldest first.
  LaneMask pending = 0;           // Lanes of any of them.
  bool isNews = false;            // Loads since the last exchange of all lanes.
  std::vector<uint16_t> numLoads; // By slot: how many of them have it.
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_PENDINGLOADS_H
