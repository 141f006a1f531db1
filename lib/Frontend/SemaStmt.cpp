//===- SemaStmt.cpp - Assignments, loops and branches -----------*- C++ -*-===//
//
// The first assignment to a name defines a variable in the innermost block, and
// settles its element type and axes; any other must agree with it. Branches on
// compile-time values are decided here, and the branch not taken is not looked
// at.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;
using llvm::StringRef;
using llvm::Twine;

void Analyzer::analyzeBlock(llvm::ArrayRef<ast::Stmt *> stmts) {
  for (ast::Stmt *stmt : stmts) {
    if (stopped())
      return;
    analyzeStmt(stmt);
  }
}

void Analyzer::analyzeStmt(ast::Stmt *stmt) {
  switch (stmt->getKind()) {
  case ast::Stmt::Kind::Assign:
    return analyzeAssign(*cast<ast::AssignStmt>(stmt));
  case ast::Stmt::Kind::For:
    return analyzeFor(*cast<ast::ForStmt>(stmt), 0);
  case ast::Stmt::Kind::Grid:
    return analyzeGrid(*cast<ast::GridStmt>(stmt));
  case ast::Stmt::Kind::If:
    return analyzeIf(*cast<ast::IfStmt>(stmt));
  case ast::Stmt::Kind::Schedule:
    return; // Taken care of for the whole kernel.
  case ast::Stmt::Kind::Expr:
    return analyzeCallStmt(*cast<ast::ExprStmt>(stmt));
  }
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

void Analyzer::analyzeAssign(const ast::AssignStmt &stmt) {
  if (stmt.getTargets().size() > 1)
    return analyzeTwoTargets(stmt);
  const ast::Target &target = stmt.getTargets().front();
  const Symbol *symbol = lookup(target.name.name);
  assignment = &stmt;
  if (symbol && symbol->kind == Symbol::Kind::Param && symbol->param->isTensor)
    store(target, symbol->param, stmt);
  else
    assignVariable(stmt, target);
  assignment = nullptr;
}

void Analyzer::reportNotAssignable(const ast::Target &target,
                                   const Symbol &symbol) {
  StringRef name = target.name.name;
  Diagnostic &diagnostic =
      error(target.range,
            "cannot assign to '" + name + "': it is " + describeSymbol(symbol));
  noteSymbol(diagnostic, symbol);
  if (symbol.kind == Symbol::Kind::Param)
    diagnostic.remedy("scalar parameters are read only: write the result to a "
                      "tensor, such as '" +
                      name + ": out " + dtypeName(symbol.param->dtype) +
                      "[1]'");
  else
    diagnostic.remedy("give the variable another name");
}

void Analyzer::assignVariable(const ast::AssignStmt &stmt,
                              const ast::Target &target) {
  StringRef name = target.name.name;
  Value value = analyze(stmt.getValue());
  if (target.hasSubscripts) {
    Symbol *symbol = require(name, target.name.range);
    if (!symbol || symbol->kind == Symbol::Kind::Poison)
      return;
    Diagnostic &diagnostic =
        error(target.range, "only tensors have subscripts, and '" + name +
                                "' is " + describeSymbol(*symbol));
    noteSymbol(diagnostic, *symbol);
    diagnostic.remedy(symbol->kind == Symbol::Kind::Var
                          ? "assign all of it: '" + name.str() + " = ...'"
                          : "give the variable another name");
    return;
  }
  if (stmt.getOp() == ast::AssignOp::Set)
    return setVariable(target, value, stmt.getRange());

  // `x += y` is `x = x + y`.
  Symbol *symbol =
      require(name, target.name.range, "define it first: '" + name + " = ...'");
  if (!symbol || symbol->kind == Symbol::Kind::Poison)
    return;
  if (symbol->kind != Symbol::Kind::Var)
    return reportNotAssignable(target, *symbol);
  auto *old = make<VarRef>(target.range);
  old->var = symbol->var;
  old->type = symbol->var->type;
  if (!value)
    return;
  reassign(
      target, symbol->var,
      binary(arithmeticOp(stmt.getOp()), Value(old), value, stmt.getRange()),
      stmt.getRange());
}

void Analyzer::setVariable(const ast::Target &target, Value value,
                           SourceRange range) {
  StringRef name = target.name.name;
  if (Symbol *symbol = lookup(name)) {
    if (symbol->kind == Symbol::Kind::Poison)
      return;
    if (symbol->kind != Symbol::Kind::Var)
      return reportNotAssignable(target, *symbol);
    return reassign(target, symbol->var, value, range);
  }
  value = settle(value);
  if (!value)
    return definePoison(target.name);
  Symbol symbol;
  symbol.kind = Symbol::Kind::Var;
  symbol.name = name;
  symbol.range = target.name.range;
  symbol.var = kernel->arena.make<Var>();
  symbol.var->name = name;
  symbol.var->range = target.name.range;
  symbol.var->type = value.type();
  auto *node = kernel->arena.make<Assign>();
  node->range = range;
  node->var = symbol.var;
  node->isDefinition = true;
  node->value = value.expr;
  body->push_back(node);
  recordDependencies(symbol.var, *value.expr);
  define(symbol);
}

void Analyzer::reassign(const ast::Target &target, Var *var, Value value,
                        SourceRange range) {
  if (!value)
    return;
  for (Axis *axis : value.type().axes) {
    if (var->type.hasAxis(axis))
      continue;
    Diagnostic &diagnostic =
        error(range, "the value has the axis '" + axis->name + "', which '" +
                         var->name + "' lacks: expected " +
                         (var->type.isScalar()
                              ? std::string("a scalar")
                              : "axes out of " + describeAxes(var->type.axes)) +
                         ", found " + describeAxes(value.type().axes));
    diagnostic.note(var->range, "'" + var->name + "' is defined here, as " +
                                    describe(var->type));
    diagnostic.remedy("reduce it, for example with sum<" + axis->name +
                      ">(...), or define '" + var->name + "' with that axis: " +
                      "'zeros " + describe(value.type()) + "'");
    return;
  }
  Expr *converted =
      convertImplicitly(value, var->type.dtype, Conversion::Assign,
                        "the variable '" + var->name + "'", var->range);
  if (!converted)
    return;
  auto *node = kernel->arena.make<Assign>();
  node->range = range;
  node->var = var;
  node->value = converted;
  body->push_back(node);
  recordDependencies(var, *converted);
}

void Analyzer::analyzeTwoTargets(const ast::AssignStmt &stmt) {
  const auto *call = dyn_cast<ast::CallExpr>(stmt.getValue());
  Callee callee;
  if (call && call->getCallee() == "attention")
    callee = requireCallee(call->getCallee(), call->getCalleeRange());
  bool isAttention = callee.builtin &&
                     callee.builtin->kind == Builtin::Kind::Attention &&
                     stmt.getTargets().size() == 2;
  if (!isAttention) {
    error(stmt.getRange(),
          "expected one target, found " + Twine(stmt.getTargets().size()))
        .remedy("only attention(...) gives two values: the result and the "
                "logarithm of the sum of exponentials");
    for (const ast::Target &target : stmt.getTargets())
      if (!target.hasSubscripts)
        definePoison(target.name);
    return;
  }
  Attention *attention =
      checkArguments(*call, *callee.builtin) ? attentionCall(*call) : nullptr;
  Value results[2];
  if (attention) {
    auto *node = kernel->arena.make<AttentionStmt>();
    node->range = stmt.getRange();
    node->attention = attention;
    Var **vars[2] = {&node->result, &node->lse};
    for (unsigned i = 0; i < 2; ++i) {
      const ast::Target &target = stmt.getTargets()[i];
      auto *var = *vars[i] = kernel->arena.make<Var>();
      var->name = target.name.name;
      var->range = target.name.range;
      var->type.dtype = DType::F32;
      if (i == 0)
        var->type = attention->type;
      else if (attention->row)
        var->type.axes.push_back(attention->row);
      auto *ref = make<VarRef>(target.range);
      ref->var = var;
      ref->type = var->type;
      results[i] = ref;
    }
    body->push_back(node);
  }
  for (unsigned i = 0; i < 2; ++i) {
    const ast::Target &target = stmt.getTargets()[i];
    const Symbol *symbol = lookup(target.name.name);
    if (symbol && symbol->kind == Symbol::Kind::Param &&
        symbol->param->isTensor) {
      storeValue(target, symbol->param, results[i], stmt.getRange());
    } else if (target.hasSubscripts) {
      // Reports that only tensors have subscripts.
      assignVariable(stmt, target);
    } else {
      setVariable(target, results[i], stmt.getRange());
    }
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool Analyzer::analyzeExtent(const ast::Binding &binding, LoopVar &var) {
  const auto *name = dyn_cast<ast::NameExpr>(binding.extent);
  const Symbol *symbol = name ? lookup(name->getName()) : nullptr;
  if (symbol && symbol->kind == Symbol::Kind::Dim) {
    var.dim = symbol->dim;
    return true;
  }
  Value extent = analyze(binding.extent);
  if (!extent)
    return false;
  if (isInteger(extent.dtype()) && extent.type().isScalar()) {
    if (const auto *number = dyn_cast<IntConst>(extent.expr);
        number && number->value < 0) {
      error(extent.range(),
            "expected an extent of 0 or more, found " + Twine(number->value))
          .remedy("a loop visits the positions from 0 up to its extent");
      return false;
    }
    var.extent = convert(extent, DType::I64);
    return true;
  }
  ValueType found = extent.type();
  if (extent.literal)
    found.dtype = DType::F32;
  Diagnostic &diagnostic = error(
      extent.range(), "expected a dimension or an integer as the extent of '" +
                          binding.name.name + "', found " + describe(found));
  if (symbol && symbol->kind == Symbol::Kind::Param &&
      symbol->param->isTensor) {
    diagnostic.note(symbol->range, "'" + symbol->name + "' is declared here");
    diagnostic.remedy("name the dimension of '" + symbol->name +
                      "' that is meant");
  } else if (symbol && symbol->kind == Symbol::Kind::Loop) {
    diagnostic.remedy("a tile is not divided again: loop over its dimension");
  } else {
    diagnostic.remedy("dimensions are the names in the shapes of parameters");
  }
  return false;
}

LoopVar *Analyzer::analyzeBinding(const ast::Binding &binding, bool isGrid) {
  auto *var = kernel->arena.make<LoopVar>();
  var->name = binding.name.name;
  var->range = binding.name.range;
  var->isTile = binding.isTile;
  bool valid = analyzeExtent(binding, *var);
  if (valid && isGrid && var->extent)
    valid = checkLaunchConstant(*var->extent, "the extent of a grid variable");
  if (binding.size) {
    Value size = analyze(binding.size);
    const auto *number = size ? dyn_cast<IntConst>(size.expr) : nullptr;
    constexpr int64_t maxTileSize = 1 << 20;
    if (number && number->value > 0 && number->value <= maxTileSize) {
      var->fixedSize = number->value;
    } else if (size) {
      error(size.range(),
            "expected a compile-time integer from 1 to " + Twine(maxTileSize) +
                " as the size of a tile, found " +
                (number ? Twine(number->value).str() : describe(size.type())))
          .remedy("leave the size out, and the schedule chooses it");
      valid = false;
    } else {
      valid = false;
    }
  }
  valid &= checkUnused(binding.name, "loop variable");
  if (!valid) {
    definePoison(binding.name);
    return nullptr;
  }
  if (var->isTile) {
    var->axis = kernel->arena.make<Axis>();
    var->axis->kind = Axis::Kind::Tile;
    var->axis->name = var->name;
    var->axis->dim = var->dim;
    var->axis->var = var;
    kernel->axes.push_back(var->axis);
  }
  Symbol symbol;
  symbol.kind = Symbol::Kind::Loop;
  symbol.name = var->name;
  symbol.range = var->range;
  symbol.loop = var;
  define(symbol);
  return var;
}

void Analyzer::analyzeGrid(const ast::GridStmt &stmt) {
  for (const ast::Binding &binding : stmt.getBindings())
    if (LoopVar *var = analyzeBinding(binding, /*isGrid=*/true))
      kernel->grid.push_back(var);
}

void Analyzer::analyzeFor(const ast::ForStmt &stmt, unsigned binding) {
  // `for a in A, b in B` is a loop in a loop; the condition, which may speak of
  // all variables, is that of the innermost.
  pushScope();
  LoopVar *var = analyzeBinding(stmt.getBindings()[binding], /*isGrid=*/false);
  auto *loop = kernel->arena.make<For>();
  loop->range = stmt.getRange();
  loop->var = var;
  Body *outer = std::exchange(body, &loop->body);
  if (binding + 1 < stmt.getBindings().size()) {
    analyzeFor(stmt, binding + 1);
  } else {
    if (stmt.getCondition()) {
      inLoopCondition = true;
      loop->condition =
          analyzeCondition(stmt.getCondition(), "the condition of 'for'").expr;
      inLoopCondition = false;
    }
    analyzeBlock(stmt.getBody()->getStmts());
  }
  body = outer;
  popScope();
  if (var)
    body->push_back(loop);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

Value Analyzer::analyzeCondition(ast::Expr *expr, StringRef what) {
  Value condition = analyze(expr);
  if (!condition || !requireBool(condition, what))
    return {};
  if (condition.type().isScalar())
    return condition;
  Diagnostic &diagnostic =
      error(condition.range(), "expected one bool for " + what + ", found " +
                                   describe(condition.type()));
  if (what.ends_with("'if'"))
    diagnostic.remedy("choose element by element with where(condition, a, b), "
                      "or ask for any(...) or all(...) of the tile");
  else
    diagnostic.remedy("write any(...): the iteration is made if the condition "
                      "holds anywhere");
  return {};
}

void Analyzer::analyzeIf(const ast::IfStmt &stmt) {
  Value condition =
      analyzeCondition(stmt.getCondition(), "the condition of 'if'");
  auto analyzeBranch = [&](const ast::Block *block, Body *into) {
    if (!block)
      return;
    Body *outer = std::exchange(body, into);
    pushScope();
    analyzeBlock(block->getStmts());
    popScope();
    body = outer;
  };
  const auto *decided =
      condition ? dyn_cast<BoolConst>(condition.expr) : nullptr;
  if (decided)
    return analyzeBranch(decided->value ? stmt.getThen() : stmt.getElse(),
                         body);
  auto *node = kernel->arena.make<If>();
  node->range = stmt.getRange();
  node->condition = condition.expr;
  analyzeBranch(stmt.getThen(), &node->thenBody);
  analyzeBranch(stmt.getElse(), &node->elseBody);
  if (condition)
    body->push_back(node);
}

//===----------------------------------------------------------------------===//
// Calls for their effect
//===----------------------------------------------------------------------===//

void Analyzer::analyzeCallStmt(const ast::ExprStmt &stmt) {
  const auto *call = dyn_cast<ast::CallExpr>(stmt.getExpr());
  const Builtin *builtin = call ? findBuiltin(call->getCallee()) : nullptr;
  if (builtin && builtin->isStatement() &&
      requireCallee(call->getCallee(), call->getCalleeRange()).builtin ==
          builtin) {
    if (!checkArguments(*call, *builtin))
      return;
    return builtin->kind == Builtin::Kind::Print ? analyzePrint(*call)
                                                 : analyzeAssert(*call);
  }
  if (Value value = analyze(stmt.getExpr()))
    error(stmt.getRange(), "this value is not used")
        .remedy("assign it to a variable or a tensor; only print(...) and "
                "assert(...) stand alone");
}

void Analyzer::analyzePrint(const ast::CallExpr &call) {
  auto *node = kernel->arena.make<Print>();
  node->range = call.getRange();
  bool valid = true;
  for (const ast::CallArg &arg : call.getArgs()) {
    if (const auto *text = dyn_cast<ast::StringLiteral>(arg.value)) {
      if (&arg != &call.getArgs().front()) {
        error(text->getRange(), "only the first argument of 'print' can be a "
                                "text")
            .remedy("write several 'print' lines");
        valid = false;
      }
      node->label = text->getValue().str();
      continue;
    }
    Value value = analyzeTyped(arg.value);
    valid &= static_cast<bool>(value);
    node->values.push_back(value.expr);
  }
  if (valid)
    body->push_back(node);
}

void Analyzer::analyzeAssert(const ast::CallExpr &call) {
  auto *node = kernel->arena.make<Assert>();
  node->range = call.getRange();
  Value condition = analyze(call.getArgs()[0].value);
  bool valid = requireBool(condition, "the condition of 'assert'");
  node->condition = condition.expr;
  if (call.getArgs().size() == 2) {
    ast::Expr *message = call.getArgs()[1].value;
    if (const auto *text = dyn_cast<ast::StringLiteral>(message)) {
      node->message = text->getValue().str();
    } else {
      error(message->getRange(),
            "expected a text as the second argument of 'assert'")
          .remedy("write assert(condition, \"what is wrong\")");
      valid = false;
    }
  }
  if (valid)
    body->push_back(node);
}
