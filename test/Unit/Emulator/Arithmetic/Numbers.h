//===- Numbers.h - Numbers for tests, and LLVM's arithmetic -----*- C++ -*-===//
//
// The oracle of these tests is llvm::APFloat, which computes in integers of any
// width and shares no code with the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_EMULATOR_ARITHMETIC_NUMBERS_H
#define TILEC_TEST_UNIT_EMULATOR_ARITHMETIC_NUMBERS_H

#include "lib/Emulator/Arithmetic/Float.h"
#include "llvm/ADT/APFloat.h"
#include <random>

namespace tilec::test {

using emulator::Rounding;
using emulator::ptx::Type;

inline const llvm::fltSemantics &semanticsOf(Type type) {
  switch (type) {
  case Type::F16:
    return llvm::APFloat::IEEEhalf();
  case Type::BF16:
    return llvm::APFloat::BFloat();
  case Type::TF32:
    return llvm::APFloat::FloatTF32();
  case Type::E4M3:
    return llvm::APFloat::Float8E4M3FN();
  case Type::E5M2:
    return llvm::APFloat::Float8E5M2();
  case Type::F64:
    return llvm::APFloat::IEEEdouble();
  default:
    return llvm::APFloat::IEEEsingle();
  }
}

inline unsigned widthOf(Type type) {
  return llvm::APFloat::getSizeInBits(semanticsOf(type));
}

inline llvm::APFloat toAP(Type type, uint64_t bits) {
  unsigned width = widthOf(type);
  if (width < 64)
    bits &= (uint64_t(1) << width) - 1;
  return {semanticsOf(type), llvm::APInt(width, bits)};
}

inline uint64_t bitsOf(const llvm::APFloat &value) {
  return value.bitcastToAPInt().getZExtValue();
}

inline llvm::RoundingMode modeOf(Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return llvm::RoundingMode::NearestTiesToEven;
  case Rounding::Zero:
    return llvm::RoundingMode::TowardZero;
  case Rounding::Down:
    return llvm::RoundingMode::TowardNegative;
  case Rounding::Up:
    return llvm::RoundingMode::TowardPositive;
  case Rounding::NearestAway:
    return llvm::RoundingMode::NearestTiesToAway;
  }
  return llvm::RoundingMode::NearestTiesToEven;
}

constexpr Rounding directions[] = {Rounding::NearestEven, Rounding::Zero,
                                   Rounding::Down, Rounding::Up};

/// Bits of floats: any, of a like size, tiny, huge, and those with few bits or
/// many ones, where rounding is decided.
class Numbers {
public:
  explicit Numbers(uint64_t seed) : random(seed) {}

  uint64_t next(Type type) {
    const llvm::fltSemantics &semantics = semanticsOf(type);
    unsigned width = widthOf(type);
    unsigned fractionBits = llvm::APFloat::semanticsPrecision(semantics) - 1;
    unsigned exponentBits = width - 1 - fractionBits;
    uint64_t ones = (uint64_t(1) << fractionBits) - 1;
    uint64_t most = (uint64_t(1) << exponentBits) - 1;
    uint64_t fraction = random() & ones, exponent = random() & most;
    switch (random() % 4) {
    case 0:
      fraction &= ~(ones >> 2);
      break;
    case 1:
      fraction |= ones >> 3;
      break;
    default:
      break;
    }
    switch (random() % 8) {
    case 0:
      break;
    case 1:
      exponent = random() % 3;
      break;
    case 2:
      exponent = most - random() % 3;
      break;
    case 3:
      exponent = 0, fraction = 0;
      break;
    default:
      exponent = most / 2 - 3 + random() % 7;
      break;
    }
    return ((random() & 1) << (width - 1)) | exponent << fractionBits |
           fraction;
  }

  uint64_t bits() { return random(); }

private:
  std::mt19937_64 random;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_EMULATOR_ARITHMETIC_NUMBERS_H
