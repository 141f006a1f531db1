// RUN: tilec-opt --convert-tile-to-tilegpu %s | FileCheck %s
// RUN: tilec-opt --convert-tile-to-tilegpu=arch=80 %s | FileCheck %s --check-prefix=SM80

// What becomes of products and where their operands go.

// Operands that are loads go to shared memory and never through registers.

// CHECK-LABEL: tile.kernel @loads
// CHECK-DAG: %[[A:.*]] = tilegpu.alloc "A" : <1 x 64x32xbf16
// CHECK-DAG: %[[B:.*]] = tilegpu.alloc "B" : <1 x 32x64xbf16
// CHECK-DAG: tilegpu.async_copy %A{{.*}} dims [0, 1] valid[%{{.*}}, %{{.*}}], %[[A]][%{{.*}}] vector 16 shape [64, 32]
// CHECK-DAG: tilegpu.async_copy %B{{.*}}, %[[B]][%{{.*}}] vector 8 shape [32, 64]
// CHECK: tilegpu.commit
// CHECK: tilegpu.wait 0
// CHECK: tilegpu.mma %{{.*}}, %[[A]][%{{.*}}], %[[B]][%{{.*}}] precision ieee :
// CHECK-NOT: tile.load
// CHECK: tile.return
tile.kernel @loads(%A: !tile.view<?x?xbf16> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %B: !tile.view<?x?xbf16> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 8 : i64},
                   %C: !tile.view<?x?xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %n: i64 {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %v = arith.index_cast %n : i64 to index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0, %c0] dims [0, 1] valid [%v, %c32] pad zero : !tile.view<?x?xbf16> -> tensor<64x32xbf16>
    %b = tile.load %B[%c0, %c0] dims [0, 1] pad zero : !tile.view<?x?xbf16> -> tensor<32x64xbf16>
    %d = tile.dot %a, %b contract [1] x [0] batch [] x [] precision ieee : tensor<64x32xbf16>, tensor<32x64xbf16> -> tensor<64x64xf32>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<64x64xf32>, !tile.view<?x?xf32>
  }
  tile.return
}

// The right operand contracted along its last axis, the left one along its first.

// CHECK-LABEL: tile.kernel @orders
// CHECK: tilegpu.mma %{{.*}} precision ieee {lhs_transposed, rhs_transposed} :
tile.kernel @orders(%A: !tile.view<32x64xbf16> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                    %B: !tile.view<64x32xbf16> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                    %C: !tile.view<64x64xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero : !tile.view<32x64xbf16> -> tensor<32x64xbf16>
    %b = tile.load %B[%c0, %c0] dims [0, 1] pad zero : !tile.view<64x32xbf16> -> tensor<64x32xbf16>
    %d = tile.dot %a, %b contract [0] x [1] batch [] x [] precision ieee : tensor<32x64xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<64x64xf32>, !tile.view<64x64xf32>
  }
  tile.return
}

// A computed right operand is stored to shared memory; a left one computed from
// a product stays in the registers of its warp.

// CHECK-LABEL: tile.kernel @chain
// CHECK: %[[S:.*]] = tilegpu.mma
// CHECK: %[[P:.*]] = arith.truncf
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tilegpu.local_store %{{.*}}, %[[R:.*]][
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tilegpu.mma %{{.*}}, %[[P]], %[[R]][
tile.kernel @chain(%A: !tile.view<64x32xbf16> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %B: !tile.view<32x64xbf16> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %C: !tile.view<64x64xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero : !tile.view<64x32xbf16> -> tensor<64x32xbf16>
    %b = tile.load %B[%c0, %c0] dims [0, 1] pad zero : !tile.view<32x64xbf16> -> tensor<32x64xbf16>
    %s = tile.dot %a, %b contract [1] x [0] batch [] x [] precision ieee : tensor<64x32xbf16>, tensor<32x64xbf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
    %x = tile.load %C[%c0, %c0] dims [0, 1] pad zero : !tile.view<64x64xf32> -> tensor<64x64xf32>
    %r = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xbf16>
    %d = tile.dot %p, %r contract [1] x [0] batch [] x [] precision ieee : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<64x64xf32>, !tile.view<64x64xf32>
  }
  tile.return
}

// What tensor cores do not take.

// CHECK-LABEL: tile.kernel @ieee
// CHECK: tilegpu.fma_dot {{.*}} batch 0 :
tile.kernel @ieee(%A: !tile.view<32x32xf32> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                  %C: !tile.view<32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero : !tile.view<32x32xf32> -> tensor<32x32xf32>
    %d = tile.dot %a, %a contract [1] x [0] batch [] x [] precision ieee : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xf32>, !tile.view<32x32xf32>
  }
  tile.return
}

// A matrix times a vector: multiplied and reduced.

// CHECK-LABEL: tile.kernel @vector
// CHECK-NOT: tilegpu.mma
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: tile.reduce sum %[[P]]
tile.kernel @vector(%A: !tile.view<32x64xbf16> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                    %x: !tile.view<64xbf16> {tile.name = "x", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %y: !tile.view<32xf32> {tile.name = "y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero : !tile.view<32x64xbf16> -> tensor<32x64xbf16>
    %b = tile.load %x[%c0] dims [0] pad zero : !tile.view<64xbf16> -> tensor<64xbf16>
    %d = tile.dot %a, %b contract [1] x [0] batch [] x [] precision ieee : tensor<32x64xbf16>, tensor<64xbf16> -> tensor<32xf32>
    tile.store %d, %y[%c0] dims [0] : tensor<32xf32>, !tile.view<32xf32>
  }
  tile.return
}

// fp8 has instructions from sm_89 on; before, it is multiplied as f16.

// CHECK-LABEL: tile.kernel @bytes
// CHECK: tilegpu.mma {{.*}} !tilegpu.buffer<1 x 64x32xf8E4M3FN
// SM80-LABEL: tile.kernel @bytes
// SM80: arith.extf %{{.*}} : tensor<64x32xf8E4M3FN, #{{.*}}> to tensor<64x32xf16
// SM80: tilegpu.mma
tile.kernel @bytes(%A: !tile.view<64x32xf8E4M3FN> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %B: !tile.view<64x32xf8E4M3FN> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %C: !tile.view<64x64xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero : !tile.view<64x32xf8E4M3FN> -> tensor<64x32xf8E4M3FN>
    %b = tile.load %B[%c0, %c0] dims [0, 1] pad zero : !tile.view<64x32xf8E4M3FN> -> tensor<64x32xf8E4M3FN>
    %d = tile.dot %a, %b contract [1] x [1] batch [] x [] precision ieee : tensor<64x32xf8E4M3FN>, tensor<64x32xf8E4M3FN> -> tensor<64x64xf32>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<64x64xf32>, !tile.view<64x64xf32>
  }
  tile.return
}
