//===- LauncherTest.cpp - Launches on a fake driver -------------*- C++ -*-===//

#include "lib/Runtime/GPU/Launcher.h"
#include "lib/Runtime/NarrowFloat.h"
#include "test/Unit/GPURuntime/FakeGPU.h"
#include <atomic>
#include <cstring>
#include <thread>

using namespace tilec;
using namespace tilec::gpu;
using namespace tilec::test;
using Catch::Matchers::Contains;

namespace {
/// A kernel of two matrices and a scalar, on a fake device.
struct Fixture {
  Fixture() {
    image.name = "scale";
    image.arch = "sm_90a";
    image.threads = 256;
    image.sharedBytes = 100 * 1024;
    image.params = {
        KernelParam::pointer(0),           KernelParam::stride(0, 0),
        KernelParam::pointer(2),           KernelParam::stride(2, 0, false),
        KernelParam::extentOf("M"),        KernelParam::extentOf("N", false),
        KernelParam::scalar(1, DType::F32)};
    image.grid = {{"M", 0, 16}, {"N", 0, 32}};
    image.tensors = {{0, "X", DType::F32, 2, 1, 16, true, 31},
                     {2, "Y", DType::BF16, 2, 1, 8, true, 31}};
    code = "FAKE;scale:8,8,8,4,8,4,4";
  }

  /// Arguments of that extent, in memory of a device.
  BoundLaunch bind(int64_t m, int64_t n, unsigned ordinal = 0) {
    BoundLaunch bound;
    bound.extents["M"] = m;
    bound.extents["N"] = n;
    bound.args = {
        TensorView::contiguous(memory(m * n * 4, ordinal), DType::F32, {m, n}),
        ScalarValue::ofFloat(0.5),
        TensorView::contiguous(memory(m * n * 2, ordinal), DType::BF16,
                               {m, n})};
    return bound;
  }
  TensorView &tensor(BoundLaunch &bound, unsigned arg) {
    return std::get<TensorView>(bound.args[arg]);
  }
  void *memory(size_t bytes, unsigned ordinal) {
    buffers.push_back(llvm::cantFail(gpu.device(ordinal).allocate(bytes)));
    return buffers.back().data();
  }
  std::unique_ptr<Launcher> launcher() {
    llvm::cantFail(verify(image));
    return std::make_unique<Launcher>(image, code);
  }
  /// Why a launch fails.
  std::string failure(const BoundLaunch &bound, ErrorKind kind) {
    size_t before = gpu->launches.size();
    auto launcher = this->launcher();
    std::string text = FakeGPU::message(
        launcher->launch(gpu.device().defaultStream(), bound), kind);
    CHECK(gpu->launches.size() == before);
    // A preparation fails in the same way.
    CHECK(FakeGPU::message(launcher->prepare(gpu.device(), bound), kind) ==
          text);
    return text;
  }

  FakeGPU gpu;
  std::vector<DeviceBuffer> buffers;
  KernelImage image;
  std::string code;
};
} // namespace

