// RUN: tilec-opt %s --split-input-file --verify-diagnostics

// The axes of a product's accumulator, one case a rule.

#acc = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>

tile.kernel @negative() {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  // expected-error@+1 {{expected at least 0 batch axes and 1 row axis, found -1 and 1}}
  %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee {batch = -1 : i64} : tensor<16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#acc = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>

tile.kernel @no_rows() {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  // expected-error@+1 {{expected at least 0 batch axes and 1 row axis, found 0 and 0}}
  %d = tilegpu.fma_dot %zero, %a[%c0], %b[%c0] batch 0 {row_axes = 0 : i64} : tensor<16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#acc = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>

tile.kernel @rows() {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  // expected-error@+1 {{expected an accumulator of at least 3 axes with a layout, found 'tensor<16x8xf32}}
  %d = tilegpu.fma_dot %zero, %a[%c0], %b[%c0] batch 1 : tensor<16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#acc = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>

tile.kernel @columns() {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xf32, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xf32, phase_rows = 1, phases = 1>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  // expected-error@+1 {{expected an accumulator of at least 3 axes with a layout, found 'tensor<16x8xf32}}
  %d = tilegpu.fma_dot %zero, %a[%c0], %b[%c0] batch 0 {row_axes = 2 : i64} : tensor<16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xf32, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xf32, phase_rows = 1, phases = 1>
  tile.return
}

// -----

// Not two products, but one of 2 x 128.

#acc = #tilegpu.layout<registers = [[0, 0, 1], [0, 8, 0], [1, 0, 0]], lanes = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warps = []>

tile.kernel @one_matrix() {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  %zero = arith.constant dense<0.0> : tensor<2x16x8xf32, #acc>
  // expected-error@+1 {{expected lhs with 2 rows, found 16}}
  %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee : tensor<2x16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

// Two products of 16 x 8 have lhs of 32 rows.

#acc = #tilegpu.layout<registers = [[0, 0, 1], [0, 8, 0], [1, 0, 0]], lanes = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warps = []>

tile.kernel @batches_of_lhs() {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  %zero = arith.constant dense<0.0> : tensor<2x16x8xf32, #acc>
  // expected-error@+1 {{expected lhs with 16 rows, found 8}}
  %d = tilegpu.mma %zero, %a[%c0], %b[%c0] precision ieee {batch = 1 : i64} : tensor<2x16x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

// Two products of 8 x 8 have rhs of 32 rows, 16 for each.

#acc = #tilegpu.layout<registers = [[0, 0, 1], [1, 0, 0]], lanes = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warps = []>

tile.kernel @batches_of_rhs() {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xf32, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xf32, phase_rows = 1, phases = 1>
  %zero = arith.constant dense<0.0> : tensor<2x8x8xf32, #acc>
  // expected-error@+1 {{expected rhs with 16 contracted positions as lhs has, found 8}}
  %d = tilegpu.fma_dot %zero, %a[%c0], %b[%c0] batch 1 : tensor<2x8x8xf32, #acc>, !tilegpu.buffer<1 x 16x16xf32, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xf32, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#acc = #tilegpu.layout<registers = [[0, 0, 1], [0, 1, 0]], lanes = [[1, 0, 0], [2, 0, 0], [4, 0, 0], [8, 0, 0], [16, 0, 0]], warps = []>
tile.kernel @nothing_contracted() {
  %c0 = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x2xf32, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x2xf32, phase_rows = 1, phases = 1>
  %zero = arith.constant dense<0.0> : tensor<32x2x2xf32, #acc>
  // expected-error@+1 {{expected lhs and rhs with at least 1 row for each of 32 batches}}
  %d = tilegpu.fma_dot %zero, %a[%c0], %b[%c0] batch 1 {lhs_transposed} : tensor<32x2x2xf32, #acc>, !tilegpu.buffer<1 x 16x2xf32, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x2xf32, phase_rows = 1, phases = 1>
  tile.return
}
