//===- ClockTest.cpp - Vector clocks --------------------------------------===//

#include "lib/Emulator/Race/Clock.h"

#include <catch2/catch.hpp>
#include <random>

using namespace tilec::emulator;

static ClockRef clockOf(std::vector<Times> times) {
  auto *clock = new Clock;
  clock->times = std::move(times);
  return clock;
}

TEST_CASE("clocks that contain the other are not copied") {
  ClockRef small = clockOf({{1, 0, 1}, {2, 2, 2}});
  ClockRef large = clockOf({{1, 1, 1}, {3, 2, 2}, {1, 0, 0}});
  CHECK(joined(small, large) == large);
  CHECK(joined(large, small) == large);
  CHECK(joined(small, small) == small);
  ClockRef zeros = clockOf({{1, 0, 1}, {2, 2, 2}, {}, {}});
  CHECK(joined(small, zeros) == small);
  ClockRef other = clockOf({{5, 0, 0}});
  ClockRef both = joined(large, other);
  CHECK(both->of(0) == Times{5, 1, 1});
  CHECK(both->of(1) == Times{3, 2, 2});
  CHECK(both->of(7) == Times());
}

TEST_CASE("a fence is made once for all who hold the clock") {
  ClockRef clock = clockOf({{4, 1, 2}});
  ClockRef fenced = Clock::withFence(clock);
  CHECK(fenced->of(0) == Times{4, 4, 2});
  CHECK(Clock::withFence(clock) == fenced);
  CHECK(Clock::withFence(fenced) == fenced);
  ClockRef already = clockOf({{4, 4, 0}});
  CHECK(Clock::withFence(already) == already);
}

TEST_CASE("after a barrier all hold one clock") {
  std::mt19937 random(1);
  std::vector<ClockRef> bases(40);
  for (unsigned i = 0; i < 40; ++i) {
    std::vector<Times> times(random() % 50);
    for (Times &t : times)
      t = {unsigned(random() % 9), unsigned(random() % 9),
           unsigned(random() % 9)};
    // Some share one.
    bases[i] = i % 3 == 2 ? bases[i - 1] : clockOf(std::move(times));
  }
  Knowledge point;
  for (unsigned i = 0; i < 40; ++i)
    point.add(bases[i], i, {10 + i, i, 5});
  ClockRef first = point.acquiredBy(bases[0]);
  for (unsigned i = 0; i < 40; ++i) {
    ClockRef mine = point.acquiredBy(bases[i]);
    // Those that the point does not remember get one of their own.
    for (unsigned agent = 0; agent < 50; ++agent)
      CHECK(mine->of(agent) == first->of(agent));
  }
  for (unsigned agent = 0; agent < 50; ++agent) {
    Times expected;
    for (const ClockRef &base : bases)
      expected.raise(base->of(agent));
    if (agent < 40)
      expected.raise({10 + agent, agent, 5});
    CHECK(first->of(agent) == expected);
  }
  // Whoever knows more keeps that.
  ClockRef stranger = clockOf({{99, 0, 0}});
  ClockRef result = point.acquiredBy(stranger);
  CHECK(result->of(0).known == 99);
  CHECK(result->of(1) == first->of(1));
  CHECK(point.acquiredBy(stranger) == result);
  // A release after that is not in what others acquired before.
  point.add(45, {3, 3, 3});
  CHECK(point.acquiredBy(stranger)->of(45) == [&] {
    Times t = first->of(45);
    t.raise({3, 3, 3});
    return t;
  }());
}

TEST_CASE("foreign knowledge joins by cluster") {
  auto snapshot = [](Times t) { return std::make_shared<Snapshot>(1, t); };
  auto a = std::make_shared<Foreign>(), b = std::make_shared<Foreign>();
  a->clusters = {{1, snapshot({1, 1, 1})}, {5, snapshot({2, 0, 2})}};
  b->clusters = {{3, snapshot({7, 7, 7})}, {5, snapshot({1, 1, 1})}};
  ForeignRef both = joined(ForeignRef(a), ForeignRef(b));
  REQUIRE(both->clusters.size() == 3);
  CHECK((*both->find(5))[0] == Times{2, 1, 2});
  CHECK((*both->find(3))[0] == Times{7, 7, 7});
  CHECK(both->find(2) == nullptr);
  CHECK(joined(both, ForeignRef(a)) == both);
  CHECK(joined(ForeignRef(a), both) == both);
  CHECK(joined(ForeignRef(), both) == both);
  CHECK(joined(both, ForeignRef()) == both);
}
