//===- GPUTest.cpp - The run time on a real GPU -----------------*- C++ -*-===//
//
// The way from CUDA C++ to results in memory, with NVRTC and the driver that
// are there. Without them or a GPU the tests are skipped, and say so.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/GPU/Driver.h"
#include "lib/Runtime/GPU/Launcher.h"
#include "lib/Runtime/GPU/NVRTC.h"
#include "lib/Runtime/GPU/Timing.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <thread>

using namespace tilec;
using namespace tilec::gpu;
using Catch::Matchers::Contains;

/// Y[m, n] = s * X[m, n] + m, one block for 4 by 64 elements.
static constexpr const char *source = R"(
extern "C" __global__ void scale(const float *x, long long xs, float *y, int ys,
                                 long long M, int N, float s) {
  int columns = (N + 63) / 64;
  long long m = blockIdx.x / columns * 4 + threadIdx.x / 64;
  int n = blockIdx.x % columns * 64 + threadIdx.x % 64;
  if (m < M && n < N)
    y[m * ys + n] = s * x[m * xs + n] + m;
}
extern "C" __global__ void fault(int *p) { *p = 1; }
)";

namespace {
/// A device, and the kernel for it.
struct Machine {
  Device *device = nullptr;
  KernelImage image;
  std::string cubin, ptx;

  /// False, with a warning, without a GPU or NVRTC.
  bool prepare() {
    llvm::Expected<Driver &> driver = Driver::get();
    if (!driver) {
      WARN("skipped: " << llvm::toString(driver.takeError()));
      return false;
    }
    llvm::Expected<const NVRTC &> nvrtc = NVRTC::get();
    if (!nvrtc) {
      WARN("skipped: " << llvm::toString(nvrtc.takeError()));
      return false;
    }
    device = &llvm::cantFail(driver->device(0));
    image.name = "scale";
    image.arch = device->properties().arch();
    image.threads = 256;
    image.params = {
        KernelParam::pointer(0),           KernelParam::stride(0, 0),
        KernelParam::pointer(1),           KernelParam::stride(1, 0, false),
        KernelParam::extentOf("M"),        KernelParam::extentOf("N", false),
        KernelParam::scalar(2, DType::F32)};
    image.grid = {{"M", 0, 4}, {"N", 0, 64}};
    image.tensors = {{0, "X", DType::F32, 2, 1, 4, false, 0},
                     {1, "Y", DType::F32, 2, 1, 4, false, 0}};
    llvm::cantFail(verify(image));
    NVRTCResult compiled =
        llvm::cantFail(nvrtc->compile(source, "scale.cu", image.arch));
    cubin.assign(compiled.cubin.begin(), compiled.cubin.end());
    ptx = compiled.ptx;
    return true;
  }
};

/// Arrays of a launch and their content.
struct Arrays {
  Arrays(Machine &machine, int64_t m, int64_t n, int64_t pitch)
      : device(*machine.device), m(m), n(n), pitch(pitch),
        x(llvm::cantFail(device.allocate(m * pitch * 4))),
        y(llvm::cantFail(device.allocate(m * pitch * 4))) {
    for (int64_t i = 0; i < m * pitch; ++i)
      host.push_back(std::sin(float(i)));
    StreamRef stream = device.defaultStream();
    llvm::cantFail(
        device.copyToDevice(x.data(), host.data(), host.size() * 4, stream));
    llvm::cantFail(device.fill(y.data(), 0xFF, y.size(), stream));
    llvm::cantFail(device.synchronize());
    bound.extents["M"] = m;
    bound.extents["N"] = n;
    TensorView view = TensorView::contiguous(x.data(), DType::F32, {m, n});
    view.strides = {pitch, 1};
    bound.args = {view, view, ScalarValue::ofFloat(0.25)};
    std::get<TensorView>(bound.args[1]).data = y.data();
  }
  /// Whether Y is what it should be and what lies between its rows untouched.
  void check() {
    std::vector<float> got(m * pitch);
    llvm::cantFail(device.copyToHost(got.data(), y.data(), got.size() * 4,
                                     device.defaultStream()));
    llvm::cantFail(device.synchronize());
    int64_t wrong = 0;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < pitch; ++j) {
        float value = got[i * pitch + j];
        // A product with a power of two is exact, so there is one rounding.
        float expected = 0.25f * host[i * pitch + j] + float(i);
        wrong += j < n ? value != expected : !std::isnan(value);
      }
    CHECK(wrong == 0);
  }

