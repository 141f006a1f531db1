//===- CheckCommand.cpp - tilec check FILE ----------------------*- C++ -*-===//
//
// Runs kernels on the emulator, at extents that exercise their tails and with
// several orders of what happens at the same time, and compares each result
// with the reference. A kernel that fails does not keep others from being
// checked.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/EmulatedTarget.h"
#include "lib/Compiler/GpuExecutable.h"
#include "tools/tilec/CheckReport.h"
#include "tools/tilec/CheckSizes.h"
#include "tools/tilec/CommandSupport.h"
#include "tools/tilec/Progress.h"
#include "tools/tilec/RunArguments.h"
#include "tools/tilec/RunReport.h"

using namespace tilec;
using namespace tilec::cli;

namespace {
/// One kernel at some extents. Messages go to a program of its own.
class CaseChecker {
public:
  /// `isOneOfMany`: the options may name dimensions of other kernels.
  CaseChecker(Program &program, const ast::KernelDecl &decl,
              const Options &options, bool isOneOfMany, Progress &progress,
              EmulationFindings &findings)
      : program(program), decl(decl), options(options),
        isOneOfMany(isOneOfMany), progress(progress), findings(findings) {
    this->options.check = true; // Counts the memory of the reference.
  }

  /// Adds a case to those of `kernel`, unless it has one of these extents.
  void run(SizeStyle style, CheckedKernel &kernel);

private:
  std::optional<Subject> analyze();
  std::optional<llvm::StringMap<int64_t>> choose(SizeStyle style);
  bool check(llvm::StringMap<int64_t> extents, unsigned number,
             CheckCase &result);
  void giveScalars();
  std::unique_ptr<GpuExecutable> compile(const BoundLaunch &bound,
                                         unsigned number);
  bool prepareReference(const BoundLaunch &bound);
  bool runWithSeed(unsigned run, const BoundLaunch &bound, CheckCase &result);
  bool compare();
  void noteCircumstances(size_t firstMessage, uint64_t seed,
                         const CheckCase &result);

  Program &program;
  const ast::KernelDecl &decl;
  Options options;
  bool isOneOfMany;
  Progress &progress;
  EmulationFindings &findings;
  Subject subject;
  std::unique_ptr<RunArguments> arguments;
  std::unique_ptr<GpuExecutable> executable;
  std::vector<Array> before, expected; // Of the outputs, in their order.
  RoundingFacts facts;
  std::string moduleName;
};

/// One `tilec check`.
class Checker {
public:
  Checker(Program &program, const Options &options, Progress &progress)
      : program(program), options(options), progress(progress) {
    report.target = options.target;
    report.seed = options.seed;
    report.counters = options.counters;
  }

  /// Reports errors to the program.
  void run();

private:
  void checkKernel(const ast::KernelDecl &decl, bool isOneOfMany);
  Options optionsOf(const typed::Kernel &kernel) const;
  bool checkArgumentsUsed();
  void takeMessages(Program &from);

  Program &program;
  const Options &options;
  Progress &progress;
  llvm::StringSet<> used, usedArguments;
  bool areNamesKnown = true; // Those of a kernel with errors are not.
  CheckReport report;
};
} // namespace

//===----------------------------------------------------------------------===//
// One case
//===----------------------------------------------------------------------===//

std::optional<Subject> CaseChecker::analyze() {
  llvm::StringSet<> used; // Whoever calls has looked at the names already.
  return analyzeSubject(program, decl, options, isOneOfMany ? &used : nullptr);
}

/// The extents of all dimensions. The schedule, which they are chosen by, is
/// settled on a tree that is then dropped.
std::optional<llvm::StringMap<int64_t>> CaseChecker::choose(SizeStyle style) {
  std::optional<Subject> scratch = analyze();
  if (!scratch)
    return std::nullopt;
  typed::Kernel &kernel = *scratch->kernel;
  llvm::StringMap<int64_t> extents = scratch->extents;
  chooseWholeExtents(kernel, style, extents);
  Specialization specialization;
  for (const typed::Dimension *dim : kernel.dims)
    if (dim->isWhole)
      specialization.extents[dim->name] = extents.lookup(dim->name);
  specialization.unitStride = rowMajorUnitStrides(kernel);
  if (!settleSchedule(program, kernel, specialization,
                      makeCompileOptions(options)))
    return std::nullopt;
  if (chooseExtents(kernel, style, scratch->extents, extents))
    return extents;
  program.diags
      .error(kernel.range, "no small extents were found that meet what '" +
                               llvm::Twine(kernel.name) + "' requires")
      .remedy("give them, e.g. --size " + kernel.dims.front()->name + "=128");
  return std::nullopt;
}

