// Folds and canonicalization patterns, each with the case next to it in which
// nothing may happen.
// RUN: tilec-opt %s -canonicalize | FileCheck %s

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

// CHECK-LABEL: tile.kernel @dim
tile.kernel @dim(%a: !tile.view<?x8xf32> {tile.name = "a", tile.dims = ["N", ""]},
                 %b: !tile.view<?x?xf32> {tile.name = "b", tile.dims = ["M", "N"]}) {
  %c = arith.constant 0 : index
  // A static extent is a constant, also through a slice.
  // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i
  // CHECK-DAG: %[[N:.*]] = tile.dim %a, 0
  // CHECK-DAG: %[[M:.*]] = tile.dim %b, 0
  %0 = tile.dim %a, 1 : !tile.view<?x8xf32>
  // A slice has the extents of its view, and one name is one extent.
  %s = tile.slice %b[%c, %c] dims [1] : !tile.view<?x?xf32> -> !tile.view<?xf32>
  %1 = tile.dim %s, 0 : !tile.view<?xf32>
  %2 = tile.dim %b, 0 : !tile.view<?x?xf32>
  %i0 = arith.index_cast %0 : index to i64
  %i1 = arith.index_cast %1 : index to i64
  %i2 = arith.index_cast %2 : index to i64
  // CHECK-DAG: %[[N64:.*]] = arith.index_cast %[[N]]
  // CHECK-DAG: %[[M64:.*]] = arith.index_cast %[[M]]
  // CHECK: tile.print "dims", %[[C8]], %[[N64]], %[[M64]]
  tile.print "dims", %i0, %i1, %i2 : i64, i64, i64
  tile.return
}

