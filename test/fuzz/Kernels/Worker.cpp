//===- Worker.cpp - A process that runs cases -------------------*- C++ -*-===//
//
// See Worker.h.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Worker.h"
#include "llvm/Support/ErrorHandling.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::fuzz;

namespace {
/// In front of each message; the two texts follow.
struct Header {
  uint64_t index;
  uint32_t isOutcome, isReference, kind, whatSize, messageSize;
};
} // namespace

static void writeAll(int descriptor, const void *data, size_t size) {
  const auto *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written = ::write(descriptor, bytes, size);
    if (written <= 0)
      ::_exit(1); // Nobody listens any more.
    bytes += written;
    size -= static_cast<size_t>(written);
  }
}

static void send(int descriptor, const Event &event) {
  Outcome outcome = event.outcome.value_or(Outcome());
  Header header = {event.index,
                   event.outcome.has_value(),
                   event.isReference,
                   static_cast<uint32_t>(outcome.kind),
                   static_cast<uint32_t>(outcome.what.size()),
                   static_cast<uint32_t>(outcome.message.size())};
  writeAll(descriptor, &header, sizeof(header));
  writeAll(descriptor, outcome.what.data(), outcome.what.size());
  writeAll(descriptor, outcome.message.data(), outcome.message.size());
}

Worker::Worker(llvm::function_ref<void(Report)> body) : started(Clock::now()) {
  int ends[2];
  if (::pipe(ends) != 0)
    llvm::report_fatal_error("cannot make a pipe");
  errors = ::memfd_create("standard error", MFD_CLOEXEC);
  std::fflush(nullptr);
  process = ::fork();
  if (process < 0)
    llvm::report_fatal_error("cannot start a process");
  if (process == 0) {
    ::close(ends[0]);
    if (errors >= 0)
      ::dup2(errors, STDERR_FILENO);
    rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    body([&](const Event &event) { send(ends[1], event); });
    // Whatever the parent has yet to write is the parent's.
    ::_exit(0);
  }
  ::close(ends[1]);
  pipe = ends[0];
}

Worker::~Worker() {
  kill();
  ::close(pipe);
  if (errors >= 0)
    ::close(errors);
}

void Worker::kill() {
  if (process < 0)
    return;
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  process = -1;
}

bool Worker::read(llvm::function_ref<void(Event)> handle) {
  char chunk[4096];
  ssize_t count = ::read(pipe, chunk, sizeof(chunk));
  if (count <= 0)
    return false;
  buffer.insert(buffer.end(), chunk, chunk + count);
  while (true) {
    Header header;
    if (buffer.size() < sizeof(header))
      return true;
    std::memcpy(&header, buffer.data(), sizeof(header));
    size_t size = sizeof(header) + header.whatSize + header.messageSize;
    if (buffer.size() < size)
      return true;
    Event event{header.index, std::nullopt, header.isReference != 0};
    if (header.isOutcome) {
      const char *text = buffer.data() + sizeof(header);
      event.outcome =
          Outcome{static_cast<Outcome::Kind>(header.kind),
                  std::string(text, header.whatSize),
                  std::string(text + header.whatSize, header.messageSize)};
      running.reset();
    } else {
      running = header.index;
      atReference = event.isReference;
      started = Clock::now();
    }
    buffer.erase(buffer.begin(), buffer.begin() + static_cast<ptrdiff_t>(size));
    handle(std::move(event));
  }
}

std::optional<std::string> Worker::cause() {
  int status = 0;
  ::waitpid(process, &status, 0);
  process = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return std::nullopt;
  std::string text =
      WIFSIGNALED(status)
          ? std::string("signal ") + ::strsignal(WTERMSIG(status))
          : "exit status " + std::to_string(WEXITSTATUS(status));
  text += "\n";
  // The end of it is what matters, and it is often long.
  constexpr off_t most = 4000;
  off_t size = errors >= 0 ? ::lseek(errors, 0, SEEK_END) : 0;
  off_t begin = size > most ? size - most : 0;
  std::string output(static_cast<size_t>(size - begin), '\0');
  ssize_t count = ::pread(errors, output.data(), output.size(), begin);
  if (count > 0)
    text += output.substr(0, static_cast<size_t>(count));
  return text;
}
