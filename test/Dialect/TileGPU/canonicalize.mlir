// RUN: tilec-opt --canonicalize %s | FileCheck %s

#a = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16], [32]], warps = []>
#b = #tilegpu.layout<registers = [[32]], lanes = [[1], [2], [4], [8], [16]], warps = []>
#c = #tilegpu.layout<registers = [[16]], lanes = [[1], [2], [4], [8], [32]], warps = []>

// To the layout that there is, and there and back again; but not on to a third.
// CHECK-LABEL: tile.kernel @conversions
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: tile.print "same", %[[X]]
// CHECK-NEXT: %[[B:.*]] = tilegpu.convert_layout %[[X]]
// CHECK-NEXT: tile.print "back", %[[X]]
// CHECK-NEXT: %[[C:.*]] = tilegpu.convert_layout %[[B]]
// CHECK-NEXT: tile.print "on", %[[C]]
tile.kernel @conversions(%A: !tile.view<64xf32> {tile.name = "A"}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] dims [0] pad zero : !tile.view<64xf32> -> tensor<64xf32, #a>
  %0 = tilegpu.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #a>
  tile.print "same", %0 : tensor<64xf32, #a>
  %1 = tilegpu.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
  %2 = tilegpu.convert_layout %1 : tensor<64xf32, #b> -> tensor<64xf32, #a>
  tile.print "back", %2 : tensor<64xf32, #a>
  %3 = tilegpu.convert_layout %1 : tensor<64xf32, #b> -> tensor<64xf32, #c>
  tile.print "on", %3 : tensor<64xf32, #c>
  tile.return
}
