//===- CompileCommand.cpp - tilec FILE --------------------------*- C++ -*-===//
//
// Checks a program and prints one of its stages.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/CpuTarget.h"
#include "lib/Frontend/ASTPrinter.h"
#include "lib/Frontend/TypedASTPrinter.h"
#include "tools/tilec/CommandSupport.h"
#include "llvm/Support/FileSystem.h"

using namespace tilec;
using namespace tilec::cli;

/// Lists the steps of the pipeline with their reasons.
static void listPasses(llvm::raw_ostream &os) {
  for (const PipelineStep &step : tilePipeline())
    os << step.name << "\n    " << step.reason << '\n';
}

/// Prints the stage of one kernel that `options` asks for.
static bool emitKernel(Program &program, const ast::KernelDecl &decl,
                       const Options &options, llvm::raw_ostream &os) {
  Defines defines;
  if (!splitDefines(program, decl, options, defines))
    return false;
  std::unique_ptr<typed::Kernel> kernel =
      program.analyze(decl, defines.compileTime, options.target);
  if (!kernel || !checkDefines(program, *kernel, defines))
    return false;
  if (options.emit == Stage::Typed) {
    printTyped(*kernel, os);
    return true;
  }

  CompileOptions compileOptions;
  if (!fillCompileOptions(program, options, compileOptions))
    return false;
  Specialization specialization;
  specialization.extents = defines.extents;
  // What a launch with row-major arrays would find.
  for (const typed::Param *param : kernel->params)
    specialization.unitStride.push_back(
        param->isTensor ? static_cast<int>(param->shape.size()) - 1 : -1);

  // Passes work on static tiles.
  bool wantsPasses = options.emit == Stage::LLVM ||
                     !options.stopAfter.empty() || !options.printAfter.empty();
  for (const typed::Dimension *dim : kernel->dims)
    if (wantsPasses && dim->isWhole && !defines.extents.count(dim->name)) {
      program.diags
          .error(dim->range, "the extent of '" + dim->name +
                                 "' is needed: it is a whole axis of a tile")
          .remedy("bind it, e.g. -D " + dim->name + "=128");
      return false;
    }

  std::unique_ptr<mlir::MLIRContext> context = makeContext(options.remarks);
  DiagnosticBridge bridge(*context, program);
  mlir::OwningOpRef<mlir::ModuleOp> module = buildTileModule(
      program, *kernel, specialization, compileOptions, *context);
  if (!module)
    return false;
  if (wantsPasses) {
    PipelineResult result =
        runTilePipeline(*module, compileOptions.pipeline, llvm::errs());
    if (result == PipelineResult::Failed)
      return false;
    if (result == PipelineResult::Stopped || options.emit == Stage::Tile) {
      module->print(os);
      return true;
    }
  }
  if (options.emit == Stage::Tile) {
    module->print(os);
    return true;
  }
  if (options.emit != Stage::LLVM)
    return true;
  cpu::CompileOptions cpuOptions;
  cpuOptions.checked = options.checked;
  llvm::Expected<std::string> text =
      cpu::emitLLVM(*module, kernel->name, /*optimized=*/false, cpuOptions);
  if (!text) {
    program.diags.error(kernel->range, llvm::toString(text.takeError()));
    return false;
  }
  os << *text;
  return true;
}

/// Writes the stage to `os`. False after reporting errors.
static bool emitStage(Program &program, const Options &options,
                      llvm::raw_ostream &os) {
  if (options.emit == Stage::AST || options.emit == Stage::Source) {
    for (const ast::File *file : program.tree->files)
      if (file == program.tree->files.front())
        options.emit == Stage::AST ? printAST(*file, program.sources, os)
                                   : printSource(*file, os);
    return true;
  }
  bool ofKernel = options.emit != Stage::Check || !options.kernel.empty() ||
                  !options.printAfter.empty() || !options.stopAfter.empty();
  if (!ofKernel) {
    checkProgram(*program.tree, program.diags);
    return !program.diags.hasErrors();
  }
  // Without a name every kernel of the file is shown.
  std::vector<const ast::KernelDecl *> kernels;
  if (options.kernel.empty() && options.emit != Stage::LLVM)
    kernels = program.getKernels();
  else if (const ast::KernelDecl *kernel = program.findKernel(options.kernel))
    kernels = {kernel};
  else
    return false;
  for (const ast::KernelDecl *kernel : kernels)
    if (!emitKernel(program, *kernel, options, os))
      return false;
  return true;
}

int cli::compileCommand(const Options &options) {
  if (options.listPasses) {
    listPasses(llvm::outs());
    return Success;
  }
  if (!checkPassNames(options))
    return UsageError;
  std::unique_ptr<Program> program =
      Program::load(options.file, options.includePaths);
  std::string text;
  llvm::raw_string_ostream os(text);
  bool good = program->tree && !program->diags.hasErrors() &&
              emitStage(*program, options, os);
  good &= !program->diags.hasErrors();
  printDiagnostics(*program, options);
  if (!good)
    return UserError;

  if (options.output.empty() || options.output == "-") {
    llvm::outs() << text;
    return Success;
  }
  // Through a temporary file, so that a failure leaves what was there.
  llvm::Error error = llvm::writeToOutput(
      options.output, [&](llvm::raw_ostream &file) -> llvm::Error {
        file << text;
        return llvm::Error::success();
      });
  if (error) {
    llvm::errs() << "tilec: error: cannot write '" << options.output
                 << "': " << llvm::toString(std::move(error))
                 << "\nhelp: name a file in a folder that can be written\n";
    return UserError;
  }
  return Success;
}
