//===- TensorViewTest.cpp - Tests of strided views --------------*- C++ -*-===//
//
// Shapes, extents in bytes at the edge of 64 bits, derived views, and the
// conversions of single elements.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/TensorView.h"

#include "lib/Runtime/NarrowFloat.h"

#include "llvm/ADT/APFloat.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace tilec;
using Catch::Matchers::Contains;

namespace {

constexpr int64_t int64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t int64Min = std::numeric_limits<int64_t>::min();

/// 0, 1, 2, ... in row-major order.
struct Iota {
  explicit Iota(std::initializer_list<int64_t> shape)
      : view(TensorView::contiguous(nullptr, DType::I32, shape)) {
    values.resize(view.numElements());
    std::iota(values.begin(), values.end(), 0);
    view.data = values.data();
  }
  std::vector<int32_t> values;
  TensorView view;
};

std::vector<int64_t> elements(const TensorView &view) {
  std::vector<int64_t> result;
  forEachElement(view, [&](void *element, int64_t position) {
    CHECK(position == int64_t(result.size()));
    result.push_back(loadAsInt(view.dtype, element));
  });
  return result;
}

std::string verifyMessage(const TensorView &view) {
  return llvm::toString(verify(view, "x"));
}

} // namespace

TEST_CASE("element counts are checked", "[view]") {
  CHECK(checkedNumElements({}) == 1);
  CHECK(checkedNumElements({2, 3, 4}) == 24);
  CHECK(checkedNumElements({2, 0, 4}) == 0);
  CHECK(checkedNumElements({int64Max}) == int64Max);
  CHECK(!checkedNumElements({int64_t(1) << 32, int64_t(1) << 31}));
  CHECK(!checkedNumElements({-1}));
  CHECK(!checkedNumElements({0, -1}));
  // Zero elements, but no row-major strides in 64 bits.
  CHECK(!checkedNumElements({0, int64_t(1) << 62, 4}));
}

TEST_CASE("row-major strides", "[view]") {
  CHECK(rowMajorStrides({2, 3, 4}) == Extents{12, 4, 1});
  CHECK(rowMajorStrides({}) == Extents{});
  CHECK(rowMajorStrides({2, 0, 4}) == Extents{4, 4, 1});
}

TEST_CASE("contiguity ignores strides that no element uses", "[view]") {
  char byte;
  auto isContiguous = [&](Extents shape, Extents strides) {
    return TensorView{&byte, DType::F32, shape, strides}.isContiguous();
  };
  CHECK(isContiguous({2, 3}, {3, 1}));
  CHECK(isContiguous({2, 1, 3}, {3, 77, 1}));
  CHECK(isContiguous({}, {}));
  CHECK(isContiguous({1}, {-5}));
  CHECK(isContiguous({2, 0}, {9, 9}));
  CHECK(!isContiguous({2, 3}, {1, 2}));
  CHECK(!isContiguous({2, 3}, {4, 1}));
  CHECK(!isContiguous({2}, {-1}));
  CHECK(!isContiguous({2}, {0}));
}

TEST_CASE("byte extents", "[view]") {
  char byte;
  auto extent = [&](DType dtype, Extents shape, Extents strides) {
    std::optional<ByteExtent> found =
        byteExtent({&byte, dtype, shape, strides});
    return found ? std::optional(std::pair(found->low, found->high))
                 : std::nullopt;
  };
  using Pair = std::pair<int64_t, int64_t>;
  CHECK(extent(DType::F32, {}, {}) == Pair(0, 4));
  CHECK(extent(DType::F32, {2, 3}, {3, 1}) == Pair(0, 24));
  CHECK(extent(DType::F32, {2, 3}, {10, 2}) == Pair(0, 60));
  CHECK(extent(DType::F16, {4}, {-3}) == Pair(-18, 2));
  CHECK(extent(DType::F64, {2, 2}, {-2, 1}) == Pair(-16, 16));
  CHECK(extent(DType::F32, {5, 3}, {0, 1}) == Pair(0, 12));
  CHECK(extent(DType::F32, {0, 3}, {3, 1}) == Pair(0, 0));
  CHECK(extent(DType::F32, {1}, {int64Max}) == Pair(0, 4));
  // More than 2^31 elements, and the last sizes that fit.
  CHECK(extent(DType::F32, {3, int64_t(1) << 31}, {int64_t(1) << 31, 1}) ==
        Pair(0, 3 * (int64_t(1) << 33)));
  CHECK(extent(DType::U8, {int64Max}, {1}) == Pair(0, int64Max));
  CHECK(extent(DType::U8, {2}, {int64Min}) == Pair(int64Min, 1));
  CHECK(!extent(DType::U8, {2}, {int64Max}));
  CHECK(!extent(DType::F32, {int64Max / 2}, {1}));
  CHECK(!extent(DType::F32, {int64Max, int64Max, int64Max},
                {int64Max, int64Max, int64Max}));
  CHECK(!extent(DType::F32, {3, 4}, {1}));
  CHECK(!extent(DType::F32, {-3}, {1}));
}

