//===- MemoryBarrier.cpp - mbarrier objects -------------------------------===//

#include "lib/Emulator/Async/MemoryBarrier.h"
#include <cstring>

namespace tilec::emulator {

//===----------------------------------------------------------------------===//
// BarrierState
//===----------------------------------------------------------------------===//

void BarrierState::advance() {
  if (pending != 0 || outstanding != 0)
    return;
  ++currentPhase;
  pending = expected;
}

BarrierFault BarrierState::arrive(uint64_t count, bool noComplete) {
  if (count < 1 || count > maxCount)
    return BarrierFault::CountRange;
  if (count > pending)
    return BarrierFault::TooManyArrivals;
  if (noComplete && count == pending && outstanding == 0)
    return BarrierFault::WouldComplete;
  pending -= uint32_t(count);
  advance();
  return BarrierFault::None;
}

BarrierFault BarrierState::arriveDrop(uint64_t count, bool noComplete) {
  if (count > expected)
    return BarrierFault::TooManyArrivals;
  // The next phase begins with this arrival if it is the last one.
  expected -= uint32_t(count);
  BarrierFault fault = arrive(count, noComplete);
  if (fault != BarrierFault::None)
    expected += uint32_t(count);
  return fault;
}

BarrierFault BarrierState::addArrival() {
  if (pending >= maxCount)
    return BarrierFault::CountRange;
  ++pending;
  return BarrierFault::None;
}

BarrierFault BarrierState::expectTransactions(uint64_t bytes) {
  if (bytes > maxCount || outstanding + int64_t(bytes) > int64_t(maxCount))
    return BarrierFault::TransactionRange;
  // This may be what completes the phase, if all have arrived and the bytes
  // came before they were expected.
  outstanding += int64_t(bytes);
  advance();
  return BarrierFault::None;
}

BarrierFault BarrierState::completeTransactions(uint64_t bytes) {
  if (bytes > maxCount || outstanding - int64_t(bytes) < -int64_t(maxCount))
    return BarrierFault::TransactionRange;
  outstanding -= int64_t(bytes);
  advance();
  return BarrierFault::None;
}

uint64_t BarrierState::token() const { return (currentPhase << 20) | pending; }

bool BarrierState::isCurrent(uint64_t token) const {
  return (token >> 20) == currentPhase;
}

bool BarrierState::isPrevious(uint64_t token) const {
  return (token >> 20) + 1 == currentPhase;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Block *blockOf(Cluster &cluster, uint64_t address) {
  if (!isShared(address))
    return nullptr;
  uint64_t field = (address - sharedWindow) >> sharedRankShift;
  if (field == 0 || field > cluster.blocks.size())
    return nullptr;
  return cluster.blocks[field - 1].get();
}

char *sharedBytes(Cluster &cluster, uint64_t address, uint64_t bytes) {
  Block *block = blockOf(cluster, address);
  uint64_t offset = sharedOffset(address);
  if (!block || offset < sharedOrigin)
    return nullptr;
  offset -= sharedOrigin;
  if (offset > block->shared.size() || bytes > block->shared.size() - offset)
    return nullptr;
  return block->shared.data() + offset;
}

static std::string placeName(uint64_t address) {
  uint64_t rank = ((address - sharedWindow) >> sharedRankShift) - 1;
  std::string name = "the mbarrier at " +
                     std::to_string(sharedOffset(address)) +
                     " in shared memory";
  if (rank != 0)
    name += " of block " + std::to_string(rank) + " of the cluster";
  return name;
}

/// What a barrier's bytes hold while it lives: not what programs write.
static uint64_t markOf(uint64_t address) {
  return address * 0x9e37'79b9'7f4a'7c15 ^ 0x6261'7272'6965'7221;
}

static bool hasMark(Cluster &cluster, uint64_t address) {
  uint64_t found = 0;
  if (const char *bytes = sharedBytes(cluster, address, sizeof found))
    std::memcpy(&found, bytes, sizeof found);
  return found == markOf(address);
}

MemoryBarrier *findBarrier(Cluster &cluster, uint64_t address,
                           const Issuer &issuer) {
  Block *block = blockOf(cluster, address);
  auto found = block ? block->memoryBarriers.find(sharedOffset(address))
                     : decltype(block->memoryBarriers.end()){};
  if (!block || found == block->memoryBarriers.end()) {
    issuer.report(ReportKind::BarrierMisuse,
                  placeName(address) + " is not initialized",
                  "initialize it with mbarrier.init, and let all threads wait "
                  "for that");
    return nullptr;
  }
  if (!hasMark(cluster, address)) {
    issuer.report(ReportKind::BarrierMisuse,
                  placeName(address) +
                      " was overwritten since it was initialized",
                  "give it eight bytes that nothing else uses, or invalidate "
                  "it with mbarrier.inval before they are used otherwise");
    return nullptr;
  }
  if (block->liveThreads == 0) {
    issuer.report(ReportKind::BarrierMisuse,
                  placeName(address) + " is of a block that has ended",
                  "let blocks of a cluster wait for each other at their end");
    return nullptr;
  }
  return found->second.get();
}

Place resolveBarrier(Warp &warp, unsigned lane, const Instruction &at,
                     ptx::Space space, uint64_t address) {
  Place place = warp.resolve(lane, space, address, 8, 8, /*isWrite=*/true, at);
  if (place.data && place.space != ptx::Space::Shared) {
    warp.report(ReportKind::BadOperand, lane, at,
                "the address of an mbarrier is not in shared memory");
    place.data = nullptr;
  }
  return place;
}

MemoryBarrier *barrierOf(const Place &place, const Issuer &issuer) {
  Cluster &cluster = issuer.warp->block.cluster;
  if (Detector *detector = cluster.detector())
    detector->strong(issuer.warp->thread(issuer.lane), place.address, 8,
                     Detector::Strong::ReadModifyWrite, Order::Relaxed,
                     Scope::Cluster, *issuer.at);
  return findBarrier(cluster, place.address, issuer);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void initializeBarrier(Cluster &cluster, const Place &place, uint64_t count,
                       const Issuer &issuer) {
  Block *block = blockOf(cluster, place.address);
  if (!block)
    return;
  if (count < 1 || count > BarrierState::maxCount) {
    issuer.report(ReportKind::BarrierMisuse, "the count of an mbarrier is " +
                                                 std::to_string(count) +
                                                 ", but must be 1 to 2^20 - 1");
    return;
  }
  auto &barrier = block->memoryBarriers[sharedOffset(place.address)];
  if (barrier && hasMark(cluster, place.address))
    issuer.report(ReportKind::BarrierMisuse,
                  placeName(place.address) + " is initialized again",
                  "initialize it once, or invalidate it with mbarrier.inval "
                  "before");
  barrier = std::make_shared<MemoryBarrier>(uint32_t(count));
  uint64_t mark = markOf(place.address);
  std::memcpy(place.data, &mark, sizeof mark);
}

void invalidateBarrier(Cluster &cluster, const Place &place,
                       const Issuer &issuer) {
  if (!findBarrier(cluster, place.address, issuer))
    return;
  blockOf(cluster, place.address)
      ->memoryBarriers.erase(sharedOffset(place.address));
  std::memset(place.data, poisonByte, 8);
}

static bool check(BarrierFault fault, const MemoryBarrier &barrier,
                  uint64_t address, uint64_t number, const Issuer &issuer) {
  switch (fault) {
  case BarrierFault::None:
    return true;
  case BarrierFault::CountRange:
    issuer.report(ReportKind::BarrierMisuse, "the count of an arrival is " +
                                                 std::to_string(number) +
                                                 ", but must be 1 to 2^20 - 1");
    return false;
  case BarrierFault::TooManyArrivals:
    issuer.report(ReportKind::BarrierMisuse,
                  "more arrive than " + describe(barrier, address),
                  "initialize it with as many as arrive in each phase, and "
                  "arrive again only after the phase is complete");
    return false;
  case BarrierFault::WouldComplete:
    issuer.report(ReportKind::BarrierMisuse,
                  "an arrival with .noComplete completes " +
                      describe(barrier, address));
    return false;
  case BarrierFault::TransactionRange:
    issuer.report(ReportKind::TransactionCount,
                  std::to_string(number) + " bytes are more than " +
                      describe(barrier, address) +
                      " can count: 2^20 - 1 outstanding");
    return false;
  }
  return true;
}

/// Ends an operation: if it was the phase's last, those who wait may go on.
static void finish(Cluster &cluster, MemoryBarrier &barrier, uint64_t phase) {
  if (barrier.state.phase() == phase)
    return;
  if (cluster.detector())
    barrier.complete = barrier.released;
  cluster.progress();
}

bool arrive(Cluster &cluster, uint64_t address, MemoryBarrier &barrier,
            const Arrival &arrival, const Issuer &issuer) {
  uint64_t phase = barrier.state.phase();
  BarrierFault fault =
      arrival.drops
          ? barrier.state.arriveDrop(arrival.count, arrival.noComplete)
          : barrier.state.arrive(arrival.count, arrival.noComplete);
  if (!check(fault, barrier, address, arrival.count, issuer))
    return false;
  finish(cluster, barrier, phase);
  return true;
}

bool addArrival(uint64_t address, MemoryBarrier &barrier,
                const Issuer &issuer) {
  return check(barrier.state.addArrival(), barrier, address,
               barrier.state.pendingArrivals() + 1, issuer);
}

bool expectTransactions(Cluster &cluster, uint64_t address,
                        MemoryBarrier &barrier, uint64_t bytes,
                        const Issuer &issuer) {
  uint64_t phase = barrier.state.phase();
  barrier.expecting = issuer;
  if (!check(barrier.state.expectTransactions(bytes), barrier, address, bytes,
             issuer))
    return false;
  finish(cluster, barrier, phase);
  return true;
}

void completeTransactions(Cluster &cluster, uint64_t address, uint64_t bytes,
                          const AsyncOperation *operation,
                          const Issuer &issuer) {
  MemoryBarrier *barrier = findBarrier(cluster, address, issuer);
  if (!barrier)
    return;
  if (operation && cluster.detector())
    cluster.detector()->complete(*operation, barrier->released);
  uint64_t phase = barrier->state.phase();
  if (!barrier->expecting.warp)
    barrier->expecting = issuer;
  if (check(barrier->state.completeTransactions(bytes), *barrier, address,
            bytes, issuer))
    finish(cluster, *barrier, phase);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string describe(const MemoryBarrier &barrier, uint64_t address) {
  const BarrierState &state = barrier.state;
  std::string text = "phase " + std::to_string(state.phase()) + " of " +
                     placeName(address) + ", which waits for ";
  uint32_t arrivals = state.pendingArrivals();
  text += std::to_string(arrivals) + (arrivals == 1 ? " arrival" : " arrivals");
  if (state.transactions() > 0)
    text += " and " + std::to_string(state.transactions()) + " bytes";
  if (state.transactions() < 0)
    text += " and has got " + std::to_string(-state.transactions()) +
            " bytes that it did not expect";
  return text;
}

bool reportTransactions(Cluster &cluster, bool isDeadlock) {
  bool any = false;
  for (auto &block : cluster.blocks)
    for (auto &[offset, barrier] : block->memoryBarriers) {
      const BarrierState &state = barrier->state;
      uint64_t address = canonicalShared(block->rank, offset);
      if (state.transactions() == 0 || !barrier->expecting.warp ||
          (isDeadlock && state.pendingArrivals() != 0) ||
          !hasMark(cluster, address))
        continue;
      any = true;
      bool isMissing = state.transactions() > 0;
      uint64_t bytes =
          uint64_t(isMissing ? state.transactions() : -state.transactions());
      barrier->expecting.report(
          ReportKind::TransactionCount,
          "phase " + std::to_string(state.phase()) + " of " +
              placeName(address) + (isMissing ? " expects " : " has got ") +
              std::to_string(bytes) +
              (isMissing ? " more bytes than copies deliver"
                         : " bytes that nobody expected"),
          "expect_tx must name the bytes that the copies of the phase deliver: "
          "of a tensor copy those of its whole box");
    }
  return any;
}

} // namespace tilec::emulator
