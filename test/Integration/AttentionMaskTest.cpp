//===- AttentionMaskTest.cpp - Attention under any mask ---------*- C++ -*-===//
//
// Masks and score functions that are not in std: those that broke other
// implementations, and some that are strange on purpose. Each is run with tiles
// that are full, partial and empty, and the oracle knows only the formula.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/AttentionOracle.h"
#include "llvm/ADT/ArrayRef.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr Layout row = Layout::RowMajor;

namespace {
struct Sizes {
  int64_t S, T, D = 16, E = 0;
};

/// A launch of a kernel of Inputs/masks.tile without batch and heads.
struct Attend {
  Launch launch;
  Tensor &Q, &K, &V, &O, &lse;

  Attend(const char *kernel, Sizes s, CtArgs args = {},
         ScheduleArgs schedule = {})
      : launch("masks.tile", kernel, std::move(args), std::move(schedule)),
        Q(launch.in("Q", {s.S, s.D})), K(launch.in("K", {s.T, s.D})),
        V(launch.in("V", {s.T, s.E ? s.E : s.D})),
        O(launch.out("O", {s.S, s.E ? s.E : s.D})),
        lse(launch.out("lse", {s.S})) {}
  void check(const AttentionRule &rule) {
    launch.run();
    expectAttention(Q, K, V, O, &lse, rule);
  }
};

struct Mask {
  const char *name;
  bool (*holds)(int64_t q, int64_t kv);
};
struct Score {
  const char *name;
  double (*value)(double s, int64_t q, int64_t kv);
};
} // namespace

static llvm::ArrayRef<Mask> masks() {
  static const Mask table[] = {
      {"no_mask", [](int64_t, int64_t) { return true; }},
      {"causal", [](int64_t q, int64_t kv) { return q >= kv; }},
      {"never", [](int64_t, int64_t) { return false; }},
      {"strict", [](int64_t q, int64_t kv) { return q > kv; }},
      {"anticausal", [](int64_t q, int64_t kv) { return q <= kv; }},
      {"even_keys", [](int64_t, int64_t kv) { return kv % 2 == 0; }},
      {"pairs", [](int64_t q, int64_t kv) { return kv / 2 <= q / 2; }},
      {"same_half", [](int64_t q, int64_t kv) { return kv / 2 == q / 2; }},
      {"band", [](int64_t q, int64_t kv) { return std::abs(q - kv) <= 9; }},
      {"blocks", [](int64_t q, int64_t kv) { return q / 32 == kv / 32; }},
      {"prefix", [](int64_t q, int64_t kv) { return kv < 40 || kv <= q; }},
      {"short_table",
       [](int64_t q, int64_t kv) { return kv < 127 && kv <= q; }},
      {"some_rows", [](int64_t q, int64_t kv) { return q % 3 && kv <= q; }},
      {"stripes", [](int64_t q, int64_t kv) { return (kv * 7 + q) % 11 == 0; }},
      {"isolated", [](int64_t, int64_t kv) { return kv / 128 == 1; }},
      {"not_self", [](int64_t q, int64_t kv) { return q != kv; }},
      {"first_key", [](int64_t, int64_t kv) { return kv == 0; }},
      {"sinks", [](int64_t q,
                   int64_t kv) { return kv <= q && (kv < 4 || q - kv < 20); }},
      {"sections",
       [](int64_t q, int64_t kv) {
         return q < 100 ? q / 100 == kv / 100 && kv <= q
                        : q % 4 >= kv % 4 && q - kv <= 8 && kv <= q + 4;
       }},
  };
  return table;
}

static llvm::ArrayRef<Score> scores() {
  static const Score table[] = {
      {"plain", [](double s, int64_t, int64_t) { return s; }},
      {"distance",
       [](double s, int64_t q, int64_t kv) { return s + double(q - kv); }},
      {"halves",
       [](double s, int64_t, int64_t kv) { return s * 0.5 + double(kv % 3); }},
      {"capped",
       [](double s, int64_t q, int64_t kv) {
         return 5 * std::tanh(s / 5) - double(std::abs(q - kv));
       }},
  };
  return table;
}

static void masked(const Mask &mask, const Score &score, Sizes sizes,
                   ScheduleArgs schedule = {}) {
  Attend attend("masked", sizes, {{"mask", mask.name}, {"score", score.name}},
                std::move(schedule));
  attend.check(
      {.mask = [&](Position p) { return mask.holds(p.q, p.kv); },
       .score = [&](double s,
                    Position p) { return score.value(s, p.q, p.kv); }});
}

