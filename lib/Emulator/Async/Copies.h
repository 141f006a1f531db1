//===- Copies.h - Groups of asynchronous copies of a thread -----*- C++ -*-===//
//
// cp.async and the bulk copies to global memory complete by groups: copies join
// the open group of their thread, commit_group closes it, and wait_group N
// waits until at most the N latest groups are not complete. Each thread has two
// such queues, one of cp.async and one of bulk copies.
//
// A group is shared by its queue and by the copies under way, which count down.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_COPIES_H
#define TILEC_EMULATOR_ASYNC_COPIES_H

#include "lib/Emulator/Race/Detector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace tilec::emulator {

struct CopyGroup {
  uint32_t unfinished = 0; // Copies, or parts of them.
  uint32_t reading = 0;    // Those of them that have yet to read their source.
  /// For those who wait. Of cp.async the last, with which all before it are
  /// known (Completion). Empty if nothing is detected.
  llvm::SmallVector<AsyncOperation, 1> operations;
  bool isUsed = false;    // A bulk copy joined it.
  bool knownRead = false; // Someone waited for the reads.
};

class GroupQueue {
public:
  /// The group that copies join; there is always one.
  const std::shared_ptr<CopyGroup> &open();
  void commit();
  /// Whether all but the `allowed` latest committed groups are complete; with
  /// `reads`, whether they have read their sources.
  bool isComplete(uint64_t allowed, bool reads) const;
  /// Those groups, which were found complete, become known to their thread.
  /// With `reads` they stay in the queue: one may still wait for their writes.
  void acquire(uint64_t allowed, bool reads, Detector *detector);
  /// Groups that are not known to be complete, and the open one.
  size_t numCommitted() const { return committed.size(); }
  /// Calls `visit` for each of them.
  void forEach(llvm::function_ref<void(CopyGroup &)> visit) const;

private:
  std::shared_ptr<CopyGroup> current, spare;
  std::deque<std::shared_ptr<CopyGroup>> committed;
};

struct ThreadCopies {
  GroupQueue copies; // cp.async
  GroupQueue bulk;   // cp.async.bulk with .bulk_group
  /// Of cp.async.mbarrier.arrive: told of each cp.async that finishes, and
  /// removed once they need no more.
  struct Watcher {
    uint32_t unfinished = 0; // Of the copies before it.
    uint64_t before = 0;     // Copies with a lower number are its own.
    std::function<void()> arrive;
  };
  llvm::SmallVector<Watcher, 1> watchers;
  uint64_t numCopies = 0; // Started so far.
  uint32_t unfinished = 0;

  /// Copy number `number` has finished.
  void finished(uint64_t number);
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_COPIES_H
