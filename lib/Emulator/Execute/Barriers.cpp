//===- Barriers.cpp - bar, barrier, fence, membar -------------------------===//
//
// NamedBarrier and ClusterBarrier (Machine.h) say what is counted. When the
// last thread arrives, all who wait acquire what was released into the barrier,
// there and then, so the next use of the barrier cannot get in their way.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Execute/Lanes.h"
#include "lib/Emulator/Execute/WarpSync.h"
#include "lib/Emulator/Machine/Decoder.h"
#include "lib/Emulator/Machine/Machine.h"

namespace tilec::emulator {

using ptx::Type;

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

namespace {

// Threads that a warp counts for: see NamedBarrier.
unsigned arrivedThreads(const Warp &warp, LaneMask arrived) {
  LaneMask live = warp.all & ~warp.exited;
  if (arrived && !(live & ~arrived))
    return warpSize;
  return unsigned(llvm::popcount(arrived));
}

unsigned arrivedThreads(const Block &block, const NamedBarrier &barrier) {
  unsigned result = 0;
  for (const auto &warp : block.warps)
    result += arrivedThreads(*warp, barrier.arrived[warp->index]);
  return result;
}

bool isComplete(const Block &block, const NamedBarrier &barrier) {
  if (barrier.expected == 0)
    return false;
  if (barrier.expected != NamedBarrier::allThreads)
    return arrivedThreads(block, barrier) >= barrier.expected;
  for (const auto &warp : block.warps)
    if (warp->all & ~warp->exited & ~barrier.arrived[warp->index])
      return false;
  return true;
}

} // namespace

void Block::completeBarrier(unsigned number) {
  NamedBarrier &barrier = barriers[number];
  if (!isComplete(*this, barrier))
    return;
  unsigned arrived = arrivedThreads(*this, barrier);
  if (barrier.expected != NamedBarrier::allThreads &&
      arrived > barrier.expected) {
    for (const auto &warp : warps)
      if (LaneMask lanes = barrier.arrived[warp->index]) {
        warp->report(ReportKind::BarrierMisuse, firstLane(lanes), *barrier.last,
                     std::to_string(arrived) + " threads came to barrier " +
                         std::to_string(number) + ", which is for " +
                         std::to_string(barrier.expected));
        break;
      }
  }
  Detector *detector = cluster.detector();
  for (const auto &warp : warps) {
    LaneMask leaves = barrier.waits[warp->index];
    if (!leaves)
      continue;
    if (detector)
      forEachLane(leaves, [&](unsigned lane) {
        detector->acquire(warp->thread(lane), barrier.point);
      });
    warp->atBarrier &= ~leaves;
    warp->leavesBarrier |= leaves;
    forEachLane(leaves, [&](unsigned lane) {
      warp->reduced[lane] = {barrier.count, barrier.conjunction,
                             barrier.disjunction};
    });
  }
  barrier = NamedBarrier();
  cluster.progress();
}

void Block::threadsExited() {
  for (unsigned i = 0; i != barriers.size(); ++i)
    completeBarrier(i);
}

void Cluster::completeClusterBarrier() {
  if (barrier.arrived == 0 || barrier.arrived < liveThreads)
    return;
  ++barrier.phase;
  barrier.arrived = 0;
  barrier.previous = std::move(barrier.point);
  barrier.point = SyncPoint();
  progress();
}

namespace {

//===----------------------------------------------------------------------===//
// bar, barrier
//===----------------------------------------------------------------------===//

struct BarrierDetails : Details {
  enum class Action : uint8_t { Sync, Arrive, Reduce };
  enum class Reduction : uint8_t { Count, And, Or };
  Action action = Action::Sync;
  Reduction reduction = Reduction::Count;
  Slot number = noSlot, threads = noSlot, predicate = noSlot;
  bool isNegated = false;
};

// The barrier and the thread count of a lane, if they are sound.
bool readOperands(Warp &warp, const Instruction &at, unsigned lane,
                  unsigned &number, unsigned &expected) {
  const auto &details = at.as<BarrierDetails>();
  uint64_t value = uint32_t(warp.values(details.number)[lane]);
  auto misuse = [&](std::string message) {
    warp.report(ReportKind::BarrierMisuse, lane, at, std::move(message));
    return false;
  };
  if (value >= warp.block.barriers.size())
    return misuse("barrier " + std::to_string(value) +
                  ", where a block has 0 to 15");
  number = unsigned(value);
  expected = NamedBarrier::allThreads;
  if (details.threads == noSlot)
    return true;
  value = uint32_t(warp.values(details.threads)[lane]);
  uint64_t most = warp.block.warps.size() * warpSize;
  if (value == 0 || value % warpSize)
    return misuse("a barrier for " + std::to_string(value) +
                  " threads, which is not a positive multiple of 32");
  if (value > most)
    return misuse("a barrier for " + std::to_string(value) +
                  " threads in a block of " + std::to_string(most));
  expected = unsigned(value);
  return true;
}

// Whether a count means the whole block, in either way of saying so.
bool areAll(const Block &block, unsigned threads) {
  return threads == NamedBarrier::allThreads ||
         threads == block.warps.size() * warpSize;
}

// A lane arrives; whether it now waits.
bool arrive(Warp &warp, const Instruction &at, unsigned lane, unsigned number,
            unsigned expected) {
  const auto &details = at.as<BarrierDetails>();
  Block &block = warp.block;
  NamedBarrier &barrier = block.barriers[number];
  if (barrier.expected == 0) {
    barrier.expected = expected;
    barrier.arrived.assign(block.warps.size(), 0);
    barrier.waits.assign(block.warps.size(), 0);
  } else if (barrier.expected != expected &&
             !(areAll(block, barrier.expected) && areAll(block, expected))) {
    auto text = [](unsigned threads) {
      return threads == NamedBarrier::allThreads ? "all"
                                                 : std::to_string(threads);
    };
    warp.report(ReportKind::BarrierMisuse, lane, at,
                "barrier " + std::to_string(number) + " is for " +
                    text(expected) + " threads here and for " +
                    text(barrier.expected) + " where others came to it");
  }
  LaneMask bit = LaneMask(1) << lane;
  barrier.last = &at;
  if (barrier.arrived[warp.index] & bit)
    warp.report(ReportKind::BarrierMisuse, lane, at,
                "a thread comes to barrier " + std::to_string(number) +
                    " again before it is complete");
  barrier.arrived[warp.index] |= bit;
  if (Detector *detector = block.cluster.detector())
    detector->release(warp.thread(lane), barrier.point);
  if (details.action == BarrierDetails::Action::Arrive)
    return false;
  if (details.action == BarrierDetails::Action::Reduce) {
    bool holds = (warp.values(details.predicate)[lane] & 1) != 0;
    holds ^= details.isNegated;
    barrier.count += holds;
    barrier.conjunction &= holds;
    barrier.disjunction |= holds;
  }
  barrier.waits[warp.index] |= bit;
  warp.atBarrier |= bit;
  return true;
}

void explain(Warp &warp, const Instruction &at, LaneMask lanes) {
  forEachLane(lanes, [&](unsigned lane) {
    for (unsigned i = 0; i != warp.block.barriers.size(); ++i) {
      const NamedBarrier &barrier = warp.block.barriers[i];
      if (barrier.expected == 0 || !(barrier.waits[warp.index] >> lane & 1))
        continue;
      unsigned there = arrivedThreads(warp.block, barrier);
      std::string expected =
          barrier.expected == NamedBarrier::allThreads
              ? "the " + std::to_string(warp.block.liveThreads) +
                    " threads that have not exited"
              : std::to_string(barrier.expected) + " threads";
      warp.setWaiting(lane, at,
                      "barrier " + std::to_string(i) + ", to which " +
                          std::to_string(there) + " of " + expected +
                          " have come");
    }
  });
}

Outcome runBarrier(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<BarrierDetails>();
  Block &block = warp.block;
  LaneMask arriving = lanes & ~warp.atBarrier & ~warp.leavesBarrier;
  LaneMask done = 0;
  std::array<bool, 16> isTouched = {};
  forEachLane(arriving, [&](unsigned lane) {
    unsigned number = 0, expected = 0;
    if (!readOperands(warp, at, lane, number, expected)) {
      done |= LaneMask(1) << lane;
      return;
    }
    isTouched[number] = true;
    if (!arrive(warp, at, lane, number, expected))
      done |= LaneMask(1) << lane;
  });
  if (arriving)
    for (unsigned i = 0; i != isTouched.size(); ++i)
      if (isTouched[i])
        block.completeBarrier(i);
  LaneMask leaving = lanes & warp.leavesBarrier;
  warp.leavesBarrier &= ~leaving;
  done |= leaving;
  if (details.action == BarrierDetails::Action::Reduce) {
    uint64_t *to = warp.row(at.result(0));
    forEachLane(leaving, [&](unsigned lane) {
      const BarrierResult &result = warp.reduced[lane];
      switch (details.reduction) {
      case BarrierDetails::Reduction::Count:
        to[lane] = result.count;
        break;
      case BarrierDetails::Reduction::And:
        to[lane] = result.conjunction;
        break;
      case BarrierDetails::Reduction::Or:
        to[lane] = result.disjunction;
        break;
      }
    });
  }
  if (done == lanes)
    return Outcome::Next;
  if (block.cluster.isExplaining())
    explain(warp, at, lanes & ~done);
  warp.advance(done);
  return Outcome::Wait;
}

llvm::Error takeValue(Decoder &decoder, const ptx::Instruction &from,
                      const ptx::Operand &operand, Slot &to) {
  llvm::Expected<Slot> slot = decoder.value(from, operand, Type::U32);
  if (!slot)
    return slot.takeError();
  to = *slot;
  return llvm::Error::success();
}

llvm::Error decodeBlockBarrier(Decoder &decoder, Pieces &pieces,
                               const ptx::Instruction &from, Instruction &to) {
  using Action = BarrierDetails::Action;
  using Reduction = BarrierDetails::Reduction;
  auto details = std::make_shared<BarrierDetails>();
  pieces.take("cta");
  pieces.take("aligned");
  if (pieces.take("arrive")) {
    details->action = Action::Arrive;
  } else if (pieces.take("red")) {
    details->action = Action::Reduce;
    Type wanted = Type::Pred;
    if (pieces.take("popc"))
      wanted = Type::U32;
    else if (pieces.take("and"))
      details->reduction = Reduction::And;
    else if (pieces.take("or"))
      details->reduction = Reduction::Or;
    else
      return decoder.malformed(from, "it needs .popc, .and or .or");
    if (pieces.takeType() != wanted)
      return decoder.malformed(from, "it needs the type of its result");
  } else if (!pieces.take("sync")) {
    return decoder.unsupported(from, "it is none of sync, arrive and red");
  }
  llvm::ArrayRef<ptx::Operand> operands(from.operands);
  if (details->action == Action::Reduce) {
    if (operands.size() != 3 && operands.size() != 4)
      return decoder.malformed(from, "the wrong number of operands");
    llvm::Expected<Slot> result = decoder.result(from, operands.front());
    if (!result)
      return result.takeError();
    bool isPredicate =
        operands.front().kind == ptx::Operand::Kind::Register &&
        decoder.function().registers[operands.front().index].type == Type::Pred;
    if (isPredicate != (details->reduction != Reduction::Count))
      return decoder.malformed(from, "a result of the wrong type");
    to.slots = {*result};
    to.numResults = 1;
    llvm::Expected<Slot> predicate =
        decoder.predicate(from, operands.back(), details->isNegated);
    if (!predicate)
      return predicate.takeError();
    details->predicate = *predicate;
    operands = operands.drop_front().drop_back();
  }
  if (operands.empty() || operands.size() > 2)
    return decoder.malformed(from, "the wrong number of operands");
  if (details->action == Action::Arrive && operands.size() != 2)
    return decoder.malformed(from, "it needs a thread count");
  if (llvm::Error error =
          takeValue(decoder, from, operands[0], details->number))
    return error;
  if (operands.size() == 2)
    if (llvm::Error error =
            takeValue(decoder, from, operands[1], details->threads))
      return error;
  to.slots.push_back(details->number);
  if (details->threads != noSlot)
    to.slots.push_back(details->threads);
  if (details->predicate != noSlot)
    to.slots.push_back(details->predicate);
  to.execute = &runBarrier;
  to.details = std::move(details);
  return pieces.finish(decoder);
}

//===----------------------------------------------------------------------===//
// bar.warp.sync
//===----------------------------------------------------------------------===//

Outcome runWarpBarrier(Warp &warp, const Instruction &at, LaneMask lanes) {
  return forEachSync(warp, at, lanes, at.value(0), [&](LaneMask group) {
    Detector *detector = warp.block.cluster.detector();
    if (!detector)
      return;
    SyncPoint point;
    forEachLane(group, [&](unsigned lane) {
      detector->release(warp.thread(lane), point);
    });
    forEachLane(group, [&](unsigned lane) {
      detector->acquire(warp.thread(lane), point);
    });
  });
}

llvm::Error decodeBar(Decoder &decoder, const ptx::Instruction &from,
                      Instruction &to) {
  Pieces pieces(from);
  if (!pieces.take("warp"))
    return decodeBlockBarrier(decoder, pieces, from, to);
  if (!pieces.take("sync") || from.operands.size() != 1)
    return decoder.malformed(from, "it needs .sync and a member mask");
  Slot mask = noSlot;
  if (llvm::Error error = takeValue(decoder, from, from.operands[0], mask))
    return error;
  to.slots = {mask};
  to.execute = &runWarpBarrier;
  return pieces.finish(decoder);
}

//===----------------------------------------------------------------------===//
// barrier.cluster
//===----------------------------------------------------------------------===//

constexpr uint64_t isRelaxed = 1;

Outcome runClusterArrive(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  ClusterBarrier &barrier = cluster.barrier;
  forEachLane(lanes, [&](unsigned lane) {
    if (warp.clusterArrival[lane]) {
      warp.report(ReportKind::BarrierMisuse, lane, at,
                  "a thread arrives at the barrier of the cluster twice "
                  "without waiting",
                  "barrier.cluster.wait after each barrier.cluster.arrive");
      return;
    }
    warp.clusterArrival[lane] = barrier.phase + 1;
    ++barrier.arrived;
    Detector *detector = cluster.detector();
    if (detector && (at.flags & isRelaxed)) {
      detector->releaseFenced(warp.thread(lane), barrier.point);
      // It tells nothing of memory, but that the thread got here: enough for
      // those who wait for it before they end.
      for (const auto &block : cluster.blocks)
        detector->release(warp.thread(lane), block->ended);
    } else if (detector)
      detector->release(warp.thread(lane), barrier.point);
  });
  cluster.completeClusterBarrier();
  return Outcome::Next;
}

Outcome runClusterWait(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  ClusterBarrier &barrier = cluster.barrier;
  LaneMask done = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t &arrival = warp.clusterArrival[lane];
    if (arrival == 0)
      warp.report(ReportKind::BarrierMisuse, lane, at,
                  "a thread waits for the barrier of the cluster without "
                  "having arrived",
                  "barrier.cluster.arrive before each barrier.cluster.wait");
    else if (arrival > barrier.phase)
      return;
    else if (Detector *detector = cluster.detector())
      detector->acquire(warp.thread(lane), barrier.previous);
    arrival = 0;
    done |= LaneMask(1) << lane;
  });
  if (done == lanes)
    return Outcome::Next;
  if (cluster.isExplaining())
    forEachLane(lanes & ~done, [&](unsigned lane) {
      warp.setWaiting(lane, at,
                      "the barrier of the cluster, to which " +
                          std::to_string(barrier.arrived) + " of " +
                          std::to_string(cluster.liveThreads) +
                          " threads have come");
    });
  warp.advance(done);
  return Outcome::Wait;
}

