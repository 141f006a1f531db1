//===- JIT.h - Compiles kernels for the host, and runs them -----*- C++ -*-===//
//
// The `cpu` target from the outside. compile() takes a module with a kernel in
// the tile dialect, ready to be lowered, and returns machine code in memory;
// CompiledKernel::run() launches it on tensors.
//
// What compile() expects of the module:
//
//   * The kernel is tiled: one scf.forall is the grid (without one the kernel
//     is a single program), and every tensor has a static shape.
//   * tile.attention is expanded, and tile.select_valid simplified.
//   * A view argument may carry the attribute `tile.unit_stride` (an integer):
//     the dimension whose stride is 1. It is a promise of whoever specializes
//     the kernel, and worth a lot: without it nothing is known to be
//     contiguous, and few loops vectorize.
//
// What run() expects of the arguments: the extents that the argument's type
// leaves open and all strides may be anything, negative and zero included, but
// static extents and `tile.unit_stride` must hold. Arguments do not overlap one
// another, unless they are the same `inout` tensor. An argument with an extent
// of 0 may have any pointer. All of this is the launcher's to check, and is not
// checked again here.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_JIT_H
#define TILEC_CODEGEN_CPU_JIT_H

#include "lib/Runtime/Reports.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tilec::cpu {

/// One argument of a launch. Strides count elements.
struct Argument {
  void *data = nullptr;
  llvm::SmallVector<int64_t, 6> shape, strides;
  /// The bits of a scalar, in the low bytes; unused for a tensor.
  uint64_t scalar = 0;
  bool isTensor = false;

  static Argument tensor(void *data, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<int64_t> strides);
  /// A row-major tensor.
  static Argument tensor(void *data, llvm::ArrayRef<int64_t> shape);
  static Argument f64(double value);
  static Argument f32(float value);
  /// Any integer type or bool: the kernel takes the low bytes.
  static Argument integer(int64_t value);
};

/// Milliseconds of each phase of a compilation.
struct Timings {
  double lowering = 0; // MLIR passes, down to the LLVM dialect
  double translation = 0;
  double optimization = 0; // LLVM IR to LLVM IR
  double codegen = 0;      // LLVM IR to an object in memory, linked
  double total = 0;
};

struct CompileOptions {
  /// Report indices out of range. Without it they are only harmless.
  bool checked = false;
  /// LLVM's optimization level, 0 to 3.
  unsigned optLevel = 3;
  /// The processor and features (LLVM's names, "+avx2,-fma") to compile for;
  /// empty means this machine's. Anything else may not run here.
  std::string cpu, features;
  /// Runs MLIR's verifier after every pass.
  bool verifyPasses = false;
  /// Called with the text of each stage: "linalg" (loops and linalg on
  /// tensors), "bufferized", "loops", "llvm-dialect", "llvm" (LLVM IR as
  /// translated), "llvm-optimized", "assembly". `wantsStage` says which texts
  /// to make, as printing is slow; null means none.
  std::function<bool(llvm::StringRef stage)> wantsStage;
  std::function<void(llvm::StringRef stage, llvm::StringRef text)> onStage;
};

struct RunOptions {
  /// 0: as many as the hardware has.
  unsigned threads = 0;
};

/// Machine code of one kernel. Immutable, so that several threads may run it
/// at once.
class CompiledKernel {
public:
  virtual ~CompiledKernel();

  /// The number of programs of a launch: the product of the grid's extents.
  virtual int64_t numPrograms(llvm::ArrayRef<Argument> arguments) const = 0;

  /// Runs every program of the grid and returns when the last one is done.
  /// Reports (out of range, failed assertions) and prints go to `reports`.
  /// Fails only if the arguments do not fit the kernel's types.
  virtual llvm::Error run(llvm::ArrayRef<Argument> arguments,
                          ReportSink &reports,
                          const RunOptions &options = {}) const = 0;

  virtual const Timings &timings() const = 0;

  /// Bytes of temporary memory each thread uses.
  virtual size_t scratchBytes() const = 0;
};

/// Compiles the kernel `name` of `module`. The module is lowered in place and
/// of no use afterwards; pass a clone to keep it. The context must allow the
/// dialects of registerCPUDialects() to be loaded.
llvm::Expected<std::unique_ptr<CompiledKernel>>
compile(mlir::ModuleOp module, llvm::StringRef name,
        const CompileOptions &options = {});

/// Lowers as compile() does, but stops before machine code: the LLVM IR of the
/// kernel as text, optimized or not.
llvm::Expected<std::string> emitLLVM(mlir::ModuleOp module,
                                     llvm::StringRef name, bool optimized,
                                     const CompileOptions &options = {});

/// Registers every dialect, interface and translation the pipeline needs.
/// Call it before the context of the module is made.
void registerCPUDialects(mlir::DialectRegistry &registry);

} // namespace tilec::cpu

#endif // TILEC_CODEGEN_CPU_JIT_H
