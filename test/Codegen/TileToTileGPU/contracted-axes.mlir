// RUN: tilec-opt %s --pass-pipeline='builtin.module(tile.kernel(convert-tile-to-tilegpu))' \
// RUN:   --split-input-file | FileCheck %s

// Several contracted axes become one: both operands are stored with them in one
// order, the axis along which %A is contiguous last.

// CHECK-LABEL: tile.kernel @collapsed
// CHECK: %[[A:.*]] = tilegpu.alloc "A" : <1 x 64x32xbf16
// CHECK: tilegpu.async_copy %A[%{{.*}}] dims [0, 1, 2], %[[A]][%{{.*}}] vector 16 shape [64, 4, 8]
// CHECK: %[[B:.*]] = tilegpu.alloc "B" : <1 x 32x64xbf16
// CHECK: tilegpu.async_copy %B[%{{.*}}] dims [1, 0, 2], %[[B]][%{{.*}}] vector 16 shape [4, 8, 64]
// CHECK: tilegpu.mma %{{.*}}, %[[A]][%{{.*}}], %[[B]][%{{.*}}] precision ieee :
tile.kernel @collapsed(%A: !tile.view<64x4x8xbf16> {tile.name = "A", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<8x4x64xbf16> {tile.name = "B", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<64x64xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0, %c0, %c0] dims [0, 1, 2] pad zero : !tile.view<64x4x8xbf16> -> tensor<64x4x8xbf16>
    %b = tile.load %B[%c0, %c0, %c0] dims [0, 1, 2] pad zero : !tile.view<8x4x64xbf16> -> tensor<8x4x64xbf16>
    %d = tile.dot %a, %b contract [1, 2] x [1, 0] batch [] x [] precision ieee : tensor<64x4x8xbf16>, tensor<8x4x64xbf16> -> tensor<64x64xf32>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<64x64xf32>, !tile.view<64x64xf32>
  }
  tile.return
}

// -----

// Batch axes and several free ones: of the accumulator's axes one numbers
// products, two are rows.

// CHECK-LABEL: tile.kernel @batches
// CHECK: tilegpu.alloc "A" : <1 x 256x16xf16
// CHECK: tilegpu.alloc "B" : <1 x 32x32xf16
// CHECK: tilegpu.mma {{.*}} precision ieee {batch = 1 : i64, row_axes = 2 : i64} : tensor<2x4x32x32xf32
tile.kernel @batches(%A: !tile.view<4x2x32x16xf16> {tile.name = "A", tile.unit_stride = 3 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<2x16x32xf16> {tile.name = "B", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<2x4x32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 3 : i64, tilegpu.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0, %c0, %c0, %c0] dims [0, 1, 2, 3] pad zero : !tile.view<4x2x32x16xf16> -> tensor<4x2x32x16xf16>
    %b = tile.load %B[%c0, %c0, %c0] dims [0, 1, 2] pad zero : !tile.view<2x16x32xf16> -> tensor<2x16x32xf16>
    %d = tile.dot %a, %b contract [3] x [1] batch [1] x [0] precision ieee : tensor<4x2x32x16xf16>, tensor<2x16x32xf16> -> tensor<2x4x32x32xf32>
    tile.store %d, %C[%c0, %c0, %c0, %c0] dims [0, 1, 2, 3] : tensor<2x4x32x32xf32>, !tile.view<2x4x32x32xf32>
  }
  tile.return
}

// -----

// Operands that are large together are contracted piece by piece, up to where
// the axis ends.

// CHECK-LABEL: tile.kernel @looped
// CHECK: %[[V:.*]] = tile.valid %{{.*}} to %{{.*}} size 32
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[V]] step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<64x64xf32
// CHECK:   %[[AT:.*]] = arith.addi %{{.*}}, %[[J]]
// CHECK:   tilegpu.alloc "A" : <1 x 64x64xbf16
// CHECK:   tilegpu.async_copy %A[%{{.*}}, %[[AT]], %{{.*}}] dims [0, 2] {{.*}} vector 16 shape [64, 64]
// CHECK:   tilegpu.alloc "B" : <1 x 64x64xbf16
// CHECK:   tilegpu.mma %[[ACC]],
// CHECK:   scf.yield
tile.kernel @looped(%A: !tile.view<64x?x64xbf16> {tile.name = "A", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<?x64x64xbf16> {tile.name = "B", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<64x64xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %J = tile.dim %A, 1 : !tile.view<64x?x64xbf16>
  scf.forall (%i) in (1) {
    %v = tile.valid %c0 to %J size 32
    %a = tile.load %A[%c0, %c0, %c0] dims [0, 1, 2] valid [%c64, %v, %c64] pad zero : !tile.view<64x?x64xbf16> -> tensor<64x32x64xbf16>
    %b = tile.load %B[%c0, %c0, %c0] dims [0, 1, 2] valid [%v, %c64, %c64] pad zero : !tile.view<?x64x64xbf16> -> tensor<32x64x64xbf16>
    %d = tile.dot %a, %b contract [1, 2] x [0, 1] batch [] x [] precision ieee : tensor<64x32x64xbf16>, tensor<32x64x64xbf16> -> tensor<64x64xf32>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<64x64xf32>, !tile.view<64x64xf32>
  }
  tile.return
}
