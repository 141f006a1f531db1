//===- TensorFactsTest.cpp - What is true of a tensor -----------*- C++ -*-===//

#include "lib/Runtime/GPU/TensorFacts.h"
#include "lib/Runtime/GPU/GPUError.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tilec;
using namespace tilec::gpu;
using Catch::Matchers::Contains;

static TensorView viewOf(DType dtype, std::vector<int64_t> shape,
                         std::vector<int64_t> strides,
                         uint64_t address = 0x1000) {
  TensorView view;
  view.data = reinterpret_cast<void *>(address);
  view.dtype = dtype;
  view.shape.assign(shape.begin(), shape.end());
  view.strides.assign(strides.begin(), strides.end());
  return view;
}

static std::string failure(const TensorFacts &facts, const TensorView &view) {
  llvm::Error error = checkFacts(facts, view);
  if (!error)
    return "";
  CHECK(kindOf(error) == ErrorKind::BadArgument);
  std::string text = llvm::toString(std::move(error));
  CHECK_THAT(text, Contains("\nhelp: "));
  return text;
}

TEST_CASE("alignment of addresses and strides") {
  auto alignment = [](const TensorView &view) {
    return factsOf(view, 0, "X", 0).alignment;
  };
  CHECK(alignment(viewOf(DType::F32, {8, 8}, {8, 1})) == 16);
  CHECK(alignment(viewOf(DType::F32, {8, 8}, {8, 1}, 0x1008)) == 8);
  CHECK(alignment(viewOf(DType::I8, {8, 8}, {8, 1}, 0x1001)) == 1);
  CHECK(alignment(viewOf(DType::F32, {8, 8}, {9, 1})) == 4);
  CHECK(alignment(viewOf(DType::F32, {8, 8}, {10, 1})) == 8);
  CHECK(alignment(viewOf(DType::BF16, {8, 8}, {12, 1})) == 8);
  CHECK(alignment(viewOf(DType::I8, {8, 8}, {-6, 1})) == 2);
  CHECK(alignment(viewOf(DType::F32, {8, 8}, {0, 1})) == 16);
  // No address depends on the stride of one position.
  CHECK(alignment(viewOf(DType::F32, {1, 8}, {9, 1})) == 16);
  // Nor on anything of an empty array.
  CHECK(alignment(viewOf(DType::I8, {0, 8}, {7, 1}, 0x1001)) == 16);
  // Without a unit stride every dimension counts.
  CHECK(alignment(viewOf(DType::I8, {8, 8}, {32, 2})) == 2);
  CHECK(alignment(viewOf(DType::F64, {}, {})) == 16);
  CHECK(alignment(viewOf(DType::F64, {4}, {INT64_MIN / 2})) == 16);
}

TEST_CASE("the dimension of stride 1") {
  auto unit = [](std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return factsOf(viewOf(DType::F32, shape, strides), 0, "X", 0).unitStride;
  };
  CHECK(unit({4, 5}, {5, 1}) == 1);
  CHECK(unit({4, 5}, {1, 4}) == 0);
  CHECK(unit({4, 5}, {10, 2}) == -1);
  CHECK(unit({4, 5}, {-1, 4}) == -1);
  CHECK(unit({4, 1}, {1, 9}) == 0);
  // Any stride suits one position.
  CHECK(unit({4, 1}, {9, 9}) == 1);
  CHECK(unit({}, {}) == -1);
  // Rows that overlap: the last one.
  CHECK(unit({4, 5}, {1, 1}) == 1);
}