  Device &device;
  int64_t m, n, pitch;
  DeviceBuffer x, y;
  std::vector<float> host;
  BoundLaunch bound;
};
} // namespace

TEST_CASE("properties of a real GPU") {
  Machine machine;
  if (!machine.prepare())
    return;
  const DeviceProperties &props = machine.device->properties();
  WARN(props.name << ", " << props.arch() << ", " << props.multiprocessors
                  << " multiprocessors, " << (props.memoryBytes >> 20)
                  << " MB, L2 " << (props.l2Bytes >> 20) << " MB, "
                  << props.sharedBytesPerBlock << " bytes of shared memory, "
                  << props.clockKHz / 1000 << " MHz");
  CHECK(props.major >= 5);
  CHECK(props.multiprocessors > 0);
  CHECK(props.threadsPerBlock == 1024);
  CHECK(props.threadsPerMultiprocessor >= 1024);
  CHECK(props.registersPerMultiprocessor == 65536);
  CHECK(props.sharedBytesPerBlock >= 48 * 1024);
  CHECK(props.sharedBytesPerMultiprocessor >= props.sharedBytesPerBlock);
  CHECK(props.l2Bytes > 0);
  CHECK(props.memoryBytes > (uint64_t(1) << 28));
}

TEST_CASE("a kernel computes on a GPU") {
  Machine machine;
  if (!machine.prepare())
    return;
  Launcher launcher(machine.image, machine.cubin);
  Stream stream = llvm::cantFail(machine.device->createStream());
  for (auto [m, n, pitch] :
       {std::array<int64_t, 3>{1, 1, 1}, {3, 65, 70}, {257, 1000, 1024}}) {
    Arrays arrays(machine, m, n, pitch);
    llvm::cantFail(launcher.launch(stream, arrays.bound));
    llvm::cantFail(stream.synchronize());
    arrays.check();
  }
  auto function = llvm::cantFail(launcher.function(*machine.device));
  DeviceFunction::Attributes attributes = llvm::cantFail(function.attributes());
  CHECK(attributes.registers > 4);
  CHECK(attributes.localBytes == 0);
  CHECK(attributes.maxThreads == 1024);
  CHECK(llvm::cantFail(function.blocksPerMultiprocessor(256, 0)) >= 4);
}

TEST_CASE("threads launch for the first time at once on a GPU") {
  Machine machine;
  if (!machine.prepare())
    return;
  Launcher launcher(machine.image, machine.cubin);
  std::vector<std::unique_ptr<Arrays>> arrays;
  for (int i = 0; i < 8; ++i)
    arrays.push_back(std::make_unique<Arrays>(machine, 40 + i, 200, 200));
  std::vector<std::thread> threads;
  for (auto &mine : arrays)
    threads.emplace_back([&] {
      Stream stream = llvm::cantFail(machine.device->createStream());
      for (int i = 0; i < 20; ++i)
        llvm::cantFail(launcher.launch(stream, mine->bound));
      llvm::cantFail(stream.synchronize());
    });
  for (std::thread &thread : threads)
    thread.join();
  for (auto &mine : arrays)
    mine->check();
}

