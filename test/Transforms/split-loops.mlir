// Loops over tiles divided into ranges. Bounds are canonicalized, so that they
// can be read.
// RUN: tilec-opt %s -tile-split-loops -canonicalize -cse | FileCheck %s
// RUN: tilec-opt %s -tile-split-loops --remarks-filter=tile-split-loops \
// RUN:   --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// The tiles that end before the axis does, and the one that may not.
// CHECK-LABEL: tile.kernel @tail
// CHECK: %[[N:.*]] = tile.dim %A, 0
// CHECK: %[[Q:.*]] = arith.floordivsi %[[N]], %c64
// CHECK: %[[FULL:.*]] = arith.muli %[[Q]], %c64
// CHECK: scf.for %[[I:.*]] = %c0 to %[[FULL]] step %c64
// CHECK-NEXT: %[[X:.*]] = tile.load %A[%[[I]]] dims [0] pad zero
// CHECK-NEXT: tile.store %[[X]], %A[%[[I]]] dims [0] :
// CHECK-NEXT: {tile.range = "full"}
// CHECK: scf.for %[[I:.*]] = %[[FULL]] to %{{.*}} step %c64
// CHECK-NEXT: %[[V:.*]] = tile.valid %[[I]] to %[[N]] size 64
// CHECK-NEXT: %[[X:.*]] = tile.load %A[%[[I]]] dims [0] valid[%[[V]]] pad zero
// CHECK-NEXT: tile.store %[[X]], %A[%[[I]]] dims [0] valid[%[[V]]]
// CHECK-NEXT: {tile.range = "partial"}
// REMARK: [[@LINE+5]]:3: remark: [Passed] split {{.*}} Function=tail {{.*}}"split into full, partial: visits [0, N), full in [0, N)"
tile.kernel @tail(%A: !tile.view<?xf32> {tile.name = "A", tile.dims = ["N"]}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  scf.for %i = %c0 to %N step %c64 {
    %v = tile.valid %i to %N size 64
    %x = tile.load %A[%i] dims [0] valid [%v] pad zero
        : !tile.view<?xf32> -> tensor<64xf32>
    tile.store %x, %A[%i] dims [0] valid [%v]
        : tensor<64xf32>, !tile.view<?xf32>
  }
  tile.return
}

