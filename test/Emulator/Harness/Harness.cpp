//===- Harness.cpp - CUDA C++ on the emulator, for tests --------*- C++ -*-===//

#include "test/Emulator/Harness/Harness.h"
#include "lib/Runtime/GPU/NVRTC.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <map>
#include <random>

using namespace tilec;
using namespace tilec::test;
using namespace tilec::emulator;

std::optional<Code> test::compileText(llvm::StringRef name,
                                      llvm::StringRef text,
                                      llvm::ArrayRef<std::string> options,
                                      llvm::StringRef target) {
  llvm::Expected<const gpu::NVRTC &> nvrtc = gpu::NVRTC::get();
  if (!nvrtc) {
    WARN("skipped: " << llvm::toString(nvrtc.takeError()));
    return std::nullopt;
  }
  std::string key = (target + "\n" + text).str();
  for (const std::string &option : options)
    key += "\n" + option;
  static std::map<std::string, std::string> known;
  std::string &ptx = known[key];
  if (ptx.empty()) {
    llvm::StringRef digits = target;
    digits.consume_front("sm_");
    gpu::NVRTCOptions nvrtcOptions;
    nvrtcOptions.lineInfo = true;
    nvrtcOptions.extra = options.vec();
    llvm::Expected<gpu::NVRTCResult> result =
        nvrtc->compile(text, name, ("compute_" + digits).str(), nvrtcOptions);
    if (!result)
      FAIL(llvm::toString(result.takeError()));
    ptx = std::move(result->ptx);
  }
  return Code{name.str(), ptx};
}

std::optional<Code> test::compileFile(llvm::StringRef path,
                                      llvm::ArrayRef<std::string> options,
                                      llvm::StringRef target) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  INFO(path.str());
  REQUIRE(file);
  std::vector<std::string> all = options.vec();
  all.push_back("-I" + llvm::sys::path::parent_path(path).str());
  return compileText(llvm::sys::path::filename(path), (*file)->getBuffer(), all,
                     target);
}

std::string test::replaced(llvm::StringRef text, llvm::StringRef what,
                           llvm::StringRef by) {
  INFO(what.str());
  REQUIRE(text.count(what) == 1);
  auto [before, after] = text.split(what);
  return (before + by + after).str();
}

Emulation::Emulation(const Code &code) {
  llvm::Expected<std::shared_ptr<const Program>> loaded =
      loadProgram(code.ptx, code.name, memory);
  if (!loaded)
    FAIL(llvm::toString(loaded.takeError()));
  program = std::move(*loaded);
}

uint64_t Emulation::allocate(uint64_t bytes, llvm::StringRef name,
                             uint64_t alignment) {
  uint64_t address = memory.allocate(bytes, name, alignment);
  REQUIRE(address != 0);
  return address;
}

char *Emulation::hostBytes(uint64_t address, uint64_t bytes) {
  char *data = memory.find(address, bytes);
  REQUIRE(data);
  return data;
}

LaunchResult Emulation::launch(llvm::StringRef kernel, const Params &params,
                               const LaunchOptions &options) {
  llvm::Expected<LaunchResult> result =
      emulator::launch(*program, kernel, params.bytes, options, memory);
  if (!result)
    FAIL(llvm::toString(result.takeError()));
  return std::move(*result);
}

std::string Emulation::textOf(const LaunchResult &result) const {
  std::string text;
  for (const Report &report : result.reports)
    text += format(report, program->module()) + "\n";
  return text;
}

void test::expectNoReports(const LaunchResult &result,
                           const Emulation &emulation) {
  if (!result.reports.empty())
    FAIL_CHECK(emulation.textOf(result));
}

EncodedTensorMap test::makeTensorMap(TensorMapType type, uint64_t address,
                                     llvm::ArrayRef<uint64_t> dims,
                                     llvm::ArrayRef<uint64_t> strides,
                                     llvm::ArrayRef<uint32_t> box,
                                     Swizzle swizzle) {
  std::vector<uint32_t> ones(dims.size(), 1);
  TensorMapArguments arguments;
  arguments.dataType = static_cast<unsigned>(type);
  arguments.rank = dims.size();
  arguments.globalAddress = address;
  arguments.globalDim = dims;
  arguments.globalStrides = strides;
  arguments.boxDim = box;
  arguments.elementStrides = ones;
  arguments.swizzle = static_cast<unsigned>(swizzle);
  llvm::Expected<EncodedTensorMap> map = encodeTensorMap(arguments);
  if (!map)
    FAIL(llvm::toString(map.takeError()));
  return *map;
}

uint16_t test::toBF16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  constexpr uint32_t almostHalf = 0x7fff;
  return static_cast<uint16_t>((bits + almostHalf + (bits >> 16 & 1)) >> 16);
}

float test::fromBF16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

std::vector<uint16_t> test::toBF16(llvm::ArrayRef<float> values) {
  std::vector<uint16_t> result;
  result.reserve(values.size());
  for (float value : values)
    result.push_back(toBF16(value));
  return result;
}

std::vector<float> test::randomValues(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  constexpr int steps = 64;
  for (float &value : values)
    value = float(int(random() % (2 * steps + 1)) - steps) / steps;
  return values;
}
