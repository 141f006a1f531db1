//===- BenchOnDevice.cpp - Measuring on a GPU -------------------*- C++ -*-===//
//
// Arrays live on the device alone. A launch is timed there, in turns with the
// other schedules and with a copy that moves as many bytes, and on the host.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/GpuCache.h"
#include "lib/Runtime/GPU/Driver.h"
#include "lib/Runtime/GPU/Timing.h"
#include "lib/Runtime/RandomFill.h"
#include "tools/tilec/BenchTarget.h"
#include <chrono>

using namespace tilec;
using namespace tilec::cli;

/// What is random in a large array; the rest repeats it.
static constexpr int64_t blockBytes = int64_t(4) << 20;

namespace {
/// Moves as many bytes as a kernel has to: reads half of them, writes half.
struct Copy {
  // More than any second-level cache; several copies make a larger one.
  static constexpr size_t maxBuffer = size_t(1) << 30;

  gpu::DeviceBuffer from, to;
  size_t bytes = 0;

  llvm::Error run(gpu::StreamRef stream) const;
};

class GpuBench : public BenchTarget {
public:
  explicit GpuBench(gpu::Device &device) : device(device) {}

  bool makeArguments(Program &program, const typed::Kernel &kernel,
                     RunArguments &arguments) override;
  bool compile(BenchCase &item, const BoundLaunch &bound) override;
  bool measure(llvm::ArrayRef<BenchCase *> cases, const BoundLaunch &bound,
               RunArguments &arguments, BenchReport &report) override;

private:
  std::optional<TensorView> place(Program &program, const typed::Param &param,
                                  const Extents &shape,
                                  RunArguments &arguments);
  llvm::Error fill(gpu::DeviceBuffer &buffer, const Array &block);
  llvm::Expected<Copy> makeCopy(double bytes);
  llvm::Error timeKernels(llvm::ArrayRef<BenchCase *> cases,
                          const BoundLaunch &bound, BenchReport &report);
  llvm::Error timeLaunches(BenchCase &item, const BoundLaunch &bound,
                           const gpu::PreparedLaunch &prepared);
  llvm::Expected<double>
  microsecondsOf(llvm::function_ref<llvm::Error(gpu::StreamRef)> launch);

