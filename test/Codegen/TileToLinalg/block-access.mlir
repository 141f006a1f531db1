// RUN: tilec-opt %s --convert-tile-to-linalg --canonicalize --cse | FileCheck %s

// A full block of an `in` argument is that memory. A store to an `out` argument
// offers the place as a destination, known before the value is computed.

// CHECK-LABEL: func.func @full.run(
// CHECK:         scf.for
// CHECK-NOT:       memref.alloc
// CHECK-DAG:       %[[FROM:.*]] = memref.reinterpret_cast %arg0 to offset: [%{{.*}}], sizes: [8, 16], strides: [%{{.*}}, 1]
// CHECK-DAG:       %[[TO:.*]] = memref.reinterpret_cast %arg1 to offset: [%{{.*}}], sizes: [8, 16], strides: [%{{.*}}, 1]
// CHECK:           %[[X:.*]] = bufferization.to_tensor %[[FROM]] restrict :
// CHECK:           %[[Y:.*]] = linalg.generic
// CHECK:             math.absf
// CHECK:           bufferization.materialize_in_destination %[[Y]] in restrict writable %[[TO]]
tile.kernel @full(%X: !tile.view<?x?xf32> {tile.name = "X",
                    tile.unit_stride = 1 : i64, tile.access = #tile.access<in>},
                  %Y: !tile.view<?x?xf32> {tile.name = "Y",
                    tile.unit_stride = 1 : i64,
                    tile.access = #tile.access<out>}) {
  %M = tile.dim %X, 0 : !tile.view<?x?xf32>
  %c0 = arith.constant 0 : index
  scf.forall (%m) = (0) to (%M) step (8) {
    %x = tile.load %X[%m, %c0] dims [0, 1] pad zero
        : !tile.view<?x?xf32> -> tensor<8x16xf32>
    %y = math.absf %x : tensor<8x16xf32>
    tile.store %y, %Y[%m, %c0] dims [0, 1]
        : tensor<8x16xf32>, !tile.view<?x?xf32>
  }
  tile.return
}

// A block that may be cut off is the memory or a padded copy, whichever it
// turns out to be; a store likewise.

// CHECK-LABEL: func.func @partial.run(
// CHECK:         scf.for
// CHECK-DAG:       %[[INSIDE:.*]] = memref.alloc() : memref<16xf32>
// CHECK-DAG:       %[[OUTSIDE:.*]] = memref.alloc() : memref<16xf32>
// CHECK:           %[[FULL:.*]] = arith.cmpi eq
// CHECK:           %[[TO:.*]] = scf.if %[[FULL]]
// CHECK:             memref.reinterpret_cast %arg1
// CHECK:           } else {
// CHECK-NOT:         linalg
// CHECK:             memref.cast
// CHECK:           %[[FROM:.*]] = scf.if %[[FULL]]
// CHECK:             memref.reinterpret_cast %arg0
// CHECK:           } else {
// CHECK:             linalg.fill
// CHECK:             linalg.generic
// CHECK:           bufferization.to_tensor %[[FROM]] restrict :
// CHECK:           bufferization.materialize_in_destination %{{.*}} in restrict writable %[[TO]]
// CHECK:           scf.if
// CHECK:             linalg.generic
tile.kernel @partial(%X: !tile.view<?xf32> {tile.name = "X",
                       tile.unit_stride = 0 : i64,
                       tile.access = #tile.access<in>},
                     %Y: !tile.view<?xf32> {tile.name = "Y",
                       tile.unit_stride = 0 : i64,
                       tile.access = #tile.access<out>}) {
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  scf.forall (%n) = (0) to (%N) step (16) {
    %v = tile.valid %n to %N size 16
    %x = tile.load %X[%n] dims [0] valid [%v] pad one
        : !tile.view<?xf32> -> tensor<16xf32>
    tile.store %x, %Y[%n] dims [0] valid [%v]
        : tensor<16xf32>, !tile.view<?xf32>
  }
  tile.return
}

// What the kernel also writes is copied where it is read, and a store to it
// happens where it stands.

// CHECK-LABEL: func.func @inout.run(
// CHECK:         %[[COPY:.*]] = memref.alloc() : memref<16xf32>
// CHECK:         linalg.generic {{.*}} outs(%[[COPY]] :
// CHECK:         bufferization.to_tensor %[[COPY]] restrict writable
// CHECK:         bufferization.materialize_in_destination %{{.*}} in writable
tile.kernel @inout(%X: !tile.view<16xf32> {tile.name = "X",
                     tile.unit_stride = 0 : i64,
                     tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] dims [0] pad zero
      : !tile.view<16xf32> -> tensor<16xf32>
  tile.store %x, %X[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// Both of two stores to an argument offer their place; whether the values can be
// computed there is a matter of bufferization.

// CHECK-LABEL: func.func @twice.run(
// CHECK-COUNT-2: bufferization.materialize_in_destination %{{.*}} in restrict writable
tile.kernel @twice(%X: !tile.view<16xf32> {tile.name = "X",
                     tile.unit_stride = 0 : i64,
                     tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  tile.store %zero, %X[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  tile.store %one, %X[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// A program's own elements are those at its position: of the row and of the
// tile. Where others may write too, nothing but the result may be seen.

// CHECK-LABEL: func.func @own.run(
// CHECK:         bufferization.materialize_in_destination %{{.*}} in restrict writable
tile.kernel @own(%X: !tile.view<?x?xf32> {tile.name = "X",
                   tile.unit_stride = 1 : i64,
                   tile.access = #tile.access<out>}) {
  %M = tile.dim %X, 0 : !tile.view<?x?xf32>
  %N = tile.dim %X, 1 : !tile.view<?x?xf32>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (1, 16) {
    %c0 = arith.constant 0 : index
    %v = tile.valid %n to %N size 16
    %row = tile.slice %X[%m, %c0] dims [1]
        : !tile.view<?x?xf32> -> !tile.view<?xf32>
    %zero = arith.constant dense<0.0> : tensor<16xf32>
    tile.store %zero, %row[%n] dims [0] valid [%v]
        : tensor<16xf32>, !tile.view<?xf32>
  }
  tile.return
}

// CHECK-LABEL: func.func @shared.run(
// CHECK:         bufferization.materialize_in_destination %{{.*}} in writable
// CHECK:         bufferization.materialize_in_destination %{{.*}} in writable
// CHECK:         bufferization.materialize_in_destination %{{.*}} in writable
tile.kernel @shared(%X: !tile.view<?x16xf32> {tile.name = "X",
                      tile.unit_stride = 1 : i64,
                      tile.access = #tile.access<out>},
                    %Y: !tile.view<?xf32> {tile.name = "Y",
                      tile.unit_stride = 0 : i64,
                      tile.access = #tile.access<out>}) {
  %M = tile.dim %X, 0 : !tile.view<?x16xf32>
  scf.forall (%m, %n) = (0, 0) to (%M, %M) step (1, 8) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant dense<0.0> : tensor<16xf32>
    // A position that several programs compute.
    %half = arith.divui %m, %c2 : index
    tile.store %zero, %X[%half, %c0] dims [1]
        : tensor<16xf32>, !tile.view<?x16xf32>
    // No position at all of the grid's second axis.
    tile.store %zero, %X[%m, %c0] dims [1]
        : tensor<16xf32>, !tile.view<?x16xf32>
    // Tiles that reach into the next program's.
    tile.store %zero, %Y[%n] dims [0] : tensor<16xf32>, !tile.view<?xf32>
  }
  tile.return
}

// A buffer is contiguous along the axis that the view is contiguous along.

// CHECK-LABEL: func.func @transposed.run(
// CHECK:         %[[BUFFER:.*]] = memref.alloc() : memref<8x16xf32>
// CHECK:         memref.reinterpret_cast %[[BUFFER]] to offset: [0], sizes: [16, 8], strides: [1, 16]
tile.kernel @transposed(%X: !tile.view<?x?xf32> {tile.name = "X",
                          tile.unit_stride = 0 : i64,
                          tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xf32> -> tensor<16x8xf32>
  tile.store %x, %X[%c0, %c0] dims [0, 1]
      : tensor<16x8xf32>, !tile.view<?x?xf32>
  tile.return
}

// A slice is an offset; its predicate guards every access.

// CHECK-LABEL: func.func @slice.run(
// CHECK-SAME:    %[[ON:[^:]*]]: i1,
// CHECK:         scf.if %[[ON]]
// CHECK:         scf.if %[[ON]]
// CHECK:           bufferization.materialize_in_destination
tile.kernel @slice(%X: !tile.view<?x16xf32> {tile.name = "X",
                     tile.unit_stride = 1 : i64,
                     tile.access = #tile.access<inout>},
                   %i: i64 {tile.name = "i"}, %on: i1 {tile.name = "on"}) {
  %c0 = arith.constant 0 : index
  %row = arith.index_cast %i : i64 to index
  %s = tile.slice %X[%row, %c0] dims [1] if %on
      : !tile.view<?x16xf32> -> !tile.view<16xf32>
  %x = tile.load %s[%c0] dims [0] pad zero
      : !tile.view<16xf32> -> tensor<16xf32>
  tile.store %x, %s[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// CHECK-LABEL: func.func @atomic.run(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             %[[LANE:.*]] = tensor.extract
// CHECK:             memref.atomic_rmw addf %[[LANE]]
// CHECK-LABEL: func.func @narrow_atomic.run(
// CHECK:         %[[WIDE:.*]] = arith.extf
// CHECK:         call @tilec_cpu_atomic_add_bf16(%{{.*}}, %[[WIDE]])
tile.kernel @atomic(%X: !tile.view<16xf32> {tile.name = "X",
                      tile.access = #tile.access<add>},
                    %Y: !tile.view<16xf32> {tile.name = "Y",
                      tile.access = #tile.access<in>}) {
  %c0 = arith.constant 0 : index
  %y = tile.load %Y[%c0] dims [0] pad zero
      : !tile.view<16xf32> -> tensor<16xf32>
  tile.atomic_add %y, %X[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}
tile.kernel @narrow_atomic(%X: !tile.view<16xbf16> {tile.name = "X",
                             tile.access = #tile.access<add>},
                           %Y: !tile.view<16xbf16> {tile.name = "Y",
                             tile.access = #tile.access<in>}) {
  %c0 = arith.constant 0 : index
  %y = tile.load %Y[%c0] dims [0] pad zero
      : !tile.view<16xbf16> -> tensor<16xbf16>
  tile.atomic_add %y, %X[%c0] dims [0]
      : tensor<16xbf16>, !tile.view<16xbf16>
  tile.return
}
