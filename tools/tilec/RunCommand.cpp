//===- RunCommand.cpp - tilec run FILE [KERNEL] -----------------*- C++ -*-===//
//
// Makes or reads the arguments, compiles the kernel for them, runs it, and says
// what came out.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Reference.h"
#include "lib/Runtime/Npy.h"
#include "tools/tilec/ArgumentSpec.h"
#include "tools/tilec/CommandSupport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <cmath>

using namespace tilec;
using namespace tilec::cli;

namespace {
/// One `tilec run`.
class Runner {
public:
  Runner(Program &program, const Options &options)
      : program(program), options(options) {}
  bool run();

private:
  bool parseArguments();
  bool readFiles();
  bool makeArrays();
  bool checkOutputs();
  bool launch(const BoundLaunch &bound);
  bool compare(const BoundLaunch &bound);
  bool writeOutputs();
  void summarize() const;
  Diagnostic &error(const llvm::Twine &message) {
    return program.diags.error({}, message);
  }
  /// Reports an error of a library; what follows "help: " in it is the remedy.
  Diagnostic &error(SourceRange range, const llvm::Twine &about,
                    llvm::Error failure);
  /// Says on a terminal what takes long.
  void progress(const llvm::Twine &what) const {
    if (!options.quiet && llvm::errs().is_displayed())
      llvm::errs() << "tilec: " << what << "...\n";
  }

  Program &program;
  const Options &options;
  std::unique_ptr<typed::Kernel> kernel;
  Defines defines;
  llvm::StringMap<ArgumentSpec> specs;
  llvm::StringMap<std::string> outputFiles;
  std::vector<std::optional<Array>> arrays; // By parameter; tensors only.
  std::vector<Argument> args;
  std::unique_ptr<CpuExecutable> executable;
  double runMilliseconds = 0;
  int64_t programs = 0;
  std::vector<std::string> checkLines;
};
} // namespace

Diagnostic &Runner::error(SourceRange range, const llvm::Twine &about,
                          llvm::Error failure) {
  std::string text = llvm::toString(std::move(failure));
  auto [message, help] = llvm::StringRef(text).split("\nhelp: ");
  Diagnostic &result = program.diags.error(range, about + ": " + message);
  if (!help.empty())
    result.remedy(help);
  return result;
}

/// Names of the parameters of `kernel`, for messages.
static std::string listParams(const typed::Kernel &kernel) {
  std::string text;
  for (const typed::Param *param : kernel.params)
    text += (text.empty() ? "" : ", ") + param->name.str();
  return text;
}

bool Runner::parseArguments() {
  for (const auto &[name, text] : options.args) {
    const typed::Param *param = kernel->findParam(name);
    if (!param) {
      error("kernel '" + llvm::Twine(kernel->name) + "' has no parameter '" +
            name + "'")
          .remedy("its parameters are: " + listParams(*kernel));
      return false;
    }
    llvm::Expected<ArgumentSpec> spec = parseArgumentSpec(text);
    if (!spec) {
      error({}, "argument '" + llvm::Twine(name) + "'", spec.takeError());
      return false;
    }
    if (!param->isTensor && spec->kind != ArgumentSpec::Kind::Number) {
      error("argument '" + llvm::Twine(name) + "' is a scalar " +
            dtypeName(param->dtype) + ", got '" + text + "'")
          .remedy("pass a number, e.g. --arg " + llvm::Twine(name) + "=1");
      return false;
    }
    if (!param->isTensor && !isFloat(param->dtype) && !spec->isInteger) {
      error("argument '" + llvm::Twine(name) + "' is " +
            dtypeName(param->dtype) + ", got '" + text + "'")
          .remedy("pass a whole number");
      return false;
    }
    specs[name] = *spec;
  }
  for (const auto &[name, path] : options.outs) {
    const typed::Param *param = kernel->findParam(name);
    if (!param || !param->isTensor || param->access == ast::Access::In) {
      std::string outputs;
      for (const typed::Param *candidate : kernel->params)
        if (candidate->isTensor && candidate->access != ast::Access::In)
          outputs += (outputs.empty() ? "" : ", ") + candidate->name.str();
      error("kernel '" + llvm::Twine(kernel->name) + "' has no output '" +
            name + "'")
          .remedy("its outputs are: " + outputs);
      return false;
    }
    // Found out now and not after a long run, or after another output has been
    // written.
    llvm::StringRef folder = llvm::sys::path::parent_path(path);
    if (folder.empty())
      folder = ".";
    if (llvm::sys::fs::is_directory(path) ||
        llvm::sys::fs::access(folder, llvm::sys::fs::AccessMode::Write)) {
      error("output '" + llvm::Twine(name) + "': cannot write '" + path +
            "': " +
            (llvm::sys::fs::is_directory(path) ? "it is a directory"
             : llvm::sys::fs::is_directory(folder)
                 ? "its folder cannot be written to"
                 : "its folder does not exist"))
          .remedy("name a file in a folder that exists and can be written");
      return false;
    }
    outputFiles[name] = path;
  }
  return true;
}

