//===- NVRTCSearch.h - Finding NVRTC ----------------------------*- C++ -*-===//
//
// Where NVRTC, NVIDIA's run-time compiler for CUDA C++, may be, and which of
// several to take. Nothing is opened here: a look into the cache on disk needs
// the identity of the compiler, and opening a library of 100 MB would take
// longer than all the rest of it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_NVRTCSEARCH_H
#define TILEC_RUNTIME_GPU_NVRTCSEARCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilec::gpu {

/// A file that is or may be NVRTC.
struct NVRTCFile {
  std::string path; // Links resolved.
  /// The library of built-in functions beside it, or empty. NVRTC opens it by
  /// name, and then finds it only where the dynamic linker searches, unless it
  /// has been opened before.
  std::string builtins;
  /// (major, minor) as the names of the files tell; nothing if they do not.
  std::optional<std::pair<int, int>> version;
  /// What tells this build of NVRTC from any other: the build id that its
  /// linker gave it or, failing that, its size and time of change.
  std::string identity;
};

struct NVRTCPlaces {
  /// The file that TILEC_NVRTC names. If it is not empty, nothing else counts.
  std::string demanded;
  /// Folders, those of the project first.
  std::vector<std::string> folders;

  /// From the environment: TILEC_NVRTC; then third_party/nvrtc/lib beside the
  /// program (in any folder above it), then CUDA_HOME, CUDA_PATH,
  /// /usr/local/cuda*, and the folders that the dynamic linker searches.
  static NVRTCPlaces fromEnvironment();
};

/// The NVRTC libraries in these places (libnvrtc.so and libnvrtc.so.MAJOR,
/// which every installation has), the newest first and among equals in the
/// order of the places; those of unknown version last. A file reached on
/// several ways comes once.
std::vector<NVRTCFile> findNVRTC(const NVRTCPlaces &places);

/// One file. Nothing if it cannot be read.
std::optional<NVRTCFile> inspectNVRTC(llvm::StringRef path);

/// The build id of an ELF file in hexadecimal digits; empty if it has none or
/// is no ELF file. Reads a few KB of it.
std::string elfBuildID(llvm::StringRef path);

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_NVRTCSEARCH_H
