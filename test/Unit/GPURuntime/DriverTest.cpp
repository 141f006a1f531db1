//===- DriverTest.cpp - The driver, devices and what lives there *- C++ -*-===//

#include "test/Unit/GPURuntime/FakeGPU.h"
#include "test/Unit/GPURuntime/Scratch.h"
#include <thread>

using namespace tilec::gpu;
using namespace tilec::test;
using Catch::Matchers::Contains;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

TEST_CASE("a machine without a driver") {
  std::string text = FakeGPU::message(Driver::open("libcuda-not-there.so.1"),
                                      ErrorKind::NoDriver);
  CHECK_THAT(text, Contains("NVIDIA's driver cannot be opened: "
                            "libcuda-not-there.so.1: cannot open shared object "
                            "file") &&
                       Contains("install NVIDIA's driver") &&
                       Contains("use the target cpu"));
}

TEST_CASE("a library that lacks functions is too old a driver") {
  CHECK_THAT(
      FakeGPU::message(Driver::open("libm.so.6"), ErrorKind::DriverTooOld),
      Contains("expected a driver of CUDA 11.8 or newer, but libm.so.6 has no "
               "function cuInit"));
}

TEST_CASE("a driver without devices") {
  FakeGPU gpu;
  gpu->devices.clear();
  CHECK_THAT(gpu.openFailure(ErrorKind::NoDevice),
             Contains("cannot initialize NVIDIA's driver: there is no GPU that "
                      "CUDA can use (CUDA_ERROR_FAKE, 100)") &&
                 Contains("CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("drivers that do not start") {
  FakeGPU gpu;
  gpu->failures["cuInit"] = cuda::SystemDriverMismatch;
  CHECK_THAT(gpu.openFailure(ErrorKind::NoDriver),
             Contains("different versions") && Contains("reboot"));
  gpu->failures["cuInit"] = cuda::StubLibrary;
  CHECK_THAT(gpu.openFailure(ErrorKind::NoDriver), Contains("stub"));
  gpu->failures["cuInit"] = cuda::SystemNotReady;
  CHECK_THAT(gpu.openFailure(ErrorKind::NoDevice), Contains("Fabric Manager"));
  gpu->failures["cuInit"] = cuda::Unknown;
  CHECK_THAT(gpu.openFailure(ErrorKind::Driver), Contains("dmesg"));
  gpu->failures.clear();
  gpu->failures["cuDeviceGetName"] = cuda::InvalidDevice;
  CHECK_THAT(gpu.openFailure(ErrorKind::NoDevice),
             Contains("cannot read the properties of GPU 0"));
}

TEST_CASE("the driver of the process") {
  FakeGPU gpu;
  Environment environment;
  environment.set("TILEC_CUDA_DRIVER", "/nowhere/libcuda.so");
  CHECK_THAT(FakeGPU::message(Driver::get(), ErrorKind::NoDriver),
             Contains("/nowhere/libcuda.so"));
  // A failure is not kept, a success is.
  environment.set("TILEC_CUDA_DRIVER", TILEC_FAKE_DRIVER);
  Driver &driver = llvm::cantFail(Driver::get());
  environment.set("TILEC_CUDA_DRIVER", "/nowhere/libcuda.so");
  CHECK(&llvm::cantFail(Driver::get()) == &driver);
  CHECK(driver.numDevices() == 1);
}

TEST_CASE("properties of devices") {
  FakeGPU gpu;
  gpu->version = 12040;
  gpu->devices.resize(2);
  gpu->devices[1].name = "Other";
  gpu->devices[1].major = 8;
  gpu->devices[1].minor = 6;
  gpu->devices[1].sharedOptin = 99 * 1024;
  Driver &driver = gpu.open();
  CHECK(driver.version() == 12040);
  CHECK(cudaVersionText(12040) == "12.4");
  CHECK(cudaVersionText(13000) == "13.0");
  REQUIRE(driver.numDevices() == 2);
  const DeviceProperties &first = gpu.device(0).properties();
  CHECK(first.name == "Fake GPU");
  CHECK(first.arch() == "sm_90");
  CHECK(first.multiprocessors == 132);
  CHECK(first.sharedBytesPerBlock == 227 * 1024);
  CHECK(first.memoryBytes == size_t(1) << 30);
  CHECK(first.clockKHz == 0); // The driver does not tell.
  const DeviceProperties &second = gpu.device(1).properties();
  CHECK(second.name == "Other");
  CHECK(second.arch() == "sm_86");
  CHECK(second.sharedBytesPerBlock == 99 * 1024);
  CHECK_THAT(FakeGPU::message(driver.device(2), ErrorKind::NoDevice),
             Contains("expected a GPU from 0 to 1, got 2"));
  // Looking at devices takes no memory on them.
  CHECK(gpu->contexts == 0);
}

TEST_CASE("which machine code runs where, and which PTX is compiled there") {
  struct Case {
    const char *arch;
    int major, minor;
    bool code, ptx;
  };
  for (const Case &c : {Case{"sm_80", 8, 0, true, true},
                        {"sm_80", 8, 9, true, true},
                        {"sm_86", 8, 0, false, false},
                        {"sm_80", 9, 0, false, true},
                        {"sm_89", 12, 0, false, true},
                        {"sm_90", 8, 9, false, false},
                        {"sm_90", 9, 0, true, true},
                        {"sm_90a", 9, 0, true, true},
                        {"sm_90a", 9, 1, false, false},
                        {"sm_90a", 10, 0, false, false},
                        {"sm_100", 10, 3, true, true},
                        {"sm_100a", 10, 3, false, false},
                        {"sm_100f", 10, 3, true, true},
                        {"sm_103f", 10, 0, false, false},
                        {"sm_100f", 12, 0, false, false},
                        {"sm_90x", 9, 0, false, false},
                        {"sm_", 9, 0, false, false},
                        {"90", 9, 0, false, false},
                        {"compute_80", 9, 0, false, false}}) {
    INFO(c.arch << " on " << c.major << "." << c.minor);
    CHECK(archRunsOn(c.arch, c.major, c.minor) == c.code);
    CHECK(ptxRunsOn(c.arch, c.major, c.minor) == c.ptx);
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_CASE("errors have a name, an explanation and a remedy") {
  FakeGPU gpu;
  Driver &driver = gpu.open();
  llvm::cantFail(driver.check(cuda::Success, "do it"));
  auto text = [&](cuda::Result result, ErrorKind kind) {
    return FakeGPU::message(driver.check(result, "do it"), kind);
  };
  CHECK(text(cuda::OutOfMemory, ErrorKind::OutOfMemory) ==
        "cannot do it: the GPU has not enough free memory (CUDA_ERROR_FAKE, "
        "2)\nhelp: use smaller arrays, free others, or see with nvidia-smi "
        "which processes use the memory");
  for (cuda::Result result :
       {cuda::IllegalAddress, cuda::MisalignedAddress, cuda::LaunchFailed,
        cuda::IllegalInstruction, cuda::Assert, cuda::ECCUncorrectable})
    text(result, ErrorKind::KernelFailed);
  CHECK_THAT(text(cuda::IllegalAddress, ErrorKind::KernelFailed),
             Contains("accessed memory that is not there") &&
                 Contains("compute-sanitizer"));
  CHECK_THAT(text(cuda::NotInitialized, ErrorKind::Driver), Contains("fork"));
  CHECK_THAT(text(cuda::NoBinaryForGPU, ErrorKind::WrongDevice),
             Contains("for another GPU"));
  CHECK_THAT(text(cuda::InvalidImage, ErrorKind::DriverTooOld),
             Contains("newer driver"));
  CHECK_THAT(text(cuda::LaunchOutOfResources, ErrorKind::TooLarge),
             Contains("smaller tiles"));
  CHECK_THAT(text(cuda::StreamCaptureUnsupported, ErrorKind::Driver),
             Contains("prepare the launch before"));
  // Those that the table does not have are told in the driver's words.
  CHECK_THAT(text(808, ErrorKind::Driver),
             Contains("cannot do it: fake explanation (CUDA_ERROR_FAKE, 808)"));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_CASE("memory goes to the device and back") {
  FakeGPU gpu;
  Device &device = gpu.device();
  Stream stream = llvm::cantFail(device.createStream());
  DeviceBuffer a = llvm::cantFail(device.allocate(1000));
  DeviceBuffer b = llvm::cantFail(device.allocate(1000));
  CHECK(a.size() == 1000);
  CHECK(reinterpret_cast<uintptr_t>(a.data()) % 256 == 0);
  std::string sent(1000, 'x');
  sent[999] = 'y';
  std::string got(1000, ' ');
  llvm::cantFail(device.copyToDevice(a.data(), sent.data(), 1000, stream));
  llvm::cantFail(device.copyOnDevice(b.data(), a.data(), 1000, stream));
  llvm::cantFail(device.fill(b.data(), 'z', 10, stream));
  llvm::cantFail(device.copyToHost(got.data(), b.data(), 1000, stream));
  llvm::cantFail(stream.synchronize());
  CHECK(got == std::string(10, 'z') + sent.substr(10));
  llvm::cantFail(device.synchronize());

  // Nothing to do is not an error, and not a call.
  int copies = gpu->calls["cuMemcpyHtoDAsync_v2"];
  llvm::cantFail(device.copyToDevice(nullptr, nullptr, 0, stream));
  CHECK(gpu->calls["cuMemcpyHtoDAsync_v2"] == copies);
  DeviceBuffer none = llvm::cantFail(device.allocate(0));
  CHECK(none.data() == nullptr);

  // Moving moves what is owned.
  DeviceBuffer moved = std::move(a);
  CHECK(a.data() == nullptr); // NOLINT(bugprone-use-after-move)
  CHECK(moved.size() == 1000);
  moved = std::move(b);
  CHECK(gpu->allocations.size() == 2);
}

TEST_CASE("a GPU that is full") {
  FakeGPU gpu;
  gpu->devices[0].memory = 4096;
  Device &device = gpu.device();
  DeviceBuffer some = llvm::cantFail(device.allocate(4000));
  CHECK_THAT(FakeGPU::message(device.allocate(1000), ErrorKind::OutOfMemory),
             Contains("cannot allocate 1000 bytes on GPU 0") &&
                 Contains("nvidia-smi"));
  some = DeviceBuffer();
  CHECK(llvm::cantFail(device.allocate(1000)).size() == 1000);
}

TEST_CASE("what pointers point to") {
  FakeGPU gpu;
  gpu->devices.resize(2);
  static char host, pinned, managed;
  Driver &driver = gpu.open();
  gpu->registered[reinterpret_cast<uint64_t>(&pinned)] = false;
  gpu->registered[reinterpret_cast<uint64_t>(&managed)] = true;
  DeviceBuffer memory = llvm::cantFail(gpu.device(1).allocate(100));
  auto inspect = [&](const void *pointer) {
    return llvm::cantFail(driver.inspect(pointer));
  };
  CHECK(inspect(&host).kind == PointerInfo::Kind::Host);
  CHECK(inspect(nullptr).kind == PointerInfo::Kind::Host);
  CHECK(inspect(&pinned).kind == PointerInfo::Kind::Pinned);
  CHECK(inspect(&managed).kind == PointerInfo::Kind::Managed);
  PointerInfo inside = inspect(static_cast<char *>(memory.data()) + 99);
  CHECK(inside.kind == PointerInfo::Kind::Device);
  CHECK(inside.device == 1);
  gpu->failures["cuPointerGetAttributes"] = cuda::InvalidValue;
  CHECK_THAT(FakeGPU::message(driver.inspect(&host), ErrorKind::Driver),
             Contains("what a pointer points to"));
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

TEST_CASE("the context that another library chose stays current") {
  FakeGPU gpu;
  gpu->devices.resize(2);
  Driver &driver = gpu.open();
  const cuda::Functions &api = driver.api();
  cuda::Context found = nullptr;
  {
    Stream onFirst = llvm::cantFail(gpu.device(0).createStream());
    api.ctxGetCurrent(&found);
    CHECK(found == nullptr);

    ContextScope scope(gpu.device(1));
    REQUIRE(scope.result() == cuda::Success);
    cuda::Context second = nullptr;
    api.ctxGetCurrent(&second);
    CHECK(second != nullptr);
    CHECK(&llvm::cantFail(driver.currentDevice()) == &gpu.device(1));
    // Work on the first device in between.
    DeviceBuffer buffer = llvm::cantFail(gpu.device(0).allocate(16));
    llvm::cantFail(gpu.device(0).fill(buffer.data(), 1, 16, onFirst));
    api.ctxGetCurrent(&found);
    CHECK(found == second);
    // One that is current already is not pushed again.
    int pushes = gpu->calls["cuCtxPushCurrent_v2"];
    ContextScope again(gpu.device(1));
    CHECK(gpu->calls["cuCtxPushCurrent_v2"] == pushes);
  }
  api.ctxGetCurrent(&found);
  CHECK(found == nullptr);
  CHECK(&llvm::cantFail(driver.currentDevice()) == &gpu.device(0));
}

TEST_CASE("streams of others have a device") {
  FakeGPU gpu;
  gpu->devices = {FakeDevice(), FakeDevice()};
  Driver &driver = gpu.open();
  Stream first = llvm::cantFail(gpu.device(0).createStream());
  Stream second = llvm::cantFail(gpu.device(1).createStream());
  auto deviceOf = [&](cuda::StreamHandle handle) {
    StreamRef found = llvm::cantFail(driver.streamOf(handle));
    CHECK(found.handle == handle);
    return found.device;
  };
  CHECK(deviceOf(StreamRef(first).handle) == &gpu.device(0));
  CHECK(deviceOf(StreamRef(second).handle) == &gpu.device(1));
  // Default streams, by whichever name, are of the current device.
  for (uintptr_t number : {0, 1, 2}) {
    auto *handle = reinterpret_cast<cuda::StreamHandle>(number);
    CHECK(deviceOf(handle) == &gpu.device(0));
    ContextScope scope(gpu.device(1));
    CHECK(deviceOf(handle) == &gpu.device(1));
  }
  // Nothing is left current.
  cuda::Context current = nullptr;
  driver.api().ctxGetCurrent(&current);
  CHECK(current == nullptr);
  gpu->failures["cuStreamGetCtx"] = cuda::InvalidHandle;
  CHECK_THAT(FakeGPU::message(driver.streamOf(StreamRef(second).handle),
                              ErrorKind::Driver),
             Contains("find out which GPU a stream is of"));
}

TEST_CASE("a device keeps one context, however many threads ask") {
  FakeGPU gpu;
  Device &device = gpu.device();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j)
        llvm::cantFail(device.synchronize());
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(gpu->contexts == 1);
  CHECK(gpu->calls["cuCtxPushCurrent_v2"] == 160);
  CHECK(gpu->calls["cuCtxPopCurrent_v2"] == 160);
}

TEST_CASE("a context that cannot be had") {
  FakeGPU gpu;
  Device &device = gpu.device();
  gpu->failures["cuDevicePrimaryCtxRetain"] = cuda::DeviceUnavailable;
  CHECK_THAT(FakeGPU::message(device.retainContext(), ErrorKind::NoDevice),
             Contains("cannot use GPU 0 (Fake GPU): another process has the "
                      "GPU for itself") &&
                 Contains("compute mode"));
  CHECK_THAT(FakeGPU::message(device.allocate(8), ErrorKind::NoDevice),
             Contains("cannot allocate 8 bytes"));
  CHECK_THAT(FakeGPU::message(device.load("FAKE"), ErrorKind::NoDevice),
             Contains("another process"));
  gpu->failures.clear();
  llvm::cantFail(device.retainContext());
}

//===----------------------------------------------------------------------===//
// Streams, events, modules
//===----------------------------------------------------------------------===//

TEST_CASE("events measure time") {
  FakeGPU gpu;
  gpu->eventStep = 2.5f;
  Device &device = gpu.device();
  Stream stream = llvm::cantFail(device.createStream());
  Event begin = llvm::cantFail(device.createEvent());
  Event end = llvm::cantFail(device.createEvent());
  llvm::cantFail(begin.record(stream));
  CHECK_THAT(FakeGPU::message(end.millisecondsSince(begin), ErrorKind::Driver),
             Contains("measure the time between two events"));
  llvm::cantFail(end.record(stream));
  llvm::cantFail(end.synchronize());
  CHECK(llvm::cantFail(end.millisecondsSince(begin)) == 2.5f);
  Event moved = std::move(end);
  CHECK(gpu->events == 2);
}

TEST_CASE("modules and their functions") {
  FakeGPU gpu;
  Device &device = gpu.device();
  DeviceModule module = llvm::cantFail(device.load("FAKE;k:8;other:"));
  DeviceFunction k = llvm::cantFail(module.function("k"));
  llvm::cantFail(k.allowSharedBytes(100000));
  CHECK(gpu->options["k"] == 100000);
  DeviceFunction::Attributes attributes = llvm::cantFail(k.attributes());
  CHECK(attributes.registers == 64);
  CHECK(attributes.sharedBytes == 1001);
  CHECK(attributes.localBytes == 1003);
  CHECK(attributes.maxThreads == 1000);
  CHECK(llvm::cantFail(k.blocksPerMultiprocessor(128, 0)) == 16);
  CHECK_THAT(FakeGPU::message(module.function("none"), ErrorKind::Driver),
             Contains("cannot find the kernel 'none' in its machine code"));
}

TEST_CASE("machine code that the driver does not take") {
  FakeGPU gpu;
  gpu->version = 12040;
  Device &device = gpu.device();
  CHECK_THAT(FakeGPU::message(device.load("nonsense"), ErrorKind::Driver),
             Contains("cannot load a kernel on GPU 0 (Fake GPU, driver of CUDA "
                      "12.4), ptxas says no: "));
  gpu->failures["cuModuleLoadDataEx"] = cuda::InvalidImage;
  CHECK_THAT(FakeGPU::message(device.load("FAKE;k:"), ErrorKind::DriverTooOld),
             Contains("driver of CUDA 12.4") &&
                 Contains("install a newer driver"));
  gpu->failures["cuModuleLoadDataEx"] = cuda::UnsupportedPTXVersion;
  FakeGPU::message(device.load("FAKE;k:"), ErrorKind::DriverTooOld);
}
