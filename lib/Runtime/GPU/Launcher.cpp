//===- Launcher.cpp - Launching a compiled kernel ---------------*- C++ -*-===//

#include "lib/Runtime/GPU/Launcher.h"
#include "lib/Runtime/GPU/Driver.h"
#include "lib/Runtime/GPU/ReportLog.h"
#include "lib/Runtime/GPU/TensorFacts.h"
#include "lib/Runtime/NarrowFloat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tilec;
using namespace tilec::gpu;

/// Blocks in the x direction of a grid.
static constexpr int64_t maxPrograms = INT32_MAX;

static llvm::Error badArgument(const llvm::Twine &what,
                               const llvm::Twine &help) {
  return gpuError(ErrorKind::BadArgument, what, help);
}

static llvm::Error launchKernel(const LoadedKernel &kernel,
                                const cuda::LaunchConfig &config,
                                void *const *params, llvm::StringRef name) {
  const cuda::Functions &api = kernel.device->api();
  ContextScope scope(*kernel.device);
  cuda::Result result = scope.result();
  if (result == cuda::Success)
    result = api.launchKernelEx(&config, kernel.function.handle,
                                const_cast<void **>(params), nullptr);
  return kernel.device->driver().check(result,
                                       "launch the kernel '" + name + "'");
}

/// Of the parameters of a kernel together: what the driver allows.
static constexpr unsigned mostParamBytes = 4096;

llvm::Error PreparedLaunch::run(StreamRef stream) const {
  return run(stream, params.data());
}

llvm::Error PreparedLaunch::run(
    StreamRef stream,
    llvm::function_ref<const void *(unsigned arg)> address) const {
  alignas(8) char moved[mostParamBytes];
  std::memcpy(moved, storage.data(), storage.size());
  for (const Pointer &pointer : pointers) {
    const void *at = address(pointer.arg);
    std::memcpy(moved + pointer.offset, static_cast<const void *>(&at),
                sizeof(at));
  }
  llvm::SmallVector<void *, 64> movedParams;
  for (void *param : params)
    movedParams.push_back(moved +
                          (static_cast<char *>(param) - storage.data()));
  return run(stream, movedParams.data());
}

llvm::Error PreparedLaunch::run(StreamRef stream, void *const *params) const {
  if (config.gridX == 0)
    return llvm::Error::success();
  if (stream.device != kernel->device)
    return gpuError(ErrorKind::WrongDevice,
                    "the launch of '" + name + "' was prepared for GPU " +
                        llvm::Twine(kernel->device->ordinal()) +
                        ", got a stream of GPU " +
                        llvm::Twine(stream.device->ordinal()),
                    "pass a stream of the same GPU");
  cuda::LaunchConfig withStream = config;
  withStream.stream = stream.handle;
  return launchKernel(*kernel, withStream, params, name);
}

Launcher::Launcher(KernelImage image, std::string code, std::string ptx)
    : kernelImage(std::move(image)), code(std::move(code)),
      ptx(std::move(ptx)) {
  storageSize = packedSize(kernelImage.params, &offsets);
}

Launcher::~Launcher() = default;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

const std::string *Launcher::codeFor(const Device &device) const {
  const DeviceProperties &props = device.properties();
  if (archRunsOn(kernelImage.arch, props.major, props.minor))
    return &code;
  if (!ptx.empty() && ptxRunsOn(kernelImage.arch, props.major, props.minor))
    return &ptx;
  return nullptr;
}

llvm::Error Launcher::checkDevice(const Device &device) const {
  const DeviceProperties &props = device.properties();
  std::string where = "GPU " + std::to_string(device.ordinal()) + " (" +
                      props.name + ", " + props.arch() + ")";
  if (!codeFor(device))
    return gpuError(ErrorKind::WrongDevice,
                    "the kernel '" + kernelImage.name + "' is compiled for " +
                        kernelImage.arch + ", and does not run on " + where,
                    "compile it for the target " + props.arch() +
                        ", or use another GPU");
  if (kernelImage.sharedBytes > props.sharedBytesPerBlock)
    return gpuError(ErrorKind::TooLarge,
                    "the kernel '" + kernelImage.name + "' takes " +
                        llvm::Twine(kernelImage.sharedBytes) +
                        " bytes of shared memory in a block, and " + where +
                        " has at most " +
                        llvm::Twine(props.sharedBytesPerBlock),
                    "use smaller tiles");
  if (kernelImage.threads > props.threadsPerBlock)
    return gpuError(ErrorKind::TooLarge,
                    "the kernel '" + kernelImage.name + "' has blocks of " +
                        llvm::Twine(kernelImage.threads) + " threads, and " +
                        where + " allows " + llvm::Twine(props.threadsPerBlock),
                    "use smaller tiles");
  return llvm::Error::success();
}

