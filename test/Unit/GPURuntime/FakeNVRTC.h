//===- FakeNVRTC.h - Stands in for NVIDIA's compiler ------------*- C++ -*-===//
//
// A shared library with the functions of NVRTC that tilec uses. Its machine
// code is the text that FakeDriver.h takes for a module: the entry point of the
// CUDA source and the sizes of its parameters, taken from the source itself and
// not from what tilec believes about it. The log is as ptxas writes it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_GPURUNTIME_FAKENVRTC_H
#define TILEC_TEST_UNIT_GPURUNTIME_FAKENVRTC_H

#include <atomic>
#include <functional>

namespace tilec::test {

struct FakeCompiler {
  std::atomic<int> compiles = 0;
  /// Called by each compilation.
  std::function<void()> onCompile;
};

} // namespace tilec::test

/// The state of the library, by its name.
extern "C" tilec::test::FakeCompiler *tilecFakeCompiler();

#endif // TILEC_TEST_UNIT_GPURUNTIME_FAKENVRTC_H
