//===- Report.cpp - What the emulator finds wrong -------------------------===//

#include "lib/Emulator/Report.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tilec::emulator {

llvm::StringRef nameOf(ReportKind kind) {
  switch (kind) {
  case ReportKind::SharedRace:
    return "shared-race";
  case ReportKind::GlobalRace:
    return "global-race";
  case ReportKind::OverwrittenInFlight:
    return "overwritten-in-flight";
  case ReportKind::ReadInFlight:
    return "read-in-flight";
  case ReportKind::MissingProxyFence:
    return "missing-proxy-fence";
  case ReportKind::RegisterInFlight:
    return "register-in-flight";
  case ReportKind::MissingWgmmaFence:
    return "missing-wgmma-fence";
  case ReportKind::Uninitialized:
    return "uninitialized";
  case ReportKind::OutOfBounds:
    return "out-of-bounds";
  case ReportKind::Misaligned:
    return "misaligned";
  case ReportKind::TransactionCount:
    return "transaction-count";
  case ReportKind::Deadlock:
    return "deadlock";
  case ReportKind::BarrierMisuse:
    return "barrier-misuse";
  case ReportKind::DivergentAligned:
    return "divergent-aligned";
  case ReportKind::RegisterPool:
    return "register-pool";
  case ReportKind::BadOperand:
    return "bad-operand";
  case ReportKind::AssertFailed:
    return "assert-failed";
  case ReportKind::StepLimit:
    return "step-limit";
  }
  return "unknown";
}

void Reporter::add(Report report) {
  // Which of two threads notices is chance, so their order does not matter.
  unsigned lines[2] = {};
  for (size_t i = 0; i != std::min<size_t>(report.participants.size(), 2); ++i)
    lines[i] = report.participants[i].location.ptxLine;
  std::sort(lines, lines + 2);
  std::lock_guard lock(mutex);
  auto [place, isNew] =
      known.try_emplace({report.kind, lines[0], lines[1]}, reports.size());
  if (isNew)
    reports.push_back(std::move(report));
  else
    reports[place->second].count += report.count;
}

bool Reporter::empty() const {
  std::lock_guard lock(mutex);
  return reports.empty();
}

std::vector<Report> Reporter::take() {
  std::lock_guard lock(mutex);
  known.clear();
  return std::exchange(reports, {});
}

std::string describe(const Participant &participant,
                     const ptx::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (participant.thread >= 0)
    os << "thread " << participant.thread << " of ";
  os << "block (" << participant.block[0] << ", " << participant.block[1]
     << ", " << participant.block[2] << ")";
  if (!participant.role.empty())
    os << ' ' << participant.role;
  if (!participant.instruction.empty())
    os << ": " << participant.instruction;
  if (participant.location.ptxLine)
    os << ", line " << participant.location.ptxLine << " of " << module.name;
  return text;
}

std::string format(const Report &report, const ptx::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << nameOf(report.kind) << ": " << report.message << '\n';
  for (const Participant &participant : report.participants) {
    os << "  ";
    const ptx::Location &location = participant.location;
    // A module may name a file by a number for which it has no name.
    if (location.file && location.file < module.files.size() &&
        !module.files[location.file].empty())
      os << module.files[location.file] << ':' << location.line << ": ";
    os << describe(participant, module) << '\n';
  }
  if (!report.buffer.empty())
    os << "  in " << report.buffer << '\n';
  if (report.count > 1)
    os << "  found " << report.count << " times\n";
  if (!report.remedy.empty())
    os << "  " << report.remedy << '\n';
  return text;
}

} // namespace tilec::emulator