llvm::Error Launcher::loadInto(Slot &slot, Device &device) const {
  if (llvm::Error error = checkDevice(device))
    return error;
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->device = &device;
  llvm::Expected<DeviceModule> module = device.load(*codeFor(device));
  if (!module)
    return module.takeError();
  kernel->module = std::move(*module);
  llvm::Expected<DeviceFunction> function =
      kernel->module.function(kernelImage.name);
  if (!function)
    return function.takeError();
  kernel->function = *function;
  if (kernelImage.sharedBytes > 0)
    if (llvm::Error error =
            kernel->function.allowSharedBytes(kernelImage.sharedBytes))
      return error;
  if (!kernelImage.sites.empty()) {
    llvm::Expected<DeviceBuffer> area =
        device.allocate(ReportLog(kernelImage.sites).bytes());
    if (!area)
      return area.takeError();
    kernel->reports = std::move(*area);
    if (llvm::Error error = clearReports(*kernel))
      return error;
  }
  slot.owner = kernel;
  slot.ready.store(kernel.get(), std::memory_order_release);
  return llvm::Error::success();
}

llvm::Expected<Launcher::Slot &> Launcher::slotOf(Device &device) {
  if (device.ordinal() >= maxDevices)
    return gpuError(ErrorKind::WrongDevice,
                    "expected a GPU below " + llvm::Twine(maxDevices) +
                        ", got GPU " + llvm::Twine(device.ordinal()),
                    "choose the GPUs of the process with "
                    "CUDA_VISIBLE_DEVICES");
  Slot &slot = slots[device.ordinal()];
  if (!slot.ready.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> lock(slot.mutex);
    if (!slot.ready.load(std::memory_order_relaxed))
      if (llvm::Error error = loadInto(slot, device))
        return std::move(error);
  }
  return slot;
}

const LoadedKernel *Launcher::loadedIn(const Device &device) const {
  return device.ordinal() < maxDevices
             ? slots[device.ordinal()].ready.load(std::memory_order_acquire)
             : nullptr;
}

llvm::Error Launcher::load(Device &device) {
  return slotOf(device).takeError();
}

