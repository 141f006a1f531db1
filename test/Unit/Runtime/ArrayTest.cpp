//===- ArrayTest.cpp - Tests of owned arrays --------------------*- C++ -*-===//
//
// Allocation of every kind of layout, and guards that notice a write anywhere
// outside the elements.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Array.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>

using namespace tilec;
using Catch::Matchers::Contains;

// One test asks for more than there is and wants to be told so, where
// AddressSanitizer would end the program. The name is the sanitizer's.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char *__asan_default_options();
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

template <typename T> T take(llvm::Expected<T> value) {
  if (!value)
    FAIL(llvm::toString(value.takeError()));
  return std::move(*value);
}

template <typename T> std::string message(llvm::Expected<T> value) {
  if (value)
    return "";
  return llvm::toString(value.takeError());
}

} // namespace

TEST_CASE("arrays are aligned and zero", "[array]") {
  for (DType dtype : allDTypes())
    for (size_t guard : {0, 1, 100}) {
      Array array = take(Array::create(dtype, {3, 5}, guard));
      CHECK(reinterpret_cast<uintptr_t>(array.data()) % 64 == 0);
      CHECK(array.storage().size() == 15 * byteSize(dtype));
      CHECK(array.view().isContiguous());
      CHECK(array.isGuarded() == (guard != 0));
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 5; ++j)
          CHECK(array.getDouble({i, j}) == 0);
      array.setDouble({2, 4}, 1);
      CHECK(array.getInt({2, 4}) == 1);
      CHECK(array.canariesIntact());
    }
}

TEST_CASE("rank 0 and empty arrays", "[array]") {
  Array scalar = take(Array::create(DType::F64, {}, 64));
  CHECK(scalar.numElements() == 1);
  scalar.setDouble({}, 3.5);
  CHECK(scalar.getDouble({}) == 3.5);
  CHECK(scalar.canariesIntact());

  Array empty = take(Array::create(DType::F64, {4, 0}, 64));
  CHECK(empty.numElements() == 0);
  CHECK(empty.storage().empty());
  CHECK(empty.canariesIntact());
  static_cast<uint8_t *>(empty.data())[0] = 0;
  CHECK(empty.firstBrokenCanary() == 0);

  Array none;
  CHECK(none.numElements() == 0);
  CHECK(none.canariesIntact());
  Array copy = take(Array::copyOf(none));
  CHECK(copy.shape() == llvm::ArrayRef<int64_t>({0}));
}

TEST_CASE("strided arrays own all that they reach", "[array]") {
  // Rows with padding, of which the columns run backward.
  Array array = take(Array::createStrided(DType::I16, {3, 4}, {6, -1}));
  CHECK(array.storage().size() == 2 * (2 * 6 + 4));
  CHECK(array.offset() == 3);
  int64_t next = 0;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 4; ++j)
      array.setInt({i, j}, next++);
  const int16_t *memory =
      reinterpret_cast<const int16_t *>(array.storage().data());
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 4; ++j)
      CHECK(memory[6 * i + 3 - j] == 4 * i + j);

  Array broadcast = take(Array::createStrided(DType::F32, {100, 2}, {0, 1}));
  CHECK(broadcast.storage().size() == 8);
}

TEST_CASE("impossible arrays are refused", "[array]") {
  constexpr int64_t large = int64_t(1) << 62;
  CHECK_THAT(message(Array::create(DType::F32, {large, 4})),
             Contains("fits 64 bits") &&
                 Contains("f32[4611686018427387904, 4]"));
  CHECK_THAT(message(Array::create(DType::F32, {large})),
             Contains("fits 64 bits"));
  CHECK_THAT(message(Array::create(DType::F32, {-1})),
             Contains("found f32[-1]"));
  CHECK_THAT(message(Array::create(DType::U8, {large})),
             Contains("cannot allocate 4611686018427387904 bytes") &&
                 Contains("\nhelp: "));
  CHECK_THAT(message(Array::create(DType::U8, {16},
                                   std::numeric_limits<size_t>::max() / 2)),
             Contains("cannot allocate"));
  CHECK_THAT(message(Array::createStrided(DType::F32, {2, 2}, {1})),
             Contains("one stride for each extent"));
  CHECK_THAT(message(Array::createStrided(DType::F32, {2}, {large})),
             Contains("fits 64 bits"));
}

