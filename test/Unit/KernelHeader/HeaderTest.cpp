//===- HeaderTest.cpp - A launch by an emitted header -----------*- C++ -*-===//
//
// The build writes scale.h with `tilec --emit=header` and compiles it as C99
// and C++11, with all warnings. Here it launches on the fake driver.
//
//===----------------------------------------------------------------------===//

// Never opened: the one of this file is for a machine without a driver.
#define TILEC_CUDA_DRIVER "/nonexistent/libcuda.so.1"
#include "copy.h"
#include "scale.h"
#include "test/Unit/API/FakeMachine.h"
#include <cstring>

using namespace tilec::test;

extern "C" const char *launchInC(void *stream, const scale_tensor *x, float s,
                                 int flag, uint16_t h, int64_t count,
                                 const scale_tensor *y, const scale_tensor *z);
const char *launchInCpp(void *stream, scale_tensor x, float s, bool flag,
                        uint16_t h, int64_t count, scale_tensor y,
                        scale_tensor z);

const char *copyInCpp(copy_tensor x, copy_tensor y);

namespace {
/// Arguments of a launch; M = 40 and rows of 64 elements, 80 apart in X.
struct Arguments {
  explicit Arguments(FakeMachine &machine, int device = 0)
      : x{machine.memory(40 * 80 * 4 + 64, device), shape, padded},
        y{machine.memory(40 * 64 * 4, device), shape, nullptr},
        z{machine.memory(16, device), four, nullptr} {}

  int64_t shape[2] = {40, 64};
  int64_t padded[2] = {80, 1};
  int64_t four[1] = {4};
  scale_tensor x, y, z;
  float s = 2;
  int64_t count = 7;
  void *stream = nullptr;

  std::string launch(bool inC = false) {
    const char *error =
        inC ? launchInC(stream, &x, s, 2, 0x3C00, count, &y, &z)
            : launchInCpp(stream, x, s, true, 0x3C00, count, y, z);
    return error ? error : "";
  }
};
} // namespace

template <typename T> static T valueOf(const std::string &bytes) {
  T value = {};
  REQUIRE(bytes.size() == sizeof(T));
  std::memcpy(static_cast<void *>(&value), bytes.data(), sizeof(T));
  return value;
}

TEST_CASE("a header launches") {
  FakeMachine machine;
  for (bool inC : {false, true})
    for (int device : {0, 1}) {
      Arguments arguments(machine, device);
      arguments.stream = machine.stream(device);
      machine.setCurrent(device);
      int modules = machine->modules;
      for (int i = 0; i < 3; ++i)
        REQUIRE(arguments.launch(inC) == "");
      CHECK(machine->modules == modules + 1); // The first loads.
      const FakeLaunch &launch = machine.lastLaunch();
      CHECK(launch.device == device);
      CHECK(launch.kernel == "scale");
      CHECK(launch.config.gridX == 3 * 3); // Tiles of 16 rows, count / 2.
      CHECK(launch.config.gridY == 1);
      CHECK(launch.config.gridZ == 1);
      CHECK(launch.config.blockX % 32 == 0);
      CHECK(launch.config.blockX > 0);
      CHECK(launch.config.stream == arguments.stream);
      // Pointers, strides, extents, scalars, as the source declares them.
      REQUIRE(launch.params.size() == 10);
      CHECK(valueOf<void *>(launch.params[0]) == arguments.x.data);
      CHECK(valueOf<void *>(launch.params[1]) == arguments.y.data);
      CHECK(valueOf<void *>(launch.params[2]) == arguments.z.data);
      CHECK(valueOf<int64_t>(launch.params[3]) == 80);
      CHECK(valueOf<int64_t>(launch.params[4]) == 64);
      CHECK(valueOf<int64_t>(launch.params[5]) == 40);
      CHECK(valueOf<float>(launch.params[6]) == 2.0f);
      CHECK(valueOf<uint8_t>(launch.params[7]) == 1);
      CHECK(valueOf<uint16_t>(launch.params[8]) == 0x3C00);
      CHECK(valueOf<int64_t>(launch.params[9]) == 7);
    }
}

