//===- MemoryBarrier.h - mbarrier objects -----------------------*- C++ -*-===//
//
// An mbarrier is eight bytes of shared memory that only its instructions may
// touch. It counts through phases:
//
//   * A phase waits for so many *arrivals*, as many as mbarrier.init said, and
//     for *transactions*: bytes that copies are to deliver. expect_tx adds to
//     the bytes, a copy that completes takes its own away. Since either may
//     come first, the number may be below zero for a time.
//   * When no arrivals and no bytes are outstanding the phase is complete, and
//     the next begins with all arrivals outstanding. That is all: a phase
//     completes whether or not anyone waits.
//   * Who waits names a phase by a token, which an arrival returned, or by its
//     parity: phases are numbered from 0, and waiting for parity p succeeds if
//     the current phase's is another. So a wait for parity 1 succeeds at once
//     on a new barrier.
//
// BarrierState is that and nothing else. MemoryBarrier adds what is known of
// order: what one releases by arriving, those who wait acquire. What an earlier
// phase released stays: who knows that a phase is complete knows it of all
// before it.
//
// The object is found by its address. Its bytes hold a mark that depends on the
// place; if they do not, the program has written over its barrier.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_MEMORYBARRIER_H
#define TILEC_EMULATOR_ASYNC_MEMORYBARRIER_H

#include "lib/Emulator/Machine/Machine.h"
#include "lib/Emulator/Race/Detector.h"
#include <cstdint>
#include <string>

namespace tilec::emulator {

/// What an operation on a barrier may do wrong.
enum class BarrierFault : uint8_t {
  None,
  CountRange,       // A count that is not 1 to 2^20 - 1.
  TooManyArrivals,  // More than the phase still waits for.
  WouldComplete,    // .noComplete, and the phase is complete.
  TransactionRange, // More outstanding bytes than 2^20 - 1, or fewer than that
                    // below zero.
};

class BarrierState {
public:
  static constexpr uint64_t maxCount = (1 << 20) - 1;

  explicit BarrierState(uint32_t count) : expected(count), pending(count) {}

  uint64_t phase() const { return currentPhase; }
  /// Arrivals and bytes that the phase waits for.
  uint32_t pendingArrivals() const { return pending; }
  int64_t transactions() const { return outstanding; }
  uint32_t expectedArrivals() const { return expected; }

  /// Each returns what is wrong, and has done nothing then. Afterwards the
  /// phase may be another.
  BarrierFault arrive(uint64_t count, bool noComplete = false);
  /// The same, and later phases wait for so many fewer.
  BarrierFault arriveDrop(uint64_t count, bool noComplete = false);
  BarrierFault addArrival();
  BarrierFault expectTransactions(uint64_t bytes);
  BarrierFault completeTransactions(uint64_t bytes);

  /// Whether the phase of that parity, the current or the one before, is
  /// complete.
  bool isComplete(unsigned parity) const {
    return (currentPhase & 1) != (parity & 1);
  }

  /// Tokens: the phase and what it waits for.
  uint64_t token() const;
  static uint32_t pendingOf(uint64_t token) { return token & maxCount; }
  /// Whether the token is of the current phase, or of the one before.
  bool isCurrent(uint64_t token) const;
  bool isPrevious(uint64_t token) const;

private:
  void advance();

  uint32_t expected, pending;
  int64_t outstanding = 0;
  uint64_t currentPhase = 0;
};

/// Who started something that ends later, for messages.
struct Issuer {
  Warp *warp = nullptr;
  unsigned lane = 0;
  const Instruction *at = nullptr;

  void report(ReportKind kind, std::string message,
              std::string remedy = "") const {
    warp->report(kind, lane, *at, std::move(message), std::move(remedy));
  }
};

struct MemoryBarrier {
  explicit MemoryBarrier(uint32_t count) : state(count) {}

  BarrierState state;
  SyncPoint released; // By arrivals and copies so far.
  SyncPoint complete; // What of that belongs to phases that are complete.
  Issuer expecting;   // Who last said that it expects bytes.
};

/// The place of a barrier that an operand names. Without data if it is none,
/// which was reported.
Place resolveBarrier(Warp &warp, unsigned lane, const Instruction &at,
                     ptx::Space space, uint64_t address);

/// The barrier at a canonical address of shared memory, or null: reported as
/// one that was never initialized, or was overwritten.
MemoryBarrier *findBarrier(Cluster &cluster, uint64_t address,
                           const Issuer &issuer);

/// The same for an operation that the issuer itself makes now: initialization
/// must have happened before.
MemoryBarrier *barrierOf(const Place &place, const Issuer &issuer);

// What instructions do to a barrier. A fault is reported, and null or false
// returned. Whoever waits for a phase that ends with it is woken.

/// mbarrier.init and mbarrier.inval, at a place that has been resolved.
void initializeBarrier(Cluster &cluster, const Place &place, uint64_t count,
                       const Issuer &issuer);
void invalidateBarrier(Cluster &cluster, const Place &place,
                       const Issuer &issuer);
/// arrive, arrive_drop: the state before is what tokens are of.
struct Arrival {
  uint64_t count = 1;
  bool drops = false, noComplete = false;
};
bool arrive(Cluster &cluster, uint64_t address, MemoryBarrier &barrier,
            const Arrival &arrival, const Issuer &issuer);
/// One more arrival for the current phase alone.
bool addArrival(uint64_t address, MemoryBarrier &barrier, const Issuer &issuer);
bool expectTransactions(Cluster &cluster, uint64_t address,
                        MemoryBarrier &barrier, uint64_t bytes,
                        const Issuer &issuer);
/// Bytes of a copy that `issuer` started are there. Looks the barrier up, since
/// it may be gone by now. `operation` is null where nothing is detected.
void completeTransactions(Cluster &cluster, uint64_t address, uint64_t bytes,
                          const AsyncOperation *operation,
                          const Issuer &issuer);

/// "phase 3 of the mbarrier at 1032 in shared memory, which waits for 1 arrival
/// and 128 bytes". For messages.
std::string describe(const MemoryBarrier &barrier, uint64_t address);

/// When nothing goes on any more, or all is done: a report for each barrier
/// whose bytes do not add up. Whether there was one. In a deadlock only
/// barriers that wait for nothing but bytes count.
bool reportTransactions(Cluster &cluster, bool isDeadlock);

// Shared memory by canonical address.

/// The block that has it; null if there is none in the cluster.
Block *blockOf(Cluster &cluster, uint64_t address);
/// Offset in the window.
constexpr uint32_t sharedOffset(uint64_t address) {
  return uint32_t(address) & ((1u << sharedRankShift) - 1);
}
/// The bytes on the host; null if the block has not so many.
char *sharedBytes(Cluster &cluster, uint64_t address, uint64_t bytes);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_MEMORYBARRIER_H
