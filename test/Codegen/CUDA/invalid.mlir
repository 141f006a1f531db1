// RUN: tilec-translate --tilegpu-to-cuda --split-input-file --verify-diagnostics %s

// What the emitter cannot translate is an error at its op.

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>

tile.kernel @narrow(%X: !tile.view<64xbf16>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<64xbf16> -> tensor<64xbf16, #v>
    // expected-error@+1 {{expected arithmetic on f32 or f64 (the narrow floats are storage only), found bf16}}
    %y = arith.addf %x, %x : tensor<64xbf16, #v>
    tile.store %y, %X[%c0] dims [0] : tensor<64xbf16, #v>, !tile.view<64xbf16>
  }
  tile.return
}

// -----

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>

tile.kernel @dot(%X: !tile.view<64xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<64xf32> -> tensor<64xf32, #v>
    // expected-error@+1 {{expected an op that has a form in CUDA C++, found 'tile.dot'}}
    %y = tile.dot %x, %x contract [0] x [0] batch [] x [] precision ieee : tensor<64xf32, #v>, tensor<64xf32, #v> -> tensor<f32>
    tile.store %y, %X[%c0] dims [] : tensor<f32>, !tile.view<64xf32>
  }
  tile.return
}

// -----

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = [[64]]>

tile.kernel @scratch(%X: !tile.view<128xf32>) attributes {tilegpu.warps = 2 : i64} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32, #v>
    // expected-error@+1 {{expected 'tilegpu.scratch', a place in shared memory, found none; run tilegpu-allocate-shared first}}
    %y = tile.reduce sum %x axes [0] : tensor<128xf32, #v> -> tensor<f32>
    tile.store %y, %X[%c0] dims [] : tensor<f32>, !tile.view<128xf32>
  }
  tile.return
}

// -----

#v = #tilegpu.layout<registers = [[1, 0], [0, 1]], lanes = [[1, 2], [0, 4], [0, 8], [0, 0], [0, 0]], warps = []>
#r = #tilegpu.layout<registers = [[1]], lanes = [[1], [0], [0], [0], [0]], warps = []>

tile.kernel @diagonal(%X: !tile.view<2x16xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero : !tile.view<2x16xf32> -> tensor<2x16xf32, #v>
    // expected-error@+1 {{expected a layout whose bits move either along the reduced axes or across them, each by itself, found 2x16: reg (1,0) (0,1) | lane (1,2)}}
    %y = tile.reduce sum %x axes [1] : tensor<2x16xf32, #v> -> tensor<2xf32, #r>
    tile.store %y, %X[%c0, %c0] dims [0] : tensor<2xf32, #r>, !tile.view<2x16xf32>
  }
  tile.return
}

// -----

#v = #tilegpu.layout<registers = [[0, 1]], lanes = [[1, 0], [0, 2], [0, 4], [0, 8], [0, 0]], warps = []>
#r = #tilegpu.layout<registers = [[1]], lanes = [[0], [0], [0], [0], [0]], warps = []>

tile.kernel @elsewhere(%X: !tile.view<2x16xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero : !tile.view<2x16xf32> -> tensor<2x16xf32, #v>
    // expected-error@+1 {{expected a result in the operand's layout without the reduced axes, 2: reg | lane (1) (0) (0) (0) (0) | warp, found 2: reg (1) | lane}}
    %y = tile.reduce sum %x axes [1] : tensor<2x16xf32, #v> -> tensor<2xf32, #r>
    tile.store %y, %X[%c0, %c0] dims [0] : tensor<2xf32, #r>, !tile.view<2x16xf32>
  }
  tile.return
}

// -----

#v = #tilegpu.layout<registers = [[0, 1]], lanes = [[1, 0], [0, 2], [0, 4], [0, 8], [0, 0]], warps = []>
#r = #tilegpu.layout<registers = [[1]], lanes = [[0], [0], [0], [0], [0]], warps = []>

