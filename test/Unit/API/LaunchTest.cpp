//===- LaunchTest.cpp - The API on fake GPUs --------------------*- C++ -*-===//
//
// What is compiled for which arguments, where it runs, and what is refused.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/API/FakeMachine.h"
#include <atomic>
#include <cstring>
#include <thread>

using namespace tilec;
using namespace tilec::test;
using Catch::Matchers::Contains;

/// M is tiled, N a whole axis.
static const char *const scale = R"(
kernel scale(X: f32[M, N], s: f32 = 2, Y: out f32[M, N]) requires M < 5000 {
  grid m in tile(M, 16)
  Y[m] = X[m] * s / max<N>(abs(X[m]))
}
)";

template <typename T> static T valueOf(const std::string &bytes) {
  T value = {};
  REQUIRE(bytes.size() == sizeof(T));
  std::memcpy(static_cast<void *>(&value), bytes.data(), sizeof(T));
  return value;
}

/// Whether some parameter of a launch is this address.
static bool passes(const FakeLaunch &launch, const void *pointer) {
  for (const std::string &param : launch.params)
    if (param.size() == sizeof(pointer) &&
        valueOf<const void *>(param) == pointer)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Specialization
//===----------------------------------------------------------------------===//

TEST_CASE("a launch compiles, and the next one finds it") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64});
  TensorView y = machine.tensor(DType::F32, {40, 64});
  succeed(kernel.launch(nullptr, x, 0.5, y));
  CHECK(machine.compiles() == 1);
  REQUIRE(machine.launches() == 1);
  const FakeLaunch &launch = machine.lastLaunch();
  CHECK(launch.kernel == "scale");
  CHECK(launch.device == 0);
  CHECK(launch.config.gridX == 3);
  CHECK(passes(launch, x.data));
  CHECK(passes(launch, y.data));
  CHECK(valueOf<float>(launch.params.back()) == 0.5f);

  succeed(kernel.launch(nullptr, x, Default(), y));
  CHECK(machine.compiles() == 1);
  CHECK(valueOf<float>(machine.lastLaunch().params.back()) == 2.0f);
}

TEST_CASE("what code is compiled for") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  int expected = 0;
  auto launch = [&](const TensorView &x, const TensorView &y, bool isNew) {
    succeed(kernel.launch(nullptr, x, 1, y));
    expected += isNew;
    CHECK(machine.compiles() == expected);
  };
  auto plain = [&](int64_t m, int64_t n, bool isNew) {
    launch(machine.tensor(DType::F32, {m, n}),
           machine.tensor(DType::F32, {m, n}), isNew);
  };
  plain(40, 64, true);
  plain(41, 64, false); // Any M,
  plain(48, 64, true);  // but of multiples of 16 more is known.
  plain(32, 64, false);
  plain(33, 64, false);
  plain(40, 65, true); // The whole axis; and rows that are not aligned.
  plain(40, 66, true);

  // Where a tensor begins.
  auto at = [&](int64_t bytes) {
    char *memory = static_cast<char *>(machine.memory(41 * 64 * 4 + 64));
    return TensorView(memory + bytes, DType::F32, {40, 64});
  };
  launch(at(16), machine.tensor(DType::F32, {40, 64}), false);
  launch(at(4), machine.tensor(DType::F32, {40, 64}), true);
  launch(at(8), machine.tensor(DType::F32, {40, 64}), true);
  launch(at(12), machine.tensor(DType::F32, {40, 64}), false);

  // Which dimension is contiguous.
  TensorView transposed = machine.tensor(DType::F32, {40, 64});
  transposed.strides = {1, 40};
  launch(transposed, machine.tensor(DType::F32, {40, 64}), true);
  // Row strides are arguments, if they keep the alignment.
  TensorView padded(machine.memory(40 * 80 * 4), DType::F32, {40, 64}, {80, 1});
  launch(padded, machine.tensor(DType::F32, {40, 64}), false);
  CHECK(valueOf<float>(machine.lastLaunch().params.back()) == 1.0f);
}

TEST_CASE("an empty launch is none") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  succeed(kernel.launch(nullptr, TensorView(nullptr, DType::F32, {0, 64}), 1,
                        TensorView(nullptr, DType::F32, {0, 64})));
  CHECK(machine.launches() == 0);
}

