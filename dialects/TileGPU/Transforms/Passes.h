//===- Passes.h - Passes over the tilegpu dialect ---------------*- C++ -*-===//
//
// Constructors and registration of the passes that Passes.td describes.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_DIALECTS_TILEGPU_TRANSFORMS_PASSES_H
#define TILEC_DIALECTS_TILEGPU_TRANSFORMS_PASSES_H

#include "dialects/TileGPU/IR/TileGPU.h"

#include "mlir/Pass/Pass.h"

namespace mlir::tilegpu {

#define GEN_PASS_DECL
#include "dialects/TileGPU/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dialects/TileGPU/Transforms/Passes.h.inc"

} // namespace mlir::tilegpu

#endif // TILEC_DIALECTS_TILEGPU_TRANSFORMS_PASSES_H