bool Runner::readFiles() {
  for (const typed::Param *param : kernel->params) {
    auto found = specs.find(param->name);
    if (found == specs.end() || found->second.kind != ArgumentSpec::Kind::File)
      continue;
    NpyReadOptions readOptions;
    readOptions.dtype = param->dtype;
    llvm::Expected<Array> array = readNpy(found->second.text, readOptions);
    if (!array) {
      error(param->range, "argument '" + param->name + "'", array.takeError());
      return false;
    }
    if (array->shape().size() != param->shape.size()) {
      program.diags
          .error(param->range,
                 "argument '" + param->name + "': '" + found->second.text +
                     "' is expected to hold " + typeText(*param) + ", found " +
                     toString(array->dtype(), array->shape()))
          .remedy("reshape the array or change the parameter's type");
      return false;
    }
    // Extents of files count as given; bindLaunch compares all of them.
    for (auto [extent, actual] : llvm::zip(param->shape, array->shape()))
      if (extent.dim)
        defines.extents.try_emplace(extent.dim->name, actual);
    arrays[param->index] = std::move(*array);
  }
  return true;
}

bool Runner::makeArrays() {
  for (const typed::Param *param : kernel->params) {
    if (!param->isTensor) {
      auto found = specs.find(param->name);
      if (found != specs.end())
        args[param->index] =
            isFloat(param->dtype)
                ? ScalarValue::ofFloat(found->second.number, param->dtype)
                : ScalarValue::ofInt(found->second.integer, param->dtype);
      continue;
    }
    if (!arrays[param->index]) {
      std::optional<Extents> shape = shapeOf(*param, defines.extents);
      if (!shape) {
        for (const typed::Param::Extent &extent : param->shape)
          if (extent.dim && !defines.extents.count(extent.dim->name)) {
            program.diags
                .error(extent.dim->range, "the extent of dimension '" +
                                              extent.dim->name +
                                              "' is not known")
                .remedy("give it, e.g. --size " + extent.dim->name +
                        "=1024, or pass an array that has it");
            return false;
          }
      }
      llvm::Expected<Array> array =
          Array::create(param->dtype, *shape, Array::defaultGuardBytes);
      if (!array) {
        program.diags
            .error(param->range, "argument '" + param->name +
                                     "': " + llvm::toString(array.takeError()))
            .remedy("choose smaller extents");
        return false;
      }
      arrays[param->index] = std::move(*array);
      Array &made = *arrays[param->index];
      // Outputs start as NaN, so that a missing write shows; sums start at 0.
      bool isInput = param->access == ast::Access::In ||
                     param->access == ast::Access::InOut;
      if (specs.count(param->name) || isInput) {
        if (llvm::Error failed =
                fillArgument(made, *kernel, *param, specs[param->name],
                             defines.extents, options.seed)) {
          error(param->range, "argument '" + param->name + "'",
                std::move(failed));
          return false;
        }
      } else if (param->access == ast::Access::Out) {
        poison(made);
      }
    }
    args[param->index] = arrays[param->index]->view();
  }
  return true;
}

/// Runs the reference on copies, then compares every output.
bool Runner::compare(const BoundLaunch &bound) {
  progress("evaluating the reference");
  bool good = true;
  for (const typed::Param *param : kernel->params) {
    if (!param->isTensor || param->access == ast::Access::In)
      continue;
    Comparison result = compareArrays(
        *arrays[param->index], std::get<TensorView>(bound.args[param->index]),
        coarsestFloat(*kernel));
    std::string line;
    llvm::raw_string_ostream os(line);
    os << "check " << param->name << ": largest error "
       << llvm::format("%.2e", result.maxAbsolute) << " (relative "
       << llvm::format("%.2e", result.maxRelative) << ", tolerance "
       << llvm::format("%.0e", result.tolerance) << "), "
       << (result.agrees() ? "ok" : "WRONG");
    checkLines.push_back(line);
    if (!result.agrees()) {
      program.diags.error(
          param->range, "'" + param->name + "' differs from the reference in " +
                            llvm::Twine(result.mismatches) +
                            " elements, the first at row-major position " +
                            llvm::Twine(result.firstMismatch));
      good = false;
    }
  }
  return good;
}

