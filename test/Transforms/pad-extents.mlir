// Extents become powers of two, and ops that combine lanes do not notice.
// RUN: tilec-opt %s -tile-pad-extents -canonicalize -cse | FileCheck %s
// RUN: tilec-opt %s -tile-pad-extents=min-dot=64,8,32 -canonicalize -cse \
// RUN:     | FileCheck %s --check-prefix=MIN
// Twice is once.
// RUN: tilec-opt %s -tile-pad-extents -canonicalize -cse > %t.once
// RUN: tilec-opt %t.once -tile-pad-extents -canonicalize -cse | diff %t.once -

// Blocks: valid extents where there were none, and where they say "all". Those
// that say less stay.
// CHECK-LABEL: tile.kernel @blocks
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[C40:.*]] = arith.constant 40 : index
// CHECK: %[[V:.*]] = tile.valid
// CHECK: tile.load %A[{{.*}}] dims [0, 1] valid[%[[C24]], %[[C40]]] pad zero
// CHECK-SAME: -> tensor<32x64xf32>
// CHECK: tile.load %A[{{.*}}] dims [0, 1] valid[%[[V]], %[[C40]]] pad lowest
// CHECK-SAME: -> tensor<32x64xf32>
// CHECK: tile.load %B[{{.*}}] dims [] pad zero
// CHECK: tile.load %A[{{.*}}] dims [0, 1] pad undef {{.*}} -> tensor<32x16xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<32x64xf32>
// CHECK: tile.store %{{.*}} dims [0, 1] valid[%[[C24]], %[[C40]]]
// CHECK: tile.atomic_add %{{.*}} dims [0, 1] valid[%[[V]], %[[C40]]]
// CHECK: tile.print "x", %{{.*}}, %{{.*}}, %{{.*}} valid[%[[C24]], %[[C40]], %{{c32.*}}, %{{c16.*}}]
tile.kernel @blocks(%A: !tile.view<?x?xf32> {tile.name = "A"},
                    %B: !tile.view<f32> {tile.name = "B"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %e = arith.index_cast %n : i64 to index
  %v = tile.valid %c0 to %e size 24
  %x = tile.load %A[%c0, %c0] dims [0, 1] pad undef
      : !tile.view<?x?xf32> -> tensor<24x40xf32>
  %y = tile.load %A[%c0, %c0] dims [0, 1] valid [%v, %c64] pad lowest
      : !tile.view<?x?xf32> -> tensor<24x40xf32>
  %b = tile.load %B[] dims [] pad zero : !tile.view<f32> -> tensor<f32>
  %z = tile.load %A[%c0, %c0] dims [0, 1] pad undef
      : !tile.view<?x?xf32> -> tensor<32x16xf32>
  %s = arith.addf %x, %y : tensor<24x40xf32>
  tile.store %s, %A[%c0, %c0] dims [0, 1]
      : tensor<24x40xf32>, !tile.view<?x?xf32>
  tile.atomic_add %s, %A[%c0, %c0] dims [0, 1] valid [%v, %c64]
      : tensor<24x40xf32>, !tile.view<?x?xf32>
  %e0 = tensor.extract %b[] : tensor<f32>
  tile.print "x", %s, %e0, %z : tensor<24x40xf32>, f32, tensor<32x16xf32>
  tile.return
}

// What combines lanes: each gets its neutral element on the axes that are
// combined, and only there. An extent of 0 becomes 1.
// CHECK-LABEL: tile.kernel @combine
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[X:.*]] = tile.load {{.*}} valid[%[[C3]], %[[C5]]]
// CHECK: %[[P:.*]] = tile.select_valid %[[X]] valid[%[[C4]], %[[C5]]] pad one : tensor<4x8xf32>
// CHECK: tile.reduce prod %[[P]] axes [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK: %[[M:.*]] = tile.select_valid %[[X]] valid[%[[C3]], %[[C5]]] pad highest
// CHECK: tile.reduce min %[[M]] axes [0, 1] : tensor<4x8xf32> -> tensor<f32>
// CHECK: tile.arg_reduce max %[[X]] axis 1 valid %[[C5]]
// CHECK: %[[S:.*]] = tile.select_valid %[[X]] valid[%[[C3]], %[[C8]]] pad zero
// CHECK: tile.scan sum %[[S]] axis 0
// CHECK: %[[E:.*]] = tile.select_valid %{{.*}} valid[%[[C0]]] pad lowest : tensor<1xf32>
// CHECK: tile.reduce max %[[E]] axes [0]
// CHECK: %[[O:.*]] = tile.select_valid %{{.*}} valid[%[[C3]], %[[C5]]] pad one : tensor<4x8xi1>
// CHECK: tile.assert %[[O]], "ordered"
// CHECK: tile.reduce sum %{{.*}} axes [1] : tensor<4x8xf32> -> tensor<4xf32>
tile.kernel @combine(%A: !tile.view<?x?xf32>, %O: !tile.view<?xf32>,
                     %I: !tile.view<?xi64>, %n: i64) {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xf32> -> tensor<3x5xf32>
  %p = tile.reduce prod %x axes [1] : tensor<3x5xf32> -> tensor<3xf32>
  tile.store %p, %O[%c0] dims [0] : tensor<3xf32>, !tile.view<?xf32>
  %m = tile.reduce min %x axes [0, 1] : tensor<3x5xf32> -> tensor<f32>
  tile.store %m, %O[%c0] dims [] : tensor<f32>, !tile.view<?xf32>
  %i = tile.arg_reduce max %x axis 1 : tensor<3x5xf32> -> tensor<3xi64>
  tile.store %i, %I[%c0] dims [0] : tensor<3xi64>, !tile.view<?xi64>
  %s = tile.scan sum %x axis 0 : tensor<3x5xf32>
  tile.store %s, %A[%c0, %c0] dims [0, 1]
      : tensor<3x5xf32>, !tile.view<?x?xf32>
  %z = tile.load %O[%c0] dims [0] pad zero : !tile.view<?xf32> -> tensor<0xf32>
  %e = tile.reduce max %z axes [0] : tensor<0xf32> -> tensor<f32>
  tile.store %e, %O[%c0] dims [] : tensor<f32>, !tile.view<?xf32>
  %o = arith.cmpf oge, %s, %x : tensor<3x5xf32>
  tile.assert %o, "ordered" : tensor<3x5xi1>
  // The axis that is combined does not grow.
  %y = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xf32> -> tensor<3x8xf32>
  %t = tile.reduce sum %y axes [1] : tensor<3x8xf32> -> tensor<3xf32>
  tile.store %t, %O[%c0] dims [0] : tensor<3xf32>, !tile.view<?xf32>
  tile.return
}

