//===- GpuTarget.h - From a typed kernel to code for a GPU ------*- C++ -*-===//
//
// The stages between a typed kernel and machine code for a GPU, one function
// each, so that any of them can be shown:
//
//   typed kernel -> tile -> tilegpu -> CUDA C++ -> PTX and cubin
//        buildGpuModule, runPipeline  emitGpuKernel  compileForGpu does all
//
// A kernel is compiled for a specialization (the extents of its whole axes, as
// on the cpu target) and for facts about its arguments that make accesses wide
// and arithmetic short. A launch checks that they hold.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_COMPILER_GPUTARGET_H
#define TILEC_COMPILER_GPUTARGET_H

#include "codegen/CUDA/Emitter.h"
#include "lib/Compiler/CpuTarget.h"
#include "lib/Runtime/GPU/Device.h"

namespace tilec {

/// Specialization::of for tensors of a device: where several dimensions have
/// stride 1, code and checks agree on one.
Specialization gpuSpecialization(const typed::Kernel &kernel,
                                 const BoundLaunch &launch);

/// The dimension of stride 1 of each parameter if tensors are row-major.
llvm::SmallVector<int> rowMajorUnitStrides(const typed::Kernel &kernel);

/// What the code may rely on, beyond the specialization.
struct GpuFacts {
  /// For each parameter, the power of two from 1 to 16 that divides its address
  /// and all strides but that of the contiguous dimension, in bytes; 0 for
  /// scalars.
  llvm::SmallVector<int64_t> alignment;
  /// For dimensions whose extent is a multiple of 16: 16.
  llvm::StringMap<int64_t> divisible;
  /// Every offset into every tensor, tiles that reach over the end included,
  /// fits 31 bits.
  bool index32 = true;

  /// The facts of a launch with tensors of the device.
  static GpuFacts of(const typed::Kernel &kernel, const BoundLaunch &launch,
                     const Specialization &specialization);
  /// Those of row-major tensors of ordinary size at addresses that are
  /// multiples of 16, as are extents that are not known: what code is shown for
  /// without arguments.
  static GpuFacts assumed(const typed::Kernel &kernel,
                          const Specialization &specialization);
};

/// The kernel in the tile dialect with `facts` on it; see buildTileModule.
mlir::OwningOpRef<mlir::ModuleOp>
buildGpuModule(Program &program, typed::Kernel &kernel,
               const Specialization &specialization, const GpuFacts &facts,
               const CompileOptions &options, mlir::MLIRContext &context);

/// CUDA C++ from the module that the target's pipeline leaves. Nothing after
/// reporting to `program.diags`.
std::optional<cuda::EmittedKernel> emitGpuKernel(Program &program,
                                                 const typed::Kernel &kernel,
                                                 mlir::ModuleOp module,
                                                 const CompileOptions &options);

/// A kernel compiled for a GPU.
struct GpuCode {
  gpu::KernelImage image;
  std::string source; // CUDA C++.
  std::string ptx;
  std::string cubin;
};

/// All stages in one. Spilled registers, local arrays and other defects of the
/// code are errors; but where registers spill it is tried with more warps, then
/// with smaller tiles, as far as the schedule leaves these open. Nothing after
/// reporting to `program.diags`.
std::optional<GpuCode> compileForGpu(Program &program, typed::Kernel &kernel,
                                     const Specialization &specialization,
                                     const GpuFacts &facts,
                                     CompileOptions options);

/// Gives computed extents of the grid, which are called as in the image, their
/// values in `launch`.
llvm::Error bindGrid(const typed::Kernel &kernel, const gpu::KernelImage &image,
                     BoundLaunch &launch);

/// Reports an error of a launch, at the parameter that it is about or else at
/// the kernel.
Diagnostic &reportLaunchError(Program &program, const typed::Kernel &kernel,
                              llvm::Error error);

/// The target whose code makes the most of a GPU: "sm_90a". An error of kind
/// NoDevice if none runs on it.
llvm::Expected<llvm::StringRef> targetOf(const gpu::Device &device);

} // namespace tilec

#endif // TILEC_COMPILER_GPUTARGET_H
