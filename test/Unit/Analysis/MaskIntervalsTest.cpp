//===- MaskIntervalsTest.cpp - Worked examples of mask analysis -*- C++ -*-===//
//
// The bounds that come out for masks people write, as text: that they are right
// is also what the property test checks, that they are short only this does.
// Rows are a tile of 128 query positions, the loop visits keys by 64.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/MaskIntervals.h"

#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

using namespace tilec;

namespace {

struct Attention {
  IndexExpr i = IndexExpr::symbol(0, "i", Interval::atLeast(0));
  IndexExpr j = IndexExpr::symbol(1, "j", Interval::atLeast(0));
  IndexExpr i0 = IndexExpr::symbol(2, "i0", Interval::atLeast(0), 128);
  IndexExpr S = IndexExpr::symbol(3, "S", Interval::atLeast(0));
  IndexExpr T = IndexExpr::symbol(4, "T", Interval::atLeast(0));
  IndexExpr w = IndexExpr::symbol(5, "w", Interval::atLeast(1));
  IndexExpr p = IndexExpr::symbol(6, "p", Interval::atLeast(0));
  IndexExpr k0 = IndexExpr::symbol(7, "k0", Interval::atLeast(0));
  IndexExpr doc = IndexExpr::opaque(8, "doc");
  MaskExpr sameDoc = MaskExpr::opaque(9, "doc[i] == doc[j]");

  LoopAxis loop = {j, 0, T, 64};
  RowAxis row = {i, i0, 128, std::nullopt};

