//===- RegisterWatch.cpp - Registers that a wgmma works on ----------------===//

#include "lib/Emulator/Async/RegisterWatch.h"
#include "lib/Emulator/Async/Wgmma.h"
#include "lib/Emulator/Execute/Lanes.h"

namespace tilec::emulator {

/// "register '%f12'", for messages.
static std::string nameOfRegister(const Program &program, Slot slot) {
  for (const FunctionCode &function : program.functions)
    for (size_t i = 0; i < function.registers.size(); ++i)
      if (function.registers[i] == slot)
        return "register '" + function.source->registers[i].name + "'";
  return "a register";
}

/// `mov` from a register to another.
static bool isRename(const Instruction &at) {
  return at.numResults == 1 && at.numValues() == 1 &&
         at.value(0) < Program::firstConstant &&
         at.value(0) >= Slot(Special::Count) && at.source->opcode() == "mov";
}

/// `mov` of a number. Compilers put it where the register is first used, beyond
/// a fence that the source has after it.
static bool isConstant(const Instruction &at) {
  return at.numResults == 1 && at.numValues() == 1 &&
         at.value(0) >= Program::firstConstant && at.source->opcode() == "mov";
}

void RegisterWatch::report(Warp &warp, const Instruction &at, LaneMask lanes,
                           Slot slot, bool isWrite) const {
  const Entry &entry = entries[slot];
  Cluster &cluster = warp.block.cluster;
  bool isOperand = entry.use == RegisterUse::Operand;
  Report report;
  report.kind = ReportKind::RegisterInFlight;
  report.message = nameOfRegister(cluster.launch.program, slot) + " is " +
                   (isWrite ? "written" : "read") + " while a wgmma " +
                   (isOperand ? "may read it" : "accumulates in it");
  report.remedy = "wait for the wgmma with wgmma.wait_group before";
  unsigned lane = firstLane(lanes);
  report.participants.push_back(
      warp.participant(lane, at, isWrite ? "writes" : "reads"));
  report.participants.push_back(
      warp.participant(lane, *entry.by, "is in flight"));
  cluster.launch.reporter.add(std::move(report));
}

void RegisterWatch::reportFence(Warp &warp, const Instruction &at,
                                LaneMask lanes, Slot slot,
                                const Entry &entry) const {
  Cluster &cluster = warp.block.cluster;
  Report report;
  report.kind = ReportKind::MissingWgmmaFence;
  report.message =
      fences == 0
          ? "a wgmma is executed before any wgmma.fence"
          : nameOfRegister(cluster.launch.program, slot) +
                " was written after the last wgmma.fence and is used by a "
                "wgmma";
  report.remedy = "execute wgmma.fence between writing registers and the first "
                  "wgmma that uses them";
  unsigned lane = firstLane(lanes);
  report.participants.push_back(warp.participant(lane, at, "uses it"));
  if (entry.writer)
    report.participants.push_back(
        warp.participant(lane, *entry.writer, "wrote it"));
  cluster.launch.reporter.add(std::move(report));
}

void RegisterWatch::observe(Warp &warp, const Instruction &at, LaneMask lanes) {
  if (isWgmma(at))
    return;
  if (isRename(at) && at.result(0) < entries.size()) {
    const Entry &source = entries[at.value(0)];
    Entry &target = entries[at.result(0)];
    // Accumulators are overwritten only by other accumulators.
    if (isInFlight(target) && !target.isCopy && !isInFlight(source))
      report(warp, at, lanes, at.result(0), /*isWrite=*/true);
    bool isCopy = isInFlight(source);
    target = source;
    target.isCopy = isCopy;
    return;
  }
  for (unsigned i = 0; i < at.numValues(); ++i) {
    Slot slot = at.value(i);
    if (slot < entries.size() && isInFlight(entries[slot]) &&
        entries[slot].use == RegisterUse::Accumulator)
      report(warp, at, lanes, slot, /*isWrite=*/false);
  }
  for (unsigned i = 0; i < at.numResults; ++i) {
    Slot slot = at.result(i);
    if (slot >= entries.size())
      continue;
    Entry &entry = entries[slot];
    if (isInFlight(entry) && !entry.isCopy)
      report(warp, at, lanes, slot, /*isWrite=*/true);
    entry.user = 0;
    entry.isCopy = false;
    entry.written = fences && isConstant(at) ? fences - 1 : fences;
    entry.writer = &at;
  }
}

void RegisterWatch::issue(Warp &warp, const Instruction &at, LaneMask lanes,
                          llvm::ArrayRef<Slot> accumulators,
                          llvm::ArrayRef<Slot> operands, unsigned shape,
                          bool accumulates) {
  ++issued;
  // One report is enough for all registers of an instruction.
  const Entry *unfenced = nullptr;
  Slot unfencedSlot = noSlot, busySlot = noSlot;
  for (Slot slot : operands) {
    if (slot >= entries.size())
      continue;
    Entry &entry = entries[slot];
    if (isInFlight(entry) && entry.use == RegisterUse::Accumulator)
      busySlot = slot;
    if (entry.written == fences && !unfenced) {
      unfenced = &entry;
      unfencedSlot = slot;
    }
  }
  for (Slot slot : accumulators) {
    if (slot >= entries.size())
      continue;
    Entry &entry = entries[slot];
    bool isChained = entry.user != 0 && entry.shape == shape &&
                     entry.use == RegisterUse::Accumulator;
    if (isInFlight(entry) && entry.use == RegisterUse::Operand)
      busySlot = slot;
    // What another wgmma wrote is as good as written by anyone, unless it is
    // the same registers in the same roles.
    // Compilers set what is overwritten to some value, and that nobody waits
    // for. But a first fence there must be.
    bool isUnfenced = entry.user != 0 ? !isChained && entry.userFence == fences
                                      : (accumulates || fences == 0) &&
                                            entry.written == fences;
    if (isUnfenced && !unfenced) {
      unfenced = &entry;
      unfencedSlot = slot;
    }
  }
  if (busySlot != noSlot)
    report(warp, at, lanes, busySlot,
           entries[busySlot].use == RegisterUse::Operand);
  if (unfenced)
    reportFence(warp, at, lanes, unfencedSlot, *unfenced);

  auto use = [&](Slot slot, RegisterUse how) {
    if (slot >= entries.size())
      return;
    Entry &entry = entries[slot];
    entry.user = issued;
    entry.userFence = fences;
    entry.shape = uint16_t(shape);
    entry.use = how;
    entry.isCopy = false;
    entry.by = &at;
    entry.writer = nullptr;
  };
  for (Slot slot : operands)
    use(slot, RegisterUse::Operand);
  for (Slot slot : accumulators)
    use(slot, RegisterUse::Accumulator);
}

uint32_t RegisterWatch::coveredBy(uint64_t allowed) const {
  return groups.size() > allowed
             ? std::max(complete, groups[groups.size() - 1 - allowed])
             : complete;
}

void RegisterWatch::wait(uint64_t allowed) {
  complete = coveredBy(allowed);
  while (groups.size() > allowed)
    groups.pop_front();
}

const AsyncOperation *RegisterWatch::operationUpTo(uint32_t number) const {
  const AsyncOperation *last = nullptr;
  for (const auto &[of, operation] : operations) {
    if (of > number)
      break;
    last = &operation;
  }
  return last;
}

void RegisterWatch::forgetOperationsUpTo(uint32_t number) {
  while (!operations.empty() && operations.front().first <= number)
    operations.pop_front();
}

} // namespace tilec::emulator