template <typename T> static T valueOf(const std::string &bytes) {
  REQUIRE(bytes.size() == sizeof(T));
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// That a launch is the one of these arguments.
static void checkScale(const FakeLaunch &launch, const BoundLaunch &bound,
                       cuda::StreamHandle stream) {
  const auto &x = std::get<TensorView>(bound.args[0]);
  const auto &y = std::get<TensorView>(bound.args[2]);
  int64_t m = x.shape[0];
  int64_t n = x.shape[1];
  CHECK(launch.kernel == "scale");
  CHECK(launch.config.gridX == unsigned((m + 15) / 16 * ((n + 31) / 32)));
  CHECK(launch.config.gridY == 1);
  CHECK(launch.config.gridZ == 1);
  CHECK(launch.config.blockX == 256);
  CHECK(launch.config.blockY == 1);
  CHECK(launch.config.blockZ == 1);
  CHECK(launch.config.sharedBytes == 100 * 1024);
  CHECK(launch.config.numAttributes == 0);
  CHECK(launch.config.stream == stream);
  REQUIRE(launch.params.size() == 7);
  CHECK(valueOf<uintptr_t>(launch.params[0]) ==
        reinterpret_cast<uintptr_t>(x.data));
  CHECK(valueOf<int64_t>(launch.params[1]) == x.strides[0]);
  CHECK(valueOf<uintptr_t>(launch.params[2]) ==
        reinterpret_cast<uintptr_t>(y.data));
  CHECK(valueOf<int32_t>(launch.params[3]) == y.strides[0]);
  CHECK(valueOf<int64_t>(launch.params[4]) == m);
  CHECK(valueOf<int32_t>(launch.params[5]) == n);
  CHECK(valueOf<float>(launch.params[6]) == 0.5f);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_CASE("a launch passes its arguments") {
  Fixture fixture;
  Device &device = fixture.gpu.device();
  Stream stream = llvm::cantFail(device.createStream());
  auto launcher = fixture.launcher();
  for (auto [m, n] : {std::pair<int64_t, int64_t>{64, 64},
                      {17, 8},
                      {16, 40},
                      {1, 4},
                      {1000, 36}}) {
    BoundLaunch bound = fixture.bind(m, n);
    llvm::cantFail(launcher->launch(stream, bound));
    CHECK(llvm::cantFail(launcher->numPrograms(bound)) ==
          (m + 15) / 16 * ((n + 31) / 32));
    BoundLaunch expected = bound;
    if (m == 1) // The stride of one position is passed as 0.
      for (unsigned arg : {0u, 2u})
        fixture.tensor(expected, arg).strides[0] = 0;
    checkScale(fixture.gpu->launches.back(), expected,
               StreamRef(stream).handle);
  }
  CHECK(fixture.gpu->launches.size() == 5);
  // The code was loaded once, and allowed its shared memory.
  CHECK(fixture.gpu->calls["cuModuleLoadDataEx"] == 1);
  CHECK(fixture.gpu->options["scale"] == 100 * 1024);
}

TEST_CASE("a prepared launch repeats") {
  Fixture fixture;
  Device &device = fixture.gpu.device();
  Stream stream = llvm::cantFail(device.createStream());
  Stream other = llvm::cantFail(device.createStream());
  BoundLaunch bound = fixture.bind(64, 64);
  auto launcher = fixture.launcher();
  PreparedLaunch ready = llvm::cantFail(launcher->prepare(device, bound));
  CHECK(fixture.gpu->launches.empty());
  CHECK(ready.numPrograms() == 8);
  CHECK(&ready.device() == &device);
  // Neither the launcher nor the place of the object matters.
  launcher.reset();
  PreparedLaunch moved = std::move(ready);
  ContextScope scope(device);
  fixture.gpu->calls.clear();
  for (int i = 0; i < 3; ++i)
    llvm::cantFail(moved.run(i == 2 ? other : stream));
  REQUIRE(fixture.gpu->launches.size() == 3);
  checkScale(fixture.gpu->launches[0], bound, StreamRef(stream).handle);
  checkScale(fixture.gpu->launches[2], bound, StreamRef(other).handle);
  // Nothing is called but this, and the question for the current context.
  CHECK(fixture.gpu->calls ==
        std::map<std::string, int>{{"cuCtxGetCurrent", 3},
                                   {"cuLaunchKernelEx", 3}});
}

TEST_CASE("a prepared launch can be captured") {
  Fixture fixture;
  Device &device = fixture.gpu.device();
  Stream stream = llvm::cantFail(device.createStream());
  auto launcher = fixture.launcher();
  BoundLaunch bound = fixture.bind(64, 64);
  PreparedLaunch ready = llvm::cantFail(launcher->prepare(device, bound));
  fixture.gpu->capturing = true;
  llvm::cantFail(ready.run(stream));
  CHECK(fixture.gpu->violation == "");
  CHECK(fixture.gpu->launches.size() == 1);
  // That the fake driver would notice: a first launch loads the code.
  auto late = fixture.launcher();
  CHECK_THAT(FakeGPU::message(late->launch(stream, bound), ErrorKind::Driver),
             Contains("prepare the launch before the capture begins"));
  CHECK_THAT(fixture.gpu->violation, Contains("during a capture"));
  fixture.gpu->capturing = false;
  fixture.gpu->violation = "";
}

TEST_CASE("a prepared launch belongs to its device") {
  Fixture fixture;
  fixture.gpu->devices.resize(2);
  auto launcher = fixture.launcher();
  PreparedLaunch ready = llvm::cantFail(
      launcher->prepare(fixture.gpu.device(1), fixture.bind(16, 32, 1)));
  llvm::cantFail(ready.run(fixture.gpu.device(1).defaultStream()));
  CHECK(fixture.gpu->launches.back().device == 1);
  CHECK_THAT(FakeGPU::message(ready.run(fixture.gpu.device(0).defaultStream()),
                              ErrorKind::WrongDevice),
             Contains("the launch of 'scale' was prepared for GPU 1, got a "
                      "stream of GPU 0"));
}

TEST_CASE("no programs, no launch") {
  Fixture fixture;
  auto launcher = fixture.launcher();
  StreamRef stream = fixture.gpu.device().defaultStream();
  for (auto [m, n] : {std::pair<int64_t, int64_t>{0, 64}, {64, 0}, {0, 0}}) {
    BoundLaunch bound = fixture.bind(m, n);
    CHECK(fixture.tensor(bound, 0).data == nullptr);
    CHECK(llvm::cantFail(launcher->numPrograms(bound)) == 0);
    llvm::cantFail(launcher->launch(stream, bound));
    PreparedLaunch ready =
        llvm::cantFail(launcher->prepare(*stream.device, bound));
    CHECK(ready.numPrograms() == 0);
    llvm::cantFail(ready.run(stream));
  }
  CHECK(fixture.gpu->launches.empty());
  // However large the other axes are.
  BoundLaunch bound = fixture.bind(0, 64);
  bound.extents["N"] = INT64_MAX;
  CHECK(llvm::cantFail(launcher->numPrograms(bound)) == 0);
}

TEST_CASE("an empty input does not stop a launch") {
  // C = A B with K = 0 is a matrix of zeros, which someone has to write.
  Fixture fixture;
  fixture.image.grid = {{"M", 0, 16}};
  auto launcher = fixture.launcher();
  BoundLaunch bound = fixture.bind(32, 0);
  llvm::cantFail(launcher->launch(fixture.gpu.device().defaultStream(), bound));
  REQUIRE(fixture.gpu->launches.size() == 1);
  CHECK(fixture.gpu->launches[0].config.gridX == 2);
  CHECK(valueOf<uintptr_t>(fixture.gpu->launches[0].params[0]) == 0);
  CHECK(valueOf<int64_t>(fixture.gpu->launches[0].params[1]) == 0);
}

TEST_CASE("the size of the grid") {
  Fixture fixture;
  auto programs = [&](std::vector<GridAxis> grid, int64_t m, int64_t n) {
    fixture.image.grid = grid;
    BoundLaunch bound;
    bound.extents["M"] = m;
    bound.extents["N"] = n;
    return fixture.launcher()->numPrograms(bound);
  };
  CHECK(llvm::cantFail(programs({}, 5, 5)) == 1);
  CHECK(llvm::cantFail(programs({{"M", 0, 1}}, 5, 5)) == 5);
  CHECK(llvm::cantFail(programs({{"", 10, 3}, {"M", 0, 2}}, 5, 5)) == 12);
  CHECK(llvm::cantFail(programs({{"", 0, 3}}, 5, 5)) == 0);
  CHECK(llvm::cantFail(programs({{"M", 0, 1}}, INT32_MAX, 5)) == INT32_MAX);
  CHECK(llvm::cantFail(programs({{"M", 0, INT64_MAX}}, INT64_MAX, 5)) == 1);
  // An extent that is computed may be negative, and then holds nothing.
  CHECK(llvm::cantFail(programs({{"M", 0, 4}}, -3, 5)) == 0);

  auto message = [&](std::vector<GridAxis> grid, int64_t m, int64_t n) {
    return FakeGPU::message(programs(grid, m, n), ErrorKind::TooLarge);
  };
  CHECK_THAT(message({{"M", 0, 1}}, int64_t(1) << 31, 5),
             Contains("the grid of 'scale' is expected to have at most "
                      "2147483647 programs, got 2147483648 (2147483648 along M "
                      "in tiles of 1)") &&
                 Contains("use larger tiles"));
  CHECK_THAT(message({{"M", 0, 2}, {"N", 0, 1}, {"", 4, 1}}, INT64_MAX, 100),
             Contains("got more than 64 bits hold (4611686018427387904 along M "
                      "in tiles of 2, 100 along N in tiles of 1, 4 along 4 in "
                      "tiles of 1)"));
  CHECK_THAT(
      FakeGPU::message(programs({{"K", 0, 1}}, 1, 1), ErrorKind::BadArgument),
      Contains("dimension 'K' has no extent"));
}

TEST_CASE("scalars of every type") {
  struct Case {
    DType dtype;
    ScalarValue value;
    uint64_t bits;
  };
  Fixture fixture;
  fixture.image.tensors.clear();
  fixture.image.grid.clear();
  fixture.image.name = "k";
  fixture.image.sharedBytes = 0;
  for (const Case &c : {
           Case{DType::F64, ScalarValue::ofFloat(-2.5, DType::F64),
                0xC004000000000000},
           {DType::F32, ScalarValue::ofFloat(1.5), 0x3FC00000},
           {DType::TF32, ScalarValue::ofFloat(1.5, DType::TF32), 0x3FC00000},
           {DType::F16, ScalarValue::ofFloat(1.5, DType::F16), 0x3E00},
           {DType::BF16, ScalarValue::ofFloat(-1.5, DType::BF16), 0xBFC0},
           {DType::F8E4M3, ScalarValue::ofFloat(1.5, DType::F8E4M3), 0x3C},
           {DType::F8E5M2, ScalarValue::ofFloat(1.5, DType::F8E5M2), 0x3E},
           {DType::I64, ScalarValue::ofInt(-2), 0xFFFFFFFFFFFFFFFE},
           {DType::I32, ScalarValue::ofInt(-2, DType::I32), 0xFFFFFFFE},
           {DType::I16, ScalarValue::ofInt(-2, DType::I16), 0xFFFE},
           {DType::I8, ScalarValue::ofInt(-2, DType::I8), 0xFE},
           {DType::U8, ScalarValue::ofInt(200, DType::U8), 200},
           {DType::Bool, ScalarValue::ofBool(true), 1},
           // Of another type than the parameter: converted.
           {DType::F32, ScalarValue::ofInt(3), 0x40400000},
       }) {
    unsigned size = byteSize(c.dtype);
    fixture.image.params = {KernelParam::scalar(0, DType::Bool),
                            KernelParam::scalar(1, c.dtype),
                            KernelParam::scalar(0, DType::Bool)};
    fixture.code = "FAKE;k:1," + std::to_string(size) + ",1";
    BoundLaunch bound;
    bound.args = {ScalarValue::ofBool(true), c.value};
    auto launcher = fixture.launcher();
    llvm::cantFail(
        launcher->launch(fixture.gpu.device().defaultStream(), bound));
    const FakeLaunch &launch = fixture.gpu->launches.back();
    CHECK(launch.params[0] == "\1");
    CHECK(launch.params[2] == "\1");
    std::string expected(size, '\0');
    for (unsigned i = 0; i < size; ++i)
      expected[i] = char(c.bits >> (8 * i));
    INFO(dtypeName(c.dtype).str());
    CHECK(launch.params[1] == expected);
  }
  CHECK(fixture.gpu->options.count("k") == 1);
}

TEST_CASE("a kernel of very many parameters") {
  Fixture fixture;
  fixture.image.tensors.clear();
  fixture.image.grid.clear();
  fixture.image.params.assign(512, KernelParam::extentOf("M"));
  fixture.code = "FAKE;scale:8";
  for (int i = 1; i < 512; ++i)
    fixture.code += ",8";
  BoundLaunch bound;
  bound.extents["M"] = 77;
  auto launcher = fixture.launcher();
  llvm::cantFail(launcher->launch(fixture.gpu.device().defaultStream(), bound));
  REQUIRE(fixture.gpu->launches[0].params.size() == 512);
  CHECK(valueOf<int64_t>(fixture.gpu->launches[0].params[0]) == 77);
  CHECK(valueOf<int64_t>(fixture.gpu->launches[0].params[511]) == 77);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST_CASE("memory that a kernel cannot access") {
  Fixture fixture;
  fixture.gpu->devices.resize(2);
  BoundLaunch bound = fixture.bind(64, 64);
  alignas(16) static float host[64 * 64];
  fixture.tensor(bound, 0).data = host;
  CHECK_THAT(fixture.failure(bound, ErrorKind::HostMemory),
             Contains("argument 'X' is expected to be in memory of GPU 0, got "
                      "host memory at 0x") &&
                 Contains("copy the array to the GPU"));
  // What CUDA knows of is fine: pinned and managed memory.
  auto launcher = fixture.launcher();
  for (bool managed : {false, true}) {
    fixture.gpu->registered[reinterpret_cast<uint64_t>(host)] = managed;
    llvm::cantFail(
        launcher->launch(fixture.gpu.device().defaultStream(), bound));
  }
  fixture.gpu->registered.clear();

  fixture.tensor(bound, 0).data = fixture.memory(64 * 64 * 4, 1);
  CHECK_THAT(fixture.failure(bound, ErrorKind::WrongDevice),
             Contains("argument 'X' is expected to be in memory of GPU 0, got "
                      "memory of GPU 1"));
}

TEST_CASE("arrays that the code is not compiled for") {
  Fixture fixture;
  BoundLaunch bound = fixture.bind(64, 64);
  auto &data = fixture.tensor(bound, 0).data;
  data = static_cast<char *>(data) + 4;
  CHECK_THAT(fixture.failure(bound, ErrorKind::BadArgument),
             Contains("argument 'X' is expected to begin at a multiple of 16 "
                      "bytes"));
  data = static_cast<char *>(data) + 12;
  fixture.tensor(bound, 2).strides = {66, 1};
  CHECK_THAT(fixture.failure(bound, ErrorKind::BadArgument),
             Contains("argument 'Y' is expected to have strides that are "
                      "multiples of 8 bytes"));
  fixture.tensor(bound, 2).strides = {64, 2};
  CHECK_THAT(fixture.failure(bound, ErrorKind::BadArgument),
             Contains("argument 'Y' is expected to have stride 1"));
}

TEST_CASE("numbers that do not fit 32 bits") {
  Fixture fixture;
  fixture.image.tensors[1].index32 = false;
  BoundLaunch bound = fixture.bind(64, 64);
  fixture.tensor(bound, 2).strides = {int64_t(1) << 32, 1};
  CHECK_THAT(
      fixture.failure(bound, ErrorKind::BadArgument),
      Contains("stride 0 of argument 'Y' is expected to fit 32 bits, got "
               "4294967296"));
  bound = fixture.bind(64, 64);
  bound.extents["N"] = -(int64_t(1) << 31) - 1;
  fixture.image.grid.clear();
  CHECK_THAT(fixture.failure(bound, ErrorKind::BadArgument),
             Contains("dimension 'N' is expected to fit 32 bits, got "
                      "-2147483649"));
}

TEST_CASE("an extent that is part of the code") {
  Fixture fixture;
  fixture.image.extents = {{"N", 64}};
  auto launcher = fixture.launcher();
  StreamRef stream = fixture.gpu.device().defaultStream();
  llvm::cantFail(launcher->launch(stream, fixture.bind(32, 64)));
  CHECK_THAT(fixture.failure(fixture.bind(32, 68), ErrorKind::BadArgument),
             Contains("dimension 'N' is expected to be 64, got 68"));
  fixture.image.extents = {{"K", 3}};
  CHECK_THAT(fixture.failure(fixture.bind(32, 64), ErrorKind::BadArgument),
             Contains("dimension 'K' is expected to be 3, got no value"));
}

TEST_CASE("an extent that is to be a multiple") {
  Fixture fixture;
  fixture.image.divisors = {{"M", 16}, {"N", 4}};
  auto launcher = fixture.launcher();
  StreamRef stream = fixture.gpu.device().defaultStream();
  llvm::cantFail(launcher->launch(stream, fixture.bind(32, 68)));
  llvm::cantFail(launcher->launch(stream, fixture.bind(0, 64)));
  CHECK_THAT(
      fixture.failure(fixture.bind(24, 64), ErrorKind::BadArgument),
      Contains("dimension 'M' is expected to be a multiple of 16, got 24"));
  fixture.image.divisors = {{"K", 8}};
  CHECK_THAT(
      fixture.failure(fixture.bind(32, 64), ErrorKind::BadArgument),
      Contains(
          "dimension 'K' is expected to be a multiple of 8, got no value"));
}

TEST_CASE("arguments that are not those of the kernel") {
  Fixture fixture;
  BoundLaunch bound = fixture.bind(32, 64);
  std::swap(bound.args[0], bound.args[1]);
  CHECK_THAT(fixture.failure(bound, ErrorKind::BadArgument),
             Contains("argument 0 ('X') is expected to be a tensor"));
  bound = fixture.bind(32, 64);
  bound.args.pop_back();
  CHECK_THAT(fixture.failure(bound, ErrorKind::BadArgument),
             Contains("argument 2 ('Y') is expected to be a tensor"));
  bound = fixture.bind(32, 64);
  bound.args[1] = std::monostate();
  CHECK_THAT(fixture.failure(bound, ErrorKind::BadArgument),
             Contains("argument 1 is expected to be a scalar"));
  bound = fixture.bind(32, 64);
  bound.extents.erase("M");
  CHECK_THAT(fixture.failure(bound, ErrorKind::BadArgument),
             Contains("dimension 'M' has no extent"));
}

TEST_CASE("devices that the code is not for") {
  Fixture fixture;
  fixture.gpu->devices[0].major = 8;
  fixture.gpu->devices[0].name = "Older";
  BoundLaunch bound = fixture.bind(32, 64);
  CHECK_THAT(fixture.failure(bound, ErrorKind::WrongDevice),
             Contains("the kernel 'scale' is compiled for sm_90a, and does not "
                      "run on GPU 0 (Older, sm_80)") &&
                 Contains("compile it for the target sm_80"));
  CHECK(fixture.gpu->calls["cuModuleLoadDataEx"] == 0);
  fixture.image.arch = "sm_80";
  llvm::cantFail(fixture.launcher()->load(fixture.gpu.device()));
}

TEST_CASE("a newer device gets the PTX") {
  Fixture fixture;
  fixture.gpu->devices.resize(2);
  fixture.gpu->devices[1].major = 10;
  Device &device = fixture.gpu.device(); // Of 9.0.
  const std::string refused = "machine code of another kind";
  fixture.image.arch = "sm_80";
  Launcher older(fixture.image, refused, fixture.code);
  llvm::cantFail(older.launch(device.defaultStream(), fixture.bind(32, 64)));
  CHECK(fixture.gpu->launches.size() == 1);
  Launcher without(fixture.image, fixture.code);
  CHECK_THAT(FakeGPU::message(without.load(device), ErrorKind::WrongDevice),
             Contains("compiled for sm_80, and does not run on GPU 0"));
  // Machine code goes before PTX where it runs, and what is tied to one kind of
  // device runs on no other.
  fixture.image.arch = "sm_90a";
  llvm::cantFail(Launcher(fixture.image, fixture.code, refused).load(device));
  Launcher tied(fixture.image, refused, fixture.code);
  CHECK_THAT(FakeGPU::message(tied.load(fixture.gpu.device(1)),
                              ErrorKind::WrongDevice),
             Contains("compiled for sm_90a, and does not run on GPU 1"));
}

TEST_CASE("blocks that a device does not hold") {
  Fixture fixture;
  fixture.gpu->devices[0].sharedOptin = 99 * 1024;
  CHECK_THAT(fixture.failure(fixture.bind(32, 64), ErrorKind::TooLarge),
             Contains("takes 102400 bytes of shared memory in a block, and GPU "
                      "0 (Fake GPU, sm_90) has at most 101376") &&
                 Contains("use smaller tiles"));
}

TEST_CASE("a launch that the driver refuses") {
  Fixture fixture;
  auto launcher = fixture.launcher();
  BoundLaunch bound = fixture.bind(32, 64);
  StreamRef stream = fixture.gpu.device().defaultStream();
  fixture.gpu->failures["cuLaunchKernelEx"] = cuda::LaunchOutOfResources;
  CHECK_THAT(
      FakeGPU::message(launcher->launch(stream, bound), ErrorKind::TooLarge),
      Contains("cannot launch the kernel 'scale': a block takes more "
               "registers or shared memory"));
  fixture.gpu->failures["cuLaunchKernelEx"] = cuda::IllegalAddress;
  CHECK_THAT(FakeGPU::message(launcher->launch(stream, bound),
                              ErrorKind::KernelFailed),
             Contains("accessed memory that is not there"));
  fixture.gpu->failures.clear();
  llvm::cantFail(launcher->launch(stream, bound));
}

TEST_CASE("loading that fails is tried again") {
  Fixture fixture;
  auto launcher = fixture.launcher();
  BoundLaunch bound = fixture.bind(32, 64);
  StreamRef stream = fixture.gpu.device().defaultStream();
  fixture.gpu->failures["cuModuleLoadDataEx"] = cuda::OutOfMemory;
  FakeGPU::message(launcher->launch(stream, bound), ErrorKind::OutOfMemory);
  fixture.gpu->failures.clear();
  fixture.gpu->failures["cuFuncSetAttribute"] = cuda::InvalidValue;
  CHECK_THAT(
      FakeGPU::message(launcher->launch(stream, bound), ErrorKind::Driver),
      Contains("cannot allow a kernel 102400 bytes of shared memory"));
  CHECK(fixture.gpu->modules == 0); // What was half made is gone.
  fixture.gpu->failures.clear();
  llvm::cantFail(launcher->launch(stream, bound));
  Launcher other(fixture.image, "FAKE;another:");
  CHECK_THAT(FakeGPU::message(other.load(*stream.device), ErrorKind::Driver),
             Contains("cannot find the kernel 'scale'"));
}

//===----------------------------------------------------------------------===//
// Threads and devices
//===----------------------------------------------------------------------===//

TEST_CASE("first launches from many threads on several devices") {
  Fixture fixture;
  fixture.gpu->devices.resize(3);
  std::vector<BoundLaunch> bound;
  for (unsigned i = 0; i < 3; ++i)
    bound.push_back(fixture.bind(64, 64, i));
  auto launcher = fixture.launcher();
  constexpr int numThreads = 8;
  constexpr int numLaunches = 30;
  std::atomic<int> waiting = numThreads;
  std::vector<std::thread> threads;
  for (int t = 0; t < numThreads; ++t)
    threads.emplace_back([&, t] {
      for (--waiting; waiting > 0;)
        std::this_thread::yield();
      for (int i = 0; i < numLaunches; ++i) {
        unsigned ordinal = (t + i) % 3;
        StreamRef stream = fixture.gpu.device(ordinal).defaultStream();
        if (i % 2)
          llvm::cantFail(launcher->launch(stream, bound[ordinal]));
        else
          llvm::cantFail(
              llvm::cantFail(launcher->prepare(*stream.device, bound[ordinal]))
                  .run(stream));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(fixture.gpu->calls["cuModuleLoadDataEx"] == 3);
  CHECK(fixture.gpu->contexts == 3);
  REQUIRE(fixture.gpu->launches.size() == numThreads * numLaunches);
  std::map<int, int> perDevice;
  for (const FakeLaunch &launch : fixture.gpu->launches) {
    ++perDevice[launch.device];
    checkScale(launch, bound[launch.device], nullptr);
  }
  CHECK(perDevice == std::map<int, int>{{0, 80}, {1, 80}, {2, 80}});
}

TEST_CASE("one prepared launch from many threads") {
  Fixture fixture;
  BoundLaunch bound = fixture.bind(64, 64);
  auto launcher = fixture.launcher();
  const PreparedLaunch ready =
      llvm::cantFail(launcher->prepare(fixture.gpu.device(), bound));
  std::vector<Stream> streams;
  for (int i = 0; i < 8; ++i)
    streams.push_back(llvm::cantFail(fixture.gpu.device().createStream()));
  std::vector<std::thread> threads;
  for (Stream &stream : streams)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        llvm::cantFail(ready.run(stream));
    });
  for (std::thread &thread : threads)
    thread.join();
  std::map<cuda::StreamHandle, int> perStream;
  for (const FakeLaunch &launch : fixture.gpu->launches) {
    ++perStream[launch.config.stream];
    checkScale(launch, bound, launch.config.stream);
  }
  CHECK(perStream.size() == 8);
  for (auto [stream, count] : perStream)
    CHECK(count == 50);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

TEST_CASE("a kernel that reports has an area of memory for it") {
  Fixture fixture;
  fixture.image.params.push_back(KernelParam::reports());
  fixture.image.sites = {{SiteKind::OutOfRange, "a.tile", 5, 7, "", {}}};
  fixture.code = "FAKE;scale:8,8,8,4,8,4,4,8";
  Device &device = fixture.gpu.device();
  auto launcher = fixture.launcher();
  BoundLaunch bound = fixture.bind(16, 32);
  ReportSink sink;

  // Two launches use the same area. The fake kernel does not write to it.
  llvm::cantFail(launcher->launch(device.defaultStream(), bound));
  llvm::cantFail(launcher->prepare(device, bound)->run(device.defaultStream()));
  REQUIRE(fixture.gpu->launches.size() == 2);
  auto address = valueOf<uintptr_t>(fixture.gpu->launches[0].params[7]);
  CHECK(valueOf<uintptr_t>(fixture.gpu->launches[1].params[7]) == address);
  llvm::cantFail(launcher->collectReports(device, sink));
  CHECK(sink.empty());

  // What a kernel would write there, twice. Reading takes it away.
  auto *words = reinterpret_cast<int64_t *>(address);
  for (int64_t index : {40, -1}) {
    words[4] = 1;
    words[5] = index;
    words[6] = 32;
    llvm::cantFail(launcher->collectReports(device, sink));
    CHECK(words[4] == 0);
  }
  llvm::cantFail(launcher->collectReports(device, sink));
  std::vector<Report> reports = sink.reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].site == fixture.image.sites[0]);
  CHECK(reports[0].count == 2);
  CHECK(reports[0].indices[0].index == 40);
  CHECK(reports[0].indices[1].index == -1);
}

TEST_CASE("a kernel that cannot report has no such area") {
  Fixture fixture;
  Device &device = fixture.gpu.device();
  auto launcher = fixture.launcher();
  BoundLaunch bound = fixture.bind(16, 32);
  size_t before = fixture.gpu->allocations.size();
  llvm::cantFail(launcher->launch(device.defaultStream(), bound));
  CHECK(fixture.gpu->allocations.size() == before);
  ReportSink sink;
  llvm::cantFail(launcher->collectReports(device, sink));
  CHECK(sink.empty());

  // A parameter for reports without a place that could report is a mistake.
  fixture.image.params.push_back(KernelParam::reports());
  CHECK_THAT(llvm::toString(verify(fixture.image)), Contains("no sites"));
}
