//===- Warpgroup.cpp - What four warps do together ------------------------===//

#include "lib/Emulator/Async/Operands.h"
#include "lib/Emulator/Async/Wgmma.h"
#include <utility>

namespace tilec::emulator {

WarpgroupState &warpgroupOf(Warp &warp) {
  auto &warpgroups = warp.block.warpgroups;
  size_t index = warp.index / warpsOfWarpgroup;
  if (warpgroups.size() <= index)
    warpgroups.resize(index + 1);
  if (!warpgroups[index]) {
    warpgroups[index] = std::make_shared<WarpgroupState>();
    // Registers are allotted by eights.
    unsigned registers = warp.block.cluster.launch.registersPerThread;
    warpgroups[index]->registers.fill((registers + 7) / 8 * 8);
  }
  return *warpgroups[index];
}

static Warp *warpOf(Block &block, size_t index) {
  return index < block.warps.size() ? block.warps[index].get() : nullptr;
}

static void reportDifference(Warp &warp, unsigned lane, const Instruction &at,
                             const WarpgroupState::Step &other) {
  bool isSame = other.at == &at;
  Report report;
  report.kind = isSame ? ReportKind::BadOperand : ReportKind::DivergentAligned;
  report.message =
      isSame ? "the warps of a warpgroup execute an instruction with different "
               "operands"
             : "the warps of a warpgroup execute different instructions that "
               "all of them must execute";
  report.participants.push_back(warp.participant(lane, at, "executes it"));
  report.participants.push_back(warp.participant(
      lane, *other.at, "is what another warp of the warpgroup executes"));
  warp.block.cluster.launch.reporter.add(std::move(report));
}

bool takeStep(Warp &warp, LaneMask lanes, const WarpgroupState::Step &step) {
  unsigned lane = firstLane(lanes);
  unsigned last =
      warp.index / warpsOfWarpgroup * warpsOfWarpgroup + warpsOfWarpgroup - 1;
  if (!warpOf(warp.block, last) || warp.all != allLanes) {
    warp.report(ReportKind::DivergentAligned, lane, *step.at,
                "an instruction of a warpgroup is executed by warps that are "
                "not four",
                "the block must have a multiple of 128 threads");
    return false;
  }
  WarpgroupState &state = warpgroupOf(warp);
  unsigned self = warp.index % warpsOfWarpgroup;
  uint64_t number = state.done[self]++;
  if (number == state.first + state.steps.size())
    state.steps.push_back(step);
  else if (!(state.steps[number - state.first] == step))
    reportDifference(warp, lane, *step.at, state.steps[number - state.first]);
  uint64_t least = *llvm::min_element(state.done);
  for (; state.first < least; ++state.first)
    state.steps.pop_front();
  return true;
}

//===----------------------------------------------------------------------===//
// Waiting for all parts of a wgmma
//===----------------------------------------------------------------------===//

/// Calls `visit` for the warps of the warpgroup that exist.
template <typename Visit> static void forEachPart(Warp &warp, Visit visit) {
  unsigned first = warp.index / warpsOfWarpgroup * warpsOfWarpgroup;
  for (unsigned i = 0; i < warpsOfWarpgroup; ++i)
    if (Warp *part = warpOf(warp.block, first + i))
      visit(*part);
}

bool isIssuedByAll(Warp &warp, const Instruction &at, LaneMask lanes,
                   uint32_t number) {
  const Warp *missing = nullptr;
  forEachPart(warp, [&](const Warp &part) {
    uint32_t issued = part.registerWatch ? part.registerWatch->numIssued() : 0;
    if (!missing && issued < number && part.exited != part.all)
      missing = &part;
  });
  if (!missing)
    return true;
  warpgroupOf(warp).isAwaited = true;
  if (warp.block.cluster.isExplaining())
    forEachLane(lanes, [&](unsigned lane) {
      warp.setWaiting(lane, at,
                      "wgmmas that warp " + std::to_string(missing->index) +
                          " of its warpgroup has not issued");
    });
  return false;
}

void issuedWgmma(Warp &warp) {
  WarpgroupState &state = warpgroupOf(warp);
  if (std::exchange(state.isAwaited, false))
    warp.block.cluster.progress();
}

void completeParts(Warp &warp, uint32_t number, SyncPoint &to) {
  Detector &detector = *warp.block.cluster.detector();
  uint32_t known = number; // By all who may still ask.
  forEachPart(warp, [&](const Warp &part) {
    if (part.exited != part.all)
      known = std::min(
          known, part.registerWatch ? part.registerWatch->numComplete() : 0);
    // Those of a warp complete in order.
    if (part.registerWatch)
      if (auto *operation = part.registerWatch->operationUpTo(number))
        detector.complete(*operation, to);
  });
  forEachPart(warp, [&](const Warp &part) {
    if (part.registerWatch)
      part.registerWatch->forgetOperationsUpTo(known);
  });
}

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

void checkStepsAtExit(Warp &warp, const Instruction &at) {
  size_t index = warp.index / warpsOfWarpgroup;
  if (index >= warp.block.warpgroups.size() || !warp.block.warpgroups[index])
    return;
  // The first of the four that ends too early is noticed when it, or another,
  // has ended: then what others did beyond it will never be done by it.
  WarpgroupState &state = *warp.block.warpgroups[index];
  if (std::exchange(state.isAwaited, false))
    warp.block.cluster.progress();
  for (unsigned i = 0; i < warpsOfWarpgroup; ++i) {
    Warp *other = warpOf(warp.block, index * warpsOfWarpgroup + i);
    if (!other || other->exited != other->all ||
        state.done[i] == state.first + state.steps.size())
      continue;
    const Instruction &missed = *state.steps[state.done[i] - state.first].at;
    Report report;
    report.kind = ReportKind::DivergentAligned;
    report.message = "a warp ends without an instruction that all warps of its "
                     "warpgroup must execute";
    report.participants.push_back(
        other->participant(0, missed, "is executed by other warps"));
    report.participants.push_back(other->participant(0, at, "ends"));
    warp.block.cluster.launch.reporter.add(std::move(report));
    state.done[i] = state.first + state.steps.size();
  }
}

//===----------------------------------------------------------------------===//
// setmaxnreg
//===----------------------------------------------------------------------===//

// A block begins with as many registers as its threads have at launch, and none
// in its pool. dec gives registers to the pool, inc takes them, and waits until
// there are enough.

namespace {

constexpr uint64_t isIncrease = uint64_t(1) << 32;

unsigned countOf(const Instruction &at) { return unsigned(at.flags); }

bool checkCount(Warp &warp, unsigned lane, const Instruction &at,
                unsigned current) {
  unsigned count = countOf(at);
  if (count < 24 || count > 256 || count % 8 != 0) {
    warp.report(ReportKind::RegisterPool, lane, at,
                "setmaxnreg asks for " + std::to_string(count) +
                    " registers, but it must be a multiple of 8 from 24 to "
                    "256");
    return false;
  }
  bool increases = at.flags & isIncrease;
  if (current != 0 && (increases ? count < current : count > current)) {
    warp.report(ReportKind::RegisterPool, lane, at,
                std::string("setmaxnreg.") + (increases ? "inc" : "dec") +
                    " asks for " + std::to_string(count) +
                    " registers, but the thread has " +
                    std::to_string(current));
    return false;
  }
  return true;
}

std::string shortage(const Warp &warp, unsigned wanted) {
  return std::to_string(wanted) + " more registers for its warp, of which " +
         std::to_string(warp.block.registerPool) +
         " are in the pool of the block";
}

Outcome runRegisterCount(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  WarpgroupState &state = warpgroupOf(warp);
  unsigned &current = state.registers[warp.index % warpsOfWarpgroup];
  unsigned lane = firstLane(lanes);
  unsigned count = countOf(at);
  if (!checkCount(warp, lane, at, current)) {
    takeStep(warp, lanes, {&at, {}});
    return Outcome::Next;
  }
  if (current != 0 && at.flags & isIncrease) {
    unsigned wanted = (count - current) * warpSize;
    if (wanted > warp.block.registerPool) {
      if (cluster.isExplaining())
        forEachLane(lanes, [&](unsigned waiter) {
          warp.setWaiting(waiter, at, shortage(warp, wanted));
        });
      return Outcome::Wait;
    }
    warp.block.registerPool -= wanted;
  } else if (current != 0) {
    warp.block.registerPool += (current - count) * warpSize;
    cluster.progress();
  }
  current = count;
  takeStep(warp, lanes, {&at, {}});
  return Outcome::Next;
}

} // namespace

bool reportRegisterPool(Cluster &cluster) {
  bool any = false;
  for (auto &block : cluster.blocks)
    for (auto &warp : block->warps)
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        const Instruction *at = warp->waiting[lane].at;
        if (!at || at->execute != &runRegisterCount)
          continue;
        unsigned current =
            warpgroupOf(*warp).registers[warp->index % warpsOfWarpgroup];
        warp->report(ReportKind::RegisterPool, lane, *at,
                     "setmaxnreg.inc waits for ever for " +
                         shortage(*warp, (countOf(*at) - current) * warpSize),
                     "all warpgroups together may have as many registers as "
                     "the block had at launch: let others give up more, and "
                     "before");
        any = true;
        break;
      }
  return any;
}

llvm::Error decodeRegisterCount(Decoder &decoder, const ptx::Instruction &from,
                                Instruction &to) {
  Pieces pieces(from);
  bool increases = pieces.take("inc");
  if (!increases && !pieces.take("dec"))
    return decoder.unsupported(from, "neither .inc nor .dec");
  pieces.take("sync");
  pieces.take("aligned");
  pieces.take("u32");
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  to.execute = &runRegisterCount;
  OperandReader operands(decoder, from, to);
  if (llvm::Error error = operands.number(to.flags))
    return error;
  to.flags = std::min<uint64_t>(to.flags, ~0u) | (increases ? isIncrease : 0);
  return operands.finish();
}

} // namespace tilec::emulator
