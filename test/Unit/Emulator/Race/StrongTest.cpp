//===- StrongTest.cpp - Order through words of memory ---------------------===//
//
// Message passing between clusters, blocks and threads in the patterns that
// kernels use, right and with one thing missing.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/Emulator/Race/World.h"

#include <catch2/catch.hpp>

using namespace tilec::test;

namespace {

constexpr auto load = Detector::Strong::Load;
constexpr auto store = Detector::Strong::Store;
constexpr auto update = Detector::Strong::ReadModifyWrite;

/// Thread 0 of one cluster writes data and passes them on; thread 0 of another
/// reads them.
struct Passing {
  World world{32, 1, 2};
  uint64_t data = World::device(0), flag = World::device(1024);
  Detector &from = world.cluster(0), &to = world.cluster(1);

  void write() { from.write(0, data, 4, world.at("st.global.b32")); }
  void read() { to.read(0, data, 4, world.at("ld.global.b32")); }
  void give(Detector::Strong kind, Order order, Scope scope = Scope::Device) {
    from.strong(0, flag, 4, kind, order, scope, world.at("st.release"));
  }
  void take(Detector::Strong kind, Order order, Scope scope = Scope::Device) {
    to.strong(0, flag, 4, kind, order, scope, world.at("ld.acquire"));
  }
  bool isRace() {
    auto reports = world.reports();
    if (reports.empty())
      return false;
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].kind == ReportKind::GlobalRace);
    CHECK(reports[0].participants[0].block[0] == 1);
    CHECK(reports[0].participants[1].block[0] == 0);
    return true;
  }
};

} // namespace

TEST_CASE("release and acquire between clusters") {
  Passing p;
  p.write();
  SECTION("as it should be") {
    p.give(store, Order::Release);
    p.take(load, Order::Acquire);
    p.read();
    CHECK(!p.isRace());
  }
  SECTION("no release") {
    p.give(store, Order::Relaxed);
    p.take(load, Order::Acquire);
    p.read();
    CHECK(p.isRace());
  }
  SECTION("no acquire") {
    p.give(store, Order::Release);
    p.take(load, Order::Relaxed);
    p.read();
    CHECK(p.isRace());
  }
  SECTION("fences make relaxed accesses carry order") {
    p.from.fence(0, Order::AcquireRelease, Scope::Device);
    p.give(update, Order::Relaxed);
    p.take(update, Order::Relaxed);
    p.to.fence(0, Order::AcquireRelease, Scope::Device);
    p.read();
    CHECK(!p.isRace());
  }
  SECTION("the first fence is missing") {
    p.give(update, Order::Relaxed);
    p.take(update, Order::Relaxed);
    p.to.fence(0, Order::AcquireRelease, Scope::Device);
    p.read();
    CHECK(p.isRace());
  }
  SECTION("the second fence is missing") {
    p.from.fence(0, Order::AcquireRelease, Scope::Device);
    p.give(update, Order::Relaxed);
    p.take(update, Order::Relaxed);
    p.read();
    CHECK(p.isRace());
  }
  SECTION("a fence of the block alone") {
    p.from.fence(0, Order::AcquireRelease, Scope::Block);
    p.give(update, Order::Relaxed);
    p.take(update, Order::Relaxed);
    p.to.fence(0, Order::AcquireRelease, Scope::Device);
    p.read();
    CHECK(p.isRace());
  }
  SECTION("what comes after the release is not released") {
    p.give(store, Order::Release);
    p.write();
    p.take(load, Order::Acquire);
    p.read();
    CHECK(p.isRace());
  }
  SECTION("another one's update goes on with the release") {
    p.give(update, Order::Release);
    p.from.strong(5, p.flag, 4, update, Order::Relaxed, Scope::Device,
                  p.world.at("atom.add"));
    p.take(load, Order::Acquire);
    p.read();
    CHECK(!p.isRace());
  }
  SECTION("another one's store does not") {
    p.give(update, Order::Release);
    p.from.strong(5, p.flag, 4, store, Order::Relaxed, Scope::Device,
                  p.world.at("st.relaxed"));
    p.take(load, Order::Acquire);
    p.read();
    CHECK(p.isRace());
  }
}