/// Scalars without a default and without a value get one.
void CaseChecker::giveScalars() {
  for (const typed::Param *param : subject.kernel->params) {
    bool isGiven = llvm::any_of(options.args, [&](const auto &arg) {
      return arg.first == param->name;
    });
    if (!param->isTensor && !param->defaultValue && !isGiven)
      options.args.emplace_back(param->name.str(), *parseArgumentSpec("1"));
  }
}

std::unique_ptr<GpuExecutable> CaseChecker::compile(const BoundLaunch &bound,
                                                    unsigned number) {
  gpu::DiskCache cache(cacheOptions(options));
  std::unique_ptr<GpuExecutable> made =
      GpuExecutable::create(program, *subject.kernel, bound,
                            makeCompileOptions(options), subject.args, &cache);
  moduleName = subject.kernel->name +
               (number ? "-" + std::to_string(number + 1) : "") + ".ptx";
  if (made && !options.ptx.empty() &&
      !writePTX(program, options, moduleName, made->ptx()))
    return nullptr;
  return made;
}

/// Runs the reference on copies of the outputs.
bool CaseChecker::prepareReference(const BoundLaunch &bound) {
  for (std::vector<Array> *copies : {&before, &expected}) {
    std::optional<std::vector<Array>> made =
        arguments->copyOutputs(/*onlyRead=*/false);
    if (!made)
      return false;
    *copies = std::move(*made);
  }
  BoundLaunch reference = bound;
  size_t next = 0;
  for (const typed::Param *param : subject.kernel->params)
    if (isOutput(*param))
      reference.args[param->index] = expected[next++].view();
  llvm::Error failed = evaluateReference(*subject.kernel, reference, &facts);
  if (!failed)
    return true;
  reportError(program, subject.kernel->range, "cannot evaluate the reference",
              std::move(failed));
  return false;
}

bool CaseChecker::compare() {
  size_t next = 0;
  for (const typed::Param *param : subject.kernel->params)
    if (isOutput(*param))
      compareOutput(program, *subject.kernel, *param,
                    arguments->arrayOf(*param), expected[next++].view(), facts);
  return !program.diags.hasErrors();
}

/// Adds to messages of a run how to have it again.
void CaseChecker::noteCircumstances(size_t firstMessage, uint64_t seed,
                                    const CheckCase &result) {
  llvm::ArrayRef<std::unique_ptr<Diagnostic>> messages(program.diags.all());
  for (const std::unique_ptr<Diagnostic> &message :
       messages.drop_front(firstMessage))
    message->note("with " + result.sizes() +
                  (result.extents.empty() ? "" : " and ") + "seed " +
                  llvm::Twine(seed));
}

bool CaseChecker::runWithSeed(unsigned run, const BoundLaunch &bound,
                              CheckCase &result) {
  typed::Kernel &kernel = *subject.kernel;
  size_t next = 0;
  for (const typed::Param *param : kernel.params)
    if (isOutput(*param))
      copyElements(arguments->arrayOf(*param), before[next++]);
  emulator::EmulationSettings settings;
  settings.seed = options.seed + run;
  settings.hostThreads = options.threads;
  settings.moduleName = moduleName;
  executable->setEmulation(settings);
  size_t firstMessage = program.diags.all().size();
  bool good = executable->run(program, kernel, bound);
  if (const emulator::EmulatedRun *done = executable->emulatedRun()) {
    findings.add(*done, result.extents.empty() ? "" : "with " + result.sizes());
    result.instructions += done->result.counters.warpInstructions;
    result.milliseconds += done->milliseconds;
    if (run == 0)
      result.counters = done->result.counters;
  }
  ++result.runs;
  good = good && compare();
  noteCircumstances(firstMessage, settings.seed, result);
  return good;
}

/// False after reporting errors.
bool CaseChecker::check(llvm::StringMap<int64_t> extents, unsigned number,
                        CheckCase &result) {
  typed::Kernel &kernel = *subject.kernel;
  std::string what = "'" + kernel.name + "' at " + result.sizes();
  giveScalars();
  arguments = std::make_unique<RunArguments>(program, kernel, options,
                                             std::move(extents));
  progress.begin("compiling " + what);
  if (!arguments->prepare())
    return false;
  std::optional<BoundLaunch> bound =
      bindLaunch(kernel, arguments->values, program.diags);
  if (!bound)
    return false;
  executable = compile(*bound, number);
  if (!executable)
    return false;
  result.programs = executable->numPrograms();
  progress.begin("evaluating the reference of " + what);
  if (!prepareReference(*bound))
    return false;
  for (unsigned i = 0; i < options.seeds; ++i) {
    progress.begin("running " + what + ", " + std::to_string(i + 1) + " of " +
                   std::to_string(options.seeds));
    if (!runWithSeed(i, *bound, result))
      return false;
  }
  return true;
}