TEST_CASE("verify says what is wrong", "[view]") {
  float value = 0;
  CHECK(verifyMessage({&value, DType::F32, {}, {}}) == "");
  CHECK(verifyMessage({nullptr, DType::F32, {3, 0}, {0, 1}}) == "");
  CHECK(verifyMessage({&value, DType::F32, {3, 4}, {1}}) ==
        "tensor 'x': expected 2 strides, one for each extent, found 1");
  CHECK(verifyMessage({&value, DType::F32, {3, -4}, {4, 1}}) ==
        "tensor 'x': expected an extent of 0 or more, found -4 for dimension "
        "1");
  CHECK(verifyMessage({nullptr, DType::F32, {3}, {1}}) ==
        "tensor 'x': expected the address of f32[3], found a null pointer");
  CHECK_THAT(verifyMessage({&value, DType::F32, {3}, {int64Max}}),
             Contains("offsets that fit 64 bits") &&
                 Contains("f32[3] strides [9223372036854775807]"));
  CHECK_THAT(verifyMessage({&value, DType::F32, {int64Max, 2}, {0, 0}}),
             Contains("number of elements that fits 64 bits"));
  void *low = reinterpret_cast<void *>(uintptr_t(16));
  CHECK_THAT(verifyMessage({low, DType::F32, {8}, {-1}}),
             Contains("inside the address space") && Contains("0x10"));
  void *high = reinterpret_cast<void *>(UINTPTR_MAX - 7);
  CHECK_THAT(verifyMessage({high, DType::F32, {8}, {1}}),
             Contains("inside the address space"));
}

TEST_CASE("views are printed as the language writes types", "[view]") {
  CHECK(toString(TensorView{nullptr, DType::BF16, {2, 3}, {3, 1}}) ==
        "bf16[2, 3]");
  CHECK(toString(TensorView{nullptr, DType::F32, {2, 3}, {1, 2}}) ==
        "f32[2, 3] strides [1, 2]");
  CHECK(toString(TensorView{nullptr, DType::I64, {}, {}}) == "i64[]");
}

TEST_CASE("derived views address the right elements", "[view]") {
  Iota iota({2, 3, 4});
  const TensorView &view = iota.view;
  CHECK(elements(view).size() == 24);

  TensorView transposed = view.transposed();
  CHECK(transposed.shape == Extents{2, 4, 3});
  CHECK(transposed.getInt({1, 3, 2}) == view.getInt({1, 2, 3}));
  CHECK(elements(transposed.selected(0, 0)) ==
        std::vector<int64_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});

  TensorView permuted = view.permuted({2, 0, 1});
  CHECK(permuted.shape == Extents{4, 2, 3});
  CHECK(permuted.getInt({3, 1, 2}) == 23);
  CHECK(permuted.getInt({1, 0, 2}) == 9);

  TensorView sliced = view.sliced(2, 1, 4, 2);
  CHECK(sliced.shape == Extents{2, 3, 2});
  CHECK(elements(sliced.selected(0, 1)) ==
        std::vector<int64_t>{13, 15, 17, 19, 21, 23});

  CHECK(elements(view.selected(0, 0).sliced(1, 3, -1, -1).selected(0, 1)) ==
        std::vector<int64_t>{7, 6, 5, 4});
  CHECK(elements(view.selected(0, 0).selected(0, 2).sliced(0, 3, 0, -2)) ==
        std::vector<int64_t>{11, 9});
  CHECK(elements(view.sliced(1, 1, 2).sliced(2, 2, 3)) ==
        std::vector<int64_t>{6, 18});

  TensorView column = view.selected(0, 0).sliced(1, 1, 2).broadcast(1, 3);
  CHECK(column.shape == Extents{3, 3});
  CHECK(elements(column) == std::vector<int64_t>{1, 1, 1, 5, 5, 5, 9, 9, 9});
}

TEST_CASE("empty and rank 0 views", "[view]") {
  Iota iota({2, 3});
  CHECK(elements(iota.view.sliced(0, 2, 2)).empty());
  CHECK(elements(iota.view.sliced(1, 2, 1)).empty());
  CHECK(iota.view.sliced(0, 2, 2).shape == Extents{0, 3});
  TensorView scalar = iota.view.selected(0, 1).selected(0, 1);
  CHECK(scalar.rank() == 0);
  CHECK(scalar.numElements() == 1);
  CHECK(elements(scalar) == std::vector<int64_t>{4});
  CHECK(scalar.getInt({}) == 4);
  // No address is computed from the null pointer of an empty view.
  TensorView empty = TensorView::contiguous(nullptr, DType::F32, {0, 4});
  CHECK(elements(empty.sliced(1, 1, 3)).empty());
  CHECK(empty.selected(1, 2).data == nullptr);
}

