// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Changes of layout by renaming, shuffles and shared memory.

#a = #tilegpu.layout<registers = [[1], [2]], lanes = [[4], [8], [16], [32], [64]], warps = [[128]]>
#b = #tilegpu.layout<registers = [[2], [1]], lanes = [[4], [8], [16], [32], [64]], warps = [[128]]>
#c = #tilegpu.layout<registers = [[1], [64]], lanes = [[2], [4], [8], [16], [32]], warps = [[128]]>
#d = #tilegpu.layout<registers = [[1], [2]], lanes = [[128], [8], [16], [32], [64]], warps = [[4]]>

// bf16 elements move in pairs.

// CHECK-LABEL: moves(
// CHECK:        unsigned given[2];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT:     given[r] = x[r];
// CHECK-NEXT:   exchange<1>(given, lane & 16);
// CHECK-NEXT:   unsigned taken[2];
// CHECK-NEXT:   taken[0] = from_lane(given[0], from_lane1);
// CHECK-NEXT:   taken[1] = from_lane(given[1], from_lane1 ^ 16);
// CHECK-NEXT:   exchange<1>(taken, lane & 1);
// CHECK-NEXT:   store_shared_8(shared_base + 16 + from, x);
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   unsigned t[2];
// CHECK-NEXT:   load_shared_8(t, shared_base + 16 + to);
// CHECK-NEXT:   unsigned t1[2];
// CHECK-NEXT:   bf16 t1_raw[4];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 4; ++r)
// CHECK-NEXT:     t1_raw[r] = half_at(x, ((r & 1) << 1) | (r >> 1));
// CHECK-NEXT:   pack_16(t1, t1_raw);
// CHECK-NEXT:   bf16 *w_tile = W + column;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 4; ++r)
// CHECK-NEXT:     store_value(w_tile + (((r & 1) << 1) | (r >> 1)), half_at(t1, r));

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @moves(%X: !tile.view<256xbf16> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %W: !tile.view<256xbf16> {tile.name = "W", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %Y: !tile.view<256xbf16> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %Z: !tile.view<256xbf16> {tile.name = "Z", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32, tilegpu.shared_bytes = 640 : i64} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<256xbf16> -> tensor<256xbf16, #a>
    %w = tilegpu.convert_layout %x : tensor<256xbf16, #a> -> tensor<256xbf16, #b>
    %y = tilegpu.convert_layout %x : tensor<256xbf16, #a> -> tensor<256xbf16, #c>
    %z = tilegpu.convert_layout %x {tilegpu.scratch = 16 : i64} : tensor<256xbf16, #a> -> tensor<256xbf16, #d>
    tile.store %w, %W[%c0] dims [0] : tensor<256xbf16, #b>, !tile.view<256xbf16>
    tile.store %y, %Y[%c0] dims [0] : tensor<256xbf16, #c>, !tile.view<256xbf16>
    tile.store %z, %Z[%c0] dims [0] : tensor<256xbf16, #d>, !tile.view<256xbf16>
  }
  tile.return
}

// Of several threads that hold an element one writes it to shared memory; all
// read.

#e = #tilegpu.layout<registers = [], lanes = [[1], [2], [4], [8], [0]], warps = [[0]]>
#f = #tilegpu.layout<registers = [], lanes = [[8], [0], [1], [2], [0]], warps = [[4]]>

// CHECK-LABEL: copies(
// CHECK:        if ((lane & 16) == 0 && warp == 0)
// CHECK-NEXT:     store_shared_4(shared_base + from, x);
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   float t[1];
// CHECK-NEXT:   load_shared_4(t, shared_base + to);

tile.kernel @copies(%X: !tile.view<16xf32> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %Y: !tile.view<16xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32, tilegpu.shared_bytes = 64 : i64} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<16xf32> -> tensor<16xf32, #e>
    %y = tilegpu.convert_layout %x {tilegpu.scratch = 0 : i64} : tensor<16xf32, #e> -> tensor<16xf32, #f>
    tile.store %y, %Y[%c0] dims [0] : tensor<16xf32, #f>, !tile.view<16xf32>
  }
  tile.return
}
