//===- NVRTCSearch.cpp - Finding NVRTC --------------------------*- C++ -*-===//

#include "lib/Runtime/GPU/NVRTCSearch.h"
#include "lib/Runtime/GPU/SharedLibrary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <cstring>
#include <elf.h>

using namespace tilec;
using namespace tilec::gpu;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral libraryName = "libnvrtc.so";
/// Of the versions that are looked for.
static constexpr int firstMajor = 12;
static constexpr int lastMajor = 29;
static constexpr llvm::StringLiteral builtinsName = "libnvrtc-builtins.so.";

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

/// The id in the notes of a segment or section, which follow one another: sizes
/// of name and description, type, and both padded to four bytes.
static std::string buildIDInNotes(llvm::ArrayRef<uint8_t> notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof(note));
    uint64_t nameSize = llvm::alignTo(uint64_t(note.n_namesz), 4);
    uint64_t size = llvm::alignTo(uint64_t(note.n_descsz), 4);
    notes = notes.drop_front(sizeof(note));
    if (nameSize + size > notes.size())
      return "";
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes.data(), "GNU", 4) == 0)
      return llvm::toHex(notes.slice(nameSize, note.n_descsz), true);
    notes = notes.drop_front(nameSize + size);
  }
  return "";
}

namespace {
/// An open file that is read in pieces.
class Reader {
public:
  explicit Reader(llvm::StringRef path) {
    if (llvm::Expected<fs::file_t> opened = fs::openNativeFileForRead(path))
      file = *opened;
    else
      llvm::consumeError(opened.takeError());
  }
  ~Reader() {
    if (file != fs::kInvalidFile) [[maybe_unused]]
      std::error_code ignored = fs::closeFile(file);
  }

  /// Reads exactly `size` bytes at `offset`.
  bool read(void *into, size_t size, uint64_t offset) const {
    if (file == fs::kInvalidFile)
      return false;
    llvm::MutableArrayRef<char> buffer(static_cast<char *>(into), size);
    llvm::Expected<size_t> got = fs::readNativeFileSlice(file, buffer, offset);
    if (got)
      return *got == size;
    llvm::consumeError(got.takeError());
    return false;
  }

private:
  fs::file_t file = fs::kInvalidFile;
};
} // namespace

std::string gpu::elfBuildID(llvm::StringRef path) {
  Reader reader(path);
  Elf64_Ehdr header;
  if (!reader.read(&header, sizeof(header), 0) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return "";
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!reader.read(&segment, sizeof(segment),
                     header.e_phoff + i * sizeof(segment)))
      return "";
    // Far more than notes take: a damaged size must not cost memory.
    if (segment.p_type != PT_NOTE || segment.p_filesz > 65536)
      continue;
    std::vector<uint8_t> notes(segment.p_filesz);
    if (!reader.read(notes.data(), notes.size(), segment.p_offset))
      continue;
    if (std::string id = buildIDInNotes(notes); !id.empty())
      return id;
  }
  return "";
}

/// "13.0" or "12.4.127" as (13, 0) and (12, 4); nothing without a minor part.
static std::optional<std::pair<int, int>> parseVersion(llvm::StringRef text) {
  auto [major, rest] = text.split('.');
  llvm::StringRef minor = rest.split('.').first;
  std::pair<int, int> version;
  if (major.getAsInteger(10, version.first) ||
      minor.getAsInteger(10, version.second))
    return std::nullopt;
  return version;
}

/// Looks for the built-in functions beside the library: of its version if that
/// is known, or else the highest of its major version (any if that is
/// negative), from which the version follows.
static void findBuiltins(NVRTCFile &library, int major) {
  std::optional<std::pair<int, int>> highest;
  std::error_code error;
  llvm::StringRef folder = path::parent_path(library.path);
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    llvm::StringRef name = path::filename(at->path());
    if (!name.consume_front(builtinsName))
      continue;
    std::optional<std::pair<int, int>> version = parseVersion(name);
    if (!version || (major >= 0 && version->first != major) ||
        (library.version && version != library.version))
      continue;
    if (!highest || *version > *highest) {
      highest = version;
      library.builtins = at->path();
    }
  }
  if (!library.version)
    library.version = highest;
}

