// RUN: tilec-opt --tilegpu-allocate-shared %s | FileCheck %s

// Who may share a place in shared memory.

#l = #tilegpu.layout<registers = [[0, 1], [0, 2]], lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>
!small = !tilegpu.buffer<1 x 8x16xf32, phase_rows = 1, phases = 1>
!large = !tilegpu.buffer<2 x 8x16xf32, phase_rows = 1, phases = 1>

// 512 and 1024 bytes. The first is read for the last time before the second is
// written: one place.

// CHECK-LABEL: tile.kernel @in_turn
// CHECK-SAME: tilegpu.shared_bytes = 1024 : i64
// CHECK: tilegpu.alloc "A" at 0 :
// CHECK: tilegpu.alloc "B" at 0 :
tile.kernel @in_turn(%Y: !tile.view<8x16xf32> {tile.name = "Y", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" : !small
  tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !small
  %y = tilegpu.local_load %a[%c0] : !small -> tensor<8x16xf32, #l>
  %b = tilegpu.alloc "B" : !large
  tilegpu.local_store %y, %b[%c0] : tensor<8x16xf32, #l>, !large
  %z = tilegpu.local_load %b[%c0] : !large -> tensor<8x16xf32, #l>
  tile.store %z, %Y[%c0, %c0] dims [0, 1] : tensor<8x16xf32, #l>, !tile.view<8x16xf32>
  tile.return
}

// Both are needed at once: the larger one comes first.

// CHECK-LABEL: tile.kernel @at_once
// CHECK-SAME: tilegpu.shared_bytes = 1536 : i64
// CHECK: tilegpu.alloc "A" at 1024 :
// CHECK: tilegpu.alloc "B" at 0 :
tile.kernel @at_once(%Y: !tile.view<8x16xf32> {tile.name = "Y", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" : !small
  %b = tilegpu.alloc "B" : !large
  tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !small
  tilegpu.local_store %x, %b[%c0] : tensor<8x16xf32, #l>, !large
  %y = tilegpu.local_load %a[%c0] : !small -> tensor<8x16xf32, #l>
  tile.store %y, %Y[%c0, %c0] dims [0, 1] : tensor<8x16xf32, #l>, !tile.view<8x16xf32>
  tile.return
}

// What a loop reads in every iteration is in use in all of it.

// CHECK-LABEL: tile.kernel @around_a_loop
// CHECK-SAME: tilegpu.shared_bytes = 1536 : i64
// CHECK: tilegpu.alloc "A" at 1024 :
// CHECK: tilegpu.alloc "B" at 0 :
tile.kernel @around_a_loop(%Y: !tile.view<8x16xf32> {tile.name = "Y", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" : !small
  tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !small
  scf.for %i = %c0 to %c9 step %c1 {
    %y = tilegpu.local_load %a[%c0] : !small -> tensor<8x16xf32, #l>
    %b = tilegpu.alloc "B" : !large
    tilegpu.local_store %y, %b[%c0] : tensor<8x16xf32, #l>, !large
    %z = tilegpu.local_load %b[%c0] : !large -> tensor<8x16xf32, #l>
    tile.store %z, %Y[%c0, %c0] dims [0, 1] : tensor<8x16xf32, #l>, !tile.view<8x16xf32>
  }
  tile.return
}

// A copy may arrive until it has been waited for, even if nobody reads it.

// CHECK-LABEL: tile.kernel @in_flight
// CHECK-SAME: tilegpu.shared_bytes = 1536 : i64
// CHECK: tilegpu.alloc "A" at 1024 :
// CHECK: tilegpu.alloc "B" at 0 :
// CHECK: tilegpu.wait 0
// CHECK: tilegpu.alloc "C" at 0 :
tile.kernel @in_flight(%A: !tile.view<8x16xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  %a = tilegpu.alloc "A" : !small
  tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<8x16xf32>, !small
  tilegpu.commit
  tilegpu.wait 1
  %b = tilegpu.alloc "B" : !large
  tilegpu.local_store %x, %b[%c0] : tensor<8x16xf32, #l>, !large
  tilegpu.wait 0
  %c = tilegpu.alloc "C" : !large
  tilegpu.local_store %x, %c[%c0] : tensor<8x16xf32, #l>, !large
  tile.return
}

// An exchange between warps has a place; a small one shares it with nobody, and
// one within a warp needs none.

#two = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = [[64]]>
#one = #tilegpu.layout<registers = [[1], [64]], lanes = [[2], [4], [8], [16], [32]], warps = [[0]]>

// CHECK-LABEL: tile.kernel @exchanges
// CHECK: tile.reduce sum %{{.*}} axes [0] {tilegpu.scratch = [[P:[0-9]+]] : i64} : tensor<128xf32, #[[TWO:.*]]> -> tensor<f32>
// CHECK-NEXT: tile.print "first"
// CHECK-NOT: tilegpu.scratch = [[P]]
// CHECK: tile.reduce max %{{.*}} axes [0] {tilegpu.scratch = {{[0-9]+}} : i64} : tensor<128xf32, #[[TWO]]> -> tensor<f32>
// CHECK: tile.reduce sum %{{.*}} axes [0] : tensor<128xf32, #{{.*}}> -> tensor<f32>
tile.kernel @exchanges() attributes {tilegpu.warps = 2 : i64} {
  %x = arith.constant dense<0.0> : tensor<128xf32, #two>
  %y = arith.constant dense<0.0> : tensor<128xf32, #one>
  scf.forall (%i) in (1) {
    %0 = tile.reduce sum %x axes [0] : tensor<128xf32, #two> -> tensor<f32>
    tile.print "first", %0 : tensor<f32>
    %1 = tile.reduce max %x axes [0] : tensor<128xf32, #two> -> tensor<f32>
    tile.print "second", %1 : tensor<f32>
    %2 = tile.reduce sum %y axes [0] : tensor<128xf32, #one> -> tensor<f32>
    tile.print "third", %2 : tensor<f32>
  }
  tile.return
}

// So has the print of tiles, 8 bytes for each; numbers need none.

// CHECK-LABEL: tile.kernel @prints
// CHECK-SAME: tilegpu.shared_bytes = 16 : i64
// CHECK: tile.print "tiles and a number", %{{.*}}, %{{.*}}, %{{.*}} {tilegpu.scratch = 0 : i64}
// CHECK-NEXT: tile.print "number", %{{.*}} : i64
tile.kernel @prints() {
  %n = arith.constant 3 : i64
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  scf.forall (%i) in (1) {
    tile.print "tiles and a number", %x, %x, %n : tensor<8x16xf32, #l>, tensor<8x16xf32, #l>, i64
    tile.print "number", %n : i64
  }
  tile.return
}
