//===- DetectorTest.cpp - What is a race, and what it is called -----------===//

#include "test/Unit/Emulator/Race/World.h"

#include <catch2/catch.hpp>
#include <ctime>

using namespace tilec::test;

/// The kind of the only report, which names two lines.
static ReportKind onlyKind(World &world) {
  std::vector<Report> reports = world.reports();
  REQUIRE(reports.size() == 1);
  CHECK(!reports[0].message.empty());
  CHECK(!reports[0].remedy.empty());
  CHECK(!reports[0].buffer.empty());
  return reports[0].kind;
}

static void barrier(World &world, unsigned threads) {
  SyncPoint point;
  for (unsigned i = 0; i < threads; ++i)
    world->release(i, point);
  for (unsigned i = 0; i < threads; ++i)
    world->acquire(i, point);
}

TEST_CASE("threads race unless a barrier is between") {
  World world(64);
  uint64_t x = World::shared(256);
  const Instruction &store = world.at("st.shared.b32");
  const Instruction &load = world.at("ld.shared.b32");
  world->write(3, x, 4, store);
  barrier(world, 64);
  world->read(40, x, 4, load);
  world->read(41, x + 2, 2, load);
  CHECK(world.isClean());
  world->write(5, x + 4, 4, store); // Beside it.
  CHECK(world.isClean());

  world->write(3, x + 3, 1, store);
  std::vector<Report> reports = world.reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].kind == ReportKind::SharedRace);
  REQUIRE(reports[0].participants.size() == 2);
  CHECK(reports[0].participants[0].thread == 3);
  CHECK(reports[0].participants[0].role == "writes");
  CHECK(reports[0].participants[0].instruction == "st.shared.b32");
  CHECK(reports[0].participants[0].location.ptxLine == 1);
  CHECK(reports[0].participants[1].thread >= 40);
  CHECK(reports[0].participants[1].role == "reads");
  CHECK(reports[0].participants[1].location.ptxLine == 2);
  CHECK(llvm::StringRef(reports[0].buffer).contains("25"));
}

TEST_CASE("all readers are remembered") {
  World world(128);
  uint64_t x = World::shared(0);
  for (unsigned i = 0; i < 128; ++i)
    world->read(i, x, 4, world.at("ld.shared.b32"));
  // Only those that the writer does not know are in its way.
  SyncPoint point;
  for (unsigned i = 0; i < 128; ++i)
    if (i != 77)
      world->release(i, point);
  world->acquire(0, point);
  world->write(0, x, 4, world.at("st.shared.b32"));
  std::vector<Report> reports = world.reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].participants[1].thread == 77);
}

TEST_CASE("lanes of one store that write the same bytes do not race") {
  World world(64);
  uint64_t addresses[32];
  for (unsigned i = 0; i < 32; ++i)
    addresses[i] = World::shared(i / 4 * 4);
  const Instruction &store = world.at("st.shared.b32");
  world->write(32, ~0u, addresses, 4, store);
  CHECK(world.isClean());
  // But with what another store of the warp wrote.
  world->write(32, ~0u << 1, addresses, 4, world.at("st.shared.b32"));
  CHECK(onlyKind(world) == ReportKind::SharedRace);
}

TEST_CASE("shared memory that nobody wrote") {
  World world(32);
  uint64_t x = World::shared(512);
  world->forget(x, 64, /*initialized=*/false);
  world->write(0, x, 16, world.at("st.shared.v4.b32"));
  world->read(0, x + 8, 8, world.at("ld.shared.b64"));
  CHECK(world.isClean());
  world->read(0, x + 12, 8, world.at("ld.shared.b64"));
  CHECK(onlyKind(world) == ReportKind::Uninitialized);
  world->strong(0, x + 32, 4, Detector::Strong::ReadModifyWrite,
                Order::Relaxed, Scope::Device, world.at("atom.shared.add"));
  CHECK(onlyKind(world) == ReportKind::Uninitialized);
}

TEST_CASE("copies in flight") {
  World world(32);
  uint64_t x = World::shared(0), g = World::device(0);
  const Instruction &copy = world.at("cp.async.bulk.shared::cluster.global");
  SyncPoint full;
  AsyncOperation load = world->start(0, Proxy::Async, copy);
  world->read(load, g, 256);
  world->write(load, x, 256);

  SECTION("read without a wait") {
    world->read(1, x + 128, 4, world.at("ld.shared.b32"));
    CHECK(onlyKind(world) == ReportKind::ReadInFlight);
  }
  SECTION("the issuer does not know either") {
    world->complete(load, full);
    world->read(0, x + 128, 4, world.at("ld.shared.b32"));
    CHECK(onlyKind(world) == ReportKind::ReadInFlight);
  }
  SECTION("its source is written") {
    world->write(0, g + 16, 4, world.at("st.global.b32"));
    CHECK(onlyKind(world) == ReportKind::OverwrittenInFlight);
  }
  SECTION("after the wait, refilled too early") {
    world->complete(load, full);
    world->acquire(1, full);
    world->read(1, x + 128, 4, world.at("ld.shared.b32"));
    CHECK(world.isClean());
    world->acquire(0, full);
    AsyncOperation next = world->start(0, Proxy::Async, copy);
    world->write(next, x, 256);
    std::vector<Report> reports = world.reports();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].kind == ReportKind::SharedRace);
    CHECK(reports[0].participants[0].role == "writes, asynchronously");
    CHECK(reports[0].participants[0].thread == 0);
  }
  SECTION("a ring as it should be") {
    for (int round = 0; round < 100; ++round) {
      SyncPoint done, empty;
      world->complete(load, done);
      world->acquire(1, done);
      world->read(1, x + 128, 4, world.at("ld.shared.b32"));
      world->release(1, empty);
      world->acquire(0, empty);
      load = world->start(0, Proxy::Async, copy);
      world->read(load, g, 256);
      world->write(load, x, 256);
    }
    // The agent is used again and again.
    CHECK(load.writer == 32);
    CHECK(world.isClean());
  }
}

