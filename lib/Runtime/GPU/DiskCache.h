//===- DiskCache.h - Compiled kernels kept on disk --------------*- C++ -*-===//
//
// A folder of entries. An entry is one file: a key and a set of named blobs
// (cubin, PTX, the kernel image as JSON). The key is a hash of everything that
// the result depends on, so an entry never becomes outdated, only unused.
//
// Any number of processes and threads may share a folder, also over a network
// file system, without locks:
//
//   * An entry is written to a temporary file in the same folder, flushed to
//     the disk, and then given its name in one step, which fails if the name is
//     taken. Whoever sees the name sees a complete entry, the first result
//     wins, and a process that is killed leaves a temporary file at most, which
//     a later one removes when it is an hour old.
//   * An entry carries its length, its key and a checksum. One that does not
//     agree with them is removed with a warning, and made again.
//
// A cache that cannot be used never makes a compilation fail. A folder that
// cannot be read or written (permissions, a read-only or full disk) is reported
// once, and what cannot be kept is compiled each time.
//
// Thread safety: all functions may be called by several threads on one object.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_DISKCACHE_H
#define TILEC_RUNTIME_GPU_DISKCACHE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SHA256.h"
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>

namespace tilec::gpu {

/// Makes a key from named parts. The order of add() matters; where one part
/// ends and the next begins is hashed too, so "ab" and "c" are not "a" and
/// "bc".
class CacheKey {
public:
  CacheKey &add(llvm::StringRef name, llvm::StringRef value);

  /// 64 hexadecimal digits.
  std::string digits() const;

private:
  llvm::SHA256 hash;
};

/// The key of a compiled kernel. Everything that may change the machine code
/// must be in one of the parts.
struct CompilationInputs {
  llvm::StringRef source;   // The CUDA C++ that is compiled.
  llvm::StringRef options;  // Of tilec and of NVRTC.
  llvm::StringRef arch;     // With its suffix: "sm_90a".
  llvm::StringRef tilec;    // The version of tilec.
  llvm::StringRef compiler; // NVRTC::identity().

  std::string key() const;
};

/// What an entry holds: bytes by name. Names are short and have no line breaks.
using CacheEntry = std::map<std::string, std::string>;

/// The calls of the operating system that may fail, replaceable so that tests
/// can make them fail. They behave like those of POSIX: -1 and errno.
struct CacheSystem {
  int (*open)(const char *path, int flags, mode_t mode);
  ssize_t (*write)(int file, const void *bytes, size_t size);
  int (*sync)(int file);
  int (*link)(const char *from, const char *to);
  int (*rename)(const char *from, const char *to);

  static CacheSystem ofProcess();
};

class DiskCache {
public:
  struct Options {
    /// Empty: nothing is kept or found.
    std::string folder;
    /// Of all entries together; when there is more, those not used for longest
    /// go. 0 means no limit.
    uint64_t maxBytes = uint64_t(1) << 30;
    /// Temporary files older than this are left over from a killed process.
    unsigned staleSeconds = 3600;
    /// Receives warnings, one line and a line of help; stderr if empty. Called
    /// by one thread at a time.
    std::function<void(llvm::StringRef)> warn;
    CacheSystem system = CacheSystem::ofProcess();
  };

  explicit DiskCache(Options options);

  /// TILEC_CACHE_DIR, or tilec in XDG_CACHE_HOME, or ~/.cache/tilec; empty if
  /// the environment gives no place. An empty TILEC_CACHE_DIR turns the cache
  /// off.
  static std::string defaultFolder();

  /// The entry of a key, checked; nothing if there is none.
  std::optional<CacheEntry> find(llvm::StringRef key);

  /// Keeps an entry unless the key has one already. False if it could not.
  bool keep(llvm::StringRef key, const CacheEntry &entry);

  /// The entry of a key or, if there is none, what `make` returns, which is
  /// then kept. If another process was faster, its entry is returned, so that
  /// all run the same code. `make` runs without any lock; threads that ask for
  /// one key at the same time may all run it.
  llvm::Expected<CacheEntry>
  findOrMake(llvm::StringRef key,
             llvm::function_ref<llvm::Expected<CacheEntry>()> make);

  /// Removes stale temporary files and, beyond the limit, the entries not used
  /// for longest. keep() does it now and then.
  void clean();

  const std::string &folder() const { return options.folder; }
  /// Where the entry of a key is or would be.
  std::string pathOf(llvm::StringRef key) const;

private:
  enum class Outcome { Kept, Taken, Failed };
  Outcome publish(llvm::StringRef key, const CacheEntry &entry);
  int openTemporary(std::string &path);
  int writeAndClose(int file, llvm::StringRef bytes);
  int name(const std::string &temporary, const std::string &path);
  void warn(const llvm::Twine &what, const llvm::Twine &help);

  Options options;
  std::atomic<bool> unreadable = false; // Reported.
  std::atomic<bool> unwritable = false; // Reported, and no longer tried.
  std::atomic<unsigned> numPublished = 0;
  std::mutex warnMutex;
};

/// The bytes of an entry's file, and back. Decoding fails for anything that was
/// not encoded with that key; the message says what is wrong.
std::string encodeEntry(llvm::StringRef key, const CacheEntry &entry);
llvm::Expected<CacheEntry> decodeEntry(llvm::StringRef key,
                                       llvm::StringRef bytes);

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_DISKCACHE_H
