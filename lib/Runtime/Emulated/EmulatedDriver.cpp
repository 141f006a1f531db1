//===- EmulatedDriver.cpp - The emulator as a CUDA driver -------*- C++ -*-===//
//
// The functions of the table, in the order of CudaAPI.h. Each keeps the rules
// of the real one that tilec could break.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Emulated/EmulatedDriver.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <cstring>

using namespace tilec;
using namespace tilec::emulator;
using namespace tilec::gpu::cuda;

// What the handles of CudaAPI.h point to.
namespace tilec::gpu::cuda {
struct OpaqueContext {
  int device = 0;
};
struct OpaqueFunction {
  std::shared_ptr<const emulator::Program> program;
  const emulator::FunctionCode *code = nullptr;
  std::string name;
  int device = 0;
  /// Dynamic shared memory that launches may ask for without asking first.
  static constexpr unsigned unasked = 48 * 1024;
  std::atomic<unsigned> dynamicShared = unasked;
};
struct OpaqueModule {
  std::shared_ptr<const emulator::Program> program;
  int device = 0;
  std::mutex mutex; // Of what follows.
  std::map<std::string, std::unique_ptr<OpaqueFunction>> functions;
};
struct OpaqueStream {
  int device = 0;
};
struct OpaqueEvent {
  std::optional<std::chrono::steady_clock::time_point> time;
};
} // namespace tilec::gpu::cuda

namespace {
/// What a GPU of an architecture has.
struct Architecture {
  llvm::StringLiteral target; // As tilec calls it.
  int major, minor;
  int multiprocessors;
  int threadsPerMultiprocessor;
  int sharedPerBlock, sharedPerMultiprocessor;
};

using Clock = std::chrono::steady_clock;
} // namespace

static constexpr Architecture architectures[] = {
    {"sm_80", 8, 0, 108, 2048, 163 * 1024, 164 * 1024},
    {"sm_86", 8, 6, 84, 1536, 99 * 1024, 100 * 1024},
    {"sm_89", 8, 9, 128, 1536, 99 * 1024, 100 * 1024},
    {"sm_90a", 9, 0, 132, 2048, 227 * 1024, 228 * 1024},
};
static constexpr int numDevices = std::size(architectures);
static constexpr int threadsPerBlock = 1024;
static constexpr int registersPerMultiprocessor = 64 * 1024;

static bool isDevice(DeviceHandle device) {
  return device >= 0 && device < numDevices;
}

//===----------------------------------------------------------------------===//
// The state of the process, and of a thread
//===----------------------------------------------------------------------===//

// Never destroyed: other threads may use it while the process exits.
DeviceMemory &emulator::emulatedMemory() {
  static auto *memory = new DeviceMemory();
  return *memory;
}

/// Whose an allocation is.
static std::mutex ownersMutex;
static std::map<Pointer, int> &owners() {
  static auto *map = new std::map<Pointer, int>();
  return *map;
}

static OpaqueContext contexts[numDevices] = {{0}, {1}, {2}, {3}};

namespace {
struct ThreadState {
  llvm::SmallVector<Context, 2> current;
  EmulationSettings settings;
  std::vector<EmulatedRun> runs;
  std::string allocationName;
  std::string callError; // See explain().
};
} // namespace

static ThreadState &thread() {
  static thread_local ThreadState state;
  return state;
}

void emulator::setEmulation(const EmulationSettings &settings) {
  thread().settings = settings;
}

std::vector<EmulatedRun> emulator::takeEmulatedRuns() {
  return std::exchange(thread().runs, {});
}

NamedAllocations::NamedAllocations(llvm::StringRef name)
    : previous(std::exchange(thread().allocationName, name.str())) {}

NamedAllocations::~NamedAllocations() {
  thread().allocationName = std::move(previous);
}

/// The device whose context is current, or -1.
static int currentDevice() {
  return thread().current.empty() ? -1 : thread().current.back()->device;
}

/// Streams 0 to 2 are the default ones.
static bool isStreamOf(StreamHandle stream, int device) {
  return reinterpret_cast<uintptr_t>(stream) <= 2 || stream->device == device;
}

