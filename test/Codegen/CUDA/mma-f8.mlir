// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_89 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Products of 8-bit floats, which sm_89 introduced.

#acc = #tilegpu.layout<registers = [[0, 1], [8, 0], [0, 8]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = [[0, 16], [16, 0]]>

// The same type on both sides.

// CHECK-LABEL: f8(
// CHECK:            ldmatrix_x4(a + 4 * mi, a_at1);
// CHECK:              mma_e4m3_e4m3(acc + 4 * (mi * 2 + ni), a + 4 * mi, b + 2 * ni);

// ASM: sm_89: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @f8(%A: !tile.view<32x32xf8E4M3FN> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xf8E4M3FN> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xf8E4M3FN, phase_rows = 4, phases = 2>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xf8E4M3FN, phase_rows = 4, phases = 2>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf8E4M3FN>, !tilegpu.buffer<1 x 32x32xf8E4M3FN, phase_rows = 4, phases = 2>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf8E4M3FN>, !tilegpu.buffer<1 x 32x32xf8E4M3FN, phase_rows = 4, phases = 2>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee {rhs_transposed} : tensor<32x32xf32, #acc>, !tilegpu.buffer<1 x 32x32xf8E4M3FN, phase_rows = 4, phases = 2>, !tilegpu.buffer<1 x 32x32xf8E4M3FN, phase_rows = 4, phases = 2>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xf32, #acc>, !tile.view<32x32xf32>
  }
  tile.return
}

// Bytes across k are gathered.

// CHECK-LABEL: f8_across(
// CHECK:              b[2 * ni + word] = gather_bytes(b_at1 + (ni << 3) + (word << 9), b_at1 + (ni << 3) +
// CHECK-NEXT:             (word << 9) + 32, b_at1 + (ni << 3) + (word << 9) + 64, b_at1 + (ni << 3) +
// CHECK-NEXT:             (word << 9) + 96);
// CHECK:              mma_e5m2_e5m2(acc + 4 * (mi * 2 + ni), a + 4 * mi, b + 2 * ni);

// ASM: sm_89: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @f8_across(%A: !tile.view<32x32xf8E5M2> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xf8E5M2> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xf8E5M2, phase_rows = 4, phases = 2>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xf8E5M2, phase_rows = 4, phases = 2>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf8E5M2>, !tilegpu.buffer<1 x 32x32xf8E5M2, phase_rows = 4, phases = 2>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf8E5M2>, !tilegpu.buffer<1 x 32x32xf8E5M2, phase_rows = 4, phases = 2>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee : tensor<32x32xf32, #acc>, !tilegpu.buffer<1 x 32x32xf8E5M2, phase_rows = 4, phases = 2>, !tilegpu.buffer<1 x 32x32xf8E5M2, phase_rows = 4, phases = 2>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xf32, #acc>, !tile.view<32x32xf32>
  }
  tile.return
}
