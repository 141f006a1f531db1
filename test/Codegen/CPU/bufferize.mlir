// RUN: tilec-opt %s --cpu-reuse-operands --cpu-bufferize \
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
// CHECK-NOT:       linalg.generic
// CHECK:         memref.alloc
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

// A branch copies what it puts in the place of a carried tile. The one that
// leaves the tile alone does nothing.

// CHECK-LABEL: func.func @in_a_branch
// CHECK-SAME:    %[[X:.*]]: memref<16xf32>, %[[Y:[^:]*]]: memref<16xf32>
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK-NOT:       iter_args
// CHECK:           scf.if
// CHECK:             linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[A]] :
// CHECK-NOT:       else
// CHECK:           linalg.generic {{.*}} outs(%[[A]] :
// CHECK-NOT:       linalg.generic
// CHECK:         }
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : {{.*}} outs(%[[Y]] :
func.func @in_a_branch(%xm: memref<16xf32>, %ym: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %x = bufferization.to_tensor %xm restrict : memref<16xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %a0 = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>)
      -> tensor<16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0)
      -> (tensor<16xf32>) {
    %p = arith.cmpi eq, %i, %c3 : index
    %b = scf.if %p -> (tensor<16xf32>) {
      // Without an op of its own the branch would be a select.
      memref.store %zero, %ym[%c0] : memref<16xf32>
      scf.yield %x : tensor<16xf32>
    } else {
      scf.yield %a : tensor<16xf32>
    }
    %c = linalg.generic {indexing_maps = [#id, #id],
        iterator_types = ["parallel"]}
        ins(%b : tensor<16xf32>) outs(%b : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = math.exp %in : f32
      linalg.yield %v : f32
    } -> tensor<16xf32>
    scf.yield %c : tensor<16xf32>
  }
  bufferization.materialize_in_destination %r in writable %ym
      : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// The tile before is read after the branch has chosen the next one, so no branch
// may write it; and the branch may choose the other carried tile, which is
// written before the end. That one is kept apart: it is copied out of its place
// and back.

// CHECK-LABEL: func.func @needed_later
// CHECK-SAME:    %[[X:[^:]*]]: memref<16xf32>, %[[Y:[^:]*]]: memref<16xf32>
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         scf.for
// CHECK-NOT:       iter_args
// CHECK:           linalg.generic {{.*}} ins(%[[S:.*]] : {{.*}} outs(%[[OLD:.*]] :
// CHECK:           %[[B:.*]] = arith.select %{{.*}}, %[[X]], %[[OLD]]
// CHECK:           linalg.generic {{.*}} ins(%[[A]] : {{.*}} outs(%[[T:.*]] :
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        arith.addf
// CHECK:           linalg.generic {{.*}} ins(%[[T]] : {{.*}} outs(%[[S]] :
// CHECK:           linalg.generic {{.*}} ins(%[[B]] : {{.*}} outs(%[[A]] :
// CHECK:         }
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : {{.*}} outs(%[[Y]] :
func.func @needed_later(%xm: memref<16xf32>, %ym: memref<16xf32>,
                        %zm: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %x = bufferization.to_tensor %xm restrict : memref<16xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %f = tensor.empty() : tensor<16xf32>
  %a0 = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>)
      -> tensor<16xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%f : tensor<16xf32>)
      -> tensor<16xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %s = %s0)
      -> (tensor<16xf32>, tensor<16xf32>) {
    %p = arith.cmpi eq, %i, %c3 : index
    %b = scf.if %p -> (tensor<16xf32>) {
      memref.store %zero, %zm[%c0] : memref<16xf32>
      scf.yield %x : tensor<16xf32>
    } else {
      scf.yield %s : tensor<16xf32>
    }
    %t = linalg.generic {indexing_maps = [#id, #id],
        iterator_types = ["parallel"]}
        ins(%a : tensor<16xf32>) outs(%s : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = arith.addf %in, %out : f32
      linalg.yield %v : f32
    } -> tensor<16xf32>
    scf.yield %b, %t : tensor<16xf32>, tensor<16xf32>
  }
  bufferization.materialize_in_destination %r#0 in writable %ym
      : (tensor<16xf32>, memref<16xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in writable %zm
      : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// Two stores to one argument, each computed in its place: the first is done
// before the second begins.

// CHECK-LABEL: func.func @one_after_the_other
// CHECK-SAME:    %[[X:[^:]*]]: memref<16xf32>, %[[Y:[^:]*]]: memref<16xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[Y]] :
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[Y]] :
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @one_after_the_other(%xm: memref<16xf32>, %ym: memref<16xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<16xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %0 in restrict writable %ym
      : (tensor<16xf32>, memref<16xf32>) -> ()
  %1 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.log %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %1 in restrict writable %ym
      : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// Here it is not: what the second stores is computed first. And what the first
// stored is read again, when the second has been stored. Both are copied to
// their place, views of it though they are.

// CHECK-LABEL: func.func @across_each_other
// CHECK-SAME:    %[[X:[^:]*]]: memref<16xf32>, %[[Y:[^:]*]]: memref<16xf32>
// CHECK:         %[[V:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[B:[^ ]*]] :
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.log
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[A:[^ ]*]] :
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : {{.*}} outs(%[[V]] :
// CHECK:         linalg.generic {{.*}} ins(%[[B]] : {{.*}} outs(%[[Y]] :
// CHECK:         linalg.generic {{.*}} ins(%[[A]] :
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.sin
func.func @across_each_other(%xm: memref<16xf32>, %ym: memref<16xf32>,
                             %zm: memref<16xf32>) {
  %x = bufferization.to_tensor %xm restrict : memref<16xf32> to tensor<16xf32>
  %view = memref.reinterpret_cast %ym to offset: [0], sizes: [16], strides: [1]
      : memref<16xf32> to memref<16xf32, strided<[1], offset: 0>>
  %e = tensor.empty() : tensor<16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.log %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %a = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %a in restrict writable %view
      : (tensor<16xf32>, memref<16xf32, strided<[1], offset: 0>>) -> ()
  bufferization.materialize_in_destination %b in restrict writable %ym
      : (tensor<16xf32>, memref<16xf32>) -> ()
  %c = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%a : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.sin %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %c in restrict writable %zm
      : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
