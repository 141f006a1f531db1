//===- FakeMachine.h - libtilec on a machine with two fake GPUs -*- C++ -*-===//
//
// The tests are linked with libtilec.so as a user's program is. It opens the
// fake driver and the fake NVRTC, once in the process, so what happened is
// counted from a point on.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_API_FAKEMACHINE_H
#define TILEC_TEST_UNIT_API_FAKEMACHINE_H

#include "test/Unit/GPURuntime/FakeDriver.h"
#include "test/Unit/GPURuntime/FakeNVRTC.h"
#include "test/Unit/GPURuntime/Scratch.h"
#include "tilec/tilec.h"
#include <catch2/catch.hpp>

namespace tilec::test {

class FakeMachine {
public:
  FakeMachine();
  ~FakeMachine();

  FakeState *operator->() { return driver; }
  FakeState &driverState() { return *driver; }
  FakeCompiler &compiler() { return *nvrtc; }

  /// Memory of a device, 256-byte aligned.
  void *memory(size_t bytes, int device = 0);
  /// A row-major tensor there.
  TensorView tensor(DType dtype, std::vector<int64_t> shape, int device = 0);
  /// A stream of a device.
  tilec_stream stream(int device);
  /// Makes a device current in this thread until the machine goes.
  void setCurrent(int device);

  /// Compilations since the machine was made.
  int compiles() const { return nvrtc->compiles - compilesBefore; }
  /// Launches since the machine was made.
  size_t launches() const { return driver->launches.size() - launchesBefore; }
  const FakeLaunch &lastLaunch() const { return driver->launches.back(); }

  /// Options with a cache of this test's own.
  Options options() {
    Options result;
    result.cacheFolder = folder.path();
    return result;
  }
  Scratch folder;

private:
  template <typename Function> Function *find(const char *name);

  FakeState *driver;
  FakeCompiler *nvrtc;
  int compilesBefore;
  size_t launchesBefore;
  int pushed = 0;
};

/// A module from text that has to be right.
Module compileText(const std::string &text, const Options &options);

/// The value of something that has to be there.
template <typename T> T take(Expected<T> value) {
  if (!value)
    FAIL(value.error().message());
  return std::move(*value);
}

/// The kind and the text of an error; empty for success.
inline void succeed(Error error) {
  if (error)
    FAIL(error.message());
}
inline std::string failure(const Error &error, ErrorKind kind) {
  if (!error)
    return "no failure";
  CHECK(error.kind() == kind);
  CHECK_THAT(error.message(), Catch::Contains("help: "));
  return error.message();
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_API_FAKEMACHINE_H
