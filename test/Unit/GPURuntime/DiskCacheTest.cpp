//===- DiskCacheTest.cpp - The cache of kernels on disk ---------*- C++ -*-===//
//
// The tests may run as root, for whom no folder is read-only, so failures of
// the file system are injected; where a real one can be had, it is used too.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/GPURuntime/CacheFixture.h"
#include <cerrno>
#include <csignal>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace tilec::gpu;
using namespace tilec::test;
using Catch::Matchers::Contains;

using Fixture = CacheFixture;

// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
static const CacheEntry entry = someEntry();

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

TEST_CASE("every part is in the key") {
  CompilationInputs inputs{"source", "options", "sm_90a", "0.1.0",
                           "NVRTC 13.0"};
  std::vector<std::string> keys = {inputs.key()};
  CHECK(keys[0].size() == 64);
  CHECK(CompilationInputs(inputs).key() == keys[0]);
  auto changed = [&](auto change) {
    CompilationInputs other = inputs;
    change(other);
    keys.push_back(other.key());
  };
  changed([](auto &i) { i.source = "source "; });
  changed([](auto &i) { i.options = ""; });
  changed([](auto &i) { i.arch = "sm_90"; });
  changed([](auto &i) { i.tilec = "0.1.1"; });
  changed([](auto &i) { i.compiler = "NVRTC 13.1"; });
  // The same text, split elsewhere.
  changed([](auto &i) { i.source = "sourceoptions", i.options = ""; });
  changed([](auto &i) { i.source = "", i.options = "sourceoptions"; });
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == keys.size());
}

TEST_CASE("where parts end is in the key") {
  CHECK(CacheKey().add("a", "bc").digits() !=
        CacheKey().add("ab", "c").digits());
  CHECK(CacheKey().add("a", "").add("b", "").digits() !=
        CacheKey().add("b", "").add("a", "").digits());
  // SHA-256 of "1 2 abc", by another tool.
  CHECK(CacheKey().add("a", "bc").digits() ==
        "ee6b46c5bb08c8fe458b9ed2d273841fcd40ebfce420e61a5986b701a73f232b");
}

TEST_CASE("where the cache is") {
  Environment environment;
  environment.set("HOME", "/home/someone");
  environment.set("XDG_CACHE_HOME", "/xdg");
  environment.set("TILEC_CACHE_DIR", "/mine");
  CHECK(DiskCache::defaultFolder() == "/mine");
  environment.unset("TILEC_CACHE_DIR");
  CHECK(DiskCache::defaultFolder() == "/xdg/tilec");
  environment.set("XDG_CACHE_HOME", "relative");
  CHECK(DiskCache::defaultFolder() == "/home/someone/.cache/tilec");
  environment.unset("XDG_CACHE_HOME");
  CHECK(DiskCache::defaultFolder() == "/home/someone/.cache/tilec");
  environment.set("TILEC_CACHE_DIR", "");
  CHECK(DiskCache::defaultFolder() == "");
}

TEST_CASE("a cache without a folder keeps nothing") {
  DiskCache::Options options;
  options.warn = [](llvm::StringRef text) { FAIL(text.str()); };
  DiskCache cache(options);
  CHECK_FALSE(cache.keep(keyOf("a"), entry));
  CHECK_FALSE(cache.find(keyOf("a")));
  CHECK(llvm::cantFail(cache.findOrMake(keyOf("a"), [] {
          return llvm::Expected<CacheEntry>(entry);
        })) == entry);
  cache.clean();
}

//===----------------------------------------------------------------------===//
// Finding and keeping
//===----------------------------------------------------------------------===//

