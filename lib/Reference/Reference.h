//===- Reference.h - What a kernel means, evaluated slowly ------*- C++ -*-===//
//
// An evaluator of elaborated kernels that shares nothing with the compiler
// behind the front end: no tiles are padded, no loops are split, nothing is
// vectorized or fused. Every value is a dense array over exactly the valid
// positions of its axes; floats are computed in double precision, integers in
// 64 bits and wrapped to their type, and attention is a plain softmax over all
// keys. It is what `tilec run --check` compares with.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_REFERENCE_REFERENCE_H
#define TILEC_REFERENCE_REFERENCE_H

#include "lib/Frontend/TypedAST.h"
#include "lib/Launch/Launch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace tilec {

/// What was added to the elements of a float tensor that is an `add` parameter,
/// by the row-major positions of the elements.
struct Additions {
  std::vector<double> sums;       // The first value and all addends.
  std::vector<double> magnitudes; // The same without signs.
  std::vector<uint32_t> counts;   // Of the addends.
};
using AdditionsByParam = llvm::DenseMap<const typed::Param *, Additions>;

/// What a run of the reference says about the rounding errors of others.
struct RoundingFacts {
  AdditionsByParam additions;
  /// Attention rounds its weights to the type of the values, and a product may
  /// have operands that were computed and then rounded. An error of u in each
  /// makes one of u times the sum of the magnitudes of the products. This is by
  /// how much the greatest such sum exceeds the greatest result, for the
  /// attention or product where that is most; 1 if nothing cancels.
  double cancellation = 1;
};

/// Runs `kernel` on the arguments of `launch`, writing its outputs through
/// their views. The schedule of the kernel must be settled (its tile sizes
/// decide what one program sees, and must not change the result). Sums in
/// `add` parameters are rounded once, when all is added. Fails only if memory
/// runs out.
llvm::Error evaluateReference(const typed::Kernel &kernel,
                              const BoundLaunch &launch,
                              RoundingFacts *facts = nullptr);

/// How far two arrays are apart.
struct Comparison {
  double maxAbsolute = 0; // Over elements that are finite in both.
  double maxRelative = 0; // |a - b| / max(|b|, the largest |b| * 1e-3).
  int64_t mismatches = 0; // Beyond the tolerance, or not both NaN or one inf.
  int64_t firstMismatch = -1; // Row-major position.
  double tolerance = 0;       // Relative, of the element that has the largest.
  bool agrees() const { return mismatches == 0; }
};

/// Compares `actual` with `expected` element by element, allowing what rounding
/// to `actual`'s type and reassociating sums of f32 can explain. `coarsest` is
/// the float type with the fewest significand bits that the kernel computes
/// with: attention rounds its weights to the type of the values, for one.
/// `additions`: what was added to the elements of an `add` parameter, each
/// addend being followed by a rounding to `actual`'s type. `cancellation` is
/// that of RoundingFacts.
Comparison compareArrays(const TensorView &actual, const TensorView &expected,
                         DType coarsest, const Additions *additions = nullptr,
                         double cancellation = 1);

/// The float type with the fewest significand bits among a kernel's tensors and
/// the values it computes; f64 if there is none.
DType coarsestFloat(const typed::Kernel &kernel);

} // namespace tilec

#endif // TILEC_REFERENCE_REFERENCE_H