  gpu::Device &device;
  std::vector<gpu::DeviceBuffer> buffers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Repeats `block` all over the buffer: each copy doubles what is filled.
llvm::Error GpuBench::fill(gpu::DeviceBuffer &buffer, const Array &block) {
  gpu::StreamRef stream = device.defaultStream();
  size_t filled = block.storage().size();
  if (llvm::Error error =
          device.copyToDevice(buffer.data(), block.data(), filled, stream))
    return error;
  while (filled > 0 && filled < buffer.size()) {
    size_t next = std::min(filled, buffer.size() - filled);
    if (llvm::Error error =
            device.copyOnDevice(static_cast<char *>(buffer.data()) + filled,
                                buffer.data(), next, stream))
      return error;
    filled += next;
  }
  return device.synchronize(stream);
}

std::optional<TensorView> GpuBench::place(Program &program,
                                          const typed::Param &param,
                                          const Extents &shape,
                                          RunArguments &arguments) {
  auto fail = [&](llvm::Error error) {
    reportError(program, param.range, "argument '" + param.name + "'",
                std::move(error));
    return std::nullopt;
  };
  std::optional<int64_t> elements = checkedNumElements(shape);
  if (!elements || *elements > INT64_MAX / byteSize(param.dtype))
    return fail(llvm::createStringError(
        "expected a size in bytes that fits 64 bits, found " +
        toString(param.dtype, shape) + "\nhelp: choose smaller extents"));
  llvm::Expected<gpu::DeviceBuffer> buffer =
      device.allocate(static_cast<size_t>(*elements) * byteSize(param.dtype));
  if (!buffer)
    return fail(buffer.takeError());
  llvm::Expected<Array> block = Array::create(
      param.dtype, std::min(*elements, blockBytes / byteSize(param.dtype)));
  if (!block)
    return fail(block.takeError());
  if (!arguments.fill(param, *block))
    return std::nullopt;
  if (llvm::Error error = fill(*buffer, *block))
    return fail(std::move(error));
  TensorView view = TensorView::contiguous(buffer->data(), param.dtype, shape);
  buffers.push_back(std::move(*buffer));
  return view;
}

bool GpuBench::makeArguments(Program &program, const typed::Kernel &,
                             RunArguments &arguments) {
  return arguments.prepareAt(
      [&](const typed::Param &param, const Extents &shape) {
        return place(program, param, shape, arguments);
      });
}

llvm::Expected<Copy> GpuBench::makeCopy(double bytes) {
  Copy copy;
  copy.bytes = static_cast<size_t>(bytes / 2);
  for (gpu::DeviceBuffer *buffer : {&copy.from, &copy.to}) {
    llvm::Expected<gpu::DeviceBuffer> memory =
        device.allocate(std::min(copy.bytes, Copy::maxBuffer));
    if (!memory)
      return memory.takeError();
    *buffer = std::move(*memory);
  }
  // Zeros would take less power, and so less time.
  int64_t size = std::min<int64_t>(blockBytes, copy.from.size());
  llvm::Expected<Array> block = Array::create(DType::F32, size / 4);
  if (!block)
    return block.takeError();
  if (llvm::Error error = fillRandom(*block, /*seed=*/0, "copy"))
    return std::move(error);
  if (llvm::Error error = fill(copy.from, *block))
    return std::move(error);
  return copy;
}

llvm::Error Copy::run(gpu::StreamRef stream) const {
  for (size_t done = 0; done < bytes;) {
    size_t next = std::min(from.size(), bytes - done);
    if (llvm::Error error =
            stream.device->copyOnDevice(to.data(), from.data(), next, stream))
      return error;
    done += next;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Code and time
//===----------------------------------------------------------------------===//

static double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

bool GpuBench::compile(BenchCase &item, const BoundLaunch &bound) {
  typed::Kernel &kernel = *item.subject.kernel;
  auto start = std::chrono::steady_clock::now();
  Specialization specialization = gpuSpecialization(kernel, bound);
  gpu::DiskCache cache(cacheOptions(item.options));
  std::optional<CachedGpuCode> code =
      findOrCompile(*item.program, kernel, item.subject.args, specialization,
                    GpuFacts::of(kernel, bound, specialization),
                    makeCompileOptions(item.options), cache);
  if (!code)
    return false;
  item.figures.compileMilliseconds = millisecondsSince(start);
  item.figures.wasInCache = code->isFromCache;
  BenchFigures::Gpu &figures = item.figures.gpu.emplace();
  figures.registers = code->image.registers;
  figures.threads = code->image.threads;
  figures.sharedBytes = code->image.sharedBytes;
  item.onGpu = std::make_unique<gpu::Launcher>(std::move(code->image),
                                               std::move(code->cubin));
  return true;
}

/// Microseconds until the host goes on, the median of many launches. A few at a
/// time, as a full queue would make it wait.
llvm::Expected<double> GpuBench::microsecondsOf(
    llvm::function_ref<llvm::Error(gpu::StreamRef)> launch) {
  constexpr unsigned launchesAtOnce = 16, rounds = 16;
  constexpr double maxMilliseconds = 1000;
  gpu::StreamRef stream = device.defaultStream();
  std::vector<double> samples;
  auto begin = std::chrono::steady_clock::now();
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < launchesAtOnce; ++i) {
      auto start = std::chrono::steady_clock::now();
      if (llvm::Error error = launch(stream))
        return std::move(error);
      samples.push_back(1e3 * millisecondsSince(start));
    }
    if (llvm::Error error = device.synchronize(stream))
      return std::move(error);
    if (millisecondsSince(begin) > maxMilliseconds)
      break;
  }
  return Spread::of(std::move(samples)).median;
}

llvm::Error GpuBench::timeLaunches(BenchCase &item, const BoundLaunch &bound,
                                   const gpu::PreparedLaunch &prepared) {
  llvm::Expected<double> alone = microsecondsOf(
      [&](gpu::StreamRef stream) { return prepared.run(stream); });
  if (!alone)
    return alone.takeError();
  item.figures.gpu->preparedMicroseconds = *alone;

  // What a program has that passes arguments: they are bound, then checked.
  const typed::Kernel &kernel = *item.subject.kernel;
  llvm::Expected<double> direct =
      microsecondsOf([&](gpu::StreamRef stream) -> llvm::Error {
        std::optional<BoundLaunch> fresh =
            bindLaunch(kernel, bound.args, item.program->diags);
        assert(fresh && "these arguments have been bound before");
        if (llvm::Error error = bindGrid(kernel, item.onGpu->image(), *fresh))
          return error;
        return item.onGpu->launch(stream, *fresh);
      });
  if (!direct)
    return direct.takeError();
  item.figures.gpu->directMicroseconds = *direct;
  return llvm::Error::success();
}

llvm::Error GpuBench::timeKernels(llvm::ArrayRef<BenchCase *> cases,
                                  const BoundLaunch &bound,
                                  BenchReport &report) {
  std::vector<gpu::PreparedLaunch> prepared;
  for (BenchCase *item : cases) {
    BoundLaunch withGrid = bound;
    if (llvm::Error error =
            bindGrid(*item->subject.kernel, item->onGpu->image(), withGrid))
      return error;
    llvm::Expected<gpu::PreparedLaunch> ready =
        item->onGpu->prepare(device, withGrid);
    if (!ready)
      return ready.takeError();
    item->figures.programs = ready->numPrograms();
    prepared.push_back(std::move(*ready));
  }

  llvm::Expected<Copy> copy = makeCopy(report.bytes);
  if (!copy)
    return copy.takeError();
  std::vector<gpu::Candidate> candidates = {
      {"copy", [&](gpu::StreamRef stream) { return copy->run(stream); }}};
  for (auto [item, launch] : llvm::zip(cases, prepared))
    candidates.push_back(
        {item->figures.schedule,
         [&launch](gpu::StreamRef stream) { return launch.run(stream); }});
  gpu::TimingOptions options;
  options.samples = options.minSamples = report.repeat;
  llvm::Expected<std::vector<gpu::Timing>> timings =
      gpu::measure(device, candidates, options);
  if (!timings)
    return timings.takeError();
  auto spreadOf = [](const gpu::Timing &timing) {
    return Spread::of({timing.samples.begin(), timing.samples.end()});
  };
  report.copy = spreadOf(timings->front());
  for (auto [item, timing] : llvm::zip(cases, llvm::drop_begin(*timings)))
    item->figures.milliseconds = spreadOf(timing);

  for (auto [item, launch] : llvm::zip(cases, prepared))
    if (llvm::Error error = timeLaunches(*item, bound, launch))
      return error;
  return llvm::Error::success();
}

bool GpuBench::measure(llvm::ArrayRef<BenchCase *> cases,
                       const BoundLaunch &bound, RunArguments &,
                       BenchReport &report) {
  report.device = device.properties().name;
  llvm::Error error = timeKernels(cases, bound, report);
  if (!error)
    return true;
  reportLaunchError(*cases.front()->program, *cases.front()->subject.kernel,
                    std::move(error));
  return false;
}

std::unique_ptr<BenchTarget> cli::makeGpuBench(Program &program,
                                               const typed::Kernel &kernel) {
  auto open = []() -> llvm::Expected<gpu::Device &> {
    llvm::Expected<gpu::Driver &> driver = gpu::Driver::get();
    if (!driver)
      return driver.takeError();
    return driver->currentDevice();
  };
  llvm::Expected<gpu::Device &> device = open();
  if (device)
    return std::make_unique<GpuBench>(*device);
  reportLaunchError(program, kernel, device.takeError());
  return nullptr;
}
