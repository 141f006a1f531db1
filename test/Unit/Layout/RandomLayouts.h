//===- RandomLayouts.h - Layouts to test properties on ---------*- C++ -*-===//

#ifndef TILEC_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H
#define TILEC_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H

#include "lib/Layout/LinearLayout.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <random>

namespace tilec::test {

/// Rank 0 to 3 and at most 2^maxBits elements.
llvm::SmallVector<int64_t> randomShape(std::mt19937 &random, unsigned maxBits);

/// Arbitrary bases: often singular, with copies and sums of other bases.
layout::LinearLayout randomLayout(std::mt19937 &random,
                                  llvm::ArrayRef<int64_t> shape);

/// A layout that holds every element: a random order of the coordinates' bits
/// over registers, lanes and `warpBits` warp bits, with zero bases among them,
/// and in half of the cases some bases added to others.
layout::LinearLayout randomSurjectiveLayout(std::mt19937 &random,
                                            llvm::ArrayRef<int64_t> shape,
                                            unsigned warpBits);

/// Calls `visit` with every register, lane and warp.
void forEachIndex(const layout::LinearLayout &layout,
                  llvm::function_ref<void(layout::HardwareIndex)> visit);

/// The coordinates by definition: the XOR of the bases of the bits that are
/// set.
llvm::SmallVector<int64_t> applySlowly(const layout::LinearLayout &layout,
                                       layout::HardwareIndex index);

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_LAYOUT_RANDOMLAYOUTS_H
