//===- DriverTest.cpp - The emulator as a CUDA driver -----------*- C++ -*-===//

#include "lib/Runtime/Emulated/EmulatedDriver.h"
#include "lib/Runtime/GPU/Launcher.h"
#include <catch2/catch.hpp>
#include <thread>

using namespace tilec;
using namespace tilec::emulator;
using Catch::Matchers::Contains;

/// y[i] = x[i] + n for each thread.
static constexpr const char *text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n)
.maxntid 64, 1, 1
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r3, [%rd4];
  add.s32 %r3, %r3, %r1;
  st.global.u32 [%rd5], %r3;
  ret;
}
)";

static std::string messageOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "no failure";
}

/// The kernel above for four elements.
static gpu::KernelImage imageOf(llvm::StringRef arch) {
  gpu::KernelImage image;
  image.name = "add";
  image.arch = arch.str();
  image.threads = 32;
  image.params = {gpu::KernelParam::pointer(0), gpu::KernelParam::pointer(1),
                  gpu::KernelParam::scalar(2, DType::I32)};
  image.grid = {{"", 1, 1}};
  for (unsigned arg : {0, 1}) {
    gpu::TensorFacts facts;
    facts.arg = arg;
    facts.name = arg ? "y" : "x";
    facts.dtype = DType::I32;
    facts.rank = 1;
    facts.unitStride = 0;
    image.tensors.push_back(facts);
  }
  llvm::cantFail(verify(image));
  return image;
}

TEST_CASE("there is a device for each architecture") {
  gpu::Driver &driver = llvm::cantFail(emulatedDriver());
  CHECK(&driver == &llvm::cantFail(emulatedDriver()));
  CHECK(driver.numDevices() == 4);
  struct Case {
    const char *target, *arch;
    unsigned shared;
  };
  for (const Case &c : {Case{"sm_80", "sm_80", 163 * 1024},
                        {"sm_86", "sm_86", 99 * 1024},
                        {"sm_89", "sm_89", 99 * 1024},
                        {"sm_90a", "sm_90", 227 * 1024}}) {
    const gpu::Device &device = llvm::cantFail(emulatedDevice(c.target));
    INFO(c.target);
    CHECK(device.properties().name == "emulator of " + std::string(c.target));
    CHECK(device.properties().arch() == c.arch);
    CHECK(device.properties().sharedBytesPerBlock == c.shared);
  }
  CHECK_THAT(messageOf(emulatedDevice("sm_70").takeError()),
             Contains("there is no emulator of 'sm_70'"));
}

TEST_CASE("memory: copies, fills, and what pointers are") {
  gpu::Driver &driver = llvm::cantFail(emulatedDriver());
  gpu::Device &device = llvm::cantFail(emulatedDevice("sm_86"));
  gpu::StreamRef stream = device.defaultStream();
  gpu::DeviceBuffer a = llvm::cantFail(device.allocate(7));
  gpu::DeviceBuffer b = llvm::cantFail(device.allocate(7));
  char bytes[7] = {1, 2, 3, 4, 5, 6, 7}, found[7] = {};
  // New memory is NaN in every float type.
  llvm::cantFail(device.copyToHost(found, a.data(), 7, stream));
  CHECK((found[3] & 0x7f) != 0);
  llvm::cantFail(device.copyToDevice(a.data(), bytes, 7, stream));
  llvm::cantFail(device.copyOnDevice(b.data(), a.data(), 7, stream));
  llvm::cantFail(device.fill(static_cast<char *>(b.data()) + 2, 9, 3, stream));
  llvm::cantFail(device.copyToHost(found, b.data(), 7, stream));
  CHECK(llvm::ArrayRef(found) == llvm::ArrayRef<char>({1, 2, 9, 9, 9, 6, 7}));
  // There is nothing behind the end.
  CHECK_THAT(messageOf(device.copyToHost(found, b.data(), 8, stream)),
             Contains("out of range"));
  gpu::PointerInfo info = llvm::cantFail(driver.inspect(b.data()));
  CHECK(info.kind == gpu::PointerInfo::Kind::Device);
  CHECK(info.device == 1);
  info = llvm::cantFail(driver.inspect(bytes));
  CHECK(info.kind == gpu::PointerInfo::Kind::Host);
}