bool Runner::launch(const BoundLaunch &bound) {
  programs = executable->numPrograms(*kernel, bound);
  std::vector<double> times;
  for (unsigned i = 0; i < options.repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (!executable->run(program, *kernel, bound, options.threads))
      return false;
    times.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - start)
                        .count());
  }
  llvm::sort(times);
  runMilliseconds = times[times.size() / 2];
  for (const typed::Param *param : kernel->params)
    if (param->isTensor && !arrays[param->index]->canariesIntact()) {
      program.diags.error(param->range, "internal error: memory around '" +
                                            param->name + "' was overwritten");
      return false;
    }
  return true;
}

bool Runner::writeOutputs() {
  for (const typed::Param *param : kernel->params) {
    auto found = outputFiles.find(param->name);
    if (found == outputFiles.end())
      continue;
    if (llvm::Error failed =
            writeNpy(found->second, arrays[param->index]->view())) {
      error({}, "output '" + param->name + "'", std::move(failed));
      return false;
    }
  }
  return true;
}

void Runner::summarize() const {
  llvm::raw_ostream &os = llvm::outs();
  os << kernel->name << " on cpu: " << programs
     << (programs == 1 ? " program" : " programs") << ", compiled in "
     << llvm::format("%.0f", executable->compileMilliseconds())
     << " ms, ran in " << llvm::format("%.3g", runMilliseconds) << " ms";
  if (options.repeat > 1)
    os << " (median of " << options.repeat << ")";
  os << '\n';
  for (const typed::Param *param : kernel->params) {
    if (!param->isTensor || param->access == ast::Access::In)
      continue;
    const TensorView &view = arrays[param->index]->view();
    os << "  " << param->name << " = " << toString(view.dtype, view.shape);
    int64_t count = 0, nans = 0;
    double sum = 0, low = std::numeric_limits<double>::infinity(), high = -low;
    forEachElement(view, [&](void *element, int64_t) {
      double value = loadAsDouble(view.dtype, element);
      if (std::isnan(value)) {
        ++nans;
        return;
      }
      ++count;
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
    });
    if (count)
      os << "  min " << llvm::format("%.6g", low) << "  mean "
         << llvm::format("%.6g", sum / static_cast<double>(count)) << "  max "
         << llvm::format("%.6g", high);
    if (nans)
      os << "  nan " << nans;
    os << '\n';
  }
  for (const std::string &line : checkLines)
    os << line << '\n';
}

bool Runner::run() {
  const ast::KernelDecl *decl = program.findKernel(options.kernel);
  if (!decl || !splitDefines(program, *decl, options, defines))
    return false;
  kernel = program.analyze(*decl, defines.compileTime, options.target);
  if (!kernel || !checkDefines(program, *kernel, defines))
    return false;
  arrays.resize(kernel->params.size());
  args.resize(kernel->params.size());
  if (!parseArguments() || !readFiles() || !makeArrays())
    return false;
  std::optional<BoundLaunch> bound = bindLaunch(*kernel, args, program.diags);
  if (!bound)
    return false;

  CompileOptions compileOptions;
  if (!fillCompileOptions(program, options, compileOptions))
    return false;
  progress("compiling " + llvm::Twine(kernel->name));
  executable = CpuExecutable::create(
      program, *kernel, Specialization::of(*kernel, *bound), compileOptions);
  if (!executable)
    return false;

  // The reference works on the outputs' state before the run.
  BoundLaunch reference = *bound;
  std::vector<Array> copies;
  if (options.check)
    for (const typed::Param *param : kernel->params) {
      if (!param->isTensor || param->access == ast::Access::In)
        continue;
      llvm::Expected<Array> copy = Array::copyOf(arrays[param->index]->view());
      if (!copy) {
        error(llvm::toString(copy.takeError()))
            .remedy("leave out --check or choose smaller extents");
        return false;
      }
      copies.push_back(std::move(*copy));
      reference.args[param->index] = copies.back().view();
    }

  if (options.check && options.repeat > 1) {
    error("--check and --repeat exclude each other")
        .remedy("check with one run, then time with --repeat");
    return false;
  }
  progress("running");
  if (!launch(*bound))
    return false;
  if (options.check) {
    if (llvm::Error failed = evaluateReference(*kernel, reference)) {
      error(llvm::toString(std::move(failed)));
      return false;
    }
    if (!compare(reference)) {
      summarize();
      return false;
    }
  }
  if (!writeOutputs())
    return false;
  if (!options.quiet)
    summarize();
  return true;
}

int cli::runCommand(const Options &options) {
  std::unique_ptr<Program> program =
      Program::load(options.file, options.includePaths);
  bool good = program->tree && !program->diags.hasErrors();
  if (good)
    good = Runner(*program, options).run();
  good &= !program->diags.hasErrors();
  printDiagnostics(*program, options);
  return good ? Success : UserError;
}
