//===- ReportLogTest.cpp - Reading what kernels reported --------*- C++ -*-===//
//
// The words are written here as a kernel writes them.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/GPU/ReportLog.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace tilec;
using namespace tilec::gpu;

static const std::vector<Site> &sites() {
  static const std::vector<Site> list = {
      {SiteKind::Print, "a.tile", 9, 3, "x =", {{"f32", {2, 2}}, {"i1", {}}}},
      {SiteKind::OutOfRange, "a.tile", 5, 7, "", {}},
      {SiteKind::Assert, "a.tile", 2, 1, "positive", {}}};
  return list;
}

namespace {
/// An area of memory, and the lines that reading it prints.
struct Area {
  Area() : words(log.begin()) {
    words.resize(log.bytes() / 8);
    sink.print = [this](llvm::StringRef line) { lines.push_back(line.str()); };
  }
  /// The words of a printed value behind its head.
  int64_t *print(int64_t site, int64_t value, int64_t block, int64_t size) {
    int64_t *line = &words[words[3] + words[0] / 8];
    words[0] += 8 * size;
    ++words[1];
    line[0] = site;
    line[1] = value;
    line[2] = block;
    return line + 3;
  }
  void read() {
    size_t used = log.bytesUsed(llvm::ArrayRef(words).take_front(31));
    REQUIRE(used % 8 == 0);
    log.read(llvm::ArrayRef(words).take_front(used / 8), sink);
  }

  ReportLog log{sites()};
  std::vector<int64_t> words;
  ReportSink sink;
  std::vector<std::string> lines;
};
} // namespace

TEST_CASE("an area in which nothing was reported") {
  Area area;
  CHECK(area.log.begin().size() == 31); // 4 and 9 for each site.
  CHECK(area.log.bytesUsed(area.log.begin()) == 0);
  // Without prints there is no room for any.
  CHECK(ReportLog(llvm::ArrayRef(sites()).drop_front()).bytes() == 8 * 22);
}

TEST_CASE("failures are counted, the first indices kept") {
  Area area;
  int64_t *entry = &area.words[4 + 9];
  entry[0] = 6;
  for (int64_t i = 0; i < 4; ++i) {
    entry[1 + 2 * i] = 100 + i;
    entry[2 + 2 * i] = 50;
  }
  area.words[4 + 18] = 2;
  area.read();
  std::vector<Report> reports = area.sink.reports();
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].site == sites()[2]);
  CHECK(reports[0].message() == "positive (2 times)");
  CHECK(reports[1].site == sites()[1]);
  CHECK(reports[1].message() ==
        "index 100 is out of range, the extent is 50 (and 5 more)");
  CHECK(reports[1].indices.size() == 4);
  CHECK(area.lines.empty());
}

TEST_CASE("printed values come in the order of the blocks") {
  Area area;
  for (int64_t block : {7, 2}) {
    int64_t *tile = area.print(0, 0, block, 7);
    tile[0] = 2; // Of two rows one column is valid.
    tile[1] = 1;
    float elements[] = {0.5f + float(block), 99, -1, 99};
    std::memcpy(tile + 2, elements, sizeof(elements));
    area.print(0, 1, block, 4)[0] = block == 7;
  }
  area.print(0, -1, 2, 3);
  area.read();
  CHECK(area.lines == std::vector<std::string>{"x = [[2.5], [-1]]", "x = false",
                                               "x =", "x = [[7.5], [-1]]",
                                               "x = true"});
  CHECK(area.sink.empty());
}

TEST_CASE("values for which there was no room are counted") {
  Area area;
  area.print(0, 1, 0, 4)[0] = 1;
  area.words[1] += 3;
  area.read();
  CHECK(area.lines ==
        std::vector<std::string>{
            "x = true", "... and 3 more values, for which there was no room"});
}
