//===- ReportLog.cpp - Where kernels on a GPU write reports -----*- C++ -*-===//
//
// See ReportLog.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/GPU/ReportLog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace tilec;
using namespace tilec::gpu;

static constexpr int64_t firstSite = 4;
static constexpr int64_t siteWords = 1 + 2 * ReportSink::maxIndices;
/// For printed values: a thousand tiles of 4096 f32.
static constexpr int64_t maxPrintBytes = int64_t(16) << 20;

static int64_t numElements(llvm::ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

int64_t ReportLog::wordsOf(const PrintedValue &value) {
  int64_t bytes = numElements(value.shape) * printedBytes(value.type);
  return headWords + static_cast<int64_t>(value.shape.size()) +
         static_cast<int64_t>(llvm::divideCeil(bytes, 8));
}

int64_t ReportLog::firstPrint() const {
  return firstSite + siteWords * static_cast<int64_t>(sites.size());
}

int64_t ReportLog::printBytes() const {
  bool prints = llvm::any_of(
      sites, [](const Site &site) { return site.kind == SiteKind::Print; });
  return prints ? maxPrintBytes : 0;
}

size_t ReportLog::bytes() const { return 8 * firstPrint() + printBytes(); }

std::vector<int64_t> ReportLog::begin() const {
  std::vector<int64_t> words(firstPrint());
  words[2] = printBytes();
  words[3] = firstPrint();
  return words;
}

size_t ReportLog::bytesUsed(llvm::ArrayRef<int64_t> begin) const {
  if (begin == llvm::ArrayRef(this->begin()))
    return 0;
  return 8 * firstPrint() + std::min(begin[0], printBytes());
}

namespace {
/// A value that a block printed.
struct PrintedLine {
  int64_t block;
  const int64_t *place;
  const Site *site;
  int64_t number;
  llvm::ArrayRef<int64_t> extents;
  const char *elements;
};
} // namespace

void ReportLog::read(llvm::ArrayRef<int64_t> words, ReportSink &sink) const {
  for (auto [number, site] : llvm::enumerate(sites)) {
    llvm::ArrayRef<int64_t> entry =
        words.slice(firstSite + siteWords * number, siteWords);
    if (entry[0] == 0)
      continue;
    llvm::SmallVector<Report::Index> indices;
    auto count = static_cast<uint64_t>(entry[0]);
    if (site.kind == SiteKind::OutOfRange)
      for (uint64_t i = 0; i < std::min<uint64_t>(count, sink.maxIndices); ++i)
        indices.push_back({entry[1 + 2 * i], entry[2 + 2 * i]});
    sink.record(site, count, indices);
  }

  std::vector<PrintedLine> lines;
  for (llvm::ArrayRef<int64_t> rest = words.drop_front(firstPrint());
       static_cast<int64_t>(rest.size()) >= headWords;) {
    PrintedLine line = {rest[2], rest.data(), &sites[rest[0]],
                        rest[1], {},          nullptr};
    int64_t size = headWords;
    if (line.number >= 0) {
      const PrintedValue &value = line.site->values[line.number];
      size = wordsOf(value);
      if (static_cast<int64_t>(rest.size()) < size)
        break;
      line.extents = rest.slice(headWords, value.shape.size());
      line.elements = reinterpret_cast<const char *>(rest.data() + headWords +
                                                     value.shape.size());
    }
    lines.push_back(line);
    rest = rest.drop_front(size);
  }
  llvm::sort(lines, [](const PrintedLine &a, const PrintedLine &b) {
    return std::tie(a.block, a.place) < std::tie(b.block, b.place);
  });
  for (const PrintedLine &line : lines)
    sink.recordPrint(*line.site, line.number, line.elements, line.extents);
  if (int64_t missing = words[1] - static_cast<int64_t>(lines.size()))
    sink.printLine("... and " + std::to_string(missing) +
                   " more values, for which there was no room");
}
