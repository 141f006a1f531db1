//===- BarrierStateTest.cpp - Phases of an mbarrier -----------------------===//

#include "lib/Emulator/Async/MemoryBarrier.h"
#include <catch2/catch.hpp>

using namespace tilec::emulator;

TEST_CASE("A phase ends with its last arrival") {
  BarrierState state(3);
  CHECK(state.phase() == 0);
  CHECK(!state.isComplete(0));
  CHECK(state.isComplete(1)); // The phase before the first.
  CHECK(state.arrive(1) == BarrierFault::None);
  uint64_t token = state.token();
  CHECK(BarrierState::pendingOf(token) == 2);
  CHECK(state.isCurrent(token));
  CHECK(state.arrive(2) == BarrierFault::None);
  CHECK(state.phase() == 1);
  CHECK(state.isComplete(0));
  CHECK(!state.isComplete(1));
  CHECK(state.isPrevious(token));
  CHECK(state.pendingArrivals() == 3);
  CHECK(state.arrive(3) == BarrierFault::None);
  CHECK(!state.isPrevious(token));
  CHECK(!state.isCurrent(token));
}

TEST_CASE("Bytes hold a phase open, in whichever order they are told") {
  BarrierState state(1);
  SECTION("expected first") {
    CHECK(state.expectTransactions(128) == BarrierFault::None);
    CHECK(state.arrive(1) == BarrierFault::None);
    CHECK(state.phase() == 0);
    CHECK(state.completeTransactions(100) == BarrierFault::None);
    CHECK(state.phase() == 0);
    CHECK(state.completeTransactions(28) == BarrierFault::None);
    CHECK(state.phase() == 1);
  }
  SECTION("delivered first") {
    CHECK(state.completeTransactions(128) == BarrierFault::None);
    CHECK(state.transactions() == -128);
    CHECK(state.arrive(1) == BarrierFault::None);
    CHECK(state.phase() == 0);
    CHECK(state.expectTransactions(128) == BarrierFault::None);
    CHECK(state.phase() == 1);
  }
}

TEST_CASE("Who drops out is not waited for again") {
  BarrierState state(4);
  CHECK(state.arriveDrop(2) == BarrierFault::None);
  CHECK(state.pendingArrivals() == 2);
  CHECK(state.arrive(2) == BarrierFault::None);
  CHECK(state.phase() == 1);
  CHECK(state.pendingArrivals() == 2);
  CHECK(state.arriveDrop(3) == BarrierFault::TooManyArrivals);
  CHECK(state.expectedArrivals() == 2);
  // The last one to arrive drops out: the next phase has one fewer.
  CHECK(state.arrive(1) == BarrierFault::None);
  CHECK(state.arriveDrop(1) == BarrierFault::None);
  CHECK(state.phase() == 2);
  CHECK(state.pendingArrivals() == 1);
}

TEST_CASE("What a barrier cannot count is a fault and changes nothing") {
  BarrierState state(2);
  CHECK(state.arrive(0) == BarrierFault::CountRange);
  CHECK(state.arrive(BarrierState::maxCount + 1) == BarrierFault::CountRange);
  CHECK(state.arrive(3) == BarrierFault::TooManyArrivals);
  CHECK(state.arrive(2, /*noComplete=*/true) == BarrierFault::WouldComplete);
  CHECK(state.arrive(1, /*noComplete=*/true) == BarrierFault::None);
  CHECK(state.pendingArrivals() == 1);
  CHECK(state.expectTransactions(BarrierState::maxCount) == BarrierFault::None);
  CHECK(state.expectTransactions(1) == BarrierFault::TransactionRange);
  CHECK(state.arrive(1) == BarrierFault::None);
  // All have arrived, bytes are outstanding: nobody may arrive now.
  CHECK(state.arrive(1) == BarrierFault::TooManyArrivals);
  CHECK(state.completeTransactions(BarrierState::maxCount) ==
        BarrierFault::None);
  CHECK(state.phase() == 1);
  CHECK(state.completeTransactions(BarrierState::maxCount) ==
        BarrierFault::None);
  CHECK(state.completeTransactions(1) == BarrierFault::TransactionRange);
}
