//===- Clock.cpp - Vector clocks and what carries them --------------------===//

#include "lib/Emulator/Race/Clock.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tilec::emulator {

void Times::raise(const Times &other) {
  known = std::max(known, other.known);
  fenced = std::max(fenced, other.fenced);
  loaded = std::max(loaded, other.loaded);
}

//===----------------------------------------------------------------------===//
// Snapshots
//===----------------------------------------------------------------------===//

static bool covers(const Snapshot &a, const Snapshot &b) {
  size_t both = std::min(a.size(), b.size());
  // Without a branch for each element, which is faster though it looks at all.
  bool result = true;
  for (size_t i = 0; i < both; ++i)
    result &= a[i].covers(b[i]);
  for (size_t i = both; i < b.size(); ++i)
    result &= b[i] == Times();
  return result;
}

static void raiseAll(Snapshot &to, const Snapshot &from) {
  if (to.size() < from.size())
    to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    to[i].raise(from[i]);
}

static bool isFenced(const Snapshot &times) {
  return llvm::all_of(times,
                      [](const Times &t) { return t.fenced == t.known; });
}

static Snapshot fenced(Snapshot times) {
  for (Times &t : times)
    t.fenced = t.known;
  return times;
}

using SnapshotRef = std::shared_ptr<const Snapshot>;

static SnapshotRef joined(const SnapshotRef &a, const SnapshotRef &b) {
  if (a == b || covers(*a, *b))
    return a;
  if (covers(*b, *a))
    return b;
  auto result = std::make_shared<Snapshot>(*a);
  raiseAll(*result, *b);
  return result;
}

//===----------------------------------------------------------------------===//
// Foreign clusters
//===----------------------------------------------------------------------===//

const Snapshot *Foreign::find(uint64_t cluster) const {
  auto found =
      llvm::lower_bound(clusters, cluster, [](const auto &entry, uint64_t key) {
        return entry.first < key;
      });
  return found != clusters.end() && found->first == cluster
             ? found->second.get()
             : nullptr;
}

ForeignRef joined(const ForeignRef &a, const ForeignRef &b) {
  if (a == b || !b)
    return a;
  if (!a)
    return b;
  auto result = std::make_shared<Foreign>();
  bool isA = true, isB = true; // Whether it is the same as one of them.
  auto i = a->clusters.begin(), j = b->clusters.begin();
  auto endA = a->clusters.end(), endB = b->clusters.end();
  while (i != endA || j != endB) {
    if (j == endB || (i != endA && i->first < j->first)) {
      result->clusters.push_back(*i++);
      isB = false;
    } else if (i == endA || j->first < i->first) {
      result->clusters.push_back(*j++);
      isA = false;
    } else {
      result->clusters.emplace_back(i->first, joined(i->second, j->second));
      isA &= result->clusters.back().second == i->second;
      isB &= result->clusters.back().second == j->second;
      ++i;
      ++j;
    }
  }
  if (isA)
    return a;
  return isB ? b : ForeignRef(std::move(result));
}

//===----------------------------------------------------------------------===//
// Clock
//===----------------------------------------------------------------------===//

void Clock::raise(Agent agent, const Times &to) {
  if (times.size() <= agent)
    times.resize(agent + 1);
  times[agent].raise(to);
}

llvm::IntrusiveRefCntPtr<Clock> Clock::copied(const ClockRef &clock) {
  llvm::IntrusiveRefCntPtr<Clock> result(new Clock);
  result->times = clock->times;
  result->foreign = clock->foreign;
  result->released = clock->released;
  result->seen = clock->seen;
  return result;
}

