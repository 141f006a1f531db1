// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Functions and conversions. None has a slow path, so none needs a stack.

#v = #tilegpu.layout<registers = [[1], [2], [4]], lanes = [[8], [16], [32], [64], [128]], warps = []>

// Nested expressions are cut into pieces.

// CHECK-LABEL: floats(
// CHECK:        float t[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r) {
// CHECK-NEXT:     const float t1 = gelu_f32(erf_f32(tanhf(rsqrt_f32(sqrt_f32(log2f(logf(exp2_f32(exp_f32(x[r])))))))));
// CHECK-NEXT:     const float t2 = maximum(fmaf(fabsf(rintf(ceilf(floorf(powf(cos_f32(sin_f32(t1)), a))))), x[r],
// CHECK-NEXT:         a), x[r]);
// CHECK-NEXT:     t[r] = round_tf32(-reciprocal(divide(fminf(fmaxf(minimum(t2, a), x[r]), a), x[r])));
// CHECK-NEXT:   }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @floats(%X: !tile.view<256xf32> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %Y: !tile.view<256xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %a: f32 {tile.name = "a"})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<256xf32, #v>
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<256xf32> -> tensor<256xf32, #v>
    %as = tensor.splat %a : tensor<256xf32, #v>
    %0 = math.exp %x : tensor<256xf32, #v>
    %1 = math.exp2 %0 : tensor<256xf32, #v>
    %2 = math.log %1 : tensor<256xf32, #v>
    %3 = math.log2 %2 : tensor<256xf32, #v>
    %4 = math.sqrt %3 : tensor<256xf32, #v>
    %5 = math.rsqrt %4 : tensor<256xf32, #v>
    %6 = math.tanh %5 : tensor<256xf32, #v>
    %7 = math.erf %6 : tensor<256xf32, #v>
    %gelu = tile.gelu %7 : tensor<256xf32, #v>
    %8 = math.sin %gelu : tensor<256xf32, #v>
    %9 = math.cos %8 : tensor<256xf32, #v>
    %10 = math.powf %9, %as : tensor<256xf32, #v>
    %11 = math.floor %10 : tensor<256xf32, #v>
    %12 = math.ceil %11 : tensor<256xf32, #v>
    %13 = math.roundeven %12 : tensor<256xf32, #v>
    %14 = math.absf %13 : tensor<256xf32, #v>
    %15 = math.fma %14, %x, %as : tensor<256xf32, #v>
    %16 = arith.maximumf %15, %x : tensor<256xf32, #v>
    %17 = arith.minimumf %16, %as : tensor<256xf32, #v>
    %18 = arith.maxnumf %17, %x : tensor<256xf32, #v>
    %19 = arith.minnumf %18, %as : tensor<256xf32, #v>
    %20 = arith.divf %19, %x : tensor<256xf32, #v>
    %21 = arith.divf %one, %20 : tensor<256xf32, #v>
    %22 = arith.negf %21 : tensor<256xf32, #v>
    %23 = tile.round_tf32 %22 : tensor<256xf32, #v>
    tile.store %23, %Y[%c0] dims [0] : tensor<256xf32, #v>, !tile.view<256xf32>
  }
  tile.return
}

// Integers of the language wrap and divide toward minus infinity.

