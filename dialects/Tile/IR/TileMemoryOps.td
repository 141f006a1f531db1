//===- TileMemoryOps.td - Access to views --------------*- tablegen -*-===//
//
// The only ops that touch memory. Each is bounded: by the valid extents of the
// tile it moves, or (gather, scatter) by a comparison with the view's extents.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_MEMORY_OPS_TD
#define TILEC_TILE_MEMORY_OPS_TD

include "dialects/Tile/IR/TileBase.td"

class Tile_BlockAccessOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([AttrSizedOperandSegments], traits)>;

def Tile_LoadOp : Tile_BlockAccessOp<"load", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads a block of a view into a tile";
  let description = [{
    Reads the block of `view` that begins at `indices` (one per dimension).
    Result axis `a` runs along view dimension `dims[a]`; dimensions not in
    `dims` contribute one position. Lanes at or beyond `valid[a]` on any axis
    are not read and hold `pad`. Without `valid` every lane is valid.

    If `predicate` is false nothing is read and every lane holds `pad` (zero if
    `pad` is `undef`).

    A result without axes is a rank-0 tensor; see `tensor.extract`.

    **Preconditions.** For valid lanes the positions are in range: the builder
    proves it or guards it by `predicate`. `valid[a]` is at most the result's
    extent.

    **Example.**
    ```mlir
    %q = tile.load %Q[%b, %h, %i, %c0] dims [2, 3] valid [%vi, %c128] pad zero
        : !tile.view<?x?x?x128xbf16> -> tensor<64x128xbf16>
    ```

    **Errors.** An index count other than the view's rank; `dims` repeated, out
    of range or of another length than the result's rank; `valid` neither
    absent nor one per axis; another element type than the view's.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
                       Variadic<Index>:$valid, Optional<I1>:$predicate,
                       DenseI64ArrayAttr:$dims,
                       DefaultValuedAttr<Tile_PadAttr, "Pad::Zero">:$pad);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `dims` $dims (`valid` `[` $valid^ `]`)?
    (`if` $predicate^)? `pad` `` $pad attr-dict `:` qualified(type($view)) `->`
    type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_StoreOp : Tile_BlockAccessOp<"store", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a tile to a block of a view";
  let description = [{
    Writes the valid lanes of `value`; the mirror image of `tile.load`. Nothing
    outside them is written, and nothing at all if `predicate` is false.

    **Preconditions.** As `tile.load`; no other program writes these positions.

    **Example.**
    ```mlir
    tile.store %o, %O[%b, %h, %i, %c0] dims [2, 3] valid [%vi, %c128]
        : tensor<64x128xbf16>, !tile.view<?x?x?x128xbf16>
    ```

    **Errors.** As `tile.load`.
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_ViewType:$view,
                       Variadic<Index>:$indices, Variadic<Index>:$valid,
                       Optional<I1>:$predicate, DenseI64ArrayAttr:$dims);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` `dims` $dims (`valid` `[` $valid^ `]`)?
    (`if` $predicate^)? attr-dict `:` type($value) `,` qualified(type($view))
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_AtomicAddOp : Tile_BlockAccessOp<"atomic_add", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "adds a tile into a block of a view, atomically";
  let description = [{
    Adds each valid lane of `value` to its element of `view`. Element updates
    are atomic and relaxed; programs may add into one element in any order.

    **Preconditions.** The element type is f64, f32, f16, bf16, i64 or i32.
    Otherwise as `tile.store`.

    **Example.**
    ```mlir
    tile.atomic_add %db, %DB[%n] dims [0] valid [%vn]
        : tensor<64xf32>, !tile.view<?xf32>
    ```

    **Errors.** As `tile.store`; an element type that has no atomic addition.
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_ViewType:$view,
                       Variadic<Index>:$indices, Variadic<Index>:$valid,
                       Optional<I1>:$predicate, DenseI64ArrayAttr:$dims);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` `dims` $dims (`valid` `[` $valid^ `]`)?
    (`if` $predicate^)? attr-dict `:` type($value) `,` qualified(type($view))
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_GatherOp : Tile_BlockAccessOp<"gather", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads elements of a view at computed positions";
  let description = [{
    `result[x] = view[indices[0][x], indices[1][x], ...]`. Every index is an
    `i64` tensor of the result's shape, or an `i64` scalar that holds for all
    lanes. With a scalar result all indices are scalars.

    A lane is read only if `mask` (if given) is true for it and all its indices
    are in range; otherwise it is 0. In a checked build a lane with a true mask
    and an index out of range reports an error that names this op's location.

    **Preconditions.** `mask` excludes invalid lanes; the builder sees to it.

    **Example.**
    ```mlir
    %e = tile.gather %table[%rel] mask %m
        : !tile.view<?xf32>[tensor<64x64xi64>] mask tensor<64x64xi1>
        -> tensor<64x64xf32>
    ```

    **Errors.** An index count other than the view's rank; an index or mask
    tensor of another shape than the result; another element type.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Tile_IndexLike>:$indices,
                       Optional<Tile_BoolLike>:$mask);
  let results = (outs Tile_TensorOrScalar:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` (`mask` $mask^)? attr-dict
    `:` qualified(type($view)) `[` type($indices) `]` (`mask` type($mask)^)?
    `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_ScatterAddOp : Tile_BlockAccessOp<"scatter_add", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "adds elements into a view at computed positions, atomically";
  let description = [{
    `view[indices[0][x], ...] += value[x]` for every lane `x` of `value` whose
    `mask` is true and whose indices are in range; lanes may hit one element. A
    checked build reports an index out of range.

    **Preconditions.** As `tile.gather` and `tile.atomic_add`.

    **Example.**
    ```mlir
    tile.scatter_add %ones, %H[%bin] mask %m
        : tensor<128xi32>, !tile.view<?xi32>[tensor<128xi64>]
        mask tensor<128xi1>
    ```

    **Errors.** As `tile.gather`; an element type without atomic addition.
  }];
  let arguments = (ins Tile_TensorOrScalar:$value, Tile_ViewType:$view,
                       Variadic<Tile_IndexLike>:$indices,
                       Optional<Tile_BoolLike>:$mask);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` (`mask` $mask^)? attr-dict
    `:` type($value) `,` qualified(type($view)) `[` type($indices) `]`
    (`mask` type($mask)^)?
  }];
  let hasVerifier = 1;
}

#endif // TILEC_TILE_MEMORY_OPS_TD
