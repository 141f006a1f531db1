//===- TensorCore.h - Products of matrices as the hardware sums -*- C++ -*-===//
//
// What mma and wgmma compute, without the machine around them: where the
// elements of a fragment are, and the product of two small matrices.
//
// How floats are summed. PTX leaves it open; measurements show that a tensor
// core adds the products of one step, and the accumulator, all at once:
//
//   * each product is exact; its exponent is the sum of its operands' exponents
//     (so its fraction may be as large as 4);
//   * all terms are shifted to the largest exponent among them, and what falls
//     below a fixed number of bits of fraction is cut off, towards zero;
//   * what is left is added exactly, and the sum becomes an f32 by cutting off,
//     or an f16 by rounding to nearest even. With fp8 even an f32 has no more
//     bits than the terms had.
//
// So sums of integers that fit are exact, and a sum of k terms is within
// k * 2^(1 - bits) of the largest term, and an ulp, of the true one. A product
// deeper than a step is summed step by step.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_ARITHMETIC_TENSORCORE_H
#define TILEC_EMULATOR_ARITHMETIC_TENSORCORE_H

#include "lib/Emulator/PTX/Module.h"
#include <cstdint>
#include <vector>

namespace tilec::emulator {

/// Where an element is in its matrix.
struct Element {
  unsigned row, column;
};

// The fragments of mma.sync with m = 8 or 16 and n = 8. `index` counts the
// elements of a lane from the low bits of its first register; `bits` is the
// size of an element, at most 32 (f64 counts as 32: one a register).
Element elementOfA(unsigned m, unsigned bits, unsigned lane, unsigned index);
Element elementOfB(unsigned bits, unsigned lane, unsigned index); // k, n.
inline Element elementOfC(unsigned lane, unsigned index) {
  return {lane / 4 + 8 * (index / 2), 2 * (lane % 4) + index % 2};
}

/// A matrix on its way into a tensor core: `count` rows of A, or columns of B,
/// with `depth` elements each along k. To be used again and again: it keeps its
/// memory.
class TensorOperand {
public:
  /// `type` is F16, BF16, TF32, E4M3, E5M2, S8, U8, S4 or U4. All elements must
  /// be set then.
  void reset(ptx::Type type, unsigned count, unsigned depth);
  /// `negate` for wgmma, which can negate what it reads.
  void set(unsigned index, unsigned k, uint64_t bits, bool negate = false);
  /// The elements of a word of 32 bits, which follow each other along k or, if
  /// `isAcross`, along the other axis.
  void setWord(unsigned index, unsigned k, uint32_t word, bool negate = false,
               bool isAcross = false);

  ptx::Type type = ptx::Type::None;
  unsigned count = 0, depth = 0;
  bool hasSpecial = false; // An infinity or NaN.
  // At k * count + index: the value, and the exponent that it is aligned by.
  std::vector<double> values;
  std::vector<int16_t> exponents;

private:
  template <ptx::Type type>
  void setFloat(size_t at, uint32_t bits, bool negate);
};

/// How a step sums.
struct SumModel {
  unsigned depth;        // Terms of a step.
  unsigned fractionBits; // Below the largest exponent.
  /// Bits of fraction of the sum as an f32, which wgmma with fp8 has fewer of.
  unsigned resultBits = 23;
};
/// Of the tensor cores of sm_90, by mma.sync or by wgmma. mma.sync of fp8 is
/// made of products of f16.
SumModel sumModel(ptx::Type operand, bool isWarpgroup);

/// d = a * b, plus d if `accumulates`. `d` has a.count rows of b.count
/// elements, the bits of `type` each: F32, F16 or S32. `saturate` is .satfinite
/// of integers: clamped instead of wrapped around.
void multiplyAccumulate(const TensorOperand &a, const TensorOperand &b,
                        ptx::Type type, uint32_t *d, bool accumulates,
                        bool saturate, SumModel model);

} // namespace tilec::emulator

#endif // TILEC_EMULATOR_ARITHMETIC_TENSORCORE_H
