//===- SemaInline.cpp - Functions become expressions ------------*- C++ -*-===//
//
// A call of a function is replaced by its body, analyzed anew for each call:
// that gives generic functions, and functions that work on tiles of any axes,
// without a notion of either in the typed tree. Arguments and local variables
// are computed once, by a Let; arguments that cost nothing are put in place.
//
// A function's own assignments bind names, they do not change variables. As its
// branches are all decided at compile time, that is the same thing.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Value Analyzer::call(const Callee &callee,
                     llvm::ArrayRef<ast::TypeArg> typeArgs,
                     llvm::ArrayRef<Value> args, SourceRange range) {
  size_t minArgs, maxArgs;
  if (callee.fn) {
    minArgs = maxArgs = callee.fn->getParams().size();
  } else if (callee.resultType) {
    minArgs = maxArgs = callee.paramTypes.size();
  } else {
    minArgs = callee.builtin->minArgs;
    maxArgs = callee.builtin->maxArgs;
  }
  bool callable = callee.fn || callee.builtin->isElementwise();
  if (!callable || args.size() < minArgs || args.size() > maxArgs) {
    Diagnostic &diagnostic =
        error(range, "expected a function of " + Twine(args.size()) +
                         " parameters, found '" + callee.name() + "'");
    if (callee.fn)
      diagnostic.note(callee.fn->getNameRange(),
                      "'" + callee.name() + "' is defined here");
    diagnostic.remedy("a lambda can call it with other arguments");
    return {};
  }
  if (callee.resultType)
    return callBound(callee, args, range);
  return callee.fn ? inlineFn(*callee.fn, typeArgs, args, range)
                   : elementwise(*callee.builtin, args, range);
}

static std::string usageOf(const ast::FnDecl &fn) {
  std::string text = fn.getName().str() + "(";
  for (const ast::Param &param : fn.getParams())
    text +=
        (&param == fn.getParams().begin() ? "" : ", ") + param.name.name.str();
  return text + ")";
}

Value Analyzer::callFn(const ast::CallExpr &call, const ast::FnDecl &fn) {
  llvm::ArrayRef<ast::Param> params = fn.getParams();
  llvm::SmallVector<StringRef> names;
  for (const ast::Param &param : params)
    names.push_back(param.name.name);
  llvm::SmallVector<Value, 4> args(params.size());
  llvm::SmallVector<bool, 4> isGiven(params.size(), false);
  bool valid = true;
  unsigned given = 0;
  for (const ast::CallArg &arg : call.getArgs()) {
    Value value = analyze(arg.value);
    valid &= static_cast<bool>(value);
    size_t position = given++;
    if (arg.isNamed()) {
      position = llvm::find(names, arg.name) - names.begin();
      if (position == params.size()) {
        error(arg.nameRange, "'" + fn.getName() + "' has no parameter named '" +
                                 arg.name + "'")
            .note(fn.getNameRange(), "'" + fn.getName() + "' is defined here")
            .remedy(suggest(arg.name, names, "usage: " + usageOf(fn)));
        valid = false;
        continue;
      }
      if (isGiven[position]) {
        error(arg.nameRange, "the parameter '" + arg.name + "' of '" +
                                 fn.getName() + "' is given twice")
            .remedy("usage: " + usageOf(fn));
        valid = false;
      }
    }
    if (position < params.size()) {
      args[position] = value;
      isGiven[position] = true;
    }
  }
  if (given != params.size() || (valid && llvm::is_contained(isGiven, false))) {
    error(call.getRange(),
          "expected " + Twine(params.size()) +
              (params.size() == 1 ? " argument" : " arguments") + " for '" +
              fn.getName() + "', found " + Twine(given))
        .note(fn.getNameRange(), "'" + fn.getName() + "' is defined here")
        .remedy("usage: " + usageOf(fn));
    return {};
  }
  return valid ? inlineFn(fn, call.getTypeArgs(), args, call.getRange())
               : Value();
}

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

/// Costs nothing, so it may stand in several places.
static bool isSimple(const Expr &expr) {
  return isa<IntConst, FloatConst, BoolConst, DimExtent, ScalarParam, VarRef,
             Position>(expr);
}

