//===- Scratch.h - Exchanging a tensor through shared memory ---*- C++ -*-===//
//
// Where to put the elements of a tensor in shared memory between storing them
// from one layout and loading them into another, such that neither has bank
// conflicts and both move as much at a time as they have in common.
//
// There always is such a place. Call V what one access moves: elements that are
// in registers of one thread in both layouts. Two elements that a group of
// lanes stores at once (they differ by a sum of lane bases, A) must not lie in
// the same bank, and likewise for loading (B). Addresses have the bits
//
//   | row of banks | bank | byte in the access |
//         H            K            V
//
// and the elements that differ only in the first part form a space H. There are
// no conflicts if H has nothing in common with A, nor with B. With I = A and B
// in common, A = I + (a1, a2, ...) and B = I + (b1, b2, ...), the choice
//
//   K = I + (a1, a2, ...)     H = (a1 ^ b1, a2 ^ b2, ...)
//
// does that: a sum of several ai ^ bi has a part in B, so it is not in A. What
// neither A nor B contains goes where there is room.
//
// The result is a swizzle: the address is a XOR of what the bits of register,
// lane and warp contribute.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LAYOUT_SCRATCH_H
#define TILEC_LAYOUT_SCRATCH_H

#include "lib/Layout/SharedLayout.h"

namespace tilec::layout {

/// How one side of an exchange accesses shared memory.
struct ScratchSide {
  /// The bits of the register number that run over the elements of one access,
  /// the lowest address bit first.
  llvm::SmallVector<unsigned, 4> vectorBits;
  /// The bits that run over the rounds, in the same order on both sides.
  llvm::SmallVector<unsigned, 4> roundBits;
  /// The cost of one access of a warp.
  BankAccess access;
};

/// Shared memory for an exchange. It is carried out in 2^roundBits rounds, for
/// each value of those register bits: store, barrier, load, and a barrier
/// before the next round. Registers that differ in vectorBits only are at
/// successive addresses, the first at a multiple of vectorBytes.
struct ScratchLayout {
  SharedLayout layout;
  /// The bytes that one access moves: 1 to 16.
  unsigned vectorBytes;
  ScratchSide store, load;

  unsigned numRounds() const { return 1u << store.roundBits.size(); }
  uint64_t sizeBytes() const { return layout.sizeBytes(); }
};

/// The scratch memory to go from one layout to another with elements of 1, 2,
/// 4, 8 or 16 bytes. Both must be surjective. Where that takes more than
/// maxBytes, registers that run over the same elements in both are moved in
/// successive rounds, as far as there are such; sizeBytes says what it came to.
ScratchLayout optimalScratch(const LinearLayout &from, const LinearLayout &to,
                             unsigned elementBytes,
                             uint64_t maxBytes = UINT64_MAX);

} // namespace tilec::layout

#endif // TILEC_LAYOUT_SCRATCH_H
