//===- TileDebugOps.td - Checks and messages -----------*- tablegen -*-===//
//
// Ops that report to the host. Their location is the source position that the
// report names.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_DEBUG_OPS_TD
#define TILEC_TILE_DEBUG_OPS_TD

include "dialects/Tile/IR/TileBase.td"

def Tile_InBoundsOp : Tile_Op<"in_bounds", [
    MemoryEffects<[MemWrite]>]> {
  let summary = "whether an index is in range; reports it if not";
  let description = [{
    `0 <= index < extent`, and `active` where there is one: the result guards an
    access that is to be made only then. In a checked build an active index that
    is not in range is reported to the host with this op's location, the index
    and the extent, unless the op has the attribute `quiet`; an index that is
    not active may have any value. Used for scalar indices that cannot be proven
    in range.

    **Examples.**
    ```mlir
    %ok = tile.in_bounds %g of %G
    %read = tile.in_bounds %i of %N if %taken  // In a branch of a `where`.
    ```
  }];
  let arguments = (ins I64:$index, Index:$extent, Optional<I1>:$active);
  let results = (outs I1:$result);
  let assemblyFormat = "$index `of` $extent (`if` $active^)? attr-dict";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "reports to the host if a condition does not hold";
  let description = [{
    Reports `message` with this op's location if any lane of `condition` is
    false. The program goes on.

    **Example.** `tile.assert %ok, "weights sum to one" : tensor<64xi1>`
  }];
  let arguments = (ins Tile_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tile_PrintOp : Tile_Op<"print", [
    AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "prints values from the program";
  let description = [{
    Prints `label` and every value on the host's standard error, one line per
    value: a tile as nested lists, in row-major order, of its valid lanes.
    `valid` has one extent for each axis of each tile, tile after tile; without
    it every lane is valid. What is long is shortened in the middle.

    **Examples.**
    ```mlir
    tile.print "m =", %m : tensor<64xf32>
    tile.print "x, y =", %x, %y valid [%vi, %c8] : tensor<64x8xf32>, i32
    ```

    **Errors.** `valid` neither absent nor one per axis of the tiles.
  }];
  let arguments = (ins StrAttr:$label, Variadic<Tile_TensorOrScalar>:$values,
                       Variadic<Index>:$valid);
  let assemblyFormat = [{
    $label (`,` $values^)? (`valid` `[` $valid^ `]`)? attr-dict
    (`:` type($values)^)?
  }];
  let hasVerifier = 1;
}

#endif // TILEC_TILE_DEBUG_OPS_TD
