//===- TensorFacts.h - What is true of a tensor argument --------*- C++ -*-===//
//
// TensorFacts, of KernelImage.h, are what a kernel's code relies upon. Here are
// the two ends of it: what is true of a given view, for choosing what to
// compile, and whether a view is as a compiled kernel requires.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_TENSORFACTS_H
#define TILEC_RUNTIME_GPU_TENSORFACTS_H

#include "lib/Runtime/GPU/KernelImage.h"
#include "lib/Runtime/TensorView.h"
#include "llvm/Support/Error.h"

namespace tilec::gpu {

/// The most that is true of a view: the unit-stride dimension (of several with
/// stride 1 the last one with more than one position), the largest alignment up
/// to 16, and whether offsets fit 31 bits with that `slack`. The view must
/// satisfy verify().
TensorFacts factsOf(const TensorView &view, unsigned arg, llvm::StringRef name,
                    int64_t slack);

/// Whether element offsets, up to `slack` positions beyond the end of each
/// dimension, fit 31 bits: the sum over dimensions of
/// |stride| * (extent - 1 + slack) is below 2^31, where dimensions of extent 1
/// count as of stride 0. An empty view has no offsets.
bool fitsIndex32(const TensorView &view, int64_t slack);

/// Success if the view is as `facts` say. Otherwise an error of kind
/// BadArgument that names the tensor, what was expected and found, and what to
/// do. An empty view is never accessed, so only its type matters.
llvm::Error checkFacts(const TensorFacts &facts, const TensorView &view);

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_TENSORFACTS_H
