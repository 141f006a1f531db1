//===- FakeDriver.cpp - Stands in for NVIDIA's driver -----------*- C++ -*-===//

#include "test/Unit/GPURuntime/FakeDriver.h"
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

using namespace tilec::test;
using namespace tilec::gpu::cuda;

// What the driver's handles point to.
namespace tilec::gpu::cuda {
struct OpaqueContext {
  int device;
};
struct OpaqueFunction {
  int device;
  std::string name;
  std::vector<size_t> paramSizes;
};
struct OpaqueModule {
  int device;
  std::map<std::string, std::unique_ptr<OpaqueFunction>> functions;
};
struct OpaqueStream {
  int device;
};
struct OpaqueEvent {
  float time = -1;
};
} // namespace tilec::gpu::cuda

// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
static FakeState *state = new FakeState;
static bool initialized = false;
static float now = 0;
static OpaqueContext contexts[16];
static thread_local std::vector<Context> current;

FakeState *tilecFakeState() { return state; }

void tilecFakeReset() {
  for (auto &[address, allocation] : state->allocations)
    std::free(reinterpret_cast<void *>(address));
  delete state;
  state = new FakeState;
  initialized = false;
  now = 0;
  current.clear();
  for (int i = 0; i < 16; ++i)
    contexts[i].device = i;
}

size_t FakeState::bytesUsed(int device) const {
  size_t bytes = 0;
  for (auto &[address, allocation] : allocations)
    if (allocation.device == device)
      bytes += allocation.bytes;
  return bytes;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static Result violate(const std::string &what) {
  if (state->violation.empty())
    state->violation = what;
  return InvalidValue;
}

/// Counts a call; what the test wants it to return, or what a rule says.
static Result enter(const char *name, bool needsContext = true,
                    bool inCapture = false) {
  ++state->calls[name];
  auto failure = state->failures.find(name);
  if (failure != state->failures.end())
    return failure->second;
  if (!initialized && std::strcmp(name, "cuInit") != 0)
    return NotInitialized;
  if (state->capturing && !inCapture) {
    violate(std::string(name) + " during a capture");
    return StreamCaptureUnsupported;
  }
  if (needsContext && current.empty())
    return InvalidContext;
  return Success;
}

#define ENTER(...)                                                             \
  std::lock_guard<std::recursive_mutex> lock(state->mutex);                    \
  if (Result result = enter(__VA_ARGS__))                                      \
    return result;

static int currentDevice() { return current.back()->device; }

/// Whether a range is inside one allocation of the current device.
static bool isDeviceRange(Pointer pointer, size_t bytes) {
  auto after = state->allocations.upper_bound(pointer);
  if (after == state->allocations.begin())
    return false;
  auto &[address, allocation] = *std::prev(after);
  return pointer + bytes <= address + allocation.bytes &&
         allocation.device == currentDevice();
}

static bool isOurs(StreamHandle stream) {
  return !stream || stream->device == currentDevice();
}

//===----------------------------------------------------------------------===//
// The driver and its devices
//===----------------------------------------------------------------------===//

// The names are NVIDIA's. NOLINTBEGIN(readability-identifier-naming)
extern "C" {

Result cuInit(unsigned flags) {
  ENTER("cuInit", false);
  if (state->devices.empty())
    return NoDevice;
  initialized = true;
  return Success;
}

Result cuDriverGetVersion(int *version) {
  ENTER("cuDriverGetVersion", false);
  *version = state->version;
  return Success;
}

Result cuGetErrorName(Result result, const char **name) {
  *name = result == 999 ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR_FAKE";
  return Success;
}

Result cuGetErrorString(Result result, const char **text) {
  *text = "fake explanation";
  return Success;
}

Result cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount", false);
  *count = state->devices.size();
  return Success;
}

Result cuDeviceGet(DeviceHandle *device, int ordinal) {
  ENTER("cuDeviceGet", false);
  *device = 100 + ordinal; // Handles are no ordinals.
  return Success;
}

Result cuDeviceGetName(char *name, int size, DeviceHandle device) {
  ENTER("cuDeviceGetName", false);
  std::strncpy(name, state->devices[device - 100].name.c_str(), size);
  return Success;
}

Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute,
                            DeviceHandle device) {
  ENTER("cuDeviceGetAttribute", false);
  const FakeDevice &fake = state->devices[device - 100];
  switch (attribute) {
  case ComputeCapabilityMajor:
    *value = fake.major;
    return Success;
  case ComputeCapabilityMinor:
    *value = fake.minor;
    return Success;
  case MaxSharedPerBlockOptin:
    *value = fake.sharedOptin;
    return Success;
  case MaxThreadsPerBlock:
    *value = 1024;
    return Success;
  case MultiprocessorCount:
    *value = 132;
    return Success;
  case ClockRate:
    return NotSupported;
  default:
    *value = 7;
    return Success;
  }
}

Result cuDeviceTotalMem_v2(size_t *bytes, DeviceHandle device) {
  ENTER("cuDeviceTotalMem_v2", false);
  *bytes = state->devices[device - 100].memory;
  return Success;
}

