//===- SemaCalls.cpp - Calls, and the elementwise builtins ------*- C++ -*-===//
//
// Finds out what is called, checks the arguments against the table of builtins,
// and analyzes those that work element by element. Reductions and dot are in
// SemaReduce.cpp, attention in SemaAttention.cpp, functions in SemaInline.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::StringRef;
using llvm::Twine;

Value Analyzer::analyzeCall(const ast::CallExpr &call) {
  Callee callee = requireCallee(call.getCallee(), call.getCalleeRange());
  if (!callee) {
    // The arguments may hold mistakes of their own.
    for (const ast::CallArg &arg : call.getArgs())
      if (!llvm::isa<ast::LambdaExpr, ast::StringLiteral, ast::DTypeExpr>(
              arg.value))
        analyze(arg.value);
    return {};
  }
  if (callee.resultType)
    return callBound(call, callee);
  return callee.fn ? callFn(call, *callee.fn)
                   : callBuiltin(call, *callee.builtin);
}

static std::string quantity(size_t count, StringRef noun) {
  return (Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

bool Analyzer::checkArguments(const ast::CallExpr &call,
                              const Builtin &builtin) {
  bool valid = true;
  unsigned positional = 0;
  for (const ast::CallArg &arg : call.getArgs()) {
    if (!arg.isNamed()) {
      ++positional;
      continue;
    }
    if (llvm::is_contained(builtin.namedArgs(), arg.name))
      continue;
    valid = false;
    Diagnostic &diagnostic =
        error(arg.nameRange, "'" + builtin.name + "' has no argument named '" +
                                 arg.name + "'");
    diagnostic.remedy(
        suggest(arg.name, builtin.namedArgs(), "usage: " + builtin.usage));
  }
  if (positional < builtin.minArgs || positional > builtin.maxArgs) {
    std::string expected = builtin.minArgs == builtin.maxArgs
                               ? quantity(builtin.minArgs, "argument")
                               : (Twine(builtin.minArgs) + " to " +
                                  quantity(builtin.maxArgs, "argument"))
                                     .str();
    error(call.getRange(), "expected " + expected + " for '" + builtin.name +
                               "', found " + Twine(positional))
        .remedy("usage: " + builtin.usage);
    valid = false;
  }
  if (call.hasTypeArgs() && !builtin.takesAxes) {
    SourceRange range(call.getTypeArgs().front().range.begin,
                      call.getTypeArgs().back().range.end);
    error(range, "'" + builtin.name + "' takes nothing between < and >")
        .remedy("usage: " + builtin.usage);
    valid = false;
  }
  return valid;
}

Value Analyzer::callBound(const ast::CallExpr &call, const Callee &callee) {
  std::string name = call.getCallee().str();
  llvm::SmallVector<Value, 4> args;
  bool valid = true;
  for (const ast::CallArg &arg : call.getArgs()) {
    args.push_back(analyze(arg.value));
    valid &= static_cast<bool>(args.back());
    if (!arg.isNamed())
      continue;
    error(arg.nameRange,
          "'" + name + "' has no argument named '" + arg.name + "'")
        .remedy("it is '" + callee.name() + "', whose arguments have no names");
    valid = false;
  }
  if (call.hasTypeArgs()) {
    error(call.getTypeArgs().front().range,
          "'" + name + "' takes nothing between < and >")
        .remedy("it works element by element: write " + name + "(...)");
    valid = false;
  }
  size_t expected = callee.paramTypes.size();
  if (args.size() != expected) {
    error(call.getRange(), "expected " + quantity(expected, "argument") +
                               " for '" + name + "', found " +
                               Twine(args.size()))
        .remedy("that is how many the compile-time parameter has");
    valid = false;
  }
  return valid ? callBound(callee, args, call.getRange()) : Value();
}

Value Analyzer::callBound(const Callee &callee, llvm::ArrayRef<Value> args,
                          SourceRange range) {
  llvm::SmallVector<Value, 4> converted;
  for (auto [arg, dtype] : llvm::zip_equal(args, callee.paramTypes)) {
    Expr *value =
        convertImplicitly(arg, dtype, Conversion::Store,
                          "an argument of '" + callee.name() + "'", {});
    if (!value)
      return {};
    converted.push_back(value);
  }
  Value result = elementwise(*callee.builtin, converted, range);
  return convertImplicitly(result, *callee.resultType, Conversion::Store,
                           "the result of '" + callee.name() + "'", {});
}

Value Analyzer::callBuiltin(const ast::CallExpr &call, const Builtin &builtin) {
  if (!checkArguments(call, builtin))
    return {};
  if (env->fn && !builtin.isElementwise() &&
      builtin.kind != Builtin::Kind::Random) {
    error(call.getRange(),
          "'" + builtin.name + "' cannot be used in a function")
        .remedy("functions compute one element from scalars: use it in a "
                "kernel");
    return {};
  }
  switch (builtin.kind) {
  case Builtin::Kind::Math:
  case Builtin::Kind::Abs:
  case Builtin::Kind::Pow:
  case Builtin::Kind::Where:
    break;
  case Builtin::Kind::MinMax:
    if (call.getArgs().size() == 1)
      return reduceCall(call, builtin);
    if (call.hasTypeArgs()) {
      error(call.getRange(),
            "expected one argument to reduce over axes, found " +
                Twine(call.getArgs().size()))
          .remedy("the greater of two values is max(x, y); the greatest along "
                  "an axis is max<axis>(x)");
      return {};
    }
    break;
  case Builtin::Kind::Reduce:
    return reduceCall(call, builtin);
  case Builtin::Kind::Scan:
    return scanCall(call, builtin);
  case Builtin::Kind::Dot:
    return dotCall(call);
  case Builtin::Kind::Random:
    return randomCall(call);
  case Builtin::Kind::Attention: {
    Attention *attention = attentionCall(call);
    return attention ? Value(attention) : Value();
  }
  case Builtin::Kind::Print:
  case Builtin::Kind::Assert:
    error(call.getRange(),
          "'" + builtin.name + "' is a statement and has no value")
        .remedy("write it on a line of its own");
    return {};
  }
  llvm::SmallVector<Value, 4> args;
  bool valid = true;
  for (const ast::CallArg &arg : call.getArgs()) {
    args.push_back(analyze(arg.value));
    valid &= static_cast<bool>(args.back());
  }
  return valid ? elementwise(builtin, args, call.getRange()) : Value();
}

Value Analyzer::elementwise(const Builtin &builtin, llvm::ArrayRef<Value> args,
                            SourceRange range) {
  switch (builtin.kind) {
  case Builtin::Kind::Math:
    return mathCall(builtin.math, builtin.name, args[0], range);
  case Builtin::Kind::Abs:
    return absCall(args[0], range);
  case Builtin::Kind::Pow:
    return combine(BinaryOp::Pow, builtin.name, args[0], args[1], range);
  case Builtin::Kind::Where:
    return whereCall(args[0], args[1], args[2], range);
  case Builtin::Kind::MinMax: {
    Value result = args[0];
    for (Value arg : args.drop_front())
      result = combine(builtin.binary, builtin.name, result, arg, range);
    return result;
  }
  default:
    llvm_unreachable("not an elementwise builtin");
  }
}

Value Analyzer::mathCall(MathFn fn, StringRef name, Value arg,
                         SourceRange range) {
  bool literal = arg.literal;
  if (!toReal(arg, "the argument of '" + name + "'"))
    return {};
  auto *node = make<Math>(range);
  node->fn = fn;
  node->operand = arg.expr;
  node->type = arg.type();
  return foldLiteral(node, literal);
}

Value Analyzer::absCall(Value arg, SourceRange range) {
  bool literal = arg.literal;
  if (!toNumber(arg, "the argument of 'abs'"))
    return {};
  auto *node = make<Unary>(range);
  node->op = UnaryOp::Abs;
  node->operand = arg.expr;
  node->type = arg.type();
  return foldLiteral(node, literal);
}

Value Analyzer::combine(BinaryOp op, StringRef name, Value a, Value b,
                        SourceRange range) {
  bool literal = a && b && a.literal && b.literal;
  if (!unify(a, b, "'" + name + "'", /*allowBool=*/false))
    return {};
  if (op == BinaryOp::Pow && !isFloat(a.dtype())) {
    toReal(a, "the argument of 'pow'");
    toReal(b, "the argument of 'pow'");
  }
  // Integers are never NaN, so there is one kind of minimum.
  if (!isFloat(a.dtype()))
    op = op == BinaryOp::FMin   ? BinaryOp::Min
         : op == BinaryOp::FMax ? BinaryOp::Max
                                : op;
  auto *node = make<Binary>(range);
  node->op = op;
  node->lhs = a.expr;
  node->rhs = b.expr;
  node->type = a.type();
  joinAxes(node->type.axes, b.type().axes);
  return foldLiteral(node, literal);
}

bool Analyzer::isExactIn(const Value &value, DType dtype) {
  if (const Choice *choice = value.choice)
    return isExactIn(choice->onTrue, dtype) &&
           isExactIn(choice->onFalse, dtype);
  if (!isFloat(dtype) && isFloat(value.dtype()))
    return false;
  Expr *converted = convert(value, dtype);
  return isSameNumber(*convert(Value(converted), value.dtype()), *value.expr);
}

/// Choosing is not arithmetic: two values of one storage type stay in it, and a
/// number does so beside one if that type has it.
bool Analyzer::unifyChoices(Value &a, Value &b) {
  if (!a || !b)
    return false;
  if (!a.adapts() && !b.adapts() && a.dtype() == b.dtype())
    return true;
  if (a.adapts() != b.adapts()) {
    Value &number = a.adapts() ? a : b;
    DType dtype = a.adapts() ? b.dtype() : a.dtype();
    if (dtype != DType::Bool && isExactIn(number, dtype)) {
      if (isFloat(dtype) && !isFloat(number.dtype()))
        warnIfTruncated(number);
      number = convert(number, dtype);
      return true;
    }
  }
  return unify(a, b, "'where'", /*allowBool=*/true);
}

Value Analyzer::whereCall(Value condition, Value a, Value b,
                          SourceRange range) {
  if (!requireBool(condition, "the condition of 'where'"))
    return {};
  bool decided = llvm::isa<BoolConst>(condition.expr);
  if (a.adapts() && b.adapts() && !(decided && a.literal && b.literal)) {
    if (isFloat(a.dtype()) != isFloat(b.dtype()))
      warnIfTruncated(isFloat(a.dtype()) ? b : a);
    if (isFloat(a.dtype()) || isFloat(b.dtype())) {
      a = asFloatLiteral(a);
      b = asFloatLiteral(b);
    }
    return makeChoice(condition.expr, a, b, range);
  }
  bool literal = a.literal && b.literal;
  if (!unifyChoices(a, b))
    return {};
  return foldLiteral(makeWhere(condition.expr, a.expr, b.expr, range), literal);
}

Value Analyzer::randomCall(const ast::CallExpr &call) {
  Value seed = analyzeTyped(call.getArgs()[0].value);
  Value offset = analyzeTyped(call.getArgs()[1].value);
  bool valid = seed && offset;
  auto checkInteger = [&](Value value, StringRef what) {
    if (!value || isInteger(value.dtype()))
      return;
    error(value.range(), "expected an integer as " + what +
                             " of 'random', found " + describe(value.type()))
        .remedy("random(seed, offset): 64-bit integers, one number for each "
                "offset");
    valid = false;
  };
  checkInteger(seed, "the seed");
  checkInteger(offset, "the offset");
  if (seed && !seed.type().isScalar()) {
    error(seed.range(), "expected a scalar as the seed of 'random', found " +
                            describe(seed.type()))
        .remedy("what differs between elements belongs into the offset");
    valid = false;
  }
  if (!valid)
    return {};
  auto *node = make<Random>(call.getRange());
  node->seed = convert(seed, DType::I64);
  node->offset = convert(offset, DType::I64);
  node->type = offset.type();
  node->type.dtype = DType::F32;
  return node;
}
