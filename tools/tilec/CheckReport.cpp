//===- CheckReport.cpp - What tilec check found, in words -------*- C++ -*-===//
//
// See CheckReport.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/CheckReport.h"
#include "tools/tilec/RunReport.h"
#include "llvm/ADT/STLExtras.h"

using namespace tilec;
using namespace tilec::cli;

std::string CheckCase::sizes() const {
  std::string text;
  for (const auto &[name, extent] : extents)
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(extent);
  return text;
}

bool CheckedKernel::hasFailed() const {
  return llvm::any_of(cases,
                      [](const CheckCase &item) { return item.hasFailed; });
}

bool CheckedKernel::hasRun() const {
  return llvm::any_of(cases, [](const CheckCase &item) { return item.runs; });
}

static std::string plural(uint64_t count, llvm::StringRef what) {
  return (llvm::Twine(count) + " " + what + (count == 1 ? "" : "s")).str();
}

/// The lines of a text, indented.
static void printIndented(llvm::raw_ostream &os, llvm::StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (!line.empty())
      os << "    " << line << '\n';
    text = rest;
  }
}

void CheckReport::print(llvm::raw_ostream &os) const {
  for (const CheckedKernel &kernel : kernels) {
    os << kernel.name << " on the emulator of " << target;
    if (!kernel.skipped.empty()) {
      os << ": not checked, " << kernel.skipped << '\n';
      continue;
    }
    // Nothing can be said of what did not run.
    os << ": "
       << (kernel.hasRun() ? describeFindings(kernel.findings) + "; " : "")
       << (kernel.hasFailed() ? "FAILED" : "results agree") << '\n';
    for (const CheckCase &item : kernel.cases) {
      os << "  " << item.sizes() << (item.extents.empty() ? "" : ": ");
      if (item.runs == 0) {
        os << "not run\n";
        continue;
      }
      os << plural(item.programs, "program") << ", " << plural(item.runs, "run")
         << ", " << plural(item.instructions, "instruction") << " of warps, "
         << formatMilliseconds(item.milliseconds)
         << (item.hasFailed ? ", FAILED" : "") << '\n';
      if (counters)
        printIndented(os, emulator::format(item.counters));
    }
  }
}

void CheckReport::printJson(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto printCase = [&](const CheckCase &item) {
    json.attributeObject("sizes", [&] {
      for (const auto &[name, extent] : item.extents)
        json.attribute(name, extent);
    });
    json.attribute("programs", item.programs);
    json.attribute("runs", item.runs);
    json.attribute("good", !item.hasFailed);
    json.attribute("instructions", item.instructions);
    json.attribute("milliseconds", item.milliseconds);
    if (counters)
      json.attribute("counters", emulator::toJSON(item.counters));
  };
  json.object([&] {
    json.attribute("target", target);
    json.attribute("seed", seed);
    json.attributeArray("kernels", [&] {
      for (const CheckedKernel &kernel : kernels)
        json.object([&] {
          json.attribute("kernel", kernel.name);
          if (!kernel.skipped.empty()) {
            json.attribute("skipped", kernel.skipped);
            return;
          }
          json.attribute("findings", kernel.findings);
          json.attribute("good", !kernel.hasFailed() && !kernel.findings);
          json.attributeArray("cases", [&] {
            for (const CheckCase &item : kernel.cases)
              json.object([&] { printCase(item); });
          });
        });
    });
  });
  os << '\n';
}
