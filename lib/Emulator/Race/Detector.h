//===- Detector.h - What happens before what --------------------*- C++ -*-===//
//
// Two accesses to the same byte, one of them a write, are a race unless one
// *happens before* the other: unless there is a chain of program order and
// synchronization from one to the other. The detector does not look for bad
// timing in one run; it computes that relation, so a missing wait is found even
// when the run happened to be lucky.
//
// The relation is kept as vector clocks. An *agent* is whatever does things in
// order: each thread of the cluster is one. Its clock counts its own steps from
// one release to the next; its *knowledge* is, for every agent, the latest step
// that happens before what it does now. An access is remembered with its agent
// and step; a later one is ordered after it if the later agent knows that step.
//
// Asynchronous operations (cp.async, bulk copies, wgmma) are agents of their
// own, alive from issue to completion. They know what their issuer knew; nobody
// knows that they are complete until he acquires a SyncPoint that completion
// was released into. How the parts of PTX map onto this:
//
//   bar.sync, bar.warp.sync, barrier.cluster   arrive: release; leave: acquire
//   mbarrier   each phase has a SyncPoint: arrive releases into it, copies that
//              complete on it too, a successful wait acquires it
//   commit_group / wait_group   each group has a SyncPoint: completion of its
//              operations releases, the wait acquires
//   atomics, ld.acquire, st.release, fences   as in the memory model of PTX
//
// *Proxies.* Bulk copies and wgmma reach memory by another path, the async
// proxy, than ld and st, the generic one. What the generic proxy wrote is seen
// by the async one only past fence.proxy.async. So an agent has two knowledges:
// all that happens before, and what of it was also fenced; an operation of the
// async proxy must find generic writes in the latter. A fence copies the first
// to the second; synchronization carries both. The other way round completion
// fences implicitly.
//
// *Loads.* An ordinary load from shared memory may still be queued when a
// barrier opens behind it: bar.sync does not wait for it. Ordinary stores do
// not overtake it, bulk copies do. So a copy that overwrites what was loaded
// must come after a barrier that comes after a use of the loaded values.
// loadsPendingSince() tells the detector which of a thread's loads nobody has
// used; an arrive on an mbarrier, which goes the way of the loads, waits for
// them, hence releaseAfterLoads().
//
// Thread safety: a Detector belongs to one cluster and is used by one host
// thread at a time. GlobalShadow is shared by those of a launch.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_RACE_DETECTOR_H
#define TILEC_EMULATOR_RACE_DETECTOR_H

#include "lib/Emulator/Report.h"
#include <cstdint>
#include <functional>
#include <memory>

namespace tilec::emulator {

struct Instruction;
class GlobalShadow;

/// A thread of a cluster: rank of its block * threads of a block + its own
/// number in the block.
using ThreadId = uint32_t;

/// What one must acquire to know what was released; see SyncPoint.
class Knowledge;

/// Something that carries order from those who release into it to those who
/// acquire it: a phase of a barrier, a group of copies, a lock's word. A new
/// one carries nothing; it may be copied and cleared by assigning a new one.
class SyncPoint {
public:
  SyncPoint();
  ~SyncPoint();
  SyncPoint(const SyncPoint &);
  SyncPoint(SyncPoint &&) noexcept;
  SyncPoint &operator=(const SyncPoint &);
  SyncPoint &operator=(SyncPoint &&) noexcept;

private:
  friend class Detector;
  std::unique_ptr<Knowledge> knowledge;
};

/// How an asynchronous operation reaches memory.
enum class Proxy : uint8_t {
  Generic, // cp.async.
  Async,   // Bulk and tensor copies, wgmma.
};

enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcquireRelease };
enum class Scope : uint8_t { Block, Cluster, Device, System };

/// How one learns that an operation is complete. Those of a *group* become
/// known in order: who knows that an operation is complete knows it of all that
/// the same thread started before with the same Completion. That costs less,
/// but takes only what is true for any wait_group.
enum class Completion : uint8_t {
  Barrier,    // An mbarrier.
  Store,      // The same; but it releases what its issuer did: st.async.
  CopyGroup,  // cp.async.wait_group, cp.async.mbarrier.arrive.
  BulkGroup,  // cp.async.bulk.wait_group, also .read.
  WgmmaGroup, // wgmma.wait_group.
};

/// An asynchronous operation between issue and completion.
struct AsyncOperation {
  /// As whom it reads and writes, and in which step.
  uint32_t reader = 0, writer = 0;
  uint32_t readStep = 0, writeStep = 0;
  ThreadId issuer = 0;
  Proxy proxy = Proxy::Async;
  const Instruction *instruction = nullptr;
  bool isStore = false;                               // Completion::Store.
  std::shared_ptr<const struct OperationStart> start; // What it knows.
};

class Detector {
public:
  /// For a cluster whose blocks have `blockThreads` threads and `sharedBytes`
  /// of shared memory each. `clusterIndex` tells the clusters of a launch
  /// apart. `global` is that of the launch.
  Detector(unsigned blockThreads, unsigned numBlocks, uint64_t clusterIndex,
           uint64_t sharedBytes, GlobalShadow &global, Reporter &reporter);
  ~Detector();

  /// For messages: the position of a block of the cluster in the grid.
  void setBlockPosition(unsigned rank, std::array<unsigned, 3> position);
  /// For messages: what an address is called. Without it, numbers.
  void setNames(std::function<std::string(uint64_t address)> names);

