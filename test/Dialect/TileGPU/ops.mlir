// RUN: %round-trip

// Every op of the dialect, in every form.

// CHECK-DAG: #[[ROWS:.*]] = #tilegpu.layout<registers = {{\[\[}}0, 1], [0, 2]], lanes = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>
#rows = #tilegpu.layout<registers = [[0, 1], [0, 2]], lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>
#columns = #tilegpu.layout<registers = [[1, 0], [2, 0]], lanes = [[4, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warps = []>
#acc = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
#opa = #tilegpu.layout<registers = [[0, 1], [8, 0], [0, 8]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>

// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%A: !tile.view<?x?xbf16> {tile.name = "A"}, %read: i1) attributes {tilegpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (4) {
    // CHECK: %[[A:.*]] = tilegpu.alloc "A" : <2 x 8x16xbf16, phase_rows = 4, phases = 2>
    %a = tilegpu.alloc "A" : !tilegpu.buffer<2 x 8x16xbf16, phase_rows = 4, phases = 2>
    // CHECK: tilegpu.alloc "placed" at 256 : <1 x 8x16xbf16, phase_rows = 1, phases = 1>
    %b = tilegpu.alloc "placed" at 256 : !tilegpu.buffer<1 x 8x16xbf16, phase_rows = 1, phases = 1>
    // CHECK: tilegpu.async_copy %{{.*}}[%{{.*}}, %c0] dims [0, 1], %[[A]][%c1] vector 16 shape [8, 16]
    tilegpu.async_copy %A[%i, %c0] dims [0, 1], %a[%c1] vector 16 shape [8, 16]
        : !tile.view<?x?xbf16>, !tilegpu.buffer<2 x 8x16xbf16, phase_rows = 4, phases = 2>
    // CHECK: tilegpu.async_copy %{{.*}}[%{{.*}}, %c0] dims [0, 1] valid[%c1, %c0] if %{{.*}}, %[[A]][%c0] vector 2 shape [8, 16]
    tilegpu.async_copy %A[%i, %c0] dims [0, 1] valid [%c1, %c0] if %read, %a[%c0] vector 2 shape [8, 16]
        : !tile.view<?x?xbf16>, !tilegpu.buffer<2 x 8x16xbf16, phase_rows = 4, phases = 2>
    // CHECK-NEXT: tilegpu.commit
    // CHECK-NEXT: tilegpu.wait 1
    // CHECK-NEXT: tilegpu.barrier
    tilegpu.commit
    tilegpu.wait 1
    tilegpu.barrier
    // CHECK-NEXT: %[[F:.*]] = tilegpu.local_load %[[A]][%c0] : <2 x 8x16xbf16, phase_rows = 4, phases = 2> -> tensor<8x16xbf16, #[[ROWS]]>
    %f = tilegpu.local_load %a[%c0] : !tilegpu.buffer<2 x 8x16xbf16, phase_rows = 4, phases = 2> -> tensor<8x16xbf16, #rows>
    // CHECK-NEXT: tilegpu.local_store %[[F]], %{{.*}}[%c0] : tensor<8x16xbf16, #[[ROWS]]>, <1 x 8x16xbf16, phase_rows = 1, phases = 1>
    tilegpu.local_store %f, %b[%c0] : tensor<8x16xbf16, #rows>, !tilegpu.buffer<1 x 8x16xbf16, phase_rows = 1, phases = 1>
    // CHECK-NEXT: tilegpu.convert_layout %[[F]] : tensor<8x16xbf16, #[[ROWS]]> -> tensor<8x16xbf16, #{{.*}}>
    %g = tilegpu.convert_layout %f : tensor<8x16xbf16, #rows> -> tensor<8x16xbf16, #columns>
    tilegpu.local_store %g, %a[%c0] : tensor<8x16xbf16, #columns>, !tilegpu.buffer<2 x 8x16xbf16, phase_rows = 4, phases = 2>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @products
