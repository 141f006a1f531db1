//===- CopyInstructions.cpp - cp.async ------------------------------------===//
//
// 4, 8 or 16 bytes of a thread each, from global to shared memory. The copies
// of a warp's instruction are often one operation here, and sometimes two that
// complete apart.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Async/BulkCopies.h"
#include "lib/Emulator/Async/Copies.h"
#include "lib/Emulator/Async/MemoryBarrier.h"
#include "lib/Emulator/Async/Operands.h"
#include <cstring>

namespace tilec::emulator {

ThreadCopies &copiesOf(Warp &warp, unsigned lane) {
  auto &copies = warp.copies[lane];
  if (!copies)
    copies = std::make_unique<ThreadCopies>();
  return *copies;
}

namespace {

struct CopyDetails : Details {
  AddressOperand to, from;
  uint64_t bytes = 0;
  Slot sourceBytes = noSlot, ignored = noSlot;
};

/// The copy of one thread on its way.
struct ThreadCopy {
  unsigned lane = 0;
  uint32_t sourceBytes = 0;
  uint64_t number = 0;
  Place to, from;
  std::shared_ptr<CopyGroup> group;
};

void complete(Warp &warp, uint64_t bytes, llvm::ArrayRef<ThreadCopy> copies) {
  Cluster &cluster = warp.block.cluster;
  for (const ThreadCopy &copy : copies) {
    if (copy.sourceBytes != 0)
      std::memcpy(copy.to.data, copy.from.data, copy.sourceBytes);
    std::memset(copy.to.data + copy.sourceBytes, 0, bytes - copy.sourceBytes);
    --copy.group->unfinished;
    copiesOf(warp, copy.lane).finished(copy.number);
  }
  cluster.progress();
  cluster.wrote();
}

/// Sectors of 32 bytes that some bytes of a warp touch.
uint64_t numSectors(llvm::ArrayRef<ThreadCopy> copies) {
  llvm::SmallVector<uint64_t, 32> sectors;
  for (const ThreadCopy &copy : copies)
    if (copy.sourceBytes != 0)
      sectors.push_back(copy.from.address / 32);
  llvm::sort(sectors);
  return uint64_t(llvm::unique(sectors) - sectors.begin());
}

Outcome runCopy(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  const auto &details = at.as<CopyDetails>();
  std::vector<ThreadCopy> copies;
  copies.reserve(warpSize);
  forEachLane(lanes, [&](unsigned lane) {
    ThreadCopy copy;
    copy.lane = lane;
    uint64_t sourceBytes = details.bytes;
    if (details.sourceBytes != noSlot)
      sourceBytes = uint32_t(warp.values(details.sourceBytes)[lane]);
    if (details.ignored != noSlot && warp.values(details.ignored)[lane] & 1)
      sourceBytes = 0;
    if (sourceBytes > details.bytes) {
      warp.report(ReportKind::BadOperand, lane, at,
                  "the source of the copy has " + std::to_string(sourceBytes) +
                      " bytes, but the copy only " +
                      std::to_string(details.bytes));
      return;
    }
    copy.sourceBytes = uint32_t(sourceBytes);
    copy.to = warp.resolve(lane, ptx::Space::Shared, details.to.of(warp, lane),
                           unsigned(details.bytes), unsigned(details.bytes),
                           /*isWrite=*/true, at);
    if (!copy.to.data)
      return;
    if (sourceBytes != 0) {
      copy.from =
          warp.resolve(lane, ptx::Space::Global, details.from.of(warp, lane),
                       unsigned(sourceBytes), unsigned(details.bytes),
                       /*isWrite=*/false, at);
      if (!copy.from.data)
        return;
    }
    ThreadCopies &thread = copiesOf(warp, lane);
    copy.number = thread.numCopies++;
    ++thread.unfinished;
    copy.group = thread.copies.open();
    ++copy.group->unfinished;
    if (Detector *detector = cluster.detector()) {
      AsyncOperation operation = detector->start(
          warp.thread(lane), Proxy::Generic, at, Completion::CopyGroup);
      if (sourceBytes != 0)
        detector->read(operation, copy.from.address, sourceBytes);
      detector->write(operation, copy.to.address, details.bytes);
      copy.group->operations = {std::move(operation)};
    }
    cluster.counters.globalLoadBytes += sourceBytes;
    copies.push_back(std::move(copy));
  });
  if (copies.empty())
    return Outcome::Next;
  cluster.counters.globalLoadSectors += numSectors(copies);

  uint64_t draw = cluster.random();
  std::vector<ThreadCopy> later;
  if (draw % 4 == 0 && copies.size() > 1) {
    size_t cut = 1 + (draw >> 8) % (copies.size() - 1);
    later.assign(std::make_move_iterator(copies.begin() + ptrdiff_t(cut)),
                 std::make_move_iterator(copies.end()));
    copies.resize(cut);
  }
  for (std::vector<ThreadCopy> *part : {&copies, &later})
    if (!part->empty())
      cluster.enqueue({[&warp, bytes = details.bytes, part = std::move(*part)] {
                         complete(warp, bytes, part);
                       },
                       "cp.async"});
  return Outcome::Next;
}

Outcome runCommit(Warp &warp, const Instruction &, LaneMask lanes) {
  forEachLane(lanes,
              [&](unsigned lane) { copiesOf(warp, lane).copies.commit(); });
  return Outcome::Next;
}

Outcome runWaitAll(Warp &warp, const Instruction &at, LaneMask lanes) {
  // The open group is waited for as if it were committed; it is, once.
  forEachLane(lanes, [&](unsigned lane) {
    GroupQueue &copies = copiesOf(warp, lane).copies;
    if (copies.open()->unfinished != 0 || !copies.open()->operations.empty())
      copies.commit();
  });
  return waitForGroups(warp, at, lanes, /*isBulk=*/false);
}

Outcome runWaitGroup(Warp &warp, const Instruction &at, LaneMask lanes) {
  return waitForGroups(warp, at, lanes, /*isBulk=*/false);
}

/// cp.async.mbarrier.arrive: the barrier gets an arrival when the copies that
/// the thread has started so far are complete.
Outcome runArrive(Warp &warp, const Instruction &at, LaneMask lanes) {
  Cluster &cluster = warp.block.cluster;
  bool countsItself = at.flags != 0; // .noinc
  forEachLane(lanes, [&](unsigned lane) {
    Issuer issuer = {&warp, lane, &at};
    Place place =
        resolveBarrier(warp, lane, at, at.space,
                       warp.values(at.value(0))[lane] + uint64_t(at.offset));
    if (!place.data)
      return;
    MemoryBarrier *barrier = barrierOf(place, issuer);
    if (!barrier ||
        (!countsItself && !addArrival(place.address, *barrier, issuer)))
      return;
    ThreadCopies &copies = copiesOf(warp, lane);
    llvm::SmallVector<AsyncOperation, 4> operations;
    copies.copies.forEach([&](const CopyGroup &group) {
      operations.append(group.operations.begin(), group.operations.end());
    });
    auto arriveNow = [&cluster, issuer, address = place.address,
                      operations = std::move(operations)] {
      MemoryBarrier *barrier = findBarrier(cluster, address, issuer);
      if (!barrier)
        return;
      if (Detector *detector = cluster.detector())
        for (const AsyncOperation &operation : operations)
          detector->complete(operation, barrier->released);
      arrive(cluster, address, *barrier, Arrival(), issuer);
    };
    if (copies.unfinished == 0)
      cluster.enqueue({arriveNow, "cp.async.mbarrier"});
    else
      copies.watchers.push_back(
          {copies.unfinished, copies.numCopies, arriveNow});
  });
  return Outcome::Next;
}

llvm::Error decodeArrive(Decoder &decoder, Pieces &pieces,
                         const ptx::Instruction &from, Instruction &to) {
  to.execute = &runArrive;
  to.flags = pieces.take("noinc");
  pieces.take("b64");
  if (pieces.take("shared") || pieces.take("shared::cta"))
    to.space = ptx::Space::Shared;
  if (llvm::Error error = pieces.finish(decoder))
    return error;
  OperandReader operands(decoder, from, to);
  AddressOperand barrier;
  if (llvm::Error error = operands.address(barrier))
    return error;
  to.offset = barrier.offset;
  return operands.finish();
}

llvm::Error decodeCopy(Decoder &decoder, Pieces &pieces,
                       const ptx::Instruction &from, Instruction &to) {
  bool bypasses = pieces.take("cg");
  if (!bypasses && !pieces.take("ca"))
    return decoder.unsupported(from, "no such copy");
  if ((!pieces.take("shared") && !pieces.take("shared::cta")) ||
      !pieces.take("global"))
    return decoder.unsupported(from, "it copies from .global to .shared only");
  bool hasPolicy = pieces.take("L2::cache_hint");
  for (llvm::StringRef size : {"L2::64B", "L2::128B", "L2::256B"})
    pieces.take(size);
  if (llvm::Error error = pieces.finish(decoder))
    return error;

  auto details = std::make_shared<CopyDetails>();
  to.execute = &runCopy;
  to.space = ptx::Space::Shared;
  OperandReader operands(decoder, from, to);
  if (llvm::Error error = operands.address(details->to))
    return error;
  if (llvm::Error error = operands.address(details->from))
    return error;
  if (llvm::Error error = operands.number(details->bytes))
    return error;
  uint64_t bytes = details->bytes;
  if (bytes != 16 && (bypasses || (bytes != 4 && bytes != 8)))
    return decoder.malformed(from, "a copy has 16 bytes, with .ca also 4 or 8");
  if (operands.left() > size_t(hasPolicy)) {
    // How many bytes the source has, or a predicate that says it has none.
    const ptx::Operand &operand = from.operands[3];
    bool isPredicate =
        operand.kind == ptx::Operand::Kind::Register &&
        decoder.function().registers[operand.index].type == ptx::Type::Pred;
    if (llvm::Error error = operands.value(
            isPredicate ? details->ignored : details->sourceBytes,
            isPredicate ? ptx::Type::Pred : ptx::Type::U32))
      return error;
  }
  if (llvm::Error error = operands.cachePolicy(hasPolicy))
    return error;
  to.details = std::move(details);
  return operands.finish();
}

llvm::Error decodeCp(Decoder &decoder, const ptx::Instruction &from,
                     Instruction &to) {
  Pieces pieces(from);
  llvm::StringRef kind = pieces.takeNext();
  if (kind == "reduce") {
    if (!pieces.take("async") || !pieces.take("bulk"))
      return decoder.unsupported(from, "no such copy");
    return decodeBulkReduction(decoder, pieces, from, to);
  }
  if (kind != "async")
    return decoder.unsupported(from, "no such copy");
  if (pieces.take("bulk"))
    return decodeBulkCopy(decoder, pieces, from, to);
  if (pieces.take("mbarrier") && pieces.take("arrive"))
    return decodeArrive(decoder, pieces, from, to);
  if (pieces.take("commit_group")) {
    to.execute = &runCommit;
    return pieces.finish(decoder);
  }
  if (pieces.take("wait_all")) {
    to.execute = &runWaitAll;
    return pieces.finish(decoder);
  }
  if (pieces.take("wait_group")) {
    to.execute = &runWaitGroup;
    if (llvm::Error error = pieces.finish(decoder))
      return error;
    OperandReader operands(decoder, from, to);
    if (llvm::Error error = operands.number(to.flags))
      return error;
    return operands.finish();
  }
  return decodeCopy(decoder, pieces, from, to);
}

} // namespace

Outcome waitForGroups(Warp &warp, const Instruction &at, LaneMask lanes,
                      bool isBulk, bool reads) {
  Cluster &cluster = warp.block.cluster;
  LaneMask done = 0;
  forEachLane(lanes, [&](unsigned lane) {
    ThreadCopies &copies = copiesOf(warp, lane);
    GroupQueue &queue = isBulk ? copies.bulk : copies.copies;
    if (queue.isComplete(at.flags, reads)) {
      queue.acquire(at.flags, reads, cluster.detector());
      done |= LaneMask(1) << lane;
    } else if (cluster.isExplaining()) {
      warp.setWaiting(lane, at, "copies that it started");
    }
  });
  if (done == lanes)
    return Outcome::Next;
  warp.advance(done);
  return Outcome::Wait;
}

void addCopies(InstructionSet &set) { set.add("cp", decodeCp); }

} // namespace tilec::emulator
