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
    `0 <= index < extent`. In a checked build a false result is reported to the
    host with this op's location, the index and the extent, unless `quiet`. Used
    for scalar indices that cannot be proven in range; the result guards the
    access.

    **Example.** `%ok = tile.in_bounds %g of %G`
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

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints values from the program";
  let description = [{
    Prints `label` and every value (tiles element by element, in row-major
    order) on the host's standard error, one line per value.

    **Example.** `tile.print "m =", %m : tensor<64xf32>`
  }];
  let arguments = (ins StrAttr:$label, Variadic<Tile_TensorOrScalar>:$values);
  let assemblyFormat = "$label (`,` $values^ `:` type($values))? attr-dict";
}

#endif // TILEC_TILE_DEBUG_OPS_TD