// CHECK-LABEL: tile.kernel @valid
tile.kernel @valid(%x: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c96 = arith.constant 96 : index
  %c100 = arith.constant 100 : index
  %c128 = arith.constant 128 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim %x, 0 : !tile.view<?xf32>
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i64
  // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i64
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i64
  %0 = tile.valid %c96 to %c100 size 64
  %1 = tile.valid %c0 to %c100 size 64
  %2 = tile.valid %c128 to %c100 size 64
  %i0 = arith.index_cast %0 : index to i64
  %i1 = arith.index_cast %1 : index to i64
  %i2 = arith.index_cast %2 : index to i64
  // CHECK: tile.print "constants", %[[C4]], %[[C64]], %[[C0]]
  tile.print "constants", %i0, %i1, %i2 : i64, i64, i64

  scf.for %i = %c0 to %c128 step %c64 {
    // Multiples of 64 below 128, which is one: the tile is full.
    // CHECK: tile.print "full", %[[C64]]
    %3 = tile.valid %i to %c128 size 64
    %i3 = arith.index_cast %3 : index to i64
    tile.print "full", %i3 : i64
    // The axis ends within a tile.
    // CHECK: tile.valid %{{.*}} to %{{.*}} size 64
    %4 = tile.valid %i to %c100 size 64
    %i4 = arith.index_cast %4 : index to i64
    tile.print "cut", %i4 : i64
    // The loop is not over tiles of this size.
    // CHECK: tile.valid %{{.*}} to %{{.*}} size 48
    %5 = tile.valid %i to %c96 size 48
    %i5 = arith.index_cast %5 : index to i64
    tile.print "other", %i5 : i64
    // CHECK: tile.valid %{{.*}} to %{{.*}} size 64
    %6 = tile.valid %i to %n size 64
    %i6 = arith.index_cast %6 : index to i64
    tile.print "dynamic", %i6 : i64
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @valid_in_grid
tile.kernel @valid_in_grid() {
  %c192 = arith.constant 192 : index
  scf.forall (%i, %j) = (0, 0) to (192, 7) step (64, 1) {
    // CHECK: tile.print "full", %c64_i64
    %0 = tile.valid %i to %c192 size 64
    %i0 = arith.index_cast %0 : index to i64
    tile.print "full", %i0 : i64
  }
  tile.return
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

// CHECK-LABEL: tile.kernel @full_valid
tile.kernel @full_valid(%A: !tile.view<?x8xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  // CHECK: %[[X:.*]] = tile.load %A[%c0, %c0] dims [0, 1] pad zero :
  %x = tile.load %A[%c0, %c0] dims [0, 1] valid [%c4, %c8] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.store %[[X]], %A[%c0, %c0] dims [0, 1] :
  tile.store %x, %A[%c0, %c0] dims [0, 1] valid [%c4, %c8]
      : tensor<4x8xf32>, !tile.view<?x8xf32>
  // CHECK: tile.atomic_add %[[X]], %A[%c0, %c0] dims [0, 1] :
  tile.atomic_add %x, %A[%c0, %c0] dims [0, 1] valid [%c4, %c8]
      : tensor<4x8xf32>, !tile.view<?x8xf32>
  // CHECK: tile.store %[[X]], %A[%c0, %c0] dims [0, 1] valid[%c3, %c8] :
  tile.store %x, %A[%c0, %c0] dims [0, 1] valid [%c3, %c8]
      : tensor<4x8xf32>, !tile.view<?x8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @predicates
tile.kernel @predicates(%A: !tile.view<?xf32> {tile.name = "A"}, %p: i1) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %false = arith.constant false
  // CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFF800000> : tensor<4xf32>
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK: %[[X:.*]] = tile.load %A[%c0] dims [0] pad zero :
  %x = tile.load %A[%c0] dims [0] if %true pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %y = tile.load %A[%c0] dims [0] if %false pad lowest
      : !tile.view<?xf32> -> tensor<4xf32>
  %z = tile.load %A[%c0] dims [0] if %false pad undef
      : !tile.view<?xf32> -> tensor<4xf32>
  // CHECK-NEXT: tile.store %[[X]], %A[%c0] dims [0] :
  tile.store %x, %A[%c0] dims [0] if %true
      : tensor<4xf32>, !tile.view<?xf32>
  // CHECK-NEXT: tile.print "pads", %[[INF]], %[[ZERO]]
  tile.store %x, %A[%c0] dims [0] if %false
      : tensor<4xf32>, !tile.view<?xf32>
  tile.atomic_add %x, %A[%c0] dims [0] if %false
      : tensor<4xf32>, !tile.view<?xf32>
  tile.print "pads", %y, %z : tensor<4xf32>, tensor<4xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @through_slice
tile.kernel @through_slice(%A: !tile.view<?x?x8xf32> {tile.name = "A"},
                           %p: i1, %r: i1) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c2 = arith.constant 2 : index
  %s = tile.slice %A[%c5, %c0, %c0] dims [2, 1]
      : !tile.view<?x?x8xf32> -> !tile.view<8x?xf32>
  // The slice's first dimension is the view's last.
  // CHECK: tile.load %A[%c5, %c2, %c0] dims [1, 2] pad zero :
  %x = tile.load %s[%c0, %c2] dims [1, 0] pad zero
      : !tile.view<8x?xf32> -> tensor<4x8xf32>
  // CHECK: tile.store %{{.*}}, %A[%c5, %c2, %c0] dims [1, 2] :
  tile.store %x, %s[%c0, %c2] dims [1, 0]
      : tensor<4x8xf32>, !tile.view<8x?xf32>
  %t = tile.slice %A[%c5, %c0, %c0] dims [1, 2] if %p
      : !tile.view<?x?x8xf32> -> !tile.view<?x8xf32>
  // CHECK: tile.store %{{.*}}, %A[%c5, %c2, %c0] dims [1, 2] if %[[P:.*]] :
  tile.store %x, %t[%c2, %c0] dims [0, 1]
      : tensor<4x8xf32>, !tile.view<?x8xf32>
  // CHECK: %[[BOTH:.*]] = arith.andi %[[P]], %{{.*}} : i1
  // CHECK: tile.atomic_add %{{.*}}, %A[%c5, %c2, %c0] dims [1, 2] if %[[BOTH]] :
  tile.atomic_add %x, %t[%c2, %c0] dims [0, 1] if %r
      : tensor<4x8xf32>, !tile.view<?x8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @gather_mask
tile.kernel @gather_mask(%A: !tile.view<?xf32> {tile.name = "A"},
                         %i: !tile.view<4xi64>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %i[%c0] dims [0] pad zero : !tile.view<4xi64> -> tensor<4xi64>
  %m = arith.constant dense<true> : tensor<4xi1>
  // CHECK: tile.gather %A[%{{.*}}] : !tile.view<?xf32>[tensor<4xi64>] -> tensor<4xf32>
  %y = tile.gather %A[%x] mask %m
      : !tile.view<?xf32>[tensor<4xi64>] mask tensor<4xi1> -> tensor<4xf32>
  tile.print "y", %y : tensor<4xf32>
  tile.return
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: tile.kernel @dot_acc
tile.kernel @dot_acc(%A: !tile.view<4x8xf32> {tile.name = "A"},
                     %C: !tile.view<4x4xf32> {tile.name = "C"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x8xf32> -> tensor<4x8xf32>
  // CHECK: %[[C:.*]] = tile.load %C
  %c = tile.load %C[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x4xf32> -> tensor<4x4xf32>
  // On either side of the addition.
  // CHECK: %[[D0:.*]] = tile.dot %[[A:.*]], %[[A]] acc %[[C]] contract [1] x [1]
  %d0 = tile.dot %a, %a contract [1] x [1] batch [] x [] precision tf32
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %s0 = arith.addf %c, %d0 : tensor<4x4xf32>
  // CHECK: %[[D1:.*]] = tile.dot %[[A]], %[[A]] acc %[[D0]] {{.*}} precision tf32 :
  %d1 = tile.dot %a, %a contract [1] x [1] batch [] x [] precision tf32
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %s1 = arith.addf %d1, %s0 : tensor<4x4xf32>
  // Not if the product is used elsewhere too.
  // CHECK: %[[D2:.*]] = tile.dot %[[A]], %[[A]] contract
  // CHECK: %[[S2:.*]] = arith.addf %[[D1]], %[[D2]]
  %d2 = tile.dot %a, %a contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %s2 = arith.addf %s1, %d2 : tensor<4x4xf32>
  // CHECK: tile.print "used", %[[D2]]
  tile.print "used", %d2 : tensor<4x4xf32>
  // A sum that starts from zero.
  // CHECK: tile.dot %[[A]], %[[A]] contract
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %d3 = tile.dot %a, %a acc %zero contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  tile.print "zero", %d3 : tensor<4x4xf32>
  // Not into a loop, which would repeat the product.
  // CHECK: %[[D4:.*]] = tile.dot %[[A]], %[[A]] contract
  %d4 = tile.dot %a, %a contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %n = tile.dim %C, 0 : !tile.view<4x4xf32>
  // CHECK: scf.for
  // CHECK-NOT: tile.dot
  // CHECK: arith.addf
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s2) -> tensor<4x4xf32> {
    %s4 = arith.addf %x, %d4 : tensor<4x4xf32>
    scf.yield %s4 : tensor<4x4xf32>
  }
  tile.store %r, %C[%c0, %c0] dims [0, 1] : tensor<4x4xf32>, !tile.view<4x4xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @dot_acc_int
tile.kernel @dot_acc_int(%A: !tile.view<4x8xi8> {tile.name = "A"},
                         %C: !tile.view<4x4xi32> {tile.name = "C"}) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x8xi8> -> tensor<4x8xi8>
  %c = tile.load %C[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x4xi32> -> tensor<4x4xi32>
  // CHECK: tile.dot %{{.*}} acc %{{.*}} {lhs_unsigned} :
  // CHECK-NOT: arith.addi
  %d = tile.dot %a, %a contract [1] x [1] batch [] x [] precision ieee
      {lhs_unsigned} : tensor<4x8xi8>, tensor<4x8xi8> -> tensor<4x4xi32>
  %s = arith.addi %c, %d : tensor<4x4xi32>
  tile.store %s, %C[%c0, %c0] dims [0, 1] : tensor<4x4xi32>, !tile.view<4x4xi32>
  tile.return
}

//===----------------------------------------------------------------------===//
// Shapes, pads and reductions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: tile.kernel @broadcast
tile.kernel @broadcast(%A: !tile.view<4x8xf32> {tile.name = "A"}, %f: f32) {
  %c0 = arith.constant 0 : index
  // CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2.000000e+00> : tensor<4x8xf32>
  // CHECK-DAG: %[[A:.*]] = tile.load %A
  %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x8xf32> -> tensor<4x8xf32>
  %same = tile.broadcast %a dims [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.print "same", %[[A]]
  tile.print "same", %same : tensor<4x8xf32>
  // Two in one: axis 0 to 1, then 1 to 2.
  // CHECK: tile.broadcast %[[A]] dims [2, 0] : tensor<4x8xf32> -> tensor<8x3x4xf32>
  %t = tile.broadcast %a dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %u = tile.broadcast %t dims [0, 2] : tensor<8x4xf32> -> tensor<8x3x4xf32>
  tile.print "u", %u : tensor<8x3x4xf32>
  // Back and forth.
  // CHECK: tile.print "twice", %[[A]]
  %w = tile.broadcast %t dims [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  tile.print "twice", %w : tensor<4x8xf32>
  // CHECK: tensor.splat %{{.*}} : tensor<4x8xf32>
  %s = tensor.splat %f : tensor<4xf32>
  %b = tile.broadcast %s dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  tile.print "b", %b : tensor<4x8xf32>
  // CHECK: tile.print "constant", %[[TWO]]
  %k = arith.constant dense<2.0> : tensor<8xf32>
  %l = tile.broadcast %k dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  tile.print "constant", %l : tensor<4x8xf32>
  // A square that is transposed is not the same.
  // CHECK: tile.broadcast %{{.*}} dims [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %sq = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x8xf32> -> tensor<4x4xf32>
  %sqt = tile.broadcast %sq dims [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  tile.print "sqt", %sqt : tensor<4x4xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @select_valid
tile.kernel @select_valid(%A: !tile.view<?x8xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %n = tile.dim %A, 0 : !tile.view<?x8xf32>
  // CHECK-DAG: %[[K:.*]] = arith.constant dense<0xFF800000> : tensor<4x8xf32>
  // CHECK: %[[V:.*]] = tile.valid
  %v = tile.valid %c0 to %n size 4
  // CHECK: %[[A:.*]] = tile.load %A
  %a = tile.load %A[%c0, %c0] dims [0, 1] valid [%v, %c8] pad undef
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.print "full", %[[A]]
  %0 = tile.select_valid %a valid [%c4, %c8] pad zero : tensor<4x8xf32>
  tile.print "full", %0 : tensor<4x8xf32>
  // CHECK: tile.select_valid %[[A]] valid[%c4, %c7] pad zero
  %1 = tile.select_valid %a valid [%c4, %c7] pad zero : tensor<4x8xf32>
  tile.print "cut", %1 : tensor<4x8xf32>
  // The pad everywhere.
  // CHECK: tile.print "same", %[[K]]
  %k = arith.constant dense<0xFF800000> : tensor<4x8xf32>
  %2 = tile.select_valid %k valid [%v, %c8] pad lowest : tensor<4x8xf32>
  tile.print "same", %2 : tensor<4x8xf32>
  // Minus zero is not zero.
  // CHECK: tile.select_valid %{{.*}} valid[%[[V]], %c8] pad zero
  %z = arith.constant dense<-0.0> : tensor<4x8xf32>
  %3 = tile.select_valid %z valid [%v, %c8] pad zero : tensor<4x8xf32>
  tile.print "zero", %3 : tensor<4x8xf32>
  // The second pad wins.
  // CHECK: tile.select_valid %[[A]] valid[%[[V]], %c8] pad one
  %4 = tile.select_valid %a valid [%v, %c8] pad lowest : tensor<4x8xf32>
  %5 = tile.select_valid %4 valid [%v, %c8] pad one : tensor<4x8xf32>
  tile.print "second", %5 : tensor<4x8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @gelu
tile.kernel @gelu(%x: f32) {
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 0.841344{{[0-9]*}} : f32
  // CHECK-DAG: %[[LOW:.*]] = arith.constant {{-?}}0.000000e+00 : f64
  // CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
  %one = arith.constant 1.0 : f32
  %0 = tile.gelu %one : f32
  %low = arith.constant 0xFFF0000000000000 : f64
  %1 = tile.gelu %low : f64
  %nan = arith.constant 0x7FC00000 : f32
  %2 = tile.gelu %nan : f32
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %3 = tile.gelu %zero : tensor<4xf32>
  // CHECK: %[[X:.*]] = tile.gelu %{{.*}} : f32
  %4 = tile.gelu %x : f32
  // CHECK: tile.print "gelu", %[[ONE]], %[[LOW]], %[[NAN]], %[[ZERO]], %[[X]]
  tile.print "gelu", %0, %1, %2, %3, %4 : f32, f64, f32, tensor<4xf32>, f32
  tile.return
}

// CHECK-LABEL: tile.kernel @reduce
tile.kernel @reduce() {
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant dense<false> : tensor<i1>
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant dense<true> : tensor<4xi1>
  // CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2.000000e+00> : tensor<4xf32>
  %no = arith.constant dense<false> : tensor<4x8xi1>
  %yes = arith.constant dense<true> : tensor<4x8xi1>
  %two = arith.constant dense<2.0> : tensor<4x8xf32>
  %0 = tile.reduce any %no axes [0, 1] : tensor<4x8xi1> -> tensor<i1>
  %1 = tile.reduce all %yes axes [1] : tensor<4x8xi1> -> tensor<4xi1>
  %2 = tile.reduce max %two axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: tile.print "folded", %[[FALSE]], %[[TRUE]], %[[TWO]]
  tile.print "folded", %0, %1, %2 : tensor<i1>, tensor<4xi1>, tensor<4xf32>
  // A sum is not; nor is anything over no lanes.
  // CHECK: tile.reduce sum
  // CHECK: tile.reduce any
  %3 = tile.reduce sum %two axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %none = arith.constant dense<true> : tensor<4x0xi1>
  %4 = tile.reduce any %none axes [1] : tensor<4x0xi1> -> tensor<4xi1>
  tile.print "kept", %3, %4 : tensor<4xf32>, tensor<4xi1>
  tile.return
}

// Reads are merged and unused ones dropped; a store is neither.
// CHECK-LABEL: tile.kernel @effects
tile.kernel @effects(%A: !tile.view<4xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load
  // CHECK-NOT: tile.load
  // CHECK: tile.store
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.return
  %a = tile.load %A[%c0] dims [0] pad zero : !tile.view<4xf32> -> tensor<4xf32>
  %b = tile.load %A[%c0] dims [0] pad one : !tile.view<4xf32> -> tensor<4xf32>
  tile.store %a, %A[%c0] dims [0] : tensor<4xf32>, !tile.view<4xf32>
  tile.store %a, %A[%c0] dims [0] : tensor<4xf32>, !tile.view<4xf32>
  tile.return
}
