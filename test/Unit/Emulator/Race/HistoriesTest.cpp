//===- HistoriesTest.cpp - Random histories against a plain oracle --------===//
//
// The oracle keeps every access there ever was, and for each thread, operation
// and point of synchronization the plain set of accesses that it knows. It
// compares each access with all before it. The detector must find the first
// conflict of a history, at that access and of that kind, and none before it.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/Emulator/Race/World.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <random>
#include <set>

using namespace tilec::test;

namespace {

using Ids = std::set<int>;

/// What is known, in the three ways.
struct Plain {
  Ids known, fenced, loaded;

  void add(const Plain &other) {
    known.insert(other.known.begin(), other.known.end());
    fenced.insert(other.fenced.begin(), other.fenced.end());
    loaded.insert(other.loaded.begin(), other.loaded.end());
  }
};

/// The same, with what wide fences have released and relaxed loads have seen.
struct Knows : Plain {
  Plain released, seen;

  using Plain::add;
  void add(const Knows &other) {
    Plain::add(other);
    released.add(other.released);
    seen.add(other.seen);
  }
};

struct Event {
  int actor; // A thread, or 1000 + the number of an operation.
  unsigned cluster, block;
  uint64_t address; // With blocks of clusters told apart.
  unsigned bytes;
  bool isWrite, isStrong, isAsync, isAsyncProxy;
  unsigned scope; // 0: block, 1: cluster, 2: all.
  bool isUpdate;  // A strong one that also reads.
};

struct Operation {
  AsyncOperation real;
  Knows start;
  Ids reads, writes;
  unsigned thread;
  Completion completion;
};

/// One history: the detector and the oracle side by side.
class History {
public:
  History(unsigned seed, unsigned numClusters, unsigned numBlocks,
          unsigned blockThreads)
      : random(seed), numBlocks(numBlocks), blockThreads(blockThreads),
        world(blockThreads, numBlocks, numClusters, 64),
        clusterThreads(numBlocks * blockThreads),
        threads(numClusters * clusterThreads), pendingFrom(threads.size(), -1),
        strong(threads.size()), realPoints(numClusters * numPoints),
        points(numClusters * numPoints) {}

  /// The kind of the conflict that was found before the end.
  std::optional<ReportKind> run(unsigned length) {
    // Without much order every history is short, with too much none has a
    // conflict.
    static const unsigned mosts[] = {0, 2, 5, 20};
    unsigned order = mosts[below(4)];
    for (unsigned i = 0; i < length; ++i) {
      expected.reset();
      if (order && below(order) == 0)
        synchronize(below(points.size()) / numPoints);
      step();
      std::vector<Report> reports = world.reports();
      INFO("step " << i << "\n" << told());
      if (!expected) {
        if (!reports.empty())
          FAIL_CHECK("reported: " << reports[0].message);
        REQUIRE(reports.empty());
        continue;
      }
      INFO("expected " << nameOf(expected->front()).str());
      REQUIRE(!reports.empty());
      bool isThere = false;
      for (const Report &report : reports)
        isThere |= llvm::is_contained(*expected, report.kind);
      INFO(reports[0].message);
      REQUIRE(isThere);
      return expected->front();
    }
    return std::nullopt;
  }

private:
  static constexpr unsigned numPoints = 4;

  unsigned below(unsigned n) { return random() % n; }