TEST_CASE("what a thread knows of others it passes on, too") {
  Passing p;
  p.write();
  SyncPoint point;
  p.from.release(0, point);
  p.from.acquire(7, point);
  p.from.strong(7, p.flag, 4, update, Order::Release, Scope::Device,
                p.world.at("red.release"));
  p.take(load, Order::Acquire);
  p.to.release(0, point = SyncPoint());
  p.to.acquire(9, point);
  p.to.read(9, p.data, 4, p.world.at("ld.global.b32"));
  CHECK(p.world.isClean());
}

TEST_CASE("fences of all threads, a barrier, and one atomic") {
  Passing p;
  p.write();
  bool isReleased = GENERATE(true, false), isAcquired = GENERATE(true, false);
  // Thread 0 fences, thread 7 has the atomic.
  if (isReleased)
    p.from.fence(0, Order::AcquireRelease, Scope::Device);
  SyncPoint point;
  p.from.release(0, point);
  p.from.acquire(7, point);
  p.from.strong(7, p.flag, 4, update, Order::Relaxed, Scope::Device,
                p.world.at("atom.add"));
  p.to.strong(9, p.flag, 4, update, Order::Relaxed, Scope::Device,
              p.world.at("atom.add"));
  p.to.release(9, point = SyncPoint());
  p.to.acquire(0, point);
  if (isAcquired)
    p.to.fence(0, Order::AcquireRelease, Scope::Device);
  p.read();
  CHECK(p.isRace() != (isReleased && isAcquired));
}

TEST_CASE("proxies across clusters") {
  Passing p;
  p.write();
  p.give(store, Order::Release);
  p.take(load, Order::Acquire);
  bool isFenced = GENERATE(false, true);
  if (isFenced)
    p.to.proxyFence(0);
  AsyncOperation copy =
      p.to.start(0, Proxy::Async, p.world.at("cp.async.bulk"));
  p.to.read(copy, p.data, 16);
  auto reports = p.world.reports();
  REQUIRE(reports.empty() == isFenced);
  if (!isFenced)
    CHECK(reports[0].kind == ReportKind::MissingProxyFence);
}

TEST_CASE("strong accesses do not race with each other, but with weak ones") {
  World world(32, 1, 2);
  uint64_t x = World::device(64);
  const Instruction &add = world.at("atom.global.add");
  for (unsigned i = 0; i < 32; ++i)
    for (unsigned c = 0; c < 2; ++c)
      world.cluster(c).strong(i, x, 4, update, Order::Relaxed, Scope::Device,
                              add);
  CHECK(world.isClean());
  SECTION("a weak read") {
    world->read(3, x, 4, world.at("ld.global.b32"));
    CHECK(world.reports().size() >= 1);
  }
  SECTION("a scope that is too narrow") {
    world->strong(3, x, 4, update, Order::Relaxed, Scope::Block,
                  world.at("atom.global.cta.add"));
    auto reports = world.reports();
    REQUIRE(reports.size() == 1);
    CHECK(llvm::StringRef(reports[0].message).contains("scope"));
  }
  SECTION("a weak write before all, without order") {
    uint64_t y = World::device(128);
    world->write(0, y, 4, world.at("st.global.b32"));
    world->strong(0, y, 4, update, Order::Relaxed, Scope::Device, add);
    CHECK(world.isClean());
    world->strong(1, y, 4, update, Order::Relaxed, Scope::Device, add);
    CHECK(world.reports().size() == 1);
  }
}

TEST_CASE("reductions of copies are strong") {
  World world(32, 1, 2);
  uint64_t x = World::device(4096);
  for (unsigned c = 0; c < 2; ++c) {
    AsyncOperation reduction = world.cluster(c).start(
        0, Proxy::Async, world.at("cp.reduce.async.bulk.bulk_group"),
        Completion::BulkGroup);
    world.cluster(c).reduce(reduction, x, 512);
  }
  CHECK(world.isClean());
  world->write(0, x + 40, 4, world.at("st.global.b32"));
  CHECK(world.reports().size() >= 1);
}

TEST_CASE("locks between threads of a block") {
  World world(64);
  uint64_t lock = World::shared(0), data = World::shared(64);
  const Instruction &at = world.at("atom.shared");
  for (unsigned i = 0; i < 64; ++i) {
    world->strong(i, lock, 4, update, Order::Acquire, Scope::Block, at);
    world->read(i, data, 4, at);
    world->write(i, data, 4, at);
    world->strong(i, lock, 4, update, Order::Release, Scope::Block, at);
  }
  CHECK(world.isClean());
  world->read(0, data, 4, at);
  CHECK(!world.isClean());
}