  MaskRanges analyze(const MaskExpr &mask) const {
    return analyzeMask(mask, loop, row);
  }
  TileSplit split(const MaskExpr &mask, Tail tail = Tail::Partial) const {
    return splitTiles(analyze(mask), loop, tail);
  }
};

template <typename T> std::string str(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

std::string loops(const TileSplit &split) {
  return std::string(split.hasLeading() ? "partial " : "") +
         (split.hasFull() ? "full " : "") +
         (split.hasTrailing() ? "partial " : "");
}

/// visitLo, fullLo, fullHi and visitHi for given values.
std::vector<int64_t> at(const TileSplit &split, int64_t i0, int64_t T,
                        int64_t w = 1, int64_t p = 0) {
  std::vector<int64_t> bounds;
  for (const IndexExpr &bound :
       {split.visitLo, split.fullLo, split.fullHi, split.visitHi})
    bounds.push_back(bound.evaluate([&](uint32_t id) {
      REQUIRE((id == 2 || id == 4 || id == 5 || id == 6));
      return id == 2 ? i0 : id == 4 ? T : id == 5 ? w : p;
    }));
  return bounds;
}

using Bounds = std::vector<int64_t>;

} // namespace

TEST_CASE_METHOD(Attention, "no mask: all is full but the tail") {
  MaskRanges ranges = analyze(MaskExpr());
  CHECK(str(ranges.any) == "[0, T)");
  CHECK(str(ranges.all) == "[0, T)");
  TileSplit s = split(MaskExpr());
  CHECK(s.fullHi.str() == "64 * (T / 64)");
  CHECK(s.visitHi.str() == "64 * ((T + 63) / 64)");
  CHECK(loops(s) == "full partial ");
  CHECK(loops(split(MaskExpr(), Tail::AsOthers)) == "full ");
  CHECK(at(s, 0, 200) == Bounds{0, 0, 192, 256});
  CHECK(at(s, 0, 0) == Bounds{0, 0, 0, 0});
}

TEST_CASE_METHOD(Attention, "a known extent needs no tail") {
  loop.end = 4096;
  CHECK(loops(split(MaskExpr())) == "full ");
  loop.end = 4095;
  TileSplit s = split(MaskExpr());
  CHECK(s.fullHi.isConstant(4032));
  CHECK(s.visitHi.isConstant(4096));
  CHECK(split(MaskExpr(), Tail::AsOthers).fullHi.isConstant(4096));
}

TEST_CASE_METHOD(Attention, "the constant false visits nothing") {
  TileSplit s = split(MaskExpr(false));
  CHECK(loops(s).empty());
}

TEST_CASE_METHOD(Attention, "causal") {
  MaskRanges ranges = analyze(ge(i, j));
  CHECK(str(ranges.any) == "[0, min(T, i0 + 128))");
  CHECK(str(ranges.all) == "[0, min(T, i0 + 1))");
  TileSplit s = split(ge(i, j));
  CHECK(s.fullLo.isConstant(0));
  CHECK(s.fullHi.str() == "min(i0, 64 * (T / 64))");
  CHECK(s.visitHi.str() == "min(i0 + 128, 64 * ((T + 63) / 64))");
  CHECK(loops(s) == "full partial ");
  CHECK(at(s, 256, 1000) == Bounds{0, 0, 256, 384});
  CHECK(at(s, 256, 200) == Bounds{0, 0, 192, 256});
  CHECK(at(split(ge(i, j), Tail::AsOthers), 256, 200) ==
        Bounds{0, 0, 256, 256});
  CHECK(str(analyze(!lt(i, j)).all) == "[0, min(T, i0 + 1))");
}

TEST_CASE_METHOD(Attention,
                 "causal, bottom right: shifted by run-time extents") {
  // The last query sees the last key.
  TileSplit s = split(ge(i + T - S, j));
  CHECK(loops(s) == "full partial ");
  MaskRanges ranges = analyze(ge(i + T - S, j));
  CHECK(str(ranges.any) == "[0, min(T, i0 + T - S + 128))");
  CHECK(str(ranges.all) == "[0, min(T, i0 + T - S + 1))");
}

TEST_CASE_METHOD(Attention, "rows beyond the extent count for nothing") {
  row.extent = S;
  loop.end = S;
  CHECK(str(analyze(ge(i, j)).any) == "[0, min(S, i0 + 128))");
  loop.end = T;
  CHECK(str(analyze(ge(i, j)).any) == "[0, min(S, T, i0 + 128))");
  CHECK(str(analyze(ge(i, j)).all) == "[0, min(T, i0 + 1))");
}

TEST_CASE_METHOD(Attention, "a window known to be narrow has one loop") {
  MaskExpr mask = ge(i, j) && lt(i - j, 100);
  MaskRanges ranges = analyze(mask);
  CHECK(str(ranges.any) == "[max(0, i0 - 99), min(T, i0 + 128))");
  CHECK(ranges.all.provablyEmpty());
  TileSplit s = split(mask);
  CHECK(s.visitLo.str() == "max(0, i0 - 128)");
  CHECK(loops(s) == "partial ");
  CHECK(at(s, 512, 4096) == Bounds{384, 640, 640, 640});
  // Queries far beyond the last key see nothing.
  CHECK(at(s, 512, 384) == Bounds{384, 384, 384, 384});
}

TEST_CASE_METHOD(Attention, "a window of run-time width has three") {
  MaskExpr mask = ge(i, j) && lt(i - j, w);
  MaskRanges ranges = analyze(mask);
  CHECK(str(ranges.any) == "[max(0, i0 - w + 1), min(T, i0 + 128))");
  CHECK(str(ranges.all) == "[max(0, i0 - w + 128), min(T, i0 + 1))");
  TileSplit s = split(mask);
  CHECK(loops(s) == "partial full partial ");
  CHECK(at(s, 1024, 4096, 512) == Bounds{512, 640, 1024, 1152});
  CHECK(at(s, 1024, 4096, 1) == Bounds{1024, 1152, 1152, 1152});
  CHECK(at(s, 0, 4096, 512) == Bounds{0, 0, 0, 128});
}

TEST_CASE_METHOD(Attention, "a symmetric window, written as a distance") {
  MaskExpr mask = le(max(i - j, j - i), 200);
  MaskRanges ranges = analyze(mask);
  CHECK(str(ranges.any) == "[max(0, i0 - 200), min(T, i0 + 328))");
  CHECK(str(ranges.all) == "[max(0, i0 - 73), min(T, i0 + 201))");
  CHECK(at(split(mask), 1024, 4096) == Bounds{768, 960, 1216, 1408});
}

TEST_CASE_METHOD(Attention, "a prefix and causal") {
  MaskRanges ranges = analyze(lt(j, p) || ge(i, j));
  CHECK(str(ranges.any) == "[0, min(T, max(p, i0 + 128)))");
  CHECK(str(ranges.all) == "[0, min(T, max(p, i0 + 1)))");
  TileSplit s = split(lt(j, p) || ge(i, j));
  CHECK(loops(s) == "full partial ");
  CHECK(at(s, 128, 4096, 1, 1000) == Bounds{0, 0, 960, 1024});
}

TEST_CASE_METHOD(Attention, "a prefix or a window skips the gap's far side") {
  MaskExpr mask = lt(j, p) || (ge(i, j) && lt(i - j, w));
  TileSplit s = split(mask);
  // Without a prefix it is the window.
  CHECK(at(s, 1024, 4096, 512, 0) == Bounds{512, 640, 1024, 1152});
  // With one, the hull is visited, and the longer of both parts is full.
  CHECK(at(s, 1024, 4096, 512, 64) == Bounds{0, 640, 1024, 1152});
  CHECK(at(s, 1024, 4096, 192, 640) == Bounds{0, 0, 640, 1152});
  // Where they touch, they are one.
  CHECK(at(s, 1024, 4096, 512, 700) == Bounds{0, 0, 1024, 1152});
}

TEST_CASE_METHOD(Attention, "blocks") {
  MaskExpr sameBlock = eq(floorDiv(i, 256), floorDiv(j, 256));
  MaskRanges ranges = analyze(sameBlock);
  CHECK(ranges.any.lo.str() == "256 * (i0 / 256)");
  CHECK(at(split(sameBlock), 384, 4096) == Bounds{256, 256, 512, 512});
  CHECK(at(split(sameBlock && ge(i, j)), 384, 4096) ==
        Bounds{256, 256, 384, 512});
  // A row tile that spans blocks has no full columns.
  CHECK(loops(split(eq(floorDiv(i, 64), floorDiv(j, 64)))) == "partial ");
  MaskExpr blockCausal = ge(floorDiv(i, 256), floorDiv(j, 256));
  CHECK(at(split(blockCausal), 384, 4096) == Bounds{0, 0, 512, 512});
}

TEST_CASE_METHOD(Attention, "blocks of run-time size") {
  MaskRanges ranges = analyze(eq(floorDiv(i, w), floorDiv(j, w)));
  CHECK(ranges.any.lo.str() == "w * (i0 / w)");
  TileSplit s = split(eq(floorDiv(i, w), floorDiv(j, w)));
  CHECK(at(s, 384, 4096, 640) == Bounds{0, 0, 640, 640});
  CHECK(at(s, 384, 4096, 400) == Bounds{0, 448, 448, 832});
}

TEST_CASE_METHOD(Attention, "coefficients round as divisions do") {
  CHECK(str(analyze(le(2 * j, i)).any) == "[0, min(T, (i0 / 2) + 64))");
  CHECK(str(analyze(le(2 * j, i)).all) == "[0, min(T, (i0 / 2) + 1))");
  CHECK(str(analyze(gt(3 * j, i)).all) == "[((i0 + 1) / 3) + 43, T)");
  CHECK(str(analyze(le(j * w, i)).any) == "[0, min(T, ((i0 + 127) / w) + 1))");
}

TEST_CASE_METHOD(Attention, "what cannot be known is visited and masked") {
  for (const MaskExpr &mask :
       {sameDoc, eq(mod(j, 2), 0), eq(mod(i - j, 3), 0), lt(doc, j)}) {
    CAPTURE(mask.str());
    MaskRanges ranges = analyze(mask);
    CHECK(str(ranges.any) == "[0, T)");
    CHECK(ranges.all.provablyEmpty());
    CHECK(loops(split(mask)) == "partial ");
  }
}

TEST_CASE_METHOD(Attention, "an opaque condition leaves the other bounds") {
  CHECK(str(analyze(sameDoc && ge(i, j)).any) == "[0, min(T, i0 + 128))");
  CHECK(str(analyze(sameDoc || ge(i, j)).all) == "[0, min(T, i0 + 1))");
  CHECK(str(analyze(!(sameDoc && ge(i, j))).all) == "[i0 + 128, T)");
  CHECK(str(analyze(sameDoc || !sameDoc).any) == "[0, T)");
}

TEST_CASE_METHOD(Attention, "a remainder within one period is transparent") {
  loop.end = 2048;
  CHECK(str(analyze(ge(i, mod(j, 4096))).any) == "[0, min(2048, i0 + 128))");
}

TEST_CASE_METHOD(Attention, "excluding a diagonal keeps the longer side") {
  TileSplit s = split(ne(i, j));
  CHECK(at(s, 1024, 4096) == Bounds{0, 1152, 4096, 4096});
  CHECK(at(s, 3072, 4096) == Bounds{0, 0, 3072, 4096});
}

TEST_CASE_METHOD(Attention, "conditions on scalars guard a range") {
  MaskRanges ranges = analyze(gt(p, 5) && ge(i, j));
  CHECK(str(ranges.any) == "[0, select(p - 6 >= 0, min(T, i0 + 128), 0))");
  CHECK(str(analyze(gt(p, 5) || ge(i, j)).all) ==
        "[0, min(T, max(i0 + 1, select(p - 6 >= 0, T, 0))))");
}

TEST_CASE_METHOD(Attention,
                 "a loop that starts elsewhere is tiled from there") {
  loop.begin = k0;
  loop.end = k0 + 100;
  TileSplit s = split(MaskExpr());
  CHECK(s.visitLo == k0);
  CHECK(s.fullHi == k0 + 64);
  CHECK(s.visitHi == k0 + 128);
}

TEST_CASE_METHOD(Attention, "a loop over rows, with columns as the tile") {
  // The backward pass: keys are held, queries are visited.
  LoopAxis queries = {i, 0, S, 64};
  RowAxis keys = {j, i0, 128, std::nullopt};
  MaskRanges ranges = analyzeMask(ge(i, j), queries, keys);
  CHECK(str(ranges.any) == "[i0, S)");
  CHECK(str(ranges.all) == "[i0 + 127, S)");
  TileSplit s = splitTiles(ranges, queries, Tail::AsOthers);
  CHECK(loops(s) == "partial full ");
  CHECK(s.visitLo == i0);
}

TEST_CASE_METHOD(Attention, "two row axes are extreme together") {
  IndexExpr h = IndexExpr::symbol(10, "h", Interval::atLeast(0));
  RowAxis rows[] = {row, {h, 4, 4, std::nullopt}};
  MaskRanges ranges = analyzeMask(ge(i - 8 * h, j), loop, rows);
  CHECK(str(ranges.any) == "[0, min(T, i0 + 96))");
  CHECK(str(ranges.all) == "[0, min(T, i0 - 55))");
}

TEST_CASE_METHOD(Attention, "bounds stay small for large masks") {
  MaskExpr mask(false);
  for (int k = 0; k < 40; ++k)
    mask = mask || (ge(i, j + w * k) && lt(i - j, w * k + p) && sameDoc) ||
           eq(floorDiv(i, 8 + k), floorDiv(j, 8 + k));
  TileSplit s = split(mask);
  CHECK(s.visitHi.size() < 20000);
  CHECK(s.fullHi.size() < 20000);
}
