//===- CpuTarget.cpp - From a typed kernel to a run on the host -*- C++ -*-===//
//
// Glue between the stages; each of them is a library of its own.
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/CpuTarget.h"
#include "lib/Frontend/Lowering/Lowering.h"
#include "lib/Frontend/Schedule.h"
#include "lib/Runtime/NarrowFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>

using namespace tilec;

//===----------------------------------------------------------------------===//
// Specialization
//===----------------------------------------------------------------------===//

Specialization Specialization::of(const typed::Kernel &kernel,
                                  const BoundLaunch &launch) {
  Specialization result;
  for (const typed::Dimension *dim : kernel.dims)
    if (dim->isWhole)
      result.extents[dim->name] = launch.extents.lookup(dim->name);
  for (const typed::Param *param : kernel.params) {
    int unit = -1;
    if (const auto *view =
            std::get_if<TensorView>(&launch.args[param->index])) {
      // Of several (extents of 1 have arbitrary strides) the last serves best.
      for (unsigned i = 0; i < view->rank(); ++i)
        if (view->strides[i] == 1)
          unit = static_cast<int>(i);
    }
    result.unitStride.push_back(unit);
  }
  return result;
}

/// Decisions of a schedule that are not tile sizes; the passes of GPU targets
/// read them.
static constexpr llvm::StringLiteral knobs[] = {"warps", "stages", "group"};

/// Replaces tile sizes by those of `entries`, which win over everything in the
/// source. False after reporting a name that is no tile.
static bool overrideSchedule(typed::Kernel &kernel,
                             const llvm::StringMap<int64_t> &entries,
                             DiagnosticEngine &diags) {
  for (const auto &entry : entries) {
    llvm::SmallVector<llvm::StringRef> names;
    bool found = false;
    for (typed::Axis *axis : kernel.axes) {
      if (!axis->isTile())
        continue;
      names.push_back(axis->name);
      if (axis->name == entry.getKey()) {
        axis->tileSize = entry.getValue();
        found = true;
      }
    }
    if (!kernel.attentions.empty())
      names.push_back("kv");
    if (entry.getKey() == "kv")
      for (typed::Attention *attention : kernel.attentions) {
        attention->kvTile = entry.getValue();
        found = true;
      }
    // The kernel keeps the name, so not that of `entries`.
    if (const auto *knob = llvm::find(knobs, entry.getKey());
        knob != std::end(knobs)) {
      llvm::erase_if(kernel.schedule, [&](const typed::ScheduleEntry &old) {
        return old.key == *knob;
      });
      kernel.schedule.push_back({*knob, entry.getValue(), "", {}});
      found = true;
    }
    if (found)
      continue;
    Diagnostic &error = diags.error(
        kernel.range, "kernel '" + llvm::Twine(kernel.name) +
                          "' has no tile '" + entry.getKey() + "' to schedule");
    if (names.empty())
      error.remedy("it has no tiles; leave the entry out");
    else
      error.remedy("its tiles are: " + llvm::join(names, ", "));
    return false;
  }
  return true;
}

bool tilec::settleSchedule(Program &program, typed::Kernel &kernel,
                           const Specialization &specialization,
                           const CompileOptions &options) {
  assignSchedule(kernel, options.target, specialization.extents);
  return overrideSchedule(kernel, options.schedule, program.diags);
}

mlir::OwningOpRef<mlir::ModuleOp>
tilec::buildTileModule(Program &program, typed::Kernel &kernel,
                       const Specialization &specialization,
                       const CompileOptions &options,
                       mlir::MLIRContext &context) {
  if (!settleSchedule(program, kernel, specialization, options))
    return nullptr;
  LoweringOptions lowering;
  lowering.dims = specialization.extents;
  lowering.reportDivisionByZero = options.checked;
  lowering.unitStride.assign(specialization.unitStride.begin(),
                             specialization.unitStride.end());
  return lowerKernel(kernel, lowering, context, program.sources);
}

//===----------------------------------------------------------------------===//
// Code generation
//===----------------------------------------------------------------------===//

std::unique_ptr<mlir::MLIRContext> tilec::makeContext() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  // One kernel is too small for threads to pay within the compiler.
  auto context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  return context;
}

/// Reports that the code generator failed on `module`, and leaves the module in
/// a file. There is nothing a user could do to make it fail.
static void reportFailure(Program &program, const typed::Kernel &kernel,
                          mlir::ModuleOp module, llvm::Error error) {
  Diagnostic &diagnostic = program.diags.error(
      kernel.range, "internal error: " + llvm::toString(std::move(error)));
  int descriptor = -1;
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("tilec", "mlir", descriptor, path))
    return;
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  module.print(os);
  os.close();
  os.clear_error();
  diagnostic.remedy("this is a bug of tilec; please report it with the program "
                    "and '" +
                    path + "'");
}

