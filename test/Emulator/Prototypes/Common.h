//===- Common.h - What the tests of prototypes share ------------*- C++ -*-===//

#ifndef TILEC_TEST_EMULATOR_PROTOTYPES_COMMON_H
#define TILEC_TEST_EMULATOR_PROTOTYPES_COMMON_H

#include "test/Emulator/Harness/Harness.h"

namespace tilec::test {

/// "-DNAME=VALUE" for each.
inline std::vector<std::string>
defines(std::initializer_list<std::pair<const char *, int>> macros) {
  std::vector<std::string> options;
  for (const auto &[name, value] : macros)
    options.push_back("-D" + std::string(name) + "=" + std::to_string(value));
  return options;
}

inline std::string pathOf(const char *file) {
  return std::string(TILEC_PROTOTYPES) + "/" + file;
}

/// A map of a row-major bf16 tensor for boxes of 64 columns and `rows` rows in
/// the swizzle of 128 bytes. `shape` has the outermost dimension first.
inline emulator::EncodedTensorMap
mapOf(uint64_t address, llvm::ArrayRef<uint64_t> shape, uint32_t rows) {
  std::vector<uint64_t> dims(shape.rbegin(), shape.rend()), strides;
  uint64_t bytes = 2;
  for (uint64_t dim : llvm::ArrayRef(dims).drop_back())
    strides.push_back(bytes *= dim);
  std::vector<uint32_t> box(dims.size(), 1);
  box[0] = 64;
  box[1] = rows;
  return makeTensorMap(emulator::TensorMapType::BFloat16, address, dims,
                       strides, box, emulator::Swizzle::Bytes128);
}

/// bf16 values as they are in memory, and what they mean.
struct Matrix {
  Matrix(size_t count, uint64_t seed)
      : bits(toBF16(randomValues(count, seed))) {}
  double operator[](size_t i) const { return fromBF16(bits[i]); }
  std::vector<uint16_t> bits;
};

/// Whether `found` is near; NaN is not.
inline bool isNear(double found, double expected, double tolerance) {
  return std::abs(found - expected) <= tolerance;
}

} // namespace tilec::test

#endif // TILEC_TEST_EMULATOR_PROTOTYPES_COMMON_H
