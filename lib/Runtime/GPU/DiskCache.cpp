//===- DiskCache.cpp - Compiled kernels kept on disk ------------*- C++ -*-===//

#include "lib/Runtime/GPU/DiskCache.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::gpu;
namespace fs = llvm::sys::fs;

static constexpr llvm::StringLiteral magic = "tilec cache entry 1\n";
static constexpr llvm::StringLiteral entrySuffix = ".kernel";
static constexpr llvm::StringLiteral temporaryPrefix = ".tmp-";
static constexpr size_t checksumBytes = 16;
/// A large folder takes milliseconds to list, so clean() runs once in so many.
static constexpr unsigned cleanInterval = 256;
/// A use is noted in the time of change of an entry, no more often than this.
static constexpr auto useInterval = std::chrono::hours(12);

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

CacheKey &CacheKey::add(llvm::StringRef name, llvm::StringRef value) {
  hash.update(
      (llvm::Twine(name.size()) + " " + llvm::Twine(value.size()) + " ").str());
  hash.update(name);
  hash.update(value);
  return *this;
}

std::string CacheKey::digits() const {
  llvm::SHA256 copy = hash;
  return llvm::toHex(copy.final(), /*LowerCase=*/true);
}

std::string CompilationInputs::key() const {
  return CacheKey()
      .add("source", source)
      .add("options", options)
      .add("arch", arch)
      .add("tilec", tilec)
      .add("compiler", compiler)
      .digits();
}

//===----------------------------------------------------------------------===//
// The file of an entry: magic, length of the payload, payload, checksum. The
// payload is the key and then, for each blob, its name, size and bytes.
//===----------------------------------------------------------------------===//

/// Against damage, not against forgery: a fast hash will do.
static std::string checksum(llvm::StringRef payload) {
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(payload));
  std::string sum(checksumBytes, '\0');
  llvm::support::endian::write64le(sum.data(), hash.low64);
  llvm::support::endian::write64le(sum.data() + 8, hash.high64);
  return sum;
}

std::string gpu::encodeEntry(llvm::StringRef key, const CacheEntry &entry) {
  std::string payload = key.str() + "\n";
  for (const auto &[name, bytes] : entry) {
    assert(name.find('\n') == std::string::npos && "a name is one line");
    payload += name;
    payload += "\n" + std::to_string(bytes.size()) + "\n";
    payload += bytes;
  }
  return magic.str() + std::to_string(payload.size()) + "\n" + payload +
         checksum(payload);
}

/// The text up to the next line break, which it is taken from.
static llvm::StringRef takeLine(llvm::StringRef &text) {
  auto [line, rest] = text.split('\n');
  text = rest;
  return line;
}

