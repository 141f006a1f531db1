//===- RepeatedLaunch.h - Launches like earlier ones ------------*- C++ -*-===//
//
// A kernel is launched again and again with tensors of the same shapes. All
// that finding code and checking arguments depend on, but for the addresses, is
// the *pattern* of a launch; for patterns that were found right a kernel keeps
// the launch, prepared. Of another launch of that pattern only the addresses
// are looked at: whose memory they are, and that what is written is apart from
// the rest. How they are aligned is part of the pattern.
//
// The short way only ever agrees. Whatever it does not find right at a glance
// goes the long way, which judges it and has the messages.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_API_REPEATEDLAUNCH_H
#define TILEC_API_REPEATEDLAUNCH_H

#include "lib/Launch/Launch.h"
#include "lib/Runtime/GPU/Launcher.h"
#include "tilec/c.h"
#include <memory>
#include <shared_mutex>
#include <unordered_map>

namespace tilec::api {

struct Code;

/// What code is looked up by, and launches: a list of numbers.
using Key = llvm::SmallVector<int64_t, 32>;
struct KeyHash {
  size_t operator()(const Key &key) const;
};

/// Arguments without their addresses, on a device. Nothing if they break the
/// rules of the interface.
std::optional<Key> patternOf(const gpu::Device &device,
                             llvm::ArrayRef<tilec_arg> args);

/// A launch that was found right.
class RepeatedLaunch {
public:
  /// `bound` are the arguments that `prepared` was made for.
  RepeatedLaunch(std::shared_ptr<const Code> code, gpu::PreparedLaunch prepared,
                 const typed::Kernel &kernel, const BoundLaunch &bound);

  /// Whether arguments of the same pattern are right too.
  bool accepts(llvm::ArrayRef<tilec_arg> args) const;
  llvm::Error run(gpu::StreamRef stream, llvm::ArrayRef<tilec_arg> args) const;

private:
  /// The bytes of a tensor from its address on; none if it is empty.
  struct Span {
    unsigned arg;
    bool isWritten;
    ByteExtent bytes;
  };
  llvm::SmallVector<Span, 8> spans;
  gpu::PreparedLaunch prepared;
  std::shared_ptr<const Code> code; // Keeps the launcher.
};

/// The launches of a kernel, by pattern. For any number of threads.
class RepeatedLaunches {
public:
  std::shared_ptr<const RepeatedLaunch> find(const Key &pattern) const;
  void add(Key pattern, std::shared_ptr<const RepeatedLaunch> launch);

private:
  mutable std::shared_mutex mutex;
  std::unordered_map<Key, std::shared_ptr<const RepeatedLaunch>, KeyHash>
      launches;
};

} // namespace tilec::api

#endif // TILEC_API_REPEATEDLAUNCH_H
