//===- ScratchTest.cpp - Exchanging a tensor through memory ----*- C++ -*-===//
//
// Exchanges are carried out on a simulated shared memory, with the banks
// counted at each access.
//
//===----------------------------------------------------------------------===//

#include "lib/Layout/Scratch.h"
#include "test/Unit/Layout/RandomLayouts.h"
#include "test/Unit/Layout/SimulatedBanks.h"

#include <catch2/catch.hpp>

#include <map>

using namespace tilec::layout;
using namespace tilec::test;

static uint64_t elementAt(const LinearLayout &layout, HardwareIndex index) {
  uint64_t flat = 0;
  llvm::SmallVector<int64_t> at = applySlowly(layout, index);
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    flat = flat * layout.shape()[axis] + at[axis];
  return flat;
}

/// The register number with these bits set to the bits of `value`.
static unsigned scatter(unsigned value, llvm::ArrayRef<unsigned> bits) {
  unsigned reg = 0;
  for (unsigned i = 0; i < bits.size(); ++i)
    if (value >> i & 1)
      reg |= 1u << bits[i];
  return reg;
}

/// Calls `visit` with the registers of each access in a round, in the order of
/// their addresses.
static void
forEachAccess(const LinearLayout &layout, const ScratchSide &side,
              unsigned round,
              llvm::function_ref<void(llvm::ArrayRef<unsigned>)> visit) {
  unsigned inVector = scatter(~0u, side.vectorBits);
  unsigned inRounds = scatter(~0u, side.roundBits);
  REQUIRE((inVector & inRounds) == 0);
  for (unsigned reg = 0; reg < layout.size(InDim::Register); ++reg) {
    if ((reg & inVector) != 0 ||
        (reg & inRounds) != scatter(round, side.roundBits))
      continue;
    llvm::SmallVector<unsigned> registers;
    for (unsigned i = 0; i < 1u << side.vectorBits.size(); ++i)
      registers.push_back(reg | scatter(i, side.vectorBits));
    visit(registers);
  }
}

static void checkSide(const LinearLayout &layout, const ScratchSide &side,
                      const ScratchLayout &scratch, unsigned round,
                      std::map<uint64_t, uint64_t> &memory, bool storing) {
  unsigned elementBytes = scratch.layout.elementBytes();
  forEachAccess(layout, side, round, [&](llvm::ArrayRef<unsigned> registers) {
    for (unsigned warp = 0; warp < layout.size(InDim::Warp); ++warp) {
      llvm::SmallVector<uint64_t> addresses;
      for (unsigned lane = 0; lane < 32; ++lane) {
        uint64_t begin = 0;
        for (unsigned i = 0; i < registers.size(); ++i) {
          uint64_t element = elementAt(layout, {registers[i], lane, warp});
          uint64_t address = scratch.layout.offsetFlat(element);
          if (i == 0)
            addresses.push_back(begin = address);
          REQUIRE(begin % scratch.vectorBytes == 0);
          REQUIRE(address == begin + i * elementBytes);
          REQUIRE(address + elementBytes <= scratch.sizeBytes());
          if (storing) {
            auto [entry, isNew] = memory.insert({address, element});
            REQUIRE(entry->second == element);
          } else {
            REQUIRE(memory.count(address) == 1);
            REQUIRE(memory[address] == element);
          }
        }
      }
      BankAccess access = simulateBanks(addresses, scratch.vectorBytes);
      REQUIRE(access.degree == 1);
      REQUIRE(access.degree == side.access.degree);
      REQUIRE(access.wavefronts == side.access.wavefronts);
    }
  });
}

