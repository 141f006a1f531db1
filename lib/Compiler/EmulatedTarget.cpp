//===- EmulatedTarget.cpp - What the emulator says of a kernel --*- C++ -*-===//
//
// See EmulatedTarget.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/EmulatedTarget.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;
using emulator::Participant;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Whether `name`, as messages have it, is the file that NVRTC calls `path`,
/// which it may have made absolute.
static bool isSameFile(llvm::StringRef name, llvm::StringRef path) {
  if (name == path)
    return true;
  llvm::SmallString<128> absolute(name);
  if (llvm::sys::fs::make_absolute(absolute))
    return false;
  llvm::sys::path::remove_dots(absolute, /*remove_dot_dot=*/true);
  llvm::SmallString<128> other(path);
  llvm::sys::path::remove_dots(other, /*remove_dot_dot=*/true);
  return absolute == other;
}

SourceRange tilec::sourceLine(const SourceManager &sources,
                              const emulator::ptx::Module &module,
                              const emulator::ptx::Location &location) {
  if (location.outerFile == 0 || location.outerFile >= module.files.size())
    return {};
  for (unsigned file = 0; file < sources.getNumFiles(); ++file) {
    if (!isSameFile(sources.getName(file), module.files[location.outerFile]))
      continue;
    llvm::StringRef rest = sources.getText(file);
    size_t begin = 0;
    for (unsigned line = 1; line < location.outerLine; ++line) {
      size_t end = rest.find('\n', begin);
      if (end == llvm::StringRef::npos)
        return {};
      begin = end + 1;
    }
    llvm::StringRef line = rest.substr(begin).split('\n').first;
    llvm::StringRef text = line.ltrim();
    begin += line.size() - text.size();
    size_t length = std::max<size_t>(text.rtrim().size(), 1);
    size_t end = std::min(begin + length, rest.size());
    return {sources.getLoc(file, begin), sources.getLoc(file, end)};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

/// Whether two reports are of the same defect.
static bool isSame(const emulator::Report &a, const emulator::Report &b) {
  return a.kind == b.kind &&
         llvm::equal(a.participants, b.participants,
                     [](const Participant &x, const Participant &y) {
                       const auto &place = x.location, &other = y.location;
                       return x.instruction == y.instruction &&
                              place.outerLine == other.outerLine &&
                              (place.outerLine ||
                               place.ptxLine == other.ptxLine);
                     });
}

void EmulationFindings::add(const emulator::EmulatedRun &run,
                            llvm::StringRef when) {
  ++numRuns;
  for (const emulator::Report &report : run.result.reports) {
    auto known = llvm::find_if(findings, [&](const Finding &finding) {
      return isSame(finding.report, report);
    });
    if (known == findings.end())
      known = findings.insert(
          known, {report, run.program, when.str(), run.options.seed, 0});
    else
      known->report.count += report.count;
    known->lastRun = numRuns;
  }
  for (Finding &finding : findings)
    finding.runs += finding.lastRun == numRuns;
}

/// What the author of a .tile program can do. The language has no fences and no
/// barriers: they are left to the compiler, so their lack is a bug there. But
/// it is up to the program that programs of the grid keep out of each other's
/// elements. The remedy in terms of PTX stays, for those who work on the
/// compiler, or changed the PTX.
static std::string remedyOf(const emulator::Report &report) {
  using Kind = emulator::ReportKind;
  std::string inPTX =
      report.remedy.empty() ? "" : "; in terms of PTX: " + report.remedy;
  const char *bug = "a bug of tilec; please report it with the program";
  switch (report.kind) {
  case Kind::OutOfBounds:
  case Kind::AssertFailed:
  case Kind::StepLimit:
    return report.remedy;
  case Kind::GlobalRace:
    if (report.participants.size() == 2 &&
        report.participants[0].block != report.participants[1].block)
      return "let no program of the grid write what another reads or writes: "
             "make computed subscripts of stores differ, and sum into 'add' "
             "parameters with '+='; if the kernel does that, this is " +
             (bug + inPTX);
    [[fallthrough]];
  default:
    return "nothing in a .tile program can cause this: it is " + (bug + inPTX);
  }
}

bool EmulationFindings::report(Program &program,
                               const typed::Kernel &kernel) const {
  for (const Finding &finding : findings) {
    const emulator::Report &report = finding.report;
    const emulator::ptx::Module &module = finding.code->module();
    SourceRange first;
    if (!report.participants.empty())
      first = sourceLine(program.sources, module,
                         report.participants.front().location);
    Diagnostic &error = program.diags.error(
        first.isValid() ? first : kernel.range, report.message);
    error.of(nameOf(report.kind));
    for (const Participant &participant : report.participants) {
      SourceRange range =
          sourceLine(program.sources, module, participant.location);
      // The message stands at the first one already.
      if (&participant == &report.participants.front())
        range = {};
      error.note(range, emulator::describe(participant, module));
    }
    if (!report.buffer.empty())
      error.note("in " + report.buffer);
    std::string often;
    llvm::raw_string_ostream os(often);
    if (report.count > 1)
      os << "found " << report.count << " times";
    if (numRuns > 1)
      os << (often.empty() ? "found in " : ", in ") << finding.runs << " of "
         << numRuns << " runs; first ";
    else if (!finding.when.empty())
      os << (often.empty() ? "found " : ", ");
    if (!finding.when.empty() || numRuns > 1)
      os << finding.when << (finding.when.empty() ? "with" : " and") << " seed "
         << finding.seed;
    if (!often.empty())
      error.note(often);
    std::string remedy = remedyOf(report);
    if (!remedy.empty())
      error.remedy(remedy);
  }
  return !findings.empty();
}
