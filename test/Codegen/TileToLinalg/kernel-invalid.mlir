// RUN: tilec-opt %s --split-input-file --verify-diagnostics \
// RUN:   --convert-tile-to-linalg

tile.kernel @untiled(%X: !tile.view<?xf32> {tile.name = "X",
                       tile.access = #tile.access<in>}) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{has a result of dynamic shape; tiling and specialization make every tile static}}
  %x = tile.load %X[%c0] dims [0] pad zero
      : !tile.view<?xf32> -> tensor<?xf32>
  tile.return
}

// -----

tile.kernel @unexpanded(%K: !tile.view<8x4xf32> {tile.name = "K",
                          tile.access = #tile.access<in>},
                        %s: f32 {tile.name = "s"}) {
  %c0 = arith.constant 0 : index
  %q = tile.load %K[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<8x4xf32> -> tensor<8x4xf32>
  // expected-error @below {{must be expanded before the lowering to linalg}}
  %o, %lse = tile.attention %q, %K, %K scale %s rows %c0 kv_tile 8
    score { } mask { }
    : tensor<8x4xf32>, !tile.view<8x4xf32>, !tile.view<8x4xf32>
    -> tensor<8x4xf32>, tensor<8xf32>
  tile.return
}

// -----

tile.kernel @chosen(%X: !tile.view<4xf32> {tile.name = "X",
                      tile.access = #tile.access<out>},
                    %Y: !tile.view<4xf32> {tile.name = "Y",
                      tile.access = #tile.access<out>},
                    %on: i1 {tile.name = "on"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %v = arith.select %on, %X, %Y : !tile.view<4xf32>
  // expected-error @below {{takes a view that is neither an argument of the kernel nor a slice of one}}
  tile.store %zero, %v[%c0] dims [0] : tensor<4xf32>, !tile.view<4xf32>
  tile.return
}
