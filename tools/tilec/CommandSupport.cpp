//===- CommandSupport.cpp - What the commands share -------------*- C++ -*-===//
//
// See CommandSupport.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/CommandSupport.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::cli;

bool cli::splitDefines(Program &program, const ast::KernelDecl &decl,
                       const Options &options, Defines &defines) {
  for (const auto &[name, value] : options.defines) {
    bool isCompileTime =
        llvm::any_of(decl.getCtParams(), [&](const ast::CtParam &param) {
          return param.name.name == name;
        });
    if (isCompileTime) {
      defines.compileTime[name] = value;
      continue;
    }
    int64_t extent = 0;
    if (llvm::StringRef(value).getAsInteger(0, extent) || extent < 0) {
      program.diags
          .error({}, "the extent of '" + llvm::Twine(name) +
                         "' is expected to be a number that is not negative, "
                         "got '" +
                         value + "'")
          .remedy("for example " + llvm::Twine(name) + "=4096");
      return false;
    }
    defines.extents[name] = extent;
  }
  return true;
}

bool cli::checkDefines(Program &program, const typed::Kernel &kernel,
                       const Defines &defines) {
  for (const auto &entry : defines.extents) {
    if (kernel.findDim(entry.getKey()))
      continue;
    llvm::SmallVector<llvm::StringRef> names;
    for (const typed::Dimension *dim : kernel.dims)
      names.push_back(dim->name);
    Diagnostic &error = program.diags.error(
        kernel.range, "kernel '" + llvm::Twine(kernel.name) +
                          "' has no dimension or compile-time parameter '" +
                          entry.getKey() + "'");
    llvm::StringRef nearest = nearestName(entry.getKey(), names);
    if (!nearest.empty())
      error.remedy("did you mean '" + nearest + "'?");
    else if (names.empty())
      error.remedy("leave it out: the kernel has no dimensions");
    else
      error.remedy("its dimensions are: " + llvm::join(names, ", "));
    return false;
  }
  return true;
}

bool cli::fillCompileOptions(Program &program, const Options &options,
                             CompileOptions &compileOptions) {
  for (const auto &[name, text] : options.schedule) {
    int64_t value = 0;
    if (llvm::StringRef(text).getAsInteger(0, value) || value < 1) {
      program.diags
          .error({}, "the schedule entry '" + llvm::Twine(name) +
                         "' is expected to be a positive number, got '" + text +
                         "'")
          .remedy("for example --schedule=" + llvm::Twine(name) + "=64");
      return false;
    }
    compileOptions.schedule[name] = value;
  }
  compileOptions.target = options.target;
  compileOptions.pipeline.printAfter = options.printAfter;
  compileOptions.pipeline.stopAfter = options.stopAfter;
  compileOptions.pipeline.remarks = options.remarks;
  compileOptions.checked = options.checked;
  return true;
}

bool cli::checkPassNames(const Options &options) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const PipelineStep &step : tilePipeline())
    names.push_back(step.name);
  for (const std::string *name : {&options.printAfter, &options.stopAfter}) {
    bool isAll = name == &options.printAfter && *name == "all";
    if (name->empty() || isAll || llvm::is_contained(names, *name))
      continue;
    llvm::errs() << "tilec: error: there is no pass '" << *name
                 << "'\nhelp: the passes are: " << llvm::join(names, ", ")
                 << '\n';
    return false;
  }
  return true;
}

void cli::printDiagnostics(const Program &program, const Options &options) {
  if (options.jsonDiagnostics)
    program.diags.printJson(llvm::errs());
  else
    program.diags.print(llvm::errs(), llvm::errs().has_colors());
}