TEST_CASE("elements may be unaligned", "[view]") {
  alignas(8) char bytes[64] = {};
  for (DType dtype : allDTypes()) {
    TensorView view = TensorView::contiguous(bytes + 1, dtype, {3});
    view.setInt({1}, 1);
    CHECK(view.getInt({1}) == 1);
    CHECK(view.getDouble({1}) == 1.0);
    CHECK(view.getInt({0}) == 0);
    CHECK(view.getInt({2}) == 0);
    view.setInt({1}, 0);
  }
}

TEST_CASE("stores to integers truncate and saturate", "[view]") {
  char element[8];
  auto viaDouble = [&](DType dtype, double value) {
    storeDouble(dtype, element, value);
    return loadAsInt(dtype, element);
  };
  auto viaInt = [&](DType dtype, int64_t value) {
    storeInt(dtype, element, value);
    return loadAsInt(dtype, element);
  };
  CHECK(viaDouble(DType::I8, 2.9) == 2);
  CHECK(viaDouble(DType::I8, -2.9) == -2);
  CHECK(viaDouble(DType::I8, 1000) == 127);
  CHECK(viaDouble(DType::U8, -1) == 0);
  CHECK(viaDouble(DType::U8, 256) == 255);
  CHECK(viaDouble(DType::I32, std::nan("")) == 0);
  CHECK(viaDouble(DType::I64, 0x1p63) == int64Max);
  CHECK(viaDouble(DType::I64, -0x1p63) == int64Min);
  CHECK(viaDouble(DType::I64, -INFINITY) == int64Min);
  CHECK(viaDouble(DType::Bool, 0.25) == 1);
  CHECK(viaDouble(DType::Bool, -0.0) == 0);
  CHECK(viaDouble(DType::Bool, std::nan("")) == 1);
  CHECK(viaInt(DType::I16, 40000) == 32767);
  CHECK(viaInt(DType::I16, int64Min) == -32768);
  CHECK(viaInt(DType::I64, int64Min) == int64Min);
  CHECK(viaInt(DType::Bool, -7) == 1);
  CHECK(viaInt(DType::F8E4M3, 1000) == 448);
}

TEST_CASE("integers are rounded once on their way to a float", "[view]") {
  std::mt19937_64 random(11);
  std::vector<int64_t> values = {int64Max, int64Min, int64Min + 1, 0, -1,
                                 // Just above a tie of f32, lost in a double.
                                 (int64_t(1) << 62) + (int64_t(1) << 38) + 1};
  for (int i = 0; i < 20000; ++i)
    values.push_back(static_cast<int64_t>(random()) >> (random() % 64));
  for (auto [dtype, semantics] :
       {std::pair(DType::F32, &llvm::APFloat::IEEEsingle()),
        std::pair(DType::F64, &llvm::APFloat::IEEEdouble()),
        std::pair(DType::BF16, &llvm::APFloat::BFloat()),
        std::pair(DType::F16, &llvm::APFloat::IEEEhalf())}) {
    unsigned wrong = 0;
    for (int64_t value : values) {
      char element[8];
      storeInt(dtype, element, value);
      llvm::APFloat expected(*semantics);
      expected.convertFromAPInt(llvm::APInt(64, value, /*isSigned=*/true),
                                /*IsSigned=*/true,
                                llvm::APFloat::rmNearestTiesToEven);
      bool lost;
      expected.convert(llvm::APFloat::IEEEdouble(),
                       llvm::APFloat::rmNearestTiesToEven, &lost);
      wrong += loadAsDouble(dtype, element) != expected.convertToDouble();
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("copies convert, and keep bits where types are equal", "[view]") {
  Iota iota({3, 5});
  std::vector<float> floats(15);
  TensorView target = TensorView::contiguous(floats.data(), DType::F32, {5, 3});
  copyElements(target, iota.view.transposed());
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 3; ++j)
      CHECK(floats[i * 3 + j] == j * 5 + i);

  // To a strided target, from a broadcast and reversed source.
  std::vector<int64_t> wide(30, -1);
  TensorView strided{wide.data() + 1, DType::I64, {3, 5}, {10, 2}};
  copyElements(strided, iota.view.sliced(0, 2, -1, -1));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j) {
      CHECK(wide[10 * i + 2 * j + 1] == (2 - i) * 5 + j);
      CHECK(wide[10 * i + 2 * j] == -1);
    }

  // A signaling NaN with a payload.
  uint32_t bits = 0x7F800123, copied = 0;
  copyElements(TensorView{&copied, DType::F32, {}, {}},
               TensorView{&bits, DType::F32, {}, {}});
  CHECK(copied == bits);
  // An i64 too long for a double.
  int64_t large = int64Max - 1, back = 0;
  copyElements(TensorView{&back, DType::I64, {1}, {5}},
               TensorView{&large, DType::I64, {1}, {7}});
  CHECK(back == large);
}