/// What every call that acts on a context asks first.
static Result checkContext() {
  return currentDevice() < 0 ? InvalidContext : Success;
}

static Result checkStream(StreamHandle stream) {
  if (Result result = checkContext())
    return result;
  return isStreamOf(stream, currentDevice()) ? Success : InvalidContext;
}

//===----------------------------------------------------------------------===//
// The driver and its devices
//===----------------------------------------------------------------------===//

static Result init(unsigned) { return Success; }

static Result driverGetVersion(int *version) {
  *version = 13000;
  return Success;
}

static Result getErrorName(Result, const char **name) {
  *name = "emulator";
  return Success;
}

static Result getErrorString(Result result, const char **text) {
  *text = result == Explained ? thread().callError.c_str()
                              : "the emulator does not do this";
  return Success;
}

/// Keeps why a call of this thread fails.
static Result explain(llvm::Error error, llvm::StringRef help) {
  thread().callError = llvm::toString(std::move(error));
  if (!llvm::StringRef(thread().callError).contains("\nhelp: "))
    thread().callError += ("\nhelp: " + help).str();
  return Explained;
}

static Result deviceGetCount(int *count) {
  *count = numDevices;
  return Success;
}

static Result deviceGet(DeviceHandle *device, int ordinal) {
  *device = ordinal;
  return isDevice(ordinal) ? Success : InvalidDevice;
}

static Result deviceGetName(char *name, int size, DeviceHandle device) {
  if (!isDevice(device))
    return InvalidDevice;
  std::string text = ("emulator of " + architectures[device].target).str();
  if (size <= 0)
    return InvalidValue;
  size_t count = std::min<size_t>(text.size(), size - 1);
  std::memcpy(name, text.data(), count);
  name[count] = '\0';
  return Success;
}

static Result deviceGetAttribute(int *value, DeviceAttribute attribute,
                                 DeviceHandle device) {
  if (!isDevice(device))
    return InvalidDevice;
  const Architecture &arch = architectures[device];
  switch (attribute) {
  case MaxThreadsPerBlock:
    *value = threadsPerBlock;
    return Success;
  case MaxRegistersPerBlock:
  case MaxRegistersPerMultiprocessor:
    *value = registersPerMultiprocessor;
    return Success;
  case MultiprocessorCount:
    *value = arch.multiprocessors;
    return Success;
  case MaxThreadsPerMultiprocessor:
    *value = arch.threadsPerMultiprocessor;
    return Success;
  case ComputeCapabilityMajor:
    *value = arch.major;
    return Success;
  case ComputeCapabilityMinor:
    *value = arch.minor;
    return Success;
  case MaxSharedPerMultiprocessor:
    *value = arch.sharedPerMultiprocessor;
    return Success;
  case MaxSharedPerBlockOptin:
    *value = arch.sharedPerBlock;
    return Success;
  case L2CacheSize:
    *value = 0; // There are no caches, and no clocks.
    return Success;
  case ClockRate:
  case MemoryClockRate:
  case MemoryBusWidth:
    return InvalidValue;
  }
  return InvalidValue;
}

