//===- Launcher.h - Launching a compiled kernel -----------------*- C++ -*-===//
//
// From a kernel image with its machine code, and arguments that bindLaunch has
// found right, to a kernel on a stream. Two ways:
//
//     llvm::Error error = launcher.launch(stream, bound);
//
// checks the arguments against what the code relies upon, makes the parameters
// and launches; and
//
//     llvm::Expected<PreparedLaunch> ready = launcher.prepare(device, bound);
//     llvm::Error error = ready->run(stream); // again and again
//
// does the checks once and then only launches. run() allocates, loads and
// synchronizes nothing, so it may be captured into a CUDA graph.
//
// The machine code is loaded into a device by the first launch there; a newer
// device than it is for gets the PTX, from which its driver makes machine code
// (once: the driver has a cache of its own). Launches are queued: errors inside
// the kernel show when the stream is synchronized.
//
// Thread safety: a Launcher and a PreparedLaunch may be used by any number of
// threads at the same time, on any devices of one Driver.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_LAUNCHER_H
#define TILEC_RUNTIME_GPU_LAUNCHER_H

#include "lib/Launch/Launch.h"
#include "lib/Runtime/GPU/Device.h"
#include "lib/Runtime/GPU/KernelImage.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilec::gpu {

/// The machine code of an image on one device (internal).
struct LoadedKernel {
  Device *device;
  DeviceModule module;
  DeviceFunction function;
  /// The area for reports, if the kernel can report.
  DeviceBuffer reports;
};

/// A launch with fixed arguments. The arrays must stay where they are. Owns
/// what it needs; the Launcher may go before it.
class PreparedLaunch {
public:
  /// Puts the kernel on a stream of the device it was prepared for.
  llvm::Error run(StreamRef stream) const;
  /// The same with tensors that lie elsewhere, on the same GPU and aligned as
  /// those before: `address` has them by argument.
  llvm::Error run(StreamRef stream,
                  llvm::function_ref<const void *(unsigned arg)> address) const;

  /// The number of programs; 0 means that run() does nothing.
  int64_t numPrograms() const { return config.gridX; }
  Device &device() const { return *kernel->device; }

private:
  friend class Launcher;
  PreparedLaunch() = default;
  llvm::Error run(StreamRef stream, void *const *params) const;

  /// Where in the storage the address of a tensor is.
  struct Pointer {
    unsigned offset;
    unsigned arg;
  };
  std::shared_ptr<const LoadedKernel> kernel;
  cuda::LaunchConfig config = {};
  // A vector keeps its elements where they are when it is moved.
  std::vector<char> storage;
  std::vector<void *> params;
  std::vector<Pointer> pointers;
  std::string name;
};

class Launcher {
public:
  /// `code` is the cubin that the image describes, or PTX; `ptx`, if there is
  /// any, is for devices that are newer than a cubin's. The image must satisfy
  /// verify().
  Launcher(KernelImage image, std::string code, std::string ptx = "");
  ~Launcher();

  const KernelImage &image() const { return kernelImage; }
  /// The machine code or PTX.
  llvm::StringRef text() const { return code; }

  /// Launches on a stream. Errors: BadArgument, WrongDevice, TooLarge, and what
  /// loading and launching may give.
  llvm::Error launch(StreamRef stream, const BoundLaunch &bound);

  /// Checks the arguments and loads the code, but does not launch.
  llvm::Expected<PreparedLaunch> prepare(Device &device,
                                         const BoundLaunch &bound);

  /// Waits for the device and puts what launches there have reported since the
  /// last call into `sink`. No launch may be under way in another thread.
  llvm::Error collectReports(Device &device, ReportSink &sink);

  /// The programs of a launch: the product over the grid's axes of
  /// ceil(extent / tile). An error of kind TooLarge above 2^31 - 1.
  llvm::Expected<int64_t> numPrograms(const BoundLaunch &bound) const;

  /// Loads the code into a device, if that has not been done; for a first
  /// launch without delay.
  llvm::Error load(Device &device);

  /// The kernel on a device, for its attributes.
  llvm::Expected<DeviceFunction> function(Device &device);

private:
  /// The kernel on a device: null until the first launch there.
  struct Slot {
    std::atomic<const LoadedKernel *> ready = nullptr;
    std::mutex mutex;
    std::shared_ptr<const LoadedKernel> owner;
  };

  llvm::Expected<Slot &> slotOf(Device &device);
  /// Null if it has not been loaded there.
  const LoadedKernel *loadedIn(const Device &device) const;
  llvm::Error loadInto(Slot &slot, Device &device) const;
  llvm::Error checkDevice(const Device &device) const;
  /// The code that a device runs, or null if it runs none of it.
  const std::string *codeFor(const Device &device) const;
  llvm::Error checkArguments(const Device &device,
                             const BoundLaunch &bound) const;
  llvm::Error checkPointer(const TensorFacts &facts, const TensorView &view,
                           const Device &device) const;
  llvm::Error pack(const LoadedKernel &kernel, const BoundLaunch &bound,
                   char *storage) const;
  llvm::Error packOne(const KernelParam &param, const LoadedKernel &kernel,
                      const BoundLaunch &bound, char *to) const;
  llvm::Error clearReports(const LoadedKernel &kernel) const;
  /// Everything of a launch but the parameters' addresses.
  llvm::Expected<const LoadedKernel *> start(Device &device,
                                             const BoundLaunch &bound,
                                             cuda::LaunchConfig &config,
                                             char *storage);

  const KernelImage kernelImage;
  const std::string code, ptx;
  std::vector<unsigned> offsets; // Of the parameters in their storage.
  unsigned storageSize = 0;

  static constexpr unsigned maxDevices = 64;
  std::array<Slot, maxDevices> slots;
};

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_LAUNCHER_H
