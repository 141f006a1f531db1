// RUN: tilec-opt %s -split-input-file -verify-diagnostics

// One case for each rule of the verifiers of the tilegpu dialect; those on the
// axes of products are in products-invalid.mlir.

// expected-error @below {{expected at least 1 slot, found 0}}
func.func private @f(!tilegpu.buffer<0 x 8x8xf32, phase_rows = 1, phases = 1>)

// -----

// expected-error @below {{expected elements of a number type, found 'index'}}
func.func private @f(!tilegpu.buffer<1 x 8x8xindex, phase_rows = 1, phases = 1>)

// -----

// expected-error @below {{expected extents and phases that are powers of two, found 6}}
func.func private @f(!tilegpu.buffer<1 x 6x8xf32, phase_rows = 1, phases = 1>)

// -----

// expected-error @below {{expected at most as many phases as 16-byte chunks in a row (2), found 4}}
func.func private @f(!tilegpu.buffer<1 x 8x8xf32, phase_rows = 1, phases = 4>)

// -----

// expected-error @below {{expected rows and columns, found 3 extents}}
func.func private @f(!tilegpu.buffer<1 x 2x8x8xf32, phase_rows = 1, phases = 1>)

// -----

// expected-error @below {{expected 2 coordinates, found 1}}
func.func private @f(tensor<8x8xf32, #tilegpu.layout<registers = [[0, 1]], lanes = [[1], [0, 2], [0, 4], [1, 0], [2, 0]], warps = []>>)

// -----

// expected-error @below {{expected 5 bases of lanes, found 4}}
func.func private @f(tensor<8x8xf32, #tilegpu.layout<registers = [[0, 1]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0]], warps = []>>)

// -----

// expected-error @below {{expected coordinates of at least 0, found -1}}
func.func private @f(tensor<8x8xf32, #tilegpu.layout<registers = [[0, -1]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>>)

// -----

// expected-error @below {{expected bases of at least 1 coordinate, found 0}}
func.func private @f(tensor<8x8xf32, #tilegpu.layout<registers = [], lanes = [], warps = []>>)

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  // expected-error @below {{'tilegpu.alloc' op expected an offset that is a multiple of 16, found 8}}
  %a = tilegpu.alloc "A" at 8 : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  // expected-error @below {{'tilegpu.wait' op expected at least 0 pending groups, found -1}}
  tilegpu.wait -1
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected one index per dimension of the view (2), found 1}}
  tilegpu.async_copy %A[%i] dims [0, 1], %a[%i] vector 16 shape [16, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected one of dims per extent of shape (2), found 1}}
  tilegpu.async_copy %A[%i, %i] dims [1], %a[%i] vector 16 shape [16, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected dims below 2, found 2}}
  tilegpu.async_copy %A[%i, %i] dims [0, 2], %a[%i] vector 16 shape [16, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected no valid extent or one per axis (2), found 1}}
  tilegpu.async_copy %A[%i, %i] dims [0, 1] valid [%i], %a[%i] vector 16 shape [16, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected a shape of 16 rows of 16 elements as the buffer has, found [8, 16]}}
  tilegpu.async_copy %A[%i, %i] dims [0, 1], %a[%i] vector 16 shape [8, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected a shape of 16 rows of 16 elements as the buffer has, found [32, 8]}}
  tilegpu.async_copy %A[%i, %i] dims [0, 1], %a[%i] vector 16 shape [32, 8] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected a buffer of the view's element type 'bf16', found 'f16'}}
  tilegpu.async_copy %A[%i, %i] dims [0, 1], %a[%i] vector 16 shape [16, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected a vector of a power of two from 2 to 16 bytes, found 1}}
  tilegpu.async_copy %A[%i, %i] dims [0, 1], %a[%i] vector 1 shape [16, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected a vector of a power of two from 2 to 16 bytes, found 12}}
  tilegpu.async_copy %A[%i, %i] dims [0, 1], %a[%i] vector 12 shape [16, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.async_copy' op expected a vector of a power of two from 2 to 16 bytes, found 32}}
  tilegpu.async_copy %A[%i, %i] dims [0, 1], %a[%i] vector 32 shape [16, 16] : !tile.view<?x?xbf16>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x8xf32, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.local_store' op expected a tensor with a layout, found 'tensor<16x8xf32>'}}
  tilegpu.local_store %c, %a[%i] : tensor<16x8xf32>, !tilegpu.buffer<1 x 16x8xf32, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.local_store' op expected a buffer of elements of 'f32', found 'bf16'}}
  tilegpu.local_store %c, %b[%i] : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 8x16xf32, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.local_load' op expected a buffer of 16 x 8 elements, found 8 x 16}}
  %x = tilegpu.local_load %a[%i] : !tilegpu.buffer<1 x 8x16xf32, phase_rows = 1, phases = 1> -> tensor<16x8xf32, #l>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 32x8xf32, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.local_load' op expected a buffer of 16 x 8 elements, found 32 x 8}}
  %x = tilegpu.local_load %a[%i] : !tilegpu.buffer<1 x 32x8xf32, phase_rows = 1, phases = 1> -> tensor<16x8xf32, #l>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  // expected-error @below {{'tilegpu.convert_layout' op expected types that differ in the layout only}}
  %x = tilegpu.convert_layout %c : tensor<16x8xf32, #l> -> tensor<8x16xf32, #l>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  // expected-error @below {{'tilegpu.convert_layout' op expected types that differ in the layout only}}
  %x = tilegpu.convert_layout %c : tensor<16x8xf32, #l> -> tensor<16x8xi32, #l>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  // expected-error @below {{'tilegpu.convert_layout' op expected tensors with a layout, found 'tensor<16x8xf32>'}}
  %x = tilegpu.convert_layout %c : tensor<16x8xf32, #l> -> tensor<16x8xf32>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected an accumulator of at least 2 axes with a layout, found 'tensor<16x8xf32>'}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee : tensor<16x8xf32>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf64, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xf64, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xf64, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected f16, bf16, f8, f32 or i8 operands and their sum's type, found 'f64', 'f64' and 'f64'}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee : tensor<16x8xf64, #l>, !tilegpu.buffer<1 x 16x16xf64, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xf64, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0> : tensor<16x8xi32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected f16, bf16, f8, f32 or i8 operands and their sum's type, found 'bf16', 'bf16' and 'i32'}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee : tensor<16x8xi32, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0> : tensor<16x8xi32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xi32, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xi32, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected f16, bf16, f8, f32 or i8 operands and their sum's type, found 'i32', 'i32' and 'i32'}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee : tensor<16x8xi32, #l>, !tilegpu.buffer<1 x 16x16xi32, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xi32, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xf32, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xf32, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected precision 'tf32' or 'tf32x3' for f32 operands, found 'ieee'}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x16xf32, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xf32, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected precision 'ieee' for other than f32 operands, found 'tf32'}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision tf32 : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected lhs, a buffer, with a slot}}
  %d = tilegpu.mma %c, %a, %b[%i] precision ieee : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected rhs, a buffer, with a slot}}
  %d = tilegpu.mma %c, %a[%i], %b precision ieee : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