TEST_CASE("masks: every kind, with tiles full, partial and empty",
          "[attention]") {
  for (const Mask &mask : masks()) {
    masked(mask, scores()[0], {.S = 300, .T = 290});
    masked(mask, scores()[0], {.S = 77, .T = 50}, {{"i", 16}, {"kv", 16}});
    masked(mask, scores()[1], {.S = 3, .T = 300}, {{"kv", 40}});
  }
  for (const Score &score : scores())
    for (size_t mask : {0, 1, 12})
      masked(masks()[mask], score, {.S = 133, .T = 77});
  // A score that grows with the distance, at a length beside the tiles.
  Launch launch("masks.tile", "masked",
                {{"mask", "causal"}, {"score", "distance"}, {"T", "bf16"}});
  Tensor &Q = launch.in("Q", {1025, 64});
  Tensor &K = launch.in("K", {1025, 64});
  Tensor &V = launch.in("V", {1025, 64});
  Tensor &O = launch.out("O", {1025, 64});
  Tensor &lse = launch.out("lse", {1025});
  launch.run();
  expectAttention(Q, K, V, O, &lse,
                  {.mask = isCausal, .score = [](double s, Position p) {
                     return s + double(p.q - p.kv);
                   }});
}

TEST_CASE("masks: windows of two sides", "[attention]") {
  struct Window {
    int64_t left, right;
  };
  for (Window w :
       {Window{0, 0}, Window{5, 3}, Window{64, 0}, Window{0, 64},
        Window{1000, 0}, Window{1000, 1000}, Window{-5, 20}, Window{20, -5},
        Window{-1, -1}, Window{int64_t(1) << 62, int64_t(1) << 62}})
    for (Sizes sizes : {Sizes{133, 77}, Sizes{50, 200}}) {
      Attend attend("two_sided", sizes);
      attend.launch.scalarInt("left", w.left);
      attend.launch.scalarInt("right", w.right);
      attend.check({.mask = [&](Position p) {
        return p.q - p.kv <= w.left && p.kv - p.q <= w.right;
      }});
    }
}

TEST_CASE("masks: causal from the bottom right", "[attention]") {
  for (Sizes sizes : {Sizes{8, 4}, Sizes{4, 8}, Sizes{133, 77}, Sizes{77, 133},
                      Sizes{1, 300}, Sizes{200, 0}}) {
    Attend attend("bottom_right", sizes);
    attend.check(
        {.mask = [&](Position p) { return p.kv - p.q <= sizes.T - sizes.S; }});
    // The first rows see nothing at all.
    for (int64_t q = 0; q < sizes.S - sizes.T; ++q)
      CHECK(attend.lse.result(q) == -INFINITY);
  }
  // Blocks of queries against the rows of the whole.
  for (int64_t offset : {0, 1, 64, 100, 1000, -10})
    for (double scale : {0.25, -0.5, 0.0}) {
      Attend attend("with_offset", {.S = 33, .T = 133});
      attend.launch.scalarInt("offset", offset);
      attend.launch.scalar("scale", scale);
      // A scale of zero means the default to the oracle.
      attend.check(
          {.mask = [&](Position p) { return p.q + offset >= p.kv; },
           .score = [&](double s, Position) { return s * scale * 4; }});
    }
}

TEST_CASE("masks: read from tables", "[attention]") {
  for (int64_t S : {77, 300}) {
    Attend attend("from_tables", {.S = S, .T = 290});
    Tensor &last = attend.launch.in("last", {S}, Layout::Offset);
    Tensor &used = attend.launch.in("used", {290}, Layout::Gaps2);
    last.setAll([](Index q) {
      return double(q[0] % 5 == 0 ? -1 : q[0] % 7 == 0 ? 1000 : q[0]);
    });
    attend.check({.mask = [&](Position p) {
      return double(p.kv) <= last(p.q) && used(p.kv) != 0;
    }});
  }
  for (Layout layout : {row, Layout::Offset, Layout::Transposed}) {
    Attend attend("dense_mask", {.S = 133, .T = 150});
    Tensor &visible = attend.launch.in("visible", {133, 150}, layout);
    for (int64_t kv = 0; kv < 150; ++kv) {
      visible.view().setInt({7, kv}, 0);
      visible.view().setInt({8, kv}, kv == 149);
    }
    visible.refresh();
    attend.check({.mask = [&](Position p) { return visible(p.q, p.kv) != 0; }});
  }
  // A long table: the last tile of queries must not read beyond it.
  Attend attend("from_tables", {.S = 2046, .T = 200});
  Tensor &last = attend.launch.in("last", {2046});
  Tensor &used = attend.launch.in("used", {200});
  last.setAll([](Index q) {
    int64_t tens = q[0] / 10;
    return double(tens);
  });
  attend.check({.mask = [&](Position p) {
    return double(p.kv) <= last(p.q) && used(p.kv) != 0;
  }});
}

