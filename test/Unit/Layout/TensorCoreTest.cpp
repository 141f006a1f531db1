//===- TensorCoreTest.cpp - What the matrix instructions accept -*- C++ -*-===//
//
// Accepted combinations are carried out as the PTX ISA describes the
// instructions, on memory that holds the numbers of its elements; others are
// refused.
//
//===----------------------------------------------------------------------===//

#include "lib/Layout/TensorCore.h"
#include "test/Unit/Layout/RandomLayouts.h"
#include "test/Unit/Layout/SimulatedBanks.h"

#include <catch2/catch.hpp>

#include <map>

using namespace tilec::layout;
using namespace tilec::test;

//===--- ldmatrix --------------------------------------------------------===//

/// Fills a fragment by ldmatrix and compares every register.
static void checkLdmatrix(const LinearLayout &layout,
                          const SharedLayout &shared, bool transposed) {
  INFO(layout.str());
  std::optional<MatrixAccess> access = canLdmatrix(layout, shared);
  REQUIRE(access);
  CHECK(access->transposed == transposed);
  unsigned elementBytes = shared.elementBytes();
  CHECK(access->elementsPerWord == 4 / elementBytes);
  CHECK(access->words * access->elementsPerWord ==
        layout.size(InDim::Register));
  // Memory: the element at each offset.
  std::map<uint64_t, llvm::SmallVector<int64_t>> memory;
  for (int64_t row = 0; row < shared.shape()[0]; ++row)
    for (int64_t col = 0; col < shared.shape()[1]; ++col)
      memory[shared.offset({row, col})] = {row, col};

  unsigned count = access->wordsPerInstruction();
  for (unsigned warp = 0; warp < layout.size(InDim::Warp); ++warp)
    for (unsigned first = 0; first < access->words; first += count) {
      std::vector<uint64_t> rows;
      for (unsigned lane = 0; lane < 32; ++lane) {
        HardwareIndex index = access->row(first, lane);
        index.warp = warp;
        rows.push_back(shared.offset(applySlowly(layout, index)));
        REQUIRE(rows.back() % 16 == 0);
      }
      for (unsigned matrix = 0; matrix < count; ++matrix) {
        CHECK(simulateBanks(llvm::ArrayRef(rows).slice(8 * matrix, 8), 16)
                  .degree == 1);
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned i = 0; i < access->elementsPerWord; ++i) {
            // Row and byte of the matrix that the instruction delivers.
            unsigned row = transposed ? lane % 4 * 2 + i : lane / 4;
            unsigned byte =
                transposed ? lane / 4 * 2 : lane % 4 * 4 + i * elementBytes;
            unsigned reg = (first + matrix) * access->elementsPerWord + i;
            REQUIRE(memory.at(rows[8 * matrix + row] + byte) ==
                    applySlowly(layout, {reg, lane, warp}));
          }
      }
    }
}

TEST_CASE("ldmatrix fills operands") {
  // k is contiguous in both.
  checkLdmatrix(LinearLayout::mmaOperandA({64, 64}, 2, 2, 2),
                SwizzledTile::optimal(64, 64, 2).linear(), false);
  checkLdmatrix(LinearLayout::mmaOperandA({64, 32}, 2, 4, 1),
                SwizzledTile::optimal(64, 32, 2).linear(), false);
  checkLdmatrix(LinearLayout::mmaOperandA({32, 64}, 4, 2, 1),
                SwizzledTile::optimal(32, 64, 1).linear(), false);
  checkLdmatrix(LinearLayout::mmaOperandA({32, 32}, 1, 2, 1),
                SwizzledTile::optimal(32, 32, 4).linear(), false);
  checkLdmatrix(LinearLayout::wgmmaOperandA({128, 64}, 2, 2),
                boxedTile(128, 64, 2, SwizzleMode::Bytes128), false);
  checkLdmatrix(LinearLayout::mmaAccumulator({32, 64}, 2, 1),
                SwizzledTile::optimal(32, 64, 2).linear(), false);
  // n is contiguous: the right operand is transposed on the way.
  checkLdmatrix(LinearLayout::mmaOperandB({64, 64}, 2, 2, 2),
                SwizzledTile::optimal(64, 64, 2).linear(), true);
  checkLdmatrix(LinearLayout::mmaOperandB({16, 8}, 2, 1, 1),
                SwizzledTile::optimal(16, 8, 2).linear(), true);
}