TEST_CASE("what is kept is found") {
  Fixture fixture;
  std::string key = keyOf("a");
  DiskCache cache(fixture.options());
  CHECK_FALSE(cache.find(key)); // Without a folder there is no warning.
  CHECK(cache.keep(key, entry));
  CHECK(cache.find(key) == entry);
  CHECK_FALSE(cache.find(keyOf("b")));
  // By another object too, which stands for another process.
  CHECK(DiskCache(fixture.options()).find(key) == entry);
  CHECK(cache.keep(keyOf("empty"), {}));
  CHECK(cache.find(keyOf("empty")) == CacheEntry());
  // Nothing temporary is left.
  CHECK(fixture.files().size() == 2);
  CHECK(fixture.warnings.empty());
  struct stat status;
  REQUIRE(stat((fixture.scratch / "cache").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("the first result wins") {
  Fixture fixture;
  DiskCache cache(fixture.options());
  std::string key = keyOf("a");
  CHECK(cache.keep(key, entry));
  CHECK(cache.keep(key, {{"other", "x"}}));
  CHECK(cache.find(key) == entry);
  // A process that was slower runs what the faster one made.
  std::string slow = keyOf("slow");
  CacheEntry got = llvm::cantFail(cache.findOrMake(slow, [&] {
    CHECK(DiskCache(fixture.options()).keep(slow, entry));
    return llvm::Expected<CacheEntry>(CacheEntry{{"other", "x"}});
  }));
  CHECK(got == entry);
  CHECK(fixture.files().size() == 2);
}

TEST_CASE("an entry is made once") {
  Fixture fixture;
  DiskCache cache(fixture.options());
  int made = 0;
  for (int i = 0; i < 3; ++i)
    CHECK(llvm::cantFail(cache.findOrMake(keyOf("a"), [&] {
            ++made;
            return llvm::Expected<CacheEntry>(entry);
          })) == entry);
  CHECK(made == 1);
}

TEST_CASE("a failure is not kept") {
  Fixture fixture;
  DiskCache cache(fixture.options());
  auto result = cache.findOrMake(keyOf("a"), [] {
    return llvm::Expected<CacheEntry>(llvm::createStringError("broken"));
  });
  REQUIRE_FALSE(!!result);
  CHECK(llvm::toString(result.takeError()) == "broken");
  CHECK(fixture.files().empty());
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

TEST_CASE("every damage of an entry is found") {
  std::string key = keyOf("a");
  std::string good = encodeEntry(key, entry);
  auto isGood = [&](llvm::StringRef bytes) {
    llvm::Expected<CacheEntry> decoded = decodeEntry(key, bytes);
    if (decoded) {
      CHECK(*decoded == entry);
      return true;
    }
    CHECK(llvm::toString(decoded.takeError()) != "");
    return false;
  };
  REQUIRE(isGood(good));
  for (size_t length = 0; length < good.size(); ++length)
    CHECK_FALSE(isGood(llvm::StringRef(good).take_front(length)));
  CHECK_FALSE(isGood(good + "x"));
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 1;
    CHECK_FALSE(isGood(bad));
  }
  CHECK_FALSE(isGood(good + good));
  CHECK_FALSE(isGood(encodeEntry(keyOf("b"), entry)));
  // A right checksum over parts that make no sense.
  for (const char *parts : {"name", "name\n", "name\n5\nabc", "name\nx\nabc",
                            "name\n-1\n", "name\n99999999999999999999\n"}) {
    CacheEntry trick = {};
    std::string payload = key + "\n" + parts;
    std::string whole = encodeEntry(payload.substr(0, payload.size()), trick);
    // The payload then is "<key>\n<parts>\n", which the checksum covers.
    CHECK_FALSE(isGood(whole));
  }
}

TEST_CASE("damaged entries are removed, reported and made again") {
  std::string key = keyOf("a");
  std::string good = encodeEntry(key, entry);
  struct Case {
    std::string content;
    const char *cause;
  };
  std::string flipped = good;
  flipped[good.size() / 2] ^= 4;
  for (const Case &damage :
       {Case{"", "it does not begin as an entry does"},
        Case{good.substr(0, good.size() - 10), "its length is not the one"},
        Case{good + "tail", "its length is not the one"},
        Case{flipped, "its checksum is wrong"},
        Case{std::string(good.size(), '\0'), "it does not begin"},
        Case{encodeEntry(keyOf("b"), entry), "the entry of another key"}}) {
    Fixture fixture;
    DiskCache cache(fixture.options());
    REQUIRE(cache.keep(key, {{"cubin", "old"}}));
    fixture.writeFile(cache.pathOf(key), damage.content);
    CHECK(llvm::cantFail(cache.findOrMake(
              key, [] { return llvm::Expected<CacheEntry>(entry); })) == entry);
    REQUIRE(fixture.warnings.size() == 1);
    CHECK_THAT(fixture.warnings[0],
               Contains("an entry of the cache of kernels is damaged: ") &&
                   Contains(cache.pathOf(key)) && Contains(damage.cause) &&
                   Contains("\nhelp: "));
    CHECK(fixture.readFile(cache.pathOf(key)) == good);
    CHECK(cache.find(key) == entry);
    CHECK(fixture.warnings.size() == 1);
  }
}

//===----------------------------------------------------------------------===//
// File systems that fail
//===----------------------------------------------------------------------===//

// The functions of CacheSystem have no state of their own.
static int failErrno;
static int failAfterBytes;

/// Whether the cache does without: every call makes the entry, all succeed, and
/// there is one warning, which says `cause`.
static void checkGoesWithout(DiskCache::Options options, Fixture &fixture,
                             const char *cause) {
  DiskCache cache(options);
  int made = 0;
  for (int i = 0; i < 3; ++i)
    CHECK(llvm::cantFail(cache.findOrMake(keyOf("a"), [&] {
            ++made;
            return llvm::Expected<CacheEntry>(entry);
          })) == entry);
  CHECK(made == 3);
  REQUIRE(fixture.warnings.size() == 1);
  CHECK_THAT(fixture.warnings[0],
             Contains("the cache of kernels cannot be written: ") &&
                 Contains(cause) && Contains("compiled each time") &&
                 Contains("\nhelp: set TILEC_CACHE_DIR"));
  CHECK(fixture.files().empty());
}

TEST_CASE("a folder that cannot be written") {
  for (int error : {EACCES, EROFS, ENOSPC, EDQUOT, EPERM, EIO}) {
    Fixture fixture;
    DiskCache::Options options = fixture.options();
    failErrno = error;
    options.system = failing([](CacheSystem &system) {
      system.open = [](const char *, int, mode_t) {
        errno = failErrno;
        return -1;
      };
    });
    checkGoesWithout(options, fixture, std::strerror(error));
  }
}

TEST_CASE("a disk that is full") {
  // At once, in the middle, and only when it is flushed.
  for (int bytes : {0, 50}) {
    Fixture fixture;
    DiskCache::Options options = fixture.options();
    failAfterBytes = bytes;
    options.system = failing([](CacheSystem &system) {
      system.write = [](int file, const void *bytes, size_t size) -> ssize_t {
        if (failAfterBytes == 0) {
          errno = ENOSPC;
          return -1;
        }
        ssize_t written =
            ::write(file, bytes, std::min<size_t>(size, failAfterBytes));
        failAfterBytes -= written;
        return written;
      };
    });
    checkGoesWithout(options, fixture, "No space left on device");
  }
  Fixture fixture;
  DiskCache::Options options = fixture.options();
  options.system = failing([](CacheSystem &system) {
    system.sync = [](int) {
      errno = ENOSPC;
      return -1;
    };
  });
  checkGoesWithout(options, fixture, "No space left on device");
}

TEST_CASE("a file that the kernel of the system refuses to grow") {
  // A real failure in the middle of a write, in a process of its own.
  Fixture fixture;
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{64, 64};
    setrlimit(RLIMIT_FSIZE, &limit);
    DiskCache::Options options = fixture.options();
    DiskCache cache(options);
    bool kept = cache.keep(keyOf("a"), entry);
    bool again = cache.keep(keyOf("b"), entry);
    _exit(!kept && !again && fixture.warnings.size() == 1 &&
                  fixture.warnings[0].find("File too large") !=
                      std::string::npos
              ? 0
              : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(fixture.files().empty());
}

TEST_CASE("a place where no folder can be") {
  Fixture fixture;
  fixture.scratch.write("file", "");
  DiskCache::Options options = fixture.options();
  options.folder = fixture.scratch / "file/below";
  DiskCache cache(options);
  CHECK_FALSE(cache.find(keyOf("a")));
  CHECK_FALSE(cache.keep(keyOf("a"), entry));
  CHECK_FALSE(cache.keep(keyOf("a"), entry));
  // One about reading, one about writing.
  REQUIRE(fixture.warnings.size() == 2);
  CHECK_THAT(fixture.warnings[0],
             Contains("cannot be read") && Contains("Not a directory"));
  CHECK_THAT(fixture.warnings[1],
             Contains("cannot be written") && Contains("Not a directory"));
}

TEST_CASE("a read-only cache is still read") {
  Fixture fixture;
  REQUIRE(DiskCache(fixture.options()).keep(keyOf("a"), entry));
  DiskCache::Options options = fixture.options();
  options.system = failing([](CacheSystem &system) {
    system.open = [](const char *, int, mode_t) {
      errno = EROFS;
      return -1;
    };
  });
  DiskCache cache(options);
  CHECK_FALSE(cache.keep(keyOf("b"), entry));
  CHECK(cache.find(keyOf("a")) == entry);
  CHECK(fixture.warnings.size() == 1);
}

TEST_CASE("an entry that cannot be read") {
  Fixture fixture;
  DiskCache cache(fixture.options());
  REQUIRE(cache.keep(keyOf("a"), entry));
  // A folder of that name: not even root can read it as a file.
  std::string path = cache.pathOf(keyOf("b"));
  REQUIRE_FALSE(llvm::sys::fs::create_directory(path));
  for (int i = 0; i < 2; ++i)
    CHECK(llvm::cantFail(cache.findOrMake(keyOf("b"), [] {
            return llvm::Expected<CacheEntry>(entry);
          })) == entry);
  CHECK(fixture.warnings.size() == 1);
  CHECK(cache.find(keyOf("a")) == entry);
}

TEST_CASE("a file system without second names") {
  for (int error : {EPERM, EOPNOTSUPP, ENOSYS}) {
    Fixture fixture;
    DiskCache::Options options = fixture.options();
    failErrno = error;
    options.system = failing([](CacheSystem &system) {
      system.link = [](const char *, const char *) {
        errno = failErrno;
        return -1;
      };
    });
    DiskCache cache(options);
    CHECK(cache.keep(keyOf("a"), entry));
    CHECK(cache.find(keyOf("a")) == entry);
    CHECK(fixture.files().size() == 1);
    CHECK(fixture.warnings.empty());
  }
}

TEST_CASE("writes that are interrupted or short") {
  Fixture fixture;
  DiskCache::Options options = fixture.options();
  options.system = failing([](CacheSystem &system) {
    system.write = [](int file, const void *bytes, size_t size) -> ssize_t {
      static int calls = 0;
      if (++calls % 2) {
        errno = EINTR;
        return -1;
      }
      return ::write(file, bytes, std::min<size_t>(size, 3));
    };
  });
  DiskCache cache(options);
  CHECK(cache.keep(keyOf("a"), entry));
  CHECK(cache.find(keyOf("a")) == entry);
}

TEST_CASE("a folder that someone removes is made again") {
  Fixture fixture;
  DiskCache cache(fixture.options());
  REQUIRE(cache.keep(keyOf("a"), entry));
  REQUIRE_FALSE(llvm::sys::fs::remove_directories(fixture.scratch / "cache"));
  CHECK_FALSE(cache.find(keyOf("a")));
  CHECK(cache.keep(keyOf("a"), entry));
  CHECK(cache.find(keyOf("a")) == entry);
  CHECK(fixture.warnings.empty());
}

TEST_CASE("a relative folder does not move with the working directory") {
  Scratch scratch;
  char before[4096];
  REQUIRE(getcwd(before, sizeof(before)));
  REQUIRE(chdir(scratch.path().c_str()) == 0);
  DiskCache::Options options;
  options.folder = "cache";
  DiskCache cache(options);
  REQUIRE(chdir(before) == 0);
  CHECK(cache.keep(keyOf("a"), entry));
  CHECK(llvm::sys::fs::exists(scratch / "cache"));
}
