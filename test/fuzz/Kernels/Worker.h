//===- Worker.h - A process that runs cases ---------------------*- C++ -*-===//
//
// A child process and the pipe on which it says what it does, so that a case
// that crashes or hangs takes nothing but its own process with it. What it
// prints to standard error goes to a temporary file, for the report of a crash.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_FUZZ_KERNELS_WORKER_H
#define TILEC_TEST_FUZZ_KERNELS_WORKER_H

#include "test/fuzz/Kernels/Runner.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <chrono>
#include <optional>
#include <vector>

namespace tilec::fuzz {

/// What a worker has said.
struct Event {
  uint64_t index = 0;
  std::optional<Outcome> outcome; // Nothing where a part of the case begins.
  bool isReference = false;       // That part.
};

class Worker {
public:
  using Clock = std::chrono::steady_clock;
  using Report = llvm::function_ref<void(const Event &)>;

  /// Starts a process that calls `body` and ends.
  explicit Worker(llvm::function_ref<void(Report)> body);
  Worker(const Worker &) = delete;
  ~Worker();

  int descriptor() const { return pipe; }
  /// The case it is at, and since when it is at this part of it.
  std::optional<uint64_t> current() const { return running; }
  /// Whether the target is done, and the reference is evaluated.
  bool isAtReference() const { return atReference; }
  Clock::time_point since() const { return started; }

  /// Takes what there is to read. False at the end of the process.
  bool read(llvm::function_ref<void(Event)> handle);
  /// Behind the end: how the process died, if it did not end by itself.
  std::optional<std::string> cause();
  void kill();

private:
  int process = -1, pipe = -1, errors = -1;
  std::vector<char> buffer;
  std::optional<uint64_t> running;
  bool atReference = false;
  Clock::time_point started;
};

} // namespace tilec::fuzz

#endif // TILEC_TEST_FUZZ_KERNELS_WORKER_H
