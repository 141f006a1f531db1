//===- SharedLayout.h - Tiles in shared memory -----------------*- C++ -*-===//
//
// Where the elements of a tile lie in shared memory, and what that costs.
//
// Banks
// -----
// Shared memory has 32 banks of 4 bytes; a byte's bank is its address / 4 % 32.
// Per cycle each bank serves one word, so a warp's access is quick if no two
// lanes want different words of one bank. Lanes with 4 bytes or less each are
// served together, with 8 bytes half a warp at a time, with 16 bytes a quarter;
// `bankAccess` counts.
//
// Swizzles
// --------
// In a plain row-major tile of 128 bytes a row, the 16-byte chunks at one
// column of eight rows share four banks: reading them (as ldmatrix does) takes
// eight cycles instead of one. A swizzle moves chunk c of row r to chunk
//
//   c ^ (r / perPhase % maxPhase)
//
// of the same row. With perPhase = 1 and maxPhase = 8 (chunks as digits, what
// stands at each place of a row):
//
//   row 0 | 0 1 2 3 4 5 6 7        The chunks at column 0 are now all at
//   row 1 | 1 0 3 2 5 4 7 6        different places, and so are those at any
//   row 2 | 2 3 0 1 6 7 4 5        other column. A row's chunks are still
//   row 3 | 3 2 1 0 7 6 5 4        at eight different places.
//   ...
//
// Where a row is shorter than the 128 bytes of all banks, 128 bytes hold
// several rows, and those share a phase: perPhase is their number.
//
// Tensor memory accelerator and wgmma know three such swizzles, by XOR on bits
// of the byte address; for rows of 32, 64 or 128 bytes they are the same as the
// above (SwizzleMode).
//
// As the extents are powers of two, a swizzled tile is a linear map over F2
// from elements to byte addresses (SharedLayout), which composes with the
// layouts of registers: together they say from which addresses a warp loads.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LAYOUT_SHAREDLAYOUT_H
#define TILEC_LAYOUT_SHAREDLAYOUT_H

#include "lib/Layout/LinearLayout.h"

namespace tilec::layout {

/// A linear map over F2 from the elements of a tensor to bytes of shared
/// memory.
class SharedLayout {
public:
  /// bases[i] is the byte offset of the element whose row-major number is 2^i,
  /// a multiple of elementBytes.
  SharedLayout(llvm::ArrayRef<int64_t> shape, unsigned elementBytes,
               llvm::ArrayRef<uint64_t> bases);

  llvm::ArrayRef<int64_t> shape() const { return extents; }
  unsigned elementBytes() const { return bytesPerElement; }
  llvm::ArrayRef<uint64_t> bases() const { return offsets; }

  /// The byte offset of an element, by its coordinates or row-major number.
  uint64_t offset(llvm::ArrayRef<int64_t> coordinates) const;
  uint64_t offsetFlat(uint64_t element) const;
  /// The byte after the last.
  uint64_t sizeBytes() const;
  /// Per bit of an index of `layout`, a layout of registers of the same tensor,
  /// what it contributes to the offset.
  llvm::SmallVector<uint64_t> compose(const LinearLayout &layout,
                                      InDim dim) const;

private:
  llvm::SmallVector<int64_t, 4> extents;
  unsigned bytesPerElement;
  llvm::SmallVector<uint64_t, 16> offsets;
};

/// A row-major tile, the chunks of whose rows are permuted. All numbers are
/// powers of two.
struct SwizzledTile {
  int64_t rows, cols;
  unsigned elementBytes;
  /// What moves together.
  unsigned vecBytes = 16;
  /// The number of neighbouring rows that are permuted alike, and of different
  /// permutations, at most the number of chunks in a row. 1 phase is the plain
  /// order.
  unsigned perPhase = 1, maxPhase = 1;

  int64_t rowBytes() const { return cols * elementBytes; }
  int64_t sizeBytes() const { return rows * rowBytes(); }
  /// The byte offset of an element.
  int64_t offset(int64_t row, int64_t col) const;
  /// The same as a linear map. `shape` may split the rows into several axes.
  SharedLayout linear(llvm::ArrayRef<int64_t> shape) const;
  SharedLayout linear() const { return linear({rows, cols}); }

  /// The tile in which eight rows at one 16-byte column (ldmatrix, with and
  /// without .trans, and stmatrix) and eight successive 16-byte chunks in
  /// row-major order (cp.async) have no bank conflicts.
  static SwizzledTile optimal(int64_t rows, int64_t cols,
                              unsigned elementBytes);
};

//===--- The hardware's swizzles -----------------------------------------===//

/// The swizzles of tensor maps and of the descriptors of wgmma, by the length
/// of the rows that they permute.
enum class SwizzleMode : uint8_t { None, Bytes32, Bytes64, Bytes128 };

/// The number of bytes in a row: 16, 32, 64 or 128.
unsigned spanBytes(SwizzleMode mode);
/// Where the byte at an address is put: bits 4 to 6 of the address are XORed
/// with bits 7 to 9, as many of them as the mode says. Its own inverse.
uint64_t swizzleAddress(SwizzleMode mode, uint64_t address);

/// A matrix as tensor-map copies with boxes of one span of columns by all rows
/// leave it, the boxes one after the other; with None, one box in row-major
/// order. It must begin at a multiple of 8 spans. `rows` is a multiple of 8,
/// a row a multiple of the span.
SharedLayout boxedTile(int64_t rows, int64_t cols, unsigned elementBytes,
                       SwizzleMode mode);

//===--- Bank conflicts --------------------------------------------------===//

struct BankAccess {
  /// The cycles that the banks are busy.
  unsigned wavefronts = 0;
  /// The greatest number of cycles that one group of lanes, which is served
  /// together, needs: 1 is free of conflicts.
  unsigned degree = 0;
};

/// The cost of an access of up to 32 lanes at these byte addresses, of 1, 2, 4,
/// 8 or 16 bytes each.
BankAccess bankAccess(llvm::ArrayRef<uint64_t> addresses, unsigned accessBytes);

/// The number of bytes that each thread can move at once between registers in
/// `layout` and shared memory: low registers must be neighbours there, and
/// aligned.
unsigned vectorBytes(const LinearLayout &layout, const SharedLayout &shared,
                     unsigned maxBytes = 16);

/// The cost of one such access of a warp. All registers and warps cost the
/// same.
BankAccess bankAccess(const LinearLayout &layout, const SharedLayout &shared,
                      unsigned accessBytes);

} // namespace tilec::layout

#endif // TILEC_LAYOUT_SHAREDLAYOUT_H
