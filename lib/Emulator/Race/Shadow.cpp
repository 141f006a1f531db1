//===- Shadow.cpp - Who touched which bytes last --------------------------===//

#include "lib/Emulator/Race/Shadow.h"
#include <numeric>
#include <tuple>

namespace tilec::emulator {

Shadow::Shadow(uint64_t bytes, const Access &initial) {
  cells.resize((bytes + cellBytes - 1) >> cellShift);
  for (Cell &cell : cells)
    cell.whole.write = initial;
}

void Shadow::split(Cell &cell, unsigned shift) {
  unsigned count = cellBytes >> shift;
  Record *parts = nullptr;
  if (freeParts[shift].empty()) {
    parts = memory.Allocate<Record>(count);
  } else {
    parts = freeParts[shift].back();
    freeParts[shift].pop_back();
  }
  unsigned ratio = cell.shift - shift;
  for (unsigned i = 0; i < count; ++i) {
    const Record &from = cell.parts ? cell.parts[i >> ratio] : cell.whole;
    new (&parts[i]) Record(from);
    // The first of them keeps the set, the others get one of their own.
    bool isFirst = (i & ((1u << ratio) - 1)) == 0;
    if (from.since.agent == Access::many && !isFirst) {
      uint32_t index = newSet();
      sets[index] = sets[from.since.step];
      parts[i].since.step = index;
    }
  }
  if (cell.parts)
    freeParts[cell.shift].push_back(cell.parts);
  cell.parts = parts;
  cell.shift = shift;
}

void Shadow::merge(Cell &cell) {
  // After a strong write what came before it may differ.
  unsigned count = cellBytes >> cell.shift;
  for (unsigned i = 0; i < count; ++i)
    if (cell.parts[i].since.agent != Access::none)
      return;
  cell.whole = cell.parts[0];
  freeParts[cell.shift].push_back(cell.parts);
  cell.parts = nullptr;
  cell.shift = cellShift;
}

uint32_t Shadow::newSet() {
  if (freeSets.empty()) {
    sets.emplace_back();
    return sets.size() - 1;
  }
  uint32_t index = freeSets.back();
  freeSets.pop_back();
  AccessSet &set = sets[index];
  for (AccessSet::Part *part : {&set.weak, &set.strong}) {
    part->list.clear();
    part->limit = AccessSet::Part().limit;
    part->numSorted = part->next = 0;
  }
  set.hasWrites = false;
  set.scope = widestReach;
  return index;
}

bool AccessSet::Part::replace(const Access &access) {
  size_t at = next;
  if (at >= numSorted || !list[at].isBy(access)) {
    auto end = list.begin() + ptrdiff_t(numSorted);
    auto key = [](const Access &a) { return std::pair(a.cluster, a.agent); };
    at = size_t(std::lower_bound(list.begin(), end, access,
                                 [&](const Access &a, const Access &b) {
                                   return key(a) < key(b);
                                 }) -
                list.begin());
    if (at == numSorted || !list[at].isBy(access))
      return false;
  }
  list[at] = access;
  next = at + 1;
  return true;
}

void Shadow::cleanUp(AccessSet::Part &part, size_t most, bool isSorted) {
  // Of each agent the last of each sort: who comes after it comes after all.
  auto key = [](const Access &a) {
    return std::make_tuple(a.cluster, a.agent, bool(a.isWrite),
                           bool(a.isUpdate), unsigned(a.scope));
  };
  auto &list = part.list;
  llvm::SmallVector<uint32_t> order(list.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    return std::make_pair(key(list[a]), a) < std::make_pair(key(list[b]), b);
  });
  size_t kept = 0;
  for (size_t i = 0; i < order.size(); ++i)
    if (i + 1 == order.size() || key(list[order[i]]) != key(list[order[i + 1]]))
      order[kept++] = order[i];
  order.resize(kept);
  // Too many: some of them stand for the others, with whom they have most in
  // common when it comes to order.
  if (order.size() > most) {
    for (size_t i = 0; i < most / 2; ++i)
      order[i] = order[i * order.size() / (most / 2)];
    order.resize(most / 2);
  }
  if (!isSorted)
    llvm::sort(order); // As they came.
  std::vector<Access> result;
  result.reserve(order.size());
  for (uint32_t index : order)
    result.push_back(list[index]);
  list = std::move(result);
  part.numSorted = isSorted ? list.size() : 0;
  part.next = 0;
  part.limit = std::max<size_t>(64, 2 * list.size());
}

} // namespace tilec::emulator
