// One case for each rule of the verifiers.
// RUN: tilec-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// tile.kernel
//===----------------------------------------------------------------------===//

// expected-error@+1 {{'tile.kernel' op expected no results, found 1}}
"tile.kernel"() <{sym_name = "k", function_type = () -> f32}> ({
  tile.return
}) : () -> ()

// -----

// expected-error@+1 {{'tile.kernel' op argument 1: expected a view or a scalar, found 'tensor<4xf32>'}}
tile.kernel @k(%a: f32, %b: tensor<4xf32>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op expected one block, found 2}}
tile.kernel @k() {
  cf.br ^bb1
^bb1:
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op expected one block, found 0}}
tile.kernel private @k()

// -----

// expected-error@+1 {{'tile.kernel' op expected tile.return at the end}}
tile.kernel @k() {
  %c = arith.constant 0 : i32
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected a string as 'tile.name', found 3 : i64}}
tile.kernel @k(%a: f32 {tile.name = 3}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected #tile.access as 'tile.access', found "in"}}
tile.kernel @k(%a: !tile.view<f32> {tile.access = "in"}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected a view for 'tile.access', found 'f32'}}
tile.kernel @k(%a: f32 {tile.access = #tile.access<in>}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected a view for 'tile.dims', found 'f32'}}
tile.kernel @k(%a: f32 {tile.dims = []}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected an array of strings as 'tile.dims', found [1]}}
tile.kernel @k(%a: !tile.view<?xf32> {tile.dims = [1]}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected a name per dimension (2) in 'tile.dims', found 1}}
tile.kernel @k(%a: !tile.view<?x?xf32> {tile.dims = ["N"]}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op expected #tile.schedule as 'tile.schedule', found {m = 64 : i64}}}
tile.kernel @k() attributes {tile.schedule = {m = 64}} {
  tile.return
}

// -----

tile.kernel @k() {
  // expected-note@+1 {{the first is here}}
  scf.forall (%i) in (4) {
  }
  // expected-error@+1 {{'scf.forall' op expected one grid, found a second}}
  scf.forall (%i) in (4) {
  }
  tile.return
}

// -----

tile.kernel @k() {
  %t = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'scf.forall' op expected a grid without results, found 1}}
  %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> tensor<4xf32> {
  }
  tile.return
}

// -----

func.func @f() {
  // expected-error@+1 {{'tile.return' op expects parent op 'tile.kernel'}}
  tile.return
}

//===----------------------------------------------------------------------===//
// tile.dim, tile.valid, tile.slice
//===----------------------------------------------------------------------===//

// -----

tile.kernel @k(%a: !tile.view<?xf32>) {
  // expected-error@+1 {{'tile.dim' op expected a dimension below 1, found 1}}
  %d = tile.dim %a, 1 : !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>) {
  // expected-error@+1 {{'tile.dim' op expected a dimension below 1, found -1}}
  %d = tile.dim %a, -1 : !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.valid' op expected a size of at least 1, found 0}}
  %v = tile.valid %c to %c size 0
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.slice' op expected one index per dimension of the view (2), found 1}}
  %s = tile.slice %a[%c] dims [1] : !tile.view<?x8xf32> -> !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.slice' op expected dims below 2, found 2}}
  %s = tile.slice %a[%c, %c] dims [2] : !tile.view<?x8xf32> -> !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.slice' op expected distinct dims, found 1 twice}}
  %s = tile.slice %a[%c, %c] dims [1, 1]
      : !tile.view<?x8xf32> -> !tile.view<8x8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.slice' op expected a result of shape [8], found [8, ?]}}
  %s = tile.slice %a[%c, %c] dims [1]
      : !tile.view<?x8xf32> -> !tile.view<8x?xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.slice' op expected a result of shape [8], found [4]}}
  %s = tile.slice %a[%c, %c] dims [1] : !tile.view<?x8xf32> -> !tile.view<4xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.slice' op expected a result with elements of 'f32', found 'f16'}}
  %s = tile.slice %a[%c, %c] dims [1] : !tile.view<?x8xf32> -> !tile.view<8xf16>
  tile.return
}

