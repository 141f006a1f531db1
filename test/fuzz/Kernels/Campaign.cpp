//===- Campaign.cpp - Many cases, in processes of their own -----*- C++ -*-===//
//
// See Campaign.h.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Kernels/Campaign.h"
#include "test/fuzz/Kernels/Generator.h"
#include "test/fuzz/Kernels/Worker.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <poll.h>

using namespace tilec;
using namespace tilec::fuzz;

using Clock = Worker::Clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What a case is that was ended in its part of a worker.
static Outcome tooLong(const Worker &worker) {
  if (worker.isAtReference())
    return {Outcome::Kind::Resources, "the reference takes too long", ""};
  return {Outcome::Kind::Hang, "hangs", ""};
}

/// Runs a case and reports its parts.
static Outcome runAndReport(const Case &test, const RunOptions &options,
                            Worker::Report report) {
  report({test.index, std::nullopt});
  Outcome outcome = runCase(test, options, [&] {
    report({test.index, std::nullopt, /*isReference=*/true});
  });
  report({test.index, outcome});
  return outcome;
}

Outcome fuzz::runWatched(const Case &test, const CampaignOptions &options) {
  Worker worker(
      [&](Worker::Report report) { runAndReport(test, options.run, report); });
  std::optional<Outcome> outcome;
  while (!outcome) {
    double left = options.secondsPerCase - secondsSince(worker.since());
    pollfd wait = {worker.descriptor(), POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left * 1000) + 1) == 0)
      return tooLong(worker);
    if (!worker.read([&](Event event) { outcome = std::move(event.outcome); }))
      return {Outcome::Kind::Crash, "crashes", worker.cause().value_or("")};
  }
  return *outcome;
}

namespace {
struct Failure {
  uint64_t index;
  Outcome outcome;
};

class Campaign {
public:
  explicit Campaign(const CampaignOptions &options)
      : options(options), begin(Clock::now()) {}
  bool run();

private:
  /// One of the processes, and the next of its cases.
  struct Slot {
    std::unique_ptr<Worker> worker;
    uint64_t next;
  };
  void start(Slot &slot);
  /// True while it has something to do.
  bool serve(Slot &slot);
  void count(uint64_t index, const Outcome &outcome);
  void fail(uint64_t index, const Outcome &outcome);
  void shrinkFailures();
  void writeReport(const Case &test, const Outcome &outcome,
                   llvm::StringRef remark) const;
  std::string pathOf(uint64_t index) const;
  void summarize() const;

  const CampaignOptions &options;
  Clock::time_point begin;
  uint64_t numRun = 0;
  std::map<std::string, uint64_t> outcomes, features;
  std::vector<Failure> failures;
  /// Cases that the target was not done with in time.
  std::vector<uint64_t> slow;
};
} // namespace

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void Campaign::start(Slot &slot) {
  // MLIR keeps what it has seen, so no process lives forever.
  constexpr unsigned casesPerProcess = 200;
  uint64_t first = slot.next, step = options.numProcesses;
  slot.worker = std::make_unique<Worker>([&](Worker::Report report) {
    for (unsigned i = 0; i < casesPerProcess; ++i) {
      uint64_t index = first + i * step;
      if (index >= options.numCases && !options.only)
        return;
      Outcome outcome =
          runAndReport(generate(options.seed, index), options.run, report);
      // A device is of no use to a process after a fault.
      if (outcome.kind == Outcome::Kind::Fault || options.only)
        return;
    }
  });
}

void Campaign::count(uint64_t index, const Outcome &outcome) {
  ++numRun;
  ++outcomes[(kindText(outcome.kind) +
              (outcome.what.empty() ? "" : ": " + outcome.what))
                 .str()];
  if (outcome.isFailure())
    return fail(index, outcome);
  if (outcome.kind != Outcome::Kind::Agrees)
    return;
  static constexpr llvm::StringLiteral words[] = {
      "attention(", "dot<",   "for ",    "if ",   "sum<",
      "mean<",      "max<",   "argmax<", "any<",  "cumsum<",
      "softmax<",   "where(", "inout ",  "add ",  "f8e4m3[",
      "bf16[",      "f64[",   "i8[",     "tile(", "logsumexp<"};
  std::string source = generate(options.seed, index).source();
  for (llvm::StringRef word : words)
    features[word.str()] += llvm::StringRef(source).contains(word);
}

void Campaign::fail(uint64_t index, const Outcome &outcome) {
  failures.push_back({index, outcome});
  Case test = generate(options.seed, index);
  llvm::outs() << "FAILED: seed " << options.seed << ", case " << index << ": "
               << kindText(outcome.kind) << ", " << outcome.what << '\n'
               << outcome.message << '\n';
  llvm::outs().flush();
  writeReport(test, outcome, "as it was generated");
}

