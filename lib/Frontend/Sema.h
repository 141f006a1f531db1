//===- Sema.h - From syntax to an elaborated kernel -------------*- C++ -*-===//
//
// Semantic analysis of one kernel for given values of its compile-time
// parameters. See TypedAST.h for what it makes, docs/language.md for the rules
// it enforces.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_SEMA_H
#define TILEC_FRONTEND_SEMA_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/TypedAST.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <string>

namespace tilec {

/// Values for compile-time parameters, as text: "true", "128", "bf16", or the
/// name of a function. What is not given takes its default.
using CompileTimeArgs = llvm::StringMap<std::string>;

/// Analyzes the kernel `decl` of `program`. `target` ("cpu", "sm_90a") selects
/// among `schedule ... for` declarations. Returns null after reporting errors
/// to `diags`.
std::unique_ptr<typed::Kernel> analyzeKernel(const ast::Program &program,
                                             const ast::KernelDecl &decl,
                                             const CompileTimeArgs &args,
                                             llvm::StringRef target,
                                             DiagnosticEngine &diags);

/// Checks everything in `program` that can be checked without a launch:
/// duplicate names, every kernel whose compile-time parameters all have values
/// or defaults, and every function without compile-time parameters.
void checkProgram(const ast::Program &program, DiagnosticEngine &diags);

} // namespace tilec

#endif // TILEC_FRONTEND_SEMA_H
