// RUN: tilec-opt --tilegpu-allocate-shared="limit=1535" %s -split-input-file -verify-diagnostics

// The bill has every buffer and exchange, largest first, and what can be done.

#l = #tilegpu.layout<registers = [[0, 1], [0, 2]], lanes = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warps = []>
// expected-error @below {{kernel 'too_much' needs more shared memory than a thread block has: expected at most 1535 bytes, found 1536}}
// expected-note @below {{help: take smaller tiles or fewer stages in the schedule}}
tile.kernel @too_much() {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<8x16xf32, #l>
  // expected-note @below {{512 bytes: 'A', 8 x 16 elements of f32}}
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 8x16xf32, phase_rows = 1, phases = 1>
  // expected-note @below {{1024 bytes: 'B', 2 stages of 8 x 16 elements of f32}}
  %b = tilegpu.alloc "B" : !tilegpu.buffer<2 x 8x16xf32, phase_rows = 1, phases = 1>
  tilegpu.local_store %x, %b[%c0] : tensor<8x16xf32, #l>, !tilegpu.buffer<2 x 8x16xf32, phase_rows = 1, phases = 1>
  tilegpu.local_store %x, %a[%c0] : tensor<8x16xf32, #l>, !tilegpu.buffer<1 x 8x16xf32, phase_rows = 1, phases = 1>
  tile.return
}

// -----

// 1024 elements of 4 bytes change their warps, and a place in the printed text
// goes to all of them.

#rows = #tilegpu.layout<registers = [[0, 1], [0, 2], [0, 4], [8, 0]], lanes = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warps = [[16, 0]]>
#columns = #tilegpu.layout<registers = [[1, 0], [2, 0], [4, 0], [8, 0]], lanes = [[16, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warps = [[0, 16]]>
// expected-error @below {{expected at most 1535 bytes, found 4744}}
// expected-note @below {{help: take smaller tiles or fewer stages in the schedule}}
tile.kernel @exchange() attributes {tilegpu.warps = 2 : i64} {
  scf.forall (%i) in (1) {
    %x = arith.constant dense<0.0> : tensor<32x32xf32, #rows>
    // expected-note @below {{4624 bytes: exchange of values between warps}}
    %y = tilegpu.convert_layout %x : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
    // expected-note @below {{8 bytes: the place of a print in the text}}
    tile.print "y", %y : tensor<32x32xf32, #columns>
  }
  tile.return
}