TEST_CASE("what the code tells of itself") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {48, 64});
  TensorView y = machine.tensor(DType::F32, {48, 64});
  Code code = take(kernel.compile(x, 1, y));
  CHECK(code.target() == "sm_90a");
  CHECK(code.origin() == Origin::Compiled);
  CHECK(code.milliseconds() > 0);
  CHECK(code.registers() == 42);
  CHECK(code.threads() % 32 == 0);
  CHECK(code.threads() > 0);
  CHECK_THAT(std::string(code.cuda()), Contains("__global__"));
  CHECK(code.ptx() == "// fake PTX of scale\n");
  CHECK_THAT(std::string(code.cubin()), Contains("FAKE sm_90a;scale:8,8"));
  CHECK_THAT(std::string(code.image()), Contains("\"arch\": \"sm_90a\""));
  CHECK(code.specialization() ==
        "M % 16 == 0\nN = 64\n"
        "X: stride 1 in dimension 1, aligned to 16 bytes\n"
        "Y: stride 1 in dimension 1, aligned to 16 bytes\n"
        "offsets in 31 bits\n");
  CHECK(machine.launches() == 0);

  Code again = take(kernel.compile(x, 1, y));
  CHECK(again.origin() == Origin::Memory);
  CHECK(again.cubin().data() == code.cubin().data());
  CHECK(machine.compiles() == 1);
}

//===----------------------------------------------------------------------===//
// Launches like earlier ones
//===----------------------------------------------------------------------===//

TEST_CASE("a launch that differs in addresses only") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  tilec_stream stream = machine.stream(0);
  for (int i = 0; i < 4; ++i) {
    TensorView x = machine.tensor(DType::F32, {40, 64});
    TensorView y = machine.tensor(DType::F32, {40, 64});
    succeed(kernel.launch(i % 2 ? stream : nullptr, x, 0.5, y));
    REQUIRE(machine.launches() == size_t(i + 1));
    const FakeLaunch &launch = machine.lastLaunch();
    CHECK(launch.config.gridX == 3);
    CHECK(launch.config.stream == (i % 2 ? stream : nullptr));
    CHECK(passes(launch, x.data));
    CHECK(passes(launch, y.data));
    CHECK(valueOf<float>(launch.params.back()) == 0.5f);
  }
  CHECK(machine.compiles() == 1);
}

TEST_CASE("a launch that differs in anything else") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64});
  TensorView y = machine.tensor(DType::F32, {40, 64});
  auto grid = [&] { return machine.lastLaunch().config.gridX; };
  succeed(kernel.launch(nullptr, x, 1, y));
  succeed(kernel.launch(nullptr, x, 2, y));
  CHECK(valueOf<float>(machine.lastLaunch().params.back()) == 2.0f);
  succeed(kernel.launch(nullptr, x, 2.5, y));
  CHECK(valueOf<float>(machine.lastLaunch().params.back()) == 2.5f);
  // 2 as an integer and the real number of the same bits are two things.
  succeed(kernel.launch(nullptr, x, 1e-323, y));
  CHECK(valueOf<float>(machine.lastLaunch().params.back()) == 0.0f);

  TensorView fewer = x, fewerY = y;
  fewer.shape = fewerY.shape = {16, 64};
  succeed(kernel.launch(nullptr, fewer, 1, fewerY));
  CHECK(grid() == 1);
  succeed(kernel.launch(nullptr, x, 1, y));
  CHECK(grid() == 3);

  // Strides: given or not, and others.
  TensorView padded = machine.tensor(DType::F32, {40, 80});
  padded.shape = {40, 64};
  padded.strides = {80, 1};
  size_t before = machine.launches();
  succeed(kernel.launch(nullptr, padded, 1, y));
  CHECK(machine.launches() == before + 1);
  padded.strides = {64, 1};
  succeed(kernel.launch(nullptr, padded, 1, y));
  CHECK(machine.launches() == before + 2);
}

