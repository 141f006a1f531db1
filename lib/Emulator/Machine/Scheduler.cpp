//===- Scheduler.cpp - Who goes next in a cluster -------------------------===//

#include "lib/Emulator/Machine/Scheduler.h"
#include "lib/Emulator/Async/MemoryBarrier.h"
#include "lib/Emulator/Async/RegisterWatch.h"
#include "lib/Emulator/Async/Wgmma.h"
#include "lib/Emulator/Execute/Lanes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <utility>

namespace tilec::emulator {

namespace {

constexpr uint32_t noStop = ~uint32_t(0);
constexpr uint64_t never = ~uint64_t(0);

// Rounds of a loop before other lanes of the warp get a turn. Loops of honest
// kernels rarely go round so often while lanes wait behind them, and it costs
// little if they do.
constexpr unsigned patience = 256;

// Instructions without visible effect, of a cluster, after which an operation
// that would be late completes all the same: somebody polls for it.
constexpr uint64_t latestWithoutActivity = 20'000;

// Waits time out so often, with nothing else happening, before that is a
// deadlock: enough for loops that wait for several barriers in turn.
constexpr unsigned timeoutsOfDeadlock = 200;

// How far a loop is followed to see whether it comes back to the same state.
constexpr unsigned longestSpin = 20'000;

} // namespace

Scheduler::Scheduler(Cluster &cluster) : cluster(cluster) {
  executions.resize(cluster.launch.program.instructions.size());
  for (auto &block : cluster.blocks)
    for (auto &warp : block->warps)
      ready.push_back(warp.get());
  lateness = Lateness(cluster.random() % 3);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

bool Scheduler::select(Warp &warp, Group &group) {
  LaneMask live = warp.all & ~warp.exited;
  LaneMask able = live & ~warp.blocked;
  if (!able)
    return false;
  uint32_t lowest = noStop;
  forEachLane(able,
              [&](unsigned lane) { lowest = std::min(lowest, warp.pc[lane]); });
  uint32_t chosen = lowest;
  if (warp.roundsOfLoop > patience) {
    // A turn for others: any of them.
    llvm::SmallVector<uint32_t, warpSize> elsewhere;
    forEachLane(able, [&](unsigned lane) {
      if (warp.pc[lane] != lowest)
        elsewhere.push_back(warp.pc[lane]);
    });
    if (!elsewhere.empty())
      chosen = elsewhere[cluster.random() % elsewhere.size()];
    warp.roundsOfLoop = 0;
  }
  group = {0, 0, chosen, noStop};
  forEachLane(live, [&](unsigned lane) {
    if (warp.pc[lane] == chosen)
      group.lanes |= LaneMask(1) << lane;
    else if (warp.pc[lane] > chosen)
      group.stop = std::min(group.stop, warp.pc[lane]);
  });
  group.others = live & ~group.lanes;
  warp.blocked &= ~group.lanes;
  warp.held &= ~group.lanes;
  warp.waitsForWarp &= ~group.lanes;
  return true;
}

void Scheduler::unblock(Warp &warp) {
  warp.blocked = warp.held = warp.waitsForWarp = 0;
  warp.seen = cluster.changes;
}

void Scheduler::hold(Warp &warp, LaneMask lanes) {
  warp.blocked |= lanes;
  warp.held |= lanes;
}

uint64_t Scheduler::runGroup(Warp &warp, Group group, uint64_t turn) {
  const Instruction *code = cluster.launch.program.instructions.data();
  LaneMask lanes = group.lanes;
  uint32_t pc = group.pc;
  auto leave = [&](LaneMask which, uint32_t at) {
    for (unsigned lane = 0; lane != warpSize; ++lane)
      if (which >> lane & 1)
        warp.pc[lane] = at;
  };
  uint64_t executed = 0, threads = 0;
  auto account = [&] {
    cluster.counters.warpInstructions += executed;
    cluster.counters.threadInstructions += threads;
    return turn - std::min(turn, std::max<uint64_t>(executed, 1));
  };
  for (;;) {
    const Instruction &instruction = code[pc];
    LaneMask executing = lanes;
    if (instruction.guard != noSlot) {
      LaneMask holds = lanesOf(warp.values(instruction.guard));
      executing &= instruction.isGuardNegated ? ~holds : holds;
    }
    if (instruction.isAligned) {
      if (group.others && (lanes & ~warp.forced)) {
        leave(lanes, pc);
        hold(warp, lanes);
        return account();
      }
      if (executing && executing != lanes)
        warp.report(ReportKind::DivergentAligned,
                    llvm::countr_zero(lanes & ~executing), instruction,
                    "the guard of an .aligned instruction differs among the "
                    "lanes of a warp");
    }
    Outcome outcome = Outcome::Next;
    if (executing) {
      if (warp.registerWatch) [[unlikely]]
        warp.registerWatch->observe(warp, instruction, executing);
      if (warp.pendingLoads && !warp.pendingLoads->isEmpty())
        warp.pendingLoads->observe(instruction, executing);
      outcome = instruction.execute(warp, instruction, executing);
    }
    if (outcome == Outcome::Wait) [[unlikely]] {
      LaneMask done = (lanes & ~executing) | (warp.advanced & executing);
      LaneMask waits = executing & ~warp.advanced;
      warp.advanced = 0;
      warp.blocked |= waits;
      warp.waitsForWarp &= waits | ~lanes;
      leave(waits, pc);
      leave(done, pc + 1);
      if (done & executing) {
        ++executed;
        threads += llvm::popcount(done & executing);
        ++executions[pc];
      }
      return account();
    }
    ++executed;
    threads += llvm::popcount(executing);
    ++executions[pc];
    if (instruction.isAligned)
      warp.forced &= ~lanes;
    if (outcome == Outcome::Next) [[likely]] {
      ++pc;
      if (pc != group.stop && executed != turn)
        continue;
      leave(lanes, pc);
      return account();
    }
    // Jumped.
    LaneMask rest = lanes & ~executing;
    if (!warp.isJumpUniform || (executing & warp.exited)) {
      // The handler has set the counters, or there is nobody left.
      leave(rest, pc + 1);
      warp.isJumpUniform = true;
      return account();
    }
    bool isBackward = warp.jumpTarget <= pc;
    if (rest || group.others) {
      leave(rest, pc + 1);
      leave(executing, warp.jumpTarget);
      if (isBackward)
        ++warp.roundsOfLoop;
      return account();
    }
    pc = warp.jumpTarget;
    if (executed >= turn) {
      leave(lanes, pc);
      return account();
    }
  }
}

bool Scheduler::runWarp(Warp &warp, uint64_t turn) {
  if (warp.seen != cluster.changes)
    unblock(warp);
  while (turn) {
    Group group;
    if (select(warp, group)) {
      turn = runGroup(warp, group, turn);
      continue;
    }
    if (warp.seen != cluster.changes) {
      unblock(warp);
      continue;
    }
    // If all lanes wait for each other, nothing else needs to be awaited.
    LaneMask live = warp.all & ~warp.exited;
    if (warp.held && !(live & ~(warp.held | warp.waitsForWarp)) &&
        forceAligned(warp))
      continue;
    return false;
  }
  return true;
}

bool Scheduler::forceAligned(Warp &warp) {
  LaneMask live = warp.all & ~warp.exited;
  LaneMask held = warp.held;
  if (!held)
    return false;
  uint32_t lowest = noStop;
  forEachLane(held,
              [&](unsigned lane) { lowest = std::min(lowest, warp.pc[lane]); });
  LaneMask lanes = 0;
  forEachLane(held, [&](unsigned lane) {
    if (warp.pc[lane] == lowest)
      lanes |= LaneMask(1) << lane;
  });
  const Instruction &at = cluster.launch.program.instructions[lowest];
  unsigned first = llvm::countr_zero(lanes);
  LaneMask missing = live & ~lanes;
  Report report;
  report.kind = ReportKind::DivergentAligned;
  report.message = ("an .aligned instruction is executed by " +
                    llvm::Twine(llvm::popcount(lanes)) + " of the " +
                    llvm::Twine(llvm::popcount(live)) + " threads of a warp")
                       .str();
  report.remedy = "bring the warp together before it, or take it out of the "
                  "branch";
  report.participants.push_back(warp.participant(first, at, "executes it"));
  if (missing) {
    unsigned other = llvm::countr_zero(missing);
    report.participants.push_back(warp.participant(
        other, cluster.launch.program.instructions[warp.pc[other]],
        "is here instead"));
  }
  cluster.launch.reporter.add(std::move(report));
  warp.forced |= lanes;
  warp.blocked &= ~lanes;
  warp.held &= ~lanes;
  return true;
}

//===----------------------------------------------------------------------===//
// Asynchronous operations
//===----------------------------------------------------------------------===//

void Scheduler::enqueue(PendingOperation operation, uint64_t orderKey) {
  uint64_t now = cluster.now(), due = never;
  uint64_t draw = cluster.random();
  switch (lateness) {
  case Lateness::Early:
    due = now;
    break;
  case Lateness::Late:
    break;
  case Lateness::Mixed:
    if (draw % 4 == 0)
      due = now;
    else if (draw % 4 != 1)
      due = now + (draw >> 2) % 2000;
    break;
  }
  pending.push_back({std::move(operation), orderKey, due});
  nextDue = std::min(nextDue, due);
}

bool Scheduler::isEligible(size_t index) const {
  uint64_t key = pending[index].key;
  if (key == 0)
    return true;
  for (size_t i = 0; i != index; ++i)
    if (pending[i].key == key)
      return false;
  return true;
}

void Scheduler::complete(size_t index) {
  Due due = std::move(pending[index]);
  pending.erase(pending.begin() + ptrdiff_t(index));
  ++completions;
  due.operation.complete();
  cluster.progress();
}

void Scheduler::completeDue() {
  uint64_t now = cluster.now();
  // Completion may enqueue more, at the end.
  for (size_t i = 0; i < pending.size();)
    if (pending[i].due <= now && isEligible(i))
      complete(i);
    else
      ++i;
  nextDue = never;
  for (const Due &due : pending)
    // What waits for an earlier one of its key is looked at again later.
    nextDue = std::min(nextDue, std::max(due.due, now + 1));
}

bool Scheduler::completeAny() {
  llvm::SmallVector<size_t, 16> eligible;
  for (size_t i = 0; i != pending.size(); ++i)
    if (isEligible(i))
      eligible.push_back(i);
  if (eligible.empty())
    return false;
  complete(eligible[cluster.random() % eligible.size()]);
  return true;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

uint64_t Scheduler::activity() const {
  return cluster.changes + cluster.writes + completions + exits;
}

bool Scheduler::run(uint64_t steps) {
  Launch &launch = cluster.launch;
  uint64_t end = cluster.now() + steps;
  while (cluster.liveThreads) {
    if (launch.isStopped.load(std::memory_order_relaxed))
      return true;
    if (cluster.now() >= end)
      return false;
    if (nextDue <= cluster.now())
      completeDue();
    if (!pending.empty()) {
      if (uint64_t mark = activity(); mark != activityMark) {
        activityMark = mark;
        activityAt = cluster.now();
      } else if (cluster.now() - activityAt > latestWithoutActivity) {
        completeAny();
      }
    }
    if (!parked.empty() && parkedAt != cluster.changes) {
      ready.insert(ready.end(), parked.begin(), parked.end());
      parked.clear();
    }
    if (ready.empty()) {
      if (!resolveStall()) {
        reportDeadlock();
        return true;
      }
      continue;
    }
    uint64_t draw = cluster.random();
    size_t which = size_t((draw >> 32) % ready.size());
    Warp &warp = *ready[which];
    // Turns of very different lengths show more interleavings.
    uint64_t turn = 1 + (draw & (draw & 0x1000 ? 31 : 255));
    bool canGoOn = runWarp(warp, std::min(turn, end - cluster.now()));
    bool isGone = warp.exited == warp.all;
    if (canGoOn && !isGone)
      continue;
    ready[which] = ready.back();
    ready.pop_back();
    if (isGone)
      continue;
    if (parked.empty())
      parkedAt = warp.seen;
    else
      parkedAt = std::min(parkedAt, warp.seen);
    parked.push_back(&warp);
  }
  // What was started still happens, though nobody waits for it.
  while (completeAny())
    ;
  reportTransactions(cluster, /*isDeadlock=*/false);
  return true;
}

bool Scheduler::resolveStall() {
  if (completeAny())
    return true;
  bool anyForced = false;
  for (Warp *warp : parked)
    if (forceAligned(*warp))
      anyForced = true;
  if (!anyForced) {
    // Let each group that waits time out, once.
    if (uint64_t mark = activity(); mark != stallMark) {
      stallMark = mark;
      fruitlessTimeouts = 0;
    }
    if (++fruitlessTimeouts > timeoutsOfDeadlock)
      return false;
    bool anyReleased = false;
    cluster.timingOut = true;
    for (Warp *warp : parked) {
      unblock(*warp);
      uint64_t before = cluster.now();
      Group group;
      while (select(*warp, group))
        if (runGroup(*warp, group, 1), cluster.now() != before)
          break;
      anyReleased |= cluster.now() != before;
    }
    cluster.timingOut = false;
    if (!anyReleased)
      return false;
  }
  ready.insert(ready.end(), parked.begin(), parked.end());
  parked.clear();
  return true;
}

//===----------------------------------------------------------------------===//
// Spinning
//===----------------------------------------------------------------------===//

bool Scheduler::spins() {
  // Without a change of memory lanes do the same from the same state: if a warp
  // comes back to where all its lanes were, with the same values, after each
  // lane that can go on went on, it does so for ever.
  struct Snapshot {
    std::array<uint32_t, warpSize> pc;
    LaneMask exited, blocked;
    std::vector<Row> registers;
    std::array<std::vector<char>, warpSize> local, param;
  };
  if (!pending.empty())
    return false;
  uint64_t mark = activity();
  size_t numRegisters = cluster.launch.program.numRegisters;
  for (Warp *warp : ready) {
    // A warp that is only about to wait is not in a loop.
    if (!runWarp(*warp, 64))
      continue;
    LaneMask able = warp->all & ~warp->exited & ~warp->blocked;
    Snapshot snapshot{
        warp->pc,
        warp->exited,
        warp->blocked,
        std::vector<Row>(warp->registers, warp->registers + numRegisters),
        warp->local,
        warp->param};
    LaneMask ran = 0;
    bool isBack = false;
    for (unsigned i = 0; i != longestSpin && !isBack; ++i) {
      Group group;
      if (warp->seen != cluster.changes || !select(*warp, group))
        break;
      ran |= group.lanes;
      runGroup(*warp, group, 1);
      isBack = (ran & able) == able && warp->pc == snapshot.pc &&
               warp->exited == snapshot.exited &&
               warp->blocked == snapshot.blocked &&
               std::equal(snapshot.registers.begin(), snapshot.registers.end(),
                          warp->registers) &&
               warp->local == snapshot.local && warp->param == snapshot.param;
    }
    if (!isBack || activity() != mark)
      return false;
  }
  return activity() == mark;
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

namespace {

std::string numbers(llvm::ArrayRef<unsigned> sorted) {
  std::string result;
  for (size_t i = 0; i != sorted.size();) {
    size_t j = i;
    while (j + 1 != sorted.size() && sorted[j + 1] == sorted[j] + 1)
      ++j;
    result += (result.empty() ? "" : ", ") + std::to_string(sorted[i]);
    if (j != i)
      result += (j == i + 1 ? ", " : "-") + std::to_string(sorted[j]);
    i = j + 1;
  }
  return result;
}

} // namespace

void Scheduler::reportDeadlock() {
  const Launch &launch = cluster.launch;
  // Handlers say why their lanes wait if they are asked again.
  cluster.explaining = true;
  for (Warp *warp : parked) {
    unblock(*warp);
    Group group;
    while (select(*warp, group))
      runGroup(*warp, group, 1);
  }
  cluster.explaining = false;
  reportTransactions(cluster, /*isDeadlock=*/true);
  reportRegisterPool(cluster);

  // Who waits for the same thing at the same place is told together: whole
  // warps if all of their lanes do, threads otherwise.
  struct Waiters {
    std::vector<unsigned> warps, threads;
    Warp *first = nullptr;
    unsigned lane = 0;
  };
  std::map<std::tuple<uint32_t, std::string, unsigned>, Waiters> places;
  for (auto &block : cluster.blocks)
    for (auto &warp : block->warps) {
      LaneMask live = warp->all & ~warp->exited;
      std::map<std::pair<uint32_t, std::string>, LaneMask> here;
      forEachLane(live, [&](unsigned lane) {
        std::string what = warp->waiting[lane].what;
        if (warp->held >> lane & 1)
          what = "the rest of its warp";
        else if (!(warp->blocked >> lane & 1))
          what = "a value in memory that does not change";
        else if (what.empty())
          what = "something that does not happen";
        here[{warp->pc[lane], what}] |= LaneMask(1) << lane;
      });
      for (const auto &[place, lanes] : here) {
        Waiters &waiters = places[{place.first, place.second, block->rank}];
        if (!waiters.first) {
          waiters.first = warp.get();
          waiters.lane = llvm::countr_zero(lanes);
        }
        if (lanes == live)
          waiters.warps.push_back(warp->index);
        else
          forEachLane(lanes, [&](unsigned lane) {
            waiters.threads.push_back(warp->index * warpSize + lane);
          });
      }
    }
  Report report;
  report.kind = ReportKind::Deadlock;
  report.message = "all threads of a block that have not exited wait";
  if (cluster.blocks.size() > 1)
    report.message = "all threads of a cluster that have not exited wait";
  for (const auto &[place, waiters] : places) {
    const auto &[pc, what, rank] = place;
    std::string who;
    auto list = [&](llvm::StringRef one, llvm::ArrayRef<unsigned> which) {
      if (which.empty())
        return;
      if (!who.empty())
        who += " and ";
      who += (one + (which.size() == 1 ? " " : "s ") + numbers(which)).str();
    };
    list("warp", waiters.warps);
    list("thread", waiters.threads);
    bool isOne = waiters.warps.size() + waiters.threads.size() == 1;
    who += isOne ? " waits for " : " wait for ";
    who += what;
    report.participants.push_back(waiters.first->participant(
        waiters.lane, launch.program.instructions[pc], std::move(who)));
  }
  cluster.launch.reporter.add(std::move(report));
  cluster.launch.isStopped = true;
}

} // namespace tilec::emulator
