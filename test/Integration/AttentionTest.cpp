//===- AttentionTest.cpp - The attention kernels of std ---------*- C++ -*-===//
//
// std/attention.tile: sequence lengths from 0 to past several tiles, odd head
// dimensions, grouped heads, all element types and layouts, and each of the
// masks and score functions that ship.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/AttentionOracle.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;
static constexpr const char *file = "std/attention.tile";

namespace {
/// The shape of one attention.
struct Sizes {
  int64_t B = 1, H = 1, G = 1, S, T, D, E = 0;
  int64_t values() const { return E ? E : D; }
};

/// A launch of a kernel with parameters Q, K, V, O and perhaps lse.
struct Attend {
  Launch launch;
  Tensor &Q, &K, &V, &O;
  Tensor *lse = nullptr;

  Attend(const char *kernel, Sizes s, CtArgs args = {},
         ScheduleArgs schedule = {}, Layout layout = row, double scale = 1)
      : launch(file, kernel, std::move(args), std::move(schedule)),
        Q(launch.in("Q", {s.B, s.H, s.S, s.D}, layout, normal(scale))),
        K(launch.in("K", {s.B, s.G, s.T, s.D}, layout, normal(scale))),
        V(launch.in("V", {s.B, s.G, s.T, s.values()}, layout)),
        O(launch.out("O", {s.B, s.H, s.S, s.values()}, layout)) {
    if (llvm::StringRef(kernel) == "attention_forward")
      lse = &launch.out("lse", {s.B, s.H, s.S});
  }
  void check(const AttentionRule &rule) {
    launch.run();
    expectAttention(Q, K, V, O, lse, rule);
  }
};
} // namespace

static void forward(Sizes s, bool causal, const char *dtype = "f32",
                    ScheduleArgs schedule = {}, Layout layout = row) {
  Attend attend("attention_forward", s,
                {{"T", dtype}, {"mask", causal ? "causal" : "no_mask"}},
                std::move(schedule), layout);
  attend.check({.mask = causal ? isCausal : nullptr});
}

TEST_CASE("attention: sequence lengths", "[attention]") {
  for (int64_t S : {0, 1, 2, 7, 77})
    for (int64_t T : {0, 1, 2, 7, 77})
      for (bool causal : {false, true})
        forward({.S = S, .T = T, .D = 16}, causal);
  for (bool causal : {false, true}) {
    forward({.S = 1025, .T = 1025, .D = 64}, causal);
    forward({.S = 7, .T = 1025, .D = 64}, causal);
    forward({.S = 1025, .T = 7, .D = 64}, causal);
    // Lengths beside a multiple of the tiles.
    for (int64_t n : {127, 128, 129, 257})
      forward({.S = n, .T = n, .D = 32}, causal);
  }
}

TEST_CASE("attention: head dimensions", "[attention]") {
  for (int64_t D : {1, 8, 31, 72, 80, 96, 128})
    forward({.S = 77, .T = 133, .D = D}, D % 2 == 0);
  forward({.S = 77, .T = 133, .D = 192, .E = 128}, true);
  forward({.S = 77, .T = 133, .D = 24, .E = 40}, false);
  forward({.S = 28, .T = 28, .D = 96, .E = 1}, true);
}

TEST_CASE("attention: batches and groups of heads", "[attention]") {
  forward({.B = 2, .H = 1, .G = 1, .S = 2, .T = 2, .D = 16}, true);
  forward({.B = 3, .H = 12, .G = 2, .S = 1, .T = 1000, .D = 16}, false);
  forward({.B = 2, .H = 6, .G = 2, .S = 33, .T = 50, .D = 16}, true);
  forward({.B = 2, .H = 6, .G = 1, .S = 33, .T = 50, .D = 16}, true);
  forward({.B = 2, .H = 6, .G = 6, .S = 33, .T = 50, .D = 16}, false);
  forward({.B = 1, .H = 4, .G = 2, .S = 100, .T = 100, .D = 32}, true);
  forward({.B = 0, .H = 4, .G = 2, .S = 10, .T = 10, .D = 8}, true);
  Launch wrong(file, "attention_forward");
  wrong.in("Q", {1, 3, 4, 8});
  wrong.in("K", {1, 2, 4, 8});
  wrong.in("V", {1, 2, 4, 8});
  wrong.out("O", {1, 3, 4, 8});
  wrong.out("lse", {1, 3, 4});
  CHECK_THAT(wrong.bindErrors(), Catch::Contains("H % G == 0"));
}

TEST_CASE("attention: types", "[attention]") {
  for (const char *dtype : {"bf16", "f16", "f8e4m3", "f8e5m2", "tf32"})
    for (bool causal : {false, true}) {
      forward({.H = 2, .S = 77, .T = 133, .D = 64}, causal, dtype);
      forward({.H = 2, .S = 3, .T = 2, .D = 31}, causal, dtype);
    }
}