TEST_CASE("completion tells nothing else of what the issuer did") {
  World world(64);
  world->write(0, World::shared(0), 4, world.at("st.shared.b32"));
  AsyncOperation product =
      world->start(0, Proxy::Async, world.at("wgmma.mma_async"),
                   Completion::WgmmaGroup);
  SyncPoint done;
  world->complete(product, done);
  world->acquire(32, done);
  world->read(32, World::shared(0), 4, world.at("ld.shared.b32"));
  CHECK(onlyKind(world) == ReportKind::SharedRace);
}

TEST_CASE("groups complete in order") {
  World world(32);
  const Instruction &copy = world.at("cp.async.cg.shared.global");
  AsyncOperation first =
      world->start(0, Proxy::Generic, copy, Completion::CopyGroup);
  world->write(first, World::shared(0), 16);
  AsyncOperation second =
      world->start(0, Proxy::Generic, copy, Completion::CopyGroup);
  world->write(second, World::shared(16), 16);
  AsyncOperation third =
      world->start(0, Proxy::Generic, copy, Completion::CopyGroup);
  world->write(third, World::shared(32), 16);
  SyncPoint done;
  world->complete(second, done);
  world->acquire(0, done);
  world->read(0, World::shared(0), 32, world.at("ld.shared.b32"));
  CHECK(world.isClean());
  world->read(0, World::shared(32), 4, world.at("ld.shared.b32"));
  CHECK(onlyKind(world) == ReportKind::ReadInFlight);
}

TEST_CASE("a bulk store has read before it has written") {
  World world(32);
  uint64_t x = World::shared(0), g = World::device(0);
  world->write(0, x, 16, world.at("st.shared.v4.b32"));
  world->proxyFence(0);
  AsyncOperation store = world->start(
      0, Proxy::Async, world.at("cp.async.bulk.global.shared::cta.bulk_group"),
      Completion::BulkGroup);
  world->read(store, x, 16);
  world->write(store, g, 16);
  CHECK(world.isClean());
  SyncPoint done;
  world->completeReads(store, done);
  world->acquire(0, done);
  world->write(0, x, 16, world.at("st.shared.v4.b32"));
  CHECK(world.isClean());
  world->read(0, g, 4, world.at("ld.global.b32"));
  std::vector<Report> reports = world.reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].kind == ReportKind::ReadInFlight);
  CHECK(llvm::StringRef(reports[0].remedy).contains("wait_group 0"));
}

TEST_CASE("the async proxy sees generic writes past a fence") {
  World world(64);
  uint64_t x = World::shared(0);
  world->write(32, x, 16, world.at("st.shared.v4.b32"));
  SyncPoint point;
  const Instruction &store = world.at("cp.async.bulk.global.shared::cta");
  auto issue = [&] {
    AsyncOperation operation =
        world->start(0, Proxy::Async, store, Completion::BulkGroup);
    world->read(operation, x, 16);
  };
  SECTION("none") {
    world->release(32, point);
    world->acquire(0, point);
    issue();
    CHECK(onlyKind(world) == ReportKind::MissingProxyFence);
  }
  SECTION("by the writer, before the barrier") {
    world->proxyFence(32);
    world->release(32, point);
    world->acquire(0, point);
    issue();
    CHECK(world.isClean());
  }
  SECTION("by the reader, after the barrier") {
    world->release(32, point);
    world->acquire(0, point);
    world->proxyFence(0);
    issue();
    CHECK(world.isClean());
  }
  SECTION("by the reader, before the barrier") {
    world->proxyFence(0);
    world->release(32, point);
    world->acquire(0, point);
    issue();
    CHECK(onlyKind(world) == ReportKind::MissingProxyFence);
  }
  SECTION("before the write") {
    world->proxyFence(32);
    world->write(32, x, 16, world.at("st.shared.v4.b32"));
    world->release(32, point);
    world->acquire(0, point);
    issue();
    CHECK(onlyKind(world) == ReportKind::MissingProxyFence);
  }
  SECTION("without order it is no use") {
    world->proxyFence(32);
    issue();
    CHECK(onlyKind(world) == ReportKind::SharedRace);
  }
}

