// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Products on tensor cores: operands by their element type and orientation.

#acc = #tilegpu.layout<registers = [[0, 1], [8, 0], [0, 8]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = [[0, 16], [16, 0]]>
#opa = #tilegpu.layout<registers = [[0, 1], [8, 0], [0, 8], [0, 16]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = [[0, 0], [16, 0]]>

// Rows along k for the left operand, across it for the right one.

// CHECK-LABEL: bf16_1(
// CHECK:        const int a_lane = (((lane & 15) << 6) ^ ((lane & 6) << 3) ^ (lane & 16)) | ((warp & 2) << 9);
// CHECK-NEXT:   const int b_lane = ((lane & 15) << 6) ^ ((lane & 6) << 3) ^ (lane & 16) ^ ((warp & 1) << 5);
// CHECK:        const unsigned b_at1 = shared_base + 8192;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int kk = 0; kk < 2; ++kk) {
// CHECK-NEXT:     unsigned a[4];
// CHECK-NEXT:     unsigned b[4];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int mi = 0; mi < 1; ++mi)
// CHECK-NEXT:       ldmatrix_x4(a + 4 * mi, shared_base + (a_lane ^ (kk << 5)));
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int ni = 0; ni < 2; ni += 2)
// CHECK-NEXT:       ldmatrix_x4_trans(b + 2 * ni, b_at1 + (b_lane ^ (ni << 4)) + (kk << 10));
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int mi = 0; mi < 1; ++mi) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int ni = 0; ni < 2; ++ni)
// CHECK-NEXT:         mma_bf16(acc + 4 * (mi * 2 + ni), a + 4 * mi, b + 2 * ni);
// CHECK-NEXT:     }
// CHECK-NEXT:   }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @bf16(%A: !tile.view<32x32xbf16> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xbf16> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xbf16>, !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xbf16>, !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee : tensor<32x32xf32, #acc>, !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>, !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xf32, #acc>, !tile.view<32x32xf32>
  }
  tile.return
}

// The other way round.

// CHECK-LABEL: transposed(
// CHECK:            ldmatrix_x4_trans(a + 4 * mi, a_at1 + (kk << 10));
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int ni = 0; ni < 2; ni += 2)
// CHECK-NEXT:       ldmatrix_x4(b + 2 * ni, b_at1 + (b_lane ^ (kk << 5) ^ (ni << 9)));

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @transposed(%A: !tile.view<32x32xf16> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xf16> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xf16, phase_rows = 2, phases = 4>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xf16, phase_rows = 2, phases = 4>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf16>, !tilegpu.buffer<1 x 32x32xf16, phase_rows = 2, phases = 4>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf16>, !tilegpu.buffer<1 x 32x32xf16, phase_rows = 2, phases = 4>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee {lhs_transposed, rhs_transposed} : tensor<32x32xf32, #acc>, !tilegpu.buffer<1 x 32x32xf16, phase_rows = 2, phases = 4>, !tilegpu.buffer<1 x 32x32xf16, phase_rows = 2, phases = 4>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xf32, #acc>, !tile.view<32x32xf32>
  }
  tile.return
}

// The left operand in registers.

// CHECK-LABEL: registers(
// CHECK:          unsigned a[4];
// CHECK-NEXT:     unsigned b[4];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int mi = 0; mi < 1; ++mi) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int word = 0; word < 4; ++word)
// CHECK-NEXT:         a[4 * mi + word] = a_tile1[4 * (mi * 2 + kk) + word];
// CHECK-NEXT:     }
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int ni = 0; ni < 2; ni += 2)
// CHECK-NEXT:       ldmatrix_x4(b + 2 * ni, b_at1 + (b_lane ^ (kk << 5) ^ (ni << 9)));

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @registers(%A: !tile.view<32x32xbf16> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xbf16> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xbf16>, !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xbf16>, !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %f = tilegpu.local_load %a[%c0] : !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4> -> tensor<32x32xbf16, #opa>
    %d = tilegpu.mma %zero, %f, %b[%c0] precision ieee {rhs_transposed} : tensor<32x32xf32, #acc>, tensor<32x32xbf16, #opa>, !tilegpu.buffer<1 x 32x32xbf16, phase_rows = 2, phases = 4>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xf32, #acc>, !tile.view<32x32xf32>
  }
  tile.return
}