TEST_CASE("attention: layouts", "[attention]") {
  for (Layout layout : outputLayouts()) {
    forward({.B = 2, .H = 2, .G = 1, .S = 37, .T = 70, .D = 24}, true, "f32",
            {}, layout);
    forward({.B = 2, .H = 2, .G = 1, .S = 37, .T = 70, .D = 24}, false, "bf16",
            {}, layout);
  }
  // Each operand in a layout of its own, keys and values broadcast over heads.
  Launch launch(file, "attention_forward", {{"mask", "causal"}});
  Tensor &Q = launch.in("Q", {1, 2, 37, 24}, Layout::Transposed);
  Tensor &K = launch.in("K", {1, 2, 70, 24}, Layout::Broadcast);
  Tensor &V = launch.in("V", {1, 2, 70, 24}, Layout::BroadcastLast);
  Tensor &O = launch.out("O", {1, 2, 37, 24}, Layout::Gaps3);
  Tensor &lse = launch.out("lse", {1, 2, 37}, Layout::Reversed);
  launch.run();
  expectAttention(Q, K, V, O, &lse, {.mask = isCausal});
}

TEST_CASE("attention: no tile size changes the result", "[attention]") {
  for (bool causal : {false, true})
    for (int64_t i : {1, 3, 16, 64})
      for (int64_t kv : {5, 64, 200})
        forward({.S = 77, .T = 133, .D = 16}, causal, "f32",
                {{"i", i}, {"kv", kv}});
}

TEST_CASE("attention: window", "[attention]") {
  for (int64_t S : {77, 300})
    for (int64_t window : {int64_t(0), int64_t(1), int64_t(2), int64_t(64),
                           S - 1, S, S + 1, INT64_MAX / 2}) {
      Attend attend("attention_window", {.S = S, .T = S, .D = 16});
      attend.launch.scalarInt("window", window);
      attend.check({.mask = [&](Position p) {
        return p.q >= p.kv && p.q - p.kv < window;
      }});
      if (window < S)
        continue;
      // The whole past is causal attention, to the last bit.
      Attend causal("attention_forward", {.S = S, .T = S, .D = 16},
                    {{"mask", "causal"}});
      for (Tensor *t : {&causal.Q, &causal.K, &causal.V})
        t->setAll((t == &causal.Q   ? attend.Q
                   : t == &causal.K ? attend.K
                                    : attend.V)
                      .values());
      causal.launch.run();
      expectSame(attend.O, causal.O);
    }
  // More queries than keys.
  for (int64_t window : {5, 100}) {
    Attend attend("attention_window", {.S = 200, .T = 70, .D = 16});
    attend.launch.scalarInt("window", window);
    attend.check({.mask = [&](Position p) {
      return p.q >= p.kv && p.q - p.kv < window;
    }});
  }
}

TEST_CASE("attention: ALiBi", "[attention]") {
  for (const char *dtype : {"f32", "bf16"})
    for (int64_t S : {7, 257}) {
      Attend attend("attention_alibi",
                    {.H = 6, .G = 2, .S = S, .T = S, .D = 32}, {{"T", dtype}});
      Tensor &slope = attend.launch.in("slope", {6}, Layout::Gaps2);
      slope.setAll([](Index h) { return std::exp2(-double(h[0])); });
      attend.check({.mask = isCausal, .score = [&](double s, Position p) {
                      return s - slope(p.h) * double(p.q - p.kv);
                    }});
    }
}

TEST_CASE("attention: softcap", "[attention]") {
  for (double scale : {1.0, 6.0})
    for (const char *mask : {"no_mask", "causal"}) {
      Attend attend("attention_forward", {.H = 2, .S = 77, .T = 133, .D = 32},
                    {{"score", "softcap50"}, {"mask", mask}}, {}, row, scale);
      attend.check(
          {.mask = mask[0] == 'c' ? isCausal : nullptr,
           .score = [](double s, Position) { return 50 * std::tanh(s / 50); }});
    }
}

TEST_CASE("attention: relative positions", "[attention]") {
  for (int64_t L : {1, 15, 301})
    for (int64_t S : {7, 133}) {
      Attend attend("attention_relative",
                    {.B = 2, .H = 3, .G = 3, .S = S, .T = 90, .D = 16});
      Tensor &table = attend.launch.in("table", {3, L}, Layout::Offset);
      attend.check({.score = [&](double s, Position p) {
        int64_t at = std::clamp<int64_t>(p.kv - p.q + L / 2, 0, L - 1);
        return s + table(p.h, at);
      }});
    }
}

TEST_CASE("attention: documents", "[attention]") {
  for (int64_t S : {77, 300, 512})
    for (int64_t each : {1, 40, 64, 1000}) {
      Attend attend("attention_documents",
                    {.B = 2, .H = 4, .G = 2, .S = S, .T = S, .D = 16});
      Tensor &document = attend.launch.in("document", {2, S}, row);
      document.setAll([&](Index i) {
        int64_t number = (i[1] + 13 * i[0]) / each;
        return double(number);
      });
      attend.check({.mask = [&](Position p) {
        return p.q >= p.kv && document(p.b, p.q) == document(p.b, p.kv);
      }});
    }
}