//===----------------------------------------------------------------------===//
// tile.load, tile.store, tile.atomic_add
//===----------------------------------------------------------------------===//

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.load' op expected one index per dimension of the view (2), found 1}}
  %x = tile.load %a[%c] dims [0, 1] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.load' op expected one of dims per axis of the tile (2), found 1}}
  %x = tile.load %a[%c, %c] dims [0] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.load' op expected distinct dims, found 0 twice}}
  %x = tile.load %a[%c, %c] dims [0, 0] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.load' op expected dims below 2, found -1}}
  %x = tile.load %a[%c, %c] dims [0, -1] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xf32>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.load' op expected no valid extent or one per axis of the tile (2), found 1}}
  %x = tile.load %a[%c, %c] dims [0, 1] valid [%c] pad zero
      : !tile.view<?x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?x8xbf16>) {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.load' op expected a tile of the view's element type 'bf16', found 'f32'}}
  %x = tile.load %a[%c, %c] dims [0, 1] pad zero
      : !tile.view<?x8xbf16> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>, %p: i1) {
  %c = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.store' op expected one index per dimension of the view (1), found 2}}
  tile.store %x, %a[%c, %c] dims [0] : tensor<4xf32>, !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>) {
  %c = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.atomic_add' op expected dims below 1, found 1}}
  tile.atomic_add %x, %a[%c] dims [1] : tensor<4xf32>, !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xi8>) {
  %c = arith.constant 0 : index
  %x = arith.constant dense<0> : tensor<4xi8>
  // expected-error@+1 {{'tile.atomic_add' op expected an element type with atomic addition (f64 f32 f16 bf16 i64 i32), found 'i8'}}
  tile.atomic_add %x, %a[%c] dims [0] : tensor<4xi8>, !tile.view<?xi8>
  tile.return
}

//===----------------------------------------------------------------------===//
// tile.gather, tile.scatter_add
//===----------------------------------------------------------------------===//

// -----

tile.kernel @k(%a: !tile.view<?x?xf32>, %i: i64) {
  // expected-error@+1 {{'tile.gather' op expected one index per dimension of the view (2), found 1}}
  %x = tile.gather %a[%i] : !tile.view<?x?xf32>[i64] -> f32
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>) {
  %i = arith.constant dense<0> : tensor<4xi64>
  // expected-error@+1 {{'tile.gather' op expected index of shape [8], found [4]}}
  %x = tile.gather %a[%i] : !tile.view<?xf32>[tensor<4xi64>] -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>) {
  %i = arith.constant dense<0> : tensor<4xi64>
  // expected-error@+1 {{'tile.gather' op expected a scalar index for a scalar value, found 'tensor<4xi64>'}}
  %x = tile.gather %a[%i] : !tile.view<?xf32>[tensor<4xi64>] -> f32
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>, %i: i64) {
  %m = arith.constant dense<true> : tensor<4xi1>
  // expected-error@+1 {{'tile.gather' op expected mask of shape [8], found [4]}}
  %x = tile.gather %a[%i] mask %m
      : !tile.view<?xf32>[i64] mask tensor<4xi1> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>, %i: i64) {
  // expected-error@+1 {{'tile.gather' op expected a value of the view's element type 'f32', found 'f64'}}
  %x = tile.gather %a[%i] : !tile.view<?xf32>[i64] -> f64
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xf32>, %x: f32, %i: i64) {
  // expected-error@+1 {{'tile.scatter_add' op expected one index per dimension of the view (1), found 2}}
  tile.scatter_add %x, %a[%i, %i] : f32, !tile.view<?xf32>[i64, i64]
  tile.return
}

// -----

tile.kernel @k(%a: !tile.view<?xi16>, %x: i16, %i: i64) {
  // expected-error@+1 {{'tile.scatter_add' op expected an element type with atomic addition (f64 f32 f16 bf16 i64 i32), found 'i16'}}
  tile.scatter_add %x, %a[%i] : i16, !tile.view<?xi16>[i64]
  tile.return
}

//===----------------------------------------------------------------------===//
// tile.iota, tile.broadcast, tile.select_valid
//===----------------------------------------------------------------------===//

// -----

tile.kernel @k() {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.iota' op result #0 must be 1D tensor of 64-bit signless integer values, but got 'tensor<4x4xi64>'}}
  %x = tile.iota %c : tensor<4x4xi64>
  tile.return
}

// -----

tile.kernel @k() {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.iota' op result #0 must be 1D tensor of 64-bit signless integer values, but got 'tensor<4xi32>'}}
  %x = tile.iota %c : tensor<4xi32>
  tile.return
}

// -----

