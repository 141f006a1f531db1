//===- CacheFixture.h - Caches on a folder of a test ------------*- C++ -*-===//

#ifndef TILEC_TEST_UNIT_GPURUNTIME_CACHEFIXTURE_H
#define TILEC_TEST_UNIT_GPURUNTIME_CACHEFIXTURE_H

#include "lib/Runtime/GPU/DiskCache.h"
#include "test/Unit/GPURuntime/Scratch.h"
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>

namespace tilec::test {

using gpu::CacheEntry;
using gpu::CacheKey;
using gpu::CacheSystem;
using gpu::DiskCache;

/// A folder, caches on it, and the warnings they give.
struct CacheFixture {
  DiskCache::Options options() {
    DiskCache::Options options;
    options.folder = scratch / "cache";
    options.warn = [this](llvm::StringRef text) {
      warnings.push_back(text.str());
    };
    return options;
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator at(scratch / "cache", error), end;
         !error && at != end; at.increment(error))
      names.push_back(llvm::sys::path::filename(at->path()).str());
    return names;
  }
  std::string readFile(const std::string &path) {
    return scratch.read(
        llvm::StringRef(path).drop_front(scratch.path().size() + 1));
  }
  void writeFile(const std::string &path, const std::string &content) {
    scratch.write(llvm::StringRef(path).drop_front(scratch.path().size() + 1),
                  content);
  }
  /// Makes a file look unused for so long.
  static void age(const std::string &path, long seconds) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    timespec times[2] = {now, now};
    times[0].tv_sec -= seconds;
    times[1].tv_sec -= seconds;
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  }

  Scratch scratch;
  std::vector<std::string> warnings;
};

/// The key of an entry that a test calls `text`.
inline std::string keyOf(llvm::StringRef text) {
  return CacheKey().add("test", text).digits();
}

/// An entry of bytes that a text would not hold.
inline CacheEntry someEntry() {
  return {{"cubin", std::string("\x7f"
                                "ELF\0\n\xff",
                                7)},
          {"image.json", "{}\n"},
          {"ptx", ""}};
}

/// The calls of the process, with some replaced.
template <typename Change> CacheSystem failing(Change change) {
  CacheSystem system = CacheSystem::ofProcess();
  change(system);
  return system;
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_GPURUNTIME_CACHEFIXTURE_H
