//===- MaskIntervalsPropertyTest.cpp - Against brute force -----*- C++ -*-===//
//
// Random masks, tiles and extents. For each, the mask is evaluated at every
// position and the ranges and splits must be sound: nothing true is skipped,
// nothing false counts as full. For the families of masks that the analysis
// promises to solve exactly, nothing false may be visited either and everything
// full must be found.
//
// A failure prints the seed, the round and the mask as it was built.
//
//===----------------------------------------------------------------------===//

#include "lib/Analysis/MaskIntervals.h"
#include "test/Unit/Analysis/RandomExprs.h"

#include <catch2/catch.hpp>

using namespace tilec;
using namespace tilec::test;

namespace {

// The leaves' ids. The last two hold values that differ between positions.
enum : uint32_t { I, I2, J, W, P, D, S, R, I0, J0, Doc, Cond, NumIds };

/// A value that looks arbitrary, but is a function of the positions.
int64_t scramble(int64_t seed, int64_t i, int64_t i2, int64_t j) {
  uint64_t x = uint64_t(seed) * 0x9E3779B97F4A7C15ull + uint64_t(i * 8191) +
               uint64_t(i2 * 131071) + uint64_t(j * 524287);
  x ^= x >> 31;
  x *= 0xBF58476D1CE4E5B9ull;
  return int64_t((x ^ (x >> 27)) >> 40);
}

/// Where the program stands, symbolically and in numbers.
struct Scene {
  LoopAxis loop;
  std::vector<RowAxis> rows;
  Values values = Values(NumIds, 0);
  int64_t begin, end;
  std::vector<std::pair<int64_t, int64_t>> rowRanges; // [first, past last)
  int64_t docSeed;

  std::vector<IntTree> leaves() const {
    std::vector<IntTree> trees = {leafTree(loop.position), leafTree(w),
                                  leafTree(p), leafTree(d)};
    // Positions are what masks are about: make them frequent.
    trees.push_back(trees[0]);
    trees.push_back(trees[0]);
    for (const RowAxis &row : rows) {
      trees.push_back(leafTree(row.position));
      trees.push_back(leafTree(row.position));
    }
    return trees;
  }

