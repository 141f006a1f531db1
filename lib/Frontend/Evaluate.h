//===- Evaluate.h - Scalar expressions on the host --------------*- C++ -*-===//
//
// The value of a scalar expression over dimensions and scalar parameters, by
// the language's own arithmetic: integers wrap, `/` and `%` floor and give 0
// for a zero divisor, f32 results are rounded to f32.
//
// The analysis folds constants with it, and a launch checks `requires` and
// computes the extents of the grid with it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_EVALUATE_H
#define TILEC_FRONTEND_EVALUATE_H

#include "lib/Frontend/TypedAST.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace tilec {

/// A value of any element type: integers and bool are in `integer`, floats in
/// `real`, exactly.
struct ScalarValue {
  DType dtype = DType::I64;
  int64_t integer = 0;
  double real = 0;

  static ScalarValue ofInt(int64_t value, DType dtype = DType::I64) {
    return {dtype, value, 0};
  }
  static ScalarValue ofFloat(double value, DType dtype = DType::F32) {
    return {dtype, 0, value};
  }
  static ScalarValue ofBool(bool value) { return {DType::Bool, value, 0}; }
};

/// What an expression may refer to, by name.
struct ScalarBindings {
  llvm::StringMap<int64_t> dims;
  llvm::StringMap<ScalarValue> params;
};

/// The value of `expr`, a scalar. An error says what has no value: a dimension
/// or parameter that is not bound, or something only a kernel can compute.
llvm::Expected<ScalarValue> evaluateScalar(const typed::Expr &expr,
                                           const ScalarBindings &bindings);

/// The value of one of Kernel::requirements.
llvm::Expected<bool> evaluateRequirement(const typed::Expr &requirement,
                                         const ScalarBindings &bindings);

/// `value` rounded to a float type: to nearest even, to infinity beyond the
/// largest finite number, except that fp8 saturates. NaN stays NaN.
double roundToFloat(double value, DType dtype);

/// `digits` (such as "1e-6") rounded once to a float type, as above.
double parseFloat(llvm::StringRef digits, bool negative, DType dtype);

/// A conversion by the rules of the language's casts: float to integer
/// truncates, saturates and turns NaN into 0; integers wrap.
ScalarValue convertScalar(ScalarValue value, DType dtype);

} // namespace tilec

#endif // TILEC_FRONTEND_EVALUATE_H
