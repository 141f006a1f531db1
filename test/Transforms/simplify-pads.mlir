// tile.select_valid that change nothing, and next to each one that does.
// RUN: tilec-opt %s -tile-simplify-pads | FileCheck %s

// What the load puts there.
// CHECK-LABEL: tile.kernel @load
// CHECK: %[[X:.*]] = tile.load %A
// CHECK-NEXT: tile.print "same", %[[X]]
// CHECK-NEXT: %[[W:.*]] = tile.select_valid %[[X]] valid[%{{.*}}, %c8] pad zero
// CHECK-NEXT: tile.print "other extent", %[[W]]
// CHECK-NEXT: %[[Y:.*]] = tile.select_valid %[[X]] valid[%{{.*}}, %c8] pad one
// CHECK-NEXT: tile.print "other pad", %[[Y]]
tile.kernel @load(%A: !tile.view<?x8xf32> {tile.name = "A"}, %n: i64, %m: i64) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %v = arith.index_cast %n : i64 to index
  %w = arith.index_cast %m : i64 to index
  %x = tile.load %A[%c0, %c0] dims [0, 1] valid [%v, %c8] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  %0 = tile.select_valid %x valid [%v, %c8] pad zero : tensor<4x8xf32>
  tile.print "same", %0 : tensor<4x8xf32>
  %1 = tile.select_valid %x valid [%w, %c8] pad zero : tensor<4x8xf32>
  tile.print "other extent", %1 : tensor<4x8xf32>
  %2 = tile.select_valid %x valid [%v, %c8] pad one : tensor<4x8xf32>
  tile.print "other pad", %2 : tensor<4x8xf32>
  tile.return
}

// A load that stops even earlier, by a minimum or a constant.
// CHECK-LABEL: tile.kernel @earlier
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "minimum"
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "constant"
// CHECK: tile.select_valid
// CHECK: tile.print "later"
tile.kernel @earlier(%A: !tile.view<?xf32>, %n: i64, %m: i64) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %v = arith.index_cast %n : i64 to index
  %w = arith.index_cast %m : i64 to index
  %min = arith.minsi %w, %v : index
  %x = tile.load %A[%c0] dims [0] valid [%min] pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %0 = tile.select_valid %x valid [%v] pad zero : tensor<4xf32>
  tile.print "minimum", %0 : tensor<4xf32>
  %y = tile.load %A[%c0] dims [0] valid [%c2] pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %1 = tile.select_valid %y valid [%c3] pad zero : tensor<4xf32>
  tile.print "constant", %1 : tensor<4xf32>
  %z = tile.load %A[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %2 = tile.select_valid %z valid [%min] pad zero : tensor<4xf32>
  tile.print "later", %2 : tensor<4xf32>
  tile.return
}

