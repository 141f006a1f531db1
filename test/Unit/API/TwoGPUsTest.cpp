//===- TwoGPUsTest.cpp - The API on a machine with two GPUs -----*- C++ -*-===//
//
// One kernel on both GPUs, through libtilec as a user's program has it. Memory
// and streams are made with the run time that is linked into the test. Skipped,
// with a message, where there are not two GPUs.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/GPU/Driver.h"
#include "tilec/tilec.h"
#include <catch2/catch.hpp>

using Catch::Matchers::Contains;

static const char *const program = R"(
kernel twice(X: f32[N], Y: out f32[N]) {
  grid n in tile(N)
  assert(X[n] >= 0, "expected no negative number")
  Y[n] = 2 * X[n]
}
)";

namespace {
/// Arrays of one GPU, and a stream there.
struct OnGPU {
  static constexpr int64_t count = 100003;

  OnGPU(tilec::gpu::Driver &driver, unsigned ordinal)
      : device(llvm::cantFail(driver.device(ordinal))),
        x(llvm::cantFail(device.allocate(4 * count))),
        y(llvm::cantFail(device.allocate(4 * count))),
        stream(llvm::cantFail(device.createStream())) {
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = valueAt(i);
    write(0, values);
    llvm::cantFail(device.fill(y.data(), 0xff, y.size(), stream));
    llvm::cantFail(stream.synchronize());
  }

  float valueAt(int64_t i) const {
    return float(i % 1000) + 0.25f * float(device.ordinal());
  }
  void write(int64_t at, const std::vector<float> &values) {
    llvm::cantFail(device.copyToDevice(static_cast<float *>(x.data()) + at,
                                       values.data(), 4 * values.size(),
                                       stream));
    llvm::cantFail(stream.synchronize());
  }
  tilec::TensorView in() { return {x.data(), tilec::DType::F32, {count}}; }
  tilec::TensorView out() { return {y.data(), tilec::DType::F32, {count}}; }
  tilec_stream handle() const { return tilec::gpu::StreamRef(stream).handle; }
  int64_t wrong() {
    std::vector<float> found(count);
    llvm::cantFail(device.synchronize());
    llvm::cantFail(device.copyToHost(found.data(), y.data(), 4 * count,
                                     device.defaultStream()));
    llvm::cantFail(device.synchronize());
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; ++i)
      wrong += found[i] != 2 * valueAt(i);
    return wrong;
  }

  tilec::gpu::Device &device;
  tilec::gpu::DeviceBuffer x, y;
  tilec::gpu::Stream stream;
};
} // namespace

static void succeed(const tilec::Error &error) {
  if (error)
    FAIL(error.message());
}

TEST_CASE("one kernel on two GPUs") {
  llvm::Expected<tilec::gpu::Driver &> driver = tilec::gpu::Driver::get();
  if (!driver) {
    WARN("skipped: " << llvm::toString(driver.takeError()));
    return;
  }
  if (driver->numDevices() < 2) {
    WARN("skipped: there is one GPU only");
    return;
  }
  OnGPU first(*driver, 0), second(*driver, 1);
  auto module = tilec::compileString("test.tile", program);
  REQUIRE(module);
  auto kernel = module->kernel();
  REQUIRE(kernel);

  // By the stream, whatever is current; the second time the short way.
  for (int i = 0; i < 2; ++i)
    for (OnGPU *gpu : {&second, &first})
      succeed(kernel->launch(gpu->handle(), gpu->in(), gpu->out()));
  CHECK(first.wrong() == 0);
  CHECK(second.wrong() == 0);
  for (OnGPU *gpu : {&first, &second})
    succeed(kernel->collectReports(gpu->handle()));

  // Prepared: on the GPU of the tensors, also in its default stream.
  OnGPU third(*driver, 1);
  auto prepared = kernel->prepare(third.in(), third.out());
  REQUIRE(prepared);
  succeed(prepared->run(nullptr));
  CHECK(third.wrong() == 0);

  // Memory of the other GPU.
  tilec::Error error = kernel->launch(first.handle(), second.in(), first.out());
  REQUIRE(error);
  CHECK(error.kind() == TILEC_ERROR_WRONG_DEVICE);
  CHECK_THAT(error.message(),
             Contains("argument 'X' is expected to be in memory of GPU 0, got "
                      "memory of GPU 1"));

  // Reports are of one GPU.
  second.write(77, {-1.0f});
  succeed(kernel->launch(second.handle(), second.in(), second.out()));
  succeed(kernel->collectReports(first.handle()));
  tilec::Error report = kernel->collectReports(second.handle());
  REQUIRE(report);
  CHECK(report.kind() == TILEC_ERROR_REPORT);
  CHECK_THAT(report.message(), Contains("expected no negative number"));
  succeed(kernel->collectReports(second.handle()));
}
