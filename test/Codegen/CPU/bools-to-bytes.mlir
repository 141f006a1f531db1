// RUN: tilec-opt %s --cpu-bools-to-bytes --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @bools
// CHECK-SAME:    %[[X:[^:]*]]: i1,
// CHECK:         %[[M:.*]] = memref.alloc() : memref<4x8xi8>
// CHECK:         %[[BYTE:.*]] = arith.extui %[[X]] : i1 to i8
// CHECK:         memref.store %[[BYTE]], %[[M]]
// CHECK:         memref.reinterpret_cast %{{.*}} : memref<4x8xi8> to memref<8xi8, strided<[1], offset: ?>>
// CHECK:         %[[LOADED:.*]] = memref.load {{.*}} : memref<8xi8, strided<[1], offset: ?>>
// CHECK:         arith.trunci %[[LOADED]] : i8 to i1
func.func @bools(%x: i1, %i: index, %c: i1) -> i1 {
  %m = memref.alloc() : memref<4x8xi1>
  memref.store %x, %m[%i, %i] : memref<4x8xi1>
  %n = scf.if %c -> memref<4x8xi1> {
    scf.yield %m : memref<4x8xi1>
  } else {
    %o = memref.alloc() : memref<4x8xi1>
    scf.yield %o : memref<4x8xi1>
  }
  %r = memref.reinterpret_cast %n to offset: [%i], sizes: [8], strides: [1]
      : memref<4x8xi1> to memref<8xi1, strided<[1], offset: ?>>
  %y = memref.load %r[%i] : memref<8xi1, strided<[1], offset: ?>>
  return %y : i1
}
