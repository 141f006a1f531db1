//===- TileGPUComputeOps.td - Layouts and products -----*- tablegen -*-===//
//
// Changing the layout of a fragment, and contractions of fragments and buffers.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILEGPU_COMPUTE_OPS_TD
#define TILEC_TILEGPU_COMPUTE_OPS_TD

include "dialects/TileGPU/IR/TileGPUBase.td"

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure]> {
  let summary = "the same tile, held by other threads";
  let description = [{
    Costs nothing where each thread has what it needs, shuffles where its warp
    has, else a trip through shared memory at `tilegpu.scratch`.

    **Example.**
    ```mlir
    %y = tilegpu.convert_layout %x
        : tensor<64x32xf32, #a> -> tensor<64x32xf32, #b>
    ```

    **Errors.** Types that differ in more than the layout; a missing layout.
  }];
  let arguments = (ins Tile_Tensor:$value);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

class TileGPU_DotOp<string mnemonic, list<Trait> traits = []>
    : TileGPU_Op<mnemonic, !listconcat(traits, [
        AllTypesMatch<["acc", "result"]>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])> {
  let results = (outs Tile_Tensor:$result);
  let hasVerifier = 1;
}

def TileGPU_MMAOp : TileGPU_DotOp<"mma", [AttrSizedOperandSegments]> {
  let summary = "a matrix product on tensor cores, added to an accumulator";
  let description = [{
    `acc + lhs * rhs` for `lhs` of M x K and `rhs` of K x N. An operand is a
    slot of a buffer, or a fragment in the operand layout of the instruction. A
    buffer holds `lhs` as M x K, or as K x M with `lhs_transposed`; it holds
    `rhs` as K x N, or as N x K with `rhs_transposed`.

    The first `batch` axes of the accumulator (0 if not given) number products
    of their own, whose operands are leading rows of the buffers, one after the
    other. Its next `row_axes` axes (1 if not given) together are M, in
    row-major order, the others N; so several axes of a tile may be contracted
    or free, as long as both operands have those of K in one order.

    The accumulator's layout is that of `mma` with 16 x 8 results: f32 for
    f16, bf16, f8 and f32 operands, i32 for i8. `precision` says how f32
    operands are multiplied: `tf32` rounds them, `tf32x3` makes up for most of
    the rounding by three products.

    **Preconditions.** M is a multiple of 16 times the warps along it, N of 8,
    K of the instruction's K (16 for 16-bit operands, 32 for 8-bit, 8 for f32).

    **Example.**
    ```mlir
    %d = tilegpu.mma %c, %a[%s], %b[%s] precision ieee
        : tensor<128x128xf32, #acc>, !tilegpu.buffer<3 x 128x64xbf16, ...>,
          !tilegpu.buffer<3 x 64x128xbf16, ...>
    ```

    **Errors.** Extents that do not fit; an accumulator without an axis for the
    columns; element types without an instruction; a slot given for a fragment,
    or none for a buffer; `ieee` for f32 operands.
  }];
  let arguments = (ins Tile_Tensor:$acc,
                       AnyTypeOf<[TileGPU_BufferType, Tile_Tensor]>:$lhs,
                       Optional<Index>:$lhs_slot,
                       AnyTypeOf<[TileGPU_BufferType, Tile_Tensor]>:$rhs,
                       Optional<Index>:$rhs_slot,
                       Tile_PrecisionAttr:$precision,
                       DefaultValuedAttr<I64Attr, "0">:$batch,
                       DefaultValuedAttr<I64Attr, "1">:$row_axes,
                       UnitAttr:$lhs_transposed, UnitAttr:$rhs_transposed,
                       UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned);
  let assemblyFormat = [{
    $acc `,` $lhs (`[` $lhs_slot^ `]`)? `,` $rhs (`[` $rhs_slot^ `]`)?
    `precision` `` $precision attr-dict `:` type($acc) `,` type($lhs) `,`
    type($rhs)
  }];
  let extraClassDeclaration = [{
    /// The K of one instruction.
    int64_t getInstructionK();
  }];
}

def TileGPU_FMADotOp : TileGPU_DotOp<"fma_dot"> {
  let summary = "a matrix product on the ordinary units";
  let description = [{
    As `tilegpu.mma` for every element type and any layout of the accumulator,
    by one multiplication and addition at a time in the accumulator's type. Both
    operands are slots of buffers. `batch` and `row_axes` mean the same, too.

    **Example.**
    ```mlir
    %d = tilegpu.fma_dot %c, %a[%s], %b[%s] batch 0
        : tensor<64x64xf64, #blocked>, !tilegpu.buffer<1 x 64x16xf64, ...>,
          !tilegpu.buffer<1 x 16x64xf64, ...>
    ```

    **Errors.** Extents that do not fit; an accumulator without an axis for the
    columns.
  }];
  let arguments = (ins Tile_Tensor:$acc, TileGPU_BufferType:$lhs,
                       Index:$lhs_slot, TileGPU_BufferType:$rhs,
                       Index:$rhs_slot, I64Attr:$batch,
                       DefaultValuedAttr<I64Attr, "1">:$row_axes,
                       UnitAttr:$lhs_transposed, UnitAttr:$rhs_transposed,
                       UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned);
  let assemblyFormat = [{
    $acc `,` $lhs `[` $lhs_slot `]` `,` $rhs `[` $rhs_slot `]` `batch` $batch
    attr-dict `:` type($acc) `,` type($lhs) `,` type($rhs)
  }];
}

#endif // TILEC_TILEGPU_COMPUTE_OPS_TD
