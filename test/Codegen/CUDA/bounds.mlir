// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s

// What is known of integers leaves conditions out and keeps others narrow.

#v = #tilegpu.layout<registers = [[0, 1], [0, 2], [0, 4]], lanes = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warps = []>
#i = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>

// A program exists because its row does: nothing tests it.
// CHECK-LABEL: one_row(
// CHECK-NOT:     valid
// CHECK:         load_16(x, x_tile);
// CHECK:         store_16(y_tile, x
tile.kernel @one_row(%X: !tile.view<?x256xbf16> {tile.name = "X", tile.access = #tile.access<in>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                     %Y: !tile.view<?x256xbf16> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %M = tile.dim %X, 0 : !tile.view<?x256xbf16>
  scf.forall (%m) = (0) to (%M) step (1) {
    %v = tile.valid %m to %M size 1
    %x = tile.load %X[%m, %c0] dims [0, 1] valid [%v, %c256] pad zero : !tile.view<?x256xbf16> -> tensor<1x256xbf16, #v>
    tile.store %x, %Y[%m, %c0] dims [0, 1] valid [%v, %c256] : tensor<1x256xbf16, #v>, !tile.view<?x256xbf16>
  }
  tile.return
}

// Another extent may end before it.
// CHECK-LABEL: other_extent(
// CHECK:         load_16_if(x, x_tile, 0 < min(max(M - i, 0), 1));
tile.kernel @other_extent(%X: !tile.view<?x256xbf16> {tile.name = "X", tile.access = #tile.access<in>, tile.dims = ["M", ""], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                          %Y: !tile.view<?x256xbf16> {tile.name = "Y", tile.access = #tile.access<out>, tile.dims = ["N", ""], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %M = tile.dim %X, 0 : !tile.view<?x256xbf16>
  %N = tile.dim %Y, 0 : !tile.view<?x256xbf16>
  scf.forall (%m) = (0) to (%N) step (1) {
    %v = tile.valid %m to %M size 1
    %x = tile.load %X[%m, %c0] dims [0, 1] valid [%v, %c256] pad zero : !tile.view<?x256xbf16> -> tensor<1x256xbf16, #v>
    tile.store %x, %Y[%m, %c0] dims [0, 1] : tensor<1x256xbf16, #v>, !tile.view<?x256xbf16>
  }
  tile.return
}

// A remainder that is rounded down, as of `%`: extents are not negative, and the
// select leaves 0 out, so all but the product fits into 32 bits. Divisions of 64
// bits are calls.
// CHECK-LABEL: remainder(
// CHECK:         const int [[D:t[0-9]+]] = N == 0 || N == -1 ? 1 : N;
// CHECK-NOT:     floor_div((long long)
// CHECK:         (long long)floor_div(t{{[0-9]*}}, [[D]]) * [[D]]);
tile.kernel @remainder(%X: !tile.view<?xi64> {tile.name = "X", tile.access = #tile.access<out>, tile.dims = ["N"], tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %zero = arith.constant dense<0> : tensor<64xi64, #i>
  %one = arith.constant dense<1> : tensor<64xi64, #i>
  %minus = arith.constant dense<-1> : tensor<64xi64, #i>
  %five = arith.constant dense<5> : tensor<64xi64, #i>
  %c0 = arith.constant 0 : index
  %N = tile.dim %X, 0 : !tile.view<?xi64>
  %n = arith.index_cast %N : index to i64
  scf.forall (%i) = (0) to (64) step (64) {
    %k = tile.iota %i : tensor<64xi64, #i>
    %x = arith.muli %k, %five : tensor<64xi64, #i>
    %ns = tensor.splat %n : tensor<64xi64, #i>
    %0 = arith.cmpi eq, %ns, %zero : tensor<64xi64, #i>
    %1 = arith.cmpi eq, %ns, %minus : tensor<64xi64, #i>
    %2 = arith.ori %0, %1 : tensor<64xi1, #i>
    %d = arith.select %2, %one, %ns : tensor<64xi1, #i>, tensor<64xi64, #i>
    %q = arith.floordivsi %x, %d : tensor<64xi64, #i>
    %p = arith.muli %q, %d : tensor<64xi64, #i>
    %r = arith.subi %x, %p : tensor<64xi64, #i>
    tile.store %r, %X[%c0] dims [0] : tensor<64xi64, #i>, !tile.view<?xi64>
  }
  tile.return
}

// An index that is in range, and a condition that always holds.
// CHECK-LABEL: known(
// CHECK-NOT:     in_range
// CHECK:         load_16(x, x_tile);
// CHECK:         const bool in_range = (unsigned long long)k < 8;
// CHECK:         if (in_range) store_16(
tile.kernel @known(%X: !tile.view<8x256xbf16> {tile.name = "X", tile.access = #tile.access<in>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %Y: !tile.view<8x256xbf16> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %k: i64 {tile.name = "k"})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i64
  %true = arith.constant true
  scf.forall (%i) in (1) {
    %ok = tile.in_bounds %zero of %c8 if %true
    %x = tile.load %X[%c0, %c0] dims [0, 1] if %ok pad zero : !tile.view<8x256xbf16> -> tensor<1x256xbf16, #v>
    %fits = tile.in_bounds %k of %c8 if %true
    tile.store %x, %Y[%c0, %c0] dims [0, 1] if %fits : tensor<1x256xbf16, #v>, !tile.view<8x256xbf16>
  }
  tile.return
}