/// Runs `generate` on a clone of `module`, since it spoils its module; a
/// failure is reported with the original.
template <typename T>
static std::optional<T>
generateCode(Program &program, const typed::Kernel &kernel,
             mlir::ModuleOp module,
             llvm::function_ref<llvm::Expected<T>(mlir::ModuleOp)> generate) {
  mlir::OwningOpRef<mlir::ModuleOp> clone = module.clone();
  llvm::Expected<T> result = generate(*clone);
  if (result)
    return std::move(*result);
  reportFailure(program, kernel, module, result.takeError());
  return std::nullopt;
}

std::optional<std::string> tilec::emitLLVM(Program &program,
                                           const typed::Kernel &kernel,
                                           mlir::ModuleOp module,
                                           const CompileOptions &options) {
  cpu::CompileOptions cpuOptions;
  cpuOptions.checked = options.checked;
  return generateCode<std::string>(
      program, kernel, module, [&](mlir::ModuleOp clone) {
        return cpu::emitLLVM(clone, kernel.name, /*optimized=*/false,
                             cpuOptions);
      });
}

//===----------------------------------------------------------------------===//
// CpuExecutable
//===----------------------------------------------------------------------===//

static cpu::Argument toCpuArgument(const typed::Param &param,
                                   const Argument &arg) {
  if (const auto *view = std::get_if<TensorView>(&arg))
    return cpu::Argument::tensor(view->data, view->shape, view->strides);
  const auto &scalar = std::get<ScalarValue>(arg);
  if (param.dtype == DType::F64)
    return cpu::Argument::f64(scalar.real);
  if (isNarrowFloat(param.dtype))
    return cpu::Argument::integer(
        static_cast<int64_t>(encodeFloat(param.dtype, scalar.real)));
  if (isFloat(param.dtype))
    return cpu::Argument::f32(static_cast<float>(scalar.real));
  return cpu::Argument::integer(scalar.integer);
}

static llvm::SmallVector<cpu::Argument>
toCpuArguments(const typed::Kernel &kernel, const BoundLaunch &launch) {
  llvm::SmallVector<cpu::Argument> args;
  for (const typed::Param *param : kernel.params)
    args.push_back(toCpuArgument(*param, launch.args[param->index]));
  return args;
}

std::unique_ptr<CpuExecutable>
CpuExecutable::create(Program &program, typed::Kernel &kernel,
                      const Specialization &specialization,
                      const CompileOptions &options) {
  auto start = std::chrono::steady_clock::now();
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticBridge bridge(*context, program, options.pipeline.remarks);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      buildTileModule(program, kernel, specialization, options, *context);
  if (!module)
    return nullptr;
  llvm::raw_ostream &dump = options.dump ? *options.dump : llvm::errs();
  if (runPipeline(*module, options.target, options.pipeline, dump) !=
      PipelineResult::Done)
    return nullptr;
  cpu::CompileOptions cpuOptions;
  cpuOptions.checked = options.checked;
  auto compiled = generateCode<std::unique_ptr<cpu::CompiledKernel>>(
      program, kernel, *module, [&](mlir::ModuleOp clone) {
        return cpu::compile(clone, kernel.name, cpuOptions);
      });
  if (!compiled)
    return nullptr;
  auto result = std::make_unique<CpuExecutable>();
  result->compiled = std::move(*compiled);
  result->milliseconds = std::chrono::duration<double, std::milli>(
                             std::chrono::steady_clock::now() - start)
                             .count();
  return result;
}

int64_t CpuExecutable::numPrograms(const typed::Kernel &kernel,
                                   const BoundLaunch &launch) const {
  return compiled->numPrograms(toCpuArguments(kernel, launch));
}

/// Whether the launch writes tensors, and none of them has an element: then
/// nothing it does can be seen. The grid may be astronomical all the same, as
/// the product of an extent with 0 takes no memory.
static bool writesNothing(const typed::Kernel &kernel,
                          const BoundLaunch &launch) {
  bool writes = false;
  for (const typed::Param *param : kernel.params) {
    if (!param->isTensor || param->access == ast::Access::In)
      continue;
    writes = true;
    if (!std::get<TensorView>(launch.args[param->index]).isEmpty())
      return false;
  }
  return writes;
}

bool CpuExecutable::run(Program &program, const typed::Kernel &kernel,
                        const BoundLaunch &launch, unsigned threads) const {
  if (writesNothing(kernel, launch))
    return true;
  ReportSink reports;
  cpu::RunOptions options;
  options.threads = threads;
  if (llvm::Error error =
          compiled->run(toCpuArguments(kernel, launch), reports, options)) {
    program.diags.error(kernel.range, llvm::toString(std::move(error)));
    return false;
  }
  return !reportFailures(program, reports);
}