// f32 operands are rounded to tf32.

// CHECK-LABEL: tf32(
// CHECK:          to_tf32(a);
// CHECK-NEXT:     to_tf32(b);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int mi = 0; mi < 1; ++mi) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int ni = 0; ni < 2; ++ni)
// CHECK-NEXT:         mma_tf32(acc + 4 * (mi * 2 + ni), a + 4 * mi, b + 2 * ni);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @tf32(%A: !tile.view<32x32xf32> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xf32> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf32>, !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf32>, !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision tf32 {rhs_transposed} : tensor<32x32xf32, #acc>, !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>, !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xf32, #acc>, !tile.view<32x32xf32>
  }
  tile.return
}

// Three products, the small ones first. Rows across k of 32 bits are read one by
// one.

// CHECK-LABEL: tf32x3(
// CHECK:              b[2 * ni + word] = load_shared_value<unsigned>(b_at1 + (b_lane ^ (ni << 5) ^ (word << 6)) +
// CHECK-NEXT:             (kk << 10) + (word << 9));
// CHECK:          split_tf32(a, a_rest);
// CHECK-NEXT:     split_tf32(b, b_rest);
// CHECK:              mma_tf32(acc + 4 * (mi * 2 + ni), a_rest + 4 * mi, b + 2 * ni);
// CHECK-NEXT:         mma_tf32(acc + 4 * (mi * 2 + ni), a + 4 * mi, b_rest + 2 * ni);
// CHECK-NEXT:         mma_tf32(acc + 4 * (mi * 2 + ni), a + 4 * mi, b + 2 * ni);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @tf32x3(%A: !tile.view<32x32xf32> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xf32> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xf32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf32>, !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xf32>, !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision tf32x3 : tensor<32x32xf32, #acc>, !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>, !tilegpu.buffer<1 x 32x32xf32, phase_rows = 1, phases = 8>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xf32, #acc>, !tile.view<32x32xf32>
  }
  tile.return
}

// 8 bits, the right operand without a sign.

// CHECK-LABEL: u8(
// CHECK:              mma_s8_u8(acc + 4 * (mi * 2 + ni), a + 4 * mi, b + 2 * ni);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @u8(%A: !tile.view<32x32xi8> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xi8> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xi32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<32x32xi32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xi8>, !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xi8>, !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee {rhs_unsigned, rhs_transposed} : tensor<32x32xi32, #acc>, !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>, !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xi32, #acc>, !tile.view<32x32xi32>
  }
  tile.return
}

// Bytes across k are gathered.

// CHECK-LABEL: i8_across(
// CHECK:              a[4 * mi + word] = gather_bytes(a_at1 + (((word & 1) << 3) | ((word & 2) << 8)), a_at1 +
// CHECK-NEXT:             (((word & 1) << 3) | ((word & 2) << 8)) + 32, a_at1 +
// CHECK-NEXT:             (((word & 1) << 3) | ((word & 2) << 8)) + 64, a_at1 +
// CHECK-NEXT:             (((word & 1) << 3) | ((word & 2) << 8)) + 96);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @i8_across(%A: !tile.view<32x32xi8> {tile.name = "A", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %B: !tile.view<32x32xi8> {tile.name = "B", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
    %C: !tile.view<32x32xi32> {tile.name = "C", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 4 : i64, tilegpu.index32, tilegpu.shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<32x32xi32, #acc>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    %b = tilegpu.alloc "B" at 8192 : !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    tilegpu.async_copy %A[%c0, %c0] dims [0, 1], %a[%c0] vector 16 shape [32, 32] : !tile.view<32x32xi8>, !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    tilegpu.async_copy %B[%c0, %c0] dims [0, 1], %b[%c0] vector 16 shape [32, 32] : !tile.view<32x32xi8>, !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    tilegpu.commit
    tilegpu.wait 0
    tilegpu.barrier
    %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee {lhs_transposed} : tensor<32x32xi32, #acc>, !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>, !tilegpu.buffer<1 x 32x32xi8, phase_rows = 4, phases = 2>
    tile.store %d, %C[%c0, %c0] dims [0, 1] : tensor<32x32xi32, #acc>, !tile.view<32x32xi32>
  }
  tile.return
}
