//===- BulkCopies.cpp - Copies that the async proxy makes -----------------===//

#include "lib/Emulator/Async/BulkCopies.h"
#include <cstring>

namespace tilec::emulator {

llvm::SmallVector<BulkPart, 4> divide(Cluster &cluster, uint64_t size,
                                      uint64_t unit) {
  uint64_t units = size / unit;
  uint64_t draw = cluster.random();
  llvm::SmallVector<uint64_t, 4> cuts = {0, size};
  if (units > 1)
    for (unsigned cut = 0; cut < draw % 4; ++cut)
      cuts.push_back((1 + cluster.random() % (units - 1)) * unit);
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  llvm::SmallVector<BulkPart, 4> parts;
  for (size_t i = 1; i < cuts.size(); ++i)
    parts.push_back({cuts[i - 1], cuts[i]});
  return parts;
}

llvm::SmallVector<BulkTarget, 2> targetsOf(Warp &warp, unsigned lane,
                                           const Instruction &at,
                                           uint64_t bytes, unsigned alignment) {
  const auto &details = at.as<BulkDetails>();
  Cluster &cluster = warp.block.cluster;
  Place to = warp.resolve(lane, ptx::Space::Shared, details.to.of(warp, lane),
                          unsigned(bytes), alignment, /*isWrite=*/true, at);
  Place barrier = resolveBarrier(warp, lane, at, ptx::Space::Shared,
                                 details.barrier.of(warp, lane));
  if (!to.data || !barrier.data)
    return {};
  if (blockOf(cluster, to.address) != blockOf(cluster, barrier.address)) {
    warp.report(ReportKind::BadOperand, lane, at,
                "the destination and its mbarrier are in shared memory of "
                "different blocks");
    return {};
  }
  if (details.blocks == noSlot) {
    // That it is initialized is looked at now, by the thread that relies on it.
    if (!barrierOf(barrier, {&warp, lane, &at}))
      return {};
    return {{to.address, barrier.address}};
  }

  uint64_t mask = warp.values(details.blocks)[lane] & 0xffff;
  if (mask == 0 || (mask >> cluster.blocks.size()) != 0) {
    warp.report(ReportKind::BadOperand, lane, at,
                "the mask of .multicast is " + std::to_string(mask) +
                    ", but the cluster has " +
                    std::to_string(cluster.blocks.size()) + " blocks");
    return {};
  }
  llvm::SmallVector<BulkTarget, 2> targets;
  for (unsigned rank = 0; rank < cluster.blocks.size(); ++rank) {
    if (!(mask >> rank & 1))
      continue;
    BulkTarget target = {canonicalShared(rank, sharedOffset(to.address)),
                         canonicalShared(rank, sharedOffset(barrier.address))};
    Place place;
    place.address = target.barrier;
    if (barrierOf(place, {&warp, lane, &at}))
      targets.push_back(target);
  }
  return targets;
}

//===----------------------------------------------------------------------===//
// How copies run
//===----------------------------------------------------------------------===//

/// A part as an operation of the async proxy. Of no consequence if nothing is
/// detected.
static AsyncOperation startOperation(const BulkTransfer &transfer,
                                     const BulkPart &part, uint64_t to) {
  const Issuer &issuer = transfer.issuer;
  Detector *detector = transfer.cluster().detector();
  if (!detector)
    return {};
  AsyncOperation operation = detector->start(issuer.warp->thread(issuer.lane),
                                             Proxy::Async, *issuer.at);
  transfer.noteSource(part, operation);
  transfer.noteTarget(part, to, operation);
  return operation;
}

void startLoad(const std::shared_ptr<const BulkTransfer> &transfer,
               llvm::ArrayRef<BulkPart> parts,
               llvm::ArrayRef<BulkTarget> targets) {
  Cluster &cluster = transfer->cluster();
  for (const BulkTarget &target : targets)
    for (const BulkPart &part : parts)
      cluster.enqueue(
          {[transfer, part, target,
            operation = startOperation(*transfer, part, target.data)] {
             Cluster &cluster = transfer->cluster();
             const Issuer &issuer = transfer->issuer;
             if (blockOf(cluster, target.data)->liveThreads == 0) {
               issuer.report(ReportKind::ReadInFlight,
                             "a block ended before a copy into its shared "
                             "memory was complete",
                             "wait for the mbarrier of each copy");
               return;
             }
             std::vector<char> bytes;
             transfer->read(part, bytes);
             transfer->write(part, bytes, target.data);
             completeTransactions(cluster, target.barrier,
                                  transfer->bytesOf(part), &operation, issuer);
             cluster.wrote();
           },
           "bulk copy"});
}

void startStore(const std::shared_ptr<const BulkTransfer> &transfer,
                llvm::ArrayRef<BulkPart> parts) {
  Cluster &cluster = transfer->cluster();
  const Issuer &issuer = transfer->issuer;
  std::shared_ptr<CopyGroup> group =
      copiesOf(*issuer.warp, issuer.lane).bulk.open();
  group->isUsed = true;
  for (const BulkPart &part : parts) {
    AsyncOperation operation = startOperation(*transfer, part, 0);
    if (cluster.detector())
      group->operations.push_back(operation);
    ++group->unfinished;
    ++group->reading;
    cluster.enqueue({[transfer, part, group] {
                       Cluster &cluster = transfer->cluster();
                       std::vector<char> bytes;
                       transfer->read(part, bytes);
                       --group->reading;
                       cluster.progress();
                       cluster.enqueue(
                           {[transfer, part, group, bytes = std::move(bytes)] {
                              transfer->write(part, bytes, 0);
                              --group->unfinished;
                              transfer->cluster().progress();
                              transfer->cluster().wrote();
                            },
                            "bulk copy"});
                     },
                     "bulk copy"});
  }
}

//===----------------------------------------------------------------------===//
// Lines of memory
//===----------------------------------------------------------------------===//

namespace {

struct LineTransfer final : BulkTransfer {
  Place source;
  Place target; // Of a Store.

