//===- ReducedBits.h - Which bits of a layout a reduction joins -*- C++ -*-===//
//
// What reductions, searches and scans along axes of a fragment ask about its
// layout.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_REDUCEDBITS_H
#define TILEC_CODEGEN_CUDA_REDUCEDBITS_H

#include "codegen/CUDA/KernelEmitter.h"
#include "lib/Layout/F2.h"

namespace tilec::cuda {

/// Bits of registers, lanes and warps, as masks.
struct ReducedBits {
  /// Those that move along the reduced axes only.
  std::array<unsigned, 3> reduced{};
  /// Those that move nothing: copies.
  std::array<unsigned, 3> copies{};

  unsigned get(layout::InDim dim) const {
    return reduced[static_cast<unsigned>(dim)];
  }

  /// Nothing for a layout in which a bit moves along reduced and other axes at
  /// a time, or makes a move that others make together.
  static std::optional<ReducedBits> of(const layout::LinearLayout &layout,
                                       llvm::ArrayRef<int64_t> axes);
};

/// The register of `to`, which is `from` without the axes, that holds the same
/// remaining coordinates as a register of `from`.
BitMap keptRegisters(const layout::LinearLayout &from,
                     const layout::LinearLayout &to,
                     llvm::ArrayRef<int64_t> axes);

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_REDUCEDBITS_H