  IndexExpr w = IndexExpr::symbol(W, "w");
  IndexExpr p = IndexExpr::symbol(P, "p", Interval::atLeast(0));
  IndexExpr d = IndexExpr::symbol(D, "d", Interval::atLeast(1));
  IndexExpr doc = IndexExpr::opaque(Doc, "doc", Interval{0, 3});
};

Scene randomScene(Random &random) {
  Scene scene;
  Values &values = scene.values;
  // Either all positions are promised to be non-negative, or none is.
  bool natural = random.chance(70);
  Interval positions = natural ? Interval::atLeast(0) : Interval::all();
  int64_t leastOrigin = natural ? 0 : -12;
  values[W] = random.in(-6, 24);
  values[P] = random.in(0, 24);
  values[D] = random.in(1, 9);

  scene.loop.position = IndexExpr::symbol(J, "j", positions);
  scene.loop.tileSize = random.chance(15) ? 16 : random.in(1, 9);
  scene.begin = random.chance(60) ? 0 : random.in(leastOrigin, 12);
  int64_t extent = random.pick<int64_t>({0, 1, 7, 8, 16, 25, 37});
  scene.end = scene.begin + (random.chance(50) ? extent : random.in(0, 40));
  values[J0] = scene.begin;
  values[S] = scene.end;
  if (random.chance(30))
    scene.loop.begin = IndexExpr::symbol(J0, "j0", positions);
  else
    scene.loop.begin = scene.begin;
  bool symbolicEnd = random.chance(60);
  scene.loop.end =
      symbolicEnd ? IndexExpr::symbol(S, "S", positions) : scene.end;

  int numRows = int(random.in(0, 10)) < 9 ? 1 : 2;
  for (int k = 0; k < numRows; ++k) {
    RowAxis row;
    row.position = k == 0 ? IndexExpr::symbol(I, "i", positions)
                          : IndexExpr::symbol(I2, "i2", positions);
    int64_t size = k == 1              ? random.in(1, 3)
                   : random.chance(15) ? 16
                                       : random.in(1, 9);
    int64_t tile =
        natural ? random.in(0, 32 / size) : random.in(-12 / size, 24 / size);
    int64_t first = size * tile;
    if (k == 0 && random.chance(60)) {
      row.begin = IndexExpr::symbol(I0, "i0", positions, size);
      values[I0] = first;
    } else {
      row.begin = first;
    }
    row.size = size;
    int64_t past = first + size;
    if (random.chance(50)) {
      // At least one row remains: a program without rows is never launched.
      int64_t rowExtent = std::max(first + 1, first + random.in(1, 12));
      if (k == 0 && symbolicEnd && scene.end > first && random.chance(50)) {
        row.extent = scene.loop.end;
        rowExtent = scene.end;
      } else if (k == 0 && random.chance(50)) {
        row.extent = IndexExpr::symbol(R, "R", positions);
        values[R] = rowExtent;
      } else {
        row.extent = rowExtent;
      }
      past = std::min(past, rowExtent);
    }
    scene.rows.push_back(row);
    scene.rowRanges.push_back({first, past});
  }
  scene.docSeed = random.in(0, 1000);
  return scene;
}

enum class Column { None, Some, All };

/// What brute force says of each position of the loop.
std::vector<Column> columnsOf(const BoolTree &mask, const Scene &scene) {
  std::vector<Column> columns;
  Values values = scene.values;
  auto [first2, past2] = scene.rows.size() > 1
                             ? scene.rowRanges[1]
                             : std::pair<int64_t, int64_t>{0, 1};
  for (int64_t j = scene.begin; j < scene.end; ++j) {
    bool any = false, all = true;
    for (int64_t i = scene.rowRanges[0].first; i < scene.rowRanges[0].second;
         ++i) {
      for (int64_t i2 = first2; i2 < past2; ++i2) {
        values[I] = i;
        values[I2] = i2;
        values[J] = j;
        values[Doc] = scramble(scene.docSeed, i, i2, j) % 4;
        values[Cond] = scramble(scene.docSeed + 1, i, i2, j) % 2;
        bool visible = mask.value(values);
        any |= visible;
        all &= visible;
      }
    }
    columns.push_back(all ? Column::All : any ? Column::Some : Column::None);
  }
  return columns;
}

/// The best split that brute force allows: the tiles from the first to the last
/// in which anything is true. `full` says of each tile whether it is full.
struct Best {
  bool visits = false;
  int64_t firstVisited = 0, pastVisited = 0;
  std::vector<bool> full;
};

Best bestSplit(const std::vector<Column> &columns, const Scene &scene,
               Tail tail) {
  Best best;
  int64_t tileSize = scene.loop.tileSize;
  for (int64_t at = 0; at < int64_t(columns.size()); at += tileSize) {
    bool any = false, all = true;
    for (int64_t c = at; c < at + tileSize; ++c) {
      if (c >= int64_t(columns.size())) {
        all &= tail == Tail::AsOthers;
        continue;
      }
      any |= columns[c] != Column::None;
      all &= columns[c] == Column::All;
    }
    if (any && !best.visits)
      best.firstVisited = scene.begin + at;
    best.visits |= any;
    if (any)
      best.pastVisited = scene.begin + at + tileSize;
    best.full.push_back(all);
  }
  return best;
}

std::string describe(const Scene &scene) {
  std::string text = "j in [" + scene.loop.begin.str() + ", " +
                     scene.loop.end.str() + ") by " +
                     std::to_string(scene.loop.tileSize);
  for (const RowAxis &row : scene.rows)
    text += ", " + row.position.str() + " in [" + row.begin.str() + ", +" +
            row.size.str() + ")" +
            (row.extent ? " below " + row.extent->str() : "");
  for (auto [id, name] : {std::pair{W, "w"},
                          {P, "p"},
                          {D, "d"},
                          {S, "S"},
                          {R, "R"},
                          {I0, "i0"},
                          {J0, "j0"}})
    text += std::string(", ") + name + "=" + std::to_string(scene.values[id]);
  return text;
}

struct Tally {
  int64_t skippedTiles = 0, fullTiles = 0, tiles = 0;
};

struct Case {
  BoolTree mask;
  Scene scene;
  /// Whether the mask is of a family that is solved exactly.
  bool exact;
};

/// What is wrong with the analysis of one mask: nothing, if empty. (Text is
/// made for failures alone; Catch's captures would take most of the time.)
std::string findFault(const Case &test, Tally &tally) {
  const auto &[mask, scene, exact] = test;
  std::vector<Column> columns = columnsOf(mask, scene);
  MaskRanges ranges = analyzeMask(mask.mask, scene.loop, scene.rows);
  std::string fault;
  auto expect = [&](bool holds, const std::string &what, auto... numbers) {
    if (holds || !fault.empty())
      return;
    fault = what;
    ((fault += " " + std::to_string(numbers)), ...);
  };
  auto number = [&](const IndexExpr &bound) {
    expect(bound.isSpeculatable(), "a bound that may trap: " + bound.str());
    return bound.evaluate([&](uint32_t id) {
      expect(id == W || id == P || id == D || id == S || id == R || id == I0 ||
                 id == J0,
             "a bound that is not known before the loop: " + bound.str());
      return scene.values[id];
    });
  };

  int64_t anyLo = number(ranges.any.lo), anyHi = number(ranges.any.hi);
  int64_t allLo = number(ranges.all.lo), allHi = number(ranges.all.hi);
  expect(anyLo >= anyHi || (anyLo >= scene.begin && anyHi <= scene.end),
         "any leaves the loop", anyLo, anyHi);
  expect(allLo >= allHi || (allLo >= scene.begin && allHi <= scene.end),
         "all leaves the loop", allLo, allHi);
  for (int64_t c = 0; c < int64_t(columns.size()); ++c) {
    int64_t j = scene.begin + c;
    expect(columns[c] == Column::None || (anyLo <= j && j < anyHi),
           "any misses a column:", j, anyLo, anyHi);
    expect(columns[c] == Column::All || !(allLo <= j && j < allHi),
           "all holds a column that is not:", j, allLo, allHi);
  }

  for (Tail tail : {Tail::Partial, Tail::AsOthers}) {
    TileSplit split = splitTiles(ranges, scene.loop, tail);
    int64_t visitLo = number(split.visitLo), fullLo = number(split.fullLo);
    int64_t fullHi = number(split.fullHi), visitHi = number(split.visitHi);
    int64_t tileSize = scene.loop.tileSize;
    auto expectSplit = [&](bool holds, const char *what, auto... numbers) {
      expect(holds, what, numbers..., visitLo, fullLo, fullHi, visitHi);
    };
    expectSplit(visitLo <= fullLo && fullLo <= fullHi && fullHi <= visitHi,
                "bounds out of order:");
    for (int64_t bound : {visitLo, fullLo, fullHi, visitHi})
      expectSplit(floorRemainder(bound - scene.begin, tileSize) == 0,
                  "a bound within a tile:");
    expectSplit(visitLo == visitHi ||
                    (visitLo >= scene.begin && visitHi < scene.end + tileSize),
                "tiles outside the loop:");
    expectSplit(split.hasLeading() || visitLo == fullLo, "lost leading:");
    expectSplit(split.hasFull() || fullLo == fullHi, "lost full:");
    expectSplit(split.hasTrailing() || fullHi == visitHi, "lost trailing:");

    Best best = bestSplit(columns, scene, tail);
    if (best.visits)
      expectSplit(visitLo <= best.firstVisited && visitHi >= best.pastVisited,
                  "a tile with something true is skipped:", best.firstVisited,
                  best.pastVisited);
    if (exact)
      expectSplit(best.visits ? visitLo == best.firstVisited &&
                                    visitHi == best.pastVisited
                              : visitLo == visitHi,
                  "a tile is visited needlessly:", best.firstVisited,
                  best.pastVisited);
    for (size_t t = 0; t < best.full.size(); ++t) {
      int64_t start = scene.begin + int64_t(t) * tileSize;
      bool countsAsFull = fullLo <= start && start < fullHi;
      expectSplit(!countsAsFull || best.full[t], "a tile is not full:", start);
      if (exact)
        expectSplit(countsAsFull || !best.full[t],
                    "a full tile was not found:", start);
      tally.fullTiles += countsAsFull;
      tally.skippedTiles += start < visitLo || start >= visitHi;
      ++tally.tiles;
    }
  }
  return fault;
}

void check(const Case &test, uint32_t seed, uint32_t round, Tally &tally) {
  std::string fault = findFault(test, tally);
  if (fault.empty()) {
    SUCCEED();
    return;
  }
  CAPTURE(seed, round, test.mask.text, test.mask.mask.str(),
          describe(test.scene));
  FAIL(fault);
}

} // namespace

