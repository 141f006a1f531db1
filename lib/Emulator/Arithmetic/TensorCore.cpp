//===- TensorCore.cpp - Products of matrices as the hardware sums ---------===//

#include "lib/Emulator/Arithmetic/TensorCore.h"
#include "lib/Emulator/Arithmetic/Float.h"
#include "lib/Emulator/Arithmetic/Formats.h"
#include "lib/Emulator/Arithmetic/Host.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilec::emulator {

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

// Lanes are in eight groups of four: a group has a row, the lanes of a group
// follow each other along k.

Element elementOfA(unsigned m, unsigned bits, unsigned lane, unsigned index) {
  unsigned perRegister = 32 / bits;
  unsigned reg = index / perRegister, at = index % perRegister;
  unsigned row = lane / 4, block = reg;
  if (m == 16) {
    row += 8 * (reg & 1);
    block = reg / 2;
  }
  return {row, perRegister * (lane % 4 + 4 * block) + at};
}

Element elementOfB(unsigned bits, unsigned lane, unsigned index) {
  unsigned perRegister = 32 / bits;
  unsigned reg = index / perRegister, at = index % perRegister;
  return {perRegister * (lane % 4 + 4 * reg) + at, lane / 4};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Of what is zero: below every exponent, so it aligns nothing.
static constexpr int16_t noExponent = -4096;

void TensorOperand::reset(ptx::Type newType, unsigned newCount,
                          unsigned newDepth) {
  type = newType;
  count = newCount;
  depth = newDepth;
  hasSpecial = false;
  values.resize(size_t(count) * depth);
  exponents.resize(size_t(count) * depth);
}

template <ptx::Type type>
void TensorOperand::setFloat(size_t at, uint32_t bits, bool negate) {
  // The usual ones without a call.
  float number = type == ptx::Type::F16    ? widen(halfFormat, bits & 0xffff)
                 : type == ptx::Type::BF16 ? llvm::bit_cast<float>(bits << 16)
                                           : toFloat(type, bits);
  values[at] = negate ? -number : number;
  int field = (llvm::bit_cast<uint32_t>(number) >> 23) & 0xff;
  hasSpecial |= field == 0xff;
  // Subnormal numbers are aligned as what they are stored as.
  exponents[at] = number == 0 ? noExponent
                              : std::max(field ? field - 127 : -126,
                                         formatOf(type).minExponent());
}

void TensorOperand::set(unsigned index, unsigned k, uint64_t bits,
                        bool negate) {
  size_t at = size_t(k) * count + index;
  double &value = values[at];
  switch (type) {
  case ptx::Type::S8:
    value = int8_t(bits);
    return;
  case ptx::Type::U8:
    value = uint8_t(bits);
    return;
  case ptx::Type::S4:
    value = int(bits & 15) - (bits & 8 ? 16 : 0);
    return;
  case ptx::Type::U4:
    value = bits & 15;
    return;
  case ptx::Type::F16:
    return setFloat<ptx::Type::F16>(at, bits, negate);
  case ptx::Type::BF16:
    return setFloat<ptx::Type::BF16>(at, bits, negate);
  case ptx::Type::TF32:
    return setFloat<ptx::Type::TF32>(at, bits, negate);
  case ptx::Type::E4M3:
    return setFloat<ptx::Type::E4M3>(at, bits, negate);
  case ptx::Type::E5M2:
    return setFloat<ptx::Type::E5M2>(at, bits, negate);
  default:
    llvm_unreachable("not a type of tensor cores");
  }
}

void TensorOperand::setWord(unsigned index, unsigned k, uint32_t word,
                            bool negate, bool isAcross) {
  size_t at = size_t(k) * count + index, step = isAcross ? 1 : count;
  switch (type) {
  case ptx::Type::F16:
    setFloat<ptx::Type::F16>(at, word, negate);
    return setFloat<ptx::Type::F16>(at + step, word >> 16, negate);
  case ptx::Type::BF16:
    setFloat<ptx::Type::BF16>(at, word, negate);
    return setFloat<ptx::Type::BF16>(at + step, word >> 16, negate);
  case ptx::Type::TF32:
    return setFloat<ptx::Type::TF32>(at, word, negate);
  default:
    unsigned bits = ptx::bitsOf(type);
    for (unsigned i = 0; i != 32 / bits; ++i)
      set(index + (isAcross ? i : 0), k + (isAcross ? 0 : i),
          word >> (i * bits), negate);
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

SumModel sumModel(ptx::Type operand, bool isWarpgroup) {
  switch (operand) {
  case ptx::Type::TF32:
    return {8, 25};
  case ptx::Type::E4M3:
  case ptx::Type::E5M2:
    return isWarpgroup ? SumModel{32, 13, 13} : SumModel{16, 25};
  default:
    return {16, 25};
  }
}

namespace {

constexpr unsigned maxColumns = 256;

double powerOfTwo(int exponent) {
  return llvm::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

int exponentOf(float value) {
  if (value == 0)
    return noExponent;
  int field = (llvm::bit_cast<uint32_t>(value) >> 23) & 0xff;
  return field ? field - 127 : -126;
}

float toF32(ptx::Type type, uint32_t bits) {
  return type == ptx::Type::F16 ? toFloat(type, bits) : asFloat(bits);
}

/// An exact sum as the accumulator has it.
uint32_t roundSum(ptx::Type type, double sum, unsigned resultBits) {
  if (type == ptx::Type::F16)
    return packDouble(halfFormat, sum, Rounding::NearestEven);
  // Cut off. For what is normal as an f32, without the cases of packing.
  uint64_t bits = llvm::bit_cast<uint64_t>(sum);
  uint64_t field = bits >> 52 & 0x7ff;
  uint32_t cut = ~((1u << (23 - resultBits)) - 1);
  if (field > 1023 - 127 && field < 1023 + 128)
    return (uint32_t(bits >> 32 & 0x80000000) |
            ((uint32_t(bits >> 29) - ((1023 - 127) << 23)) & 0x7fffffff)) &
           cut;
  // What is too large becomes infinite all the same.
  if (std::fabs(sum) >= 0x1p128)
    return std::signbit(sum) ? 0xff800000 : 0x7f800000;
  if (std::isnan(sum))
    return floatNaN;
  return packDouble(floatFormat, sum, Rounding::Zero) & cut;
}

// Eight columns at a time: all products of the hardware have a multiple of it.
constexpr unsigned width = 8;
using Shorts = int16_t __attribute__((vector_size(2 * width)));
using Ints = int32_t __attribute__((vector_size(4 * width)));
using Longs = int64_t __attribute__((vector_size(8 * width)));
using Floats = float __attribute__((vector_size(4 * width)));
using Doubles = double __attribute__((vector_size(8 * width)));

template <typename Vector, typename T>
[[gnu::always_inline]] inline void load(Vector &to, const T *from) {
  static_assert(sizeof(to[0]) == sizeof(T));
  std::memcpy(&to, from, sizeof(Vector));
}

/// One row of a step whose operands are all finite. `c` has the accumulators;
/// the sums are exact.
[[gnu::always_inline]] inline void
sumColumns(const TensorOperand &a, const TensorOperand &b, unsigned row,
           unsigned k, unsigned depth, unsigned fractionBits, const float *c,
           double *sums) {
  unsigned n = b.count;
  for (unsigned first = 0; first < n; first += width) {
    // The largest exponents, as in exponentOf().
    Floats start;
    load(start, c + first);
    Ints field = reinterpret_cast<Ints &>(start) >> 23 & 0xff;
    field = field - 127 - (field == 0); // A comparison gives -1.
    field = start == 0.0f ? Ints{} + noExponent : field;
    Shorts largest = __builtin_convertvector(field, Shorts);
    for (unsigned i = k; i < k + depth; ++i) {
      Shorts exponents;
      load(exponents, &b.exponents[size_t(i) * n + first]);
      exponents += a.exponents[size_t(i) * a.count + row];
      largest = exponents > largest ? exponents : largest;
    }
    // All are zeros below -300: any scale will do.
    Longs top = __builtin_convertvector(largest, Longs);
    top = top > -300 ? top : Longs{} - 300;
    Longs power = (int64_t(fractionBits) + 1023 - top) << 52;
    Doubles scale = reinterpret_cast<Doubles &>(power);
    auto cutOff = [](Doubles value) __attribute__((always_inline)) {
      return __builtin_convertvector(__builtin_convertvector(value, Ints),
                                     Doubles);
    };
    Doubles sum = cutOff(__builtin_convertvector(start, Doubles) * scale);
    for (unsigned i = k; i < k + depth; ++i) {
      Doubles values;
      load(values, &b.values[size_t(i) * n + first]);
      sum += cutOff(a.values[size_t(i) * a.count + row] * values * scale);
    }
    sum /= scale;
    std::memcpy(sums + first, &sum, sizeof(sum));
  }
}

using SumRow = void(const TensorOperand &a, const TensorOperand &b,
                    unsigned row, unsigned k, unsigned depth,
                    unsigned fractionBits, const float *c, double *sums);

void sumRow(const TensorOperand &a, const TensorOperand &b, unsigned row,
            unsigned k, unsigned depth, unsigned fractionBits, const float *c,
            double *sums) {
  sumColumns(a, b, row, k, depth, fractionBits, c, sums);
}

/// The same code for hosts with wider vectors.
TILEC_FOR_AVX2 void sumRowWide(const TensorOperand &a, const TensorOperand &b,
                               unsigned row, unsigned k, unsigned depth,
                               unsigned fractionBits, const float *c,
                               double *sums) {
  sumColumns(a, b, row, k, depth, fractionBits, c, sums);
}

/// The same where infinities or NaN may be, and for any number of columns.
void sumRowSpecial(const TensorOperand &a, const TensorOperand &b, unsigned row,
                   unsigned k, unsigned depth, unsigned fractionBits,
                   const float *c, double *sums) {
  unsigned n = b.count;
  for (unsigned j = 0; j < n; ++j) {
    // Nothing finite overflows a double, so this is exact about infinities.
    double plain = c[j];
    int largest = exponentOf(c[j]);
    for (unsigned i = k; i < k + depth; ++i) {
      size_t atA = size_t(i) * a.count + row, atB = size_t(i) * n + j;
      plain += a.values[atA] * b.values[atB];
      largest = std::max(largest, a.exponents[atA] + b.exponents[atB]);
    }
    if (!std::isfinite(plain)) {
      sums[j] = plain;
      continue;
    }
    double scale = powerOfTwo(int(fractionBits) - std::max(largest, -300));
    double sum = std::trunc(c[j] * scale);
    for (unsigned i = k; i < k + depth; ++i)
      sum += std::trunc(a.values[size_t(i) * a.count + row] *
                        b.values[size_t(i) * n + j] * scale);
    sums[j] = sum / scale;
  }
}

void multiplyIntegers(const TensorOperand &a, const TensorOperand &b,
                      uint32_t *d, bool accumulates, bool saturate) {
  for (unsigned row = 0; row < a.count; ++row) {
    for (unsigned column = 0; column < b.count; ++column) {
      uint32_t &to = d[row * b.count + column];
      // Sums of integers this small are exact as doubles.
      double sum = accumulates ? int32_t(to) : 0;
      for (unsigned k = 0; k < a.depth; ++k)
        sum += a.values[k * a.count + row] * b.values[k * b.count + column];
      if (saturate)
        sum = std::clamp(sum, -0x1p31, 0x1p31 - 1);
      to = uint32_t(int64_t(sum));
    }
  }
}

} // namespace

void multiplyAccumulate(const TensorOperand &a, const TensorOperand &b,
                        ptx::Type type, uint32_t *d, bool accumulates,
                        bool saturate, SumModel model) {
  if (type == ptx::Type::S32)
    return multiplyIntegers(a, b, d, accumulates, saturate);
  unsigned n = b.count;
  float c[maxColumns];
  double sums[maxColumns];
  SumRow *finite = hostHasAVX2() ? sumRowWide : sumRow;
  for (unsigned row = 0; row < a.count; ++row) {
    uint32_t *to = d + size_t(row) * n;
    for (unsigned k = 0; k < a.depth; k += model.depth) {
      bool isSpecial = a.hasSpecial || b.hasSpecial || n % width != 0;
      for (unsigned j = 0; j < n; ++j) {
        c[j] = accumulates || k ? toF32(type, to[j]) : 0.0f;
        isSpecial |= !std::isfinite(c[j]);
      }
      SumRow *sum = isSpecial ? sumRowSpecial : finite;
      sum(a, b, row, k, std::min(model.depth, a.depth - k), model.fractionBits,
          c, sums);
      for (unsigned j = 0; j < n; ++j)
        to[j] = roundSum(type, sums[j], model.resultBits);
    }
  }
}

} // namespace tilec::emulator
