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

void Detector::release(ThreadId id, SyncPoint &to) {
  State::Thread &thread = state->threads[id];
  made(to.knowledge).add(thread.base, id, thread.own());
  thread.isSealed = true;
}

void Detector::releaseAfterLoads(ThreadId id, SyncPoint &to) {
  State::Thread &thread = state->threads[id];
  Times own = thread.own();
  own.loaded = own.known;
  Knowledge &knowledge = made(to.knowledge);
  knowledge.add(thread.base, id, own);
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
}

void Detector::acquire(ThreadId id, const SyncPoint &from) {
  if (!from.knowledge)
    return;
  State::Thread &thread = state->threads[id];
  thread.base = from.knowledge->acquiredBy(thread.base);
}

void Detector::loadsPendingSince(ThreadId thread, uint32_t step) {
  state->threads[thread].pendingSince = step;
  state->hasPendingLoads |= step != 0;
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
  thread.base = Clock::withFence(thread.base);
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
    if (latest.base != thread.base || !(latest.own == thread.own()))
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
  State::Moment now = {thread.base, thread.own(), nullptr};
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
  Times own = thread.own();
  if (!thread.lastStart || thread.lastStart->base != thread.base ||
      !(thread.lastStart->issuer == own))
    thread.lastStart = std::make_shared<const OperationStart>(
        OperationStart{thread.base, own});
  operation.start = thread.lastStart;
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

void Detector::completeReads(const AsyncOperation &operation, SyncPoint &to) {
  made(to.knowledge).add(operation.reader, timesOf(operation.readStep));
}

} // namespace tilec::emulator
