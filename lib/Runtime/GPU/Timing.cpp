//===- Timing.cpp - Measuring kernels against each other --------*- C++ -*-===//

#include "lib/Runtime/GPU/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <chrono>
#include <cmath>

using namespace tilec;
using namespace tilec::gpu;

static double quantile(llvm::ArrayRef<float> sorted, double fraction) {
  double position = fraction * (sorted.size() - 1);
  size_t below = static_cast<size_t>(std::floor(position));
  size_t above = std::min(below + 1, sorted.size() - 1);
  double weight = position - below;
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}

Timing gpu::summarize(std::string name, std::vector<float> samples) {
  assert(!samples.empty() && "nothing was measured");
  std::vector<float> sorted = samples;
  llvm::sort(sorted);
  Timing timing;
  timing.name = std::move(name);
  timing.median = quantile(sorted, 0.5);
  timing.lowerQuartile = quantile(sorted, 0.25);
  timing.upperQuartile = quantile(sorted, 0.75);
  timing.min = sorted.front();
  timing.samples = std::move(samples);
  return timing;
}

namespace {
/// What all samples of a measurement share.
class Stopwatch {
public:
  static llvm::Expected<Stopwatch>
  create(Device &device, const TimingOptions &options, size_t numCandidates);

  /// One sample of each candidate, beginning with number `first`.
  llvm::Error takeTurns(llvm::ArrayRef<Candidate> candidates, size_t first,
                        std::vector<std::vector<float>> *samples);

private:
  Device *device = nullptr;
  const TimingOptions *options = nullptr;
  Stream stream;
  DeviceBuffer flushed;
  std::vector<Event> begins, ends;
};
} // namespace

llvm::Expected<Stopwatch> Stopwatch::create(Device &device,
                                            const TimingOptions &options,
                                            size_t numCandidates) {
  Stopwatch watch;
  watch.device = &device;
  watch.options = &options;
  llvm::Expected<Stream> stream = device.createStream();
  if (!stream)
    return stream.takeError();
  watch.stream = std::move(*stream);
  llvm::Expected<DeviceBuffer> flushed = device.allocate(options.flushBytes);
  if (!flushed)
    return flushed.takeError();
  watch.flushed = std::move(*flushed);
  for (size_t i = 0; i < 2 * numCandidates; ++i) {
    llvm::Expected<Event> event = device.createEvent();
    if (!event)
      return event.takeError();
    (i % 2 ? watch.ends : watch.begins).push_back(std::move(*event));
  }
  return watch;
}

llvm::Error Stopwatch::takeTurns(llvm::ArrayRef<Candidate> candidates,
                                 size_t first,
                                 std::vector<std::vector<float>> *samples) {
  for (size_t turn = 0; turn < candidates.size(); ++turn) {
    size_t i = (first + turn) % candidates.size();
    if (llvm::Error error =
            device->fill(flushed.data(), first & 255, flushed.size(), stream))
      return error;
    if (llvm::Error error = begins[i].record(stream))
      return error;
    for (unsigned run = 0; run < options->runsPerSample; ++run)
      if (llvm::Error error = candidates[i].run(stream))
        return error;
    if (llvm::Error error = ends[i].record(stream))
      return error;
  }
  if (llvm::Error error = stream.synchronize())
    return error;
  if (!samples)
    return llvm::Error::success();
  for (size_t i = 0; i < candidates.size(); ++i) {
    llvm::Expected<float> milliseconds = ends[i].millisecondsSince(begins[i]);
    if (!milliseconds)
      return milliseconds.takeError();
    (*samples)[i].push_back(*milliseconds / options->runsPerSample);
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Timing>>
gpu::measure(Device &device, llvm::ArrayRef<Candidate> candidates,
             const TimingOptions &options) {
  assert(options.samples > 0 && options.minSamples > 0 &&
         options.runsPerSample > 0 && "nothing to measure");
  llvm::Expected<Stopwatch> watch =
      Stopwatch::create(device, options, candidates.size());
  if (!watch)
    return watch.takeError();
  for (unsigned i = 0; i < options.warmups; ++i)
    if (llvm::Error error = watch->takeTurns(candidates, i, nullptr))
      return std::move(error);

  std::vector<std::vector<float>> samples(candidates.size());
  auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < options.samples; ++i) {
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - begin;
    if (i >= options.minSamples && elapsed.count() > options.maxSeconds)
      break;
    if (llvm::Error error = watch->takeTurns(candidates, i, &samples))
      return std::move(error);
  }
  std::vector<Timing> timings;
  for (auto [candidate, taken] : llvm::zip(candidates, samples))
    timings.push_back(summarize(candidate.name, std::move(taken)));
  return timings;
}
