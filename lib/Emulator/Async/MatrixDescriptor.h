//===- MatrixDescriptor.h - Matrices of wgmma in shared memory --*- C++ -*-===//
//
// wgmma finds a matrix in shared memory by a descriptor of 64 bits: where it
// starts, and how *core matrices*, of 8 rows of 16 bytes, lie to each other. A
// matrix is A, m rows of k, or B, n columns of k; here m and n are both called
// the outer dimension. It is *K-major* if elements along k follow each other in
// memory, or *MN-major* if those along the outer dimension do, which only
// matrices of 16-bit elements may be. What is fast in memory is cut into
// *units* of 16 bytes; W of them, 2, 4 or 8, make a row of the swizzle.
//
//   K-major, no swizzle      eight elements of the outer dimension, 16 bytes
//                            apart, have a unit of k each; the next unit of k
//                            is `leading` bytes away, the next eight `stride`
//   K-major, swizzle         eight rows of W units of k, one after the other;
//                            the next eight are `stride` away
//   MN-major, no swizzle     eight k have a unit each, 16 bytes apart; the next
//                            unit is `stride` away, the next eight k `leading`
//   MN-major, swizzle        eight k have rows of W units one after the other;
//                            the next eight k are `stride` away, the next W
//                            units `leading`
//
// The swizzle is applied to the address that comes out: bits of the address of
// shared memory, as for tensor copies (TensorMap.h). So a descriptor may start
// within a row. If the rows do not begin where the pattern of the swizzle does,
// `baseOffset` tells by how many rows of 128 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ASYNC_MATRIXDESCRIPTOR_H
#define TILEC_EMULATOR_ASYNC_MATRIXDESCRIPTOR_H

#include "lib/Emulator/Async/TensorMap.h"
#include <cstdint>

namespace tilec::emulator {

struct MatrixDescriptor {
  // All in bytes.
  uint32_t start = 0, leading = 0, stride = 0;
  unsigned baseOffset = 0;
  Swizzle swizzle = Swizzle::None;

  static MatrixDescriptor decode(uint64_t bits);

  /// The address in shared memory of a unit of 16 bytes: K-major, unit `unit`
  /// of k of element `outer`; MN-major, unit `unit` of the outer dimension at
  /// `k`.
  uint32_t unitKMajor(unsigned outer, unsigned unit) const;
  uint32_t unitMNMajor(unsigned unit, unsigned k) const;

private:
  uint32_t finish(uint32_t address) const;
};

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ASYNC_MATRIXDESCRIPTOR_H
