// RUN: tilec-opt %s --convert-tile-to-linalg --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: tilec-opt %s --convert-tile-to-linalg=checked=true --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CHECKED

// PLAIN:   tilec.sites = [{column = 3 : i64, file = "a.tile", kind = "assert", line = 7 : i64, text = "positive", types = []},
// PLAIN-SAME:             kind = "print", {{.*}} text = "x =", types = [tensor<4xi1>, f32]}]
// CHECKED: tilec.sites = [{{.*}}kind = "out_of_range", line = 6 : i64

// CHECK-LABEL: func.func @reports.run(
// CHECK-SAME:    %[[I:[^:]*]]: i64, %{{[^:]*}}: f32, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[CTX:[^:]*]]: !llvm.ptr)
// CHECK:         arith.cmpi ult, %[[I]]
// PLAIN-NOT:     @tilec_cpu_report_index
// CHECKED:       scf.if
// CHECKED:         func.call @tilec_cpu_report_index(%[[CTX]], %{{.*}}, %[[I]], %{{.*}})
// CHECK:         %[[ALL:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK:           arith.andi
// CHECK:         %[[HOLDS:.*]] = tensor.extract %[[ALL]][]
// CHECK:         %[[FAILS:.*]] = arith.xori %[[HOLDS]]
// CHECK:         scf.if %[[FAILS]]
// CHECK:           func.call @tilec_cpu_report_assert(%[[CTX]],
// An i1 is printed from a byte.
// CHECK:         linalg.generic
// CHECK:           arith.extui
// CHECK:         func.call @tilec_cpu_print(%[[CTX]],
// CHECK:         func.call @tilec_cpu_print(%[[CTX]],
tile.kernel @reports(%X: !tile.view<?x4xf32> {tile.name = "X",
                       tile.access = #tile.access<in>},
                     %i: i64 {tile.name = "i"}, %s: f32 {tile.name = "s"}) {
  %c0 = arith.constant 0 : index
  %M = tile.dim %X, 0 : !tile.view<?x4xf32>
  %ok = tile.in_bounds %i of %M loc("a.tile":6:5)
  %r = arith.index_cast %i : i64 to index
  %x = tile.load %X[%r, %c0] dims [1] if %ok pad one
      : !tile.view<?x4xf32> -> tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %p = arith.cmpf ogt, %x, %zero : tensor<4xf32>
  tile.assert %p, "positive" : tensor<4xi1> loc("a.tile":7:3)
  tile.print "x =", %p, %s : tensor<4xi1>, f32
  tile.return
}
