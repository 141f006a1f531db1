//===- HostTarget.cpp - LLVM for the machine we run on ----------*- C++ -*-===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "codegen/CPU/HostTarget.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

namespace tilec::cpu {

llvm::Expected<HostTarget> HostTarget::create(llvm::StringRef cpu,
                                              llvm::StringRef features,
                                              unsigned optLevel) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError("no code generator for this machine: " +
                                   message);
  std::string name = cpu.str(), list = features.str();
  if (name.empty()) {
    name = llvm::sys::getHostCPUName().str();
    // A virtual machine may lack features that its processor has.
    if (list.empty())
      for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
        if (!list.empty())
          list += ',';
        list += (feature.second ? '+' : '-') + feature.first().str();
      }
  }
  llvm::TargetOptions options;
  // Never multiply and add in one step unless the program says so: every
  // target must round alike.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  HostTarget host;
  host.optLevel = std::min(optLevel, 3u);
  host.machine.reset(target->createTargetMachine(
      triple, name, list, options, llvm::Reloc::PIC_,
      /*CM=*/std::nullopt, static_cast<llvm::CodeGenOptLevel>(host.optLevel),
      /*JIT=*/true));
  if (!host.machine)
    return llvm::createStringError("cannot make a target machine for " + name);
  return host;
}

bool HostTarget::has(llvm::StringRef feature) const {
  return machine->getMCSubtargetInfo()->checkFeatures(("+" + feature).str());
}

CPUPipelineOptions HostTarget::pipelineOptions() const {
  CPUPipelineOptions options;
  if (machine->getTargetTriple().isX86()) {
    bool avx512 = has("avx512f") && has("avx512dq");
    options.vectorBytes = avx512 ? 64 : has("avx") ? 32 : 16;
    options.vectorRegisters = avx512 ? 32 : 16;
    options.f16c = has("f16c");
  } else {
    // 128-bit vectors are what the others have at least.
    options.vectorBytes = 16;
    options.vectorRegisters = machine->getTargetTriple().isAArch64() ? 32 : 16;
    options.f16c = machine->getTargetTriple().isAArch64();
  }
  return options;
}

void HostTarget::prepare(llvm::Module &module) const {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", machine->getTargetFeatureString());
    // Some processors ask for 256-bit vectors, lest they clock down. Kernels
    // are all vector code, where the wide ones win.
    if (pipelineOptions().vectorBytes == 64)
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

void HostTarget::optimize(llvm::Module &module) const {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = optLevel >= 2;
  tuning.SLPVectorization = optLevel >= 2;
  // Unrolling doubles the time to compile, for loops that are wide already:
  // the vectorizer interleaves what hides latency.
  tuning.LoopUnrolling = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get(), tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel level = levels[optLevel];
  llvm::ModulePassManager passes =
      optLevel == 0 ? builder.buildO0DefaultPipeline(level)
                    : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

llvm::Error HostTarget::emit(llvm::Module &module, llvm::CodeGenFileType type,
                             llvm::SmallVectorImpl<char> &output) const {
  llvm::raw_svector_ostream os(output);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, type))
    return llvm::createStringError("this target cannot emit code to memory");
  passes.run(module);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
HostTarget::emitObject(llvm::Module &module) const {
  llvm::SmallVector<char, 0> object;
  if (llvm::Error error =
          emit(module, llvm::CodeGenFileType::ObjectFile, object))
    return error;
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(object), "kernel", /*RequiresNullTerminator=*/false);
}

llvm::Expected<std::string>
HostTarget::emitAssembly(llvm::Module &module) const {
  llvm::SmallVector<char, 0> text;
  if (llvm::Error error =
          emit(module, llvm::CodeGenFileType::AssemblyFile, text))
    return error;
  return std::string(text.begin(), text.end());
}

} // namespace tilec::cpu
