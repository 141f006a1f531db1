// Long axes in chunks: the loops, what they carry and what they share.
// RUN: tilec-opt %s -tile-loop-long-axes=max-elements=64 -canonicalize -cse \
// RUN:     -split-input-file | FileCheck %s
// RUN: tilec-opt %s -tile-loop-long-axes=max-elements=64 -split-input-file \
// RUN:     --remarks-filter=tile-loop-long-axes \
// RUN:     --remark-format=emitRemark 2>&1 >/dev/null \
// RUN:     | FileCheck %s --check-prefix=REMARK
// RUN: tilec-opt %s -tile-loop-long-axes=max-elements=64 -canonicalize -cse \
// RUN:     -tile-split-loops -canonicalize -cse -split-input-file \
// RUN:     | FileCheck %s --check-prefix=UNROLL
// With room enough nothing happens.
// RUN: tilec-opt %s -tile-loop-long-axes=max-elements=20000 -canonicalize \
// RUN:     -cse -split-input-file | FileCheck %s --check-prefix=SAME
// SAME-NOT: {{step %c(64|16)}}

// Two loops for an RMS normalization: the sum, then the store, each from the
// load on. 200 is three chunks of 64 and one of 8.
// CHECK-LABEL: tile.kernel @rmsnorm
// CHECK: scf.forall
// CHECK: %[[S:.*]] = scf.for %[[N:.*]] = %c0{{.*}} to %c200{{.*}} step %c64{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (f32)
// CHECK:   %[[V:.*]] = tile.valid %[[N]] to %c200{{.*}} size 64
// CHECK:   %[[X:.*]] = tile.load %X[%{{.*}}, %[[N]]] dims [1] valid[%[[V]]] pad zero : {{.*}} -> tensor<64xf32>
// CHECK:   %[[Q:.*]] = arith.mulf %[[X]], %[[X]] : tensor<64xf32>
// CHECK:   %[[P:.*]] = tile.select_valid %[[Q]] valid[%[[V]]] pad zero
// CHECK:   %[[R:.*]] = tile.reduce sum %[[P]] axes [0]
// CHECK:   %[[E:.*]] = tensor.extract %[[R]][]
// CHECK:   %[[T:.*]] = arith.addf %[[A]], %[[E]] : f32
// CHECK:   scf.yield %[[T]]
// CHECK: math.rsqrt %[[S]] : f32
// CHECK: scf.for %[[N:.*]] = %c0{{.*}} to %c200{{.*}} step %c64
// CHECK-NOT: iter_args
// CHECK:   %[[X:.*]] = tile.load %X{{.*}} {tile.reread = 1 : index}
// CHECK:   %[[Y:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<64xf32>
// CHECK:   tile.store %[[Y]], %Y[%{{.*}}, %[[N]]] dims [1] valid[%{{.*}}]
// CHECK-NOT: scf.for
// REMARK: axis 'N' (extent 200) in chunks of 64, 2 loops
tile.kernel @rmsnorm(%X: !tile.view<?x200xf32> {tile.name = "X", tile.dims = ["M", "N"]},
                     %Y: !tile.view<?x200xf32> {tile.name = "Y", tile.dims = ["M", "N"]}) {
  %c0 = arith.constant 0 : index
  %M = tile.dim %X, 0 : !tile.view<?x200xf32>
  scf.forall (%m) in (%M) {
    %x = tile.load %X[%m, %c0] dims [1] pad zero
        : !tile.view<?x200xf32> -> tensor<200xf32>
    %q = arith.mulf %x, %x : tensor<200xf32>
    %s = tile.reduce sum %q axes [0] : tensor<200xf32> -> tensor<f32>
    %e = tensor.extract %s[] : tensor<f32>
    %r = math.rsqrt %e : f32
    %b = tensor.splat %r : tensor<200xf32>
    %y = arith.mulf %x, %b : tensor<200xf32>
    tile.store %y, %Y[%m, %c0] dims [1]
        : tensor<200xf32>, !tile.view<?x200xf32>
  }
  tile.return
}

// -----