  void step() {
    unsigned thread = below(threads.size());
    unsigned cluster = thread / clusterThreads;
    ThreadId id = thread % clusterThreads;
    Detector &detector = world.cluster(cluster);
    unsigned point = cluster * numPoints + below(numPoints);
    switch (below(24)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return access(thread, below(3) == 0);
    case 4: { // A load that nobody uses yet.
      if (pendingFrom[thread] >= 0)
        return;
      detector.loadsPendingSince(id, detector.nextStep(id));
      pendingFrom[thread] = int(events.size());
      return access(thread, false);
    }
    case 5:
      detector.loadsPendingSince(id, 0);
      pendingFrom[thread] = -1;
      return;
    case 6:
    case 7:
    case 8: {
      bool afterLoads = below(4) == 0;
      if (afterLoads)
        detector.releaseAfterLoads(id, realPoints[point]);
      else
        detector.release(id, realPoints[point]);
      points[point].add(releasedBy(thread, afterLoads));
      if (afterLoads) // The rest of the warp: all its known loads, too.
        for (int event : points[point].known)
          if (!events[event].isAsync && threads[thread].known.count(event) &&
              events[event].cluster == cluster &&
              blockOf(events[event].actor) == blockOf(thread))
            points[point].loaded.insert(event);
      return;
    }
    case 9:
    case 10:
    case 11:
      detector.acquire(id, realPoints[point]);
      threads[thread].add(points[point]);
      return;
    case 12:
      if (below(2)) {
        realPoints[point] = SyncPoint();
        points[point] = Knows();
      } else {
        barrier(cluster, SyncPoint(), Knows());
      }
      return;
    case 13: { // A shuffle of two lanes of a block.
      unsigned other = blockOf(thread) * blockThreads + below(blockThreads);
      ThreadId first = blockOf(thread) % numBlocks * blockThreads;
      uint32_t lanes =
          1u << (id - first) | 1u << (other % clusterThreads - first);
      detector.exchange(first, lanes);
      Ids mine = loadedByItself(thread), others = loadedByItself(other);
      threads[thread].loaded.insert(others.begin(), others.end());
      threads[other].loaded.insert(mine.begin(), mine.end());
      return;
    }
    case 14:
      detector.proxyFence(id);
      threads[thread].fenced = threads[thread].known;
      return;
    case 15:
    case 16:
    case 17:
      return startOperation(thread);
    case 18:
    case 19:
      return completeOperation(cluster, point);
    case 20:
    case 21:
    case 22:
      return strongAccess(thread);
    default: {
      unsigned scope = below(3);
      auto order = Order(2 + below(3));
      detector.fence(id, order, Scope(scope));
      fence(thread, order, scope);
      return;
    }
    }
  }

  /// A barrier of all threads of the cluster.
  void barrier(unsigned cluster, SyncPoint real, Knows all) {
    Detector &detector = world.cluster(cluster);
    for (unsigned i = 0; i < clusterThreads; ++i) {
      detector.release(i, real);
      all.add(releasedBy(cluster * clusterThreads + i, false));
    }
    SyncPoint copy = real;
    for (unsigned i = 0; i < clusterThreads; ++i) {
      detector.acquire(i, copy);
      threads[cluster * clusterThreads + i].add(all);
    }
  }

  /// Mostly all that can be done: operations are complete, proxies fenced.
  void synchronize(unsigned cluster) {
    SyncPoint real;
    Knows all;
    if (below(8))
      for (unsigned i = 0; i < operations.size(); ++i)
        if (operations[i].thread / clusterThreads == cluster)
          complete(i, real, all, below(4) == 0);
    barrier(cluster, std::move(real), std::move(all));
    if (below(4) == 0)
      return;
    for (unsigned i = 0; i < clusterThreads; ++i) {
      world.cluster(cluster).proxyFence(i);
      Knows &knows = threads[cluster * clusterThreads + i];
      knows.fenced = knows.known;
    }
  }

  unsigned blockOf(unsigned thread) const { return thread / blockThreads; }

  Knows releasedBy(unsigned thread, bool afterLoads) const {
    Knows result = threads[thread];
    result.loaded = loadedOf(thread, afterLoads);
    return result;
  }
  /// Of its own accesses those that are loaded.
  Ids loadedByItself(unsigned thread) const {
    Ids result;
    for (int event : loadedOf(thread, false))
      if (events[event].actor == int(thread))
        result.insert(event);
    return result;
  }
  /// Its own accesses are loaded unless they are pending.
  Ids loadedOf(unsigned thread, bool afterLoads) const {
    Ids result = threads[thread].loaded;
    for (int event : threads[thread].known)
      if (events[event].actor == int(thread) &&
          (afterLoads || pendingFrom[thread] < 0 ||
           event < pendingFrom[thread]))
        result.insert(event);
    return result;
  }

  // --- Accesses.

  std::pair<uint64_t, unsigned> place(unsigned cluster, bool isGlobal,
                                      unsigned unit, unsigned most,
                                      uint64_t &real) {
    unsigned bytes = unit * (1 + below(most));
    uint64_t offset = below((64 - bytes) / unit + 1) * unit;
    if (isGlobal) {
      real = World::device(4096 - 32 + offset); // Across pages.
      return {1'000'000 + offset, bytes};
    }
    unsigned rank = below(numBlocks);
    real = World::shared(offset, rank);
    return {(cluster * numBlocks + rank) * 1000 + offset, bytes};
  }

