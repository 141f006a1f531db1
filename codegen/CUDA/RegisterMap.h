//===- RegisterMap.h - Linear maps of bits as C++ text ----------*- C++ -*-===//
//
// Everything that a layout says about a register is a linear map over F2 from
// the bits of the register's number: its coordinates, its place in another
// fragment. A BitMap is such a map given by the image of each bit, and prints
// as a short expression:
//
//   images 1, 0, 0, 2     (r & 1) | (r >> 2 & 2)
//   images 0, 8           (r & 2) << 2
//   images 1, 2, 4, 8     r
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_REGISTERMAP_H
#define TILEC_CODEGEN_CUDA_REGISTERMAP_H

#include "codegen/CUDA/Text.h"

#include "lib/Layout/LinearLayout.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace tilec::cuda {

/// The image of each bit of a number; `offset` is added (XOR) to all.
struct BitMap {
  llvm::SmallVector<uint64_t, 8> images;
  uint64_t offset = 0;

  /// Of a number of `bits` bits, itself.
  static BitMap identity(unsigned bits);
  /// Of a number of no bits: `value`.
  static BitMap constant(uint64_t value) { return {{}, value}; }

  uint64_t apply(uint64_t number) const;
  bool isZero() const;
  bool isIdentity() const;
  /// All bits that some result has.
  uint64_t span() const;
  /// Whether the images are different bits, so that XOR is addition.
  bool isDisjoint() const;
  /// First this, then `next`. Bits of results that `next` does not know are
  /// lost.
  BitMap then(const BitMap &next) const;
  BitMap shiftedRight(unsigned bits) const;

  bool operator==(const BitMap &other) const {
    return images == other.images && offset == other.offset;
  }
  bool operator<(const BitMap &other) const {
    return std::tie(images, offset) < std::tie(other.images, other.offset);
  }
};

/// The map of the number called `variable`, as an expression.
Expr textOf(const BitMap &map, llvm::StringRef variable);

/// For the bits of the registers of `to` the registers of `from` in which the
/// same thread has the same element; axis `a` of `from` is axis `dims[a]` of
/// `to`, whose other axes do not matter. Nothing unless all threads agree.
std::optional<BitMap> registerMap(const layout::LinearLayout &from,
                                  const layout::LinearLayout &to,
                                  llvm::ArrayRef<int64_t> dims);

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_REGISTERMAP_H
