//===- Campaign.h - Many cases, in processes of their own -------*- C++ -*-===//
//
// Runs cases until time is up, several at once, in processes that may crash or
// hang without harm, and makes those that fail smaller.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_FUZZ_KERNELS_CAMPAIGN_H
#define TILEC_TEST_FUZZ_KERNELS_CAMPAIGN_H

#include "test/fuzz/Kernels/Runner.h"
#include <optional>

namespace tilec::fuzz {

struct CampaignOptions {
  RunOptions run;
  uint64_t seed = 1;
  std::optional<uint64_t> only; // This case and no other.
  uint64_t numCases = UINT64_MAX;
  double seconds = 60;
  unsigned numProcesses = 1;
  /// A case that takes longer hangs.
  double secondsPerCase = 60;
  /// Failures that are made smaller, each for so long; the rest is counted.
  unsigned maxShrunk = 12;
  double shrinkSeconds = 30;
  /// Where the kernels of failures go.
  std::string folder = "fuzz-failures";
};

/// Reports to standard output. Returns whether nothing failed, and something
/// ran.
bool runCampaign(const CampaignOptions &options);

/// Runs one case in a process of its own.
Outcome runWatched(const Case &test, const CampaignOptions &options);

/// A case of fewer statements and plainer arguments with a failure of the same
/// signature.
Case shrink(Case test, llvm::StringRef signature,
            const CampaignOptions &options);

} // namespace tilec::fuzz

#endif // TILEC_TEST_FUZZ_KERNELS_CAMPAIGN_H
