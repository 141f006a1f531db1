//===- Executor.h - Runs machine code over a grid (internal) ----*- C++ -*-===//
//
// The implementation of CompiledKernel: the signature of a kernel, its entry
// points, and the memory its programs work in.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_EXECUTOR_H
#define TILEC_CODEGEN_CPU_EXECUTOR_H

#include "codegen/CPU/JIT.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <mutex>
#include <vector>

namespace tilec::cpu {

/// What the kernel's type says about an argument, for messages and checks.
struct ParameterInfo {
  std::string name;
  bool isTensor = false;
  /// -1 where the extent is open.
  llvm::SmallVector<int64_t, 4> shape;
  /// The dimension whose stride is 1, or -1.
  int64_t unitStride = -1;
};

class Executor : public CompiledKernel {
public:
  using Entry = void (*)(const uint64_t *arguments, int64_t begin, int64_t end,
                         void *scratch, const void *ctx);
  using ProgramCount = int64_t (*)(const uint64_t *arguments);

  Executor() = default;
  ~Executor() override;

  int64_t numPrograms(llvm::ArrayRef<Argument> arguments) const override;
  llvm::Error run(llvm::ArrayRef<Argument> arguments, ReportSink &reports,
                  const RunOptions &options) const override;
  const Timings &timings() const override { return times; }
  size_t scratchBytes() const override { return scratchSize; }

  // Filled in by compile().
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Entry entry = nullptr;
  ProgramCount programCount = nullptr;
  std::vector<ParameterInfo> parameters;
  std::vector<Site> sites;
  size_t scratchSize = 0;
  Timings times;

private:
  llvm::Error check(llvm::ArrayRef<Argument> arguments) const;
  void *takeScratch() const;
  void returnScratch(void *scratch) const;

  /// Scratch memory that no run uses now. Kept, because fresh memory costs a
  /// page fault for every 4 KB.
  mutable std::mutex scratchMutex;
  mutable std::vector<void *> idleScratch;
};

} // namespace tilec::cpu

#endif // TILEC_CODEGEN_CPU_EXECUTOR_H
