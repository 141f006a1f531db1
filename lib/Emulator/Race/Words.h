//===- Words.h - What strong accesses carry ---------------------*- C++ -*-===//
//
// Order between threads that share no barrier goes through words of memory: one
// releases what it knows into a word, the other acquires it with the value. As
// in the memory model of PTX:
//
//   * a store with .release puts what its thread knows into the word, a relaxed
//     one what it knew at its last fence, a weak one nothing; each replaces
//     what was there;
//   * a read-modify-write adds to what is there, whatever its order: it goes on
//     with the release before it;
//   * a load with .acquire takes what is in the word; after a relaxed one, the
//     next fence takes it.
//
// Besides, whoever has read what a strong access wrote comes after that access
// itself, though after nothing else of its thread: the block whose atomic was
// the last one may reset the counter by a plain store.
//
// All of it holds for those whom the *scope* includes: what is released at
// .cta is for the same block alone. So a word keeps what it has by for whom.
// A fence is as wide as its own scope.
//
// A barrier carries on what fences have released and relaxed accesses seen, as
// far as their scope is all: `__threadfence(); __syncthreads();` by all threads
// and a relaxed atomic by one of them releases what all of them did.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_RACE_WORDS_H
#define TILEC_EMULATOR_RACE_WORDS_H

#include "lib/Emulator/Race/Clock.h"
#include "llvm/ADT/SmallVector.h"

namespace tilec::emulator {

/// The scopes, from the narrowest: block, cluster, all. Device and system are
/// one, since there is one device.
constexpr unsigned numReaches = 3, widestReach = numReaches - 1;

/// What each reach of a word or a thread has. Null: nothing.
struct Reached {
  ForeignRef to[numReaches];
};

/// A word of memory with what was released into it.
class Word {
public:
  /// What a thread of block `block` (among all blocks of the launch) and of
  /// `cluster` acquires at a reach.
  void acquire(unsigned reach, uint64_t cluster, uint64_t block,
               Reached &result) const;
  /// Adds for each reach what `from` has.
  void release(const Reached &from, uint64_t cluster, uint64_t block);
  void clear() { entries.clear(); }

private:
  struct Entry {
    unsigned reach;
    uint64_t owner; // The block, the cluster, or 0.
    ForeignRef knowledge;
  };
  llvm::SmallVector<Entry, 3> entries;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_RACE_WORDS_H
