// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Operators and functions that elementwise.mlir and math.mlir do not have.

#v = #tilegpu.layout<registers = [], lanes = [[1], [2], [4], [8], [16]], warps = []>

// CHECK-LABEL: floats(
// CHECK:        const float t1 = log1pf(expm1f(x[0]));
// CHECK-NEXT:   t[0] = fmodf(copysignf(truncf(t1) - roundf(x[0]), x[0]), t1);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @floats(%X: !tile.view<32xf32> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %Y: !tile.view<32xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<32xf32> -> tensor<32xf32, #v>
    %0 = math.expm1 %x : tensor<32xf32, #v>
    %1 = math.log1p %0 : tensor<32xf32, #v>
    %2 = math.trunc %1 : tensor<32xf32, #v>
    %3 = math.round %x : tensor<32xf32, #v>
    %4 = arith.subf %2, %3 : tensor<32xf32, #v>
    %5 = math.copysign %4, %x : tensor<32xf32, #v>
    %6 = arith.remf %5, %1 : tensor<32xf32, #v>
    tile.store %6, %Y[%c0] dims [0] : tensor<32xf32, #v>, !tile.view<32xf32>
  }
  tile.return
}

// Rounding up, toward zero, and of unsigned numbers.

// CHECK-LABEL: integers(
// CHECK:        t[0] = min((int)((unsigned)(ceil_div(x[0], 3) / 3) / (unsigned)3),
// CHECK-NEXT:       (int)((unsigned)x[0] % (unsigned)3));

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @integers(%X: !tile.view<32xi32> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                      %Y: !tile.view<32xi32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant dense<3> : tensor<32xi32, #v>
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<32xi32> -> tensor<32xi32, #v>
    %0 = arith.ceildivsi %x, %c3 : tensor<32xi32, #v>
    %1 = arith.divsi %0, %c3 : tensor<32xi32, #v>
    %2 = arith.divui %1, %c3 : tensor<32xi32, #v>
    %3 = arith.remui %x, %c3 : tensor<32xi32, #v>
    %4 = arith.minsi %2, %3 : tensor<32xi32, #v>
    tile.store %4, %Y[%c0] dims [0] : tensor<32xi32, #v>, !tile.view<32xi32>
  }
  tile.return
}

// Elements of every narrow type, two or four in a register.

#n = #tilegpu.layout<registers = [[1], [2]], lanes = [[4], [8], [16], [32], [64]], warps = []>

// CHECK-LABEL: narrow(
// CHECK:        unsigned a[2];
// CHECK-NEXT:   load_8(a, a_tile);
// CHECK:        unsigned b[1];
// CHECK-NEXT:   load_4(b, b_tile);
// CHECK:        unsigned c[1];
// CHECK-NEXT:   load_4(c, c_tile);
// CHECK:          t[r] = f16_at(a, r) + e4m3_at(b, r) + e5m2_at(c, r);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @narrow(%A: !tile.view<128xf16> {tile.name = "A", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %B: !tile.view<128xf8E4M3FN> {tile.name = "B", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %C: !tile.view<128xf8E5M2> {tile.name = "C", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %Y: !tile.view<128xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tile.load %A[%c0] dims [0] pad zero : !tile.view<128xf16> -> tensor<128xf16, #n>
    %b = tile.load %B[%c0] dims [0] pad zero : !tile.view<128xf8E4M3FN> -> tensor<128xf8E4M3FN, #n>
    %c = tile.load %C[%c0] dims [0] pad zero : !tile.view<128xf8E5M2> -> tensor<128xf8E5M2, #n>
    %x = arith.extf %a : tensor<128xf16, #n> to tensor<128xf32, #n>
    %y = arith.extf %b : tensor<128xf8E4M3FN, #n> to tensor<128xf32, #n>
    %z = arith.extf %c : tensor<128xf8E5M2, #n> to tensor<128xf32, #n>
    %0 = arith.addf %x, %y : tensor<128xf32, #n>
    %1 = arith.addf %0, %z : tensor<128xf32, #n>
    tile.store %1, %Y[%c0] dims [0] : tensor<128xf32, #n>, !tile.view<128xf32>
  }
  tile.return
}

// Fragments to shared memory and back, in plain and in swizzled rows: element
// (i, j) of the latter stands at 64 i + 16 ((j / 4) ^ (i / 2)) + 4 (j % 4).

#r = #tilegpu.layout<registers = [[0, 1], [0, 2]], lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>
#c = #tilegpu.layout<registers = [[4, 0], [0, 8]], lanes = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warps = []>
!plain = !tilegpu.buffer<2 x 8x16xf32, phase_rows = 1, phases = 1>
!swizzled = !tilegpu.buffer<1 x 8x16xf32, phase_rows = 2, phases = 4>

// CHECK-LABEL: buffers(
// CHECK-DAG:    const int a_store = lane << 4;
// CHECK-DAG:    const int a_load = ((lane & 3) << 6) | (lane & 28);
// CHECK-DAG:    const int b_store = ((lane & 3) << 6) ^ ((lane & 2) << 3) ^ (lane & 28);
// CHECK-DAG:    const int b_load = (lane << 4) ^ ((lane & 24) << 1);
// CHECK:        const unsigned a_at = shared_base + 512 + a_store;
// CHECK-NEXT:   store_shared_16(a_at, x);
// CHECK-NEXT:   __syncthreads();
// CHECK:          load_shared_4(a_tile + r, a_at1 + (((r & 1) << 8) | ((r & 2) << 4)));
// CHECK:          store_shared_4(b_at + (b_store ^ (((r & 1) << 5) ^ ((r & 2) << 4))) + ((r & 1) << 8), a_tile +
// CHECK:        __syncthreads();
// CHECK:        load_shared_16(b_tile, b_at1);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @buffers(%X: !tile.view<8x16xf32> {tile.name = "X", tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                     %Y: !tile.view<8x16xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32, tilegpu.shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !plain
    %b = tilegpu.alloc "B" at 1024 : !swizzled
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero : !tile.view<8x16xf32> -> tensor<8x16xf32, #r>
    tilegpu.local_store %x, %a[%c1] : tensor<8x16xf32, #r>, !plain
    tilegpu.barrier
    %y = tilegpu.local_load %a[%c1] : !plain -> tensor<8x16xf32, #c>
    tilegpu.local_store %y, %b[%c0] : tensor<8x16xf32, #c>, !swizzled
    tilegpu.barrier
    %z = tilegpu.local_load %b[%c0] : !swizzled -> tensor<8x16xf32, #r>
    tile.store %z, %Y[%c0, %c0] dims [0, 1] : tensor<8x16xf32, #r>, !tile.view<8x16xf32>
  }
  tile.return
}