llvm::Expected<DeviceFunction> Launcher::function(Device &device) {
  llvm::Expected<Slot &> slot = slotOf(device);
  if (!slot)
    return slot.takeError();
  return slot->ready.load(std::memory_order_acquire)->function;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

llvm::Error Launcher::clearReports(const LoadedKernel &kernel) const {
  std::vector<int64_t> begin = ReportLog(kernelImage.sites).begin();
  StreamRef stream = kernel.device->defaultStream();
  if (llvm::Error error = kernel.device->copyToDevice(
          kernel.reports.data(), begin.data(), 8 * begin.size(), stream))
    return error;
  return kernel.device->synchronize(stream);
}

llvm::Error Launcher::collectReports(Device &device, ReportSink &sink) {
  if (llvm::Error error = device.synchronize())
    return error;
  if (kernelImage.sites.empty())
    return llvm::Error::success();
  const LoadedKernel *loaded = loadedIn(device);
  if (!loaded)
    return llvm::Error::success(); // It was never launched there.
  const LoadedKernel &kernel = *loaded;
  ReportLog log(kernelImage.sites);
  auto read = [&](std::vector<int64_t> &words) -> llvm::Error {
    if (llvm::Error error =
            device.copyToHost(words.data(), kernel.reports.data(),
                              8 * words.size(), device.defaultStream()))
      return error;
    return device.synchronize();
  };
  std::vector<int64_t> words(log.begin().size());
  if (llvm::Error error = read(words))
    return error;
  size_t used = log.bytesUsed(words);
  if (used == 0)
    return llvm::Error::success();
  words.resize(used / 8);
  if (llvm::Error error = read(words))
    return error;
  log.read(words, sink);
  return clearReports(kernel);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

llvm::Error Launcher::checkPointer(const TensorFacts &facts,
                                   const TensorView &view,
                                   const Device &device) const {
  if (view.isEmpty())
    return llvm::Error::success();
  llvm::Expected<PointerInfo> info = device.driver().inspect(view.data);
  if (!info)
    return info.takeError();
  switch (info->kind) {
  case PointerInfo::Kind::Host:
    return gpuError(
        ErrorKind::HostMemory,
        "argument '" + facts.name + "' is expected to be in memory of GPU " +
            llvm::Twine(device.ordinal()) + ", got host memory at 0x" +
            llvm::Twine::utohexstr(reinterpret_cast<uintptr_t>(view.data)),
        "copy the array to the GPU and pass its address there");
  case PointerInfo::Kind::Device:
    if (info->device != device.ordinal())
      return gpuError(ErrorKind::WrongDevice,
                      "argument '" + facts.name +
                          "' is expected to be in memory of GPU " +
                          llvm::Twine(device.ordinal()) +
                          ", got memory of GPU " + llvm::Twine(info->device),
                      "pass a stream of that GPU, or copy the array");
    break;
  case PointerInfo::Kind::Pinned:
  case PointerInfo::Kind::Managed:
    break; // Every GPU can access it.
  }
  return llvm::Error::success();
}

llvm::Error Launcher::checkArguments(const Device &device,
                                     const BoundLaunch &bound) const {
  for (const TensorFacts &facts : kernelImage.tensors) {
    const TensorView *view =
        facts.arg < bound.args.size()
            ? std::get_if<TensorView>(&bound.args[facts.arg])
            : nullptr;
    if (!view)
      return badArgument("argument " + llvm::Twine(facts.arg) + " ('" +
                             facts.name + "') is expected to be a tensor",
                         "pass the arguments of the kernel's signature");
    if (llvm::Error error = checkFacts(facts, *view))
      return aboutArgument(std::move(error), facts.arg);
    if (llvm::Error error = checkPointer(facts, *view, device))
      return aboutArgument(std::move(error), facts.arg);
  }
  for (const ExtentFact &fact : kernelImage.extents) {
    auto found = bound.extents.find(fact.dim);
    if (found != bound.extents.end() && found->second == fact.value)
      continue;
    return badArgument("dimension '" + fact.dim + "' is expected to be " +
                           llvm::Twine(fact.value) + ", got " +
                           (found == bound.extents.end()
                                ? std::string("no value")
                                : std::to_string(found->second)),
                       "compile the kernel for that extent");
  }
  for (const DivisorFact &fact : kernelImage.divisors) {
    auto found = bound.extents.find(fact.dim);
    if (found != bound.extents.end() && found->second % fact.divisor == 0)
      continue;
    return badArgument(
        "dimension '" + fact.dim + "' is expected to be a multiple of " +
            llvm::Twine(fact.divisor) + ", got " +
            (found == bound.extents.end() ? std::string("no value")
                                          : std::to_string(found->second)),
        "compile the kernel for these arguments, or pad the "
        "arrays");
  }
  return llvm::Error::success();
}

llvm::Expected<int64_t> Launcher::numPrograms(const BoundLaunch &bound) const {
  int64_t programs = 1;
  bool tooLarge = false;
  for (const GridAxis &axis : kernelImage.grid) {
    int64_t extent = axis.constant;
    if (!axis.dim.empty()) {
      auto found = bound.extents.find(axis.dim);
      if (found == bound.extents.end())
        return badArgument("dimension '" + axis.dim + "' has no extent",
                           "bind it before the launch");
      extent = found->second;
    }
    // No programs along one axis are none at all, however many along others.
    if (extent <= 0)
      return 0;
    int64_t along = (extent - 1) / axis.tile + 1;
    tooLarge |= llvm::MulOverflow(programs, along, programs);
  }
  if (!tooLarge && programs <= maxPrograms)
    return programs;
  std::string axes;
  for (const GridAxis &axis : kernelImage.grid) {
    int64_t extent =
        axis.dim.empty() ? axis.constant : bound.extents.find(axis.dim)->second;
    axes += axes.empty() ? "" : ", ";
    axes += std::to_string((extent - 1) / axis.tile + 1) + " along " +
            (axis.dim.empty() ? std::to_string(extent) : axis.dim) +
            " in tiles of " + std::to_string(axis.tile);
  }
  return gpuError(ErrorKind::TooLarge,
                  "the grid of '" + kernelImage.name +
                      "' is expected to have at most " +
                      llvm::Twine(maxPrograms) + " programs, got " +
                      (tooLarge ? std::string("more than 64 bits hold")
                                : std::to_string(programs)) +
                      " (" + axes + ")",
                  "use larger tiles, or split the arrays");
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Stores an integer in as many bytes as the parameter has.
static llvm::Error store(const KernelParam &param, int64_t value, char *to,
                         const llvm::Twine &what) {
  if (param.is64) {
    std::memcpy(to, &value, sizeof(value));
    return llvm::Error::success();
  }
  int32_t narrow = static_cast<int32_t>(value);
  if (narrow != value)
    return badArgument(what + " is expected to fit 32 bits, got " +
                           llvm::Twine(value),
                       "compile the kernel for these arguments");
  std::memcpy(to, &narrow, sizeof(narrow));
  return llvm::Error::success();
}

llvm::Error Launcher::packOne(const KernelParam &param,
                              const LoadedKernel &kernel,
                              const BoundLaunch &bound, char *to) const {
  switch (param.kind) {
  case KernelParam::Kind::Pointer: {
    // checkArguments has seen that it is a tensor.
    auto address = reinterpret_cast<uintptr_t>(
        std::get<TensorView>(bound.args[param.arg]).data);
    std::memcpy(to, &address, sizeof(address));
    return llvm::Error::success();
  }
  case KernelParam::Kind::Stride: {
    const auto &view = std::get<TensorView>(bound.args[param.arg]);
    bool matters = view.shape[param.dim] > 1 && !view.isEmpty();
    int64_t stride = matters ? view.strides[param.dim] : 0;
    return store(param, stride, to,
                 "stride " + llvm::Twine(param.dim) + " of argument '" +
                     kernelImage.tensor(param.arg)->name + "'");
  }
  case KernelParam::Kind::Extent: {
    auto found = bound.extents.find(param.extent);
    if (found == bound.extents.end())
      return badArgument("dimension '" + param.extent + "' has no extent",
                         "bind it before the launch");
    return store(param, found->second, to, "dimension '" + param.extent + "'");
  }
  case KernelParam::Kind::Scalar: {
    const ScalarValue *value =
        param.arg < bound.args.size()
            ? std::get_if<ScalarValue>(&bound.args[param.arg])
            : nullptr;
    if (!value)
      return badArgument("argument " + llvm::Twine(param.arg) +
                             " is expected to be a scalar",
                         "pass the arguments of the kernel's signature");
    ScalarValue converted = value->dtype == param.dtype
                                ? *value
                                : convertScalar(*value, param.dtype);
    uint64_t bits = isFloat(param.dtype)
                        ? encodeFloat(param.dtype, converted.real)
                        : static_cast<uint64_t>(converted.integer);
    std::memcpy(to, &bits, byteSize(param.dtype)); // Little-endian.
    return llvm::Error::success();
  }
  case KernelParam::Kind::Reports: {
    auto address = reinterpret_cast<uintptr_t>(kernel.reports.data());
    std::memcpy(to, &address, sizeof(address));
    return llvm::Error::success();
  }
  }
  return llvm::Error::success();
}

llvm::Error Launcher::pack(const LoadedKernel &kernel, const BoundLaunch &bound,
                           char *storage) const {
  for (size_t i = 0; i < offsets.size(); ++i)
    if (llvm::Error error =
            packOne(kernelImage.params[i], kernel, bound, storage + offsets[i]))
      return error;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

llvm::Expected<const LoadedKernel *> Launcher::start(Device &device,
                                                     const BoundLaunch &bound,
                                                     cuda::LaunchConfig &config,
                                                     char *storage) {
  llvm::Expected<Slot &> slot = slotOf(device);
  if (!slot)
    return slot.takeError();
  if (llvm::Error error = checkArguments(device, bound))
    return std::move(error);
  llvm::Expected<int64_t> programs = numPrograms(bound);
  if (!programs)
    return programs.takeError();
  const LoadedKernel *kernel = slot->ready.load(std::memory_order_acquire);
  if (llvm::Error error = pack(*kernel, bound, storage))
    return std::move(error);
  config = {};
  config.gridX = static_cast<unsigned>(*programs);
  config.gridY = config.gridZ = 1;
  config.blockX = kernelImage.threads;
  config.blockY = config.blockZ = 1;
  config.sharedBytes = kernelImage.sharedBytes;
  return kernel;
}

llvm::Error Launcher::launch(StreamRef stream, const BoundLaunch &bound) {
  // On the stack, as this is the path that should cost nothing.
  alignas(8) char storage[mostParamBytes];
  cuda::LaunchConfig config;
  llvm::Expected<const LoadedKernel *> kernel =
      start(*stream.device, bound, config, storage);
  if (!kernel)
    return kernel.takeError();
  if (config.gridX == 0)
    return llvm::Error::success();
  config.stream = stream.handle;
  llvm::SmallVector<void *, 64> params;
  for (unsigned offset : offsets)
    params.push_back(storage + offset);
  return launchKernel(**kernel, config, params.data(), kernelImage.name);
}

llvm::Expected<PreparedLaunch> Launcher::prepare(Device &device,
                                                 const BoundLaunch &bound) {
  PreparedLaunch prepared;
  prepared.storage.resize(storageSize);
  llvm::Expected<const LoadedKernel *> kernel =
      start(device, bound, prepared.config, prepared.storage.data());
  if (!kernel)
    return kernel.takeError();
  prepared.kernel = slots[device.ordinal()].owner;
  prepared.name = kernelImage.name;
  for (unsigned offset : offsets)
    prepared.params.push_back(prepared.storage.data() + offset);
  for (auto [param, offset] : llvm::zip_equal(kernelImage.params, offsets))
    if (param.kind == KernelParam::Kind::Pointer)
      prepared.pointers.push_back({offset, param.arg});
  return prepared;
}