#a = #tilegpu.layout<registers = [[0, 1], [8, 0], [0, 8]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %x = arith.constant dense<0.0> : tensor<16x16xbf16, #a>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected lhs, a fragment, without a slot}}
  %d = tilegpu.mma %c, %x[%i], %b[%i] precision ieee : tensor<16x8xf32, #l>, tensor<16x16xbf16, #a>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 32x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected lhs with 16 rows, found 32}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 32x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x32xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected lhs with 16 rows, found 32}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee {lhs_transposed} : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x32xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected rhs with 8 columns, found 16}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 8x32xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.mma' op expected rhs with 16 contracted positions as lhs has, found 32}}
  %d = tilegpu.mma %c, %a[%i], %b[%i] precision ieee {rhs_transposed} : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 8x32xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.fma_dot' op expected an accumulator of at least 2 axes with a layout, found 'tensor<16x8xf32>'}}
  %d = tilegpu.fma_dot %c, %a[%i], %b[%i] batch 0 : tensor<16x8xf32>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf64, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.fma_dot' op expected an accumulator of the sum's type of 'bf16' and 'bf16', found 'f64'}}
  %d = tilegpu.fma_dot %c, %a[%i], %b[%i] batch 0 : tensor<16x8xf64, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 32x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.fma_dot' op expected lhs with 16 rows, found 32}}
  %d = tilegpu.fma_dot %c, %a[%i], %b[%i] batch 0 : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 32x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.fma_dot' op expected rhs with 8 columns, found 16}}
  %d = tilegpu.fma_dot %c, %a[%i], %b[%i] batch 0 : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  tile.return
}

// -----

#l = #tilegpu.layout<registers = [[0, 1], [8, 0]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = []>
tile.kernel @k(%A: !tile.view<?x?xbf16> {tile.name = "A"}) {
  %i = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<16x8xf32, #l>
  %a = tilegpu.alloc "A" : !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>
  %b = tilegpu.alloc "B" : !tilegpu.buffer<1 x 32x8xbf16, phase_rows = 1, phases = 1>
  // expected-error @below {{'tilegpu.fma_dot' op expected rhs with 16 contracted positions as lhs has, found 32}}
  %d = tilegpu.fma_dot %c, %a[%i], %b[%i] batch 0 : tensor<16x8xf32, #l>, !tilegpu.buffer<1 x 16x16xbf16, phase_rows = 1, phases = 1>, !tilegpu.buffer<1 x 32x8xbf16, phase_rows = 1, phases = 1>
  tile.return
}
