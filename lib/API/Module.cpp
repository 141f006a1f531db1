//===- Module.cpp - The kernels of a file -----------------------*- C++ -*-===//

#include "lib/API/Module.h"
#include "lib/Runtime/GPU/Driver.h"

using namespace tilec;
using namespace tilec::api;

/// A message of the run time without a place.
static ErrorPtr errorOf(Program &program, llvm::Error error) {
  reportError(program, {}, "", std::move(error));
  return api::errorOf(program.diags);
}

static gpu::DiskCache::Options
cacheOptions(const tilec_options &options,
             std::function<void(llvm::StringRef)> warn) {
  gpu::DiskCache::Options result;
  result.folder = options.cache_folder ? options.cache_folder
                                       : gpu::DiskCache::defaultFolder();
  result.warn = std::move(warn);
  return result;
}

Module::Module(const tilec_options &options)
    : cache(cacheOptions(options,
                         [this](llvm::StringRef text) {
                           warn(("warning: " + text + "\n").str());
                         })),
      warnFunction(options.warn), warnUser(options.user) {}

void Module::warn(llvm::StringRef text) const {
  std::lock_guard<std::mutex> lock(warnMutex);
  if (warnFunction)
    warnFunction(text.str().c_str(), warnUser);
  else
    llvm::errs() << text;
}

void Module::warnOf(const DiagnosticEngine &diags) const {
  if (diags.all().empty())
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  diags.print(os);
  warn(text);
}

ErrorPtr Module::chooseTarget(const char *name) {
  if (name && *name) {
    target = analysisTarget = name;
    if (isCpu() || gpuLimitsOf(target))
      return nullptr;
    std::string names = "cpu";
    for (const GpuLimits &limits : allGpuLimits())
      names += (", " + limits.target).str();
    return api::errorOf("usage", "unknown target '" + target + "'",
                        "the targets are: " + names);
  }
  std::unique_ptr<Program> forErrors = program->fork();
  llvm::Expected<gpu::Driver &> driver = gpu::Driver::get();
  if (!driver)
    return ::errorOf(*forErrors, driver.takeError());
  llvm::Expected<gpu::Device &> device = driver->currentDevice();
  if (!device)
    return ::errorOf(*forErrors, device.takeError());
  llvm::Expected<llvm::StringRef> best = targetOf(*device);
  if (!best)
    return ::errorOf(*forErrors, best.takeError());
  analysisTarget = best->str();
  return nullptr;
}

ErrorPtr Module::make(llvm::StringRef path, const char *text,
                      const tilec_options &options,
                      std::shared_ptr<const Module> &result) {
  auto module = std::make_shared<Module>(options);
  std::vector<std::string> paths(
      options.include_paths, options.include_paths + options.num_include_paths);
  std::unique_ptr<Program> program =
      text ? Program::loadText(path, text, paths) : Program::load(path, paths);
  if (program->tree && !program->diags.hasErrors())
    checkProgram(*program->tree, program->diags);
  if (program->diags.hasErrors())
    return api::errorOf(program->diags);
  module->warnOf(program->diags);
  for (const ast::KernelDecl *kernel : program->getKernels())
    module->kernelNames.push_back(kernel->getName().str());
  module->program = std::move(program);
  if (ErrorPtr error = module->chooseTarget(options.target))
    return error;
  for (size_t i = 0; i < options.num_defines; ++i)
    module->defines[options.defines[i].name] = options.defines[i].value;
  for (size_t i = 0; i < options.num_schedule; ++i)
    module->schedule[options.schedule[i].name] = options.schedule[i].value;
  module->checked = !options.unchecked;
  module->threads = options.threads;
  result = std::move(module);
  return nullptr;
}

CompileOptions Module::compileOptions(llvm::StringRef forTarget) const {
  CompileOptions options;
  options.target = forTarget.str();
  options.schedule = schedule;
  // Nobody would read what a kernel on a GPU reports.
  options.checked = checked && forTarget == "cpu";
  return options;
}
