// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Running combinations, and the search for the greatest element.

#l = #tilegpu.layout<registers = [[0, 1], [0, 64]], lanes = [[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], warps = [[0, 32]]>
#s = #tilegpu.layout<registers = [], lanes = [[0], [0], [0], [0], [1]], warps = [[0]]>

// Registers, lanes, warps, and a repetition of the whole.

// CHECK-LABEL: scan(
// CHECK:        float carry[1];
// CHECK-NEXT:   fill(carry, 0.0f);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int repeat = 0; repeat < 2; ++repeat) {
// CHECK-NEXT:     float before[1], total[1];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int line = 0; line < 1; ++line) {
// CHECK-NEXT:       before[line] = 0.0f;
// CHECK-NEXT:       total[line] = 0.0f;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int step = 0; step < 2; ++step)
// CHECK-NEXT:         scan1[(repeat << 1) | step] = total[line] = total[line] + scan1[(repeat << 1) | step];
// CHECK-NEXT:       {
// CHECK-NEXT:         float other = from_lane_xor(total[line], 1);
// CHECK-NEXT:         if (lane & 1) before[line] = before[line] + other;
// CHECK-NEXT:         total[line] = total[line] + other;
// CHECK-NEXT:       }
// CHECK-NEXT:       {
// CHECK-NEXT:         float other = from_lane_xor(total[line], 2);
// CHECK-NEXT:         if (lane & 2) before[line] = before[line] + other;
// CHECK-NEXT:         total[line] = total[line] + other;
// CHECK-NEXT:       }
// CHECK-NEXT:       {
// CHECK-NEXT:         float other = from_lane_xor(total[line], 4);
// CHECK-NEXT:         if (lane & 4) before[line] = before[line] + other;
// CHECK-NEXT:         total[line] = total[line] + other;
// CHECK-NEXT:       }
// CHECK-NEXT:       {
// CHECK-NEXT:         float other = from_lane_xor(total[line], 8);
// CHECK-NEXT:         if (lane & 8) before[line] = before[line] + other;
// CHECK-NEXT:         total[line] = total[line] + other;
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     float *parts = (float *)(shared);
// CHECK-NEXT:     if ((lane & 15) == 0) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int line = 0; line < 1; ++line) {
// CHECK-NEXT:         parts[warp * 2 + row] = total[line];
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     __syncthreads();
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int line = 0; line < 1; ++line) {
// CHECK-NEXT:       total[line] = 0.0f;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int part = 0; part < 2; ++part) {
// CHECK-NEXT:         if (part < warp) before[line] = before[line] + parts[part * 2 + row];
// CHECK-NEXT:         total[line] = total[line] + parts[part * 2 + row];
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     __syncthreads();
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int line = 0; line < 1; ++line) {
// CHECK-NEXT:       before[line] = carry[line] + before[line];
// CHECK-NEXT:       carry[line] = carry[line] + total[line];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int step = 0; step < 2; ++step)
// CHECK-NEXT:         scan1[(repeat << 1) | step] = before[line] + scan1[(repeat << 1) | step];
// CHECK-NEXT:     }
// CHECK-NEXT:   }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @scan(%X: !tile.view<2x128xf32> {tile.name = "X", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                  %Y: !tile.view<2x128xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32, tilegpu.shared_bytes = 16 : i64} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero : !tile.view<2x128xf32> -> tensor<2x128xf32, #l>
    %y = tile.scan sum %x axis 1 {tilegpu.scratch = 0 : i64} : tensor<2x128xf32, #l>
    tile.store %y, %Y[%c0, %c0] dims [0, 1] : tensor<2x128xf32, #l>, !tile.view<2x128xf32>
  }
  tile.return
}

// Only lanes below the valid extent count; equal values are told apart by their
// lanes.

// CHECK-LABEL: search(
// CHECK:        int place[1];
// CHECK-NEXT:   fill(place, -1);
// CHECK-NEXT:   float place_value[1] = {};
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 4; ++r)
// CHECK-NEXT:     if (column + ((r & 1) | ((r & 2) << 5)) < valid)
// CHECK-NEXT:         keep_greatest(place_value[0], place[0], x[r], column + ((r & 1) | ((r & 2) << 5)));
// CHECK-NEXT:   keep_greatest(place_value[0], place[0], from_lane_xor(place_value[0], 1),
// CHECK-NEXT:       from_lane_xor(place[0], 1));
// CHECK-NEXT:   keep_greatest(place_value[0], place[0], from_lane_xor(place_value[0], 2),
// CHECK-NEXT:       from_lane_xor(place[0], 2));
// CHECK-NEXT:   keep_greatest(place_value[0], place[0], from_lane_xor(place_value[0], 4),
// CHECK-NEXT:       from_lane_xor(place[0], 4));
// CHECK-NEXT:   keep_greatest(place_value[0], place[0], from_lane_xor(place_value[0], 8),
// CHECK-NEXT:       from_lane_xor(place[0], 8));
// CHECK-NEXT:   Candidate<float> *place_parts = (Candidate<float> *)(shared);
// CHECK-NEXT:   if ((lane & 15) == 0)
// CHECK-NEXT:     place_parts[warp * 2 + row] = {place_value[0], place[0]};
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   place[0] = -1;
// CHECK-NEXT:   keep_greatest(place_value[0], place[0], place_parts[row].value, place_parts[row].place);
// CHECK-NEXT:   keep_greatest(place_value[0], place[0], place_parts[2 + row].value, place_parts[2 + row].place);
// CHECK-NEXT:   long long t[1];
// CHECK-NEXT:   t[0] = place[0];
// CHECK-NEXT:   long long *y_tile = Y + row;
// CHECK-NEXT:   if ((lane & 15) == 0 && warp == 0)
// CHECK-NEXT:     store_8(y_tile, t);
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @search(%X: !tile.view<2x?xf32> {tile.name = "X", tile.dims = ["", "N"], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                    %Y: !tile.view<2xi64> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32, tilegpu.shared_bytes = 64 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %N = tile.dim %X, 1 : !tile.view<2x?xf32>
  scf.forall (%i) in (1) {
    %v = tile.valid %c0 to %N size 128
    %x = tile.load %X[%c0, %c0] dims [0, 1] valid [%c2, %v] pad zero : !tile.view<2x?xf32> -> tensor<2x128xf32, #l>
    %y = tile.arg_reduce max %x axis 1 valid %v {tilegpu.scratch = 0 : i64} : tensor<2x128xf32, #l> -> tensor<2xi64, #s>
    tile.store %y, %Y[%c0] dims [0] : tensor<2xi64, #s>, !tile.view<2xi64>
  }
  tile.return
}
