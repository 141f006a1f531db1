//===- Access.cpp - Memory as instructions of warps reach it --------------===//

#include "lib/Emulator/Execute/Access.h"
#include "lib/Emulator/Execute/Lanes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tilec::emulator {

using ptx::Space;

void takeAccess(Pieces &pieces, MemoryAccess &access, bool &hasPolicy) {
  struct Named {
    const char *name;
    Space space;
  };
  constexpr Named spaces[] = {
      {"global", Space::Global},      {"shared", Space::Shared},
      {"shared::cta", Space::Shared}, {"shared::cluster", Space::Shared},
      {"local", Space::Local},        {"const", Space::Const},
      {"param", Space::Param},        {"param::entry", Space::Param},
      {"param::func", Space::Param},
  };
  for (const Named &each : spaces)
    if (pieces.take(each.name)) {
      access.space = each.space;
      break;
    }
  for (auto [name, order] : {std::pair("relaxed", Order::Relaxed),
                             {"acquire", Order::Acquire},
                             {"release", Order::Release},
                             {"acq_rel", Order::AcquireRelease}})
    if (pieces.take(name))
      access.order = order;
  pieces.take("weak");
  if (pieces.take("volatile")) {
    access.order = Order::Relaxed;
    access.scope = Scope::System;
  }
  pieces.take("mmio");
  for (auto [name, scope] : {std::pair("cta", Scope::Block),
                             {"cluster", Scope::Cluster},
                             {"gpu", Scope::Device},
                             {"sys", Scope::System}})
    if (pieces.take(name))
      access.scope = scope;
  access.isReadOnly = pieces.take("nc");
  for (const char *hint :
       {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal",
        "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
        "L1::no_allocate", "L2::evict_normal", "L2::evict_first",
        "L2::evict_last", "L2::64B", "L2::128B", "L2::256B"})
    pieces.take(hint);
  hasPolicy = pieces.take("L2::cache_hint");
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

// Where a cluster keeps what it knows of an instruction.
template <typename Array>
auto &cachedFor(Array &entries, const Instruction &at) {
  return entries[(reinterpret_cast<uintptr_t>(&at) / sizeof(Instruction)) %
                 entries.size()];
}

// The allocation that most lanes mean; lookups of others are slow.
const AllocationRange &rangeOf(Cluster &cluster, const Instruction &at,
                               uint64_t address, uint64_t bytes) {
  AllocationRange &cached = cachedFor(cluster.ranges, at);
  if (address - cached.begin < cached.end - cached.begin)
    return cached;
  const auto &all = cluster.launch.allocations;
  auto after = llvm::partition_point(all, [&](const AllocationRange &range) {
    return range.begin <= address;
  });
  if (after != all.begin())
    cached = *std::prev(after);
  return cached;
}

} // namespace

void resolveLanes(Warp &warp, const Instruction &at, const MemoryAccess &access,
                  const uint64_t *base, LaneMask lanes, bool isWrite,
                  LanePlaces &places) {
  Cluster &cluster = warp.block.cluster;
  unsigned bytes = access.total();
  places.lanes = 0;
  auto slow = [&](unsigned lane, uint64_t address) {
    Place place =
        warp.resolve(lane, access.space, address, bytes, bytes, isWrite, at);
    if (place.data && isWrite && place.space == Space::Param &&
        place.address >= paramWindow) {
      warp.report(ReportKind::BadOperand, lane, at,
                  "a write of a parameter of the kernel");
      place.data = nullptr;
    }
    if (!place.data)
      return;
    places.data[lane] = place.data;
    places.address[lane] = place.address;
    places.lanes |= LaneMask(1) << lane;
  };
  auto fast = [&](uint64_t begin, uint64_t size, char *data,
                  uint64_t canonical) {
    LaneMask done = 0;
    forEachLane(lanes, [&](unsigned lane) {
      uint64_t address = base[lane] + uint64_t(at.offset);
      uint64_t offset = address - begin;
      bool isIn = (address & (bytes - 1)) == 0 && offset < size &&
                  bytes <= size - offset;
      places.data[lane] = data + (isIn ? offset : 0);
      places.address[lane] = canonical + offset;
      done |= LaneMask(isIn) << lane;
    });
    places.lanes = done;
    if (LaneMask left = lanes & ~done)
      forEachLane(left, [&](unsigned lane) {
        slow(lane, base[lane] + uint64_t(at.offset));
      });
  };
  uint64_t first = base[firstLane(lanes)] + uint64_t(at.offset);
  switch (access.space) {
  case Space::Shared: {
    // Plain addresses of the block's own memory.
    Block &block = warp.block;
    return fast(sharedOrigin, block.shared.size(), block.shared.data(),
                canonicalShared(block.rank, sharedOrigin));
  }
  case Space::Generic:
    if (first >= paramWindow)
      break;
    [[fallthrough]];
  case Space::Global:
  case Space::Const: {
    const AllocationRange &range = rangeOf(cluster, at, first, bytes);
    return fast(range.begin, range.end - range.begin, range.data, range.begin);
  }
  case Space::Param:
    if (first >= paramWindow && !isWrite)
      return fast(paramWindow, cluster.launch.params.size(),
                  cluster.launch.params.data(), paramWindow);
    break;
  default:
    break;
  }
  forEachLane(lanes, [&](unsigned lane) {
    slow(lane, base[lane] + uint64_t(at.offset));
  });
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

namespace {

// Different sectors of 32 bytes. An access of a lane is in one or, where it is
// larger, in several of its own.
unsigned sectorsOf(const LanePlaces &places, LaneMask lanes, unsigned bytes) {
  if (bytes >= 32)
    return unsigned(llvm::popcount(lanes)) * (bytes / 32);
  std::array<uint64_t, warpSize> sectors;
  unsigned count = 0;
  bool isSorted = true;
  uint64_t last = ~uint64_t(0);
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t sector = places.address[lane] >> 5;
    if (sector == last)
      return;
    isSorted &= count == 0 || sector > last;
    sectors[count++] = last = sector;
  });
  if (isSorted)
    return count;
  auto *end = sectors.begin() + count;
  std::sort(sectors.begin(), end);
  return unsigned(std::unique(sectors.begin(), end) - sectors.begin());
}

