//===- Detector.cpp - Accesses and what they tell -------------------------===//
//
// The half of the detector that has to do with memory: comparing an access with
// those before it, and remembering it. Order.cpp has the other.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Race/Detector.h"
#include "lib/Emulator/Machine/Instruction.h"
#include "lib/Emulator/Machine/Memory.h"
#include "lib/Emulator/Race/Actors.h"
#include "llvm/ADT/StringExtras.h"

namespace tilec::emulator {

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

bool Detector::State::areStrong(const Access &a, const Access &b) const {
  if (!a.isStrong || !b.isStrong)
    return false;
  unsigned needed = 2;
  if (a.cluster == b.cluster)
    needed = blockOf(a.agent) == blockOf(b.agent) ? 0 : 1;
  return a.scope >= needed && b.scope >= needed;
}

template <typename Actor>
void Detector::State::conflict(const Access &earlier, const Access &later,
                               uint64_t address, const Actor &actor) {
  if (actor.isPlainlyOrdered(earlier)) [[likely]]
    return;
  if (areStrong(earlier, later))
    return;
  Relation relation = actor.relation(earlier, later);
  if (relation == Relation::Ordered ||
      actor.isTogether(earlier, later, address))
    return;
  // Libraries rely on it that shuffles and votes come after atomics and
  // operations on mbarriers of the warp, as they come after loads.
  if (earlier.isStrong && isShared(address) && earlier.agent < numThreads &&
      actor.isMade(earlier))
    return;
  report(relation, earlier, later, address);
}

/// How many accesses a set keeps; in one of global memory, for all clusters.
static size_t mostSince(uint64_t address) {
  return isShared(address) ? SIZE_MAX : 256;
}

template <typename Actor>
void Detector::State::touch(Shadow &shadow, Record &record, uint64_t address,
                            const Access &self, const Actor &actor) {
  // A race with the last weak write?
  const Access &write = record.write;
  if (write.agent == Access::none) {
    if (write.step != 0 && shared.size() > 1 && isShared(address))
      checkHasBegun(actor.knowledge(), self, address);
    if (write.step != 0 && (!self.isWrite || self.isUpdate))
      reportAlone(self, address, ReportKind::Uninitialized,
                  describeUninitialized);
  } else if (!actor.isSelf(write)) {
    conflict(write, self, address, actor);
  }

  // With what came since?
  Access &since = record.since;
  if (since.agent == Access::many)
    compare(shadow.setOf(record), self, address, actor);
  else if (since.agent != Access::none && (since.isWrite || self.isWrite) &&
           !actor.isSelf(since))
    conflict(since, self, address, actor);

  // Remember it.
  if (self.isWrite && !self.isStrong) {
    shadow.clearSince(record);
    record.write = self;
    return;
  }
  if (self.isWrite && record.write.agent == Access::none)
    record.write.step = 0; // A strong write initializes as well.
  auto isNeedless = [&](const Access &earlier) {
    return standsFor(self, earlier) && actor.isBefore(earlier);
  };
  if (since.agent == Access::none ||
      (since.agent != Access::many && isNeedless(since))) {
    since = self;
    return;
  }
  if (since.agent == Access::many) {
    AccessSet &set = shadow.setOf(record);
    auto &list = (self.isStrong ? set.strong : set.weak).list;
    if (!list.empty() && list.back().isBy(self) && isNeedless(list.back())) {
      list.back() = self;
      return;
    }
    if (!self.isStrong && set.weak.replace(self))
      return;
  }
  shadow.addSince(record, self, mostSince(address), isNeedless);
}

/// Whether somebody who comes before `self` has read what the strong write at
/// `index` of a list wrote, or a read-modify-write that goes on with it. Then
/// the write comes before `self`, whatever it released: in words of the memory
/// model, observation and what follows it are causality.
template <typename Actor>
static bool isObserved(llvm::ArrayRef<Access> list, size_t index,
                       const Access &self, const Actor &actor) {
  const Access &write = list[index];
  for (const Access &access : list.drop_front(index + 1)) {
    bool reads = access.isUpdate || !access.isWrite;
    if (!reads && !access.isBy(write))
      return false; // Another value.
    if (reads && (actor.isSelf(access) ||
                  actor.relation(access, self) != Relation::Unordered))
      return true;
  }
  return false;
}

template <typename Actor>
void Detector::State::compare(const AccessSet &set, const Access &self,
                              uint64_t address, const Actor &actor) {
  auto compareWith = [&](const Access &earlier) {
    if ((earlier.isWrite || self.isWrite) && !actor.isSelf(earlier))
      conflict(earlier, self, address, actor);
  };
  if (self.isWrite)
    for (const Access &earlier : set.weak.list)
      compareWith(earlier);
  if (set.strong.list.empty() || (!set.hasWrites && !self.isWrite))
    return;
  // Strong ones do not race with each other if their scopes are wide.
  if (self.isStrong && self.scope == widestReach && set.scope == widestReach)
    return;
  llvm::ArrayRef<Access> list = set.strong.list;
  for (size_t i = 0; i < list.size(); ++i)
    if (!list[i].isWrite || areStrong(list[i], self) ||
        actor.relation(list[i], self) != Relation::Unordered ||
        !isObserved(list, i, self, actor))
      compareWith(list[i]);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

template <typename Use>
void Detector::State::forShadows(uint64_t address, uint64_t bytes, Use use) {
  // `use` is there once, so that it becomes a part of the loop.
  bool inShared = isShared(address);
  while (bytes) {
    Shadow *shadow = nullptr;
    uint64_t offset, here = bytes;
    if (inShared) {
      offset = address & ((uint64_t(1) << sharedRankShift) - 1);
      uint64_t rank = ((address - sharedWindow) >> sharedRankShift) - 1;
      if (rank >= shared.size())
        return;
      shadow = shared[rank].get();
    } else {
      offset = address & (GlobalPage::bytes - 1);
      here = std::min(bytes, GlobalPage::bytes - offset);
      shadow = &pages.lock(address >> GlobalPage::shift);
    }
    use(*shadow, offset, here, address - offset);
    address += here;
    bytes -= here;
  }
}

/// Words are known by their first four bytes.
constexpr uint64_t wordBytes = 4;

void Detector::State::clearWords(Shadow &shadow, uint64_t offset,
                                 uint64_t bytes) {
  uint64_t end = offset + bytes;
  if (bytes / wordBytes > shadow.words.size()) {
    for (auto &[word, value] : shadow.words)
      if (word + wordBytes > offset && word < end)
        value.clear();
    return;
  }
  for (uint64_t word = offset & ~(wordBytes - 1); word < end; word += wordBytes)
    shadow.words.erase(word);
}

template <typename Actor>
void Detector::State::access(uint64_t address, uint64_t bytes,
                             const Access &self, const Actor &actor) {
  bool replaces = self.isWrite && !self.isStrong;
  forShadows(
      address, bytes,
      [&](Shadow &shadow, uint64_t offset, uint64_t here, uint64_t origin) {
        if (replaces && !shadow.words.empty())
          clearWords(shadow, offset, here);
        shadow.visit(offset, here, replaces,
                     [&](Record &record, uint64_t at, unsigned) {
                       touch(shadow, record, origin + at, self, actor);
                     });
      });
}

uint32_t Detector::State::numberOf(const Instruction &at) {
  auto &[known, number] =
      recent[(reinterpret_cast<uintptr_t>(&at) >> 4) % recent.size()];
  if (known != &at) {
    known = &at;
    number = global.numberOf(at);
  }
  return number;
}

Access Detector::State::access(Agent agent, Step step, const Instruction &at,
                               bool isWrite) {
  Access result;
  result.agent = agent;
  result.step = step;
  result.cluster = cluster;
  result.isWrite = isWrite;
  result.instruction = numberOf(at);
  return result;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

Party Detector::State::party(const Access &access) {
  Party party;
  party.instruction = global.instruction(access.instruction).source;
  party.cluster = access.cluster;
  party.isWrite = access.isWrite;
  party.isUpdate = access.isUpdate;
  party.isStrong = access.isStrong;
  party.isAsync = access.agent >= numThreads;
  global.withCluster(access.cluster, [&](ClusterInfo &info) {
    ThreadId thread = access.agent;
    if (party.isAsync)
      thread = access.agent - numThreads < info.issuers.size()
                   ? info.issuers[access.agent - numThreads]
                   : 0;
    party.rank = thread / blockThreads;
    party.thread = thread % blockThreads;
    if (party.rank < info.positions.size())
      party.block = info.positions[party.rank];
  });
  return party;
}

std::string Detector::State::nameOf(uint64_t address) const {
  if (names)
    return names(address);
  if (!isShared(address))
    return "global memory at 0x" + llvm::utohexstr(address, true);
  constexpr uint64_t mask = (uint64_t(1) << sharedRankShift) - 1;
  std::string result =
      "shared memory at " + std::to_string((address & mask) - sharedOrigin);
  uint64_t rank = ((address - sharedWindow) >> sharedRankShift) - 1;
  if (shared.size() > 1)
    result += " of block " + std::to_string(rank) + " of the cluster";
  return result;
}

bool Detector::State::isFirst(const Access &earlier, const Access &later,
                              ReportKind kind) {
  auto [at, isNew] = found.try_emplace(
      {earlier.instruction, later.instruction, uint8_t(kind)});
  if (!isNew)
    ++at->second.count;
  return isNew;
}

void Detector::State::add(Report report, const Access &earlier,
                          const Access &later, ReportKind sort) {
  Report &again =
      found[{earlier.instruction, later.instruction, uint8_t(sort)}].report;
  again.kind = report.kind;
  again.participants = report.participants;
  reporter.add(std::move(report));
}

void Detector::State::report(Relation relation, const Access &earlier,
                             const Access &later, uint64_t address) {
  // What is told apart before it is put into words.
  auto sort = ReportKind(unsigned(relation) << 4 | earlier.isWrite << 1 |
                         later.isWrite);
  if (!isFirst(earlier, later, sort))
    return;
  Finding finding;
  finding.relation = relation;
  finding.earlier = party(earlier);
  finding.later = party(later);
  finding.isShared = isShared(address);
  finding.buffer = nameOf(address);
  add(describe(finding), earlier, later, sort);
}

void Detector::State::reportAlone(const Access &self, uint64_t address,
                                  ReportKind kind,
                                  Report (*describe)(const Finding &)) {
  if (!isFirst(self, self, kind))
    return;
  Finding finding;
  finding.later = party(self);
  finding.isShared = true;
  finding.buffer = nameOf(address);
  add(describe(finding), self, self, kind);
}

void Detector::State::checkHasBegun(const Clock &clock, const Access &self,
                                    uint64_t address) {
  unsigned rank = unsigned((address - sharedWindow) >> sharedRankShift) - 1;
  if (blockOf(self.agent) == rank)
    return;
  for (unsigned i = 0; i < blockThreads; ++i)
    if (clock.known(rank * blockThreads + i))
      return;
  reportAlone(self, address, ReportKind::SharedRace, describeNotBegun);
}

//===----------------------------------------------------------------------===//
// Detector
//===----------------------------------------------------------------------===//

GlobalShadow::GlobalShadow() : state(std::make_unique<State>()) {}
GlobalShadow::~GlobalShadow() = default;

Detector::State::State(unsigned blockThreads, unsigned numBlocks,
                       uint64_t clusterIndex, uint64_t sharedBytes,
                       GlobalShadow::State &global, Reporter &reporter)
    : blockThreads(blockThreads), numThreads(blockThreads * numBlocks),
      cluster(clusterIndex), global(global), reporter(reporter), pages(global) {
  ClockRef nothing(new Clock);
  threads.resize(numThreads);
  for (Thread &thread : threads)
    thread.base = nothing;
  Access unwritten;
  unwritten.step = 1;
  for (unsigned i = 0; i < numBlocks; ++i)
    shared.push_back(
        std::make_unique<Shadow>(sharedOrigin + sharedBytes, unwritten));
  global.withCluster(cluster, [&](ClusterInfo &info) {
    info.blockThreads = blockThreads;
    info.positions.resize(numBlocks);
  });
}

Detector::State::~State() {
  // How often, for what was found more than once.
  for (auto &[places, repeated] : found) {
    if (!repeated.count)
      continue;
    repeated.report.count = repeated.count;
    reporter.add(std::move(repeated.report));
  }
}

Detector::Detector(unsigned blockThreads, unsigned numBlocks,
                   uint64_t clusterIndex, uint64_t sharedBytes,
                   GlobalShadow &global, Reporter &reporter)
    : state(std::make_unique<State>(blockThreads, numBlocks, clusterIndex,
                                    sharedBytes, *global.state, reporter)) {}
Detector::~Detector() = default;

void Detector::setBlockPosition(unsigned rank,
                                std::array<unsigned, 3> position) {
  state->global.withCluster(state->cluster, [&](ClusterInfo &info) {
    info.positions[rank] = position;
  });
}

void Detector::setNames(std::function<std::string(uint64_t)> names) {
  state->names = std::move(names);
}

void Detector::read(ThreadId id, uint64_t address, unsigned bytes,
                    const Instruction &at) {
  State::Thread &thread = state->threads[id];
  Access self = state->access(id, thread.current(), at, false);
  ThreadActor actor{{&thread, id, state->cluster}};
  state->access(address, bytes, self, actor);
  state->pages.release();
}

void Detector::write(ThreadId id, uint64_t address, unsigned bytes,
                     const Instruction &at) {
  State::Thread &thread = state->threads[id];
  Access self = state->access(id, thread.current(), at, true);
  ThreadActor actor{{&thread, id, state->cluster}};
  state->access(address, bytes, self, actor);
  state->pages.release();
}

void Detector::read(ThreadId warp, uint32_t lanes, const uint64_t *addresses,
                    unsigned bytes, const Instruction &at) {
  Access self = state->access(warp, 0, at, false);
  for (uint32_t left = lanes; left;) {
    // Lanes that read the same mostly follow each other.
    uint64_t address = addresses[llvm::countr_zero(left)];
    uint32_t together = 0;
    for (; left && addresses[llvm::countr_zero(left)] == address;
         left &= left - 1)
      together |= left & -left;
    auto touch = [&](Shadow &shadow, Record &record, uint64_t at) {
      for (uint32_t lanes = together; lanes; lanes &= lanes - 1) {
        self.agent = warp + llvm::countr_zero(lanes);
        State::Thread &thread = state->threads[self.agent];
        self.step = thread.current();
        ThreadActor actor{{&thread, self.agent, state->cluster}};
        state->touch(shadow, record, at, self, actor);
      }
    };
    state->forShadows(
        address, bytes,
        [&](Shadow &shadow, uint64_t offset, uint64_t here, uint64_t origin) {
          shadow.visit(offset, here, /*replaces=*/false,
                       [&](Record &record, uint64_t at, unsigned) {
                         touch(shadow, record, origin + at);
                       });
        });
  }
  state->pages.release();
}

void Detector::readOnlyPath(ThreadId warp, uint32_t lanes,
                            const uint64_t *addresses, unsigned bytes,
                            const Instruction &at) {
  Access self = state->access(warp, 0, at, false);
  for (uint32_t left = lanes; left; left &= left - 1) {
    unsigned lane = llvm::countr_zero(left);
    State::Thread &thread = state->threads[warp + lane];
    self.agent = warp + lane;
    self.step = thread.current();
    ReadOnlyActor actor{{&thread, self.agent, state->cluster}};
    state->access(addresses[lane], bytes, self, actor);
  }
  state->pages.release();
}

void Detector::write(ThreadId warp, uint32_t lanes, const uint64_t *addresses,
                     unsigned bytes, const Instruction &at) {
  Access self = state->access(warp, 0, at, true);
  LaneActor actor;
  actor.cluster = state->cluster;
  actor.warp = warp;
  actor.done = 0;
  actor.addresses = addresses;
  actor.bytes = bytes;
  for (uint32_t left = lanes; left; left &= left - 1) {
    unsigned lane = llvm::countr_zero(left);
    State::Thread &thread = state->threads[warp + lane];
    self.agent = actor.agent = warp + lane;
    self.step = thread.current();
    actor.thread = &thread;
    state->access(addresses[lane], bytes, self, actor);
    actor.done |= 1u << lane;
  }
  state->pages.release();
}

void Detector::strong(ThreadId id, uint64_t address, unsigned bytes,
                      Strong kind, Order order, Scope scope,
                      const Instruction &at) {
  State::Thread &thread = state->threads[id];
  Access self = state->access(id, thread.current(), at, kind != Strong::Load);
  self.isStrong = 1;
  self.scope = reachOf(scope);
  self.isUpdate = kind == Strong::ReadModifyWrite;
  state->access(address, bytes, self,
                ThreadActor{{&thread, id, state->cluster}});

  state->forShadows(
      address, 1, [&](Shadow &shadow, uint64_t offset, uint64_t, uint64_t) {
        uint64_t key = offset & ~(wordBytes - 1);
        if (kind != Strong::Store) {
          auto word = shadow.words.find(key);
          if (word != shadow.words.end())
            state->acquireWord(id, word->second, order, self.scope);
        }
        if (kind == Strong::Load)
          return;
        if (kind == Strong::Store && !shadow.words.empty())
          State::clearWords(shadow, offset, bytes);
        if (releases(order) || thread.strong || thread.base->released)
          state->releaseWord(id, shadow.words[key], order, self.scope);
      });
  state->pages.release();
}

void Detector::endBlock(ThreadId last, const SyncPoint &ended,
                        const Instruction &at) {
  acquire(last, ended);
  State::Thread &thread = state->threads[last];
  Access self = state->access(last, thread.current(), at, true);
  EndingBlock actor{{&thread, last, state->cluster}, *state};
  unsigned rank = state->blockOf(last);
  uint64_t bytes = state->shared[rank]->bytes() - sharedOrigin;
  state->access(canonicalShared(rank, sharedOrigin), bytes, self, actor);
}

static Access accessOf(Detector::State &state, const AsyncOperation &operation,
                       bool isWrite) {
  Access self = state.access(isWrite ? operation.writer : operation.reader,
                             isWrite ? operation.writeStep : operation.readStep,
                             *operation.instruction, isWrite);
  self.isAsyncProxy = operation.proxy == Proxy::Async;
  return self;
}

void Detector::read(const AsyncOperation &operation, uint64_t address,
                    uint64_t bytes) {
  state->access(address, bytes, accessOf(*state, operation, false),
                OperationActor{operation, state->cluster, isShared(address)});
  state->pages.release();
}

void Detector::write(const AsyncOperation &operation, uint64_t address,
                     uint64_t bytes) {
  state->access(address, bytes, accessOf(*state, operation, true),
                OperationActor{operation, state->cluster, isShared(address)});
  state->pages.release();
}

void Detector::reduce(const AsyncOperation &operation, uint64_t address,
                      uint64_t bytes) {
  Access self = accessOf(*state, operation, true);
  self.isStrong = self.isUpdate = 1;
  self.scope = reachOf(Scope::Device);
  state->access(address, bytes, self,
                OperationActor{operation, state->cluster, isShared(address)});
  state->pages.release();
}

void Detector::forget(uint64_t address, uint64_t bytes, bool initialized) {
  Access nobody;
  nobody.step = initialized ? 0 : 1;
  state->forShadows(
      address, bytes,
      [&](Shadow &shadow, uint64_t offset, uint64_t here, uint64_t) {
        State::clearWords(shadow, offset, here);
        shadow.visit(offset, here, /*replaces=*/true,
                     [&](Record &record, uint64_t, unsigned) {
                       shadow.clearSince(record);
                       record.write = nobody;
                     });
      });
  state->pages.release();
}

} // namespace tilec::emulator
