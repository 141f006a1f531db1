//===- DiskCacheRaceTest.cpp - Many users of one cache ----------*- C++ -*-===//
//
// Processes that are killed while they write, threads and processes that find,
// make and throw away entries at the same time, and what is cleaned up when.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/GPURuntime/CacheFixture.h"
#include <atomic>
#include <csignal>
#include <random>
#include <sys/wait.h>
#include <thread>

using namespace tilec::gpu;
using namespace tilec::test;
using Fixture = CacheFixture;

// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
static const CacheEntry entry = someEntry();

/// Runs `body` in a process that it kills with SIGKILL on the way.
template <typename Body> static void runToDeath(Body body) {
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("a process that is killed leaves no half entry") {
  auto inWrite = failing([](CacheSystem &system) {
    system.write = [](int file, const void *bytes, size_t) -> ssize_t {
      if (::write(file, bytes, 40) == 40)
        raise(SIGKILL);
      return -1;
    };
  });
  auto inSync = failing([](CacheSystem &system) {
    system.sync = [](int) { return raise(SIGKILL); };
  });
  auto inLink = failing([](CacheSystem &system) {
    system.link = [](const char *, const char *) { return raise(SIGKILL); };
  });
  auto afterLink = failing([](CacheSystem &system) {
    system.link = [](const char *from, const char *to) {
      if (::link(from, to) == 0)
        raise(SIGKILL);
      return -1;
    };
  });
  int number = 0;
  for (const CacheSystem &system : {inWrite, inSync, inLink, afterLink}) {
    bool isThere = ++number == 4;
    Fixture fixture;
    DiskCache::Options options = fixture.options();
    options.system = system;
    runToDeath([&] { DiskCache(options).keep(keyOf("a"), entry); });
    CHECK(fixture.files().size() == (isThere ? 2 : 1));

    DiskCache cache(fixture.options());
    CHECK(cache.find(keyOf("a")).has_value() == isThere);
    CHECK(cache.keep(keyOf("a"), entry));
    CHECK(cache.find(keyOf("a")) == entry);
    CHECK(fixture.warnings.empty());
    // What is left goes when it is old, not before: it may be in use.
    cache.clean();
    CHECK(fixture.files().size() == 2);
    for (const std::string &name : fixture.files())
      if (llvm::StringRef(name).starts_with(".tmp-"))
        Fixture::age(fixture.scratch / ("cache/" + name), 3601);
    cache.clean();
    CHECK(fixture.files().size() == 1);
    CHECK(cache.find(keyOf("a")) == entry);
  }
}

TEST_CASE("the first entry that a process keeps cleans up") {
  Fixture fixture;
  fixture.scratch.write("cache/.tmp-1-AB", "x");
  fixture.scratch.write("cache/notes.txt", "mine");
  Fixture::age(fixture.scratch / "cache/.tmp-1-AB", 4000);
  Fixture::age(fixture.scratch / "cache/notes.txt", 4000);
  DiskCache cache(fixture.options());
  REQUIRE(cache.keep(keyOf("a"), entry));
  std::vector<std::string> files = fixture.files();
  CHECK(files.size() == 2);
  CHECK(llvm::is_contained(files, "notes.txt"));
}

TEST_CASE("beyond the limit the entries not used for longest go") {
  Fixture fixture;
  DiskCache::Options options = fixture.options();
  options.maxBytes = 0;
  DiskCache unlimited(options);
  const CacheEntry large = {{"cubin", std::string(1000, 'x')}};
  for (int i = 0; i < 10; ++i) {
    std::string key = keyOf(std::to_string(i));
    REQUIRE(unlimited.keep(key, large));
    Fixture::age(unlimited.pathOf(key), 3600 * 24 * (10 - i));
  }
  unlimited.clean();
  CHECK(fixture.files().size() == 10);
  // The oldest one is used again.
  CHECK(unlimited.find(keyOf("0")));
  options.maxBytes = 6000;
  DiskCache(options).clean();
  // An entry takes between 1000 and 1200 bytes, and a tenth stays free.
  CHECK(fixture.files().size() == 4);
  CHECK(unlimited.find(keyOf("0")));
  CHECK_FALSE(unlimited.find(keyOf("1")));
  CHECK_FALSE(unlimited.find(keyOf("6")));
  CHECK(unlimited.find(keyOf("7")));
  CHECK(unlimited.find(keyOf("9")));
}

/// An entry that says which key and which maker it is of, and is wrong if
/// pieces of two come together.
static CacheEntry entryOf(int key, unsigned maker) {
  std::string digit(1, char('a' + maker % 26));
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += digit;
  return {{"key", std::to_string(key)}, {"cubin", text}, {"maker", digit}};
}
static bool isWhole(const CacheEntry &entry, int key) {
  return entry.size() == 3 && entry.at("key") == std::to_string(key) &&
         entry.at("cubin") == std::string(3000, entry.at("maker")[0]);
}

/// What one process of many does: finds and makes entries of a few keys, throws
/// some away, damages some. True if it only ever saw whole entries.
static bool hammer(DiskCache::Options options, unsigned seed, bool damages) {
  std::atomic<bool> good = true;
  options.warn = [&](llvm::StringRef text) {
    // Damage is the only thing that may be reported.
    if (!damages || !text.contains("is damaged"))
      good = false;
  };
  DiskCache cache(options);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(seed * 4 + t);
      for (int i = 0; i < 60; ++i) {
        int number = random() % 5;
        std::string key = keyOf(std::to_string(number));
        auto got = cache.findOrMake(key, [&] {
          return llvm::Expected<CacheEntry>(entryOf(number, seed * 4 + t));
        });
        if (!got || !isWhole(*got, number))
          good = false;
        if (random() % 8 == 0)
          unlink(cache.pathOf(key).c_str());
        if (damages && random() % 8 == 0)
          (void)!truncate(cache.pathOf(key).c_str(), random() % 3000);
        if (random() % 16 == 0)
          cache.clean();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return good;
}

TEST_CASE("many processes and threads share a cache") {
  for (bool damages : {false, true}) {
    Fixture fixture;
    DiskCache::Options options = fixture.options();
    options.system.sync = [](int) { return 0; }; // For more races a second.
    std::vector<pid_t> children;
    for (unsigned i = 0; i < 6; ++i) {
      pid_t child = fork();
      if (child == 0)
        _exit(hammer(options, i, damages) ? 0 : 1);
      children.push_back(child);
    }
    for (pid_t child : children) {
      int status = 0;
      REQUIRE(waitpid(child, &status, 0) == child);
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 0);
    }
    for (const std::string &name : fixture.files())
      CHECK(llvm::StringRef(name).ends_with(".kernel"));
  }
}

TEST_CASE("without interference all processes get the first result") {
  Fixture fixture;
  DiskCache::Options options = fixture.options();
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 8; ++i) {
    pid_t child = fork();
    if (child == 0) {
      DiskCache cache(options);
      auto got = cache.findOrMake(keyOf("a"), [&] {
        usleep(20000); // So that all of them make it.
        return llvm::Expected<CacheEntry>(entryOf(1, i));
      });
      char maker = got ? got->at("maker")[0] : '!';
      _exit(write(pipes[1], &maker, 1) == 1 ? 0 : 1);
    }
    children.push_back(child);
  }
  close(pipes[1]);
  std::string makers;
  char maker;
  while (read(pipes[0], &maker, 1) == 1)
    makers += maker;
  close(pipes[0]);
  for (pid_t child : children)
    waitpid(child, nullptr, 0);
  CHECK(makers.size() == 8);
  CHECK(makers == std::string(8, makers[0]));
  CHECK(isWhole(*DiskCache(options).find(keyOf("a")), 1));
}

