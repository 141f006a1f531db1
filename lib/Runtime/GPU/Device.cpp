//===- Device.cpp - A GPU and what lives on it ------------------*- C++ -*-===//

#include "lib/Runtime/GPU/Device.h"
#include "lib/Runtime/GPU/Driver.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::gpu;

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

std::string DeviceProperties::arch() const {
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

namespace {
/// What an architecture's name says: sm_90a is 9, 0, "a".
struct Arch {
  int major, minor;
  llvm::StringRef suffix;
};
} // namespace

static std::optional<Arch> parseArch(llvm::StringRef name) {
  unsigned number = 0;
  if (!name.consume_front("sm_") || name.consumeInteger(10, number))
    return std::nullopt;
  return Arch{int(number / 10), int(number % 10), name};
}

bool gpu::archRunsOn(llvm::StringRef name, int major, int minor) {
  std::optional<Arch> arch = parseArch(name);
  if (!arch || arch->major != major)
    return false;
  if (arch->suffix == "a")
    return arch->minor == minor;
  return (arch->suffix == "" || arch->suffix == "f") && arch->minor <= minor;
}

bool gpu::ptxRunsOn(llvm::StringRef name, int major, int minor) {
  std::optional<Arch> arch = parseArch(name);
  if (!arch || arch->suffix != "")
    return archRunsOn(name, major, minor);
  return std::tie(arch->major, arch->minor) <= std::tie(major, minor);
}

const cuda::Functions &Device::api() const { return parent.api(); }

llvm::Error Device::readProperties() {
  std::string doing = "read the properties of GPU " + std::to_string(index);
  auto check = [&](cuda::Result result) { return parent.check(result, doing); };
  if (llvm::Error error = check(api().deviceGet(&handle, index)))
    return error;
  char name[256] = {};
  if (llvm::Error error =
          check(api().deviceGetName(name, sizeof(name) - 1, handle)))
    return error;
  props.name = name;
  size_t bytes = 0;
  if (llvm::Error error = check(api().deviceTotalMem(&bytes, handle)))
    return error;
  props.memoryBytes = bytes;

  auto get = [&](cuda::DeviceAttribute attribute, auto &into) {
    int value = 0;
    cuda::Result result = api().deviceGetAttribute(&value, attribute, handle);
    into = value;
    return result;
  };
  const std::pair<cuda::DeviceAttribute, unsigned *> numbers[] = {
      {cuda::MultiprocessorCount, &props.multiprocessors},
      {cuda::MaxThreadsPerBlock, &props.threadsPerBlock},
      {cuda::MaxThreadsPerMultiprocessor, &props.threadsPerMultiprocessor},
      {cuda::MaxRegistersPerMultiprocessor, &props.registersPerMultiprocessor},
      {cuda::MaxSharedPerBlockOptin, &props.sharedBytesPerBlock},
      {cuda::MaxSharedPerMultiprocessor, &props.sharedBytesPerMultiprocessor},
      {cuda::L2CacheSize, &props.l2Bytes},
  };
  for (auto [attribute, into] : numbers)
    if (llvm::Error error = check(get(attribute, *into)))
      return error;
  if (llvm::Error error = check(get(cuda::ComputeCapabilityMajor, props.major)))
    return error;
  if (llvm::Error error = check(get(cuda::ComputeCapabilityMinor, props.minor)))
    return error;
  // For estimates only; newer drivers no longer tell all of them.
  get(cuda::ClockRate, props.clockKHz);
  get(cuda::MemoryClockRate, props.memoryClockKHz);
  get(cuda::MemoryBusWidth, props.memoryBusBits);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The context
//===----------------------------------------------------------------------===//

Device::~Device() {
  if (context)
    api().primaryCtxRelease(handle);
}

cuda::Result Device::contextOrError(cuda::Context &result) const {
  result = context.load(std::memory_order_acquire);
  if (result)
    return cuda::Success;
  std::lock_guard<std::mutex> lock(contextMutex);
  result = context.load(std::memory_order_relaxed);
  if (result)
    return cuda::Success;
  cuda::Result status = api().primaryCtxRetain(&result, handle);
  if (status == cuda::Success)
    context.store(result, std::memory_order_release);
  return status;
}

llvm::Error Device::retainContext() const {
  cuda::Context unused = nullptr;
  return parent.check(contextOrError(unused), "use GPU " + llvm::Twine(index) +
                                                  " (" + props.name + ")");
}

ContextScope::ContextScope(const Device &device) : api(device.api()) {
  cuda::Context wanted = nullptr;
  cuda::Context found = nullptr;
  status = device.contextOrError(wanted);
  if (status == cuda::Success)
    status = api.ctxGetCurrent(&found);
  if (status == cuda::Success && found != wanted) {
    status = api.ctxPushCurrent(wanted);
    pushed = status == cuda::Success;
  }
}

ContextScope::~ContextScope() {
  cuda::Context popped = nullptr;
  if (pushed)
    api.ctxPopCurrent(&popped);
}

template <typename Call>
llvm::Error Device::call(const llvm::Twine &doing, Call call) const {
  ContextScope scope(*this);
  cuda::Result result = scope.result();
  if (result == cuda::Success)
    result = call(api());
  return parent.check(result, doing);
}

//===----------------------------------------------------------------------===//
// Making things
//===----------------------------------------------------------------------===//

llvm::Expected<DeviceModule> Device::load(llvm::StringRef image) {
  // PTX is text that ends with a null; a cubin tells its own size.
  bool isText = !image.starts_with("\x7f"
                                   "ELF");
  std::string text = isText ? image.str() : "";
  const void *data = isText ? text.c_str() : image.data();
  char log[4096] = {};
  size_t logSize = sizeof(log) - 1;
  cuda::JITOption options[] = {cuda::JITErrorLog, cuda::JITErrorLogSize};
  void *values[] = {log, reinterpret_cast<void *>(logSize)};

  DeviceModule module;
  cuda::Result result = cuda::Success;
  llvm::Error failed =
      call("use GPU " + llvm::Twine(index), [&](const cuda::Functions &api) {
        result = api.moduleLoadDataEx(&module.handle, data, 2, options, values);
        return cuda::Success;
      });
  if (failed)
    return std::move(failed);
  if (result != cuda::Success) {
    llvm::StringRef said = llvm::StringRef(log).trim();
    return parent.check(result, "load a kernel on GPU " + llvm::Twine(index) +
                                    " (" + props.name + ", driver of CUDA " +
                                    cudaVersionText(parent.version()) + ")" +
                                    (said.empty() ? "" : ", " + said));
  }
  module.device = this;
  return module;
}

llvm::Expected<DeviceBuffer> Device::allocate(size_t bytes) {
  DeviceBuffer buffer;
  buffer.device = this;
  buffer.bytes = bytes;
  if (bytes == 0)
    return buffer; // The driver refuses this.
  if (llvm::Error error = call("allocate " + llvm::Twine(bytes) +
                                   " bytes on GPU " + llvm::Twine(index),
                               [&](const cuda::Functions &api) {
                                 return api.memAlloc(&buffer.pointer, bytes);
                               }))
    return std::move(error);
  return buffer;
}

llvm::Expected<Stream> Device::createStream() {
  Stream stream;
  if (llvm::Error error = call("create a stream", [&](const auto &api) {
        return api.streamCreate(&stream.handle, cuda::StreamNonBlocking);
      }))
    return std::move(error);
  stream.device = this;
  return stream;
}

llvm::Expected<Event> Device::createEvent() {
  Event event;
  if (llvm::Error error = call("create an event", [&](const auto &api) {
        return api.eventCreate(&event.handle, cuda::EventDefault);
      }))
    return std::move(error);
  event.device = this;
  return event;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static cuda::Pointer address(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

llvm::Error Device::copyToDevice(void *to, const void *from, size_t bytes,
                                 StreamRef stream) {
  if (bytes == 0)
    return llvm::Error::success();
  return call("copy to the GPU", [&](const auto &api) {
    return api.memcpyHtoDAsync(address(to), from, bytes, stream.handle);
  });
}

llvm::Error Device::copyToHost(void *to, const void *from, size_t bytes,
                               StreamRef stream) {
  if (bytes == 0)
    return llvm::Error::success();
  return call("copy from the GPU", [&](const auto &api) {
    return api.memcpyDtoHAsync(to, address(from), bytes, stream.handle);
  });
}

llvm::Error Device::copyOnDevice(void *to, const void *from, size_t bytes,
                                 StreamRef stream) {
  if (bytes == 0)
    return llvm::Error::success();
  return call("copy on the GPU", [&](const auto &api) {
    return api.memcpyDtoDAsync(address(to), address(from), bytes,
                               stream.handle);
  });
}

llvm::Error Device::fill(void *to, unsigned char value, size_t bytes,
                         StreamRef stream) {
  if (bytes == 0)
    return llvm::Error::success();
  return call("fill memory of the GPU", [&](const auto &api) {
    return api.memsetD8Async(address(to), value, bytes, stream.handle);
  });
}

llvm::Error Device::synchronize() {
  return call("finish the work on GPU " + llvm::Twine(index),
              [](const auto &api) { return api.ctxSynchronize(); });
}

llvm::Error Device::synchronize(StreamRef stream) {
  return call(
      "finish the work on a stream of GPU " + llvm::Twine(index),
      [&](const auto &api) { return api.streamSynchronize(stream.handle); });
}

//===----------------------------------------------------------------------===//
// Owned things. Errors of a release are dropped: they are those of the context,
// which the next call reports, or of a process that exits.
//===----------------------------------------------------------------------===//

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) {
  std::swap(device, other.device);
  std::swap(pointer, other.pointer);
  std::swap(bytes, other.bytes);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!pointer)
    return;
  ContextScope scope(*device);
  device->api().memFree(pointer);
}

Stream &Stream::operator=(Stream &&other) {
  std::swap(device, other.device);
  std::swap(handle, other.handle);
  return *this;
}

Stream::~Stream() {
  if (!handle)
    return;
  ContextScope scope(*device);
  device->api().streamDestroy(handle);
}

llvm::Error Stream::synchronize() { return device->synchronize(*this); }

Event &Event::operator=(Event &&other) {
  std::swap(device, other.device);
  std::swap(handle, other.handle);
  return *this;
}

Event::~Event() {
  if (!handle)
    return;
  ContextScope scope(*device);
  device->api().eventDestroy(handle);
}

llvm::Error Event::record(StreamRef stream) {
  ContextScope scope(*device);
  return device->driver().check(
      device->api().eventRecord(handle, stream.handle), "record an event");
}

llvm::Error Event::synchronize() {
  ContextScope scope(*device);
  return device->driver().check(device->api().eventSynchronize(handle),
                                "wait for an event");
}

llvm::Expected<float> Event::millisecondsSince(const Event &begin) const {
  ContextScope scope(*device);
  float milliseconds = 0;
  if (llvm::Error error = device->driver().check(
          device->api().eventElapsedTime(&milliseconds, begin.handle, handle),
          "measure the time between two events"))
    return std::move(error);
  return milliseconds;
}

DeviceModule &DeviceModule::operator=(DeviceModule &&other) {
  std::swap(device, other.device);
  std::swap(handle, other.handle);
  return *this;
}

DeviceModule::~DeviceModule() {
  if (!handle)
    return;
  ContextScope scope(*device);
  device->api().moduleUnload(handle);
}

llvm::Expected<DeviceFunction>
DeviceModule::function(llvm::StringRef name) const {
  DeviceFunction function;
  function.device = device;
  ContextScope scope(*device);
  if (llvm::Error error = device->driver().check(
          device->api().moduleGetFunction(&function.handle, handle,
                                          name.str().c_str()),
          "find the kernel '" + name + "' in its machine code"))
    return std::move(error);
  return function;
}

llvm::Error DeviceFunction::allowSharedBytes(unsigned bytes) {
  ContextScope scope(*device);
  return device->driver().check(
      device->api().funcSetAttribute(
          handle, cuda::FunctionMaxDynamicSharedBytes, bytes),
      "allow a kernel " + llvm::Twine(bytes) + " bytes of shared memory");
}

llvm::Expected<DeviceFunction::Attributes> DeviceFunction::attributes() const {
  Attributes result;
  const std::pair<cuda::FunctionAttribute, unsigned *> numbers[] = {
      {cuda::FunctionRegisters, &result.registers},
      {cuda::FunctionSharedBytes, &result.sharedBytes},
      {cuda::FunctionLocalBytes, &result.localBytes},
      {cuda::FunctionMaxThreads, &result.maxThreads},
  };
  ContextScope scope(*device);
  for (auto [attribute, into] : numbers) {
    int value = 0;
    if (llvm::Error error = device->driver().check(
            device->api().funcGetAttribute(&value, attribute, handle),
            "read the properties of a kernel"))
      return std::move(error);
    *into = value;
  }
  return result;
}

llvm::Expected<unsigned>
DeviceFunction::blocksPerMultiprocessor(unsigned threads,
                                        unsigned sharedBytes) const {
  ContextScope scope(*device);
  int blocks = 0;
  if (llvm::Error error = device->driver().check(
          device->api().occupancy(&blocks, handle, threads, sharedBytes),
          "compute the occupancy of a kernel"))
    return std::move(error);
  return blocks;
}
