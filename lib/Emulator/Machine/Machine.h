//===- Machine.h - Warps, blocks, clusters ----------------------*- C++ -*-===//
//
// The state of what runs, and how it is run.
//
//   * A Cluster (of one block, where a kernel has no clusters) is what is
//     scheduled: one host thread at a time runs it, and several run side by
//     side. It has blocks; a Block has shared memory, barriers and warps; a
//     Warp has 32 lanes with a program counter each.
//   * A warp executes the instruction at the lowest program counter of its
//   lanes
//     that can go on, for all lanes that are there. Lanes that diverged meet
//     again at the end of what divided them, since compilers lay code out in
//     that order. Lanes that wait do not keep others from going on.
//   * Which warp goes next, and for how many instructions, is drawn from a
//     seeded generator. The same seed gives the same run of a cluster.
//   * Asynchronous operations are queued in the cluster and completed at times
//     that are drawn too: as early as at once, as late as when all warps wait.
//     An operation moves its bytes when it completes; the parts of one may
//     complete apart from each other.
//   * When all lanes wait and no operation is under way, that is a deadlock.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_MACHINE_MACHINE_H
#define TILEC_EMULATOR_MACHINE_MACHINE_H

#include "lib/Emulator/Machine/Counters.h"
#include "lib/Emulator/Machine/Memory.h"
#include "lib/Emulator/Machine/Program.h"
#include "lib/Emulator/Race/Detector.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tilec::emulator {

class Block;
class Cluster;
struct Launch;
struct MemoryBarrier;  // Async/MemoryBarrier.h.
struct ThreadCopies;   // Async/Copies.h: the groups of copies of a thread.
struct WarpgroupState; // Async/Wgmma.h: what runs, and in which registers.

/// Bytes on the host that an access means.
struct Place {
  char *data = nullptr;                  // Null: reported; do nothing.
  uint64_t address = 0;                  // Canonical.
  ptx::Space space = ptx::Space::Global; // Never Generic.
};

/// Why a lane waits, for deadlock messages.
struct Waiting {
  const Instruction *at = nullptr; // Null: it does not.
  std::string what;                // "phase 3 of the mbarrier at 1032".
};

class Warp {
public:
  Warp(Block &block, unsigned index, LaneMask lanes);
  ~Warp();

  Block &block;
  const unsigned index; // In the block.
  const LaneMask all;   // Lanes that exist.
  LaneMask exited = 0;
  std::array<uint32_t, warpSize> pc = {};

  /// The values of a slot, a register's or a constant's.
  const uint64_t *values(Slot slot) const;
  /// A register for writing. Lanes that do not execute must keep theirs. For
  /// noSlot a row that nobody reads.
  uint64_t *row(Slot slot);
  uint64_t special(Special which, unsigned lane) const;

  ThreadId thread(unsigned lane) const;

  /// The bytes that `address` in `space` means for a lane; `isWrite` for
  /// messages. Outside an allocation or not a multiple of `alignment`:
  /// reported, and the place has no data.
  Place resolve(unsigned lane, ptx::Space space, uint64_t address,
                unsigned bytes, unsigned alignment, bool isWrite,
                const Instruction &at);

  /// Says that a lane waits, or no longer does.
  void setWaiting(unsigned lane, const Instruction &at, std::string what);
  void clearWaiting(unsigned lane);

  /// Adds a report with this lane as its first participant.
  void report(ReportKind kind, unsigned lane, const Instruction &at,
              std::string message, std::string remedy = "");

  std::vector<Row> registers; // From slot 0; Special ones first.
  std::array<llvm::SmallVector<uint32_t, 4>, warpSize> returnStack;
  std::array<std::vector<char>, warpSize> local, param;
  std::array<Waiting, warpSize> waiting;
  std::array<std::unique_ptr<ThreadCopies>, warpSize> copies; // Made on demand.

private:
  Row discarded = {};
};

/// A barrier of bar.sync: who is there, and what they know.
struct NamedBarrier {
  unsigned arrived = 0;  // Threads.
  unsigned expected = 0; // 0: nobody has come yet.
  uint64_t generation = 0;
  SyncPoint point;    // Released into by those who arrived.
  SyncPoint previous; // Of the generation before: what those who leave acquire.
  uint64_t reduction = 0, previousReduction = 0; // bar.red.
};

class Block {
public:
  Block(Cluster &cluster, unsigned rank, std::array<unsigned, 3> position);
  ~Block();

  Cluster &cluster;
  const unsigned rank;                    // In its cluster.
  const std::array<unsigned, 3> position; // %ctaid.
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<char> shared; // Offset 0 is at sharedOrigin.
  std::array<NamedBarrier, 16> barriers;
  /// By offset in the window. Its eight bytes in `shared` hold a mark.
  std::map<uint32_t, std::unique_ptr<MemoryBarrier>> memoryBarriers;
  std::vector<std::unique_ptr<WarpgroupState>> warpgroups; // Made on demand.
  unsigned registerPool = 0; // Registers of the SM that setmaxnreg can take.
  unsigned liveThreads = 0;  // Not exited.
};

/// An asynchronous operation on its way.
struct PendingOperation {
  std::function<void()> complete; // Does it, and tells whoever waits.
  std::string what;               // For deadlock messages.
};

class Cluster {
public:
  Cluster(Launch &launch, uint64_t index);
  ~Cluster();

  Launch &launch;
  const uint64_t index;
  std::vector<std::unique_ptr<Block>> blocks;
  Detector *detector() { return races.get(); } // Null: detection is off.
  std::mt19937_64 random;
  Counters counters;

  /// Queues an operation. Those of one queue complete in any order, except that
  /// one never completes before an earlier one with the same `orderKey`, unless
  /// that is 0.
  void enqueue(PendingOperation operation, uint64_t orderKey = 0);
  /// Tells the scheduler that something changed that waiting lanes look at.
  void progress() { ++changes; }

  /// Runs up to `steps` instructions of warps. Whether it is finished.
  bool run(uint64_t steps);

private:
  struct Scheduler;
  std::unique_ptr<Detector> races;
  std::deque<std::pair<uint64_t, PendingOperation>> pending;
  uint64_t changes = 0;
};

/// What all clusters of a launch share.
struct Launch {
  const Program &program;
  const FunctionCode &kernel;
  DeviceMemory &memory;
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1},
                          cluster = {1, 1, 1};
  uint64_t dynamicShared = 0;
  std::vector<char> params; // As the param window has them.
  uint64_t seed = 0;
  uint64_t stepLimit = 0; // Instructions of a warp.
  bool detectRaces = true;
  Reporter reporter;
  GlobalShadow globalShadow;
  std::function<void(llvm::StringRef)>
      print; // Of printf; called one at a time.
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_MACHINE_H