  void access(unsigned thread, bool isWrite) {
    unsigned cluster = thread / clusterThreads;
    uint64_t real = 0;
    unsigned unit = 1u << below(5);
    auto [address, bytes] = place(cluster, below(2), unit, 1, real);
    Detector &detector = world.cluster(cluster);
    const Instruction &at = world.at(isWrite ? "st.b32" : "ld.b32");
    ThreadId id = thread % clusterThreads;
    if (isWrite)
      detector.write(id, real, bytes, at);
    else
      detector.read(id, real, bytes, at);
    if (isWrite)
      clearWords(address, bytes);
    Knows knows = threads[thread];
    add({int(thread), cluster, blockOf(thread), address, bytes, isWrite, false,
         false, false, 0, false},
        knows, false);
    threads[thread].known.insert(int(events.size()) - 1);
  }

  /// Compares an access with all before it, and keeps it.
  void add(const Event &later, const Knows &knows, bool isOperation,
           const Ids &own = {}) {
    for (int i = 0; i < int(events.size()); ++i) {
      const Event &earlier = events[i];
      if (own.count(i) || !(earlier.isWrite || later.isWrite) ||
          earlier.address + earlier.bytes <= later.address ||
          later.address + later.bytes <= earlier.address ||
          isOverwritten(i, later))
        continue;
      unsigned needed = earlier.cluster != later.cluster ? 2
                        : earlier.block != later.block   ? 1
                                                         : 0;
      if (earlier.isStrong && later.isStrong && earlier.scope >= needed &&
          later.scope >= needed)
        continue;
      bool isShared = later.address < 1'000'000;
      if (!earlier.isWrite && knows.loaded.count(i))
        continue;
      if (earlier.isStrong && !earlier.isAsync && isShared && !isOperation &&
          knows.loaded.count(i))
        continue;
      if (!knows.known.count(i)) {
        if (isObserved(i, later, knows, own))
          continue;
        // In flight only within a cluster.
        if (earlier.isAsync && earlier.cluster == later.cluster)
          expect(earlier.isWrite && !later.isWrite
                     ? ReportKind::ReadInFlight
                     : ReportKind::OverwrittenInFlight);
        else
          expect(isShared ? ReportKind::SharedRace : ReportKind::GlobalRace);
      } else if (later.isAsyncProxy && !earlier.isAsyncProxy) {
        if (earlier.isWrite && !knows.fenced.count(i))
          expect(ReportKind::MissingProxyFence);
        else if (!earlier.isWrite && !earlier.isAsync && isShared &&
                 later.isWrite)
          expect(ReportKind::OverwrittenInFlight);
      }
    }
    events.push_back(later);
  }

  /// Whether all that both have in common was overwritten since then: there was
  /// no conflict with that, so what counts is its order with the later one.
  bool isOverwritten(int earlier, const Event &later) const {
    const Event &from = events[earlier];
    uint64_t begin = std::max(from.address, later.address);
    uint64_t end =
        std::min(from.address + from.bytes, later.address + later.bytes);
    for (uint64_t byte = begin; byte < end; ++byte) {
      bool isWritten = false;
      for (size_t i = earlier + 1; i < events.size(); ++i)
        isWritten |= events[i].isWrite && !events[i].isStrong &&
                     events[i].address <= byte &&
                     byte < events[i].address + events[i].bytes;
      if (!isWritten)
        return false;
    }
    return true;
  }

  /// Whether someone who is known has read what a strong access wrote, or an
  /// update that goes on with it, wherever the later access touches it.
  bool isObserved(int earlier, const Event &later, const Knows &knows,
                  const Ids &own) const {
    const Event &from = events[earlier];
    if (!from.isWrite || !from.isStrong)
      return false;
    auto isByteObserved = [&](uint64_t byte) {
      for (int i = earlier + 1; i < int(events.size()); ++i) {
        const Event &e = events[i];
        if (byte < e.address || byte >= e.address + e.bytes)
          continue;
        if (!e.isStrong && e.isWrite)
          return true; // What is compared with the later one is that write.
        if (!e.isStrong)
          continue;
        if (e.isWrite && !e.isUpdate && e.actor != from.actor)
          return false;
        if ((!e.isWrite || e.isUpdate) &&
            (own.count(i) || knows.known.count(i) ||
             (!e.isWrite && knows.loaded.count(i))))
          return true;
      }
      return false;
    };
    uint64_t end =
        std::min(from.address + from.bytes, later.address + later.bytes);
    for (uint64_t byte = std::max(from.address, later.address); byte < end;
         ++byte)
      if (!isByteObserved(byte))
        return false;
    return true;
  }