llvm::Error decodeBarrier(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Pieces pieces(from);
  if (!pieces.take("cluster"))
    return decodeBlockBarrier(decoder, pieces, from, to);
  pieces.take("aligned");
  if (pieces.take("arrive")) {
    to.execute = &runClusterArrive;
    if (pieces.take("relaxed"))
      to.flags = isRelaxed;
    else
      pieces.take("release");
  } else if (pieces.take("wait")) {
    to.execute = &runClusterWait;
    pieces.take("acquire");
  } else {
    return decoder.unsupported(from, "it is neither arrive nor wait");
  }
  if (!from.operands.empty())
    return decoder.malformed(from, "it has operands");
  return pieces.finish(decoder);
}

//===----------------------------------------------------------------------===//
// fence, membar
//===----------------------------------------------------------------------===//

struct FenceDetails : Details {
  Order order = Order::AcquireRelease;
  Scope scope = Scope::Device;
};

Outcome runFence(Warp &warp, const Instruction &at, LaneMask lanes) {
  const auto &details = at.as<FenceDetails>();
  if (Detector *detector = warp.block.cluster.detector())
    forEachLane(lanes, [&](unsigned lane) {
      detector->fence(warp.thread(lane), details.order, details.scope);
    });
  return Outcome::Next;
}

