//===- BenchReport.h - What a measurement gave ------------------*- C++ -*-===//
//
// The figures of `tilec bench`, and how they are printed.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_BENCHREPORT_H
#define TILEC_TOOLS_TILEC_BENCHREPORT_H

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilec::cli {

/// A median with its range.
struct Spread {
  double median = 0, min = 0, max = 0;

  /// Of at least one sample.
  static Spread of(std::vector<double> samples);
};

/// The figures of one schedule.
struct BenchFigures {
  std::string schedule; // As written; empty: no --try.
  Spread milliseconds;
  int64_t programs = 0;
  double compileMilliseconds = 0;
  bool wasInCache = false;

  /// What there is on a GPU alone.
  struct Gpu {
    unsigned registers = 0, threads = 0, sharedBytes = 0;
    double preparedMicroseconds = 0, directMicroseconds = 0;
  };
  std::optional<Gpu> gpu;
};

struct BenchReport {
  std::string kernel, device;
  unsigned repeat = 0;
  double bytes = 0;
  std::optional<double> flops; // Nothing: none, or they cannot be counted.
  std::optional<Spread> copy;  // Milliseconds of a copy of as many bytes.
  std::vector<BenchFigures> figures;

  /// A few lines on the kernel, then a table with a row for each schedule.
  void print(llvm::raw_ostream &os) const;
  void printJson(llvm::raw_ostream &os) const;
};

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_BENCHREPORT_H
