//===- TileComputeOps.td - Computation on tiles --------*- tablegen -*-===//
//
// Contractions, reductions, scans, random numbers, rounding and attention.
// Elementwise arithmetic is arith and math on tensors.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_COMPUTE_OPS_TD
#define TILEC_TILE_COMPUTE_OPS_TD

include "dialects/Tile/IR/TileBase.td"

def Tile_DotOp : Tile_Op<"dot", [Pure]> {
  let summary = "contracts axes of two tiles";
  let description = [{
    Multiplies over all pairs of lanes that agree on the batch and contracted
    axes and sums over the contracted ones. Axes `lhs_batch[i]`/`rhs_batch[i]`
    and `lhs_contract[i]`/`rhs_contract[i]` are paired. The result's axes are
    the batch axes, then the free axes of `lhs`, then those of `rhs`, each in
    operand order. With `acc` the sum starts from it.

    Sums are in the result's element type: f32 for f16, bf16, f8 and f32
    operands, f64 for f64, i32 for i8, else the operands' own. `precision` says
    how f32 operands are multiplied. `lhs_unsigned`/`rhs_unsigned` mark i8
    operands that hold `u8`.

    **Preconditions.** Invalid lanes along contracted axes contribute: they are
    zero in both operands.

    **Example.**
    ```mlir
    %s = tile.dot %q, %k contract [1] x [1] batch [] x []
        : tensor<64x128xbf16>, tensor<32x128xbf16> -> tensor<64x32xf32>
    %c = tile.dot %a, %b acc %c0 contract [1] x [0] batch [] x [] precision tf32
        : tensor<64x16xf32>, tensor<16x32xf32> -> tensor<64x32xf32>
    ```

    **Errors.** Axis lists of different length, repeated, out of range or with
    extents that differ; no contracted axis; a result of another shape or
    element type; operand element types that do not go together; a precision
    other than `ieee` for operands that are not f32.
  }];
  let arguments = (ins Tile_Tensor:$lhs, Tile_Tensor:$rhs,
                       Optional<Tile_Tensor>:$acc,
                       DenseI64ArrayAttr:$lhs_contract,
                       DenseI64ArrayAttr:$rhs_contract,
                       DenseI64ArrayAttr:$lhs_batch,
                       DenseI64ArrayAttr:$rhs_batch,
                       DefaultValuedAttr<Tile_PrecisionAttr,
                                         "Precision::IEEE">:$precision,
                       UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`acc` $acc^)? `contract` $lhs_contract `x` $rhs_contract
    `batch` $lhs_batch `x` $rhs_batch `precision` `` $precision attr-dict
    `:` type($lhs) `,` type($rhs) (`,` type($acc)^)? `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Axes of the operand that are neither batch nor contracted, in order.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
  }];
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines a tile along some of its axes";
  let description = [{
    Combines the lanes along `axes` by `kind`; the result has the other axes, in
    order (none left: a rank-0 tensor). `max` and `min` propagate NaN, `fmax`
    and `fmin` ignore it. The order of combination is not specified. Over an
    empty axis the result is the neutral element.

    **Preconditions.** Invalid lanes along `axes` hold the neutral element.
    `any` and `all` take i1; the others i32, i64, f32 or f64 (`fmax` and `fmin`
    floats only).

    **Example.**
    ```mlir
    %m = tile.reduce max %s axes [1] : tensor<64x32xf32> -> tensor<64xf32>
    ```

    **Errors.** No axis; a repeated or unknown axis; another result shape or
    element type; a kind that the element type does not have.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tensor:$value,
                       DenseI64ArrayAttr:$axes);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $value `axes` $axes attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ArgReduceOp : Tile_Op<"arg_reduce", [Pure]> {
  let summary = "the lane of the greatest or least element along an axis";
  let description = [{
    The index (0-based lane, `i64`) of the maximum (`max`) or minimum (`min`)
    along `axis`. Of equal elements the first wins; a NaN is greater (`max`) or
    less (`min`) than everything, and of several the first wins. Over an empty
    axis the result is -1.

    Only lanes below `valid` count; without it all do.

    **Preconditions.** `valid` is at most the axis's extent.

    **Example.**
    ```mlir
    %i = tile.arg_reduce max %x axis 1 valid %v
        : tensor<64x32xf32> -> tensor<64xi64>
    ```

    **Errors.** An axis out of range; a kind other than `max` or `min`; a result
    of another shape.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tensor:$value,
                       Optional<Index>:$valid, I64Attr:$axis);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = [{
    `` $kind $value `axis` $axis (`valid` $valid^)? attr-dict
    `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "running combination along an axis";
  let description = [{
    `result[x] = value[0] op ... op value[x]` along `axis` (inclusive).

    **Preconditions.** `kind` is sum, prod, max or min; elements as
    `tile.reduce`.

    **Example.** `%c = tile.scan sum %x axis 0 : tensor<64xf32>`

    **Errors.** An axis out of range; another kind; a wrong element type.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tensor:$value,
                       I64Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $value `axis` $axis attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_RandomOp : Tile_Op<"random", [Pure]> {
  let summary = "uniform random numbers as a function of position";
  let description = [{
    Philox 4x32-10: the key is `seed`, the counter is `offset` in its low two
    words; the first output word gives 24 bits of a float in [0, 1). No state:
    equal operands give equal numbers on every target.

    **Preconditions.** `offset` and the result have one shape.

    **Example.**
    ```mlir
    %r = tile.random %seed, %pos : tensor<64xi64> -> tensor<64xf32>
    ```

    **Errors.** Shapes that differ.
  }];
  let arguments = (ins I64:$seed, Tile_IndexLike:$offset);
  let results = (outs AnyTypeOf<[F32, RankedTensorOf<[F32]>]>:$result);
  let assemblyFormat = [{
    $seed `,` $offset attr-dict `:` type($offset) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_RoundTF32Op : Tile_Op<"round_tf32", [
    Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "rounds f32 to the 10 mantissa bits of tf32";
  let description = [{
    Round to nearest even; NaN and infinity stay, a result past the greatest
    finite number becomes infinity.

    **Example.** `%t = tile.round_tf32 %x : tensor<64xf32>`

    **Errors.** Elements other than f32 (by type).
  }];
  let arguments = (ins AnyTypeOf<[F32, RankedTensorOf<[F32]>]>:$value);
  let results = (outs AnyTypeOf<[F32, RankedTensorOf<[F32]>]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Tile_GeluOp : Tile_Op<"gelu", [
    Pure, AllTypesMatch<["value", "result"]>, Elementwise, Scalarizable,
    Vectorizable, Tensorizable]> {
  let summary = "x times the normal distribution function of x";
  let description = [{
    `x * (1 + erf(x / sqrt(2))) / 2`, in a form that does not cancel for
    negative `x`; of -inf it is 0 and not NaN. One op, since targets have
    cheaper forms for it than for its parts.

    **Example.** `%y = tile.gelu %x : tensor<64xf32>`

    **Errors.** Elements other than f32 and f64 (by type).
  }];
  let arguments = (ins AnyTypeOf<[F32, F64, RankedTensorOf<[F32, F64]>]>:$value);
  let results = (outs AnyTypeOf<[F32, F64, RankedTensorOf<[F32, F64]>]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasFolder = 1;
}

def Tile_AttentionOp : Tile_Op<"attention", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "softmax attention of a tile of query rows over whole keys";
  let description = [{
    For every row `i` of `query` and every key `j` of `keys` with
    `mask(row_begin + i, j)`: `s[i,j] = score(scale * <query[i], keys[j]>,
    row_begin + i, j)`; the result row is `sum_j softmax(s)[i,j] * values[j]`,
    and `lse[i]` the natural logarithm of `sum_j exp(s[i,j])`. A row that sees
    no key gives 0 and -inf. Lanes of rows at or beyond `valid_rows` hold
    anything.

    The regions are scalar functions, both optional (empty): `score` of
    (f32 s, i64 q, i64 kv) yields f32, `mask` of (i64 q, i64 kv) yields i1. They
    may use scalars from outside and `tile.gather` with scalar operands, and are
    evaluated for valid rows and keys only; `score` only where `mask` holds.

    `kv_tile` is how many keys one step of the loop takes.

    **Preconditions.** `query` is [rows, D]; `keys` [T, D] and `values` [T, E]
    are views; `kv_tile > 0`.

    **Example.**
    ```mlir
    %o, %lse = tile.attention %q, %k, %v scale %c rows %i valid %vi kv_tile 64
      score { ^bb0(%s: f32, %q: i64, %kv: i64): tile.yield %s : f32 }
      mask { ^bb0(%q: i64, %kv: i64):
        %m = arith.cmpi sge, %q, %kv : i64
        tile.yield %m : i1 }
      : tensor<64x128xbf16>, !tile.view<?x128xbf16>, !tile.view<?x128xbf16>
      -> tensor<64x128xf32>, tensor<64xf32>
    ```

    **Errors.** Operands of another rank; head dimensions or key counts that
    differ; results of another shape; regions with other arguments or yields.
  }];
  let arguments = (ins Tile_Tensor:$query, Tile_ViewType:$keys,
                       Tile_ViewType:$values, F32:$scale, Index:$row_begin,
                       Optional<Index>:$valid_rows, I64Attr:$kv_tile);
  let regions = (region AnyRegion:$score, AnyRegion:$mask);
  let results = (outs RankedTensorOf<[F32]>:$result,
                      RankedTensorOf<[F32]>:$lse);
  let assemblyFormat = [{
    $query `,` $keys `,` $values `scale` $scale `rows` $row_begin
    (`valid` $valid_rows^)? `kv_tile` $kv_tile `score` $score `mask` $mask
    attr-dict `:` type($query) `,` qualified(type($keys)) `,`
    qualified(type($values)) `->` type($result) `,` type($lse)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"AttentionOp">]> {
  let summary = "the value of a region of tile.attention";
  let description = [{
    Ends a `score` or `mask` region with its value.

    **Example.** `tile.yield %s : f32`
  }];
  let arguments = (ins AnyTypeOf<[F32, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // TILEC_TILE_COMPUTE_OPS_TD
