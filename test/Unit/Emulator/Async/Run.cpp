//===- Run.cpp - Kernels of PTX text for tests ----------------------------===//

#include "test/Unit/Emulator/Async/Run.h"
#include <catch2/catch.hpp>

namespace tilec::emulator {

LaunchResult run(const std::string &ptx, const Params &params,
                 const LaunchOptions &options, DeviceMemory &memory) {
  std::string text = ".version 8.3\n.target sm_90a\n.address_size 64\n" + ptx;
  auto program = loadProgram(text, "test.ptx", memory);
  if (!program)
    FAIL(llvm::toString(program.takeError()) << "\n" << text);
  auto result = launch(**program, "k", params.bytes, options, memory);
  if (!result)
    FAIL(llvm::toString(result.takeError()));
  return std::move(*result);
}

std::string describe(const LaunchResult &result) {
  std::string text;
  for (const Report &report : result.reports) {
    text += nameOf(report.kind).str() + ": " + report.message;
    for (const Participant &participant : report.participants)
      text += " | line " + std::to_string(participant.location.ptxLine) + " " +
              participant.instruction + " " + participant.role;
    text += "\n";
  }
  return text;
}

size_t count(const LaunchResult &result, ReportKind kind) {
  size_t number = 0;
  for (const Report &report : result.reports)
    number += report.kind == kind;
  return number;
}

std::string fill(std::string text, const std::vector<std::string> &values) {
  for (size_t i = values.size(); i-- > 0;) {
    std::string name = "$" + std::to_string(i);
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;
         at += values[i].size())
      text.replace(at, name.size(), values[i]);
  }
  return text;
}

} // namespace tilec::emulator
