//===- CompileCommand.cpp - tilec FILE --------------------------*- C++ -*-===//
//
// Checks a program and prints one of its stages.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/GpuCache.h"
#include "lib/Compiler/KernelHeader.h"
#include "lib/Frontend/ASTPrinter.h"
#include "lib/Frontend/TypedASTPrinter.h"
#include "tools/tilec/CommandSupport.h"
#include "tools/tilec/OptionTable.h"
#include "tools/tilec/OutputFile.h"

using namespace tilec;
using namespace tilec::cli;

namespace {
/// One `tilec FILE`.
class Compiler {
public:
  Compiler(Program &program, const Options &options, llvm::raw_ostream &os)
      : program(program), options(options), os(os) {}

  /// Prints the stage to `os`. False after reporting errors.
  bool run();

private:
  void printFile();
  bool checkFile();
  bool emit(const ast::KernelDecl &decl, llvm::StringSet<> *used);
  bool emitIR(Subject &subject);
  bool emitGpuCode(Subject &subject, const Specialization &specialization,
                   const CompileOptions &compileOptions);
  bool checkWholeAxes(const Subject &subject);

  Program &program;
  const Options &options;
  llvm::raw_ostream &os;
};
} // namespace

void Compiler::printFile() {
  const ast::File &file = program.tree->main();
  if (options.emit == Stage::AST)
    printAST(file, program.sources, os);
  else
    printSource(file, os);
}

bool Compiler::checkFile() {
  if (program.tree->main().decls.empty()) {
    program.diags.error({}, "'" + options.file + "' declares nothing")
        .remedy("add a kernel, such as "
                "kernel copy(X: f32[N], Y: out f32[N]) { Y = X }");
    return false;
  }
  checkProgram(*program.tree, program.diags);
  return !program.diags.hasErrors();
}

/// Passes work on tiles of known extents, so they need those of whole axes.
bool Compiler::checkWholeAxes(const Subject &subject) {
  llvm::SmallVector<const typed::Dimension *> missing;
  for (const typed::Dimension *dim : subject.kernel->dims)
    if (dim->isWhole && !subject.extents.count(dim->name))
      missing.push_back(dim);
  return missing.empty() ||
         reportExtents(program, missing,
                       "needed: what is used as a whole axis is compiled for "
                       "one extent",
                       128, /*canRead=*/false);
}

/// PTX, machine code, or a header with it.
bool Compiler::emitGpuCode(Subject &subject,
                           const Specialization &specialization,
                           const CompileOptions &compileOptions) {
  typed::Kernel &kernel = *subject.kernel;
  gpu::DiskCache cache(cacheOptions(options));
  std::optional<CachedGpuCode> code = findOrCompile(
      program, kernel, subject.args, specialization,
      GpuFacts::assumed(kernel, specialization), compileOptions, cache);
  if (!code)
    return false;
  if (options.emit == Stage::PTX)
    os << code->ptx;
  else if (options.emit == Stage::Cubin)
    os << code->cubin;
  else if (std::optional<std::string> header =
               printKernelHeader(program, kernel, *code))
    os << *header;
  return !program.diags.hasErrors();
}

