//===- JIT.cpp - Compiles kernels for the host ------------------*- C++ -*-===//
//
// Runs the pipeline, translates to LLVM IR, optimizes, emits an object, links
// it into this process.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/JIT.h"
#include "codegen/CPU/Executor.h"
#include "codegen/CPU/HostTarget.h"
#include "codegen/CPU/Passes.h"
#include "codegen/CPU/RuntimeFunctions.h"
#include "codegen/TileToLinalg/Passes.h"
#include "dialects/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>

using namespace mlir;

namespace tilec::cpu {
namespace {

class Stopwatch {
public:
  /// Milliseconds since the last lap or the construction.
  double lap() {
    Clock::time_point now = Clock::now();
    double elapsed =
        std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
    return elapsed;
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
};

/// The work of compile() and emitLLVM().
class Compilation {
public:
  Compilation(ModuleOp module, StringRef name, const CompileOptions &options)
      : module(module), name(name), options(options) {}

  llvm::Error lower();
  llvm::Error translate();
  void optimize();
  llvm::Error link();
  llvm::Expected<std::unique_ptr<CompiledKernel>> finish();

  std::string text() const;

private:
  llvm::Error isolateKernel();
  void describeParameters(tile::KernelOp kernel);
  void readSites();
  bool wants(StringRef stage) const {
    return options.onStage && options.wantsStage && options.wantsStage(stage);
  }
  void show(StringRef stage);

