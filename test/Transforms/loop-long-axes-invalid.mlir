// What cannot be done in chunks.
// RUN: tilec-opt %s -tile-loop-long-axes="max-elements=64 max-carried=100" \
// RUN:     -split-input-file -verify-diagnostics
// RUN: not tilec-opt %s -tile-loop-long-axes=max-elements=0 2>&1 \
// RUN:     | FileCheck %s
// CHECK: error: expected max-elements and max-carried of at least 1 and operand-bytes of at least 0, found 0, 32768 and 0

tile.kernel @carried(%X: !tile.view<8x128xf32> {tile.dims = ["M", "N"]},
                     %Y: !tile.view<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{expected tiles of at most 100 elements, found 'tensor<128xf32>'; axis 'N' (extent 128) cannot be processed in chunks, as this loop carries it; write a loop over its tiles}}
  %z = arith.constant dense<0.0> : tensor<128xf32>
  // expected-note@+1 {{here}}
  %s = scf.for %t = %c0 to %c8 step %c1 iter_args(%a = %z) -> tensor<128xf32> {
    %x = tile.load %X[%t, %c0] dims [1] pad zero
        : !tile.view<8x128xf32> -> tensor<128xf32>
    %n = arith.addf %a, %x : tensor<128xf32>
    scf.yield %n : tensor<128xf32>
  }
  tile.store %s, %Y[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  tile.return
}

// -----

tile.kernel @branch(%X: !tile.view<128xf32> {tile.dims = ["N"]},
                    %Y: !tile.view<128xf32>, %ok: i1) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{found 'tensor<128xf32>'; axis 'N' (extent 128) cannot be processed in chunks, as both branches give it; write a loop over its tiles}}
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  // expected-note@+1 {{here}}
  %s = scf.if %ok -> tensor<128xf32> {
    %y = math.exp %x : tensor<128xf32>
    scf.yield %y : tensor<128xf32>
  } else {
    scf.yield %x : tensor<128xf32>
  }
  tile.store %s, %Y[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  tile.return
}

// -----

tile.kernel @print(%X: !tile.view<128xf32> {tile.dims = ["N"]}) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{cannot be processed in chunks, as it is printed}}
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  // expected-note@+1 {{here}}
  tile.print "x =", %x : tensor<128xf32>
  tile.return
}

// -----

tile.kernel @lane(%X: !tile.view<128xf32>, %Y: !tile.view<f32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{axis (extent 128) cannot be processed in chunks, as one of its lanes is taken}}
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  // expected-note@+1 {{here}}
  %e = tensor.extract %x[%c0] : tensor<128xf32>
  %t = tensor.from_elements %e : tensor<f32>
  tile.store %t, %Y[] dims [] : tensor<f32>, !tile.view<f32>
  tile.return
}

// -----

tile.kernel @both(%X: !tile.view<128xf32>, %Y: !tile.view<128x128xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{axis (extent 128) cannot be processed in chunks, as it is both axes of one tile}}
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  // expected-note@+1 {{here}}
  %a = tile.broadcast %x dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %b = tile.broadcast %x dims [1] : tensor<128xf32> -> tensor<128x128xf32>
  %s = arith.addf %a, %b : tensor<128x128xf32>
  tile.store %s, %Y[%c0, %c0] dims [0, 1]
      : tensor<128x128xf32>, !tile.view<128x128xf32>
  tile.return
}

// -----

// All axes are tiles already.
tile.kernel @tiles(%X: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %M = tile.dim %X, 0 : !tile.view<?x?xf32>
  scf.forall (%m, %n) = (0, 0) to (%M, %M) step (16, 16) {
    // expected-error@+1 {{expected tiles of at most 100 elements, found 'tensor<16x16xf32>'; choose smaller tiles in the schedule}}
    %x = tile.load %X[%m, %n] dims [0, 1] pad zero
        : !tile.view<?x?xf32> -> tensor<16x16xf32>
    tile.store %x, %X[%m, %n] dims [0, 1]
        : tensor<16x16xf32>, !tile.view<?x?xf32>
  }
  tile.return
}

// -----

// The load is of the block that is overwritten, the gather might be of others.
tile.kernel @shifted(%X: !tile.view<?xf32> {tile.name = "X", tile.dims = ["N"],
                       tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<?xf32> -> tensor<128xf32>
  %y = arith.addf %x, %x : tensor<128xf32>
  %i = tile.iota %c0 : tensor<128xi64>
  // expected-note@+1 {{they are read here}}
  %z = tile.gather %X[%i] : !tile.view<?xf32>[tensor<128xi64>] -> tensor<128xf32>
  %s = arith.addf %y, %z : tensor<128xf32>
  // expected-error@+1 {{expected 'X' not to be overwritten before its old values are used for the last time: axis 'N' (extent 128) is processed in chunks of 64, and each use reads them again; write to another tensor}}
  tile.store %s, %X[%c0] dims [0] : tensor<128xf32>, !tile.view<?xf32>
  tile.return
}

// -----

// Read in front of a loop that overwrites it.
tile.kernel @loop(%X: !tile.view<128xf32> {tile.name = "X", tile.dims = ["N"],
                    tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-note@+1 {{they are read here}}
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  scf.for %t = %c0 to %c8 step %c1 {
    %n = tile.load %X[%c0] dims [0] pad zero
        : !tile.view<128xf32> -> tensor<128xf32>
    %s = arith.addf %x, %n : tensor<128xf32>
    // expected-error@+1 {{expected 'X' not to be overwritten before its old values are used for the last time}}
    tile.store %s, %X[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  }
  tile.return
}

// -----

// The sum needs both the old elements and the new ones.
tile.kernel @circle(%X: !tile.view<128xf32> {tile.name = "X", tile.dims = ["N"],
                      tile.access = #tile.access<inout>},
                    %I: !tile.view<128xi64>, %Y: !tile.view<f32>) {
  %c0 = arith.constant 0 : index
  %i = tile.load %I[%c0] dims [0] pad zero : !tile.view<128xi64> -> tensor<128xi64>
  // expected-note@+1 {{they are read here}}
  %old = tile.gather %X[%i] : !tile.view<128xf32>[tensor<128xi64>] -> tensor<128xf32>
  %one = arith.constant dense<1.0> : tensor<128xf32>
  // expected-error@+1 {{expected 'X' not to be overwritten before its old values are used for the last time}}
  tile.store %one, %X[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  %new = tile.gather %X[%i] : !tile.view<128xf32>[tensor<128xi64>] -> tensor<128xf32>
  %p = arith.mulf %old, %new : tensor<128xf32>
  %s = tile.reduce sum %p axes [0] : tensor<128xf32> -> tensor<f32>
  tile.store %s, %Y[] dims [] : tensor<f32>, !tile.view<f32>
  tile.return
}

// -----

tile.kernel @dynamic(%n: i64) {
  %e = arith.index_cast %n : i64 to index
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected static extents for tile-loop-long-axes, found 'tensor<?xi64>'}}
  %i = tile.iota %c0 size %e : tensor<?xi64>
  tile.print "i", %i : tensor<?xi64>
  tile.return
}