TEST_CASE("masks decide which table entries a score reads", "[attention]") {
  for (int64_t L : {127, 200}) {
    Attend attend("short_bias", {.S = 128, .T = 128});
    Tensor &table = attend.launch.in("table", {L}, Layout::Gaps2);
    attend.check(
        {.mask = [](Position p) { return p.kv < 127 && isCausal(p); },
         .score = [&](double s, Position p) { return s + table(p.kv); }});
  }
  for (int64_t L : {1, 15, 129}) {
    Attend attend("near_bias", {.S = 133, .T = 150});
    Tensor &table = attend.launch.in("table", {L});
    attend.check(
        {.mask = [&](Position p) { return std::abs(p.kv - p.q) <= L / 2; },
         .score = [&](double s,
                      Position p) { return s + table(p.kv - p.q + L / 2); }});
  }
  for (Layout layout : {row, Layout::Transposed, Layout::Reversed}) {
    Attend attend("dense_bias", {.S = 133, .T = 77});
    Tensor &bias = attend.launch.in("bias", {133, 77}, layout);
    bias.set({3, 5}, -INFINITY);
    for (int64_t kv = 0; kv < 77; ++kv)
      bias.view().setDouble({4, kv}, -INFINITY);
    bias.refresh();
    attend.check(
        {.score = [&](double s, Position p) { return s + bias(p.q, p.kv); }});
  }
}

TEST_CASE("masks that depend on the batch", "[attention]") {
  for (int64_t B : {5, 1}) {
    Launch launch("masks.tile", "prefixes");
    Tensor &Q = launch.in("Q", {B, 2, 70, 16});
    Tensor &K = launch.in("K", {B, 2, 150, 16});
    Tensor &V = launch.in("V", {B, 2, 150, 8});
    Tensor &cutoff = launch.in("cutoff", {B}, row, integers(0, 150));
    Tensor &t = launch.in("t", {1});
    cutoff.set({0}, 0);
    Tensor &O = launch.out("O", {B, 2, 70, 8});
    launch.run();
    expectAttention(Q, K, V, O, nullptr,
                    {.mask =
                         [&](Position p) {
                           return double(p.kv) < cutoff(p.b) || isCausal(p);
                         },
                     .score = [&](double s, Position) { return s * t(0); }});
  }
}

TEST_CASE("attention of one row", "[attention]") {
  Attend attend("one_row", {.S = 40, .T = 33, .E = 5});
  attend.check({.mask = isCausal, .score = [](double s, Position p) {
                  return s + double(p.q - p.kv);
                }});
  for (int64_t length : {0, 1, 100, 4096})
    for (int64_t kv : {128, 37}) {
      Launch launch("masks.tile", "decode", {}, {{"kv", kv}});
      launch.scalarInt("length", length);
      Tensor &Q = launch.in("Q", {1, 12, 16});
      Tensor &K = launch.in("K", {1, 2, 4096, 16});
      Tensor &V = launch.in("V", {1, 2, 4096, 16});
      Tensor &O = launch.out("O", {1, 12, 16});
      launch.run();
      auto at = [](const Tensor &t, int64_t h, int64_t j, int64_t d) {
        return t(0, h / 6, j, d);
      };
      std::vector<double> expected;
      for (int64_t h = 0; h < 12; ++h) {
        std::vector<double> s, o(16, 0.0);
        double top = -INFINITY, total = 0;
        for (int64_t j = 0; j < length; ++j) {
          double sum = 0;
          for (int64_t d = 0; d < 16; ++d)
            sum += Q(0, h, d) * at(K, h, j, d);
          s.push_back(sum / 4);
          top = std::max(top, s.back());
        }
        for (int64_t j = 0; j < length; ++j) {
          double p = std::exp(s[size_t(j)] - top);
          total += p;
          for (int64_t d = 0; d < 16; ++d)
            o[size_t(d)] += p * at(V, h, j, d);
        }
        for (double x : o)
          expected.push_back(total > 0 ? x / total : 0);
      }
      expectClose(O,
                  [&](Index i) { return expected[size_t(i[1] * 16 + i[2])]; },
                  {2e-5, 1e-5});
    }
}

