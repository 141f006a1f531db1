// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Rows of 2-byte elements that begin anywhere: words around each vector, shifted
// into place; stores with the help of the lane before.

#v = #tilegpu.layout<registers = [[0, 1], [0, 2], [0, 4], [0, 256]], lanes = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warps = []>

// Tiles at the first and last row are loaded one by one, and those of rows that
// a neighbour is too short for.

// CHECK-LABEL: rows(
// CHECK:        const bf16 *x_tile = X + i * X_stride0 + column;
// CHECK-NEXT:   unsigned x[8] = {};
// CHECK-NEXT:   if (X_stride0 >= 511 && (i > 0 && i + 1 < M)) {
// CHECK-NEXT:     unsigned x_words[16];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 16; r += 8)
// CHECK-NEXT:       load_around(x_words + r, x_tile + ((r & 8) << 5), 511 - (column + ((r & 8) << 5)) > 0);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 16; r += 8)
// CHECK-NEXT:       take_shifted(x + r / 2, x_words + r, x_tile + ((r & 8) << 5));
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 8; r < 16; r += 8)
// CHECK-NEXT:       cut_behind<bf16>(x + r / 2, 511 - (column + ((r & 8) << 5)), (bf16)0x0000);
// CHECK-NEXT:   } else {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 16; r += 8)
// CHECK-NEXT:       load_elements(x + r / 2, x_tile + ((r & 8) << 5), 511 - (column + ((r & 8) << 5)));
// CHECK-NEXT:   }
// CHECK-NEXT:   bf16 *y_tile = Y + i * Y_stride0 + column;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 16; r += 8)
// CHECK-NEXT:     store_shifted<32>(y_tile + ((r & 8) << 5), x + r / 2, 511 - (column + ((r & 8) << 5)));
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @rows(%X: !tile.view<?x511xbf16> {tile.name = "X", tile.dims = ["M", "N"], tile.unit_stride = 1 : i64, tilegpu.align = 2 : i64},
                  %Y: !tile.view<?x511xbf16> {tile.name = "Y", tile.dims = ["M", "N"], tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 2 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c511 = arith.constant 511 : index
  %M = tile.dim %X, 0 : !tile.view<?x511xbf16>
  scf.forall (%m) in (%M) {
    %x = tile.load %X[%m, %c0] dims [0, 1] valid [%c1, %c511] pad zero : !tile.view<?x511xbf16> -> tensor<1x512xbf16, #v>
    tile.store %x, %Y[%m, %c0] dims [0, 1] valid [%c1, %c511] : tensor<1x512xbf16, #v>, !tile.view<?x511xbf16>
  }
  tile.return
}

// What the kernel writes itself is not loaded with its neighbours.

// CHECK-LABEL: in_place(
// CHECK-NOT:   load_around
// CHECK-NOT:   store_shifted
// CHECK:       reload_value
// CHECK:       store_value

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @in_place(%X: !tile.view<?x511xbf16> {tile.name = "X", tile.dims = ["M", "N"], tile.access = #tile.access<inout>, tile.unit_stride = 1 : i64, tilegpu.align = 2 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c511 = arith.constant 511 : index
  %M = tile.dim %X, 0 : !tile.view<?x511xbf16>
  scf.forall (%m) in (%M) {
    %x = tile.load %X[%m, %c0] dims [0, 1] valid [%c1, %c511] pad zero : !tile.view<?x511xbf16> -> tensor<1x512xbf16, #v>
    tile.store %x, %X[%m, %c0] dims [0, 1] valid [%c1, %c511] : tensor<1x512xbf16, #v>, !tile.view<?x511xbf16>
  }
  tile.return
}

// Tiles that may be whole: what is known of a whole one is used.

// CHECK-LABEL: tiles(
// CHECK:        if (N >= 32 && (X_stride0 >= N && (i > 0 && i + 2 < M))) {
// CHECK:            load_around(x_words + r, {{.*}}, valid_i1 - column > 0);
// CHECK:            take_shifted(
// CHECK:          if (valid_i1 < 256) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int r = 0; r < 16; r += 8)
// CHECK-NEXT:         cut_behind<bf16>(x + r / 2, valid_i1 - column, (bf16)0x0000);
// CHECK:        } else {
// CHECK:            load_elements({{.*}}, (r >> 3) < valid_i ? valid_i1 -
// CHECK:        if (valid_i < 2 || valid_i1 < 256) {
// CHECK:            store_shifted<32>({{.*}}, (r >> 3) < valid_i ? valid_i1 -
// CHECK:        } else {
// CHECK:            store_run(y_tile + {{.*}}, x + r / 2);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

#w = #tilegpu.layout<registers = [[0, 1], [0, 2], [0, 4], [1, 0]], lanes = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warps = []>

tile.kernel @tiles(%X: !tile.view<?x?xbf16> {tile.name = "X", tile.dims = ["M", "N"], tile.unit_stride = 1 : i64, tilegpu.align = 2 : i64},
                   %Y: !tile.view<?x?xbf16> {tile.name = "Y", tile.dims = ["M", "N"], tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 2 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %M = tile.dim %X, 0 : !tile.view<?x?xbf16>
  %N = tile.dim %X, 1 : !tile.view<?x?xbf16>
  scf.forall (%m, %n) = (0, 0) to (%M, %N) step (2, 256) {
    %vm = tile.valid %m to %M size 2
    %vn = tile.valid %n to %N size 256
    %x = tile.load %X[%m, %n] dims [0, 1] valid [%vm, %vn] pad zero : !tile.view<?x?xbf16> -> tensor<2x256xbf16, #w>
    tile.store %x, %Y[%m, %n] dims [0, 1] valid [%vm, %vn] : tensor<2x256xbf16, #w>, !tile.view<?x?xbf16>
  }
  tile.return
}
