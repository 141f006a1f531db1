//===- ScheduleTest.cpp - Tile sizes ----------------------------*- C++ -*-===//
//
// Which of text, schedule and default settles a tile's size, and the defaults
// by the use of an axis.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Schedule.h"

#include "test/Unit/Frontend/Analyzing.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace tilec;
using namespace tilec::test;

/// The tile sizes of the last kernel of a program, by name; "kv" is attention's
/// own unless a variable has that name.
static std::map<std::string, int64_t>
sizesOf(const std::string &text, llvm::StringRef target = "cpu",
        const llvm::StringMap<int64_t> &known = {}) {
  Analyzed program(text, {}, target);
  INFO(text << "\n" << program.messages());
  REQUIRE(program.kernel);
  assignSchedule(*program.kernel, target, known);
  std::map<std::string, int64_t> sizes;
  for (const typed::Attention *attention : program.kernel->attentions)
    sizes["kv"] = attention->kvTile;
  for (const typed::Axis *axis : program.kernel->axes)
    if (axis->isTile()) {
      CHECK(axis->tileSize > 0);
      sizes[axis->name.str()] = axis->tileSize;
    }
  return sizes;
}

static const char *copy = R"(
kernel k(A: f32[M], C: out f32[M]) {
  grid m in tile(M)
  C[m] = A[m]
})";

static const char *matmul = R"(
kernel k(A: bf16[M, K], B: bf16[K, N], C: out f32[M, N]) {
  grid m in tile(M), n in tile(N)
  acc = zeros f32[m, n]
  for k in tile(K) { acc += dot(A[m, k], B[k, n]) }
  C[m, n] = acc
})";

static const char *attend = R"(
kernel k(Q: bf16[S, D], K: bf16[T, D], V: bf16[T, D], O: out bf16[S, D]) {
  grid i in tile(S)
  O[i] = attention(Q[i], K, V)
})";