  /// The accesses so far, for messages.
  std::string told() const {
    std::string text;
    for (size_t i = 0; i < events.size(); ++i) {
      const Event &e = events[i];
      text += std::to_string(i) + ": " + std::to_string(e.actor) +
              (e.isWrite ? " writes " : " reads ") + std::to_string(e.address) +
              "+" + std::to_string(e.bytes) +
              (e.isStrong ? ", strong, scope " + std::to_string(e.scope) : "") +
              (e.isAsyncProxy ? ", async proxy" : "") + "\n";
    }
    return text;
  }

  void expect(ReportKind kind) {
    if (!expected)
      expected.emplace();
    expected->push_back(kind);
  }

  // --- Operations.

  void startOperation(unsigned thread) {
    unsigned cluster = thread / clusterThreads;
    Operation operation;
    operation.thread = thread;
    operation.start = threads[thread];
    operation.start.loaded = loadedOf(thread, false);
    static const std::pair<Completion, Proxy> sorts[] = {
        {Completion::Barrier, Proxy::Async},
        {Completion::Store, Proxy::Generic},
        {Completion::CopyGroup, Proxy::Generic},
        {Completion::BulkGroup, Proxy::Async},
        {Completion::WgmmaGroup, Proxy::Async}};
    auto [completion, proxy] = sorts[below(5)];
    operation.completion = completion;
    Detector &detector = world.cluster(cluster);
    const Instruction &at = world.at("cp.async.bulk");
    operation.real =
        detector.start(thread % clusterThreads, proxy, at, completion);
    int actor = 1000 + int(operations.size());
    Ids own;
    bool isAdd = completion == Completion::BulkGroup && below(4) == 0;
    // It reads one memory and writes the other.
    bool toGlobal = below(2);
    for (unsigned i = 0, e = 1 + below(3); i < e; ++i) {
      uint64_t real = 0;
      bool isGlobal = below(2);
      auto [address, bytes] = place(cluster, isGlobal, 16, 3, real);
      bool isWrite = isGlobal == toGlobal, isReduction = isWrite && isAdd;
      if (isReduction)
        detector.reduce(operation.real, real, bytes);
      else if (isWrite)
        detector.write(operation.real, real, bytes);
      else
        detector.read(operation.real, real, bytes);
      add({actor, cluster, blockOf(thread), address, bytes, isWrite,
           isReduction, true, proxy == Proxy::Async, 2, isReduction},
          operation.start, true, own);
      int id = int(events.size()) - 1;
      own.insert(id);
      (isWrite ? operation.writes : operation.reads).insert(id);
      if (isWrite && !isAdd)
        clearWords(address, bytes);
    }
    operations.push_back(std::move(operation));
  }

  void completeOperation(unsigned cluster, unsigned point) {
    std::vector<unsigned> mine;
    for (unsigned i = 0; i < operations.size(); ++i)
      if (operations[i].thread / clusterThreads == cluster)
        mine.push_back(i);
    if (mine.empty())
      return;
    complete(mine[below(mine.size())], realPoints[point], points[point],
             below(2) == 0);
  }

  void complete(unsigned which, SyncPoint &real, Knows &knows, bool readsOnly) {
    const Operation &operation = operations[which];
    Detector &detector = world.cluster(operation.thread / clusterThreads);
    readsOnly &= operation.completion == Completion::BulkGroup;
    if (readsOnly)
      detector.completeReads(operation.real, real);
    else
      detector.complete(operation.real, real);
    for (unsigned i = 0; i <= which; ++i) {
      const Operation &other = operations[i];
      if (i != which && (operation.completion == Completion::Barrier ||
                         operation.completion == Completion::Store ||
                         other.completion != operation.completion ||
                         other.thread != operation.thread))
        continue;
      Ids done = other.reads;
      if (!readsOnly)
        done.insert(other.writes.begin(), other.writes.end());
      if (other.completion == Completion::Store)
        knows.add(other.start);
      knows.known.insert(done.begin(), done.end());
      knows.loaded.insert(done.begin(), done.end());
    }
  }

  // --- Strong accesses, as Words.h has the rules.

  struct Strong {
    std::optional<Plain> fenced[2];
    std::map<unsigned, Plain> pending; // By reach.
  };
  using Key = std::pair<unsigned, unsigned>; // Reach and owner.

  static Key keyOf(unsigned reach, const Event &by) {
    return {reach, reach == 0 ? by.block : reach == 1 ? by.cluster : 0};
  }

