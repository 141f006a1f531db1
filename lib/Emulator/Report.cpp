//===- Report.cpp - What the emulator finds wrong -------------------------===//

#include "lib/Emulator/Report.h"

#include <utility>

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

static unsigned lineOf(const Report &report, size_t participant) {
  return participant < report.participants.size()
             ? report.participants[participant].location.ptxLine
             : 0;
}

void Reporter::add(Report report) {
  std::lock_guard lock(mutex);
  auto [at, isNew] = known.try_emplace(
      {report.kind, lineOf(report, 0), lineOf(report, 1)}, reports.size());
  if (isNew)
    reports.push_back(std::move(report));
  else
    reports[at->second].count += report.count;
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

/// "block (1, 0, 0), thread 5 writes: st.shared.b32, at rows.cu:12 (PTX line
/// 40)".
static std::string told(const Participant &who, const ptx::Module &module) {
  std::string text = "block (" + std::to_string(who.block[0]) + ", " +
                     std::to_string(who.block[1]) + ", " +
                     std::to_string(who.block[2]) + ")";
  if (who.thread >= 0)
    text += ", thread " + std::to_string(who.thread);
  if (!who.role.empty())
    text += " " + who.role;
  if (!who.instruction.empty())
    text += ": " + who.instruction;
  std::string ptxLine = "PTX line " + std::to_string(who.location.ptxLine);
  const auto &files = module.files;
  if (who.location.line && who.location.file < files.size())
    text += ", at " + files[who.location.file] + ":" +
            std::to_string(who.location.line) + " (" + ptxLine + ")";
  else if (who.location.ptxLine)
    text += ", at " + ptxLine;
  return text;
}

std::string format(const Report &report, const ptx::Module &module) {
  std::string text = nameOf(report.kind).str() + ": " + report.message;
  if (report.count > 1)
    text += " (" + std::to_string(report.count) + " times)";
  text += "\n";
  if (!report.buffer.empty())
    text += "  in " + report.buffer + "\n";
  for (const Participant &who : report.participants)
    text += "  " + told(who, module) + "\n";
  if (!report.remedy.empty())
    text += "  remedy: " + report.remedy + "\n";
  return text;
}

} // namespace tilec::emulator
