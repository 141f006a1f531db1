//===- TileKernelOps.td - Kernel structure -------------*- tablegen -*-===//
//
// The kernel and its terminator, extents of views, slices of views, and the
// number of valid positions of a tile.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_KERNEL_OPS_TD
#define TILEC_TILE_KERNEL_OPS_TD

include "dialects/Tile/IR/TileBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Tile_KernelOp : Tile_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope,
    DeclareOpInterfaceMethods<OpAsmOpInterface,
                              ["getAsmBlockArgumentNames"]>]> {
  let summary = "a kernel: what every program of a launch does";
  let description = [{
    A function without results whose arguments are views and scalars. Argument
    attributes: `tile.name` (string, the name in the source), for views also
    `tile.access` (`#tile.access<...>`) and `tile.dims` (array of strings: the
    name of each dimension, `""` for a constant extent). Two dimensions with one
    name have one extent; the launcher guarantees it.

    `tile.schedule` (`#tile.schedule<...>`) on the op itself holds the schedule.

    **Preconditions.** The body is one block ended by `tile.return`. At most one
    `scf.forall` (the grid) stands directly in the body, and it has no results.

    **Example.**
    ```mlir
    tile.kernel @copy(%X: !tile.view<?xf32> {tile.name = "X",
                        tile.access = #tile.access<in>, tile.dims = ["N"]},
                      %Y: !tile.view<?xf32> {tile.name = "Y",
                        tile.access = #tile.access<out>, tile.dims = ["N"]}) {
      %N = tile.dim %X, 0 : !tile.view<?xf32>
      scf.forall (%n) = (0) to (%N) step (128) {
        %v = tile.valid %n to %N size 128
        %x = tile.load %X[%n] dims [0] valid [%v] pad zero
            : !tile.view<?xf32> -> tensor<128xf32>
        tile.store %x, %Y[%n] dims [0] valid [%v]
            : tensor<128xf32>, !tile.view<?xf32>
      }
      tile.return
    }
    ```

    **Errors.** A result type; an argument that is neither a view nor a scalar;
    an argument attribute of the wrong kind or length; a second grid; a grid
    with results.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrAttr>:$sym_visibility);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    /// Required by FunctionOpInterface.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }

    /// The grid, or null for an untiled kernel.
    ::mlir::scf::ForallOp getGrid();
    /// The schedule attribute, or an empty one.
    ::mlir::tile::ScheduleAttr getSchedule();
    /// Source-level facts about argument `i`.
    ::llvm::StringRef getArgName(unsigned i);
    ::mlir::tile::Access getArgAccess(unsigned i);

    static constexpr ::llvm::StringLiteral kNameAttr = "tile.name";
    static constexpr ::llvm::StringLiteral kAccessAttr = "tile.access";
    static constexpr ::llvm::StringLiteral kDimsAttr = "tile.dims";
    static constexpr ::llvm::StringLiteral kScheduleAttr = "tile.schedule";
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [
    Pure, HasParent<"KernelOp">, Terminator, ReturnLike]> {
  let summary = "ends a kernel";
  let description = [{
    The terminator of `tile.kernel`. It has no operands: a kernel's results are
    its stores.

    **Example.** `tile.return`
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "an extent of a view";
  let description = [{
    The extent of dimension `dim` of a view, as `index`. Folds to a constant
    where the type knows it.

    **Preconditions.** `0 <= dim < rank`.

    **Example.** `%N = tile.dim %X, 1 : !tile.view<?x?xf32>`

    **Errors.** A dimension out of range.
  }];
  let arguments = (ins Tile_ViewType:$view, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` qualified(type($view))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ValidOp : Tile_Op<"valid", [Pure]> {
  let summary = "how many positions of a tile lie inside its axis";
  let description = [{
    `min(size, max(0, extent - begin))` for the tile of `size` positions that
    begins at `begin` on an axis of `extent` positions.

    Folds to a constant when `begin` and `extent` are constants, and to `size`
    when `begin` is a multiple of `size` known to lie in an axis whose constant
    extent is a multiple of `size`.

    **Preconditions.** `size > 0`.

    **Example.** `%v = tile.valid %i to %N size 64`

    **Errors.** A size below 1.
  }];
  let arguments = (ins Index:$begin, Index:$extent, I64Attr:$size);
  let results = (outs Index:$result);
  let assemblyFormat = "$begin `to` $extent `size` $size attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure, AttrSizedOperandSegments]> {
  let summary = "a view of part of a view: fixes some dimensions";
  let description = [{
    Fixes every dimension of `view` that is not in `dims` to the corresponding
    index, and keeps the dimensions in `dims`, whole and in that order. One
    index per dimension is given; those of the kept dimensions must be the
    constant 0 by convention and are ignored.

    If the optional `predicate` is false the slice is empty: loads from it give
    the pad, stores to it do nothing. It is how an index that may be out of
    range stays harmless.

    **Preconditions.** `dims` are distinct and in range; the result has their
    extents and the element type of `view`.

    **Example.**
    ```mlir
    %k = tile.slice %K[%b, %g, %c0, %c0] dims [2, 3]
        : !tile.view<?x?x?x128xbf16> -> !tile.view<?x128xbf16>
    ```

    **Errors.** An index count other than the rank; a repeated or unknown
    dimension; a result type of another rank, extent or element type.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
                       Optional<I1>:$predicate, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `dims` $dims (`if` $predicate^)? attr-dict
    `:` qualified(type($view)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

#endif // TILEC_TILE_KERNEL_OPS_TD
