//===- Passes.h - Passes of the cpu target ----------------------*- C++ -*-===//
//
// Declares the passes that Passes.td describes, and the pipeline that puts them
// in order.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CPU_PASSES_H
#define TILEC_CODEGEN_CPU_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <memory>

namespace tilec {

/// Function: the size in bytes of each slot of scratch memory, an array of
/// integers. The slots are the function's last arguments.
inline constexpr llvm::StringLiteral kSlotsAttr = "tilec.slots";

#define GEN_PASS_DECL
#include "codegen/CPU/Passes.h.inc"

/// Where a slot begins in the scratch memory, given the sizes of all of them.
/// `total` is the number of bytes they take together.
llvm::SmallVector<int64_t> placeSlots(llvm::ArrayRef<int64_t> sizes,
                                      int64_t &total);

/// What the pipeline has to know of the machine it compiles for.
struct CPUPipelineOptions {
  bool checked = false;
  unsigned vectorBytes = 64;
  unsigned vectorRegisters = 32;
  bool f16c = false;
};

/// The stages of the pipeline, in order. Between them the module is in a form
/// worth looking at.
enum class CPUStage { Linalg, Buffers, Loops, LLVM };
inline constexpr CPUStage allCPUStages[] = {CPUStage::Linalg, CPUStage::Buffers,
                                            CPUStage::Loops, CPUStage::LLVM};

/// Appends the passes of one stage. The first takes a module with kernels in
/// the tile dialect; after the last it is all in the LLVM dialect.
void buildCPUPipeline(mlir::OpPassManager &pm, CPUStage stage,
                      const CPUPipelineOptions &options);

/// Makes these passes, and the whole pipeline as `cpu-pipeline`, known to pass
/// pipelines given as text.
void registerCPUPasses();

} // namespace tilec

#endif // TILEC_CODEGEN_CPU_PASSES_H
