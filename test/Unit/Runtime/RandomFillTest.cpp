//===- RandomFillTest.cpp - Tests of reproducible inputs --------*- C++ -*-===//
//
// Values depend on seed, name and position alone; their distribution is what is
// promised; bounds are kept. A few values are pinned, because a change of the
// stream would silently change every recorded benchmark and test.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/RandomFill.h"

#include "lib/Runtime/Array.h"
#include "lib/Support/Philox.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace tilec;
using Catch::Matchers::Contains;

namespace {

template <typename T> T take(llvm::Expected<T> value) {
  if (!value)
    FAIL(llvm::toString(value.takeError()));
  return std::move(*value);
}

void fill(Array &array, uint64_t seed, llvm::StringRef name,
          const FillOptions &options = {}) {
  CHECK(llvm::toString(fillRandom(array, seed, name, options)) == "");
}

Array filled(DType dtype, llvm::ArrayRef<int64_t> shape,
             const FillOptions &options = {}, uint64_t seed = 1,
             llvm::StringRef name = "A") {
  Array array = take(Array::create(dtype, shape));
  fill(array, seed, name, options);
  return array;
}

bool sameElements(const Array &a, const Array &b) {
  bool same = true;
  Array copyA = take(Array::copyOf(a)), copyB = take(Array::copyOf(b));
  if (copyA.storage().size() != copyB.storage().size())
    return false;
  same = std::memcmp(copyA.data(), copyB.data(), copyA.storage().size()) == 0;
  return same;
}

std::map<int64_t, unsigned> histogram(const Array &array) {
  std::map<int64_t, unsigned> counts;
  forEachElement(array, [&](void *element, int64_t) {
    ++counts[loadAsInt(array.dtype(), element)];
  });
  return counts;
}

} // namespace

TEST_CASE("values depend on seed, name and position only", "[random]") {
  Array array = filled(DType::F32, {7, 9});
  CHECK(sameElements(array, filled(DType::F32, {7, 9})));
  CHECK(!sameElements(array, filled(DType::F32, {7, 9}, {}, 2)));
  CHECK(!sameElements(array, filled(DType::F32, {7, 9}, {}, 1, "B")));

  Array strided = take(Array::createStrided(DType::F32, {7, 9}, {-1, 10}, 64));
  fill(strided, 1, "A");
  CHECK(sameElements(array, strided));
  CHECK(strided.canariesIntact());

  // A longer array begins with the same values.
  Array longer = filled(DType::F32, {8, 9});
  CHECK(std::memcmp(array.data(), longer.data(), 7 * 9 * 4) == 0);
  // And another type has them rounded.
  Array narrow = filled(DType::BF16, {7, 9});
  CHECK(sameElements(narrow, take(Array::copyOf(array, DType::BF16))));
}

TEST_CASE("the streams are pinned", "[random]") {
  CHECK(streamSeed(0, "") == 0x8035f29acc108b3);
  CHECK(streamSeed(1, "A") == 0x837c240755e06ab0);
  CHECK(streamSeed(1, "A") != streamSeed(1, "B"));
  CHECK(streamSeed(1, "A") != streamSeed(2, "A"));
  // The sum of the eight halves of the first published Philox block.
  int64_t sum =
      0x6627 + 0xe8d5 + 0xe169 + 0xc58d + 0xbc57 + 0xac4c + 0x9b00 + 0xdbd8;
  CHECK(normalAt(0, 0) ==
        Approx((sum - 4 * 65535.0) * std::sqrt(1.5) / 65536).epsilon(1e-15));
  CHECK(integerAt(0, 0, 0, 256) == 0xe1);
  CHECK(integerAt(0, 0, -8, 8) == 0xe - 8);
}

TEST_CASE("floats are approximately normal", "[random]") {
  constexpr int64_t count = 100000;
  Array array = filled(DType::F64, {count});
  double sum = 0, squares = 0, fourth = 0, product = 0, previous = 0;
  int64_t within1 = 0, within2 = 0;
  forEachElement(array, [&](void *element, int64_t) {
    double x = loadAsDouble(DType::F64, element);
    CHECK_FALSE(std::abs(x) > 4.9);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    product += x * previous;
    previous = x;
    within1 += std::abs(x) < 1;
    within2 += std::abs(x) < 2;
  });
  // Six standard errors; the values are fixed, so this cannot flicker.
  CHECK(std::abs(sum / count) < 0.02);
  CHECK(std::abs(squares / count - 1) < 0.03);
  CHECK(std::abs(fourth / count - 2.85) < 0.15);
  CHECK(std::abs(product / count) < 0.02);
  CHECK(std::abs(within1 / double(count) - 0.683) < 0.02);
  CHECK(std::abs(within2 / double(count) - 0.954) < 0.01);

  Array scaled = filled(DType::F64, {10}, {.scale = 0.5});
  for (int64_t i = 0; i < 10; ++i)
    CHECK(scaled.getDouble({i}) == array.getDouble({i}) / 2);
}

