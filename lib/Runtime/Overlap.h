//===- Overlap.h - Do two views share memory? -------------------*- C++ -*-===//
//
// A kernel may write a tensor in any order, so a tensor it writes must not
// share bytes with another argument, nor address one element twice. The
// launcher asks these questions of each launch.
//
// Comparing address ranges alone would refuse views that are perfectly
// disjoint: the even and the odd columns of a matrix, or the left and the right
// half of each row, where one view's gaps hold the other's elements. So where
// ranges intersect, the question is answered exactly. Two views share a byte if
//
//     sum of strideA[d] * i[d] + byteA  =  sum of strideB[d] * j[d] + byteB
//
// has a solution with every index within its extent: one linear equation in
// bounded integers. In general that is NP-complete, but strides of real tensors
// nest (each spans the smaller ones), and then trying the largest stride first
// leaves a choice or two at each step. A budget of steps bounds the rest; when
// it runs out the answer is `true`, so the test errs on the safe side only.
//
// Both functions compare addresses only and touch no memory, so they are for
// device memory too. Views must have passed verify().
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_RUNTIME_OVERLAP_H
#define TILEC_LIB_RUNTIME_OVERLAP_H

#include "lib/Runtime/TensorView.h"

namespace tilec {

/// Enough for any sensible views, and a fraction of a millisecond.
inline constexpr unsigned defaultOverlapBudget = 10000;

/// Whether a byte belongs to an element of both views. False is certain; true
/// is too, unless the budget ran out. Empty views overlap nothing.
bool mayOverlap(const TensorView &a, const TensorView &b,
                unsigned budget = defaultOverlapBudget);

/// Whether two different indices address the same element, as with a stride of
/// zero. Certain in the same way.
bool selfOverlaps(const TensorView &view,
                  unsigned budget = defaultOverlapBudget);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_OVERLAP_H
