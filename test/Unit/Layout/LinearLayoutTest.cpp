//===- LinearLayoutTest.cpp - Which thread holds which element -*- C++ -*-===//
//
// Properties of random layouts against enumeration of all places, and the
// messages about what is not a layout.
//
//===----------------------------------------------------------------------===//

#include "lib/Layout/LinearLayout.h"
#include "test/Unit/Layout/RandomLayouts.h"

#include <catch2/catch.hpp>

#include <map>

using namespace tilec::layout;
using namespace tilec::test;

using Coordinates = llvm::SmallVector<int64_t>;

/// How often each element is held, counting the places that `mask` leaves: its
/// bits must be 0.
static std::map<std::vector<int64_t>, unsigned>
countElements(const LinearLayout &layout, HardwareIndex mask = {}) {
  std::map<std::vector<int64_t>, unsigned> counts;
  forEachIndex(layout, [&](HardwareIndex index) {
    if ((index.reg & mask.reg) || (index.lane & mask.lane) ||
        (index.warp & mask.warp))
      return;
    Coordinates at = applySlowly(layout, index);
    ++counts[std::vector<int64_t>(at.begin(), at.end())];
  });
  return counts;
}

TEST_CASE("application is the sum of the bases") {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    LinearLayout layout = randomLayout(random, randomShape(random, 9));
    forEachIndex(layout, [&](HardwareIndex index) {
      Coordinates expected = applySlowly(layout, index);
      REQUIRE(layout.apply(index.reg, index.lane, index.warp) == expected);
      uint64_t flat = 0;
      for (unsigned axis = 0; axis < layout.rank(); ++axis)
        flat = flat * layout.shape()[axis] + expected[axis];
      REQUIRE(layout.applyFlat(index) == flat);
    });
  }
}

TEST_CASE("what is held, and how often") {
  std::mt19937 random(2);
  unsigned surjective = 0, injective = 0;
  for (int round = 0; round < 200; ++round) {
    llvm::SmallVector<int64_t> shape = randomShape(random, 8);
    LinearLayout layout = round % 2 ? randomLayout(random, shape)
                                    : randomSurjectiveLayout(random, shape, 1);
    INFO(layout.str());
    auto counts = countElements(layout);
    bool once = llvm::all_of(counts, [](auto &c) { return c.second == 1; });
    CHECK(layout.isInjective() == once);
    bool all = counts.size() == static_cast<uint64_t>(layout.numElements());
    CHECK(layout.isSurjective() == all);
    surjective += all;
    injective += once;

    HardwareIndex free;
    for (InDim dim : allInDims)
      free[dim] = layout.freeBits(dim);
    auto kept = countElements(layout, free);
    CHECK(kept.size() == counts.size());
    CHECK(llvm::all_of(kept, [](auto &c) { return c.second == 1; }));
  }
  CHECK(surjective > 20);
  CHECK(surjective < 180);
  CHECK(injective > 5);
  CHECK(injective < 180);
}

TEST_CASE("of bits that move the same the first is kept") {
  LinearLayout layout({4, 32}, {{0, 1}, {0, 0}, {1, 0}},
                      {{0, 2}, {0, 1}, {0, 4}, {0, 8}, {0, 16}},
                      {{1, 1}, {2, 0}, {3, 31}});
  CHECK(layout.freeBits(InDim::Register) == 0b010);
  CHECK(layout.freeBits(InDim::Lane) == 0b00010);
  CHECK(layout.freeBits(InDim::Warp) == 0b101);
}

TEST_CASE("the width of vectors") {
  std::mt19937 random(3);
  unsigned wide = 0;
  for (int round = 0; round < 400; ++round) {
    LinearLayout layout = randomLayout(random, randomShape(random, 7));
    INFO(layout.str());
    for (unsigned axis = 0; axis < layout.rank(); ++axis) {
      unsigned expected = 1;
      for (unsigned width = 2; width <= 8; width *= 2) {
        bool fits = width <= layout.size(InDim::Register);
        forEachIndex(layout, [&](HardwareIndex index) {
          if (!fits)
            return;
          HardwareIndex first = index;
          first.reg -= index.reg % width;
          Coordinates at = applySlowly(layout, first);
          fits = at[axis] % width == 0;
          at[axis] += index.reg % width;
          fits = fits && at == applySlowly(layout, index);
        });
        if (fits)
          expected = width;
      }
      CHECK(layout.vectorWidth(axis, 16) == expected);
      CHECK(layout.vectorWidth(axis, 16, 32) == std::min(expected, 2u));
      CHECK(layout.vectorWidth(axis, 64) == std::min(expected, 2u));
      wide += expected > 1;
    }
  }
  CHECK(wide > 20);
}

