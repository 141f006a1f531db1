//===- Emulator.cpp - Running PTX on the host -----------------------------===//
//
// A launch: checks of the call, then clusters over host threads. Each host
// thread takes a cluster, runs it for a slice and puts it back, so clusters
// that wait for each other through global memory all get on. Few are begun at a
// time, which keeps memory small; but when those that are there only wait, more
// are, up to what the target's multiprocessors would hold together. If even
// then nothing moves, it is a deadlock.
//
//===----------------------------------------------------------------------===//

#include "lib/Emulator/Emulator.h"
#include "lib/Emulator/Machine/Machine.h"
#include "lib/Emulator/PTX/Parser.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <condition_variable>
#include <thread>

namespace tilec::emulator {

namespace {

using Three = std::array<unsigned, 3>;

// The target: an H100 or H200.
constexpr unsigned multiprocessors = 132;
constexpr unsigned threadsOfBlock = 1024, threadsOfMultiprocessor = 2048;
constexpr unsigned blocksOfMultiprocessor = 32;
constexpr unsigned registersOfMultiprocessor = 65536;
constexpr uint64_t sharedOfBlock = 232'448;
constexpr uint64_t sharedOfMultiprocessor = 233'472;
constexpr uint64_t sharedOfSystem = 1024; // Of each block.
constexpr unsigned blocksOfCluster = 16;

// Instructions of a slice; and of one that follows a slice in which a cluster
// did nothing that others could see: perhaps it polls.
constexpr uint64_t slice = 100'000, shortSlice = 4'000;

uint64_t volume(const Three &extent) {
  return uint64_t(extent[0]) * extent[1] * extent[2];
}

std::string text(const Three &extent) {
  return (llvm::Twine(extent[0]) + " x " + llvm::Twine(extent[1]) + " x " +
          llvm::Twine(extent[2]))
      .str();
}

template <typename... Parts> llvm::Error failure(Parts &&...parts) {
  return llvm::createStringError((llvm::Twine(parts) + ...));
}

// Registers of a thread at launch, if nobody says: what the directives promise
// to the assembler.
unsigned registersOf(const ptx::Function &kernel, unsigned threads) {
  if (kernel.maxRegisters)
    return kernel.maxRegisters;
  uint64_t most = std::max<uint64_t>(volume(kernel.maxThreads),
                                     volume(kernel.requiredThreads));
  most = std::max<uint64_t>(most, threads);
  most *= std::max(1u, kernel.minBlocks);
  uint64_t share = registersOfMultiprocessor / llvm::alignTo(most, warpSize);
  return unsigned(std::min<uint64_t>(255, share / 8 * 8));
}

llvm::Error check(const Program &program, const FunctionCode &kernel,
                  llvm::ArrayRef<char> params, const LaunchOptions &options,
                  uint64_t paramBytes) {
  const ptx::Function &source = *kernel.source;
  const std::string &name = source.name;
  if (params.size() < paramBytes)
    return failure("kernel '", name, "' has ", std::to_string(paramBytes),
                   " bytes of parameters, and ", std::to_string(params.size()),
                   " were given");
  for (unsigned i = 0; i != 3; ++i) {
    constexpr unsigned mostBlocks[3] = {0x7fff'ffff, 65535, 65535};
    constexpr unsigned mostThreads[3] = {1024, 1024, 64};
    if (options.grid[i] == 0 || options.grid[i] > mostBlocks[i])
      return failure("a grid of ", text(options.grid),
                     " blocks is beyond what the target has");
    if (options.block[i] == 0 || options.block[i] > mostThreads[i])
      return failure("a block of ", text(options.block),
                     " threads is beyond what the target has");
    if (options.cluster[i] == 0 || options.grid[i] % options.cluster[i])
      return failure("clusters of ", text(options.cluster),
                     " blocks do not divide a grid of ", text(options.grid));
  }
  uint64_t threads = volume(options.block);
  if (threads > threadsOfBlock)
    return failure("a block of ", text(options.block),
                   " threads has more than ", std::to_string(threadsOfBlock));
  if (volume(options.cluster) > blocksOfCluster)
    return failure("a cluster of ", text(options.cluster),
                   " blocks has more than ", std::to_string(blocksOfCluster));
  if (uint64_t most = volume(source.maxThreads); most && threads > most)
    return failure("kernel '", name, "' is compiled for at most ",
                   std::to_string(most), " threads a block, not ",
                   std::to_string(threads));
  if (volume(source.requiredThreads) && source.requiredThreads != options.block)
    return failure("kernel '", name, "' is compiled for blocks of ",
                   text(source.requiredThreads), " threads, not ",
                   text(options.block));
  if (volume(source.requiredCluster) &&
      source.requiredCluster != options.cluster)
    return failure("kernel '", name, "' is compiled for clusters of ",
                   text(source.requiredCluster), " blocks, not ",
                   text(options.cluster));
  if (kernel.staticShared + options.dynamicShared > sharedOfBlock)
    return failure("a block of kernel '", name, "' needs ",
                   std::to_string(kernel.staticShared + options.dynamicShared),
                   " bytes of shared memory and the target has ",
                   std::to_string(sharedOfBlock));
  return llvm::Error::success();
}

// Slots as warps find them: a pattern by the type of the register, a NaN for
// floats, since PTX promises nothing about their values.
std::vector<Row> poisonedRegisters(const Program &program,
                                   const FunctionCode &kernel) {
  std::vector<Row> result(program.numRegisters);
  auto poison = [](ptx::Type type) -> uint64_t {
    switch (ptx::bitsOf(type)) {
    case 1:
      return 0;
    case 8:
      return 0xba;
    case 16:
      return 0x7fba;
    case 32:
      return 0x7fba'dbad;
    default:
      return 0x7ff7'badb'adba'dbad;
    }
  };
  for (const FunctionCode &function : program.functions) {
    // Kernels share slots.
    if (function.source->isEntry && &function != &kernel)
      continue;
    for (size_t i = 0; i != function.registers.size(); ++i) {
      ptx::Type type = function.source->registers[i].type;
      Slot slot = function.registers[i];
      for (unsigned part = 0; part != (ptx::bitsOf(type) == 128 ? 2 : 1);
           ++part)
        if (slot + part < result.size())
          result[slot + part].fill(poison(type));
    }
  }
  return result;
}

unsigned residentClusters(const Launch &launch) {
  uint64_t threads = llvm::alignTo(volume(launch.block), warpSize);
  uint64_t shared =
      launch.kernel.staticShared + launch.dynamicShared + sharedOfSystem;
  uint64_t blocks = std::min<uint64_t>(blocksOfMultiprocessor,
                                       threadsOfMultiprocessor / threads);
  blocks = std::min(blocks, sharedOfMultiprocessor / shared);
  if (launch.registersPerThread)
    blocks =
        std::min<uint64_t>(blocks, registersOfMultiprocessor /
                                       (threads * launch.registersPerThread));
  uint64_t all = multiprocessors * std::max<uint64_t>(blocks, 1);
  return unsigned(std::max<uint64_t>(1, all / volume(launch.cluster)));
}

// Clusters and who runs them.
class Crew {
public:
  Crew(Launch &launch, unsigned numThreads)
      : launch(launch), numThreads(numThreads),
        total(volume(launch.grid) / volume(launch.cluster)),
        most(std::min<uint64_t>(total, residentClusters(launch))),
        admitted(std::min(most, 2 * uint64_t(numThreads))) {}

  Counters run() {
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < numThreads; ++i)
      threads.emplace_back([this] { work(); });
    work();
    for (std::thread &thread : threads)
      thread.join();
    for (const Resident &resident : queue) {
      resident.cluster->finish();
      counters += resident.cluster->counters;
    }
    return counters;
  }

private:
  struct Resident {
    std::unique_ptr<Cluster> cluster;
    bool isIdle = false; // Its last slice did nothing.
  };

  void work() {
    std::unique_lock lock(mutex);
    while (!launch.isStopped) {
      Resident resident;
      if (isChecking) {
        // All must be in the queue for that.
        if (queue.size() != numResident) {
          changed.wait(lock);
          continue;
        }
        isChecking = false;
        giveUpIfStuck();
        changed.notify_all();
        continue;
      }
      if (numResident < admitted && next < total) {
        uint64_t index = next++;
        ++numResident;
        lock.unlock();
        resident.cluster = std::make_unique<Cluster>(launch, index);
        lock.lock();
      } else if (!queue.empty()) {
        resident = std::move(queue.front());
        queue.pop_front();
      } else if (numResident == 0) {
        break;
      } else {
        changed.wait(lock);
        continue;
      }
      runSlice(resident, lock);
    }
    changed.notify_all();
  }

  void runSlice(Resident &resident, std::unique_lock<std::mutex> &lock) {
    lock.unlock();
    Cluster &cluster = *resident.cluster;
    uint64_t start = cluster.now();
    bool isDone = cluster.run(resident.isIdle ? shortSlice : slice);
    uint64_t steps = launch.steps += cluster.now() - start;
    bool isActive = cluster.takeActivity();
    if (isDone)
      cluster.finish();
    lock.lock();
    if (steps > launch.stepLimit && !launch.isStopped.exchange(true)) {
      Report report;
      report.kind = ReportKind::StepLimit;
      report.message = "the launch has not ended after " +
                       std::to_string(steps) + " instructions of warps";
      report.participants.push_back(cluster.whereabouts());
      launch.reporter.add(std::move(report));
    }
    if (isDone) {
      counters += cluster.counters;
      --numResident;
      idleSlices = 0;
      // Its memory is freed without the lock.
      lock.unlock();
      resident.cluster.reset();
      lock.lock();
    } else {
      resident.isIdle = !isActive;
      queue.push_back(std::move(resident));
      if (isActive)
        idleSlices = 0;
      else
        ++idleSlices;
    }
    // All have had a slice, and nothing happened: more are let in, or it may be
    // the end.
    if (idleSlices >= numResident && numResident != 0) {
      if (admitted < most && next < total) {
        admitted = std::min<uint64_t>(most, 2 * admitted);
        idleSlices = 0;
      } else if (idleSlices >= checkAfter * numResident) {
        isChecking = true;
      }
    }
    changed.notify_all();
  }

  void giveUpIfStuck() {
    idleSlices = 0;
    for (const Resident &resident : queue)
      if (!resident.cluster->spins()) {
        // It computes. That may take long, so look less often.
        checkAfter *= 2;
        return;
      }
    for (const Resident &resident : queue)
      resident.cluster->reportDeadlock();
    launch.isStopped = true;
  }

  Launch &launch;
  const unsigned numThreads;
  const uint64_t total; // Clusters of the grid.
  const uint64_t most;  // Resident together.
  uint64_t admitted;    // How many of these for now.
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Resident> queue;
  uint64_t next = 0, numResident = 0;
  uint64_t idleSlices = 0; // Since one that did something.
  uint64_t checkAfter = 2; // Times all clusters.
  bool isChecking = false;
  Counters counters;
};

} // namespace

llvm::Expected<std::shared_ptr<const Program>>
loadProgram(llvm::StringRef ptx, llvm::StringRef name, DeviceMemory &memory) {
  llvm::Expected<ptx::Module> module = ptx::parseModule(ptx, name);
  if (!module)
    return module.takeError();
  return Program::create(std::move(*module), memory);
}

llvm::Expected<LaunchResult> launch(const Program &program,
                                    llvm::StringRef kernelName,
                                    llvm::ArrayRef<char> params,
                                    const LaunchOptions &options,
                                    DeviceMemory &memory) {
  const FunctionCode *kernel = program.kernel(kernelName);
  if (!kernel)
    return failure("there is no kernel '", kernelName.str(), "' in ",
                   program.module().name);
  const ptx::Function &source = *kernel->source;
  uint64_t paramBytes = kernel->parameterBytes;
  if (llvm::Error error = check(program, *kernel, params, options, paramBytes))
    return std::move(error);

  LaunchResult result;
  Launch launch(program, *kernel, memory);
  launch.grid = options.grid;
  launch.block = options.block;
  launch.cluster = options.cluster;
  launch.isExplicitCluster =
      volume(source.requiredCluster) != 0 || volume(options.cluster) > 1;
  launch.dynamicShared = options.dynamicShared;
  launch.registersPerThread =
      options.registersPerThread
          ? options.registersPerThread
          : registersOf(source, unsigned(volume(options.block)));
  launch.params.assign(params.begin(), params.begin() + ptrdiff_t(paramBytes));
  launch.seed = options.seed;
  launch.stepLimit = options.stepLimit;
  launch.detectRaces = options.detectRaces;
  launch.print = [&](llvm::StringRef text) { result.printed += text; };
  launch.initialRegisters = poisonedRegisters(program, *kernel);
  launch.allocations = memory.ranges();

  unsigned numThreads = options.hostThreads
                            ? options.hostThreads
                            : std::max(1u, std::thread::hardware_concurrency());
  uint64_t clusters = volume(options.grid) / volume(options.cluster);
  numThreads = unsigned(std::min<uint64_t>(numThreads, clusters));
  result.counters = Crew(launch, numThreads).run();
  result.reports = launch.reporter.take();
  return result;
}

} // namespace tilec::emulator