static Result deviceTotalMem(size_t *bytes, DeviceHandle device) {
  constexpr size_t manyBytes = size_t(64) << 30; // The host's limit counts.
  *bytes = manyBytes;
  return isDevice(device) ? Success : InvalidDevice;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

static Result primaryCtxRetain(Context *context, DeviceHandle device) {
  if (!isDevice(device))
    return InvalidDevice;
  *context = &contexts[device];
  return Success;
}

static Result primaryCtxRelease(DeviceHandle device) {
  return isDevice(device) ? Success : InvalidDevice;
}

static Result ctxGetCurrent(Context *context) {
  *context = thread().current.empty() ? nullptr : thread().current.back();
  return Success;
}

static Result ctxGetDevice(DeviceHandle *device) {
  *device = currentDevice();
  return checkContext();
}

static Result ctxPushCurrent(Context context) {
  thread().current.push_back(context);
  return Success;
}

static Result ctxPopCurrent(Context *context) {
  if (Result result = checkContext())
    return result;
  *context = thread().current.pop_back_val();
  return Success;
}

static Result ctxSynchronize() { return checkContext(); }

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static Result moduleLoadDataEx(ModuleHandle *module, const void *image,
                               unsigned, JITOption *, void **) {
  if (Result result = checkContext())
    return result;
  llvm::StringRef text(static_cast<const char *>(image));
  if (text.starts_with("\x7f"
                       "ELF"))
    return NoBinaryForGPU;
  llvm::Expected<std::shared_ptr<const Program>> program =
      loadProgram(text, thread().settings.moduleName, emulatedMemory());
  if (!program)
    return explain(program.takeError(),
                   "docs/emulator.md says which instructions the emulator "
                   "runs; please report one that it lacks");
  auto loaded = std::make_unique<OpaqueModule>();
  loaded->program = std::move(*program);
  loaded->device = currentDevice();
  *module = loaded.release();
  return Success;
}

static Result moduleUnload(ModuleHandle module) {
  delete module;
  return Success;
}

static Result moduleGetFunction(Function *function, ModuleHandle module,
                                const char *name) {
  if (Result result = checkContext())
    return result;
  const FunctionCode *code = module->program->kernel(name);
  if (!code)
    return NotFound;
  std::lock_guard<std::mutex> lock(module->mutex);
  std::unique_ptr<OpaqueFunction> &entry = module->functions[name];
  if (!entry) {
    entry = std::make_unique<OpaqueFunction>();
    entry->program = module->program;
    entry->code = code;
    entry->name = name;
    entry->device = module->device;
  }
  *function = entry.get();
  return Success;
}

/// Threads that a kernel's own directives allow in a block.
static unsigned maxThreads(const FunctionCode &code) {
  auto product = [](const std::array<unsigned, 3> &extents) {
    unsigned count = 1;
    for (unsigned extent : extents)
      count *= std::max(extent, 1u);
    return count;
  };
  const ptx::Function &source = *code.source;
  if (source.requiredThreads[0])
    return product(source.requiredThreads);
  return source.maxThreads[0] ? product(source.maxThreads) : threadsPerBlock;
}

static Result funcGetAttribute(int *value, FunctionAttribute attribute,
                               Function function) {
  switch (attribute) {
  case FunctionMaxThreads:
    *value = static_cast<int>(maxThreads(*function->code));
    return Success;
  case FunctionSharedBytes:
    *value = static_cast<int>(function->code->staticShared);
    return Success;
  case FunctionLocalBytes:
    *value = static_cast<int>(function->program->localBytes);
    return Success;
  case FunctionRegisters: // The assembler gives them out, not PTX.
    *value = static_cast<int>(function->code->source->maxRegisters);
    return Success;
  case FunctionMaxDynamicSharedBytes:
    *value = static_cast<int>(function->dynamicShared);
    return Success;
  }
  return InvalidValue;
}

static Result funcSetAttribute(Function function, FunctionAttribute attribute,
                               int value) {
  if (attribute != FunctionMaxDynamicSharedBytes || value < 0)
    return InvalidValue;
  uint64_t total = function->code->staticShared + value;
  if (total >
      static_cast<uint64_t>(architectures[function->device].sharedPerBlock))
    return InvalidValue;
  function->dynamicShared = value;
  return Success;
}

static Result occupancy(int *blocks, Function function, int threads,
                        size_t sharedBytes) {
  if (threads <= 0)
    return InvalidValue;
  const Architecture &arch = architectures[function->device];
  constexpr uint64_t reserved = 1024; // Of each block, for the system.
  uint64_t shared = function->code->staticShared + sharedBytes + reserved;
  constexpr int mostBlocks = 32;
  *blocks = std::min({mostBlocks, arch.threadsPerMultiprocessor / threads,
                      static_cast<int>(arch.sharedPerMultiprocessor / shared)});
  return Success;
}

/// The parameters of a kernel in one piece, as launch() takes them.
static std::vector<char> packParams(const ptx::Function &kernel,
                                    void *const *params) {
  std::vector<char> packed;
  for (auto [i, param] : llvm::enumerate(kernel.params)) {
    uint64_t offset =
        llvm::alignTo(packed.size(), std::max(param.alignment, 1u));
    packed.resize(offset + param.bytes);
    std::memcpy(packed.data() + offset, params[i], param.bytes);
  }
  return packed;
}

static Result launchKernelEx(const LaunchConfig *config, Function function,
                             void **params, void **extra) {
  if (Result result = checkStream(config->stream))
    return result;
  if (function->device != currentDevice())
    return InvalidHandle;
  if (extra || config->numAttributes || config->gridX == 0 ||
      config->gridY == 0 || config->gridZ == 0 ||
      config->sharedBytes > function->dynamicShared)
    return InvalidValue;
  const EmulationSettings &settings = thread().settings;
  EmulatedRun run;
  run.kernel = function->name;
  run.program = function->program;
  run.options.grid = {config->gridX, config->gridY, config->gridZ};
  run.options.block = {config->blockX, config->blockY, config->blockZ};
  const std::array<unsigned, 3> &cluster =
      function->code->source->requiredCluster;
  if (cluster[0])
    run.options.cluster = cluster;
  run.options.dynamicShared = config->sharedBytes;
  run.options.seed = settings.seed;
  run.options.detectRaces = settings.detectRaces;
  run.options.hostThreads = settings.hostThreads;
  run.options.stepLimit = settings.stepLimit;
  std::vector<char> packed = packParams(*function->code->source, params);
  Clock::time_point start = Clock::now();
  llvm::Expected<LaunchResult> result =
      launch(*run.program, run.kernel, packed, run.options, emulatedMemory());
  run.milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (!result)
    return explain(result.takeError(), "launch it as it was compiled for");
  run.result = std::move(*result);
  thread().runs.push_back(std::move(run));
  return Success;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Result memAlloc(Pointer *pointer, size_t bytes) {
  if (Result result = checkContext())
    return result;
  if (bytes == 0)
    return InvalidValue;
  uint64_t address = emulatedMemory().allocate(bytes, thread().allocationName);
  if (!address)
    return OutOfMemory;
  std::lock_guard<std::mutex> lock(ownersMutex);
  owners()[address] = currentDevice();
  *pointer = address;
  return Success;
}

static Result memFree(Pointer pointer) {
  if (!pointer)
    return Success;
  std::lock_guard<std::mutex> lock(ownersMutex);
  if (!owners().erase(pointer) || !emulatedMemory().free(pointer))
    return InvalidValue;
  return Success;
}

static Result memcpyHtoDAsync(Pointer to, const void *from, size_t bytes,
                              StreamHandle stream) {
  if (Result result = checkStream(stream))
    return result;
  char *data = emulatedMemory().find(to, bytes);
  if (!data)
    return InvalidValue;
  std::memcpy(data, from, bytes);
  return Success;
}

static Result memcpyDtoHAsync(void *to, Pointer from, size_t bytes,
                              StreamHandle stream) {
  if (Result result = checkStream(stream))
    return result;
  const char *data = emulatedMemory().find(from, bytes);
  if (!data)
    return InvalidValue;
  std::memcpy(to, data, bytes);
  return Success;
}

static Result memcpyDtoDAsync(Pointer to, Pointer from, size_t bytes,
                              StreamHandle stream) {
  if (Result result = checkStream(stream))
    return result;
  char *target = emulatedMemory().find(to, bytes);
  const char *source = emulatedMemory().find(from, bytes);
  if (!target || !source)
    return InvalidValue;
  std::memmove(target, source, bytes);
  return Success;
}

static Result memsetD8Async(Pointer to, unsigned char value, size_t bytes,
                            StreamHandle stream) {
  if (Result result = checkStream(stream))
    return result;
  char *data = emulatedMemory().find(to, bytes);
  if (!data)
    return InvalidValue;
  std::memset(data, value, bytes);
  return Success;
}

static Result pointerGetAttributes(unsigned count, PointerAttribute *attributes,
                                   void **values, Pointer pointer) {
  // Of memory that is not known the real one says zeros, without failing.
  int owner = -1;
  if (emulatedMemory().find(pointer, 1)) {
    std::lock_guard<std::mutex> lock(ownersMutex);
    auto after = owners().upper_bound(pointer);
    if (after != owners().begin())
      owner = std::prev(after)->second;
  }
  for (unsigned i = 0; i < count; ++i)
    switch (attributes[i]) {
    case PointerMemoryType:
      *static_cast<unsigned *>(values[i]) =
          owner < 0 ? 0 : static_cast<unsigned>(MemoryDevice);
      break;
    case PointerIsManaged:
      *static_cast<unsigned *>(values[i]) = 0;
      break;
    case PointerDeviceOrdinal:
      *static_cast<int *>(values[i]) = std::max(owner, 0);
      break;
    }
  return Success;
}

//===----------------------------------------------------------------------===//
// Streams, graphs, events
//===----------------------------------------------------------------------===//

static Result streamCreate(StreamHandle *stream, unsigned) {
  if (Result result = checkContext())
    return result;
  *stream = new OpaqueStream{currentDevice()};
  return Success;
}

static Result streamDestroy(StreamHandle stream) {
  delete stream;
  return Success;
}

static Result streamSynchronize(StreamHandle stream) {
  return checkStream(stream);
}

static Result streamGetCtx(StreamHandle stream, Context *context) {
  *context = &contexts[stream->device];
  return Success;
}

static Result streamBeginCapture(StreamHandle, unsigned) {
  return StreamCaptureUnsupported;
}
static Result streamEndCapture(StreamHandle, Graph *) {
  return StreamCaptureUnsupported;
}
static Result graphInstantiate(GraphExec *, Graph, unsigned long long) {
  return NotSupported;
}
static Result graphLaunch(GraphExec, StreamHandle) { return NotSupported; }
static Result graphExecDestroy(GraphExec) { return NotSupported; }
static Result graphDestroy(Graph) { return NotSupported; }

static Result eventCreate(EventHandle *event, unsigned) {
  if (Result result = checkContext())
    return result;
  *event = new OpaqueEvent();
  return Success;
}

static Result eventDestroy(EventHandle event) {
  delete event;
  return Success;
}

static Result eventRecord(EventHandle event, StreamHandle stream) {
  if (Result result = checkStream(stream))
    return result;
  event->time = Clock::now();
  return Success;
}

static Result eventSynchronize(EventHandle) { return checkContext(); }

static Result eventElapsedTime(float *milliseconds, EventHandle begin,
                               EventHandle end) {
  if (!begin->time || !end->time)
    return InvalidHandle;
  *milliseconds =
      std::chrono::duration<float, std::milli>(*end->time - *begin->time)
          .count();
  return Success;
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

static Functions makeFunctions() {
  Functions functions = {};
#define TILEC_SET(member, symbol, parameters) functions.member = member;
  TILEC_CUDA_FUNCTIONS(TILEC_SET)
#undef TILEC_SET
  return functions;
}

llvm::Expected<gpu::Driver &> emulator::emulatedDriver() {
  // Nothing that can fail does.
  static gpu::Driver *driver =
      llvm::cantFail(gpu::Driver::adopt(makeFunctions())).release();
  return *driver;
}

llvm::Expected<gpu::Device &> emulator::emulatedDevice(llvm::StringRef target) {
  llvm::Expected<gpu::Driver &> driver = emulatedDriver();
  if (!driver)
    return driver.takeError();
  for (int i = 0; i < numDevices; ++i)
    if (architectures[i].target == target)
      return driver->device(i);
  return gpu::gpuError(gpu::ErrorKind::NoDevice,
                       "there is no emulator of '" + target + "'",
                       "use sm_80, sm_86, sm_89 or sm_90a");
}