TEST_CASE("what is wrong with addresses alone") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64});
  TensorView y = machine.tensor(DType::F32, {40, 64});
  auto launch = [&](const void *from, const void *to) {
    return kernel.launch(
        nullptr, TensorView(const_cast<void *>(from), DType::F32, {40, 64}), 1,
        TensorView(const_cast<void *>(to), DType::F32, {40, 64}));
  };
  succeed(launch(x.data, y.data));
  size_t before = machine.launches();
  CHECK_THAT(failure(launch(x.data, x.data), TILEC_ERROR_OVERLAP),
             Contains("share memory"));
  // The last row of one is the first of the other; the next one is apart.
  char *memory = static_cast<char *>(machine.memory(80 * 64 * 4));
  CHECK_THAT(failure(launch(memory + 39 * 64 * 4, memory), TILEC_ERROR_OVERLAP),
             Contains("share memory"));
  alignas(256) static float onHost[40 * 64];
  CHECK_THAT(failure(launch(onHost, y.data), TILEC_ERROR_HOST_MEMORY),
             Contains("argument 'X'"));
  CHECK_THAT(failure(launch(x.data, machine.memory(40 * 64 * 4, 1)),
                     TILEC_ERROR_WRONG_DEVICE),
             Contains("argument 'Y'"));
  CHECK_THAT(failure(launch(nullptr, y.data), TILEC_ERROR_ARGUMENT_VALUE),
             Contains("X"));
  CHECK(machine.launches() == before);
  succeed(launch(memory + 40 * 64 * 4, memory));
  CHECK(machine.launches() == before + 1);
  // Less aligned: other code, also the second time.
  for (int i = 0; i < 2; ++i) {
    char *odd = static_cast<char *>(machine.memory(40 * 64 * 4 + 4)) + 4;
    succeed(launch(odd, y.data));
    CHECK(machine.compiles() == 2);
    CHECK(passes(machine.lastLaunch(), odd));
  }
}

TEST_CASE("launches of very many kinds") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {600, 64});
  TensorView y = machine.tensor(DType::F32, {600, 64});
  for (int round = 0; round < 2; ++round)
    for (int64_t m = 1; m <= 600; m += 2) {
      x.shape[0] = y.shape[0] = m;
      succeed(kernel.launch(nullptr, x, 1, y));
      CHECK(machine.lastLaunch().config.gridX == (m + 15) / 16);
    }
  CHECK(machine.compiles() == 1);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

TEST_CASE("what launches have reported") {
  FakeMachine machine;
  Options options = machine.options();
  Kernel kernel = take(compileText(R"(
kernel check(X: f32[N], Y: out f32[N]) {
  grid n in tile(N, 128)
  assert(X[n] >= 0, "expected no negative number")
  Y[n] = sqrt(X[n])
}
)",
                                   options)
                           .kernel());
  TensorView x = machine.tensor(DType::F32, {512});
  TensorView y = machine.tensor(DType::F32, {512});
  succeed(kernel.collectReports(nullptr)); // Nothing was launched yet.
  succeed(kernel.launch(nullptr, x, y));
  succeed(kernel.collectReports(nullptr));

  // What the kernel would write: it gets the address of the area.
  auto write = [&](int64_t count) {
    for (const std::string &param : machine.lastLaunch().params) {
      if (param.size() != sizeof(void *) || param == std::string(8, 0))
        continue;
      auto *words = valueOf<int64_t *>(param);
      if (words != x.data && words != y.data)
        words[4] = count;
    }
  };
  write(7);
  std::string text =
      failure(kernel.collectReports(nullptr), TILEC_ERROR_REPORT);
  CHECK_THAT(text, Contains("test.tile:4:") &&
                       Contains("expected no negative number"));
  succeed(kernel.collectReports(nullptr)); // It has been told.

  // Another device has an area of its own.
  write(1);
  succeed(kernel.collectReports(machine.stream(1)));
  failure(kernel.collectReports(machine.stream(0)), TILEC_ERROR_REPORT);
  // So has other code.
  x.shape = y.shape = {511};
  succeed(kernel.launch(nullptr, x, y));
  write(1);
  failure(kernel.collectReports(nullptr), TILEC_ERROR_REPORT);
  machine->failures["cuCtxSynchronize"] = cuda::IllegalAddress;
  CHECK_THAT(failure(kernel.collectReports(nullptr), TILEC_ERROR_KERNEL_FAILED),
             Contains("help: "));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST_CASE("threads race for one kernel") {
  FakeMachine machine;
  constexpr int numThreads = 8, numRounds = 5;
  // Two compilations at least are under way before the first one ends.
  std::atomic<int> arrived = 0;
  machine.compiler().onCompile = [&] {
    ++arrived;
    for (int i = 0; i < 1000 && arrived < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Options options = machine.options();
  options.cacheFolder = "";
  Kernel kernel = take(compileText(scale, options).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64});
  std::vector<TensorView> outputs;
  for (int i = 0; i < numThreads; ++i)
    outputs.push_back(machine.tensor(DType::F32, {40, 64}));
  int modulesBefore = machine->modules;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < numThreads; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < numRounds; ++round)
        if (kernel.launch(nullptr, x, double(i), outputs[i]))
          ++failures;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 0);
  CHECK(machine.compiles() >= 2);
  CHECK(machine.compiles() <= numThreads);
  // All run the first result.
  CHECK(machine->modules == modulesBefore + 1);
  REQUIRE(machine.launches() == numThreads * numRounds);
  std::vector<int> seen(numThreads);
  for (size_t i = machine->launches.size() - machine.launches();
       i < machine->launches.size(); ++i) {
    const FakeLaunch &launch = machine->launches[i];
    auto thread = size_t(valueOf<float>(launch.params.back()));
    REQUIRE(thread < seen.size());
    ++seen[thread];
    CHECK(passes(launch, outputs[thread].data));
  }
  CHECK(seen == std::vector<int>(numThreads, numRounds));
}

