//===- Emulator.h - Running PTX on the host ---------------------*- C++ -*-===//
//
// The emulator executes what NVRTC made, PTX, thread by thread, and proves how
// it synchronizes. What runs is the very text that the assembler gets, so the
// faults it finds are those of the real program:
//
//     DeviceMemory memory;
//     uint64_t x = memory.allocate(1 << 20, "x");
//     auto program = loadProgram(ptx, "scale.ptx", memory);
//     LaunchOptions options{.grid = {8, 1, 1}, .block = {128, 1, 1}};
//     LaunchResult result = launch(**program, "scale", params, options);
//     for (const Report &report : result.reports) ...
//
// How it is built, from the bottom:
//
//   PTX/         text to ptx::Module
//   Arithmetic/  what instructions compute, as functions of numbers
//   Race/        vector clocks and shadow memory: what happens before what
//   Machine/     decoded programs, warps, blocks, clusters, the scheduler
//   Execute/     instructions of threads and warps, a file a family
//   Async/       copies, mbarriers, tensor maps, wgmma
//
// It knows nothing of tilec: any PTX runs. lib/Compiler/EmulatedTarget.h is the
// `emulator` target of tilec, which stands on the other side of this header.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_EMULATOR_H
#define TILEC_EMULATOR_EMULATOR_H

#include "lib/Emulator/Machine/Counters.h"
#include "lib/Emulator/Machine/Memory.h"
#include "lib/Emulator/Machine/Program.h"
#include "lib/Emulator/Report.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <array>

namespace tilec::emulator {

/// Parses and decodes PTX. The error names the line of what is not understood
/// or not supported. `memory` holds the program's global variables and must
/// outlive it.
llvm::Expected<std::shared_ptr<const Program>>
loadProgram(llvm::StringRef ptx, llvm::StringRef name, DeviceMemory &memory);

struct LaunchOptions {
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::array<unsigned, 3> cluster = {1, 1, 1}; // In blocks; divides the grid.
  uint64_t dynamicShared = 0;                  // Bytes.
  /// Of a thread at launch, as the assembler says; 0: what the directives of
  /// the kernel leave it. setmaxnreg takes from what is left of the 65536.
  unsigned registersPerThread = 0;
  uint64_t seed = 0; // Of the order in which things happen.
  bool detectRaces = true;
  unsigned hostThreads = 0; // 0: as many as the machine has.
  /// Instructions of warps, together, after which the run ends with a report.
  uint64_t stepLimit = uint64_t(1) << 36;
};

struct LaunchResult {
  std::vector<Report> reports; // Empty: nothing is wrong.
  Counters counters;
  std::string printed; // By printf.
};

/// Runs a kernel to its end. `params` has the bytes of the kernel's parameters,
/// each at its own alignment in their order. The error is one of the call:
/// no such kernel, too few bytes, more threads or shared memory than the target
/// has. What the program does wrong is in the result.
llvm::Expected<LaunchResult> launch(const Program &program,
                                    llvm::StringRef kernel,
                                    llvm::ArrayRef<char> params,
                                    const LaunchOptions &options,
                                    DeviceMemory &memory);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_EMULATOR_H
