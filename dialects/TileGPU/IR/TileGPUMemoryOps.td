//===- TileGPUMemoryOps.td - Shared memory and order ---*- tablegen -*-===//
//
// Buffers, copies into and out of them, and what orders these.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILEGPU_MEMORY_OPS_TD
#define TILEC_TILEGPU_MEMORY_OPS_TD

include "dialects/TileGPU/IR/TileGPUBase.td"

def TileGPU_AllocOp : TileGPU_Op<"alloc", [
    MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer in shared memory";
  let description = [{
    Holds nothing yet. The buffer lives as long as it is used; buffers whose
    lives do not overlap may get the same place. `offset`, in bytes, is written
    by `tilegpu-allocate-shared`. `name` is what the source calls the tensor
    that is staged in it.

    **Example.**
    ```mlir
    %a = tilegpu.alloc "A" : !tilegpu.buffer<3 x 128x64xbf16, phase_rows = 1,
                                             phases = 8>
    ```

    **Errors.** An offset that is not a multiple of 16.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$offset);
  let results = (outs TileGPU_BufferType:$buffer);
  let assemblyFormat = [{
    $name (`at` $offset^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def TileGPU_AsyncCopyOp : TileGPU_Op<"async_copy", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>
  ]> {
  let summary = "begins to copy a block of a view into a buffer";
  let description = [{
    The block that `tile.load` with the same operands would read, of the shape
    `shape`, whose last axes are the row of the buffer. Lanes beyond `valid`, and
    all lanes if `predicate` is false, become zero. The copy belongs to the
    calling thread's open group (`tilegpu.commit`); its data may be read after a
    `tilegpu.wait` of that group and a barrier.

    `vector` is the number of bytes copied at a time: 16, 8 or 4 by `cp.async`,
    less by an ordinary load and store (complete at once). It divides the
    alignment of every row.

    **Preconditions.** Nobody reads the slot any more.

    **Example.**
    ```mlir
    tilegpu.async_copy %A[%m, %k] dims [0, 1] valid [%vm, %vk], %buf[%slot]
        vector 16 shape [128, 64]
        : !tile.view<?x?xbf16>, !tilegpu.buffer<3 x 128x64xbf16, ...>
    ```

    **Errors.** As `tile.load`; a shape that is not the buffer's; a vector that
    is no power of two from the element's size to 16.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
                       Variadic<Index>:$valid, Optional<I1>:$predicate,
                       TileGPU_BufferType:$buffer, Index:$slot,
                       DenseI64ArrayAttr:$dims, I64Attr:$vector,
                       DenseI64ArrayAttr:$shape);
  let assemblyFormat = [{
    $view `[` $indices `]` `dims` $dims (`valid` `[` $valid^ `]`)?
    (`if` $predicate^)? `,` $buffer `[` $slot `]` `vector` $vector
    `shape` $shape attr-dict `:` qualified(type($view)) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def TileGPU_CommitOp : TileGPU_Op<"commit", [
    MemoryEffects<[MemWrite, MemRead]>]> {
  let summary = "closes the group of copies begun since the last commit";
  let description = [{
    Groups complete in order.

    **Example.** `tilegpu.commit`
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_WaitOp : TileGPU_Op<"wait", [MemoryEffects<[MemWrite, MemRead]>]> {
  let summary = "waits until at most some groups of copies are pending";
  let description = [{
    Completes the calling thread's copies of all groups but the last `pending`.
    Other threads see them after a barrier.

    **Example.** `tilegpu.wait 1`

    **Errors.** A negative number.
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 1;
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [
    MemoryEffects<[MemWrite, MemRead]>]> {
  let summary = "all threads of the block arrive before any goes on";
  let description = [{
    What threads wrote to shared memory before it, all threads see after it.

    **Preconditions.** All threads of the block reach it, or none.

    **Example.** `tilegpu.barrier`
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_LocalStoreOp : TileGPU_Op<"local_store", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes a fragment to a slot of a buffer";
  let description = [{
    **Preconditions.** Nobody reads the slot any more.

    **Example.**
    ```mlir
    tilegpu.local_store %p, %buf[%c0] : tensor<64x32xbf16, #mma>,
        !tilegpu.buffer<1 x 64x32xbf16, phase_rows = 2, phases = 4>
    ```

    **Errors.** A fragment without a layout; a buffer of another size or element
    type.
  }];
  let arguments = (ins Tile_Tensor:$value, TileGPU_BufferType:$buffer,
                       Index:$slot);
  let assemblyFormat = [{
    $value `,` $buffer `[` $slot `]` attr-dict `:` type($value) `,`
    type($buffer)
  }];
  let hasVerifier = 1;
}

def TileGPU_LocalLoadOp : TileGPU_Op<"local_load", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads a fragment from a slot of a buffer";
  let description = [{
    **Example.**
    ```mlir
    %q = tilegpu.local_load %buf[%c0]
        : !tilegpu.buffer<1 x 64x32xbf16, phase_rows = 2, phases = 4>
        -> tensor<64x32xbf16, #blocked>
    ```

    **Errors.** As `tilegpu.local_store`.
  }];
  let arguments = (ins TileGPU_BufferType:$buffer, Index:$slot);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $buffer `[` $slot `]` attr-dict `:` type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TILEC_TILEGPU_MEMORY_OPS_TD