TEST_CASE("random masks are split soundly") {
  const uint32_t seed = 2024;
  Tally tally;
  for (uint32_t round = 0; round < 5000; ++round) {
    Random random(seed + round);
    Scene scene = randomScene(random);
    std::vector<IntTree> leaves = scene.leaves();
    leaves.push_back(leafTree(scene.doc));
    std::vector<BoolTree> conditions = {
        {MaskExpr::opaque(Cond, "cond"),
         [](const Values &values) { return values[Cond] != 0; }, "cond"}};
    BoolTree mask =
        randomBool(random, leaves, conditions, int(random.in(0, 4)));
    check({mask, scene, /*exact=*/false}, seed, round, tally);
  }
  // An analysis that knows nothing would be sound. These masks are arbitrary
  // and the rates low, but not that low.
  CHECK(tally.skippedTiles * 100 > tally.tiles * 20);
  CHECK(tally.fullTiles * 100 > tally.tiles * 10);
}

namespace {

/// The leaves of a scene by name, for writing masks.
struct Names {
  explicit Names(const Scene &scene)
      : i(leafTree(scene.rows[0].position)), j(leafTree(scene.loop.position)),
        w(leafTree(scene.w)), p(leafTree(scene.p)), d(leafTree(scene.d)) {}
  IntTree i, j, w, p, d;
};

using Family = std::function<BoolTree(Random &, const Scene &)>;

/// A window's width: at run time only widths from 1 on are exact.
IntTree width(Random &random, Names &n) {
  return random.chance(50) ? most(n.w, constantTree(1))
                           : constantTree(random.in(1, 20));
}

BoolTree causal(Random &random, Names &n) {
  IntTree shift = random.chance(50) ? constantTree(random.in(-9, 9)) : n.w;
  return compare(random.chance(50) ? Comparison::Ge : Comparison::Gt,
                 add(n.i, shift), n.j);
}

/// A monotone function of one position: affine, divided, affine again.
IntTree monotone(Random &random, const IntTree &position, Names &n) {
  IntTree tree = position;
  for (int steps = int(random.in(0, 3)); steps > 0; --steps) {
    switch (random.in(0, 4)) {
    case 0:
      tree = add(tree, constantTree(random.in(-9, 9)));
      break;
    case 1:
      tree = mul(tree, constantTree(random.in(1, 4)));
      break;
    case 2:
      tree = div(tree, constantTree(random.in(1, 9)));
      break;
    case 3:
      tree = div(add(tree, n.w), n.d);
      break;
    default:
      tree = add(mul(tree, n.d), n.p);
      break;
    }
  }
  return tree;
}

void checkFamily(uint32_t seed, const Family &family, int rounds = 800) {
  Tally tally;
  for (int round = 0; round < rounds; ++round) {
    Random random(seed + uint32_t(round));
    Scene scene = randomScene(random);
    check({family(random, scene), scene, /*exact=*/true}, seed, uint32_t(round),
          tally);
  }
  CHECK(tally.skippedTiles + tally.fullTiles > 0);
}

} // namespace