TEST_CASE("ldmatrix of a transposed tile") {
  // B as N x K, read as K x N.
  SharedLayout shared = SwizzledTile::optimal(64, 32, 2).linear();
  LinearLayout b = LinearLayout::mmaOperandB({32, 64}, 2, 1, 4);
  checkLdmatrix(b.transpose({1, 0}), shared, false);
  LinearLayout a = LinearLayout::mmaOperandA({32, 64}, 2, 2, 1);
  checkLdmatrix(a.transpose({1, 0}), shared, true);
}

TEST_CASE("what ldmatrix cannot do") {
  LinearLayout b8 = LinearLayout::mmaOperandB({64, 64}, 4, 1, 1);
  // .trans moves 16-bit elements only.
  CHECK_FALSE(canLdmatrix(b8, SwizzledTile::optimal(64, 64, 1).linear()));
  LinearLayout b32 = LinearLayout::mmaOperandB({64, 64}, 1, 1, 1);
  CHECK_FALSE(canLdmatrix(b32, SwizzledTile::optimal(64, 64, 4).linear()));
  LinearLayout a = LinearLayout::mmaOperandA({64, 64}, 2, 1, 1);
  // Rows of 16 bytes must stay together.
  CHECK_FALSE(canLdmatrix(a, SwizzledTile{64, 64, 2, 8, 1, 8}.linear()));
  // The elements of another width.
  CHECK_FALSE(canLdmatrix(a, SwizzledTile::optimal(64, 64, 4).linear()));
  CHECK_FALSE(canLdmatrix(a, SwizzledTile::optimal(64, 64, 1).linear()));
  CHECK_FALSE(canLdmatrix(a, SwizzledTile::optimal(64, 64, 8).linear()));
  LinearLayout rows =
      LinearLayout::blocked({64, 64}, {1, 8}, {4, 8}, {1, 1}, {1, 0});
  CHECK_FALSE(canLdmatrix(rows, SwizzledTile::optimal(64, 64, 2).linear()));
  // Too few registers for a word.
  LinearLayout thin({8, 8}, {}, {{0, 1}, {0, 2}, {0, 4}, {1, 0}, {2, 0}}, {});
  CHECK_FALSE(canLdmatrix(thin, SwizzledTile::optimal(8, 8, 1).linear()));
}

TEST_CASE("stmatrix writes accumulators") {
  LinearLayout c = LinearLayout::wgmmaAccumulator({128, 64}, 2);
  SharedLayout tile = boxedTile(128, 64, 2, SwizzleMode::Bytes128);
  std::optional<MatrixAccess> access = canStmatrix(c, tile);
  REQUIRE(access);
  CHECK_FALSE(access->transposed);
  CHECK(access->words == 16);
  access = canStmatrix(c.transpose({1, 0}),
                       SwizzledTile::optimal(64, 128, 2).linear());
  REQUIRE(access);
  CHECK(access->transposed);
  // 4-byte elements of an accumulator are in pairs.
  CHECK_FALSE(canStmatrix(c, SwizzledTile::optimal(128, 64, 4).linear()));
}

TEST_CASE("stmatrix refuses lanes that hold copies") {
  // Lanes 16 to 31 hold the rows of lanes 0 to 15.
  LinearLayout copies({8, 8}, {{0, 1}},
                      {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {0, 0}}, {});
  SharedLayout tile = SwizzledTile::optimal(8, 8, 2).linear();
  CHECK(canLdmatrix(copies, tile));
  CHECK_FALSE(canStmatrix(copies, tile));
}

//===--- mma -------------------------------------------------------------===//

