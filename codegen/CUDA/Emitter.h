//===- Emitter.h - From tilegpu to CUDA C++ ---------------------*- C++ -*-===//
//
// The last step of the GPU targets: one kernel of the `tilegpu` level becomes
// one self-contained translation unit (no includes) that NVRTC and nvcc
// compile. It is written to be read: names and comments come from the source,
// and the device functions in front, of which there is only what the kernel
// uses, wrap one instruction each.
//
// What a kernel must be, beyond what the verifiers check:
//
//   * The module went through layout assignment and allocation of shared
//     memory: fragments have layouts, buffers and exchanges offsets.
//   * Ops on tensors are those that TileGPUBase.td describes; there is no
//     tile.dot and no tile.attention.
//
// What is not so is an error at the op, which says what was expected.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_CUDA_EMITTER_H
#define TILEC_CODEGEN_CUDA_EMITTER_H

#include "dialects/Tile/IR/Tile.h"
#include "lib/Runtime/GPU/KernelImage.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilec::cuda {

struct EmitOptions {
  /// The text of the source file. Statements that come from it are preceded by
  /// its lines as comments; without it there are none.
  std::string source;
  /// The name that locations give that file; empty: any.
  std::string sourceName;
  /// Whether `#line` maps statements to the source file, for profilers and
  /// debuggers.
  bool lineDirectives = false;
  /// Report indices out of range. Failed asserts are reported in any case.
  bool checked = false;
  /// Blocks that an SM is to hold at a time, a bound on registers; 0: free.
  unsigned minBlocks = 0;
};

/// An array that holds a tile in registers.
struct HeldTile {
  std::string name;
  std::string type;   // "128 x 64 elements of f32".
  unsigned registers; // Of a thread, of 32 bits.
  std::string file;   // Where it comes from; empty if that is not known.
  unsigned line = 0, column = 0;
};

struct EmittedKernel {
  /// The translation unit.
  std::string source;
  /// How to launch it. `arch` and `registers` are for whoever compiles it.
  gpu::KernelImage image;
  /// The arrays of the code, for messages about too many of them.
  std::vector<HeldTile> tiles;
};

/// Translates `kernel`. What cannot be translated is reported as a diagnostic
/// at its op; the error then only says which kernel it was.
llvm::Expected<EmittedKernel> emitCUDA(mlir::tile::KernelOp kernel,
                                       const EmitOptions &options = {});

} // namespace tilec::cuda

#endif // TILEC_CODEGEN_CUDA_EMITTER_H
