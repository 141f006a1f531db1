//===- RunCommand.cpp - tilec run FILE --------------------------*- C++ -*-===//
//
// Makes or reads the arguments, compiles for them, runs, compares, writes. What
// can fail is tried in the order of what it costs; files are written last, when
// nothing else can go wrong.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/EmulatedTarget.h"
#include "lib/Compiler/GpuExecutable.h"
#include "lib/Frontend/TypedVisitor.h"
#include "lib/Runtime/Npy.h"
#include "tools/tilec/CommandSupport.h"
#include "tools/tilec/CpuRuns.h"
#include "tools/tilec/OutputFile.h"
#include "tools/tilec/Progress.h"
#include "tools/tilec/RunArguments.h"
#include "tools/tilec/RunReport.h"

using namespace tilec;
using namespace tilec::cli;

namespace {
/// One `tilec run`.
class Runner {
public:
  Runner(Program &program, const Options &options, Progress &progress)
      : program(program), options(options), progress(progress) {}

  /// False after reporting errors.
  bool run();

private:
  bool checkOutputs();
  bool compile(const BoundLaunch &bound);
  bool launch(const BoundLaunch &bound);
  bool launchOnGpu(const BoundLaunch &bound);
  bool launchOnEmulator(const BoundLaunch &bound);
  bool compare(const BoundLaunch &bound, llvm::ArrayRef<Array> before);
  bool writeOutputs();
  void summarize() const;
  bool hasPrint() const;

  Program &program;
  const Options &options;
  Progress &progress;
  std::unique_ptr<typed::Kernel> kernel;
  CompileTimeArgs compileTimeArgs;
  std::unique_ptr<RunArguments> arguments;
  std::unique_ptr<CpuExecutable> executable; // One of the two.
  std::unique_ptr<GpuExecutable> onGpu;
  EmulationFindings findings;
  double runMilliseconds = 0;
  int64_t programs = 0;
  std::vector<std::string> checkLines;
};
} // namespace

/// A long run should not end in a file that cannot be written.
bool Runner::checkOutputs() {
  if (!options.ptx.empty() && !makePTXFolder(program, options))
    return false;
  for (const auto &[name, path] : options.outs)
    if (llvm::Error failed = checkWritable(path, /*allowSpecial=*/false)) {
      reportError(program, {}, "output '" + llvm::Twine(name) + "'",
                  std::move(failed));
      return false;
    }
  return true;
}

bool Runner::hasPrint() const {
  bool found = false;
  typed::walkStmts(kernel->body, [&](typed::Stmt &stmt) {
    found |= llvm::isa<typed::Print>(stmt);
  });
  return found;
}

bool Runner::compile(const BoundLaunch &bound) {
  CompileOptions compileOptions = makeCompileOptions(options);
  if (options.target == "cpu") {
    executable = CpuExecutable::create(
        program, *kernel, Specialization::of(*kernel, bound), compileOptions);
    return executable != nullptr;
  }
  gpu::DiskCache cache(cacheOptions(options));
  onGpu = GpuExecutable::create(program, *kernel, bound, compileOptions,
                                compileTimeArgs, &cache);
  return onGpu != nullptr;
}

/// What the emulator finds are errors, but the results are there.
bool Runner::launchOnEmulator(const BoundLaunch &bound) {
  emulator::EmulationSettings settings;
  settings.seed = options.seed;
  settings.hostThreads = options.threads;
  settings.moduleName = kernel->name + ".ptx";
  onGpu->setEmulation(settings);
  if (!options.ptx.empty() &&
      !writePTX(program, options, settings.moduleName, onGpu->ptx()))
    return false;
  bool good = onGpu->run(program, *kernel, bound);
  if (const emulator::EmulatedRun *run = onGpu->emulatedRun()) {
    runMilliseconds = run->milliseconds;
    findings.add(*run);
  }
  if (!good)
    findings.report(program, *kernel);
  return good;
}

/// Runs once for the result; further runs are timed on the device.
bool Runner::launchOnGpu(const BoundLaunch &bound) {
  programs = onGpu->numPrograms();
  if (options.emulated)
    return launchOnEmulator(bound);
  if (!onGpu->run(program, *kernel, bound))
    return false;
  llvm::Expected<double> time = onGpu->time(options.repeat);
  if (!time) {
    reportError(program, kernel->range, "cannot time the kernel",
                time.takeError());
    return false;
  }
  runMilliseconds = *time;
  return true;
}

bool Runner::launch(const BoundLaunch &bound) {
  if (onGpu)
    return launchOnGpu(bound);
  programs = executable->numPrograms(*kernel, bound);
  std::optional<std::vector<double>> times =
      timeOnCpu(program, *kernel, *executable, bound, *arguments, options);
  if (!times)
    return false;
  llvm::sort(*times);
  runMilliseconds = (*times)[times->size() / 2];
  for (const typed::Param *param : kernel->params)
    if (param->isTensor && !arguments->arrayOf(*param).canariesIntact()) {
      program.diags.error(param->range, "internal error: memory around '" +
                                            param->name + "' was overwritten");
      return false;
    }
  return true;
}

