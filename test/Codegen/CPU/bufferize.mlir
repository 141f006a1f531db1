// RUN: tilec-opt %s --cpu-reuse-operands --cpu-carry-in-place --cpu-bufferize \
// RUN:   --canonicalize --cse | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// What computes a tile writes to its destination, and what is overwritten may
// be an operand that is not used again.

// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[X:.*]]: memref<16xf32>, %[[Y:.*]]: memref<16xf32>
// CHECK:         %[[T:.*]] = memref.alloc
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[T]] :
// CHECK:         linalg.generic {{.*}} ins(%[[T]] : {{.*}} outs(%[[T]] :
// CHECK:         linalg.generic {{.*}} ins(%[[T]] : {{.*}} outs(%[[Y]] :
// CHECK-NOT:     memref.copy
func.func @chain(%xm: memref<16xf32>, %ym: memref<16xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<16xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%0 : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.log %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%1 : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.sin %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %2 in restrict writable %ym
      : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// Tiles that a loop exchanges keep their buffers: the values move.

// CHECK-LABEL: func.func @exchange
// CHECK-DAG:     %[[A:.*]] = memref.alloc
// CHECK-DAG:     %[[B:.*]] = memref.alloc
// CHECK:         scf.for
// CHECK-NOT:       iter_args
// CHECK-COUNT-3:   linalg.generic
// CHECK-NOT:       memref.copy
func.func @exchange(%ym: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = tensor.empty() : tensor<16xf32>
  %a0 = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>)
      -> tensor<16xf32>
  %b0 = linalg.fill ins(%one : f32) outs(%f : tensor<16xf32>)
      -> tensor<16xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %b = %b0)
      -> (tensor<16xf32>, tensor<16xf32>) {
    scf.yield %b, %a : tensor<16xf32>, tensor<16xf32>
  }
  bufferization.materialize_in_destination %r#0 in writable %ym
      : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
