//===- CudaAPI.h - The driver's interface (internal) ------------*- C++ -*-===//
//
// The part of the CUDA driver API that tilec uses, declared here so that no
// toolkit is needed to build. Names, values and layouts are NVIDIA's and part
// of the driver's binary interface, which stays compatible; where a function
// has versions, the list below says which one is meant.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_CUDAAPI_H
#define TILEC_RUNTIME_GPU_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace tilec::gpu {

class SharedLibrary;

namespace cuda {

using Result = int;
using DeviceHandle = int;
using Pointer = unsigned long long;
using Context = struct OpaqueContext *;
using ModuleHandle = struct OpaqueModule *;
using Function = struct OpaqueFunction *;
using StreamHandle = struct OpaqueStream *;
using EventHandle = struct OpaqueEvent *;
using Graph = struct OpaqueGraph *;
using GraphExec = struct OpaqueGraphExec *;

enum : Result {
  /// None of NVIDIA's: of a driver that says itself, by cuGetErrorString, what
  /// is wrong and, on a line that begins with "help: ", what to do.
  Explained = -1,
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  StubLibrary = 34,
  CallRequiresNewerDriver = 36,
  DeviceUnavailable = 46,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGPU = 209,
  ECCUncorrectable = 214,
  InvalidPTX = 218,
  JITCompilerNotFound = 221,
  UnsupportedPTXVersion = 222,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  Assert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPC = 718,
  LaunchFailed = 719,
  NotPermitted = 800,
  NotSupported = 801,
  SystemNotReady = 802,
  SystemDriverMismatch = 803,
  CompatNotSupportedOnDevice = 804,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  Unknown = 999,
};

enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxRegistersPerBlock = 12,
  ClockRate = 13,
  MultiprocessorCount = 16,
  MemoryClockRate = 36,
  MemoryBusWidth = 37,
  L2CacheSize = 38,
  MaxThreadsPerMultiprocessor = 39,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedPerMultiprocessor = 81,
  MaxRegistersPerMultiprocessor = 82,
  MaxSharedPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  FunctionMaxThreads = 0,
  FunctionSharedBytes = 1,
  FunctionLocalBytes = 3,
  FunctionRegisters = 4,
  FunctionMaxDynamicSharedBytes = 8,
};

enum PointerAttribute : int {
  PointerMemoryType = 2,
  PointerIsManaged = 8,
  PointerDeviceOrdinal = 9,
};
enum MemoryType : unsigned { MemoryHost = 1, MemoryDevice = 2 };

enum JITOption : int { JITErrorLog = 5, JITErrorLogSize = 6 };

enum : unsigned {
  StreamNonBlocking = 1,
  EventDefault = 0,
  EventDisableTiming = 2,
  CaptureThreadLocal = 1,
};

struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  StreamHandle stream;
  void *attributes; // None are used.
  unsigned numAttributes;
};

