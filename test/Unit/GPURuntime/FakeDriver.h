//===- FakeDriver.h - Stands in for NVIDIA's driver -------------*- C++ -*-===//
//
// A shared library with the functions of the driver that tilec uses, for
// testing what is around them on machines without a GPU. It keeps the driver's
// rules that matter: a context must be current and be the one of the stream and
// the function; kernels take as many parameter bytes as they declare; nothing
// but launches may happen while a stream is captured. Memory of a fake GPU is
// memory of the host, so copies work. Kernels compute nothing; launches are
// recorded.
//
// A module is a text: "FAKE sm_90;name:8,8,4;other:" declares two kernels and
// the sizes of their parameters. Such a text is not a cubin, so it takes the
// path of PTX.
//
// One process has one fake driver. Tests call reset() first, and change the
// state before they open it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_GPURUNTIME_FAKEDRIVER_H
#define TILEC_TEST_UNIT_GPURUNTIME_FAKEDRIVER_H

#include "lib/Runtime/GPU/CudaAPI.h"
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tilec::test {

namespace cuda = gpu::cuda;

struct FakeDevice {
  std::string name = "Fake GPU";
  int major = 9;
  int minor = 0;
  int sharedOptin = 227 * 1024;
  size_t memory = size_t(1) << 30;
};

struct FakeLaunch {
  int device;
  std::string kernel;
  cuda::LaunchConfig config;
  /// The bytes of each parameter.
  std::vector<std::string> params;
};

struct FakeState {
  // What the test sets.
  int version = 13000;
  std::vector<FakeDevice> devices = {FakeDevice()};
  /// Results of functions by exported name: the next calls fail so.
  std::map<std::string, cuda::Result> failures;
  /// Host memory that is known to the driver: address, and whether managed.
  std::map<uint64_t, bool> registered;
  /// Milliseconds between one recorded event and the next.
  float eventStep = 1.0f;
  bool capturing = false;
  /// Called by launches with their number, without the lock.
  std::function<void(size_t)> onLaunch;

  // What happened.
  std::map<std::string, int> calls;
  std::vector<FakeLaunch> launches;
  std::map<std::string, int> options; // Set for kernels: shared bytes.
  std::string violation;              // The first rule that was broken.

  // Things that are there.
  struct Allocation {
    int device;
    size_t bytes;
  };
  std::map<uint64_t, Allocation> allocations;
  size_t bytesUsed(int device) const;
  int contexts = 0; // Retained and not released.
  int modules = 0;
  int streams = 0;
  int events = 0;

  std::recursive_mutex mutex;
};

} // namespace tilec::test

/// The state of the library that was loaded from TILEC_FAKE_DRIVER.
extern "C" tilec::test::FakeState *tilecFakeState();
/// Frees what is there and sets everything back.
extern "C" void tilecFakeReset();

#endif // TILEC_TEST_UNIT_GPURUNTIME_FAKEDRIVER_H
