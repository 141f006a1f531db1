//===- RandomFill.cpp - Reproducible inputs ---------------------*- C++ -*-===//
//
// One Philox block for each element, as with `random` in the language.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/RandomFill.h"

#include "lib/Support/Philox.h"

#include "llvm/ADT/Twine.h"

#include <cassert>
#include <limits>

using namespace tilec;

uint64_t tilec::streamSeed(uint64_t seed, llvm::StringRef argument) {
  // FNV-1a over the name, then the finalizer of SplitMix64 over both. A name's
  // hash may not depend on the library's version, so it is not LLVM's.
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : argument)
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  uint64_t mixed = seed + hash * 0x9E3779B97F4A7C15;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

double tilec::normalAt(uint64_t stream, uint64_t position) {
  // The sum of eight uniform 16-bit numbers. Each has a variance of
  // (65536^2 - 1) / 12, which the factor brings to 1/8.
  int32_t sum = 0;
  for (uint32_t word : philoxBlock(stream, position))
    sum += static_cast<int32_t>((word & 0xFFFF) + (word >> 16));
  constexpr int32_t mean = 4 * 0xFFFF;
  constexpr double factor = 0x1.3988e1409212ep-16; // sqrt(12 / 8) / 65536
  return (sum - mean) * factor;
}

int64_t tilec::integerAt(uint64_t stream, uint64_t position, int64_t min,
                         int64_t maxExclusive) {
  assert(min < maxExclusive && "there is no value in the range");
  PhiloxCounter block = philoxBlock(stream, position);
  uint64_t word = uint64_t(block[1]) << 32 | block[0];
  uint64_t range = uint64_t(maxExclusive) - uint64_t(min);
  // The high half of the product is uniform in [0, range), up to 2^-64 * range.
  uint64_t offset = static_cast<uint64_t>(
      (static_cast<unsigned __int128>(word) * range) >> 64);
  return static_cast<int64_t>(uint64_t(min) + offset);
}

/// The integers a type holds without a gap.
static IntegerRange exactIntegers(DType dtype) {
  if (!isFloat(dtype))
    return integerRange(dtype);
  int64_t limit = int64_t(1) << (floatFormat(dtype).fractionBits + 1);
  return {-limit, limit};
}

llvm::Error tilec::fillRandom(const TensorView &view, uint64_t seed,
                              llvm::StringRef argument,
                              const FillOptions &options) {
  uint64_t stream = streamSeed(seed, argument);
  bool hasBounds = options.minInclusive || options.maxExclusive;
  if (isFloat(view.dtype) && !options.integerValued && !hasBounds) {
    forEachElement(view, [&](void *element, int64_t position) {
      storeDouble(view.dtype, element,
                  normalAt(stream, uint64_t(position)) * options.scale);
    });
    return llvm::Error::success();
  }

  if (view.isEmpty())
    return llvm::Error::success();
  IntegerRange exact = exactIntegers(view.dtype);
  bool startsAtZero = exact.min == 0 || options.maxExclusive;
  int64_t min = options.minInclusive.value_or(startsAtZero ? 0 : -8);
  int64_t span = view.dtype == DType::Bool ? 2 : 16;
  int64_t end; // exclusive
  if (options.maxExclusive)
    end = *options.maxExclusive;
  else if (__builtin_add_overflow(min, span, &end))
    end = std::numeric_limits<int64_t>::max();
  auto error = [&](llvm::StringRef what) {
    return llvm::createStringError("tensor '" + argument + "': expected " +
                                   what + ", found [" + llvm::Twine(min) +
                                   ", " + llvm::Twine(end) + ")");
  };
  if (min >= end)
    return error("a range with a value in it");
  if (min < exact.min || end - 1 > exact.max)
    return error(("values from " + llvm::Twine(exact.min) + " to " +
                  llvm::Twine(exact.max) + ", which " + dtypeName(view.dtype) +
                  " holds exactly")
                     .str());
  forEachElement(view, [&](void *element, int64_t position) {
    storeInt(view.dtype, element,
             integerAt(stream, uint64_t(position), min, end));
  });
  return llvm::Error::success();
}

void tilec::fillConstant(const TensorView &view, double value) {
  forEachElement(view, [&](void *element, int64_t) {
    storeDouble(view.dtype, element, value);
  });
}
