//===- RandomLayouts.cpp - Layouts to test properties on -------*- C++ -*-===//

#include "test/Unit/Layout/RandomLayouts.h"

#include <algorithm>

namespace tilec::test {

using namespace layout;

static unsigned below(std::mt19937 &random, unsigned bound) {
  return std::uniform_int_distribution<unsigned>(0, bound - 1)(random);
}

llvm::SmallVector<int64_t> randomShape(std::mt19937 &random, unsigned maxBits) {
  llvm::SmallVector<int64_t> shape;
  for (unsigned rank = below(random, 4); rank > 0; --rank) {
    unsigned bits = below(random, maxBits + 1);
    maxBits -= bits;
    shape.push_back(int64_t(1) << bits);
  }
  std::shuffle(shape.begin(), shape.end(), random);
  return shape;
}

static Basis randomBasis(std::mt19937 &random, llvm::ArrayRef<int64_t> shape) {
  Basis basis;
  unsigned kind = below(random, 4);
  for (int64_t extent : shape) {
    unsigned value = below(random, extent);
    // Mostly powers of two, which vectors and slices depend on.
    if (kind != 0 && value != 0)
      while (value & (value - 1))
        value &= value - 1;
    basis.push_back(kind == 1 ? 0 : value);
  }
  return basis;
}

LinearLayout randomLayout(std::mt19937 &random, llvm::ArrayRef<int64_t> shape) {
  auto list = [&](unsigned count) {
    llvm::SmallVector<Basis> bases;
    for (unsigned i = 0; i < count; ++i)
      bases.push_back(randomBasis(random, shape));
    return bases;
  };
  llvm::SmallVector<Basis> registers = list(below(random, 5));
  // Vectors are too rare otherwise.
  if (!shape.empty() && below(random, 2) == 0) {
    unsigned axis = below(random, shape.size());
    for (unsigned bit = 0; bit < registers.size(); ++bit)
      if ((2 << bit) <= shape[axis]) {
        registers[bit].assign(shape.size(), 0);
        registers[bit][axis] = 1 << bit;
      }
  }
  return LinearLayout(shape, registers, list(5), list(below(random, 3)));
}

LinearLayout randomSurjectiveLayout(std::mt19937 &random,
                                    llvm::ArrayRef<int64_t> shape,
                                    unsigned warpBits) {
  llvm::SmallVector<Basis> all;
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    for (int32_t distance = 1; distance < shape[axis]; distance *= 2)
      all.emplace_back(shape.size(), 0)[axis] = distance;
  unsigned copies = below(random, 3);
  while (all.size() < 5 + warpBits || copies > 0) {
    all.emplace_back(shape.size(), 0);
    copies -= copies > 0;
  }
  std::shuffle(all.begin(), all.end(), random);
  if (below(random, 2) == 0)
    for (unsigned sums = below(random, 6); sums > 0; --sums) {
      unsigned to = below(random, all.size());
      unsigned from = below(random, all.size());
      if (to != from)
        for (unsigned axis = 0; axis < shape.size(); ++axis)
          all[to][axis] ^= all[from][axis];
    }
  llvm::ArrayRef<Basis> rest = all;
  return LinearLayout(shape, rest.drop_front(5 + warpBits), rest.take_front(5),
                      rest.slice(5, warpBits));
}

void forEachIndex(const LinearLayout &layout,
                  llvm::function_ref<void(HardwareIndex)> visit) {
  for (unsigned warp = 0; warp < layout.size(InDim::Warp); ++warp)
    for (unsigned lane = 0; lane < layout.size(InDim::Lane); ++lane)
      for (unsigned reg = 0; reg < layout.size(InDim::Register); ++reg)
        visit({reg, lane, warp});
}

llvm::SmallVector<int64_t> applySlowly(const LinearLayout &layout,
                                       HardwareIndex index) {
  llvm::SmallVector<int64_t> result(layout.rank(), 0);
  for (InDim dim : allInDims)
    for (unsigned bit = 0; bit < layout.numBits(dim); ++bit)
      if (index[dim] >> bit & 1)
        for (unsigned axis = 0; axis < layout.rank(); ++axis)
          result[axis] ^= layout.bases(dim)[bit][axis];
  return result;
}

} // namespace tilec::test
