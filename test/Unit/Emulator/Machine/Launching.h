//===- Launching.h - Kernels of the tests -----------------------*- C++ -*-===//
//
// A kernel is the body of a function with three 64-bit parameters, which are in
// %rd1, %rd2 and %rd3, and registers %p, %r, %rd, %f, %fd and %h to use. %r0 is
// %tid.x. Runs have no detector unless they ask for it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_EMULATOR_MACHINE_LAUNCHING_H
#define TILEC_TEST_UNIT_EMULATOR_MACHINE_LAUNCHING_H

#include "catch2/catch.hpp"
#include "lib/Emulator/Emulator.h"
#include <cstring>
#include <string>
#include <vector>

namespace tilec::emulator {

inline std::string header() {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n";
}

inline std::string kernel(const std::string &body,
                          const std::string &directives = "") {
  return ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n" +
         directives +
         "{\n.reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<48>;\n"
         ".reg .b64 %rd<48>;\n.reg .f32 %f<16>;\n.reg .f64 %fd<8>;\n"
         ".reg .b128 %q<4>;\n"
         "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n"
         "ld.param.u64 %rd3, [c];\nmov.u32 %r0, %tid.x;\n" +
         body + "\n}\n";
}

class Runner {
public:
  /// `outside`: what comes before the kernel.
  explicit Runner(const std::string &body, const std::string &outside = "",
                  const std::string &directives = "") {
    std::string text = header() + outside + kernel(body, directives);
    auto loaded = loadProgram(text, "test.ptx", memory);
    if (!loaded)
      FAIL(llvm::toString(loaded.takeError()));
    program = *loaded;
    options.detectRaces = false;
    options.hostThreads = 1;
  }

  template <typename T>
  uint64_t array(const std::vector<T> &values, llvm::StringRef name = "array") {
    uint64_t address = memory.allocate(values.size() * sizeof(T), name);
    std::memcpy(memory.find(address, values.size() * sizeof(T)), values.data(),
                values.size() * sizeof(T));
    return address;
  }
  template <typename T> std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> result(count);
    const char *data = memory.find(address, count * sizeof(T));
    REQUIRE(data);
    std::memcpy(result.data(), data, count * sizeof(T));
    return result;
  }

  LaunchResult run(uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
    uint64_t params[] = {a, b, c};
    std::vector<char> bytes(sizeof params);
    std::memcpy(bytes.data(), params, sizeof params);
    auto result = launch(*program, "k", bytes, options, memory);
    if (!result)
      FAIL(llvm::toString(result.takeError()));
    return std::move(*result);
  }
  /// The error of the call.
  std::string refusal(const std::string &name = "k", size_t paramBytes = 24) {
    auto result =
        launch(*program, name, std::vector<char>(paramBytes), options, memory);
    return result ? "" : llvm::toString(result.takeError());
  }

  DeviceMemory memory;
  std::shared_ptr<const Program> program;
  LaunchOptions options;
};

/// Kinds and messages, a line each.
inline std::string summary(const LaunchResult &result) {
  std::string text;
  for (const Report &report : result.reports) {
    text += (nameOf(report.kind) + ": " + report.message).str();
    for (const Participant &participant : report.participants)
      text += "; thread " + std::to_string(participant.thread) + " " +
              participant.instruction + " " + participant.role;
    text += "\n";
  }
  return text;
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// That there is one report, of that kind, whose text has all these parts.
#define CHECK_REPORT(result, wanted, ...)                                      \
  do {                                                                         \
    std::string text = summary(result);                                        \
    INFO(text);                                                                \
    REQUIRE((result).reports.size() == 1);                                     \
    CHECK((result).reports[0].kind == (wanted));                               \
    for (const char *part : {__VA_ARGS__})                                     \
      CHECK_THAT(text, Catch::Contains(part));                                 \
  } while (false)

#define CHECK_SOUND(result) CHECK(summary(result) == "")

} // namespace tilec::emulator

#endif // TILEC_TEST_UNIT_EMULATOR_MACHINE_LAUNCHING_H