// What a loop carries goes through both, in order.
// CHECK-LABEL: tile.kernel @carried
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INIT:.*]]) -> (tensor<64xf32>)
// CHECK: %[[S:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[R]]) -> (tensor<64xf32>)
// CHECK: tile.print "sum", %[[S]]
tile.kernel @carried(%A: !tile.view<?xf32> {tile.name = "A", tile.dims = ["N"]}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %sum = scf.for %i = %c0 to %N step %c64 iter_args(%s = %zero)
      -> tensor<64xf32> {
    %v = tile.valid %i to %N size 64
    %x = tile.load %A[%i] dims [0] valid [%v] pad zero
        : !tile.view<?xf32> -> tensor<64xf32>
    %t = arith.addf %s, %x : tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  tile.print "sum", %sum : tensor<64xf32>
  tile.return
}

// Constant extents: two full tiles, and one of 72 - 64 = 8.
// CHECK-LABEL: tile.kernel @constant
// CHECK: scf.for %[[I:.*]] = %c0 to %c64 step %c32
// CHECK-NEXT: tile.load %A[%[[I]]] dims [0] pad zero
// CHECK-NOT: scf.for
// CHECK: tile.load %A[%c64] dims [0] valid[%c8] pad zero
tile.kernel @constant(%A: !tile.view<72xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c72 = arith.constant 72 : index
  scf.for %i = %c0 to %c72 step %c32 {
    %v = tile.valid %i to %c72 size 32
    %x = tile.load %A[%i] dims [0] valid [%v] pad zero
        : !tile.view<72xf32> -> tensor<32xf32>
    tile.print "x", %x : tensor<32xf32>
  }
  tile.return
}

// Below the diagonal everything is visible, on it some, above it nothing.
// CHECK-LABEL: tile.kernel @causal
// CHECK: scf.forall (%[[I:.*]]) =
// CHECK: %[[FULL:.*]] = arith.minsi %[[I]], %{{.*}}
// CHECK: %[[A:.*]] = scf.for %[[J:.*]] = %c0 to %[[FULL]] step %c64 iter_args(%[[S:.*]] =
// CHECK-NOT: arith.cmpi
// CHECK-NOT: arith.select
// CHECK-NOT: scf.if
// CHECK: arith.addf %[[S]], %[[S]]
// CHECK: {tile.range = "full"}
// CHECK: %[[END:.*]] = arith.addi %[[I]], %c128
// CHECK: %[[VISIT:.*]] = arith.minsi %[[END]], %{{.*}}
// CHECK: scf.for %[[J:.*]] = %[[FULL]] to %[[VISIT]] step %c64 iter_args(%{{.*}} = %[[A]])
// CHECK: %[[M:.*]] = arith.cmpi sge
// CHECK: tile.reduce any
// CHECK: scf.if
// CHECK: arith.select %[[M]]
// CHECK: {tile.range = "partial"}
// REMARK: remark: [Passed] split {{.*}} Function=causal {{.*}}"split into full, partial: visits [0, min(N, v{{.}} + 128)), full in [0, min(N, v{{.}} + 1))"
tile.kernel @causal(%A: !tile.view<?xf32> {tile.name = "A", tile.dims = ["N"]}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  scf.forall (%i) = (0) to (%N) step (128) {
    %rows = tile.iota %i : tensor<128xi64>
    %bi = tile.broadcast %rows dims [0] : tensor<128xi64> -> tensor<128x64xi64>
    %r = scf.for %j = %c0 to %N step %c64 iter_args(%s = %zero)
        -> tensor<128x64xf32> {
      %cols = tile.iota %j : tensor<64xi64>
      %bj = tile.broadcast %cols dims [1] : tensor<64xi64> -> tensor<128x64xi64>
      %m = arith.cmpi sge, %bi, %bj : tensor<128x64xi64>
      %v = tile.valid %j to %N size 64
      %c128 = arith.constant 128 : index
      %seen = tile.select_valid %m valid [%c128, %v] pad zero : tensor<128x64xi1>
      %any = tile.reduce any %seen axes [0, 1] : tensor<128x64xi1> -> tensor<i1>
      %visit = tensor.extract %any[] : tensor<i1>
      %n = scf.if %visit -> tensor<128x64xf32> {
        %t = arith.addf %s, %s : tensor<128x64xf32>
        %u = arith.select %m, %t, %zero : tensor<128x64xi1>, tensor<128x64xf32>
        scf.yield %u : tensor<128x64xf32>
      } else {
        scf.yield %s : tensor<128x64xf32>
      }
      scf.yield %n : tensor<128x64xf32>
    }
    tile.print "r", %r : tensor<128x64xf32>
  }
  tile.return
}

// A window has a masked tile at either end; where it is full, both halves of
// the conjunction are.
// CHECK-LABEL: tile.kernel @window
// CHECK: scf.for %{{.*}} = %[[LO:.*]] to %[[FULL:.*]] step
// CHECK: {tile.range = "partial"}
// CHECK: scf.for %{{.*}} = %[[FULL]] to %[[FULLEND:.*]] step
// CHECK-NEXT: tile.print "m", %[[TRUE:.*]], %[[TRUE]], %[[TRUE]]
// CHECK-NEXT: {tile.range = "full"}
// CHECK: scf.for %{{.*}} = %[[FULLEND]] to %{{.*}} step
// CHECK: {tile.range = "partial"}
// REMARK: remark: [Passed] split {{.*}} Function=window {{.*}}"split into partial, full, partial: visits [max(0, v{{.}} - w + 1), min(N, v{{.}} + 128)), full in [max(0, v{{.}} - w + 128), min(N, v{{.}} + 1))"
tile.kernel @window(%A: !tile.view<?xf32> {tile.name = "A", tile.dims = ["N"]},
                    %w: i64 {tile.name = "w"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %ws = tensor.splat %w : tensor<128x64xi64>
  scf.forall (%i) = (0) to (%N) step (128) {
    %rows = tile.iota %i : tensor<128xi64>
    %bi = tile.broadcast %rows dims [0] : tensor<128xi64> -> tensor<128x64xi64>
    scf.for %j = %c0 to %N step %c64 {
      %cols = tile.iota %j : tensor<64xi64>
      %bj = tile.broadcast %cols dims [1] : tensor<64xi64> -> tensor<128x64xi64>
      %m0 = arith.cmpi sge, %bi, %bj : tensor<128x64xi64>
      %d = arith.subi %bi, %bj : tensor<128x64xi64>
      %m1 = arith.cmpi slt, %d, %ws : tensor<128x64xi64>
      %m = arith.andi %m0, %m1 : tensor<128x64xi1>
      %any = tile.reduce any %m axes [0, 1] : tensor<128x64xi1> -> tensor<i1>
      %visit = tensor.extract %any[] : tensor<i1>
      scf.if %visit {
        tile.print "m", %m, %m0, %m1
            : tensor<128x64xi1>, tensor<128x64xi1>, tensor<128x64xi1>
      }
    }
  }
  tile.return
}

// A value that nothing is known of leaves no tile full, but its conjunction
// with a causal mask ends where that does.
// CHECK-LABEL: tile.kernel @documents
// CHECK: scf.forall (%[[I:.*]]) =
// CHECK-DAG: %[[END:.*]] = arith.addi %[[I]], %c128
// CHECK: %[[VISIT:.*]] = arith.minsi %[[END]], %{{.*}}
// CHECK: scf.for %{{.*}} = %c0 to %[[VISIT]] step %c64
// CHECK-NOT: tile.range = "full"
// CHECK: {tile.range = "partial"}
// REMARK: remark: [Passed] split {{.*}} Function=documents {{.*}}"split into partial: visits [0, min(N, v{{.}} + 128))"
tile.kernel @documents(%D: !tile.view<?xi64> {tile.name = "D", tile.dims = ["N"]}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %D, 0 : !tile.view<?xi64>
  scf.forall (%i) = (0) to (%N) step (128) {
    %rows = tile.iota %i : tensor<128xi64>
    %di = tile.gather %D[%rows] : !tile.view<?xi64>[tensor<128xi64>] -> tensor<128xi64>
    %bi = tile.broadcast %rows dims [0] : tensor<128xi64> -> tensor<128x64xi64>
    %bdi = tile.broadcast %di dims [0] : tensor<128xi64> -> tensor<128x64xi64>
    scf.for %j = %c0 to %N step %c64 {
      %cols = tile.iota %j : tensor<64xi64>
      %dj = tile.gather %D[%cols] : !tile.view<?xi64>[tensor<64xi64>] -> tensor<64xi64>
      %bj = tile.broadcast %cols dims [1] : tensor<64xi64> -> tensor<128x64xi64>
      %bdj = tile.broadcast %dj dims [1] : tensor<64xi64> -> tensor<128x64xi64>
      %m0 = arith.cmpi sge, %bi, %bj : tensor<128x64xi64>
      %m1 = arith.cmpi eq, %bdi, %bdj : tensor<128x64xi64>
      %m = arith.andi %m0, %m1 : tensor<128x64xi1>
      %any = tile.reduce any %m axes [0, 1] : tensor<128x64xi1> -> tensor<i1>
      %visit = tensor.extract %any[] : tensor<i1>
      scf.if %visit {
        tile.print "m", %m : tensor<128x64xi1>
      }
    }
  }
  tile.return
}

// Blocks along the diagonal, by floor division; a quotient that is compared
// through `n - n / c * c` is a remainder, and periodic masks stay.
// CHECK-LABEL: tile.kernel @blocks
// CHECK: scf.forall (%[[I:.*]]) =
// CHECK: scf.for %{{.*}} = %[[I]] to %{{.*}} step %c64
// CHECK-NEXT: tile.print "block"
// CHECK-NEXT: {tile.range = "full"}
// REMARK: remark: [Passed] split {{.*}} Function=blocks {{.*}}"split into full, partial: visits [v{{.}}, min(N, v{{.}} + 128)), full in [v{{.}}, min(N, v{{.}} + 128))"
// REMARK: remark: [Missed] not-split {{.*}} Function=periodic {{.*}}"no tile is known to be free of the mask"
tile.kernel @blocks(%A: !tile.view<?xf32> {tile.name = "A", tile.dims = ["N"]}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %s128 = arith.constant dense<128> : tensor<128x64xi64>
  scf.forall (%i) = (0) to (%N) step (128) {
    %rows = tile.iota %i : tensor<128xi64>
    %bi = tile.broadcast %rows dims [0] : tensor<128xi64> -> tensor<128x64xi64>
    %qi = arith.floordivsi %bi, %s128 : tensor<128x64xi64>
    scf.for %j = %c0 to %N step %c64 {
      %cols = tile.iota %j : tensor<64xi64>
      %bj = tile.broadcast %cols dims [1] : tensor<64xi64> -> tensor<128x64xi64>
      %qj = arith.floordivsi %bj, %s128 : tensor<128x64xi64>
      %m = arith.cmpi eq, %qi, %qj : tensor<128x64xi64>
      %any = tile.reduce any %m axes [0, 1] : tensor<128x64xi1> -> tensor<i1>
      %visit = tensor.extract %any[] : tensor<i1>
      scf.if %visit {
        tile.print "block", %m : tensor<128x64xi1>
      }
    }
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @periodic
// CHECK-NOT: tile.range
tile.kernel @periodic(%A: !tile.view<?xf32> {tile.name = "A", tile.dims = ["N"]}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %two = arith.constant dense<2> : tensor<64xi64>
  %zero = arith.constant dense<0> : tensor<64xi64>
  scf.for %j = %c0 to %N step %c64 {
    %cols = tile.iota %j : tensor<64xi64>
    %q = arith.floordivsi %cols, %two : tensor<64xi64>
    %p = arith.muli %q, %two : tensor<64xi64>
    %r = arith.subi %cols, %p : tensor<64xi64>
    %m = arith.cmpi eq, %r, %zero : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "even", %m : tensor<64xi1>
    }
  }
  tile.return
}

// A remainder within one period is the position itself.
// CHECK-LABEL: tile.kernel @one_period
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c64
// CHECK-NEXT: tile.print "low"
// CHECK-NEXT: {tile.range = "full"}
// CHECK-NOT: scf.for
tile.kernel @one_period(%A: !tile.view<256xf32> {tile.name = "A"}, %x: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %k = arith.constant dense<512> : tensor<64xi64>
  %n = tensor.splat %x : tensor<64xi64>
  %lim = arith.constant dense<128> : tensor<64xi64>
  scf.for %j = %c0 to %c256 step %c64 {
    %cols = tile.iota %j : tensor<64xi64>
    %q = arith.floordivsi %cols, %k : tensor<64xi64>
    %p = arith.muli %k, %q : tensor<64xi64>
    %r = arith.subi %cols, %p : tensor<64xi64>
    %m = arith.cmpi slt, %r, %lim : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "low", %m : tensor<64xi1>
    }
  }
  tile.return
}

// Positions one by one: the loop's variable is the position, the guard a
// scalar.
// CHECK-LABEL: tile.kernel @positions
// CHECK: scf.for %[[J:.*]] = %c0 to %{{.*}} step %c1
// CHECK-NEXT: %[[K:.*]] = arith.index_cast %[[J]]
// CHECK-NEXT: tile.print "j", %[[K]]
// CHECK-NEXT: {tile.range = "full"}
// CHECK-NOT: scf.for
tile.kernel @positions(%A: !tile.view<?xf32> {tile.name = "A", tile.dims = ["N"]},
                       %n: i64 {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  scf.for %j = %c0 to %N step %c1 {
    %k = arith.index_cast %j : index to i64
    %m = arith.cmpi slt, %k, %n : i64
    scf.if %m {
      tile.print "j", %k : i64
    }
  }
  tile.return
}

// Without a guard every tile is visited, but where the mask is true it goes.
// CHECK-LABEL: tile.kernel @unguarded
// CHECK: scf.for %{{.*}} = %c0 to %[[FULL:.*]] step %c64
// CHECK-NEXT: tile.print "t"
// CHECK-NEXT: {tile.range = "full"}
// CHECK: scf.for %{{.*}} = %[[FULL]] to %{{.*}} step %c64
// CHECK: arith.select
// CHECK: {tile.range = "partial"}
// REMARK: remark: [Passed] split {{.*}} Function=unguarded {{.*}}"split into full, partial: visits [0, N), full in [0, min(N, n))"
tile.kernel @unguarded(%A: !tile.view<?xf32> {tile.name = "A", tile.dims = ["N"]},
                       %n: i64 {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %lim = tensor.splat %n : tensor<64xi64>
  scf.for %j = %c0 to %N step %c64 {
    %cols = tile.iota %j : tensor<64xi64>
    %m = arith.cmpi slt, %cols, %lim : tensor<64xi64>
    %t = arith.select %m, %one, %two : tensor<64xi1>, tensor<64xf32>
    tile.print "t", %t : tensor<64xf32>
  }
  tile.return
}
