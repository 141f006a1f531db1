//===- FragmentsTest.cpp - Layouts of blocks and tensor cores --*- C++ -*-===//
//
// Every constructor against the closed formula of what it stands for, for all
// registers, lanes and warps. The formulas of fragments are those of the PTX
// ISA's tables.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/Layout/RandomLayouts.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

using namespace tilec::layout;
using namespace tilec::test;

namespace {

struct RowCol {
  int64_t row, col;
};

using Fragment = llvm::function_ref<RowCol(unsigned i, unsigned lane)>;

} // namespace

static void checkEqual(const LinearLayout &layout, HardwareIndex index,
                       int64_t row, int64_t col) {
  llvm::SmallVector<int64_t> found =
      layout.apply(index.reg, index.lane, index.warp);
  if (found[0] != row || found[1] != col)
    FAIL("register " << index.reg << " of lane " << index.lane << ", warp "
                     << index.warp << ": expected (" << row << "," << col
                     << "), found (" << found[0] << "," << found[1] << ") in "
                     << layout.str());
}

static void checkFragment(const LinearLayout &layout, unsigned registers,
                          Fragment fragment) {
  REQUIRE(layout.size(InDim::Register) == registers);
  REQUIRE(layout.size(InDim::Lane) == 32);
  forEachIndex(layout, [&](HardwareIndex index) {
    RowCol place = fragment(index.reg, index.lane);
    checkEqual(layout, index, place.row, place.col);
  });
}

//===--- One instruction -------------------------------------------------===//

static RowCol accumulator(unsigned i, unsigned lane) {
  return {(i < 2 ? 0 : 8) + lane / 4, lane % 4 * 2 + i % 2};
}

static RowCol operandA16(unsigned i, unsigned lane) {
  bool upper = i == 0 || i == 1 || i == 4 || i == 5;
  return {(upper ? 0 : 8) + lane / 4, lane % 4 * 2 + i % 2 + (i < 4 ? 0 : 8)};
}

static RowCol operandB16(unsigned i, unsigned lane) {
  return {lane % 4 * 2 + i % 2 + (i < 2 ? 0 : 8), lane / 4};
}

static RowCol operandA8(unsigned i, unsigned lane) {
  bool upper = i < 4 || (i >= 8 && i < 12);
  return {(upper ? 0 : 8) + lane / 4, lane % 4 * 4 + i % 4 + (i < 8 ? 0 : 16)};
}

static RowCol operandB8(unsigned i, unsigned lane) {
  return {lane % 4 * 4 + i % 4 + (i < 4 ? 0 : 16), lane / 4};
}

static RowCol operandA32(unsigned i, unsigned lane) {
  return {lane / 4 + (i == 1 || i == 3 ? 8 : 0), lane % 4 + (i < 2 ? 0 : 4)};
}

static RowCol operandB32(unsigned i, unsigned lane) {
  return {lane % 4 + (i == 0 ? 0 : 4), lane / 4};
}

TEST_CASE("fragments of one mma instruction") {
  checkFragment(LinearLayout::mmaAccumulator({16, 8}, 1, 1), 4, accumulator);
  checkFragment(LinearLayout::mmaOperandA({16, 16}, 2, 1, 1), 8, operandA16);
  checkFragment(LinearLayout::mmaOperandB({16, 8}, 2, 1, 1), 4, operandB16);
  checkFragment(LinearLayout::mmaOperandA({16, 32}, 4, 1, 1), 16, operandA8);
  checkFragment(LinearLayout::mmaOperandB({32, 8}, 4, 1, 1), 8, operandB8);
  checkFragment(LinearLayout::mmaOperandA({16, 8}, 1, 1, 1), 4, operandA32);
  checkFragment(LinearLayout::mmaOperandB({8, 8}, 1, 1, 1), 2, operandB32);
}

