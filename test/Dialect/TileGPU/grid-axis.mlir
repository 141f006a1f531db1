// RUN: tilec-opt --canonicalize %s | FileCheck %s

// Canonicalization folds axes of one program, and whole loops of none, but not
// where a launch counts programs along them.

// CHECK-LABEL: tile.kernel @kept
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (1, 8)
// CHECK: mapping = [#tilegpu.grid_axis<0>, #tilegpu.grid_axis<1>]
tile.kernel @kept(%A: !tile.view<?xf32> {tile.name = "A"}) {
  scf.forall (%i, %j) in (1, 8) {
    %a = tile.load %A[%j] dims [0] pad zero : !tile.view<?xf32> -> tensor<4xf32>
    tile.print "a", %a : tensor<4xf32>
  } {mapping = [#tilegpu.grid_axis<0>, #tilegpu.grid_axis<1>]}
  tile.return
}

// CHECK-LABEL: tile.kernel @none
// CHECK: scf.forall (%{{.*}}) in (0)
tile.kernel @none(%A: !tile.view<?xf32> {tile.name = "A"}) {
  scf.forall (%i) in (0) {
    %a = tile.load %A[%i] dims [0] pad zero : !tile.view<?xf32> -> tensor<4xf32>
    tile.print "a", %a : tensor<4xf32>
  } {mapping = [#tilegpu.grid_axis<0>]}
  tile.return
}

// CHECK-LABEL: tile.kernel @folded
// CHECK: scf.forall (%{{.*}}) in (8)
tile.kernel @folded(%A: !tile.view<?xf32> {tile.name = "A"}) {
  scf.forall (%i, %j) in (1, 8) {
    %a = tile.load %A[%j] dims [0] pad zero : !tile.view<?xf32> -> tensor<4xf32>
    tile.print "a", %a : tensor<4xf32>
  }
  tile.return
}
