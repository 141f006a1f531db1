//===- FakeMachine.cpp - libtilec on a machine with two fake GPUs -*- C++ -===//

#include "test/Unit/API/FakeMachine.h"
#include <dlfcn.h>

using namespace tilec;
using namespace tilec::test;

static void *open(const char *path) {
  static void *driver = dlopen(TILEC_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  static void *nvrtc = dlopen(TILEC_FAKE_NVRTC, RTLD_NOW | RTLD_LOCAL);
  return std::string(path) == TILEC_FAKE_DRIVER ? driver : nvrtc;
}

template <typename Function> Function *FakeMachine::find(const char *name) {
  void *address = dlsym(open(TILEC_FAKE_DRIVER), name);
  REQUIRE(address);
  return reinterpret_cast<Function *>(address);
}

FakeMachine::FakeMachine() {
  setenv("TILEC_CUDA_DRIVER", TILEC_FAKE_DRIVER, 1);
  setenv("TILEC_NVRTC", TILEC_FAKE_NVRTC, 1);
  // Before the library opens it, and never again: what it knows of the driver
  // stays.
  static bool isSet = false;
  if (!isSet)
    find<void()>("tilecFakeReset")();
  driver = find<FakeState *()>("tilecFakeState")();
  nvrtc = reinterpret_cast<FakeCompiler *(*)()>(
      dlsym(open(TILEC_FAKE_NVRTC), "tilecFakeCompiler"))();
  if (!isSet) {
    FakeDevice older;
    older.name = "Older fake GPU";
    older.major = 8;
    driver->devices = {FakeDevice(), FakeDevice(), older};
    isSet = true;
  }
  compilesBefore = nvrtc->compiles;
  launchesBefore = driver->launches.size();
}

FakeMachine::~FakeMachine() {
  CHECK(driver->violation == "");
  driver->violation.clear();
  driver->failures.clear();
  driver->capturing = false;
  driver->onLaunch = nullptr;
  nvrtc->onCompile = nullptr;
  auto pop = find<cuda::Result(cuda::Context *)>("cuCtxPopCurrent_v2");
  cuda::Context context;
  for (; pushed > 0; --pushed)
    pop(&context);
}

void *FakeMachine::memory(size_t bytes, int device) {
  size_t rounded = (bytes + 255) / 256 * 256;
  void *memory = std::aligned_alloc(256, rounded ? rounded : 256);
  std::lock_guard<std::recursive_mutex> lock(driver->mutex);
  driver->allocations[reinterpret_cast<uintptr_t>(memory)] = {device, rounded};
  return memory;
}

static size_t byteSize(DType dtype) {
  switch (dtype) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
    return 2;
  case DType::F32:
  case DType::TF32:
  case DType::I32:
    return 4;
  default:
    return 1;
  }
}

TensorView FakeMachine::tensor(DType dtype, std::vector<int64_t> shape,
                               int device) {
  size_t bytes = byteSize(dtype);
  for (int64_t extent : shape)
    bytes *= size_t(extent);
  return TensorView(memory(bytes, device), dtype, std::move(shape));
}

void FakeMachine::setCurrent(int device) {
  auto init = find<cuda::Result(unsigned)>("cuInit");
  auto get = find<cuda::Result(cuda::DeviceHandle *, int)>("cuDeviceGet");
  auto retain = find<cuda::Result(cuda::Context *, cuda::DeviceHandle)>(
      "cuDevicePrimaryCtxRetain");
  auto push = find<cuda::Result(cuda::Context)>("cuCtxPushCurrent_v2");
  cuda::DeviceHandle handle = 0;
  cuda::Context context = nullptr;
  REQUIRE((init(0) == cuda::Success && get(&handle, device) == cuda::Success &&
           retain(&context, handle) == cuda::Success &&
           push(context) == cuda::Success));
  ++pushed;
}

tilec_stream FakeMachine::stream(int device) {
  setCurrent(device);
  auto create =
      find<cuda::Result(cuda::StreamHandle *, unsigned)>("cuStreamCreate");
  cuda::StreamHandle handle = nullptr;
  REQUIRE(create(&handle, 0) == cuda::Success);
  auto pop = find<cuda::Result(cuda::Context *)>("cuCtxPopCurrent_v2");
  cuda::Context context;
  pop(&context);
  --pushed;
  return handle;
}

Module tilec::test::compileText(const std::string &text,
                                const Options &options) {
  return take(compileString("test.tile", text, options));
}