TEST_CASE("threads of two processes that ask for one entry get one result") {
  Fixture fixture;
  DiskCache::Options options = fixture.options();
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  constexpr unsigned numThreads = 8;
  std::vector<pid_t> children;
  for (unsigned process = 0; process < 2; ++process) {
    pid_t child = fork();
    if (child == 0) {
      DiskCache cache(options);
      std::atomic<unsigned> waiting = numThreads;
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < numThreads; ++t)
        threads.emplace_back([&, t] {
          for (--waiting; waiting > 0;) { // All at once.
          }
          auto got = cache.findOrMake(keyOf("a"), [&] {
            return llvm::Expected<CacheEntry>(
                entryOf(1, process * numThreads + t));
          });
          char maker = got && isWhole(*got, 1) ? got->at("maker")[0] : '!';
          (void)!write(pipes[1], &maker, 1);
        });
      for (std::thread &thread : threads)
        thread.join();
      _exit(0);
    }
    children.push_back(child);
  }
  close(pipes[1]);
  std::string makers;
  char maker;
  while (read(pipes[0], &maker, 1) == 1)
    makers += maker;
  close(pipes[0]);
  for (pid_t child : children)
    waitpid(child, nullptr, 0);
  CHECK(makers == std::string(2 * numThreads, makers[0]));
  CHECK(makers[0] != '!');
}