// Elements: masks, with and without one before.
// CHECK-LABEL: tile.kernel @elements
// CHECK-DAG: %[[T:.*]] = arith.constant dense<true> : tensor<16x4xi1>
// CHECK-DAG: %[[C12:.*]] = arith.constant 12 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[B:.*]] = tile.broadcast %{{.*}} dims [0] : tensor<16xi64> -> tensor<16x4xi64>
// CHECK: %[[ALL:.*]] = tile.select_valid %[[T]] valid[%[[C12]], %[[C3]]] pad zero
// CHECK: tile.gather %{{.*}}[%[[B]], %{{.*}}] mask %[[ALL]]
// CHECK: %[[SP:.*]] = tensor.splat %ok : tensor<16x4xi1>
// CHECK: %[[ONE:.*]] = tile.select_valid %[[SP]] valid[%[[C12]], %[[C3]]] pad zero
// CHECK: tile.gather %{{.*}} mask %[[ONE]]
// CHECK: %[[GE:.*]] = arith.cmpi sge
// CHECK: %[[SOME:.*]] = tile.select_valid %[[GE]] valid[%[[C12]], %[[C3]]] pad zero
// CHECK: tile.scatter_add %{{.*}} mask %[[SOME]]
// CHECK: tile.gather %{{.*}}[%n, %n] : !tile.view<?x?xf32>[i64, i64] -> f32
tile.kernel @elements(%A: !tile.view<?x?xf32>, %n: i64 {tile.name = "n"},
                      %ok: i1 {tile.name = "ok"}) {
  %c0 = arith.constant 0 : index
  %i = tile.iota %c0 : tensor<12xi64>
  %b = tile.broadcast %i dims [0] : tensor<12xi64> -> tensor<12x3xi64>
  %g = tile.gather %A[%b, %n] : !tile.view<?x?xf32>[tensor<12x3xi64>, i64]
      -> tensor<12x3xf32>
  %h = tile.gather %A[%b, %n] mask %ok
      : !tile.view<?x?xf32>[tensor<12x3xi64>, i64] mask i1 -> tensor<12x3xf32>
  %s = arith.addf %g, %h : tensor<12x3xf32>
  %z = arith.constant dense<1> : tensor<12x3xi64>
  %m = arith.cmpi sge, %b, %z : tensor<12x3xi64>
  tile.scatter_add %s, %A[%b, %n] mask %m
      : tensor<12x3xf32>, !tile.view<?x?xf32>[tensor<12x3xi64>, i64]
      mask tensor<12x3xi1>
  %e = tile.gather %A[%n, %n] : !tile.view<?x?xf32>[i64, i64] -> f32
  tile.scatter_add %e, %A[%n, %n] : f32, !tile.view<?x?xf32>[i64, i64]
  tile.return
}

