// RUN: tilec-opt %s --cpu-plan-buffers --canonicalize --split-input-file \
// RUN:   --verify-diagnostics | FileCheck %s

// Buffers that are never live together share a slot: the first and the last
// do, the one between them has its own.

// CHECK-LABEL: func.func @share(
// CHECK-SAME:    %[[BIG:[^:]*]]: memref<256xi8>, %[[SMALL:[^:]*]]: memref<64xi8>)
// CHECK-SAME:    tilec.slots = array<i64: 256, 64>
// CHECK:         memref.view %[[BIG]]{{.*}} to memref<64xf32>
// CHECK:         memref.view %[[SMALL]]{{.*}} to memref<16xf32>
// CHECK:         memref.view %[[BIG]]{{.*}} to memref<16xf64>
// CHECK-NOT:     memref.alloc
func.func @share(%i: index) {
  %zero = arith.constant 0.0 : f32
  %zero64 = arith.constant 0.0 : f64
  %a = memref.alloc() : memref<64xf32>
  memref.store %zero, %a[%i] : memref<64xf32>
  %b = memref.alloc() : memref<16xf32>
  %x = memref.load %a[%i] : memref<64xf32>
  memref.store %x, %b[%i] : memref<16xf32>
  %c = memref.alloc() : memref<16xf64>
  memref.store %zero64, %c[%i] : memref<16xf64>
  %y = memref.load %b[%i] : memref<16xf32>
  return
}

// -----

// A use in a loop lasts until the loop ends, also if the use comes first.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    tilec.slots = array<i64: 64, 64>
func.func @loop(%i: index, %n: index) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<16xf32>
  scf.for %k = %i to %n step %i {
    %x = memref.load %a[%i] : memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    memref.store %x, %b[%i] : memref<16xf32>
  }
  return
}

// -----

// Through a view and the result of a branch, too.

// CHECK-LABEL: func.func @alias(
// CHECK-SAME:    tilec.slots = array<i64: 64, 64, 64>
func.func @alias(%i: index, %c: i1) {
  %zero = arith.constant 0.0 : f32
  %m = scf.if %c -> memref<16xf32> {
    %a = memref.alloc() : memref<16xf32>
    scf.yield %a : memref<16xf32>
  } else {
    %b = memref.alloc() : memref<16xf32>
    scf.yield %b : memref<16xf32>
  }
  %v = memref.subview %m[8] [8] [1]
      : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  %d = memref.alloc() : memref<16xf32>
  memref.store %zero, %d[%i] : memref<16xf32>
  %x = memref.load %v[%i] : memref<8xf32, strided<[1], offset: 8>>
  memref.store %x, %d[%i] : memref<16xf32>
  return
}

// -----

func.func @carried(%i: index, %n: index) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<16xf32>
  %r = scf.for %k = %i to %n step %i iter_args(%m = %a) -> memref<16xf32> {
    memref.store %zero, %m[%i] : memref<16xf32>
    // expected-error @below {{outlives an iteration of its loop}}
    %b = memref.alloc() : memref<16xf32>
    scf.yield %b : memref<16xf32>
  }
  memref.store %zero, %r[%i] : memref<16xf32>
  return
}

// -----

func.func @dynamic(%n: index) {
  // expected-error @below {{has no static size}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}
