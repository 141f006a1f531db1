// One case for each rule of the verifier of tile.attention.
// RUN: tilec-opt %s -split-input-file -verify-diagnostics

tile.kernel @query_rank(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                        %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<8xf32>
  // expected-error@+1 {{'tile.attention' op expected query of rank 2, found rank 1}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask {}
      : tensor<8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @keys_rank(%K: !tile.view<?xf32>, %V: !tile.view<?x4xf32>,
                       %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected keys of rank 2, found rank 1}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask {}
      : tensor<2x8xf32>, !tile.view<?xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @values_rank(%K: !tile.view<?x8xf32>, %V: !tile.view<?x?x4xf32>,
                         %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected values of rank 2, found rank 3}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask {}
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @head_dim(%K: !tile.view<?x16xf32>, %V: !tile.view<?x4xf32>,
                      %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected keys with the query's head dimension 8, found 16}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask {}
      : tensor<2x8xf32>, !tile.view<?x16xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @key_count(%K: !tile.view<10x8xf32>, %V: !tile.view<11x4xf32>,
                       %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected as many values as keys (10), found 11}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask {}
      : tensor<2x8xf32>, !tile.view<10x8xf32>, !tile.view<11x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @kv_tile(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                     %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected kv_tile of at least 1, found 0}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 0
      score {} mask {}
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @result_shape(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                          %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected a result of shape [2, 4], found [2, 8]}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask {}
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x8xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @lse_shape(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                       %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected lse of shape [2], found [2, 1]}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask {}
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2x1xf32>
  tile.return
}

// -----

tile.kernel @score_arguments(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                             %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected score with arguments ('f32', 'i64', 'i64'), found ('f32', 'i64')}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score { ^bb0(%s: f32, %a: i64): tile.yield %s : f32 } mask {}
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @score_yield(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                         %c: f32, %p: i1) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      // expected-error@+2 {{'tile.yield' op expected 'f32' from score, found 'i1'}}
      score { ^bb0(%s: f32, %a: i64, %b: i64):
        tile.yield %p : i1 } mask {}
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @mask_arguments(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                            %c: f32, %p: i1) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected mask with arguments ('i64', 'i64'), found ('i32', 'i64')}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask { ^bb0(%a: i32, %b: i64): tile.yield %p : i1 }
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @mask_yield(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                        %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask { ^bb0(%a: i64, %b: i64):
        // expected-error@+1 {{'tile.yield' op expected 'i1' from mask, found 'f32'}}
        tile.yield %c : f32 }
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @no_yield(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                      %c: f32) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected mask to end with tile.yield}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask { ^bb0(%a: i64, %b: i64):
        llvm.unreachable }
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.kernel @blocks(%K: !tile.view<?x8xf32>, %V: !tile.view<?x4xf32>,
                    %c: f32, %p: i1) {
  %i = arith.constant 0 : index
  %q = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error@+1 {{'tile.attention' op expected mask of one block, found 2}}
  %o, %l = tile.attention %q, %K, %V scale %c rows %i kv_tile 16
      score {} mask { ^bb0(%a: i64, %b: i64):
        cf.br ^bb1
      ^bb1:
        tile.yield %p : i1 }
      : tensor<2x8xf32>, !tile.view<?x8xf32>, !tile.view<?x4xf32>
      -> tensor<2x4xf32>, tensor<2xf32>
  tile.return
}
