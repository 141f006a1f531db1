//===- ConversionTest.cpp - From one layout to another ---------*- C++ -*-===//
//
// Plans are carried out on a simulated block of threads whose registers hold
// the numbers of their elements. Which kind of plan is possible at all is found
// by enumeration.
//
//===----------------------------------------------------------------------===//

#include "lib/Layout/Conversion.h"
#include "test/Unit/Layout/RandomLayouts.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace tilec::layout;
using namespace tilec::test;
using Kind = ConversionPlan::Kind;
using Registers = std::vector<uint64_t>;
using Lanes = std::vector<Registers>;

static uint64_t elementAt(const LinearLayout &layout, HardwareIndex index) {
  uint64_t flat = 0;
  llvm::SmallVector<int64_t> at = applySlowly(layout, index);
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    flat = flat * layout.shape()[axis] + at[axis];
  return flat;
}

static Lanes warpOf(const LinearLayout &layout, unsigned warp) {
  Lanes lanes(32);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned reg = 0; reg < layout.size(InDim::Register); ++reg)
      lanes[lane].push_back(elementAt(layout, {reg, lane, warp}));
  return lanes;
}

/// The number of registers renumbered as a lane's bits say: the result's
/// register r is register r ^ sum of the bits' images.
static Registers renumber(Registers registers, unsigned lane,
                          const std::array<unsigned, 5> &images) {
  for (unsigned bit = 0; bit < 5; ++bit) {
    if (!(lane >> bit & 1))
      continue;
    Registers old = registers;
    for (unsigned reg = 0; reg < registers.size(); ++reg)
      registers[reg] = old[reg ^ images[bit]];
  }
  return registers;
}

static Lanes runShuffles(const ShufflePlan &plan, Lanes lanes) {
  for (unsigned lane = 0; lane < 32; ++lane)
    lanes[lane] = renumber(lanes[lane], lane, plan.give);
  Lanes received(32);
  for (const ShuffleRound &round : plan.rounds)
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned source = round.lane;
      for (unsigned bit = 0; bit < 5; ++bit)
        if (lane >> bit & 1)
          source ^= plan.source[bit];
      REQUIRE(source == plan.sourceLane(round, lane));
      if (!plan.moves(round))
        REQUIRE(source == lane);
      received[lane].push_back(lanes[source][round.give]);
    }
  for (unsigned lane = 0; lane < 32; ++lane)
    received[lane] = renumber(received[lane], lane, plan.take);
  return received;
}

static void checkPacks(const ShufflePlan &plan) {
  unsigned pack = 1u << plan.packedBits;
  for (unsigned bit = 0; bit < 5; ++bit) {
    CHECK(plan.give[bit] % pack == 0);
    CHECK(plan.take[bit] % pack == 0);
  }
  for (unsigned t = 0; t < plan.rounds.size(); ++t) {
    const ShuffleRound &first = plan.rounds[t - t % pack];
    CHECK(plan.rounds[t].give == first.give + t % pack);
    CHECK(plan.rounds[t].lane == first.lane);
  }
}

/// Plans, and carries out what does not need shared memory.
static ConversionPlan checkPlan(const LinearLayout &from,
                                const LinearLayout &to) {
  INFO(from.str() << " to " << to.str());
  ConversionPlan plan = planConversion(from, to);
  for (unsigned warp = 0; warp < to.size(InDim::Warp); ++warp) {
    Lanes source = warpOf(from, warp), expected = warpOf(to, warp);
    if (plan.kind == Kind::Shuffle) {
      REQUIRE(plan.shuffle.rounds.size() == to.size(InDim::Register));
      REQUIRE(runShuffles(plan.shuffle, source) == expected);
      checkPacks(plan.shuffle);
    } else if (plan.kind != Kind::Shared) {
      REQUIRE(plan.registerSource.size() == to.size(InDim::Register));
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned reg = 0; reg < to.size(InDim::Register); ++reg)
          REQUIRE(source[lane][plan.registerSource[reg]] ==
                  expected[lane][reg]);
    }
  }
  return plan;
}

static std::set<uint64_t> heldBy(const LinearLayout &layout, unsigned warp) {
  std::set<uint64_t> held;
  for (const Registers &registers : warpOf(layout, warp))
    held.insert(registers.begin(), registers.end());
  return held;
}

TEST_CASE("random conversions are carried out right") {
  std::mt19937 random(1);
  std::map<Kind, unsigned> kinds;
  for (int round = 0; round < 600; ++round) {
    llvm::SmallVector<int64_t> shape = randomShape(random, 9);
    LinearLayout from = randomSurjectiveLayout(random, shape, round % 2);
    LinearLayout to = randomSurjectiveLayout(random, shape, round % 2);
    if (round % 4 == 1) {
      // The same elements in each warp, in other registers and lanes.
      llvm::SmallVector<Basis> bases(from.bases(InDim::Register));
      bases.append(from.bases(InDim::Lane).begin(),
                   from.bases(InDim::Lane).end());
      std::shuffle(bases.begin(), bases.end(), random);
      to = LinearLayout(shape, llvm::ArrayRef(bases).drop_front(5),
                        llvm::ArrayRef(bases).take_front(5),
                        from.bases(InDim::Warp));
    }
    INFO(from.str() << " to " << to.str());
    ConversionPlan plan = checkPlan(from, to);
    ++kinds[plan.kind];

    bool within = true, same = true;
    for (unsigned warp = 0; warp < to.size(InDim::Warp); ++warp) {
      std::set<uint64_t> has = heldBy(from, warp), needs = heldBy(to, warp);
      same = same && has == needs;
      within = within && llvm::includes(has, needs);
    }
    if (!within)
      CHECK(plan.kind == Kind::Shared);
    if (same && from.bases(InDim::Warp) == to.bases(InDim::Warp))
      CHECK(plan.kind != Kind::Shared);
    if (registerPermutation(from, to))
      CHECK(plan.kind <= Kind::Registers);
  }
  CHECK(kinds[Kind::Shuffle] > 200);
  CHECK(kinds[Kind::Shared] > 50);
}

