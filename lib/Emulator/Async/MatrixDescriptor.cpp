//===- MatrixDescriptor.cpp - Matrices of wgmma in shared memory ----------===//

#include "lib/Emulator/Async/MatrixDescriptor.h"

namespace tilec::emulator {

/// Descriptors have 18 bits of an address, without the lowest four.
static constexpr uint32_t addressMask = (1u << 18) - 1;

MatrixDescriptor MatrixDescriptor::decode(uint64_t bits) {
  auto field = [&](unsigned shift) {
    return uint32_t(bits >> shift & 0x3fff) << 4;
  };
  constexpr Swizzle modes[] = {Swizzle::None, Swizzle::Bytes128,
                               Swizzle::Bytes64, Swizzle::Bytes32};
  MatrixDescriptor result;
  result.start = field(0);
  result.leading = field(16);
  result.stride = field(32);
  result.baseOffset = bits >> 49 & 7;
  result.swizzle = modes[bits >> 62];
  return result;
}

uint32_t MatrixDescriptor::finish(uint32_t address) const {
  uint32_t pattern = address - (baseOffset << 7);
  address ^= (pattern >> 3) & (spanOf(swizzle) - 16);
  return address & addressMask;
}

uint32_t MatrixDescriptor::unitKMajor(unsigned outer, unsigned unit) const {
  uint32_t address = start + outer / 8 * stride;
  if (swizzle == Swizzle::None)
    address += outer % 8 * 16 + unit * leading;
  else
    address += outer % 8 * spanOf(swizzle) + unit * 16;
  return finish(address);
}

uint32_t MatrixDescriptor::unitMNMajor(unsigned unit, unsigned k) const {
  if (swizzle == Swizzle::None)
    return finish(start + unit * stride + k / 8 * leading + k % 8 * 16);
  unsigned units = spanOf(swizzle) / 16;
  return finish(start + unit / units * leading + k / 8 * stride +
                k % 8 * spanOf(swizzle) + unit % units * 16);
}

} // namespace tilec::emulator
