//===- TypedVisitor.h - Walking over elaborated kernels ---------*- C++ -*-===//
//
// One place that knows which operands each node of the typed tree has, so that
// an analysis that only looks for something (which loop variables does this
// index depend on?) need not switch over all kinds of nodes.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_TYPEDVISITOR_H
#define TILEC_FRONTEND_TYPEDVISITOR_H

#include "lib/Frontend/TypedAST.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilec::typed {

/// Calls `fn` with each operand of `expr`: also the indices of a Load, the
/// values a Let binds, and the bodies of an Attention's lambdas.
void forEachOperand(const Expr &expr, llvm::function_ref<void(Expr &)> fn);

/// Visits `expr` and everything below it, operands first.
void walk(Expr &expr, llvm::function_ref<void(Expr &)> fn);

/// Visits each expression directly in `stmt` (not below those, nor in the
/// bodies of loops and branches).
void forEachExpr(const Stmt &stmt, llvm::function_ref<void(Expr &)> fn);

/// Visits each statement of `body` and of the bodies in it, outer before inner.
void walkStmts(const Body &body, llvm::function_ref<void(Stmt &)> fn);

/// Visits every expression of `body`, operands first.
void walkExprs(const Body &body, llvm::function_ref<void(Expr &)> fn);

} // namespace tilec::typed

#endif // TILEC_FRONTEND_TYPEDVISITOR_H