TEST_CASE("a copy may overtake a load that nobody has used") {
  World world(64);
  uint64_t x = World::shared(0);
  auto refill = [&] {
    AsyncOperation operation = world->start(0, Proxy::Async, world.at("cp"));
    world->write(operation, x, 16);
  };
  world->loadsPendingSince(32, world->nextStep(32));
  world->read(32, x, 4, world.at("ld.shared.b32"));
  SECTION("not used before the barrier") {
    barrier(world, 64);
    refill();
    CHECK(onlyKind(world) == ReportKind::OverwrittenInFlight);
  }
  SECTION("used after the barrier, too late") {
    barrier(world, 64);
    world->loadsPendingSince(32, 0);
    refill();
    CHECK(onlyKind(world) == ReportKind::OverwrittenInFlight);
  }
  SECTION("used before the barrier") {
    world->loadsPendingSince(32, 0);
    barrier(world, 64);
    refill();
    CHECK(world.isClean());
  }
  SECTION("an mbarrier waits for loads of the warp") {
    SyncPoint warp, empty;
    world->release(32, warp);
    world->acquire(40, warp);
    world->releaseAfterLoads(40, empty);
    world->acquire(0, empty);
    refill();
    CHECK(world.isClean());
  }
  SECTION("ordinary stores do not overtake") {
    barrier(world, 64);
    world->write(0, x, 4, world.at("st.shared.b32"));
    CHECK(world.isClean());
  }
}

TEST_CASE("repeated findings are counted") {
  Reporter reporter;
  GlobalShadow global;
  World sources(1);
  const Instruction &store = sources.at("st.shared.b32");
  {
    Detector detector(32, 1, 0, 1024, global, reporter);
    for (unsigned i = 0; i < 10; ++i) {
      detector.write(0, World::shared(4 * i), 4, store);
      detector.write(1, World::shared(4 * i), 4, store);
    }
  }
  std::vector<Report> reports = reporter.take();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].count == 10);
}

TEST_CASE("blocks of a cluster have shared memory of their own") {
  World world(32, 2);
  world->write(0, World::shared(0, 0), 4, world.at("st.shared.b32"));
  world->write(32, World::shared(0, 1), 4, world.at("st.shared.b32"));
  CHECK(world.isClean());
  world->read(0, World::shared(0, 1), 4, world.at("ld.shared::cluster.b32"));
  std::vector<Report> reports = world.reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].participants[1].block[0] == 1);
  CHECK(reports[0].participants[1].thread == 0);
}

TEST_CASE("detection is quick", "[.benchmark]") {
  constexpr unsigned threads = 384, rounds = 2000;
  World world(threads, 1, 1, 200 * 1024);
  const Instruction &store = world.at("st.shared.b32");
  const Instruction &load = world.at("ld.shared.b32");
  const Instruction &copy = world.at("cp.async.bulk");
  auto measure = [](const char *what, double each, auto run) {
    std::clock_t begin = std::clock();
    run();
    double time = double(std::clock() - begin) / CLOCKS_PER_SEC;
    WARN(what << ": " << time * 1e9 / each << " ns");
  };
  uint64_t addresses[32];
  unsigned warps = threads / 32;
  measure("store and load of a warp", 2.0 * rounds * warps, [&] {
    for (unsigned round = 0; round < rounds; ++round) {
      for (unsigned w = 0; w < warps; ++w) {
        for (unsigned i = 0; i < 32; ++i)
          addresses[i] = World::shared(4 * (w * 32 + i));
        world->write(w * 32, ~0u, addresses, 4, store);
        world->read(w * 32, ~0u, addresses, 4, load);
      }
    }
  });
  measure("barrier of the block", rounds, [&] {
    for (unsigned round = 0; round < rounds; ++round)
      barrier(world, threads);
  });
  measure("global load of a warp", double(rounds) * warps, [&] {
    for (unsigned round = 0; round < rounds; ++round)
      for (unsigned w = 0; w < warps; ++w) {
        for (unsigned i = 0; i < 32; ++i)
          addresses[i] = World::device(4 * ((round * warps + w) * 32 + i));
        world->read(w * 32, ~0u, addresses, 4, load);
      }
  });
  measure("word that all lanes read", double(rounds) * warps, [&] {
    for (unsigned round = 0; round < rounds; ++round)
      for (unsigned w = 0; w < warps; ++w) {
        for (unsigned i = 0; i < 32; ++i)
          addresses[i] = World::shared(8192);
        world->read(w * 32, ~0u, addresses, 4, load);
      }
  });
  measure("tile of 16 KiB", rounds, [&] {
    for (unsigned round = 0; round < rounds; ++round) {
      SyncPoint done;
      AsyncOperation operation = world->start(0, Proxy::Async, copy);
      world->write(operation, World::shared(65536), 16384);
      world->complete(operation, done);
      world->acquire(0, done);
    }
  });
  CHECK(world.isClean());
}