TEST_CASE("a fragment of one instruction holds each element once") {
  for (const LinearLayout &layout :
       {LinearLayout::mmaAccumulator({16, 8}, 1, 1),
        LinearLayout::mmaOperandA({16, 16}, 2, 1, 1),
        LinearLayout::mmaOperandB({32, 8}, 4, 1, 1),
        LinearLayout::wgmmaAccumulator({64, 256}, 1),
        LinearLayout::wgmmaOperandA({64, 16}, 2, 1)}) {
    CHECK(layout.isSurjective());
    CHECK(layout.isInjective());
  }
}

//===--- Many instructions and warps -------------------------------------===//

TEST_CASE("mma over tiles and warps") {
  // Two warps along m with 32 rows each, four along n with 16 columns each.
  LinearLayout c = LinearLayout::mmaAccumulator({64, 64}, 2, 4);
  REQUIRE(c.size(InDim::Register) == 16);
  REQUIRE(c.size(InDim::Warp) == 8);
  forEachIndex(c, [&](HardwareIndex index) {
    RowCol one = accumulator(index.reg % 4, index.lane);
    unsigned n = index.reg / 4 % 2, m = index.reg / 8;
    unsigned warpN = index.warp % 4, warpM = index.warp / 4;
    checkEqual(c, index, one.row + 16 * m + 32 * warpM,
               one.col + 8 * n + 16 * warpN);
  });
  LinearLayout a = LinearLayout::mmaOperandA({64, 32}, 2, 2, 4);
  REQUIRE(a.size(InDim::Register) == 32);
  REQUIRE(a.size(InDim::Warp) == 8);
  forEachIndex(a, [&](HardwareIndex index) {
    RowCol one = operandA16(index.reg % 8, index.lane);
    unsigned k = index.reg / 8 % 2, m = index.reg / 16;
    checkEqual(a, index, one.row + 16 * m + 32 * (index.warp / 4),
               one.col + 16 * k);
  });
  LinearLayout b = LinearLayout::mmaOperandB({32, 64}, 2, 2, 4);
  REQUIRE(b.size(InDim::Register) == 16);
  REQUIRE(b.size(InDim::Warp) == 8);
  forEachIndex(b, [&](HardwareIndex index) {
    RowCol one = operandB16(index.reg % 4, index.lane);
    unsigned k = index.reg / 4 % 2, n = index.reg / 8;
    checkEqual(b, index, one.row + 16 * k,
               one.col + 8 * n + 16 * (index.warp % 4));
  });
}

TEST_CASE("warps that find no rows or columns hold copies") {
  LinearLayout c = LinearLayout::mmaAccumulator({16, 16}, 2, 4);
  REQUIRE(c.size(InDim::Register) == 4);
  REQUIRE(c.size(InDim::Warp) == 8);
  CHECK(c.isSurjective());
  CHECK(c.freeBits(InDim::Warp) == 0b110);
  forEachIndex(c, [&](HardwareIndex index) {
    RowCol one = accumulator(index.reg, index.lane);
    checkEqual(c, index, one.row, one.col + 8 * (index.warp % 2));
  });
}

TEST_CASE("registers outside of a small tensor do not exist") {
  LinearLayout a = LinearLayout::mmaOperandA({16, 8}, 2, 1, 1);
  CHECK(a.size(InDim::Register) == 4);
  CHECK(a.isInjective());
  LinearLayout c = LinearLayout::mmaAccumulator({8, 4}, 1, 1);
  CHECK(c.size(InDim::Register) == 2);
  CHECK(c.freeBits(InDim::Lane) == 0b00010);
}

//===--- wgmma -----------------------------------------------------------===//

