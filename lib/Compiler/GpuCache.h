//===- GpuCache.h - GPU code from the cache on disk -------------*- C++ -*-===//
//
// The cache stands in front of everything that costs time: its key is made from
// what goes into the compiler, not from what comes out of a stage of it. So a
// hit needs the front end alone, no pass, no code generator and no NVRTC, which
// need not even be installed.
//
// In the key: the text of the program and of all it imports, the kernel and its
// compile-time arguments, the target, the specialization, the facts, the
// entries of the schedule, and which builds of tilec and of NVRTC compile it.
// Names of files are in it only for checked code, which tells them.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_GPUCACHE_H
#define TILEC_COMPILER_GPUCACHE_H

#include "lib/Compiler/GpuTarget.h"
#include "lib/Runtime/GPU/DiskCache.h"

namespace tilec {

struct CachedGpuCode : GpuCode {
  bool isFromCache = false;
};

/// The code of a kernel from `cache` or, if it is not there, compiled and kept.
/// `args` are the compile-time arguments that `kernel` was analyzed with. If
/// the options ask to print what passes do, it is always compiled. Nothing
/// after reporting to `program.diags`.
std::optional<CachedGpuCode>
findOrCompile(Program &program, typed::Kernel &kernel,
              const CompileTimeArgs &args, const Specialization &specialization,
              const GpuFacts &facts, const CompileOptions &options,
              gpu::DiskCache &cache);

/// The key without NVRTC; see above. Without `build` nothing can be kept.
std::string gpuCacheKey(const Program &program, const typed::Kernel &kernel,
                        const CompileTimeArgs &args,
                        const Specialization &specialization,
                        const GpuFacts &facts, const CompileOptions &options,
                        llvm::StringRef build);

} // namespace tilec

#endif // TILEC_COMPILER_GPUCACHE_H
