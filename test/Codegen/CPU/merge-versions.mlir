// RUN: tilec-opt %s --cpu-merge-versions | FileCheck %s

// Only the loads differ: one body is enough.

// CHECK-LABEL: tile.kernel @same
// CHECK-NOT:     scf.if
// CHECK:         tile.load {{.*}} valid[%{{.*}}]
// CHECK-NOT:     tile.load
tile.kernel @same(%X: !tile.view<?xf32> {tile.name = "X",
                    tile.access = #tile.access<inout>}) {
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  scf.forall (%n) = (0) to (%N) step (8) {
    %v = tile.valid %n to %N size 8
    %c8 = arith.constant 8 : index
    %full = arith.cmpi eq, %v, %c8 : index
    scf.if %full {
      %x = tile.load %X[%n] dims [0] pad zero
          : !tile.view<?xf32> -> tensor<8xf32>
      %y = math.exp %x : tensor<8xf32>
      tile.store %y, %X[%n] dims [0] : tensor<8xf32>, !tile.view<?xf32>
    } else {
      %x = tile.load %X[%n] dims [0] valid [%v] pad zero
          : !tile.view<?xf32> -> tensor<8xf32>
      %y = math.exp %x : tensor<8xf32>
      tile.store %y, %X[%n] dims [0] valid [%v]
          : tensor<8xf32>, !tile.view<?xf32>
    } {tile.versioned}
  }
  tile.return
}

// The body for partial tiles masks lanes, so full ones keep theirs.

// CHECK-LABEL: tile.kernel @masked
// CHECK:         scf.if
// CHECK-COUNT-2: tile.reduce
tile.kernel @masked(%X: !tile.view<?xf32> {tile.name = "X",
                      tile.access = #tile.access<in>},
                    %Y: !tile.view<f32> {tile.name = "Y",
                      tile.access = #tile.access<add>}) {
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  scf.forall (%n) = (0) to (%N) step (8) {
    %v = tile.valid %n to %N size 8
    %c8 = arith.constant 8 : index
    %full = arith.cmpi eq, %v, %c8 : index
    scf.if %full {
      %x = tile.load %X[%n] dims [0] pad zero
          : !tile.view<?xf32> -> tensor<8xf32>
      %e = math.exp %x : tensor<8xf32>
      %s = tile.reduce sum %e axes [0] : tensor<8xf32> -> tensor<f32>
      tile.atomic_add %s, %Y[] dims [] : tensor<f32>, !tile.view<f32>
    } else {
      %x = tile.load %X[%n] dims [0] valid [%v] pad zero
          : !tile.view<?xf32> -> tensor<8xf32>
      %e = math.exp %x : tensor<8xf32>
      %m = tile.select_valid %e valid [%v] pad zero : tensor<8xf32>
      %s = tile.reduce sum %m axes [0] : tensor<8xf32> -> tensor<f32>
      tile.atomic_add %s, %Y[] dims [] : tensor<f32>, !tile.view<f32>
    } {tile.versioned}
  }
  tile.return
}
