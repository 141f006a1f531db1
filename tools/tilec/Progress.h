//===- Progress.h - What takes long, on a terminal --------------*- C++ -*-===//
//
// One line on a terminal that says what is being done and for how long,
// overwritten and in the end erased. It comes up only if something takes longer
// than half a second, and never where standard error is not a terminal.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TOOLS_TILEC_PROGRESS_H
#define TILEC_TOOLS_TILEC_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tilec::cli {

class Progress {
public:
  /// Does nothing unless `enabled`.
  explicit Progress(bool enabled);
  ~Progress();
  Progress(const Progress &) = delete;

  /// Begins a phase, which ends the one before.
  void begin(std::string what);
  /// Ends the phase. To be called before anything else is printed.
  void end() { begin(""); }

private:
  void watch();
  void erase();

  std::mutex mutex;
  std::condition_variable changed;
  std::string phase; // Empty: none.
  std::chrono::steady_clock::time_point started;
  bool isShown = false, isClosing = false;
  std::thread watcher; // Last: it uses the others.
};

} // namespace tilec::cli

#endif // TILEC_TOOLS_TILEC_PROGRESS_H