TEST_CASE("integers are uniform in a small range", "[random]") {
  struct Case {
    DType dtype;
    int64_t min, max;
  };
  for (Case c : {Case{DType::I64, -8, 7}, Case{DType::I32, -8, 7},
                 Case{DType::I16, -8, 7}, Case{DType::I8, -8, 7},
                 Case{DType::U8, 0, 15}, Case{DType::Bool, 0, 1}}) {
    CAPTURE(dtypeName(c.dtype).str());
    std::map<int64_t, unsigned> counts = histogram(filled(c.dtype, {16000}));
    CHECK(counts.begin()->first == c.min);
    CHECK(counts.rbegin()->first == c.max);
    CHECK(int64_t(counts.size()) == c.max - c.min + 1);
    double expected = 16000.0 / (c.max - c.min + 1);
    for (auto [value, count] : counts)
      CHECK(std::abs(count - expected) < 6 * std::sqrt(expected));
  }
}

TEST_CASE("integer-valued floats are exact in every type", "[random]") {
  Array reference = filled(DType::F64, {1000}, {.integerValued = true});
  CHECK(histogram(reference).size() == 16);
  for (DType dtype : allDTypes()) {
    if (!isFloat(dtype))
      continue;
    Array array = filled(dtype, {1000}, {.integerValued = true});
    CHECK(sameElements(take(Array::copyOf(array, DType::F64)), reference));
  }
}

TEST_CASE("bounds are kept", "[random]") {
  std::map<int64_t, unsigned> indices =
      histogram(filled(DType::I32, {1000}, {.maxExclusive = 3}));
  CHECK(indices.size() == 3);
  CHECK(indices.begin()->first == 0);
  std::map<int64_t, unsigned> floats = histogram(
      filled(DType::F16, {1000}, {.minInclusive = -1, .maxExclusive = 2}));
  CHECK(floats.size() == 3);
  CHECK(floats.begin()->first == -1);
  std::map<int64_t, unsigned> from =
      histogram(filled(DType::I64, {1000}, {.minInclusive = 100}));
  CHECK(from.begin()->first == 100);
  CHECK(from.rbegin()->first == 115);
  std::map<int64_t, unsigned> one =
      histogram(filled(DType::I32, {10}, {.maxExclusive = 1}));
  CHECK(one.size() == 1);

  // The whole of i64, but for its largest value.
  constexpr int64_t min = std::numeric_limits<int64_t>::min();
  constexpr int64_t max = std::numeric_limits<int64_t>::max();
  std::map<int64_t, unsigned> wide = histogram(
      filled(DType::I64, {1000}, {.minInclusive = min, .maxExclusive = max}));
  CHECK(wide.size() == 1000);
  CHECK(wide.begin()->first < min / 2);
  CHECK(wide.rbegin()->first > max / 2);
}

TEST_CASE("impossible ranges are refused", "[random]") {
  auto message = [](DType dtype, const FillOptions &options,
                    llvm::ArrayRef<int64_t> shape = {4}) {
    Array array = take(Array::create(dtype, shape));
    return llvm::toString(fillRandom(array, 1, "idx", options));
  };
  CHECK(message(DType::I32, {.maxExclusive = 0}) ==
        "tensor 'idx': expected a range with a value in it, found [0, 0)");
  CHECK(message(DType::I32, {.maxExclusive = 0}, {0}) == "");
  CHECK(message(DType::I8, {.maxExclusive = 129}) ==
        "tensor 'idx': expected values from -128 to 127, which i8 holds "
        "exactly, found [0, 129)");
  CHECK(message(DType::I8, {.maxExclusive = 128}) == "");
  CHECK_THAT(message(DType::U8, {.minInclusive = -1}),
             Contains("from 0 to 255"));
  CHECK_THAT(message(DType::F8E5M2, {.maxExclusive = 10}),
             Contains("from -8 to 8, which f8e5m2 holds exactly"));
  CHECK_THAT(message(DType::I64,
                     {.minInclusive = std::numeric_limits<int64_t>::max()}),
             Contains("a range with a value in it"));
}

TEST_CASE("constants fill the elements only", "[random]") {
  Array array = take(Array::createStrided(DType::BF16, {3, 2}, {5, 2}, 64));
  fillConstant(array, 1.5);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j)
      CHECK(array.getDouble({i, j}) == 1.5);
  CHECK(array.canariesIntact());
}