// A softmax: the maximum and the sum in one loop, the store in another. 256 is
// a multiple of the chunk, and there is nothing to cut off.
// CHECK-LABEL: tile.kernel @softmax
// CHECK-NOT: tile.valid
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} step %c16{{.*}} iter_args(%[[M:.*]] = %[[LOWEST:.*]], %[[L:.*]] = %[[ZERO:.*]]) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:   %[[X:.*]] = tile.load {{.*}} -> tensor<4x16xf32>
// CHECK:   %[[MX:.*]] = tile.reduce max %[[X]] axes [1]
// CHECK:   %[[M2:.*]] = arith.maximumf %[[M]], %[[MX]]
// CHECK:   %[[C:.*]] = arith.cmpf oeq, %[[M2]], %[[LOWEST]]
// CHECK:   %[[REF:.*]] = arith.select %[[C]], %[[ZERO]], %[[M2]]
// CHECK:   %[[B:.*]] = tile.broadcast %[[REF]] dims [0]
// CHECK:   %[[D:.*]] = arith.subf %[[X]], %[[B]]
// CHECK:   %[[E:.*]] = math.exp %[[D]] : tensor<4x16xf32>
// CHECK:   %[[D2:.*]] = arith.subf %[[M]], %[[REF]]
// CHECK:   %[[A:.*]] = math.exp %[[D2]] : tensor<4xf32>
// CHECK:   %[[L2:.*]] = arith.mulf %[[L]], %[[A]]
// CHECK:   %[[S:.*]] = tile.reduce sum %[[E]] axes [1]
// CHECK:   %[[L3:.*]] = arith.addf %[[L2]], %[[S]]
// CHECK:   scf.yield %[[M2]], %[[L3]]
// CHECK: arith.cmpf oeq, %[[R]]#0, %{{.*}}
// CHECK: scf.for
// CHECK:   tile.load
// CHECK:   arith.subf
// CHECK:   math.exp
// CHECK:   arith.divf %{{.*}}, %{{.*}} : tensor<4x16xf32>
// CHECK:   tile.store
// CHECK-NOT: scf.for
// REMARK: axis 'N' (extent 256) in chunks of 16, 2 loops
tile.kernel @softmax(%X: !tile.view<4x256xf32> {tile.name = "X", tile.dims = ["", "N"]},
                     %Y: !tile.view<4x256xf32>) {
  %c0 = arith.constant 0 : index
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // A grid takes the axis of rows.
  scf.forall (%m) = (0) to (4) step (4) {
    %x = tile.load %X[%m, %c0] dims [0, 1] pad zero
        : !tile.view<4x256xf32> -> tensor<4x256xf32>
    %max = tile.reduce max %x axes [1] : tensor<4x256xf32> -> tensor<4xf32>
    %c = arith.cmpf oeq, %max, %lowest : tensor<4xf32>
    %r = arith.select %c, %zero, %max : tensor<4xi1>, tensor<4xf32>
    %rb = tile.broadcast %r dims [0] : tensor<4xf32> -> tensor<4x256xf32>
    %d = arith.subf %x, %rb : tensor<4x256xf32>
    %e = math.exp %d : tensor<4x256xf32>
    %s = tile.reduce sum %e axes [1] : tensor<4x256xf32> -> tensor<4xf32>
    %sb = tile.broadcast %s dims [0] : tensor<4xf32> -> tensor<4x256xf32>
    %p = arith.divf %e, %sb : tensor<4x256xf32>
    tile.store %p, %Y[%m, %c0] dims [0, 1]
        : tensor<4x256xf32>, !tile.view<4x256xf32>
  }
  tile.return
}

// -----

// Not the online form: one sum is relative to something else than the maximum,
// the other of another tile. (They share a loop since their axis is one
// dimension.)
// CHECK-LABEL: tile.kernel @not_online
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: scf.for {{.*}} -> (f32, f32)
// CHECK-NOT: scf.for
// REMARK: axis 'N' (extent 256) in chunks of 64, 2 loops
tile.kernel @not_online(%X: !tile.view<256xf32> {tile.dims = ["N"]},
                        %W: !tile.view<256xf32> {tile.dims = ["N"]},
                        %Y: !tile.view<f32>, %Z: !tile.view<f32>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<256xf32> -> tensor<256xf32>
  %w = tile.load %W[%c0] dims [0] pad zero : !tile.view<256xf32> -> tensor<256xf32>
  %max = tile.reduce max %x axes [0] : tensor<256xf32> -> tensor<f32>
  %m = tensor.extract %max[] : tensor<f32>
  %twice = arith.mulf %m, %two : f32
  %tb = tensor.splat %twice : tensor<256xf32>
  %mb = tensor.splat %m : tensor<256xf32>
  %d0 = arith.subf %x, %tb : tensor<256xf32>
  %d1 = arith.subf %w, %mb : tensor<256xf32>
  %e0 = math.exp %d0 : tensor<256xf32>
  %e1 = math.exp %d1 : tensor<256xf32>
  %s0 = tile.reduce sum %e0 axes [0] : tensor<256xf32> -> tensor<f32>
  %s1 = tile.reduce sum %e1 axes [0] : tensor<256xf32> -> tensor<f32>
  tile.store %s0, %Y[] dims [] : tensor<f32>, !tile.view<f32>
  tile.store %s1, %Z[] dims [] : tensor<f32>, !tile.view<f32>
  tile.return
}