TEST_CASE("thresholds of any coefficient are exact") {
  checkFamily(100, [](Random &random, const Scene &scene) {
    Names n(scene);
    int64_t k = random.in(1, 4) * (random.chance(50) ? 1 : -1);
    IntTree left =
        add(mul(n.j, constantTree(k)), constantTree(random.in(-9, 9)));
    IntTree right = add(mul(n.i, constantTree(random.in(-3, 3))),
                        mul(n.w, constantTree(random.in(-2, 2))));
    return compare(Comparison(random.in(0, 3)), left, right);
  });
}

TEST_CASE("windows are exact") {
  checkFamily(200, [](Random &random, const Scene &scene) {
    Names n(scene);
    IntTree distance = sub(n.i, n.j);
    if (random.chance(30)) // |i - j| < w
      return compare(Comparison::Lt, most(distance, sub(n.j, n.i)),
                     width(random, n));
    IntTree reach = random.chance(70) ? constantTree(0) : n.p;
    return both(compare(Comparison::Ge, add(n.i, reach), n.j),
                compare(Comparison::Lt, distance, width(random, n)));
  });
}

TEST_CASE("prefixes, alone or with a causal mask, are exact") {
  checkFamily(300, [](Random &random, const Scene &scene) {
    Names n(scene);
    BoolTree prefix = compare(Comparison::Lt, n.j, n.p);
    switch (random.in(0, 3)) {
    case 0:
      return prefix;
    case 1:
      return either(prefix, causal(random, n));
    case 2:
      return either(either(causal(random, n), prefix),
                    compare(Comparison::Le, n.j, n.w));
    default:
      return both(prefix, causal(random, n));
    }
  });
}