bool Campaign::serve(Slot &slot) {
  if (!slot.worker) {
    if (slot.next >= options.numCases && !options.only)
      return false;
    start(slot);
  }
  Worker &worker = *slot.worker;
  bool alive = worker.read([&](Event event) {
    if (!event.outcome)
      return;
    slot.next = event.index + options.numProcesses;
    count(event.index, *event.outcome);
  });
  if (alive)
    return true;
  std::optional<uint64_t> at = worker.current();
  std::optional<std::string> cause = worker.cause();
  slot.worker.reset();
  if (at) {
    slot.next = *at + options.numProcesses;
    count(*at, {Outcome::Kind::Crash, "crashes", cause.value_or("")});
  }
  return !options.only;
}

bool Campaign::run() {
  std::vector<Slot> slots(options.only ? 1 : options.numProcesses);
  for (auto [i, slot] : llvm::enumerate(slots)) {
    slot.next = options.only ? *options.only : i;
    if (options.only || slot.next < options.numCases)
      start(slot);
  }
  while (secondsSince(begin) < options.seconds) {
    std::vector<pollfd> waits;
    std::vector<Slot *> waiting;
    for (Slot &slot : slots)
      if (slot.worker) {
        waits.push_back({slot.worker->descriptor(), POLLIN, 0});
        waiting.push_back(&slot);
      }
    if (waits.empty())
      break;
    constexpr int milliseconds = 200;
    ::poll(waits.data(), waits.size(), milliseconds);
    for (auto [wait, slot] : llvm::zip(waits, waiting)) {
      if (wait.revents && serve(*slot) && !slot->worker &&
          slot->next < options.numCases)
        start(*slot);
      if (slot->worker && slot->worker->current() &&
          secondsSince(slot->worker->since()) > options.secondsPerCase) {
        uint64_t at = *slot->worker->current();
        slot->next = at + options.numProcesses;
        Outcome outcome = tooLong(*slot->worker);
        slot->worker.reset();
        if (outcome.kind == Outcome::Kind::Hang)
          slow.push_back(at);
        else
          count(at, outcome);
        if (!options.only)
          start(*slot);
      }
    }
  }
  slots.clear();
  // On a busy machine a compiler takes long too; alone, a case hangs or it does
  // not.
  for (uint64_t index : slow)
    count(index, runWatched(generate(options.seed, index), options));
  shrinkFailures();
  summarize();
  // A campaign in which nothing agrees tests nothing.
  return failures.empty() && outcomes.count("agrees") != 0;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::string Campaign::pathOf(uint64_t index) const {
  return options.folder + "/" + std::to_string(options.seed) + "-" +
         std::to_string(index) + ".tile";
}

void Campaign::writeReport(const Case &test, const Outcome &outcome,
                           llvm::StringRef remark) const {
  if (llvm::sys::fs::create_directories(options.folder))
    return;
  std::error_code code;
  std::string path = pathOf(test.index);
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return;
  os << "// " << kindText(outcome.kind) << ", " << outcome.what << "; "
     << remark << "\n// tilec-fuzz --target=" << options.run.targetText()
     << " --seed=" << test.seed << " --case=" << test.index
     << (options.run.compileOnly ? " --compile-only" : "")
     << "\n// the same with row-major arrays:\n// "
     << test.command(path, options.run.targetText()) << "\n\n"
     << test.describe() << '\n';
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(outcome.message).split(lines, '\n');
  for (llvm::StringRef line : lines)
    os << "// " << line << '\n';
}

void Campaign::shrinkFailures() {
  constexpr unsigned perSignature = 4;
  std::map<std::string, unsigned> seen;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<uint64_t> indices;
  for (const Failure &failure : failures) {
    if (indices.size() >= options.maxShrunk ||
        failure.outcome.kind == Outcome::Kind::Hang ||
        seen[failure.outcome.signature()]++ >= perSignature)
      continue;
    indices.push_back(failure.index);
    workers.push_back(std::make_unique<Worker>([&](Worker::Report) {
      Case smaller = shrink(generate(options.seed, failure.index),
                            failure.outcome.signature(), options);
      writeReport(smaller, runWatched(smaller, options), "made smaller");
    }));
  }
  for (auto [worker, index] : llvm::zip(workers, indices)) {
    while (worker->read([](Event) {})) {
    }
    if (auto file = llvm::MemoryBuffer::getFile(pathOf(index)))
      llvm::outs() << "--- " << pathOf(index) << '\n' << (*file)->getBuffer();
  }
}

void Campaign::summarize() const {
  llvm::raw_ostream &os = llvm::outs();
  os << numRun << " cases on " << options.run.targetText()
     << (options.run.compileOnly ? " (compiled only)" : "") << ", seed "
     << options.seed << ", in " << llvm::format("%.0f", secondsSince(begin))
     << " s\n";
  for (const auto &[what, number] : outcomes)
    os << "  " << number << " " << what << '\n';
  os << "  with";
  for (const auto &[word, number] : features)
    os << "  " << word << " " << number;
  os << '\n';
}

bool fuzz::runCampaign(const CampaignOptions &options) {
  return Campaign(options).run();
}
