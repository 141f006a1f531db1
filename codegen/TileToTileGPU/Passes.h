//===- Passes.h - From tile to tilegpu --------------------------*- C++ -*-===//
//
// Constructor and registration of the pass that Passes.td describes.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOTILEGPU_PASSES_H
#define TILEC_CODEGEN_TILETOTILEGPU_PASSES_H

#include "dialects/TileGPU/IR/TileGPU.h"

#include "mlir/Pass/Pass.h"

namespace tilec {

#define GEN_PASS_DECL
#include "codegen/TileToTileGPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/TileToTileGPU/Passes.h.inc"

} // namespace tilec

#endif // TILEC_CODEGEN_TILETOTILEGPU_PASSES_H