TEST_CASE("who has seen an atomic comes after it, whatever it released") {
  World world{64, 1, 3};
  Detector &first = world.cluster(0), &second = world.cluster(1),
           &third = world.cluster(2);
  const uint64_t word = World::device(0);
  auto change = [&](Detector &detector, Detector::Strong kind) {
    detector.strong(0, word, 4, kind, Order::Relaxed, Scope::Device,
                    world.at("atom.relaxed"));
  };
  auto overwrite = [&](Detector &detector, ThreadId thread = 0) {
    detector.write(thread, word, 4, world.at("st.global"));
    return !world.reports().empty();
  };
  SECTION("through a chain of atomics") {
    change(first, update);
    change(second, update);
    change(third, update);
    CHECK(!overwrite(third));
  }
  SECTION("through a load") {
    change(first, store);
    change(third, load);
    CHECK(!overwrite(third));
  }
  SECTION("but not who came before it") {
    change(third, update);
    change(first, update);
    CHECK(overwrite(third));
  }
  SECTION("nor who saw another value") {
    change(first, update);
    change(second, store);
    change(third, load);
    third.write(0, word, 4, world.at("st.global"));
    auto reports = world.reports();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].participants[1].block[0] == 0);
  }
  SECTION("a later store of the same thread goes on with the first") {
    change(first, store);
    change(first, store);
    change(third, load);
    CHECK(!overwrite(third));
  }
  SECTION("a barrier tells it to the block") {
    change(first, update);
    change(third, update);
    SyncPoint barrier;
    third.release(0, barrier);
    third.acquire(40, barrier);
    CHECK(!overwrite(third, 40));
  }
  SECTION("without the barrier it does not know") {
    change(first, update);
    change(third, update);
    CHECK(overwrite(third, 40));
  }
  SECTION("it tells nothing of other memory") {
    first.write(0, World::device(64), 4, world.at("st.global"));
    change(first, update);
    change(third, update);
    third.read(0, World::device(64), 4, world.at("ld.global"));
    CHECK(world.reports().size() == 1);
  }
  SECTION("of many") {
    for (unsigned thread = 0; thread < 300; ++thread)
      world.cluster(thread % 2)
          .strong(thread / 2 % 64, word, 4, update, Order::Relaxed,
                  Scope::Device, world.at("atom.relaxed"));
    change(third, update);
    for (unsigned thread = 0; thread < 100; ++thread)
      second.strong(thread % 64, word, 4, load, Order::Relaxed, Scope::Device,
                    world.at("ld.relaxed"));
    third.read(0, word, 4, world.at("ld.global"));
    CHECK(world.isClean());
    // Both of its loads race with one more, which it has not seen.
    change(first, update);
    third.read(0, word, 4, world.at("ld.global"));
    CHECK(world.reports().size() == 2);
  }
}

TEST_CASE("a vote comes after atomics on shared memory, not after stores") {
  World world(64);
  uint64_t word = World::shared(0), data = World::shared(64),
           far = World::device(0);
  const Instruction &at = world.at("atom.shared.add.u32");
  world->strong(1, word, 4, update, Order::Relaxed, Scope::Block, at);
  world->strong(1, far, 4, update, Order::Relaxed, Scope::Device, at);
  world->write(1, data, 4, world.at("st.shared.u32"));
  SECTION("in the same warp") {
    world->exchange(0, 3);
    world->write(0, word, 4, at);
    CHECK(world.isClean());
    world->write(0, data, 4, at);
    CHECK(world.reports().size() == 1);
    world->write(0, far, 4, world.at("st.global.u32"));
    CHECK(world.reports().size() == 1);
  }
  SECTION("without it") {
    world->write(0, word, 4, at);
    CHECK(world.reports().size() == 1);
  }
  SECTION("and who takes it over from there") {
    world->exchange(0, 3);
    uint64_t count = World::shared(128);
    world->fence(0, Order::AcquireRelease, Scope::Block);
    world->strong(0, count, 4, update, Order::Relaxed, Scope::Block, at);
    world->strong(40, count, 4, update, Order::Acquire, Scope::Block, at);
    world->write(40, word, 4, at);
    CHECK(world.isClean());
  }
}
