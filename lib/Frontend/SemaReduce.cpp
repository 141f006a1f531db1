//===- SemaReduce.cpp - Reductions, scans and dot ---------------*- C++ -*-===//
//
// The operations that remove axes or work along one. All of them name axes; the
// messages about a name that does not fit are most of this file.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::dyn_cast;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Which axes
//===----------------------------------------------------------------------===//

static llvm::SmallVector<StringRef, 4> axisNames(llvm::ArrayRef<Axis *> axes) {
  llvm::SmallVector<StringRef, 4> names;
  for (const Axis *axis : axes)
    names.push_back(axis->name);
  return names;
}

void Analyzer::reportMissingAxis(const ast::TypeArg &arg, Axis *axis,
                                 Value operand, StringRef what) {
  llvm::ArrayRef<Axis *> axes = operand.type().axes;
  Diagnostic &diagnostic =
      error(arg.range, what + " has no axis '" + axis->name + "'");
  diagnostic.note(operand.range(), "found " + describe(operand.type()));
  // The usual mistake: the dimension instead of the tile of it.
  for (const Axis *other : axes) {
    if (!other->dim || other->dim != axis->dim)
      continue;
    if (other->isTile())
      diagnostic.remedy("it has '" + other->name + "', a tile of '" +
                        axis->dim->name + "': name that");
    else
      diagnostic.remedy("it has all of '" + other->name +
                        "': name that, or subscript the tensor with '" +
                        axis->name + "'");
    return;
  }
  diagnostic.remedy("its axes are " + joinNames(axisNames(axes), " and "));
}

bool Analyzer::reductionAxes(const ast::CallExpr &call, Value operand,
                             bool single, llvm::SmallVectorImpl<Axis *> &axes) {
  std::string name = call.getCallee().str();
  if (operand.type().isScalar()) {
    error(operand.range(), "'" + name +
                               "' goes over axes, and a scalar has "
                               "none")
        .remedy("the value is " + describe(operand.type()));
    return false;
  }
  if (!call.hasTypeArgs()) {
    if (single && operand.type().axes.size() > 1) {
      error(call.getRange(), "'" + name + "' needs to know along which axis")
          .note(operand.range(), "found " + describe(operand.type()))
          .remedy("write " + name + "<" + operand.type().axes.back()->name +
                  ">(...), or name another of " +
                  describeAxes(operand.type().axes));
      return false;
    }
    axes.assign(operand.type().axes.begin(), operand.type().axes.end());
    warnIfOverTiles(call, operand, axes);
    return true;
  }
  if (single && call.getTypeArgs().size() > 1) {
    error(call.getTypeArgs()[1].range, "expected one axis for '" + name +
                                           "', found " +
                                           Twine(call.getTypeArgs().size()))
        .remedy("apply it to one axis after the other");
    return false;
  }
  bool valid = true;
  for (const ast::TypeArg &arg : call.getTypeArgs()) {
    Axis *axis = findAxis(arg);
    if (!axis) {
      valid = false;
    } else if (!operand.type().hasAxis(axis)) {
      reportMissingAxis(arg, axis, operand, "the value");
      valid = false;
    } else if (llvm::is_contained(axes, axis)) {
      error(arg.range, "the axis '" + axis->name + "' is named twice")
          .remedy("name it once");
      valid = false;
    } else {
      axes.push_back(axis);
    }
  }
  return valid;
}

void Analyzer::warnIfOverTiles(const ast::CallExpr &call, Value operand,
                               llvm::ArrayRef<Axis *> axes) {
  // An iteration that is not made is no result.
  if (inLoopCondition)
    return;
  llvm::SmallVector<StringRef, 4> named;
  const Axis *tile = nullptr;
  for (const Axis *axis : axes) {
    if (axis->isTile() && !isAddedUp(call, *axis))
      tile = tile ? tile : axis;
    else
      named.push_back(axis->name);
  }
  if (!tile)
    return;
  StringRef name = call.getCallee();
  auto spell = [&](llvm::ArrayRef<StringRef> names) {
    return (name + "<" + joinNames(names, ", ") + ">(...)").str();
  };
  std::string all = spell(axisNames(axes));
  warning(call.getRange(), "'" + name +
                               "' names no axes, so it goes over the tile '" +
                               tile->name +
                               "' too: what it gives depends on the size of "
                               "tiles")
      .note(operand.range(), "found " + describe(operand.type()))
      .note(tile->var->range, "'" + tile->name + "' is a tile")
      .remedy(named.empty()
                  ? "if the positions of one tile are meant, write " + all
                  : "write " + spell(named) + ", or " + all +
                        " if the positions of one tile are meant");
}

