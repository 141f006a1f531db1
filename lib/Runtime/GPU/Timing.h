//===- Timing.h - Measuring kernels against each other ----------*- C++ -*-===//
//
// How long work on a stream takes, by the device's own clock. What makes two
// figures comparable:
//
//   * Candidates take turns, in an order that rotates, so that a clock that
//     slows down or a neighbor that wakes up meets all of them.
//   * Before each run the L2 cache is overwritten, or small inputs would come
//     from the cache and no longer from memory. That also keeps the device busy
//     while the host queues the run, so launch overhead is not in the figure.
//   * The median of many runs is reported, with its quartiles.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_RUNTIME_GPU_TIMING_H
#define TILEC_RUNTIME_GPU_TIMING_H

#include "lib/Runtime/GPU/Device.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>
#include <string>
#include <vector>

namespace tilec::gpu {

/// Something to measure: `run` queues the work on a stream.
struct Candidate {
  std::string name;
  std::function<llvm::Error(StreamRef)> run;
};

struct TimingOptions {
  unsigned warmups = 3;
  /// Samples of each candidate, unless the time is over before.
  unsigned samples = 50;
  unsigned minSamples = 5;
  double maxSeconds = 10;
  /// Runs in one sample, whose time is divided by it. More than one measures
  /// from warm caches, and launches back to back.
  unsigned runsPerSample = 1;
  /// Written before each sample, several times the L2 cache; 0 to leave the
  /// cache as it is.
  size_t flushBytes = size_t(256) << 20;
};

/// Milliseconds of one run.
struct Timing {
  std::string name;
  double median = 0;
  double lowerQuartile = 0;
  double upperQuartile = 0;
  double min = 0;
  std::vector<float> samples; // In the order they were taken.
};

/// The figures of samples, of which there is at least one. Between two samples
/// a quantile is interpolated.
Timing summarize(std::string name, std::vector<float> samples);

/// Measures candidates against each other, in the order given. The first error
/// of any ends it.
llvm::Expected<std::vector<Timing>>
measure(Device &device, llvm::ArrayRef<Candidate> candidates,
        const TimingOptions &options = {});

} // namespace tilec::gpu

#endif // TILEC_RUNTIME_GPU_TIMING_H
