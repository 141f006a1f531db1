// RUN: tilec-opt %s --cpu-fuse-elementwise --canonicalize --cse | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// A chain becomes one op, the reduction at its end included.

// CHECK-LABEL: func.func @chain
// CHECK:         linalg.fill
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
func.func @chain(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %r = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>)
      -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%0, %0 : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.mulf %in, %in2 : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %2 = linalg.generic {indexing_maps = [#id, #rows],
      iterator_types = ["parallel", "reduction"]}
      ins(%1 : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %out, %in : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Two users: what is cheap is computed in both, what is not once.

// CHECK-LABEL: func.func @shared
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK-NOT:     math.exp
// CHECK:         linalg.generic
// CHECK:           arith.negf
// CHECK:           math.sqrt
// CHECK:         linalg.generic
// CHECK:           arith.negf
// CHECK:           math.floor
// CHECK-NOT:     linalg.generic
func.func @shared(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id1, #id1],
      iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#id1, #id1],
      iterator_types = ["parallel"]}
      ins(%0 : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.negf %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [#id1, #id1, #id1],
      iterator_types = ["parallel"]}
      ins(%1, %0 : tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = math.sqrt %in : f32
    %w = arith.addf %v, %in2 : f32
    linalg.yield %w : f32
  } -> tensor<16xf32>
  %3 = linalg.generic {indexing_maps = [#id1, #id1],
      iterator_types = ["parallel"]}
      ins(%1 : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.floor %in : f32
    linalg.yield %v : f32
  } -> tensor<16xf32>
  return %2, %3 : tensor<16xf32>, tensor<16xf32>
}

// An expensive row is not computed again for each column.

// CHECK-LABEL: func.func @broadcast
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK:           math.exp
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK-NOT:       math.exp
// CHECK:           arith.mulf
func.func @broadcast(%x: tensor<8x16xf32>, %y: tensor<8xf32>)
    -> tensor<8x16xf32> {
  %r = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id1, #id1],
      iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%r : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #rows, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %0 : tensor<8x16xf32>, tensor<8xf32>)
      outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.mulf %in, %in2 : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// Contractions and pinned ops take no part.

// CHECK-LABEL: func.func @untouched
// CHECK-COUNT-4: linalg.generic
func.func @untouched(%x: tensor<8x16xf32>, %y: tensor<16x4xf32>)
    -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %r = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.negf %in : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%r : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %y : tensor<8x16xf32>, tensor<16x4xf32>)
      outs(%init : tensor<8x4xf32>) attrs = {tilec.contraction} {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.mulf %in, %in2 : f32
    %w = arith.addf %out, %v : f32
    linalg.yield %w : f32
  } -> tensor<8x4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<8x4xf32>) outs(%r : tensor<8x4xf32>)
      attrs = {tilec.pinned} {
  ^bb0(%in: f32, %out: f32):
    %v = arith.negf %in : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<8x4xf32>) outs(%r : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.negf %in : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
