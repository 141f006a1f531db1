//===- Passes.td - Passes over the tile dialect --------*- tablegen -*-===//
//
// What each pass does, with the IR before and after it, shortened to what
// matters. They run on any op and take the kernels inside it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_TRANSFORMS_PASSES_TD
#define TILEC_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileExpandAttention : Pass<"tile-expand-attention"> {
  let summary = "writes tile.attention out as a loop over the keys";
  let description = [{
    Replaces each `tile.attention` by the online softmax: a loop over tiles of
    `kv_tile` keys that carries, for each row, the greatest score so far, the
    sum of the exponentials relative to it, and the sum of the values weighted
    by them. The score and mask regions become ops on tiles.

    Before:
    ```mlir
    %o, %lse = tile.attention %q, %K, %V scale %c rows %i kv_tile 32
      score {} mask { ^bb0(%a: i64, %b: i64): ... tile.yield %0 : i1 }
      : tensor<64x128xbf16>, !tile.view<?x128xbf16>, !tile.view<?x128xbf16>
      -> tensor<64x128xf32>, tensor<64xf32>
    ```
    After:
    ```mlir
    %T = tile.dim %K, 0 : !tile.view<?x128xbf16>
    %rows = tile.iota %i : tensor<64xi64>
    %r:3 = scf.for %j = %c0 to %T step %c32
        iter_args(%m = %lowest, %l = %zero, %o = %zeros) -> ... {
      %vj = tile.valid %j to %T size 32
      %keys = tile.iota %j : tensor<32xi64>
      %mask = ...                       // the region, on 64x32 lanes
      %seen = tile.select_valid %mask valid [%c64, %vj] pad zero
      %any = tile.reduce any %seen axes [0, 1] : ... -> tensor<i1>
      %visit = tensor.extract %any[]
      %n:3 = scf.if %visit -> ... {
        %k = tile.load %K[%j, %c0] dims [0, 1] valid [%vj, %c128] pad zero
        %s0 = tile.dot %q, %k contract [1] x [1] batch [] x [] precision ieee
        %s = arith.select %seen, %s0, %lowest2
        // m' = max(m, max s), p = exp2(c (s - m')), a = exp2(c (m - m')),
        // l' = l a + sum p, o' = o a + p v
        scf.yield %m2, %l2, %o2
      } else {
        scf.yield %m, %l, %o
      }
      scf.yield %n#0, %n#1, %n#2
    }
    // o / l, or 0 where l is 0
    ```

    Without a mask there is no `scf.if`; keys beyond the last are masked out by
    `tile.select_valid ... pad lowest`.

    **Numbers.** All arithmetic is f32. `p` is rounded to the values' type for
    the second product if that is bf16 or f16, as tensor cores want it; f8 and
    f64 values are converted to f32 instead. A key that the mask hides has
    weight 0, which hides its value unless that is infinite or NaN.

    **Reads.** A `tile.gather` of the mask is made for valid rows and keys, one
    of the score where the mask holds (one that depends on the row alone, or the
    key alone, where it holds for some key, or row). A gather that depends on
    neither is made once, in front of the loop.

    **Preconditions.** The extents of query, result and lse are static.

    **Errors.** Dynamic extents; an op in a region that has no form on tiles.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tile::TileDialect"
  ];
}

def TileSplitLoops : Pass<"tile-split-loops"> {
  let summary = "divides loops over tiles into full and partial ranges";
  let description = [{
    A loop over the tiles of an axis does the same for every tile, though only
    the last one is cut off by the axis's end and a mask is all true or all
    false in most of them. This pass makes several loops of it, in the same
    order, each over the tiles that need the same:

    * *full*: every position exists and the mask is true on all lanes. The valid
      extent is the tile size, the mask and the test for it are gone.
    * *partial*: the loop as it was.
    * Tiles in which the mask is false everywhere are not visited, if the body
      is guarded by an `scf.if` on `tile.reduce any` of the mask and does
      nothing else. (A `tile.load` outside the guard is nothing.)

    Before:
    ```mlir
    scf.for %j = %c0 to %T step %c64 {
      %v = tile.valid %j to %T size 64
      %mask = ...                      // row >= j, for the rows from %i
      %any = tile.reduce any %mask axes [0, 1] : tensor<128x64xi1> -> tensor<i1>
      %visit = tensor.extract %any[] : tensor<i1>
      scf.if %visit { ... arith.select %mask, %s, %lowest ... }
    }
    ```
    After, if `%i` is a multiple of 128:
    ```mlir
    scf.for %j = %c0 to %i step %c64 {                // or to T, if less
      ... %s ...
    } {tile.range = "full"}
    scf.for %j = %i to %i_plus_128 step %c64 {        // or to T, if less
      %v = tile.valid %j to %T size 64
      %mask = ...
      scf.if %visit { ... arith.select %mask, %s, %lowest ... }
    } {tile.range = "partial"}
    ```

    Masks are read from `arith` on `tile.iota`, through `tile.broadcast`,
    `tensor.splat` and `tile.select_valid`; what else a mask depends on is taken
    to be anything. Only innermost loops with a constant step are split, and
    each once: `tile.range` marks what the pass has made. Whether a tile is
    called full or partial does not change a bit of the result.

    With `version-grid` the body of the grid is doubled: where all its tiles are
    full, their valid extents are constants, and loops are split; otherwise it
    stays as it was.

    ```mlir
    scf.forall (%m, %n) = ... {
      %full = ...                      // valid extents of %m and %n are 64
      scf.if %full { ... } else { ... }
    }
    ```

    Remarks (category `tile-split-loops`): `split`, `grid-versioned`, and
    `not-split` with the reason.
  }];
  let options = [
    Option<"versionGrid", "version-grid", "bool", /*default=*/"false",
           "Give grid programs whose tiles are all full a body of their own">,
    Option<"keepCopies", "keep-copies", "bool", /*default=*/"false",
           "Leave loops alone in which the end of the axis only cuts operands "
           "of dots short; asynchronous copies fill those up for nothing">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tile::TileDialect"
  ];
}

