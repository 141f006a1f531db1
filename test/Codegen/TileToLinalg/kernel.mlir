// RUN: tilec-opt %s --convert-tile-to-linalg --canonicalize --cse | FileCheck %s

// The grid becomes a loop over a range of program numbers. The last dimension
// varies fastest.

// CHECK-LABEL: func.func @grid.programs(
// CHECK-SAME:    %[[X:.*]]: memref<?x?xf32, strided<[?, 1]>>,
// CHECK-SAME:    %[[F:.*]]: i64) -> index
// CHECK-SAME:    tilec.kernel = array<i64: 2, -1>
// CHECK:         memref.extract_strided_metadata
// CHECK:         %[[ROWS:.*]] = arith.maxsi
// CHECK:         arith.ceildivsi
// CHECK:         %[[COLUMNS:.*]] = arith.maxsi
// CHECK:         %[[COUNT:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]]
// CHECK:         return %[[COUNT]]

// CHECK-LABEL: func.func @grid.run(
// CHECK-SAME:    %[[X:.*]]: memref<?x?xf32, strided<[?, 1]>>,
// CHECK-SAME:    %[[F:[^:]*]]: i64, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index,
// CHECK-SAME:    %[[CTX:[^:]*]]: !llvm.ptr)
// CHECK:         %[[ROWS:.*]] = arith.ceildivsi
// CHECK:         %[[COLUMNS:.*]] = arith.maxsi
// CHECK:         scf.for %[[P:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:           %[[COLUMN:.*]] = arith.remui %[[P]], %[[COLUMNS]]
// CHECK:           %[[ROW:.*]] = arith.divui %[[P]], %[[COLUMNS]]
// CHECK-NOT:       scf.forall
tile.kernel @grid(%X: !tile.view<?x?xf32> {tile.name = "X",
                    tile.access = #tile.access<inout>,
                    tile.unit_stride = 1 : i64},
                  %f: i64 {tile.name = "f"}) {
  %M = tile.dim %X, 0 : !tile.view<?x?xf32>
  %N = tile.dim %X, 1 : !tile.view<?x?xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (1, 8) {
    tile.store %one, %X[%m, %n] dims [] : tensor<f32>, !tile.view<?x?xf32>
  }
  tile.return
}

// A kernel without a grid has one program.

// CHECK-LABEL: func.func @single.programs(
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         return %[[ONE]]
// CHECK-LABEL: func.func @single.run(
// CHECK-SAME:    memref<4xf32, strided<[?]>>
// CHECK:         scf.for
// CHECK:           bufferization.materialize_in_destination
tile.kernel @single(%X: !tile.view<4xf32> {tile.name = "X",
                      tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  tile.store %one, %X[%c0] dims [0] : tensor<4xf32>, !tile.view<4xf32>
  tile.return
}

// Two tensors that may be the same are told apart from those that are not.

// CHECK-LABEL: func.func @aliasing.run(
// CHECK-SAME:    tilec.aliasing = array<i64: 1, 2>
tile.kernel @aliasing(%X: !tile.view<f32> {tile.name = "X",
                        tile.access = #tile.access<in>},
                      %Y: !tile.view<f32> {tile.name = "Y",
                        tile.access = #tile.access<inout>},
                      %Z: !tile.view<f32> {tile.name = "Z",
                        tile.access = #tile.access<inout>}) {
  tile.return
}
