// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Computed positions and atomic additions: bounded, masked, one thread each.

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [0], [0]], warps = [[0]]>

// The column is the same for all lanes; the row has no lower bound that is known.

// CHECK-LABEL: gather(
// CHECK:        unsigned t_value[1];
// CHECK-NEXT:   bf16 t_value_raw[2] = {};
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT:     if (i1[r] < (long long)100 && (unsigned long long)i1[r] < (unsigned long long)R &&
// CHECK-NEXT:         (unsigned long long)c < 8) t_value_raw[r] = load_value(T + (int)i1[r] * T_stride0 + (int)c);
// CHECK-NEXT:   pack_16(t_value, t_value_raw);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT:     if ((lane & 24) == 0 && warp == 0 && (unsigned long long)i1[r] < (unsigned long long)B)
// CHECK-NEXT:         atomic_add(H + (int)i1[r], bf16_at(t_value, r));
// CHECK-NEXT:   bf16 *g_tile = G + i + column;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT:     if ((lane & 24) == 0 && warp == 0 && column + r < min(B - i, 16))
// CHECK-NEXT:         atomic_add_bf16(g_tile + r, half_at(t_value, r));
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @gather(%T: !tile.view<?x8xbf16> {tile.name = "T", tile.dims = ["R", ""], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                    %I: !tile.view<16xi64> {tile.name = "I", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %H: !tile.view<?xf32> {tile.name = "H", tile.dims = ["B"], tile.access = #tile.access<add>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %G: !tile.view<?xbf16> {tile.name = "G", tile.dims = ["B"], tile.access = #tile.access<add>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %c: i64 {tile.name = "c"})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %B = tile.dim %H, 0 : !tile.view<?xf32>
  %bound = arith.constant dense<100> : tensor<16xi64, #v>
  scf.forall (%i) = (0) to (%B) step (16) {
    %v = tile.valid %i to %B size 16
    %x = tile.load %I[%c0] dims [0] pad zero : !tile.view<16xi64> -> tensor<16xi64, #v>
    %m = arith.cmpi slt, %x, %bound : tensor<16xi64, #v>
    %g = tile.gather %T[%x, %c] mask %m : !tile.view<?x8xbf16>[tensor<16xi64, #v>, i64] mask tensor<16xi1, #v> -> tensor<16xbf16, #v>
    %f = arith.extf %g : tensor<16xbf16, #v> to tensor<16xf32, #v>
    tile.scatter_add %f, %H[%x] : tensor<16xf32, #v>, !tile.view<?xf32>[tensor<16xi64, #v>]
    tile.atomic_add %g, %G[%i] dims [0] valid [%v] : tensor<16xbf16, #v>, !tile.view<?xbf16>
  }
  tile.return
}
