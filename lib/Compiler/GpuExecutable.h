//===- GpuExecutable.h - A kernel on a GPU, with host arrays ----*- C++ -*-===//
//
// What `tilec run` does on a GPU: arrays of the host are copied to the device
// with their strides, the kernel runs on the copies, and what it wrote comes
// back. Programs that keep their arrays on the device use the API instead.
//
// With CompileOptions::emulated the device is the emulator, and what it finds
// wrong is beside the results. Nothing surrounds the arrays there, as reaching
// past their ends is seen.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_GPUEXECUTABLE_H
#define TILEC_COMPILER_GPUEXECUTABLE_H

#include "lib/Compiler/GpuCache.h"
#include "lib/Runtime/Emulated/EmulatedDriver.h"
#include "lib/Runtime/GPU/Driver.h"
#include "lib/Runtime/GPU/Launcher.h"

namespace tilec {

class GpuExecutable {
public:
  /// Compiles `kernel` for the arrays of `launch`, which are on the host, and
  /// the device whose context is current, or the emulator, unless `cache` is
  /// given and has it; then `args` are the kernel's compile-time arguments.
  /// Null after reporting to `program.diags`.
  static std::unique_ptr<GpuExecutable>
  create(Program &program, typed::Kernel &kernel, const BoundLaunch &launch,
         const CompileOptions &options, const CompileTimeArgs &args = {},
         gpu::DiskCache *cache = nullptr);

  /// Copies the arrays of `launch` to the device, runs once, and copies outputs
  /// back. False after reporting errors; a write outside an output is one.
  bool run(Program &program, const typed::Kernel &kernel,
           const BoundLaunch &launch);

  /// Milliseconds that the kernel takes on the device, the median of `count`
  /// runs with a cold cache. What the outputs hold afterwards is not defined.
  llvm::Expected<double> time(unsigned count);

  /// On the emulator: how it runs from now on.
  void setEmulation(emulator::EmulationSettings settings) {
    emulation = std::move(settings);
  }
  /// On the emulator: what the last run did; null if it had no programs.
  const emulator::EmulatedRun *emulatedRun() const {
    return lastRun ? &*lastRun : nullptr;
  }
  /// What the emulator runs.
  llvm::StringRef ptx() const { return isEmulated ? launcher->text() : ""; }

  int64_t numPrograms() const { return programs; }
  /// What finding or making the code took.
  double compileMilliseconds() const { return milliseconds; }
  bool wasInCache() const { return isFromCache; }
  const std::string &deviceName() const { return device->properties().name; }

private:
  GpuExecutable() = default;
  /// Bytes of a known pattern on both sides of every array, a multiple of what
  /// device memory is aligned to.
  size_t margin() const;
  llvm::Error allocate(const typed::Kernel &kernel, const BoundLaunch &launch);
  void takeEmulatedRun();
  llvm::Error copyIn(const BoundLaunch &launch);
  llvm::Error copyOut(const typed::Kernel &kernel, const BoundLaunch &launch);

  gpu::Device *device = nullptr;
  std::unique_ptr<gpu::Launcher> launcher;
  /// The launch with pointers of the device.
  BoundLaunch onDevice;
  std::vector<gpu::DeviceBuffer> buffers; // One a parameter.
  int64_t programs = 0;
  double milliseconds = 0;
  bool isFromCache = false;
  bool isEmulated = false;
  emulator::EmulationSettings emulation;
  std::optional<emulator::EmulatedRun> lastRun;
};

} // namespace tilec

#endif // TILEC_COMPILER_GPUEXECUTABLE_H
