// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Products on the ordinary units.

#acc = #tilegpu.layout<registers = [[0, 1], [0, 2], [1, 0]], lanes = [[0, 4], [0, 8], [2, 0], [4, 0], [8, 0]], warps = []>
#bat = #tilegpu.layout<registers = [[0, 0, 1], [1, 0, 0]], lanes = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warps = []>

// Four k at a time; both operands are read 16 bytes at a time. A copy of 4 bytes.

// CHECK-LABEL: f32(
// CHECK:        for (int k0 = 0; k0 < 16; k0 += 4) {
// CHECK-NEXT:     float a[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 8; r += 4)
// CHECK-NEXT:       load_shared_16(a + r, shared_base + (a_lane ^ ((k0 & 12) << 2)) + ((r & 4) << 4));
// CHECK-NEXT:     float b[16];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 16; r += 4)
// CHECK-NEXT:       load_shared_16(b + r, b_at1 + (b_lane ^ ((k0 & 4) << 3) ^ ((r & 8) << 1)) + ((k0 & 12) << 6) +
// CHECK-NEXT:           ((r & 12) << 4));
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int k = 0; k < 4; ++k) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int r = 0; r < 8; ++r)
// CHECK-NEXT:         acc[r] = fmaf(a[(r & 4) | k], b[(r & 3) | (k << 2)], acc[r]);
// CHECK-NEXT:     }
// CHECK-NEXT:   }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @f32(%A: !tile.view<16x16xf32> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                 %B: !tile.view<16x16xf32> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                 %C: !tile.view<16x16xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32, tilegpu.shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 16x16xf32, phase_rows = 2, phases = 4>
    %b = tilegpu.alloc "B" at 1024 : !tilegpu.buffer<1 x 16x16xf32, phase_rows = 2, phases = 4>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [16, 16] : !tile.view<16x16xf32>, !tilegpu.buffer<1 x 16x16xf32, phase_rows = 2, phases = 4>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 4 shape [16, 16] : !tile.view<16x16xf32>, !tilegpu.buffer<1 x 16x16xf32, phase_rows = 2, phases = 4>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.fma_dot %zero, %a[%c0], %b[%c0] batch 0 : tensor<16x16xf32, #acc>, !tilegpu.buffer<1 x 16x16xf32, phase_rows = 2, phases = 4>, !tilegpu.buffer<1 x 16x16xf32, phase_rows = 2, phases = 4>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<16x16xf32, #acc>, !tile.view<16x16xf32>
  }
  tile.return
}

// Transposed operands, two batches, a sum of 16 bits. Copies of 2 bytes go through
// registers.

// CHECK-LABEL: batches(
// CHECK:        short a_raw[8] = {};
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     a_raw[r] = load_value(a_tile + (r >> 2) * A_stride0 + ((r & 3) << 2) * A_stride1);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     store_shared_value(a_at + (r << 6), a_raw[r]);
// CHECK:        int acc_sums[4];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 4; ++r)
// CHECK-NEXT:     acc_sums[r] = s16_at(acc, r);
// CHECK-NEXT:   const unsigned a_at1 = shared_base + a_lane;
// CHECK-NEXT:   const unsigned b_at1 = shared_base + 512;
// CHECK-NEXT: #pragma unroll 1
// CHECK-NEXT:   for (int k0 = 0; k0 < 16; k0 += 8) {
// CHECK-NEXT:     unsigned a[8];
// CHECK-NEXT:     short a_raw1[16];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 16; ++r)
// CHECK-NEXT:       a_raw1[r] = load_shared_value<short>(a_at1 + ((k0 & 8) << 4) +
// CHECK-NEXT:           (((r & 1) << 8) | ((r & 14) << 3)));
// CHECK-NEXT:     pack_16(a, a_raw1);
// CHECK-NEXT:     unsigned b[16];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 32; r += 8)
// CHECK-NEXT:       load_shared_16(b + r / 2, b_at1 + (b_lane ^ ((k0 & 8) << 1)) +
// CHECK-NEXT:           (((r & 8) << 2) | ((r & 16) << 4)));
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int k = 0; k < 8; ++k) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int r = 0; r < 4; ++r)
// CHECK-NEXT:         acc_sums[r] = wrap_add(acc_sums[r],
// CHECK-NEXT:             wrap_mul((int)s16_at(a, (r >> 1) | (k << 1)), (int)s16_at(b, (r << 3) | k)));
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   pack_16(acc, acc_sums);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @batches(%A: !tile.view<2x16x8xi16> {tile.name = "A", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
                     %B: !tile.view<2x8x16xi16> {tile.name = "B", tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64},
                     %C: !tile.view<2x8x8xi16> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 2 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32, tilegpu.shared_bytes = 1024 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<2x8x8xi16, #bat>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x8xi16, phase_rows = 1, phases = 1>
    %b = tilegpu.alloc "B" at 512 : !tilegpu.buffer<1 x 16x16xi16, phase_rows = 4, phases = 2>
    tilegpu.async_copy %A[%c0, %c0, %c0] dims [0, 1, 2], %a[%c0] vector 2 shape [2, 16, 8] : !tile.view<2x16x8xi16>, !tilegpu.buffer<1 x 32x8xi16, phase_rows = 1, phases = 1>
    tilegpu.async_copy %B[%c0, %c0, %c0] dims [0, 1, 2], %b[%c0] vector 8 shape [2, 8, 16] : !tile.view<2x8x16xi16>, !tilegpu.buffer<1 x 16x16xi16, phase_rows = 4, phases = 2>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.fma_dot %zero, %a[%c0], %b[%c0] batch 1 {lhs_transposed, rhs_transposed} : tensor<2x8x8xi16, #bat>, !tilegpu.buffer<1 x 32x8xi16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x16xi16, phase_rows = 4, phases = 2>
    tile.store %d, %C[%c0, %c0, %c0] dims [0, 1, 2] : tensor<2x8x8xi16, #bat>, !tile.view<2x8x8xi16>
  }
  tile.return
}