  void strongAccess(unsigned thread) {
    unsigned cluster = thread / clusterThreads;
    uint64_t real = 0;
    auto [address, bytes] = place(cluster, below(2), 4, 1, real);
    auto kind = Detector::Strong(below(3));
    auto order = Order(1 + below(4));
    unsigned scope = below(3);
    ThreadId id = thread % clusterThreads;
    world.cluster(cluster).strong(id, real, 4, kind, order, Scope(scope),
                                  world.at("atom.add"));
    Event event{int(thread),
                cluster,
                blockOf(thread),
                address,
                4,
                kind != Detector::Strong::Load,
                true,
                false,
                false,
                scope,
                kind == Detector::Strong::ReadModifyWrite};
    add(event, threads[thread], false);
    threads[thread].known.insert(int(events.size()) - 1);

    auto &word = words[address];
    bool isAcquire = order == Order::Acquire || order == Order::AcquireRelease;
    bool isRelease = order == Order::Release || order == Order::AcquireRelease;
    if (kind != Detector::Strong::Store)
      for (unsigned reach = 0; reach <= scope; ++reach) {
        auto at = word.find(keyOf(reach, event));
        if (at == word.end())
          continue;
        if (isAcquire)
          threads[thread].Plain::add(at->second);
        else if (reach == 2)
          threads[thread].seen.add(at->second);
        else
          strong[thread].pending[reach].add(at->second);
      }
    if (kind == Detector::Strong::Load)
      return;
    if (kind == Detector::Strong::Store)
      word.clear();
    for (unsigned reach = 0; reach <= scope; ++reach) {
      if (isRelease)
        word[keyOf(reach, event)].add(releasedBy(thread, false));
      else if (reach == 2)
        word[keyOf(reach, event)].add(threads[thread].released);
      else if (strong[thread].fenced[reach])
        word[keyOf(reach, event)].add(*strong[thread].fenced[reach]);
    }
  }

  void fence(unsigned thread, Order order, unsigned scope) {
    for (unsigned reach = 0; reach <= scope; ++reach) {
      if (order == Order::Acquire || order == Order::AcquireRelease) {
        if (reach == 2)
          threads[thread].Plain::add(threads[thread].seen);
        else
          threads[thread].Plain::add(strong[thread].pending[reach]);
        strong[thread].pending[reach] = Plain();
      }
    }
    if (order == Order::Release || order == Order::AcquireRelease)
      for (unsigned reach = 0; reach <= scope; ++reach) {
        if (reach == 2)
          threads[thread].released.add(Plain(releasedBy(thread, false)));
        else
          strong[thread].fenced[reach] = releasedBy(thread, false);
      }
  }

  void clearWords(uint64_t address, unsigned bytes) {
    for (auto &[word, entries] : words)
      if (word < address + bytes && address < word + 4)
        entries.clear();
  }

  std::mt19937 random;
  unsigned numBlocks, blockThreads;
  World world;
  unsigned clusterThreads;
  std::vector<Knows> threads;
  std::vector<int> pendingFrom; // The event from which loads are; -1: none.
  std::vector<Strong> strong;
  std::vector<SyncPoint> realPoints;
  std::vector<Knows> points;
  std::vector<Event> events;
  std::vector<Operation> operations;
  std::map<uint64_t, std::map<Key, Plain>> words;
  std::optional<std::vector<ReportKind>> expected;
};

} // namespace

TEST_CASE("histories of random accesses and synchronization") {
  struct Shape {
    unsigned clusters, blocks, threads;
  };
  for (Shape shape : {Shape{1, 1, 3}, Shape{1, 2, 2}, Shape{2, 1, 2},
                      Shape{3, 2, 1}, Shape{1, 1, 1}}) {
    unsigned clean = 0;
    std::map<ReportKind, unsigned> found;
    for (unsigned seed = 0; seed < 3000; ++seed) {
      INFO("clusters " << shape.clusters << ", blocks " << shape.blocks
                       << ", threads " << shape.threads << ", seed " << seed);
      History history(seed, shape.clusters, shape.blocks, shape.threads);
      if (auto kind = history.run(60))
        ++found[*kind];
      else
        ++clean;
    }
    // All kinds there are, and none.
    INFO("clusters " << shape.clusters);
    for (ReportKind kind :
         {ReportKind::OverwrittenInFlight, ReportKind::ReadInFlight,
          ReportKind::MissingProxyFence})
      CHECK(found[kind] > 20);
    if (shape.clusters * shape.blocks * shape.threads > 1) {
      CHECK(found[ReportKind::SharedRace] > 20);
      CHECK(found[ReportKind::GlobalRace] > 20);
    }
    CHECK(clean > 0);
  }
}
