//===- NVRTC.h - Compiling CUDA C++ at run time -----------------*- C++ -*-===//
//
// NVRTC is NVIDIA's CUDA C++ compiler as a library. It makes PTX and machine
// code (a cubin) from text in memory, and needs neither a GPU nor a driver. It
// is opened at run time, never linked, so that tilec builds and runs without
// it; NVRTCSearch.h says where it is looked for.
//
//     Expected<const NVRTC &> nvrtc = NVRTC::get();
//     Expected<NVRTCResult> result =
//         nvrtc->compile(source, "rows.cu", "sm_90a");
//
// Thread safety: everything here may be called from any number of threads.
// NVRTC compiles different programs in parallel.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_NVRTC_H
#define TILEC_RUNTIME_GPU_NVRTC_H

#include "lib/Runtime/GPU/GPUError.h"
#include "lib/Runtime/GPU/NVRTCSearch.h"
#include "lib/Runtime/GPU/SharedLibrary.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace tilec::gpu {

struct NVRTCOptions {
  /// Put the lines of the source into the machine code, for profilers. The code
  /// is the same, the cubin about three times larger.
  bool lineInfo = false;
  /// More options in NVRTC's own spelling, after the ones below.
  std::vector<std::string> extra;

  /// What is passed to a library of this version for `arch`: the architecture,
  /// C++17, functions without a mark are device functions, and a log of
  /// resources from the assembler. The cache hashes this list.
  std::vector<std::string> list(llvm::StringRef arch,
                                std::pair<int, int> version) const;
};

struct NVRTCResult {
  std::string ptx;
  /// Machine code; empty if the architecture is a virtual one (compute_90a).
  std::vector<char> cubin;
  /// Warnings, and what ptxas says about resources: see ResourceLog.h.
  std::string log;
  double milliseconds = 0;
};

class NVRTC {
public:
  /// The library of the process, opened by the first call; a call after one
  /// that failed tries again. The error lists the places and how to install it.
  static llvm::Expected<const NVRTC &> get();

  /// Opens the first library of these places that can be used.
  static llvm::Expected<std::unique_ptr<NVRTC>> open(const NVRTCPlaces &places);

  /// Compiles `source`; `name` is what messages call it. `arch` is "sm_90a" and
  /// the like. An error of kind Compile carries the log, one of kind NoCompiler
  /// says that this NVRTC does not know `arch`.
  llvm::Expected<NVRTCResult> compile(llvm::StringRef source,
                                      llvm::StringRef name,
                                      llvm::StringRef arch,
                                      const NVRTCOptions &options = {}) const;

  std::pair<int, int> version() const { return versionNumber; }
  const std::string &path() const { return file.path; }
  /// "NVRTC 13.0 " and the identity of the file: a part of cache keys.
  std::string identity() const;

  /// What identity() would say, without opening the library; nothing if there
  /// is none or its version shows only when it is opened.
  static std::optional<std::string>
  identityWithoutOpening(const NVRTCPlaces &places);

  ~NVRTC();

private:
  struct Functions;

  NVRTC();
  static llvm::Expected<std::unique_ptr<NVRTC>> openFile(const NVRTCFile &file);
  llvm::Error checkArch(llvm::StringRef arch) const;

  SharedLibrary builtins; // Kept open for NVRTC to find by its name.
  SharedLibrary library;
  NVRTCFile file;
  std::pair<int, int> versionNumber;
  std::unique_ptr<Functions> functions;
  std::vector<int> architectures; // 90 for sm_90 and its variants.
};

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_NVRTC_H
