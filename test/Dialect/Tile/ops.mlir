// Every op in its custom form, with and without its optional parts.
// RUN: %round-trip

// The names of arguments are kept: they are those of the source.
// CHECK-LABEL: tile.kernel @copy(
// CHECK-SAME: %X: !tile.view<?xf32> {tile.access = #tile.access<in>, tile.dims = ["N"], tile.name = "X"}
// CHECK-SAME: %Y: !tile.view<?xf32> {tile.access = #tile.access<out>, tile.dims = ["N"], tile.name = "Y"}
tile.kernel @copy(%X: !tile.view<?xf32> {tile.name = "X",
                      tile.access = #tile.access<in>, tile.dims = ["N"]},
                  %Y: !tile.view<?xf32> {tile.name = "Y",
                      tile.access = #tile.access<out>, tile.dims = ["N"]}) {
  // CHECK: %[[N:.*]] = tile.dim %X, 0 : !tile.view<?xf32>
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  // CHECK: scf.forall (%[[I:.*]]) = (0) to (%[[N]]) step (128)
  scf.forall (%n) = (0) to (%N) step (128) {
    // CHECK: %[[V:.*]] = tile.valid %[[I]] to %[[N]] size 128
    %v = tile.valid %n to %N size 128
    // CHECK: %[[T:.*]] = tile.load %X[%[[I]]] dims [0] valid[%[[V]]] pad zero : !tile.view<?xf32> -> tensor<128xf32>
    %x = tile.load %X[%n] dims [0] valid [%v] pad zero
        : !tile.view<?xf32> -> tensor<128xf32>
    // CHECK: tile.store %[[T]], %Y[%[[I]]] dims [0] valid[%[[V]]] : tensor<128xf32>, !tile.view<?xf32>
    tile.store %x, %Y[%n] dims [0] valid [%v]
        : tensor<128xf32>, !tile.view<?xf32>
  }
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%A: !tile.view<?x?x64xbf16>, %B: !tile.view<?xf32>,
                    %H: !tile.view<?xi32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  // CHECK: tile.slice %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] dims [1, 2] : !tile.view<?x?x64xbf16> -> !tile.view<?x64xbf16>
  %s = tile.slice %A[%c7, %c0, %c0] dims [1, 2]
      : !tile.view<?x?x64xbf16> -> !tile.view<?x64xbf16>
  // CHECK: tile.slice {{.*}} dims [2] if %{{.*}} : !tile.view<?x?x64xbf16> -> !tile.view<64xbf16>
  %t = tile.slice %A[%c7, %c7, %c0] dims [2] if %p
      : !tile.view<?x?x64xbf16> -> !tile.view<64xbf16>
  // CHECK: tile.load {{.*}} dims [1, 0] pad undef : !tile.view<?x64xbf16> -> tensor<64x8xbf16>
  %0 = tile.load %s[%c0, %c0] dims [1, 0] pad undef
      : !tile.view<?x64xbf16> -> tensor<64x8xbf16>
  // CHECK: tile.load {{.*}} dims [] if %{{.*}} pad highest : !tile.view<64xbf16> -> tensor<bf16>
  %1 = tile.load %t[%c7] dims [] if %p pad highest
      : !tile.view<64xbf16> -> tensor<bf16>
  // CHECK: tile.store {{.*}} dims [0] valid[%{{.*}}] if %{{.*}} : tensor<8xf32>, !tile.view<?xf32>
  %f = arith.constant dense<1.0> : tensor<8xf32>
  tile.store %f, %B[%c0] dims [0] valid [%c7] if %p
      : tensor<8xf32>, !tile.view<?xf32>
  // CHECK: tile.atomic_add {{.*}} dims [0] : tensor<8xf32>, !tile.view<?xf32>
  tile.atomic_add %f, %B[%c0] dims [0] : tensor<8xf32>, !tile.view<?xf32>
  %i = arith.constant 3 : i64
  %x = tile.iota %c7 : tensor<8xi64>
  %m = arith.constant dense<true> : tensor<8xi1>
  // CHECK: tile.gather {{.*}} : !tile.view<?xf32>[i64] -> f32
  %2 = tile.gather %B[%i] : !tile.view<?xf32>[i64] -> f32
  // CHECK: tile.gather {{.*}} mask %{{.*}} : !tile.view<?x64xbf16>[tensor<8xi64>, i64] mask tensor<8xi1> -> tensor<8xbf16>
  %3 = tile.gather %s[%x, %i] mask %m
      : !tile.view<?x64xbf16>[tensor<8xi64>, i64] mask tensor<8xi1>
      -> tensor<8xbf16>
  %one = arith.constant 1 : i32
  // CHECK: tile.scatter_add {{.*}} : i32, !tile.view<?xi32>[i64]
  tile.scatter_add %one, %H[%i] : i32, !tile.view<?xi32>[i64]
  %ones = arith.constant dense<1> : tensor<8xi32>
  // CHECK: tile.scatter_add {{.*}} mask %{{.*}} : tensor<8xi32>, !tile.view<?xi32>[tensor<8xi64>] mask tensor<8xi1>
  tile.scatter_add %ones, %H[%x] mask %m
      : tensor<8xi32>, !tile.view<?xi32>[tensor<8xi64>] mask tensor<8xi1>
  tile.return
}

// CHECK-LABEL: tile.kernel @shapes
tile.kernel @shapes(%A: !tile.view<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.iota %{{.*}} size %{{.*}} : tensor<?xi64>
  %0 = tile.iota %c0 size %c3 : tensor<?xi64>
  // CHECK: tile.broadcast %{{.*}} dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = tile.broadcast %a dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: tile.broadcast %{{.*}} dims [0, 2] sizes[%{{.*}}] : tensor<4x8xf32> -> tensor<4x?x8xf32>
  %2 = tile.broadcast %a dims [0, 2] sizes [%c3]
      : tensor<4x8xf32> -> tensor<4x?x8xf32>
  // CHECK: tile.select_valid %{{.*}} valid[%{{.*}}, %{{.*}}] pad lowest : tensor<4x8xf32>
  %3 = tile.select_valid %a valid [%c3, %c3] pad lowest : tensor<4x8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @compute
tile.kernel @compute(%a: !tile.view<4x8xf32>, %seed: i64, %v: i64) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}} contract [1] x [1] batch [] x [] precision ieee : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %0 = tile.dot %x, %x contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}} acc %{{.*}} contract [1] x [1] batch [] x [] precision tf32x3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = tile.dot %x, %x acc %0 contract [1] x [1] batch [] x [] precision tf32x3
      : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = arith.constant dense<1> : tensor<4x8xi8>
  // CHECK: tile.dot %{{.*}} contract [1] x [1] batch [0] x [0] precision ieee {lhs_unsigned} : tensor<4x8xi8>, tensor<4x8xi8> -> tensor<4xi32>
  %2 = tile.dot %b, %b contract [1] x [1] batch [0] x [0] precision ieee
      {lhs_unsigned} : tensor<4x8xi8>, tensor<4x8xi8> -> tensor<4xi32>
  // CHECK: tile.reduce max %{{.*}} axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %3 = tile.reduce max %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: tile.reduce sum %{{.*}} axes [1, 0] : tensor<4x8xf32> -> tensor<f32>
  %4 = tile.reduce sum %x axes [1, 0] : tensor<4x8xf32> -> tensor<f32>
  // CHECK: tile.arg_reduce max %{{.*}} axis 1 : tensor<4x8xf32> -> tensor<4xi64>
  %5 = tile.arg_reduce max %x axis 1 : tensor<4x8xf32> -> tensor<4xi64>
  // CHECK: tile.arg_reduce min %{{.*}} axis 0 valid %{{.*}} : tensor<4x8xf32> -> tensor<8xi64>
  %6 = tile.arg_reduce min %x axis 0 valid %c0
      : tensor<4x8xf32> -> tensor<8xi64>
  // CHECK: tile.scan prod %{{.*}} axis 1 : tensor<4x8xf32>
  %7 = tile.scan prod %x axis 1 : tensor<4x8xf32>
  %pos = tile.iota %c0 : tensor<4xi64>
  // CHECK: tile.random %{{.*}}, %{{.*}} : tensor<4xi64> -> tensor<4xf32>
  %8 = tile.random %seed, %pos : tensor<4xi64> -> tensor<4xf32>
  // CHECK: tile.random %{{.*}}, %{{.*}} : i64 -> f32
  %9 = tile.random %seed, %v : i64 -> f32
  // CHECK: tile.round_tf32 %{{.*}} : tensor<4x8xf32>
  %10 = tile.round_tf32 %x : tensor<4x8xf32>
  // CHECK: tile.round_tf32 %{{.*}} : f32
  %11 = tile.round_tf32 %9 : f32
  // CHECK: tile.gelu %{{.*}} : tensor<4x8xf32>
  %12 = tile.gelu %x : tensor<4x8xf32>
  // CHECK: tile.gelu %{{.*}} : f32
  %13 = tile.gelu %9 : f32
  tile.return
}