bool Compiler::emitIR(Subject &subject) {
  bool wantsPasses = options.emit >= Stage::LLVM ||
                     !options.stopAfter.empty() ||
                     !options.printAfter.empty() || !options.remarks.empty();
  if (wantsPasses && !checkWholeAxes(subject))
    return false;
  typed::Kernel &kernel = *subject.kernel;
  Specialization specialization;
  specialization.extents = subject.extents;
  specialization.unitStride = rowMajorUnitStrides(kernel);

  CompileOptions compileOptions = makeCompileOptions(options);
  // Code for a GPU that leaves tilec has nobody who would read reports.
  if (gpuLimitsOf(options.target))
    compileOptions.checked = false;
  if (options.emit >= Stage::PTX)
    return emitGpuCode(subject, specialization, compileOptions);
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticBridge bridge(*context, program, options.remarks);
  bool isGpu = gpuLimitsOf(options.target);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      isGpu ? buildGpuModule(program, kernel, specialization,
                             GpuFacts::assumed(kernel, specialization),
                             compileOptions, *context)
            : buildTileModule(program, kernel, specialization, compileOptions,
                              *context);
  if (!module)
    return false;
  if (options.emit == Stage::Tile && options.stopAfter.empty())
    module->print(os);
  if (!wantsPasses)
    return true;
  switch (runPipeline(*module, options.target, compileOptions.pipeline,
                      llvm::errs())) {
  case PipelineResult::Failed:
    return false;
  case PipelineResult::Stopped:
    module->print(os);
    return true;
  case PipelineResult::Done:
    break;
  }
  if (options.emit == Stage::TileGPU)
    module->print(os);
  if (options.emit == Stage::CUDA) {
    std::optional<cuda::EmittedKernel> emitted =
        emitGpuKernel(program, kernel, *module, compileOptions);
    if (!emitted)
      return false;
    os << emitted->source;
  }
  if (options.emit != Stage::LLVM)
    return true;
  std::optional<std::string> text =
      emitLLVM(program, kernel, *module, compileOptions);
  if (text)
    os << *text;
  return text.has_value();
}

bool Compiler::emit(const ast::KernelDecl &decl, llvm::StringSet<> *used) {
  std::optional<Subject> subject = analyzeSubject(program, decl, options, used);
  if (!subject)
    return false;
  if (options.emit == Stage::Typed)
    printTyped(*subject->kernel, os);
  bool wantsIR = options.emit >= Stage::Tile || !options.printAfter.empty() ||
                 !options.stopAfter.empty() || !options.remarks.empty() ||
                 !options.schedule.empty();
  return !wantsIR || emitIR(*subject);
}

bool Compiler::run() {
  if (options.emit == Stage::AST || options.emit == Stage::Source) {
    printFile();
    return true;
  }
  bool isOfKernels = options.emit != Stage::Check || !options.kernel.empty() ||
                     !options.printAfter.empty() ||
                     !options.stopAfter.empty() || !options.remarks.empty() ||
                     !options.defines.empty() || !options.sizes.empty() ||
                     !options.schedule.empty();
  if (!isOfKernels)
    return checkFile();
  std::vector<const ast::KernelDecl *> kernels = program.getKernels();
  // Code is of one kernel; the stages before it are shown of every kernel.
  bool wantsOne = !options.kernel.empty() || options.emit >= Stage::LLVM;
  if (wantsOne || kernels.size() <= 1) {
    const ast::KernelDecl *kernel = program.findKernel(options.kernel);
    return kernel && emit(*kernel, nullptr);
  }
  llvm::StringSet<> used;
  for (const ast::KernelDecl *kernel : kernels) {
    // Each is a module; tilec-opt reads them with --split-input-file.
    bool printsModule =
        options.emit == Stage::Tile || !options.stopAfter.empty();
    if (printsModule && kernel != kernels.front())
      os << "// -----\n";
    if (!emit(*kernel, &used))
      return false;
  }
  return checkUsed(program, options, used);
}

/// Lists the steps of the pipeline with their reasons.
static void listPasses(llvm::StringRef target, llvm::raw_ostream &os) {
  for (const PipelineStep &step : pipelineFor(target)) {
    os << step.name << '\n';
    printWrapped(os, step.reason, 4);
  }
}

int cli::compileCommand(const Options &options) {
  if (options.listPasses) {
    listPasses(options.target, llvm::outs());
    return Success;
  }
  std::unique_ptr<Program> program =
      Program::load(options.file, options.includePaths);
  bool toFile = !options.output.empty() && options.output != "-";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (program->tree && !program->diags.hasErrors()) {
    if (llvm::Error error = toFile ? checkWritable(options.output, true)
                                   : llvm::Error::success())
      reportError(*program, {}, "", std::move(error));
    else
      Compiler(*program, options, os).run();
  }
  if (toFile && !program->diags.hasErrors())
    if (llvm::Error error = writeText(options.output, text))
      reportError(*program, {}, "", std::move(error));
  bool good = !program->diags.hasErrors();
  int exitCode = finish(*program, options);
  if (good && !toFile)
    llvm::outs() << text;
  return exitCode;
}