TEST_CASE("a slice drops one coordinate") {
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    LinearLayout layout = randomLayout(random, randomShape(random, 8));
    for (unsigned axis = 0; axis < layout.rank(); ++axis) {
      LinearLayout slice = layout.slice(axis);
      INFO(layout.str() << " along " << axis << ": " << slice.str());
      llvm::SmallVector<unsigned> registers = layout.sliceRegister(axis);
      llvm::SmallVector<int> bits = layout.sliceRegisterBits(axis);
      REQUIRE(registers.size() == layout.size(InDim::Register));
      REQUIRE(bits.size() == layout.numBits(InDim::Register));
      forEachIndex(layout, [&](HardwareIndex index) {
        Coordinates expected = applySlowly(layout, index);
        expected.erase(expected.begin() + axis);
        index.reg = registers[index.reg];
        REQUIRE(index.reg < slice.size(InDim::Register));
        REQUIRE(applySlowly(slice, index) == expected);
      });
      for (unsigned bit = 0; bit < bits.size(); ++bit)
        CHECK(registers[1u << bit] == (bits[bit] < 0 ? 0 : 1u << bits[bit]));
      // Nothing is left that moves nothing.
      for (const Basis &basis : slice.bases(InDim::Register))
        CHECK(llvm::any_of(basis, [](int32_t c) { return c != 0; }));
    }
  }
}

TEST_CASE("a row of an accumulator is held by four lanes") {
  LinearLayout rows = LinearLayout::mmaAccumulator({64, 32}, 4, 1).slice(1);
  CHECK(rows.str() ==
        "64: reg (8) | lane (0) (0) (1) (2) (4) | warp (16) (32)");
  CHECK(rows.freeBits(InDim::Lane) == 0b00011);
  LinearLayout sum = rows.slice(0);
  CHECK(sum.str() == "scalar: reg | lane () () () () () | warp () ()");
  CHECK(sum.isSurjective());
  CHECK(sum.freeBits(InDim::Warp) == 0b11);
}

TEST_CASE("other views of the same tensor") {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    LinearLayout layout = randomLayout(random, randomShape(random, 8));
    INFO(layout.str());
    llvm::SmallVector<int64_t> perm;
    for (unsigned axis = 0; axis < layout.rank(); ++axis)
      perm.push_back(axis);
    std::shuffle(perm.begin(), perm.end(), random);
    LinearLayout transposed = layout.transpose(perm);
    unsigned place = random() % (layout.rank() + 1);
    LinearLayout expanded = layout.expandDims(place);
    CHECK(expanded.slice(place).bases(InDim::Lane) ==
          layout.bases(InDim::Lane));
    LinearLayout line = layout.reshape({layout.numElements()});
    CHECK(line.reshape(layout.shape()) == layout);
    forEachIndex(layout, [&](HardwareIndex index) {
      Coordinates at = applySlowly(layout, index);
      Coordinates permuted = applySlowly(transposed, index);
      for (unsigned axis = 0; axis < layout.rank(); ++axis)
        REQUIRE(permuted[axis] == at[perm[axis]]);
      int64_t flat = 0;
      for (unsigned axis = 0; axis < layout.rank(); ++axis)
        flat = flat * layout.shape()[axis] + at[axis];
      REQUIRE(applySlowly(line, index)[0] == flat);
      at.insert(at.begin() + place, 0);
      REQUIRE(applySlowly(expanded, index) == at);
    });
  }
}

TEST_CASE("several tensors in one layout") {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    LinearLayout layout =
        randomSurjectiveLayout(random, randomShape(random, 7), round % 3);
    int64_t extent = int64_t(1) << random() % 4;
    unsigned warps = 1u << random() % 3;
    INFO(layout.str() << " x " << extent << " over " << warps);
    LinearLayout all = layout.repeat(extent, warps);
    CHECK(all.shape()[0] == extent);
    CHECK(all.isSurjective());
    CHECK(all.size(InDim::Warp) == layout.size(InDim::Warp) * warps);
    auto each = std::max<int64_t>(1, extent / warps);
    CHECK(all.size(InDim::Register) == layout.size(InDim::Register) * each);
    forEachIndex(all, [&](HardwareIndex index) {
      int64_t further = index.warp / layout.size(InDim::Warp);
      HardwareIndex within = index;
      within.reg %= layout.size(InDim::Register);
      within.warp %= layout.size(InDim::Warp);
      Coordinates expected = applySlowly(layout, within);
      int64_t which = further % (extent / each) * each +
                      index.reg / layout.size(InDim::Register);
      expected.insert(expected.begin(), which);
      REQUIRE(applySlowly(all, index) == expected);
    });
  }
}

TEST_CASE("the inverse finds every element") {
  std::mt19937 random(6);
  for (int round = 0; round < 60; ++round) {
    LinearLayout layout =
        randomSurjectiveLayout(random, randomShape(random, 9), round % 3);
    INFO(layout.str());
    InverseLayout inverse = layout.invert();
    forEachIndex(layout, [&](HardwareIndex index) {
      Coordinates at = applySlowly(layout, index);
      HardwareIndex place = inverse.apply(at);
      REQUIRE(applySlowly(layout, place) == at);
      for (InDim dim : allInDims)
        REQUIRE((place[dim] & layout.freeBits(dim)) == 0);
    });
  }
}

