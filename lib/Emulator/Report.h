//===- Report.h - What the emulator finds wrong -----------------*- C++ -*-===//
//
// A Report is one defect of the program that ran: what kind, where, between
// whom. Handlers of instructions and the detector make them through a Reporter,
// which keeps one of each pair of places: a race in a loop is one report with a
// count. Nothing here stops the run; what can go on goes on, so that one run
// shows as much as it can.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_REPORT_H
#define TILEC_EMULATOR_REPORT_H

#include "lib/Emulator/PTX/Module.h"
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace tilec::emulator {

enum class ReportKind : uint8_t {
  SharedRace,          // Two accesses to shared memory, no order between them.
  GlobalRace,          // The same in global memory.
  OverwrittenInFlight, // Written while a copy or wgmma may still read it.
  ReadInFlight,        // Read while a copy may still write it: a missing wait.
  MissingProxyFence,   // Ordered, but no fence.proxy.async between.
  RegisterInFlight,    // A register that a running wgmma reads or writes.
  MissingWgmmaFence,   // Registers written, then wgmma without wgmma.fence.
  Uninitialized,       // Shared memory that nobody wrote is read.
  OutOfBounds,         // Outside every allocation, or what the space holds.
  Misaligned,
  TransactionCount, // An mbarrier's bytes do not add up.
  Deadlock,         // Everyone waits; the message says who where for what.
  BarrierMisuse,    // Id, thread count, not initialized, overwritten.
  DivergentAligned, // An .aligned instruction without the whole warp.
  RegisterPool,     // setmaxnreg beyond what the block has.
  BadOperand,       // A value that the instruction does not allow.
  AssertFailed,     // assert() in the kernel, or a trap.
  StepLimit,        // More instructions than allowed: perhaps no end.
};
llvm::StringRef nameOf(ReportKind kind); // "shared-race", ...

/// One of those who take part: a thread that executes an instruction, or an
/// operation that it started.
struct Participant {
  ptx::Location location;
  std::string instruction; // "st.shared.v4.b32".
  std::array<unsigned, 3> block = {};
  int thread = -1;  // In its block; -1 if it is no one thread.
  std::string role; // "writes", "reads, asynchronously", ...
};

struct Report {
  ReportKind kind = ReportKind::SharedRace;
  std::string message;                   // One sentence without places.
  std::string remedy;                    // What would mend it; may be empty.
  std::vector<Participant> participants; // The one that noticed it first.
  std::string buffer; // "shared memory at 1024, 'stage' + 64".
  uint64_t count = 1; // How often, at these places.
};

/// Collects reports; any number of threads may call it.
class Reporter {
public:
  /// Adds a report, or counts it if there is one of the same kind whose first
  /// two participants are at the same lines of the PTX, in whatever order.
  void add(Report report);
  /// Whether nothing was reported.
  bool empty() const;
  /// Those so far, in the order in which they were found.
  std::vector<Report> take();

private:
  mutable std::mutex mutex;
  std::vector<Report> reports;
  std::map<std::tuple<ReportKind, unsigned, unsigned>, size_t> known;
};

/// "thread 5 of block (0, 0, 0) writes: st.shared.u32, line 12 of x.ptx".
std::string describe(const Participant &participant, const ptx::Module &module);

/// The report as text for people: the message, then a line for each
/// participant with its line of the source and of the PTX, then the remedy.
std::string format(const Report &report, const ptx::Module &module);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_REPORT_H
