//===- RegisterWatch.h - Registers that a wgmma works on --------*- C++ -*-===//
//
// wgmma runs behind the back of the warp that issued it. Until wait_group says
// that it is complete nobody may touch its accumulators, or write the registers
// of its A; and what was written to any of them by other instructions it sees
// only past wgmma.fence. The results are there at once in the emulator; a
// RegisterWatch remembers what may be touched.
//
// The numbers: wgmmas of a warp are counted from 1, and `complete` is the last
// one that a wait covered. A register in flight has the number of the wgmma
// that uses it. Fences are counted too: a register that was written since the
// last fence has the fence's number.
//
// Compilers copy registers around an asm statement with mov, and the assembler
// gives both the same register. So a mov from a register to a register is no
// access: its destination is what the source is.
//
// A warp has a watch from its first wgmma.fence or wgmma on.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_REGISTERWATCH_H
#define TILEC_EMULATOR_ASYNC_REGISTERWATCH_H

#include "lib/Emulator/Machine/Machine.h"

namespace tilec::emulator {

/// How a wgmma uses a register.
enum class RegisterUse : uint8_t { Accumulator, Operand };

class RegisterWatch {
public:
  explicit RegisterWatch(size_t numRegisters) : entries(numRegisters) {}

  /// An instruction other than wgmma is about to be executed.
  void observe(Warp &warp, const Instruction &at, LaneMask lanes);

  void fence() { ++fences; }
  /// A wgmma uses these registers; `shape` tells accumulators of one layout
  /// from those of another, `accumulates` whether they are read.
  void issue(Warp &warp, const Instruction &at, LaneMask lanes,
             llvm::ArrayRef<Slot> accumulators, llvm::ArrayRef<Slot> operands,
             unsigned shape, bool accumulates);
  void commit() { groups.push_back(issued); }
  /// The last wgmma that is complete when at most `allowed` groups are in
  /// flight.
  uint32_t coveredBy(uint64_t allowed) const;
  /// wait_group: at most `allowed` groups stay in flight.
  void wait(uint64_t allowed);

  uint32_t numIssued() const { return issued; }
  uint32_t numComplete() const { return complete; }

  /// What the wgmma that was issued last does, for the detector. It is kept
  /// until all warps of the warpgroup know that it is done.
  void addOperation(const AsyncOperation &operation) {
    operations.push_back({issued, operation});
  }
  /// The last one up to wgmma `number`; null: there is none.
  const AsyncOperation *operationUpTo(uint32_t number) const;
  void forgetOperationsUpTo(uint32_t number);

private:
  struct Entry {
    uint32_t user = 0;      // The wgmma that uses it; 0: none did.
    uint32_t userFence = 0; // The fence before that.
    uint32_t written = 0;   // The fence before it was written otherwise.
    uint16_t shape = 0;     // Of accumulators.
    RegisterUse use = RegisterUse::Accumulator;
    bool isCopy = false;             // Became one by mov.
    const Instruction *by = nullptr; // The wgmma.
    const Instruction *writer = nullptr;
  };

  bool isInFlight(const Entry &entry) const { return entry.user > complete; }
  void report(Warp &warp, const Instruction &at, LaneMask lanes, Slot slot,
              bool isWrite) const;
  void reportFence(Warp &warp, const Instruction &at, LaneMask lanes, Slot slot,
                   const Entry &entry) const;

  std::vector<Entry> entries; // By slot.
  uint32_t issued = 0, complete = 0, fences = 0;
  std::deque<uint32_t> groups; // Their last wgmma.
  std::deque<std::pair<uint32_t, AsyncOperation>> operations;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_REGISTERWATCH_H