ClockRef Clock::withFence(const ClockRef &clock) {
  if (clock->isFenced)
    return clock;
  if (clock->fencedForm)
    return clock->fencedForm;
  bool same = emulator::isFenced(clock->times);
  ForeignRef foreign = clock->foreign;
  if (foreign) {
    auto copy = std::make_shared<Foreign>();
    for (const auto &[cluster, times] : foreign->clusters) {
      bool sameThere = emulator::isFenced(*times);
      same &= sameThere;
      copy->clusters.emplace_back(
          cluster,
          sameThere ? times : std::make_shared<Snapshot>(fenced(*times)));
    }
    foreign = std::move(copy);
  }
  if (same) {
    clock->isFenced = true;
    return clock;
  }
  auto *result = new Clock;
  result->times = fenced(clock->times);
  result->foreign = std::move(foreign);
  result->released = clock->released;
  result->seen = clock->seen;
  result->isFenced = true;
  clock->fencedForm = result;
  return clock->fencedForm;
}

/// A copy in which one of the two has more.
static ClockRef withMore(const ClockRef &clock, ForeignRef Clock::*which,
                         const ForeignRef &more) {
  ForeignRef both = joined(*clock.*which, more);
  if (both == *clock.*which)
    return clock;
  llvm::IntrusiveRefCntPtr<Clock> result = Clock::copied(clock);
  (*result).*which = std::move(both);
  return result;
}

ClockRef Clock::withReleased(const ClockRef &clock, const ForeignRef &more) {
  return withMore(clock, &Clock::released, more);
}

ClockRef Clock::withSeen(const ClockRef &clock, const ForeignRef &more) {
  return withMore(clock, &Clock::seen, more);
}

ClockRef joined(const ClockRef &a, const ClockRef &b) {
  if (a == b)
    return a;
  ForeignRef foreign = joined(a->foreign, b->foreign);
  ForeignRef released = joined(a->released, b->released);
  ForeignRef seen = joined(a->seen, b->seen);
  auto isAll = [&](const Clock &clock, const Clock &other) {
    return foreign == clock.foreign && released == clock.released &&
           seen == clock.seen && covers(clock.times, other.times);
  };
  if (isAll(*a, *b))
    return a;
  if (isAll(*b, *a))
    return b;
  auto *result = new Clock;
  result->times = a->times;
  raiseAll(result->times, b->times);
  result->foreign = std::move(foreign);
  result->released = std::move(released);
  result->seen = std::move(seen);
  return result;
}

//===----------------------------------------------------------------------===//
// Knowledge
//===----------------------------------------------------------------------===//

/// How many Clocks a Knowledge remembers: as many as a block has warps.
constexpr size_t maxContained = 32;

void Knowledge::add(const ClockRef &base, Agent agent, const Times &own) {
  if (!clock) {
    clock = base;
  } else if (clock != base && !llvm::is_contained(contained, base)) {
    ClockRef both = joined(clock, base);
    if (both != clock) {
      if (contained.size() < maxContained)
        contained.push_back(clock);
      clock = std::move(both);
    }
    if (clock != base && contained.size() < maxContained)
      contained.push_back(base);
  }
  add(agent, own);
}

void Knowledge::add(Agent agent, const Times &own) {
  answers.clear();
  // An agent that comes again was mostly the last one, too.
  if (!steps.empty() && steps.back().first == agent)
    steps.back().second.raise(own);
  else
    steps.emplace_back(agent, own);
}

const ClockRef &Knowledge::together() {
  bool isNew = !clock || llvm::any_of(steps, [&](const auto &step) {
    return !clock->of(step.first).covers(step.second);
  });
  if (isNew) {
    llvm::IntrusiveRefCntPtr<Clock> result =
        clock ? Clock::copied(clock)
              : llvm::IntrusiveRefCntPtr<Clock>(new Clock);
    if (clock && contained.size() < maxContained)
      contained.push_back(clock);
    for (const auto &[agent, own] : steps)
      result->raise(agent, own);
    clock = std::move(result);
  }
  steps.clear();
  return clock;
}

ClockRef Knowledge::acquiredBy(const ClockRef &base) {
  const ClockRef &all = together();
  if (base == all || llvm::is_contained(contained, base))
    return all;
  for (const auto &[from, to] : answers)
    if (from == base)
      return to;
  ClockRef result = joined(base, all);
  if (answers.size() == 8)
    answers.clear();
  answers.emplace_back(base, result);
  return result;
}

} // namespace tilec::emulator
