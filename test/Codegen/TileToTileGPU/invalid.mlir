// RUN: tilec-opt --convert-tile-to-tilegpu %s -split-input-file -verify-diagnostics

// expected-error @below {{expected a kernel with a grid, found none; kernels without one run on the cpu target only: write 'grid' and tiles}}
tile.kernel @no_grid(%A: !tile.view<16xf32> {tile.name = "A"}) {
  tile.return
}

// -----

tile.kernel @odd(%A: !tile.view<12xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    // expected-error @below {{'tile.load' op expected extents that are powers of two, found 'tensor<12xf32>'; run tile-pad-extents first}}
    %x = tile.load %A[%c0] dims [0] pad zero : !tile.view<12xf32> -> tensor<12xf32>
    tile.store %x, %A[%c0] dims [0] : tensor<12xf32>, !tile.view<12xf32>
  }
  tile.return
}

// -----

tile.kernel @attention(%K: !tile.view<?x64xf32> {tile.name = "K"}, %V: !tile.view<?x64xf32> {tile.name = "V"}, %O: !tile.view<16x64xf32> {tile.name = "O", tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %scale = arith.constant 0.125 : f32
  %q = arith.constant dense<0.0> : tensor<16x64xf32>
  scf.forall (%i) in (1) {
    // expected-error @below {{'tile.attention' op expected attention to be expanded; run tile-expand-attention first}}
    %o, %lse = tile.attention %q, %K, %V scale %scale rows %c0 kv_tile 16 score {} mask {}
        : tensor<16x64xf32>, !tile.view<?x64xf32>, !tile.view<?x64xf32> -> tensor<16x64xf32>, tensor<16xf32>
    tile.store %o, %O[%c0, %c0] dims [0, 1] : tensor<16x64xf32>, !tile.view<16x64xf32>
  }
  tile.return
}
