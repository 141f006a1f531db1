//===- Words.cpp - What strong accesses carry -----------------------------===//

#include "lib/Emulator/Race/Words.h"

namespace tilec::emulator {

/// Whose an entry of a reach is.
static uint64_t ownerOf(unsigned reach, uint64_t cluster, uint64_t block) {
  switch (reach) {
  case 0:
    return block;
  case 1:
    return cluster;
  default:
    return 0;
  }
}

void Word::acquire(unsigned reach, uint64_t cluster, uint64_t block,
                   Reached &result) const {
  for (const Entry &entry : entries)
    if (entry.reach <= reach &&
        entry.owner == ownerOf(entry.reach, cluster, block))
      result.to[entry.reach] = joined(result.to[entry.reach], entry.knowledge);
}

void Word::release(const Reached &from, uint64_t cluster, uint64_t block) {
  for (unsigned reach = 0; reach < numReaches; ++reach) {
    if (!from.to[reach])
      continue;
    uint64_t owner = ownerOf(reach, cluster, block);
    bool isThere = false;
    for (Entry &entry : entries)
      if (entry.reach == reach && entry.owner == owner) {
        entry.knowledge = joined(entry.knowledge, from.to[reach]);
        isThere = true;
      }
    if (!isThere)
      entries.push_back({reach, owner, from.to[reach]});
  }
}

} // namespace tilec::emulator