TEST_CASE("fragments of wgmma") {
  LinearLayout d = LinearLayout::wgmmaAccumulator({64, 128}, 1);
  REQUIRE(d.size(InDim::Register) == 64);
  REQUIRE(d.size(InDim::Warp) == 4);
  forEachIndex(d, [&](HardwareIndex index) {
    unsigned v = index.reg, l = index.lane;
    checkEqual(d, index, 16 * index.warp + l / 4 + 8 * (v >> 1 & 1),
               8 * (v >> 2) + 2 * (l % 4) + (v & 1));
  });
  LinearLayout a16 = LinearLayout::wgmmaOperandA({64, 16}, 2, 1);
  REQUIRE(a16.size(InDim::Register) == 8);
  forEachIndex(a16, [&](HardwareIndex index) {
    unsigned e = index.reg, reg = e / 2, l = index.lane;
    checkEqual(a16, index, 16 * index.warp + l / 4 + 8 * (reg & 1),
               2 * (l % 4) + (e & 1) + 8 * (reg >> 1));
  });
  LinearLayout a8 = LinearLayout::wgmmaOperandA({64, 32}, 4, 1);
  REQUIRE(a8.size(InDim::Register) == 16);
  forEachIndex(a8, [&](HardwareIndex index) {
    unsigned e = index.reg, reg = e / 4, l = index.lane;
    checkEqual(a8, index, 16 * index.warp + l / 4 + 8 * (reg & 1),
               4 * (l % 4) + (e & 3) + 16 * (reg >> 1));
  });
  LinearLayout a32 = LinearLayout::wgmmaOperandA({64, 8}, 1, 1);
  REQUIRE(a32.size(InDim::Register) == 4);
  forEachIndex(a32, [&](HardwareIndex index) {
    unsigned v = index.reg, l = index.lane;
    checkEqual(a32, index, 16 * index.warp + l / 4 + 8 * (v & 1),
               l % 4 + 4 * (v >> 1));
  });
}

TEST_CASE("wgmma over tiles and warpgroups") {
  // Two warpgroups along m with 128 rows each, two along n with 32 columns.
  LinearLayout d = LinearLayout::wgmmaAccumulator({256, 64}, 2, 2);
  REQUIRE(d.size(InDim::Register) == 32);
  REQUIRE(d.size(InDim::Warp) == 16);
  forEachIndex(d, [&](HardwareIndex index) {
    unsigned v = index.reg % 16, m = index.reg / 16, l = index.lane;
    unsigned group = index.warp / 4;
    checkEqual(d, index,
               128 * (group / 2) + 64 * m + 16 * (index.warp % 4) + l / 4 +
                   8 * (v >> 1 & 1),
               32 * (group % 2) + 8 * (v >> 2) + 2 * (l % 4) + (v & 1));
  });
  LinearLayout a = LinearLayout::wgmmaOperandA({256, 32}, 2, 2, 2);
  REQUIRE(a.size(InDim::Register) == 32);
  REQUIRE(a.size(InDim::Warp) == 16);
  forEachIndex(a, [&](HardwareIndex index) {
    unsigned e = index.reg % 8, k = index.reg / 8 % 2, m = index.reg / 16;
    unsigned l = index.lane;
    checkEqual(a, index,
               128 * (index.warp / 8) + 64 * m + 16 * (index.warp % 4) + l / 4 +
                   8 * (e / 2 & 1),
               16 * k + 2 * (l % 4) + (e & 1) + 8 * (e / 2 >> 1));
  });
}

TEST_CASE("an accumulator is the next product's 16-bit left operand") {
  CHECK(LinearLayout::mmaAccumulator({64, 128}, 4, 1) ==
        LinearLayout::mmaOperandA({64, 128}, 2, 4, 1));
  CHECK(LinearLayout::wgmmaAccumulator({128, 128}, 2) ==
        LinearLayout::wgmmaOperandA({128, 128}, 2, 2));
  CHECK(LinearLayout::wgmmaAccumulator({128, 128}, 2) !=
        LinearLayout::wgmmaOperandA({128, 128}, 4, 2));
}

//===--- Blocked ---------------------------------------------------------===//

/// Where `index` lies in a box of `sizes`, counted along order[0] first.
static llvm::SmallVector<int64_t> unravel(unsigned index,
                                          llvm::ArrayRef<int64_t> sizes,
                                          llvm::ArrayRef<unsigned> order) {
  llvm::SmallVector<int64_t> result(sizes.size());
  for (unsigned axis : order) {
    result[axis] = index % sizes[axis];
    index /= sizes[axis];
  }
  return result;
}