// Products: minima by the operands' width, through loops and to the stores.
// CHECK-LABEL: tile.kernel @products
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<16x16xf32>)
// CHECK: %[[A:.*]] = tile.load %A{{.*}} valid[%c3{{[^,]*}}, %c4{{.*}}] pad zero {{.*}} -> tensor<16x16xbf16>
// CHECK: %[[B:.*]] = tile.load %B{{.*}} valid[%c4{{[^,]*}}, %c5{{.*}}] pad zero {{.*}} -> tensor<16x16xbf16>
// CHECK: %[[L:.*]] = tile.select_valid %[[A]] valid[%c16{{[^,]*}}, %c4{{.*}}] pad zero
// CHECK: %[[S:.*]] = tile.select_valid %[[B]] valid[%c4{{[^,]*}}, %c16{{.*}}] pad zero
// CHECK: tile.dot %[[L]], %[[S]] acc %[[ACC]]
// CHECK: tile.store %[[R]], {{.*}} valid[%c3{{[^,]*}}, %c5{{.*}}]
// MIN-LABEL: tile.kernel @products
// MIN: tile.dot {{.*}} tensor<64x32xbf16>, tensor<32x8xbf16>, tensor<64x8xf32>
tile.kernel @products(%A: !tile.view<?x?xbf16> {tile.name = "A"},
                      %B: !tile.view<?x?xbf16> {tile.name = "B"},
                      %C: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant dense<0.0> : tensor<3x5xf32>
  %r = scf.for %k = %c0 to %c8 step %c4 iter_args(%acc = %z)
      -> tensor<3x5xf32> {
    %a = tile.load %A[%c0, %k] dims [0, 1] pad zero
        : !tile.view<?x?xbf16> -> tensor<3x4xbf16>
    %b = tile.load %B[%k, %c0] dims [0, 1] pad zero
        : !tile.view<?x?xbf16> -> tensor<4x5xbf16>
    %n = tile.dot %a, %b acc %acc contract [1] x [0] batch [] x []
        precision ieee : tensor<3x4xbf16>, tensor<4x5xbf16>, tensor<3x5xf32>
        -> tensor<3x5xf32>
    scf.yield %n : tensor<3x5xf32>
  }
  tile.store %r, %C[%c0, %c0] dims [0, 1]
      : tensor<3x5xf32>, !tile.view<?x?xf32>
  tile.return
}

