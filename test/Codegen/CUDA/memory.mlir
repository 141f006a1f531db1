// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --assemble=sm_80 %s \
// RUN:   | FileCheck --check-prefix=ASM %s %}

// Blocks of global memory: the width of accesses, valid extents, copies.

#v = #tilegpu.layout<registers = [[1], [2], [4]], lanes = [[8], [16], [32], [64], [128]], warps = []>
#p = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [0], [0]], warps = [[0]]>
#t = #tilegpu.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warps = []>

// Whole vectors first; what is left of one only if the extent is odd.

// CHECK-LABEL: tail(
// CHECK:        const bf16 *x_tile = X + i + column;
// CHECK-NEXT:   unsigned x[4];
// CHECK-NEXT:   fill(x, 0x10001u * (bf16)0xff80);
// CHECK-NEXT:   load_16_if(x, x_tile, column + 8 <= valid_i);
// CHECK-NEXT:   if (valid_i % 8 != 0)
// CHECK-NEXT:     load_part<bf16, 8>(x, x_tile, valid_i - column);
// CHECK-NEXT:   bf16 *y_tile = Y + i + column;
// CHECK-NEXT:   if (column + 8 <= valid_i) store_16(y_tile, x);
// CHECK-NEXT:   if (valid_i % 8 != 0)
// CHECK-NEXT:     store_part<bf16, 8>(y_tile, x, valid_i - column);
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @tail(%X: !tile.view<?xbf16> {tile.name = "X", tile.dims = ["N"], tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                  %Y: !tile.view<?xbf16> {tile.name = "Y", tile.dims = ["N"], tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %N = tile.dim %X, 0 : !tile.view<?xbf16>
  scf.forall (%n) = (0) to (%N) step (256) {
    %v = tile.valid %n to %N size 256
    %x = tile.load %X[%n] dims [0] valid [%v] pad lowest : !tile.view<?xbf16> -> tensor<256xbf16, #v>
    tile.store %x, %Y[%n] dims [0] valid [%v] : tensor<256xbf16, #v>, !tile.view<?xbf16>
  }
  tile.return
}

// An extent that is a multiple of the vector has no rest. Without
// tilegpu.index32 offsets are 64 bits wide. What is written to is not read
// through the cache of constant memory.

// CHECK-LABEL: divisible(bf16 *X, long long N) {
// CHECK-NEXT:   const int lane = (int)threadIdx.x % 32;
// CHECK-NEXT:   const int column = lane << 3;
// CHECK-NEXT:   const long long i = (long long)blockIdx.x * 256;
// CHECK-EMPTY:
// CHECK-NEXT:   const long long valid_i = min(N - i, 256ll);
// CHECK-NEXT:   bf16 *x_tile = X + i + column;
// CHECK-NEXT:   unsigned x[4] = {};
// CHECK-NEXT:   reload_16_if(x, x_tile, column < valid_i);
// CHECK-NEXT:   bf16 *x_tile1 = X + i + column;
// CHECK-NEXT:   if (column < valid_i) store_16(x_tile1, x);
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @divisible(%X: !tile.view<?xbf16> {tile.name = "X", tile.dims = ["N"], tile.access = #tile.access<inout>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.divisible = {N = 8 : i64}} {
  %N = tile.dim %X, 0 : !tile.view<?xbf16>
  scf.forall (%n) = (0) to (%N) step (256) {
    %v = tile.valid %n to %N size 256
    %x = tile.load %X[%n] dims [0] valid [%v] pad zero : !tile.view<?xbf16> -> tensor<256xbf16, #v>
    tile.store %x, %X[%n] dims [0] valid [%v] : tensor<256xbf16, #v>, !tile.view<?xbf16>
  }
  tile.return
}

// The alignment of the arguments bounds the width; narrower than a word, elements
// go one by one.

// CHECK-LABEL: aligned(
// CHECK:        const signed char *x_tile = X + i + column;
// CHECK-NEXT:   unsigned x[2];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; r += 4)
// CHECK-NEXT:     load_4(x + r / 4, x_tile + (r & 4));
// CHECK-NEXT:   signed char *y_tile = Y + i + column;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 8; ++r)
// CHECK-NEXT:     store_value(y_tile + r, s8_at(x, r));
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @aligned(%X: !tile.view<?xi8> {tile.name = "X", tile.dims = ["N"], tile.unit_stride = 0 : i64, tilegpu.align = 4 : i64},
                     %Y: !tile.view<?xi8> {tile.name = "Y", tile.dims = ["N"], tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 2 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %N = tile.dim %X, 0 : !tile.view<?xi8>
  scf.forall (%n) = (0) to (%N) step (256) {
    %x = tile.load %X[%n] dims [0] pad zero : !tile.view<?xi8> -> tensor<256xi8, #v>
    tile.store %x, %Y[%n] dims [0] : tensor<256xi8, #v>, !tile.view<?xi8>
  }
  tile.return
}

// A slice that a predicate empties, a dimension of stride 1 that is not the last,
// a scalar. The barrier is in front of a store to what other threads read.

// CHECK-LABEL: slices(
// CHECK:        const bool in_range = (unsigned long long)k < (unsigned long long)A;
// CHECK-NEXT:   const float *X_part = X + (int)k * X_stride0 + 3 * X_stride2;
// CHECK-NEXT:   const float *x_tile = X_part + column;
// CHECK-NEXT:   float x[2];
// CHECK-NEXT:   fill(x, 1.0f);
// CHECK-NEXT:   load_8_if(x, x_tile, in_range);
// CHECK-NEXT:   const float s_value = reload_value(s);
// CHECK-NEXT:   float *y_tile = Y + column;
// CHECK-NEXT:   if ((lane & 24) == 0 && warp == 0)
// CHECK-NEXT:     store_8(y_tile, x);
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   if (threadIdx.x == 0) store_value(s, s_value);
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @slices(%X: !tile.view<?x?x4xf32> {tile.name = "X", tile.dims = ["A", "B", ""], tile.unit_stride = 1 : i64, tilegpu.align = 8 : i64},
                    %Y: !tile.view<16xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %s: !tile.view<f32> {tile.name = "s", tile.access = #tile.access<inout>},
                    %k: i64 {tile.name = "k"})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %A = tile.dim %X, 0 : !tile.view<?x?x4xf32>
  scf.forall (%i) in (1) {
    %ok = tile.in_bounds %k of %A
    %at = arith.index_cast %k : i64 to index
    %row = tile.slice %X[%at, %c0, %c3] dims [1] if %ok : !tile.view<?x?x4xf32> -> !tile.view<?xf32>
    %x = tile.load %row[%c0] dims [0] pad one : !tile.view<?xf32> -> tensor<16xf32, #p>
    %v = tile.load %s[] dims [] pad zero : !tile.view<f32> -> tensor<f32>
    tile.store %x, %Y[%c0] dims [0] : tensor<16xf32, #p>, !tile.view<16xf32>
    tile.store %v, %s[] dims [] : tensor<f32>, !tile.view<f32>
  }
  tile.return
}

// Vectors along the first dimension; a tensor without one of stride 1.

// CHECK-LABEL: across(
// CHECK:        const float *x_tile = X + (i + lane) * X_stride1;
// CHECK-NEXT:   float x[4];
// CHECK-NEXT:   load_16(x, x_tile);
// CHECK-NEXT:   float *y_tile = Y + (i + lane) * Y_stride1;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:   for (int r = 0; r < 4; ++r)
// CHECK-NEXT:     store_4(y_tile + r * Y_stride0, x + r);
// CHECK-NEXT: }

// ASM: sm_80: {{[0-9]+}} registers, 0 bytes of stack

tile.kernel @across(%X: !tile.view<?x?xf32> {tile.name = "X", tile.dims = ["A", "B"], tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                    %Y: !tile.view<?x?xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.dims = ["A", "B"]})
    attributes {tilegpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (4) {
    %x = tile.load %X[%c0, %i] dims [0, 1] pad zero : !tile.view<?x?xf32> -> tensor<4x32xf32, #t>
    tile.store %x, %Y[%c0, %i] dims [0, 1] : tensor<4x32xf32, #t>, !tile.view<?x?xf32>
  }
  tile.return
}