TEST_CASE("a compilation does not hold up launches of other code") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64});
  TensorView y = machine.tensor(DType::F32, {40, 64});
  TensorView wideX = machine.tensor(DType::F32, {40, 128});
  TensorView wideY = machine.tensor(DType::F32, {40, 128});
  succeed(kernel.launch(nullptr, x, 1, y));
  std::atomic<bool> isCompiling = false, mayEnd = false;
  machine.compiler().onCompile = [&] {
    isCompiling = true;
    for (int i = 0; i < 20000 && !mayEnd; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  std::atomic<bool> good = false;
  std::thread other([&] { good = !kernel.launch(nullptr, wideX, 1, wideY); });
  while (!isCompiling)
    std::this_thread::yield();
  succeed(kernel.launch(nullptr, x, 1, y));
  CHECK_FALSE(good);
  mayEnd = true;
  other.join();
  CHECK(good);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

TEST_CASE("a launch goes to the device of its stream") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64}, 1);
  TensorView y = machine.tensor(DType::F32, {40, 64}, 1);
  tilec_stream stream = machine.stream(1);
  succeed(kernel.launch(stream, x, 1, y));
  CHECK(machine.lastLaunch().device == 1);
  CHECK(machine.lastLaunch().config.stream == stream);
  // The default stream is of the current device, which is none: 0.
  CHECK_THAT(failure(kernel.launch(nullptr, x, 1, y), TILEC_ERROR_WRONG_DEVICE),
             Contains("argument 'X' is expected to be in memory of GPU 0, got "
                      "memory of GPU 1"));
  machine.setCurrent(1);
  succeed(kernel.launch(nullptr, x, 1, y));
  CHECK(machine.lastLaunch().device == 1);
  CHECK(machine.compiles() == 1); // Both are of one kind.
}

TEST_CASE("a device of another architecture has code of its own") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64}, 2);
  TensorView y = machine.tensor(DType::F32, {40, 64}, 2);
  succeed(kernel.launch(machine.stream(2), x, 1, y));
  CHECK(machine.lastLaunch().device == 2);
  CHECK(take(kernel.compile(x, 1, y)).target() == "sm_80");

  // A target that is named is obeyed.
  Options options = machine.options();
  options.target = "sm_90a";
  Kernel hopper = take(compileText(scale, options).kernel());
  CHECK_THAT(failure(hopper.launch(machine.stream(2), x, 1, y),
                     TILEC_ERROR_WRONG_DEVICE),
             Contains("compiled for sm_90a"));
}

//===----------------------------------------------------------------------===//
// Prepared launches
//===----------------------------------------------------------------------===//

