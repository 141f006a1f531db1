//===- EmulatedDriver.h - The emulator as a CUDA driver ---------*- C++ -*-===//
//
// The emulator (lib/Emulator) behind the functions of NVIDIA's driver, so that
// all that runs kernels on a GPU runs them on the host: Driver, Device,
// Launcher and the log of reports take it for a driver like any other.
//
//     gpu::Device &device = *emulatedDevice("sm_90a");
//     launcher.launch(device.defaultStream(), bound);   // PTX as code
//     for (EmulatedRun &run : takeEmulatedRuns()) ...
//
// What is different from a GPU:
//
//   * There is a device for each architecture that tilec compiles for, with the
//     limits of that architecture. They share their memory.
//   * Code is PTX; machine code is refused.
//   * A launch is over when the call returns. Streams and events are only
//     names, and work cannot be captured into a graph.
//   * Memory is not rounded up: the byte behind an allocation is nobody's. New
//     memory is NaN in every float type.
//   * What the emulator finds wrong is no error of a call. It is kept with the
//     run, for the thread that launched.
//
// Thread safety: functions may be called from any number of threads. Settings
// and runs are those of the calling thread.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_EMULATED_EMULATEDDRIVER_H
#define TILEC_RUNTIME_EMULATED_EMULATEDDRIVER_H

#include "lib/Emulator/Emulator.h"
#include "lib/Runtime/GPU/Driver.h"

namespace tilec::emulator {

/// How the launches of this thread are run.
struct EmulationSettings {
  uint64_t seed = 0; // Of the order in which things happen.
  bool detectRaces = true;
  unsigned hostThreads = 0; // 0: as many as the machine has.
  uint64_t stepLimit = LaunchOptions().stepLimit;
  std::string moduleName = "kernel.ptx"; // What messages call loaded code.
};

/// A launch that was run.
struct EmulatedRun {
  std::string kernel;
  std::shared_ptr<const Program> program; // Its module has the lines.
  LaunchOptions options;
  LaunchResult result;
  double milliseconds = 0;
};

/// The driver of the process.
llvm::Expected<gpu::Driver &> emulatedDriver();

/// The device that runs code for a target: "sm_80", "sm_90a".
llvm::Expected<gpu::Device &> emulatedDevice(llvm::StringRef target);

/// Changes how this thread's launches are run, from the next one on.
void setEmulation(const EmulationSettings &settings);

/// The launches of this thread since the last call.
std::vector<EmulatedRun> takeEmulatedRuns();

/// Memory that this thread allocates while one lives has that name in messages.
class NamedAllocations {
public:
  explicit NamedAllocations(llvm::StringRef name);
  ~NamedAllocations();
  NamedAllocations(const NamedAllocations &) = delete;

private:
  std::string previous;
};

/// The memory of all devices.
DeviceMemory &emulatedMemory();

} // namespace tilec::emulator

#endif // TILEC_RUNTIME_EMULATED_EMULATEDDRIVER_H
