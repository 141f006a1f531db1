//===- TimingTest.cpp - Measuring on a fake driver --------------*- C++ -*-===//

#include "lib/Runtime/GPU/Timing.h"
#include "test/Unit/GPURuntime/FakeGPU.h"
#include <thread>

using namespace tilec::gpu;
using namespace tilec::test;
using Catch::Matchers::Contains;

TEST_CASE("medians and quartiles") {
  Timing odd = summarize("odd", {5, 1, 4, 2, 3});
  CHECK(odd.name == "odd");
  CHECK(odd.median == 3);
  CHECK(odd.lowerQuartile == 2);
  CHECK(odd.upperQuartile == 4);
  CHECK(odd.min == 1);
  CHECK(odd.samples == std::vector<float>{5, 1, 4, 2, 3});
  Timing even = summarize("even", {4, 1, 3, 2});
  CHECK(even.median == 2.5);
  CHECK(even.lowerQuartile == 1.75);
  CHECK(even.upperQuartile == 3.25);
  Timing one = summarize("one", {7});
  CHECK(one.median == 7);
  CHECK(one.lowerQuartile == 7);
  CHECK(one.upperQuartile == 7);
}

TEST_CASE("candidates take turns") {
  FakeGPU gpu;
  Device &device = gpu.device();
  std::string order;
  // Time passes only when a candidate runs; "slow" takes thrice as long.
  auto candidate = [&](const char *name, float milliseconds) {
    return Candidate{name, [&, name, milliseconds](StreamRef stream) {
                       order += name[0];
                       gpu->eventStep = milliseconds;
                       return llvm::Error::success();
                     }};
  };
  TimingOptions options;
  options.warmups = 1;
  options.samples = 3;
  options.flushBytes = 1000;
  std::vector<Timing> timings = llvm::cantFail(
      measure(device, {candidate("fast", 2), candidate("slow", 6)}, options));
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].name == "fast");
  CHECK(timings[0].median == 2);
  CHECK(timings[1].median == 6);
  CHECK(timings[0].samples.size() == 3);
  // A warm-up, and three rounds that begin with another one each time.
  CHECK(order == "fs"
                 "fs"
                 "sf"
                 "fs");
  CHECK(gpu->calls["cuMemsetD8Async"] == 8);

  options.flushBytes = 0;
  options.runsPerSample = 4;
  timings = llvm::cantFail(measure(device, {candidate("fast", 2)}, options));
  CHECK(timings[0].median == 0.5);
  CHECK(gpu->calls["cuMemsetD8Async"] == 8);
}

TEST_CASE("a measurement ends when its time is over") {
  FakeGPU gpu;
  int runs = 0;
  Candidate slow{"slow", [&](StreamRef) {
                   ++runs;
                   std::this_thread::sleep_for(std::chrono::milliseconds(2));
                   return llvm::Error::success();
                 }};
  TimingOptions options;
  options.flushBytes = 0;
  options.maxSeconds = 0.001;
  options.samples = 1000;
  options.minSamples = 4;
  options.warmups = 0;
  std::vector<Timing> timings =
      llvm::cantFail(measure(gpu.device(), {slow}, options));
  CHECK(timings[0].samples.size() == 4);
  CHECK(runs == 4);
}

TEST_CASE("errors end a measurement") {
  FakeGPU gpu;
  Candidate broken{"broken", [](StreamRef) {
                     return llvm::createStringError("does not run");
                   }};
  TimingOptions options;
  options.flushBytes = 0;
  auto result = measure(gpu.device(), {broken}, options);
  REQUIRE_FALSE(!!result);
  CHECK(llvm::toString(result.takeError()) == "does not run");
  Candidate fine{"fine", [](StreamRef) { return llvm::Error::success(); }};
  for (const char *call : {"cuStreamCreate", "cuEventCreate", "cuEventRecord",
                           "cuStreamSynchronize", "cuEventElapsedTime"}) {
    gpu->failures = {{call, cuda::LaunchFailed}};
    CHECK_THAT(FakeGPU::message(measure(gpu.device(), {fine}, options),
                                ErrorKind::KernelFailed),
               Contains("a kernel failed"));
  }
  gpu->failures.clear();
  options.flushBytes = size_t(2) << 30;
  FakeGPU::message(measure(gpu.device(), {fine}, options),
                   ErrorKind::OutOfMemory);
}
