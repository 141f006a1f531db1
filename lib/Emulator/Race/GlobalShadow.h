//===- GlobalShadow.h - What the detectors of a launch share ----*- C++ -*-===//
//
// Global memory as clusters on several host threads touch it: pages, made when
// they are first touched and then kept, each with a lock of its own. Besides,
// what an Access needs to be told in words: the list of instructions, and where
// the blocks of each cluster are.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_RACE_GLOBALSHADOW_H
#define TILEC_EMULATOR_RACE_GLOBALSHADOW_H

#include "lib/Emulator/Race/Detector.h"
#include "lib/Emulator/Race/Shadow.h"
#include <atomic>
#include <mutex>
#include <thread>

namespace tilec::emulator {

struct GlobalPage {
  static constexpr unsigned shift = 12;
  static constexpr uint64_t bytes = 1 << shift;

  GlobalPage() : shadow(bytes, Access()) {}
  void lock() {
    while (busy.test_and_set(std::memory_order_acquire))
      std::this_thread::yield();
  }
  void unlock() { busy.clear(std::memory_order_release); }

  Shadow shadow;

private:
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
};

/// For messages about a cluster.
struct ClusterInfo {
  std::vector<std::array<unsigned, 3>> positions; // Of its blocks.
  std::vector<ThreadId> issuers; // Of agents that are not threads, from 0.
  unsigned blockThreads = 1;
};

struct GlobalShadow::State {
  GlobalPage &page(uint64_t number) {
    Shard &shard = shards[number % numShards];
    std::lock_guard lock(shard.mutex);
    auto &page = shard.pages[number];
    if (!page)
      page = std::make_unique<GlobalPage>();
    return *page;
  }

  uint32_t numberOf(const Instruction &instruction) {
    std::lock_guard lock(mutex);
    auto [at, isNew] =
        numbers.try_emplace(&instruction, uint32_t(instructions.size()));
    if (isNew)
      instructions.push_back(&instruction);
    return at->second;
  }
  const Instruction &instruction(uint32_t number) {
    std::lock_guard lock(mutex);
    return *instructions[number];
  }

  /// Calls use(info) while nobody else does.
  template <typename Use> auto withCluster(uint32_t cluster, Use use) {
    std::lock_guard lock(mutex);
    return use(clusters[cluster]);
  }

private:
  static constexpr unsigned numShards = 64;
  struct Shard {
    std::mutex mutex;
    llvm::DenseMap<uint64_t, std::unique_ptr<GlobalPage>> pages;
  };
  Shard shards[numShards];
  std::mutex mutex; // Of what follows.
  llvm::DenseMap<const Instruction *, uint32_t> numbers;
  std::vector<const Instruction *> instructions;
  llvm::DenseMap<uint32_t, ClusterInfo> clusters;
};

/// Pages that were used last, found without a lock; and the one that is locked.
class PageCursor {
public:
  explicit PageCursor(GlobalShadow::State &global) : global(global) {}
  ~PageCursor() { release(); }

  /// The page, locked; the one before is not any more.
  Shadow &lock(uint64_t number) {
    if (current && currentNumber == number)
      return current->shadow;
    release();
    auto &[known, page] = recent[number % recent.size()];
    if (known != number || !page) {
      known = number;
      page = &global.page(number);
    }
    page->lock();
    current = page;
    currentNumber = number;
    return page->shadow;
  }
  void release() {
    if (current)
      current->unlock();
    current = nullptr;
  }

private:
  GlobalShadow::State &global;
  GlobalPage *current = nullptr;
  uint64_t currentNumber = 0;
  std::array<std::pair<uint64_t, GlobalPage *>, 64> recent = {};
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_RACE_GLOBALSHADOW_H