  uint64_t bytesOf(const BulkPart &part) const override {
    return part.end - part.begin;
  }

  uint64_t targetAt(const BulkPart &part, uint64_t to) const {
    return (target.data ? target.address : to) + part.begin;
  }

  void noteSource(const BulkPart &part,
                  const AsyncOperation &operation) const override {
    cluster().detector()->read(operation, source.address + part.begin,
                               bytesOf(part));
  }

  void noteTarget(const BulkPart &part, uint64_t to,
                  const AsyncOperation &operation) const override {
    Detector &detector = *cluster().detector();
    if (details().reduction)
      detector.reduce(operation, targetAt(part, to), bytesOf(part));
    else
      detector.write(operation, targetAt(part, to), bytesOf(part));
  }

  void read(const BulkPart &part, std::vector<char> &bytes) const override {
    bytes.assign(source.data + part.begin, source.data + part.end);
  }

  void write(const BulkPart &part, llvm::ArrayRef<char> bytes,
             uint64_t to) const override {
    const BulkDetails &how = details();
    char *data = target.data
                     ? target.data + part.begin
                     : sharedBytes(cluster(), targetAt(part, to), bytes.size());
    if (how.reduction)
      reduceElements(*how.reduction, how.type, data, bytes.data(),
                     bytes.size());
    else
      std::memcpy(data, bytes.data(), bytes.size());
  }
};

void runLine(Warp &warp, unsigned lane, const Instruction &at) {
  const auto &details = at.as<BulkDetails>();
  Cluster &cluster = warp.block.cluster;
  uint64_t bytes = uint32_t(warp.values(details.bytes)[lane]);
  if (bytes % 16 != 0) {
    warp.report(ReportKind::BadOperand, lane, at,
                "a bulk copy has " + std::to_string(bytes) +
                    " bytes, but must have a multiple of 16");
    return;
  }
  auto transfer = std::make_shared<LineTransfer>();
  transfer->issuer = {&warp, lane, &at};
  bool isFromShared =
      details.kind == BulkKind::Store || details.kind == BulkKind::Exchange;
  transfer->source = warp.resolve(
      lane, isFromShared ? ptx::Space::Shared : ptx::Space::Global,
      details.from.of(warp, lane), unsigned(bytes), 16, /*isWrite=*/false, at);
  if (!transfer->source.data || details.kind == BulkKind::Prefetch)
    return;

  if (details.kind != BulkKind::Store) {
    auto targets = targetsOf(warp, lane, at, bytes, 16);
    if (details.kind == BulkKind::Load)
      cluster.counters.bulkLoadBytes += bytes;
    if (bytes != 0)
      startLoad(transfer, divide(cluster, bytes, 16), targets);
    return;
  }
  transfer->target =
      warp.resolve(lane, ptx::Space::Global, details.to.of(warp, lane),
                   unsigned(bytes), 16, /*isWrite=*/true, at);
  if (!transfer->target.data)
    return;
  cluster.counters.bulkStoreBytes += bytes;
  if (bytes != 0)
    startStore(transfer, divide(cluster, bytes, 16));
}

} // namespace

Outcome runBulkLine(Warp &warp, const Instruction &at, LaneMask lanes) {
  forEachLane(lanes, [&](unsigned lane) { runLine(warp, lane, at); });
  return Outcome::Next;
}

void checkCopiesAtExit(Warp &warp, LaneMask lanes, const Instruction &at) {
  forEachLane(lanes, [&](unsigned lane) {
    if (!warp.copies[lane])
      return;
    bool isRead = true;
    warp.copies[lane]->bulk.forEach([&](const CopyGroup &group) {
      isRead &= group.knownRead || !group.isUsed;
    });
    if (!isRead)
      warp.report(ReportKind::OverwrittenInFlight, lane, at,
                  "a thread ends while bulk copies that it started may still "
                  "read shared memory",
                  "let it execute cp.async.bulk.wait_group.read 0 before it "
                  "ends");
  });
}

} // namespace tilec::emulator
