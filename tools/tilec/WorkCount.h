//===- WorkCount.h - What a kernel has to do at least -----------*- C++ -*-===//
//
// The bytes that a launch must move and the operations of its products, from
// the kernel's text and the extents alone: the same for every schedule.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_WORKCOUNT_H
#define TILEC_TOOLS_TILEC_WORKCOUNT_H

#include "lib/Launch/Launch.h"

namespace tilec::cli {

/// Every `in` tensor once, every `out` tensor once, others twice.
double countBytes(const typed::Kernel &kernel, const BoundLaunch &launch);

/// For each dot 2 operations for each product of two elements, over all loops
/// around it; for each attention 2 (D + E) for each pair of a query and a key.
/// Masks and conditions count as true. A dot in a loop over tiles that it does
/// not depend on counts once, whatever the schedule repeats. 0 without either;
/// nothing if an extent is known only inside the kernel.
std::optional<double> countFlops(const typed::Kernel &kernel,
                                 const BoundLaunch &launch);

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_WORKCOUNT_H
