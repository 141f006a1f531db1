//===- OverlapTest.cpp - Tests of the overlap questions ---------*- C++ -*-===//
//
// The layouts that must be told apart, and random small views against the set
// of bytes each of them touches, counted one by one.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Overlap.h"

#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

using namespace tilec;

namespace {

// Nothing is read or written, so any address will do.
char *const base = reinterpret_cast<char *>(uintptr_t(1) << 40);

TensorView matrix(int64_t rows, int64_t columns, DType dtype = DType::F32) {
  return TensorView::contiguous(base, dtype, {rows, columns});
}

/// The addresses of elements, with repetitions.
std::vector<uintptr_t> addresses(const TensorView &view) {
  std::vector<uintptr_t> result;
  forEachElement(view, [&](void *element, int64_t) {
    result.push_back(reinterpret_cast<uintptr_t>(element));
  });
  return result;
}

std::set<uintptr_t> bytesOf(const TensorView &view) {
  std::set<uintptr_t> result;
  for (uintptr_t address : addresses(view))
    for (unsigned byte = 0; byte < byteSize(view.dtype); ++byte)
      result.insert(address + byte);
  return result;
}

bool intersects(const std::set<uintptr_t> &a, const std::set<uintptr_t> &b) {
  return llvm::any_of(a, [&](uintptr_t byte) { return b.count(byte) != 0; });
}

} // namespace

TEST_CASE("views of separate memory do not overlap", "[overlap]") {
  TensorView a = matrix(4, 8), b = matrix(4, 8);
  CHECK(mayOverlap(a, b));
  b.data = base + 4 * 8 * 4;
  CHECK(!mayOverlap(a, b));
  CHECK(!mayOverlap(b, a));
  b.data = base + 4 * 8 * 4 - 1;
  CHECK(mayOverlap(a, b));
}

TEST_CASE("parts of one matrix are told apart", "[overlap]") {
  TensorView whole = matrix(100, 64);
  TensorView even = whole.sliced(1, 0, 64, 2), odd = whole.sliced(1, 1, 64, 2);
  CHECK(!mayOverlap(even, odd));
  CHECK(mayOverlap(even, whole.sliced(1, 2, 64, 2)));

  TensorView left = whole.sliced(1, 0, 32), right = whole.sliced(1, 32, 64);
  CHECK(!mayOverlap(left, right));
  CHECK(mayOverlap(left, whole.sliced(1, 31, 64)));

  TensorView upper = whole.sliced(0, 0, 50), lower = whole.sliced(0, 50, 100);
  CHECK(!mayOverlap(upper, lower));
  CHECK(!mayOverlap(whole.sliced(0, 0, 100, 3), whole.sliced(0, 1, 100, 3)));
  CHECK(mayOverlap(whole.sliced(0, 0, 100, 3), whole.sliced(0, 1, 100, 2)));

  // The same, with one of them transposed or reversed.
  CHECK(!mayOverlap(left.transposed(), right));
  CHECK(!mayOverlap(left.sliced(0, 99, -1, -1), right.sliced(1, 31, -1, -1)));
  CHECK(mayOverlap(whole, whole.transposed()));
}

TEST_CASE("interleaved queries, keys and values are told apart", "[overlap]") {
  // [batch, position, 3, head, dim] in one buffer, 2^33 bytes of it.
  TensorView qkv =
      TensorView::contiguous(base, DType::BF16, {16, 65536, 3, 16, 128});
  TensorView q = qkv.selected(2, 0), k = qkv.selected(2, 1),
             v = qkv.selected(2, 2);
  CHECK(!mayOverlap(q, k));
  CHECK(!mayOverlap(k, v));
  CHECK(!mayOverlap(q, v));
  CHECK(mayOverlap(q, q.sliced(1, 65535, 65536)));
  CHECK(!selfOverlaps(q));
  TensorView headMajor = q.permuted({0, 2, 1, 3});
  CHECK(!mayOverlap(headMajor, k));
  CHECK(!selfOverlaps(headMajor));
}

TEST_CASE("views of different element types share bytes", "[overlap]") {
  TensorView words = matrix(1, 4, DType::F32).sliced(1, 0, 4, 2);
  TensorView bytes{base + 4, DType::U8, {4}, {1}};
  CHECK(!mayOverlap(words, bytes));
  bytes.shape = {5};
  CHECK(mayOverlap(words, bytes));
  // Each third byte, between words that are eight apart.
  TensorView sparse{base + 4, DType::U8, {3}, {1}};
  sparse.strides = {2};
  CHECK(mayOverlap(words, sparse));
  sparse.strides = {1};
  CHECK(!mayOverlap(words, sparse));
}

TEST_CASE("empty views overlap nothing", "[overlap]") {
  TensorView whole = matrix(4, 4);
  CHECK(!mayOverlap(whole, whole.sliced(0, 2, 2)));
  CHECK(!mayOverlap(whole.sliced(1, 0, 0), whole));
  CHECK(!selfOverlaps(TensorView{base, DType::F32, {5, 0}, {0, 1}}));
}

