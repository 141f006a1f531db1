//===- Schedule.h - Tile sizes of a kernel ----------------------*- C++ -*-===//
//
// Settles how many positions each tile covers: `Axis::tileSize` of every tile
// axis, and `Attention::kvTile`. In this order the size comes from
//
//   1. the kernel's text, `tile(M, 128)`;
//   2. its schedule, `schedule { m = 128 }`, merged by the analysis from the
//      kernel's block and the `schedule ... for` declarations of the target;
//   3. a default that depends on what the axis is used for.
//
// No size changes a result, beyond the order in which a sum is made.
//
// The defaults are a cost rule in a few lines. On `cpu` the values of one
// program should stay in half of a 1 MiB second-level cache, several values of
// 64 to 128 KiB each, with the axis that is contiguous in memory at least 64
// long; on GPUs the sizes are powers of two that a few warps handle:
//
//   use of the axis                            cpu               GPU
//   rows of attention / its keys               64 / 128          64 / 64
//   dot: rows, columns                         128, 128          128, 128
//   dot: contracted                            128               64
//   dot: batch                                 1                 1
//   beside whole axes of P elements            16384/P in 1..64  4096/P
//   in 1..16 alone                                      8192              1024
//   with others: contiguous, next, further     256, 32, 1        512, 4, 1
//   contiguous in one tensor, not in another   64                64
//
// On GPUs dots and attention of elements of 4 bytes or more have 64 rows and
// columns and half the keys, and what is contracted takes 128 bytes of a row.
//
// An axis with two uses takes the smaller size. Then, while a value would have
// more than 32768 elements (the result of a dot on GPUs, 8192 if it has three
// axes or more, as all products of a tile share the registers of one), the
// default size of its longest tile is halved; and a tile is not much longer
// than a known extent. Extents that are not known count as 256.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_SCHEDULE_H
#define TILEC_FRONTEND_SCHEDULE_H

#include "lib/Frontend/TypedAST.h"
#include "llvm/ADT/StringMap.h"

namespace tilec {

/// Settles all tile sizes of `kernel` for `target` ("cpu", "sm_90a").
/// `knownExtents` maps names of dimensions to extents, for those that the
/// kernel is specialized on.
void assignSchedule(typed::Kernel &kernel, llvm::StringRef target,
                    const llvm::StringMap<int64_t> &knownExtents);

} // namespace tilec

#endif // TILEC_FRONTEND_SCHEDULE_H