TEST_CASE("offsets that fit 31 bits") {
  auto fits = [](std::vector<int64_t> shape, std::vector<int64_t> strides,
                 int64_t slack = 0) {
    return fitsIndex32(viewOf(DType::F32, shape, strides), slack);
  };
  CHECK(fits({int64_t(1) << 31}, {1})); // The last is 2^31 - 1.
  CHECK_FALSE(fits({(int64_t(1) << 31) + 1}, {1}));
  CHECK(fits({65536, 32768}, {32768, 1}));
  CHECK_FALSE(fits({65536, 32769}, {32769, 1}));
  CHECK_FALSE(fits({65536, 32768}, {32768, 1}, 1));
  CHECK_FALSE(fits({65536, 32769}, {-32769, 1}));
  CHECK_FALSE(fits({2}, {INT64_MIN}));
  CHECK_FALSE(fits({2, 2}, {INT64_MAX, INT64_MAX}));
  CHECK_FALSE(fits({INT64_MAX}, {2}, INT64_MAX));
  // Strides of one position do not count, nor does anything empty.
  CHECK(fits({1, 8}, {INT64_MAX, 1}));
  CHECK(fits({0, 8}, {1, INT64_MAX}));
  CHECK(fits({}, {}));
  CHECK(fits({8}, {0}, INT64_MAX));
}

TEST_CASE("facts of random views hold for every element") {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    unsigned rank = random() % 4;
    std::vector<int64_t> shape, strides;
    for (unsigned d = 0; d < rank; ++d) {
      shape.push_back(random() % 4);
      strides.push_back(int64_t(random() % 21) - 10);
    }
    DType dtype = allDTypes()[random() % allDTypes().size()];
    TensorView view = viewOf(dtype, shape, strides, 0x100000 + random() % 64);
    TensorFacts facts = factsOf(view, 2, "X", 0);
    CHECK(failure(facts, view) == "");
    // By its definition, over all elements: the address of one whose index is
    // 0 along the unit stride is a multiple of the alignment.
    unsigned seen = 16;
    forEachElement(view, [&](void *element, int64_t position) {
      if (facts.unitStride >= 0) {
        int64_t after = 1;
        for (unsigned d = rank; d-- > unsigned(facts.unitStride) + 1;)
          after *= view.shape[d];
        if (position / after % view.shape[facts.unitStride] != 0)
          return;
      }
      while (reinterpret_cast<uintptr_t>(element) % seen != 0)
        seen /= 2;
    });
    CHECK(seen % facts.alignment == 0);
    if (facts.unitStride >= 0 && view.shape[facts.unitStride] > 1)
      CHECK(view.strides[facts.unitStride] == 1);
  }
}

TEST_CASE("a view that is not as the code relies upon") {
  TensorFacts facts{0, "X", DType::BF16, 2, 1, 16, true, 127};
  auto with = [&](std::vector<int64_t> shape, std::vector<int64_t> strides,
                  uint64_t address = 0x1000) {
    return failure(facts, viewOf(DType::BF16, shape, strides, address));
  };
  CHECK(with({8, 8}, {8, 1}) == "");
  CHECK(with({8, 8}, {8, 1}, 0x1008) ==
        "argument 'X' is expected to begin at a multiple of 16 bytes, got "
        "address 0x1008\nhelp: compile the kernel for these arguments, or pass "
        "an array that begins at such an address");
  CHECK(with({8, 8}, {12, 1}) ==
        "argument 'X' is expected to have strides that are multiples of 16 "
        "bytes, got stride 12 of 2 bytes in dimension 0\nhelp: compile the "
        "kernel for these arguments, or pad the rows of the array");
  CHECK(with({8, 8}, {1, 8}) ==
        "argument 'X' is expected to have stride 1 in dimension 1, got stride "
        "8\nhelp: compile the kernel for these arguments, or copy the array to "
        "row-major order");
  CHECK_THAT(with({1 << 20, 2048}, {2048, 1}),
             Contains("offsets within 31 bits (with 127 positions beyond the "
                      "end of each dimension), got bf16[1048576, 2048]"));
  CHECK(with({1 << 20, 1024}, {1024, 1}) == "");
  CHECK_THAT(failure(facts, viewOf(DType::F16, {8, 8}, {8, 1})),
             Contains("expected to be bf16 of 2 dimensions, got f16[8, 8]"));
  CHECK_THAT(with({8}, {1}), Contains("bf16 of 2 dimensions, got bf16[8]"));
  // One position, or none.
  CHECK(with({1, 8}, {3, 1}) == "");
  CHECK(with({8, 1}, {8, 3}) == "");
  CHECK(with({0, 8}, {3, 1}, 0x1001) == "");
  CHECK(with({8, 0}, {1, 3}, 0x1001) == "");
}
