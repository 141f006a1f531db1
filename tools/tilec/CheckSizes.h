//===- CheckSizes.h - Extents that exercise a kernel ------------*- C++ -*-===//
//
// What `tilec check` takes for extents that the command line does not give:
// small, but with more than one tile along each axis and a last tile that is
// partial. Two choices matter, as they compile to different code:
//
//   Multiples   of 16, so that rows are aligned and accesses are wide: copies
//               go through cp.async and the like.
//   Odd         nothing is aligned and every access has its own condition.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_CHECKSIZES_H
#define TILEC_TOOLS_TILEC_CHECKSIZES_H

#include "lib/Frontend/TypedAST.h"
#include "llvm/ADT/StringMap.h"

namespace tilec::cli {

enum class SizeStyle { Multiples, Odd };

/// Gives dimensions that are whole axes, which `extents` lacks, an extent. The
/// schedule depends on it.
void chooseWholeExtents(const typed::Kernel &kernel, SizeStyle style,
                        llvm::StringMap<int64_t> &extents);

/// Gives all others theirs, by the tiles of the kernel's schedule, which is
/// settled. Those not in `given` are changed until the kernel's `requires`
/// hold. False if no choice was found.
bool chooseExtents(const typed::Kernel &kernel, SizeStyle style,
                   const llvm::StringMap<int64_t> &given,
                   llvm::StringMap<int64_t> &extents);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_CHECKSIZES_H
