// RUN: tilec-translate --tilegpu-to-cuda --image %s | FileCheck %s

// How a kernel is launched: parameters in the order pointers, strides, extents,
// scalars, of which there are those that it uses; the grid; the facts it relies
// upon.

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>

// A kernel called as a function of the prelude, and a tensor and a dimension with
// names that mean something in C++. Extents that are computed have names of
// their own.

// CHECK: // {"arch":"","divisors":[{"dim":"B","divisor":16}],"extents":[{"dim":"C","value":64}],"format":2,"grid":[{"dim":"A","tile":1},{"dim":"B","tile":1},{"extent":100,"tile":64},{"dim":"grid.3","tile":1},{"dim":"grid.4","tile":16}],"name":"load_16_1","params":[{"arg":0,"kind":"pointer"},{"arg":3,"kind":"pointer"},{"arg":0,"bits":64,"dim":0,"kind":"stride"},{"arg":0,"bits":64,"dim":1,"kind":"stride"},{"bits":64,"dim":"B","kind":"extent"},{"bits":64,"dim":"threadIdx","kind":"extent"},{"arg":1,"dtype":"i32","kind":"scalar"},{"arg":2,"dtype":"bool","kind":"scalar"}],"registers":0,"sharedBytes":1024,"sites":[],"tensors":[{"alignment":8,"arg":0,"dtype":"f16","index32":false,"name":"X","rank":3,"slack":64,"unitStride":2},{"alignment":16,"arg":3,"dtype":"f16","index32":false,"name":"while","rank":1,"slack":64,"unitStride":0}],"threads":256}
// CHECK-LABEL: load_16_1(const f16 *X, f16 *while1, long long X_stride0, long long X_stride1,
// CHECK-NEXT:     long long B, long long threadIdx1, int k, bool b) {
// CHECK-NEXT:   const int lane = (int)threadIdx.x % 32;
// CHECK-NEXT:   const int warp = uniform((int)threadIdx.x / 32);
// CHECK-NEXT:   const int column = lane << 1;
// CHECK-NEXT:   const int i1_tiles = (int)B;
// CHECK-NEXT:   const int i3_tiles = (int)(long long)k;
// CHECK-NEXT:   const int i4_tiles = (int)((threadIdx1 - 2 + 15) / 16);
// CHECK-NEXT:   const unsigned program = blockIdx.x;
// CHECK-NEXT:   const unsigned rest = program / i4_tiles;
// CHECK-NEXT:   const unsigned rest1 = rest / i3_tiles;
// CHECK-NEXT:   const unsigned rest2 = rest1 / 2;
// CHECK-NEXT:   const unsigned rest3 = rest2 / i1_tiles;
// CHECK-NEXT:   const long long i = rest3;
// CHECK-NEXT:   const long long i1 = rest2 % i1_tiles;
// CHECK-NEXT:   const long long i4 = 2 + (long long)(program % i4_tiles) * 16;

tile.kernel @load_16(%X: !tile.view<?x?x64xf16> {tile.name = "X", tile.dims = ["A", "B", "C"], tile.unit_stride = 2 : i64, tilegpu.align = 8 : i64},
                     %k: i32 {tile.name = "k"}, %b: i1 {tile.name = "b"},
                     %Y: !tile.view<?xf16> {tile.name = "while", tile.dims = ["threadIdx"], tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 8 : i64, tilegpu.shared_bytes = 1024 : i64,
                tilegpu.divisible = {B = 16 : i64, C = 16 : i64}} {
  %c0 = arith.constant 0 : index
  %A = tile.dim %X, 0 : !tile.view<?x?x64xf16>
  %B = tile.dim %X, 1 : !tile.view<?x?x64xf16>
  %T = tile.dim %Y, 0 : !tile.view<?xf16>
  %ki = arith.index_cast %k : i32 to index
  scf.forall (%a, %b1, %c, %d, %e) = (0, 0, 0, 0, 2) to (%A, %B, 100, %ki, %T) step (1, 1, 64, 1, 16) {
    %x = tile.load %X[%a, %b1, %c0] dims [2] if %b pad zero : !tile.view<?x?x64xf16> -> tensor<64xf16, #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = [[0], [0], [0]]>>
    tile.store %x, %Y[%e] dims [0] : tensor<64xf16, #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = [[0], [0], [0]]>>, !tile.view<?xf16>
  }
  tile.return
}

// The order of programs goes through groups of eight rows.

// CHECK: // {"arch":"","divisors":[],"extents":[],"format":2,"grid":[{"dim":"B","tile":1},{"dim":"M","tile":128},{"dim":"N","tile":64}],"name":"grouped","params":[{"arg":0,"kind":"pointer"},{"arg":0,"bits":32,"dim":0,"kind":"stride"},{"arg":0,"bits":32,"dim":1,"kind":"stride"},{"bits":32,"dim":"M","kind":"extent"},{"bits":32,"dim":"N","kind":"extent"}],"registers":0,"sharedBytes":0,"sites":[],"tensors":[{"alignment":1,"arg":0,"dtype":"f32","index32":true,"name":"Y","rank":3,"slack":0,"unitStride":2}],"threads":32}
// CHECK-LABEL: grouped(float *Y, int Y_stride0, int Y_stride1, int M, int N) {
// CHECK-NEXT:   const int i1_tiles = (M + 127) / 128;
// CHECK-NEXT:   const int i2_tiles = (N + 63) / 64;
// CHECK-NEXT:   const int program = (int)blockIdx.x;
// CHECK-NEXT:   const int outer = program / (i1_tiles * i2_tiles);
// CHECK-NEXT:   const int inner = program % (i1_tiles * i2_tiles);
// CHECK-NEXT:   const int first = inner / (8 * i2_tiles) * 8;
// CHECK-NEXT:   const int height = min(i1_tiles - first, 8);
// CHECK-NEXT:   const int within = inner % (8 * i2_tiles);
// CHECK-NEXT:   const int i = outer;
// CHECK-NEXT:   const int i1 = (first + within % height) * 128;
// CHECK-NEXT:   const int i2 = within / height * 64;
// CHECK-EMPTY:
// CHECK-NEXT:   if (threadIdx.x == 0) store_value(Y + i * Y_stride0 + i1 * Y_stride1 + i2, 0.0f);
// CHECK-NEXT: }

tile.kernel @grouped(%Y: !tile.view<?x?x?xf32> {tile.name = "Y", tile.dims = ["B", "M", "N"], tile.access = #tile.access<out>, tile.unit_stride = 2 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32} {
  %B = tile.dim %Y, 0 : !tile.view<?x?x?xf32>
  %M = tile.dim %Y, 1 : !tile.view<?x?x?xf32>
  %N = tile.dim %Y, 2 : !tile.view<?x?x?xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  scf.forall (%b, %m, %n) = (0, 0, 0) to (%B, %M, %N) step (1, 128, 64) {
    tile.store %z, %Y[%b, %m, %n] dims [] : tensor<f32>, !tile.view<?x?x?xf32>
  } {tilegpu.group = 8 : i64}
  tile.return
}