TEST_CASE("a launch, with the settings of the thread") {
  gpu::Device &device = llvm::cantFail(emulatedDevice("sm_80"));
  gpu::Launcher launcher(imageOf("sm_80"), text);
  gpu::DeviceBuffer x, y;
  {
    NamedAllocations naming("x");
    x = llvm::cantFail(device.allocate(4 * 32));
  }
  y = llvm::cantFail(device.allocate(4 * 32));
  std::vector<int32_t> values(32), found(32);
  for (int i = 0; i < 32; ++i)
    values[i] = 3 * i;
  gpu::StreamRef stream = device.defaultStream();
  llvm::cantFail(device.copyToDevice(x.data(), values.data(), 128, stream));
  BoundLaunch bound;
  bound.args = {TensorView{x.data(), DType::I32, {32}, {1}},
                TensorView{y.data(), DType::I32, {32}, {1}},
                ScalarValue::ofInt(5, DType::I32)};
  EmulationSettings settings;
  settings.seed = 9;
  settings.moduleName = "mine.ptx";
  setEmulation(settings);
  takeEmulatedRuns();
  llvm::cantFail(launcher.launch(stream, bound));
  llvm::cantFail(device.copyToHost(found.data(), y.data(), 128, stream));
  for (int i = 0; i < 32; ++i)
    CHECK(found[i] == 3 * i + 5);

  std::vector<EmulatedRun> runs = takeEmulatedRuns();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].kernel == "add");
  CHECK(runs[0].program->module().name == "mine.ptx");
  CHECK(runs[0].options.seed == 9);
  CHECK(runs[0].options.block == std::array<unsigned, 3>{32, 1, 1});
  CHECK(runs[0].result.reports.empty());
  CHECK(runs[0].result.counters.warpInstructions == 11);
  CHECK(takeEmulatedRuns().empty());

  // Those of another thread are its own.
  std::thread([&] {
    llvm::cantFail(launcher.launch(stream, bound));
    CHECK(takeEmulatedRuns().size() == 1);
  }).join();
  CHECK(takeEmulatedRuns().empty());
}

TEST_CASE("what a kernel does wrong is kept with its run") {
  gpu::Device &device = llvm::cantFail(emulatedDevice("sm_80"));
  gpu::Launcher launcher(imageOf("sm_80"), text);
  NamedAllocations naming("short");
  gpu::DeviceBuffer x = llvm::cantFail(device.allocate(4 * 31));
  gpu::DeviceBuffer y = llvm::cantFail(device.allocate(4 * 32));
  BoundLaunch bound;
  bound.args = {TensorView{x.data(), DType::I32, {31}, {1}},
                TensorView{y.data(), DType::I32, {32}, {1}},
                ScalarValue::ofInt(5, DType::I32)};
  llvm::cantFail(launcher.launch(device.defaultStream(), bound));
  std::vector<EmulatedRun> runs = takeEmulatedRuns();
  REQUIRE(runs.size() == 1);
  REQUIRE(runs[0].result.reports.size() == 1);
  const emulator::Report &report = runs[0].result.reports[0];
  CHECK(report.kind == ReportKind::OutOfBounds);
  REQUIRE(report.participants.size() == 1);
  CHECK(report.participants[0].thread == 31);
  CHECK_THAT(report.message + report.buffer, Contains("short"));
}

TEST_CASE("code that is not understood") {
  gpu::Device &device = llvm::cantFail(emulatedDevice("sm_90a"));
  std::string bad = text;
  bad.replace(bad.find("add.s32"), 7, "odd.s32");
  CHECK_THAT(messageOf(device.load(bad).takeError()),
             Contains("cannot load a kernel") &&
                 Contains("unsupported instruction 'odd.s32'") &&
                 Contains("docs/emulator.md"));
  CHECK_THAT(messageOf(device
                           .load("\x7f"
                                 "ELF not for us")
                           .takeError()),
             Contains("machine code is for another GPU"));
}

TEST_CASE("the driver's rules") {
  gpu::Device &device = llvm::cantFail(emulatedDevice("sm_80"));
  gpu::DeviceModule module = llvm::cantFail(device.load(text));
  CHECK_THAT(messageOf(module.function("sub").takeError()),
             Contains("no such name"));
  gpu::DeviceFunction function = llvm::cantFail(module.function("add"));
  CHECK(llvm::cantFail(function.attributes()).maxThreads == 64);
  CHECK(llvm::cantFail(function.blocksPerMultiprocessor(64, 0)) == 32);
  CHECK(llvm::cantFail(function.blocksPerMultiprocessor(64, 80000)) == 2);
  llvm::cantFail(function.allowSharedBytes(163 * 1024));
  CHECK_THAT(messageOf(function.allowSharedBytes(163 * 1024 + 1)),
             Contains("out of range"));
  gpu::Stream stream = llvm::cantFail(device.createStream());
  llvm::cantFail(stream.synchronize());
  gpu::Event begin = llvm::cantFail(device.createEvent());
  gpu::Event end = llvm::cantFail(device.createEvent());
  CHECK_THAT(messageOf(end.millisecondsSince(begin).takeError()),
             Contains("is not valid"));
  llvm::cantFail(begin.record(stream));
  llvm::cantFail(end.record(stream));
  CHECK(llvm::cantFail(end.millisecondsSince(begin)) >= 0);
}
