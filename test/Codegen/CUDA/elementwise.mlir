// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Elementwise ops on fragments: one loop over registers for all that is needed at
// a time.

#l = #tilegpu.layout<registers = [[0, 1], [0, 2], [8, 0]], lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>
#c = #tilegpu.layout<registers = [[1], [2]], lanes = [[4], [8], [0], [0], [0]], warps = []>
#w = #tilegpu.layout<registers = [[0]], lanes = [[0], [0], [1], [2], [4]], warps = []>

// A value that two runs use is kept in an array; what one uses is part of an
// expression. The sum is taken on the way. Lanes that hold copies do not store.

// CHECK-LABEL: shared1(
// CHECK:        float sum[4] = {};
// CHECK-NEXT:   float t[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r) {
// CHECK-NEXT:     t[r] = exp_f32(x[r] * 2.0f);
// CHECK-NEXT:     sum[r & 3] += t[r];
// CHECK-NEXT:   }
// CHECK:        float t1[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     t1[r] = divide(t[r], sum[r & 3]);
// CHECK:        float *z_tile = Z + column;
// CHECK-NEXT:   if ((lane & 28) == 0)
// CHECK-NEXT:     store_16(z_tile, sum);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @shared(%X: !tile.view<16x16xf32> {tile.name = "X", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                    %Y: !tile.view<16x16xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                    %Z: !tile.view<16xf32> {tile.name = "Z", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %two = arith.constant dense<2.0> : tensor<16x16xf32, #l>
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero : !tile.view<16x16xf32> -> tensor<16x16xf32, #l>
    %a = arith.mulf %x, %two : tensor<16x16xf32, #l>
    %e = math.exp %a : tensor<16x16xf32, #l>
    %s = tile.reduce sum %e axes [0] : tensor<16x16xf32, #l> -> tensor<16xf32, #c>
    %b = tile.broadcast %s dims [1] : tensor<16xf32, #c> -> tensor<16x16xf32, #l>
    %d = arith.divf %e, %b : tensor<16x16xf32, #l>
    tile.store %d, %Y[%c0, %c0] dims [0, 1] : tensor<16x16xf32, #l>, !tile.view<16x16xf32>
    tile.store %s, %Z[%c0] dims [0] : tensor<16xf32, #c>, !tile.view<16xf32>
  }
  tile.return
}

// Positions and masks are computed where they are used, in both runs, and in 32
// bits as far as the positions go.

// CHECK-LABEL: mask(
// CHECK:        float greatest = -infinity();
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r) {
// CHECK-NEXT:     const int t = i + (row + ((r & 4) << 1));
// CHECK-NEXT:     const int t1 = i1 + (column + (r & 3));
// CHECK-NEXT:     greatest = maximum(greatest, t >= t1 && (long long)(t - t1) < w ? x[r] : -infinity());
// CHECK-NEXT:   }
// CHECK:        float t2[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r) {
// CHECK-NEXT:     const int t3 = i + (row + ((r & 4) << 1));
// CHECK-NEXT:     const int t4 = i1 + (column + (r & 3));
// CHECK-NEXT:     t2[r] = t3 >= t4 && (long long)(t3 - t4) < w ? greatest : x[r];
// CHECK-NEXT:   }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @mask(%X: !tile.view<?x?xf32> {tile.name = "X", tile.dims = ["M", "N"], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                  %Y: !tile.view<?x?xf32> {tile.name = "Y", tile.dims = ["M", "N"], tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                  %w: i64 {tile.name = "w"})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %M = tile.dim %X, 0 : !tile.view<?x?xf32>
  %N = tile.dim %X, 1 : !tile.view<?x?xf32>
  %inf = arith.constant dense<0xFF800000> : tensor<16x16xf32, #l>
  scf.forall (%i, %j) = (0, 0) to (%M, %N) step (16, 16) {
    %vm = tile.valid %i to %M size 16
    %vn = tile.valid %j to %N size 16
    %x = tile.load %X[%i, %j] dims [0, 1] valid [%vm, %vn] pad zero : !tile.view<?x?xf32> -> tensor<16x16xf32, #l>
    %q = tile.iota %i : tensor<16xi64, #tilegpu.layout<registers = [[8]], lanes = [[0], [0], [1], [2], [4]], warps = []>>
    %k = tile.iota %j : tensor<16xi64, #c>
    %q2 = tile.broadcast %q dims [0] : tensor<16xi64, #tilegpu.layout<registers = [[8]], lanes = [[0], [0], [1], [2], [4]], warps = []>> -> tensor<16x16xi64, #l>
    %k2 = tile.broadcast %k dims [1] : tensor<16xi64, #c> -> tensor<16x16xi64, #l>
    %ge = arith.cmpi sge, %q2, %k2 : tensor<16x16xi64, #l>
    %ws = tensor.splat %w : tensor<16x16xi64, #l>
    %diff = arith.subi %q2, %k2 : tensor<16x16xi64, #l>
    %near = arith.cmpi slt, %diff, %ws : tensor<16x16xi64, #l>
    %both = arith.andi %ge, %near : tensor<16x16xi1, #l>
    %y = arith.select %both, %x, %inf : tensor<16x16xi1, #l>, tensor<16x16xf32, #l>
    %m = tile.reduce max %y axes [0, 1] : tensor<16x16xf32, #l> -> tensor<f32>
    %ms = tensor.extract %m[] : tensor<f32>
    %mm = tensor.splat %ms : tensor<16x16xf32, #l>
    %z = arith.select %both, %mm, %x : tensor<16x16xi1, #l>, tensor<16x16xf32, #l>
    tile.store %z, %Y[%i, %j] dims [0, 1] valid [%vm, %vn] : tensor<16x16xf32, #l>, !tile.view<?x?xf32>
  }
  tile.return
}
