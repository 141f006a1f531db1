//===- Npy.cpp - Reading and writing NumPy .npy files -----------*- C++ -*-===//
//
// The files themselves: opening, reading and replacing them with an error for
// whatever can go wrong. What a header means is the concern of NpyHeader.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Npy.h"

#include "lib/Runtime/NarrowFloat.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SwapByteOrder.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilec;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static llvm::Error fileError(llvm::StringRef file, const llvm::Twine &cause,
                             const llvm::Twine &help) {
  return llvm::createStringError(file + ": " + cause + "\nhelp: " + help);
}

/// The last dimension varies slowest.
static Extents columnMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Extents reversed(llvm::reverse(shape));
  Extents strides = rowMajorStrides(reversed);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

static void swapBytes(void *element, unsigned bytes) {
  char *begin = static_cast<char *>(element);
  std::reverse(begin, begin + bytes);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// An open .npy file.
class NpyReader {
public:
  explicit NpyReader(llvm::StringRef file) : file(file.str()) {}
  NpyReader(const NpyReader &) = delete;
  ~NpyReader() {
    if (descriptor >= 0)
      ::close(descriptor);
  }

  llvm::Error open();
  llvm::Expected<NpyHeader> readHeader(std::optional<DType> dtype);
  llvm::Expected<Array> readArray(const NpyReadOptions &options);

private:
  llvm::Error cannotOpen(int error);
  llvm::Error truncatedData(const NpyHeader &header, uint64_t found);
  /// Reads up to `bytes` bytes at `offset`; fewer only at the end of the file.
  llvm::Expected<uint64_t> readAt(uint64_t offset, void *buffer,
                                  uint64_t bytes);

  std::string file;
  int descriptor = -1;
  uint64_t fileBytes = 0;
};

} // namespace

llvm::Error NpyReader::cannotOpen(int error) {
  std::string help = "check that the file can be read by this user";
  if (error == ENOENT) {
    llvm::SmallString<256> directory;
    if (path::is_relative(file) && !fs::current_path(directory))
      help = ("check the name; it is relative to " + directory).str();
    else
      help = "check the name";
  } else if (error == EACCES) {
    help = "make it readable, as in chmod u+r '" + file + "'";
  }
  return fileError(file, "cannot open the file: " + llvm::sys::StrError(error),
                   help);
}