TEST_CASE("views that address an element twice", "[overlap]") {
  auto overlaps = [](Extents shape, Extents strides) {
    return selfOverlaps(TensorView{base, DType::F32, shape, strides});
  };
  CHECK(!overlaps({}, {}));
  CHECK(!overlaps({4, 5}, {5, 1}));
  CHECK(!overlaps({4, 5}, {1, 4}));
  CHECK(!overlaps({4, 5}, {-5, 1}));
  CHECK(!overlaps({1, 5}, {0, 1}));
  CHECK(overlaps({2, 5}, {0, 1}));
  CHECK(overlaps({4, 5}, {4, 1}));
  CHECK(overlaps({4, 5}, {-4, 1}));
  CHECK(overlaps({3, 3}, {1, 1}));
  // A sliding window, and coprime strides that meet only at 3 * 2 = 2 * 3.
  CHECK(overlaps({100, 7}, {1, 1}));
  CHECK(overlaps({4, 3}, {2, 3}));
  CHECK(!overlaps({3, 3}, {2, 3}));
  CHECK(!overlaps({3, 2}, {2, 3}));
}

TEST_CASE("a budget of nothing answers on the safe side", "[overlap]") {
  TensorView whole = matrix(100, 64);
  TensorView even = whole.sliced(1, 0, 64, 2), odd = whole.sliced(1, 1, 64, 2);
  TensorView left = whole.sliced(1, 0, 32), right = whole.sliced(1, 32, 64);
  CHECK(mayOverlap(left, right, /*budget=*/0));
  CHECK(!mayOverlap(left, right));
  // Far apart needs no search.
  even.data = base - 100 * 64 * 4;
  CHECK(!mayOverlap(even, odd, /*budget=*/0));
}

TEST_CASE("hard cases end", "[overlap]") {
  // Many incommensurable strides: the answer may be either, but must come.
  Extents shape, strides;
  for (int64_t prime :
       {10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079}) {
    shape.push_back(50);
    strides.push_back(prime * 7919);
  }
  TensorView a{base, DType::F32, shape, strides};
  TensorView b{base + 4002, DType::F16, shape, strides};
  (void)mayOverlap(a, b);
  (void)selfOverlaps(a);
  SUCCEED();
}

TEST_CASE("addresses at the ends of the address space", "[overlap]") {
  char *last = reinterpret_cast<char *>(UINTPTR_MAX - 63);
  TensorView high{last, DType::F32, {8}, {1}};
  TensorView low{reinterpret_cast<char *>(uintptr_t(64)), DType::F32, {8}, {1}};
  CHECK(!mayOverlap(high, low));
  CHECK(mayOverlap(high, high));
  // Rows a quarter of the address space apart.
  constexpr int64_t quarter = int64_t(1) << 60;
  TensorView a{base, DType::F32, {2, 4}, {quarter, 1}};
  TensorView b{base + 16, DType::F32, {2, 4}, {quarter, 1}};
  CHECK(!mayOverlap(a, b));
  b.data = base + 12;
  CHECK(mayOverlap(a, b));
}

TEST_CASE("random views agree with counting bytes", "[overlap]") {
  std::mt19937 random(5);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  constexpr DType types[] = {DType::U8, DType::F16, DType::F32, DType::F64};
  auto make = [&] {
    TensorView view;
    view.dtype = types[pick(0, 3)];
    view.data = base + pick(-60, 60);
    for (int64_t rank = pick(0, 4); rank > 0; --rank) {
      view.shape.push_back(pick(0, 20) == 0 ? 0 : pick(1, 5));
      view.strides.push_back(pick(0, 2) ? pick(-12, 12) : pick(-60, 60));
    }
    return view;
  };
  unsigned overlapping = 0, disjointInRange = 0, selfOverlapping = 0;
  unsigned wrong = 0, wrongSelf = 0;
  for (int i = 0; i < 20000; ++i) {
    TensorView a = make(), b = make();
    bool expected = intersects(bytesOf(a), bytesOf(b));
    bool found = mayOverlap(a, b);
    wrong += found != expected;
    wrong += mayOverlap(b, a) != expected;
    overlapping += expected;
    if (!expected && !a.isEmpty() && !b.isEmpty()) {
      ByteExtent ea = *byteExtent(a), eb = *byteExtent(b);
      char *pa = static_cast<char *>(a.data), *pb = static_cast<char *>(b.data);
      disjointInRange +=
          pa + ea.low < pb + eb.high && pb + eb.low < pa + ea.high;
    }
    std::vector<uintptr_t> list = addresses(a);
    bool twice =
        std::set<uintptr_t>(list.begin(), list.end()).size() != list.size();
    wrongSelf += selfOverlaps(a) != twice;
    selfOverlapping += twice;
  }
  CHECK(wrong == 0);
  CHECK(wrongSelf == 0);
  // All kinds occurred.
  CHECK(overlapping > 1000);
  CHECK(disjointInRange > 1000);
  CHECK(selfOverlapping > 1000);
}
