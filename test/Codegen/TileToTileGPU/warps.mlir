// RUN: tilec-opt --convert-tile-to-tilegpu %s | FileCheck %s

// How many warps a thread block has.

// As scheduled, as a power of two.
// CHECK-LABEL: tile.kernel @scheduled
// CHECK-SAME: tilegpu.warps = 8 : i64
tile.kernel @scheduled(%A: !tile.view<?xf32> {tile.name = "A", tile.access = #tile.access<inout>}) attributes {tile.schedule = #tile.schedule<{warps = 5 : i64}>} {
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i] dims [0] pad zero : !tile.view<?xf32> -> tensor<32xf32>
    tile.store %x, %A[%i] dims [0] : tensor<32xf32>, !tile.view<?xf32>
  }
  tile.return
}

// One for the 128 bytes of a small tile.
// CHECK-LABEL: tile.kernel @small
// CHECK-SAME: tilegpu.warps = 1 : i64
tile.kernel @small(%A: !tile.view<?xf32> {tile.name = "A", tile.access = #tile.access<inout>}) {
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i] dims [0] pad zero : !tile.view<?xf32> -> tensor<32xf32>
    tile.store %x, %A[%i] dims [0] : tensor<32xf32>, !tile.view<?xf32>
  }
  tile.return
}

// Eight for a large one.
// CHECK-LABEL: tile.kernel @large
// CHECK-SAME: tilegpu.warps = 8 : i64
tile.kernel @large(%A: !tile.view<?xf32> {tile.name = "A", tile.access = #tile.access<inout>}) {
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i] dims [0] pad zero : !tile.view<?xf32> -> tensor<8192xf32>
    tile.store %x, %A[%i] dims [0] : tensor<8192xf32>, !tile.view<?xf32>
  }
  tile.return
}

// As many as 64 registers a thread for 128 x 128 f32 sums of f32 operands take,
// but no more than 8.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: tilegpu.warps = 8 : i64
tile.kernel @product(%A: !tile.view<?x?xf32> {tile.name = "A"}, %B: !tile.view<?x?xf32> {tile.name = "B"}, %C: !tile.view<?x?xf32> {tile.name = "C", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%i, %c0] dims [0, 1] pad zero : !tile.view<?x?xf32> -> tensor<128x16xf32>
    %b = tile.load %B[%c0, %i] dims [0, 1] pad zero : !tile.view<?x?xf32> -> tensor<16x128xf32>
    %d = tile.dot %a, %b contract [1] x [0] batch [] x [] precision tf32 : tensor<128x16xf32>, tensor<16x128xf32> -> tensor<128x128xf32>
    tile.store %d, %C[%i, %i] dims [0, 1] : tensor<128x128xf32>, !tile.view<?x?xf32>
  }
  tile.return
}

// More than 8 for 16384 elements of one row that are summed ...
// CHECK-LABEL: tile.kernel @one_row
// CHECK-SAME: tilegpu.warps = 16 : i64
tile.kernel @one_row(%A: !tile.view<?x?xf32> {tile.name = "A"}, %B: !tile.view<?xf32> {tile.name = "B", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i, %c0] dims [0, 1] pad zero : !tile.view<?x?xf32> -> tensor<1x16384xf32>
    %s = tile.reduce sum %x axes [1] : tensor<1x16384xf32> -> tensor<1xf32>
    tile.store %s, %B[%i] dims [0] : tensor<1xf32>, !tile.view<?xf32>
  }
  tile.return
}

// ... but not of eight rows, each of whose sums every thread has.
// CHECK-LABEL: tile.kernel @eight_rows
// CHECK-SAME: tilegpu.warps = 8 : i64
tile.kernel @eight_rows(%A: !tile.view<?x?xf32> {tile.name = "A"}, %B: !tile.view<?xf32> {tile.name = "B", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %A[%i, %c0] dims [0, 1] pad zero : !tile.view<?x?xf32> -> tensor<8x2048xf32>
    %s = tile.reduce sum %x axes [1] : tensor<8x2048xf32> -> tensor<8xf32>
    tile.store %s, %B[%i] dims [0] : tensor<8xf32>, !tile.view<?xf32>
  }
  tile.return
}
