// Types and attributes in their text form.
// RUN: %round-trip

// CHECK-LABEL: tile.kernel @views
tile.kernel @views(
    // CHECK-SAME: !tile.view<?x128xbf16>
    %a: !tile.view<?x128xbf16>,
    // CHECK-SAME: !tile.view<f32>
    %b: !tile.view<f32>,
    // CHECK-SAME: !tile.view<0x?x?x8xi64>
    %c: !tile.view<0x?x?x8xi64>,
    // CHECK-SAME: !tile.view<3xf64>
    %d: !tile.view<3xf64>,
    // CHECK-SAME: !tile.view<3xf16>
    %e: !tile.view<3xf16>,
    // CHECK-SAME: !tile.view<3xf8E4M3FN>
    %f: !tile.view<3xf8E4M3FN>,
    // CHECK-SAME: !tile.view<3xf8E5M2>
    %g: !tile.view<3xf8E5M2>,
    // CHECK-SAME: !tile.view<3xi32>
    %h: !tile.view<3xi32>,
    // CHECK-SAME: !tile.view<3xi16>
    %i: !tile.view<3xi16>,
    // CHECK-SAME: !tile.view<3xi8>
    %j: !tile.view<3xi8>) {
  tile.return
}

// CHECK-LABEL: tile.kernel @attributes
tile.kernel @attributes() attributes {
    // CHECK-SAME: a0 = #tile<pad undef>
    a0 = #tile<pad undef>,
    // CHECK-SAME: a1 = #tile.access<inout>
    a1 = #tile.access<inout>,
    // CHECK-SAME: a2 = #tile<reduce_kind fmax>
    a2 = #tile<reduce_kind fmax>,
    // CHECK-SAME: a3 = #tile<precision tf32x3>
    a3 = #tile<precision tf32x3>,
    // CHECK-SAME: tile.schedule = #tile.schedule<{m = 128 : i64, stages = 4 : i64}>
    tile.schedule = #tile.schedule<{m = 128, stages = 4}>} {
  tile.return
}