// The wavefronts of lanes that are served together: as many as the fullest of
// the 32 banks has different words.
unsigned wavefrontsOf(llvm::ArrayRef<uint32_t> words) {
  std::array<uint8_t, 32> fill = {};
  std::array<std::array<uint32_t, 64>, 32> seen; // The words of each bank.
  unsigned most = 0;
  for (uint32_t word : words) {
    unsigned bank = word & 31, count = fill[bank];
    const uint32_t *begin = seen[bank].data();
    bool isNew = true;
    for (unsigned i = 0; i != count && isNew; ++i)
      isNew = begin[i] != word;
    if (!isNew)
      continue;
    seen[bank][count] = word;
    fill[bank] = uint8_t(count + 1);
    most = std::max(most, count + 1);
  }
  return most;
}

void countWavefronts(const LanePlaces &places, LaneMask lanes, unsigned bytes,
                     unsigned &wavefronts, unsigned &ideal) {
  // Wider accesses are served in parts of the warp that want 128 bytes.
  unsigned perGroup = bytes <= 4 ? 32 : std::max(1u, 128 / bytes);
  for (unsigned begin = 0; begin < warpSize; begin += perGroup) {
    LaneMask group = lanes & LaneMask(((uint64_t(1) << perGroup) - 1) << begin);
    if (!group)
      continue;
    std::array<uint32_t, 64> words;
    unsigned count = 0;
    forEachLane(group, [&](unsigned lane) {
      uint32_t word = uint32_t(places.address[lane] >> 2);
      for (unsigned i = 0; i != std::max(1u, bytes / 4); ++i)
        words[count++] = word + i;
    });
    wavefronts += wavefrontsOf({words.data(), count});
    ++ideal;
  }
}

void countPattern(const LanePlaces &places, LaneMask lanes, unsigned bytes,
                  bool isGlobal, unsigned &count, unsigned &ideal) {
  if (isGlobal)
    count = sectorsOf(places, lanes, bytes);
  else
    countWavefronts(places, lanes, bytes, count, ideal);
}

// Whether the addresses are as they were for the pattern.
bool matches(const AccessPattern &pattern, const Instruction &at,
             const LanePlaces &places, uint64_t phase) {
  uint64_t first = places.address[0];
  if (pattern.at != &at || pattern.phase != phase)
    return false;
  uint64_t differences = 0;
  for (unsigned lane = 0; lane != warpSize; ++lane)
    differences |= (places.address[lane] - first) ^ pattern.distance[lane];
  return differences == 0;
}

} // namespace

void countAccess(Cluster &cluster, const Instruction &at,
                 const MemoryAccess &access, const LanePlaces &places,
                 bool isWrite) {
  LaneMask lanes = places.lanes;
  if (!lanes)
    return;
  Space space = access.space;
  // All lanes of a generic access mean the same space, nearly always.
  if (space == Space::Generic) {
    uint64_t first = places.address[firstLane(lanes)];
    space = isShared(first)       ? Space::Shared
            : first < paramWindow ? Space::Global
                                  : Space::Local;
  }
  if (space != Space::Global && space != Space::Shared)
    return;
  bool isGlobal = space == Space::Global;
  unsigned bytes = access.total(), count = 0, ideal = 0;
  if (lanes == allLanes) {
    AccessPattern &pattern = cachedFor(cluster.patterns, at);
    // Moving by whole sectors changes nothing, nor by words, which only turns
    // the banks.
    uint64_t phase = places.address[0] % (isGlobal ? 32 : 4);
    if (!matches(pattern, at, places, phase)) {
      pattern = {&at, phase, {}, 0, 0};
      for (unsigned lane = 0; lane != warpSize; ++lane)
        pattern.distance[lane] = places.address[lane] - places.address[0];
      countPattern(places, lanes, bytes, isGlobal, pattern.count,
                   pattern.ideal);
    }
    count = pattern.count;
    ideal = pattern.ideal;
  } else {
    countPattern(places, lanes, bytes, isGlobal, count, ideal);
  }
  Counters &counters = cluster.counters;
  if (isGlobal) {
    uint64_t moved = uint64_t(llvm::popcount(lanes)) * bytes;
    (isWrite ? counters.globalStoreBytes : counters.globalLoadBytes) += moved;
    (isWrite ? counters.globalStoreSectors : counters.globalLoadSectors) +=
        count;
  } else {
    (isWrite ? counters.sharedStoreWavefronts
             : counters.sharedLoadWavefronts) += count;
    (isWrite ? counters.sharedStoreIdeal : counters.sharedLoadIdeal) += ideal;
  }
}

std::unique_lock<std::mutex> lockStrong(Launch &launch, bool isDetecting,
                                        uint64_t address) {
  if (!isDetecting || isShared(address))
    return {};
  // Words of 16 bytes share a lock, so accesses of any width exclude those that
  // overlap them.
  return std::unique_lock(
      launch.strongAccess[(address >> 4) % launch.strongAccess.size()]);
}

} // namespace tilec::emulator