// CHECK-LABEL: tile.kernel @attention
tile.kernel @attention(%Q: !tile.view<?x128xbf16>, %K: !tile.view<?x128xbf16>,
                       %V: !tile.view<?x64xbf16>, %scale: f32) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %q = tile.load %Q[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<?x128xbf16> -> tensor<32x128xbf16>
  // CHECK: tile.attention %{{.*}}, %{{.*}}, %{{.*}} scale %{{.*}} rows %{{.*}} kv_tile 64 score {
  // CHECK-NEXT: } mask {
  // CHECK-NEXT: } : tensor<32x128xbf16>, !tile.view<?x128xbf16>, !tile.view<?x64xbf16> -> tensor<32x64xf32>, tensor<32xf32>
  %o, %lse = tile.attention %q, %K, %V scale %scale rows %c0 kv_tile 64
      score {} mask {}
      : tensor<32x128xbf16>, !tile.view<?x128xbf16>, !tile.view<?x64xbf16>
      -> tensor<32x64xf32>, tensor<32xf32>
  // CHECK: tile.attention {{.*}} rows %{{.*}} valid %{{.*}} kv_tile 16 score {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK-NEXT: tile.yield %[[S]] : f32
  // CHECK-NEXT: } mask {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[J:.*]]: i64):
  // CHECK-NEXT: %[[M:.*]] = arith.cmpi sge, %[[I]], %[[J]] : i64
  // CHECK-NEXT: tile.yield %[[M]] : i1
  %o2, %lse2 = tile.attention %q, %K, %V scale %scale rows %c0 valid %c9
      kv_tile 16
      score { ^bb0(%s: f32, %i: i64, %j: i64): tile.yield %s : f32 }
      mask { ^bb0(%i: i64, %j: i64):
        %m = arith.cmpi sge, %i, %j : i64
        tile.yield %m : i1 }
      : tensor<32x128xbf16>, !tile.view<?x128xbf16>, !tile.view<?x64xbf16>
      -> tensor<32x64xf32>, tensor<32xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @debug
tile.kernel @debug(%g: i64, %on: i1) {
  %c4 = arith.constant 4 : index
  %x = arith.constant dense<0.0> : tensor<8x4xf32>
  // CHECK: tile.print "x", %{{.*}}, %{{.*}} valid[%{{.*}}, %{{.*}}] : tensor<8x4xf32>, i64
  tile.print "x", %x, %g valid[%c4, %c4] : tensor<8x4xf32>, i64
  // CHECK: tile.print "x", %{{.*}} {note} : tensor<8x4xf32>
  tile.print "x", %x {note} : tensor<8x4xf32>
  // CHECK: tile.in_bounds %{{.*}} of %{{.*}}
  %0 = tile.in_bounds %g of %c4
  // CHECK: tile.in_bounds %{{.*}} of %{{.*}} if %{{.*}}
  %1 = tile.in_bounds %g of %c4 if %on
  // CHECK: tile.assert %{{.*}}, "in range" : i1
  tile.assert %1, "in range" : i1
  // CHECK: tile.print "here"
  tile.print "here"
  // CHECK: tile.print "g =", %{{.*}} : i64
  tile.print "g =", %g : i64
  tile.return
}
