// RUN: tilec-opt %s --cpu-order-loops | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// Both operands are contiguous along the first loop: it becomes the last.

// CHECK-DAG: #[[SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @columns
// CHECK:         linalg.generic {indexing_maps = [#[[SWAPPED]], #[[SWAPPED]]]
// CHECK:           linalg.index 1
func.func @columns(%x: memref<8x16xi64, strided<[1, 8]>>,
                   %y: memref<8x16xi64, strided<[1, ?]>>) {
  linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x16xi64, strided<[1, 8]>>)
      outs(%y : memref<8x16xi64, strided<[1, ?]>>) {
  ^bb0(%in: i64, %out: i64):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i64
    %v = arith.addi %in, %c : i64
    linalg.yield %v : i64
  }
  return
}

// A transposition writes contiguously.

// CHECK-LABEL: func.func @transposed
// CHECK:         linalg.generic {indexing_maps = [#[[SWAPPED]], #[[SAME]]]
func.func @transposed(%x: memref<8x16xf32>, %y: memref<16x8xf32>) {
  linalg.generic {indexing_maps = [#id, #t],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x16xf32>) outs(%y : memref<16x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// CHECK-LABEL: func.func @pinned
// CHECK:         linalg.generic {indexing_maps = [#[[SAME]], #[[SWAPPED]]]
func.func @pinned(%x: memref<8x16xf32>, %y: memref<16x8xf32>) {
  linalg.generic {indexing_maps = [#id, #t],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x16xf32>) outs(%y : memref<16x8xf32>)
      attrs = {tilec.pinned} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
