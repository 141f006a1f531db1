//===- DetectorState.h - The inside of the detector -------------*- C++ -*-===//
//
// The state of a Detector: what each thread knows, agents of asynchronous
// operations, and the shadow of shared memory. Detector.cpp has accesses,
// Order.cpp what makes order.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_RACE_DETECTORSTATE_H
#define TILEC_EMULATOR_RACE_DETECTORSTATE_H

#include "lib/Emulator/Race/Detector.h"
#include "lib/Emulator/Race/Findings.h"
#include "lib/Emulator/Race/GlobalShadow.h"

namespace tilec::emulator {

/// What an operation knows: what its issuer did when it started it.
struct OperationStart {
  ClockRef base;
  Times issuer; // Of the issuer's own steps.
};

struct Detector::State {
  /// What a thread knew at a moment, to be released later.
  struct Moment {
    ClockRef base; // Null: there was none.
    Times own;
    ForeignRef asForeign; // Made on demand.
  };

  /// Of threads that make strong accesses.
  struct Strong {
    /// At the last fence of at least this reach, and from relaxed loads since
    /// then. For the widest reach the thread's Clock has both.
    Moment fenced[widestReach];
    Reached pending;
    Moment inits;        // After its last mbarrier.init.
    Moment latest;       // When it last released.
    ForeignRef acquired; // What it last acquired.
  };

  /// Agents of the operations that a thread starts.
  struct Issued {
    struct Group {
      Agent agent = Access::none; // And the next one, in a BulkGroup.
      Step step = 0;
    };
    std::array<Group, 5> groups; // By Completion.
    /// Agents of operations that complete in no order, with their last step;
    /// the one that was used longest ago is at `next`.
    std::vector<std::pair<Agent, Step>> pool;
    size_t next = 0;
  };

  struct Thread {
    ClockRef base;
    /// What it knows besides of operations of its own, for whose group it has
    /// waited. At the next barrier that comes to be in everybody's Clock; until
    /// then threads go on sharing one.
    llvm::SmallVector<std::pair<Agent, Times>, 2> ahead;
    Step step = 2; // Step 1 is its beginning, in which it does nothing.
    /// The step has been released: an access belongs to the next one.
    bool isSealed = false;
    Step fenced = 0;       // Its own steps up to here are.
    Step pendingSince = 0; // See Detector::loadsPendingSince.
    std::shared_ptr<OperationStart> lastStart;
    std::unique_ptr<Strong> strong;
    std::unique_ptr<Issued> issued;

    /// What it knows of another agent.
    Times of(Agent agent) const {
      Times times = base->of(agent);
      for (const auto &[known, more] : ahead)
        if (known == agent)
          times.raise(more);
      return times;
    }
    /// The base, with all that is ahead of it.
    const ClockRef &whole();
    Step current() {
      if (isSealed) {
        ++step;
        isSealed = false;
      }
      return step;
    }
    Times own() const {
      return {step, fenced, pendingSince ? pendingSince - 1 : step};
    }
  };

  State(unsigned blockThreads, unsigned numBlocks, uint64_t clusterIndex,
        uint64_t sharedBytes, GlobalShadow::State &global, Reporter &reporter);
  ~State();

  // --- Accesses.

  Access access(Agent agent, Step step, const Instruction &at, bool isWrite);
  uint32_t numberOf(const Instruction &at);
  unsigned blockOf(Agent agent) const {
    return (agent < numThreads ? agent : issuers[agent - numThreads]) /
           blockThreads;
  }
  /// Whether two accesses are strong and of scopes that include each other.
  bool areStrong(const Access &a, const Access &b) const;
  template <typename Actor>
  void touch(Shadow &shadow, Record &record, uint64_t address,
             const Access &self, const Actor &actor);
  template <typename Actor>
  void compare(const AccessSet &set, const Access &self, uint64_t address,
               const Actor &actor);
  /// Calls use(shadow, offset, bytes, origin) for the parts of a range that
  /// have a shadow each; origin + an offset is an address.
  template <typename Use>
  void forShadows(uint64_t address, uint64_t bytes, Use use);
  template <typename Actor>
  void access(uint64_t address, uint64_t bytes, const Access &self,
              const Actor &actor);
  static void clearWords(Shadow &shadow, uint64_t offset, uint64_t bytes);

  // --- Reports.

  template <typename Actor>
  void conflict(const Access &earlier, const Access &later, uint64_t address,
                const Actor &actor);
  void report(Relation relation, const Access &earlier, const Access &later,
              uint64_t address);
  /// Of an access to shared memory that is wrong whatever the others do.
  void reportAlone(const Access &self, uint64_t address, ReportKind kind,
                   Report (*describe)(const Finding &));
  /// Reports a use of shared memory that nobody has written if it is of another
  /// block, of which the clock knows nothing. (What somebody has written must
  /// be ordered after that.)
  void checkHasBegun(const Clock &clock, const Access &self, uint64_t address);
  Party party(const Access &access);
  std::string nameOf(uint64_t address) const;
  /// Whether it is the first of its sort; later ones are counted.
  bool isFirst(const Access &earlier, const Access &later, ReportKind kind);
  void add(Report report, const Access &earlier, const Access &later,
           ReportKind sort);

  // --- Order.

  Strong &strongOf(Thread &thread);
  ForeignRef foreignOf(Moment &moment, ThreadId thread);
  void acquireForeign(Thread &thread, const ForeignRef &from);
  void acquireWord(ThreadId thread, const Word &word, Order order,
                   unsigned reach);
  void releaseWord(ThreadId thread, Word &word, Order order, unsigned reach);
  Agent newAgent(ThreadId issuer);

  const unsigned blockThreads;
  const Agent numThreads;
  const uint32_t cluster;
  GlobalShadow::State &global;
  Reporter &reporter;
  std::function<std::string(uint64_t)> names;
  std::vector<Thread> threads;
  std::vector<ThreadId> issuers; // Of agents that are not threads, from 0.
  std::vector<std::unique_ptr<Shadow>> shared; // Of blocks.
  PageCursor pages;
  bool hasPendingLoads = false; // Whether any thread ever had.

private:
  std::array<std::pair<const Instruction *, uint32_t>, 256> recent = {};
  struct Repeated {
    Report report; // The participants, for the Reporter to know it again.
    uint64_t count = 0;
  };
  std::map<std::tuple<uint32_t, uint32_t, uint8_t>, Repeated> found;
};

inline unsigned reachOf(Scope scope) {
  return std::min<unsigned>(unsigned(scope), numReaches - 1);
}
inline bool acquires(Order order) {
  return order == Order::Acquire || order == Order::AcquireRelease;
}
inline bool releases(Order order) {
  return order == Order::Release || order == Order::AcquireRelease;
}

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_RACE_DETECTORSTATE_H
