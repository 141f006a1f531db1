//===- Machine.cpp - Warps, blocks, clusters ------------------------------===//

#include "lib/Emulator/Machine/Machine.h"
#include "lib/Emulator/Machine/Scheduler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>

namespace tilec::emulator {

namespace {

using Three = std::array<unsigned, 3>;

unsigned volume(const Three &extent) {
  return extent[0] * extent[1] * extent[2];
}

// The position of a number; x is the fastest.
Three positionOf(uint64_t number, const Three &extent) {
  return {unsigned(number % extent[0]),
          unsigned(number / extent[0] % extent[1]),
          unsigned(number / extent[0] / extent[1])};
}

Three clustersOf(const Launch &launch) {
  Three result;
  for (unsigned i = 0; i != 3; ++i)
    result[i] = launch.grid[i] / launch.cluster[i];
  return result;
}

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e37'79b9'7f4a'7c15 + b;
  x ^= x >> 31;
  x *= 0xbf58'476d'1ce4'e5b9;
  return x ^ x >> 29;
}

} // namespace

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

Warp::Warp(Block &block, unsigned index, LaneMask lanes)
    : block(block), index(index), all(lanes),
      firstThread(ThreadId(block.rank * volume(block.cluster.launch.block) +
                           index * warpSize)) {
  const Launch &launch = block.cluster.launch;
  const Program &program = launch.program;
  storage = launch.initialRegisters;
  registers = storage.data();
  constants = program.constants.data();
  pc.fill(launch.kernel.entry);

  auto fill = [&](Special which, auto value) {
    if (size_t(which) < storage.size())
      for (unsigned lane = 0; lane != warpSize; ++lane)
        storage[size_t(which)][lane] = value(lane);
  };
  auto fillThree = [&](Special first, const Three &value) {
    for (unsigned i = 0; i != 3; ++i)
      fill(Special(unsigned(first) + i), [&](unsigned) { return value[i]; });
  };
  for (unsigned i = 0; i != 3; ++i)
    fill(Special(unsigned(Special::TidX) + i), [&](unsigned lane) {
      return positionOf(index * warpSize + lane, launch.block)[i];
    });
  Three inCluster, clusterId;
  for (unsigned i = 0; i != 3; ++i) {
    inCluster[i] = block.position[i] % launch.cluster[i];
    clusterId[i] = block.position[i] / launch.cluster[i];
  }
  fillThree(Special::NtidX, launch.block);
  fillThree(Special::CtaidX, block.position);
  fillThree(Special::NctaidX, launch.grid);
  fillThree(Special::ClusteridX, clusterId);
  fillThree(Special::NclusteridX, clustersOf(launch));
  fillThree(Special::ClusterCtaidX, inCluster);
  fillThree(Special::ClusterNctaidX, launch.cluster);
  auto fillOne = [&](Special which, uint64_t value) {
    fill(which, [&](unsigned) { return value; });
  };
  fillOne(Special::ClusterCtarank, block.rank);
  fillOne(Special::ClusterNctarank, volume(launch.cluster));
  fillOne(Special::IsExplicitCluster, launch.isExplicitCluster);
  fill(Special::Laneid, [](unsigned lane) { return lane; });
  fillOne(Special::Warpid, index);
  fillOne(Special::Nwarpid, llvm::divideCeil(volume(launch.block), warpSize));
  fillOne(Special::Smid, block.cluster.index % 132);
  fillOne(Special::Nsmid, 132);
  fillOne(Special::Gridid, 1);
  fill(Special::LanemaskEq, [](unsigned lane) { return 1u << lane; });
  fill(Special::LanemaskLt, [](unsigned lane) { return (1u << lane) - 1; });
  fill(Special::LanemaskLe, [](unsigned lane) { return (2ull << lane) - 1; });
  fill(Special::LanemaskGt,
       [](unsigned lane) { return uint32_t(~((2ull << lane) - 1)); });
  fill(Special::LanemaskGe,
       [](unsigned lane) { return uint32_t(~((1ull << lane) - 1)); });
  fillOne(Special::DynamicSmemSize, launch.dynamicShared);
  fillOne(Special::TotalSmemSize,
          launch.kernel.staticShared + launch.dynamicShared);

  for (unsigned lane = 0; lane != warpSize; ++lane)
    if (lanes >> lane & 1) {
      local[lane].assign(program.localBytes, char(poisonByte));
      param[lane].assign(program.paramBytes, char(poisonByte));
    }
}

