//===- Reports.cpp - What a running kernel has to say -----------*- C++ -*-===//
//
// Collects what kernels report, and puts it into words.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Reports.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

using namespace tilec;
using llvm::APFloat;

//===----------------------------------------------------------------------===//
// Printed values
//===----------------------------------------------------------------------===//

int64_t tilec::printedBytes(llvm::StringRef type) {
  return llvm::StringSwitch<int64_t>(type)
      .Cases({"i64", "f64"}, 8)
      .Cases({"i32", "f32"}, 4)
      .Cases({"i16", "f16", "bf16"}, 2)
      .Default(1);
}

namespace {

/// The fewest digits that read back as the same number of its type.
void printFloat(llvm::raw_ostream &os, const APFloat &number) {
  APFloat exact = number;
  bool inexact;
  exact.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  double value = exact.convertToDouble();
  if (!number.isFinite()) {
    os << (number.isNaN() ? "nan" : number.isNegative() ? "-inf" : "inf");
    return;
  }
  int precision = 0;
  char text[32];
  do
    std::snprintf(text, sizeof(text), "%.*g", ++precision, value);
  while (precision < 17 &&
         !APFloat(number.getSemantics(), text).bitwiseIsEqual(number));
  // Few digits are no reason for an exponent: 20 rather than 2e+01.
  os << llvm::format("%.*g", std::max(precision, 6),
                     std::strtod(text, nullptr));
}

/// One element of a type that MLIR calls `type`.
void printElement(llvm::raw_ostream &os, llvm::StringRef type,
                  const char *bytes) {
  auto integer = [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
    os << int64_t(value);
  };
  if (type == "i64")
    return integer(int64_t());
  if (type == "i32")
    return integer(int32_t());
  if (type == "i16")
    return integer(int16_t());
  if (type == "i8")
    return integer(int8_t());
  if (type == "i1") {
    os << (*bytes ? "true" : "false");
    return;
  }
  const llvm::fltSemantics *semantics =
      llvm::StringSwitch<const llvm::fltSemantics *>(type)
          .Case("f64", &APFloat::IEEEdouble())
          .Case("f16", &APFloat::IEEEhalf())
          .Case("bf16", &APFloat::BFloat())
          .Case("f8E4M3FN", &APFloat::Float8E4M3FN())
          .Case("f8E5M2", &APFloat::Float8E5M2())
          .Default(&APFloat::IEEEsingle());
  unsigned bits = APFloat::getSizeInBits(*semantics);
  uint64_t word = 0;
  std::memcpy(&word, bytes, bits / 8);
  APFloat number(*semantics, llvm::APInt(bits, word));
  printFloat(os, number);
}

/// A tile in memory, of whose elements only some are printed.
struct PrintedTile {
  llvm::StringRef type;
  llvm::ArrayRef<int64_t> shape;   // In memory.
  llvm::ArrayRef<int64_t> extents; // Of what is valid.
  int64_t elementBytes;
  bool isShortened;
};

constexpr int64_t maxElements = 64; // More than that are shortened:
constexpr int64_t maxAlongAxis = 8; // so many along each axis.

/// Prints what begins at `bytes` and extends along the axes from `axis` on.
void printTile(llvm::raw_ostream &os, const PrintedTile &tile, size_t axis,
               const char *bytes) {
  if (axis == tile.shape.size())
    return printElement(os, tile.type, bytes);
  int64_t stride = tile.elementBytes;
  for (int64_t inner : tile.shape.drop_front(axis + 1))
    stride *= inner;
  int64_t extent = tile.extents[axis];
  bool isShortened = tile.isShortened && extent > maxAlongAxis;
  os << '[';
  for (int64_t i = 0; i < extent; ++i) {
    if (i)
      os << ", ";
    if (isShortened && i == maxAlongAxis / 2) {
      os << "..., ";
      i = extent - maxAlongAxis / 2;
    }
    printTile(os, tile, axis + 1, bytes + i * stride);
  }
  os << ']';
}

} // namespace

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::string Report::message() const {
  if (site.kind == SiteKind::Assert) {
    std::string text = site.text.empty() ? "assertion failed" : site.text;
    if (count > 1)
      text += " (" + std::to_string(count) + " times)";
    return text;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!indices.empty())
    os << "index " << indices.front().index
       << " is out of range, the extent is " << indices.front().extent;
  if (count > 1)
    os << " (and " << count - 1 << " more)";
  return text;
}

ReportSink::ReportSink()
    : print([](llvm::StringRef line) { llvm::errs() << line << '\n'; }) {}

bool ReportSink::empty() const {
  std::lock_guard<std::mutex> lock(mutex);
  return list.empty();
}

std::vector<Report> ReportSink::reports() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Report> sorted = list;
  auto place = [](const Report &report) {
    return std::tie(report.site.file, report.site.line, report.site.column,
                    report.site.text);
  };
  llvm::sort(sorted, [&](const Report &a, const Report &b) {
    return place(a) < place(b);
  });
  return sorted;
}

void ReportSink::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  list.clear();
}

/// The report of a site, made if there is none; the caller holds the lock.
Report &ReportSink::find(const Site &site) {
  for (Report &report : list)
    if (report.site.kind == site.kind && report.site.file == site.file &&
        report.site.line == site.line && report.site.column == site.column &&
        report.site.text == site.text)
      return report;
  list.emplace_back();
  list.back().site = site;
  return list.back();
}

void ReportSink::recordIndex(const Site &site, int64_t index, int64_t extent) {
  record(site, 1, {{index, extent}});
}

void ReportSink::recordAssert(const Site &site) { record(site, 1, {}); }

void ReportSink::record(const Site &site, uint64_t count,
                        llvm::ArrayRef<Report::Index> indices) {
  std::lock_guard<std::mutex> lock(mutex);
  Report &report = find(site);
  report.count += count;
  for (Report::Index index : indices)
    if (report.indices.size() < maxIndices)
      report.indices.push_back(index);
}

void ReportSink::recordPrint(const Site &site, int64_t number,
                             const char *elements,
                             llvm::ArrayRef<int64_t> extents) {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << site.text;
  if (number >= 0) {
    if (!site.text.empty())
      os << ' ';
    const PrintedValue &printed = site.values[number];
    PrintedTile tile;
    tile.type = printed.type;
    tile.shape = printed.shape;
    tile.extents = extents.empty() ? tile.shape : extents;
    tile.elementBytes = printedBytes(printed.type);
    int64_t count = 1;
    for (int64_t extent : tile.extents)
      count *= extent;
    tile.isShortened = count > maxElements;
    printTile(os, tile, 0, elements);
  }
  printLine(line);
}

void ReportSink::printLine(llvm::StringRef line) {
  // One line at a time, also from several threads.
  std::lock_guard<std::mutex> lock(mutex);
  if (print)
    print(line);
}