def TileSimplifyPads : Pass<"tile-simplify-pads"> {
  let summary = "removes tile.select_valid that change nothing";
  let description = [{
    Removes a `tile.select_valid` if its operand's invalid lanes hold the pad
    already (PadAnalysis), if they are not looked at, or if the pad can be given
    to the `tile.load` that the operand comes from. Where only some axes are so,
    the op no longer looks at those.

    Before:
    ```mlir
    %x = tile.load %X[%i] dims [0] valid [%v] pad zero
    %y = arith.extf %x : tensor<64xbf16> to tensor<64xf32>
    %z = tile.select_valid %y valid [%v] pad lowest : tensor<64xf32>
    %m = tile.reduce max %z axes [0] : tensor<64xf32> -> tensor<f32>
    ```
    After:
    ```mlir
    %x = tile.load %X[%i] dims [0] valid [%v] pad lowest
    %y = arith.extf %x : tensor<64xbf16> to tensor<64xf32>
    %m = tile.reduce max %y axes [0] : tensor<64xf32> -> tensor<f32>
    ```

    Nothing is assumed of numbers: 0 times something unknown is not 0, as it may
    be infinite.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TilePadExtents : Pass<"tile-pad-extents"> {
  let summary = "makes every extent of a tile a power of two";
  let description = [{
    Layouts of tiles over the lanes and registers of a GPU need extents that are
    powers of two, and matrix units least numbers of rows and columns. This
    grows each axis to the next power of two, and those of a `tile.dot` on
    f16, bf16, f8, i8 or tf32 to `min-dot`. The new lanes lie at the end of the
    axis and are invalid lanes like others: what they hold does not matter,
    except where an op combines lanes.

    Before:
    ```mlir
    %x = tile.load %X[%i, %c0] dims [0, 1] valid [%v, %c40] pad zero
        : !tile.view<?x40xf32> -> tensor<24x40xf32>
    %m = tile.reduce max %x axes [1] : tensor<24x40xf32> -> tensor<24xf32>
    tile.store %m, %Y[%i] dims [0] valid [%v]
        : tensor<24xf32>, !tile.view<?xf32>
    ```
    After:
    ```mlir
    %x = tile.load %X[%i, %c0] dims [0, 1] valid [%v, %c40] pad zero
        : !tile.view<?x40xf32> -> tensor<32x64xf32>
    %y = tile.select_valid %x valid [%c32, %c40] pad lowest : tensor<32x64xf32>
    %m = tile.reduce max %y axes [1] : tensor<32x64xf32> -> tensor<32xf32>
    tile.store %m, %Y[%i] dims [0] valid [%v]
        : tensor<32xf32>, !tile.view<?xf32>
    ```
    `tile-simplify-pads` then makes this a load with `pad lowest`.

    * `tile.load`, `tile.store`, `tile.atomic_add`, `tile.print` and
      `tile.arg_reduce` get `valid` extents if they had none. A load that grew
      and has `pad undef` gets `pad zero`.
    * `tile.gather` and `tile.scatter_add` get masks that are false on the new
      lanes.
    * In front of `tile.reduce`, `tile.scan` and both sides of `tile.dot` comes
      a `tile.select_valid` with the neutral element if an axis that is combined
      grew, in front of `tile.assert` one with `true`.

    Axes that go together (AxisClasses) grow together. Where a side of a dot has
    several free axes, or several are contracted, the minimum is for their
    product, and the last one grows. A dot with a side that has no free axis is
    no work for a matrix unit and has no minimum.

    **Preconditions.** Extents are static; `valid` operands are at most the
    extents of their axes.

    **Errors.** Dynamic extents; `tile.attention`; an op on tensors that is
    neither of the tile dialect nor elementwise nor `scf.for` or `scf.if`;
    `min-dot` that is not three powers of two.
  }];
  let options = [
    ListOption<"minDot", "min-dot", "int64_t",
               "Least rows, columns and contracted extent of a dot, the last in "
               "elements of 16 bits (default 16,16,16)">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tile::TileDialect"
  ];
}

def TileLoopLongAxes : Pass<"tile-loop-long-axes"> {
  let summary = "processes whole axes that are longer than a tile in chunks";
  let description = [{
    A tile with more than `max-elements` elements has no place in registers, and
    an operand of a product that takes more than half of `operand-bytes`, padded
    as `tile-pad-extents` will do, none in shared memory. While there is one,
    this divides one of its whole axes into chunks of a power of two, of which
    an operand takes at most a quarter of `operand-bytes`, if 16 positions do
    not take more. Reductions, products that contract the axis, and stores become
    loops over the chunks, in which whatever they are computed from is computed
    again, chunk by chunk, starting from the loads. Nothing of the length of the
    axis is kept.

    Before:
    ```mlir
    %x = tile.load %X[%i, %c0] dims [0, 1] pad zero
        : !tile.view<?x4000xf32> -> tensor<4x4000xf32>
    %q = arith.mulf %x, %x : tensor<4x4000xf32>
    %s = tile.reduce sum %q axes [1] : tensor<4x4000xf32> -> tensor<4xf32>
    %r = math.rsqrt %s : tensor<4xf32>
    %b = tile.broadcast %r dims [0] : tensor<4xf32> -> tensor<4x4000xf32>
    %y = arith.mulf %x, %b : tensor<4x4000xf32>
    tile.store %y, %Y[%i, %c0] dims [0, 1]
        : tensor<4x4000xf32>, !tile.view<?x4000xf32>
    ```
    After, with `max-elements=4096`:
    ```mlir
    %s = scf.for %n = %c0 to %c4000 step %c1024 iter_args(%a = %zeros)
        -> tensor<4xf32> {
      %v = tile.valid %n to %c4000 size 1024
      %x = tile.load %X[%i, %n] dims [0, 1] valid [%c4, %v] pad zero
          : !tile.view<?x4000xf32> -> tensor<4x1024xf32>
      %q0 = arith.mulf %x, %x : tensor<4x1024xf32>
      %q = tile.select_valid %q0 valid [%c4, %v] pad zero : tensor<4x1024xf32>
      %p = tile.reduce sum %q axes [1] : tensor<4x1024xf32> -> tensor<4xf32>
      %t = arith.addf %a, %p : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    %r = math.rsqrt %s : tensor<4xf32>
    scf.for %n = %c0 to %c4000 step %c1024 {
      ... load %x, broadcast %r, multiply ...
      tile.store %y, %Y[%i, %n] dims [0, 1] valid [%c4, %v]
          : tensor<4x1024xf32>, !tile.view<?x4000xf32>
    }
    ```

    * Sinks (what ends in something without the axis, or in memory) share a loop
      if none needs the result of another: an RMS normalization has two loops, a
      layer normalization three.
    * A maximum and the sum of exponentials relative to it are found together, by
      the online form, if the reference is the maximum, or 0 for infinite ones,
      as in `softmax` and `logsumexp`: a softmax has two loops.
    * `tile.arg_reduce` carries the best value and its place, `tile.scan` what
      has been summed so far.
    * The axis to divide first is one that is not combined, or whose results are
      combined later; then one that is not contiguous in memory; then the
      longest.

    Run it in front of `tile-split-loops`, which gives full chunks a loop of
    their own, and of `tile-pad-extents`.

    **Numbers.** Sums are regrouped. NaN, infinities and the first of equal
    maxima are as in the undivided op.

    **Memory.** What is read is read in each loop that needs it. `tile.reread` on
    the reads of all loops but the first keeps CSE from merging them where few
    chunks are unrolled: chunks would be kept from one loop to the next. A store
    into an `inout` tensor comes behind all loops that still need the old values,
    and in the same loop as the last of them only if it writes the very block
    that is read there.

    **What is left.** Tiles that cannot be divided, because a loop of the kernel
    carries them or all their axes are tiles, stay as they are up to
    `max-carried` elements.

    **Errors.** A tile that stays and has more than `max-carried` elements; a
    store that overwrites what has to be read again; dynamic extents,
    `tile.attention` and unknown ops, as `tile-pad-extents`.

    Remarks (category `tile-loop-long-axes`): `looped`, with the axis, the chunk
    and the number of loops.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"16384",
           "Most elements of a tile whose axes can be divided">,
    Option<"maxCarried", "max-carried", "int64_t", /*default=*/"32768",
           "Most elements of a tile whose axes cannot be divided">,
    Option<"operandBytes", "operand-bytes", "int64_t", /*default=*/"0",
           "Bytes of shared memory for both operands of a product, 0 for no "
           "limit">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tile::TileDialect"
  ];
}

#endif // TILEC_TILE_TRANSFORMS_PASSES_TD
