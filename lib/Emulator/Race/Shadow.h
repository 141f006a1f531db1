//===- Shadow.h - Who touched which bytes last ------------------*- C++ -*-===//
//
// For each byte the detector keeps the last weak write and what came after it
// (Record): reads, and strong writes. Bytes that are touched together share a
// record: memory is divided into cells of 16 bytes, and a cell has one record
// until an access touches a part of it; then it has one for each 8, 4, 2 or
// single bytes, as that access needs, until a write of the whole cell makes it
// one again. So copies of tiles cost a record for each 16 bytes, and accesses
// of a word one.
//
// Mostly one agent reads between two writes, or one after the other with order
// between them, and then the last is enough: a write that comes after it comes
// after all. Several without order become a set, to which a record refers.
//
// A Shadow has the records of a range of memory: all shared memory of a block,
// or a page of global memory. It also has what strong accesses carry (Words.h).
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_RACE_SHADOW_H
#define TILEC_EMULATOR_RACE_SHADOW_H

#include "lib/Emulator/Race/Clock.h"
#include "lib/Emulator/Race/Words.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Allocator.h"
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace tilec::emulator {

/// An access as it is remembered, in 16 bytes.
struct Access {
  Agent agent = none;
  Step step = 0;
  uint32_t cluster = 0;
  uint32_t isWrite : 1 = 0;
  uint32_t isStrong : 1 = 0;
  uint32_t scope : 2 = 0;        // Of a strong one: a Scope.
  uint32_t isAsyncProxy : 1 = 0; // Not the generic one.
  uint32_t isUpdate : 1 = 0;     // Reads and writes.
  uint32_t instruction : 26 = 0; // GlobalShadow has the list.

  /// Agents that are no agents. Nobody: `step` 1 if the bytes have no value
  /// either. Many: `step` is the number of a set.
  static constexpr Agent none = ~0u, many = ~0u - 1;

  bool isBy(const Access &other) const {
    return agent == other.agent && cluster == other.cluster;
  }
};

/// Whether whoever conflicts with `earlier` conflicts with `later`, too; then
/// one that happens before the other need not be kept.
inline bool standsFor(const Access &later, const Access &earlier) {
  return later.isWrite == earlier.isWrite &&
         later.isStrong <= earlier.isStrong &&
         (!later.isStrong || later.isUpdate >= earlier.isUpdate) &&
         (!later.isStrong ||
          (later.scope == earlier.scope &&
           (later.scope == widestReach || later.isBy(earlier))));
}

struct Record {
  Access write; // The last weak one.
  Access since; // Reads and strong writes since then.
};

/// Accesses of different agents, as they came; an agent may be in it several
/// times.
struct AccessSet {
  struct Part {
    std::vector<Access> list;
    size_t limit = 64; // Length at which it is cleaned up.
    /// So many from the beginning are sorted by agent; the one that was
    /// replaced last is before `next`, since agents mostly come in order.
    size_t numSorted = 0, next = 0;

    /// Puts an access in the place of an earlier one by the same agent, if
    /// there is one among those that are sorted. For reads.
    bool replace(const Access &access);
  };
  Part weak;              // Reads.
  Part strong;            // Reads and writes, as they came.
  bool hasWrites = false; // `strong` has.
  /// The least scope in `strong`.
  unsigned scope = widestReach;
};

class Shadow {
public:
  /// Of so many bytes, all as `initial` has them.
  Shadow(uint64_t bytes, const Access &initial);

  uint64_t bytes() const { return cells.size() * cellBytes; }

  /// Calls touch(record, offset, length) for the records that cover a range. If
  /// it `replaces` what they say, cells that it covers have one record again.
  template <typename Touch>
  void visit(uint64_t offset, uint64_t bytes, bool replaces, Touch touch);

  AccessSet &setOf(const Record &record) { return sets[record.since.step]; }
  /// Forgets what came since the last write.
  void clearSince(Record &record) {
    if (record.since.agent == Access::many)
      freeSets.push_back(record.since.step);
    record.since = Access();
  }
  /// Adds to what came since, which becomes a set; for two agents or more.
  /// `prune` tells which of it need not be kept, `most` how many may be.
  template <typename Prune>
  void addSince(Record &record, const Access &access, size_t most, Prune prune);

  /// What strong accesses carry, by the offset of their word.
  llvm::DenseMap<uint64_t, Word> words;

private:
  static constexpr unsigned cellShift = 4;
  static constexpr uint64_t cellBytes = 1 << cellShift;
  struct Cell {
    Record whole; // Meaningless if there are parts.
    Record *parts = nullptr;
    uint8_t shift = cellShift; // Of the bytes of a record.
  };
  void split(Cell &cell, unsigned shift);
  void merge(Cell &cell);
  uint32_t newSet();
  static void cleanUp(AccessSet::Part &part, size_t most, bool isSorted);

  std::vector<Cell> cells;
  std::vector<AccessSet> sets;
  std::vector<uint32_t> freeSets;
  llvm::BumpPtrAllocator memory;                          // Of parts.
  std::array<std::vector<Record *>, cellShift> freeParts; // By their shift.
};

//===----------------------------------------------------------------------===//

template <typename Touch>
void Shadow::visit(uint64_t offset, uint64_t bytes, bool replaces,
                   Touch touch) {
  uint64_t end = std::min(offset + bytes, this->bytes());
  while (offset < end) {
    Cell &cell = cells[offset >> cellShift];
    unsigned begin = offset & (cellBytes - 1);
    unsigned length = std::min<uint64_t>(cellBytes - begin, end - offset);
    if (length != cellBytes) {
      unsigned shift = llvm::countr_zero(begin | length);
      if (shift < cell.shift)
        split(cell, shift);
    }
    // One place for both, so that what touches becomes a part of the loop.
    unsigned shift = cell.shift;
    Record *record = cell.parts ? cell.parts + (begin >> shift) : &cell.whole;
    for (unsigned at = 0; at < length; at += 1u << shift)
      touch(*record++, offset + at, 1u << shift);
    if (replaces && cell.parts && length == cellBytes)
      merge(cell);
    offset += length;
  }
}

template <typename Prune>
void Shadow::addSince(Record &record, const Access &access, size_t most,
                      Prune prune) {
  auto push = [](AccessSet &set, const Access &access) {
    auto &list = (access.isStrong ? set.strong : set.weak).list;
    if (list.capacity() == 0)
      list.reserve(16);
    list.push_back(access);
    set.hasWrites |= access.isWrite;
    if (access.isStrong)
      set.scope = std::min<unsigned>(set.scope, access.scope);
  };
  if (record.since.agent != Access::many) {
    uint32_t index = newSet();
    if (record.since.agent != Access::none)
      push(sets[index], record.since);
    record.since = Access();
    record.since.agent = Access::many;
    record.since.step = index;
  }
  AccessSet &set = setOf(record);
  AccessSet::Part &part = access.isStrong ? set.strong : set.weak;
  if (part.list.size() >= part.limit) {
    llvm::erase_if(part.list, prune);
    cleanUp(part, most, /*isSorted=*/!access.isStrong);
  }
  push(set, access);
}

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_RACE_SHADOW_H