TEST_CASE("a prepared launch in a CUDA graph") {
  Machine machine;
  if (!machine.prepare())
    return;
  Device &device = *machine.device;
  const cuda::Functions &api = device.api();
  Launcher launcher(machine.image, machine.cubin);
  Stream stream = llvm::cantFail(device.createStream());
  cuda::StreamHandle handle = StreamRef(stream).handle;
  Arrays arrays(machine, 100, 100, 128);
  PreparedLaunch ready = llvm::cantFail(launcher.prepare(device, arrays.bound));
  ContextScope scope(device);
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  REQUIRE(api.streamBeginCapture(handle, cuda::CaptureThreadLocal) == 0);
  llvm::cantFail(ready.run(stream));
  REQUIRE(api.streamEndCapture(handle, &graph) == 0);
  REQUIRE(api.graphInstantiate(&exec, graph, 0) == 0);
  REQUIRE(api.graphLaunch(exec, handle) == 0);
  llvm::cantFail(stream.synchronize());
  arrays.check();
  CHECK(api.graphExecDestroy(exec) == 0);
  CHECK(api.graphDestroy(graph) == 0);
}

TEST_CASE("arguments that a real GPU must not get") {
  Machine machine;
  if (!machine.prepare())
    return;
  Launcher launcher(machine.image, machine.cubin);
  Arrays arrays(machine, 8, 8, 8);
  StreamRef stream = machine.device->defaultStream();
  std::get<TensorView>(arrays.bound.args[0]).data = arrays.host.data();
  llvm::Error error = launcher.launch(stream, arrays.bound);
  CHECK(kindOf(error) == ErrorKind::BadArgument);
  CHECK_THAT(llvm::toString(std::move(error)),
             Contains("argument 'X' is expected to be in memory of GPU 0, got "
                      "host memory"));

  llvm::Error full = machine.device->allocate(size_t(1) << 50).takeError();
  CHECK(kindOf(full) == ErrorKind::OutOfMemory);
  CHECK_THAT(llvm::toString(std::move(full)),
             Contains("CUDA_ERROR_OUT_OF_MEMORY, 2"));

  // Another machine in the header; the driver is told no size, so nothing may
  // be cut off.
  std::string foreign = machine.cubin;
  foreign[18] = 62;
  llvm::Error image = machine.device->load(foreign).takeError();
  CHECK((kindOf(image) == ErrorKind::DriverTooOld ||
         kindOf(image) == ErrorKind::WrongDevice));
  WARN(llvm::toString(std::move(image)));
  llvm::Error future =
      machine.device->load(".version 99.9\n.target sm_80\n.address_size 64\n")
          .takeError();
  CHECK(kindOf(future) == ErrorKind::DriverTooOld);
  WARN(llvm::toString(std::move(future)));
  llvm::Error ptx =
      machine.device
          ->load(".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n")
          .takeError();
  CHECK_THAT(llvm::toString(std::move(ptx)),
             Contains("finds errors in the PTX") && Contains("ptxas"));
}

TEST_CASE("PTX runs on a GPU too") {
  Machine machine;
  if (!machine.prepare())
    return;
  Launcher launcher(machine.image, machine.ptx);
  Stream stream = llvm::cantFail(machine.device->createStream());
  Arrays arrays(machine, 9, 100, 100);
  llvm::cantFail(launcher.launch(stream, arrays.bound));
  llvm::cantFail(stream.synchronize());
  arrays.check();
}

