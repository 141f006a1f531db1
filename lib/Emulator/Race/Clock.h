//===- Clock.h - Vector clocks and what carries them ------------*- C++ -*-===//
//
// A Clock says for every agent of a cluster up to which of its steps things are
// known, in three ways (Times): what happens before, what of it the async proxy
// sees too, and which loads have surely been made. Clocks are immutable once
// they are shared, and shared wherever possible: after a barrier of 384 threads
// all hold the same one, so joining two of them is mostly a comparison of
// pointers. What a thread knows of itself is not in its Clock: that is its own
// step, always.
//
//   base ──► Clock  agent 0: known 3, fenced 2, loaded 3
//                   agent 1: known 1, fenced 1, loaded 0   ...
//   own step 4
//
// A SyncPoint holds a Knowledge: a Clock and, apart from it, the few steps that
// were released on top of it. They are put together once, when the first one
// acquires them; that others acquire the same thing starting from the same
// Clock is remembered, so they all end with one Clock again.
//
// Other clusters are *foreign*: their agents are known through strong accesses
// to global memory alone. A Snapshot is a copy of a Clock's times, for other
// clusters on other host threads to read.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_RACE_CLOCK_H
#define TILEC_EMULATOR_RACE_CLOCK_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tilec::emulator {

using Agent = uint32_t;
using Step = uint32_t; // From 1; 0 is before all.

/// What is known of an agent.
struct Times {
  Step known = 0;  // What it did up to this step happens before.
  Step fenced = 0; // ... and is visible to the async proxy.
  Step loaded = 0; // Its loads up to here have read memory, before this.

  bool operator==(const Times &other) const {
    return known == other.known && fenced == other.fenced &&
           loaded == other.loaded;
  }
  bool covers(const Times &other) const {
    return known >= other.known && fenced >= other.fenced &&
           loaded >= other.loaded;
  }
  void raise(const Times &other);
};

/// Of all agents of a cluster; those beyond its end are not known.
using Snapshot = std::vector<Times>;

/// What is known of other clusters, by their index. Immutable.
struct Foreign {
  std::vector<std::pair<uint64_t, std::shared_ptr<const Snapshot>>> clusters;

  const Snapshot *find(uint64_t cluster) const; // Null: nothing.
};
using ForeignRef = std::shared_ptr<const Foreign>;

/// The union of what both know; null knows nothing.
ForeignRef joined(const ForeignRef &a, const ForeignRef &b);

class Clock;
using ClockRef = llvm::IntrusiveRefCntPtr<const Clock>;

class Clock : public llvm::RefCountedBase<Clock> {
public:
  Snapshot times;
  ForeignRef foreign;
  /// Of strong accesses of any scope (Words.h): what fences have released, for
  /// relaxed accesses that come after them; and what relaxed accesses have
  /// read, for fences that come after. The own cluster is among these.
  ForeignRef released, seen;

  Step known(Agent agent) const {
    return agent < times.size() ? times[agent].known : 0;
  }
  Times of(Agent agent) const {
    return agent < times.size() ? times[agent] : Times();
  }
  void raise(Agent agent, const Times &to);

  /// One that knows the same, to be changed.
  static llvm::IntrusiveRefCntPtr<Clock> copied(const ClockRef &clock);
  /// The same with all that is known fenced, too; made once.
  static ClockRef withFence(const ClockRef &clock);
  /// The same with more in `released`, or in `seen`.
  static ClockRef withReleased(const ClockRef &clock, const ForeignRef &more);
  static ClockRef withSeen(const ClockRef &clock, const ForeignRef &more);

private:
  mutable ClockRef fencedForm; // Null: not made yet.
  mutable bool isFenced = false;
};

/// The union of what both know: one of the two if it knows what the other does.
ClockRef joined(const ClockRef &a, const ClockRef &b);

/// What can be acquired from a SyncPoint.
class Knowledge {
public:
  /// Adds what an agent with `base` knows, and what is known of itself.
  void add(const ClockRef &base, Agent agent, const Times &own);
  /// Adds what is known of an agent alone.
  void add(Agent agent, const Times &own);
  /// What one with `base` knows after he has acquired all this.
  ClockRef acquiredBy(const ClockRef &base);

private:
  const ClockRef &together();

  ClockRef clock; // Null: nothing but `steps`.
  llvm::SmallVector<std::pair<Agent, Times>, 4> steps; // On top of it.
  /// Clocks that `clock` is known to contain.
  llvm::SmallVector<ClockRef, 4> contained;
  /// Who came with which Clock went with which, since the last change.
  llvm::SmallVector<std::pair<ClockRef, ClockRef>, 2> answers;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_RACE_CLOCK_H