Outcome runInitFence(Warp &warp, const Instruction &, LaneMask lanes) {
  if (Detector *detector = warp.block.cluster.detector())
    forEachLane(
        lanes, [&](unsigned lane) { detector->fenceInits(warp.thread(lane)); });
  return Outcome::Next;
}

Outcome runProxyFence(Warp &warp, const Instruction &at, LaneMask lanes) {
  if (Detector *detector = warp.block.cluster.detector())
    forEachLane(
        lanes, [&](unsigned lane) { detector->proxyFence(warp.thread(lane)); });
  return Outcome::Next;
}

Outcome runOtherFence(Warp &, const Instruction &, LaneMask) {
  return Outcome::Next;
}

bool takeScope(Pieces &pieces, Scope &scope) {
  for (auto [name, value] : {std::pair("cta", Scope::Block),
                             {"cluster", Scope::Cluster},
                             {"gpu", Scope::Device},
                             {"gl", Scope::Device},
                             {"sys", Scope::System}})
    if (pieces.take(name)) {
      scope = value;
      return true;
    }
  return false;
}

llvm::Error decodeProxyFence(Decoder &decoder, Pieces &pieces,
                             const ptx::Instruction &from, Instruction &to) {
  for (const char *name : {"async", "async.global", "async::generic", "alias",
                           "tensormap::generic"})
    if (pieces.take(name)) {
      to.execute = llvm::StringRef(name).starts_with("async") ? &runProxyFence
                                                              : &runOtherFence;
      break;
    }
  if (!to.execute)
    return decoder.unsupported(from, "its proxy is not known");
  // Which memory is meant is not told apart; how far it reaches neither.
  for (const char *piece :
       {"global", "shared::cta", "shared::cluster", "acquire", "release",
        "sync_restrict::shared::cta", "sync_restrict::shared::cluster"})
    pieces.take(piece);
  Scope scope;
  takeScope(pieces, scope);
  for (const ptx::Operand &operand : from.operands) {
    int64_t offset = 0;
    llvm::Expected<Slot> slot = operand.kind == ptx::Operand::Kind::Address
                                    ? decoder.address(from, operand, offset)
                                    : decoder.value(from, operand, Type::U32);
    if (!slot)
      return slot.takeError();
  }
  return pieces.finish(decoder);
}

