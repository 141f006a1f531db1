// RUN: tilec-opt --tilegpu-pipeline-loops %s | FileCheck %s
// RUN: tilec-opt --tilegpu-pipeline-loops="shared-budget=1000" %s | FileCheck %s --check-prefix=SMALL
// RUN: tilec-opt --tilegpu-pipeline-loops="limit=600 shared-budget=1000" %s | FileCheck %s --check-prefix=LIMIT
// RUN: tilec-opt --tilegpu-pipeline-loops %s --remarks-filter=".*" --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// What is copied ahead, and what stays where it is.

#l = #tilegpu.layout<registers = [[0, 1], [0, 2]], lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>
!buffer = !tilegpu.buffer<1 x 8x16xf32, phase_rows = 1, phases = 1>

// Three stages: copies for two iterations in front, each if there is such an
// iteration, committed in any case; within, the copy for the iteration two ahead
// into the slot that was read last.

// CHECK-LABEL: tile.kernel @three
// CHECK: %[[A:.*]] = tilegpu.alloc "A" : <3 x 8x16xf32, phase_rows = 1, phases = 1>
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %c0{{.*}}, %[[N:.*]] : index
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT: tilegpu.async_copy %{{.*}}[%c0{{.*}}, %c0{{.*}}] dims [0, 1], %[[A]][%[[S0:.*]]] vector 16
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.commit
// CHECK: %[[AT1:.*]] = arith.constant 8 : index
// CHECK: %[[SECOND:.*]] = arith.cmpi slt, %[[AT1]], %[[N]] : index
// CHECK-NEXT: scf.if %[[SECOND]] {
// CHECK-NEXT: tilegpu.async_copy %{{.*}}[%[[AT1]], %c0{{.*}}] dims [0, 1], %[[A]][%[[S1:.*]]] vector 16
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.commit
// CHECK: %[[AHEAD:.*]] = arith.constant 16 : index
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0{{.*}} to %[[N]] step %c8{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[READ:.*]] = %{{.*}}, %[[WRITE:.*]] = %{{.*}})
// CHECK-NEXT: tilegpu.wait 1
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[I]], %[[AHEAD]]
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[NEXT]], %[[N]]
// CHECK-NEXT: scf.if %[[EXISTS]] {
// CHECK-NEXT: tilegpu.async_copy %{{.*}}[%[[NEXT]], %c0{{.*}}] dims [0, 1], %[[A]][%[[WRITE]]] vector 16
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.commit
// CHECK-NOT: tilegpu.wait
// CHECK: tilegpu.local_load %[[A]][%[[READ]]]
// CHECK: arith.addi %[[READ]], %{{.*}}
// CHECK: arith.select
// CHECK: arith.addi %[[WRITE]], %{{.*}}
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tilegpu.wait 0

// A schedule is obeyed, whatever room there is.
// SMALL-LABEL: tile.kernel @three
// SMALL: tilegpu.alloc "A" : <3 x
// LIMIT-LABEL: tile.kernel @three
// LIMIT: tilegpu.alloc "A" : <3 x
tile.kernel @three(%A: !tile.view<?x16xf32> {tile.name = "A"}) attributes {tile.schedule = #tile.schedule<{stages = 3 : i64}>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %N = tile.dim %A, 0 : !tile.view<?x16xf32>
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  scf.forall (%p) in (1) {
    %r = scf.for %i = %c0 to %N step %c8 iter_args(%sum = %zero) -> (tensor<8x16xf32, #l>) {
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%i, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      %s = arith.addf %sum, %x : tensor<8x16xf32, #l>
      scf.yield %s : tensor<8x16xf32, #l>
    }
    tile.print "sum", %r : tensor<8x16xf32, #l>
  }
  tile.return
}

// Without one there are up to four, fewer where less fits, and none if the
// thread block has no room for two.

// CHECK-LABEL: tile.kernel @default
// CHECK: tilegpu.alloc "A" : <4 x
// CHECK-COUNT-3: tilegpu.commit
// CHECK: scf.for %
// CHECK-NEXT: tilegpu.wait 2
// SMALL-LABEL: tile.kernel @default
// SMALL: tilegpu.alloc "A" : <2 x
// SMALL-COUNT-1: tilegpu.commit
// SMALL: scf.for %
// SMALL-NEXT: tilegpu.wait 0
// LIMIT-LABEL: tile.kernel @default
// LIMIT: scf.for %
// LIMIT-NEXT: tilegpu.alloc "A" : <1 x
// LIMIT: tilegpu.wait 0
tile.kernel @default(%A: !tile.view<?x16xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %N = tile.dim %A, 0 : !tile.view<?x16xf32>
  scf.forall (%p) in (1) {
    scf.for %i = %c0 to %N step %c8 {
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%i, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      tile.print "x", %x : tensor<8x16xf32, #l>
    }
  }
  tile.return
}