  // --- Accesses of threads. Addresses are canonical (Memory.h).

  void read(ThreadId thread, uint64_t address, unsigned bytes,
            const Instruction &at);
  void write(ThreadId thread, uint64_t address, unsigned bytes,
             const Instruction &at);
  /// The same for lanes of a warp, whose first thread is `warp`; `addresses`
  /// has one for each of its 32 lanes. That is faster, and lanes that write the
  /// same bytes in one instruction are not a race among themselves: one of them
  /// wins.
  void read(ThreadId warp, uint32_t lanes, const uint64_t *addresses,
            unsigned bytes, const Instruction &at);
  void write(ThreadId warp, uint32_t lanes, const uint64_t *addresses,
             unsigned bytes, const Instruction &at);
  /// A load of ld.global.nc by lanes: through a cache that sees no write of the
  /// launch, so all that was written is a race, whatever orders it.
  void readOnlyPath(ThreadId warp, uint32_t lanes, const uint64_t *addresses,
                    unsigned bytes, const Instruction &at);
  /// A strong access: a read-modify-write, or ld/st with .relaxed, .volatile,
  /// .acquire, .release. Two strong accesses never race with each other.
  enum class Strong : uint8_t { Load, Store, ReadModifyWrite };
  void strong(ThreadId thread, uint64_t address, unsigned bytes, Strong kind,
              Order order, Scope scope, const Instruction &at);

  // --- Order.

  /// What `thread` did so far happens before whoever acquires `to` from now on.
  void release(ThreadId thread, SyncPoint &to);
  /// What it did before its last releasing fence that reaches the cluster does:
  /// a relaxed arrive.
  void releaseFenced(ThreadId thread, SyncPoint &to);
  void acquire(ThreadId thread, const SyncPoint &from);
  /// The same as release(), with all loads of the thread done: arriving on an
  /// mbarrier.
  void releaseAfterLoads(ThreadId thread, SyncPoint &to);
  /// Loads of the thread from shared memory at `step` and later may not have
  /// been made yet; 0: all have been. Machine/PendingLoads.h keeps
  /// count.
  void loadsPendingSince(ThreadId thread, uint32_t step);
  /// The same for lanes of a warp; `steps` has 32.
  void loadsPendingSince(ThreadId warp, uint32_t lanes, const uint32_t *steps);
  /// Lanes of a warp give each other values (shfl.sync, a vote): that tells
  /// nothing of what they wrote, but loads that are not pending are done, and
  /// so are strong accesses to shared memory.
  void exchange(ThreadId warp, uint32_t lanes);
  /// Begins a step for the accesses that the thread makes now.
  uint32_t nextStep(ThreadId thread);
  /// For lanes of a warp, into `steps`, which has 32.
  void nextSteps(ThreadId warp, uint32_t lanes, uint32_t *steps);
  /// fence, membar: makes relaxed accesses around it carry order.
  void fence(ThreadId thread, Order order, Scope scope);
  /// fence.mbarrier_init: the same for what the thread did up to its last
  /// mbarrier.init, as far as the cluster. noteInit() tells of these.
  void noteInit(ThreadId thread);
  void fenceInits(ThreadId thread);
  /// fence.proxy.async.
  void proxyFence(ThreadId thread);

  /// The last thread of its block ends, and with it the block's shared memory;
  /// all of its threads have released into `ended`. Whoever else uses the
  /// memory must be known to be done.
  void endBlock(ThreadId last, const SyncPoint &ended, const Instruction &at);

  // --- Asynchronous operations.

  /// `issuer` starts one. `at` must live as long as the detector. All that it
  /// reads and writes is told at once, even if the bytes move later: what comes
  /// after is then compared with it, and named by what it does to it.
  AsyncOperation start(ThreadId issuer, Proxy proxy, const Instruction &at,
                       Completion completion = Completion::Barrier);
  void read(const AsyncOperation &operation, uint64_t address, uint64_t bytes);
  void write(const AsyncOperation &operation, uint64_t address, uint64_t bytes);
  /// Atomic adds of a bulk reduction: no race among themselves and with strong
  /// accesses.
  void reduce(const AsyncOperation &operation, uint64_t address,
              uint64_t bytes);
  /// Whoever acquires `to` from now on knows that it is complete; and nothing
  /// else of what its issuer did. May be called several times with different
  /// points.
  void complete(const AsyncOperation &operation, SyncPoint &to);
  /// The same for its reads alone: cp.async.bulk.wait_group.read.
  void completeReads(const AsyncOperation &operation, SyncPoint &to);
  /// Its issuer has waited for it, one of a group: as if it had acquired what
  /// these release, but cheaper.
  void acquireOwn(const AsyncOperation &operation, bool readsAlone);

  /// What the bytes were is forgotten, as if nobody had touched them;
  /// `initialized` tells whether reading them is then a report (shared memory).
  void forget(uint64_t address, uint64_t bytes, bool initialized);

  struct State; // The detector's own.

private:
  std::unique_ptr<State> state;
};

/// Who touched what in global memory, for all clusters of a launch. Accesses of
/// different clusters are ordered only by strong accesses.
class GlobalShadow {
public:
  GlobalShadow();
  ~GlobalShadow();

  struct State; // Detectors' own.

private:
  friend class Detector;
  std::unique_ptr<State> state;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_RACE_DETECTOR_H