// CHECK-LABEL: integers(
// CHECK:        int t[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r) {
// CHECK-NEXT:     const int t1 = (int)((unsigned)(((wrap_sub(floor_div(wrap_mul(wrap_add(x[r], a), 3) >> 2, 3),
// CHECK-NEXT:         a) & 3) + 3) ^ a) << 3);
// CHECK-NEXT:     const int t2 = max((int)((unsigned)(t1 >> 4) >> 3), x[r]);
// CHECK-NEXT:     t[r] = wrap_abs((unsigned)t2 < (unsigned)a ? int_pow(t2, 3) : x[r]);
// CHECK-NEXT:   }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @integers(%X: !tile.view<256xi32> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                      %Y: !tile.view<256xi32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                      %a: i32 {tile.name = "a"})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %three = arith.constant dense<3> : tensor<256xi32, #v>
  %four = arith.constant dense<4> : tensor<256xi32, #v>
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<256xi32> -> tensor<256xi32, #v>
    %as = tensor.splat %a : tensor<256xi32, #v>
    %0 = arith.addi %x, %as : tensor<256xi32, #v>
    %1 = arith.muli %0, %three : tensor<256xi32, #v>
    %2 = arith.floordivsi %1, %four : tensor<256xi32, #v>
    %3 = arith.floordivsi %2, %three : tensor<256xi32, #v>
    %4 = arith.subi %3, %as : tensor<256xi32, #v>
    %5 = arith.andi %4, %three : tensor<256xi32, #v>
    %6 = arith.addi %5, %three : tensor<256xi32, #v>
    %7 = arith.xori %6, %as : tensor<256xi32, #v>
    %8 = arith.shli %7, %three : tensor<256xi32, #v>
    %9 = arith.shrsi %8, %four : tensor<256xi32, #v>
    %10 = arith.shrui %9, %three : tensor<256xi32, #v>
    %11 = arith.maxsi %10, %x : tensor<256xi32, #v>
    %12 = arith.cmpi ult, %11, %as : tensor<256xi32, #v>
    %13 = math.ipowi %11, %three : tensor<256xi32, #v>
    %14 = arith.select %12, %13, %x : tensor<256xi1, #v>, tensor<256xi32, #v>
    %15 = math.absi %14 : tensor<256xi32, #v>
    tile.store %15, %Y[%c0] dims [0] : tensor<256xi32, #v>, !tile.view<256xi32>
  }
  tile.return
}

// f64 is rounded to a narrow type once; narrow types are packed.

// CHECK-LABEL: casts(
// CHECK:        double t[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     t[r] = (double)bf16_at(x, r);
// CHECK:        f16 t1_raw[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     t1_raw[r] = f64_to_f16(t[r]);
// CHECK-NEXT:   pack_16(t1, t1_raw);
// CHECK:        float t2_f32[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     t2_f32[r] = bf16_at(x, r);
// CHECK-NEXT:   pack_e4m3(t2, t2_f32);
// CHECK:        signed char t3_raw[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     t3_raw[r] = (signed char)(int)bf16_at(x, r);
// CHECK-NEXT:   pack_8(t3, t3_raw);
// CHECK:        long long t4[8];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     t4[r] = (int)(unsigned char)s8_at(t3, r);

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @casts(%X: !tile.view<256xbf16> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %D: !tile.view<256xf64> {tile.name = "D", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %H: !tile.view<256xf16> {tile.name = "H", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %E: !tile.view<256xf8E4M3FN> {tile.name = "E", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %I: !tile.view<256xi8> {tile.name = "I", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %L: !tile.view<256xi64> {tile.name = "L", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %S: !tile.view<256xi16> {tile.name = "S", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<256xbf16> -> tensor<256xbf16, #v>
    %f = arith.extf %x : tensor<256xbf16, #v> to tensor<256xf32, #v>
    %d = arith.extf %x : tensor<256xbf16, #v> to tensor<256xf64, #v>
    %h = arith.truncf %d : tensor<256xf64, #v> to tensor<256xf16, #v>
    %e = arith.truncf %f : tensor<256xf32, #v> to tensor<256xf8E4M3FN, #v>
    %n = arith.fptosi %f : tensor<256xf32, #v> to tensor<256xi32, #v>
    %b = arith.trunci %n : tensor<256xi32, #v> to tensor<256xi8, #v>
    %l = arith.extui %b : tensor<256xi8, #v> to tensor<256xi64, #v>
    %s = arith.trunci %n : tensor<256xi32, #v> to tensor<256xi16, #v>
    tile.store %d, %D[%c0] dims [0] : tensor<256xf64, #v>, !tile.view<256xf64>
    tile.store %h, %H[%c0] dims [0] : tensor<256xf16, #v>, !tile.view<256xf16>
    tile.store %e, %E[%c0] dims [0] : tensor<256xf8E4M3FN, #v>, !tile.view<256xf8E4M3FN>
    tile.store %b, %I[%c0] dims [0] : tensor<256xi8, #v>, !tile.view<256xi8>
    tile.store %l, %L[%c0] dims [0] : tensor<256xi64, #v>, !tile.view<256xi64>
    tile.store %s, %S[%c0] dims [0] : tensor<256xi16, #v>, !tile.view<256xi16>
  }
  tile.return
}
