//===- CommandSupport.cpp - What the commands share -------------*- C++ -*-===//
//
// See CommandSupport.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/CommandSupport.h"
#include "tools/tilec/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;
using namespace tilec::cli;

/// Reports that `name` is nothing that can be given a value.
static void reportUnknown(Program &program, const typed::Kernel &kernel,
                          const ast::KernelDecl &decl, llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const typed::Dimension *dim : kernel.dims)
    names.push_back(dim->name);
  for (const ast::CtParam &param : decl.getCtParams())
    names.push_back(param.name.name);
  Diagnostic &error = program.diags.error(
      kernel.range, "kernel '" + llvm::Twine(kernel.name) +
                        "' has no dimension or compile-time parameter '" +
                        name + "'");
  llvm::StringRef nearest = nearestName(name, names);
  const typed::Param *param = kernel.findParam(name);
  if (!nearest.empty())
    error.remedy("did you mean '" + nearest + "'?");
  else if (param && !param->isTensor)
    error.remedy("'" + name + "' is a parameter; with 'tilec run' give it as " +
                 "--arg " + name + "=...");
  else if (names.empty())
    error.remedy("leave it out: the kernel has neither");
  else
    error.remedy("its dimensions and compile-time parameters are: " +
                 llvm::join(names, ", "));
}

std::optional<Subject> cli::analyzeSubject(Program &program,
                                           const ast::KernelDecl &decl,
                                           const Options &options,
                                           llvm::StringSet<> *used) {
  // As text, since a name may be either kind; --size holds numbers already.
  Named<std::string> defines = options.defines;
  for (const auto &[name, extent] : options.sizes)
    defines.emplace_back(name, std::to_string(extent));

  Subject subject;
  CompileTimeArgs &compileTime = subject.args;
  for (const auto &[name, value] : defines)
    if (llvm::any_of(decl.getCtParams(), [&](const ast::CtParam &param) {
          return param.name.name == name;
        }))
      compileTime[name] = value;
  subject.kernel = program.analyze(decl, compileTime, options.target);
  if (!subject.kernel)
    return std::nullopt;

  for (const auto &[name, value] : defines) {
    bool isCompileTime = compileTime.count(name);
    if (!isCompileTime && !subject.kernel->findDim(name)) {
      if (used)
        continue;
      reportUnknown(program, *subject.kernel, decl, name);
      return std::nullopt;
    }
    if (used)
      used->insert(name);
    if (isCompileTime)
      continue;
    std::optional<int64_t> extent = parseInteger<int64_t>(value);
    if (!extent || *extent < 0) {
      program.diags
          .error(subject.kernel->findDim(name)->range,
                 "expected a whole number of 0 or more for the extent of '" +
                     llvm::Twine(name) + "', got '" + value + "'")
          .remedy("for example -D " + llvm::Twine(name) + "=4096");
      return std::nullopt;
    }
    subject.extents[name] = *extent;
  }
  return subject;
}

bool cli::checkUsed(Program &program, const Options &options,
                    const llvm::StringSet<> &used) {
  auto check = [&](llvm::StringRef name) {
    if (used.contains(name))
      return true;
    program.diags
        .error({}, "no kernel of the file has a dimension or compile-time "
                   "parameter '" +
                       name + "'")
        .remedy("correct the name or leave it out");
    return false;
  };
  for (const auto &define : options.defines)
    if (!check(define.first))
      return false;
  for (const auto &size : options.sizes)
    if (!check(size.first))
      return false;
  return true;
}

bool cli::reportExtents(Program &program,
                        llvm::ArrayRef<const typed::Dimension *> missing,
                        const llvm::Twine &problem, int64_t example,
                        bool canRead) {
  std::string names, sizes;
  for (const typed::Dimension *dim : missing) {
    names += (names.empty() ? "'" : ", '") + dim->name.str() + "'";
    sizes += (sizes.empty() ? "" : ",") + dim->name.str() + "=" +
             std::to_string(example);
  }
  bool isOne = missing.size() == 1;
  llvm::StringRef them = isOne ? "it" : "them";
  program.diags
      .error(missing.front()->range, llvm::Twine("the extent") +
                                         (isOne ? "" : "s") + " of " + names +
                                         (isOne ? " is " : " are ") + problem)
      .remedy("give " + them + ", e.g. --size " + sizes +
              (canRead ? ", or pass a .npy file that has " + them.str() : ""));
  return false;
}

CompileOptions cli::makeCompileOptions(const Options &options) {
  CompileOptions result;
  for (const auto &[name, size] : options.schedule)
    result.schedule[name] = size;
  result.target = options.target;
  result.pipeline.printAfter = options.printAfter;
  result.pipeline.stopAfter = options.stopAfter;
  result.pipeline.remarks = options.remarks;
  result.checked = options.checked;
  result.emulated = options.emulated;
  return result;
}

gpu::DiskCache::Options cli::cacheOptions(const Options &options) {
  gpu::DiskCache::Options result;
  if (options.cache)
    result.folder = gpu::DiskCache::defaultFolder();
  return result;
}

Diagnostic &cli::addMessage(Program &program, const Diagnostic &message) {
  auto report = [&]() -> Diagnostic & {
    switch (message.severity) {
    case Severity::Error:
      return program.diags.error(message.range, message.message);
    case Severity::Warning:
      return program.diags.warning(message.range, message.message);
    case Severity::Remark:
      return program.diags.remark(message.range, message.message);
    }
    llvm_unreachable("unknown severity");
  };
  Diagnostic &copy = report();
  copy = message;
  return copy;
}

bool cli::makePTXFolder(Program &program, const Options &options) {
  std::error_code code = llvm::sys::fs::create_directories(options.ptx);
  if (!code)
    return true;
  program.diags
      .error({},
             "cannot make the folder '" + options.ptx + "': " + code.message())
      .remedy("name another folder with --ptx");
  return false;
}

bool cli::writePTX(Program &program, const Options &options,
                   llvm::StringRef name, llvm::StringRef text) {
  llvm::SmallString<128> path(options.ptx);
  llvm::sys::path::append(path, name);
  llvm::Error error = writeText(path, text);
  bool isWritten = !error;
  if (error)
    reportError(program, {}, "", std::move(error));
  return isWritten;
}

int cli::finish(Program &program, const Options &options) {
  int exitCode = Success;
  for (const auto &diagnostic : program.diags.all()) {
    if (diagnostic->severity != Severity::Error)
      continue;
    bool isInternal =
        llvm::StringRef(diagnostic->message).contains("internal error");
    exitCode = std::max<int>(exitCode, isInternal ? InternalError : UserError);
    if (isInternal && diagnostic->help.empty())
      diagnostic->remedy("this is a bug of tilec; please report it with the "
                         "program and the command line");
  }
  llvm::outs().flush(); // Messages come after what they are about.
  if (options.jsonDiagnostics)
    program.diags.printJson(llvm::errs());
  else
    program.diags.print(llvm::errs(), llvm::errs().has_colors());
  return exitCode;
}
