//===- Programs.h - The programs of the validation suite --------*- C++ -*-===//
//
// Common.cuh says what a program is and how its kernels are described; here the
// descriptions are read, inputs are made, bit for bit as record.py makes them,
// and what was recorded is read.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_EMULATOR_VALIDATION_PROGRAMS_H
#define TILEC_TEST_EMULATOR_VALIDATION_PROGRAMS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilec::test {

/// A tensor map that a kernel gets.
struct MapDirective {
  bool isOutput = false;
  unsigned type = 0; // In the driver's numbers.
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, elementStrides;
  unsigned swizzle = 0; // In the driver's numbers.
  bool fillsNaN = false;
  uint64_t offset = 0; // Bytes.
};

/// How results are compared.
struct Comparison {
  enum Type { Bits, F16, BF16, F32, F64 } type = Bits;
  double relative = 0, absolute = 0;
};

struct ValidationKernel {
  std::string program, name;
  std::string inputKind;
  size_t inputWords = 0, outputWords = 0;
  std::array<unsigned, 3> block = {1, 1, 1};
  unsigned grid = 1, cluster = 1;
  uint64_t shared = 0;
  Comparison comparison;
  std::vector<MapDirective> maps;

  std::vector<uint32_t> input() const;
};

/// The kernels that the text of a program describes. The test fails if a
/// description is wrong.
std::vector<ValidationKernel> kernelsOf(llvm::StringRef program,
                                        llvm::StringRef text);

/// What NAME.expected has, by kernel; empty if there is no such file.
llvm::StringMap<std::vector<uint32_t>> readExpected(llvm::StringRef path);

/// Says where results differ; "" if they do not.
std::string difference(const ValidationKernel &kernel,
                       const std::vector<uint32_t> &expected,
                       const std::vector<uint32_t> &found);

} // namespace tilec::test

#endif // TILEC_TEST_EMULATOR_VALIDATION_PROGRAMS_H
