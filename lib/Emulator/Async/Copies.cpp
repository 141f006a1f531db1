//===- Copies.cpp - Groups of asynchronous copies of a thread -------------===//

#include "lib/Emulator/Async/Copies.h"

namespace tilec::emulator {

const std::shared_ptr<CopyGroup> &GroupQueue::open() {
  if (!current)
    current = spare ? std::move(spare) : std::make_shared<CopyGroup>();
  return current;
}

void GroupQueue::commit() {
  committed.push_back(open());
  current = nullptr;
}

bool GroupQueue::isComplete(uint64_t allowed, bool reads) const {
  for (size_t i = 0; i + allowed < committed.size(); ++i)
    if ((reads ? committed[i]->reading : committed[i]->unfinished) != 0)
      return false;
  return true;
}

void GroupQueue::acquire(uint64_t allowed, bool reads, Detector *detector) {
  if (committed.size() <= allowed)
    return;
  size_t count = committed.size() - allowed;
  for (size_t i = 0; detector && i < count; ++i)
    if (!reads || !committed[i]->knownRead)
      for (const AsyncOperation &operation : committed[i]->operations)
        detector->acquireOwn(operation, /*readsAlone=*/reads);
  if (!reads) {
    // Mostly nobody else has it any more, and it can be used again.
    if (!spare && committed.front().use_count() == 1) {
      spare = std::move(committed.front());
      *spare = CopyGroup();
    }
    committed.erase(committed.begin(), committed.begin() + ptrdiff_t(count));
  } else
    for (size_t i = 0; i < count; ++i)
      committed[i]->knownRead = true;
}

void GroupQueue::forEach(llvm::function_ref<void(CopyGroup &)> visit) const {
  for (const auto &group : committed)
    visit(*group);
  if (current)
    visit(*current);
}

void ThreadCopies::finished(uint64_t number) {
  --unfinished;
  for (Watcher &watcher : watchers)
    if (number < watcher.before && --watcher.unfinished == 0)
      watcher.arrive();
  llvm::erase_if(
      watchers, [](const Watcher &watcher) { return watcher.unfinished == 0; });
}

} // namespace tilec::emulator
