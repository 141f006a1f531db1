//===- TypedASTPrinter.h - Elaborated kernels as text -----------*- C++ -*-===//
//
// A compact dump of what the analysis made of a kernel, for tests and for
// `tilec --emit=typed`:
//
//     kernel scale(A: in bf16[M, K], s: in f32[M], Y: out f32[M, K])
//       dims M, K (whole)
//       grid m in tile(M)
//       store Y[m, :K] = (f32(A[m, :K]) * s[m]) : f32[m, K]
//
// Reading guide: every conversion is written out as T(x); `: f32[m, K]` at the
// end of a line is the type of its value; `:K` is a whole axis; a subscript
// that is checked at run time ends in `?`, and one that gathers begins with
// `@`; numbers that are neither i64 nor f32 carry their type, as in 0.5:f64.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_TYPEDASTPRINTER_H
#define TILEC_FRONTEND_TYPEDASTPRINTER_H

#include "lib/Frontend/TypedAST.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tilec {

void printTyped(const typed::Kernel &kernel, llvm::raw_ostream &os);

/// One expression, such as a requirement, on one line.
std::string formatTyped(const typed::Expr &expr);
/// "f32[m, K]", or "f32" for a scalar.
std::string formatTyped(const typed::ValueType &type);

} // namespace tilec

#endif // TILEC_FRONTEND_TYPEDASTPRINTER_H
