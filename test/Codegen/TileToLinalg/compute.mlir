// RUN: tilec-opt %s --convert-tile-to-linalg --canonicalize | FileCheck %s

// Maps, in the order in which the ops below need them first.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[WHOLE:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// A narrow left operand is widened as a tile, the right one in the body.

// CHECK-LABEL: func.func @dot.run(
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x2x16xbf16>)
// CHECK:           arith.extf
// CHECK:         %[[ZERO:.*]] = linalg.fill
// CHECK:         linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%[[WIDE]], %{{.*}} : tensor<4x2x16xf32>, tensor<8x16x2xbf16>) outs(%[[ZERO]] : tensor<2x4x8xf32>)
// CHECK-SAME:      attrs = {tilec.contraction}
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[B:.*]]: bf16, %[[SUM:.*]]: f32):
// CHECK:           %[[BW:.*]] = arith.extf %[[B]]
// CHECK:           %[[P:.*]] = arith.mulf %[[A]], %[[BW]]
// CHECK:           arith.addf %[[SUM]], %[[P]] fastmath<reassoc,contract>
tile.kernel @dot(%A: !tile.view<4x2x16xbf16> {tile.name = "A",
                   tile.access = #tile.access<in>},
                 %B: !tile.view<8x16x2xbf16> {tile.name = "B",
                   tile.access = #tile.access<in>},
                 %C: !tile.view<2x4x8xf32> {tile.name = "C",
                   tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0, %c0] dims [0, 1, 2] pad zero
      : !tile.view<4x2x16xbf16> -> tensor<4x2x16xbf16>
  %b = tile.load %B[%c0, %c0, %c0] dims [0, 1, 2] pad zero
      : !tile.view<8x16x2xbf16> -> tensor<8x16x2xbf16>
  %c = tile.dot %a, %b contract [2] x [1] batch [1] x [2] precision ieee
      : tensor<4x2x16xbf16>, tensor<8x16x2xbf16> -> tensor<2x4x8xf32>
  tile.store %c, %C[%c0, %c0, %c0] dims [0, 1, 2]
      : tensor<2x4x8xf32>, !tile.view<2x4x8xf32>
  tile.return
}

// CHECK-LABEL: func.func @reductions.run(
// CHECK-DAG:     %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG:     %[[NONE:.*]] = arith.constant -1 : i64
// CHECK:         %[[INIT:.*]] = linalg.fill ins(%[[LOWEST]]
// CHECK:         linalg.generic {indexing_maps = [#[[WHOLE]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME:      outs(%[[INIT]] : tensor<8xf32>)
// CHECK:           arith.maximumf
// CHECK:         linalg.fill ins(%[[NONE]]
// CHECK:         linalg.generic {indexing_maps = [#[[WHOLE]], #[[ROWS]], #[[ROWS]]]
// CHECK-SAME:      attrs = {tilec.pinned}
// CHECK:           linalg.index 1
// CHECK:         linalg.generic {indexing_maps = [#[[WHOLE]], #[[WHOLE]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME:      attrs = {tilec.pinned}
// CHECK:         ^bb0(%[[X:.*]]: f32, %{{.*}}: f32, %[[BEFORE:.*]]: f32):
// CHECK:           %[[NEXT:.*]] = arith.addf %[[BEFORE]], %[[X]]
// CHECK:           linalg.yield %[[NEXT]], %[[NEXT]]
tile.kernel @reductions(%X: !tile.view<8x16xf32> {tile.name = "X",
                          tile.access = #tile.access<in>},
                        %M: !tile.view<8xf32> {tile.name = "M",
                          tile.access = #tile.access<out>},
                        %I: !tile.view<8xi64> {tile.name = "I",
                          tile.access = #tile.access<out>},
                        %S: !tile.view<8x16xf32> {tile.name = "S",
                          tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<8x16xf32> -> tensor<8x16xf32>
  %m = tile.reduce max %x axes [1] : tensor<8x16xf32> -> tensor<8xf32>
  %i = tile.arg_reduce max %x axis 1 : tensor<8x16xf32> -> tensor<8xi64>
  %s = tile.scan sum %x axis 1 : tensor<8x16xf32>
  tile.store %m, %M[%c0] dims [0] : tensor<8xf32>, !tile.view<8xf32>
  tile.store %i, %I[%c0] dims [0] : tensor<8xi64>, !tile.view<8xi64>
  tile.store %s, %S[%c0, %c0] dims [0, 1]
      : tensor<8x16xf32>, !tile.view<8x16xf32>
  tile.return
}

// Constants and splats go into the bodies; extents that are full need no test.

// CHECK-LABEL: func.func @lanes.run(
// CHECK-SAME:    %[[S:[^:]*]]: f32,
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         linalg.generic
// CHECK:         ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK:           arith.mulf %[[X]], %[[TWO]]
// CHECK:         linalg.generic
// CHECK:         ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK:           arith.addf %[[X]], %[[S]]
// CHECK:         linalg.generic
// CHECK:           linalg.index 0
// CHECK-NOT:       linalg.index 1
// CHECK:           arith.cmpi slt
// CHECK:           arith.select
// CHECK:         linalg.generic
// CHECK:           linalg.index 0
// CHECK:           arith.addi
tile.kernel @lanes(%X: !tile.view<8x16xf32> {tile.name = "X",
                     tile.access = #tile.access<inout>},
                   %I: !tile.view<8xi64> {tile.name = "I",
                     tile.access = #tile.access<out>},
                   %s: f32 {tile.name = "s"}, %n: i64 {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %v = arith.index_cast %n : i64 to index
  %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<8x16xf32> -> tensor<8x16xf32>
  %two = arith.constant dense<2.0> : tensor<8x16xf32>
  %y = arith.mulf %x, %two : tensor<8x16xf32>
  %ss = tensor.splat %s : tensor<8x16xf32>
  %z = arith.addf %y, %ss : tensor<8x16xf32>
  %w = tile.select_valid %z valid [%v, %c16] pad lowest : tensor<8x16xf32>
  %i = tile.iota %v : tensor<8xi64>
  tile.store %w, %X[%c0, %c0] dims [0, 1]
      : tensor<8x16xf32>, !tile.view<8x16xf32>
  tile.store %i, %I[%c0] dims [0] : tensor<8xi64>, !tile.view<8xi64>
  tile.return
}