TEST_CASE("attention among other things", "[attention]") {
  auto strict = [](Position p) { return p.q > p.kv; };
  for (int64_t i : {8, 64}) {
    Launch launch("masks.tile", "differential", {}, {{"i", i}, {"kv", 32}});
    launch.scalar("w", 0.7);
    Tensor &Q = launch.in("Q", {77, 16});
    Tensor &K = launch.in("K", {90, 16});
    Tensor &V = launch.in("V", {90, 24});
    Tensor &O = launch.out("O", {77, 24});
    launch.run();
    AttentionResult near = attentionOf(Q, K, V, {.mask = isCausal}),
                    far =
                        attentionOf(Q, K, V, {.mask = strict, .scale = 0.125});
    size_t at = 0;
    expectClose(O,
                [&](Index) {
                  double x = near.O[at] - 0.7 * far.O[at];
                  ++at;
                  return x;
                },
                {1e-5, 1e-5});
  }
  {
    Launch launch("masks.tile", "heads_in_loop", {}, {{"i", 16}});
    Tensor &Q = launch.in("Q", {3, 50, 16});
    Tensor &K = launch.in("K", {3, 60, 16});
    Tensor &V = launch.in("V", {3, 60, 8});
    Tensor &O = launch.out("O", {50, 8});
    launch.run();
    // The oracle takes heads one by one.
    std::vector<double> expected(50 * 8, 0.0);
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t i = 0; i < 50; ++i) {
        std::vector<double> p;
        double total = 0;
        for (int64_t j = 0; j <= i; ++j) {
          double s = 0;
          for (int64_t d = 0; d < 16; ++d)
            s += Q(h, i, d) * K(h, j, d);
          p.push_back(std::exp(s / 4));
          total += p.back();
        }
        for (int64_t j = 0; j <= i; ++j)
          for (int64_t e = 0; e < 8; ++e)
            expected[size_t(i * 8 + e)] += p[size_t(j)] / total * V(h, j, e);
      }
    expectClose(O, [&](Index i) { return expected[size_t(i[0] * 8 + i[1])]; },
                {1e-5, 1e-5});
  }
  for (int64_t S : {0, 1, 40}) {
    Attend attend("untiled", {.S = S, .T = 33, .E = 5});
    attend.check({.mask = isCausal});
  }
}

TEST_CASE("attention: huge logits", "[attention]") {
  // All logits at one level, one key 5000 above it.
  for (double level : {-6e4, 6e4, -1e8, 1e8})
    for (int64_t T : {1, 64, 300}) {
      Attend attend("masked", {.S = 16, .T = T, .D = 128});
      attend.Q.fill(1);
      attend.K.fill(level / std::sqrt(128.0));
      for (int64_t d = 0; d < 128; ++d)
        attend.K.view().setDouble({T / 2, d}, (level + 0.1 * std::fabs(level)) /
                                                  std::sqrt(128.0));
      attend.K.refresh();
      attend.launch.run();
      expectClose(attend.O, [&](Index i) { return attend.V(T / 2, i[1]); });
      expectClose(attend.lse,
                  [&](Index) { return level + 0.1 * std::fabs(level); },
                  {1e-5, 1e-5});
    }
  // A finite number as the mask, as is common: rows and whole tiles that have
  // nothing else.
  for (float low : {-1e4f, -1e9f, -1e10f, -1e30f, -3.4028235e38f}) {
    for (int64_t T : {60, 200}) {
      Attend attend("extreme", {.S = 20, .T = T}, {}, {{"kv", 32}});
      attend.launch.scalar("low", low);
      attend.launch.run();
      AttentionResult expected = attentionOf(
          attend.Q, attend.K, attend.V, {.score = [&](double s, Position p) {
            return p.kv % 4 == 1 && p.kv >= 64 ? s : double(low);
          }});
      size_t at = 0;
      expectClose(attend.O, [&](Index) { return expected.O[at++]; },
                  {2e-5, 2e-5});
    }
  }
}

TEST_CASE("attention: what is masked does not matter", "[attention]") {
  // NaN and infinity in keys nobody sees, and in queries that see nothing.
  Attend attend("masked", {.S = 40, .T = 290}, {{"mask", "isolated"}});
  for (int64_t kv : {0, 5, 127, 256, 289})
    for (int64_t d = 0; d < 16; ++d)
      attend.K.view().setDouble({kv, d}, d % 2 ? NAN : INFINITY);
  attend.K.refresh();
  attend.check({.mask = [](Position p) { return p.kv / 128 == 1; }});
  Attend rows("masked", {.S = 40, .T = 50}, {{"mask", "some_rows"}});
  for (int64_t q : {0, 3, 39})
    rows.Q.set({q, 1}, NAN);
  rows.check({.mask = [](Position p) { return p.q % 3 != 0 && p.kv <= p.q; }});
}