static void checkBlocked(llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<unsigned> size,
                         llvm::ArrayRef<unsigned> threads,
                         llvm::ArrayRef<unsigned> warps,
                         llvm::ArrayRef<unsigned> order) {
  LinearLayout layout =
      LinearLayout::blocked(shape, size, threads, warps, order);
  INFO(layout.str());
  unsigned rank = shape.size();
  llvm::SmallVector<int64_t> box(rank), lanes(rank), groups(rank),
      repeats(rank);
  unsigned perThread = 1, registers = 1, numWarps = 1;
  for (unsigned axis = 0; axis < rank; ++axis) {
    int64_t pass = int64_t(size[axis]) * threads[axis] * warps[axis];
    box[axis] = std::min<int64_t>(size[axis], shape[axis]);
    lanes[axis] = threads[axis];
    groups[axis] = warps[axis];
    repeats[axis] = std::max<int64_t>(1, shape[axis] / pass);
    perThread *= box[axis];
    registers *= box[axis] * repeats[axis];
    numWarps *= warps[axis];
  }
  REQUIRE(layout.size(InDim::Register) == registers);
  REQUIRE(layout.size(InDim::Warp) == numWarps);
  CHECK(layout.isSurjective());
  forEachIndex(layout, [&](HardwareIndex index) {
    auto inBox = unravel(index.reg % perThread, box, order);
    auto repeat = unravel(index.reg / perThread, repeats, order);
    auto lane = unravel(index.lane, lanes, order);
    auto warp = unravel(index.warp, groups, order);
    llvm::SmallVector<int64_t> expected(rank);
    for (unsigned axis = 0; axis < rank; ++axis) {
      int64_t thread =
          (repeat[axis] * warps[axis] + warp[axis]) * int64_t(threads[axis]) +
          lane[axis];
      expected[axis] = (thread * size[axis] + inBox[axis]) % shape[axis];
    }
    REQUIRE(layout.apply(index.reg, index.lane, index.warp) == expected);
  });
}

TEST_CASE("blocked layouts") {
  SECTION("one pass") {
    checkBlocked({16, 64}, {1, 4}, {4, 8}, {4, 2}, {1, 0});
    checkBlocked({64, 16}, {4, 1}, {8, 4}, {2, 4}, {0, 1});
    checkBlocked({32}, {1}, {32}, {1}, {0});
  }
  SECTION("larger tensors repeat") {
    checkBlocked({64, 128}, {2, 4}, {2, 16}, {2, 1}, {1, 0});
    checkBlocked({64, 64}, {2, 2}, {4, 8}, {2, 2}, {0, 1});
    checkBlocked({4, 16, 64}, {1, 2, 2}, {2, 2, 8}, {1, 2, 2}, {2, 1, 0});
    checkBlocked({1024}, {4}, {32}, {4}, {0});
  }
  SECTION("smaller tensors are copied") {
    checkBlocked({8, 8}, {1, 4}, {4, 8}, {4, 2}, {1, 0});
    checkBlocked({2, 2}, {4, 1}, {8, 4}, {2, 4}, {0, 1});
    checkBlocked({64}, {1}, {32}, {8}, {0});
    checkBlocked({1, 256}, {2, 2}, {2, 16}, {2, 2}, {1, 0});
  }
}

TEST_CASE("neighbours of a blocked layout are the low registers") {
  LinearLayout rows =
      LinearLayout::blocked({64, 128}, {2, 8}, {4, 8}, {4, 1}, {1, 0});
  CHECK(rows.vectorWidth(1, 16) == 8);
  CHECK(rows.vectorWidth(1, 32) == 4);
  CHECK(rows.vectorWidth(1, 16, 64) == 4);
  CHECK(rows.vectorWidth(0, 16) == 1);
  LinearLayout c = LinearLayout::mmaAccumulator({16, 8}, 1, 1);
  CHECK(c.vectorWidth(1, 32) == 2);
  CHECK(LinearLayout::mmaOperandA({16, 32}, 4, 1, 1).vectorWidth(1, 8) == 4);
}
