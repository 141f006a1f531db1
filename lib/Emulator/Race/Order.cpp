//===- Order.cpp - What makes order ---------------------------------------===//
//
// The half of the detector that has to do with knowledge: SyncPoints, fences,
// words of strong accesses, start and completion of operations.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Race/DetectorState.h"

namespace tilec::emulator {

//===----------------------------------------------------------------------===//
// SyncPoint
//===----------------------------------------------------------------------===//

SyncPoint::SyncPoint() = default;
SyncPoint::~SyncPoint() = default;
SyncPoint::SyncPoint(SyncPoint &&) noexcept = default;
SyncPoint &SyncPoint::operator=(SyncPoint &&) noexcept = default;

SyncPoint::SyncPoint(const SyncPoint &other)
    : knowledge(other.knowledge ? std::make_unique<Knowledge>(*other.knowledge)
                                : nullptr) {}

SyncPoint &SyncPoint::operator=(const SyncPoint &other) {
  if (this != &other)
    *this = SyncPoint(other);
  return *this;
}

static Knowledge &made(std::unique_ptr<Knowledge> &knowledge) {
  if (!knowledge)
    knowledge = std::make_unique<Knowledge>();
  return *knowledge;
}

const ClockRef &Detector::State::Thread::whole() {
  if (ahead.empty())
    return base;
  llvm::IntrusiveRefCntPtr<Clock> clock = Clock::copied(base);
  for (const auto &[agent, times] : ahead)
    clock->raise(agent, times);
  ahead.clear();
  base = std::move(clock);
  return base;
}

void Detector::release(ThreadId id, SyncPoint &to) {
  State::Thread &thread = state->threads[id];
  Knowledge &knowledge = made(to.knowledge);
  knowledge.add(thread.base, id, thread.own());
  for (const auto &[agent, times] : thread.ahead)
    knowledge.add(agent, times);
  thread.isSealed = true;
}

void Detector::releaseAfterLoads(ThreadId id, SyncPoint &to) {
  State::Thread &thread = state->threads[id];
  Times own = thread.own();
  own.loaded = own.known;
  Knowledge &knowledge = made(to.knowledge);
  knowledge.add(thread.base, id, own);
  for (const auto &[agent, times] : thread.ahead)
    knowledge.add(agent, times);
  thread.isSealed = true;
  if (!state->hasPendingLoads)
    return;
  // A warp's accesses to shared memory are made in order, so the loads of other
  // lanes that come before this are done, too.
  ThreadId block = id - id % state->blockThreads;
  ThreadId warp = block + (id - block) / 32 * 32;
  ThreadId end = std::min(warp + 32, block + state->blockThreads);
  for (ThreadId lane = warp; lane < end; ++lane) {
    Times known = thread.base->of(lane);
    if (lane != id && known.loaded < known.known)
      knowledge.add(lane, {0, 0, known.known});
  }
}

void Detector::releaseFenced(ThreadId id, SyncPoint &to) {
  State::Thread &thread = state->threads[id];
  const State::Moment &fenced =
      state->strongOf(thread).fenced[reachOf(Scope::Cluster)];
  if (fenced.base)
    made(to.knowledge).add(fenced.base, id, fenced.own);
  made(to.knowledge).add(id, {1, 0, 1}); // It has begun.
}

void Detector::acquire(ThreadId id, const SyncPoint &from) {
  if (!from.knowledge)
    return;
  State::Thread &thread = state->threads[id];
  thread.base = from.knowledge->acquiredBy(thread.base);
  llvm::erase_if(thread.ahead, [&](const auto &known) {
    return thread.base->of(known.first).covers(known.second);
  });
}

void Detector::loadsPendingSince(ThreadId thread, uint32_t step) {
  state->threads[thread].pendingSince = step;
  state->hasPendingLoads |= step != 0;
}

void Detector::loadsPendingSince(ThreadId warp, uint32_t lanes,
                                 const uint32_t *steps) {
  for (; lanes; lanes &= lanes - 1) {
    unsigned lane = llvm::countr_zero(lanes);
    loadsPendingSince(warp + lane, steps[lane]);
  }
}

void Detector::nextSteps(ThreadId warp, uint32_t lanes, uint32_t *steps) {
  for (; lanes; lanes &= lanes - 1) {
    unsigned lane = llvm::countr_zero(lanes);
    steps[lane] = nextStep(warp + lane);
  }
}

uint32_t Detector::nextStep(ThreadId thread) {
  state->threads[thread].isSealed = true;
  return state->threads[thread].current();
}

void Detector::exchange(ThreadId warp, uint32_t lanes) {
  Knowledge loads;
  auto forLanes = [&](auto visit) {
    for (uint32_t left = lanes; left; left &= left - 1)
      visit(warp + llvm::countr_zero(left));
  };
  forLanes([&](ThreadId id) {
    State::Thread &thread = state->threads[id];
    loads.add(id, {0, 0, thread.own().loaded});
    thread.isSealed = true;
  });
  forLanes([&](ThreadId id) {
    State::Thread &thread = state->threads[id];
    thread.base = loads.acquiredBy(thread.base);
  });
}

void Detector::proxyFence(ThreadId id) {
  State::Thread &thread = state->threads[id];
  thread.base = Clock::withFence(thread.whole());
  thread.fenced = thread.step;
  thread.isSealed = true;
}

//===----------------------------------------------------------------------===//
// Strong accesses and fences
//===----------------------------------------------------------------------===//

Detector::State::Strong &Detector::State::strongOf(Thread &thread) {
  if (!thread.strong)
    thread.strong = std::make_unique<Strong>();
  return *thread.strong;
}

ForeignRef Detector::State::foreignOf(Moment &moment, ThreadId thread) {
  if (!moment.base)
    return nullptr;
  if (!moment.asForeign) {
    auto times = std::make_shared<Snapshot>(moment.base->times);
    if (times->size() <= thread)
      times->resize(thread + 1);
    (*times)[thread].raise(moment.own);
    auto foreign = std::make_shared<Foreign>();
    foreign->clusters.emplace_back(cluster, std::move(times));
    moment.asForeign = joined(foreign, moment.base->foreign);
  }
  return moment.asForeign;
}

void Detector::State::acquireForeign(Thread &thread, const ForeignRef &from) {
  Strong &strong = strongOf(thread);
  if (!from || strong.acquired == from)
    return;
  strong.acquired = from;
  llvm::IntrusiveRefCntPtr<Clock> clock(new Clock);
  auto others = std::make_shared<Foreign>();
  for (const auto &[other, times] : from->clusters) {
    if (other == cluster)
      clock->times = *times;
    else
      others->clusters.emplace_back(other, times);
  }
  if (!others->clusters.empty())
    clock->foreign = std::move(others);
  thread.base = joined(thread.base, ClockRef(clock));
}

void Detector::State::acquireWord(ThreadId id, const Word &word, Order order,
                                  unsigned reach) {
  Thread &thread = threads[id];
  Reached got;
  word.acquire(reach, cluster, uint64_t(cluster) << 8 | blockOf(id), got);
  for (unsigned i = 0; i < numReaches; ++i) {
    if (!got.to[i])
      continue;
    if (acquires(order))
      acquireForeign(thread, got.to[i]);
    else if (i == widestReach)
      thread.base = Clock::withSeen(thread.base, got.to[i]);
    else
      strongOf(thread).pending.to[i] =
          joined(strongOf(thread).pending.to[i], got.to[i]);
  }
}

void Detector::State::releaseWord(ThreadId id, Word &word, Order order,
                                  unsigned reach) {
  Thread &thread = threads[id];
  Strong &strong = strongOf(thread);
  Reached given;
  if (releases(order)) {
    Moment &latest = strong.latest;
    if (latest.base != thread.whole() || !(latest.own == thread.own()))
      latest = {thread.base, thread.own(), nullptr};
    for (unsigned i = 0; i <= reach; ++i)
      given.to[i] = foreignOf(latest, id);
    thread.isSealed = true;
  } else {
    for (unsigned i = 0; i <= reach; ++i)
      given.to[i] = i == widestReach ? thread.base->released
                                     : foreignOf(strong.fenced[i], id);
  }
  word.release(given, cluster, uint64_t(cluster) << 8 | blockOf(id));
}

void Detector::fence(ThreadId id, Order order, Scope scope) {
  State::Thread &thread = state->threads[id];
  State::Strong &strong = state->strongOf(thread);
  unsigned reach = reachOf(scope);
  if (acquires(order)) {
    for (unsigned i = 0; i <= reach; ++i) {
      state->acquireForeign(thread, strong.pending.to[i]);
      strong.pending.to[i] = nullptr;
    }
    if (reach == widestReach)
      state->acquireForeign(thread, thread.base->seen);
  }
  if (!releases(order))
    return;
  State::Moment now = {thread.whole(), thread.own(), nullptr};
  if (reach == widestReach)
    thread.base = Clock::withReleased(thread.base, state->foreignOf(now, id));
  for (unsigned i = 0; i <= reach && i < widestReach; ++i)
    strong.fenced[i] = now;
  thread.isSealed = true;
}

void Detector::noteInit(ThreadId id) {
  State::Thread &thread = state->threads[id];
  state->strongOf(thread).inits = {thread.base, thread.own(), nullptr};
  thread.isSealed = true;
}

void Detector::fenceInits(ThreadId id) {
  State::Strong &strong = state->strongOf(state->threads[id]);
  if (!strong.inits.base)
    return;
  for (unsigned i = 0; i <= reachOf(Scope::Cluster); ++i)
    if (!strong.fenced[i].base ||
        strong.fenced[i].own.known < strong.inits.own.known)
      strong.fenced[i] = strong.inits;
}

//===----------------------------------------------------------------------===//
// Asynchronous operations
//===----------------------------------------------------------------------===//

Agent Detector::State::newAgent(ThreadId issuer) {
  issuers.push_back(issuer);
  global.withCluster(
      cluster, [&](ClusterInfo &info) { info.issuers.push_back(issuer); });
  return numThreads + issuers.size() - 1;
}

AsyncOperation Detector::start(ThreadId issuer, Proxy proxy,
                               const Instruction &at, Completion completion) {
  State::Thread &thread = state->threads[issuer];
  if (!thread.issued)
    thread.issued = std::make_unique<State::Issued>();
  State::Issued &issued = *thread.issued;
  AsyncOperation operation;
  operation.issuer = issuer;
  operation.proxy = proxy;
  operation.instruction = &at;

  // Operations that start one after the other know the same.
  OperationStart now{thread.whole(), thread.own()};
  std::shared_ptr<OperationStart> &last = thread.lastStart;
  if (!last || last->base != now.base || !(last->issuer == now.issuer)) {
    if (last && last.use_count() == 1) // Nobody's any more.
      *last = std::move(now);
    else
      last = std::make_shared<OperationStart>(std::move(now));
  }
  operation.start = last;
  thread.isSealed = true;

  operation.isStore = completion == Completion::Store;
  if (completion != Completion::Barrier && !operation.isStore) {
    auto &group = issued.groups[unsigned(completion)];
    bool isPair = completion == Completion::BulkGroup;
    if (group.agent == Access::none) {
      group.agent = state->newAgent(issuer);
      if (isPair)
        state->newAgent(issuer);
    }
    operation.reader = group.agent;
    operation.writer = group.agent + (isPair ? 1 : 0);
    operation.readStep = operation.writeStep = ++group.step;
    return operation;
  }

  // An agent may start over when its issuer knows that it is done: then nobody
  // can know of the new operation who does not know that, too. Of the two steps
  // of an operation the first is for its reads.
  std::pair<Agent, Step> *agent = nullptr;
  size_t tries = std::min<size_t>(issued.pool.size(), 8);
  for (size_t i = 0; i < tries && !agent; ++i) {
    auto &candidate = issued.pool[(issued.next + i) % issued.pool.size()];
    if (thread.base->known(candidate.first) >= candidate.second) {
      agent = &candidate;
      issued.next = (issued.next + i + 1) % issued.pool.size();
    }
  }
  if (!agent)
    agent = &issued.pool.emplace_back(state->newAgent(issuer), 0);
  operation.reader = operation.writer = agent->first;
  operation.readStep = agent->second + 1;
  operation.writeStep = agent->second + 2;
  agent->second += 2;
  return operation;
}

/// Not fenced: what the async proxy did itself is not asked for a fence.
static Times timesOf(Step step) { return {step, 0, step}; }

void Detector::complete(const AsyncOperation &operation, SyncPoint &to) {
  Knowledge &knowledge = made(to.knowledge);
  if (operation.isStore)
    knowledge.add(operation.start->base, operation.issuer,
                  operation.start->issuer);
  if (operation.reader != operation.writer)
    knowledge.add(operation.reader, timesOf(operation.readStep));
  knowledge.add(operation.writer, timesOf(operation.writeStep));
}

void Detector::acquireOwn(const AsyncOperation &operation, bool readsAlone) {
  auto &ahead = state->threads[operation.issuer].ahead;
  auto add = [&](Agent agent, Step step) {
    auto *known = llvm::find_if(
        ahead, [&](const auto &known) { return known.first == agent; });
    if (known == ahead.end())
      ahead.emplace_back(agent, timesOf(step));
    else
      known->second.raise(timesOf(step));
  };
  add(operation.reader, operation.readStep);
  if (!readsAlone)
    add(operation.writer, operation.writeStep);
}

void Detector::completeReads(const AsyncOperation &operation, SyncPoint &to) {
  made(to.knowledge).add(operation.reader, timesOf(operation.readStep));
}

} // namespace tilec::emulator
