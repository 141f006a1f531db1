// RUN: tilec-opt %s --cpu-pipeline | FileCheck %s

// The whole way to the LLVM dialect. Offsets may be negative (a stride may be),
// so nothing may claim to be unsigned; all addresses but those of tensors that
// may be the same are marked as different.

// CHECK-LABEL: llvm.func internal @f.run(
// CHECK-SAME:    %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr {llvm.noalias},
// CHECK-NOT:     nuw
// CHECK:         llvm.return
// CHECK-LABEL: llvm.func @f.run.entry(
// CHECK-SAME:    %[[WORDS:[^:]*]]: !llvm.ptr, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr)
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK:         llvm.call @f.run(
// CHECK-LABEL: llvm.func @g.run.entry(
tile.kernel @f(%X: !tile.view<?xf32> {tile.name = "X",
                 tile.access = #tile.access<in>},
               %s: f32 {tile.name = "s"},
               %Y: !tile.view<?xf32> {tile.name = "Y",
                 tile.access = #tile.access<out>}) {
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  scf.forall (%n) = (0) to (%N) step (16) {
    %v = tile.valid %n to %N size 16
    %x = tile.load %X[%n] dims [0] valid [%v] pad zero
        : !tile.view<?xf32> -> tensor<16xf32>
    %ss = tensor.splat %s : tensor<16xf32>
    %y = arith.mulf %x, %ss : tensor<16xf32>
    tile.store %y, %Y[%n] dims [0] valid [%v]
        : tensor<16xf32>, !tile.view<?xf32>
  }
  tile.return
}

tile.kernel @g(%X: !tile.view<f32> {tile.name = "X",
                 tile.access = #tile.access<inout>},
               %Y: !tile.view<f32> {tile.name = "Y",
                 tile.access = #tile.access<inout>}) {
  %x = tile.load %X[] dims [] pad zero : !tile.view<f32> -> tensor<f32>
  tile.store %x, %Y[] dims [] : tensor<f32>, !tile.view<f32>
  tile.return
}