void CaseChecker::run(SizeStyle style, CheckedKernel &kernel) {
  CheckCase result;
  std::optional<llvm::StringMap<int64_t>> extents = choose(style);
  std::optional<Subject> analyzed;
  if (extents) {
    // A tree of its own: settling a schedule changes it.
    program.diags.clear();
    analyzed = analyze();
  }
  if (!analyzed) {
    result.hasFailed = true;
    kernel.cases.push_back(std::move(result));
    return;
  }
  subject = std::move(*analyzed);
  for (const typed::Dimension *dim : subject.kernel->dims)
    result.extents.emplace_back(dim->name.str(), extents->lookup(dim->name));
  for (const CheckCase &other : kernel.cases)
    if (other.extents == result.extents)
      return;
  result.hasFailed = !check(std::move(*extents), kernel.cases.size(), result);
  kernel.cases.push_back(std::move(result));
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// The options without the arguments of other kernels.
Options Checker::optionsOf(const typed::Kernel &kernel) const {
  Options result = options;
  llvm::erase_if(result.args,
                 [&](const auto &arg) { return !kernel.findParam(arg.first); });
  return result;
}

/// Copies messages that are not there yet, as two cases may say the same.
void Checker::takeMessages(Program &from) {
  for (const auto &message : from.diags.all()) {
    bool isKnown = llvm::any_of(program.diags.all(), [&](const auto &other) {
      return other->range.begin == message->range.begin &&
             other->message == message->message;
    });
    if (!isKnown)
      addMessage(program, *message);
  }
  from.diags.clear();
}

void Checker::checkKernel(const ast::KernelDecl &decl, bool isOneOfMany) {
  CheckedKernel &result = report.kernels.emplace_back();
  result.name = decl.getName().str();
  std::optional<Subject> subject =
      analyzeSubject(program, decl, options, isOneOfMany ? &used : nullptr);
  if (!subject) {
    result.skipped = "it has errors";
    areNamesKnown = false;
    return;
  }
  if (subject->kernel->grid.empty() && isOneOfMany) {
    result.skipped = "it has no grid, which GPUs need";
    return;
  }
  Options own = optionsOf(*subject->kernel);
  for (const auto &arg : own.args)
    usedArguments.insert(arg.first);
  if (!isOneOfMany)
    own.args = options.args; // Those that are not the kernel's are errors.

  EmulationFindings findings;
  for (SizeStyle style : {SizeStyle::Multiples, SizeStyle::Odd}) {
    std::unique_ptr<Program> fork = program.fork();
    CaseChecker(*fork, decl, own, isOneOfMany, progress, findings)
        .run(style, result);
    takeMessages(*fork);
  }
  result.findings = findings.size();
  findings.report(program, *subject->kernel);
}

/// False after reporting an --arg that no kernel has.
bool Checker::checkArgumentsUsed() {
  for (const auto &arg : options.args)
    if (!usedArguments.contains(arg.first)) {
      program.diags
          .error({},
                 "no kernel of the file has a parameter '" + arg.first + "'")
          .remedy("correct the name or leave it out");
      return false;
    }
  return true;
}

void Checker::run() {
  if (!options.ptx.empty() && !makePTXFolder(program, options))
    return;
  std::vector<const ast::KernelDecl *> kernels = program.getKernels();
  bool isOneOfMany = options.kernel.empty() && kernels.size() > 1;
  if (!isOneOfMany) {
    const ast::KernelDecl *decl = program.findKernel(options.kernel);
    kernels.clear();
    if (decl)
      kernels.push_back(decl);
  }
  for (const ast::KernelDecl *decl : kernels)
    checkKernel(*decl, isOneOfMany);
  if (isOneOfMany && areNamesKnown && checkUsed(program, options, used))
    checkArgumentsUsed();
  progress.end();
  if (options.json)
    report.printJson(llvm::outs());
  else if (!options.quiet)
    report.print(llvm::outs());
}

int cli::checkCommand(const Options &options) {
  std::unique_ptr<Program> program =
      Program::load(options.file, options.includePaths);
  if (program->tree && !program->diags.hasErrors()) {
    Progress progress(!options.quiet);
    Checker(*program, options, progress).run();
  }
  return finish(*program, options);
}
