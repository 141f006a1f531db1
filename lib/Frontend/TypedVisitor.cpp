//===- TypedVisitor.cpp - Walking over elaborated kernels -------*- C++ -*-===//
//
// The switch over all kinds of nodes; see the header.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/TypedVisitor.h"

using namespace tilec;
using namespace tilec::typed;
using llvm::cast;

void typed::forEachOperand(const Expr &expr,
                           llvm::function_ref<void(Expr &)> fn) {
  auto visit = [&](Expr *operand) {
    if (operand)
      fn(*operand);
  };
  switch (expr.kind) {
  case Expr::Kind::IntConst:
  case Expr::Kind::FloatConst:
  case Expr::Kind::BoolConst:
  case Expr::Kind::DimExtent:
  case Expr::Kind::ScalarParam:
  case Expr::Kind::VarRef:
  case Expr::Kind::Position:
    return;
  case Expr::Kind::Load:
    for (const Index &index : cast<Load>(expr).indices)
      visit(index.expr);
    return;
  case Expr::Kind::Unary:
    return visit(cast<Unary>(expr).operand);
  case Expr::Kind::Binary:
    visit(cast<Binary>(expr).lhs);
    return visit(cast<Binary>(expr).rhs);
  case Expr::Kind::Math:
    return visit(cast<Math>(expr).operand);
  case Expr::Kind::Cast:
    return visit(cast<Cast>(expr).operand);
  case Expr::Kind::Where:
    visit(cast<Where>(expr).condition);
    visit(cast<Where>(expr).onTrue);
    return visit(cast<Where>(expr).onFalse);
  case Expr::Kind::Full:
    return visit(cast<Full>(expr).value);
  case Expr::Kind::Reduce:
    return visit(cast<Reduce>(expr).operand);
  case Expr::Kind::Scan:
    return visit(cast<Scan>(expr).operand);
  case Expr::Kind::Dot:
    visit(cast<Dot>(expr).lhs);
    return visit(cast<Dot>(expr).rhs);
  case Expr::Kind::Random:
    visit(cast<Random>(expr).seed);
    return visit(cast<Random>(expr).offset);
  case Expr::Kind::Let:
    for (auto [var, value] : cast<Let>(expr).bindings)
      visit(value);
    return visit(cast<Let>(expr).body);
  case Expr::Kind::Attention: {
    const auto &attention = cast<Attention>(expr);
    visit(attention.query);
    visit(attention.keys);
    visit(attention.values);
    visit(attention.rowPosition);
    visit(attention.scale);
    if (attention.score)
      visit(attention.score->body);
    if (attention.mask)
      visit(attention.mask->body);
    return;
  }
  }
}

void typed::walk(Expr &expr, llvm::function_ref<void(Expr &)> fn) {
  forEachOperand(expr, [&](Expr &operand) { walk(operand, fn); });
  fn(expr);
}

void typed::forEachExpr(const Stmt &stmt, llvm::function_ref<void(Expr &)> fn) {
  auto visit = [&](Expr *expr) {
    if (expr)
      fn(*expr);
  };
  switch (stmt.kind) {
  case Stmt::Kind::Assign:
    return visit(cast<Assign>(stmt).value);
  case Stmt::Kind::Store:
    for (const Index &index : cast<Store>(stmt).indices)
      visit(index.expr);
    return visit(cast<Store>(stmt).value);
  case Stmt::Kind::Attention:
    return visit(cast<AttentionStmt>(stmt).attention);
  case Stmt::Kind::For:
    visit(cast<For>(stmt).var->extent);
    return visit(cast<For>(stmt).condition);
  case Stmt::Kind::If:
    return visit(cast<If>(stmt).condition);
  case Stmt::Kind::Print:
    for (Expr *value : cast<Print>(stmt).values)
      visit(value);
    return;
  case Stmt::Kind::Assert:
    return visit(cast<Assert>(stmt).condition);
  }
}

void typed::walkStmts(const Body &body, llvm::function_ref<void(Stmt &)> fn) {
  for (Stmt *stmt : body) {
    fn(*stmt);
    if (auto *loop = llvm::dyn_cast<For>(stmt)) {
      walkStmts(loop->body, fn);
    } else if (auto *branch = llvm::dyn_cast<If>(stmt)) {
      walkStmts(branch->thenBody, fn);
      walkStmts(branch->elseBody, fn);
    }
  }
}

void typed::walkExprs(const Body &body, llvm::function_ref<void(Expr &)> fn) {
  walkStmts(body, [&](Stmt &stmt) {
    forEachExpr(stmt, [&](Expr &expr) { walk(expr, fn); });
  });
}
