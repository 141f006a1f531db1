//===- ReportLog.h - Where kernels on a GPU write reports -------*- C++ -*-===//
//
// A kernel that can report (Reports.h) gets, as a hidden parameter, an area of
// device memory. Failures of a site are counted there and the first indices
// kept; printed values are put one after the other as they are in registers,
// and become text on the host. So a report costs the device nothing but a few
// stores, and its text is that of every other target.
//
// The area is of words of 8 bytes:
//
//   word 0       bytes of printed values
//   word 1       printed values that were asked for
//   word 2       bytes there are for them
//   word 3       the word where these begin
//   from word 4  nine words for each site: the number of failures, and four
//                pairs of an index and the extent
//   then         printed values: the site, which of its values (-1 for the
//                label alone), the number of the block; the extent along each
//                axis; the elements of the tile in row-major order, filled up
//                to whole words
//
// What does not fit is left out and counted. codegen/CUDA/prelude/report.cuh is
// the other side.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_REPORTLOG_H
#define TILEC_RUNTIME_GPU_REPORTLOG_H

#include "lib/Runtime/Reports.h"

namespace tilec::gpu {

class ReportLog {
public:
  explicit ReportLog(llvm::ArrayRef<Site> sites) : sites(sites) {}

  /// Words of the head of a printed value.
  static constexpr int64_t headWords = 3;
  /// Words of one printed value, its head included.
  static int64_t wordsOf(const PrintedValue &value);

  /// Bytes of the area.
  size_t bytes() const;
  /// What is at its begin before a launch: all but the printed values.
  std::vector<int64_t> begin() const;
  /// Bytes of the area that are in use, from what is now at its begin; 0 if
  /// nothing was reported.
  size_t bytesUsed(llvm::ArrayRef<int64_t> begin) const;
  /// Puts what the used words say into `sink`; values that were printed in the
  /// order of the blocks, those of a block in the order of the program.
  void read(llvm::ArrayRef<int64_t> words, ReportSink &sink) const;

private:
  int64_t firstPrint() const;
  int64_t printBytes() const;

  llvm::ArrayRef<Site> sites;
};

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_REPORTLOG_H
