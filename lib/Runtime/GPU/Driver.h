//===- Driver.h - NVIDIA's driver -------------------------------*- C++ -*-===//
//
// The driver is a library of the system, libcuda.so.1, that is opened at run
// time: tilec runs without it, and says so when a GPU is asked for. How the
// pieces belong together:
//
//   * There is one Driver in a process. It knows the GPUs, called devices and
//     numbered from 0.
//   * A Device is used through its *primary context*: the address space, the
//     loaded code and the streams that the whole process shares on that GPU,
//     with other CUDA libraries too. So arrays that they allocated can be
//     passed to kernels, and their streams can be launched on.
//   * The driver's calls act on the context that is *current* in the calling
//     thread. Nothing here requires the caller to make one current: every
//     function does so itself and sets back what it found.
//   * Work is put on a *stream*, a queue of the device, and runs in order there
//     but later than the call. What goes wrong in a kernel is therefore
//     reported by some later call; after that the context is of no more use.
//   * CUDA does not survive fork(): a child process must not use what its
//     parent opened.
//
// Thread safety: Driver and Device may be used by any number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_DRIVER_H
#define TILEC_RUNTIME_GPU_DRIVER_H

#include "lib/Runtime/GPU/CudaAPI.h"
#include "lib/Runtime/GPU/Device.h"
#include "lib/Runtime/GPU/GPUError.h"
#include "lib/Runtime/GPU/SharedLibrary.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilec::gpu {

/// What a pointer points to.
struct PointerInfo {
  enum class Kind {
    Host,    // Memory that CUDA does not know: a kernel must not touch it.
    Pinned,  // Host memory allocated or registered with CUDA.
    Device,  // Memory of a GPU.
    Managed, // Moves between host and GPUs.
  };
  Kind kind = Kind::Host;
  unsigned device = 0; // Device: whose.
};

class Driver {
public:
  /// The driver of the process, opened and initialized by the first call; a
  /// call after one that failed tries again. TILEC_CUDA_DRIVER may name another
  /// library than libcuda.so.1. The error is of kind NoDriver, NoDevice or
  /// DriverTooOld.
  static llvm::Expected<Driver &> get();

  /// Opens a driver library by path or name.
  static llvm::Expected<std::unique_ptr<Driver>> open(const std::string &path);

  /// A driver of functions that act like NVIDIA's, such as those of an
  /// emulator. They must stay valid for as long as it lives.
  static llvm::Expected<std::unique_ptr<Driver>>
  adopt(const cuda::Functions &functions);

  ~Driver();

  /// The newest CUDA version that the driver supports: 13000 for 13.0.
  int version() const { return versionNumber; }
  unsigned numDevices() const { return devices.size(); }
  /// A device; an error of kind NoDevice if there is none of that number.
  llvm::Expected<Device &> device(unsigned ordinal);
  /// The device whose context is current in this thread, as another library
  /// may have chosen it; or device 0.
  llvm::Expected<Device &> currentDevice();

  /// A stream of another library, with the device it belongs to. The default
  /// streams (null, and the numbers 1 and 2 that stand for the legacy one and
  /// that of the thread) belong to the current device.
  llvm::Expected<StreamRef> streamOf(cuda::StreamHandle stream);

  /// What `pointer` points to.
  llvm::Expected<PointerInfo> inspect(const void *pointer) const;

  /// Turns the result of a call into an error that names it, explains it and
  /// says what to do. `doing` completes "cannot ...".
  llvm::Error check(cuda::Result result, const llvm::Twine &doing) const;

  /// The driver's own functions.
  const cuda::Functions &api() const { return functions; }

private:
  Driver() = default;
  llvm::Error initialize();
  Device *findDevice(cuda::DeviceHandle handle) const;

  SharedLibrary library;
  cuda::Functions functions;
  int versionNumber = 0;
  std::vector<std::unique_ptr<Device>> devices;
};

/// "13.0" for 13000.
std::string cudaVersionText(int version);

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_DRIVER_H