TEST_CASE("equal layouts need nothing") {
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    LinearLayout layout = randomLayout(random, randomShape(random, 7));
    CHECK(checkPlan(layout, layout).kind == Kind::Identity);
  }
}

TEST_CASE("the accumulator becomes the left operand") {
  LinearLayout c = LinearLayout::wgmmaAccumulator({64, 64}, 1);
  CHECK(checkPlan(c, LinearLayout::wgmmaOperandA({64, 64}, 2, 1)).kind ==
        Kind::Identity);
  // 8 bits: lane 1 needs columns 4 to 7, which lanes 2 and 3 hold, so nothing
  // that it receives can stay.
  ConversionPlan plan =
      checkPlan(c, LinearLayout::wgmmaOperandA({64, 64}, 4, 1));
  CHECK(plan.kind == Kind::Shuffle);
  CHECK_FALSE(plan.shuffle.isButterfly());
  CHECK(plan.shuffle.packedBits == 1);
  CHECK(plan.shuffle.numShuffles(32) == 32);
  CHECK(plan.shuffle.numShuffles(16) == 16);
  CHECK(plan.shuffle.numShuffles(8) == 16);
}

TEST_CASE("a rotation of a register into the lanes") {
  LinearLayout from({64}, {{1}}, {{2}, {4}, {8}, {16}, {32}}, {});
  LinearLayout to({64}, {{32}}, {{1}, {2}, {4}, {8}, {16}}, {});
  ConversionPlan plan = checkPlan(from, to);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK_FALSE(plan.shuffle.isButterfly());
  CHECK(plan.shuffle.numShuffles(32) == 2);
  CHECK(plan.shuffle.numShuffles(64) == 4);
}

TEST_CASE("a register exchanged with a lane bit costs one shuffle") {
  LinearLayout from({64}, {{1}}, {{2}, {4}, {8}, {16}, {32}}, {});
  LinearLayout to({64}, {{32}}, {{2}, {4}, {8}, {16}, {1}}, {});
  ConversionPlan plan = checkPlan(from, to);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.isButterfly());
  CHECK(plan.shuffle.numShuffles(32) == 1);
  CHECK(plan.shuffle.numSelectStages() == 2);
}

TEST_CASE("lanes that have what they need keep it") {
  // Lane bits 0 and 1 both read from lane bit 1.
  LinearLayout from({64}, {{1}}, {{2}, {4}, {8}, {16}, {32}}, {});
  LinearLayout to({64}, {{6}}, {{5}, {4}, {8}, {16}, {32}}, {});
  ConversionPlan plan = checkPlan(from, to);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.isButterfly());
  CHECK(plan.shuffle.numShuffles(32) == 1);
  // Lane bits 0 and 1 hold copies; bit 1 can stay what it is.
  LinearLayout copies({32}, {{1}}, {{2}, {2}, {4}, {8}, {16}}, {});
  LinearLayout needs({32}, {{2}}, {{1}, {2}, {4}, {8}, {16}}, {});
  plan = checkPlan(copies, needs);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.isButterfly());
  CHECK(plan.shuffle.numShuffles(32) == 1);
}

TEST_CASE("registers that mix are not packed") {
  // Register bit 0 stays; bit 1 of the result moves it as well.
  LinearLayout from({128}, {{1}, {2}}, {{4}, {8}, {16}, {32}, {64}}, {});
  LinearLayout to({128}, {{1}, {3}}, {{8}, {4}, {16}, {32}, {64}}, {});
  ConversionPlan plan = checkPlan(from, to);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.packedBits == 0);
  CHECK(plan.shuffle.numShuffles(8) == 4);
  LinearLayout clean({128}, {{1}, {2}}, {{8}, {4}, {16}, {32}, {64}}, {});
  plan = checkPlan(from, clean);
  CHECK(plan.shuffle.packedBits == 2);
  CHECK(plan.shuffle.numShuffles(8) == 1);
  CHECK(plan.shuffle.numShuffles(16) == 2);
}

TEST_CASE("copies are read where they are") {
  // All lanes hold all of a vector of 32; each keeps one element.
  LinearLayout all({32}, {{1}, {2}, {4}, {8}, {16}},
                   llvm::SmallVector<Basis>(5, {0}), {{0}});
  LinearLayout one({32}, {}, {{1}, {2}, {4}, {8}, {16}}, {{0}});
  ConversionPlan plan = checkPlan(all, one);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.numShuffles(32) == 0);
  // The other way each lane needs what only one has.
  plan = checkPlan(one, all);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.numShuffles(32) == 31);
}

TEST_CASE("warps exchange through shared memory") {
  LinearLayout c = LinearLayout::mmaAccumulator({64, 64}, 4, 1);
  LinearLayout rows =
      LinearLayout::blocked({64, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  CHECK(checkPlan(c, rows).kind == Kind::Shared);
  CHECK(checkPlan(c, LinearLayout::mmaAccumulator({64, 64}, 2, 2)).kind ==
        Kind::Shared);
}
