//===- Machine.h - Warps, blocks, clusters ----------------------*- C++ -*-===//
//
// The state of what runs, and how it is run.
//
//   * A Cluster (of one block, where a kernel has no clusters) is what is
//     scheduled: one host thread at a time runs it, and several run side by
//     side. It has blocks; a Block has shared memory, barriers and warps; a
//     Warp has 32 lanes with a program counter each.
//   * A warp executes the instruction at the lowest program counter of its
//     lanes that can go on, for all lanes that are there, those that wait
//     there included. Lanes that diverged meet again at the end of what divided
//     them, since compilers lay code out in that order. Lanes that wait do not
//     keep others from going on, and a loop that goes round very often lets the
//     other lanes of its warp run for a while: what it waits for may be theirs.
//   * An .aligned instruction holds lanes until all of the warp are there.
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
#include "lib/Emulator/Machine/PendingLoads.h"
#include "lib/Emulator/Machine/Program.h"
#include "lib/Emulator/Race/Detector.h"
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace tilec::emulator {

class Block;
class Cluster;
struct Launch;
struct Scheduler; // Machine/Scheduler.h.
// What Async/ keeps in warps and blocks. They are shared pointers, though
// nobody shares, since those can be deleted without knowing the type.
struct MemoryBarrier;  // Async/MemoryBarrier.h.
struct ThreadCopies;   // Async/Copies.h: the groups of copies of a thread.
struct WarpgroupState; // Async/Wgmma.h: what its warps do together.
class RegisterWatch;   // Async/RegisterWatch.h: registers that wgmma works on.

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

/// What bar.red gives: how many threads' predicates hold, whether all do,
/// whether any does.
struct BarrierResult {
  uint32_t count = 0;
  bool conjunction = true, disjunction = false;
};

class Warp {
public:
  Warp(Block &block, unsigned index, LaneMask lanes);
  ~Warp();

  Block &block;
  const unsigned index; // In the block.
  const LaneMask all;   // Lanes that exist.
  LaneMask exited = 0;

  // --- Registers.

  /// The values of a slot, a register's or a constant's.
  const uint64_t *values(Slot slot) const {
    return slot < Program::firstConstant
               ? registers[slot].data()
               : constants[slot - Program::firstConstant].data();
  }
  /// A register for writing. Lanes that do not execute must keep theirs. For
  /// noSlot a row that nobody reads.
  uint64_t *row(Slot slot) {
    return slot == noSlot ? discarded.data() : registers[slot].data();
  }
  /// A special register as it is now.
  uint64_t special(Special which, unsigned lane) const;

  ThreadId thread(unsigned lane) const { return firstThread + lane; }

  // --- Memory.

  /// The bytes that `address` in `space` means for a lane; `isWrite` for
  /// messages. Outside an allocation or not a multiple of `alignment`:
  /// reported, and the place has no data.
  Place resolve(unsigned lane, ptx::Space space, uint64_t address,
                unsigned bytes, unsigned alignment, bool isWrite,
                const Instruction &at);
  /// The same, but what is wrong is not reported.
  Place find(unsigned lane, ptx::Space space, uint64_t address, uint64_t bytes);

  // --- Where lanes go. See Outcome.

  /// All lanes that execute go to one place; or each to one of its own.
  void jump(uint32_t target) { jumpTarget = target; }
  void jump(unsigned lane, uint32_t target) {
    pc[lane] = target;
    isJumpUniform = false;
  }
  void advance(LaneMask lanes) { advanced |= lanes; }
  void exit(LaneMask lanes);
  /// The program counter of an instruction.
  uint32_t counterOf(const Instruction &at) const;

  // --- Lanes that wait.

  /// Says that a lane waits, or no longer does. It costs a string: handlers
  /// that wait often may look at Cluster::isExplaining first.
  void setWaiting(unsigned lane, const Instruction &at, std::string what);
  void clearWaiting(unsigned lane);
  /// Said by a handler before it returns Wait: only other lanes of this warp
  /// can end it.
  void waitForWarp(LaneMask lanes) { waitsForWarp |= lanes; }

  /// Adds a report with this lane as its first participant.
  void report(ReportKind kind, unsigned lane, const Instruction &at,
              std::string message, std::string remedy = "");
  Participant participant(unsigned lane, const Instruction &at,
                          std::string role) const;

  Row *registers = nullptr;       // From slot 0; Special ones first.
  const Row *constants = nullptr; // From firstConstant.
  std::array<llvm::SmallVector<uint32_t, 4>, warpSize> returnStack;
  std::array<std::vector<char>, warpSize> local, param;
  std::array<Waiting, warpSize> waiting;
  std::array<std::shared_ptr<ThreadCopies>, warpSize> copies; // Made on demand.
  std::shared_ptr<RegisterWatch> registerWatch; // From the first wgmma on.
  std::unique_ptr<PendingLoads> pendingLoads;   // From the first load on.

  /// Lanes load from shared memory: said before the detector is told.
  void issueLoad(const Instruction &load, LaneMask lanes);
  /// Lanes give each other values, which tells of the loads before.
  void exchangeLoads(LaneMask lanes) {
    if (pendingLoads)
      pendingLoads->exchange(lanes & all);
  }

  // What lanes that came to a barrier of the block wait for. Completion moves
  // them from the first to the second.
  LaneMask atBarrier = 0, leavesBarrier = 0;
  std::array<BarrierResult, warpSize> reduced = {};
  std::array<uint64_t, warpSize> clusterArrival = {}; // See ClusterBarrier.
  LaneMask suspended = 0; // Wait in mbarrier.try_wait.

private:
  friend class Cluster;
  friend struct Scheduler;

  const ThreadId firstThread;
  std::array<uint32_t, warpSize> pc = {};
  LaneMask blocked = 0;      // Waits, or is held.
  LaneMask held = 0;         // At an .aligned instruction, for the rest.
  LaneMask waitsForWarp = 0; // See waitForWarp.
  LaneMask forced = 0;       // Goes on without the rest.
  LaneMask advanced = 0;
  uint32_t jumpTarget = 0;
  bool isJumpUniform = true;
  unsigned roundsOfLoop = 0; // Backward jumps while other lanes could go on.
  uint64_t seen = 0;         // Cluster::changes when lanes last tried to go on.
  std::vector<Row> storage;
  Row discarded = {};
};

/// A barrier of bar.sync. Threads count one by one, and lanes that do not exist
/// or have exited count as soon as all others of their warp are there. That is
/// what the hardware does for whole warps. A barrier without a thread count is
/// for all threads that have not exited; one with a count does not know of
/// exits, so threads that are gone are missing.
struct NamedBarrier {
  unsigned expected = 0;         // Threads; all: allThreads; 0: nobody came.
  std::vector<LaneMask> arrived; // By warp.
  std::vector<LaneMask> waits;   // Of these, who leaves on completion.
  SyncPoint point;               // Released into by those who arrived.
  // What bar.red has gathered.
  uint32_t count = 0;
  bool conjunction = true, disjunction = false;
  const Instruction *last = nullptr;
  static constexpr unsigned allThreads = ~0u;
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
  std::map<uint32_t, std::shared_ptr<MemoryBarrier>> memoryBarriers;
  std::vector<std::shared_ptr<WarpgroupState>> warpgroups; // Made on demand.
  unsigned registerPool = 0; // Registers that setmaxnreg.dec has given up.
  unsigned liveThreads = 0;  // Not exited.
  SyncPoint ended;           // Released into by threads that exit.

  /// Completes barriers of the block that waited for threads that have exited.
  void threadsExited();
  /// If all who are expected are there, lets them go.
  void completeBarrier(unsigned number);
};

/// The barrier of barrier.cluster: all threads of the cluster that have not
/// exited. Warp::clusterArrival is the phase at which a thread arrived, plus 1;
/// 0 if it has not arrived since it last waited.
struct ClusterBarrier {
  uint64_t phase = 0;
  unsigned arrived = 0; // Threads, without those that exited since.
  SyncPoint point, previous;
};

/// An asynchronous operation on its way.
struct PendingOperation {
  std::function<void()> complete; // Does it, and tells whoever waits.
  std::string what;               // For deadlock messages.
};

/// The addresses of a warp's access relative to the first, and what was counted
/// for them; an instruction mostly has the same pattern again.
struct AccessPattern {
  const Instruction *at = nullptr;
  uint64_t phase = 0; // Of the first address, in a word or a sector.
  std::array<uint64_t, warpSize> distance = {};
  unsigned count = 0, ideal = 0; // Sectors; wavefronts.
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
  ClusterBarrier barrier;
  /// Allocations that loads and stores found lately, by instruction.
  std::array<AllocationRange, 64> ranges = {};
  std::array<AccessPattern, 64> patterns = {};
  unsigned liveThreads = 0; // Not exited.

  /// Queues an operation. Those of one queue complete in any order, except that
  /// one never completes before an earlier one with the same `orderKey`, unless
  /// that is 0.
  void enqueue(PendingOperation operation, uint64_t orderKey = 0);
  /// Tells the scheduler that something changed that waiting lanes look at.
  void progress() { ++changes; }
  /// Tells that memory has changed that threads may poll.
  void wrote() { ++writes; }
  /// Everything waits, and waits that may time out (mbarrier.try_wait) should
  /// do so now: answer "not yet" instead of waiting.
  bool isTimingOut() const { return timingOut; }
  /// Whether handlers are asked why their lanes wait, just to tell people.
  bool isExplaining() const { return explaining; }
  /// Instructions of warps so far: what %clock shows.
  uint64_t now() const { return counters.warpInstructions; }

  void completeClusterBarrier();

  /// Runs up to `steps` instructions of warps. Whether it is finished.
  bool run(uint64_t steps);

  /// Since the last call: whether it did anything that others could see, or
  /// that brings lanes of its own on.
  bool takeActivity();
  /// Whether it does nothing for ever unless memory changes: lanes wait, or go
  /// round in loops that come back to the very same state.
  bool spins();
  /// Reports what the lanes wait for.
  void reportDeadlock();
  /// Somebody who has not exited, and what he would do next.
  Participant whereabouts() const;
  /// Sums up the counters; called once, at the end.
  void finish();

private:
  friend class Warp;
  friend struct Scheduler;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Detector> races;
  uint64_t changes = 0, writes = 0, lastActivity = 0;
  bool timingOut = false, explaining = false;
};

/// What all clusters of a launch share.
struct Launch {
  Launch(const Program &program, const FunctionCode &kernel,
         DeviceMemory &memory)
      : program(program), kernel(kernel), memory(memory) {}

  const Program &program;
  const FunctionCode &kernel;
  DeviceMemory &memory;
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1},
                          cluster = {1, 1, 1};
  bool isExplicitCluster = false;
  uint64_t dynamicShared = 0;
  unsigned registersPerThread = 0;
  std::vector<char> params; // As the param window has them.
  uint64_t seed = 0;
  uint64_t stepLimit = 0; // Instructions of a warp.
  bool detectRaces = true;
  Reporter reporter;
  GlobalShadow globalShadow;
  std::function<void(llvm::StringRef)>
      print; // Of printf; called one at a time.

  /// Registers as a warp finds them: poison, but what is the same for all
  /// warps.
  std::vector<Row> initialRegisters;
  std::vector<AllocationRange> allocations; // Sorted.
  /// Set when the rest of the run would show nothing: a trap, a deadlock.
  std::atomic<bool> isStopped = false;
  std::atomic<uint64_t> steps = 0; // Of finished slices.
  /// Held around a strong access to global memory and what the detector is
  /// told of it, so that both have one order.
  std::array<std::mutex, 64> strongAccess;
  std::mutex printing;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_MACHINE_MACHINE_H