llvm::Expected<CacheEntry> gpu::decodeEntry(llvm::StringRef key,
                                            llvm::StringRef bytes) {
  auto damaged = [](const llvm::Twine &what) {
    return llvm::createStringError(what);
  };
  if (!bytes.consume_front(magic))
    return damaged("it does not begin as an entry does");
  uint64_t size = 0;
  if (takeLine(bytes).getAsInteger(10, size) || bytes.size() < checksumBytes ||
      bytes.size() - checksumBytes != size)
    return damaged("its length is not the one it tells");
  llvm::StringRef payload = bytes.drop_back(checksumBytes);
  if (checksum(payload) != bytes.take_back(checksumBytes))
    return damaged("its checksum is wrong");
  if (takeLine(payload) != key)
    return damaged("it is the entry of another key");
  CacheEntry entry;
  while (!payload.empty()) {
    std::string name = takeLine(payload).str();
    if (takeLine(payload).getAsInteger(10, size) || size > payload.size())
      return damaged("a part of it is cut off");
    entry[name] = payload.take_front(size).str();
    payload = payload.drop_front(size);
  }
  return entry;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

CacheSystem CacheSystem::ofProcess() {
  return {[](const char *path, int flags, mode_t mode) {
            return ::open(path, flags, mode);
          },
          ::write, ::fsync, ::link, ::rename};
}

std::string DiskCache::defaultFolder() {
  if (const char *folder = std::getenv("TILEC_CACHE_DIR"))
    return folder;
  llvm::SmallString<128> path;
  const char *base = std::getenv("XDG_CACHE_HOME");
  // The specification of that variable says that relative paths do not count.
  if (base && llvm::sys::path::is_absolute(base))
    path = base;
  else if (llvm::sys::path::home_directory(path) && !path.empty())
    llvm::sys::path::append(path, ".cache");
  else
    return "";
  llvm::sys::path::append(path, "tilec");
  return path.str().str();
}

DiskCache::DiskCache(Options given) : options(std::move(given)) {
  // A later change of the working directory must not move the cache.
  llvm::SmallString<128> path(options.folder);
  if (!path.empty() && !fs::make_absolute(path))
    options.folder = path.str().str();
}

std::string DiskCache::pathOf(llvm::StringRef key) const {
  llvm::SmallString<128> path(options.folder);
  llvm::sys::path::append(path, key + entrySuffix);
  return path.str().str();
}

void DiskCache::warn(const llvm::Twine &what, const llvm::Twine &help) {
  std::string text = (what + "\nhelp: " + help).str();
  std::lock_guard<std::mutex> lock(warnMutex);
  if (options.warn)
    options.warn(text);
  else
    std::fprintf(stderr, "tilec: warning: %s\n", text.c_str());
}

static constexpr llvm::StringLiteral folderHelp =
    "set TILEC_CACHE_DIR to a folder that can be written, or to nothing to go "
    "without a cache";

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Notes that an entry was used, for clean(). It does not matter if that fails.
static void noteUse(const std::string &path) {
  fs::file_status status;
  if (fs::status(path, status))
    return;
  auto age =
      std::chrono::system_clock::now() - status.getLastModificationTime();
  if (age > useInterval)
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

std::optional<CacheEntry> DiskCache::find(llvm::StringRef key) {
  if (options.folder.empty())
    return std::nullopt;
  std::string path = pathOf(key);
  // Volatile: read, not mapped, as a map of a file that shrinks is deadly.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (std::error_code error = buffer.getError()) {
    // Not there, also when the folder is not, or went on another machine.
    bool absent = error == std::errc::no_such_file_or_directory ||
                  error.value() == ESTALE;
    if (!absent && !unreadable.exchange(true))
      warn("the cache of kernels cannot be read: " + path + ": " +
               error.message(),
           folderHelp);
    return std::nullopt;
  }
  llvm::Expected<CacheEntry> entry = decodeEntry(key, (*buffer)->getBuffer());
  if (!entry) {
    unlink(path.c_str());
    warn("an entry of the cache of kernels is damaged: " + path + ": " +
             llvm::toString(entry.takeError()),
         "nothing needs to be done, the kernel is compiled again; if this "
         "happens more often, check the disk");
    return std::nullopt;
  }
  noteUse(path);
  return std::move(*entry);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Opens a new temporary file. Its descriptor, or -1 and errno.
int DiskCache::openTemporary(std::string &path) {
  std::random_device random;
  for (int attempt = 0; attempt < 8; ++attempt) {
    llvm::SmallString<128> name(options.folder);
    llvm::sys::path::append(name, temporaryPrefix + llvm::Twine(getpid()) +
                                      "-" + llvm::utohexstr(random()) +
                                      llvm::utohexstr(random()));
    path = name.str().str();
    int file = options.system.open(
        path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (file >= 0)
      return file;
    if (errno == ENOENT) {
      // No folder yet, or removed by someone who cleans up.
      if (std::error_code error = fs::create_directories(
              options.folder, /*IgnoreExisting=*/true, fs::owner_all)) {
        errno = error.value();
        return -1;
      }
    } else if (errno != EEXIST && errno != EINTR) {
      return -1;
    }
  }
  return -1;
}

/// Writes all bytes to the disk and closes the file. 0, or errno.
int DiskCache::writeAndClose(int file, llvm::StringRef bytes) {
  int error = 0;
  while (!bytes.empty() && !error) {
    ssize_t written = options.system.write(file, bytes.data(), bytes.size());
    if (written >= 0)
      bytes = bytes.drop_front(written);
    else if (errno != EINTR)
      error = errno;
  }
  if (!error && options.system.sync(file) != 0)
    error = errno;
  // A network file system may report a full disk only now.
  if (close(file) != 0 && errno != EINTR && !error)
    error = errno;
  return error;
}

/// Gives a complete file its name. 0, EEXIST if the name is taken, or another
/// errno.
int DiskCache::name(const std::string &temporary, const std::string &path) {
  if (options.system.link(temporary.c_str(), path.c_str()) == 0)
    return 0;
  if (errno == EEXIST)
    return EEXIST;
  // Some file systems have no second names. Then the last result wins, which
  // is as good, but for processes that already run the first.
  if (options.system.rename(temporary.c_str(), path.c_str()) == 0)
    return 0;
  return errno;
}

DiskCache::Outcome DiskCache::publish(llvm::StringRef key,
                                      const CacheEntry &entry) {
  if (options.folder.empty() || unwritable)
    return Outcome::Failed;
  auto failed = [&](const std::string &path, int error) {
    if (!unwritable.exchange(true))
      warn("the cache of kernels cannot be written: " + path + ": " +
               std::strerror(error) + "; kernels are compiled each time",
           folderHelp);
    return Outcome::Failed;
  };
  std::string temporary;
  int file = openTemporary(temporary);
  if (file < 0)
    return failed(options.folder, errno);
  llvm::scope_exit remove([&] { unlink(temporary.c_str()); });
  if (int error = writeAndClose(file, encodeEntry(key, entry)))
    return failed(temporary, error);
  std::string path = pathOf(key);
  int error = name(temporary, path);
  if (error && error != EEXIST)
    return failed(path, error);
  return error ? Outcome::Taken : Outcome::Kept;
}

bool DiskCache::keep(llvm::StringRef key, const CacheEntry &entry) {
  if (publish(key, entry) == Outcome::Failed)
    return false;
  if (numPublished++ % cleanInterval == 0)
    clean();
  return true;
}

llvm::Expected<CacheEntry>
DiskCache::findOrMake(llvm::StringRef key,
                      llvm::function_ref<llvm::Expected<CacheEntry>()> make) {
  if (std::optional<CacheEntry> entry = find(key))
    return std::move(*entry);
  llvm::Expected<CacheEntry> made = make();
  if (!made)
    return made.takeError();
  Outcome outcome = publish(key, *made);
  if (outcome == Outcome::Taken)
    if (std::optional<CacheEntry> first = find(key))
      return std::move(*first);
  if (outcome == Outcome::Kept && numPublished++ % cleanInterval == 0)
    clean();
  return made;
}

//===----------------------------------------------------------------------===//
// Cleaning
//===----------------------------------------------------------------------===//

void DiskCache::clean() {
  if (options.folder.empty())
    return;
  struct Found {
    std::string path;
    fs::file_status status;
  };
  std::vector<Found> entries;
  uint64_t total = 0;
  auto now = std::chrono::system_clock::now();
  std::error_code error;
  for (fs::directory_iterator at(options.folder, error), end;
       !error && at != end; at.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(at->path());
    bool isEntry = name.ends_with(entrySuffix);
    if (!isEntry && !name.starts_with(temporaryPrefix))
      continue; // Someone else's.
    Found found{at->path(), {}};
    if (fs::status(found.path, found.status))
      continue; // Gone in between.
    auto age = now - found.status.getLastModificationTime();
    if (isEntry) {
      total += found.status.getSize();
      entries.push_back(std::move(found));
    } else if (age >= std::chrono::seconds(options.staleSeconds)) {
      unlink(found.path.c_str());
    }
  }
  if (options.maxBytes == 0 || total <= options.maxBytes)
    return;
  llvm::sort(entries, [](const Found &a, const Found &b) {
    return a.status.getLastModificationTime() <
           b.status.getLastModificationTime();
  });
  // Somewhat below the limit, or every new entry would have to make room.
  for (const Found &found : entries) {
    if (total <= options.maxBytes / 10 * 9)
      break;
    if (unlink(found.path.c_str()) == 0)
      total -= found.status.getSize();
  }
}
