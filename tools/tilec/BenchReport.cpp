//===- BenchReport.cpp - What a measurement gave ----------------*- C++ -*-===//
//
// See BenchReport.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/BenchReport.h"
#include "tools/tilec/RunReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <algorithm>

using namespace tilec;
using namespace tilec::cli;

Spread Spread::of(std::vector<double> samples) {
  llvm::sort(samples);
  return {samples[samples.size() / 2], samples.front(), samples.back()};
}

/// `amount` in a millisecond as so many 10^12 in a second.
static double teraPerSecond(double amount, double milliseconds) {
  return milliseconds > 0 ? amount / milliseconds / 1e9 : 0;
}

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string number(const char *format, double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, value);
  return text;
}

namespace {
/// A column of the table: its head and its cell in a row.
struct Column {
  std::string head;
  std::function<std::string(const BenchFigures &)> cell;
};
} // namespace

static std::vector<Column> columnsOf(const BenchReport &report) {
  using Row = const BenchFigures &;
  auto rate = [](double amount) {
    return [amount](Row row) {
      return number("%.3g", teraPerSecond(amount, row.milliseconds.median));
    };
  };
  std::vector<Column> columns = {
      {"schedule",
       [](Row row) { return row.schedule.empty() ? "default" : row.schedule; }},
      {"ms", [](Row row) { return number("%.4g", row.milliseconds.median); }},
      {"min", [](Row row) { return number("%.4g", row.milliseconds.min); }},
      {"max", [](Row row) { return number("%.4g", row.milliseconds.max); }},
      {"TB/s", rate(report.bytes)}};
  if (report.copy)
    columns.push_back({"of copy", [&](Row row) {
                         return number("%.3f", ratio(report.copy->median,
                                                     row.milliseconds.median));
                       }});
  if (report.flops)
    columns.push_back({"TFLOP/s", rate(*report.flops)});
  columns.push_back(
      {"programs", [](Row row) { return std::to_string(row.programs); }});
  if (report.copy) {
    columns.push_back({"registers", [](Row row) {
                         return std::to_string(row.gpu->registers);
                       }});
    columns.push_back(
        {"threads", [](Row row) { return std::to_string(row.gpu->threads); }});
    columns.push_back({"shared", [](Row row) {
                         return std::to_string(row.gpu->sharedBytes);
                       }});
    columns.push_back({"prepared us", [](Row row) {
                         return number("%.2f", row.gpu->preparedMicroseconds);
                       }});
    columns.push_back({"direct us", [](Row row) {
                         return number("%.2f", row.gpu->directMicroseconds);
                       }});
  }
  columns.push_back({"compiled in", [](Row row) {
                       return formatMilliseconds(row.compileMilliseconds) +
                              (row.wasInCache ? " (cache)" : "");
                     }});
  return columns;
}

void BenchReport::print(llvm::raw_ostream &os) const {
  os << kernel << " on " << device << ", median of " << repeat << '\n'
     << number("%.4g", bytes / 1e6) << " MB to move";
  if (copy)
    os << ", which a copy does in " << formatMilliseconds(copy->median) << ", "
       << number("%.3g", teraPerSecond(bytes, copy->median)) << " TB/s";
  os << '\n';
  if (flops)
    os << number("%.4g", *flops / 1e9) << " GFLOP\n";

  std::vector<Column> columns = columnsOf(*this);
  std::vector<std::vector<std::string>> lines(1);
  for (const Column &column : columns)
    lines[0].push_back(column.head);
  for (const BenchFigures &row : figures) {
    lines.emplace_back();
    for (const Column &column : columns)
      lines.back().push_back(column.cell(row));
  }
  std::vector<size_t> widths(columns.size());
  for (const std::vector<std::string> &line : lines)
    for (auto [width, cell] : llvm::zip(widths, line))
      width = std::max(width, cell.size());
  for (const std::vector<std::string> &line : lines) {
    os << llvm::left_justify(line[0], widths[0]);
    for (size_t i = 1; i < line.size(); ++i)
      os << "  " << llvm::right_justify(line[i], widths[i]);
    os << '\n';
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printSpread(llvm::json::OStream &json, llvm::StringRef name,
                        const Spread &spread) {
  json.attributeObject(name, [&] {
    json.attribute("median", spread.median);
    json.attribute("min", spread.min);
    json.attribute("max", spread.max);
  });
}

void BenchReport::printJson(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto printRow = [&](const BenchFigures &row) {
    double median = row.milliseconds.median;
    json.attribute("schedule", row.schedule);
    printSpread(json, "milliseconds", row.milliseconds);
    json.attribute("teraBytesPerSecond", teraPerSecond(bytes, median));
    if (copy)
      json.attribute("ofCopy", ratio(copy->median, median));
    if (flops)
      json.attribute("teraFlopsPerSecond", teraPerSecond(*flops, median));
    json.attribute("programs", row.programs);
    json.attribute("compileMilliseconds", row.compileMilliseconds);
    if (!row.gpu)
      return;
    json.attribute("wasInCache", row.wasInCache);
    json.attribute("registers", row.gpu->registers);
    json.attribute("threads", row.gpu->threads);
    json.attribute("sharedBytes", row.gpu->sharedBytes);
    json.attribute("preparedMicroseconds", row.gpu->preparedMicroseconds);
    json.attribute("directMicroseconds", row.gpu->directMicroseconds);
  };
  json.object([&] {
    json.attribute("kernel", kernel);
    json.attribute("device", device);
    json.attribute("repeat", repeat);
    json.attribute("bytes", bytes);
    if (flops)
      json.attribute("flops", *flops);
    if (copy)
      printSpread(json, "copyMilliseconds", *copy);
    json.attributeArray("schedules", [&] {
      for (const BenchFigures &row : figures)
        json.object([&] { printRow(row); });
    });
  });
  os << '\n';
}
