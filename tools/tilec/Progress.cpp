//===- Progress.cpp - What takes long, on a terminal ------------*- C++ -*-===//
//
// A thread looks at the clock while the others work. It writes to the file
// descriptor, as LLVM's streams belong to the main thread.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace tilec::cli;

static constexpr std::chrono::milliseconds delay(500), interval(100);

/// Nothing can be done about a failure, and nothing is lost.
static void writeToTerminal(llvm::StringRef text) {
  [[maybe_unused]] ssize_t written =
      ::write(STDERR_FILENO, text.data(), text.size());
}

Progress::Progress(bool enabled) {
  // A terminal without colors may not know how to erase a line either.
  if (enabled && llvm::sys::Process::StandardErrIsDisplayed() &&
      llvm::sys::Process::StandardErrHasColors())
    watcher = std::thread([this] { watch(); });
}

Progress::~Progress() {
  if (!watcher.joinable())
    return;
  end();
  {
    std::lock_guard<std::mutex> lock(mutex);
    isClosing = true;
  }
  changed.notify_one();
  watcher.join();
}

void Progress::begin(std::string what) {
  if (!watcher.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    erase();
    phase = std::move(what);
    started = std::chrono::steady_clock::now();
  }
  changed.notify_one();
}

void Progress::erase() {
  if (isShown)
    writeToTerminal("\r\033[K");
  isShown = false;
}

void Progress::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!isClosing) {
    if (phase.empty()) {
      changed.wait(lock);
      continue;
    }
    auto elapsed = std::chrono::steady_clock::now() - started;
    if (elapsed < delay) {
      changed.wait_for(lock, delay - elapsed);
      continue;
    }
    using Tenths = std::chrono::duration<int64_t, std::deci>;
    int64_t tenths = std::chrono::duration_cast<Tenths>(elapsed).count();
    writeToTerminal("\r\033[K" + phase + " (" + std::to_string(tenths / 10) +
                    "." + std::to_string(tenths % 10) + " s)");
    isShown = true;
    changed.wait_for(lock, interval);
  }
}
