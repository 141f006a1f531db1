//===- PatternsTest.cpp - Small kernels, right and wrong ------------------===//
//
// Each kernel of the files in this folder is a pattern of a few lines that
// people write, and the line before it says how it is launched and what must be
// said of it:
//
//     // run: block=64 grid=2 cluster=2 -> shared-race
//     KERNEL name(u32 *a, u32 *b) { ... }
//
// "none" is a right program, of which nothing may be said; of "a|b" one must
// be found, with every seed. `a` and `b` are zeros, of
// 64 KiB each. A pattern is here because it was once judged wrongly, or easily
// might be.
//
//===----------------------------------------------------------------------===//

#include "test/Emulator/Harness/Harness.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

using namespace tilec;
using namespace tilec::test;
using namespace tilec::emulator;

namespace {

struct Pattern {
  std::string kernel;
  unsigned block = 32, grid = 1, cluster = 1, shared = 0;
  llvm::SmallVector<std::string> kinds; // Empty: it is right.
};

} // namespace

static std::vector<Pattern> patternsOf(llvm::StringRef text) {
  std::vector<Pattern> result;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  llvm::Regex form("// run:(.*)-> ([a-z|-]+)$");
  llvm::Regex option("([a-z]+)=([0-9]+)");
  llvm::Regex name("^KERNEL (.*[ )])?([a-z0-9_]+)\\(");
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    llvm::SmallVector<llvm::StringRef> parts;
    if (!form.match(lines[i], &parts))
      continue;
    Pattern pattern;
    llvm::StringRef options = parts[1], kinds = parts[2];
    if (kinds != "none") {
      llvm::SmallVector<llvm::StringRef> split;
      kinds.split(split, '|');
      for (llvm::StringRef kind : split)
        pattern.kinds.push_back(kind.str());
    }
    while (option.match(options, &parts)) {
      unsigned &value = parts[1] == "block"     ? pattern.block
                        : parts[1] == "grid"    ? pattern.grid
                        : parts[1] == "cluster" ? pattern.cluster
                                                : pattern.shared;
      REQUIRE(!parts[2].getAsInteger(10, value));
      options = options.substr(size_t(parts[0].end() - options.begin()));
    }
    INFO(lines[i + 1].str());
    REQUIRE(name.match(lines[i + 1], &parts));
    pattern.kernel = parts[2].str();
    result.push_back(std::move(pattern));
  }
  return result;
}

static bool isAsExpected(const Pattern &pattern, const LaunchResult &result) {
  if (pattern.kinds.empty())
    return result.reports.empty();
  return llvm::any_of(result.reports, [&](const Report &report) {
    return llvm::is_contained(pattern.kinds, nameOf(report.kind));
  });
}

static void checkFile(const std::string &file) {
  std::string path = std::string(TILEC_PATTERNS) + "/" + file;
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  REQUIRE(text);
  std::optional<Code> code =
      compileFile(path, {"-I" + std::string(TILEC_PATTERNS) + "/../Faults"});
  if (!code)
    return;
  std::vector<Pattern> patterns = patternsOf((*text)->getBuffer());
  CHECK(!patterns.empty());
  for (const Pattern &pattern : patterns) {
    constexpr uint64_t numSeeds = 10;
    for (uint64_t seed = 0; seed < numSeeds; ++seed) {
      Emulation emulation(*code);
      constexpr size_t numWords = 16384;
      std::vector<uint32_t> zeros(numWords);
      uint64_t a = emulation.upload<uint32_t>(zeros, "a");
      uint64_t b = emulation.upload<uint32_t>(zeros, "b");
      LaunchOptions options;
      options.grid = {pattern.grid, 1, 1};
      options.block = {pattern.block, 1, 1};
      options.cluster = {pattern.cluster, 1, 1};
      options.dynamicShared = pattern.shared;
      options.seed = seed;
      options.hostThreads = 1;
      options.stepLimit = 1 << 20;
      LaunchResult result =
          emulation.launch(pattern.kernel, Params().add(a).add(b), options);
      INFO(file << ", " << pattern.kernel << ", seed " << seed << "\n"
                << emulation.textOf(result));
      bool isGood = isAsExpected(pattern, result);
      CHECK(isGood);
      if (!isGood)
        break; // The other seeds would say the same.
    }
  }
}

TEST_CASE("patterns of shared memory") { checkFile("Shared.cu"); }
TEST_CASE("patterns of global memory") { checkFile("Global.cu"); }
TEST_CASE("patterns of clusters") { checkFile("Cluster.cu"); }
TEST_CASE("patterns of asynchronous copies") { checkFile("Copies.cu"); }
