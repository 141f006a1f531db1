// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Several products in one tile: four of 32 x 16 x 16, over two warps, each of
// which has two.

#acc = #tilegpu.layout<registers = [[0, 0, 1], [0, 8, 0], [0, 0, 8], [0, 16, 0], [1, 0, 0]], lanes = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warps = [[2, 0, 0]]>

// CHECK-LABEL: batch(
// The warp's bit moves an operand by two matrices, bi by one.
// CHECK:        const int a_lane = {{.*}}warp << 11
// CHECK:        for (int bi = 0; bi < 2; ++bi) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int kk = 0; kk < 1; ++kk) {
// CHECK:            ldmatrix_x4(a + 4 * mi, {{.*}}(bi << 10){{.*}}
// CHECK:            ldmatrix_x4_trans(b + 2 * ni, {{.*}}(bi << 9)
// CHECK:              mma_bf16(acc + 4 * ((bi * 2 + mi) * 2 + ni), a + 4 * mi, b + 2 * ni);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @batch(%A: !tile.view<4x32x16xbf16> {tile.name = "A", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<4x16x16xbf16> {tile.name = "B", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<4x32x16xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32, tilegpu.shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x32x16xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 128x16xbf16, phase_rows = 4, phases = 2>
    %b = tilegpu.alloc "B" at 4096 : !tilegpu.buffer<1 x 64x16xbf16, phase_rows = 4, phases = 2>
    tilegpu.async_copy %A[%c0, %c0, %c0] dims [0, 1, 2], %a[%c0] vector 16 shape [4, 32, 16] : !tile.view<4x32x16xbf16>, !tilegpu.buffer<1 x 128x16xbf16, phase_rows = 4, phases = 2>
    tilegpu.async_copy %B[%c0, %c0, %c0] dims [0, 1, 2], %b[%c0] vector 16 shape [4, 16, 16] : !tile.view<4x16x16xbf16>, !tilegpu.buffer<1 x 64x16xbf16, phase_rows = 4, phases = 2>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee {batch = 1 : i64} : tensor<4x32x16xf32, #acc>, !tilegpu.buffer<1 x 128x16xbf16, phase_rows = 4, phases = 2>, !tilegpu.buffer<1 x 64x16xbf16, phase_rows = 4, phases = 2>
    tile.store %d, %C[%c0, %c0, %c0] dims [0, 1, 2] : tensor<4x32x16xf32, #acc>, !tile.view<4x32x16xf32>
  }
  tile.return
}