bool Analyzer::isAddedUp(const ast::CallExpr &call, const Axis &axis) {
  if (!assignment || assignment->getOp() != ast::AssignOp::Add ||
      assignment->getValue() != &call || call.getCallee() != "sum")
    return false;
  const ast::Target &target = assignment->getTargets().front();
  auto isAxis = [&](const ast::Subscript &subscript) {
    const auto *name = llvm::dyn_cast_or_null<ast::NameExpr>(subscript.index);
    return name && name->getName() == axis.name;
  };
  // Each scope is within those before it.
  auto scopeOf = [&](StringRef name) {
    size_t scope = env->scopes.size();
    while (scope > 0 && !env->scopes[scope - 1].count(name))
      --scope;
    return scope;
  };
  const Symbol *symbol = lookup(target.name.name);
  if (!symbol)
    return false;
  if (symbol->kind == Symbol::Kind::Param)
    return symbol->param->access == ast::Access::Add &&
           llvm::none_of(target.subscripts, isAxis);
  return symbol->kind == Symbol::Kind::Var &&
         scopeOf(target.name.name) < scopeOf(axis.name);
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

Value Analyzer::reduceCall(const ast::CallExpr &call, const Builtin &builtin) {
  Value operand = analyzeTyped(call.getArgs()[0].value);
  if (!operand)
    return {};
  llvm::SmallVector<Axis *, 4> over;
  if (!reductionAxes(call, operand, builtin.takesOneAxis(), over))
    return {};
  std::string what = "the argument of '" + builtin.name.str() + "'";
  ReduceKind kind = builtin.reduce;
  switch (kind) {
  case ReduceKind::Any:
  case ReduceKind::All:
    if (!requireBool(operand, what))
      return {};
    break;
  case ReduceKind::Mean:
  case ReduceKind::LogSumExp:
    if (!toReal(operand, what))
      return {};
    break;
  default:
    if (operand.dtype() == DType::Bool) {
      error(operand.range(), "expected numbers for " + what + ", found " +
                                 describe(operand.type()))
          .remedy("to count, write sum(i32(...)); to ask whether it holds "
                  "anywhere or everywhere, any(...) or all(...)");
      return {};
    }
    if (!toNumber(operand, what))
      return {};
    break;
  }
  if (!isFloat(operand.dtype()))
    kind = kind == ReduceKind::FMax   ? ReduceKind::Max
           : kind == ReduceKind::FMin ? ReduceKind::Min
                                      : kind;
  auto *node = make<Reduce>(call.getRange());
  node->op = kind;
  node->operand = operand.expr;
  node->over.assign(over.begin(), over.end());
  node->type.dtype = kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin
                         ? DType::I64
                         : operand.dtype();
  for (Axis *axis : operand.type().axes)
    if (!llvm::is_contained(over, axis))
      node->type.axes.push_back(axis);
  return node;
}

Value Analyzer::scanCall(const ast::CallExpr &call, const Builtin &builtin) {
  Value operand = analyzeTyped(call.getArgs()[0].value);
  if (!operand)
    return {};
  llvm::SmallVector<Axis *, 4> over;
  std::string what = "the argument of '" + builtin.name.str() + "'";
  if (!reductionAxes(call, operand, /*single=*/true, over) ||
      !(builtin.scan == ScanKind::Softmax ? toReal(operand, what)
                                          : toNumber(operand, what)))
    return {};
  auto *node = make<Scan>(call.getRange());
  node->op = builtin.scan;
  node->operand = operand.expr;
  node->over = over.front();
  node->type = operand.type();
  return node;
}

//===----------------------------------------------------------------------===//
// Dot
//===----------------------------------------------------------------------===//

bool Analyzer::contractedAxes(const ast::CallExpr &call, Value lhs, Value rhs,
                              llvm::SmallVectorImpl<Axis *> &contract) {
  auto describeBoth = [&](Diagnostic &diagnostic) -> Diagnostic & {
    return diagnostic
        .note(lhs.range(), "the left operand is " + describe(lhs.type()))
        .note(rhs.range(), "the right operand is " + describe(rhs.type()));
  };
  if (call.hasTypeArgs()) {
    bool valid = true;
    for (const ast::TypeArg &arg : call.getTypeArgs()) {
      Axis *axis = findAxis(arg);
      if (!axis) {
        valid = false;
      } else if (!lhs.type().hasAxis(axis)) {
        reportMissingAxis(arg, axis, lhs, "the left operand of 'dot'");
        valid = false;
      } else if (!rhs.type().hasAxis(axis)) {
        reportMissingAxis(arg, axis, rhs, "the right operand of 'dot'");
        valid = false;
      } else if (llvm::is_contained(contract, axis)) {
        error(arg.range, "the axis '" + axis->name + "' is named twice")
            .remedy("name it once");
        valid = false;
      } else {
        contract.push_back(axis);
      }
    }
    return valid;
  }
  for (Axis *axis : lhs.type().axes)
    if (rhs.type().hasAxis(axis))
      contract.push_back(axis);
  if (contract.size() == 1)
    return true;
  if (contract.empty()) {
    describeBoth(error(call.getRange(),
                       "the operands of 'dot' share no axis to contract"))
        .remedy("tiles of one dimension share an axis only if they have the "
                "same variable; a product without a sum is '*'");
    return false;
  }
  auto names = axisNames(contract);
  describeBoth(error(call.getRange(), "the operands of 'dot' share several "
                                      "axes: " +
                                          joinNames(names, " and ")))
      .remedy("name those to contract, such as dot<" + names.back() +
              ">(...); the others are batch axes");
  return false;
}

std::optional<Precision> Analyzer::analyzePrecision(const ast::CallExpr &call) {
  for (const ast::CallArg &arg : call.getArgs()) {
    if (!arg.isNamed())
      continue;
    StringRef name;
    if (const auto *ident = dyn_cast<ast::NameExpr>(arg.value))
      name = ident->getName();
    else if (const auto *dtype = dyn_cast<ast::DTypeExpr>(arg.value))
      name = dtypeName(dtype->getDType());
    if (name == "ieee")
      return Precision::IEEE;
    if (name == "tf32")
      return Precision::TF32;
    if (name == "tf32x3")
      return Precision::TF32x3;
    error(arg.value->getRange(),
          "expected ieee, tf32 or tf32x3 as the "
          "precision of 'dot'" +
              (name.empty() ? std::string() : ", found '" + name.str() + "'"))
        .remedy(suggest(name, {"ieee", "tf32", "tf32x3"},
                        "ieee multiplies f32 exactly, tf32 rounds operands to "
                        "10 bits, tf32x3 makes up for it with three products"));
    return std::nullopt;
  }
  return Precision::IEEE;
}

bool Analyzer::unifyDotOperands(const ast::CallExpr &call, Value &lhs,
                                Value &rhs, Dot &dot) {
  for (Value *operand : {&lhs, &rhs})
    if (operand->dtype() == DType::Bool) {
      error(operand->range(),
            "expected numbers for 'dot', found " + describe(operand->type()))
          .remedy("convert it, for example with bf16(...) or i8(...)");
      return false;
    }
  std::optional<Precision> precision = analyzePrecision(call);
  if (!precision)
    return false;
  dot.precision = *precision;
  DType a = lhs.dtype(), b = rhs.dtype();
  DType result;
  bool isPrecisionGiven = call.getArgs().size() > 2;
  if ((isFloat8(a) && isFloat8(b)) || (a == b && isNarrowFloat(a))) {
    result = DType::F32;
  } else if ((a == DType::I8 || a == DType::U8) &&
             (b == DType::I8 || b == DType::U8)) {
    result = DType::I32;
  } else {
    // tf32 operands say themselves how exactly they are to be multiplied.
    if (a == DType::TF32 && b == DType::TF32 && !isPrecisionGiven)
      dot.precision = Precision::TF32;
    result = commonType(a, b);
    lhs = convert(lhs, result);
    rhs = convert(rhs, result);
  }
  if (dot.precision != Precision::IEEE && lhs.dtype() != DType::F32) {
    warning(call.getArgs().back().nameRange,
            "'precision' has no effect on operands of type " + dtypeName(a) +
                " and " + dtypeName(b))
        .remedy("it is for f32 operands: leave it out");
    dot.precision = Precision::IEEE;
  }
  dot.type.dtype = result;
  return true;
}

Value Analyzer::dotCall(const ast::CallExpr &call) {
  Value lhs = analyzeTyped(call.getArgs()[0].value);
  Value rhs = analyzeTyped(call.getArgs()[1].value);
  if (!lhs || !rhs)
    return {};
  for (Value operand : {lhs, rhs})
    if (operand.type().isScalar()) {
      error(operand.range(), "expected operands with axes for 'dot', found "
                             "the scalar " +
                                 describe(operand.type()))
          .remedy("multiply by a scalar with '*'");
      return {};
    }
  auto *node = make<Dot>(call.getRange());
  llvm::SmallVector<Axis *, 4> contract;
  if (!contractedAxes(call, lhs, rhs, contract) ||
      !unifyDotOperands(call, lhs, rhs, *node))
    return {};
  node->lhs = lhs.expr;
  node->rhs = rhs.expr;
  node->contract.assign(contract.begin(), contract.end());
  auto &axes = node->type.axes;
  for (Axis *axis : lhs.type().axes)
    if (rhs.type().hasAxis(axis) && !llvm::is_contained(contract, axis))
      axes.push_back(axis);
  for (Axis *axis : lhs.type().axes)
    if (!rhs.type().hasAxis(axis))
      axes.push_back(axis);
  for (Axis *axis : rhs.type().axes)
    if (!lhs.type().hasAxis(axis))
      axes.push_back(axis);
  return node;
}
