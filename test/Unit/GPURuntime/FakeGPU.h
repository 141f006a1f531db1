//===- FakeGPU.h - A test's own driver and devices --------------*- C++ -*-===//

#ifndef TILEC_TEST_UNIT_GPURUNTIME_FAKEGPU_H
#define TILEC_TEST_UNIT_GPURUNTIME_FAKEGPU_H

#include "lib/Runtime/GPU/Driver.h"
#include "test/Unit/GPURuntime/FakeDriver.h"
#include <catch2/catch.hpp>

namespace tilec::test {

/// The fake driver, set back at the begin of a test and opened by open(). What
/// the test leaves behind is a failure: rules broken, things not released.
class FakeGPU {
public:
  FakeGPU() {
    static gpu::SharedLibrary library =
        llvm::cantFail(gpu::SharedLibrary::open(TILEC_FAKE_DRIVER));
    FakeState *(*getState)() = nullptr;
    library.get("tilecFakeState", getState);
    library.get("tilecFakeReset", reset);
    REQUIRE((getState && reset));
    reset();
    state = getState();
  }
  ~FakeGPU() {
    driver.reset();
    CHECK(state->violation == "");
    CHECK(state->contexts == 0);
    CHECK(state->modules == 0);
    CHECK(state->streams == 0);
    CHECK(state->events == 0);
    CHECK(state->allocations.empty());
    reset();
  }

  gpu::Driver &open() {
    driver = llvm::cantFail(gpu::Driver::open(TILEC_FAKE_DRIVER));
    return *driver;
  }
  gpu::Device &device(unsigned ordinal = 0) {
    if (!driver)
      open();
    return llvm::cantFail(driver->device(ordinal));
  }
  /// Why the driver does not open.
  std::string openFailure(gpu::ErrorKind kind) {
    auto opened = gpu::Driver::open(TILEC_FAKE_DRIVER);
    if (opened)
      return "no failure";
    return message(opened.takeError(), kind);
  }

  /// The text of an error that has to be of that kind.
  static std::string message(llvm::Error error, gpu::ErrorKind kind) {
    if (!error)
      return "no failure";
    CHECK(gpu::kindOf(error) == kind);
    std::string text = llvm::toString(std::move(error));
    CHECK_THAT(text, Catch::Contains("\nhelp: "));
    return text;
  }
  template <typename T>
  static std::string message(llvm::Expected<T> value, gpu::ErrorKind kind) {
    return message(value.takeError(), kind);
  }

  FakeState *operator->() { return state; }

private:
  void (*reset)() = nullptr;
  FakeState *state = nullptr;
  std::unique_ptr<gpu::Driver> driver;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_GPURUNTIME_FAKEGPU_H
