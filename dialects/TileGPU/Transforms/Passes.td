//===- Passes.td - Passes over the tilegpu dialect -----*- tablegen -*-===//
//
// What each pass does, with the IR before and after it, shortened to what
// matters.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TILEGPU_TRANSFORMS_PASSES_TD
#define TILEC_TILEGPU_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileGPUPipelineLoops
    : Pass<"tilegpu-pipeline-loops", "::mlir::tile::KernelOp"> {
  let summary = "copies for later iterations while this one computes";
  let description = [{
    A loop whose body copies to shared memory, waits and computes leaves memory
    idle half of the time. This pass gives the buffers several slots and begins
    the copies of iteration `i + stages - 1` in iteration `i`.

    The number of stages is the schedule's `stages`; without it as many, from 2
    to 4, as leave room for two thread blocks on a multiprocessor. Results do
    not depend on it.

    Before:
    ```mlir
    scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) {
      %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 128x64xbf16, ...>
      tilegpu.async_copy %A[%m, %k] ..., %a[%c0] ...
      tilegpu.commit
      tilegpu.wait 0
      %d = tilegpu.mma %acc, %a[%c0], ...
      scf.yield %d
    }
    ```
    After, for 3 stages:
    ```mlir
    %a = tilegpu.alloc "A" : !tilegpu.buffer<3 x 128x64xbf16, ...>
    // twice, for the first two iterations, if there are so many:
    tilegpu.async_copy %A[%m, %c0] ..., %a[%c0] ...
    tilegpu.commit
    scf.for %k = %c0 to %K step %c64
        iter_args(%acc = %zero, %read = %c0, %write = %c2) {
      tilegpu.wait 1
      tilegpu.barrier
      %k2 = arith.addi %k, %c128
      %exists = arith.cmpi slt, %k2, %K
      scf.if %exists {
        tilegpu.async_copy %A[%m, %k2] ..., %a[%write] ...
      }
      tilegpu.commit
      %d = tilegpu.mma %acc, %a[%read], ...
      // %read and %write go round: 0, 1, 2, 0, ...
      scf.yield %d, %read1, %write1
    }
    tilegpu.wait 0
    ```

    A copy whose position is computed from what the loop carries, that stands in
    a branch, or whose tensor the loop writes, stays where it is; so do all of a
    loop that contains others with copies of their own. A position that is read
    from memory, such as the page of a block of keys, is read ahead as well if it
    is of an `in` tensor; in memory that may be written it might change until
    then, and its copy stays.

    Remarks (category `tilegpu-pipeline-loops`): `pipelined`, and
    `not-pipelined` with the reason.
  }];
  let options = [
    Option<"sharedBudget", "shared-budget", "int64_t", /*default=*/"114688",
           "Bytes of shared memory up to which stages are added by default">,
    Option<"limit", "limit", "int64_t", /*default=*/"232448",
           "Shared memory of a thread block on the target, in bytes">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tilegpu::TileGPUDialect"];
}

def TileGPUAllocateShared
    : Pass<"tilegpu-allocate-shared", "::mlir::tile::KernelOp"> {
  let summary = "gives buffers and exchanges their place in shared memory";
  let description = [{
    Writes the offset of every `tilegpu.alloc` and the `tilegpu.scratch` of every
    op that exchanges values between warps. What is not in use at the same time
    may share a place; a buffer used in a loop that it was not allocated in is in
    use during all of it, and one that is copied to asynchronously until the next
    `tilegpu.wait 0`. Small exchanges get places of their own, which saves
    barriers between them.

    Before:
    ```mlir
    %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 64x64xf32, ...>
    %m = tile.reduce max %x axes [1] : ...
    ```
    After:
    ```mlir
    %a = tilegpu.alloc "A" at 128 : !tilegpu.buffer<1 x 64x64xf32, ...>
    %m = tile.reduce max %x axes [1] {tilegpu.scratch = 0 : i64} : ...
    ```
    and `tilegpu.shared_bytes` on the kernel.

    **Errors.** More than `limit` bytes are in use at once: lists every buffer
    with its size and place in the source.
  }];
  let options = [
    Option<"limit", "limit", "int64_t", /*default=*/"232448",
           "Shared memory of a thread block on the target, in bytes">
  ];
  let dependentDialects = ["::mlir::tilegpu::TileGPUDialect"];
}

def TileGPUInsertBarriers
    : Pass<"tilegpu-insert-barriers", "::mlir::tile::KernelOp"> {
  let summary = "orders accesses of a block's threads to the same memory";
  let description = [{
    Puts a `tilegpu.barrier` before an access that would meet one of another
    thread since the last barrier: a read of what was written, or a write of what
    was read or written, in shared memory or in an argument that the kernel
    writes.

    Data of an asynchronous copy counts as written at the `tilegpu.wait` that
    completes it. Accesses to an argument need no barrier between them if their
    blocks begin apart, or if both move the same block in the same layout and no
    element is loaded by several threads. Loops are looked at around their back
    edge too. Runs after `tilegpu-allocate-shared`, as buffers may share a place.

    Before:
    ```mlir
    tilegpu.local_store %p, %a[%c0] : ...
    %d = tilegpu.mma %acc, %a[%c0], %b[%c0] ...
    ```
    After:
    ```mlir
    tilegpu.local_store %p, %a[%c0] : ...
    tilegpu.barrier
    %d = tilegpu.mma %acc, %a[%c0], %b[%c0] ...
    ```
  }];
  let dependentDialects = ["::mlir::tilegpu::TileGPUDialect"];
}

#endif // TILEC_TILEGPU_TRANSFORMS_PASSES_TD
