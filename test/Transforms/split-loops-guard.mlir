// When tiles may be left out: only if they do nothing when the guard is false.
// In each kernel the mask is `j < n` in a loop to N.
// RUN: tilec-opt %s -tile-split-loops -canonicalize -cse | FileCheck %s

// Reads outside the guard may be left out.
// CHECK-LABEL: tile.kernel @reads
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK: {tile.range = "full"}
// CHECK: {tile.range = "partial"}
tile.kernel @reads(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %lim = tensor.splat %n : tensor<64xi64>
  scf.for %j = %c0 to %N step %c64 {
    %p = tile.iota %j : tensor<64xi64>
    %m = arith.cmpi slt, %p, %lim : tensor<64xi64>
    %x = tile.load %A[%j] dims [0] pad zero : !tile.view<?xf32> -> tensor<64xf32>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "x", %x : tensor<64xf32>
    }
  }
  tile.return
}

// A write outside the guard may not; nothing selects by the mask, so the loop
// stays whole.
// CHECK-LABEL: tile.kernel @writes
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step
// CHECK: scf.if
// CHECK-NOT: tile.range
tile.kernel @writes(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %lim = tensor.splat %n : tensor<64xi64>
  scf.for %j = %c0 to %N step %c64 {
    %p = tile.iota %j : tensor<64xi64>
    %m = arith.cmpi slt, %p, %lim : tensor<64xi64>
    tile.print "visited"
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<64xi1>
    }
  }
  tile.return
}

// Nor if the loop goes on with something else when the guard is false, or with
// what is computed outside it.
// CHECK-LABEL: tile.kernel @otherwise
// CHECK-NOT: tile.range
// CHECK-LABEL: tile.kernel @counts
// CHECK-NOT: tile.range
// CHECK-LABEL: tile.kernel @else_writes
// CHECK-NOT: tile.range
// CHECK-LABEL: tile.kernel @swapped
// CHECK-NOT: tile.range
// CHECK-LABEL: tile.kernel @passes_through
tile.kernel @otherwise(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %lim = tensor.splat %n : tensor<64xi64>
  %r = scf.for %j = %c0 to %N step %c64 iter_args(%s = %zero) -> i64 {
    %p = tile.iota %j : tensor<64xi64>
    %m = arith.cmpi slt, %p, %lim : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    %t = scf.if %visit -> i64 {
      tile.print "m", %m : tensor<64xi1>
      scf.yield %one : i64
    } else {
      scf.yield %zero : i64
    }
    scf.yield %t : i64
  }
  tile.print "r", %r : i64
  tile.return
}

tile.kernel @counts(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %lim = tensor.splat %n : tensor<64xi64>
  %r = scf.for %j = %c0 to %N step %c64 iter_args(%s = %zero) -> i64 {
    %p = tile.iota %j : tensor<64xi64>
    %m = arith.cmpi slt, %p, %lim : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<64xi1>
    }
    %t = arith.addi %s, %one : i64
    scf.yield %t : i64
  }
  tile.print "r", %r : i64
  tile.return
}

tile.kernel @else_writes(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %lim = tensor.splat %n : tensor<64xi64>
  scf.for %j = %c0 to %N step %c64 {
    %p = tile.iota %j : tensor<64xi64>
    %m = arith.cmpi slt, %p, %lim : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<64xi1>
    } else {
      tile.print "none"
    }
  }
  tile.return
}

tile.kernel @swapped(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %lim = tensor.splat %n : tensor<64xi64>
  %r:2 = scf.for %j = %c0 to %N step %c64 iter_args(%s = %zero, %t = %one)
      -> (i64, i64) {
    %p = tile.iota %j : tensor<64xi64>
    %m = arith.cmpi slt, %p, %lim : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    %n0:2 = scf.if %visit -> (i64, i64) {
      tile.print "m", %m : tensor<64xi1>
      scf.yield %n, %n : i64, i64
    } else {
      scf.yield %s, %t : i64, i64
    }
    scf.yield %n0#1, %n0#0 : i64, i64
  }
  tile.print "r", %r#0, %r#1 : i64, i64
  tile.return
}

// A value that no iteration changes is no obstacle.
// CHECK: {tile.range = "full"}
// CHECK: {tile.range = "partial"}
tile.kernel @passes_through(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i64
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %lim = tensor.splat %n : tensor<64xi64>
  %r:2 = scf.for %j = %c0 to %N step %c64 iter_args(%s = %zero, %k = %n)
      -> (i64, i64) {
    %p = tile.iota %j : tensor<64xi64>
    %m = arith.cmpi slt, %p, %lim : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    %t = scf.if %visit -> i64 {
      tile.print "m", %m : tensor<64xi1>
      %u = arith.addi %s, %k : i64
      scf.yield %u : i64
    } else {
      scf.yield %s : i64
    }
    scf.yield %t, %k : i64, i64
  }
  tile.print "r", %r#0 : i64
  tile.return
}

// Rows of the mask that do not exist do not count, so the guard is kept where
// it is not known that any row exists, and dropped where it is.
// CHECK-LABEL: tile.kernel @rows
// CHECK: {tile.range = "full"}
// CHECK-LABEL: tile.kernel @some_row
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: {tile.range = "full"}
tile.kernel @rows(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64, %v: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %vi = arith.index_cast %v : i64 to index
  %lim = tensor.splat %n : tensor<32x64xi64>
  // CHECK: scf.for
  // CHECK: scf.if
  scf.for %j = %c0 to %N step %c64 {
    %p = tile.iota %j : tensor<64xi64>
    %b = tile.broadcast %p dims [1] : tensor<64xi64> -> tensor<32x64xi64>
    %m = arith.cmpi slt, %b, %lim : tensor<32x64xi64>
    %seen = tile.select_valid %m valid [%vi, %c64] pad zero : tensor<32x64xi1>
    %any = tile.reduce any %seen axes [0, 1] : tensor<32x64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<32x64xi1>
    }
  }
  tile.return
}

tile.kernel @some_row(%A: !tile.view<?xf32> {tile.name = "A"}, %n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  %lim = tensor.splat %n : tensor<32x64xi64>
  scf.forall (%i) = (0) to (%N) step (32) {
    %vi = tile.valid %i to %N size 32
    scf.for %j = %c0 to %N step %c64 {
      %p = tile.iota %j : tensor<64xi64>
      %b = tile.broadcast %p dims [1] : tensor<64xi64> -> tensor<32x64xi64>
      %m = arith.cmpi slt, %b, %lim : tensor<32x64xi64>
      %seen = tile.select_valid %m valid [%vi, %c64] pad zero : tensor<32x64xi1>
      %any = tile.reduce any %seen axes [0, 1] : tensor<32x64xi1> -> tensor<i1>
      %visit = tensor.extract %any[] : tensor<i1>
      scf.if %visit {
        tile.print "m", %m : tensor<32x64xi1>
      }
    }
  }
  tile.return
}