TEST_CASE("products that mma computes") {
  for (unsigned warpsM : {1u, 2u, 4u})
    for (unsigned warpsN : {1u, 2u})
      for (unsigned bits : {8u, 16u, 32u}) {
        unsigned kWidth = 32 / bits;
        std::optional<MmaTiling> tiling = canMma(
            LinearLayout::mmaAccumulator({64, 32}, warpsM, warpsN),
            LinearLayout::mmaOperandA({64, 64}, kWidth, warpsM, warpsN),
            LinearLayout::mmaOperandB({64, 32}, kWidth, warpsM, warpsN), bits);
        REQUIRE(tiling);
        CHECK(tiling->warpsM == warpsM);
        CHECK(tiling->warpsN == warpsN);
        CHECK(tiling->instructionK == 256 / bits);
        CHECK(tiling->countM == 64 / 16 / warpsM);
        CHECK(tiling->countN == 32 / 8 / warpsN);
        CHECK(tiling->countK == 64 * bits / 256);
      }
}

TEST_CASE("products that mma does not compute") {
  LinearLayout c = LinearLayout::mmaAccumulator({64, 32}, 2, 2);
  LinearLayout a = LinearLayout::mmaOperandA({64, 64}, 2, 2, 2);
  LinearLayout b = LinearLayout::mmaOperandB({64, 32}, 2, 2, 2);
  CHECK(canMma(c, a, b, 16));
  CHECK_FALSE(canMma(c, a, b, 8));
  CHECK_FALSE(canMma(c, a, b, 4));
  CHECK_FALSE(canMma(c, a, b, 64));
  CHECK_FALSE(canMma(c, b, a, 16));
  CHECK_FALSE(canMma(c, LinearLayout::mmaOperandA({64, 64}, 2, 4, 1), b, 16));
  CHECK_FALSE(canMma(c, a, LinearLayout::mmaOperandB({64, 32}, 2, 4, 1), 16));
  CHECK_FALSE(canMma(LinearLayout::mmaAccumulator({64, 32}, 4, 1), a, b, 16));
  CHECK_FALSE(canMma(c, a, LinearLayout::mmaOperandB({32, 32}, 2, 2, 2), 16));
  CHECK_FALSE(canMma(c.slice(0), a, b, 16));
  // Less than an instruction.
  CHECK_FALSE(canMma(LinearLayout::mmaAccumulator({8, 8}, 1, 1),
                     LinearLayout::mmaOperandA({8, 16}, 2, 1, 1),
                     LinearLayout::mmaOperandB({16, 8}, 2, 1, 1), 16));
  CHECK_FALSE(canMma(LinearLayout::mmaAccumulator({16, 8}, 1, 1),
                     LinearLayout::mmaOperandA({16, 8}, 2, 1, 1),
                     LinearLayout::mmaOperandB({8, 8}, 2, 1, 1), 16));
}

TEST_CASE("accumulators of wgmma") {
  using Groups = std::pair<unsigned, unsigned>;
  CHECK(wgmmaWarpgroups(LinearLayout::wgmmaAccumulator({128, 64}, 2)) ==
        Groups(2, 1));
  CHECK(wgmmaWarpgroups(LinearLayout::wgmmaAccumulator({128, 64}, 1, 2)) ==
        Groups(1, 2));
  CHECK_FALSE(wgmmaWarpgroups(LinearLayout::mmaAccumulator({128, 64}, 2, 4)));
  CHECK_FALSE(wgmmaWarpgroups(LinearLayout::mmaAccumulator({128, 64}, 2, 1)));
  CHECK_FALSE(wgmmaWarpgroups(LinearLayout::wgmmaAccumulator({32, 64}, 1)));
}

//===--- wgmma -----------------------------------------------------------===//

