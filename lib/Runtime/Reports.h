//===- Reports.h - What a running kernel has to say -------------*- C++ -*-===//
//
// Kernels of every target report three things to the host: an index out of
// range (in a checked build), a failed assert, and the values of a print. Each
// such place in a kernel is a *site*, numbered when the kernel is lowered; the
// code passes the number, and the table of sites says the rest. One site may be
// hit by every lane of every program, so a report is a site, how often it was
// hit, and what was found the first few times.
//
// No MLIR here: launchers and the command line include this header too.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_REPORTS_H
#define TILEC_RUNTIME_REPORTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace tilec {

enum class SiteKind { OutOfRange, Assert, Print };

/// A value that a print site prints.
struct PrintedValue {
  std::string type; // As MLIR writes it: "f32", "bf16", "i64", ...
  llvm::SmallVector<int64_t, 4> shape;

  bool operator==(const PrintedValue &) const = default;
};

/// A place in the source that can report.
struct Site {
  SiteKind kind = SiteKind::OutOfRange;
  std::string file; // Empty if the place is unknown.
  unsigned line = 0, column = 0;
  /// The text of an assert, the label of a print.
  std::string text;
  std::vector<PrintedValue> values; // Print only.

  bool operator==(const Site &) const = default;
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

/// Bytes of an element of a type that MLIR calls `type`, as a kernel passes it.
int64_t printedBytes(llvm::StringRef type);

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
  /// The value `number` of a print site, or its label alone for -1. `elements`
  /// are those of the tile in row-major order, `extents` says how many of them
  /// there are along each axis; none if all.
  void recordPrint(const Site &site, int64_t number, const char *elements,
                   llvm::ArrayRef<int64_t> extents);
  /// Counts several failures at once; for OutOfRange with the first indices.
  void record(const Site &site, uint64_t count,
              llvm::ArrayRef<Report::Index> indices);
  void printLine(llvm::StringRef line);

private:
  Report &find(const Site &site);

  mutable std::mutex mutex;
  std::vector<Report> list;
};

} // namespace tilec

#endif // TILEC_RUNTIME_REPORTS_H
