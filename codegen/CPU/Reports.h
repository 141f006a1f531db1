//===- Reports.h - What a running kernel has to say -------------*- C++ -*-===//
//
// Kernels report three things to the host: an index out of range (in a checked
// build), a failed assert, and the values of a print. Each such place in a
// kernel is a *site*, numbered when the kernel is lowered; the code passes the
// number, and the table of sites says the rest. One site may be hit by every
// lane of every program, so a report is a site, how often it was hit, and what
// was found the first few times.
//
// No MLIR here: launchers and the command line include this header too.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_REPORTS_H
#define TILEC_CODEGEN_CPU_REPORTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace tilec::cpu {

enum class SiteKind { OutOfRange, Assert, Print };

/// A value that a print site prints.
struct PrintedValue {
  std::string type; // As MLIR writes it: "f32", "bf16", "i64", ...
  llvm::SmallVector<int64_t, 4> shape;
};

/// A place in the source that can report.
struct Site {
  SiteKind kind = SiteKind::OutOfRange;
  std::string file; // Empty if the place is unknown.
  unsigned line = 0, column = 0;
  /// The text of an assert, the label of a print.
  std::string text;
  std::vector<PrintedValue> values; // Print only.
};

/// What happened at one site during one run (or several, if the sink is kept).
struct Report {
  Site site;
  uint64_t count = 0;
  /// OutOfRange only: the first indices found and the extents they exceed.
  struct Index {
    int64_t index, extent;
  };
  llvm::SmallVector<Index, 4> indices;

  /// "index 7 is out of range, the extent is 5 (and 3 more)", or the text of
  /// the assert.
  std::string message() const;
};

/// Collects the reports of runs. May be used from several threads.
class ReportSink {
public:
  /// How many indices to keep for each site.
  static constexpr unsigned maxIndices = 4;

  ReportSink();

  /// Where print goes, a line at a time, without the line break. The default
  /// writes to standard error.
  std::function<void(llvm::StringRef line)> print;

  bool empty() const;
  /// In the order of the sites in the source.
  std::vector<Report> reports() const;
  void clear();

  // For the running kernel.
  void recordIndex(const Site &site, int64_t index, int64_t extent);
  void recordAssert(const Site &site);
  void printLine(llvm::StringRef line);

private:
  Report &find(const Site &site);

  mutable std::mutex mutex;
  std::vector<Report> list;
};

} // namespace tilec::cpu

#endif // TILEC_CODEGEN_CPU_REPORTS_H