tile.kernel @k() {
  %c = arith.constant 0 : index
  // expected-error@+1 {{'tile.iota' op expected one size per dynamic axis of the result (0), found 1}}
  %x = tile.iota %c size %c : tensor<4xi64>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.broadcast' op expected one of dims per axis of the operand (2), found 1}}
  %y = tile.broadcast %x dims [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.broadcast' op expected dims below 2, found 2}}
  %y = tile.broadcast %x dims [2] : tensor<4xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-error@+1 {{'tile.broadcast' op expected distinct dims, found 1 twice}}
  %y = tile.broadcast %x dims [1, 1] : tensor<4x4xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.broadcast' op expected extent 4 on result axis 1, found 8}}
  %y = tile.broadcast %x dims [1] : tensor<4xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.broadcast' op expected a result with elements of 'f32', found 'f64'}}
  %y = tile.broadcast %x dims [0] : tensor<4xf32> -> tensor<4x8xf64>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.broadcast' op expected one size per dynamic axis of the result (1), found 0}}
  %y = tile.broadcast %x dims [0] : tensor<4xf32> -> tensor<4x?xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %c = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.select_valid' op expected one valid extent per axis (2), found 1}}
  %y = tile.select_valid %x valid [%c] pad zero : tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %c = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.select_valid' op expected a pad other than 'undef'}}
  %y = tile.select_valid %x valid [%c] pad undef : tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %c = arith.constant 0 : index
  %x = arith.constant dense<true> : tensor<4xi1>
  // expected-error@+1 {{'tile.select_valid' op expected pad 'zero' or 'one' for elements of i1, found 'lowest'}}
  %y = tile.select_valid %x valid [%c] pad lowest : tensor<4xi1>
  tile.return
}

//===----------------------------------------------------------------------===//
// tile.dot
//===----------------------------------------------------------------------===//

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.dot' op expected as many contracted axes of rhs as of lhs (1), found 2}}
  %y = tile.dot %x, %x contract [1] x [0, 1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.dot' op expected as many batch axes of rhs as of lhs (1), found 0}}
  %y = tile.dot %x, %x contract [1] x [1] batch [0] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.dot' op expected distinct axes of lhs, found 1 twice}}
  %y = tile.dot %x, %x contract [1] x [1] batch [1] x [0] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.dot' op expected axes of rhs below 2, found 2}}
  %y = tile.dot %x, %x contract [1] x [2] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.dot' op expected extent 8 on contracted axis 0 of rhs, found 4}}
  %y = tile.dot %x, %x contract [1] x [0] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.dot' op expected a contracted axis, found none}}
  %y = tile.dot %x, %x contract [] x [] batch [0] x [0] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8x8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.dot' op expected a result of shape [4, 4], found [4, 8]}}
  %y = tile.dot %x, %x contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xbf16>
  // expected-error@+1 {{'tile.dot' op expected a result with elements of 'f32', found 'bf16'}}
  %y = tile.dot %x, %x contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<4x4xbf16>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  %b = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.dot' op expected acc of the result's type 'tensor<4x4xf32>', found 'tensor<4xf32>'}}
  %y = tile.dot %x, %x acc %b contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  %b = arith.constant dense<0.0> : tensor<4x8xbf16>
  // expected-error@+1 {{'tile.dot' op expected operands of one element type other than i1, or both of f8, found 'f32' and 'bf16'}}
  %y = tile.dot %x, %b contract [1] x [1] batch [] x [] precision ieee
      : tensor<4x8xf32>, tensor<4x8xbf16> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xbf16>
  // expected-error@+1 {{'tile.dot' op expected operands of f32 for precision 'tf32', found 'bf16'}}
  %y = tile.dot %x, %x contract [1] x [1] batch [] x [] precision tf32
      : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0> : tensor<4x8xi32>
  // expected-error@+1 {{'tile.dot' op expected operands of i8 for unsigned operands, found 'i32'}}
  %y = tile.dot %x, %x contract [1] x [1] batch [] x [] precision ieee
      {rhs_unsigned} : tensor<4x8xi32>, tensor<4x8xi32> -> tensor<4x4xi32>
  tile.return
}

