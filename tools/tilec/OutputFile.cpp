//===- OutputFile.cpp - Files that the user named ---------------*- C++ -*-===//
//
// See OutputFile.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
namespace fs = llvm::sys::fs;

static llvm::Error cannotWrite(llvm::StringRef path, const llvm::Twine &why,
                               const llvm::Twine &help) {
  return llvm::createStringError("cannot write '" + path + "': " + why +
                                 "\nhelp: " + help);
}

static llvm::Error cannotWrite(llvm::StringRef path, std::error_code error) {
  return cannotWrite(path, llvm::StringRef(error.message()).lower(),
                     "check the disk and the permissions of the folder, or "
                     "name another file");
}

/// A symbolic link is written through, not replaced.
static llvm::SmallString<256> resolve(llvm::StringRef path) {
  llvm::SmallString<256> resolved;
  if (fs::real_path(path, resolved))
    resolved = path;
  return resolved;
}

static llvm::Expected<fs::TempFile> createBeside(llvm::StringRef path) {
  llvm::SmallString<256> model = llvm::sys::path::parent_path(path);
  llvm::sys::path::append(model, ".tilec-%%%%%%%%.tmp");
  return fs::TempFile::create(model);
}

llvm::Error cli::checkWritable(llvm::StringRef path, bool allowSpecial) {
  fs::file_status status;
  if (!fs::status(path, status)) {
    if (fs::is_directory(status))
      return cannotWrite(path, "it is a folder", "name a file in it");
    if (!fs::is_regular_file(status))
      return allowSpecial ? llvm::Error::success()
                          : cannotWrite(path, "it is a device, pipe or socket",
                                        "name a file");
    if (fs::access(path, fs::AccessMode::Write))
      return cannotWrite(path, "it is read-only",
                         "make it writable, as in chmod u+w '" + path +
                             "', or name another file");
  }
  llvm::SmallString<256> target = resolve(path);
  llvm::StringRef folder = llvm::sys::path::parent_path(target);
  if (!folder.empty() && !fs::exists(folder))
    return cannotWrite(path, "its folder does not exist",
                       "create it, as in mkdir -p '" + folder +
                           "', or name a file in one that exists");
  if (!folder.empty() && !fs::is_directory(folder))
    return cannotWrite(path, "'" + folder + "' is not a folder",
                       "name a file in a folder");
  // Permissions do not tell all; a file system may be read-only or full.
  llvm::Expected<fs::TempFile> file = createBeside(target);
  if (!file)
    return cannotWrite(path, llvm::errorToErrorCode(file.takeError()));
  return file->discard();
}

llvm::Error cli::writeText(llvm::StringRef path, llvm::StringRef text) {
  fs::file_status status;
  bool exists = !fs::status(path, status);
  if (exists && !fs::is_regular_file(status)) {
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    if (error)
      return cannotWrite(path, error);
    os << text;
    os.close();
    error = os.error();
    os.clear_error();
    return error ? cannotWrite(path, error) : llvm::Error::success();
  }

  llvm::SmallString<256> target = resolve(path);
  llvm::Expected<fs::TempFile> file = createBeside(target);
  if (!file)
    return cannotWrite(path, llvm::errorToErrorCode(file.takeError()));
  // If it cannot be kept, the text matters more than the permissions.
  if (exists)
    llvm::consumeError(llvm::errorCodeToError(
        fs::setPermissions(file->FD, status.permissions())));
  llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
  os << text;
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  if (error) {
    llvm::consumeError(file->discard());
    return cannotWrite(path, error);
  }
  if (llvm::Error failed = file->keep(target))
    return cannotWrite(path, llvm::errorToErrorCode(std::move(failed)));
  return llvm::Error::success();
}