tile.kernel @broadcast(%X: !tile.view<2x16xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0, %c0] dims [0] pad zero : !tile.view<2x16xf32> -> tensor<2xf32, #r>
    // expected-error@+1 {{expected an operand in the layout of the result without the new axes, found 2: reg (1) | lane (0) (0) (0) (0) (0) | warp for 2x16: reg (0,1) | lane}}
    %y = tile.broadcast %x dims [0] : tensor<2xf32, #r> -> tensor<2x16xf32, #v>
    tile.store %y, %X[%c0, %c0] dims [0, 1] : tensor<2x16xf32, #v>, !tile.view<2x16xf32>
  }
  tile.return
}

// -----

#v = #tilegpu.layout<registers = [[32]], lanes = [[1], [2], [4], [8], [16]], warps = [[64]]>

tile.kernel @scan(%X: !tile.view<128xf32>) attributes {tilegpu.warps = 2 : i64} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<128xf32> -> tensor<128xf32, #v>
    // expected-error@+1 {{expected a layout whose axis 0 runs over registers, then lanes, then warps, found 128: reg (32)}}
    %y = tile.scan sum %x axis 0 : tensor<128xf32, #v>
    tile.store %y, %X[%c0] dims [0] : tensor<128xf32, #v>, !tile.view<128xf32>
  }
  tile.return
}

// -----

#v = #tilegpu.layout<registers = [[0, 1], [0, 2], [8, 0]], lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>

tile.kernel @accumulator(%X: !tile.view<16x16xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %a = tilegpu.alloc "A" at 0 : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero : !tile.view<16x16xf32> -> tensor<16x16xf32, #v>
    // expected-error@+1 {{expected an accumulator in the layout of mma, found 16x16: reg (0,1) (0,2) (8,0)}}
    %y = tilegpu.mma %x, %a[%c0], %a[%c0] precision ieee : tensor<16x16xf32, #v>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
    tile.store %y, %X[%c0, %c0] dims [0, 1] : tensor<16x16xf32, #v>, !tile.view<16x16xf32>
  }
  tile.return
}

// -----

#acc = #tilegpu.layout<registers = [[0, 1], [8, 0], [0, 8]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
#opa = #tilegpu.layout<registers = [[8, 0], [0, 1], [0, 8]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>

tile.kernel @operand(%X: !tile.view<16x16xf32>, %A: !tile.view<16x16xbf16>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    %b = tilegpu.alloc "B" at 0 : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
    %x = tile.load %X[%c0, %c0] dims [0, 1] pad zero : !tile.view<16x16xf32> -> tensor<16x16xf32, #acc>
    %a = tile.load %A[%c0, %c0] dims [0, 1] pad zero : !tile.view<16x16xbf16> -> tensor<16x16xbf16, #opa>
    // expected-error@+1 {{expected lhs in the layout of the instruction, 16x16: reg (0,1) (8,0) (0,8)}}
    %y = tilegpu.mma %x, %a, %b[%c0] precision ieee : tensor<16x16xf32, #acc>, tensor<16x16xbf16, #opa>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
    tile.store %y, %X[%c0, %c0] dims [0, 1] : tensor<16x16xf32, #acc>, !tile.view<16x16xf32>
  }
  tile.return
}

// -----

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>

tile.kernel @unplaced(%X: !tile.view<64xf32>) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (1) {
    // expected-error@+1 {{expected a buffer with a place in shared memory; run tilegpu-allocate-shared first}}
    %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 1x64xf32, phase_rows = 1, phases = 1>
    %x = tilegpu.local_load %a[%c0] : !tilegpu.buffer<1 x 1x64xf32, phase_rows = 1, phases = 1> -> tensor<64xf32, #v>
    tile.store %x, %X[%c0] dims [0] : tensor<64xf32, #v>, !tile.view<64xf32>
  }
  tile.return
}

// -----

tile.kernel @steps(%X: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  // expected-error@+1 {{expected a grid with constant steps}}
  scf.forall (%i) = (0) to (%N) step (%N) {
    %x = tile.load %X[%i] dims [] pad zero : !tile.view<?xf32> -> tensor<f32>
    tile.store %x, %X[%i] dims [] : tensor<f32>, !tile.view<?xf32>
  }
  tile.return
}
