//===- LargeTest.cpp - Offsets beyond 31 and 32 bits ------------*- C++ -*-===//
//
// Strides and numbers of elements at which 32-bit offsets wrap. Views with huge
// strides need address space but hardly any memory, as untouched pages do not
// exist, and those cases are tagged [space]: a device would copy all of it. The
// case with a dense array is tagged [large] and not run by default.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::test;

namespace {
/// Address space without memory behind it until it is touched.
struct Reservation {
  explicit Reservation(size_t bytes) : bytes(bytes) {
    base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Reservation() {
    if (isValid())
      munmap(base, bytes);
  }
  bool isValid() const { return base != MAP_FAILED; }
  void *base;
  size_t bytes;
};
} // namespace

TEST_CASE("strides beyond 2^31 elements", "[access][space]") {
  // Rows 2^30 + 3 elements apart: row 2 and later begin beyond 2^31.
  constexpr int64_t M = 5, D = 7, stride = (int64_t(1) << 30) + 3;
  Reservation x(size_t(M * stride + 64)), y(size_t(M * stride + 64));
  if (!x.isValid() || !y.isValid()) {
    WARN("skipped: no address space");
    return;
  }
  TensorView X, Y;
  X.dtype = Y.dtype = DType::I8;
  X.shape = Y.shape = {M, D};
  X.strides = Y.strides = {stride, 1};
  X.data = x.base;
  Y.data = y.base;
  // And the same upside down: negative strides of that size.
  TensorView reversed = Y.sliced(0, M - 1, -1, -1);
  for (const TensorView &target : {Y, reversed}) {
    for (int64_t m = 0; m < M; ++m)
      for (int64_t d = 0; d < D; ++d)
        X.setInt({m, d}, m * 10 + d + 1);
    Launch launch("large.tile", "scatter");
    launch.adopt("X", X);
    launch.adopt("Y", target);
    launch.run();
    for (int64_t m = 0; m < M; ++m)
      for (int64_t d = 0; d < D; ++d)
        CHECK(target.getInt({m, d}) == m * 10 + d + 1);
  }
  // The last dimension has the stride, so no vector load applies.
  TensorView columns = X.permuted({1, 0}), rows = Y.permuted({1, 0});
  Launch launch("large.tile", "scatter");
  launch.adopt("X", columns);
  launch.adopt("Y", rows);
  launch.run();
  for (int64_t m = 0; m < M; ++m)
    for (int64_t d = 0; d < D; ++d)
      CHECK(rows.getInt({d, m}) == m * 10 + d + 1);
}

TEST_CASE("gathers beyond 2^31 elements", "[access][space]") {
  constexpr int64_t N = (int64_t(5) << 30) + 11;
  Reservation x{size_t(N)};
  if (!x.isValid()) {
    WARN("skipped: no address space");
    return;
  }
  TensorView X = TensorView::contiguous(x.base, DType::I8, {N});
  const int64_t places[] = {0,
                            INT32_MAX,
                            int64_t(INT32_MAX) + 1,
                            UINT32_MAX,
                            int64_t(UINT32_MAX) + 1,
                            N - 1};
  Launch launch("large.tile", "gather");
  Tensor &i = launch.in("i", {6});
  for (int64_t k = 0; k < 6; ++k) {
    X.setInt({places[k]}, k + 1);
    i.setInt({k}, places[k]);
  }
  launch.adopt("X", X);
  Tensor &Y = launch.out("Y", {6});
  launch.run();
  expectExact(Y, [](Index k) { return double(k[0] + 1); });
}

/// A dense array of more than 2^31 elements: all of it written, then sums of
/// its rows, the last of which begin beyond 2^31.
static void fillAndSum(DType dtype) {
  constexpr int64_t N = (int64_t(1) << 31) + (int64_t(1) << 27) + 5;
  const size_t size = size_t(N) * byteSize(dtype);
  // A run on a GPU has a copy for the way back.
  const size_t needed = runsOnGpu() ? 3 * size : size * 3 / 2;
  auto available =
      size_t(sysconf(_SC_AVPHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  Reservation y{size};
  if (available < needed || !y.isValid()) {
    WARN("skipped: needs " << needed << " bytes of memory");
    return;
  }
  const CtArgs types = {{"T", dtypeName(dtype).str()}};
  Launch launch("large.tile", "fill", types);
  launch.adopt("Y", TensorView::contiguous(y.base, dtype, {N}));
  launch.run();
  auto at = [&](int64_t n) {
    return loadAsInt(dtype, static_cast<const char *>(y.base) +
                                n * int64_t(byteSize(dtype)));
  };
  int64_t wrong = 0;
  for (int64_t n = 0; n < N; ++n)
    wrong += at(n) != n % 100;
  CHECK(wrong == 0);

  constexpr int64_t width = 1001, rows = N / width;
  Launch sums("large.tile", "copy_rows", types);
  sums.adopt("X", TensorView::contiguous(y.base, dtype, {rows, width}));
  Tensor &S = sums.out("Y", {rows});
  sums.run();
  expectExact(S, [&](Index i) {
    int64_t sum = 0;
    for (int64_t n = 0; n < width; ++n)
      sum += at(i[0] * width + n);
    // Integers keep the low bits.
    return dtype == DType::I8   ? double(int8_t(sum))
           : dtype == DType::U8 ? double(uint8_t(sum))
                                : double(sum);
  });
}

TEST_CASE("a dense array of more than 2^31 elements", "[.][large]") {
  fillAndSum(DType::I8);
  // The cpu target's offsets are the same for all types.
  if (!runsOnGpu())
    return;
  fillAndSum(DType::U8);
  fillAndSum(DType::BF16);
}