llvm::Error NpyReader::open() {
  // Non-blocking, so that opening a pipe returns and the check below sees it.
  descriptor = llvm::sys::RetryAfterSignal(-1, ::open, file.c_str(),
                                           O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return cannotOpen(errno);
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    return cannotOpen(errno);
  if (S_ISDIR(status.st_mode))
    return fileError(file, "expected a .npy file, found a directory",
                     "name a file in it");
  if (!S_ISREG(status.st_mode))
    return fileError(file,
                     "expected a regular file, found a device, pipe or socket",
                     "write its contents to a file and name that");
  fileBytes = static_cast<uint64_t>(status.st_size);
  return llvm::Error::success();
}

llvm::Expected<uint64_t> NpyReader::readAt(uint64_t offset, void *buffer,
                                           uint64_t bytes) {
  uint64_t done = 0;
  while (done < bytes) {
    ssize_t count = llvm::sys::RetryAfterSignal(
        -1, ::pread, descriptor, static_cast<char *>(buffer) + done,
        static_cast<size_t>(std::min<uint64_t>(bytes - done, 1 << 30)),
        static_cast<off_t>(offset + done));
    if (count < 0)
      return fileError(file, "cannot read the file: " + llvm::sys::StrError(),
                       "check the disk or network the file is on");
    if (count == 0)
      break;
    done += static_cast<uint64_t>(count);
  }
  return done;
}

llvm::Error NpyReader::truncatedData(const NpyHeader &header, uint64_t found) {
  return fileError(file,
                   "truncated data: expected " + llvm::Twine(header.dataBytes) +
                       " bytes after the header for shape and element type, "
                       "found " +
                       llvm::Twine(found),
                   "write the file again; it was probably cut short");
}

llvm::Expected<NpyHeader> NpyReader::readHeader(std::optional<DType> dtype) {
  char prefixBuffer[npyPrefixBytes];
  llvm::Expected<uint64_t> prefixRead =
      readAt(0, prefixBuffer, sizeof(prefixBuffer));
  if (!prefixRead)
    return prefixRead.takeError();
  llvm::Expected<NpyPrefix> prefix = parseNpyPrefix(
      llvm::StringRef(prefixBuffer, *prefixRead), fileBytes, file);
  if (!prefix)
    return prefix.takeError();

  std::string text(prefix->textBytes, '\0');
  llvm::Expected<uint64_t> textRead =
      readAt(prefix->textOffset, text.data(), text.size());
  if (!textRead)
    return textRead.takeError();
  text.resize(*textRead);
  llvm::Expected<NpyHeader> header =
      parseNpyHeaderText(text, *prefix, file, dtype);
  if (!header)
    return header.takeError();
  uint64_t available = fileBytes - std::min(fileBytes, header->dataOffset);
  if (available < header->dataBytes)
    return truncatedData(*header, available);
  return header;
}

/// Turns elements as they are in the file into elements as they are in memory.
static void convertElements(const Array &array, const NpyHeader &header) {
  unsigned bytes = header.elementBytes;
  bool swap = bytes > 1 && header.bigEndian != llvm::sys::IsBigEndianHost;
  DType dtype = array.dtype();
  if (!swap && dtype != DType::TF32 && dtype != DType::Bool)
    return;
  forEachElement(array, [&](void *element, int64_t) {
    if (swap)
      swapBytes(element, bytes);
    // A store rounds to tf32, and makes 1 of any other true value.
    if (dtype == DType::TF32)
      storeDouble(dtype, element, loadAsDouble(dtype, element));
    else if (dtype == DType::Bool)
      storeInt(dtype, element, loadAsInt(dtype, element));
  });
}

llvm::Expected<Array> NpyReader::readArray(const NpyReadOptions &options) {
  llvm::Expected<NpyHeader> header = readHeader(options.dtype);
  if (!header)
    return header.takeError();
  if (!header->dtype)
    return fileError(file,
                     "expected an element type that says what it is, found raw "
                     "bytes ('" +
                         header->descr + "')",
                     header->elementBytes == 2
                         ? "state the type, bf16, where the file is named"
                         : "state the type, f8e4m3 or f8e5m2, where the file "
                           "is named");

  Extents strides = header->fortranOrder ? columnMajorStrides(header->shape)
                                         : rowMajorStrides(header->shape);
  bool copyLater = header->fortranOrder && !options.keepOrder;
  llvm::Expected<Array> array =
      Array::createStrided(*header->dtype, header->shape, strides,
                           copyLater ? 0 : options.guardBytes);
  auto named = [&](llvm::Error error) {
    return llvm::createStringError(file + ": " +
                                   llvm::toString(std::move(error)));
  };
  if (!array)
    return named(array.takeError());
  llvm::MutableArrayRef<uint8_t> storage = array->storage();
  llvm::Expected<uint64_t> found =
      readAt(header->dataOffset, storage.data(), storage.size());
  if (!found)
    return found.takeError();
  if (*found < storage.size())
    return truncatedData(*header, *found);
  convertElements(*array, *header);
  if (!copyLater)
    return array;

  llvm::Expected<Array> rowMajor =
      Array::create(*header->dtype, header->shape, options.guardBytes);
  if (!rowMajor)
    return named(rowMajor.takeError());
  copyElements(*rowMajor, *array);
  return rowMajor;
}

llvm::Expected<NpyHeader> tilec::readNpyHeader(llvm::StringRef path,
                                               std::optional<DType> dtype) {
  NpyReader reader(path);
  if (llvm::Error error = reader.open())
    return error;
  return reader.readHeader(dtype);
}

llvm::Expected<Array> tilec::readNpy(llvm::StringRef path,
                                     const NpyReadOptions &options) {
  NpyReader reader(path);
  if (llvm::Error error = reader.open())
    return error;
  return reader.readArray(options);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// Collects bytes into writes of useful size. After a failure it swallows the
/// rest; finish() tells.
class FileWriter {
public:
  explicit FileWriter(int descriptor) : descriptor(descriptor) {}

  void append(const void *bytes, size_t count) {
    if (buffer.size() + count > capacity)
      flush();
    if (count >= capacity)
      return writeAll(static_cast<const char *>(bytes), count);
    const char *begin = static_cast<const char *>(bytes);
    buffer.append(begin, begin + count);
  }

  /// The error number of the first failure, or 0.
  int finish(bool sync) {
    flush();
    if (error == 0 && sync && ::fsync(descriptor) != 0)
      error = errno;
    return error;
  }

private:
  static constexpr size_t capacity = 1 << 16;

  void flush() {
    writeAll(buffer.data(), buffer.size());
    buffer.clear();
  }

  void writeAll(const char *bytes, size_t count) {
    while (count > 0 && error == 0) {
      ssize_t written = llvm::sys::RetryAfterSignal(
          -1, ::write, descriptor, bytes, std::min<size_t>(count, 1 << 30));
      if (written < 0) {
        error = errno;
      } else if (written == 0) {
        error = ENOSPC;
      } else {
        bytes += written;
        count -= static_cast<size_t>(written);
      }
    }
  }

  int descriptor;
  int error = 0;
  llvm::SmallVector<char, 0> buffer;
};

} // namespace

static void writeElements(FileWriter &writer, const TensorView &view,
                          const NpyWriteOptions &options) {
  TensorView ordered = view;
  if (options.fortranOrder) {
    std::reverse(ordered.shape.begin(), ordered.shape.end());
    std::reverse(ordered.strides.begin(), ordered.strides.end());
  }
  unsigned bytes = byteSize(view.dtype);
  bool swap = bytes > 1 && options.bigEndian != llvm::sys::IsBigEndianHost;
  if (!swap && ordered.isContiguous() && !ordered.isEmpty())
    return writer.append(ordered.data, ordered.numElements() * bytes);
  forEachElement(ordered, [&](void *element, int64_t) {
    char copy[8];
    std::copy_n(static_cast<char *>(element), bytes, copy);
    if (swap)
      swapBytes(copy, bytes);
    writer.append(copy, bytes);
  });
}

/// Looks for reasons not to replace `target`, and takes its permissions over if
/// it exists.
static llvm::Error checkTarget(llvm::StringRef target,
                               std::optional<fs::perms> &permissions) {
  fs::file_status status;
  if (fs::status(target, status))
    return llvm::Error::success(); // creating the file will tell
  if (fs::is_directory(status))
    return fileError(target, "expected a file to write, found a directory",
                     "name a file in it");
  // Renaming over /dev/null would replace the device for everyone.
  if (!fs::is_regular_file(status))
    return fileError(target,
                     "expected a regular file to replace, found a device, "
                     "pipe or socket",
                     "name another file");
  if (fs::access(target, fs::AccessMode::Write))
    return fileError(target, "cannot write the file: it is read-only",
                     "make it writable, as in chmod u+w '" + target +
                         "', or name another file");
  permissions = status.permissions();
  return llvm::Error::success();
}

static llvm::Error cannotCreate(llvm::StringRef target,
                                llvm::StringRef directory,
                                std::error_code error) {
  std::string help = "check the directory '" + directory.str() + "'";
  if (error == std::errc::no_such_file_or_directory)
    help =
        "create the directory first, as in mkdir -p '" + directory.str() + "'";
  else if (error == std::errc::permission_denied ||
           error == std::errc::read_only_file_system)
    help = "write to a directory this user may write to; '" + directory.str() +
           "' is not one";
  return fileError(target, "cannot create the file: " + error.message(), help);
}

static llvm::Error cannotWrite(llvm::StringRef target, int error) {
  std::string help = "check the disk or network the file is on";
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    help = "free some space or write to another disk; nothing was changed";
  return fileError(
      target, "cannot write the file: " + llvm::sys::StrError(error), help);
}

struct PendingNpy::File {
  File(fs::TempFile temporary, llvm::StringRef target)
      : temporary(std::move(temporary)), target(target) {}
  ~File() {
    if (!isPlaced)
      llvm::consumeError(temporary.discard());
  }

  fs::TempFile temporary;
  bool isPlaced = false;
  std::string target, resolved, directory;
  bool sync = true;
};

PendingNpy::PendingNpy(PendingNpy &&other) = default;
PendingNpy::~PendingNpy() = default;

llvm::Expected<PendingNpy> PendingNpy::write(llvm::StringRef target,
                                             const TensorView &view,
                                             const NpyWriteOptions &options) {
  assert(options.majorVersion >= 1 && options.majorVersion <= 3);
  if (llvm::Error error = verify(view, path::filename(target)))
    return std::move(error);
  if (view.rank() > npyMaxRank)
    return fileError(target,
                     "expected at most " + llvm::Twine(npyMaxRank) +
                         " dimensions, found " + llvm::Twine(view.rank()),
                     "merge some of them");

  // Write through a symbolic link to the file it names, not over the link.
  llvm::SmallString<256> resolved;
  if (fs::real_path(target, resolved))
    resolved = target;
  std::optional<fs::perms> permissions;
  if (llvm::Error error = checkTarget(target, permissions))
    return std::move(error);

  llvm::SmallString<256> directory = path::parent_path(resolved);
  if (directory.empty())
    directory = ".";
  llvm::SmallString<256> model = directory;
  path::append(model, ".tilec-%%%%%%%%.tmp");
  llvm::Expected<fs::TempFile> temporary = fs::TempFile::create(model);
  if (!temporary)
    return cannotCreate(target, directory,
                        llvm::errorToErrorCode(temporary.takeError()));
  PendingNpy pending;
  pending.file = std::make_unique<File>(std::move(*temporary), target);
  File &file = *pending.file;
  file.resolved = resolved.str();
  file.directory = directory.str();
  file.sync = options.sync;

  int descriptor = file.temporary.FD;
  // A file system without permissions loses nothing.
  if (permissions)
    llvm::consumeError(
        llvm::errorCodeToError(fs::setPermissions(descriptor, *permissions)));
  FileWriter writer(descriptor);
  std::string header =
      makeNpyHeader(view.dtype, view.shape, options.fortranOrder,
                    options.bigEndian, options.majorVersion);
  writer.append(header.data(), header.size());
  writeElements(writer, view, options);
  if (int error = writer.finish(options.sync))
    return cannotWrite(target, error);
  return pending;
}

llvm::Error PendingNpy::place() {
  if (std::error_code error =
          fs::rename(file->temporary.TmpName, file->resolved))
    return cannotCreate(file->target, file->directory, error);
  file->isPlaced = true;
  // The rename has taken the name away; what is kept is the descriptor's end.
  llvm::consumeError(file->temporary.keep());
  if (!file->sync)
    return llvm::Error::success();

  // So that the new name too survives a crash. Not every file system can.
  int directoryDescriptor =
      ::open(file->directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directoryDescriptor >= 0) {
    (void)::fsync(directoryDescriptor);
    ::close(directoryDescriptor);
  }
  return llvm::Error::success();
}

llvm::Error tilec::writeNpy(llvm::StringRef path, const TensorView &view,
                            const NpyWriteOptions &options) {
  llvm::Expected<PendingNpy> pending = PendingNpy::write(path, view, options);
  return pending ? pending->place() : pending.takeError();
}
