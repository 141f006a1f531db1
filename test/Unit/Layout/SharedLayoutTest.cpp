//===- SharedLayoutTest.cpp - Tiles in shared memory -----------*- C++ -*-===//
//
// Offsets against their formulas for all elements, and bank conflicts by a
// simulation of the banks.
//
//===----------------------------------------------------------------------===//

#include "lib/Layout/SharedLayout.h"
#include "test/Unit/Layout/RandomLayouts.h"
#include "test/Unit/Layout/SimulatedBanks.h"

#include <catch2/catch.hpp>

#include <set>

using namespace tilec::layout;
using namespace tilec::test;

static const SwizzleMode allModes[] = {SwizzleMode::None, SwizzleMode::Bytes32,
                                       SwizzleMode::Bytes64,
                                       SwizzleMode::Bytes128};

//===--- Offsets ---------------------------------------------------------===//

TEST_CASE("a swizzled tile moves chunks within rows") {
  SwizzledTile tile{16, 64, 2, 16, 1, 8};
  for (int64_t row = 0; row < 16; ++row)
    for (int64_t col = 0; col < 64; ++col)
      REQUIRE(tile.offset(row, col) ==
              row * 128 + ((col / 8) ^ (row & 7)) * 16 + col % 8 * 2);
  CHECK(tile.sizeBytes() == 2048);
}

TEST_CASE("a swizzled tile is a linear map") {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    auto power = [&](unsigned limit) { return 1u << random() % (limit + 1); };
    SwizzledTile tile{power(6), power(7), power(3)};
    tile.vecBytes = std::max(tile.elementBytes, power(4));
    int64_t chunks = tile.rowBytes() / tile.vecBytes;
    tile.perPhase = power(3);
    tile.maxPhase =
        std::clamp<int64_t>(power(3), 1, std::max<int64_t>(chunks, 1));
    SharedLayout linear = tile.linear();
    std::set<uint64_t> seen;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t col = 0; col < tile.cols; ++col) {
        uint64_t offset = tile.offset(row, col);
        REQUIRE(linear.offset({row, col}) == offset);
        REQUIRE(linear.offsetFlat(row * tile.cols + col) == offset);
        REQUIRE(seen.insert(offset).second);
      }
    CHECK(linear.sizeBytes() == static_cast<uint64_t>(tile.sizeBytes()));
    CHECK(*seen.rbegin() + tile.elementBytes == linear.sizeBytes());
  }
}

TEST_CASE("rows of a tile may be several axes") {
  SwizzledTile tile = SwizzledTile::optimal(32, 64, 2);
  SharedLayout linear = tile.linear({2, 16, 64});
  for (int64_t batch = 0; batch < 2; ++batch)
    for (int64_t row = 0; row < 16; ++row)
      for (int64_t col = 0; col < 64; ++col)
        REQUIRE(linear.offset({batch, row, col}) ==
                static_cast<uint64_t>(tile.offset(batch * 16 + row, col)));
}

TEST_CASE("the size of any linear map") {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    llvm::SmallVector<uint64_t> bases;
    for (int bit = 0; bit < 5; ++bit)
      bases.push_back(random() % 64 * 2);
    SharedLayout layout({32}, 2, bases);
    uint64_t last = 0;
    for (int64_t element = 0; element < 32; ++element)
      last = std::max(last, layout.offset({element}));
    CHECK(layout.sizeBytes() == last + 2);
  }
}

TEST_CASE("the hardware's swizzles") {
  for (uint64_t address = 0; address < 4096; ++address) {
    uint64_t chunk = address / 16 % 8, byte = address % 16;
    auto swizzled = [&](uint64_t chunks) {
      return address / 128 * 128 + chunks * 16 + byte;
    };
    CHECK(swizzleAddress(SwizzleMode::None, address) == address);
    uint64_t line = address / 128;
    CHECK(swizzleAddress(SwizzleMode::Bytes128, address) ==
          swizzled(chunk ^ line % 8));
    CHECK(swizzleAddress(SwizzleMode::Bytes64, address) ==
          swizzled(chunk ^ line % 4));
    CHECK(swizzleAddress(SwizzleMode::Bytes32, address) ==
          swizzled(chunk ^ line % 2));
    for (SwizzleMode mode : allModes)
      CHECK(swizzleAddress(mode, swizzleAddress(mode, address)) == address);
  }
}

TEST_CASE("boxes of a tensor map") {
  for (SwizzleMode mode : allModes)
    for (int64_t cols : {16, 64, 128}) {
      if (cols * 2 < spanBytes(mode))
        continue;
      int64_t rows = 32;
      int64_t span = mode == SwizzleMode::None ? cols * 2 : spanBytes(mode);
      SharedLayout tile = boxedTile(rows, cols, 2, mode);
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t col = 0; col < cols; ++col) {
          int64_t box = col * 2 / span;
          uint64_t plain = (box * rows + row) * span + col * 2 % span;
          REQUIRE(tile.offset({row, col}) == swizzleAddress(mode, plain));
        }
    }
}

TEST_CASE("the optimal tile of one span is the hardware's") {
  for (SwizzleMode mode :
       {SwizzleMode::Bytes32, SwizzleMode::Bytes64, SwizzleMode::Bytes128}) {
    int64_t cols = spanBytes(mode) / 2;
    CHECK(SwizzledTile::optimal(64, cols, 2).linear().bases() ==
          boxedTile(64, cols, 2, mode).bases());
  }
}

//===--- Bank conflicts --------------------------------------------------===//

