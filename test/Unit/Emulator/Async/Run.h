//===- Run.h - Kernels of PTX text for tests --------------------*- C++ -*-===//

#ifndef TILEC_TEST_UNIT_EMULATOR_ASYNC_RUN_H
#define TILEC_TEST_UNIT_EMULATOR_ASYNC_RUN_H

#include "lib/Emulator/Emulator.h"
#include <cstring>
#include <string>
#include <vector>

namespace tilec::emulator {

/// Parameters of a kernel, each at its own alignment.
class Params {
public:
  template <typename T> Params &add(const T &value, size_t align = alignof(T)) {
    while (bytes.size() % align != 0)
      bytes.push_back(0);
    const char *from = reinterpret_cast<const char *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
    return *this;
  }
  std::vector<char> bytes;
};

/// Device memory with a vector's bytes.
template <typename T>
uint64_t upload(DeviceMemory &memory, const std::vector<T> &values,
                llvm::StringRef name) {
  uint64_t address = memory.allocate(values.size() * sizeof(T), name);
  std::memcpy(memory.find(address, values.size() * sizeof(T)), values.data(),
              values.size() * sizeof(T));
  return address;
}
template <typename T>
std::vector<T> download(const DeviceMemory &memory, uint64_t address,
                        size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), memory.find(address, count * sizeof(T)),
              count * sizeof(T));
  return values;
}

/// Runs kernel `k` of a module, whose text has no header. Fails the test if the
/// text is not accepted.
LaunchResult run(const std::string &ptx, const Params &params,
                 const LaunchOptions &options, DeviceMemory &memory);

/// "kind: message" of all reports, a line each.
std::string describe(const LaunchResult &result);
/// How many reports are of a kind.
size_t count(const LaunchResult &result, ReportKind kind);

/// What a text has in place of each `$0`, `$1`, ...
std::string fill(std::string text, const std::vector<std::string> &values);

} // namespace tilec::emulator

#endif // TILEC_TEST_UNIT_EMULATOR_ASYNC_RUN_H