static ScratchLayout checkScratch(const LinearLayout &from,
                                  const LinearLayout &to, unsigned elementBytes,
                                  uint64_t maxBytes = UINT64_MAX) {
  INFO(from.str() << " to " << to.str() << ", " << elementBytes << " bytes");
  ScratchLayout scratch = optimalScratch(from, to, elementBytes, maxBytes);
  CHECK(scratch.vectorBytes == elementBytes << scratch.store.vectorBits.size());
  CHECK(scratch.vectorBytes <= 16);
  CHECK(scratch.load.vectorBits.size() == scratch.store.vectorBits.size());
  CHECK(scratch.load.roundBits.size() == scratch.store.roundBits.size());
  CHECK(scratch.sizeBytes() * scratch.numRounds() ==
        static_cast<uint64_t>(from.numElements()) * elementBytes);
  for (unsigned round = 0; round < scratch.numRounds(); ++round) {
    std::map<uint64_t, uint64_t> memory;
    checkSide(from, scratch.store, scratch, round, memory, /*storing=*/true);
    checkSide(to, scratch.load, scratch, round, memory, /*storing=*/false);
  }
  return scratch;
}

TEST_CASE("random exchanges arrive without conflicts") {
  std::mt19937 random(1);
  std::map<unsigned, unsigned> widths;
  for (int round = 0; round < 300; ++round) {
    llvm::SmallVector<int64_t> shape = randomShape(random, 10);
    LinearLayout from = randomSurjectiveLayout(random, shape, round % 3);
    LinearLayout to = randomSurjectiveLayout(random, shape, round % 3);
    ScratchLayout scratch = checkScratch(from, to, 1u << random() % 5);
    ++widths[scratch.store.vectorBits.size()];
  }
  CHECK(widths[0] > 50);
  CHECK(widths[1] > 20);
  CHECK(widths[2] > 2);
}

TEST_CASE("exchanges in rounds") {
  std::mt19937 random(2);
  unsigned several = 0;
  for (int round = 0; round < 100; ++round) {
    llvm::SmallVector<int64_t> shape = randomShape(random, 10);
    LinearLayout from = randomSurjectiveLayout(random, shape, 1);
    LinearLayout to = randomSurjectiveLayout(random, shape, 1);
    ScratchLayout scratch = checkScratch(from, to, 4, 512);
    several += scratch.numRounds() > 1;
  }
  CHECK(several > 10);
}

TEST_CASE("an accumulator to rows") {
  LinearLayout c = LinearLayout::mmaAccumulator({128, 128}, 4, 2);
  LinearLayout rows =
      LinearLayout::blocked({128, 128}, {1, 4}, {1, 32}, {8, 1}, {1, 0});
  // What threads have in common are pairs of columns, in rows that are eight
  // apart: together an access.
  ScratchLayout scratch = checkScratch(c, rows, 4);
  CHECK(scratch.vectorBytes == 16);
  CHECK(scratch.numRounds() == 1);
  CHECK(scratch.sizeBytes() == 64 * 1024);
  CHECK(scratch.store.access.wavefronts == 4);
  // Further rows that are in registers of both may take turns.
  scratch = checkScratch(c, rows, 4, 16 * 1024);
  CHECK(scratch.numRounds() == 4);
  CHECK(scratch.sizeBytes() == 16 * 1024);
}

TEST_CASE("a transposition") {
  LinearLayout rows =
      LinearLayout::blocked({64, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  LinearLayout cols =
      LinearLayout::blocked({64, 64}, {8, 1}, {8, 4}, {1, 4}, {0, 1});
  CHECK(checkScratch(rows, cols, 2).vectorBytes == 2);
  CHECK(checkScratch(rows, cols, 4).vectorBytes == 4);
}

TEST_CASE("equal layouts move as much at a time as fits") {
  LinearLayout rows =
      LinearLayout::blocked({64, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  CHECK(checkScratch(rows, rows, 1).vectorBytes == 16);
  CHECK(checkScratch(rows, rows, 2).vectorBytes == 16);
  CHECK(checkScratch(rows, rows, 4).vectorBytes == 16);
  CHECK(checkScratch(rows, rows, 16).vectorBytes == 16);
}
