// RUN: tilec-opt %s --convert-tile-to-linalg --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: tilec-opt %s --convert-tile-to-linalg=checked=true --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CHECKED

// Position 0 is read in place of one that is out of range, and not used. Only a
// checked build reports, and then the op stays where it is.

// CHECKED: tilec.sites = [{column = 8 : i64, file = "t.tile", kind = "out_of_range", line = 9 : i64

// CHECK-LABEL: func.func @gather.run(
// CHECK:         %[[TABLE:.*]] = bufferization.to_tensor %{{.*}} restrict : {{.*}} to tensor<?xf32>
// CHECK:         linalg.generic
// CHECKED-SAME:    attrs = {tilec.pinned}
// CHECK:         ^bb0(%[[AT:.*]]: i64, %[[ON:.*]]: i1, %{{.*}}: f32):
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[AT]]
// CHECK:           %[[OK:.*]] = arith.andi %[[ON]], %[[INSIDE]]
// PLAIN-NOT:       scf.if
// CHECKED:         scf.if
// CHECKED:           func.call @tilec_cpu_report_index(%{{.*}}, %{{.*}}, %[[AT]], %{{.*}})
// CHECK:           %[[SAFE:.*]] = arith.select %[[OK]], %[[AT]]
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[SAFE]]
// CHECK:           %[[LANE:.*]] = tensor.extract %[[TABLE]][%[[INDEX]]]
// CHECK:           %[[RESULT:.*]] = arith.select %[[OK]], %[[LANE]]
// CHECK:           linalg.yield %[[RESULT]]
tile.kernel @gather(%T: !tile.view<?xf32> {tile.name = "T",
                      tile.access = #tile.access<in>},
                    %I: !tile.view<16xi64> {tile.name = "I",
                      tile.access = #tile.access<in>},
                    %Y: !tile.view<16xf32> {tile.name = "Y",
                      tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %i = tile.load %I[%c0] dims [0] pad zero
      : !tile.view<16xi64> -> tensor<16xi64>
  %limit = arith.constant dense<99> : tensor<16xi64>
  %on = arith.cmpi slt, %i, %limit : tensor<16xi64>
  %y = tile.gather %T[%i] mask %on
      : !tile.view<?xf32>[tensor<16xi64>] mask tensor<16xi1> -> tensor<16xf32>
      loc("t.tile":9:8)
  tile.store %y, %Y[%c0] dims [0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// What the kernel writes too is read by a load, in its place.

// CHECK-LABEL: func.func @written.run(
// CHECK:         linalg.generic
// CHECK-SAME:      attrs = {tilec.pinned}
// CHECK:           memref.load
tile.kernel @written(%T: !tile.view<?xf32> {tile.name = "T",
                       tile.access = #tile.access<inout>},
                     %I: !tile.view<16xi64> {tile.name = "I",
                       tile.access = #tile.access<in>}) {
  %c0 = arith.constant 0 : index
  %i = tile.load %I[%c0] dims [0] pad zero
      : !tile.view<16xi64> -> tensor<16xi64>
  %y = tile.gather %T[%i] : !tile.view<?xf32>[tensor<16xi64>] -> tensor<16xf32>
  tile.store %y, %T[%c0] dims [0] : tensor<16xf32>, !tile.view<?xf32>
  tile.return
}

// CHECK-LABEL: func.func @scatter.run(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             %[[AT:.*]] = tensor.extract %{{.*}} : tensor<16xi64>
// CHECK:             %[[INSIDE:.*]] = arith.cmpi ult, %[[AT]]
// CHECK:             scf.if %[[INSIDE]]
// CHECK:               memref.atomic_rmw addi
tile.kernel @scatter(%H: !tile.view<?xi32> {tile.name = "H",
                       tile.access = #tile.access<add>},
                     %I: !tile.view<16xi64> {tile.name = "I",
                       tile.access = #tile.access<in>}) {
  %c0 = arith.constant 0 : index
  %i = tile.load %I[%c0] dims [0] pad zero
      : !tile.view<16xi64> -> tensor<16xi64>
  %one = arith.constant dense<1> : tensor<16xi32>
  tile.scatter_add %one, %H[%i]
      : tensor<16xi32>, !tile.view<?xi32>[tensor<16xi64>]
  tile.return
}
