//===- TensorCore.h - What the matrix instructions accept ------*- C++ -*-===//
//
// Whether registers in one layout and shared memory in another are what a
// matrix instruction moves or multiplies, and the numbers that it then takes.
// All questions are about equality of linear maps, so there are no false
// positives, whatever built the layouts.
//
// ldmatrix and stmatrix move matrices of 8 rows of 16 bytes. A row is anywhere
// in shared memory at a multiple of 16; each lane names the address of one row.
// In registers lane 4 r + c holds the c-th 4 bytes of row r; with .trans, for
// 16-bit elements, it holds elements 2 c and 2 c + 1 of column r:
//
//              row 0   lanes 0  1  2  3          .trans   lanes 0  4  8 ... 28
//              row 1   lanes 4  5  6  7                   lanes 0  4  8 ... 28
//              ...                                        lanes 1  5  9 ... 29
//
// wgmma reads its operands from shared memory by a descriptor: a swizzle mode
// and two distances. The smallest unit is an atom of eight rows of one span
// (SharedLayout.h). Rows run along k if the operand is "k-major" (k contiguous)
// and else along m or n ("mn-major", 16-bit elements only). PTX ISA,
// "Shared-memory matrix layout".
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LAYOUT_TENSORCORE_H
#define TILEC_LAYOUT_TENSORCORE_H

#include "lib/Layout/SharedLayout.h"

namespace tilec::layout {

//===--- ldmatrix and stmatrix -------------------------------------------===//

/// How ldmatrix or stmatrix moves a fragment. A thread's registers are 4-byte
/// words of neighbouring register numbers, one word a matrix.
struct MatrixAccess {
  bool transposed;
  /// The number of words a thread has, and of elements in one.
  unsigned words, elementsPerWord;

  /// How many of them one instruction moves: 1, 2 or 4.
  unsigned wordsPerInstruction() const { return std::min(words, 4u); }
  /// The place, in warp 0, of the first element of the row whose address `lane`
  /// has to give to the instruction that moves the words from firstWord on.
  HardwareIndex row(unsigned firstWord, unsigned lane) const;
};

/// How ldmatrix fills registers in `layout` from shared memory; nothing if it
/// cannot. Elements of 1, 2 or 4 bytes, with .trans of 2.
std::optional<MatrixAccess> canLdmatrix(const LinearLayout &layout,
                                        const SharedLayout &shared);
/// How stmatrix writes them; the same, but lanes that hold copies are refused
/// (two would write one place).
std::optional<MatrixAccess> canStmatrix(const LinearLayout &layout,
                                        const SharedLayout &shared);

//===--- mma and wgmma in registers --------------------------------------===//

/// A product in the layouts of LinearLayout::mmaAccumulator and its operands.
struct MmaTiling {
  unsigned warpsM, warpsN;
  /// The k of one instruction m16n8k.
  unsigned instructionK;
  /// How many instructions one warp issues along each axis.
  unsigned countM, countN, countK;
};

/// How mma m16n8 computes a product of operands in `a` (M x K) and `b` (K x N)
/// of elementBits (8, 16, or 32 for tf32) into `accumulator`; nothing if these
/// are not its fragments, or smaller than one instruction.
std::optional<MmaTiling> canMma(const LinearLayout &accumulator,
                                const LinearLayout &a, const LinearLayout &b,
                                unsigned elementBits);

/// The warpgroups along m and n if this is the accumulator of a wgmma;
/// nothing if not.
std::optional<std::pair<unsigned, unsigned>>
wgmmaWarpgroups(const LinearLayout &accumulator);

//===--- wgmma in shared memory ------------------------------------------===//

/// An operand of wgmma in shared memory, by the fields of its descriptor.
struct WgmmaOperand {
  SwizzleMode mode;
  bool mnMajor;
  /// "Leading" and "stride" byte offsets; 16 where the hardware ignores it.
  uint64_t leadingBytes, strideBytes;

  /// The descriptor for a part of the operand that begins at this byte address
  /// (below 2^18, a multiple of 16).
  uint64_t descriptor(uint64_t address) const;
};

/// How wgmma reads an operand of `shared` (rank 2), whose axis `mnAxis` is m or
/// n and the other k, with instructions of mnPerInstruction (64, or n) rows by
/// 32 bytes of k; nothing if it cannot. The tile must begin at a multiple of 8
/// spans. The part of the operand that begins at an element, whose mn is a
/// multiple of mnPerInstruction and whose k of 32 bytes, begins at the tile's
/// address + shared.offset(element).
std::optional<WgmmaOperand> canWgmma(const SharedLayout &shared,
                                     unsigned mnAxis,
                                     unsigned mnPerInstruction);

} // namespace tilec::layout

#endif // TILEC_LAYOUT_TENSORCORE_H
