// What cannot be written out.
// RUN: tilec-opt %s -tile-expand-attention -split-input-file -verify-diagnostics

tile.kernel @dynamic(%q: !tile.view<?x4xf32>, %K: !tile.view<?x4xf32>,
                     %V: !tile.view<?x8xf32>, %c: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 0.0 : f32
  %t = tensor.splat %f[%c1] : tensor<?x4xf32>
  // expected-error@+1 {{expected static extents to expand, found 'tensor<?x4xf32>' and 'tensor<?x8xf32>'}}
  %o, %lse = tile.attention %t, %K, %V scale %c rows %c0 kv_tile 16
      score {} mask {}
      : tensor<?x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<?x8xf32>, tensor<?xf32>
  tile.return
}

// -----

tile.kernel @branch(%K: !tile.view<?x4xf32>, %V: !tile.view<?x8xf32>, %c: f32) {
  %c0 = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<32x4xf32>
  %o, %lse = tile.attention %q, %K, %V scale %c rows %c0 kv_tile 16
      score { ^bb0(%s: f32, %a: i64, %b: i64):
        %m = arith.cmpi sge, %a, %b : i64
        // expected-error@+1 {{'scf.if' op has no form on tiles: expected elementwise operations and tile.gather in a region of tile.attention}}
        %r = scf.if %m -> f32 {
          scf.yield %s : f32
        } else {
          scf.yield %c : f32
        }
        tile.yield %r : f32 } mask {}
      : tensor<32x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.return
}

// -----

tile.kernel @seed(%K: !tile.view<?x4xf32>, %V: !tile.view<?x8xf32>, %c: f32) {
  %c0 = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<32x4xf32>
  %o, %lse = tile.attention %q, %K, %V scale %c rows %c0 kv_tile 16
      score { ^bb0(%s: f32, %a: i64, %b: i64):
        // expected-error@+1 {{'tile.random' op expected a seed that does not depend on the position}}
        %r = tile.random %a, %b : i64 -> f32
        tile.yield %r : f32 } mask {}
      : tensor<32x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.return
}
