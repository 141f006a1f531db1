//===- TileShapeOps.td - Positions, broadcasts, pads ---*- tablegen -*-===//
//
// Ops that make or rearrange tiles without computing on their elements.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_SHAPE_OPS_TD
#define TILEC_TILE_SHAPE_OPS_TD

include "dialects/Tile/IR/TileBase.td"

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "the positions a tile covers";
  let description = [{
    `result[x] = begin + x`, in 64 bits.

    **Preconditions.** The result has one axis.

    **Example.** `%q = tile.iota %i : tensor<64xi64>`

    **Errors.** A result that is not one-dimensional `i64`.
  }];
  let arguments = (ins Index:$begin, Variadic<Index>:$size);
  let results = (outs 1DTensorOf<[I64]>:$result);
  let assemblyFormat = [{
    $begin (`size` $size^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a tile along new axes and orders its own";
  let description = [{
    Operand axis `a` becomes result axis `dims[a]`; the result is constant along
    every other axis. With as many axes as the result has it is a transposition.
    `sizes` gives the extents of the dynamic result axes, in order.

    **Preconditions.** `dims` are distinct and in range; extents of mapped axes
    agree.

    **Example.**
    ```mlir
    %b = tile.broadcast %bias dims [1] : tensor<64xf32> -> tensor<128x64xf32>
    %t = tile.broadcast %x dims [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
    ```

    **Errors.** A length of `dims` other than the operand's rank; a repeated or
    unknown axis; extents or element types that differ; a wrong number of sizes.
  }];
  let arguments = (ins Tile_Tensor:$value, Variadic<Index>:$sizes,
                       DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $value `dims` $dims (`sizes` `[` $sizes^ `]`)? attr-dict
    `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_SelectValidOp : Tile_Op<"select_valid", [
    Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "sets what the invalid lanes of a tile hold";
  let description = [{
    Lanes below `valid[a]` on every axis keep their value; the others hold
    `pad`.

    **Preconditions.** One `valid` per axis; `pad` is not `undef`; for `i1`
    elements `pad` is `zero` or `one`.

    **Example.**
    ```mlir
    %s = tile.select_valid %x valid [%vi, %vj] pad lowest : tensor<64x64xf32>
    ```

    **Errors.** Another number of extents than axes; an impossible pad.
  }];
  let arguments = (ins Tile_Tensor:$value, Variadic<Index>:$valid,
                       Tile_PadAttr:$pad);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $value `valid` `[` $valid `]` `pad` `` $pad attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TILEC_TILE_SHAPE_OPS_TD
