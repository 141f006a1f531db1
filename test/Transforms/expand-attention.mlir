// tile.attention written out.
// RUN: tilec-opt %s -tile-expand-attention -canonicalize -cse | FileCheck %s

// Without score function and mask, with a constant scale: the scale is part of
// the exponent's factor (0.5 * log2 e = 0.7213), and the keys that do not exist
// are -inf.
// CHECK-LABEL: tile.kernel @plain
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<0xFF800000> : tensor<32xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<32xf32>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<0.72134751> : tensor<32xf32>
// CHECK-DAG: %[[CC:.*]] = arith.constant dense<0.72134751> : tensor<32x16xf32>
// CHECK: %[[Q:.*]] = tile.load %Q
// CHECK: %[[T:.*]] = tile.dim %K, 0
// CHECK: %[[R:.*]]:3 = scf.for %[[J:.*]] = %c0 to %[[T]] step %c16 iter_args(%[[M:.*]] = %[[LOWEST]], %[[L:.*]] = %[[ZERO]], %[[O:.*]] = %[[ZEROS]])
// CHECK-NEXT: %[[V:.*]] = tile.valid %[[J]] to %[[T]] size 16
// CHECK-NEXT: %[[K:.*]] = tile.load %K[%[[J]], %c0] dims [0, 1] valid[%[[V]], %c4] pad zero
// CHECK-NEXT: %[[S:.*]] = tile.dot %[[Q]], %[[K]] contract [1] x [1] batch [] x [] precision ieee : tensor<32x4xbf16>, tensor<16x4xbf16> -> tensor<32x16xf32>
// CHECK-NEXT: %[[X:.*]] = tile.select_valid %[[S]] valid[%c32, %[[V]]] pad lowest
// CHECK-NEXT: %[[MT:.*]] = tile.reduce max %[[X]] axes [1]
// CHECK-NEXT: %[[MN:.*]] = arith.maximumf %[[M]], %[[MT]]
// CHECK-NEXT: %[[EMPTY:.*]] = arith.cmpf oeq, %[[MN]], %[[LOWEST]]
// CHECK-NEXT: %[[REF:.*]] = arith.select %[[EMPTY]], %[[ZERO]], %[[MN]]
// CHECK-NEXT: %[[REFB:.*]] = tile.broadcast %[[REF]] dims [0]
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[X]], %[[REFB]]
// CHECK-NEXT: %[[DM:.*]] = arith.subf %[[M]], %[[REF]]
// CHECK-NEXT: %[[EXP:.*]] = arith.mulf %[[D]], %[[CC]]
// CHECK-NEXT: %[[DIFF:.*]] = arith.mulf %[[DM]], %[[C]]
// CHECK-NEXT: %[[P:.*]] = math.exp2 %[[EXP]]
// CHECK-NEXT: %[[A:.*]] = math.exp2 %[[DIFF]]
// CHECK-NEXT: %[[ROW:.*]] = tile.reduce sum %[[P]] axes [1]
// CHECK-NEXT: %[[LA:.*]] = arith.mulf %[[L]], %[[A]]
// CHECK-NEXT: %[[LN:.*]] = arith.addf %[[LA]], %[[ROW]]
// CHECK-NEXT: %[[VT:.*]] = tile.load %V[%[[J]], %c0] dims [0, 1] valid[%[[V]], %c8] pad zero
// CHECK-NEXT: %[[PN:.*]] = arith.truncf %[[P]] : tensor<32x16xf32> to tensor<32x16xbf16>
// CHECK-NEXT: %[[AB:.*]] = tile.broadcast %[[A]] dims [0]
// CHECK-NEXT: %[[OA:.*]] = arith.mulf %[[O]], %[[AB]]
// CHECK-NEXT: %[[ON:.*]] = tile.dot %[[PN]], %[[VT]] acc %[[OA]] contract [1] x [0]
// CHECK-NEXT: scf.yield %[[MN]], %[[LN]], %[[ON]]
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[R]]#1, %[[ZERO]]
// CHECK-NEXT: %[[INV:.*]] = arith.divf %[[ONE]], %[[R]]#1
// CHECK-NEXT: %[[INVB:.*]] = tile.broadcast %[[INV]] dims [0]
// CHECK-NEXT: %[[RES:.*]] = arith.mulf %[[R]]#2, %[[INVB]]
// CHECK-NEXT: %[[NONEB:.*]] = tile.broadcast %[[NONE]] dims [0]
// CHECK-NEXT: %[[RESULT:.*]] = arith.select %[[NONEB]], %[[ZEROS]], %[[RES]]
// CHECK-NEXT: %[[NAT:.*]] = arith.mulf %[[R]]#0, %[[HALF]]
// CHECK-NEXT: %[[LOG:.*]] = math.log %[[R]]#1
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[NAT]], %[[LOG]]
// CHECK-NEXT: %[[LSE:.*]] = arith.select %[[NONE]], %[[LOWEST]], %[[SUM]]
// CHECK-NEXT: tile.print "result", %[[RESULT]], %[[LSE]]
tile.kernel @plain(%Q: !tile.view<32x4xbf16> {tile.name = "Q"},
                   %K: !tile.view<?x4xbf16> {tile.name = "K"},
                   %V: !tile.view<?x8xbf16> {tile.name = "V"}) {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %q = tile.load %Q[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<32x4xbf16> -> tensor<32x4xbf16>
  %o, %lse = tile.attention %q, %K, %V scale %half rows %c0 kv_tile 16
      score {} mask {}
      : tensor<32x4xbf16>, !tile.view<?x4xbf16>, !tile.view<?x8xbf16>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.print "result", %o, %lse : tensor<32x8xf32>, tensor<32xf32>
  tile.return
}

// A scale that is not known to be positive is multiplied in before the maximum.
// An lse that nobody wants is not computed.
// CHECK-LABEL: tile.kernel @unknown_scale
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK: %[[C:.*]] = arith.mulf %{{.*}}, %[[LOG2E]] : f32
// CHECK: %[[S:.*]] = tile.dot
// CHECK: %[[CS:.*]] = tensor.splat %[[C]] : tensor<32x16xf32>
// CHECK: %[[SC:.*]] = arith.mulf %[[S]], %[[CS]]
// CHECK: %[[X:.*]] = tile.select_valid %[[SC]]
// CHECK: %[[EXP:.*]] = arith.subf %[[X]], %{{.*}} : tensor<32x16xf32>
// CHECK-NOT: arith.mulf
// CHECK: math.exp2 %[[EXP]]
// CHECK-NOT: math.log
// CHECK-LABEL: tile.kernel @negative_scale
// CHECK: tile.dot
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tile.select_valid
tile.kernel @unknown_scale(%Q: !tile.view<32x4xf32>, %K: !tile.view<?x4xf32>,
                           %V: !tile.view<?x8xf32>, %scale: f32) {
  %c0 = arith.constant 0 : index
  %q = tile.load %Q[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<32x4xf32> -> tensor<32x4xf32>
  %o, %lse = tile.attention %q, %K, %V scale %scale rows %c0 kv_tile 16
      score {} mask {}
      : tensor<32x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.print "result", %o : tensor<32x8xf32>
  tile.return
}

tile.kernel @negative_scale(%Q: !tile.view<32x4xf32>, %K: !tile.view<?x4xf32>,
                            %V: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %scale = arith.constant -0.5 : f32
  %q = tile.load %Q[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<32x4xf32> -> tensor<32x4xf32>
  %o, %lse = tile.attention %q, %K, %V scale %scale rows %c0 kv_tile 16
      score {} mask {}
      : tensor<32x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.print "result", %o : tensor<32x8xf32>
  tile.return
}

// A scale that is computed from constants is constant: rsqrt(4) = 0.5.
// CHECK-LABEL: tile.kernel @computed_scale
// CHECK-DAG: %[[CC:.*]] = arith.constant dense<0.72134751> : tensor<32x16xf32>
// CHECK: tile.dot
// CHECK-NEXT: tile.select_valid
// CHECK: arith.mulf %{{.*}}, %[[CC]]
tile.kernel @computed_scale(%Q: !tile.view<32x4xf32>, %K: !tile.view<?x4xf32>,
                            %V: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %d = arith.constant 4 : i64
  %f = arith.sitofp %d : i64 to f32
  %scale = math.rsqrt %f : f32
  %q = tile.load %Q[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<32x4xf32> -> tensor<32x4xf32>
  %o, %lse = tile.attention %q, %K, %V scale %scale rows %c0 kv_tile 16
      score {} mask {}
      : tensor<32x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.print "result", %o : tensor<32x8xf32>
  tile.return
}

// A mask guards the whole step; its values that depend on rows alone are
// computed in front of the loop, and it is read where rows and keys exist.
// CHECK-LABEL: tile.kernel @masked
// CHECK-DAG: %[[YESR:.*]] = arith.constant dense<true> : tensor<32xi1>
// CHECK-DAG: %[[YESK:.*]] = arith.constant dense<true> : tensor<16xi1>
// CHECK: %[[ROWS:.*]] = tile.iota %[[I:.*]] : tensor<32xi64>
// CHECK-NEXT: %[[READR:.*]] = tile.select_valid %[[YESR]] valid[%[[VI:.*]]] pad zero
// CHECK-NEXT: %[[DQ:.*]] = tile.gather %D[%[[ROWS]]] mask %[[READR]]
// CHECK: scf.for %[[J:.*]] = %c0
// CHECK-NEXT: %[[VJ:.*]] = tile.valid %[[J]]
// CHECK-NEXT: %[[KEYS:.*]] = tile.iota %[[J]] : tensor<16xi64>
// CHECK-NEXT: %[[READK:.*]] = tile.select_valid %[[YESK]] valid[%[[VJ]]] pad zero
// CHECK-NEXT: %[[DK:.*]] = tile.gather %D[%[[KEYS]]] mask %[[READK]]
// CHECK-NEXT: %[[BQ:.*]] = tile.broadcast %[[DQ]] dims [0]
// CHECK-NEXT: %[[BK:.*]] = tile.broadcast %[[DK]] dims [1]
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[BQ]], %[[BK]] : tensor<32x16xi64>
// CHECK-NEXT: %[[SEEN:.*]] = tile.select_valid %[[SAME]] valid[%c32, %[[VJ]]] pad zero
// CHECK-NEXT: %[[ANY:.*]] = tile.reduce any %[[SEEN]] axes [0, 1]
// CHECK-NEXT: %[[VISIT:.*]] = tensor.extract %[[ANY]][]
// CHECK-NEXT: scf.if %[[VISIT]]
// CHECK-NEXT: tile.load %K
// CHECK-NEXT: %[[S:.*]] = tile.dot
// CHECK-NEXT: arith.select %[[SEEN]], %[[S]], %{{.*}} : tensor<32x16xi1>
// CHECK: } else {
// CHECK-NEXT: scf.yield
tile.kernel @masked(%Q: !tile.view<32x4xf32>, %K: !tile.view<?x4xf32> {tile.name = "K"},
                    %V: !tile.view<?x8xf32>, %D: !tile.view<?xi64> {tile.name = "D"},
                    %i0: i64, %n: i64) {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %i = arith.index_cast %i0 : i64 to index
  %vi = arith.index_cast %n : i64 to index
  %q = tile.load %Q[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<32x4xf32> -> tensor<32x4xf32>
  %o, %lse = tile.attention %q, %K, %V scale %half rows %i valid %vi kv_tile 16
      score {}
      mask { ^bb0(%a: i64, %b: i64):
        %da = tile.gather %D[%a] : !tile.view<?xi64>[i64] -> i64
        %db = tile.gather %D[%b] : !tile.view<?xi64>[i64] -> i64
        %same = arith.cmpi eq, %da, %db : i64
        tile.yield %same : i1 }
      : tensor<32x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.print "result", %o : tensor<32x8xf32>
  tile.return
}

// The score function reads only where the mask holds: by pairs, by keys that
// some row sees, by rows that see some key. What depends on neither is read
// once. Scalars from outside become tiles.
// CHECK-LABEL: tile.kernel @score
// CHECK: %[[SLOPE:.*]] = tile.gather %B[%{{.*}}] : !tile.view<?xf32>[i64] -> f32
// CHECK: scf.for
// CHECK: %[[SEEN:.*]] = tile.select_valid %{{.*}} valid[%c32, %{{.*}}] pad zero : tensor<32x16xi1>
// CHECK: scf.if
// CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<32x16xf32>
// CHECK: %[[SOME:.*]] = tile.select_valid %[[SEEN]] valid[%{{.*}}, %c16] pad zero
// CHECK: tile.gather %B[%{{.*}}] mask %[[SOME]] : !tile.view<?xf32>[tensor<32x16xi64>] mask tensor<32x16xi1>
// CHECK: %[[KEYS:.*]] = tile.reduce any %[[SOME]] axes [0]
// CHECK: %[[BK:.*]] = tile.gather %B[%{{.*}}] mask %[[KEYS]] : !tile.view<?xf32>[tensor<16xi64>] mask tensor<16xi1>
// CHECK: %[[ROWS:.*]] = tile.reduce any %[[SOME]] axes [1]
// CHECK: tile.gather %B[%{{.*}}] mask %[[ROWS]] : !tile.view<?xf32>[tensor<32xi64>] mask tensor<32xi1>
// CHECK: tile.broadcast %[[BK]] dims [1]
// CHECK: tensor.splat %[[SLOPE]] : tensor<32x16xf32>
// CHECK: arith.select %[[SEEN]]
tile.kernel @score(%Q: !tile.view<32x4xf32>, %K: !tile.view<?x4xf32>,
                   %V: !tile.view<?x8xf32>, %B: !tile.view<?xf32> {tile.name = "B"},
                   %n: i64, %h: i64, %scale: f32) {
  %c0 = arith.constant 0 : index
  %vi = arith.index_cast %n : i64 to index
  %q = tile.load %Q[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<32x4xf32> -> tensor<32x4xf32>
  %o, %lse = tile.attention %q, %K, %V scale %scale rows %c0 valid %vi kv_tile 16
      score { ^bb0(%s: f32, %a: i64, %b: i64):
        %d = arith.subi %a, %b : i64
        %0 = tile.gather %B[%d] : !tile.view<?xf32>[i64] -> f32
        %1 = tile.gather %B[%b] : !tile.view<?xf32>[i64] -> f32
        %2 = tile.gather %B[%a] : !tile.view<?xf32>[i64] -> f32
        %3 = tile.gather %B[%h] : !tile.view<?xf32>[i64] -> f32
        %4 = arith.addf %s, %0 : f32
        %5 = arith.addf %4, %1 : f32
        %6 = arith.addf %5, %2 : f32
        %7 = arith.addf %6, %3 : f32
        tile.yield %7 : f32 }
      mask { ^bb0(%a: i64, %b: i64):
        %m = arith.cmpi sge, %a, %b : i64
        tile.yield %m : i1 }
      : tensor<32x4xf32>, !tile.view<?x4xf32>, !tile.view<?x8xf32>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.print "result", %o, %lse : tensor<32x8xf32>, tensor<32xf32>
  tile.return
}

// f8 goes into the first product as it is, and into the second as f32; operands
// of two types become f32.
// CHECK-LABEL: tile.kernel @types
// CHECK: tile.dot %{{.*}} contract [1] x [1] {{.*}} : tensor<32x4xf8E4M3FN>, tensor<16x4xf8E5M2> -> tensor<32x16xf32>
// CHECK: %[[V:.*]] = arith.extf %{{.*}} : tensor<16x8xf8E4M3FN> to tensor<16x8xf32>
// CHECK: tile.dot %{{.*}}, %[[V]] acc {{.*}} : tensor<32x16xf32>, tensor<16x8xf32>, tensor<32x8xf32>
// CHECK: %[[H:.*]] = arith.extf %{{.*}} : tensor<32x4xf16> to tensor<32x4xf32>
// CHECK: tile.dot %[[H]], %{{.*}} : tensor<32x4xf32>, tensor<16x4xf32> -> tensor<32x16xf32>
// CHECK: arith.truncf %{{.*}} : tensor<16x8xf64> to tensor<16x8xf32>
tile.kernel @types(%Q: !tile.view<32x4xf8E4M3FN>, %K: !tile.view<?x4xf8E5M2>,
                   %V: !tile.view<?x8xf8E4M3FN>, %Q2: !tile.view<32x4xf16>,
                   %K2: !tile.view<?x4xf32>, %V2: !tile.view<?x8xf64>) {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %q = tile.load %Q[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<32x4xf8E4M3FN> -> tensor<32x4xf8E4M3FN>
  %o, %lse = tile.attention %q, %K, %V scale %half rows %c0 kv_tile 16
      score {} mask {}
      : tensor<32x4xf8E4M3FN>, !tile.view<?x4xf8E5M2>, !tile.view<?x8xf8E4M3FN>
      -> tensor<32x8xf32>, tensor<32xf32>
  %q2 = tile.load %Q2[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<32x4xf16> -> tensor<32x4xf16>
  %o2, %lse2 = tile.attention %q2, %K2, %V2 scale %half rows %c0 kv_tile 16
      score {} mask {}
      : tensor<32x4xf16>, !tile.view<?x4xf32>, !tile.view<?x8xf64>
      -> tensor<32x8xf32>, tensor<32xf32>
  tile.print "result", %o, %o2 : tensor<32x8xf32>, tensor<32x8xf32>
  tile.return
}
