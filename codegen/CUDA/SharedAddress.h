//===- SharedAddress.h - Addresses in shared memory as text -----*- C++ -*-===//
//
// A swizzled tile is a linear map over F2, so the offset of an element is a XOR
// of what the thread contributes and what each loop variable does. XOR is
// costly only where bits meet: contributions to bits that nobody else moves are
// added, and then are part of the instruction's immediate offset once loops are
// unrolled. What is left to XOR is, with the usual swizzles, a constant.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_SHAREDADDRESS_H
#define TILEC_CODEGEN_CUDA_SHAREDADDRESS_H

#include "codegen/CUDA/KernelEmitter.h"
#include "lib/Layout/SharedLayout.h"

namespace tilec::cuda {

/// What the bits of a variable contribute to an offset, in bytes.
struct OffsetPart {
  std::string variable;
  BitMap offsets;
};

/// An offset from the beginning of a buffer's slot.
struct KernelEmitter::SharedAddress {
  /// The contribution of the thread: a name or 0.
  Expr thread;
  /// Those of loop variables, by how they are combined with it.
  llvm::SmallVector<OffsetPart> flipped, added;

  /// The address of an element, an expression.
  std::string at(llvm::StringRef base) const;
};

/// The tile that a slot of a buffer holds.
layout::SharedLayout layoutOf(mlir::tilegpu::BufferType buffer);

/// The contributions of elements with the given row-major numbers.
BitMap offsetsOf(const layout::SharedLayout &layout,
                 llvm::ArrayRef<uint64_t> elements);

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_SHAREDADDRESS_H
