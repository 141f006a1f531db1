//===- TileBase.td - Dialect, types and attributes of tile -*- tablegen -*-===//
//
// Defines the dialect itself, the view type, the enumerations and the classes
// that every op definition builds on.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILE_BASE_TD
#define TILEC_TILE_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::mlir::tile";
  let summary = "Tensor programs at block granularity, hardware-free";
  let description = [{
    A kernel of the `tile` dialect is what one *program* (later: one thread
    block) does, written with value semantics on builtin `tensor` types. There
    are no threads, no pointers and no memory spaces.

    * A `!tile.view` is a tensor in global memory, an argument of the kernel or
      a slice of one. Only views are addressable, and only through `tile.load`,
      `tile.store`, `tile.gather`, `tile.atomic_add` and `tile.scatter_add`, all
      of which are bounded by construction.
    * Everything else is a builtin `tensor` (a tile) or a scalar. Elementwise
      arithmetic is `arith` and `math` on tensors; both operands have one shape,
      so broadcasts are explicit (`tile.broadcast`, `tensor.splat`).
    * Loops are `scf.for`, branches `scf.if`, and the parallel grid is one
      `scf.forall` without results at the top of the kernel. A kernel without
      it is *untiled*: it describes the whole computation on whole tensors.

    **Tails.** A tile has a static extent `T` along an axis, but the last tile
    of an axis of extent `N` covers only `min(T, N - begin)` positions. The op
    `tile.valid` computes that number; the lanes beyond it are *invalid lanes*.
    What they hold is a tracked property: `tile.load` fills them with a stated
    pad, `tile.select_valid` replaces them by one, and everything else computes
    on them as on any lane. Ops that combine lanes (`tile.reduce`, `tile.scan`,
    `tile.dot`) combine all of them, so whoever builds the IR puts a
    `tile.select_valid` with the neutral element in front; `tile-simplify-pads`
    removes those which the pads prove needless.

    **Element types.** `f64 f32 f16 bf16 f8E4M3FN f8E5M2 i64 i32 i16 i8 i1`.
    In views, `tf32` is `f32`, `u8` is `i8` and `bool` is `i8`; whoever builds
    the IR converts on the way in and out.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Each beside the storage classes it needs, in TileTypes.cpp and
    /// TileAttrs.cpp.
    void registerTypes();
    void registerAttributes();
  }];
  let dependentDialects = [
    "arith::ArithDialect", "math::MathDialect", "scf::SCFDialect",
    "tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Tile_ViewType : TypeDef<Tile_Dialect, "View"> {
  let mnemonic = "view";
  let summary = "a tensor in global memory";
  let description = [{
    A reference to a strided tensor in global memory. Extents are static or `?`;
    strides are a run-time property and not part of the type.

    Example: `!tile.view<?x128xbf16>`, `!tile.view<f32>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType);
  }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getDimSize(unsigned i) const { return getShape()[i]; }
    bool isDynamicDim(unsigned i) const {
      return ::mlir::ShapedType::isDynamic(getShape()[i]);
    }
    bool hasStaticShape() const {
      return !::mlir::ShapedType::isDynamicShape(getShape());
    }
  }];
}

def Tile_Element : TypeConstraint<Or<[
    F64.predicate, F32.predicate, F16.predicate, BF16.predicate,
    F8E4M3FN.predicate, F8E5M2.predicate,
    I64.predicate, I32.predicate, I16.predicate, I8.predicate, I1.predicate]>,
    "a tile element type (f64 f32 f16 bf16 f8E4M3FN f8E5M2 i64 i32 i16 i8 i1)">;

/// A tile: a ranked builtin tensor. Extents are static once the schedule and
/// the whole-axis extents are known.
def Tile_Tensor : RankedTensorOf<[AnyTypeOf<[
    F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I64, I32, I16, I8, I1]>]>;
def Tile_FloatTensor : RankedTensorOf<[AnyTypeOf<[F64, F32]>]>;
def Tile_IntTensor : RankedTensorOf<[AnyTypeOf<[I64, I32]>]>;
def Tile_BoolTensor : RankedTensorOf<[I1]>;
def Tile_TensorOrScalar : AnyTypeOf<[Tile_Tensor, F64, F32, F16, BF16, F8E4M3FN,
    F8E5M2, I64, I32, I16, I8, I1]>;
def Tile_IndexLike : AnyTypeOf<[I64, RankedTensorOf<[I64]>]>;
def Tile_BoolLike : AnyTypeOf<[I1, RankedTensorOf<[I1]>]>;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::tile";
  let genSpecializedAttr = 0;
}
/// Ops print the bare value (`pad zero`); elsewhere it is `#tile<pad zero>`.
class Tile_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Tile_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Tile_Pad : Tile_Enum<"Pad", "what invalid lanes hold", [
  I32EnumAttrCase<"Undef", 0, "undef">,     // anything, NaN included
  I32EnumAttrCase<"Zero", 1, "zero">,
  I32EnumAttrCase<"One", 2, "one">,
  I32EnumAttrCase<"Lowest", 3, "lowest">,   // -inf, or the least integer
  I32EnumAttrCase<"Highest", 4, "highest">, // +inf, or the greatest integer
]>;
def Tile_PadAttr : Tile_EnumAttr<Tile_Pad, "pad">;

def Tile_Access : Tile_Enum<"Access", "how a kernel uses a view argument", [
  I32EnumAttrCase<"In", 0, "in">, I32EnumAttrCase<"Out", 1, "out">,
  I32EnumAttrCase<"InOut", 2, "inout">, I32EnumAttrCase<"Add", 3, "add">,
]>;
/// No op has it as an operand of its syntax, so it can have the usual form of
/// an attribute: `#tile.access<in>`.
def Tile_AccessAttr : EnumAttr<Tile_Dialect, Tile_Access, "access"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_ReduceKind : Tile_Enum<"ReduceKind", "how a reduction combines", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
  I32EnumAttrCase<"Max", 2, "max">,   // propagates NaN
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"FMax", 4, "fmax">, // ignores NaN
  I32EnumAttrCase<"FMin", 5, "fmin">,
  I32EnumAttrCase<"Any", 6, "any">, I32EnumAttrCase<"All", 7, "all">,
]>;
def Tile_ReduceKindAttr : Tile_EnumAttr<Tile_ReduceKind, "reduce_kind">;

def Tile_Precision : Tile_Enum<"Precision", "how f32 operands are multiplied", [
  I32EnumAttrCase<"IEEE", 0, "ieee">, I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"TF32x3", 2, "tf32x3">,
]>;
def Tile_PrecisionAttr : Tile_EnumAttr<Tile_Precision, "precision">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tile_ScheduleAttr : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "the decisions that turn a kernel into code";
  let description = [{
    Names and integers, written by the front end (from a `schedule` block or the
    cost model) and obeyed by passes. Tile sizes carry the name of their loop
    variable, `kv` is the inner tile of `tile.attention`; everything else is a
    knob (`stages`, `warps`, `consumers`, `cluster`, ...).

    Example: `#tile.schedule<{m = 128, n = 64, stages = 4}>`
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$entries);
  let assemblyFormat = "`<` $entries `>`";
  let extraClassDeclaration = [{
    /// The integer under `name`, or `otherwise`.
    int64_t get(::llvm::StringRef name, int64_t otherwise) const;
  }];
}

//===----------------------------------------------------------------------===//
// Op base classes
//===----------------------------------------------------------------------===//

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

#endif // TILEC_TILE_BASE_TD
