//===- BulkCopies.h - Copies that the async proxy makes ---------*- C++ -*-===//
//
// cp.async.bulk and cp.reduce.async.bulk: one thread starts a copy of a whole
// block of memory, or of a box of a tensor. How one runs:
//
//   * At issue operands are read and checked, and it is divided into a few
//     *parts* at places that are drawn. Each part is an operation of its own
//     that completes when it likes, so a program cannot count on their order.
//   * A part reads its source when it completes, not before: a source that is
//     overwritten too early gives wrong data. The detector is told of all that
//     the part reads and writes at issue, since from then on it may happen:
//     whoever touches it before he knows of the completion is the one to blame.
//   * A part into shared memory then tells its mbarrier how many bytes there
//     are. With .multicast each block has parts of its own, and they go to the
//     same offsets in each.
//   * A part out of shared memory completes twice: when it has read, which
//     wait_group.read waits for, and when it has written.
//
// The bytes that parts copy are described by functions of a *transfer*, of
// which there are two kinds: lines of memory and boxes of tensors.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_BULKCOPIES_H
#define TILEC_EMULATOR_ASYNC_BULKCOPIES_H

#include "lib/Emulator/Async/Copies.h"
#include "lib/Emulator/Async/MemoryBarrier.h"
#include "lib/Emulator/Async/Operands.h"
#include "lib/Emulator/Async/Reduction.h"
#include "lib/Emulator/Async/TensorMap.h"

namespace tilec::emulator {

/// From where to where.
enum class BulkKind : uint8_t {
  Load,     // Global to shared of the cluster; an mbarrier is told.
  Exchange, // Shared of the block to shared of the cluster; likewise.
  Store,    // Shared to global; joins the thread's bulk group.
  Prefetch, // Global to the second-level cache.
};

/// What an instruction says; its Details.
struct BulkDetails : Details {
  BulkKind kind = BulkKind::Load;
  std::optional<ReduceOperation> reduction;
  ptx::Type type = ptx::Type::None; // Of the reduction.
  unsigned rank = 0;                // Of a tensor; 0: lines of memory.
  AddressOperand to, from, barrier; // A tensor map is in place of an address.
  llvm::SmallVector<Slot, maxTensorRank> coordinates;
  Slot bytes = noSlot, blocks = noSlot; // blocks: of .multicast.
};

/// A range of a copy: bytes of a line, rows of a box.
struct BulkPart {
  uint64_t begin = 0, end = 0;
};
/// Divides [0, size) at random multiples of `unit`.
llvm::SmallVector<BulkPart, 4> divide(Cluster &cluster, uint64_t size,
                                      uint64_t unit);

/// Where a copy into shared memory goes: canonical addresses.
struct BulkTarget {
  uint64_t data = 0, barrier = 0;
};
/// The targets of a Load or Exchange of a lane, of which each has `bytes` bytes
/// of shared memory. None if something is wrong, which was reported.
llvm::SmallVector<BulkTarget, 2> targetsOf(Warp &warp, unsigned lane,
                                           const Instruction &at,
                                           uint64_t bytes, unsigned alignment);

/// What the parts of one copy share.
struct BulkTransfer {
  virtual ~BulkTransfer() = default;
  Issuer issuer;
  Cluster &cluster() const { return issuer.warp->block.cluster; }
  const BulkDetails &details() const { return issuer.at->as<BulkDetails>(); }

  /// Bytes of a part, as an mbarrier counts them.
  virtual uint64_t bytesOf(const BulkPart &part) const = 0;
  /// Tells the detector what a part reads, and what it writes at `to`.
  virtual void noteSource(const BulkPart &part,
                          const AsyncOperation &operation) const = 0;
  virtual void noteTarget(const BulkPart &part, uint64_t to,
                          const AsyncOperation &operation) const = 0;
  /// Reads a part. Bytes that the source does not have are the fill's.
  virtual void read(const BulkPart &part, std::vector<char> &bytes) const = 0;
  /// Writes a part to shared memory at `to`, or to its global memory.
  virtual void write(const BulkPart &part, llvm::ArrayRef<char> bytes,
                     uint64_t to) const = 0;
};

/// Starts all parts of a copy into shared memory.
void startLoad(const std::shared_ptr<const BulkTransfer> &transfer,
               llvm::ArrayRef<BulkPart> parts,
               llvm::ArrayRef<BulkTarget> targets);
/// The same of one out of shared memory.
void startStore(const std::shared_ptr<const BulkTransfer> &transfer,
                llvm::ArrayRef<BulkPart> parts);

/// The handlers, for each lane on its own.
Outcome runBulkLine(Warp &warp, const Instruction &at, LaneMask lanes);
Outcome runBulkTensor(Warp &warp, const Instruction &at, LaneMask lanes);

/// The copies of a thread.
ThreadCopies &copiesOf(Warp &warp, unsigned lane);
/// wait_group: Instruction::flags is how many groups may be left.
Outcome waitForGroups(Warp &warp, const Instruction &at, LaneMask lanes,
                      bool isBulk, bool reads = false);

// Decoders of what follows "cp.async.bulk" and "cp.reduce.async.bulk".
llvm::Error decodeBulkCopy(Decoder &decoder, Pieces &pieces,
                           const ptx::Instruction &from, Instruction &to);
llvm::Error decodeBulkReduction(Decoder &decoder, Pieces &pieces,
                                const ptx::Instruction &from, Instruction &to);
// st.async and red.async: the decoders of st and red call these.
llvm::Error decodeAsyncStore(Decoder &decoder, const ptx::Instruction &from,
                             Instruction &to);
llvm::Error decodeAsyncReduction(Decoder &decoder, const ptx::Instruction &from,
                                 Instruction &to);

/// A thread exits: reports copies out of its block's shared memory that it did
/// not wait for.
void checkCopiesAtExit(Warp &warp, LaneMask lanes, const Instruction &at);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_BULKCOPIES_H
