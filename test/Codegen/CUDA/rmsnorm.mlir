// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// A whole kernel: vector loads under the valid extent, a reduction within each
// warp, and one run for everything behind it.

// CHECK:      extern "C" __global__ void __launch_bounds__(128)
// CHECK-NEXT: rmsnorm(const bf16 *X, const bf16 *w, bf16 *Y, int X_stride0, int Y_stride0,
// CHECK-NEXT:     int M, float eps) {
// CHECK-NEXT:   const int lane = (int)threadIdx.x % 32;
// CHECK-NEXT:   const int warp = uniform((int)threadIdx.x / 32);
// CHECK-NEXT:   const int column = lane << 3;
// CHECK-NEXT:   const int i = (int)blockIdx.x * 4;
// CHECK-EMPTY:
// CHECK-NEXT:   const int valid_i = min(M - i, 4);
// CHECK-NEXT:   const bf16 *x_tile = X + (i + warp) * X_stride0 + column;
// CHECK-NEXT:   unsigned x[8] = {};
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 16; r += 8)
// CHECK-NEXT:     load_16_if(x + r / 2, x_tile + ((r & 8) << 5), warp < valid_i);
// CHECK:        float sum[1] = {};
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 16; ++r) {
// CHECK-NEXT:     const float t = bf16_at(x, r);
// CHECK-NEXT:     sum[0] += t * t;
// CHECK-NEXT:   }
// CHECK-NEXT:   sum[0] += from_lane_xor(sum[0], 1);
// CHECK:        sum[0] += from_lane_xor(sum[0], 16);
// CHECK-NEXT:   float t1[1];
// CHECK-NEXT:   t1[0] = rsqrt_f32(sum[0] * 0.001953125f + eps);
// CHECK:          t2_f32[r] = bf16_at(x, r) * t1[0] * bf16_at(w_block, r);
// CHECK-NEXT:   pack_bf16(t2, t2_f32);
// CHECK:          if (warp < valid_i) store_16(y_tile + ((r & 8) << 5), t2 + r / 2);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

#l = #tilegpu.layout<registers = [[0, 1], [0, 2], [0, 4], [0,256]], lanes = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warps = [[1, 0], [2, 0]]>
#r = #tilegpu.layout<registers = [], lanes = [[0], [0], [0], [0], [0]], warps = [[1], [2]]>
#c = #tilegpu.layout<registers = [[1], [2], [4], [256]], lanes = [[8], [16], [32], [64], [128]], warps = [[0], [0]]>
tile.kernel @rmsnorm(%X: !tile.view<?x512xbf16> {tile.name = "X", tile.access = #tile.access<in>, tile.dims = ["M", "N"], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                     %w: !tile.view<512xbf16> {tile.name = "w", tile.access = #tile.access<in>, tile.dims = ["N"], tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                     %eps: f32 {tile.name = "eps"},
                     %Y: !tile.view<?x512xbf16> {tile.name = "Y", tile.access = #tile.access<out>, tile.dims = ["M", "N"], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %M = tile.dim %X, 0 : !tile.view<?x512xbf16>
  scf.forall (%m) = (0) to (%M) step (4) {
    %v = tile.valid %m to %M size 4
    %x = tile.load %X[%m, %c0] dims [0, 1] valid [%v, %c512] pad zero : !tile.view<?x512xbf16> -> tensor<4x512xbf16, #l>
    %wb = tile.load %w[%c0] dims [0] pad zero : !tile.view<512xbf16> -> tensor<512xbf16, #c>
    %xf = arith.extf %x : tensor<4x512xbf16, #l> to tensor<4x512xf32, #l>
    %sq = arith.mulf %xf, %xf : tensor<4x512xf32, #l>
    %s = tile.reduce sum %sq axes [1] : tensor<4x512xf32, #l> -> tensor<4xf32, #r>
    %n = arith.constant dense<0.001953125> : tensor<4xf32, #r>
    %mean = arith.mulf %s, %n : tensor<4xf32, #r>
    %epsv = tensor.splat %eps : tensor<4xf32, #r>
    %d = arith.addf %mean, %epsv : tensor<4xf32, #r>
    %rs = math.rsqrt %d : tensor<4xf32, #r>
    %rb = tile.broadcast %rs dims [0] : tensor<4xf32, #r> -> tensor<4x512xf32, #l>
    %wf = arith.extf %wb : tensor<512xbf16, #c> to tensor<512xf32, #c>
    %wbb = tile.broadcast %wf dims [1] : tensor<512xf32, #c> -> tensor<4x512xf32, #l>
    %y0 = arith.mulf %xf, %rb : tensor<4x512xf32, #l>
    %y1 = arith.mulf %y0, %wbb : tensor<4x512xf32, #l>
    %y = arith.truncf %y1 : tensor<4x512xf32, #l> to tensor<4x512xbf16, #l>
    tile.store %y, %Y[%m, %c0] dims [0, 1] valid [%v, %c512] : tensor<4x512xbf16, #l>, !tile.view<?x512xbf16>
  }
  tile.return
}