/// Runs the reference on the outputs' state before the run, then compares.
bool Runner::compare(const BoundLaunch &bound, llvm::ArrayRef<Array> before) {
  BoundLaunch reference = bound;
  size_t next = 0;
  for (const typed::Param *param : kernel->params)
    if (isOutput(*param))
      reference.args[param->index] = before[next++].view();
  RoundingFacts facts;
  if (llvm::Error failed = evaluateReference(*kernel, reference, &facts)) {
    reportError(program, kernel->range, "cannot evaluate the reference",
                std::move(failed))
        .remedy("leave out --check or choose smaller extents");
    return false;
  }
  for (const typed::Param *param : kernel->params) {
    if (!isOutput(*param))
      continue;
    checkLines.push_back(compareOutput(
        program, *kernel, *param, arguments->arrayOf(*param),
        std::get<TensorView>(reference.args[param->index]), facts));
  }
  return !program.diags.hasErrors();
}

bool Runner::writeOutputs() {
  auto fail = [&](llvm::StringRef name, llvm::Error error) {
    reportError(program, {}, "output '" + name + "'", std::move(error));
    return false;
  };
  llvm::StringMap<std::string> paths;
  for (const auto &[name, path] : options.outs)
    paths[name] = path;
  // All are complete before the first takes its place.
  std::vector<std::pair<llvm::StringRef, PendingNpy>> files;
  for (const typed::Param *param : kernel->params) {
    auto found = paths.find(param->name);
    if (found == paths.end())
      continue;
    llvm::Expected<PendingNpy> file =
        PendingNpy::write(found->second, arguments->arrayOf(*param));
    if (!file)
      return fail(param->name, file.takeError());
    files.emplace_back(param->name, std::move(*file));
  }
  for (auto &[name, file] : files)
    if (llvm::Error failed = file.place())
      return fail(name, std::move(failed));
  return true;
}

void Runner::summarize() const {
  llvm::raw_ostream &os = llvm::outs();
  os << kernel->name << " on " << (onGpu ? onGpu->deviceName() : "cpu") << ": "
     << programs << (programs == 1 ? " program" : " programs")
     << (onGpu && onGpu->wasInCache() ? ", loaded from the cache in "
                                      : ", compiled in ")
     << formatMilliseconds(onGpu ? onGpu->compileMilliseconds()
                                 : executable->compileMilliseconds())
     << ", ran in " << formatMilliseconds(runMilliseconds);
  if (options.repeat > 1)
    os << " (median of " << options.repeat << ")";
  os << '\n';
  if (options.emulated)
    os << "  " << describeFindings(findings.size()) << '\n';
  for (const typed::Param *param : kernel->params)
    if (isOutput(*param))
      printOutput(os, param->name, arguments->arrayOf(*param),
                  param->access == ast::Access::Out);
  for (const std::string &line : checkLines)
    os << line << '\n';
}

bool Runner::run() {
  const ast::KernelDecl *decl = program.findKernel(options.kernel);
  if (!decl)
    return false;
  std::optional<Subject> subject = analyzeSubject(program, *decl, options);
  if (!subject)
    return false;
  kernel = std::move(subject->kernel);
  compileTimeArgs = std::move(subject->args);
  arguments = std::make_unique<RunArguments>(program, *kernel, options,
                                             std::move(subject->extents));
  progress.begin("making the arguments");
  if (!checkOutputs() || !arguments->prepare())
    return false;
  std::optional<BoundLaunch> bound =
      bindLaunch(*kernel, arguments->values, program.diags);
  if (!bound)
    return false;

  progress.begin("compiling '" + kernel->name + "'");
  if (!compile(*bound))
    return false;

  std::optional<std::vector<Array>> before = std::vector<Array>();
  if (options.check) {
    before = arguments->copyOutputs(/*onlyRead=*/false);
    if (!before)
      return false;
  }
  // What the kernel prints would land in the line of progress.
  progress.begin(hasPrint() ? "" : "running '" + kernel->name + "'");
  if (!launch(*bound))
    return false;
  bool good = true;
  if (options.check) {
    progress.begin("evaluating the reference");
    good = compare(*bound, *before);
  }
  progress.begin("writing");
  good &= !findings.report(program, *kernel);
  good = good && writeOutputs();
  progress.end();
  if (!options.quiet)
    summarize();
  return good;
}

int cli::runCommand(const Options &options) {
  std::unique_ptr<Program> program =
      Program::load(options.file, options.includePaths);
  if (program->tree && !program->diags.hasErrors()) {
    Progress progress(!options.quiet);
    Runner(*program, options, progress).run();
  }
  return finish(*program, options);
}
