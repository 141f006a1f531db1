// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Reductions over registers, lanes and warps.

#l = #tilegpu.layout<registers = [[0, 1], [4, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [0, 0]], warps = [[0, 8], [0, 0]]>
#m = #tilegpu.layout<registers = [[4]], lanes = [[0], [0], [1], [2], [0]], warps = [[0], [0]]>

// Lanes and warps that hold copies do not take part in the exchange.

// CHECK-LABEL: warps(
// CHECK:        float greatest[2];
// CHECK-NEXT:   fill(greatest, -infinity());
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 4; ++r)
// CHECK-NEXT:     greatest[r >> 1] = maximum(greatest[r >> 1], x[r]);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r) {
// CHECK-NEXT:     greatest[r] = maximum(greatest[r], from_lane_xor(greatest[r], 1));
// CHECK-NEXT:     greatest[r] = maximum(greatest[r], from_lane_xor(greatest[r], 2));
// CHECK-NEXT:   }
// CHECK-NEXT:   float *greatest_parts = (float *)(shared + 128);
// CHECK-NEXT:   if ((lane & 19) == 0 && (warp & 2) == 0) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       greatest_parts[(warp & 1) * 8 + row + (r << 2)] = greatest[r];
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r) {
// CHECK-NEXT:     greatest[r] = greatest_parts[row + (r << 2)];
// CHECK-NEXT:     greatest[r] = maximum(greatest[r], greatest_parts[8 + row + (r << 2)]);
// CHECK-NEXT:   }
// CHECK-NEXT:   float *y_tile = Y + row;
// CHECK-NEXT:   if ((lane & 19) == 0 && warp == 0) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       store_4(y_tile + (r << 2), greatest + r);
// CHECK-NEXT:   }
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @warps(%X: !tile.view<8x16xf32> {tile.name = "X", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                   %Y: !tile.view<8xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 192 : i64} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero : !tile.view<8x16xf32> -> tensor<8x16xf32, #l>
    %s = tile.reduce max %x axes [1] {tilegpu.scratch = 128 : i64} : tensor<8x16xf32, #l> -> tensor<8xf32, #m>
    tile.store %s, %Y[%c0] dims [0] : tensor<8xf32, #m>, !tile.view<8xf32>
  }
  tile.return
}

// Integers wrap; bools are combined without short cuts, as shuffles are on the
// right.

// CHECK-LABEL: kinds(
// CHECK:        int sum = 0;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT:     sum = wrap_add(sum, x[r]);
// CHECK-NEXT:   sum = wrap_add(sum, from_lane_xor(sum, 1));
// CHECK-NEXT:   sum = wrap_add(sum, from_lane_xor(sum, 2));
// CHECK-NEXT:   sum = wrap_add(sum, from_lane_xor(sum, 4));
// CHECK-NEXT:   sum = wrap_add(sum, from_lane_xor(sum, 8));
// CHECK-NEXT:   sum = wrap_add(sum, from_lane_xor(sum, 16));
// CHECK-NEXT:   int least = 2147483647;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT:     least = min(least, x[r]);
// CHECK-NEXT:   least = min(least, from_lane_xor(least, 1));
// CHECK-NEXT:   least = min(least, from_lane_xor(least, 2));
// CHECK-NEXT:   least = min(least, from_lane_xor(least, 4));
// CHECK-NEXT:   least = min(least, from_lane_xor(least, 8));
// CHECK-NEXT:   least = min(least, from_lane_xor(least, 16));
// CHECK-NEXT:   bool all = true;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT:     all = all & (x[r] > 0);
// CHECK-NEXT:   all = all & from_lane_xor(all, 1);
// CHECK-NEXT:   all = all & from_lane_xor(all, 2);
// CHECK-NEXT:   all = all & from_lane_xor(all, 4);
// CHECK-NEXT:   all = all & from_lane_xor(all, 8);
// CHECK-NEXT:   all = all & from_lane_xor(all, 16);
// CHECK-NEXT:   if (threadIdx.x == 0) store_value(Y, sum);
// CHECK-NEXT:   if (threadIdx.x == 0) store_value(Y + 1, least);
// CHECK-NEXT:   if (threadIdx.x == 0) store_value(Y + 2, (int)all);
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @kinds(%X: !tile.view<64xi32> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %Y: !tile.view<8xi32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0> : tensor<64xi32, #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>>
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<64xi32> -> tensor<64xi32, #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>>
    %sum = tile.reduce sum %x axes [0] : tensor<64xi32, #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>> -> tensor<i32>
    %least = tile.reduce min %x axes [0] : tensor<64xi32, #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>> -> tensor<i32>
    %pos = arith.cmpi sgt, %x, %z : tensor<64xi32, #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>>
    %all = tile.reduce all %pos axes [0] : tensor<64xi1, #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>> -> tensor<i1>
    %wide = arith.extui %all : tensor<i1> to tensor<i32>
    tile.store %sum, %Y[%c0] dims [] : tensor<i32>, !tile.view<8xi32>
    tile.store %least, %Y[%c1] dims [] : tensor<i32>, !tile.view<8xi32>
    tile.store %wide, %Y[%c2] dims [] : tensor<i32>, !tile.view<8xi32>
  }
  tile.return
}
