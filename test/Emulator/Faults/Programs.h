//===- Programs.h - The programs in which faults are planted ----*- C++ -*-===//
//
// How each program is launched, and what it must compute: plain loops say. The
// sizes are small, since each runs with every fault and with many seeds.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_EMULATOR_FAULTS_PROGRAMS_H
#define TILEC_TEST_EMULATOR_FAULTS_PROGRAMS_H

#include "test/Emulator/Harness/Harness.h"
#include <functional>

namespace tilec::test {

/// One program with one seed.
class Run {
public:
  Run(const Code &code, uint64_t seed, unsigned size, unsigned fault = 0)
      : emulation(code), seed(seed), size(size), fault(fault) {}

  void launch(llvm::StringRef kernel, const Params &params,
              emulator::LaunchOptions options) {
    options.seed = seed;
    options.hostThreads = 1;
    options.stepLimit = 1 << 22;
    emulator::LaunchResult result = emulation.launch(kernel, params, options);
    for (emulator::Report &report : result.reports)
      reports.push_back(std::move(report));
  }
  template <typename T>
  void compare(uint64_t address, llvm::ArrayRef<T> expected) {
    isRight &= llvm::ArrayRef<T>(
                   emulation.download<T>(address, expected.size())) == expected;
  }

  Emulation emulation;
  const uint64_t seed;
  const unsigned size;  // 0, 1 or 2: of three.
  const unsigned fault; // For those that the host plants.
  std::vector<emulator::Report> reports;
  bool isRight = true; // What it computed.
};

struct FaultyProgram {
  std::string file;
  std::function<void(Run &)> run;
};

std::vector<FaultyProgram> faultyPrograms();

} // namespace tilec::test

#endif // TILEC_TEST_EMULATOR_FAULTS_PROGRAMS_H
