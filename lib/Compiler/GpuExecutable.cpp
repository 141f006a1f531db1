//===- GpuExecutable.cpp - A kernel on a GPU, with host arrays --*- C++ -*-===//
//
// See GpuExecutable.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/GpuExecutable.h"
#include "lib/Runtime/GPU/Timing.h"
#include <chrono>

using namespace tilec;

/// NaN in every float type.
static constexpr unsigned char canary = 0xFF;

namespace {
/// The part of a host array's memory that its view reaches.
struct HostBytes {
  char *low;
  size_t size;
};
} // namespace

static HostBytes bytesOf(const TensorView &view) {
  ByteExtent extent = byteExtent(view).value_or(ByteExtent{0, 0});
  return {static_cast<char *>(view.data) + extent.low, extent.size()};
}

size_t GpuExecutable::margin() const {
  constexpr size_t ofDevices = 256;
  return isEmulated ? 0 : ofDevices;
}

llvm::Error GpuExecutable::allocate(const typed::Kernel &kernel,
                                    const BoundLaunch &launch) {
  onDevice = launch;
  for (const typed::Param *param : kernel.params) {
    gpu::DeviceBuffer &buffer = buffers.emplace_back();
    auto *view = std::get_if<TensorView>(&onDevice.args[param->index]);
    if (!view)
      continue;
    HostBytes bytes = bytesOf(*view);
    emulator::NamedAllocations naming(param->name);
    llvm::Expected<gpu::DeviceBuffer> memory =
        device->allocate(bytes.size + 2 * margin());
    if (!memory)
      return memory.takeError();
    buffer = std::move(*memory);
    // The lowest element may not be the one of index (0, 0, ...).
    auto *first = static_cast<char *>(view->data);
    view->data =
        static_cast<char *>(buffer.data()) + margin() + (first - bytes.low);
  }
  return llvm::Error::success();
}

static llvm::Expected<gpu::Device &> deviceFor(const CompileOptions &options) {
  if (options.emulated)
    return emulator::emulatedDevice(options.target);
  llvm::Expected<gpu::Driver &> driver = gpu::Driver::get();
  if (!driver)
    return driver.takeError();
  return driver->currentDevice();
}

std::unique_ptr<GpuExecutable>
GpuExecutable::create(Program &program, typed::Kernel &kernel,
                      const BoundLaunch &launch, const CompileOptions &options,
                      const CompileTimeArgs &args, gpu::DiskCache *cache) {
  auto fail = [&](llvm::Error error) {
    reportLaunchError(program, kernel, std::move(error));
    return nullptr;
  };
  llvm::Expected<gpu::Device &> device = deviceFor(options);
  if (!device)
    return fail(device.takeError());
  std::unique_ptr<GpuExecutable> result(new GpuExecutable());
  result->isEmulated = options.emulated;
  result->device = &*device;
  if (llvm::Error error = result->allocate(kernel, launch))
    return fail(std::move(error));

  auto start = std::chrono::steady_clock::now();
  Specialization specialization = gpuSpecialization(kernel, result->onDevice);
  GpuFacts facts = GpuFacts::of(kernel, result->onDevice, specialization);
  gpu::DiskCache none({});
  std::optional<CachedGpuCode> code =
      findOrCompile(program, kernel, args, specialization, facts, options,
                    cache ? *cache : none);
  if (!code)
    return nullptr;
  result->isFromCache = code->isFromCache;
  result->milliseconds = std::chrono::duration<double, std::milli>(
                             std::chrono::steady_clock::now() - start)
                             .count();
  if (llvm::Error error = bindGrid(kernel, code->image, result->onDevice))
    return fail(std::move(error));
  result->launcher =
      options.emulated ? std::make_unique<gpu::Launcher>(std::move(code->image),
                                                         std::move(code->ptx))
                       : std::make_unique<gpu::Launcher>(std::move(code->image),
                                                         std::move(code->cubin),
                                                         std::move(code->ptx));
  llvm::Expected<int64_t> programs =
      result->launcher->numPrograms(result->onDevice);
  if (!programs)
    return fail(programs.takeError());
  result->programs = *programs;
  return result;
}

