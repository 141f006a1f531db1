// A body for programs whose grid tiles are all full, in which loops are split,
// and one for the others.
// RUN: tilec-opt %s -pass-pipeline='builtin.module(tile-split-loops{version-grid},canonicalize,cse)' \
// RUN:   | FileCheck %s
// RUN: tilec-opt %s -tile-split-loops | FileCheck %s --check-prefix=DEFAULT
// RUN: tilec-opt %s -pass-pipeline='builtin.module(tile-split-loops{version-grid})' \
// RUN:   --remarks-filter=tile-split-loops --remark-format=emitRemark \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] grid-versioned {{.*}} Function=two_axes {{.*}}"the grid has a body for full tiles and one for others"
// REMARK: [Passed] split {{.*}} Function=two_axes
// REMARK-NOT: remark:
// DEFAULT-NOT: tile.versioned

// CHECK-LABEL: tile.kernel @two_axes
// CHECK: %[[M:.*]] = tile.dim %A, 0
// CHECK: %[[N:.*]] = tile.dim %A, 1
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) =
// CHECK-DAG: %[[VI:.*]] = tile.valid %[[I]] to %[[M]] size 16
// CHECK-DAG: %[[FI:.*]] = arith.cmpi eq, %[[VI]], %c16
// CHECK-DAG: %[[VJ:.*]] = tile.valid %[[J]] to %[[N]] size 32
// CHECK-DAG: %[[FJ:.*]] = arith.cmpi eq, %[[VJ]], %c32
// CHECK: %[[FULL:.*]] = arith.andi %[[FI]], %[[FJ]]
// CHECK: scf.if %[[FULL]] {
// CHECK: scf.for
// CHECK: tile.load %A[%[[I]], %[[J]]] dims [0, 1] pad zero
// CHECK: {tile.range = "full"}
// CHECK: scf.for
// CHECK: {tile.range = "partial"}
// CHECK: } else {
// CHECK: scf.for
// CHECK: tile.load %A[%[[I]], %[[J]]] dims [0, 1] valid[%[[VI]], %[[VJ]]] pad zero
// CHECK-NOT: tile.range
// CHECK: } {tile.versioned}
tile.kernel @two_axes(%A: !tile.view<?x?xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %M = tile.dim %A, 0 : !tile.view<?x?xf32>
  %N = tile.dim %A, 1 : !tile.view<?x?xf32>
  scf.forall (%i, %j) = (0, 0) to (%M, %N) step (16, 32) {
    %vi = tile.valid %i to %M size 16
    %vj = tile.valid %j to %N size 32
    scf.for %k = %c0 to %M step %c8 {
      %vk = tile.valid %k to %M size 8
      %w = arith.index_cast %vk : index to i64
      %x = tile.load %A[%i, %j] dims [0, 1] valid [%vi, %vj] pad zero
          : !tile.view<?x?xf32> -> tensor<16x32xf32>
      tile.print "x", %w, %x : i64, tensor<16x32xf32>
    }
  }
  tile.return
}

// Nothing to tell apart: no grid, or no tile of it that may be cut off.
// CHECK-LABEL: tile.kernel @no_grid
// CHECK-NOT: tile.versioned
tile.kernel @no_grid(%A: !tile.view<?xf32>) {
  tile.return
}

tile.kernel @no_tiles(%A: !tile.view<?xf32>) {
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  scf.forall (%i) in (%N) {
    tile.print "program"
  }
  tile.return
}