tile.kernel @products(%A: !tile.view<16x16xbf16> {tile.name = "A"}) attributes {tilegpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %one = arith.constant dense<1.0> : tensor<16x16xbf16, #opa>
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
    %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
    // CHECK: tilegpu.mma %{{.*}}, %{{.*}}[%c0], %{{.*}}[%c0] precision ieee {lhs_transposed} : tensor<16x8xf32, #{{.*}}>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
    %0 = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee {lhs_transposed} : tensor<16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
    // CHECK: tilegpu.mma %{{.*}}, %{{.*}}, %{{.*}}[%c0] precision ieee : tensor<16x8xf32, #{{.*}}>, tensor<16x16xbf16, #{{.*}}>, !tilegpu.buffer<1 x 16x8xbf16
    %1 = tilegpu.mma %0, %one, %b[%c0] precision ieee : tensor<16x8xf32, #acc>, tensor<16x16xbf16, #opa>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
    // CHECK: tilegpu.fma_dot %{{.*}}, %{{.*}}[%c0], %{{.*}}[%c0] batch 0 : tensor<16x8xf32, #{{.*}}>
    %2 = tilegpu.fma_dot %1, %a[%c0], %b[%c0] batch 0 : tensor<16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
    tile.print "products", %2 : tensor<16x8xf32, #acc>
  }
  tile.return
}

// Axes of an accumulator that number products, and several that are rows of one.

#batches = #tilegpu.layout<registers = [[0, 0, 1], [0, 8, 0], [1, 0, 0]], lanes = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warps = []>
#row_axes = #tilegpu.layout<registers = [[0, 0, 1], [1, 0, 0]], lanes = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warps = []>

// CHECK-LABEL: tile.kernel @axes_of_products
tile.kernel @axes_of_products() attributes {tilegpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<2x16x8xf32, #batches>
  %y = arith.constant dense<0.0> : tensor<2x8x8xf32, #row_axes>
  scf.forall (%i) in (1) {
    %as = tilegpu.alloc "As" : !tilegpu.buffer<1 x 32x16xbf16, phase_rows = 1, phases = 1>
    %bs = tilegpu.alloc "Bs" : !tilegpu.buffer<1 x 32x8xbf16, phase_rows = 1, phases = 1>
    %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
    %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
    // CHECK: tilegpu.mma %{{.*}}, %{{.*}}[%c0], %{{.*}}[%c0] precision ieee {batch = 1 : i64} : tensor<2x16x8xf32, #{{.*}}>, !tilegpu.buffer<1 x 32x16xbf16
    %0 = tilegpu.mma %x, %as[%c0], %bs[%c0] precision ieee {batch = 1 : i64} : tensor<2x16x8xf32, #batches>, !tilegpu.buffer<1 x 32x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 32x8xbf16, phase_rows = 1, phases = 1>
    // CHECK: tilegpu.fma_dot %{{.*}}, %{{.*}}[%c0], %{{.*}}[%c0] batch 1 : tensor<2x16x8xf32, #{{.*}}>, <1 x 32x16xbf16
    %1 = tilegpu.fma_dot %0, %as[%c0], %bs[%c0] batch 1 : tensor<2x16x8xf32, #batches>, !tilegpu.buffer<1 x 32x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 32x8xbf16, phase_rows = 1, phases = 1>
    // CHECK: tilegpu.mma %{{.*}}, %{{.*}}[%c0], %{{.*}}[%c0] precision ieee {row_axes = 2 : i64} : tensor<2x8x8xf32, #{{.*}}>, !tilegpu.buffer<1 x 16x16xbf16
    %2 = tilegpu.mma %y, %a[%c0], %b[%c0] precision ieee {row_axes = 2 : i64} : tensor<2x8x8xf32, #row_axes>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
    // CHECK: tilegpu.fma_dot %{{.*}}, %{{.*}}[%c0], %{{.*}}[%c0] batch 0 {row_axes = 2 : i64} : tensor<2x8x8xf32, #{{.*}}>, <1 x 16x16xbf16
    %3 = tilegpu.fma_dot %2, %a[%c0], %b[%c0] batch 0 {row_axes = 2 : i64} : tensor<2x8x8xf32, #row_axes>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
    tile.print "axes", %1, %3 : tensor<2x16x8xf32, #batches>, tensor<2x8x8xf32, #row_axes>
  }
  tile.return
}

// What a launch counts programs along stays, also an axis of one or none.
// CHECK-LABEL: tile.kernel @grid
tile.kernel @grid(%A: !tile.view<?xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  // CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (1, 0, 8)
  scf.forall (%i, %j, %k) in (1, 0, 8) {
    %a = tile.load %A[%c0] dims [0] pad zero : !tile.view<?xf32> -> tensor<4xf32>
    tile.print "a", %a : tensor<4xf32>
    // CHECK: } {mapping = [#tilegpu.grid_axis<0>, #tilegpu.grid_axis<1>, #tilegpu.grid_axis<2>]}
  } {mapping = [#tilegpu.grid_axis<0>, #tilegpu.grid_axis<1>, #tilegpu.grid_axis<2>]}
  tile.return
}
