//===- MemoryBarrierInstructions.cpp - mbarrier ---------------------------===//
//
// A wait that has to wait blocks its lane, as try_wait does on the hardware.
// Since try_wait may also answer that the phase is not complete, which the
// program must handle, a part of the waits does that at once; which, is drawn.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Async/MemoryBarrier.h"
#include "lib/Emulator/Async/Operands.h"

namespace tilec::emulator {

namespace {

/// Bits of Instruction::flags.
enum Flag : uint64_t {
  Relaxed = 1,    // .relaxed: carries no order.
  NoComplete = 2, // .noComplete
  Drops = 4,      // arrive_drop
  Expects = 8,    // arrive.expect_tx: the value is of bytes.
  Parity = 16,    // .parity
  Tries = 32,     // try_wait
  HasCount = 64,  // arrive with a count.
};

/// The place of the barrier of an mbarrier instruction.
Place placeOf(Warp &warp, unsigned lane, const Instruction &at, Slot base) {
  return resolveBarrier(warp, lane, at, at.space,
                        warp.values(base)[lane] + uint64_t(at.offset));
}

Outcome runInit(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  const uint64_t *counts = warp.values(at.value(1));
  forEachLane(lanes, [&](unsigned lane) {
    Place place = placeOf(warp, lane, at, at.value(0));
    if (!place.data)
      return;
    if (Detector *detector = cluster.detector()) {
      detector->write(warp.thread(lane), place.address, 8, at);
      detector->noteInit(warp.thread(lane));
    }
    initializeBarrier(cluster, place, uint32_t(counts[lane]),
                      {&warp, lane, &at});
  });
  return Outcome::Next;
}

Outcome runInval(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  forEachLane(lanes, [&](unsigned lane) {
    Place place = placeOf(warp, lane, at, at.value(0));
    if (!place.data)
      return;
    if (Detector *detector = cluster.detector())
      detector->write(warp.thread(lane), place.address, 8, at);
    invalidateBarrier(cluster, place, {&warp, lane, &at});
  });
  return Outcome::Next;
}

Outcome runArrive(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  Detector *detector = cluster.detector();
  uint64_t *tokens = warp.row(at.result(0));
  const uint64_t *values =
      at.flags & (Expects | HasCount) ? warp.values(at.value(1)) : nullptr;
  forEachLane(lanes, [&](unsigned lane) {
    Issuer issuer = {&warp, lane, &at};
    Place place = placeOf(warp, lane, at, at.value(0));
    if (!place.data)
      return;
    MemoryBarrier *barrier = barrierOf(place, {&warp, lane, &at});
    if (!barrier)
      return;
    // What the thread did is known to those who wait for this phase, so it must
    // be released before the phase can end.
    if (detector && !(at.flags & Relaxed))
      detector->releaseAfterLoads(warp.thread(lane), barrier->released);
    tokens[lane] = barrier->state.token();
    Arrival arrival;
    arrival.drops = at.flags & Drops;
    arrival.noComplete = at.flags & NoComplete;
    if (at.flags & HasCount)
      arrival.count = uint32_t(values[lane]);
    if (at.flags & Expects &&
        !expectTransactions(cluster, place.address, *barrier,
                            uint32_t(values[lane]), issuer))
      return;
    arrive(cluster, place.address, *barrier, arrival, issuer);
  });
  return Outcome::Next;
}

Outcome runExpect(Warp &warp, const Instruction &at, LaneMask lanes) {
  const uint64_t *bytes = warp.values(at.value(1));
  forEachLane(lanes, [&](unsigned lane) {
    Place place = placeOf(warp, lane, at, at.value(0));
    if (!place.data)
      return;
    if (MemoryBarrier *barrier = barrierOf(place, {&warp, lane, &at}))
      expectTransactions(warp.block.cluster, place.address, *barrier,
                         uint32_t(bytes[lane]), {&warp, lane, &at});
  });
  return Outcome::Next;
}

Outcome runComplete(Warp &warp, const Instruction &at, LaneMask lanes) {
  const uint64_t *bytes = warp.values(at.value(1));
  forEachLane(lanes, [&](unsigned lane) {
    Place place = placeOf(warp, lane, at, at.value(0));
    if (place.data && barrierOf(place, {&warp, lane, &at}))
      completeTransactions(warp.block.cluster, place.address,
                           uint32_t(bytes[lane]), nullptr, {&warp, lane, &at});
  });
  return Outcome::Next;
}

/// Whether the phase that an operand names is complete. A token of another
/// phase is reported.
bool isComplete(Warp &warp, unsigned lane, const Instruction &at,
                const MemoryBarrier &barrier, uint64_t named) {
  if (at.flags & Parity)
    return barrier.state.isComplete(unsigned(named & 1));
  if (barrier.state.isCurrent(named))
    return false;
  if (!barrier.state.isPrevious(named))
    warp.report(ReportKind::BarrierMisuse, lane, at,
                "the state is neither of the mbarrier's current phase nor of "
                "the one before",
                "wait with the state that an arrival at this phase returned");
  return true;
}

Outcome runWait(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  Detector *detector = cluster.detector();
  uint64_t *results = warp.row(at.result(0));
  const uint64_t *names = warp.values(at.value(1));
  LaneMask waiting = 0;
  forEachLane(lanes, [&](unsigned lane) {
    bool isNew = !(warp.suspended >> lane & 1);
    Place place = placeOf(warp, lane, at, at.value(0));
    MemoryBarrier *barrier =
        !place.data ? nullptr
        : isNew     ? barrierOf(place, {&warp, lane, &at})
                    : findBarrier(cluster, place.address, {&warp, lane, &at});
    // A broken barrier, which was reported, lets everyone go on.
    results[lane] = 1;
    if (barrier && !isComplete(warp, lane, at, *barrier, names[lane])) {
      bool givesUp = !(at.flags & Tries) || (isNew ? cluster.random() % 4 == 0
                                                   : cluster.isTimingOut());
      if (!givesUp) {
        waiting |= LaneMask(1) << lane;
        if (cluster.isExplaining())
          warp.setWaiting(lane, at, describe(*barrier, place.address));
        return;
      }
      results[lane] = 0;
    } else if (barrier && detector && !(at.flags & Relaxed)) {
      detector->acquire(warp.thread(lane), barrier->complete);
    }
  });
  warp.suspended = (warp.suspended & ~lanes) | waiting;
  if (!waiting)
    return Outcome::Next;
  warp.advance(lanes & ~waiting);
  return Outcome::Wait;
}

Outcome runPendingCount(Warp &warp, const Instruction &at, LaneMask lanes) {
  uint64_t *counts = warp.row(at.result(0));
  const uint64_t *tokens = warp.values(at.value(0));
  forEachLane(lanes, [&](unsigned lane) {
    counts[lane] = BarrierState::pendingOf(tokens[lane]);
  });
  return Outcome::Next;
}

/// The operands that all have: results first, then the barrier's address, then
/// values of `type`.
llvm::Error decodeOperands(Decoder &decoder, const ptx::Instruction &from,
                           Instruction &to, unsigned numResults,
                           unsigned minValues, unsigned maxValues,
                           ptx::Type type) {
  size_t count = from.operands.size();
  if (count < numResults + 1 + minValues || count > numResults + 1 + maxValues)
    return decoder.malformed(from, "wrong number of operands");
  to.numResults = numResults;
  for (unsigned i = 0; i < numResults; ++i) {
    llvm::Expected<Slot> slot = decoder.result(from, from.operands[i]);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
  }
  llvm::Expected<Slot> base =
      decoder.address(from, from.operands[numResults], to.offset);
  if (!base)
    return base.takeError();
  to.slots.push_back(*base);
  for (size_t i = numResults + 1; i < count; ++i) {
    llvm::Expected<Slot> slot = decoder.value(from, from.operands[i], type);
    if (!slot)
      return slot.takeError();
    to.slots.push_back(*slot);
  }
  return llvm::Error::success();
}

void takeSpace(Pieces &pieces, Instruction &to) {
  if (pieces.take("shared") || pieces.take("shared::cta") ||
      pieces.take("shared::cluster"))
    to.space = ptx::Space::Shared;
}

void takeOrder(Pieces &pieces, Instruction &to) {
  if (pieces.take("relaxed"))
    to.flags |= Relaxed;
  else if (!pieces.take("acquire"))
    pieces.take("release");
  if (!pieces.take("cta"))
    pieces.take("cluster");
}

llvm::Error decodeArrive(Decoder &decoder, Pieces &pieces,
                         const ptx::Instruction &from, Instruction &to) {
  to.execute = &runArrive;
  if (pieces.take("expect_tx"))
    to.flags |= Expects;
  if (pieces.take("noComplete"))
    to.flags |= NoComplete;
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  unsigned minValues = to.flags & (Expects | NoComplete) ? 1 : 0;
  if (from.operands.size() > 2 && !(to.flags & Expects))
    to.flags |= HasCount;
  return decodeOperands(decoder, from, to, /*numResults=*/1, minValues,
                        /*maxValues=*/1, ptx::Type::U32);
}

llvm::Error decodeBarrier(Decoder &decoder, const ptx::Instruction &from,
                          Instruction &to) {
  Pieces pieces(from);
  llvm::StringRef operation = pieces.takeNext();
  to.type = ptx::Type::B64;
  pieces.take("b64");
  takeSpace(pieces, to);
  takeOrder(pieces, to);

  if (operation == "arrive" || operation == "arrive_drop") {
    if (operation == "arrive_drop")
      to.flags |= Drops;
    return decodeArrive(decoder, pieces, from, to);
  }
  unsigned numResults = 0, minValues = 0, maxValues = 0;
  ptx::Type type = ptx::Type::U32;
  if (operation == "init") {
    to.execute = &runInit;
    minValues = maxValues = 1;
  } else if (operation == "inval") {
    to.execute = &runInval;
  } else if (operation == "expect_tx") {
    to.execute = &runExpect;
    minValues = maxValues = 1;
  } else if (operation == "complete_tx") {
    to.execute = &runComplete;
    minValues = maxValues = 1;
  } else if (operation == "test_wait" || operation == "try_wait") {
    to.execute = &runWait;
    numResults = minValues = maxValues = 1;
    if (pieces.take("parity"))
      to.flags |= Parity;
    else
      type = ptx::Type::B64;
    if (operation == "try_wait") {
      to.flags |= Tries;
      maxValues = 2; // How long to wait at most, which nothing depends on.
    }
  } else if (operation == "pending_count") {
    to.execute = &runPendingCount;
    if (llvm::Error error = pieces.finish(decoder))
      return error;
    return decoder.operands(from, to, /*numResults=*/1, ptx::Type::B64);
  } else {
    return decoder.unsupported(from, "no such operation on an mbarrier");
  }
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  return decodeOperands(decoder, from, to, numResults, minValues, maxValues,
                        type);
}

} // namespace

void addMemoryBarriers(InstructionSet &set) {
  set.add("mbarrier", decodeBarrier);
}

} // namespace tilec::emulator
