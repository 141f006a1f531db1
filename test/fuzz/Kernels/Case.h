//===- Case.h - One case of the kernel fuzzer -------------------*- C++ -*-===//
//
// A random kernel with the arguments to run it on, as data: so that it can be
// printed, run on any target, and made smaller.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_FUZZ_KERNELS_CASE_H
#define TILEC_TEST_FUZZ_KERNELS_CASE_H

#include "lib/Support/DType.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace tilec::fuzz {

/// How a tensor lies in memory. Strides grow from the last of `order` to the
/// first, so that the identity is row-major.
struct Layout {
  std::vector<unsigned> order;
  int64_t innerStride = 1;
  int64_t gap = 0;                     // Elements behind each row.
  int64_t offset = 0;                  // Elements in front of the first.
  unsigned reversed = 0, repeated = 0; // Dimensions of negative, zero stride.

  bool isRowMajor() const;
  std::string text() const;
};

struct TensorParam {
  enum class Access { In, Out, InOut, Add };
  std::string name;
  Access access = Access::In;
  DType dtype = DType::F32;
  std::vector<unsigned> dims; // Into Case::dims.
  Layout layout;
  /// Elements are whole numbers from `low` to below `high`.
  int64_t low = 0, high = 1;
  /// Some elements are NaN or infinite, those of 8 bits NaN only.
  bool special = false;
  /// Outputs: how far an element may be from the reference before it is rounded
  /// to `dtype`; 0 if every bit counts, less than 0 for the tolerance of
  /// `tilec run --check`.
  double error = 0;

  bool isOutput() const { return access != Access::In; }
};

struct ScalarParam {
  std::string name;
  DType dtype = DType::F32;
  int64_t value = 0;
};

struct Dim {
  std::string name;
  int64_t size = 0;
};

/// A line of the kernel, and the block behind it if it opens one.
struct Statement {
  std::string text;
  std::vector<Statement> body;
};

struct Case {
  uint64_t seed = 0, index = 0;
  std::vector<Dim> dims;
  std::vector<TensorParam> tensors;
  std::vector<ScalarParam> scalars;
  std::string requirement; // Of `requires`, or empty.
  std::vector<Statement> body;
  std::vector<std::pair<std::string, int64_t>> schedule;

  /// The program, with one kernel called `k`.
  std::string source() const;
  /// What makes `tilec run` do the same, but for arrays with special values or
  /// a layout of their own.
  std::string command(llvm::StringRef file, llvm::StringRef target) const;
  /// Source, extents, layouts and schedule, for a report.
  std::string describe() const;
};

} // namespace tilec::fuzz

#endif // TILEC_TEST_FUZZ_KERNELS_CASE_H