TEST_CASE("moving an array keeps its elements where they are", "[array]") {
  Array array = take(Array::create(DType::I32, {4}, 64));
  void *data = array.data();
  array.setInt({3}, 9);
  Array moved = std::move(array);
  CHECK(moved.data() == data);
  CHECK(moved.getInt({3}) == 9);
  CHECK(moved.canariesIntact());
}

TEST_CASE("copyOf makes row-major copies of another type", "[array]") {
  Array array = take(Array::createStrided(DType::F32, {2, 3}, {1, 2}));
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      array.setDouble({i, j}, 10 * i + j + 0.5);
  Array copy = take(Array::copyOf(array, DType::I8));
  CHECK(copy.view().isContiguous());
  const int8_t expected[] = {0, 1, 2, 10, 11, 12};
  CHECK(std::memcmp(copy.data(), expected, sizeof(expected)) == 0);
}

TEST_CASE("a write to any byte outside the elements is noticed", "[array]") {
  for (DType dtype : {DType::F32, DType::BF16, DType::F8E4M3, DType::I64}) {
    int64_t bytes = byteSize(dtype);
    // Two rows of three elements, one element apart, and a gap of two.
    Array array =
        take(Array::createStrided(dtype, {2, 3}, {7, 2}, /*guardBytes=*/64));
    int64_t size = array.storage().size();
    REQUIRE(size == 12 * bytes);
    for (int64_t position = -64; position < size + 64; ++position) {
      uint8_t &byte = array.storage().data()[position];
      uint8_t old = byte;
      byte ^= 1;
      int64_t element = position < 0 ? -1 : position / bytes;
      bool isElement = element == 0 || element == 2 || element == 4 ||
                       element == 7 || element == 9 || element == 11;
      CHECK(array.firstBrokenCanary() ==
            (isElement ? std::nullopt : std::optional(position)));
      byte = old;
    }
    CHECK(array.canariesIntact());
    array.storage().data()[-1] ^= 0xFF;
    CHECK(!array.canariesIntact());
    array.repairCanaries();
    CHECK(array.canariesIntact());
  }
}

TEST_CASE("poison is NaN to every float and absurd to every integer",
          "[array]") {
  for (DType dtype : allDTypes()) {
    Array array = take(Array::createStrided(dtype, {3}, {2}, 64));
    poison(array);
    CHECK(array.canariesIntact());
    // Elements, gaps and guards alike, read as elements.
    TensorView around = array.view();
    around.data = static_cast<char *>(array.data()) - 64;
    around.shape = {int64_t(128 / byteSize(dtype)) + 5};
    around.strides = {1};
    unsigned wrong = 0;
    forEachElement(around, [&](void *element, int64_t) {
      if (isFloat(dtype))
        wrong += !std::isnan(loadAsDouble(dtype, element));
      else if (dtype == DType::Bool || dtype == DType::U8)
        wrong += *static_cast<uint8_t *>(element) != 0xA5;
      else
        wrong += loadAsInt(dtype, element) >= 0;
    });
    CHECK(wrong == 0);
    array.setInt({1}, 1);
    CHECK(array.getInt({1}) == 1);
    CHECK(array.canariesIntact());
  }
}

TEST_CASE("poisoning a view leaves its gaps alone", "[array]") {
  Array array = take(Array::createStrided(DType::F32, {2}, {2}));
  poison(array.view());
  CHECK(std::isnan(array.getDouble({0})));
  CHECK(std::isnan(array.getDouble({1})));
  uint32_t gap;
  std::memcpy(&gap, array.storage().data() + 4, 4);
  CHECK(gap == 0);
}