TEST_CASE("disjunctions anchored at the end are exact") {
  checkFamily(400, [](Random &random, const Scene &scene) {
    Names n(scene);
    return either(compare(Comparison::Le, add(n.i, n.w), n.j),
                  compare(Comparison::Gt, n.j, n.p));
  });
}

TEST_CASE("monotone functions of positions are exact") {
  checkFamily(500, [](Random &random, const Scene &scene) {
    Names n(scene);
    return compare(Comparison(random.in(0, 3)), monotone(random, n.j, n),
                   monotone(random, n.i, n));
  });
}

TEST_CASE("equal quotients are exact") {
  checkFamily(600, [](Random &random, const Scene &scene) {
    Names n(scene);
    IntTree size = random.chance(30) ? n.d : constantTree(random.in(1, 12));
    BoolTree sameBlock =
        compare(Comparison::Eq, div(n.i, size), div(n.j, size));
    if (random.chance(30))
      return both(sameBlock, compare(Comparison::Ge, n.i, n.j));
    return sameBlock;
  });
}

TEST_CASE("conditions on rows and scalars alone are exact") {
  checkFamily(700, [](Random &random, const Scene &scene) {
    Names n(scene);
    BoolTree flag = compare(Comparison(random.in(0, 3)), n.w,
                            constantTree(random.in(-6, 24)));
    switch (random.in(0, 3)) {
    case 0:
      return both(flag, causal(random, n));
    case 1:
      return either(flag, causal(random, n));
    case 2:
      return compare(Comparison(random.in(0, 3)), n.i, n.p);
    default:
      return either(both(flag, causal(random, n)),
                    both(negate(flag), compare(Comparison::Lt, n.j, n.p)));
    }
  });
}

TEST_CASE("a remainder within one period is exact") {
  checkFamily(800, [](Random &random, const Scene &scene) {
    Names n(scene);
    // The remainder's operand lies in [2048, 3071], the third period.
    IntTree bounded = most(least(n.j, constantTree(900)), constantTree(-100));
    return compare(Comparison(random.in(0, 3)),
                   rem(add(bounded, constantTree(2148)), constantTree(1024)),
                   constantTree(random.in(60, 140)));
  });
}