// Widths: 8 bits need twice as many of the contracted axis, tf32 half; ieee
// needs nothing, nor does a product with a vector. Of several axes the last
// grows, until their product is enough.
// CHECK-LABEL: tile.kernel @widths
// CHECK: tile.dot {{.*}} tensor<16x32xi8>, tensor<16x32xi8> -> tensor<16x16xi32>
// CHECK: tile.dot {{.*}} precision tf32 {{.*}} tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x16xf32>
// CHECK: tile.dot {{.*}} precision ieee {{.*}} tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x1xf32>
// CHECK: tile.dot {{.*}} tensor<2xbf16>, tensor<1x2xbf16> -> tensor<1xf32>
// CHECK: tile.dot {{.*}} batch [0] x [0] {{.*}} tensor<4x8x2x4x4xbf16>, tensor<4x16x4x4xbf16> -> tensor<4x8x2x16xf32>
// MIN-LABEL: tile.kernel @widths
// MIN: tile.dot {{.*}} tensor<64x64xi8>, tensor<8x64xi8> -> tensor<64x8xi32>
// MIN: tile.dot {{.*}} tensor<64x16xf32>, tensor<64x16xf32>
tile.kernel @widths(%A: !tile.view<?x?xi8>, %B: !tile.view<?x?xf32>,
                    %C: !tile.view<?x?xbf16>, %D: !tile.view<?x?x?x?x?xbf16>,
                    %E: !tile.view<?x?x?x?xbf16>, %P: !tile.view<?x?xi32>,
                    %Q: !tile.view<?x?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xi8> -> tensor<1x2xi8>
  %a1 = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xi8> -> tensor<1x2xi8>
  %p = tile.dot %a, %a1 contract [1] x [1] batch [] x [] precision ieee
      : tensor<1x2xi8>, tensor<1x2xi8> -> tensor<1x1xi32>
  tile.store %p, %P[%c0, %c0] dims [0, 1]
      : tensor<1x1xi32>, !tile.view<?x?xi32>
  %b = tile.load %B[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xf32> -> tensor<1x2xf32>
  %q = tile.dot %b, %b contract [1] x [1] batch [] x [] precision tf32
      : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x1xf32>
  tile.store %q, %B[%c0, %c0] dims [0, 1]
      : tensor<1x1xf32>, !tile.view<?x?xf32>
  %d = tile.load %B[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xf32> -> tensor<1x2xf32>
  %r = tile.dot %d, %d contract [1] x [1] batch [] x [] precision ieee
      : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x1xf32>
  tile.store %r, %B[%c0, %c0] dims [0, 1]
      : tensor<1x1xf32>, !tile.view<?x?xf32>
  %v = tile.load %C[%c0, %c0] dims [1] pad zero
      : !tile.view<?x?xbf16> -> tensor<2xbf16>
  %w = tile.load %C[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xbf16> -> tensor<1x2xbf16>
  %s = tile.dot %v, %w contract [0] x [1] batch [] x [] precision ieee
      : tensor<2xbf16>, tensor<1x2xbf16> -> tensor<1xf32>
  tile.store %s, %B[%c0, %c0] dims [0]
      : tensor<1xf32>, !tile.view<?x?xf32>
  // Batch 3; rows 8 x 1, of which 16 are needed; contracted 4 x 2.
  %x = tile.load %D[%c0, %c0, %c0, %c0, %c0] dims [0, 1, 2, 3, 4] pad zero
      : !tile.view<?x?x?x?x?xbf16> -> tensor<3x8x1x4x2xbf16>
  %y = tile.load %E[%c0, %c0, %c0, %c0] dims [0, 1, 2, 3] pad zero
      : !tile.view<?x?x?x?xbf16> -> tensor<3x5x4x2xbf16>
  %t = tile.dot %x, %y contract [3, 4] x [2, 3] batch [0] x [0] precision ieee
      : tensor<3x8x1x4x2xbf16>, tensor<3x5x4x2xbf16> -> tensor<3x8x1x5xf32>
  tile.store %t, %Q[%c0, %c0, %c0, %c0] dims [0, 1, 2, 3]
      : tensor<3x8x1x5xf32>, !tile.view<?x?x?x?xf32>
  tile.return
}

// Axes that only share constants and positions do not grow together: the first
// kind has the minimum of a dot, the second has not. A constant with different
// lanes keeps them.
// CHECK-LABEL: tile.kernel @shared
// CHECK-DAG: arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00, 0.000000e+00]]>
// CHECK-DAG: tile.iota %{{.*}} : tensor<16xi64>
// CHECK-DAG: tile.iota %{{.*}} : tensor<4xi64>
// CHECK: tile.dot {{.*}} -> tensor<16x16xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<4x4xf32>
// CHECK: %[[IF:.*]] = scf.if %ok -> (tensor<4x4xf32>)
// CHECK: tile.store %[[IF]], {{.*}} : tensor<4x4xf32>
// CHECK: tile.reduce sum %{{.*}} axes [1] : tensor<2x4xf32>
tile.kernel @shared(%A: !tile.view<?x?xbf16>, %B: !tile.view<?x?xf32>,
                    %I: !tile.view<?xi64>, %O: !tile.view<?xf32>,
                    %ok: i1 {tile.name = "ok"}) {
  %c0 = arith.constant 0 : index
  %k = arith.constant dense<2.0> : tensor<3x3xf32>
  %i = tile.iota %c0 : tensor<3xi64>
  %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xbf16> -> tensor<3x3xbf16>
  %b = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xbf16> -> tensor<3x3xbf16>
  %p = tile.dot %a, %b acc %k contract [1] x [0] batch [] x [] precision ieee
      : tensor<3x3xbf16>, tensor<3x3xbf16>, tensor<3x3xf32> -> tensor<3x3xf32>
  tile.store %p, %B[%c0, %c0] dims [0, 1]
      : tensor<3x3xf32>, !tile.view<?x?xf32>
  %x = tile.load %B[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x?xf32> -> tensor<3x3xf32>
  %y = arith.addf %x, %k : tensor<3x3xf32>
  %pi = tile.broadcast %i dims [0] : tensor<3xi64> -> tensor<3x3xi64>
  %pf = arith.sitofp %pi : tensor<3x3xi64> to tensor<3x3xf32>
  %ps = arith.addf %p, %pf : tensor<3x3xf32>
  tile.store %ps, %B[%c0, %c0] dims [0, 1]
      : tensor<3x3xf32>, !tile.view<?x?xf32>
  tile.store %i, %I[%c0] dims [0] : tensor<3xi64>, !tile.view<?xi64>
  %f = scf.if %ok -> tensor<3x3xf32> {
    %w = math.exp %y : tensor<3x3xf32>
    scf.yield %w : tensor<3x3xf32>
  } else {
    scf.yield %x : tensor<3x3xf32>
  }
  tile.store %f, %B[%c0, %c0] dims [0, 1]
      : tensor<3x3xf32>, !tile.view<?x?xf32>
  %d = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
      : tensor<2x3xf32>
  %s = tile.reduce sum %d axes [1] : tensor<2x3xf32> -> tensor<2xf32>
  tile.store %s, %O[%c0] dims [0] : tensor<2xf32>, !tile.view<?xf32>
  tile.return
}

// Behind it, the lanes' neutral element comes from the load where it can, also
// if another axis is cut off at run time.
// RUN: tilec-opt %s -tile-pad-extents -canonicalize -tile-simplify-pads \
// RUN:     -canonicalize | FileCheck %s --check-prefix=SIMPLE
// SIMPLE-LABEL: tile.kernel @simple
// SIMPLE: %[[V:.*]] = tile.valid
// SIMPLE: %[[X:.*]] = tile.load {{.*}} valid[%[[V]], %c40{{.*}}] pad lowest
// SIMPLE-NEXT: tile.reduce max %[[X]] axes [1]
// SIMPLE-NOT: tile.select_valid
// SIMPLE: tile.return
tile.kernel @simple(%A: !tile.view<?x40xf32>, %O: !tile.view<?xf32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %e = arith.index_cast %n : i64 to index
  %v = tile.valid %c0 to %e size 24
  %x = tile.load %A[%c0, %c0] dims [0, 1] valid [%v, %c40] pad zero
      : !tile.view<?x40xf32> -> tensor<24x40xf32>
  %m = tile.reduce max %x axes [1] : tensor<24x40xf32> -> tensor<24xf32>
  tile.store %m, %O[%c0] dims [0] valid [%v]
      : tensor<24xf32>, !tile.view<?xf32>
  // Along an axis with tiles: the new select says less than the old one.
  %y = tile.load %O[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xf32> -> tensor<24xf32>
  %s = tile.reduce sum %y axes [0] : tensor<24xf32> -> tensor<f32>
  tile.store %s, %O[%c0] dims [] : tensor<f32>, !tile.view<?xf32>
  tile.return
}
