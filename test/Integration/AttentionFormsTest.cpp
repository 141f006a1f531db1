//===- AttentionFormsTest.cpp - One attention, three forms ------*- C++ -*-===//
//
// examples/attention.tile: as one operation, written out, and as mathematics on
// whole tensors. And the promise that how a mask is written, or how its tiles
// are classified, does not change a bit.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/AttentionOracle.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

static constexpr const char *file = "examples/attention.tile";

TEST_CASE("examples/attention: attend", "[attention]") {
  for (int64_t S : {1, 7, 257}) {
    Launch launch(file, "attend");
    Tensor &Q = launch.in("Q", {2, 6, S, 32});
    Tensor &K = launch.in("K", {2, 2, S + 3, 32});
    Tensor &V = launch.in("V", {2, 2, S + 3, 24});
    Tensor &slope = launch.in("slope", {6});
    Tensor &O = launch.out("O", {2, 6, S, 24});
    Tensor &lse = launch.out("lse", {2, 6, S});
    launch.run();
    expectAttention(Q, K, V, O, &lse,
                    {.mask = isCausal, .score = [&](double s, Position p) {
                       double x = s - slope(p.h) * double(p.q - p.kv);
                       return 50 * std::tanh(x / 50);
                     }});
  }
}

TEST_CASE("examples/attention: the open form", "[attention]") {
  struct Lengths {
    int64_t S, T;
  };
  for (Lengths n :
       {Lengths{1, 1}, Lengths{77, 77}, Lengths{133, 50}, Lengths{50, 133},
        Lengths{257, 257}, Lengths{7, 0}, Lengths{0, 7}}) {
    Launch launch(file, "attend_open");
    Tensor &Q = launch.in("Q", {1, 2, n.S, 32});
    Tensor &K = launch.in("K", {1, 2, n.T, 32});
    Tensor &V = launch.in("V", {1, 2, n.T, 24});
    Tensor &O = launch.out("O", {1, 2, n.S, 24});
    launch.run();
    expectAttention(Q, K, V, O, nullptr, {.mask = isCausal});
  }
  for (int64_t i : {1, 3, 16, 100})
    for (int64_t j : {5, 64}) {
      Launch launch(file, "attend_open", {}, {{"i", i}, {"j", j}});
      Tensor &Q = launch.in("Q", {2, 1, 77, 16}, Layout::Transposed);
      Tensor &K = launch.in("K", {2, 1, 90, 16}, Layout::Gaps2);
      Tensor &V = launch.in("V", {2, 1, 90, 16});
      Tensor &O = launch.out("O", {2, 1, 77, 16}, Layout::Padded);
      launch.run();
      expectAttention(Q, K, V, O, nullptr, {.mask = isCausal});
    }
}

TEST_CASE("examples/attention: the naive form", "[attention]") {
  struct Lengths {
    int64_t S, T;
  };
  for (Lengths n : {Lengths{1, 1}, Lengths{33, 40}, Lengths{7, 0}}) {
    Launch launch(file, "attend_naive");
    Tensor &Q = launch.in("Q", {2, 3, n.S, 16});
    Tensor &K = launch.in("K", {2, 3, n.T, 16});
    Tensor &V = launch.in("V", {2, 3, n.T, 8});
    Tensor &O = launch.out("O", {2, 3, n.S, 8});
    launch.run();
    expectAttention(Q, K, V, O, nullptr, {});
  }
}

TEST_CASE("attention: the forms agree", "[attention]") {
  Launch op("std/attention.tile", "attention_forward", {{"mask", "causal"}});
  Launch open(file, "attend_open");
  Tensor *results[2];
  unsigned i = 0;
  for (Launch *launch : {&op, &open}) {
    for (const char *name : {"Q", "K", "V"}) {
      Tensor &t = launch->in(name, {1, 2, 133, 32});
      t.setAll([&](Index at) {
        return double(
            float(normalAt(streamSeed(Catch::rngSeed(), name),
                           uint64_t((at[1] * 133 + at[2]) * 32 + at[3]))));
      });
    }
    results[i++] = &launch->out("O", {1, 2, 133, 32});
  }
  op.out("lse", {1, 2, 133});
  op.run();
  open.run();
  expectClose(*results[0], [&](Index at) {
    return results[1]->result(at[0], at[1], at[2], at[3]);
  });
}

TEST_CASE("attention: classification of tiles does not change a bit",
          "[attention]") {
  // The same masks as formulas, whose tiles are known to be full or empty at
  // compile time, and as tables, of which nothing is known.
  struct Case {
    const char *name;
    bool (*holds)(int64_t q, int64_t kv);
  };
  for (Case c : {Case{"causal", [](int64_t q, int64_t kv) { return q >= kv; }},
                 Case{"band", [](int64_t q,
                                 int64_t kv) { return std::abs(q - kv) <= 9; }},
                 Case{"some_rows",
                      [](int64_t q, int64_t kv) { return q % 3 && kv <= q; }},
                 Case{"no_mask", [](int64_t, int64_t) { return true; }}})
    for (int64_t kv : {16, 64}) {
      ScheduleArgs schedule = {{"i", 32}, {"kv", kv}};
      Launch formula("masks.tile", "masked", {{"mask", c.name}}, schedule);
      Launch table("masks.tile", "dense_mask", {}, schedule);
      constexpr int64_t S = 133, T = 150;
      Tensor *O[2], *lse[2];
      unsigned i = 0;
      for (Launch *launch : {&formula, &table}) {
        for (const char *name : {"Q", "K", "V"}) {
          Tensor &t = launch->in(name, {name[0] == 'Q' ? S : T, 16});
          t.setAll([&](Index at) {
            return normalAt(streamSeed(Catch::rngSeed(), name),
                            uint64_t(at[0] * 16 + at[1]));
          });
        }
        O[i] = &launch->out("O", {S, 16});
        lse[i++] = &launch->out("lse", {S});
      }
      table.in("visible", {S, T}).setAll([&](Index at) {
        return double(c.holds(at[0], at[1]));
      });
      formula.run();
      table.run();
      expectSame(*O[0], *O[1]);
      expectSame(*lse[0], *lse[1]);
    }
}
