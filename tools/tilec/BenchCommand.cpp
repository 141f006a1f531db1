//===- BenchCommand.cpp - tilec bench FILE ----------------------*- C++ -*-===//
//
// Measures a kernel under one schedule or several. A schedule that does not
// compile is an error, after the others have been measured.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/BenchTarget.h"
#include "tools/tilec/Progress.h"
#include "tools/tilec/WorkCount.h"
#include <atomic>
#include <thread>

using namespace tilec;
using namespace tilec::cli;

namespace {
/// One `tilec bench`.
class Bencher {
public:
  Bencher(Program &program, const Options &options, Progress &progress)
      : program(program), options(options), progress(progress) {}

  /// Reports errors to the program.
  void run();

private:
  bool makeCases(const ast::KernelDecl &decl);
  bool addCase(const ast::KernelDecl &decl, const ScheduleTrial &trial);
  std::vector<BenchCase *> compile(const BoundLaunch &bound);
  void takeMessages();

  Program &program;
  const Options &options;
  Progress &progress;
  std::unique_ptr<BenchTarget> target;
  std::vector<std::unique_ptr<BenchCase>> cases;
};
} // namespace

bool Bencher::addCase(const ast::KernelDecl &decl, const ScheduleTrial &trial) {
  auto item = std::make_unique<BenchCase>();
  item->options = options;
  llvm::append_range(item->options.schedule, trial.schedule);
  item->figures.schedule = trial.text;
  item->program = program.fork();
  std::optional<Subject> subject =
      analyzeSubject(*item->program, decl, item->options);
  if (subject)
    item->subject = std::move(*subject);
  // The first case has said what there is to say of the program.
  if (subject && !cases.empty())
    item->program->diags.clear();
  cases.push_back(std::move(item));
  return subject.has_value();
}

/// The schedule without a --try comes first.
bool Bencher::makeCases(const ast::KernelDecl &decl) {
  if (!addCase(decl, {}))
    return false;
  for (const ScheduleTrial &trial : options.trials)
    if (!addCase(decl, trial))
      return false;
  return true;
}

/// Compiles all cases on the cores there are; gives those that compile.
std::vector<BenchCase *> Bencher::compile(const BoundLaunch &bound) {
  std::vector<char> succeeded(cases.size(), false);
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < cases.size();)
      succeeded[i] = target->compile(*cases[i], bound);
  };
  size_t count = std::min<size_t>(
      cases.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (size_t i = 1; i < count; ++i)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
  std::vector<BenchCase *> good;
  for (auto [item, isGood] : llvm::zip(cases, succeeded))
    if (isGood)
      good.push_back(item.get());
  return good;
}

/// Moves the messages of the cases to the program, where all are printed.
void Bencher::takeMessages() {
  for (const std::unique_ptr<BenchCase> &item : cases) {
    for (const auto &message : item->program->diags.all()) {
      Diagnostic &copy = addMessage(program, *message);
      if (!item->figures.schedule.empty())
        copy.note("with --try " + llvm::Twine(item->figures.schedule));
    }
    item->program->diags.clear();
  }
}

void Bencher::run() {
  const ast::KernelDecl *decl = program.findKernel(options.kernel);
  if (!decl)
    return;
  bool isGood = makeCases(*decl);
  takeMessages();
  if (!isGood)
    return;
  const Subject &subject = cases.front()->subject;
  const typed::Kernel &kernel = *subject.kernel;
  target =
      options.target == "cpu" ? makeCpuBench() : makeGpuBench(program, kernel);
  if (!target)
    return;

  progress.begin("making the arguments");
  RunArguments arguments(program, kernel, options, subject.extents);
  if (!target->makeArguments(program, kernel, arguments))
    return;
  std::optional<BoundLaunch> bound =
      bindLaunch(kernel, arguments.values, program.diags);
  if (!bound)
    return;

  progress.begin("compiling '" + kernel.name + "'");
  std::vector<BenchCase *> compiled = compile(*bound);
  BenchReport report;
  report.kernel = kernel.name;
  report.repeat = options.repeat;
  report.bytes = countBytes(kernel, *bound);
  report.flops = countFlops(kernel, *bound);
  if (report.flops == 0.0)
    report.flops.reset();
  progress.begin("measuring '" + kernel.name + "'");
  bool wasMeasured =
      !compiled.empty() && target->measure(compiled, *bound, arguments, report);
  takeMessages();
  progress.end();
  if (!wasMeasured)
    return;
  for (const BenchCase *item : compiled)
    report.figures.push_back(item->figures);
  if (options.json)
    report.printJson(llvm::outs());
  else
    report.print(llvm::outs());
}

int cli::benchCommand(const Options &options) {
  std::unique_ptr<Program> program =
      Program::load(options.file, options.includePaths);
  if (program->tree && !program->diags.hasErrors()) {
    Progress progress(/*enabled=*/true);
    Bencher(*program, options, progress).run();
  }
  return finish(*program, options);
}