llvm::Error decodeFence(Decoder &decoder, const ptx::Instruction &from,
                        Instruction &to) {
  Pieces pieces(from);
  if (pieces.take("proxy"))
    return decodeProxyFence(decoder, pieces, from, to);
  if (!from.operands.empty())
    return decoder.malformed(from, "it has operands");
  auto details = std::make_shared<FenceDetails>();
  // It makes initialized mbarriers known to the cluster, and nothing else.
  if (pieces.take("mbarrier_init")) {
    if (!pieces.take("release") || !pieces.take("cluster"))
      return decoder.malformed(from, "it needs .release.cluster");
    to.execute = &runInitFence;
    return pieces.finish(decoder);
  }
  for (auto [name, order] : {std::pair("sc", Order::AcquireRelease),
                             {"acq_rel", Order::AcquireRelease},
                             {"acquire", Order::Acquire},
                             {"release", Order::Release}})
    if (pieces.take(name))
      details->order = order;
  pieces.take("sync_restrict::shared::cta");
  pieces.take("sync_restrict::shared::cluster");
  if (!takeScope(pieces, details->scope))
    return decoder.malformed(from, "it needs a scope");
  to.execute = &runFence;
  to.details = std::move(details);
  return pieces.finish(decoder);
}

llvm::Error decodeMembar(Decoder &decoder, const ptx::Instruction &from,
                         Instruction &to) {
  Pieces pieces(from);
  if (pieces.take("proxy"))
    return decodeProxyFence(decoder, pieces, from, to);
  auto details = std::make_shared<FenceDetails>();
  if (!takeScope(pieces, details->scope) || !from.operands.empty())
    return decoder.malformed(from, "it needs a level and no operands");
  to.execute = &runFence;
  to.details = std::move(details);
  return pieces.finish(decoder);
}

} // namespace

void addBarriers(InstructionSet &set) {
  set.add("bar", &decodeBar);
  set.add("barrier", &decodeBarrier);
  set.add("fence", &decodeFence);
  set.add("membar", &decodeMembar);
}

} // namespace tilec::emulator
