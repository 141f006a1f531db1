//===- PadExtentsTest.cpp - tile-pad-extents changes no number --*- C++ -*-===//
//
// Kernels of std and examples with tiles that are no powers of two, compiled
// with tile-pad-extents and compared with the reference evaluator. Cases that
// std does not have (masks along a grown axis, NaN and infinity in an input,
// checks that report) are in the second half.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/Harness.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr const char *padding =
    "tile-pad-extents,canonicalize,cse,tile-simplify-pads,canonicalize,cse";

namespace {
struct Operand {
  const char *name;
  Shape shape;
  FillOptions fill = {};
};

struct Case {
  const char *file, *kernel;
  std::vector<Operand> inputs, outputs;
  CtArgs ctArgs = {};
  ScheduleArgs schedule = {};
  std::vector<std::pair<const char *, int64_t>> scalars = {};
};
} // namespace

static void check(const Case &c) {
  Launch launch(c.file, c.kernel, c.ctArgs, c.schedule);
  launch.passes = padding;
  for (const Operand &input : c.inputs)
    launch.in(input.name, input.shape, Layout::RowMajor, input.fill);
  for (const auto &[name, value] : c.scalars)
    launch.scalarInt(name, value);
  for (const Operand &output : c.outputs)
    launch.out(output.name, output.shape);
  launch.run();
  launch.expectReference();
}

TEST_CASE("padded: products", "[pad]") {
  for (const char *T : {"bf16", "f16", "f32", "f8e4m3"})
    for (auto [M, N, K] : {std::tuple<int64_t, int64_t, int64_t>(50, 90, 30),
                           {1, 1, 1},
                           {24, 40, 12},
                           {3, 100, 0}})
      check({"std/matmul.tile",
             "matmul",
             {{"A", {M, K}}, {"B", {K, N}}},
             {{"C", {M, N}}},
             {{"T", T}, {"R", "f32"}},
             {{"m", 24}, {"n", 40}, {"k", 12}}});
  check({"std/matmul.tile",
         "matmul",
         {{"A", {50, 30}, integers()}, {"B", {30, 90}, integers()}},
         {{"C", {50, 90}}},
         {{"T", "i8"}, {"Sum", "i32"}, {"R", "i32"}},
         {{"m", 24}, {"n", 40}, {"k", 12}}});
  check({"std/matmul.tile",
         "batched_matmul",
         {{"A", {3, 50, 30}}, {"X", {3, 30, 90}}},
         {{"C", {3, 50, 90}}},
         {{"T", "bf16"}},
         {{"m", 24}, {"n", 40}, {"k", 12}}});
  check({"std/matmul.tile",
         "linear",
         {{"A", {50, 30}}, {"B", {30, 90}}, {"bias", {90}}},
         {{"C", {50, 90}}},
         {{"T", "f16"}},
         {{"m", 24}, {"n", 40}, {"k", 12}}});
  check({"examples/linear_gelu.tile",
         "linear_gelu",
         {{"A", {50, 30}}, {"B", {30, 90}}, {"bias", {90}}},
         {{"C", {50, 90}}},
         {},
         {{"m", 24}, {"n", 40}, {"k", 12}}});
  check({"examples/linear_gelu.tile",
         "linear_gelu2",
         {{"A", {50, 30}}, {"B", {30, 90}}, {"bias", {90}}},
         {{"C", {50, 90}}}});
}

TEST_CASE("padded: rows", "[pad]") {
  for (int64_t N : {1, 7, 100})
    for (const char *T : {"f32", "bf16"}) {
      CtArgs types = {{"T", T}};
      ScheduleArgs rows = {{"m", 24}};
      check({"std/norms.tile",
             "rmsnorm",
             {{"X", {50, N}}, {"w", {N}}},
             {{"Y", {50, N}}},
             types,
             rows});
      // Of one element the variance is 0, and what remains is rounding.
      if (N > 1)
        check({"std/norms.tile",
               "layernorm",
               {{"X", {50, N}}, {"w", {N}}, {"b", {N}}},
               {{"Y", {50, N}}},
               types,
               rows});
      check({"std/softmax.tile",
             "softmax_rows",
             {{"X", {50, N}}},
             {{"Y", {50, N}}},
             types,
             rows});
      check({"std/softmax.tile",
             "cross_entropy",
             {{"logits", {50, N}}, {"target", {50}, integers(-1, N)}},
             {{"loss", {50}}},
             types,
             rows});
    }
  check({"examples/rmsnorm.tile",
         "rmsnorm",
         {{"X", {50, 77}}, {"w", {77}}},
         {{"Y", {50, 77}}}});
}

TEST_CASE("padded: elements", "[pad]") {
  ScheduleArgs tiles = {{"m", 24}, {"n", 40}};
  check({"std/elementwise.tile",
         "add_arrays",
         {{"X", {1000}}, {"Y", {1000}}},
         {{"Z", {1000}}},
         {},
         {{"n", 40}}});
  check({"std/elementwise.tile",
         "elu_forward",
         {{"X", {1000}}},
         {{"Y", {1000}}},
         {},
         {{"n", 40}}});
  check({"std/elementwise.tile",
         "bias_gelu",
         {{"X", {50, 90}}, {"bias", {90}}},
         {{"Y", {50, 90}}},
         {},
         tiles});
  check({"std/elementwise.tile",
         "silu_mul",
         {{"gate", {50, 90}}, {"up", {50, 90}}},
         {{"Y", {50, 90}}},
         {},
         tiles});
  check({"examples/vector_add.tile",
         "vector_add",
         {{"X", {77}}, {"Y", {77}}},
         {{"Z", {77}}},
         {},
         {{"n", 3}}});
  check({"std/random.tile",
         "dropout",
         {{"X", {50, 90}}},
         {{"Y", {50, 90}}},
         {},
         tiles});
  check({"std/transpose.tile",
         "transpose",
         {{"X", {50, 90}}},
         {{"Y", {90, 50}}},
         {},
         tiles});
  check({"std/rope.tile",
         "rope",
         {{"X", {2, 50, 3, 2, 5}}, {"cosine", {50, 5}}, {"sine", {50, 5}}},
         {{"Y", {2, 50, 3, 2, 5}}},
         {},
         {{"s", 24}}});
}