TEST_CASE("a prepared launch only launches") {
  FakeMachine machine;
  tilec_stream stream = machine.stream(1);
  std::optional<Prepared> ready;
  TensorView x = machine.tensor(DType::F32, {40, 64}, 1);
  TensorView y = machine.tensor(DType::F32, {40, 64}, 1);
  {
    Kernel kernel = take(compileText(scale, machine.options()).kernel());
    ready = take(kernel.prepare(x, 3, y)); // On the device of the tensors.
  }
  CHECK(machine.launches() == 0);
  machine->capturing = true; // Nothing but launches is allowed now.
  for (int i = 0; i < 3; ++i)
    succeed(ready->run(stream));
  machine->capturing = false;
  REQUIRE(machine.launches() == 3);
  CHECK(machine.lastLaunch().device == 1);
  CHECK(machine.lastLaunch().config.stream == stream);
  CHECK(valueOf<float>(machine.lastLaunch().params.back()) == 3.0f);
  // Null is the default stream of its device, whichever is current.
  succeed(ready->run(nullptr));
  CHECK(machine.lastLaunch().device == 1);
  CHECK_THAT(failure(ready->run(machine.stream(0)), TILEC_ERROR_WRONG_DEVICE),
             Contains("prepared for GPU 1, got a stream of GPU 0"));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_CASE("arguments that are wrong") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  auto x = [&](std::vector<int64_t> shape = {40, 64}, DType type = DType::F32) {
    return machine.tensor(type, std::move(shape));
  };
  auto fails = [&](ErrorKind kind, const auto &...args) {
    size_t before = machine.launches();
    std::string text = failure(kernel.launch(nullptr, args...), kind);
    CHECK(machine.launches() == before);
    CHECK_THAT(text, Contains("test.tile:2:") && Contains("\nkernel scale(") &&
                         Contains("^~"));
    // A preparation fails in the same way.
    Expected<Prepared> prepared = kernel.prepare(args...);
    REQUIRE_FALSE(prepared);
    CHECK(prepared.error().message() == text);
    return text;
  };
  CHECK_THAT(fails(TILEC_ERROR_ARGUMENT_COUNT, x(), x()),
             Contains("kernel 'scale' takes 3 arguments, got 2"));
  CHECK_THAT(fails(TILEC_ERROR_ARGUMENT_TYPE, x({40, 64}, DType::F16), 1, x()),
             Contains("'X' is expected to be f32, got f16"));
  CHECK_THAT(fails(TILEC_ERROR_ARGUMENT_TYPE, x({64}), 1, x()),
             Contains("'X' is expected to have 2 dimensions"));
  CHECK_THAT(fails(TILEC_ERROR_ARGUMENT_TYPE, 1, 1, x()),
             Contains("tensor 'X' of type f32[M, N] got a scalar"));
  CHECK_THAT(fails(TILEC_ERROR_EXTENT, x(), 1, x({40, 65})),
             Contains("dimension 'N' disagrees: it is 64 in 'X'"));
  CHECK_THAT(fails(TILEC_ERROR_ARGUMENT_VALUE,
                   TensorView(nullptr, DType::F32, {40, 64}), 1, x()),
             Contains("X"));
  TensorView same = x();
  CHECK_THAT(fails(TILEC_ERROR_OVERLAP, same, 1, same),
             Contains("share memory"));
  TensorView broadcast = x();
  broadcast.strides = {0, 1};
  CHECK_THAT(fails(TILEC_ERROR_OVERLAP, x(), 1, broadcast),
             Contains("several of its indices are one element"));
  CHECK_THAT(fails(TILEC_ERROR_REQUIREMENT, x({5000, 64}), 1, x({5000, 64})),
             Contains("requirement 'M < 5000'"));
  static float onHost[40 * 64];
  CHECK_THAT(
      fails(TILEC_ERROR_HOST_MEMORY, TensorView(onHost, {40, 64}), 1, x()),
      Contains("test.tile:2:14: error: argument 'X'") &&
          Contains("got host memory at 0x"));
}

TEST_CASE("arguments that break the interface") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64});
  TensorView y = machine.tensor(DType::F32, {40, 64});
  TensorView oneStride = x;
  oneStride.strides = {64};
  CHECK_THAT(
      failure(kernel.launch(nullptr, oneStride, 1, y), TILEC_ERROR_USAGE),
      Contains("argument 0 of kernel 'scale'"));
  TensorView noType(x.data, static_cast<DType>(99), {40, 64});
  CHECK_THAT(failure(kernel.launch(nullptr, x, 1, noType), TILEC_ERROR_USAGE),
             Contains("argument 2 of kernel 'scale'"));
}