/// The offset at which wgmma finds element (mn, k) of one instruction, from the
/// start address, as the PTX ISA describes its canonical layouts.
static uint64_t hardwareOffset(const WgmmaOperand &operand, uint64_t start,
                               int64_t mn, int64_t k, unsigned elementBytes) {
  uint64_t span = spanBytes(operand.mode);
  int64_t perSpan = span / elementBytes;
  uint64_t lead = operand.leadingBytes, stride = operand.strideBytes;
  uint64_t plain = start;
  if (!operand.mnMajor) {
    plain += mn % 8 * span + mn / 8 * stride;
    // Beyond 16 bytes of k without a swizzle.
    plain += operand.mode == SwizzleMode::None
                 ? k / perSpan * lead + k % perSpan * elementBytes
                 : k * elementBytes;
  } else {
    plain += mn % perSpan * elementBytes + k % 8 * span;
    if (operand.mode == SwizzleMode::None)
      std::swap(lead, stride);
    plain += mn / perSpan * lead + k / 8 * stride;
  }
  return swizzleAddress(operand.mode, plain);
}

static WgmmaOperand checkWgmma(const SharedLayout &shared, unsigned mnAxis,
                               unsigned perInstruction) {
  std::optional<WgmmaOperand> operand =
      canWgmma(shared, mnAxis, perInstruction);
  REQUIRE(operand);
  unsigned elementBytes = shared.elementBytes();
  int64_t perK = 32 / elementBytes;
  auto offset = [&](int64_t mn, int64_t k) {
    return mnAxis == 0 ? shared.offset({mn, k}) : shared.offset({k, mn});
  };
  for (int64_t mn = 0; mn < shared.shape()[mnAxis]; ++mn)
    for (int64_t k = 0; k < shared.shape()[1 - mnAxis]; ++k) {
      int64_t inMN = mn % perInstruction, inK = k % perK;
      uint64_t start = offset(mn - inMN, k - inK);
      REQUIRE(offset(mn, k) ==
              hardwareOffset(*operand, start, inMN, inK, elementBytes));
    }
  return *operand;
}

TEST_CASE("operands of wgmma with contiguous k") {
  for (SwizzleMode mode :
       {SwizzleMode::Bytes32, SwizzleMode::Bytes64, SwizzleMode::Bytes128})
    for (unsigned elementBytes : {1u, 2u, 4u})
      for (int64_t rowBytes : {32, 64, 128, 256}) {
        if (rowBytes < spanBytes(mode))
          continue;
        SharedLayout shared =
            boxedTile(128, rowBytes / elementBytes, elementBytes, mode);
        for (unsigned perInstruction : {64u, 8u, 128u, 96u}) {
          WgmmaOperand operand = checkWgmma(shared, 0, perInstruction);
          CHECK(operand.mode == mode);
          CHECK_FALSE(operand.mnMajor);
          CHECK(operand.strideBytes == 8 * spanBytes(mode));
        }
      }
}

TEST_CASE("operands of wgmma with contiguous m or n") {
  for (SwizzleMode mode :
       {SwizzleMode::Bytes32, SwizzleMode::Bytes64, SwizzleMode::Bytes128}) {
    SharedLayout shared = boxedTile(64, 128, 2, mode);
    for (unsigned perInstruction : {64u, 128u}) {
      WgmmaOperand operand = checkWgmma(shared, 1, perInstruction);
      CHECK(operand.mode == mode);
      CHECK(operand.mnMajor);
      CHECK(operand.strideBytes == 8 * spanBytes(mode));
      // Boxes of 64 rows, one after the other along n.
      if (spanBytes(mode) < 2 * perInstruction)
        CHECK(operand.leadingBytes == 64 * spanBytes(mode));
    }
  }
}

TEST_CASE("wgmma may use a part of each row") {
  // 32 bytes of k in rows of 64.
  llvm::SmallVector<uint64_t> offsets = {2, 4, 8, 16};
  for (uint64_t row = 1; row < 64; row *= 2)
    offsets.push_back(swizzleAddress(SwizzleMode::Bytes64, row * 64));
  WgmmaOperand operand = checkWgmma(SharedLayout({64, 16}, 2, offsets), 0, 64);
  CHECK(operand.mode == SwizzleMode::Bytes64);
  CHECK(operand.strideBytes == 512);
}

