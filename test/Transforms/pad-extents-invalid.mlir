// What cannot be padded.
// RUN: tilec-opt %s -tile-pad-extents -split-input-file -verify-diagnostics
// RUN: not tilec-opt %s -tile-pad-extents=min-dot=16,16 2>&1 \
// RUN:     | FileCheck %s --check-prefix=COUNT
// RUN: not tilec-opt %s -tile-pad-extents=min-dot=16,24,16 2>&1 \
// RUN:     | FileCheck %s --check-prefix=POWER
// COUNT: error: expected three powers of two as min-dot (rows, columns, contracted), found 16, 16
// POWER: error: expected three powers of two as min-dot (rows, columns, contracted), found 16, 24, 16

tile.kernel @dynamic(%n: i64) {
  %e = arith.index_cast %n : i64 to index
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected static extents for tile-pad-extents, found 'tensor<?xi64>'; compile the kernel for given extents of its whole axes}}
  %i = tile.iota %c0 size %e : tensor<?xi64>
  tile.print "i", %i : tensor<?xi64>
  tile.return
}

// -----

tile.kernel @attention(%K: !tile.view<?x4xf32>, %V: !tile.view<?x8xf32>,
                       %c: f32) {
  %c0 = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<3x4xf32>
  // expected-error@+1 {{expected no 'tile.attention' before tile-pad-extents; run tile-expand-attention first}}
  %o, %lse = tile.attention %q, %K, %V scale %c rows %c0 kv_tile 16
      score {} mask {}
      : tensor<3x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<3x8xf32>, tensor<3xf32>
  tile.return
}

// -----

tile.kernel @unknown(%A: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xf32> -> tensor<2x3xf32>
  // expected-error@+1 {{expected only ops whose axes tile-pad-extents knows (tile, elementwise, scf.for, scf.if), found 'tensor.collapse_shape' on tensors; rewrite it with those first}}
  %s = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  tile.return
}

// -----

tile.kernel @loop(%A: !tile.view<?xf32>, %ok: i1) {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] dims [0] pad zero : !tile.view<?xf32> -> tensor<6xf32>
  // expected-error@+1 {{found 'scf.while' on tensors}}
  %r = scf.while (%y = %x) : (tensor<6xf32>) -> tensor<6xf32> {
    scf.condition(%ok) %y : tensor<6xf32>
  } do {
  ^bb0(%z: tensor<6xf32>):
    scf.yield %z : tensor<6xf32>
  }
  tile.return
}