/// X(member, exported name, parameters): the functions, all of which return a
/// Result. All are in every driver of CUDA 11.8 and later.
#define TILEC_CUDA_FUNCTIONS(X)                                                \
  X(init, cuInit, (unsigned flags))                                            \
  X(driverGetVersion, cuDriverGetVersion, (int *version))                      \
  X(getErrorName, cuGetErrorName, (Result result, const char **name))          \
  X(getErrorString, cuGetErrorString, (Result result, const char **text))      \
  X(deviceGetCount, cuDeviceGetCount, (int *count))                            \
  X(deviceGet, cuDeviceGet, (DeviceHandle * device, int ordinal))              \
  X(deviceGetName, cuDeviceGetName,                                            \
    (char *name, int size, DeviceHandle device))                               \
  X(deviceGetAttribute, cuDeviceGetAttribute,                                  \
    (int *value, DeviceAttribute attribute, DeviceHandle device))              \
  X(deviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, DeviceHandle device)) \
  X(primaryCtxRetain, cuDevicePrimaryCtxRetain,                                \
    (Context * context, DeviceHandle device))                                  \
  X(primaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (DeviceHandle device))    \
  X(ctxGetCurrent, cuCtxGetCurrent, (Context * context))                       \
  X(ctxGetDevice, cuCtxGetDevice, (DeviceHandle * device))                     \
  X(ctxPushCurrent, cuCtxPushCurrent_v2, (Context context))                    \
  X(ctxPopCurrent, cuCtxPopCurrent_v2, (Context * context))                    \
  X(ctxSynchronize, cuCtxSynchronize, ())                                      \
  X(moduleLoadDataEx, cuModuleLoadDataEx,                                      \
    (ModuleHandle * module, const void *image, unsigned numOptions,            \
     JITOption *options, void **values))                                       \
  X(moduleUnload, cuModuleUnload, (ModuleHandle module))                       \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (Function * function, ModuleHandle module, const char *name))              \
  X(funcGetAttribute, cuFuncGetAttribute,                                      \
    (int *value, FunctionAttribute attribute, Function function))              \
  X(funcSetAttribute, cuFuncSetAttribute,                                      \
    (Function function, FunctionAttribute attribute, int value))               \
  X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                    \
    (int *blocks, Function function, int threads, size_t sharedBytes))         \
  X(launchKernelEx, cuLaunchKernelEx,                                          \
    (const LaunchConfig *config, Function function, void **params,             \
     void **extra))                                                            \
  X(memAlloc, cuMemAlloc_v2, (Pointer * pointer, size_t bytes))                \
  X(memFree, cuMemFree_v2, (Pointer pointer))                                  \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (Pointer to, const void *from, size_t bytes, StreamHandle stream))         \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *to, Pointer from, size_t bytes, StreamHandle stream))               \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                     \
    (Pointer to, Pointer from, size_t bytes, StreamHandle stream))             \
  X(memsetD8Async, cuMemsetD8Async,                                            \
    (Pointer to, unsigned char value, size_t bytes, StreamHandle stream))      \
  X(pointerGetAttributes, cuPointerGetAttributes,                              \
    (unsigned count, PointerAttribute *attributes, void **values,              \
     Pointer pointer))                                                         \
  X(streamCreate, cuStreamCreate, (StreamHandle * stream, unsigned flags))     \
  X(streamDestroy, cuStreamDestroy_v2, (StreamHandle stream))                  \
  X(streamSynchronize, cuStreamSynchronize, (StreamHandle stream))             \
  X(streamGetCtx, cuStreamGetCtx, (StreamHandle stream, Context * context))    \
  X(streamBeginCapture, cuStreamBeginCapture_v2,                               \
    (StreamHandle stream, unsigned mode))                                      \
  X(streamEndCapture, cuStreamEndCapture,                                      \
    (StreamHandle stream, Graph * graph))                                      \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExec * exec, Graph graph, unsigned long long flags))                 \
  X(graphLaunch, cuGraphLaunch, (GraphExec exec, StreamHandle stream))         \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec exec))                    \
  X(graphDestroy, cuGraphDestroy, (Graph graph))                               \
  X(eventCreate, cuEventCreate, (EventHandle * event, unsigned flags))         \
  X(eventDestroy, cuEventDestroy_v2, (EventHandle event))                      \
  X(eventRecord, cuEventRecord, (EventHandle event, StreamHandle stream))      \
  X(eventSynchronize, cuEventSynchronize, (EventHandle event))                 \
  X(eventElapsedTime, cuEventElapsedTime,                                      \
    (float *milliseconds, EventHandle begin, EventHandle end))

/// The functions' addresses.
struct Functions {
// A list of parameters is no expression.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TILEC_MEMBER(member, symbol, parameters) Result(*member) parameters;
  // NOLINTEND(bugprone-macro-parentheses)
  TILEC_CUDA_FUNCTIONS(TILEC_MEMBER)
#undef TILEC_MEMBER

  /// Looks all of them up. The name of one that is missing, or null.
  const char *load(const SharedLibrary &library);
};

} // namespace cuda
} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_CUDAAPI_H
