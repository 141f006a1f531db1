//===- AST.cpp - Spellings and small queries --------------------*- C++ -*-===//
//
// The out-of-line part of the syntax tree: how operators are written, and the
// two statements of a kernel that others look for.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/AST.h"

#include "llvm/Support/ErrorHandling.h"

using namespace tilec;
using namespace tilec::ast;

llvm::StringRef ast::spelling(UnaryOp op) {
  return op == UnaryOp::Neg ? "-" : "!";
}

llvm::StringRef ast::spelling(BinaryOp op) {
  switch (op) {
  case BinaryOp::Or:
    return "||";
  case BinaryOp::And:
    return "&&";
  case BinaryOp::Eq:
    return "==";
  case BinaryOp::Ne:
    return "!=";
  case BinaryOp::Lt:
    return "<";
  case BinaryOp::Le:
    return "<=";
  case BinaryOp::Gt:
    return ">";
  case BinaryOp::Ge:
    return ">=";
  case BinaryOp::Add:
    return "+";
  case BinaryOp::Sub:
    return "-";
  case BinaryOp::Mul:
    return "*";
  case BinaryOp::Div:
    return "/";
  case BinaryOp::Mod:
    return "%";
  }
  llvm_unreachable("not a binary operator");
}

llvm::StringRef ast::spelling(AssignOp op) {
  switch (op) {
  case AssignOp::Set:
    return "=";
  case AssignOp::Add:
    return "+=";
  case AssignOp::Sub:
    return "-=";
  case AssignOp::Mul:
    return "*=";
  case AssignOp::Div:
    return "/=";
  }
  llvm_unreachable("not an assignment operator");
}

llvm::StringRef ast::spelling(Access access) {
  switch (access) {
  case Access::In:
    return "in";
  case Access::Out:
    return "out";
  case Access::InOut:
    return "inout";
  case Access::Add:
    return "add";
  }
  llvm_unreachable("not an access");
}

GridStmt *KernelDecl::findGrid() const {
  for (Stmt *stmt : body->getStmts())
    if (auto *grid = llvm::dyn_cast<GridStmt>(stmt))
      return grid;
  return nullptr;
}

ScheduleStmt *KernelDecl::findSchedule() const {
  for (Stmt *stmt : body->getStmts())
    if (auto *schedule = llvm::dyn_cast<ScheduleStmt>(stmt))
      return schedule;
  return nullptr;
}
