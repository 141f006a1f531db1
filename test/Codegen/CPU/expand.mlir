// RUN: tilec-opt %s --cpu-expand-math | FileCheck %s --check-prefix=MATH
// RUN: tilec-opt %s --cpu-expand-narrow-floats | FileCheck %s --check-prefix=FLOAT
// RUN: tilec-opt %s --cpu-expand-narrow-floats=f16c=true \
// RUN:   | FileCheck %s --check-prefix=F16C

// f32 is written out, f64 and what the C library does better stay.

// MATH-LABEL: func.func @functions
// MATH-NOT:     math.{{exp|log|tanh|erf}}{{.*}} : f32
// MATH:         math.sin %{{.*}} : f32
// MATH:         math.exp %{{.*}} : f64
// MATH-NOT:     arith.floordivsi
func.func @functions(%x: f32, %y: f64, %i: i32) -> (f32, f64, i32) {
  %a = math.exp %x : f32
  %b = math.exp2 %a : f32
  %c = math.log %b : f32
  %d = math.log2 %c : f32
  %e = math.tanh %d : f32
  %f = math.erf %e : f32
  %g = math.sin %f : f32
  %h = math.exp %y : f64
  %j = arith.floordivsi %i, %i : i32
  return %g, %h, %j : f32, f64, i32
}

// FLOAT-LABEL: func.func @narrow
// FLOAT-NOT:     arith.{{extf|truncf}}{{.*}}bf16
// FLOAT-NOT:     arith.{{extf|truncf}}{{.*}}f16
// FLOAT-NOT:     arith.{{extf|truncf}}{{.*}}f8
// FLOAT:         arith.truncf %{{.*}} : f64 to f32
// F16C-LABEL:  func.func @narrow
// F16C:          arith.extf %{{.*}} : f16 to f32
// F16C-NOT:      arith.{{extf|truncf}}{{.*}}bf16
func.func @narrow(%h: f16, %b: bf16, %e: f8E4M3FN, %y: f64)
    -> (f32, f32, f32, bf16, f8E5M2) {
  %0 = arith.extf %h : f16 to f32
  %1 = arith.extf %b : bf16 to f32
  %2 = arith.extf %e : f8E4M3FN to f32
  %3 = arith.truncf %y : f64 to bf16
  %4 = arith.truncf %2 : f32 to f8E5M2
  return %0, %1, %2, %3, %4 : f32, f32, f32, bf16, f8E5M2
}

// Vectors as well.

// FLOAT-LABEL: func.func @vectors
// FLOAT:         arith.extui %{{.*}} : vector<16xi16> to vector<16xi32>
// FLOAT-NOT:     arith.extf
func.func @vectors(%b: vector<16xbf16>) -> vector<16xf32> {
  %0 = arith.extf %b : vector<16xbf16> to vector<16xf32>
  return %0 : vector<16xf32>
}