llvm::Error GpuExecutable::copyIn(const BoundLaunch &launch) {
  gpu::StreamRef stream = device->defaultStream();
  for (auto [buffer, argument] : llvm::zip(buffers, launch.args)) {
    const auto *view = std::get_if<TensorView>(&argument);
    if (!view)
      continue;
    if (llvm::Error error =
            device->fill(buffer.data(), canary, buffer.size(), stream))
      return error;
    HostBytes bytes = bytesOf(*view);
    if (llvm::Error error =
            device->copyToDevice(static_cast<char *>(buffer.data()) + margin(),
                                 bytes.low, bytes.size, stream))
      return error;
  }
  return device->synchronize(stream);
}

llvm::Error GpuExecutable::copyOut(const typed::Kernel &kernel,
                                   const BoundLaunch &launch) {
  gpu::StreamRef stream = device->defaultStream();
  for (const typed::Param *param : kernel.params) {
    const auto *view = std::get_if<TensorView>(&launch.args[param->index]);
    if (!view || param->access == ast::Access::In)
      continue;
    gpu::DeviceBuffer &buffer = buffers[param->index];
    std::vector<char> copy(buffer.size());
    if (llvm::Error error =
            device->copyToHost(copy.data(), buffer.data(), copy.size(), stream))
      return error;
    if (llvm::Error error = device->synchronize(stream))
      return error;
    auto isCanary = [](char byte) {
      return static_cast<unsigned char>(byte) == canary;
    };
    llvm::ArrayRef<char> all(copy);
    if (!llvm::all_of(all.take_front(margin()), isCanary) ||
        !llvm::all_of(all.take_back(margin()), isCanary))
      return llvm::createStringError(
          "internal error: memory around '%s' was overwritten",
          param->name.str().c_str());
    HostBytes bytes = bytesOf(*view);
    std::copy_n(copy.data() + margin(), bytes.size, bytes.low);
  }
  return llvm::Error::success();
}

void GpuExecutable::takeEmulatedRun() {
  for (emulator::EmulatedRun &run : emulator::takeEmulatedRuns())
    lastRun = std::move(run);
}

bool GpuExecutable::run(Program &program, const typed::Kernel &kernel,
                        const BoundLaunch &launch) {
  ReportSink reports;
  auto attempt = [&]() -> llvm::Error {
    if (llvm::Error error = copyIn(launch))
      return error;
    gpu::StreamRef stream = device->defaultStream();
    if (isEmulated) {
      emulator::setEmulation(emulation);
      lastRun.reset();
    }
    emulator::NamedAllocations naming("the area for reports");
    if (llvm::Error error = launcher->launch(stream, onDevice))
      return error;
    if (isEmulated)
      takeEmulatedRun();
    if (llvm::Error error = launcher->collectReports(*device, reports))
      return error;
    return copyOut(kernel, launch);
  };
  if (llvm::Error error = attempt()) {
    reportLaunchError(program, kernel, std::move(error));
    return false;
  }
  return !reportFailures(program, reports);
}

llvm::Expected<double> GpuExecutable::time(unsigned count) {
  llvm::Expected<gpu::PreparedLaunch> ready =
      launcher->prepare(*device, onDevice);
  if (!ready)
    return ready.takeError();
  gpu::TimingOptions options;
  options.warmups = 0; // It has run already.
  options.samples = options.minSamples = count;
  llvm::Expected<std::vector<gpu::Timing>> timings = gpu::measure(
      *device,
      {{"kernel", [&](gpu::StreamRef stream) { return ready->run(stream); }}},
      options);
  if (!timings)
    return timings.takeError();
  return timings->front().median;
}
