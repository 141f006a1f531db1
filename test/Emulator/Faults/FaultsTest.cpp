//===- FaultsTest.cpp - Planted faults, and programs without --------------===//
//
// Each program of this folder is right as it stands: with many seeds and
// several sizes it must compute what it should, and no report may come. With
// each of the faults that are planted in it, and every seed, there must be a
// report of the kind that the source says, naming the line that says it. See
// Prelude.cuh for how that is written.
//
//===----------------------------------------------------------------------===//

#include "test/Emulator/Faults/Programs.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <map>

using namespace tilec;
using namespace tilec::test;
using namespace tilec::emulator;

constexpr unsigned numSeeds = 20;

static std::string pathOf(const FaultyProgram &program) {
  return std::string(TILEC_FAULTS) + "/" + program.file;
}

/// Where a fault is to be seen, and as what.
struct Expectation {
  unsigned line;
  llvm::SmallVector<std::string> kinds;
  bool isAlways; // With every seed.
};

/// The faults of a program by their number.
static std::map<unsigned, std::vector<Expectation>>
faultsOf(llvm::StringRef text) {
  std::map<unsigned, std::vector<Expectation>> result;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  llvm::Regex form("fault ([0-9]+):[^]]*\\[([a-z|-]+)( sometimes)?\\]");
  for (unsigned i = 0; i < lines.size(); ++i) {
    llvm::StringRef rest = lines[i];
    llvm::SmallVector<llvm::StringRef> parts;
    while (form.match(rest, &parts)) {
      Expectation expectation{i + 1, {}, parts[3].empty()};
      llvm::SmallVector<llvm::StringRef> kinds;
      parts[2].split(kinds, '|');
      for (llvm::StringRef kind : kinds)
        expectation.kinds.push_back(kind.str());
      unsigned fault = 0;
      REQUIRE(!parts[1].getAsInteger(10, fault));
      result[fault].push_back(std::move(expectation));
      rest = rest.substr(size_t(parts[0].end() - rest.begin()));
    }
  }
  return result;
}

static std::string textOf(const Run &run) {
  std::string text;
  for (const Report &report : run.reports)
    text += format(report, run.emulation.program->module()) + "\n";
  return text.empty() ? "no report" : text;
}

static bool isFound(const Run &run, llvm::StringRef file,
                    llvm::ArrayRef<Expectation> expectations) {
  const auto &files = run.emulation.program->module().files;
  for (const Report &report : run.reports)
    for (const Expectation &expectation : expectations)
      for (const Participant &who : report.participants)
        if (who.location.line == expectation.line &&
            who.location.file < files.size() &&
            llvm::sys::path::filename(files[who.location.file]) == file &&
            llvm::is_contained(expectation.kinds, nameOf(report.kind)))
          return true;
  return false;
}

TEST_CASE("programs without a fault") {
  for (const FaultyProgram &program : faultyPrograms()) {
    std::optional<Code> code = compileFile(pathOf(program));
    if (!code)
      return;
    for (uint64_t seed = 0; seed < numSeeds; ++seed) {
      Run run(*code, seed, seed % 3);
      program.run(run);
      INFO(program.file << ", seed " << seed << "\n" << textOf(run));
      CHECK(run.reports.empty());
      CHECK(run.isRight);
    }
  }
}

TEST_CASE("planted faults") {
  unsigned numFaults = 0;
  for (const FaultyProgram &program : faultyPrograms()) {
    auto file = llvm::MemoryBuffer::getFile(pathOf(program), true);
    REQUIRE(file);
    for (auto &[fault, expectations] : faultsOf((*file)->getBuffer())) {
      std::optional<Code> code =
          compileFile(pathOf(program), {"-DFAULT=" + std::to_string(fault)});
      if (!code)
        return;
      ++numFaults;
      bool isAlways = llvm::all_of(
          expectations, [](const Expectation &e) { return e.isAlways; });
      unsigned times = 0;
      std::string missing;
      for (uint64_t seed = 0; seed < numSeeds; ++seed) {
        Run run(*code, seed, /*size=*/0, fault);
        program.run(run);
        bool found = isFound(run, program.file, expectations);
        times += found;
        if (!found && missing.empty())
          missing = "seed " + std::to_string(seed) + "\n" + textOf(run);
        if (!found && isAlways)
          break; // The other seeds would say the same.
      }
      INFO(program.file << ", fault " << fault << ", " << missing);
      CHECK(times >= (isAlways ? numSeeds : 1));
    }
  }
  CHECK(numFaults >= 40);
}
