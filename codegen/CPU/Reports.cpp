//===- Reports.cpp - What a running kernel has to say -----------*- C++ -*-===//
//
// Collects what kernels report, and puts it into words.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/Reports.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <tuple>

namespace tilec::cpu {

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
  std::lock_guard<std::mutex> lock(mutex);
  Report &report = find(site);
  ++report.count;
  if (report.indices.size() < maxIndices)
    report.indices.push_back({index, extent});
}

void ReportSink::recordAssert(const Site &site) {
  std::lock_guard<std::mutex> lock(mutex);
  ++find(site).count;
}

void ReportSink::printLine(llvm::StringRef line) {
  // One line at a time, also from several threads.
  std::lock_guard<std::mutex> lock(mutex);
  if (print)
    print(line);
}

} // namespace tilec::cpu