//===----------------------------------------------------------------------===//
// tile.reduce, tile.arg_reduce, tile.scan, tile.random, tile.round_tf32
//===----------------------------------------------------------------------===//

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.reduce' op expected at least one axis, found none}}
  %y = tile.reduce sum %x axes [] : tensor<4x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.reduce' op expected distinct axes, found 0 twice}}
  %y = tile.reduce sum %x axes [0, 0] : tensor<4x8xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.reduce' op expected axes below 2, found 2}}
  %y = tile.reduce sum %x axes [2] : tensor<4x8xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.reduce' op expected a result of shape [8], found [4]}}
  %y = tile.reduce sum %x axes [0] : tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.reduce' op expected a result with elements of 'f32', found 'f64'}}
  %y = tile.reduce sum %x axes [0] : tensor<4x8xf32> -> tensor<8xf64>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xbf16>
  // expected-error@+1 {{'tile.reduce' op expected elements of i32, i64, f32 or f64 for 'sum', found 'bf16'}}
  %y = tile.reduce sum %x axes [0] : tensor<4x8xbf16> -> tensor<8xbf16>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0> : tensor<4x8xi32>
  // expected-error@+1 {{'tile.reduce' op expected elements of f32 or f64 for 'fmax', found 'i32'}}
  %y = tile.reduce fmax %x axes [0] : tensor<4x8xi32> -> tensor<8xi32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0> : tensor<4x8xi32>
  // expected-error@+1 {{'tile.reduce' op expected elements of i1 for 'all', found 'i32'}}
  %y = tile.reduce all %x axes [0] : tensor<4x8xi32> -> tensor<8xi32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.arg_reduce' op expected an axis below 2, found 2}}
  %y = tile.arg_reduce max %x axis 2 : tensor<4x8xf32> -> tensor<4xi64>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.arg_reduce' op expected kind 'max' or 'min', found 'sum'}}
  %y = tile.arg_reduce sum %x axis 1 : tensor<4x8xf32> -> tensor<4xi64>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-error@+1 {{'tile.arg_reduce' op expected a result of shape [4], found [8]}}
  %y = tile.arg_reduce max %x axis 1 : tensor<4x8xf32> -> tensor<8xi64>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.scan' op expected an axis below 1, found 1}}
  %y = tile.scan sum %x axis 1 : tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.scan' op expected kind 'sum', 'prod', 'max' or 'min', found 'fmax'}}
  %y = tile.scan fmax %x axis 0 : tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %x = arith.constant dense<0> : tensor<4xi8>
  // expected-error@+1 {{'tile.scan' op expected elements of i32, i64, f32 or f64 for 'sum', found 'i8'}}
  %y = tile.scan sum %x axis 0 : tensor<4xi8>
  tile.return
}

// -----

tile.kernel @k(%s: i64) {
  %x = arith.constant dense<0> : tensor<4xi64>
  // expected-error@+1 {{'tile.random' op expected a result of shape [4], found [8]}}
  %y = tile.random %s, %x : tensor<4xi64> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%s: i64) {
  // expected-error@+1 {{'tile.random' op expected offset and result to be both tiles or both scalars, found 'i64' and 'tensor<8xf32>'}}
  %y = tile.random %s, %s : i64 -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%s: f64) {
  // expected-error@+1 {{'tile.round_tf32' op operand #0 must be 32-bit float or ranked tensor of 32-bit float values, but got 'f64'}}
  %y = tile.round_tf32 %s : f64
  tile.return
}

// -----

tile.kernel @k(%s: f16) {
  // expected-error@+1 {{'tile.gelu' op operand #0 must be 32-bit float or 64-bit float or ranked tensor of 32-bit float or 64-bit float values, but got 'f16'}}
  %y = tile.gelu %s : f16
  tile.return
}

// -----

tile.kernel @k(%g: i64) {
  %c2 = arith.constant 2 : index
  %x = arith.constant dense<0> : tensor<4x8xi64>
  // expected-error@+1 {{'tile.print' op expected no valid extent or one per axis of the tiles (2), found 1}}
  tile.print "x", %g, %x valid[%c2] : i64, tensor<4x8xi64>
  tile.return
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// -----

// expected-error@+1 {{expected an element type of views (f64 f32 f16 bf16 f8E4M3FN f8E5M2 i64 i32 i16 i8), found 'i1'}}
tile.kernel @k(%a: !tile.view<4xi1>) {
  tile.return
}

// -----

// expected-error@+1 {{expected an element type of views (f64 f32 f16 bf16 f8E4M3FN f8E5M2 i64 i32 i16 i8), found 'index'}}
tile.kernel @k(%a: !tile.view<index>) {
  tile.return
}
