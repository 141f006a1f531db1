// Operands of products have to have a place in shared memory, padded to powers
// of two: here 64 KiB each. Of chunks there are to be two at a time.
// RUN: tilec-opt %s -tile-loop-long-axes=operand-bytes=131072 -canonicalize \
// RUN:     -cse | FileCheck %s --check-prefix=FITS
// RUN: tilec-opt %s -tile-loop-long-axes=operand-bytes=131071 -canonicalize \
// RUN:     -cse | FileCheck %s --check-prefix=LOOP
// RUN: tilec-opt %s -tile-loop-long-axes -canonicalize -cse \
// RUN:     | FileCheck %s --check-prefix=FITS

// FITS-LABEL: tile.kernel @product
// FITS-NOT: scf.for %
// FITS: tile.dot
// LOOP-LABEL: tile.kernel @product
// LOOP: scf.for %[[K:.*]] = %c0 to %c300 step %c128
// LOOP: tile.load %A[%{{.*}}, %[[K]]] {{.*}} -> tensor<32x128xf32>
// LOOP: tile.load %B[%[[K]], %{{.*}}] {{.*}} -> tensor<128x32xf32>
// LOOP: tile.dot
tile.kernel @product(%A: !tile.view<64x300xf32> {tile.name = "A", tile.dims = ["M", "K"]},
                     %B: !tile.view<300x64xf32> {tile.name = "B", tile.dims = ["K", "N"]},
                     %C: !tile.view<64x64xf32> {tile.name = "C", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  scf.forall (%m, %n) = (0, 0) to (64, 64) step (32, 32) {
    %a = tile.load %A[%m, %c0] dims [0, 1] pad zero : !tile.view<64x300xf32> -> tensor<32x300xf32>
    %b = tile.load %B[%c0, %n] dims [0, 1] pad zero : !tile.view<300x64xf32> -> tensor<300x32xf32>
    %c = tile.dot %a, %b contract [1] x [0] batch [] x [] precision ieee
        : tensor<32x300xf32>, tensor<300x32xf32> -> tensor<32x32xf32>
    tile.store %c, %C[%m, %n] dims [0, 1] : tensor<32x32xf32>, !tile.view<64x64xf32>
  }
  tile.return
}

// Batches are not padded to 16: 64 KiB each again.
// FITS-LABEL: tile.kernel @batches
// FITS-NOT: scf.for %
// FITS: tile.dot
// LOOP-LABEL: tile.kernel @batches
// LOOP: scf.for %
tile.kernel @batches(%A: !tile.view<4x128x64xf32> {tile.name = "A"},
                     %B: !tile.view<4x64x64xf32> {tile.name = "B"},
                     %C: !tile.view<4x128x64xf32> {tile.name = "C", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  scf.forall (%m) = (0) to (128) step (64) {
    %a = tile.load %A[%c0, %m, %c0] dims [0, 1, 2] pad zero : !tile.view<4x128x64xf32> -> tensor<4x64x64xf32>
    %b = tile.load %B[%c0, %c0, %c0] dims [0, 1, 2] pad zero : !tile.view<4x64x64xf32> -> tensor<4x64x64xf32>
    %c = tile.dot %a, %b contract [2] x [1] batch [0] x [0] precision ieee
        : tensor<4x64x64xf32>, tensor<4x64x64xf32> -> tensor<4x64x64xf32>
    tile.store %c, %C[%c0, %m, %c0] dims [0, 1, 2] : tensor<4x64x64xf32>, !tile.view<4x128x64xf32>
  }
  tile.return
}

// An axis that is padded to 16 anyway is not divided, though the operand of
// 2048 rows takes twice what there is.
// FITS-LABEL: tile.kernel @short
// FITS-NOT: scf.for %
// FITS: tile.dot
// LOOP-LABEL: tile.kernel @short
// LOOP-NOT: scf.for %
// LOOP: tile.dot
tile.kernel @short(%A: !tile.view<4096x3xf32> {tile.name = "A"},
                   %B: !tile.view<3x32xf32> {tile.name = "B"},
                   %C: !tile.view<4096x32xf32> {tile.name = "C", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  scf.forall (%m, %n) = (0, 0) to (4096, 32) step (2048, 8) {
    %a = tile.load %A[%m, %c0] dims [0, 1] pad zero : !tile.view<4096x3xf32> -> tensor<2048x3xf32>
    %b = tile.load %B[%c0, %n] dims [0, 1] pad zero : !tile.view<3x32xf32> -> tensor<3x8xf32>
    %c = tile.dot %a, %b contract [1] x [0] batch [] x [] precision ieee
        : tensor<2048x3xf32>, tensor<3x8xf32> -> tensor<2048x8xf32>
    tile.store %c, %C[%m, %n] dims [0, 1] : tensor<2048x8xf32>, !tile.view<4096x32xf32>
  }
  tile.return
}
