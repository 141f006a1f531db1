//===- Harness.h - CUDA C++ on the emulator, for tests ----------*- C++ -*-===//
//
// What tests of the emulator with programs of CUDA C++ have in common:
//
//     std::optional<Code> code = compileFile("Rows.cu", {"-DROWS=4"});
//     if (!code)
//       return; // There is no NVRTC, and the test has said so.
//     Emulation emulation(*code);
//     uint64_t x = emulation.upload<float>(values, "x");
//     uint64_t y = emulation.allocate(4 * n, "y");
//     LaunchResult result = emulation.launch(
//         "scale", Params().add(x).add(y).add<int>(n), {.grid = {8, 1, 1}});
//     expectNoReports(result, emulation);
//     std::vector<float> found = emulation.download<float>(y, n);
//
// Programs are compiled once in a process, for a virtual architecture, so that
// nothing is assembled. Memory is NaN where nobody wrote, and ends where the
// arrays end.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_EMULATOR_HARNESS_HARNESS_H
#define TILEC_TEST_EMULATOR_HARNESS_HARNESS_H

#include "lib/Emulator/Async/TensorMap.h"
#include "lib/Emulator/Emulator.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <optional>

namespace tilec::test {

/// A program as PTX.
struct Code {
  std::string name; // "Rows.cu", for messages.
  std::string ptx;
};

/// Compiles text for "sm_90a" and the like; the test fails if NVRTC refuses it.
/// `options` are NVRTC's: "-DROWS=4", "-I/folder". Nothing where there is no
/// NVRTC, after a warning.
std::optional<Code> compileText(llvm::StringRef name, llvm::StringRef text,
                                llvm::ArrayRef<std::string> options = {},
                                llvm::StringRef target = "sm_90a");
/// The same for a file. It may include others of its folder.
std::optional<Code> compileFile(llvm::StringRef path,
                                llvm::ArrayRef<std::string> options = {},
                                llvm::StringRef target = "sm_90a");

/// The text with one piece, which must be there exactly once, replaced by
/// another: for planting a fault.
std::string replaced(llvm::StringRef text, llvm::StringRef what,
                     llvm::StringRef by);

/// Parameters of a kernel as bytes, each at its own alignment.
class Params {
public:
  template <typename T> Params &add(const T &value) {
    return addBytes(
        llvm::ArrayRef(reinterpret_cast<const char *>(&value), sizeof(T)),
        alignof(T));
  }
  Params &add(const emulator::EncodedTensorMap &map) {
    return addBytes(map, emulator::tensorMapAlignment);
  }
  Params &addBytes(llvm::ArrayRef<char> value, size_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
    bytes.insert(bytes.end(), value.begin(), value.end());
    return *this;
  }
  std::vector<char> bytes;
};

/// Memory with a program in it.
class Emulation {
public:
  /// The test fails if the emulator does not take the program.
  explicit Emulation(const Code &code);

  uint64_t allocate(uint64_t bytes, llvm::StringRef name = "",
                    uint64_t alignment = 256);
  template <typename T>
  uint64_t upload(llvm::ArrayRef<T> values, llvm::StringRef name = "") {
    uint64_t address = allocate(values.size() * sizeof(T), name);
    std::memcpy(hostBytes(address, values.size() * sizeof(T)), values.data(),
                values.size() * sizeof(T));
    return address;
  }
  template <typename T>
  std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), hostBytes(address, count * sizeof(T)),
                count * sizeof(T));
    return values;
  }

  /// The test fails if the launch itself is refused.
  emulator::LaunchResult launch(llvm::StringRef kernel, const Params &params,
                                const emulator::LaunchOptions &options);

  /// All reports as text.
  std::string textOf(const emulator::LaunchResult &result) const;

  emulator::DeviceMemory memory;
  std::shared_ptr<const emulator::Program> program;

private:
  char *hostBytes(uint64_t address, uint64_t bytes);
};

/// Fails the test with the text of the reports, if there are any.
void expectNoReports(const emulator::LaunchResult &result,
                     const Emulation &emulation);

/// A map of a tensor of 16-bit floats and the like; dimension 0 is dense.
emulator::EncodedTensorMap
makeTensorMap(emulator::TensorMapType type, uint64_t address,
              llvm::ArrayRef<uint64_t> dims, llvm::ArrayRef<uint64_t> strides,
              llvm::ArrayRef<uint32_t> box, emulator::Swizzle swizzle);

// Numbers of 16 bits as floats, rounded to nearest even.
uint16_t toBF16(float value);
float fromBF16(uint16_t bits);
std::vector<uint16_t> toBF16(llvm::ArrayRef<float> values);

/// Numbers from -1 to 1 that a seed gives, in steps of 1/64, which bf16 has.
std::vector<float> randomValues(size_t count, uint64_t seed);

} // namespace tilec::test

#endif // TILEC_TEST_EMULATOR_HARNESS_HARNESS_H