// A tile of 3 positions has at most 3 valid ones.
// CHECK-LABEL: tile.kernel @bounded
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "three"
// CHECK: tile.select_valid
// CHECK: tile.print "two"
tile.kernel @bounded(%A: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tile.dim %A, 0 : !tile.view<?xf32>
  %v = tile.valid %c0 to %n size 3
  %x = tile.load %A[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %0 = tile.select_valid %x valid [%c3] pad zero : tensor<4xf32>
  tile.print "three", %0 : tensor<4xf32>
  %1 = tile.select_valid %x valid [%c2] pad zero : tensor<4xf32>
  tile.print "two", %1 : tensor<4xf32>
  tile.return
}

// The load takes the pad, though it cuts off another axis too: those lanes are
// invalid with either pad. Not if the select cuts off more than the load.
// CHECK-LABEL: tile.kernel @another_axis
// CHECK: %[[X:.*]] = tile.load {{.*}} pad lowest
// CHECK-NEXT: tile.print "rows", %[[X]]
// CHECK: %[[Y:.*]] = tile.load {{.*}} pad zero
// CHECK-NEXT: %[[S:.*]] = tile.select_valid %[[Y]]
// CHECK-NEXT: tile.print "more", %[[S]]
tile.kernel @another_axis(%A: !tile.view<?x6xf32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %v = arith.index_cast %n : i64 to index
  %x = tile.load %A[%c0, %c0] dims [0, 1] valid [%v, %c6] pad zero
      : !tile.view<?x6xf32> -> tensor<4x8xf32>
  %0 = tile.select_valid %x valid [%c4, %c6] pad lowest : tensor<4x8xf32>
  tile.print "rows", %0 : tensor<4x8xf32>
  %y = tile.load %A[%c0, %c0] dims [0, 1] valid [%c4, %c6] pad zero
      : !tile.view<?x6xf32> -> tensor<4x8xf32>
  %1 = tile.select_valid %y valid [%v, %c6] pad lowest : tensor<4x8xf32>
  tile.print "more", %1 : tensor<4x8xf32>
  tile.return
}

// Elementwise ops on known numbers. 0 * x is not 0 where x may be infinite, and
// -1 * 0 is -0.
// CHECK-LABEL: tile.kernel @elementwise
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "0 * 0"
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "extf 0"
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "exp 0"
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "0 < 1 ? 1 : x"
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "exp2 -inf"
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "round 0"
// CHECK: tile.select_valid
// CHECK: tile.print "0 * x"
// CHECK: tile.select_valid
// CHECK: tile.print "0 + x"
// CHECK: tile.select_valid
// CHECK: tile.print "0 * -1"
// CHECK: tile.select_valid
// CHECK: tile.print "-inf - -inf"
tile.kernel @elementwise(%A: !tile.view<?xbf16>, %B: !tile.view<?xf32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %v = arith.index_cast %n : i64 to index
  %a = tile.load %A[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xbf16> -> tensor<4xbf16>
  %x = arith.extf %a : tensor<4xbf16> to tensor<4xf32>
  %b = tile.load %B[%c0] dims [0] pad undef : !tile.view<?xf32> -> tensor<4xf32>
  %inf = tile.load %B[%c0] dims [0] valid [%v] pad lowest
      : !tile.view<?xf32> -> tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>

  %0 = arith.mulf %x, %x : tensor<4xf32>
  %1 = tile.select_valid %0 valid [%v] pad zero : tensor<4xf32>
  tile.print "0 * 0", %1 : tensor<4xf32>
  %2 = tile.select_valid %x valid [%v] pad zero : tensor<4xf32>
  tile.print "extf 0", %2 : tensor<4xf32>
  %3 = math.exp %x : tensor<4xf32>
  %4 = tile.select_valid %3 valid [%v] pad one : tensor<4xf32>
  tile.print "exp 0", %4 : tensor<4xf32>
  %5 = arith.cmpf olt, %x, %one : tensor<4xf32>
  %6 = arith.select %5, %one, %b : tensor<4xi1>, tensor<4xf32>
  %7 = tile.select_valid %6 valid [%v] pad one : tensor<4xf32>
  tile.print "0 < 1 ? 1 : x", %7 : tensor<4xf32>
  %8 = math.exp2 %inf : tensor<4xf32>
  %9 = tile.select_valid %8 valid [%v] pad zero : tensor<4xf32>
  tile.print "exp2 -inf", %9 : tensor<4xf32>
  %10 = tile.round_tf32 %x : tensor<4xf32>
  %11 = tile.select_valid %10 valid [%v] pad zero : tensor<4xf32>
  tile.print "round 0", %11 : tensor<4xf32>

  %20 = arith.mulf %x, %b : tensor<4xf32>
  %21 = tile.select_valid %20 valid [%v] pad zero : tensor<4xf32>
  tile.print "0 * x", %21 : tensor<4xf32>
  %22 = arith.addf %x, %b : tensor<4xf32>
  %23 = tile.select_valid %22 valid [%v] pad zero : tensor<4xf32>
  tile.print "0 + x", %23 : tensor<4xf32>
  %minus = arith.constant dense<-1.0> : tensor<4xf32>
  %24 = arith.mulf %x, %minus : tensor<4xf32>
  %25 = tile.select_valid %24 valid [%v] pad zero : tensor<4xf32>
  tile.print "0 * -1", %25 : tensor<4xf32>
  %26 = arith.subf %inf, %inf : tensor<4xf32>
  %27 = tile.select_valid %26 valid [%v] pad zero : tensor<4xf32>
  tile.print "-inf - -inf", %27 : tensor<4xf32>
  tile.return
}

// Integers and conditions have absorbing elements, on either side.
// CHECK-LABEL: tile.kernel @absorbing
// CHECK-NOT: tile.select_valid
// CHECK: tile.return
tile.kernel @absorbing(%A: !tile.view<?xi32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %v = arith.index_cast %n : i64 to index
  %a = tile.load %A[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xi32> -> tensor<4xi32>
  %b = tile.load %A[%c0] dims [0] pad undef : !tile.view<?xi32> -> tensor<4xi32>
  %0 = arith.muli %a, %b : tensor<4xi32>
  %1 = tile.select_valid %0 valid [%v] pad zero : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %p = arith.cmpi ne, %a, %zero : tensor<4xi32>
  %q = arith.cmpi slt, %b, %zero : tensor<4xi32>
  %2 = arith.andi %p, %q : tensor<4xi1>
  %3 = tile.select_valid %2 valid [%v] pad zero : tensor<4xi1>
  tile.print "zero", %1, %3 : tensor<4xi32>, tensor<4xi1>
  tile.return
}

// Each axis has its own extent; where one is known, only the other is looked at.
// CHECK-LABEL: tile.kernel @axes
// CHECK: %[[VI:.*]] = arith.index_cast %[[N:.*]] : i64 to index
// CHECK: %[[VJ:.*]] = arith.index_cast
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: tile.select_valid %{{.*}} valid[%[[C4]], %[[VJ]]] pad zero : tensor<4x8xf32>
tile.kernel @axes(%A: !tile.view<?xf32>, %n: i64, %m: i64) {
  %c0 = arith.constant 0 : index
  %vi = arith.index_cast %n : i64 to index
  %vj = arith.index_cast %m : i64 to index
  %x = tile.load %A[%c0] dims [0] valid [%vi] pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %b = tile.broadcast %x dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %s = tile.select_valid %b valid [%vi, %vj] pad zero : tensor<4x8xf32>
  tile.print "s", %s : tensor<4x8xf32>
  tile.return
}

// Through a transposition, reductions of the other axis, gathers and branches.
// CHECK-LABEL: tile.kernel @through
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "sum"
// CHECK: tile.select_valid %{{.*}} : tensor<4xi1>
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "gather"
// CHECK-NOT: tile.select_valid
// CHECK: tile.print "branch"
// CHECK: tile.select_valid
// CHECK: tile.print "own axis"
// CHECK: tile.select_valid
// CHECK: tile.print "sum of ones"
// CHECK: tile.select_valid
// CHECK: tile.print "dot"
tile.kernel @through(%A: !tile.view<?x8xf32>, %I: !tile.view<?xi64>, %n: i64,
                     %p: i1) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %v = arith.index_cast %n : i64 to index
  %x = tile.load %A[%c0, %c0] dims [0, 1] valid [%v, %c8] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  %t = tile.broadcast %x dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %sum = tile.reduce sum %t axes [0] : tensor<8x4xf32> -> tensor<4xf32>
  %0 = tile.select_valid %sum valid [%v] pad zero : tensor<4xf32>
  tile.print "sum", %0 : tensor<4xf32>

  %yes = arith.constant dense<true> : tensor<4xi1>
  %m = tile.select_valid %yes valid [%v] pad zero : tensor<4xi1>
  %i = tile.iota %c0 : tensor<4xi64>
  %g = tile.gather %I[%i] mask %m
      : !tile.view<?xi64>[tensor<4xi64>] mask tensor<4xi1> -> tensor<4xi64>
  %1 = tile.select_valid %g valid [%v] pad zero : tensor<4xi64>
  // The mask's own is needed, and stays in front.
  tile.print "gather", %1 : tensor<4xi64>

  %b = scf.if %p -> tensor<4x8xf32> {
    scf.yield %x : tensor<4x8xf32>
  } else {
    %xx = arith.addf %x, %x : tensor<4x8xf32>
    scf.yield %xx : tensor<4x8xf32>
  }
  %2 = tile.select_valid %b valid [%v, %c8] pad zero : tensor<4x8xf32>
  tile.print "branch", %2 : tensor<4x8xf32>

  %c = tile.scan sum %x axis 0 : tensor<4x8xf32>
  %3 = tile.select_valid %c valid [%v, %c8] pad zero : tensor<4x8xf32>
  tile.print "own axis", %3 : tensor<4x8xf32>

  %e = math.exp %x : tensor<4x8xf32>
  %es = tile.reduce sum %e axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %4 = tile.select_valid %es valid [%v] pad one : tensor<4xf32>
  tile.print "sum of ones", %4 : tensor<4xf32>

  %d = tile.dot %x, %x contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  %c4 = arith.constant 4 : index
  %5 = tile.select_valid %d valid [%v, %c4] pad zero : tensor<4x4xf32>
  tile.print "dot", %5 : tensor<4x4xf32>
  tile.return
}

// A value carried by a loop has another tile in the next iteration.
// CHECK-LABEL: tile.kernel @carried
// CHECK: scf.for
// CHECK: tile.select_valid
tile.kernel @carried(%A: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %r = scf.for %i = %c0 to %N step %c4 iter_args(%before = %zero)
      -> tensor<4xf32> {
    %v = tile.valid %i to %N size 4
    %x = tile.load %A[%i] dims [0] valid [%v] pad zero
        : !tile.view<?xf32> -> tensor<4xf32>
    %s = tile.select_valid %before valid [%v] pad zero : tensor<4xf32>
    tile.print "before", %s : tensor<4xf32>
    scf.yield %x : tensor<4xf32>
  }
  tile.return
}

// The pad goes into a load that has no other use, through conversions.
// CHECK-LABEL: tile.kernel @push
// CHECK: %[[X:.*]] = tile.load {{.*}} pad lowest : !tile.view<?xf32>
// CHECK-NEXT: tile.print "direct", %[[X]]
// CHECK-NEXT: %[[Y:.*]] = tile.load {{.*}} pad lowest : !tile.view<?xbf16>
// CHECK-NEXT: %[[E:.*]] = arith.extf %[[Y]]
// CHECK-NEXT: tile.print "extf", %[[E]]
// CHECK-NEXT: %[[Z:.*]] = tile.load {{.*}} pad zero : !tile.view<?xf32>
// CHECK-NEXT: %[[EXP:.*]] = math.exp %[[Z]]
// CHECK-NEXT: tile.print "exp", %[[EXP]]
tile.kernel @push(%A: !tile.view<?xf32>, %B: !tile.view<?xbf16>, %n: i64) {
  %c0 = arith.constant 0 : index
  %v = arith.index_cast %n : i64 to index
  %x = tile.load %A[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %0 = tile.select_valid %x valid [%v] pad lowest : tensor<4xf32>
  tile.print "direct", %0 : tensor<4xf32>
  %y = tile.load %B[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xbf16> -> tensor<4xbf16>
  %e = arith.extf %y : tensor<4xbf16> to tensor<4xf32>
  %1 = tile.select_valid %e valid [%v] pad lowest : tensor<4xf32>
  tile.print "extf", %1 : tensor<4xf32>
  %z = tile.load %A[%c0] dims [0] valid [%v] pad undef
      : !tile.view<?xf32> -> tensor<4xf32>
  %exp = math.exp %z : tensor<4xf32>
  %2 = tile.select_valid %exp valid [%v] pad one : tensor<4xf32>
  tile.print "exp", %2 : tensor<4xf32>
  tile.return
}

// Not if the load is used elsewhere, has a predicate (its pad then shows in
// valid lanes), stops elsewhere, or has no number that becomes the pad: f8E4M3FN
// has no infinity, and i8 not the least i32.
// CHECK-LABEL: tile.kernel @no_push
// CHECK-COUNT-5: tile.select_valid
tile.kernel @no_push(%A: !tile.view<?xf32>, %B: !tile.view<?xf8E4M3FN>,
                     %C: !tile.view<?xi8>, %n: i64, %m: i64, %p: i1) {
  %c0 = arith.constant 0 : index
  %v = arith.index_cast %n : i64 to index
  %w = arith.index_cast %m : i64 to index
  %x = tile.load %A[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %0 = tile.select_valid %x valid [%v] pad lowest : tensor<4xf32>
  tile.print "used", %x, %0 : tensor<4xf32>, tensor<4xf32>
  %y = tile.load %A[%c0] dims [0] valid [%v] if %p pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %1 = tile.select_valid %y valid [%v] pad lowest : tensor<4xf32>
  tile.print "predicate", %1 : tensor<4xf32>
  %z = tile.load %A[%c0] dims [0] valid [%w] pad zero
      : !tile.view<?xf32> -> tensor<4xf32>
  %2 = tile.select_valid %z valid [%v] pad lowest : tensor<4xf32>
  tile.print "extent", %2 : tensor<4xf32>
  %b = tile.load %B[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xf8E4M3FN> -> tensor<4xf8E4M3FN>
  %be = arith.extf %b : tensor<4xf8E4M3FN> to tensor<4xf32>
  %3 = tile.select_valid %be valid [%v] pad lowest : tensor<4xf32>
  tile.print "f8", %3 : tensor<4xf32>
  %c = tile.load %C[%c0] dims [0] valid [%v] pad zero
      : !tile.view<?xi8> -> tensor<4xi8>
  %ce = arith.extsi %c : tensor<4xi8> to tensor<4xi32>
  %4 = tile.select_valid %ce valid [%v] pad lowest : tensor<4xi32>
  tile.print "i8", %4 : tensor<4xi32>
  tile.return
}

// Ops that skip invalid lanes themselves.
// CHECK-LABEL: tile.kernel @unread
// CHECK: %[[X:.*]] = tile.load
// CHECK: tile.store %[[X]], %A[%c0] dims [0] valid[%[[V:.*]]] :
// CHECK-NEXT: tile.atomic_add %[[X]], %A[%c0] dims [0] valid[%[[V]]] :
// CHECK-NEXT: tile.arg_reduce max %[[X]] axis 0 valid %[[V]]
// CHECK: %[[S:.*]] = tile.select_valid %[[X]]
// CHECK-NEXT: tile.store %[[S]], %A[%c0] dims [0] :
// CHECK-NEXT: tile.arg_reduce max %[[S]] axis 0 :
tile.kernel @unread(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %v = arith.index_cast %n : i64 to index
  %x = tile.load %A[%c0] dims [0] pad undef : !tile.view<?xf32> -> tensor<4xf32>
  %0 = tile.select_valid %x valid [%v] pad zero : tensor<4xf32>
  tile.store %0, %A[%c0] dims [0] valid [%v] : tensor<4xf32>, !tile.view<?xf32>
  tile.atomic_add %0, %A[%c0] dims [0] valid [%v]
      : tensor<4xf32>, !tile.view<?xf32>
  %i = tile.arg_reduce max %0 axis 0 valid %v : tensor<4xf32> -> tensor<i64>
  tile.print "i", %i : tensor<i64>
  %1 = tile.select_valid %x valid [%v] pad one : tensor<4xf32>
  tile.store %1, %A[%c0] dims [0] : tensor<4xf32>, !tile.view<?xf32>
  %j = tile.arg_reduce max %1 axis 0 : tensor<4xf32> -> tensor<i64>
  tile.print "j", %j : tensor<i64>
  tile.return
}

// A product's result may have more axes than either operand; what the invalid
// lanes of those hold says nothing of its own.
// CHECK-LABEL: tile.kernel @product
// CHECK: tile.dot
// CHECK-NEXT: tile.select_valid
tile.kernel @product(%A: !tile.view<2x4x8xf32> {tile.name = "A"}, %B: !tile.view<4x8xf32> {tile.name = "B"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %v = arith.index_cast %n : i64 to index
  %a = tile.load %A[%c0, %c0, %c0] dims [0, 1, 2] pad zero
      : !tile.view<2x4x8xf32> -> tensor<2x4x8xf32>
  %b = tile.load %B[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<4x8xf32> -> tensor<4x8xf32>
  %d = tile.dot %a, %b contract [2] x [1] batch [] x [] precision ieee
      : tensor<2x4x8xf32>, tensor<4x8xf32> -> tensor<2x4x4xf32>
  %0 = tile.select_valid %d valid [%c2, %c4, %v] pad zero : tensor<2x4x4xf32>
  tile.print "d", %0 : tensor<2x4x4xf32>
  tile.return
}