// What a position is computed from is computed for the iteration ahead too.

// CHECK-LABEL: tile.kernel @computed
// CHECK: scf.if
// CHECK-NEXT: %[[VALID:.*]] = tile.valid %c0{{.*}} to %[[N:.*]] size 8
// CHECK-NEXT: tilegpu.async_copy %{{.*}} valid[%[[VALID]], %c16]
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]]
// CHECK: scf.if
// CHECK-NEXT: %[[AHEAD:.*]] = tile.valid %[[NEXT]] to %[[N]] size 8
// CHECK-NEXT: tilegpu.async_copy %{{.*}} valid[%[[AHEAD]], %c16]
tile.kernel @computed(%A: !tile.view<?x16xf32> {tile.name = "A"}) attributes {tile.schedule = #tile.schedule<{stages = 2 : i64}>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %N = tile.dim %A, 0 : !tile.view<?x16xf32>
  scf.forall (%p) in (1) {
    scf.for %i = %c0 to %N step %c8 {
      %v = tile.valid %i to %N size 8
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%i, %c0] dims [0, 1] valid [%v, %c16], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      tile.print "x", %x : tensor<8x16xf32, #l>
    }
  }
  tile.return
}

// One stage is no pipeline.

// CHECK-LABEL: tile.kernel @one
// CHECK: scf.for %
// CHECK-NEXT: tilegpu.alloc "A" : <1 x
tile.kernel @one(%A: !tile.view<?x16xf32> {tile.name = "A"}) attributes {tile.schedule = #tile.schedule<{stages = 1 : i64}>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %N = tile.dim %A, 0 : !tile.view<?x16xf32>
  scf.forall (%p) in (1) {
    scf.for %i = %c0 to %N step %c8 {
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%i, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      tile.print "x", %x : tensor<8x16xf32, #l>
    }
  }
  tile.return
}

// A position that the loop carries.

// CHECK-LABEL: tile.kernel @carried
// CHECK: scf.for %
// CHECK-NEXT: tilegpu.alloc "A" : <1 x
// REMARK: remark: {{.*}}not-pipelined{{.*}}the position of a copy depends on what the loop computes
tile.kernel @carried(%A: !tile.view<?x16xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %N = tile.dim %A, 0 : !tile.view<?x16xf32>
  scf.forall (%p) in (1) {
    %r = scf.for %i = %c0 to %N step %c8 iter_args(%at = %c0) -> (index) {
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%at, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      tile.print "x", %x : tensor<8x16xf32, #l>
      %next = arith.addi %at, %c8 : index
      scf.yield %next : index
    }
  }
  tile.return
}

// One that is read from a tensor which nobody writes is read ahead too.

// CHECK-LABEL: tile.kernel @indirect
// CHECK: tilegpu.alloc "A" : <2 x
// CHECK: scf.if
// CHECK-NEXT: %[[T0:.*]] = tile.load %P[%c0]
// CHECK-NEXT: %[[V0:.*]] = tensor.extract %[[T0]][]
// CHECK-NEXT: %[[FIRST:.*]] = arith.index_cast %[[V0]]
// CHECK-NEXT: tilegpu.async_copy %A[%[[FIRST]], %c0]
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]]
// CHECK: scf.if
// CHECK-NEXT: %[[T1:.*]] = tile.load %P[%[[NEXT]]]
// CHECK-NEXT: %[[V1:.*]] = tensor.extract %[[T1]][]
// CHECK-NEXT: %[[AHEAD:.*]] = arith.index_cast %[[V1]]
// CHECK-NEXT: tilegpu.async_copy %A[%[[AHEAD]], %c0]
// REMARK: remark: [Passed] pipelined {{.*}}copies run 1 iteration ahead"
tile.kernel @indirect(%A: !tile.view<?x16xf32> {tile.name = "A"}, %P: !tile.view<?xi64> {tile.name = "P"}) attributes {tile.schedule = #tile.schedule<{stages = 2 : i64}>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = tile.dim %P, 0 : !tile.view<?xi64>
  scf.forall (%p) in (1) {
    scf.for %i = %c0 to %N step %c1 {
      %t = tile.load %P[%i] dims [] pad zero : !tile.view<?xi64> -> tensor<i64>
      %v = tensor.extract %t[] : tensor<i64>
      %at = arith.index_cast %v : i64 to index
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%at, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      tile.print "x", %x : tensor<8x16xf32, #l>
    }
  }
  tile.return
}