TEST_CASE("known bank conflicts") {
  auto strided = [](uint64_t stride) {
    llvm::SmallVector<uint64_t> addresses;
    for (uint64_t lane = 0; lane < 32; ++lane)
      addresses.push_back(lane * stride);
    return addresses;
  };
  CHECK(bankAccess(strided(4), 4).degree == 1);
  CHECK(bankAccess(strided(4), 4).wavefronts == 1);
  CHECK(bankAccess(strided(8), 4).degree == 2);
  CHECK(bankAccess(strided(128), 4).degree == 32);
  CHECK(bankAccess(strided(132), 4).degree == 1);
  CHECK(bankAccess(strided(0), 4).degree == 1);
  CHECK(bankAccess(strided(2), 2).degree == 1);
  CHECK(bankAccess(strided(8), 8).degree == 1);
  CHECK(bankAccess(strided(8), 8).wavefronts == 2);
  CHECK(bankAccess(strided(16), 16).degree == 1);
  CHECK(bankAccess(strided(16), 16).wavefronts == 4);
  CHECK(bankAccess(strided(128), 16).degree == 8);
  CHECK(bankAccess(strided(144), 16).degree == 1);
}

TEST_CASE("bank conflicts of random addresses") {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    unsigned bytes = 1u << random() % 5;
    llvm::SmallVector<uint64_t> addresses;
    for (int lane = 0; lane < 32 - round % 3; ++lane)
      addresses.push_back(random() % 64 * bytes);
    BankAccess access = bankAccess(addresses, bytes);
    BankAccess expected = simulateBanks(addresses, bytes);
    CHECK(access.degree == expected.degree);
    CHECK(access.wavefronts == expected.wavefronts);
  }
}

TEST_CASE("the optimal tile is free of conflicts") {
  for (unsigned elementBytes : {1u, 2u, 4u})
    for (int64_t rowBytes : {16, 32, 64, 128, 256, 1024}) {
      SwizzledTile tile =
          SwizzledTile::optimal(64, rowBytes / elementBytes, elementBytes);
      CAPTURE(elementBytes, rowBytes);
      int64_t perChunk = 16 / elementBytes;
      // Eight rows at one column of chunks, as ldmatrix reads a matrix.
      for (int64_t row = 0; row < 64; row += 8)
        for (int64_t col = 0; col < tile.cols; col += perChunk) {
          llvm::SmallVector<uint64_t> matrix;
          for (int64_t i = 0; i < 8; ++i)
            matrix.push_back(tile.offset(row + i, col));
          REQUIRE(simulateBanks(matrix, 16).degree == 1);
        }
      // Eight successive chunks, as copies of rows write them.
      for (int64_t chunk = 0; chunk < 64 * rowBytes / 16; chunk += 8) {
        llvm::SmallVector<uint64_t> copy;
        for (int64_t i = 0; i < 8; ++i)
          copy.push_back(tile.offset((chunk + i) * 16 / rowBytes,
                                     (chunk + i) * perChunk % tile.cols));
        REQUIRE(simulateBanks(copy, 16).degree == 1);
      }
    }
}

TEST_CASE("a plain tile has the conflicts that swizzles remove") {
  LinearLayout columns =
      LinearLayout::blocked({32, 64}, {1, 8}, {32, 1}, {1, 1}, {1, 0});
  SwizzledTile plain{32, 64, 2};
  CHECK(vectorBytes(columns, plain.linear()) == 16);
  CHECK(bankAccess(columns, plain.linear(), 16).degree == 8);
  SharedLayout swizzled = SwizzledTile::optimal(32, 64, 2).linear();
  CHECK(vectorBytes(columns, swizzled) == 16);
  CHECK(bankAccess(columns, swizzled, 16).degree == 1);
  CHECK(vectorBytes(columns, swizzled, 4) == 4);
}

TEST_CASE("vectors in shared memory by enumeration") {
  std::mt19937 random(4);
  unsigned wide = 0;
  for (int round = 0; round < 300; ++round) {
    LinearLayout layout = randomLayout(random, {16, 16});
    SwizzledTile tile{16, 16, 2, 4, 1, 2u << random() % 3};
    if (round % 3 == 0)
      tile.maxPhase = 1;
    SharedLayout shared = tile.linear();
    INFO(layout.str());
    unsigned expected = 2;
    for (unsigned bytes = 4; bytes <= 16; bytes *= 2) {
      unsigned count = bytes / 2;
      bool fits = count <= layout.size(InDim::Register);
      forEachIndex(layout, [&](HardwareIndex index) {
        HardwareIndex first = index;
        first.reg -= index.reg % count;
        uint64_t begin = shared.offset(applySlowly(layout, first));
        fits = fits && begin % bytes == 0 &&
               shared.offset(applySlowly(layout, index)) ==
                   begin + index.reg % count * 2;
      });
      if (fits)
        expected = bytes;
    }
    CHECK(vectorBytes(layout, shared) == expected);
    wide += expected > 2;
  }
  CHECK(wide > 20);
}

TEST_CASE("all registers and warps of an access cost the same") {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    LinearLayout layout = randomLayout(random, {32, 64});
    SharedLayout shared = SwizzledTile::optimal(32, 64, 2).linear();
    BankAccess expected = bankAccess(layout, shared, 2);
    for (unsigned warp = 0; warp < layout.size(InDim::Warp); ++warp)
      for (unsigned reg = 0; reg < layout.size(InDim::Register); ++reg) {
        llvm::SmallVector<uint64_t> addresses;
        for (unsigned lane = 0; lane < 32; ++lane)
          addresses.push_back(
              shared.offset(applySlowly(layout, {reg, lane, warp})));
        CHECK(simulateBanks(addresses, 2).wavefronts == expected.wavefronts);
      }
  }
}
