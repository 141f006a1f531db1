// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Carried values are variables and arrays that change.

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>

// An elementwise update happens in place.

// CHECK-LABEL: carried(
// CHECK:        float carried1[2] = {};
// CHECK-NEXT:   int carried2 = 0;
// CHECK-NEXT: #pragma unroll 1
// CHECK-NEXT:   for (int i1 = 0; i1 < M; ++i1) {
// CHECK-NEXT:     const float *x_tile = X + i1 * X_stride0 + column;
// CHECK-NEXT:     float x[2];
// CHECK-NEXT:     load_8(x, x_tile);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       carried1[r] = carried1[r] * 0.5f + x[r];
// CHECK-NEXT:     carried2 = carried2 + 1;
// CHECK-NEXT:   }
// CHECK-NEXT:   float *y_tile = Y + column;
// CHECK-NEXT:   store_8(y_tile, carried1);
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @carried(%X: !tile.view<?x64xf32> {tile.name = "X", tile.dims = ["M", ""], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                     %Y: !tile.view<64xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32, #v>
  %half = arith.constant dense<0.5> : tensor<64xf32, #v>
  %M = tile.dim %X, 0 : !tile.view<?x64xf32>
  scf.forall (%i) in (1) {
    %s:2 = scf.for %m = %c0 to %M step %c1 iter_args(%a = %zero, %n = %c0) -> (tensor<64xf32, #v>, index) {
      %x = tile.load %X[%m, %c0] dims [1] pad zero : !tile.view<?x64xf32> -> tensor<64xf32, #v>
      %b = arith.mulf %a, %half : tensor<64xf32, #v>
      %c = arith.addf %b, %x : tensor<64xf32, #v>
      %n1 = arith.addi %n, %c1 : index
      scf.yield %c, %n1 : tensor<64xf32, #v>, index
    }
    tile.store %s#0, %Y[%c0] dims [0] : tensor<64xf32, #v>, !tile.view<64xf32>
  }
  tile.return
}

// What is yielded is assigned all at once.

// CHECK-LABEL: swapped(
// CHECK:        float carried[2];
// CHECK-NEXT:   fill(carried, 1.0f);
// CHECK-NEXT:   int carried1 = 0;
// CHECK-NEXT:   int carried2 = 1;
// CHECK-NEXT: #pragma unroll 1
// CHECK-NEXT:   for (int i1 = 0; i1 < steps; ++i1) {
// CHECK-NEXT:     float previous[2];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       previous[r] = carried[r];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       carried[r] = x[r] + previous[r];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       x[r] = previous[r];
// CHECK-NEXT:     const int previous1 = carried2;
// CHECK-NEXT:     carried2 = carried1;
// CHECK-NEXT:     carried1 = previous1;
// CHECK-NEXT:   }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @swapped(%X: !tile.view<64xf32> {tile.name = "X", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                     %Y: !tile.view<64xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                     %steps: i32 {tile.name = "steps"})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<64xf32, #v>
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<64xf32> -> tensor<64xf32, #v>
    %s:4 = scf.for %t = %z to %steps step %o iter_args(%a = %x, %b = %one, %p = %z, %q = %o) -> (tensor<64xf32, #v>, tensor<64xf32, #v>, i32, i32) : i32 {
      %c = arith.addf %a, %b : tensor<64xf32, #v>
      scf.yield %b, %c, %q, %p : tensor<64xf32, #v>, tensor<64xf32, #v>, i32, i32
    }
    %k = arith.sitofp %s#2 : i32 to f32
    %ks = tensor.splat %k : tensor<64xf32, #v>
    %r = arith.mulf %s#1, %ks : tensor<64xf32, #v>
    tile.store %r, %Y[%c0] dims [0] : tensor<64xf32, #v>, !tile.view<64xf32>
  }
  tile.return
}

// A branch that passes a carried value on changes nothing; results of others are
// declared in front.

// CHECK-LABEL: branches(
// CHECK:        float carried[2] = {};
// CHECK-NEXT: #pragma unroll 1
// CHECK-NEXT:   for (int i1 = 0; i1 < M; ++i1) {
// CHECK-NEXT:     if (i1 % 2 == 0) {
// CHECK-NEXT:       const float *x_tile = X + i1 * X_stride0 + column;
// CHECK-NEXT:       float x[2];
// CHECK-NEXT:       load_8(x, x_tile);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:       for (int r = 0; r < 2; ++r)
// CHECK-NEXT:         carried[r] = carried[r] + x[r];
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   float result[2];
// CHECK-NEXT:   float result1;
// CHECK-NEXT:   if (limit > 1.5f) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       result[r] = carried[r];
// CHECK-NEXT:     result1 = limit;
// CHECK-NEXT:   } else {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       result[r] = fabsf(carried[r]);
// CHECK-NEXT:     result1 = 1.5f;
// CHECK-NEXT:   }
// CHECK-NEXT:   float t[2];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT:     t[r] = minimum(result[r], result1);
// CHECK-NEXT:   float *y_tile = Y + column;
// CHECK-NEXT:   store_8(y_tile, t);
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @branches(%X: !tile.view<?x64xf32> {tile.name = "X", tile.dims = ["M", ""], tile.unit_stride = 1 : i64, tilegpu.align = 16 : i64},
                     %Y: !tile.view<64xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                     %limit: f32 {tile.name = "limit"})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32, #v>
  %M = tile.dim %X, 0 : !tile.view<?x64xf32>
  scf.forall (%i) in (1) {
    %s = scf.for %m = %c0 to %M step %c1 iter_args(%a = %zero) -> (tensor<64xf32, #v>) {
      %even = arith.remsi %m, %c2 : index
      %is = arith.cmpi eq, %even, %c0 : index
      %u = scf.if %is -> (tensor<64xf32, #v>) {
        %x = tile.load %X[%m, %c0] dims [1] pad zero : !tile.view<?x64xf32> -> tensor<64xf32, #v>
        %c = arith.addf %a, %x : tensor<64xf32, #v>
        scf.yield %c : tensor<64xf32, #v>
      } else {
        scf.yield %a : tensor<64xf32, #v>
      }
      scf.yield %u : tensor<64xf32, #v>
    }
    %f = arith.constant 1.5 : f32
    %big = arith.cmpf ogt, %limit, %f : f32
    %r:2 = scf.if %big -> (tensor<64xf32, #v>, f32) {
      scf.yield %s, %limit : tensor<64xf32, #v>, f32
    } else {
      %e = math.absf %s : tensor<64xf32, #v>
      scf.yield %e, %f : tensor<64xf32, #v>, f32
    }
    %k = tensor.splat %r#1 : tensor<64xf32, #v>
    %y = arith.minimumf %r#0, %k : tensor<64xf32, #v>
    tile.store %y, %Y[%c0] dims [0] : tensor<64xf32, #v>, !tile.view<64xf32>
  }
  tile.return
}
