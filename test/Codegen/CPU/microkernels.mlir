// RUN: tilec-opt %s --cpu-microkernels --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tilec-opt %s --canonicalize --cse \
// RUN:   --cpu-microkernels="vector-bytes=32 vector-registers=16" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NARROW

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#bt = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// Panels of two vectors, blocks of 8 (or 4) rows, all sums in registers.

// CHECK-LABEL: func.func @product
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for %{{.*}} = %c0 to %c{{2|4}} step
// CHECK:           scf.for
// WIDE-COUNT-16:     vector.load {{.*}} vector<16xf32>
// NARROW-COUNT-8:    vector.load {{.*}} vector<8xf32>
// CHECK:             scf.for {{.*}} iter_args
// CHECK:               vector.load
// CHECK:               vector.load
// CHECK:               memref.load
// CHECK:               vector.broadcast
// CHECK:               arith.mulf {{.*}} fastmath<contract>
// CHECK:               arith.addf {{.*}} fastmath<contract>
// WIDE-COUNT-16:     vector.store {{.*}} vector<16xf32>
// NARROW-COUNT-8:    vector.store {{.*}} vector<8xf32>
// CHECK-NOT:     linalg.generic
func.func @product(%a: memref<16x20xf32>, %b: memref<20x64xf32>,
                   %c: memref<16x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<16x20xf32>, memref<20x64xf32>)
      outs(%c : memref<16x64xf32>) attrs = {tilec.contraction} {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.mulf %in, %in2 : f32
    %w = arith.addf %out, %v : f32
    linalg.yield %w : f32
  }
  return
}

// A narrow operand with its columns apart is transposed and widened in
// registers, what is left of it by a copy; the last columns need masks.

// CHECK-LABEL: func.func @packed
// CHECK:         memref.alloc() : memref<{{.*}}xf32>
// CHECK:         vector.load {{.*}} vector<{{16|8}}xbf16>
// CHECK:         arith.extf
// CHECK:         vector.shuffle
// CHECK:         vector.store
// CHECK:         linalg.generic
// CHECK:           arith.extf
// CHECK:         vector.maskedload {{.*}} into vector<{{16|8}}xf32>
// CHECK:         vector.maskedstore
func.func @packed(%a: memref<7x33xf32>, %b: memref<37x33xbf16>,
                  %c: memref<7x37xf32>) {
  linalg.generic {indexing_maps = [#a, #bt, #c],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<7x33xf32>, memref<37x33xbf16>)
      outs(%c : memref<7x37xf32>) attrs = {tilec.contraction} {
  ^bb0(%in: f32, %in2: bf16, %out: f32):
    %x = arith.extf %in2 : bf16 to f32
    %v = arith.mulf %in, %x : f32
    %w = arith.addf %out, %v : f32
    linalg.yield %w : f32
  }
  return
}

// A product with a vector is left alone; a sum of nothing is nothing.

// CHECK-LABEL: func.func @vector
// CHECK:         linalg.generic
func.func @vector(%a: memref<1x32xf32>, %b: memref<32x64xf32>,
                  %c: memref<1x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x32xf32>, memref<32x64xf32>)
      outs(%c : memref<1x64xf32>) attrs = {tilec.contraction} {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.mulf %in, %in2 : f32
    %w = arith.addf %out, %v : f32
    linalg.yield %w : f32
  }
  return
}

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    return
func.func @nothing(%a: memref<8x0xf32>, %b: memref<0x64xf32>,
                   %c: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x0xf32>, memref<0x64xf32>)
      outs(%c : memref<8x64xf32>) attrs = {tilec.contraction} {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %v = arith.mulf %in, %in2 : f32
    %w = arith.addf %out, %v : f32
    linalg.yield %w : f32
  }
  return
}

// A transposition is done in registers, but not one of a few elements, nor of
// i1, which are not bytes yet.

// CHECK-LABEL: func.func @transposed
// CHECK:         vector.load {{.*}} vector<{{16|8}}xbf16>
// CHECK:         vector.shuffle
// CHECK:         vector.store
// CHECK-LABEL: func.func @few
// CHECK:         linalg.generic
// CHECK-LABEL: func.func @bools
// CHECK:         linalg.generic
func.func @transposed(%x: memref<32x64xbf16>, %y: memref<64x32xbf16>) {
  linalg.generic {indexing_maps = [#id, #t],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<32x64xbf16>) outs(%y : memref<64x32xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  }
  return
}
func.func @few(%x: memref<32x4xf32>, %y: memref<4x32xf32>) {
  linalg.generic {indexing_maps = [#id, #t],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<32x4xf32>) outs(%y : memref<4x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
func.func @bools(%x: memref<32x64xi1>, %y: memref<64x32xi1>) {
  linalg.generic {indexing_maps = [#id, #t],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<32x64xi1>) outs(%y : memref<64x32xi1>) {
  ^bb0(%in: i1, %out: i1):
    linalg.yield %in : i1
  }
  return
}