// -----

// What needs nothing of each other shares a loop: a store, a maximum, the place
// of it, a product, a running sum. The load is done once.
// CHECK-LABEL: tile.kernel @share
// CHECK: scf.for %[[N:.*]] = {{.*}} iter_args(%[[C:[^ ]*]] = %{{[^,]*}}, %[[M:[^ ]*]] = %{{[^,]*}}, %[[BEST:[^ ]*]] = %{{[^,]*}}, %[[AT:[^ ]*]] = %c-1_i64, %[[DOT:[^ ]*]] = %{{.*}}) -> (f32, f32, f32, i64, tensor<f32>)
// CHECK:   %[[X:.*]] = tile.load %X
// CHECK-NOT: tile.load %X
// CHECK:   tile.store %{{.*}}, %Y[%[[N]]]
// CHECK:   %[[SCAN:.*]] = tile.scan sum %[[X]] axis 0
// CHECK:   %[[OUT:.*]] = arith.addf %{{.*}}, %[[SCAN]] : tensor<64xf32>
// CHECK:   %[[SUM:.*]] = tile.reduce sum %[[X]] axes [0]
// CHECK:   tile.store %[[OUT]], %Z[%[[N]]]
// CHECK:   tile.arg_reduce max %[[X]] axis 0
// CHECK:   tile.dot %[[X]], %{{.*}} acc %[[DOT]] contract [0] x [0]
// CHECK:   scf.yield
// CHECK-NOT: scf.for
tile.kernel @share(%X: !tile.view<128xf32> {tile.name = "X"},
                   %W: !tile.view<128xf32>,
                   %Y: !tile.view<128xf32> {tile.name = "Y"},
                   %Z: !tile.view<128xf32> {tile.name = "Z"},
                   %P: !tile.view<3xf32>, %I: !tile.view<1xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  %w = tile.load %W[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  %y = arith.addf %x, %w : tensor<128xf32>
  tile.store %y, %Y[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  %m = tile.reduce max %x axes [0] : tensor<128xf32> -> tensor<f32>
  tile.store %m, %P[%c0] dims [] : tensor<f32>, !tile.view<3xf32>
  %z = tile.scan sum %x axis 0 : tensor<128xf32>
  tile.store %z, %Z[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  %i = tile.arg_reduce max %x axis 0 : tensor<128xf32> -> tensor<i64>
  tile.store %i, %I[%c0] dims [] : tensor<i64>, !tile.view<1xi64>
  %d = tile.dot %x, %w contract [0] x [0] batch [] x [] precision ieee
      : tensor<128xf32>, tensor<128xf32> -> tensor<f32>
  tile.store %d, %P[%c1] dims [] : tensor<f32>, !tile.view<3xf32>
  tile.return
}

// -----

// Elements get masks in the last chunk; positions and valid extents move.
// CHECK-LABEL: tile.kernel @elements
// CHECK: scf.for %[[N:.*]] = %c0
// CHECK:   %[[W:.*]] = tile.valid %[[N]] to %[[NV:[0-9]+]] size 64
// CHECK:   %[[V:.*]] = tile.valid %[[N]] to %c100{{.*}} size 64
// CHECK-DAG: %[[I:.*]] = tile.iota %[[N]] : tensor<64xi64>
// CHECK:   %[[K:.*]] = tile.select_valid %{{.*}} valid[%[[V]]] pad zero : tensor<64xi1>
// CHECK:   %[[G:.*]] = tile.gather %X[%[[I]]] mask %[[K]]
// CHECK:   %[[U:.*]] = tile.select_valid %[[G]] valid[%[[W]]] pad one
// CHECK:   %[[AT:.*]] = arith.addi %[[N]], %c5
// CHECK:   tile.store %[[U]], %Y[%[[AT]]] dims [0] valid[%[[V]]]
// CHECK:   %[[T:.*]] = tile.select_valid %{{.*}} valid[%[[V]]] pad one : tensor<64xi1>
// CHECK:   tile.assert %[[T]], "positive"
// CHECK:   tile.scatter_add %{{.*}} mask %[[K2:.*]] :
tile.kernel @elements(%X: !tile.view<?xf32> {tile.name = "X"},
                      %Y: !tile.view<?xf32> {tile.name = "Y"},
                      %Z: !tile.view<?xf32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %v = arith.index_cast %n : i64 to index
  %zero = arith.constant dense<0.0> : tensor<100xf32>
  %i = tile.iota %c0 : tensor<100xi64>
  %g = tile.gather %X[%i] : !tile.view<?xf32>[tensor<100xi64>] -> tensor<100xf32>
  %u = tile.select_valid %g valid [%v] pad one : tensor<100xf32>
  tile.store %u, %Y[%c5] dims [0] : tensor<100xf32>, !tile.view<?xf32>
  %ok = arith.cmpf ogt, %u, %zero : tensor<100xf32>
  tile.assert %ok, "positive" : tensor<100xi1>
  tile.scatter_add %u, %Z[%i] mask %ok
      : tensor<100xf32>, !tile.view<?xf32>[tensor<100xi64>] mask tensor<100xi1>
  tile.return
}

// -----

// In place: the old values are needed for the mean and for both stores. The
// store to %X waits for the second loop.
// CHECK-LABEL: tile.kernel @inplace
// CHECK: scf.for
// CHECK-NOT: tile.store
// CHECK: scf.yield
// CHECK: scf.for
// CHECK:   %[[X:.*]] = tile.load %X
// CHECK:   %[[D:.*]] = arith.addf %[[X]], %[[X]]
// CHECK:   tile.store %[[D]], %X
// CHECK:   %[[C:.*]] = arith.subf %[[X]]
// CHECK:   tile.store %[[C]], %Y
// CHECK-NOT: scf.for
tile.kernel @inplace(%X: !tile.view<128xf32> {tile.name = "X", tile.access = #tile.access<inout>},
                     %Y: !tile.view<128xf32> {tile.name = "Y"}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  %d = arith.addf %x, %x : tensor<128xf32>
  tile.store %d, %X[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  %s = tile.reduce sum %x axes [0] : tensor<128xf32> -> tensor<f32>
  %e = tensor.extract %s[] : tensor<f32>
  %b = tensor.splat %e : tensor<128xf32>
  %c = arith.subf %x, %b : tensor<128xf32>
  tile.store %c, %Y[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  tile.return
}

// -----

// What is written is read again: in the same loop if it is the same block, else
// in a later one.
// CHECK-LABEL: tile.kernel @written
// CHECK: scf.for
// CHECK:   tile.load %X
// CHECK:   tile.store %{{.*}}, %Y
// CHECK:   %[[Y:.*]] = tile.load %Y
// CHECK:   tile.reduce max %[[Y]]
// CHECK: scf.yield
// CHECK: scf.for
// CHECK:   %[[G:.*]] = tile.gather %Y
// CHECK:   tile.reduce sum %[[G]]
// CHECK-NOT: scf.for
tile.kernel @written(%X: !tile.view<128xf32> {tile.name = "X", tile.dims = ["N"]},
                     %Y: !tile.view<128xf32> {tile.name = "Y", tile.access = #tile.access<inout>,
                       tile.dims = ["N"]},
                     %I: !tile.view<128xi64> {tile.dims = ["N"]}, %P: !tile.view<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  %d = arith.addf %x, %x : tensor<128xf32>
  tile.store %d, %Y[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  %y = tile.load %Y[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  %m = tile.reduce max %y axes [0] : tensor<128xf32> -> tensor<f32>
  tile.store %m, %P[%c0] dims [] : tensor<f32>, !tile.view<2xf32>
  %i = tile.load %I[%c0] dims [0] pad zero : !tile.view<128xi64> -> tensor<128xi64>
  %g = tile.gather %Y[%i] : !tile.view<128xf32>[tensor<128xi64>] -> tensor<128xf32>
  %s = tile.reduce sum %g axes [0] : tensor<128xf32> -> tensor<f32>
  tile.store %s, %P[%c1] dims [] : tensor<f32>, !tile.view<2xf32>
  tile.return
}

// -----

// A loop of the kernel that needs the long tile of a row computes its chunks
// there. Nothing of it is left outside.
// CHECK-LABEL: tile.kernel @nested
// CHECK-NOT: tile.load
// CHECK: scf.for %[[T:.*]] = %c0{{.*}} to %c8
// CHECK-NEXT: %[[S:.*]] = scf.for %[[N:.*]] = %c0{{.*}} to %c128{{.*}} step %c64
// CHECK:     tile.load %X[%[[N]]]
// CHECK:     tile.load %W[%[[T]], %[[N]]]
// CHECK:     tile.reduce sum
// CHECK:   tile.store %{{.*}}, %Y[%[[T]]]
tile.kernel @nested(%X: !tile.view<128xf32> {tile.name = "X"},
                    %W: !tile.view<8x128xf32> {tile.name = "W"},
                    %Y: !tile.view<8xf32> {tile.name = "Y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32>
  scf.for %t = %c0 to %c8 step %c1 {
    %w = tile.load %W[%t, %c0] dims [1] pad zero
        : !tile.view<8x128xf32> -> tensor<128xf32>
    %p = arith.mulf %x, %w : tensor<128xf32>
    %s = tile.reduce sum %p axes [0] : tensor<128xf32> -> tensor<f32>
    tile.store %s, %Y[%t] dims [] : tensor<f32>, !tile.view<8xf32>
  }
  tile.return
}

// -----

// Two long axes. The sums over one of them have the other, which is divided
// first, so that its loop is around.
// CHECK-LABEL: tile.kernel @two
// CHECK: scf.for %[[M:.*]] = %c0{{.*}} to %c100{{.*}} step %c1{{.*}} {
// CHECK:   scf.for %[[N:.*]] = %c0{{.*}} to %c200{{.*}} step %c64
// CHECK:     tile.load {{.*}}[%[[M]], %[[N]]] {{.*}} -> tensor<1x64xf32>
// CHECK:     tile.reduce sum {{.*}} tensor<1x64xf32> -> tensor<1xf32>
// CHECK:   tile.store {{.*}} : tensor<1xf32>
// REMARK: axis 'M' (extent 100) in chunks of 1, 1 loop
// REMARK: axis 'N' (extent 200) in chunks of 64, 1 loop
tile.kernel @two(%X: !tile.view<100x200xf32> {tile.dims = ["M", "N"]},
                 %Y: !tile.view<100xf32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero
      : !tile.view<100x200xf32> -> tensor<100x200xf32>
  %s = tile.reduce sum %x axes [1] : tensor<100x200xf32> -> tensor<100xf32>
  tile.store %s, %Y[%c0] dims [0] : tensor<100xf32>, !tile.view<100xf32>
  tile.return
}

// -----

// What a loop carries stays whole while it is not too long. (The other operand
// of the product is divided: it has an axis of its own.)
// CHECK-LABEL: tile.kernel @carried
// CHECK: scf.for {{.*}} -> (tensor<128xf32>)
// CHECK: tile.load {{.*}} -> tensor<128xf32>
tile.kernel @carried(%X: !tile.view<8x128xf32>, %Y: !tile.view<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant dense<0.0> : tensor<128xf32>
  %s = scf.for %t = %c0 to %c8 step %c1 iter_args(%a = %z) -> tensor<128xf32> {
    %x = tile.load %X[%t, %c0] dims [1] pad zero
        : !tile.view<8x128xf32> -> tensor<128xf32>
    %n = arith.addf %a, %x : tensor<128xf32>
    scf.yield %n : tensor<128xf32>
  }
  tile.store %s, %Y[%c0] dims [0] : tensor<128xf32>, !tile.view<128xf32>
  tile.return
}

// -----

// Two chunks are unrolled: the second sum reads them again, rather than that
// both stay in registers.
// UNROLL-LABEL: tile.kernel @reads_again
// UNROLL: tile.load %X[{{.*}}, %c0]
// UNROLL: tile.load %X[{{.*}}, %c64]
// UNROLL: tile.load %X[{{.*}}, %c0] {{.*}}tile.reread
// UNROLL: tile.load %X[{{.*}}, %c64] {{.*}}tile.reread
// REMARK: axis 'N' (extent 100) in chunks of 64, 2 loops
tile.kernel @reads_again(%X: !tile.view<?x100xf32> {tile.name = "X", tile.dims = ["M", "N"], tile.access = #tile.access<in>},
                         %Y: !tile.view<?x100xf32> {tile.name = "Y", tile.dims = ["M", "N"], tile.access = #tile.access<out>}) {
  %c0 = arith.constant 0 : index
  %M = tile.dim %X, 0 : !tile.view<?x100xf32>
  scf.forall (%m) in (%M) {
    %x = tile.load %X[%m, %c0] dims [1] pad zero
        : !tile.view<?x100xf32> -> tensor<100xf32>
    %s = tile.reduce sum %x axes [0] : tensor<100xf32> -> tensor<f32>
    %e = tensor.extract %s[] : tensor<f32>
    %b = tensor.splat %e : tensor<100xf32>
    %y = arith.mulf %x, %b : tensor<100xf32>
    tile.store %y, %Y[%m, %c0] dims [1]
        : tensor<100xf32>, !tile.view<?x100xf32>
  }
  tile.return
}
