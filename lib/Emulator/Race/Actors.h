//===- Actors.h - Who accesses memory ---------------------------*- C++ -*-===//
//
// An access is compared with those before it by what the one who makes it knows
// of them. Threads, lanes of one store, the read-only path, the end of a block
// and asynchronous operations differ in that; all answer the same questions:
//
//   knowledge         of whom is anything known
//   isSelf            is an earlier access its own
//   isPlainlyOrdered  is it ordered, found out quickly: no may be wrong
//   relation          how does it relate to an earlier access
//   isMade            has an access to shared memory surely been made
//   isBefore          does whoever comes after this one come after the earlier
//   isTogether        are both one instruction, or harmless together
//
// They are template arguments, as an access asks several of them for each byte.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_RACE_ACTORS_H
#define TILEC_EMULATOR_RACE_ACTORS_H

#include "lib/Emulator/Race/DetectorState.h"

namespace tilec::emulator {

/// What a thread knows.
struct Knowing {
  const Detector::State::Thread *thread;
  Agent agent;
  uint32_t cluster;

  /// Besides of its own operations.
  const Clock &knowledge() const { return *thread->base; }
  bool isSelf(const Access &access) const {
    return access.agent == agent && access.cluster == cluster;
  }
  /// Whether it is ordered, for most accesses; the others ask for the relation.
  bool isPlainlyOrdered(const Access &earlier) const {
    return earlier.cluster == cluster &&
           thread->base->known(earlier.agent) >= earlier.step;
  }
  Relation relation(const Access &earlier, const Access &later) const {
    if (earlier.cluster == cluster) {
      if (earlier.agent == agent)
        return Relation::Ordered;
      Times times = thread->of(earlier.agent);
      return times.known >= earlier.step ||
                     (!earlier.isWrite && times.loaded >= earlier.step)
                 ? Relation::Ordered
                 : Relation::Unordered;
    }
    return relationToForeign(earlier);
  }
  /// Whether an access to shared memory has surely been made, as far as its
  /// thread's warp has told: see Detector::exchange.
  bool isMade(const Access &earlier) const {
    return earlier.cluster == cluster &&
           thread->of(earlier.agent).loaded >= earlier.step;
  }
  /// Whether who comes after this one comes after `earlier`, in every respect.
  bool isBefore(const Access &earlier) const {
    if (isSelf(earlier))
      return true;
    if (earlier.cluster != cluster)
      return relationToForeign(earlier) == Relation::Ordered;
    Times times = thread->of(earlier.agent);
    return times.known >= earlier.step && times.loaded >= earlier.step;
  }

private:
  Relation relationToForeign(const Access &earlier) const {
    const Foreign *foreign = thread->base->foreign.get();
    const Snapshot *times = foreign ? foreign->find(earlier.cluster) : nullptr;
    return times && earlier.agent < times->size() &&
                   (*times)[earlier.agent].known >= earlier.step
               ? Relation::Ordered
               : Relation::Unordered;
  }
};

struct ThreadActor : Knowing {
  /// Whether the accesses are one instruction, of which one lane wins.
  bool isTogether(const Access &, const Access &, uint64_t) const {
    return false;
  }
};

/// A thread that reads by the read-only path.
struct ReadOnlyActor {
  Knowing thread;

  const Clock &knowledge() const { return thread.knowledge(); }
  bool isSelf(const Access &) const { return false; }
  bool isPlainlyOrdered(const Access &) const { return false; }
  Relation relation(const Access &, const Access &) const {
    return Relation::Unordered;
  }
  bool isMade(const Access &) const { return false; }
  bool isBefore(const Access &earlier) const {
    return thread.isBefore(earlier);
  }
  bool isTogether(const Access &, const Access &, uint64_t) const {
    return false;
  }
};

/// The last thread of a block, as it takes the block's shared memory along. The
/// block's own threads have ended, so only others can be too late.
struct EndingBlock : Knowing {
  const Detector::State &state;

  bool isTogether(const Access &earlier, const Access &later, uint64_t) const {
    return state.blockOf(earlier.agent) == state.blockOf(later.agent);
  }
};

/// A thread whose warp executes a store together.
struct LaneActor : Knowing {
  ThreadId warp;
  uint32_t done; // Lanes before this one.
  const uint64_t *addresses;
  unsigned bytes;

  bool isTogether(const Access &earlier, const Access &later,
                  uint64_t address) const {
    if (earlier.instruction != later.instruction ||
        earlier.cluster != cluster || earlier.agent < warp ||
        earlier.agent >= warp + 32)
      return false;
    unsigned lane = earlier.agent - warp;
    return (done >> lane & 1) && address >= addresses[lane] &&
           address < addresses[lane] + bytes;
  }
};

struct OperationActor {
  const AsyncOperation &operation;
  uint32_t cluster;
  bool isShared; // The memory.

  const Clock &knowledge() const { return *operation.start->base; }
  bool isSelf(const Access &access) const {
    return access.cluster == cluster && ((access.agent == operation.reader &&
                                          access.step == operation.readStep) ||
                                         (access.agent == operation.writer &&
                                          access.step == operation.writeStep));
  }
  bool isPlainlyOrdered(const Access &) const { return false; }
  Relation relation(const Access &earlier, const Access &later) const {
    if (isSelf(earlier))
      return Relation::Ordered;
    const Clock &clock = *operation.start->base;
    Times times;
    if (earlier.cluster == cluster) {
      times = clock.of(earlier.agent);
      if (earlier.agent == operation.issuer)
        times.raise(operation.start->issuer);
    } else if (const Snapshot *there =
                   clock.foreign ? clock.foreign->find(earlier.cluster)
                                 : nullptr) {
      if (earlier.agent < there->size())
        times = (*there)[earlier.agent];
    }
    if (!earlier.isWrite && times.loaded >= earlier.step)
      return Relation::Ordered;
    if (times.known < earlier.step)
      return Relation::Unordered;
    if (operation.proxy == Proxy::Generic || earlier.isAsyncProxy)
      return Relation::Ordered;
    if (earlier.isWrite)
      return times.fenced < earlier.step ? Relation::NotFenced
                                         : Relation::Ordered;
    return isShared && later.isWrite ? Relation::NotLoaded : Relation::Ordered;
  }
  bool isMade(const Access &) const { return false; }
  /// Only operations of the same agent: who knows that one is complete knows
  /// it of those, but not what else came before it.
  bool isBefore(const Access &earlier) const {
    return earlier.cluster == cluster && (earlier.agent == operation.reader ||
                                          earlier.agent == operation.writer);
  }
  bool isTogether(const Access &, const Access &, uint64_t) const {
    return false;
  }
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_RACE_ACTORS_H
