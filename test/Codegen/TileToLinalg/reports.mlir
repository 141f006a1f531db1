// RUN: tilec-opt %s --convert-tile-to-linalg --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: tilec-opt %s --convert-tile-to-linalg=checked=true --canonicalize \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CHECKED

// PLAIN:   tilec.sites = [{column = 3 : i64, file = "a.tile", kind = "assert", line = 7 : i64, text = "positive", types = []},
// PLAIN-SAME:             kind = "print", {{.*}} text = "x =", types = [tensor<4xi1>, f32]}
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

// An index that is not active is no mistake, and no access either.
// CHECK-LABEL: func.func @active.run(
// CHECK-SAME:    %[[I:[^:]*]]: i64, %[[ON:[^:]*]]: i1,
// CHECK:         %[[IN:.*]] = arith.cmpi ult, %[[I]]
// CHECK:         %[[READ:.*]] = arith.andi %[[IN]], %[[ON]]
// CHECKED:       %[[OUT:.*]] = arith.cmpi uge, %[[I]]
// CHECKED:       %[[REPORT:.*]] = arith.andi %[[OUT]], %[[ON]]
// CHECKED:       scf.if %[[REPORT]]
// CHECKED:         func.call @tilec_cpu_report_index(
// CHECK:         scf.if %[[READ]]
tile.kernel @active(%X: !tile.view<?xf32> {tile.name = "X",
                      tile.access = #tile.access<in>},
                    %i: i64 {tile.name = "i"}, %on: i1 {tile.name = "on"}) {
  %M = tile.dim %X, 0 : !tile.view<?xf32>
  %ok = tile.in_bounds %i of %M if %on
  %r = arith.index_cast %i : i64 to index
  %x = tile.load %X[%r] dims [] if %ok pad one : !tile.view<?xf32> -> tensor<f32>
  tile.print "x", %x : tensor<f32>
  tile.return
}

// The extents of what is valid go to the run time in memory.
// CHECK-LABEL: func.func @partial.run(
// CHECK:         %[[LIST:.*]] = memref.alloc() : memref<2xi64>
// CHECK:         %[[AT:.*]] = memref.extract_aligned_pointer_as_index %[[LIST]]
// CHECK:         %[[ADDRESS:.*]] = arith.index_cast %[[AT]]
// CHECK:         %[[VALID:.*]] = arith.minsi
// CHECK:         %[[ROWS:.*]] = arith.index_cast %[[VALID]] : index to i64
// CHECK:         memref.store %[[ROWS]], %[[LIST]][%c0]
// CHECK:         memref.store %c8_i64, %[[LIST]][%c1]
// CHECK:         call @tilec_cpu_print(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ADDRESS]])
tile.kernel @partial(%X: !tile.view<?x8xf32> {tile.name = "X",
                       tile.access = #tile.access<in>}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %M = tile.dim %X, 0 : !tile.view<?x8xf32>
  %valid = tile.valid %c0 to %M size 4
  %x = tile.load %X[%c0, %c0] dims [0, 1] valid [%valid, %c8] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  tile.print "x", %x valid [%valid, %c8] : tensor<4x8xf32>
  tile.return
}
