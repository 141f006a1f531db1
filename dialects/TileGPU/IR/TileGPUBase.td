//===- TileGPUBase.td - Dialect, types, attributes -----*- tablegen -*-===//
//
// Defines the dialect itself, the layout of a fragment and the shared buffer.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILEGPU_BASE_TD
#define TILEC_TILEGPU_BASE_TD

include "dialects/Tile/IR/TileBase.td"
include "mlir/Dialect/SCF/IR/DeviceMappingInterface.td"

def TileGPU_Dialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::mlir::tilegpu";
  let summary = "What one thread block does, warps and memory explicit";
  let description = [{
    The level between `tile` and CUDA C++. A kernel is still a `tile.kernel`
    whose grid is an `scf.forall`; one program of the grid is one thread block
    of `tilegpu.warps` warps, and the tensors in it have become *fragments*: a
    tensor whose type carries a `#tilegpu.layout` says which element each
    register of each lane of each warp holds.

    * The ops of `tile`, `arith`, `math` and `scf` apply unchanged to fragments.
      An elementwise op has operands and results of one layout, so every thread
      computes on the registers it has; a `tile.load` of a fragment has every
      thread load its own elements, a `tile.reduce` has a result in the layout
      that is the operand's without the reduced axes (exchanged by shuffles and
      through shared memory), and `tile.broadcast` takes an operand whose layout
      is the result's without the new axes.
    * A tensor of rank 0 and a scalar are held by every thread alike and have no
      layout.
    * Where two layouts meet there is a `tilegpu.convert_layout`.
    * What is staged in shared memory has a `!tilegpu.buffer`, filled by
      `tilegpu.async_copy` from global memory or `tilegpu.local_store` from
      fragments, and read by `tilegpu.mma`, `tilegpu.fma_dot` and
      `tilegpu.local_load`. A buffer has one or more *slots*; a pipelined loop
      fills one while it computes on another.

    Nothing waits by itself: `tilegpu.wait` completes a thread's own copies,
    `tilegpu.barrier` orders the threads of the block. `tilegpu-insert-barriers`
    places the latter, `tilegpu-allocate-shared` gives buffers their offsets.

    **Attributes of the kernel.** `tilegpu.warps` (i64): warps of a block.
    `tilegpu.shared_bytes` (i64): shared memory, written by
    `tilegpu-allocate-shared`. On view arguments: `tile.unit_stride` (i64, the
    dimension of stride 1, or -1) and `tilegpu.align` (i64, the power of two,
    at most 16, that divides the base address and every other stride, in
    bytes). `tilegpu.divisible` (dictionary): for named dimensions a power of
    two that divides their extent. `tilegpu.index32` (unit): every offset into
    every argument, in elements, fits 31 bits. They are facts of the
    specialization, checked at launch.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Each beside the storage classes it needs, in TileGPUTypes.cpp and
    /// TileGPUAttrs.cpp.
    void registerTypes();
    void registerAttributes();

    static constexpr ::llvm::StringLiteral kWarpsAttr = "tilegpu.warps";
    static constexpr ::llvm::StringLiteral kSharedBytesAttr =
        "tilegpu.shared_bytes";
    static constexpr ::llvm::StringLiteral kUnitDimAttr = "tile.unit_stride";
    static constexpr ::llvm::StringLiteral kAlignAttr = "tilegpu.align";
    static constexpr ::llvm::StringLiteral kDivisibleAttr =
        "tilegpu.divisible";
    static constexpr ::llvm::StringLiteral kIndex32Attr = "tilegpu.index32";
    /// On ops that exchange values between warps: where in shared memory.
    static constexpr ::llvm::StringLiteral kScratchAttr = "tilegpu.scratch";
  }];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

def TileGPU_LayoutAttr : AttrDef<TileGPU_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which element each register of each thread holds";
  let description = [{
    The encoding of a fragment: a linear map over F2 from (register, lane,
    warp) to the coordinates of the tensor; lib/Layout/LinearLayout.h explains
    it. Each list has one entry per bit of that index: the coordinates which
    the bit contributes. Entries of zeros mean that the bit does not matter:
    several threads hold the same element.

    Example, 8 rows of 16 columns over a warp, 4 registers a thread:
    ```mlir
    #tilegpu.layout<registers = [[0, 1], [0, 2]],
                    lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]],
                    warps = []>
    ```
  }];
  let parameters = (ins "unsigned":$rank,
                        ArrayRefParameter<"int32_t">:$registers,
                        ArrayRefParameter<"int32_t">:$lanes,
                        ArrayRefParameter<"int32_t">:$warps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The layout as lib/Layout computes with it, for a tensor of `shape`.
    ::tilec::layout::LinearLayout
    toLinear(::llvm::ArrayRef<int64_t> shape) const;
    static LayoutAttr get(::mlir::MLIRContext *context,
                          const ::tilec::layout::LinearLayout &layout);
    /// Registers of a thread.
    int64_t getNumRegisters() const {
      return int64_t(1) << (getRegisters().size() / getRank());
    }
  }];
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

def TileGPU_GridAxisAttr
    : AttrDef<TileGPU_Dialect, "GridAxis", [DeviceMappingAttrInterface]> {
  let mnemonic = "grid_axis";
  let summary = "the axis of the source's grid that a loop over programs is";
  let description = [{
    The mapping of an `scf.forall` over the programs of a kernel. A loop that
    has one keeps its axes, also those of one program or none: a launch counts
    programs along the axes that the source has.

    ```mlir
    scf.forall (%b, %n) in (1, %N) { ... }
        {mapping = [#tilegpu.grid_axis<0>, #tilegpu.grid_axis<1>]}
    ```
  }];
  let parameters = (ins "int64_t":$axis);
  let assemblyFormat = "`<` $axis `>`";
  let extraClassDeclaration = [{
    // DeviceMappingAttrInterface:
    int64_t getMappingId() const { return getAxis(); }
    bool isLinearMapping() const { return true; }
    int64_t getRelativeIndex() const { return getAxis(); }
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def TileGPU_BufferType : TypeDef<TileGPU_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a matrix in shared memory, in one or more slots";
  let description = [{
    `slots` copies of a `rows` x `columns` matrix, each row contiguous. To keep
    the banks of shared memory apart, the 16-byte chunk `c` of row `r` stands at
    place `c ^ (r / phase_rows % phases)` of its row; `phases` = 1 is the plain
    order. See lib/Layout/SharedLayout.h.

    A tensor of rank 1 is one row; of a tensor of higher rank than 2 all axes
    but the last form the rows.

    Example: `!tilegpu.buffer<3 x 128x64xbf16, phase_rows = 1, phases = 8>`
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType, "int64_t":$phaseRows,
                        "int64_t":$phases);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of one element, one slot and all slots.
    int64_t getElementBytes() const;
    int64_t getSlotBytes() const;
    int64_t getBytes() const { return getSlots() * getSlotBytes(); }
    /// The same buffer with another number of slots.
    BufferType withSlots(int64_t slots) const;
    /// The buffer of one slot for a tensor of `shape`, swizzled where that
    /// avoids bank conflicts.
    static BufferType forTile(::llvm::ArrayRef<int64_t> shape,
                              ::mlir::Type elementType);
  }];
}

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, traits>;

#endif // TILEC_TILEGPU_BASE_TD