TEST_CASE("what the driver reports") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {40, 64});
  TensorView y = machine.tensor(DType::F32, {40, 64});
  succeed(kernel.launch(nullptr, x, 1, y));
  machine->failures["cuLaunchKernelEx"] = cuda::IllegalAddress;
  CHECK_THAT(
      failure(kernel.launch(nullptr, x, 1, y), TILEC_ERROR_KERNEL_FAILED),
      Contains("launch the kernel 'scale'"));
}

//===----------------------------------------------------------------------===//
// Ahead of time
//===----------------------------------------------------------------------===//

TEST_CASE("code compiled ahead of time refuses what it is wrong for") {
  FakeMachine machine;
  Options options = machine.options();
  options.target = "sm_90a";
  Kernel kernel = take(compileText(scale, options).kernel());
  Code code = take(kernel.compileFor({{"N", 64}}));
  TensorView x = machine.tensor(DType::F32, {41, 64});
  TensorView y = machine.tensor(DType::F32, {41, 64});
  succeed(code.launch(nullptr, x, 1, y));
  CHECK(machine.launches() == 1);
  succeed(kernel.launch(nullptr, x, 1, y)); // It is the code for these.
  CHECK(machine.compiles() == 1);

  auto fails = [&](const TensorView &a, const TensorView &b) {
    std::string text =
        failure(code.launch(nullptr, a, 1, b), TILEC_ERROR_SPECIALIZATION);
    CHECK_THAT(text, Contains("test.tile:2:"));
    return text;
  };
  TensorView shifted(static_cast<char *>(machine.memory(41 * 64 * 4 + 4)) + 4,
                     DType::F32, {41, 64});
  CHECK_THAT(
      fails(shifted, y),
      Contains("test.tile:2:14: error:") &&
          Contains("'X' is expected to begin at a multiple of 16 bytes"));
  TensorView transposed = x;
  transposed.strides = {1, 41};
  CHECK_THAT(fails(transposed, y),
             Contains("'X' is expected to have stride 1 in dimension 1"));
  CHECK_THAT(fails(machine.tensor(DType::F32, {41, 68}),
                   machine.tensor(DType::F32, {41, 68})),
             Contains("dimension 'N' is expected to be 64, got 68"));
  // The kernel compiles other code instead.
  succeed(kernel.launch(nullptr, shifted, 1, y));
  CHECK(machine.compiles() == 2);
}

TEST_CASE("code for multiples refuses other extents") {
  FakeMachine machine;
  Kernel kernel = take(compileText(scale, machine.options()).kernel());
  TensorView x = machine.tensor(DType::F32, {48, 64});
  TensorView y = machine.tensor(DType::F32, {48, 64});
  Code code = take(kernel.compile(x, 1, y));
  succeed(code.launch(nullptr, x, 1, y));
  TensorView odd = machine.tensor(DType::F32, {47, 64});
  TensorView oddY = machine.tensor(DType::F32, {47, 64});
  CHECK_THAT(
      failure(code.launch(nullptr, odd, 1, oddY), TILEC_ERROR_SPECIALIZATION),
      Contains("dimension 'M' is expected to be a multiple of 16, got "
               "47"));
  succeed(kernel.launch(nullptr, odd, 1, oddY));
  CHECK(machine.compiles() == 2);
}

TEST_CASE("what cannot be compiled ahead of time") {
  FakeMachine machine;
  Kernel current = take(compileText(scale, machine.options()).kernel());
  CHECK_THAT(
      failure(current.compileFor({{"N", 64}}).takeError(), TILEC_ERROR_USAGE),
      Contains("name the target"));
  Options options = machine.options();
  options.target = "sm_80";
  Kernel kernel = take(compileText(scale, options).kernel());
  CHECK_THAT(failure(kernel.compileFor({}).takeError(), TILEC_ERROR_EXTENT),
             Contains("the extent of 'N' is needed"));
  CHECK_THAT(
      failure(kernel.compileFor({{"K", 1}}).takeError(), TILEC_ERROR_EXTENT),
      Contains("no dimension 'K'"));
  CHECK_THAT(
      failure(kernel.compileFor({{"N", -1}}).takeError(), TILEC_ERROR_EXTENT),
      Contains("got -1"));
}