TEST_CASE("what a launch costs the host") {
  Machine machine;
  if (!machine.prepare())
    return;
  Device &device = *machine.device;
  Launcher launcher(machine.image, machine.cubin);
  Stream stream = llvm::cantFail(device.createStream());
  Arrays arrays(machine, 4, 64, 64);
  PreparedLaunch ready = llvm::cantFail(launcher.prepare(device, arrays.bound));
  // The queue is kept waiting, or the device's own pace would be measured.
  DeviceBuffer large = llvm::cantFail(device.allocate(size_t(4) << 30));
  constexpr int count = 100;
  auto microseconds = [&](auto launch) {
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
      llvm::cantFail(stream.synchronize());
      llvm::cantFail(device.fill(large.data(), round, large.size(), stream));
      auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < count; ++i)
        launch();
      std::chrono::duration<double, std::micro> elapsed =
          std::chrono::steady_clock::now() - begin;
      best = std::min(best, elapsed.count() / count);
    }
    return best;
  };
  // What the driver takes, without anything around it.
  DeviceFunction function = llvm::cantFail(launcher.function(device));
  void *x = arrays.x.data();
  void *y = arrays.y.data();
  int64_t m = 4, xs = 64;
  int n = 64, ys = 64;
  float s = 0.25f;
  void *params[] = {
      static_cast<void *>(&x), &xs, static_cast<void *>(&y), &ys, &m, &n, &s};
  cuda::LaunchConfig config = {
      1, 1, 1, 256, 1, 1, 0, StreamRef(stream).handle, nullptr, 0};
  auto measureAll = [&](const char *where) {
    double direct = microseconds(
        [&] { llvm::cantFail(launcher.launch(stream, arrays.bound)); });
    double prepared = microseconds([&] { llvm::cantFail(ready.run(stream)); });
    WARN("launch " << where << ": direct " << direct << " us, prepared "
                   << prepared << " us");
    // Generous: machines differ, and this one may be busy.
    CHECK(prepared < 50);
    CHECK(direct < 100);
  };
  measureAll("with no context current");
  ContextScope scope(device);
  measureAll("with the context current");
  WARN("the driver alone: " << microseconds([&] {
         device.api().launchKernelEx(&config, function.handle, params, nullptr);
       }) << " us");
}

TEST_CASE("time on a GPU") {
  Machine machine;
  if (!machine.prepare())
    return;
  Device &device = *machine.device;
  size_t bytes = size_t(512) << 20;
  DeviceBuffer from = llvm::cantFail(device.allocate(bytes));
  DeviceBuffer to = llvm::cantFail(device.allocate(bytes));
  auto copy = [&](size_t size) {
    return Candidate{"copy", [&, size](StreamRef stream) {
                       return device.copyOnDevice(to.data(), from.data(), size,
                                                  stream);
                     }};
  };
  std::vector<Timing> timings = llvm::cantFail(
      measure(device, {copy(bytes), copy(bytes / 4), copy(bytes)}));
  for (const Timing &timing : timings)
    WARN("copy: median " << timing.median << " ms, quartiles "
                         << timing.lowerQuartile << " to "
                         << timing.upperQuartile);
  WARN("bandwidth " << 2e-9 * bytes / timings[0].median << " TB/s");
  CHECK(timings[0].min > 0);
  CHECK(timings[0].median / timings[1].median > 2.5);
  CHECK(timings[0].median / timings[1].median < 6);
  CHECK(std::abs(timings[0].median / timings[2].median - 1) < 0.2);
}

// The last one: no other work is possible after it.
TEST_CASE("a kernel that faults") {
  Machine machine;
  if (!machine.prepare())
    return;
  Device &device = *machine.device;
  KernelImage image;
  image.name = "fault";
  image.arch = machine.image.arch;
  image.threads = 1;
  // An address that no memory has, past the check of pointers.
  image.params = {KernelParam::extentOf("P")};
  Launcher launcher(image, machine.cubin);
  BoundLaunch bound;
  bound.extents["P"] = 64;
  llvm::cantFail(launcher.launch(device.defaultStream(), bound));
  llvm::Error error = device.synchronize();
  CHECK(kindOf(error) == ErrorKind::KernelFailed);
  CHECK_THAT(llvm::toString(std::move(error)),
             Contains("CUDA_ERROR_ILLEGAL_ADDRESS, 700") &&
                 Contains("start the process again"));
  llvm::Error later = device.allocate(16).takeError();
  CHECK(kindOf(later) == ErrorKind::KernelFailed);
  llvm::consumeError(std::move(later));
}