Value Analyzer::inlineFn(const ast::FnDecl &fn,
                         llvm::ArrayRef<ast::TypeArg> typeArgs,
                         llvm::ArrayRef<Value> args, SourceRange range) {
  for (const auto &[outer, where] : inlining) {
    if (outer != &fn)
      continue;
    Diagnostic &diagnostic =
        error(range, "'" + fn.getName() + "' calls itself" +
                         (inlining.back().first == &fn
                              ? Twine("")
                              : ", through '" +
                                    inlining.back().first->getName() + "'"));
    diagnostic.note(fn.getNameRange(),
                    "'" + fn.getName() + "' is defined here");
    diagnostic.remedy("functions are put in the place of their calls, so they "
                      "cannot be recursive");
    return {};
  }
  constexpr size_t maxInlining = 100;
  if (inlining.size() >= maxInlining) {
    giveUp(range,
           "functions call one another more than " + Twine(maxInlining) +
               " levels deep",
           "put some of them together");
    return {};
  }
  if (typeArgs.size() > fn.getCtParams().size()) {
    error(typeArgs[fn.getCtParams().size()].range,
          "expected at most " + Twine(fn.getCtParams().size()) +
              " compile-time arguments for '" + fn.getName() + "', found " +
              Twine(typeArgs.size()))
        .note(fn.getNameRange(), "'" + fn.getName() + "' is defined here")
        .remedy("leave the others out");
    return {};
  }
  // Arguments are names of the caller.
  llvm::SmallVector<std::optional<CtValue>, 4> given(fn.getCtParams().size());
  for (size_t i = 0; i < typeArgs.size(); ++i) {
    given[i] = ctFromArg(fn.getCtParams()[i], typeArgs[i]);
    if (!given[i])
      return {};
  }

  Environment inner;
  inner.fn = &fn;
  inner.file = index.fileOf(fn);
  inner.caller = env;
  inner.scopes.emplace_back();
  Environment *outer = std::exchange(env, &inner);
  Value result;
  if (bindCtParams(fn.getCtParams(), given, fn, range)) {
    inlining.push_back({&fn, range});
    result = analyzeFn(fn, args, range);
    inlining.pop_back();
  }
  env = outer;
  return result;
}

Value Analyzer::analyzeFn(const ast::FnDecl &fn, llvm::ArrayRef<Value> args,
                          SourceRange range) {
  auto *let = make<Let>(range);
  if (!bindArguments(fn, args, let))
    return {};
  collectAssigned(*fn.getBody());
  pushScope();
  Value value = analyzeFnBody(*fn.getBody(), let);
  popScope();
  std::optional<DType> dtype = resolveDType(fn.getResult());
  if (!value || !dtype)
    return {};
  Expr *result = convertImplicitly(value, *dtype, Conversion::Store,
                                   "the result of '" + fn.getName() + "'",
                                   fn.getResult().range);
  if (!result)
    return {};
  // A function gives one value for each element of its arguments, used or not:
  // the sum of `fn one(x: f32) -> f32 { 1 }` over a tile is its size.
  llvm::SmallVector<Axis *, 4> axes(result->type.axes);
  for (Value arg : args)
    joinAxes(axes, arg.type().axes);
  if (let->bindings.empty() && axes.size() == result->type.axes.size())
    return result;
  let->body = result;
  let->type.dtype = *dtype;
  let->type.axes = axes;
  return let;
}

bool Analyzer::bindArguments(const ast::FnDecl &fn, llvm::ArrayRef<Value> args,
                             Let *let) {
  bool valid = true;
  for (size_t i = 0; i < args.size(); ++i) {
    const ast::Param &param = fn.getParams()[i];
    std::optional<DType> dtype = resolveDType(param.type);
    Expr *value = nullptr;
    if (dtype) {
      // A wrong argument is the caller's mistake.
      auto call = inlining.pop_back_val();
      value = convertImplicitly(args[i], *dtype, Conversion::Store,
                                "the parameter '" + param.name.name + "' of '" +
                                    fn.getName() + "'",
                                param.range);
      inlining.push_back(call);
    }
    if (!checkUnused(param.name, "parameter"))
      value = nullptr;
    valid &= value != nullptr;
    if (value)
      bindName(param.name, value, let);
  }
  return valid;
}

void Analyzer::bindName(const ast::Ident &name, Expr *value, Let *let) {
  Symbol symbol;
  symbol.name = name.name;
  symbol.range = name.range;
  if (isSimple(*value)) {
    symbol.kind = Symbol::Kind::Alias;
    symbol.expr = value;
  } else {
    symbol.kind = Symbol::Kind::Var;
    symbol.var = kernel->arena.make<Var>();
    symbol.var->name = name.name;
    symbol.var->range = name.range;
    symbol.var->type = value->type;
    let->bindings.push_back({symbol.var, value});
  }
  if (Symbol *old = lookup(name.name))
    *old = symbol;
  else
    define(symbol);
}

