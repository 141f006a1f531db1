//===- HostTarget.h - LLVM for the machine we run on ------------*- C++ -*-===//
//
// Wraps what LLVM needs to make machine code for a processor: the target
// machine, the optimizer's pipeline, and the emission of objects.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_HOSTTARGET_H
#define TILEC_CODEGEN_CPU_HOSTTARGET_H

#include "codegen/CPU/Passes.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace tilec::cpu {

class HostTarget {
public:
  /// Empty `cpu` and `features` mean those of this machine.
  static llvm::Expected<HostTarget>
  create(llvm::StringRef cpu, llvm::StringRef features, unsigned optLevel);

  /// What the MLIR passes should know.
  CPUPipelineOptions pipelineOptions() const;

  /// Makes a freshly translated module one for this target.
  void prepare(llvm::Module &module) const;
  void optimize(llvm::Module &module) const;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  emitObject(llvm::Module &module) const;
  llvm::Expected<std::string> emitAssembly(llvm::Module &module) const;

private:
  bool has(llvm::StringRef feature) const;
  llvm::Error emit(llvm::Module &module, llvm::CodeGenFileType type,
                   llvm::SmallVectorImpl<char> &output) const;

  std::unique_ptr<llvm::TargetMachine> machine;
  unsigned optLevel = 3;
};

} // namespace tilec::cpu

#endif // TILEC_CODEGEN_CPU_HOSTTARGET_H