Warp::~Warp() = default;

uint64_t Warp::special(Special which, unsigned lane) const {
  // A clock that counts instructions: it goes on, and it is the same in every
  // run.
  uint64_t now = block.cluster.now();
  constexpr uint64_t nanosecondsAtStart = 1'700'000'000'000'000'000;
  switch (which) {
  case Special::Clock:
    return uint32_t(now);
  case Special::ClockHi:
    return now >> 32;
  case Special::Clock64:
    return now;
  case Special::Globaltimer:
    return nanosecondsAtStart + now;
  case Special::GlobaltimerLo:
    return uint32_t(nanosecondsAtStart + now);
  case Special::GlobaltimerHi:
    return (nanosecondsAtStart + now) >> 32;
  default:
    return registers[unsigned(which)][lane];
  }
}

void Warp::exit(LaneMask lanes) {
  lanes &= ~exited;
  exited |= lanes;
  unsigned gone = unsigned(llvm::popcount(lanes));
  Cluster &cluster = block.cluster;
  block.liveThreads -= gone;
  cluster.liveThreads -= gone;
  cluster.scheduler->exits += gone;
  for (unsigned lane = 0; lane != warpSize; ++lane)
    if (lanes >> lane & 1) {
      clearWaiting(lane);
      // It has arrived at the cluster's barrier for good: it no longer counts.
      if (clusterArrival[lane] == cluster.barrier.phase + 1)
        --cluster.barrier.arrived;
      clusterArrival[lane] = 0;
    }
  // Those who are held or wait for lanes of the warp look again.
  blocked = held = waitsForWarp = 0;
  block.threadsExited();
  cluster.completeClusterBarrier();
}

uint32_t Warp::counterOf(const Instruction &at) const {
  return uint32_t(&at - block.cluster.launch.program.instructions.data());
}

void Warp::issueLoad(const Instruction &load, LaneMask lanes) {
  Detector *detector = block.cluster.detector();
  if (!detector)
    return;
  if (!pendingLoads)
    pendingLoads = std::make_unique<PendingLoads>(*detector, firstThread);
  pendingLoads->issue(load, lanes & all);
}

void Warp::setWaiting(unsigned lane, const Instruction &at, std::string what) {
  waiting[lane].at = &at;
  waiting[lane].what = std::move(what);
}

void Warp::clearWaiting(unsigned lane) {
  waiting[lane].at = nullptr;
  waiting[lane].what.clear();
}

Participant Warp::participant(unsigned lane, const Instruction &at,
                              std::string role) const {
  Participant result;
  result.location = at.source->location;
  result.instruction = at.source->name();
  result.block = block.position;
  result.thread = int(index * warpSize + lane);
  result.role = std::move(role);
  return result;
}

