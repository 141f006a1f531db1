// RUN: tilec-translate --tilegpu-to-cuda --source=%S/Inputs/scale.tile --lines %s \
// RUN:   | FileCheck %s
// RUN: tilec-translate --tilegpu-to-cuda %s \
// RUN:   | FileCheck --check-prefix=PLAIN %s

// Statements name the lines of the source that they come from, and variables
// their names; a backslash at the end of a line is not taken over. All the code of
// a statement is on its line. Without the source there are no comments.

// CHECK-LABEL: scale(
// CHECK:        // grid n in tile(N)
// CHECK-NEXT: #line 2 "Inputs/scale.tile"
// CHECK-NEXT:   const int i = (int)blockIdx.x * 64;
// CHECK-EMPTY:
// CHECK-NEXT:   // x = X[n]
// CHECK-NEXT: #line 3 "Inputs/scale.tile"
// CHECK-NEXT:   const float *x_tile = X + i + column;
// CHECK-NEXT: #line 3 "Inputs/scale.tile"
// CHECK-NEXT:   float x[2];
// CHECK-NEXT: #line 3 "Inputs/scale.tile"
// CHECK-NEXT:   load_8(x, x_tile);
// CHECK-NEXT:   // total = sum<n>(x)
// CHECK-NEXT: #line 4 "Inputs/scale.tile"
// CHECK-NEXT:   float total = 0.0f;
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: #line 4 "Inputs/scale.tile"
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT: #line 4 "Inputs/scale.tile"
// CHECK-NEXT:     total += x[r];
// CHECK-NEXT: #line 4 "Inputs/scale.tile"
// CHECK-NEXT:   total += from_lane_xor(total, 1);
// CHECK-NEXT: #line 4 "Inputs/scale.tile"
// CHECK-NEXT:   total += from_lane_xor(total, 2);
// CHECK-NEXT: #line 4 "Inputs/scale.tile"
// CHECK-NEXT:   total += from_lane_xor(total, 4);
// CHECK-NEXT: #line 4 "Inputs/scale.tile"
// CHECK-NEXT:   total += from_lane_xor(total, 8);
// CHECK-NEXT: #line 4 "Inputs/scale.tile"
// CHECK-NEXT:   total += from_lane_xor(total, 16);
// CHECK-NEXT:   // y = x * total  // of the tile
// CHECK-NEXT: #line 5 "Inputs/scale.tile"
// CHECK-NEXT:   float y_for_all[2];
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: #line 5 "Inputs/scale.tile"
// CHECK-NEXT:   for (int r = 0; r < 2; ++r)
// CHECK-NEXT: #line 5 "Inputs/scale.tile"
// CHECK-NEXT:     y_for_all[r] = x[r] * total;
// CHECK-NEXT:   // Y[n] = y
// CHECK-NEXT: #line 6 "Inputs/scale.tile"
// CHECK-NEXT:   float *y_tile = Y + i + column;
// CHECK-NEXT: #line 6 "Inputs/scale.tile"
// CHECK-NEXT:   store_8(y_tile, y_for_all);

// PLAIN-NOT: #line
// PLAIN-NOT: // total

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>
tile.kernel @scale(%X: !tile.view<?xf32> {tile.name = "X", tile.dims = ["N"], tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
                   %Y: !tile.view<?xf32> {tile.name = "Y", tile.dims = ["N"], tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 1 : i64, tilegpu.index32, tilegpu.divisible = {N = 64 : i64}} {
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  scf.forall (%n) = (0) to (%N) step (64) {
    %x = tile.load %X[%n] dims [0] pad zero : !tile.view<?xf32> -> tensor<64xf32, #v> loc("Inputs/scale.tile":3:7)
    %s = tile.reduce sum %x axes [0] : tensor<64xf32, #v> -> tensor<f32> loc("total"("Inputs/scale.tile":4:11))
    %t = tensor.extract %s[] : tensor<f32> loc("Inputs/scale.tile":5:10)
    %b = tensor.splat %t : tensor<64xf32, #v> loc("Inputs/scale.tile":5:10)
    %y = arith.mulf %x, %b : tensor<64xf32, #v> loc("y for all"("Inputs/scale.tile":5:10))
    tile.store %y, %Y[%n] dims [0] : tensor<64xf32, #v>, !tile.view<?xf32> loc("Inputs/scale.tile":6:3)
  } loc("Inputs/scale.tile":2:3)
  tile.return
}