void Analyzer::analyzeFnAssign(const ast::AssignStmt &stmt, Let *let) {
  const ast::Target &target = stmt.getTargets().front();
  StringRef name = target.name.name;
  if (stmt.getTargets().size() > 1 || target.hasSubscripts) {
    error(stmt.getRange(), "a function assigns to one name at a time")
        .remedy("functions compute with scalars: tensors are read and written "
                "by kernels");
    for (const ast::Target &other : stmt.getTargets())
      definePoison(other.name);
    return;
  }
  Value value = analyze(stmt.getValue());
  Symbol *symbol = lookup(name);
  if (stmt.getOp() != ast::AssignOp::Set) {
    symbol = require(name, target.name.range,
                     "define it first: '" + name + " = ...'");
    if (!symbol)
      return definePoison(target.name);
  }
  Expr *old = nullptr;
  if (symbol) {
    switch (symbol->kind) {
    case Symbol::Kind::Poison:
      return;
    case Symbol::Kind::Alias:
      old = symbol->expr;
      break;
    case Symbol::Kind::Var: {
      auto *ref = make<VarRef>(target.range);
      ref->var = symbol->var;
      ref->type = symbol->var->type;
      old = ref;
      break;
    }
    default:
      reportNotAssignable(target, *symbol);
      return;
    }
  }
  if (value && stmt.getOp() != ast::AssignOp::Set)
    value =
        binary(arithmeticOp(stmt.getOp()), Value(old), value, stmt.getRange());
  Expr *result =
      old ? convertImplicitly(value, old->type.dtype, Conversion::Assign,
                              "the variable '" + name + "'", symbol->range)
          : settle(value).expr;
  if (result)
    bindName(target.name, result, let);
  else
    definePoison(target.name);
}

Value Analyzer::analyzeFnBody(const ast::Block &block, Let *let) {
  // The parser made sure that the last statement gives a value.
  for (ast::Stmt *stmt : block.getStmts().drop_back())
    analyzeFnStmt(stmt, let);
  if (stopped())
    return {};
  ast::Stmt *last = block.getStmts().back();
  if (auto *value = dyn_cast<ast::ExprStmt>(last))
    return analyze(value->getExpr());
  const ast::Block *taken = nullptr;
  if (!decideFnIf(*cast<ast::IfStmt>(last), taken))
    return {};
  pushScope();
  Value value = analyzeFnBody(*taken, let);
  popScope();
  return value;
}

bool Analyzer::decideFnIf(const ast::IfStmt &stmt, const ast::Block *&taken) {
  Value condition = analyze(stmt.getCondition());
  if (!condition || !requireBool(condition, "the condition of 'if'"))
    return false;
  const auto *decided = dyn_cast<BoolConst>(condition.expr);
  if (!decided) {
    error(condition.range(), "expected a condition known at compile time for "
                             "'if' in a function")
        .remedy("choose between values with where(condition, a, b)");
    return false;
  }
  taken = decided->value ? stmt.getThen() : stmt.getElse();
  return true;
}

void Analyzer::analyzeFnStmt(ast::Stmt *stmt, Let *let) {
  if (stopped())
    return;
  if (auto *assign = dyn_cast<ast::AssignStmt>(stmt))
    return analyzeFnAssign(*assign, let);
  if (auto *branch = dyn_cast<ast::IfStmt>(stmt)) {
    const ast::Block *taken = nullptr;
    if (!decideFnIf(*branch, taken) || !taken)
      return;
    pushScope();
    for (ast::Stmt *inner : taken->getStmts())
      analyzeFnStmt(inner, let);
    popScope();
    return;
  }
  error(stmt->getRange(), "this value is not used")
      .remedy("only the last line of a function is its value: assign the "
              "others to a name");
}

void Analyzer::collectAssigned(const ast::Block &block) {
  for (ast::Stmt *stmt : block.getStmts()) {
    if (auto *assign = dyn_cast<ast::AssignStmt>(stmt)) {
      if (assign->getOp() != ast::AssignOp::Set)
        continue;
      for (const ast::Target &target : assign->getTargets())
        if (!target.hasSubscripts)
          env->assigned.try_emplace(target.name.name, target.name.range);
    } else if (auto *loop = dyn_cast<ast::ForStmt>(stmt)) {
      collectAssigned(*loop->getBody());
    } else if (auto *branch = dyn_cast<ast::IfStmt>(stmt)) {
      collectAssigned(*branch->getThen());
      if (branch->getElse())
        collectAssigned(*branch->getElse());
    }
  }
}

void Analyzer::checkFn(const ast::FnDecl &fn) {
  // Values for parameters without one are up to the caller.
  for (const ast::CtParam &param : fn.getCtParams())
    if (!param.defaultValue)
      return;
  kernel = std::make_unique<Kernel>();
  kernel->name = fn.getName().str();
  Environment outer;
  outer.file = index.fileOf(fn);
  outer.scopes.emplace_back();
  env = &outer;
  llvm::SmallVector<Value, 4> args;
  for (const ast::Param &param : fn.getParams()) {
    auto *var = kernel->arena.make<Var>();
    var->name = param.name.name;
    // A type that is a parameter is taken from its default within.
    var->type.dtype = param.type.dtype.value_or(DType::F32);
    auto *ref = make<VarRef>(param.name.range);
    ref->var = var;
    ref->type = var->type;
    args.push_back(Value(ref));
  }
  inlineFn(fn, {}, args, SourceRange());
  env = nullptr;
}
