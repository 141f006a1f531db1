//===- Philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
// SC 2011): a function from a 128-bit counter and a 64-bit key to 128 bits that
// pass every common test of randomness. Being a function, not a sequence, it
// has no state: any thread can compute the number of any position, in any order
// and as often as needed, which is what lets a backward pass repeat the dropout
// mask of the forward pass without storing it.
//
// This file is the single definition of the numbers behind `random(seed,
// offset)` in the language. Every target must produce the same bits:
//
//   * the key is the 64-bit seed, low word first;
//   * the counter is the 64-bit offset in words 0 and 1, low word first, with
//     words 2 and 3 zero;
//   * the result is uniform in [0, 1): the top 24 bits of word 0, as an f32.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_SUPPORT_PHILOX_H
#define TILEC_LIB_SUPPORT_PHILOX_H

#include <array>
#include <cstdint>

namespace tilec {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

/// The block of random bits that belongs to a counter under a key.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  constexpr uint32_t multiplier0 = 0xD2511F53;
  constexpr uint32_t multiplier1 = 0xCD9E8D57;
  // The key advances by the golden ratio and by sqrt(3) - 1, each round.
  constexpr uint32_t weyl0 = 0x9E3779B9;
  constexpr uint32_t weyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(multiplier0) * counter[0];
    uint64_t product1 = uint64_t(multiplier1) * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += weyl0;
    key[1] += weyl1;
  }
  return counter;
}

/// The four words of `random(seed, offset)`, of which the language uses the
/// first.
constexpr PhiloxCounter philoxBlock(uint64_t seed, uint64_t offset) {
  return philox4x32(
      {static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32), 0,
       0},
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

/// A word as a uniform f32 in [0, 1). The 24 bits fit the significand, so the
/// conversion and the product are exact and 1.0 cannot occur.
constexpr float uniformFromWord(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// The value of `random(seed, offset)`.
constexpr float philoxUniform(uint64_t seed, uint64_t offset) {
  return uniformFromWord(philoxBlock(seed, offset)[0]);
}

} // namespace tilec

#endif // TILEC_LIB_SUPPORT_PHILOX_H
