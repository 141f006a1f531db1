//===- Scheduler.h - Who goes next in a cluster -----------------*- C++ -*-===//
//
// Runs the warps of one cluster. Machine.h says by which rules; how:
//
//   * A warp runs as a *group*: lanes at one program counter. While a group
//     stays together its counter is a local variable; it is written back to the
//     lanes when the group ends, which is when it divides, waits, reaches the
//     counter of other lanes or has had its turn.
//   * A warp all of whose lanes wait is *parked* until Cluster::changes moves.
//   * When all are parked, the first of these that helps is done: a pending
//     operation completes; .aligned instructions go on without the lanes that
//     do not come (a report); waits that may time out do. If nothing helps, or
//     timing out again and again does not, it is a deadlock.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_MACHINE_SCHEDULER_H
#define TILEC_EMULATOR_MACHINE_SCHEDULER_H

#include "lib/Emulator/Machine/Machine.h"

namespace tilec::emulator {

struct Scheduler {
  explicit Scheduler(Cluster &cluster);

  bool run(uint64_t steps);
  bool spins();
  void reportDeadlock();
  void enqueue(PendingOperation operation, uint64_t orderKey);

  /// Executions of each instruction by warps.
  std::vector<uint64_t> executions;
  uint64_t completions = 0, exits = 0;

private:
  struct Group {
    LaneMask lanes = 0;
    LaneMask others = 0; // Live lanes elsewhere.
    uint32_t pc = 0;
    uint32_t stop = 0; // Where others are.
  };
  struct Due {
    PendingOperation operation;
    uint64_t key = 0, due = 0;
  };

  bool select(Warp &warp, Group &group);
  /// Runs a warp until its turn is over or all its lanes wait (false).
  bool runWarp(Warp &warp, uint64_t turn);
  /// Runs a group; returns what is left of the turn.
  uint64_t runGroup(Warp &warp, Group group, uint64_t turn);
  void hold(Warp &warp, LaneMask lanes);
  bool forceAligned(Warp &warp);
  void unblock(Warp &warp);

  bool isEligible(size_t index) const;
  void complete(size_t index);
  void completeDue();
  bool completeAny();
  /// All wait: brings something on. False: nothing does.
  bool resolveStall();
  uint64_t activity() const;

  Cluster &cluster;
  std::vector<Warp *> ready, parked;
  uint64_t parkedAt = 0; // Cluster::changes then.
  std::deque<Due> pending;
  uint64_t nextDue = ~uint64_t(0);
  uint64_t activityMark = 0, activityAt = 0; // Of what is pending.
  uint64_t stallMark = 0;
  unsigned fruitlessTimeouts = 0;
  enum class Lateness : uint8_t { Early, Late, Mixed } lateness;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_SCHEDULER_H
