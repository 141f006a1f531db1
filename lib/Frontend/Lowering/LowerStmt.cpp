//===- LowerStmt.cpp - Statements, loops, branches --------------*- C++ -*-===//
//
// A variable of the kernel is an SSA value that changes with each assignment:
// `variables` maps each one to its current value. What a loop or a branch
// assigns of the variables around it becomes the loop's iter_args or the
// branch's results, in order of their definition.
//
//     acc = zeros f32[m]
//     for k in tile(K) if any(k >= m) { acc += sum<k>(X[m, k]) }
//
//     %acc = arith.constant dense<0.0>
//     %r = scf.for %k = ... iter_args(%a = %acc) {
//       %visit = ...
//       %n = scf.if %visit { ...; scf.yield %next } else { scf.yield %a }
//       scf.yield %n
//     }
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering/LoweringImpl.h"

using namespace mlir;

namespace tilec::lowering {

void KernelLowering::lowerBody(const typed::Body &body) {
  for (const typed::Stmt *stmt : body)
    lowerStmt(stmt);
}

void KernelLowering::lowerStmt(const typed::Stmt *stmt) {
  LocScope scope(*this, stmt->range);
  switch (stmt->kind) {
  case typed::Stmt::Kind::Assign:
    return lowerAssign(llvm::cast<typed::Assign>(stmt));
  case typed::Stmt::Kind::Store:
    return lowerStore(llvm::cast<typed::Store>(stmt));
  case typed::Stmt::Kind::Attention:
    return lowerAttentionStmt(llvm::cast<typed::AttentionStmt>(stmt));
  case typed::Stmt::Kind::For:
    return lowerFor(llvm::cast<typed::For>(stmt));
  case typed::Stmt::Kind::If:
    return lowerIf(llvm::cast<typed::If>(stmt));
  case typed::Stmt::Kind::Print:
    return lowerPrint(llvm::cast<typed::Print>(stmt));
  case typed::Stmt::Kind::Assert:
    return lowerAssert(llvm::cast<typed::Assert>(stmt));
  }
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

void KernelLowering::define(typed::Var *var, const TileValue &value) {
  TileValue full = broadcast(value, var->type.axes);
  // The op that computes the value is named after the variable, unless it has
  // a name already (`b = a`) or is a whole loop.
  Operation *op = full.value.getDefiningOp();
  if (op && full.value == op->getResult(0) && !isa<scf::ForOp, scf::IfOp>(op) &&
      !isa<NameLoc>(op->getLoc()))
    op->setLoc(NameLoc::get(b.getStringAttr(var->name), op->getLoc()));
  variables[var] = std::move(full);
}

void KernelLowering::lowerAssign(const typed::Assign *assign) {
  define(assign->var, lowerExpr(assign->value));
}

void KernelLowering::lowerAttentionStmt(const typed::AttentionStmt *stmt) {
  AttentionResults results = lowerAttention(stmt->attention);
  define(stmt->result, results.result);
  define(stmt->lse, results.lse);
}

static void collectAssigned(const typed::Body &body,
                            llvm::SmallPtrSetImpl<const typed::Var *> &vars) {
  for (const typed::Stmt *stmt : body) {
    if (const auto *assign = llvm::dyn_cast<typed::Assign>(stmt)) {
      vars.insert(assign->var);
    } else if (const auto *loop = llvm::dyn_cast<typed::For>(stmt)) {
      collectAssigned(loop->body, vars);
    } else if (const auto *branch = llvm::dyn_cast<typed::If>(stmt)) {
      collectAssigned(branch->thenBody, vars);
      collectAssigned(branch->elseBody, vars);
    }
  }
}

SmallVector<typed::Var *>
KernelLowering::assignedIn(ArrayRef<const typed::Body *> bodies) {
  llvm::SmallPtrSet<const typed::Var *, 8> assigned;
  for (const typed::Body *body : bodies)
    collectAssigned(*body, assigned);
  SmallVector<typed::Var *> outer;
  for (const auto &[var, value] : variables)
    if (assigned.contains(var))
      outer.push_back(var);
  return outer;
}

SmallVector<Value> KernelLowering::currentValues(ArrayRef<typed::Var *> vars) {
  SmallVector<Value> values;
  for (typed::Var *var : vars)
    values.push_back(variables[var].value);
  return values;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value KernelLowering::loopExtent(const typed::LoopVar *var) {
  if (var->dim)
    return dimension(var->dim);
  return toIndex(lowerScalar(var->extent));
}

int64_t KernelLowering::loopStep(const typed::LoopVar *var) {
  return var->isTile ? var->axis->tileSize : 1;
}

void KernelLowering::enterLoop(const typed::LoopVar *var, Value begin,
                               Value extent, Block *body) {
  Location loc = locate(var->name, var->range);
  cast<BlockArgument>(begin).setLoc(loc);
  LoopState state;
  state.begin = begin;
  state.body = body;
  if (var->isTile)
    state.valid = b.OpBuilder::createOrFold<tile::ValidOp>(
        locate(var->range), begin, extent, var->axis->tileSize);
  loops[var] = state;
}

void KernelLowering::lowerFor(const typed::For *loop) {
  const typed::LoopVar *var = loop->var;
  Value extent = loopExtent(var);
  SmallVector<typed::Var *> carried = assignedIn(&loop->body);
  auto op =
      scf::ForOp::create(b, indexConstant(0), extent,
                         indexConstant(loopStep(var)), currentValues(carried));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    enterLoop(var, op.getInductionVar(), extent, op.getBody());
    for (auto [variable, argument] :
         llvm::zip(carried, op.getRegionIterArgs())) {
      argument.setLoc(locate(variable->name, variable->range));
      variables[variable].value = argument;
    }
    if (loop->condition)
      lowerConditionalBody(loop, carried);
    else
      lowerBody(loop->body);
    // Without iter_args the op was built with its terminator.
    if (!carried.empty())
      scf::YieldOp::create(b, currentValues(carried));
  }
  for (auto [variable, result] : llvm::zip(carried, op.getResults()))
    variables[variable].value = result;
}

/// The body of a loop that visits only some of its iterations.
void KernelLowering::lowerConditionalBody(const typed::For *loop,
                                          ArrayRef<typed::Var *> carried) {
  Value condition = lowerScalar(loop->condition);
  SmallVector<Value> before = currentValues(carried);
  auto visit = scf::IfOp::create(b, ValueRange(before).getTypes(), condition,
                                 /*withElseRegion=*/!carried.empty());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(visit.thenBlock());
    lowerBody(loop->body);
    if (!carried.empty()) {
      scf::YieldOp::create(b, currentValues(carried));
      b.setInsertionPointToStart(visit.elseBlock());
      scf::YieldOp::create(b, before);
    }
  }
  for (auto [variable, result] : llvm::zip(carried, visit.getResults()))
    variables[variable].value = result;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

void KernelLowering::lowerIf(const typed::If *branch) {
  Value condition = lowerScalar(branch->condition);
  SmallVector<typed::Var *> assigned =
      assignedIn({&branch->thenBody, &branch->elseBody});
  SmallVector<Value> before = currentValues(assigned);
  bool hasElse = !assigned.empty() || !branch->elseBody.empty();
  auto op =
      scf::IfOp::create(b, ValueRange(before).getTypes(), condition, hasElse);
  auto lowerBranch = [&](Block *block, const typed::Body &body) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    lowerBody(body);
    if (!assigned.empty())
      scf::YieldOp::create(b, currentValues(assigned));
    for (auto [variable, value] : llvm::zip(assigned, before))
      variables[variable].value = value;
  };
  lowerBranch(op.thenBlock(), branch->thenBody);
  if (hasElse)
    lowerBranch(op.elseBlock(), branch->elseBody);
  for (auto [variable, result] : llvm::zip(assigned, op.getResults()))
    variables[variable].value = result;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void KernelLowering::lowerPrint(const typed::Print *print) {
  SmallVector<Value> values, limits;
  AxisList axes; // Of all values.
  for (const typed::Expr *expr : print->values) {
    TileValue value = lowerExpr(expr);
    // i8 would print as signed.
    if (expr->type.dtype == DType::U8)
      value.value = convertInt(value.value, DType::U8, DType::I32);
    values.push_back(value.value);
    for (typed::Axis *axis : value.axes) {
      axes.push_back(axis);
      limits.push_back(partialExtent(axis));
    }
  }
  tile::PrintOp::create(b, print->label, values, validOperands(axes, limits));
}

void KernelLowering::lowerAssert(const typed::Assert *assertion) {
  TileValue condition = lowerExpr(assertion->condition);
  // Lanes outside the axes have nothing to assert.
  condition = selectValid(condition, condition.axes, tile::Pad::One);
  tile::AssertOp::create(b, condition.value, assertion->message);
}

} // namespace tilec::lowering
