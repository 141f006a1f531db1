// RUN: tilec-translate --tilegpu-to-cuda --checked %s | FileCheck %s
// RUN: tilec-translate --tilegpu-to-cuda %s | FileCheck --check-prefix=PLAIN %s
// RUN: tilec-translate --tilegpu-to-cuda --checked --image %s \
// RUN:   | FileCheck --check-prefix=IMAGE %s
// RUN: %if nvrtc %{ tilec-translate --tilegpu-to-cuda --checked \
// RUN:   --assemble=sm_80 %s | FileCheck --check-prefix=ASM %s %}

// What kernels report: in a checked build indices out of range, asserts and
// printed values always. Only such kernels have the parameter.

#v = #tilegpu.layout<registers = [[1]], lanes = [[2], [4], [8], [0], [0]], warps = [[16]]>

// IMAGE: "sites":[{"column":2,"file":"a.tile","kind":"range","line":1,"text":"","values":[]},
// IMAGE-SAME: {"column":4,"file":"a.tile","kind":"range","line":3,"text":"","values":[]}]
// IMAGE: "sites":[{"column":1,"file":"a.tile","kind":"assert","line":7,"text":"small","values":[]},
// IMAGE-SAME: "text":"x =","values":[{"shape":[32],"type":"f32"},{"shape":[],"type":"i64"}]}
// IMAGE: "sites":[]

// A scalar index is reported by one thread, that of a lane by the one that
// holds it; an index that is not wanted by none.

// CHECK-LABEL: indices(
// CHECK-NEXT:  bool active, long long *reports) {
// CHECK:        if (threadIdx.x == 0 && active && !((unsigned long long)g < (unsigned long long)N))
// CHECK-NEXT:       report_index(reports, 0, g, N);
// CHECK-NOT:    report_index
// CHECK:          if ((lane & 24) == 0 && !((unsigned long long)i1[r] < (unsigned long long)N))
// CHECK-NEXT:         report_index(reports, 1, i1[r], N);
// CHECK-NEXT:     if ((unsigned long long)i1[r] < (unsigned long long)N) x_value[r] = load_value(X + (int)i1[r]);
// PLAIN-LABEL: indices(
// PLAIN-NOT:   report_index(reports
// PLAIN-LABEL: says(
tile.kernel @indices(%X: !tile.view<?xf32> {tile.name = "X", tile.dims = ["N"], tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
    %I: !tile.view<32xi64> {tile.name = "I", tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
    %g: i64 {tile.name = "g"}, %active: i1 {tile.name = "active"},
    %Y: !tile.view<32xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  scf.forall (%i) in (1) {
    %ok = tile.in_bounds %g of %N if %active loc("a.tile":1:2)
    %silent = tile.in_bounds %g of %N {quiet} loc("a.tile":2:2)
    %at = tile.load %I[%c0] dims [0] pad zero : !tile.view<32xi64> -> tensor<32xi64, #v>
    %x = tile.gather %X[%at] : !tile.view<?xf32>[tensor<32xi64, #v>] -> tensor<32xf32, #v> loc("a.tile":3:4)
    tile.store %x, %Y[%c0] dims [0] if %ok : tensor<32xf32, #v>, !tile.view<32xf32>
  }
  tile.return
}

// An assert counts once for a block. A printed tile goes behind a head that one
// thread makes; where that is, it tells the others through shared memory.

// CHECK-LABEL: says(
// CHECK:        bool failed = false;
// CHECK:          failed |= !(x[r] < 4.0f);
// CHECK-NEXT:   if (__syncthreads_or(failed) && threadIdx.x == 0) report_failure(reports, 0);
// CHECK-NEXT:   long long **lines = (long long **)(shared + 64);
// CHECK-NEXT:   if (threadIdx.x == 0) lines[0] = begin_print(reports, 1, 0, 20);
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   if (lines[0]) {
// CHECK-NEXT:     if (threadIdx.x == 0)
// CHECK-NEXT:       lines[0][0] = min(N, 32);
// CHECK-NEXT:     float *elements = (float *)(lines[0] + 1);
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; ++r)
// CHECK-NEXT:       if ((lane & 24) == 0) elements[column + r] = x[r];
// CHECK-NEXT:   }
// CHECK-NEXT:   if (threadIdx.x == 0)
// CHECK-NEXT:     if (long long *line = begin_print(reports, 1, 1, 4)) *(long long *)line = g;
// CHECK-NEXT:   if (threadIdx.x == 0)
// CHECK-NEXT:     begin_print(reports, 2, -1, 3);
// PLAIN:       report_failure(reports, 0);
// PLAIN:       begin_print(reports, 1, 0, 20);
tile.kernel @says(%X: !tile.view<?xf32> {tile.name = "X", tile.dims = ["N"], tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64},
    %g: i64 {tile.name = "g"})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32, tilegpu.shared_bytes = 128 : i64} {
  %c0 = arith.constant 0 : index
  %N = tile.dim %X, 0 : !tile.view<?xf32>
  %four = arith.constant dense<4.0> : tensor<32xf32, #v>
  scf.forall (%i) in (1) {
    %valid = tile.valid %c0 to %N size 32
    %x = tile.load %X[%c0] dims [0] pad zero : !tile.view<?xf32> -> tensor<32xf32, #v>
    %small = arith.cmpf olt, %x, %four : tensor<32xf32, #v>
    tile.assert %small, "small" : tensor<32xi1, #v> loc("a.tile":7:1)
    tile.print "x =", %x, %g valid [%valid] {tilegpu.scratch = 64 : i64} : tensor<32xf32, #v>, i64 loc("a.tile":8:1)
    tile.print "done"
  }
  tile.return
}

// CHECK-LABEL: quiet(
// CHECK-NOT:   reports
// CHECK:       }
tile.kernel @quiet(%Y: !tile.view<32xf32> {tile.name = "Y", tile.access = #tile.access<out>, tile.unit_stride = 0 : i64, tilegpu.align = 16 : i64})
    attributes {tilegpu.warps = 2 : i64, tilegpu.index32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<32xf32, #v>
  scf.forall (%i) in (1) {
    tile.store %one, %Y[%c0] dims [0] : tensor<32xf32, #v>, !tile.view<32xf32>
  }
  tile.return
}

// ASM: registers, 0 bytes of stack
// ASM: registers, 0 bytes of stack