TEST_CASE("a header refuses what its code is wrong for") {
  FakeMachine machine;
  machine.setCurrent(0);
  auto fails = [&](auto change) {
    Arguments arguments(machine);
    change(arguments);
    std::string text = arguments.launch();
    CHECK(arguments.launch(/*inC=*/true) == text);
    CHECK(machine.launches() == 0);
    return text;
  };
  CHECK(fails([](auto &a) { a.shape[1] = a.padded[0] = 68; }) ==
        "dimension 'N' is expected to be 64");
  CHECK(fails([](auto &a) { a.four[0] = 5; }) ==
        "dimension 0 of 'while' is expected to be 4");
  static const int64_t other[] = {42, 64};
  CHECK(fails([](auto &a) { a.y.shape = other; }) ==
        "dimension 'M' disagrees between 'X' and 'Y'");
  static const int64_t negative[] = {-1, 64};
  CHECK(fails([](auto &a) { a.y.shape = negative; }) ==
        "argument 'Y' has no shape, a negative extent, or no address");
  CHECK(fails([](auto &a) { a.y.shape = nullptr; }) ==
        "argument 'Y' has no shape, a negative extent, or no address");
  CHECK(fails([](auto &a) { a.x.data = nullptr; }) ==
        "argument 'X' has no shape, a negative extent, or no address");
  CHECK(fails([](auto &a) { a.x.data = static_cast<char *>(a.x.data) + 8; }) ==
        "argument 'X' is expected to begin, and to have strides, at "
        "multiples of 16 bytes");
  CHECK(fails([](auto &a) { a.padded[0] = 82; }) ==
        "argument 'X' is expected to begin, and to have strides, at multiples "
        "of 16 bytes");
  CHECK(fails([](auto &a) {
          a.padded[0] = 1;
          a.padded[1] = 40;
        }) == "argument 'X' is expected to have stride 1 in dimension 1");
  CHECK(fails([](auto &a) { a.shape[0] = 39; }) ==
        "the arguments do not meet the requirement 'M % 2 == 0 && N < 1000'");
  CHECK(fails([](auto &a) {
          a.s = 0.5;
          a.count = -8;
        }) == "the arguments do not meet the requirement 's > 0.5 || -count <= "
              "7'");
  CHECK(fails([](auto &a) { a.count = int64_t(1) << 40; }) ==
        "the arguments need more thread blocks than there can be");
}

TEST_CASE("a header whose offsets are short") {
  FakeMachine machine;
  machine.setCurrent(0);
  // Tiles reach 512 positions over an end, so the largest offset that the code
  // computes is 2^20 (1535 + 512) + 1048063 + 512 = 2^31 - 1.
  int64_t shape[] = {1536, 1048064};
  int64_t strides[] = {1 << 20, 1};
  char *memory = static_cast<char *>(machine.memory(64));
  auto launch = [&] {
    const char *error =
        copyInCpp({memory, shape, strides}, {memory, shape, strides});
    return std::string(error ? error : "");
  };
  CHECK(launch() == "");
  CHECK(machine.launches() == 1);
  CHECK(machine.lastLaunch().config.gridX == 768 * 2047);
  ++shape[1];
  CHECK(launch() == "argument 'X' is expected to have offsets within 31 bits");
  --shape[1];
  ++shape[0];
  CHECK(launch() == "argument 'X' is expected to have offsets within 31 bits");
  // Backwards it is as far.
  strides[0] = -strides[0];
  CHECK(launch() == "argument 'X' is expected to have offsets within 31 bits");
  --shape[0];
  CHECK(launch() == "");
  CHECK(machine.launches() == 2);
}

TEST_CASE("a header launches nothing if there is nothing to do") {
  FakeMachine machine;
  machine.setCurrent(0);
  Arguments arguments(machine);
  arguments.count = 1;
  CHECK(arguments.launch() == "");
  arguments.count = -1; // Rounds down, to no programs.
  CHECK(arguments.launch() == "");
  // Nothing along one axis is nothing, however much along the others.
  arguments.count = int64_t(1) << 62;
  arguments.shape[0] = 0;
  arguments.x.data = arguments.y.data = nullptr;
  CHECK(arguments.launch() == "");
  CHECK(machine.launches() == 0);
}

TEST_CASE("a header where there is no GPU for it") {
  FakeMachine machine;
  Arguments arguments(machine);
  CHECK(arguments.launch() ==
        "no CUDA context is current in this thread: call cuCtxSetCurrent, or a "
        "function of the CUDA runtime, before");
  machine.setCurrent(2);
  CHECK(arguments.launch() ==
        "the kernel is for sm_90a, and the current GPU is another");
  CHECK(scale_launch(nullptr, arguments.x, 2, true, 0, 7, arguments.y,
                     arguments.z) ==
        std::string("NVIDIA's driver (/nonexistent/libcuda.so.1) cannot be "
                    "opened"));
  CHECK(machine.launches() == 0);
}

TEST_CASE("a header tells what the driver reports") {
  FakeMachine machine;
  machine.setCurrent(1);
  Arguments arguments(machine, 1);
  machine->failures["cuLaunchKernelEx"] = cuda::IllegalAddress;
  CHECK(arguments.launch() == "fake explanation");
}