// One that is read from a tensor which the loop writes: the next iteration may
// find another one there.

// CHECK-LABEL: tile.kernel @rewritten
// CHECK: scf.for %
// CHECK: tilegpu.alloc "A" : <1 x
// REMARK: remark: {{.*}}not-pipelined{{.*}}the position of a copy is read from memory
tile.kernel @rewritten(%A: !tile.view<?x16xf32> {tile.name = "A"}, %P: !tile.view<?xi64> {tile.name = "P", tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = tile.dim %P, 0 : !tile.view<?xi64>
  scf.forall (%p) in (1) {
    scf.for %i = %c0 to %N step %c1 {
      %t = tile.load %P[%i] dims [] pad zero : !tile.view<?xi64> -> tensor<i64>
      %v = tensor.extract %t[] : tensor<i64>
      %at = arith.index_cast %v : i64 to index
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%at, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      tile.print "x", %x : tensor<8x16xf32, #l>
      %next = arith.addi %i, %c1 : index
      tile.store %t, %P[%next] dims [] : tensor<i64>, !tile.view<?xi64>
    }
  }
  tile.return
}

// A tensor that the loop writes.

// CHECK-LABEL: tile.kernel @in_place
// CHECK: scf.for %
// CHECK-NEXT: tilegpu.alloc "A" : <1 x
// REMARK: remark: {{.*}}not-pipelined{{.*}}the loop writes a tensor that it copies
tile.kernel @in_place(%A: !tile.view<?x16xf32> {tile.name = "A", tile.access = #tile.access<inout>}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %N = tile.dim %A, 0 : !tile.view<?x16xf32>
  scf.forall (%p) in (1) {
    scf.for %i = %c0 to %N step %c8 {
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%i, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      tile.store %x, %A[%i, %c0] dims [0, 1] : tensor<8x16xf32, #l>, !tile.view<?x16xf32>
    }
  }
  tile.return
}

// Of two loops, the inner one; the copy of the outer one stays.

// CHECK-LABEL: tile.kernel @nested
// CHECK: scf.for %
// CHECK: tilegpu.alloc "A" : <1 x
// CHECK: tilegpu.wait 0
// CHECK: tilegpu.alloc "B" : <4 x
// CHECK: scf.for %
// CHECK-NEXT: tilegpu.wait 2
// REMARK: remark: {{.*}}not-pipelined{{.*}}a loop or branch within it copies too
tile.kernel @nested(%A: !tile.view<?x16xf32> {tile.name = "A"}, %B: !tile.view<?x16xf32> {tile.name = "B"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %N = tile.dim %A, 0 : !tile.view<?x16xf32>
  scf.forall (%p) in (1) {
    scf.for %i = %c0 to %N step %c8 {
      %a = tilegpu.alloc "A" : !buffer
      tilegpu.async_copy %A[%i, %c0] dims [0, 1], %a[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !buffer -> tensor<8x16xf32, #l>
      scf.for %j = %c0 to %N step %c8 {
        %b = tilegpu.alloc "B" : !buffer
        tilegpu.async_copy %B[%j, %c0] dims [0, 1], %b[%c0] vector 16 shape [8, 16] : !tile.view<?x16xf32>, !buffer
        tilegpu.commit
        tilegpu.wait 0
        %y = tilegpu.local_load %b[%c0] : !buffer -> tensor<8x16xf32, #l>
        %z = arith.addf %x, %y : tensor<8x16xf32, #l>
        tile.print "z", %z : tensor<8x16xf32, #l>
      }
    }
  }
  tile.return
}

// Copies of two bytes at a time are complete at once.

// CHECK-LABEL: tile.kernel @narrow
// CHECK: scf.for %
// CHECK-NEXT: tilegpu.alloc "A" : <1 x
tile.kernel @narrow(%A: !tile.view<?x16xbf16> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %N = tile.dim %A, 0 : !tile.view<?x16xbf16>
  scf.forall (%p) in (1) {
    scf.for %i = %c0 to %N step %c8 {
      %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 8x16xbf16, phase_rows = 1, phases = 1>
      tilegpu.async_copy %A[%i, %c0] dims [0, 1], %a[%c0] vector 2 shape [8, 16] : !tile.view<?x16xbf16>, !tilegpu.buffer<1 x 8x16xbf16, phase_rows = 1, phases = 1>
      tilegpu.commit
      tilegpu.wait 0
      %x = tilegpu.local_load %a[%c0] : !tilegpu.buffer<1 x 8x16xbf16, phase_rows = 1, phases = 1> -> tensor<8x16xbf16, #l>
      tile.print "x", %x : tensor<8x16xbf16, #l>
    }
  }
  tile.return
}