std::optional<NVRTCFile> gpu::inspectNVRTC(llvm::StringRef file) {
  llvm::SmallString<128> real;
  fs::file_status status;
  if (!fs::exists(file) || fs::real_path(file, real) ||
      fs::status(real, status) || status.type() != fs::file_type::regular_file)
    return std::nullopt;
  NVRTCFile found;
  found.path = real.str().str();
  llvm::StringRef suffix = path::filename(real);
  suffix.consume_front(libraryName);
  suffix.consume_front(".");
  found.version = parseVersion(suffix);
  int major = -1;
  if (suffix.getAsInteger(10, major))
    major = -1;
  findBuiltins(found, major);
  found.identity = elfBuildID(real);
  if (found.identity.empty())
    found.identity =
        "size " + std::to_string(status.getSize()) + " changed " +
        std::to_string(
            status.getLastModificationTime().time_since_epoch().count());
  return found;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static std::string below(llvm::StringRef folder, const llvm::Twine &name) {
  llvm::SmallString<128> joined(folder);
  path::append(joined, name);
  return joined.str().str();
}

/// The folders of a CUDA toolkit that may hold its libraries.
static void addToolkit(llvm::StringRef root, std::vector<std::string> &to) {
  to.push_back(below(root, "lib64"));
  to.push_back(below(root, "lib"));
#if defined(__x86_64__)
  to.push_back(below(root, "targets/x86_64-linux/lib"));
#elif defined(__aarch64__)
  to.push_back(below(root, "targets/sbsa-linux/lib"));
  to.push_back(below(root, "targets/aarch64-linux/lib"));
#endif
}

NVRTCPlaces NVRTCPlaces::fromEnvironment() {
  NVRTCPlaces places;
  places.demanded = variable("TILEC_NVRTC");

  static const char anchor = 0;
  std::string program =
      fs::getMainExecutable(nullptr, const_cast<char *>(&anchor));
  llvm::StringRef folder = path::parent_path(program);
  for (; !folder.empty(); folder = path::parent_path(folder))
    places.folders.push_back(below(folder, "third_party/nvrtc/lib"));

  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string root = variable(name); !root.empty())
      addToolkit(root, places.folders);
  std::error_code error;
  for (fs::directory_iterator at("/usr/local", error), end; !error && at != end;
       at.increment(error))
    if (path::filename(at->path()).starts_with("cuda"))
      addToolkit(at->path(), places.folders);

  std::string search = variable("LD_LIBRARY_PATH");
  for (llvm::StringRef entry : llvm::split(search, ':'))
    if (!entry.empty())
      places.folders.push_back(entry.str());
#if defined(__x86_64__)
  places.folders.push_back("/usr/lib/x86_64-linux-gnu");
#elif defined(__aarch64__)
  places.folders.push_back("/usr/lib/aarch64-linux-gnu");
#endif
  for (const char *system : {"/usr/lib64", "/usr/lib", "/usr/local/lib"})
    places.folders.push_back(system);
  return places;
}

std::vector<NVRTCFile> gpu::findNVRTC(const NVRTCPlaces &places) {
  std::vector<NVRTCFile> found;
  auto add = [&](llvm::StringRef file) {
    std::optional<NVRTCFile> library = inspectNVRTC(file);
    if (!library || llvm::any_of(found, [&](const NVRTCFile &other) {
          return other.path == library->path;
        }))
      return;
    // Behind its equals. Nothing is less than any version.
    auto at = llvm::find_if(found, [&](const NVRTCFile &other) {
      return other.version < library->version;
    });
    found.insert(at, *std::move(library));
  };
  if (!places.demanded.empty()) {
    add(places.demanded);
    return found;
  }
  // Names are tried, as listing the system's folders takes milliseconds.
  for (const std::string &folder : places.folders) {
    add(below(folder, libraryName));
    for (int major = firstMajor; major <= lastMajor; ++major)
      add(below(folder, libraryName + "." + llvm::Twine(major)));
  }
  return found;
}
