//===- Device.h - A GPU and what lives on it --------------------*- C++ -*-===//
//
// Driver.h explains the terms. The objects here own what they stand for and
// release it when they are destroyed; they can be moved, not copied, and refer
// to a Device, which lives as long as its Driver.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_DEVICE_H
#define TILEC_RUNTIME_GPU_DEVICE_H

#include "lib/Runtime/GPU/CudaAPI.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <mutex>
#include <string>

namespace tilec::gpu {

class Device;
class Driver;

struct DeviceProperties {
  std::string name;
  int major = 0; // The compute capability: 9.0 of Hopper.
  int minor = 0;
  unsigned multiprocessors = 0;
  unsigned threadsPerBlock = 0;
  unsigned threadsPerMultiprocessor = 0;
  unsigned registersPerMultiprocessor = 0;
  unsigned sharedBytesPerBlock = 0; // The most that a kernel may opt in to.
  unsigned sharedBytesPerMultiprocessor = 0;
  unsigned l2Bytes = 0;
  unsigned clockKHz = 0;       // 0 where the driver does not tell.
  unsigned memoryClockKHz = 0; // The same.
  unsigned memoryBusBits = 0;
  uint64_t memoryBytes = 0;

  /// "sm_90": the architecture without a suffix.
  std::string arch() const;
};

/// Whether machine code for `arch` runs on compute capability major.minor:
/// sm_80 on all of 8.x, sm_90a on 9.0 alone, sm_100f on 10.x from 10.0.
bool archRunsOn(llvm::StringRef arch, int major, int minor);

/// Whether a driver can compile PTX for `arch` to compute capability
/// major.minor: sm_80 to 8.0 and all that is newer. PTX of a kind with a suffix
/// goes no further than its machine code.
bool ptxRunsOn(llvm::StringRef arch, int major, int minor);

/// A queue of work on a device, owned by someone. Copies are the same queue.
struct StreamRef {
  Device *device = nullptr;
  cuda::StreamHandle handle = nullptr; // Null: the device's default stream.
};

/// Makes a device's context current in this thread while it lives. A few
/// nanoseconds if it already is.
class ContextScope {
public:
  explicit ContextScope(const Device &device);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;

  /// Success, or why the context could not be made current.
  cuda::Result result() const { return status; }

private:
  const cuda::Functions &api;
  cuda::Result status;
  bool pushed = false;
};

/// Memory of a device.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other) { *this = std::move(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other);
  ~DeviceBuffer();

  /// The address, for TensorView::data; null if the size is 0. Aligned to 256
  /// bytes.
  void *data() const { return reinterpret_cast<void *>(pointer); }
  size_t size() const { return bytes; }

private:
  friend class Device;
  Device *device = nullptr;
  cuda::Pointer pointer = 0;
  size_t bytes = 0;
};

/// A queue of work. Two streams run at the same time if the device has room.
class Stream {
public:
  Stream() = default;
  Stream(Stream &&other) { *this = std::move(other); }
  Stream &operator=(Stream &&other);
  ~Stream();

  operator StreamRef() const { return {device, handle}; }

  /// Waits until all work on it is done. Errors of kernels show here.
  llvm::Error synchronize();

private:
  friend class Device;
  Device *device = nullptr;
  cuda::StreamHandle handle = nullptr;
};

/// A mark in a stream, with the time when the work before it was done.
class Event {
public:
  Event() = default;
  Event(Event &&other) { *this = std::move(other); }
  Event &operator=(Event &&other);
  ~Event();

  /// Puts the mark at the end of the stream as it is now.
  llvm::Error record(StreamRef stream);
  /// Waits until the mark is reached.
  llvm::Error synchronize();
  /// Milliseconds from `begin` to this mark, both reached, to about half a
  /// microsecond.
  llvm::Expected<float> millisecondsSince(const Event &begin) const;

private:
  friend class Device;
  Device *device = nullptr;
  cuda::EventHandle handle = nullptr;
};

/// A kernel in a loaded module, valid as long as the module.
class DeviceFunction {
public:
  /// Lets launches ask for up to so many bytes of dynamic shared memory.
  llvm::Error allowSharedBytes(unsigned bytes);

  struct Attributes {
    unsigned registers = 0;
    unsigned sharedBytes = 0; // Static.
    unsigned localBytes = 0;  // Of a thread.
    unsigned maxThreads = 0;  // That its registers allow in a block.
  };
  llvm::Expected<Attributes> attributes() const;

  /// Blocks of that size that one multiprocessor can hold at a time.
  llvm::Expected<unsigned> blocksPerMultiprocessor(unsigned threads,
                                                   unsigned sharedBytes) const;

  Device *device = nullptr;
  cuda::Function handle = nullptr;
};

/// Machine code loaded into a device's context.
class DeviceModule {
public:
  DeviceModule() = default;
  DeviceModule(DeviceModule &&other) { *this = std::move(other); }
  DeviceModule &operator=(DeviceModule &&other);
  ~DeviceModule();

  /// A kernel by the name it has in the machine code.
  llvm::Expected<DeviceFunction> function(llvm::StringRef name) const;

private:
  friend class Device;
  Device *device = nullptr;
  cuda::ModuleHandle handle = nullptr;
};

class Device {
public:
  Device(const Driver &driver, unsigned ordinal)
      : parent(driver), index(ordinal) {}
  ~Device();
  Device(const Device &) = delete;

  const Driver &driver() const { return parent; }
  const cuda::Functions &api() const;
  unsigned ordinal() const { return index; }
  const DeviceProperties &properties() const { return props; }

  /// Loads a cubin or a PTX text. Errors are of kind DriverTooOld if the driver
  /// does not take the code.
  llvm::Expected<DeviceModule> load(llvm::StringRef image);

  /// Allocates memory; its content is not defined.
  llvm::Expected<DeviceBuffer> allocate(size_t bytes);
  llvm::Expected<Stream> createStream();
  llvm::Expected<Event> createEvent();
  /// The stream that CUDA programs use when they name none.
  StreamRef defaultStream() { return {this, nullptr}; }

  // Copies, in the order of the stream. `to` and `from` may be reused or read
  // when the stream has been synchronized. 0 bytes are fine.
  llvm::Error copyToDevice(void *to, const void *from, size_t bytes,
                           StreamRef stream);
  llvm::Error copyToHost(void *to, const void *from, size_t bytes,
                         StreamRef stream);
  llvm::Error copyOnDevice(void *to, const void *from, size_t bytes,
                           StreamRef stream);
  /// Sets every byte.
  llvm::Error fill(void *to, unsigned char value, size_t bytes,
                   StreamRef stream);

  /// Waits for all work on the device.
  llvm::Error synchronize();
  /// Waits for all work on a stream.
  llvm::Error synchronize(StreamRef stream);

  /// The primary context, made by the first call that needs it. Fails with what
  /// the driver reports.
  llvm::Error retainContext() const;

private:
  friend class Driver;
  friend class ContextScope;
  llvm::Error readProperties();
  /// Success if the context is there.
  cuda::Result contextOrError(cuda::Context &context) const;
  /// Runs one call with the context current.
  template <typename Call>
  llvm::Error call(const llvm::Twine &doing, Call call) const;

  const Driver &parent;
  unsigned index;
  cuda::DeviceHandle handle = 0;
  DeviceProperties props;
  mutable std::mutex contextMutex;
  mutable std::atomic<cuda::Context> context = nullptr;
};

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_DEVICE_H
