//===- Values.h - Expressions with bounds -----------------------*- C++ -*-===//
//
// Text of an expression together with what is known of its elements: how large
// they can be, and how far a compiled kernel's may be from the exact ones. Most
// inputs are small whole numbers, and many kernels of them have exact results
// in whatever order sums are made; then every bit is compared. Behind `exp` or
// a sum that leaves the 24 bits of an f32 the error is bounded instead.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_FUZZ_KERNELS_VALUES_H
#define TILEC_TEST_FUZZ_KERNELS_VALUES_H

#include "lib/Support/DType.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tilec::fuzz {

struct Value {
  std::string text;
  DType dtype = DType::F32;
  unsigned axes = 0; // A set: bit i stands for axis i of the generator.
  /// Finite elements are at most this large, and multiples of `unit`, a power
  /// of two, unless there is an error.
  double bound = 0, unit = 1;
  double error = 0;
  bool special = false; // NaN and infinities are possible.

  bool isExact() const { return error == 0; }
  bool isNumber() const { return dtype != DType::Bool; }
};

/// The type in which arithmetic on values of `dtype` is done.
DType arithmeticType(DType dtype);
/// Of both operands of an operator.
DType commonType(DType a, DType b);

/// Rounds to the arithmetic type `to`: the error of a result with this bound,
/// after `steps` operations, or the wrapping of integers.
Value rounded(Value value, DType to, double steps = 1);

/// `value` as the argument of an operator on `to`: integers that an f32 may not
/// hold are reduced.
Value operandOf(Value value, DType to);

// Elementwise. Operands are numbers unless said otherwise.
Value negate(const Value &x);
Value absolute(const Value &x);
Value add(const Value &x, const Value &y);
Value subtract(const Value &x, const Value &y);
Value multiply(const Value &x, const Value &y);
/// x / (1 + |y|) for floats; x / y, rounding down, for integers.
Value divide(const Value &x, const Value &y);
Value remainder(const Value &x, const Value &y); // Of integers.
/// "max", "min", "fmax", "fmin".
Value extremum(llvm::StringRef function, const Value &x, const Value &y);
/// Between -limit and limit.
Value clamp(const Value &x, int64_t limit);
/// "floor", "ceil", "round", of half the value, which must be exact.
Value roundHalf(llvm::StringRef function, const Value &x);
Value compare(llvm::StringRef op, const Value &x, const Value &y);
Value logical(llvm::StringRef op, const Value &x, const Value &y); // Of bools.
Value invert(const Value &x);                                      // A bool.
Value where(const Value &condition, const Value &x, const Value &y);
Value cast(const Value &x, DType to);
/// One of numFunctions functions of a float.
inline constexpr unsigned numFunctions = 15;
Value function(unsigned which, const Value &x);

// Along `axes`, which hold at most `count` positions together.
Value reduce(llvm::StringRef function, const Value &x, unsigned axes,
             llvm::StringRef names, int64_t count);
/// "argmax", "argmin", "any", "all", "logsumexp", "softmax", "cumsum", "mean".
/// The first two give a position below `count`, the extent of the dimension.
Value reduceOther(llvm::StringRef function, const Value &x, unsigned axes,
                  llvm::StringRef names, int64_t count);
/// `precision` is "", "ieee", "tf32" or "tf32x3".
Value dot(const Value &x, const Value &y, unsigned axes, llvm::StringRef names,
          int64_t count, llvm::StringRef precision);

/// Sum of `count` such values, made one by one.
Value accumulated(Value value, double count);

} // namespace tilec::fuzz

#endif // TILEC_TEST_FUZZ_KERNELS_VALUES_H