  ModuleOp module;
  StringRef name;
  const CompileOptions &options;
  std::optional<HostTarget> target;
  std::unique_ptr<Executor> kernel = std::make_unique<Executor>();
  // Declared in the order in which they must outlive one another.
  std::unique_ptr<llvm::LLVMContext> context =
      std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code;
};

void Compilation::show(StringRef stage) {
  if (!wants(stage))
    return;
  std::string printed;
  llvm::raw_string_ostream os(printed);
  if (code)
    code->print(os, nullptr);
  else
    module.print(os);
  options.onStage(stage, printed);
}

std::string Compilation::text() const {
  std::string printed;
  llvm::raw_string_ostream os(printed);
  code->print(os, nullptr);
  return printed;
}

/// Removes the other kernels of the module, which would only cost time.
llvm::Error Compilation::isolateKernel() {
  bool found = false;
  for (auto other :
       llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    if (other.getName() != name) {
      other.erase();
      continue;
    }
    found = true;
    describeParameters(other);
  }
  if (!found)
    return llvm::createStringError("the module has no kernel '" + name + "'");
  return llvm::Error::success();
}

void Compilation::describeParameters(tile::KernelOp op) {
  for (unsigned i = 0; i < op.getNumArguments(); ++i) {
    ParameterInfo info;
    info.name = op.getArgName(i).str();
    if (auto view = dyn_cast<tile::ViewType>(op.getArgument(i).getType())) {
      info.isTensor = true;
      for (int64_t extent : view.getShape())
        info.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
      if (auto unit = op.getArgAttrOfType<IntegerAttr>(i, kUnitStrideArgAttr))
        if (unit.getInt() >= 0 && unit.getInt() < view.getRank())
          info.unitStride = unit.getInt();
    }
    kernel->parameters.push_back(std::move(info));
  }
}

llvm::Error Compilation::lower() {
  Stopwatch watch;
  llvm::Expected<HostTarget> host =
      HostTarget::create(options.cpu, options.features, options.optLevel);
  if (!host)
    return host.takeError();
  target = std::move(*host);
  if (llvm::Error error = isolateKernel())
    return error;

  std::string messages;
  ScopedDiagnosticHandler collect(module.getContext(), [&](Diagnostic &diag) {
    if (diag.getSeverity() == DiagnosticSeverity::Error) {
      if (!messages.empty())
        messages += '\n';
      messages += diag.str();
    }
    return success();
  });
  CPUPipelineOptions pipeline = target->pipelineOptions();
  pipeline.checked = options.checked;
  static constexpr const char *names[] = {"linalg", "bufferized", "loops",
                                          "llvm-dialect"};
  for (auto [stage, stageName] : llvm::zip_equal(allCPUStages, names)) {
    PassManager pm(module.getContext());
    pm.enableVerifier(options.verifyPasses);
    buildCPUPipeline(pm, stage, pipeline);
    if (failed(pm.run(module)))
      return llvm::createStringError("cannot lower kernel '" + name +
                                     "' for the cpu: " + messages);
    show(stageName);
  }
  readSites();
  kernel->times.lowering = watch.lap();
  return llvm::Error::success();
}

/// Turns the module's table of sites into what reports are made of, and reads
/// how much scratch memory there has to be.
void Compilation::readSites() {
  if (auto table = module->getAttrOfType<ArrayAttr>(kSitesAttr))
    for (auto entry : table.getAsRange<DictionaryAttr>()) {
      auto string = [&](StringRef key) {
        return cast<StringAttr>(entry.get(key)).getValue();
      };
      auto integer = [&](StringRef key) {
        return unsigned(cast<IntegerAttr>(entry.get(key)).getInt());
      };
      Site site;
      site.kind = string("kind") == "print"    ? SiteKind::Print
                  : string("kind") == "assert" ? SiteKind::Assert
                                               : SiteKind::OutOfRange;
      site.file = string("file").str();
      site.line = integer("line");
      site.column = integer("column");
      site.text = string("text").str();
      for (auto type :
           cast<ArrayAttr>(entry.get("types")).getAsValueRange<TypeAttr>()) {
        PrintedValue value;
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          value.shape.assign(tensor.getShape().begin(),
                             tensor.getShape().end());
        llvm::raw_string_ostream(value.type) << getElementTypeOrSelf(type);
        site.values.push_back(std::move(value));
      }
      kernel->sites.push_back(std::move(site));
    }
  if (auto func = module.lookupSymbol<LLVM::LLVMFuncOp>((name + ".run").str()))
    if (auto slots = func->getAttrOfType<DenseI64ArrayAttr>(kSlotsAttr)) {
      int64_t total = 0;
      placeSlots(slots.asArrayRef(), total);
      kernel->scratchSize = size_t(total);
    }
}

llvm::Error Compilation::translate() {
  Stopwatch watch;
  code = translateModuleToLLVMIR(module, *context);
  if (!code)
    return llvm::createStringError("cannot translate kernel '" + name +
                                   "' to LLVM IR");
  target->prepare(*code);
  kernel->times.translation = watch.lap();
  show("llvm");
  return llvm::Error::success();
}

void Compilation::optimize() {
  Stopwatch watch;
  target->optimize(*code);
  kernel->times.optimization = watch.lap();
  show("llvm-optimized");
}

llvm::Error Compilation::link() {
  if (wants("assembly")) {
    // Emission changes the module, so it gets a copy.
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*code);
    llvm::Expected<std::string> assembly = target->emitAssembly(*copy);
    if (!assembly)
      return assembly.takeError();
    options.onStage("assembly", *assembly);
  }
  Stopwatch watch;
  auto object = target->emitObject(*code);
  if (!object)
    return object.takeError();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  llvm::orc::SymbolMap symbols;
  for (const RuntimeFunction &function : runtimeFunctions())
    symbols[(*jit)->mangleAndIntern(function.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  llvm::orc::JITDylib &main = (*jit)->getMainJITDylib();
  if (llvm::Error error =
          main.define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return error;
  // The C library's mathematical functions.
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  main.addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addObjectFile(std::move(*object)))
    return error;
  auto entry = (*jit)->lookup((name + ".run.entry").str());
  if (!entry)
    return entry.takeError();
  auto count = (*jit)->lookup((name + ".programs.entry").str());
  if (!count)
    return count.takeError();
  kernel->entry = entry->toPtr<Executor::Entry>();
  kernel->programCount = count->toPtr<Executor::ProgramCount>();
  kernel->jit = std::move(*jit);
  kernel->times.codegen = watch.lap();
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CompiledKernel>> Compilation::finish() {
  Timings &times = kernel->times;
  times.total =
      times.lowering + times.translation + times.optimization + times.codegen;
  return std::move(kernel);
}

} // namespace

llvm::Expected<std::unique_ptr<CompiledKernel>>
compile(ModuleOp module, StringRef name, const CompileOptions &options) {
  Compilation compilation(module, name, options);
  if (llvm::Error error = compilation.lower())
    return error;
  if (llvm::Error error = compilation.translate())
    return error;
  compilation.optimize();
  if (llvm::Error error = compilation.link())
    return error;
  return compilation.finish();
}

llvm::Expected<std::string> emitLLVM(ModuleOp module, StringRef name,
                                     bool optimized,
                                     const CompileOptions &options) {
  Compilation compilation(module, name, options);
  if (llvm::Error error = compilation.lower())
    return error;
  if (llvm::Error error = compilation.translate())
    return error;
  if (optimized)
    compilation.optimize();
  return compilation.text();
}

} // namespace tilec::cpu
