//===- ValidationTest.cpp - The emulator against a GPU --------------------===//
//
// Runs every kernel of the programs here on the emulator and compares with what
// record.py recorded on a GPU. Nothing may be reported either: the programs
// synchronize as they must.
//
//===----------------------------------------------------------------------===//

#include "test/Emulator/Harness/Harness.h"
#include "test/Emulator/Validation/Programs.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace tilec;
using namespace tilec::test;
using namespace tilec::emulator;

namespace {

constexpr uint32_t unwritten = 0xcdcdcdcd;
/// In how many orders things happen.
constexpr uint64_t numSeeds = 3;

std::string pathOf(llvm::StringRef name) {
  return (llvm::StringRef(VALIDATION_FOLDER) + "/" + name).str();
}

std::string readText(llvm::StringRef name) {
  auto file = llvm::MemoryBuffer::getFile(pathOf(name), /*IsText=*/true);
  INFO(name.str());
  REQUIRE(file);
  return (*file)->getBuffer().str();
}

std::set<std::string> programs() {
  std::set<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(VALIDATION_FOLDER, error), end;
       it != end && !error; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".cu"))
      names.insert(llvm::sys::path::stem(it->path()).str());
  return names;
}

EncodedTensorMap encode(const MapDirective &map, uint64_t in, uint64_t out) {
  TensorMapArguments arguments;
  arguments.dataType = map.type;
  arguments.rank = map.dims.size();
  arguments.globalAddress = (map.isOutput ? out : in) + map.offset;
  arguments.globalDim = map.dims;
  arguments.globalStrides = map.strides;
  arguments.boxDim = map.box;
  arguments.elementStrides = map.elementStrides;
  arguments.swizzle = map.swizzle;
  arguments.oobFill = map.fillsNaN;
  llvm::Expected<EncodedTensorMap> encoded = encodeTensorMap(arguments);
  if (!encoded)
    FAIL(llvm::toString(encoded.takeError()));
  return *encoded;
}

/// Without `expected` results nothing is compared.
void runKernel(Emulation &emulation, const ValidationKernel &kernel,
               const std::vector<uint32_t> *expected, uint64_t seed) {
  std::string name =
      kernel.program + "." + kernel.name + ", seed " + std::to_string(seed);
  std::vector<uint32_t> cells(kernel.outputWords, unwritten);
  uint64_t in = emulation.upload<uint32_t>(kernel.input(), "in");
  uint64_t out = emulation.upload<uint32_t>(cells, "out");
  Params params;
  params.add(in).add(out);
  for (const MapDirective &map : kernel.maps)
    params.add(encode(map, in, out));
  LaunchOptions options;
  options.grid[0] = kernel.grid;
  options.block = kernel.block;
  options.cluster[0] = kernel.cluster;
  options.dynamicShared = kernel.shared;
  options.seed = seed;
  options.stepLimit = 10'000'000;
  LaunchResult result = emulation.launch(kernel.name, params, options);
  if (!result.reports.empty())
    FAIL_CHECK(name << ":\n" << emulation.textOf(result));
  std::string wrong;
  if (expected)
    wrong = difference(kernel, *expected,
                       emulation.download<uint32_t>(out, kernel.outputWords));
  if (!wrong.empty())
    FAIL_CHECK(name << ": " << wrong);
  else
    SUCCEED(name);
  emulation.memory.free(in);
  emulation.memory.free(out);
}

} // namespace

TEST_CASE("Programs compute what a GPU computes") {
  if (!llvm::compression::zlib::isAvailable()) {
    WARN("skipped: this LLVM cannot read what was recorded");
    return;
  }
  std::string common = readText("Common.cuh");
  for (const std::string &program : programs()) {
    DYNAMIC_SECTION(program) {
      std::string text = readText(program + ".cu");
      std::vector<ValidationKernel> kernels = kernelsOf(program, text);
      auto expected = readExpected(pathOf(program + ".expected"));
      CHECK(!kernels.empty());
      CHECK(!expected.empty());
      std::optional<Code> code =
          compileText(program + ".cu", common + "#line 1\n" + text);
      if (!code)
        return;
      Emulation emulation(*code);
      for (const ValidationKernel &kernel : kernels) {
        auto found = expected.find(kernel.name);
        // A new kernel waits for a GPU; until then it must only run.
        const std::vector<uint32_t> *recorded = nullptr;
        if (found != expected.end())
          recorded = &found->second;
        else
          WARN(program << "." << kernel.name << " was not recorded yet");
        for (uint64_t seed = 1; seed <= numSeeds; ++seed)
          runKernel(emulation, kernel, recorded, seed);
      }
    }
  }
}