Result cuDevicePrimaryCtxRetain(Context *context, DeviceHandle device) {
  ENTER("cuDevicePrimaryCtxRetain", false);
  *context = &contexts[device - 100];
  ++state->contexts;
  return Success;
}

Result cuDevicePrimaryCtxRelease_v2(DeviceHandle device) {
  ENTER("cuDevicePrimaryCtxRelease_v2", false);
  --state->contexts;
  return Success;
}

Result cuCtxGetCurrent(Context *context) {
  ENTER("cuCtxGetCurrent", false, true);
  *context = current.empty() ? nullptr : current.back();
  return Success;
}

Result cuCtxGetDevice(DeviceHandle *device) {
  ENTER("cuCtxGetDevice", true, true);
  *device = 100 + currentDevice();
  return Success;
}

Result cuCtxPushCurrent_v2(Context context) {
  ENTER("cuCtxPushCurrent_v2", false, true);
  current.push_back(context);
  return Success;
}

Result cuCtxPopCurrent_v2(Context *context) {
  ENTER("cuCtxPopCurrent_v2", true, true);
  *context = current.back();
  current.pop_back();
  return Success;
}

Result cuCtxSynchronize() {
  ENTER("cuCtxSynchronize");
  return Success;
}

//===----------------------------------------------------------------------===//
// Modules and kernels
//===----------------------------------------------------------------------===//

Result cuModuleLoadDataEx(ModuleHandle *module, const void *image,
                          unsigned numOptions, JITOption *options,
                          void **values) {
  ENTER("cuModuleLoadDataEx");
  std::istringstream text(static_cast<const char *>(image));
  std::string part;
  std::getline(text, part, ';');
  if (part.rfind("FAKE", 0) != 0) {
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == JITErrorLog)
        std::strcpy(static_cast<char *>(values[i]), "ptxas says no\n");
    return InvalidPTX;
  }
  auto *made = new OpaqueModule{currentDevice(), {}};
  while (std::getline(text, part, ';')) {
    auto function = std::make_unique<OpaqueFunction>();
    function->device = made->device;
    function->name = part.substr(0, part.find(':'));
    std::istringstream sizes(part.substr(part.find(':') + 1));
    std::string size;
    while (std::getline(sizes, size, ','))
      function->paramSizes.push_back(std::strtoul(size.c_str(), nullptr, 10));
    made->functions[function->name] = std::move(function);
  }
  *module = made;
  ++state->modules;
  return Success;
}

Result cuModuleUnload(ModuleHandle module) {
  ENTER("cuModuleUnload");
  if (module->device != currentDevice())
    return violate("a module unloaded on another device");
  delete module;
  --state->modules;
  return Success;
}

Result cuModuleGetFunction(Function *function, ModuleHandle module,
                           const char *name) {
  ENTER("cuModuleGetFunction");
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return NotFound;
  *function = found->second.get();
  return Success;
}

Result cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                          Function function) {
  ENTER("cuFuncGetAttribute");
  *value = attribute == FunctionRegisters ? 64 : 1000 + attribute;
  return Success;
}

Result cuFuncSetAttribute(Function function, FunctionAttribute attribute,
                          int value) {
  ENTER("cuFuncSetAttribute");
  if (attribute != FunctionMaxDynamicSharedBytes)
    return violate("an unexpected attribute of a function");
  state->options[function->name] = value;
  return Success;
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                   Function function,
                                                   int threads, size_t shared) {
  ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = 2048 / threads;
  return Success;
}

Result cuLaunchKernelEx(const LaunchConfig *config, Function function,
                        void **params, void **extra) {
  std::function<void(size_t)> onLaunch;
  size_t number;
  {
    ENTER("cuLaunchKernelEx", true, true);
    if (function->device != currentDevice() || !isOurs(config->stream))
      return InvalidContext;
    if (config->gridX == 0 || config->blockX == 0 || extra)
      return violate("a launch without blocks or threads");
    unsigned allowed = std::max(48 * 1024, state->options[function->name]);
    if (config->sharedBytes > allowed)
      return violate("more shared memory than the kernel was allowed");
    FakeLaunch launch{currentDevice(), function->name, *config, {}};
    for (size_t i = 0; i < function->paramSizes.size(); ++i)
      launch.params.emplace_back(static_cast<char *>(params[i]),
                                 function->paramSizes[i]);
    state->launches.push_back(std::move(launch));
    onLaunch = state->onLaunch;
    number = state->launches.size();
  }
  if (onLaunch)
    onLaunch(number);
  return Success;
}