TEST_CASE("operands of wgmma without a swizzle") {
  // Core matrices of eight rows of 16 bytes, one after the other: along k
  // first, then along m or n.
  llvm::SmallVector<uint64_t> offsets = {2,  4,  8,   128,  256, 16,
                                         32, 64, 512, 1024, 2048};
  SharedLayout shared({64, 32}, 2, offsets);
  WgmmaOperand operand = checkWgmma(shared, 0, 64);
  CHECK(operand.mode == SwizzleMode::None);
  CHECK_FALSE(operand.mnMajor);
  CHECK(operand.leadingBytes == 128);
  CHECK(operand.strideBytes == 512);
  // The same as an operand of 32 k by 64 n, n contiguous in 16 bytes.
  llvm::SmallVector<uint64_t> other = {2,  4,  8,  128,  256, 512,
                                       16, 32, 64, 1024, 2048};
  operand = checkWgmma(SharedLayout({32, 64}, 2, other), 1, 64);
  CHECK(operand.mode == SwizzleMode::None);
  CHECK(operand.mnMajor);
  CHECK(operand.strideBytes == 128);
  CHECK(operand.leadingBytes == 1024);
}

TEST_CASE("what wgmma cannot read") {
  // m or n contiguous, but not 16 bits wide.
  CHECK_FALSE(canWgmma(boxedTile(64, 128, 1, SwizzleMode::Bytes128), 1, 64));
  CHECK_FALSE(canWgmma(boxedTile(64, 64, 4, SwizzleMode::Bytes128), 1, 64));
  // Plain rows of more than 16 bytes.
  CHECK_FALSE(canWgmma(SwizzledTile{64, 64, 2}.linear(), 0, 64));
  // A swizzle that is not the hardware's.
  CHECK_FALSE(canWgmma(SwizzledTile{64, 64, 2, 16, 2, 4}.linear(), 0, 64));
  CHECK_FALSE(canWgmma(SwizzledTile::optimal(64, 128, 2).linear(), 0, 64));
  // Less than one instruction.
  CHECK_FALSE(canWgmma(boxedTile(32, 64, 2, SwizzleMode::Bytes128), 0, 64));
  CHECK_FALSE(canWgmma(SwizzledTile{64, 8, 2}.linear(), 0, 64));
  CHECK_FALSE(canWgmma(boxedTile(64, 16, 8, SwizzleMode::Bytes128), 0, 64));
  // Elements on top of each other.
  llvm::SmallVector<uint64_t> bases(
      boxedTile(64, 64, 2, SwizzleMode::Bytes128).bases());
  bases.back() = 0;
  CHECK_FALSE(canWgmma(SharedLayout({64, 64}, 2, bases), 0, 64));
  CHECK_FALSE(canWgmma(SharedLayout({64, 64}, 2, bases), 0, 32));
  bases.back() = bases[bases.size() - 2];
  CHECK_FALSE(canWgmma(SharedLayout({64, 64}, 2, bases), 0, 32));
  bases.back() = 3 * bases[bases.size() - 2];
  CHECK_FALSE(canWgmma(SharedLayout({64, 64}, 2, bases), 0, 32));
  // Rows in another phase of the swizzle.
  bases.back() = 8192 + 16;
  CHECK_FALSE(canWgmma(SharedLayout({64, 64}, 2, bases), 0, 32));
  // The same are fine where they ought to be, or further away.
  bases.back() = 8192;
  CHECK(canWgmma(SharedLayout({64, 64}, 2, bases), 0, 32));
  CHECK_FALSE(canWgmma(SharedLayout({64, 64}, 2, bases), 0, 64));
}

TEST_CASE("descriptors of wgmma") {
  WgmmaOperand operand{SwizzleMode::Bytes128, false, 16, 1024};
  CHECK(operand.descriptor(0x1000) == 0x4000'0040'0001'0100);
  operand = {SwizzleMode::Bytes64, true, 8192, 512};
  CHECK(operand.descriptor(0) == 0x8000'0020'0200'0000);
  operand = {SwizzleMode::Bytes32, false, 16, 256};
  CHECK(operand.descriptor(0x3FFF0) == 0xC000'0010'0001'3FFF);
  operand = {SwizzleMode::None, false, 128, 256};
  CHECK(operand.descriptor(16) == 0x0000'0010'0008'0001);
}