void Warp::report(ReportKind kind, unsigned lane, const Instruction &at,
                  std::string message, std::string remedy) {
  Report report;
  report.kind = kind;
  report.message = std::move(message);
  report.remedy = std::move(remedy);
  report.participants.push_back(participant(lane, at, "executes it"));
  block.cluster.launch.reporter.add(std::move(report));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

namespace {

// What is wrong with an access, in words.
std::string describe(uint64_t bytes, bool isWrite) {
  return llvm::Twine(isWrite ? "a write" : "a read").str() + " of " +
         std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string describeGlobal(const DeviceMemory &memory, uint64_t address,
                           uint64_t bytes) {
  const Allocation *below = memory.nearest(address);
  auto named = [](const Allocation &allocation) {
    std::string name =
        allocation.name.empty() ? "an allocation" : "'" + allocation.name + "'";
    return name + " (" + std::to_string(allocation.bytes) + " bytes)";
  };
  std::string at = " at 0x" + llvm::utohexstr(address, /*LowerCase=*/true);
  constexpr uint64_t near = uint64_t(1) << 32;
  if (address < 4096)
    return at + ", a null pointer";
  if (below && address < below->address + below->bytes)
    return at + ", whose last " +
           std::to_string(address + bytes - below->address - below->bytes) +
           " are past the end of " + named(*below);
  if (below && address - below->address - below->bytes < near)
    return at + ", " + std::to_string(address - below->address - below->bytes) +
           " bytes past the end of " + named(*below);
  // Before the first byte of one?
  if (const Allocation *above = memory.nearest(address + 4096))
    if (above->address > address)
      return at + ", " + std::to_string(above->address - address) +
             " bytes before the start of " + named(*above);
  return at + ", in no allocation";
}

} // namespace

Place Warp::find(unsigned lane, ptx::Space space, uint64_t address,
                 uint64_t bytes) {
  Cluster &cluster = block.cluster;
  Launch &launch = cluster.launch;
  if (space == ptx::Space::Generic) {
    space = ptx::Space::Global;
    if (address >= paramWindow) {
      if (isShared(address))
        space = ptx::Space::Shared;
      else if (address < localWindow)
        space = ptx::Space::Param;
      else if (address < localWindow + windowBytes)
        space = ptx::Space::Local;
    }
  }
  auto within = [&](char *data, uint64_t size, uint64_t offset) -> char * {
    return offset <= size && bytes <= size - offset ? data + offset : nullptr;
  };
  switch (space) {
  case ptx::Space::Shared: {
    if (isShared(address))
      address -= sharedWindow;
    uint64_t field = address >> sharedRankShift;
    uint64_t offset = address & ((uint64_t(1) << sharedRankShift) - 1);
    uint64_t rank = field == 0 ? block.rank : field - 1;
    if (rank >= cluster.blocks.size())
      return {nullptr, sharedWindow + address, space};
    Block &owner = *cluster.blocks[rank];
    return {
        within(owner.shared.data(), owner.shared.size(), offset - sharedOrigin),
        canonicalShared(unsigned(rank), offset), space};
  }
  case ptx::Space::Local: {
    uint64_t offset = address >= localWindow ? address - localWindow : address;
    return {within(local[lane].data(), local[lane].size(), offset),
            localWindow + offset, space};
  }
  case ptx::Space::Param:
    if (address >= paramWindow)
      return {within(launch.params.data(), launch.params.size(),
                     address - paramWindow),
              address, space};
    return {within(param[lane].data(), param[lane].size(), address), address,
            space};
  default: {
    auto after = llvm::partition_point(
        launch.allocations,
        [&](const AllocationRange &range) { return range.begin <= address; });
    if (after == launch.allocations.begin())
      return {nullptr, address, ptx::Space::Global};
    const AllocationRange &range = *std::prev(after);
    return {within(range.data, range.end - range.begin, address - range.begin),
            address, ptx::Space::Global};
  }
  }
}

Place Warp::resolve(unsigned lane, ptx::Space space, uint64_t address,
                    unsigned bytes, unsigned alignment, bool isWrite,
                    const Instruction &at) {
  Place place = find(lane, space, address, bytes);
  if (place.data && (address & (alignment - 1)) == 0) [[likely]]
    return place;
  Cluster &cluster = block.cluster;
  if (!place.data) {
    std::string message = describe(bytes, isWrite);
    switch (place.space) {
    case ptx::Space::Shared: {
      uint64_t field = place.address - sharedWindow;
      uint64_t rank = (field >> sharedRankShift) - 1;
      uint64_t offset = field & ((uint64_t(1) << sharedRankShift) - 1);
      if (rank >= cluster.blocks.size()) {
        message += " of shared memory of a block that the cluster does not "
                   "have, at 0x" +
                   llvm::utohexstr(address, true);
        break;
      }
      uint64_t end = sharedOrigin + block.shared.size();
      message += " of shared memory at " + std::to_string(offset);
      if (offset < sharedOrigin)
        message += ", before its start at " + std::to_string(sharedOrigin);
      else if (offset < end)
        message += ", whose last " + std::to_string(offset + bytes - end) +
                   " are past its end at " + std::to_string(end);
      else
        message += ", " + std::to_string(offset - end) +
                   " bytes past its end at " + std::to_string(end);
      break;
    }
    case ptx::Space::Local:
      message += " of local memory at " +
                 std::to_string(place.address - localWindow) + " of " +
                 std::to_string(local[lane].size()) + " bytes";
      break;
    case ptx::Space::Param:
      message += " of parameters at 0x" + llvm::utohexstr(address, true);
      break;
    default:
      message += describeGlobal(cluster.launch.memory, address, bytes);
    }
    report(ReportKind::OutOfBounds, lane, at, message);
    return {nullptr, place.address, place.space};
  }
  report(ReportKind::Misaligned, lane, at,
         describe(bytes, isWrite) + " at 0x" + llvm::utohexstr(address, true) +
             ", which is not a multiple of " + std::to_string(alignment));
  return {nullptr, place.address, place.space};
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Block::Block(Cluster &cluster, unsigned rank, Three position)
    : cluster(cluster), rank(rank), position(position) {
  const Launch &launch = cluster.launch;
  shared.assign(launch.kernel.staticShared + launch.dynamicShared,
                char(poisonByte));
  unsigned threads = volume(launch.block);
  liveThreads = threads;
  unsigned numWarps = llvm::divideCeil(threads, warpSize);
  for (unsigned i = 0; i != numWarps; ++i) {
    unsigned lanes = std::min(warpSize, threads - i * warpSize);
    warps.push_back(
        std::make_unique<Warp>(*this, i, LaneMask((uint64_t(1) << lanes) - 1)));
  }
}

Block::~Block() = default;

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

Cluster::Cluster(Launch &launch, uint64_t index)
    : launch(launch), index(index), random(mix(launch.seed, index)) {
  Three first = positionOf(index, clustersOf(launch));
  unsigned numBlocks = volume(launch.cluster);
  for (unsigned rank = 0; rank != numBlocks; ++rank) {
    Three position = positionOf(rank, launch.cluster);
    for (unsigned i = 0; i != 3; ++i)
      position[i] += first[i] * launch.cluster[i];
    blocks.push_back(std::make_unique<Block>(*this, rank, position));
    liveThreads += blocks.back()->liveThreads;
  }
  scheduler = std::make_unique<Scheduler>(*this);
  if (!launch.detectRaces)
    return;
  races = std::make_unique<Detector>(volume(launch.block), numBlocks, index,
                                     blocks[0]->shared.size(),
                                     launch.globalShadow, launch.reporter);
  for (const auto &block : blocks)
    races->setBlockPosition(block->rank, block->position);
}

Cluster::~Cluster() = default;

void Cluster::enqueue(PendingOperation operation, uint64_t orderKey) {
  scheduler->enqueue(std::move(operation), orderKey);
}

bool Cluster::run(uint64_t steps) { return scheduler->run(steps); }
bool Cluster::spins() { return scheduler->spins(); }
void Cluster::reportDeadlock() { scheduler->reportDeadlock(); }

bool Cluster::takeActivity() {
  uint64_t now = changes + writes + scheduler->completions + scheduler->exits;
  return std::exchange(lastActivity, now) != now;
}

Participant Cluster::whereabouts() const {
  for (const auto &block : blocks)
    for (const auto &warp : block->warps)
      if (LaneMask live = warp->all & ~warp->exited & ~warp->blocked) {
        unsigned lane = llvm::countr_zero(live);
        return warp->participant(
            lane, launch.program.instructions[warp->pc[lane]], "is here");
      }
  return {};
}

void Cluster::finish() {
  const auto &instructions = launch.program.instructions;
  for (size_t i = 0; i != instructions.size(); ++i)
    if (uint64_t count = scheduler->executions[i])
      counters.byOpcode[instructions[i].source->opcode().str()] += count;
}

} // namespace tilec::emulator