TEST_CASE("text wins over schedule, schedule over default", "[schedule]") {
  CHECK(sizesOf(copy)["m"] == 8192);
  CHECK(sizesOf(R"(
kernel k(A: f32[M], C: out f32[M]) {
  schedule { m = 48 }
  grid m in tile(M)
  C[m] = A[m]
})")["m"] == 48);
  CHECK(sizesOf(R"(
kernel k(A: f32[M], C: out f32[M]) {
  schedule { m = 48 }
  grid m in tile(M, 24)
  C[m] = A[m]
})")["m"] == 24);
  std::string both = std::string("schedule k for sm_90a { m = 7 }\n") + copy;
  CHECK(sizesOf(both, "sm_90a")["m"] == 7);
  CHECK(sizesOf(both, "cpu")["m"] == 8192);
  CHECK(sizesOf(std::string("schedule k for cpu { kv = 96 }\n") +
                attend)["kv"] == 96);
}

TEST_CASE("defaults by use on cpu", "[schedule]") {
  auto product = sizesOf(matmul);
  CHECK(product["m"] == 128);
  CHECK(product["n"] == 128);
  CHECK(product["k"] == 128);
  auto attention = sizesOf(attend, "cpu", {{"D", 128}});
  CHECK(attention["i"] == 64);
  CHECK(attention["kv"] == 128);
  const char *rows = R"(
kernel k(X: f32[M, N], C: out f32[M, N]) {
  grid m in tile(M)
  C[m] = softmax<N>(X[m])
})";
  CHECK(sizesOf(rows, "cpu", {{"N", 1024}})["m"] == 16);
  CHECK(sizesOf(rows, "cpu", {{"N", 1000}})["m"] == 16);
  CHECK(sizesOf(rows, "cpu", {{"N", 7}})["m"] == 64);
  CHECK(sizesOf(rows, "cpu", {{"N", 100000}})["m"] == 1);
  CHECK(sizesOf(rows, "cpu", {{"N", 1}})["m"] == 8192);
  CHECK(sizesOf(rows, "cpu", {{"N", 0}})["m"] == 8192);
  auto plane = sizesOf(R"(
kernel k(X: f32[M, N], C: out f32[M, N]) {
  grid m in tile(M), n in tile(N)
  C[m, n] = X[m, n]
})");
  CHECK(plane["m"] == 32);
  CHECK(plane["n"] == 256);
  auto transposed = sizesOf(R"(
kernel k(X: f32[M, N], C: out f32[N, M]) {
  grid m in tile(M), n in tile(N)
  C[n, m] = X[m, n]
})");
  CHECK(transposed["m"] == 64);
  CHECK(transposed["n"] == 64);
  auto volume = sizesOf(R"(
kernel k(X: f32[B, M, N], C: out f32[B, M, N]) {
  grid b in tile(B), m in tile(M), n in tile(N)
  C[b, m, n] = X[b, m, n]
})");
  CHECK(volume["b"] == 1);
  CHECK(volume["m"] == 32);
  CHECK(volume["n"] == 256);
}

TEST_CASE("tiles are no longer than known extents", "[schedule]") {
  CHECK(sizesOf(copy, "cpu", {{"M", 100}})["m"] == 100);
  CHECK(sizesOf(copy, "cpu", {{"M", 0}})["m"] == 1);
  CHECK(sizesOf(copy, "sm_90a", {{"M", 100}})["m"] == 128);
  CHECK(sizesOf(copy, "sm_90a", {{"M", 3}})["m"] == 16);
  CHECK(sizesOf(attend, "cpu", {{"D", 64}, {"T", 50}})["kv"] == 50);
  CHECK(sizesOf(R"(
kernel k(A: f32[20], C: out f32[20]) {
  grid m in tile(20)
  C[m] = A[m]
})")["m"] == 20);
}

TEST_CASE("values stay within their budget", "[schedule]") {
  // 64 rows of 4096 would be a megabyte.
  const char *wide = R"(
kernel k(A: bf16[M, K], B: bf16[K, N], C: out f32[M, N]) {
  grid m in tile(M)
  acc = zeros f32[m, N]
  for k in tile(K) { acc += dot(A[m, k], B[k]) }
  C[m] = acc
})";
  auto sizes = sizesOf(wide, "cpu", {{"N", 4096}});
  CHECK(sizes["m"] * 4096 <= 32768);
  CHECK(sizes["k"] * 4096 <= 32768);
  CHECK(sizesOf(wide, "cpu", {{"N", 1000000}})["m"] == 1);
  // A size that was asked for is not touched.
  std::string fixed = wide;
  fixed.replace(fixed.find("tile(M)"), 7, "tile(M, 64)");
  CHECK(sizesOf(fixed, "cpu", {{"N", 1000000}})["m"] == 64);
}

TEST_CASE("GPU sizes are powers of two", "[schedule]") {
  for (const char *text : {copy, matmul, attend})
    for (const auto &[name, size] : sizesOf(text, "sm_90a", {{"D", 128}})) {
      INFO(text << name);
      CHECK(llvm::isPowerOf2_64(size));
    }
  auto product = sizesOf(matmul, "sm_90a");
  CHECK(product["m"] == 128);
  CHECK(product["n"] == 128);
  CHECK(product["k"] == 64);
  auto attention = sizesOf(attend, "sm_90a", {{"D", 128}});
  CHECK(attention["i"] == 64);
  CHECK(attention["kv"] == 64);
  CHECK(sizesOf(copy, "sm_90a")["m"] == 1024);
}

TEST_CASE("products of wide elements have smaller tiles on GPUs",
          "[schedule]") {
  auto sizesFor = [](const std::string &dtype) {
    return sizesOf("kernel k(A: " + dtype + "[M, K], B: " + dtype +
                       "[K, N], C: out " + dtype + R"([M, N]) {
  grid m in tile(M), n in tile(N)
  acc = zeros )" + dtype +
                       R"([m, n]
  for k in tile(K) { acc += dot(A[m, k], B[k, n]) }
  C[m, n] = acc
})",
                   "sm_90a");
  };
  auto single = sizesFor("f32"), twice = sizesFor("f64");
  CHECK(single["m"] == 64);
  CHECK(single["n"] == 64);
  CHECK(single["k"] == 32);
  CHECK(twice["m"] == 64);
  CHECK(twice["k"] == 16);
}