TEST_CASE("composition finds an element in another layout") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    llvm::SmallVector<int64_t> shape = randomShape(random, 9);
    LinearLayout layout = randomLayout(random, shape);
    LinearLayout other = randomSurjectiveLayout(random, shape, 2);
    IndexMap map = layout.compose(other.invert());
    forEachIndex(layout, [&](HardwareIndex index) {
      REQUIRE(applySlowly(other, map.apply(index)) ==
              applySlowly(layout, index));
    });
  }
}

TEST_CASE("registers may be renamed where all threads agree") {
  std::mt19937 random(8);
  unsigned renamed = 0, refused = 0;
  for (int round = 0; round < 200; ++round) {
    llvm::SmallVector<int64_t> shape = randomShape(random, 7);
    LinearLayout from = randomSurjectiveLayout(random, shape, 1);
    LinearLayout to = randomSurjectiveLayout(random, shape, 1);
    if (round % 2 == 0) {
      llvm::SmallVector<Basis> registers(from.bases(InDim::Register));
      std::shuffle(registers.begin(), registers.end(), random);
      to = LinearLayout(shape, registers, from.bases(InDim::Lane),
                        from.bases(InDim::Warp));
    }
    INFO(from.str() << " to " << to.str());
    auto permutation = registerPermutation(from, to);
    // Whether register `source` of `from` is register `reg` of `to`, in all
    // threads.
    auto agree = [&](unsigned source, unsigned reg) {
      for (unsigned warp = 0; warp < to.size(InDim::Warp); ++warp)
        for (unsigned lane = 0; lane < 32; ++lane)
          if (applySlowly(from, {source, lane, warp}) !=
              applySlowly(to, {reg, lane, warp}))
            return false;
      return true;
    };
    bool possible = true;
    for (unsigned reg = 0; reg < to.size(InDim::Register); ++reg) {
      bool found = false;
      for (unsigned s = 0; s < from.size(InDim::Register) && !found; ++s)
        found = agree(s, reg);
      possible = possible && found;
    }
    REQUIRE(permutation.has_value() == possible);
    (possible ? renamed : refused) += 1;
    if (!permutation)
      continue;
    REQUIRE(permutation->size() == to.size(InDim::Register));
    for (unsigned reg = 0; reg < to.size(InDim::Register); ++reg)
      CHECK(agree((*permutation)[reg], reg));
  }
  CHECK(renamed > 50);
  CHECK(refused > 20);
}

TEST_CASE("layouts are equal with their bases and hash so") {
  LinearLayout a = LinearLayout::mmaAccumulator({64, 64}, 2, 2);
  LinearLayout b = LinearLayout::mmaAccumulator({64, 64}, 2, 2);
  CHECK(a == b);
  CHECK(hash_value(a) == hash_value(b));
  CHECK(a != LinearLayout::mmaAccumulator({64, 64}, 4, 1));
  CHECK(a != a.transpose({1, 0}));
  CHECK(a != a.reshape({32, 128}));
  CHECK(hash_value(a) != hash_value(a.transpose({1, 0})));
}

TEST_CASE("layouts print on one line") {
  CHECK(LinearLayout::mmaAccumulator({32, 8}, 2, 1).str() ==
        "32x8: reg (0,1) (8,0) | lane (0,2) (0,4) (1,0) (2,0) (4,0) | "
        "warp (16,0)");
}

TEST_CASE("what is not a layout") {
  llvm::SmallVector<Basis> lanes(5, Basis{0, 1});
  auto validate =
      [&](llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Basis> registers,
          llvm::ArrayRef<Basis> laneBases, llvm::ArrayRef<Basis> warps) {
        return LinearLayout::validate(shape, registers, laneBases, warps);
      };
  CHECK(validate({2, 2}, {}, lanes, {}) == "");
  CHECK(validate({2, 3}, {}, lanes, {}) ==
        "expected extents that are powers of two up to 2^30, found 3 on "
        "axis 1");
  CHECK(validate({0, 2}, {}, lanes, {}) ==
        "expected extents that are powers of two up to 2^30, found 0 on "
        "axis 0");
  CHECK(validate({1 << 30, 1 << 30, 8}, {}, lanes, {}) ==
        "expected at most 2^62 elements, found 2^63");
  CHECK(validate({2, 2}, {}, llvm::ArrayRef(lanes).drop_back(), {}) ==
        "expected five lane bases (32 lanes), found 4");
  CHECK(validate({2, 2}, llvm::SmallVector<Basis>(21, {0, 0}), lanes, {}) ==
        "expected at most 20 register bases, found 21");
  CHECK(validate({2, 2}, {}, lanes, llvm::SmallVector<Basis>(6, {0, 0})) ==
        "expected at most five warp bases (32 warps), found 6");
  CHECK(validate({2, 2}, {{1}}, lanes, {}) ==
        "expected bases of 2 coordinates, one an axis, found 1 in reg basis 0");
  CHECK(validate({2, 2}, {}, lanes, {{0, 1}, {1, 2}}) ==
        "expected coordinates below the extents, found (1,2) as warp basis 1");
  CHECK(validate({2, 2}, {{0, -1}}, lanes, {}) ==
        "expected coordinates below the extents, found (0,-1) as reg basis 0");
}
