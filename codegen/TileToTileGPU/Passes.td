//===- Passes.td - From tile to tilegpu ----------------*- tablegen -*-===//
//
// What the pass does, with the IR before and after it, shortened.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_CODEGEN_TILETOTILEGPU_PASSES_TD
#define TILEC_CODEGEN_TILETOTILEGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToTileGPU
    : Pass<"convert-tile-to-tilegpu", "::mlir::tile::KernelOp"> {
  let summary = "gives every tile a layout and products their operands";
  let description = [{
    Turns a tiled kernel into what one thread block does. Three decisions are
    made, in this order:

    1. **Warps** (`tilegpu.warps`): the schedule's `warps`, else enough that
       accumulators take at most 128 registers of a thread and memory accesses
       are wide; see Warps.h.
    2. **Operands of products.** A `tile.dot` of types that tensor cores take
       becomes a `tilegpu.mma`, another one a `tilegpu.fma_dot`. An operand that
       is a `tile.load` is copied to shared memory asynchronously and never is
       in registers; a computed left operand stays in registers where its warp
       has what the instruction wants; other operands are stored to shared
       memory. Several free or contracted axes count as one, batch axes number
       products of their own; operands that are large together are contracted
       position by position in a loop over one of several axes. A product
       without a free axis on one side (a matrix times a vector) is bound by
       memory: it becomes multiplication and `tile.reduce`.
    3. **Layouts.** Products fix the layout of their accumulators, loads want
       coalesced accesses of 16 bytes; both spread along elementwise ops. What
       has no wish of its own (positions, constants, broadcasts, small loads)
       takes the layout in which it is used. Where two layouts meet there is a
       `tilegpu.convert_layout`; stores get one where the value's layout would
       touch less than 32 bytes at a time.

    Before:
    ```mlir
    %a = tile.load %A[%m, %k] dims [0, 1] pad zero
        : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
    %b = tile.load %B[%k, %n] ...
    %d = tile.dot %a, %b acc %c contract [1] x [0] ...
    %e = arith.mulf %d, %d : tensor<64x64xf32>
    ```
    After:
    ```mlir
    %sa = tilegpu.alloc "A" : !tilegpu.buffer<1 x 64x32xbf16, ...>
    tilegpu.async_copy %A[%m, %k] dims [0, 1], %sa[%c0] vector 16 ...
    tilegpu.async_copy %B[%k, %n] ...
    tilegpu.commit
    tilegpu.wait 0
    %d = tilegpu.mma %c, %sa[%c0], %sb[%c0] ...
    %e = arith.mulf %d, %d : tensor<64x64xf32, #layout>
    ```

    **Preconditions.** All extents of tiles are powers of two
    (`tile-pad-extents`), attention is expanded, there is a grid.

    Remarks (category `convert-tile-to-tilegpu`): `no-tensor-cores` and
    `narrow-copy` with the reason.

    **Errors.** A kernel without a grid; a tile of extents that are not powers
    of two.
  }];
  let options = [
    Option<"arch", "arch", "int", /*default=*/"90",
           "Compute capability, times ten, of the target">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect",
    "::mlir::tilegpu::TileGPUDialect"
  ];
}

#endif // TILEC_CODEGEN_TILETOTILEGPU_PASSES_TD
