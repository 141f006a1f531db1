// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck %s --check-prefix=ASM %}

// Where indices have 64 bits, known extents are numbers of 64 bits too: `min` and
// `max` of C++ take arguments of one type.

#v = #tilegpu.layout<registers = [[1], [2]], lanes = [[4], [8], [16], [32], [0]], warps = []>

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack
// CHECK-LABEL: known_extent(
// CHECK:         min(24ll, 64ll)
// CHECK:         min(max(24ll - i, 0ll), 64ll)
// CHECK:         min(max(24ll - 64, 0ll), 64ll)
tile.kernel @known_extent(%X: !tile.view<24xf32> {tile.name = "X", tile.access = #tile.access<in>},
                          %Y: !tile.view<?xf32> {tile.name = "Y", tile.access = #tile.access<out>})
    attributes {tilegpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %Y, 0 : !tile.view<?xf32>
  scf.forall (%i) = (0) to (%N) step (64) {
    %v0 = tile.valid %c0 to %c24 size 64
    %x0 = tile.load %X[%c0] dims [0] valid [%v0] pad zero : !tile.view<24xf32> -> tensor<64xf32, #v>
    %v1 = tile.valid %i to %c24 size 64
    %x1 = tile.load %X[%i] dims [0] valid [%v1] pad zero : !tile.view<24xf32> -> tensor<64xf32, #v>
    %v2 = tile.valid %c64 to %c24 size 64
    %x2 = tile.load %X[%c64] dims [0] valid [%v2] pad zero : !tile.view<24xf32> -> tensor<64xf32, #v>
    %s = arith.addf %x0, %x1 : tensor<64xf32, #v>
    %t = arith.addf %s, %x2 : tensor<64xf32, #v>
    %vy = tile.valid %i to %N size 64
    tile.store %t, %Y[%i] dims [0] valid [%vy] : tensor<64xf32, #v>, !tile.view<?xf32>
  }
  tile.return
}

// The smaller of two: one that is known, one that is computed.
// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack
// CHECK-LABEL: smaller_of_two(
// CHECK:         min(min(24ll, 64ll), N)
tile.kernel @smaller_of_two(%X: !tile.view<24xf32> {tile.name = "X", tile.access = #tile.access<in>},
                            %Y: !tile.view<?xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.dims = ["N"]})
    attributes {tilegpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %N = tile.dim %Y, 0 : !tile.view<?xf32>
  scf.forall (%i) = (0) to (%N) step (64) {
    %v0 = tile.valid %c0 to %c24 size 64
    %v = arith.minsi %v0, %N : index
    %x = tile.load %X[%c0] dims [0] valid [%v] pad zero : !tile.view<24xf32> -> tensor<64xf32, #v>
    %vy = tile.valid %i to %N size 64
    tile.store %x, %Y[%i] dims [0] valid [%vy] : tensor<64xf32, #v>, !tile.view<?xf32>
  }
  tile.return
}