TEST_CASE("padded: counting adds nothing for new lanes", "[pad]") {
  Launch launch("std/histogram.tile", "histogram", {}, {{"n", 40}});
  launch.passes = padding;
  Tensor &bin = launch.in("bin", {1000}, Layout::RowMajor, integers(0, 7));
  Tensor &count = launch.inout("count", {7}, Layout::RowMajor, integers(0, 3));
  launch.run();
  expectExact(count, [&](Index i) {
    double expected = count(i[0]);
    for (int64_t n = 0; n < 1000; ++n)
      expected += bin(n) == double(i[0]);
    return expected;
  });
}

TEST_CASE("padded: attention", "[pad]") {
  const int64_t B = 2, H = 4, G = 2, S = 50, KV = 70, D = 12, E = 20;
  ScheduleArgs tiles = {{"i", 24}, {"kv", 20}};
  std::vector<Operand> common = {
      {"Q", {B, H, S, D}}, {"K", {B, G, KV, D}}, {"V", {B, G, KV, E}}};
  auto with = [&](std::initializer_list<Operand> more) {
    std::vector<Operand> all = common;
    all.insert(all.end(), more);
    return all;
  };
  std::vector<Operand> O = {{"O", {B, H, S, E}}};
  std::vector<Operand> both = {{"O", {B, H, S, E}}, {"lse", {B, H, S}}};
  const char *file = "std/attention.tile";
  for (const char *T : {"f32", "bf16", "f16"})
    for (const char *mask : {"no_mask", "causal"})
      check({file,
             "attention_forward",
             common,
             both,
             {{"T", T}, {"mask", mask}, {"score", "softcap50"}},
             tiles});
  check({file,
         "attention_window",
         common,
         O,
         {{"T", "bf16"}},
         tiles,
         {{"window", 9}}});
  check({file,
         "attention_alibi",
         with({{"slope", {H}}}),
         O,
         {{"T", "bf16"}},
         tiles});
  check({file,
         "attention_relative",
         with({{"table", {H, 33}}}),
         O,
         {{"T", "f16"}},
         tiles});
  check({file,
         "attention_documents",
         {{"Q", {B, H, S, D}},
          {"K", {B, G, S, D}},
          {"V", {B, G, S, E}},
          {"document", {B, S}, integers(0, 3)}},
         O,
         {},
         tiles});
  std::vector<Operand> open = {
      {"Q", {B, H, S, D}}, {"K", {B, H, KV, D}}, {"V", {B, H, KV, E}}};
  check({"examples/attention.tile",
         "attend",
         with({{"slope", {H}}}),
         both,
         {},
         tiles});
  check({"examples/attention.tile",
         "attend_open",
         open,
         O,
         {},
         {{"i", 24}, {"j", 20}}});
  check({"examples/attention.tile", "attend_naive", open, O});
}

//===----------------------------------------------------------------------===//
// Special numbers
//===----------------------------------------------------------------------===//

TEST_CASE("padded: infinity and NaN stay in their rows", "[pad]") {
  const int64_t M = 9, N = 7;
  Launch launch("std/softmax.tile", "softmax_rows", {}, {{"m", 3}});
  launch.passes = padding;
  Tensor &X = launch.in("X", {M, N});
  for (int64_t n = 0; n < N; ++n) {
    X.set({1, n}, -INFINITY);
    X.set({2, n}, n == 3 ? NAN : 1);
    X.set({4, n}, -1000);
  }
  Tensor &Y = launch.out("Y", {M, N});
  launch.run();
  expectClose(Y, [&](Index i) -> double {
    if (i[0] == 1)
      return 0;
    double top = -INFINITY, sum = 0;
    for (int64_t n = 0; n < N; ++n)
      top = std::max(top, X(i[0], n));
    for (int64_t n = 0; n < N; ++n)
      sum += std::exp(X(i[0], n) - top);
    return i[0] == 2 ? NAN : std::exp(X(i[0], i[1]) - top) / sum;
  });
}

TEST_CASE("padded: a product with infinity adds no NaN", "[pad]") {
  const int64_t M = 5, N = 6, K = 7;
  Launch launch("std/matmul.tile", "matmul", {{"T", "bf16"}, {"R", "f32"}},
                {{"m", 3}, {"n", 5}, {"k", 3}});
  launch.passes = padding;
  Tensor &A = launch.in("A", {M, K});
  Tensor &B = launch.in("B", {K, N});
  A.fill(1);
  B.fill(1);
  A.set({2, K - 1}, INFINITY);
  B.set({K - 1, 4}, 2);
  Tensor &C = launch.out("C", {M, N});
  launch.run();
  expectExact(C, [&](Index i) {
    return i[0] == 2 ? INFINITY : double(K) + (i[1] == 4);
  });
}
