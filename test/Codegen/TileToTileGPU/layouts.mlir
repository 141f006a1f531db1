// RUN: tilec-opt --convert-tile-to-tilegpu %s | FileCheck %s

// Which layout a tile gets.

// A load wants 16 bytes a thread along the dimension of stride 1, and lanes side
// by side; what is computed from it follows.

// CHECK: #[[V:.*]] = #tilegpu.layout<registers = {{\[\[}}1], [2]], lanes = {{\[\[}}4], [8], [16], [32], [64]], warps = []>
// CHECK-DAG: #[[R:.*]] = #tilegpu.layout<registers = {{\[\[}}1, 0], [2, 0], [0, 8], [0, 16]], lanes = {{\[\[}}4, 0], {{.*}}], warps = []>

// CHECK-LABEL: tile.kernel @vectors
// CHECK: tile.load {{.*}} -> tensor<128xf32, #[[V]]>
// CHECK: arith.addf {{.*}} : tensor<128xf32, #[[V]]>
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.store {{.*}} : tensor<128xf32, #[[V]]>
tile.kernel @vectors(%A: !tile.view<?xf32> {tile.name = "A", tile.access = #tile.access<inout>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64}) attributes {tile.schedule = #tile.schedule<{warps = 1 : i64}>} {
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i] dims [0] pad zero : !tile.view<?xf32> -> tensor<128xf32>
    %y = arith.addf %x, %x : tensor<128xf32>
    tile.store %y, %A[%i] dims [0] : tensor<128xf32>, !tile.view<?xf32>
  }
  tile.return
}

// With the other dimension contiguous, along that one.

// CHECK-LABEL: tile.kernel @columns
// CHECK: tile.load {{.*}} -> tensor<16x32xf32, #[[R]]>
tile.kernel @columns(%A: !tile.view<?x?xf32> {tile.name = "A", tile.access = #tile.access<inout>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64}) attributes {tile.schedule = #tile.schedule<{warps = 1 : i64}>} {
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i, %i] dims [0, 1] pad zero : !tile.view<?x?xf32> -> tensor<16x32xf32>
    tile.store %x, %A[%i, %i] dims [0, 1] : tensor<16x32xf32>, !tile.view<?x?xf32>
  }
  tile.return
}

// From columns to rows: both accesses are wide, and the tile changes hands once.

// CHECK-LABEL: tile.kernel @transpose
// CHECK: %[[X:.*]] = tile.load
// CHECK-COUNT-1: tilegpu.convert_layout
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.store
tile.kernel @transpose(%A: !tile.view<?x?xf32> {tile.name = "A", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                       %B: !tile.view<?x?xf32> {tile.name = "B", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64}) {
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i, %i] dims [0, 1] pad zero : !tile.view<?x?xf32> -> tensor<64x64xf32>
    tile.store %x, %B[%i, %i] dims [0, 1] : tensor<64x64xf32>, !tile.view<?x?xf32>
  }
  tile.return
}

// The result of a reduction has the operand's layout without the axis, and is
// broadcast back without a conversion.

// CHECK-LABEL: tile.kernel @reduce
// CHECK: tile.reduce
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.broadcast
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tile.store
tile.kernel @reduce(%A: !tile.view<?x?xf32> {tile.name = "A", tile.access = #tile.access<inout>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64}) {
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i, %i] dims [0, 1] pad zero : !tile.view<?x?xf32> -> tensor<16x128xf32>
    %m = tile.reduce max %x axes [1] : tensor<16x128xf32> -> tensor<16xf32>
    %b = tile.broadcast %m dims [0] : tensor<16xf32> -> tensor<16x128xf32>
    %y = arith.subf %x, %b : tensor<16x128xf32>
    tile.store %y, %A[%i, %i] dims [0, 1] : tensor<16x128xf32>, !tile.view<?x?xf32>
  }
  tile.return
}
