// RUN: tilec-opt --tilegpu-insert-barriers %s | FileCheck %s

// A barrier where an access would meet one of another thread, and only there.

#l = #tilegpu.layout<registers = [[0, 1], [0, 2]], lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>
#w = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = [[64]]>
!buffer = !tilegpu.buffer<1 x 8x16xf32, phase_rows = 1, phases = 1>

// A read of what was written, once; a write of what was read.

// CHECK-LABEL: tile.kernel @written_and_read
// CHECK: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tile.print
tile.kernel @written_and_read() {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" at 0 : !buffer
  tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !buffer
  %y = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
  %z = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
  tilegpu.local_store %y, %a[%c0] : tensor<8x16xf32, #l>, !buffer
  tile.print "y", %y, %z : tensor<8x16xf32, #l>, tensor<8x16xf32, #l>
  tile.return
}

// Two writes in turn; two buffers apart, which need none, and two that share
// bytes.

// CHECK-LABEL: tile.kernel @places
// CHECK: tilegpu.local_store %{{.*}}, %[[A:.*]][
// CHECK-NEXT: tilegpu.local_store %{{.*}}, %[[B:.*]][
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store %{{.*}}, %[[C:.*]][
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store %{{.*}}, %[[C]][
tile.kernel @places() {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" at 0 : !buffer
  %b = tilegpu.alloc "B" at 512 : !buffer
  %c = tilegpu.alloc "C" at 768 : !buffer
  tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !buffer
  tilegpu.local_store %x, %b[%c0] : tensor<8x16xf32, #l>, !buffer
  tilegpu.local_store %x, %c[%c0] : tensor<8x16xf32, #l>, !buffer
  tilegpu.local_store %x, %c[%c0] : tensor<8x16xf32, #l>, !buffer
  tile.return
}

// The barrier that there is serves.

// CHECK-LABEL: tile.kernel @there_already
// CHECK: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.return
tile.kernel @there_already() {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" at 0 : !buffer
  tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !buffer
  tilegpu.barrier
  %y = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
  tile.print "y", %y : tensor<8x16xf32, #l>
  tile.return
}

// What is copied counts as written when it has been waited for; of a wait for
// some groups, all may be what was waited for. A copy into what others read
// waits for them.

// CHECK-LABEL: tile.kernel @copies
// CHECK: tilegpu.async_copy
// CHECK-NEXT: tilegpu.commit
// CHECK-NEXT: tilegpu.wait 1
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.async_copy
// CHECK-NEXT: tilegpu.commit
// CHECK-NEXT: tilegpu.wait 0
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
tile.kernel @copies(%A: !tile.view<8x16xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" at 0 : !buffer
  tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<8x16xf32>, !buffer
  tilegpu.commit
  tilegpu.wait 1
  %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
  tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<8x16xf32>, !buffer
  tilegpu.commit
  tilegpu.wait 0
  %y = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
  tile.print "x", %x, %y : tensor<8x16xf32, #l>, tensor<8x16xf32, #l>
  tile.return
}

// Around the back edge: the read of one iteration and the write of the next.
// Behind the loop it may have had no iteration.

// CHECK-LABEL: tile.kernel @loop
// CHECK: tilegpu.local_store
// CHECK: scf.for
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK: }
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
tile.kernel @loop(%n: i64 {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = arith.index_cast %n : i64 to index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" at 0 : !buffer
  tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !buffer
  scf.for %i = %c0 to %N step %c1 {
    %y = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
    tilegpu.local_store %y, %a[%c0] : tensor<8x16xf32, #l>, !buffer
  }
  %z = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
  tile.print "z", %z : tensor<8x16xf32, #l>
  tile.return
}

// A read at the end of an iteration, met by the write at the beginning of the
// next one only.

// CHECK-LABEL: tile.kernel @back_edge
// CHECK: scf.for
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
tile.kernel @back_edge(%n: i64 {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = arith.index_cast %n : i64 to index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" at 0 : !buffer
  scf.for %i = %c0 to %N step %c1 {
    tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !buffer
    %y = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
    tile.print "y", %y : tensor<8x16xf32, #l>
  }
  tile.return
}

// A write on one side of a branch is a write.

// CHECK-LABEL: tile.kernel @branch
// CHECK: scf.if
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
tile.kernel @branch(%c: i1 {tile.name = "c"}) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" at 0 : !buffer
  scf.if %c {
    tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !buffer
  }
  %y = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
  tile.print "y", %y : tensor<8x16xf32, #l>
  tile.return
}

// An exchange has a barrier of its own between its write and its read. Two at
// one place need one between them, two at places of their own do not, and that
// of the third stands between the second and the fourth.

// CHECK-LABEL: tile.kernel @exchanges
// CHECK: tile.reduce sum
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.reduce max
// CHECK-NEXT: tile.reduce min
// CHECK-NEXT: tile.reduce prod
tile.kernel @exchanges() attributes {tilegpu.warps = 2 : i64} {
  %x = arith.constant dense<0.0> : tensor<128xf32, #w>
  scf.forall (%i) in (1) {
    %0 = tile.reduce sum %x axes [0] {tilegpu.scratch = 0 : i64} : tensor<128xf32, #w> -> tensor<f32>
    %1 = tile.reduce max %x axes [0] {tilegpu.scratch = 0 : i64} : tensor<128xf32, #w> -> tensor<f32>
    %2 = tile.reduce min %x axes [0] {tilegpu.scratch = 128 : i64} : tensor<128xf32, #w> -> tensor<f32>
    %3 = tile.reduce prod %x axes [0] {tilegpu.scratch = 0 : i64} : tensor<128xf32, #w> -> tensor<f32>
    tile.print "all", %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  tile.return
}

// A product reads both operands behind one barrier.

#acc = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
#opa = #tilegpu.layout<registers = [[0, 1], [8, 0], [0, 8]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>

// CHECK-LABEL: tile.kernel @product
// CHECK: tilegpu.local_store
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.mma
// CHECK-NEXT: tilegpu.mma
tile.kernel @product() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %x = arith.constant dense<1.0> : tensor<16x16xbf16, #opa>
  %y = arith.constant dense<1.0> : tensor<16x8xbf16, #acc>
  %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" at 512 : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tilegpu.local_store %x, %a[%c0] : tensor<16x16xbf16, #opa>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tilegpu.local_store %y, %b[%c0] : tensor<16x8xbf16, #acc>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  %0 = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee : tensor<16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  %1 = tilegpu.mma %0, %a[%c0], %b[%c0] precision ieee : tensor<16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.print "d", %1 : tensor<16x8xf32, #acc>
  tile.return
}

// What different threads read and write in an argument: all hold copies of a
// tile that is smaller than the block, and one stores it.

#copies = #tilegpu.layout<registers = [], lanes = [[1], [2], [0], [0], [0]], warps = []>
#apart = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>
#other = #tilegpu.layout<registers = [[32]], lanes = [[1], [2], [4], [8], [16]], warps = []>

// CHECK-LABEL: tile.kernel @read_by_all
// CHECK: tile.load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.load
tile.kernel @read_by_all(%Y: !tile.view<4xf32> {tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %Y[%c0] dims [0] pad zero : !tile.view<4xf32> -> tensor<4xf32, #copies>
  tile.store %x, %Y[%c0] dims [0] : tensor<4xf32, #copies>, !tile.view<4xf32>
  %y = tile.load %Y[%c0] dims [0] pad zero : !tile.view<4xf32> -> tensor<4xf32, #copies>
  tile.print "y", %y : tensor<4xf32, #copies>
  tile.return
}

// None where the same thread reads and writes; one for another layout.

// CHECK-LABEL: tile.kernel @same_threads
// CHECK: tile.load
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tile.store
tile.kernel @same_threads(%Y: !tile.view<64xf32> {tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %Y[%c0] dims [0] pad zero : !tile.view<64xf32> -> tensor<64xf32, #apart>
  tile.store %x, %Y[%c0] dims [0] : tensor<64xf32, #apart>, !tile.view<64xf32>
  %y = tile.load %Y[%c0] dims [0] pad zero : !tile.view<64xf32> -> tensor<64xf32, #apart>
  %c = arith.constant dense<1.0> : tensor<64xf32, #other>
  tile.store %c, %Y[%c0] dims [0] : tensor<64xf32, #other>, !tile.view<64xf32>
  tile.print "y", %y : tensor<64xf32, #apart>
  tile.return
}

// In a loop: tiles that follow each other do not meet; the same rows read at
// another place do.

// CHECK-LABEL: tile.kernel @tiles_of_a_loop
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.return
tile.kernel @tiles_of_a_loop(%Y: !tile.view<?xf32> {tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c64 {
    %x = tile.load %Y[%i] dims [0] pad zero : !tile.view<?xf32> -> tensor<64xf32, #apart>
    tile.store %x, %Y[%i] dims [0] : tensor<64xf32, #apart>, !tile.view<?xf32>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @overlapping_tiles_of_a_loop
// CHECK: scf.for
// CHECK: tilegpu.barrier
// CHECK-NEXT: tile.load
tile.kernel @overlapping_tiles_of_a_loop(%Y: !tile.view<?xf32> {tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c8 {
    %x = tile.load %Y[%i] dims [0] pad zero : !tile.view<?xf32> -> tensor<64xf32, #apart>
    tile.store %x, %Y[%i] dims [0] : tensor<64xf32, #apart>, !tile.view<?xf32>
  }
  tile.return
}

// Blocks at constants apart never meet.

// CHECK-LABEL: tile.kernel @halves
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.return
tile.kernel @halves(%Y: !tile.view<2x64xf32> {tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<0.0> : tensor<64xf32, #apart>
  tile.store %x, %Y[%c0, %c0] dims [1] : tensor<64xf32, #apart>, !tile.view<2x64xf32>
  tile.store %x, %Y[%c1, %c0] dims [1] : tensor<64xf32, #apart>, !tile.view<2x64xf32>
  tile.return
}
