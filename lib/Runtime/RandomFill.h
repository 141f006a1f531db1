//===- RandomFill.h - Reproducible inputs -----------------------*- C++ -*-===//
//
// Fills tensors with pseudo-random values for `tilec run`, `tilec bench` and
// the tests. An element's value is a function of the seed, the argument's name,
// and the element's row-major position: the same on every machine, for any
// strides, whatever the order of the arguments and whatever else is filled.
// Only integer arithmetic and one multiplication are involved, no function of
// the mathematics library, since those differ between platforms in the last
// bit.
//
// By default
//
//   * floats are approximately normal with mean 0 and variance 1, never beyond
//     +-4.9, as activations and weights are: benchmarks on zeros or on small
//     integers flatter a GPU, which draws less power for them;
//   * i64 to i8 are uniform in [-8, 8), u8 in [0, 16), bool in {0, 1}.
//
// Integer-valued floats make sums and products exact as long as they fit the
// significand, so that results computed in different orders can be compared for
// equality. The default range [-8, 8) is exact in every float type.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_RUNTIME_RANDOMFILL_H
#define TILEC_LIB_RUNTIME_RANDOMFILL_H

#include "lib/Runtime/TensorView.h"

namespace tilec {

struct FillOptions {
  /// Floats take integer values. Implied by the bounds below.
  bool integerValued = false;
  /// The range of integer values. With only the upper bound given the lower one
  /// is 0: `maxExclusive = N` makes valid indices into an axis of extent N.
  /// With only the lower one given, there are sixteen values (two for bool).
  std::optional<int64_t> minInclusive = std::nullopt;
  std::optional<int64_t> maxExclusive = std::nullopt;
  /// Multiplies the normal values. No effect on integer ones.
  double scale = 1.0;
};

/// The seed of an argument's own stream, so that equal seeds do not give two
/// arguments equal values.
uint64_t streamSeed(uint64_t seed, llvm::StringRef argument);

/// The value at a row-major position of a stream, before it is rounded to the
/// element type: normal, or uniform in [min, maxExclusive).
double normalAt(uint64_t stream, uint64_t position);
int64_t integerAt(uint64_t stream, uint64_t position, int64_t min,
                  int64_t maxExclusive);

/// Fills the elements of a view. Fails, before writing anything, if there is no
/// value in the range or the element type cannot hold all of them exactly.
llvm::Error fillRandom(const TensorView &view, uint64_t seed,
                       llvm::StringRef argument,
                       const FillOptions &options = {});

/// Sets every element to one value.
void fillConstant(const TensorView &view, double value);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_RANDOMFILL_H