/// What programs without tilec call.
Result cuLaunchKernel(Function function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned shared, StreamHandle stream,
                      void **params, void **extra) {
  LaunchConfig config = {gridX,  gridY,  gridZ,  blockX,  blockY,
                         blockZ, shared, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, params, extra);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result cuMemAlloc_v2(Pointer *pointer, size_t bytes) {
  ENTER("cuMemAlloc_v2");
  if (bytes == 0)
    return InvalidValue;
  int device = currentDevice();
  if (bytes > state->devices[device].memory - state->bytesUsed(device))
    return OutOfMemory;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  *pointer = reinterpret_cast<Pointer>(memory);
  state->allocations[*pointer] = {device, bytes};
  return Success;
}

Result cuMemFree_v2(Pointer pointer) {
  ENTER("cuMemFree_v2");
  if (!isDeviceRange(pointer, 1) || !state->allocations.count(pointer))
    return violate("freed what was not allocated on this device");
  std::free(reinterpret_cast<void *>(pointer));
  state->allocations.erase(pointer);
  return Success;
}

Result cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes,
                            StreamHandle stream) {
  ENTER("cuMemcpyHtoDAsync_v2");
  if (!isDeviceRange(to, bytes) || !isOurs(stream))
    return InvalidValue;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return Success;
}

Result cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes,
                            StreamHandle stream) {
  ENTER("cuMemcpyDtoHAsync_v2");
  if (!isDeviceRange(from, bytes) || !isOurs(stream))
    return InvalidValue;
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return Success;
}

Result cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes,
                            StreamHandle stream) {
  ENTER("cuMemcpyDtoDAsync_v2");
  if (!isDeviceRange(from, bytes) || !isDeviceRange(to, bytes))
    return InvalidValue;
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
               bytes);
  return Success;
}

Result cuMemsetD8Async(Pointer to, unsigned char value, size_t bytes,
                       StreamHandle stream) {
  ENTER("cuMemsetD8Async");
  if (!isDeviceRange(to, bytes) || !isOurs(stream))
    return InvalidValue;
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return Success;
}

Result cuPointerGetAttributes(unsigned count, PointerAttribute *attributes,
                              void **values, Pointer pointer) {
  ENTER("cuPointerGetAttributes", false);
  int device = -2; // What the driver says of memory that it does not know.
  unsigned type = 0;
  bool managed = false;
  auto after = state->allocations.upper_bound(pointer);
  if (after != state->allocations.begin()) {
    auto &[address, allocation] = *std::prev(after);
    if (pointer < address + allocation.bytes) {
      type = MemoryDevice;
      device = allocation.device;
    }
  }
  auto known = state->registered.find(pointer);
  if (known != state->registered.end()) {
    managed = known->second;
    type = managed ? MemoryDevice : MemoryHost;
    device = 0;
  }
  for (unsigned i = 0; i < count; ++i)
    switch (attributes[i]) {
    case PointerMemoryType:
      *static_cast<unsigned *>(values[i]) = type;
      break;
    case PointerIsManaged:
      *static_cast<bool *>(values[i]) = managed;
      break;
    case PointerDeviceOrdinal:
      *static_cast<int *>(values[i]) = device;
      break;
    }
  return Success;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Result cuStreamCreate(StreamHandle *stream, unsigned flags) {
  ENTER("cuStreamCreate");
  *stream = new OpaqueStream{currentDevice()};
  ++state->streams;
  return Success;
}

Result cuStreamDestroy_v2(StreamHandle stream) {
  ENTER("cuStreamDestroy_v2");
  delete stream;
  --state->streams;
  return Success;
}

Result cuStreamSynchronize(StreamHandle stream) {
  ENTER("cuStreamSynchronize");
  return isOurs(stream) ? Success : InvalidHandle;
}

Result cuStreamGetCtx(StreamHandle stream, Context *context) {
  ENTER("cuStreamGetCtx", false, true);
  *context = &contexts[stream->device];
  return Success;
}

Result cuStreamBeginCapture_v2(StreamHandle stream, unsigned mode) {
  ENTER("cuStreamBeginCapture_v2");
  state->capturing = true;
  return Success;
}

Result cuStreamEndCapture(StreamHandle stream, Graph *graph) {
  ENTER("cuStreamEndCapture", true, true);
  state->capturing = false;
  *graph = nullptr;
  return Success;
}

Result cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph,
                                   unsigned long long flags) {
  ENTER("cuGraphInstantiateWithFlags");
  *exec = nullptr;
  return Success;
}

Result cuGraphLaunch(GraphExec exec, StreamHandle stream) {
  ENTER("cuGraphLaunch");
  return Success;
}

Result cuGraphExecDestroy(GraphExec exec) { return Success; }
Result cuGraphDestroy(Graph graph) { return Success; }

Result cuEventCreate(EventHandle *event, unsigned flags) {
  ENTER("cuEventCreate");
  *event = new OpaqueEvent;
  ++state->events;
  return Success;
}

Result cuEventDestroy_v2(EventHandle event) {
  ENTER("cuEventDestroy_v2");
  delete event;
  --state->events;
  return Success;
}

Result cuEventRecord(EventHandle event, StreamHandle stream) {
  ENTER("cuEventRecord", true, true);
  if (!isOurs(stream))
    return InvalidHandle;
  event->time = now += state->eventStep;
  return Success;
}

Result cuEventSynchronize(EventHandle event) {
  ENTER("cuEventSynchronize");
  return Success;
}

Result cuEventElapsedTime(float *milliseconds, EventHandle begin,
                          EventHandle end) {
  ENTER("cuEventElapsedTime");
  if (begin->time < 0 || end->time < 0)
    return InvalidHandle;
  *milliseconds = end->time - begin->time;
  return Success;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
