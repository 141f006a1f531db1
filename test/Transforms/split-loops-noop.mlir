// Loops that stay as they are, and why.
// RUN: tilec-opt %s -tile-split-loops --remarks-filter=tile-split-loops \
// RUN:   --remark-format=emitRemark 2>&1 | FileCheck %s

// CHECK: Function=nothing {{.*}}"nothing in its body depends on which tile it is"
// CHECK: Function=dynamic_step {{.*}}"its step is not a positive constant"
// CHECK: Function=outer {{.*}}"nothing in its body depends on which tile it is"
// CHECK: Function=outer {{.*}}"it contains another loop"
// CHECK: Function=opaque {{.*}}"no tile is known to be free of the mask"
// CHECK: Function=two_axes {{.*}}"no tile is known to be free of the mask"
// CHECK: Function=narrow {{.*}}"no tile is known to be free of the mask"
// CHECK: Function=not_the_extent {{.*}}"nothing in its body depends on which tile it is"
// CHECK: Function=other_stride {{.*}}"no tile is known to be free of the mask"
// CHECK: Function=lanes {{.*}}"no tile is known to be free of the mask"
// CHECK-NOT: remark:
// CHECK: module
// CHECK-NOT: tile.range = "full"

tile.kernel @nothing(%n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = arith.index_cast %n : i64 to index
  scf.for %j = %c0 to %N step %c64 {
    tile.print "tile"
  }
  tile.return
}

tile.kernel @dynamic_step(%n: i64) {
  %c0 = arith.constant 0 : index
  %N = arith.index_cast %n : i64 to index
  scf.for %j = %c0 to %N step %N {
    %v = tile.valid %j to %N size 64
    %w = arith.index_cast %v : index to i64
    tile.print "v", %w : i64
  }
  tile.return
}

tile.kernel @outer(%n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = arith.index_cast %n : i64 to index
  scf.for %j = %c0 to %N step %c64 {
    %v = tile.valid %j to %N size 64
    %w = arith.index_cast %v : index to i64
    scf.for %k = %c0 to %N step %c64 {
      tile.print "v", %w : i64
    }
  }
  tile.return
}

tile.kernel @opaque(%A: !tile.view<?xi8>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xi8>
  %zero = arith.constant dense<0> : tensor<64xi8>
  scf.for %j = %c0 to %N step %c64 {
    %x = tile.load %A[%j] dims [0] pad zero : !tile.view<?xi8> -> tensor<64xi8>
    %m = arith.cmpi ne, %x, %zero : tensor<64xi8>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<64xi1>
    }
  }
  tile.return
}

// One iota along two axes is two positions: this is not true on all lanes.
tile.kernel @two_axes(%n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = arith.index_cast %n : i64 to index
  scf.for %j = %c0 to %N step %c64 {
    %p = tile.iota %j : tensor<64xi64>
    %a = tile.broadcast %p dims [0] : tensor<64xi64> -> tensor<64x64xi64>
    %b = tile.broadcast %p dims [1] : tensor<64xi64> -> tensor<64x64xi64>
    %m = arith.cmpi eq, %a, %b : tensor<64x64xi64>
    %any = tile.reduce any %m axes [0, 1] : tensor<64x64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<64x64xi1>
    }
  }
  tile.return
}

// 32-bit arithmetic wraps.
tile.kernel @narrow(%n: i64, %k: i32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = arith.index_cast %n : i64 to index
  %s = tensor.splat %k : tensor<64xi32>
  scf.for %j = %c0 to %N step %c64 {
    %p = tile.iota %j : tensor<64xi64>
    %q = arith.trunci %p : tensor<64xi64> to tensor<64xi32>
    %m = arith.cmpi slt, %q, %s : tensor<64xi32>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<64xi1>
    }
  }
  tile.return
}

// The tile may be cut off by another axis than the loop's.
tile.kernel @not_the_extent(%A: !tile.view<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?x?xf32>
  %M = tile.dim %A, 1 : !tile.view<?x?xf32>
  scf.for %j = %c0 to %N step %c64 {
    %v = tile.valid %j to %M size 64
    %w = arith.index_cast %v : index to i64
    tile.print "v", %w : i64
  }
  tile.return
}

// Every other position: not the loop's own tiles.
tile.kernel @other_stride(%n: i64) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %N = arith.index_cast %n : i64 to index
  %k = tensor.splat %n : tensor<64xi64>
  scf.for %j = %c0 to %N step %c64 {
    %j2 = arith.muli %j, %c2 : index
    %p = tile.iota %j2 : tensor<64xi64>
    %m = arith.cmpi slt, %p, %k : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<64xi1>
    }
  }
  tile.return
}

// The lane of a tile is the same in all tiles, and the tile's begin the same on
// all lanes; neither is a position.
tile.kernel @lanes(%n: i64) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = arith.index_cast %n : i64 to index
  scf.for %j = %c0 to %N step %c64 {
    %p = tile.iota %j : tensor<64xi64>
    %l = tile.iota %c0 : tensor<64xi64>
    %i = arith.index_cast %j : index to i64
    %b = tensor.splat %i : tensor<64xi64>
    %s = arith.addi %l, %b : tensor<64xi64>
    %m = arith.cmpi ne, %p, %s : tensor<64xi64>
    %any = tile.reduce any %m axes [0] : tensor<64xi1> -> tensor<i1>
    %visit = tensor.extract %any[] : tensor<i1>
    scf.if %visit {
      tile.print "m", %m : tensor<64xi1>
    }
  }
  tile.return
}

// Made by the pass before.
tile.kernel @twice(%A: !tile.view<?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %N = tile.dim %A, 0 : !tile.view<?xf32>
  scf.for %j = %c0 to %N step %c64 {
    %v = tile.valid %j to %N size 64
    %w = arith.index_cast %v : index to i64
    tile.print "v", %w : i64
  } {tile.range = "partial"}
  tile.return
}
