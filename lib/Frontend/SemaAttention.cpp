//===- SemaAttention.cpp - Attention and its lambdas ------------*- C++ -*-===//
//
// attention(q, k, v) finds out what each axis is for by comparing names: the
// one that q and k share is contracted in the scores, the one that k and v
// share is what the softmax goes over.
//
//     q: [row, D]    k: [T, D]    v: [T, E]    ->    [row, E] and [row]
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::dyn_cast;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Lambdas
//===----------------------------------------------------------------------===//

bool Analyzer::checkCapture(const ValueType &type, const Twine &what,
                            SourceRange range, SourceRange declared) {
  if (!inLambda || type.isScalar())
    return true;
  Diagnostic &diagnostic =
      error(range, "a lambda cannot use " + what + ", which has the axes " +
                       describeAxes(type.axes));
  if (declared.isValid() && !(declared.begin == range.begin))
    diagnostic.note(declared, "declared here");
  diagnostic.remedy("a lambda computes one element: use its parameters, "
                    "scalars, and single elements of tensors such as "
                    "table[kv - q]");
  return false;
}

std::optional<Lambda> Analyzer::analyzeLambda(const ast::Expr *expr,
                                              StringRef what,
                                              llvm::ArrayRef<DType> params,
                                              llvm::ArrayRef<StringRef> names,
                                              DType result) {
  std::string usage = "|" + joinNames(names, ", ") + "| ...";
  const auto *lambda = dyn_cast<ast::LambdaExpr>(expr);
  const auto *name = dyn_cast<ast::NameExpr>(expr);
  if (!lambda && !name) {
    error(expr->getRange(),
          "expected a lambda or the name of a function as '" + what + "'")
        .remedy("write '" + what + " = " + usage + "'");
    return std::nullopt;
  }
  if (lambda && lambda->getParams().size() != params.size()) {
    error(lambda->getRange(), "expected " + Twine(params.size()) +
                                  " parameters for '" + what + "', found " +
                                  Twine(lambda->getParams().size()))
        .remedy("write '" + what + " = " + usage + "'");
    return std::nullopt;
  }

  Lambda node;
  llvm::SmallVector<Value, 3> args;
  pushScope();
  for (size_t i = 0; i < params.size(); ++i) {
    auto *var = kernel->arena.make<Var>();
    var->name = lambda ? lambda->getParams()[i].name : names[i];
    var->range = lambda ? lambda->getParams()[i].range : expr->getRange();
    var->type.dtype = params[i];
    node.params.push_back(var);
    if (lambda) {
      // Parameters may hide names from outside: `q` is a popular one.
      Symbol symbol;
      symbol.kind = Symbol::Kind::Var;
      symbol.name = var->name;
      symbol.range = var->range;
      symbol.var = var;
      define(symbol);
    } else {
      auto *ref = make<VarRef>(expr->getRange());
      ref->var = var;
      ref->type = var->type;
      args.push_back(Value(ref));
    }
  }
  bool outer = std::exchange(inLambda, true);
  Value value;
  if (lambda) {
    value = analyze(lambda->getBody());
  } else if (Callee callee = requireCallee(name->getName(), name->getRange())) {
    value = call(callee, {}, args, name->getRange());
  }
  inLambda = outer;
  // Not popScope: no one looks for these names outside.
  env->scopes.pop_back();
  node.body = convertImplicitly(value, result, Conversion::Store,
                                "the result of '" + what + "'", {});
  if (!node.body)
    return std::nullopt;
  return node;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Load *Analyzer::attentionOperand(const ast::CallExpr &call, unsigned arg,
                                 StringRef what) {
  Value value = analyze(call.getArgs()[arg].value);
  if (!value)
    return nullptr;
  auto *load = dyn_cast<Load>(value.expr);
  if (!load || load->isGather()) {
    error(value.range(), "expected a block of a tensor for the " + what +
                             " of 'attention', found " +
                             (load ? "a gather" : "a computed value"))
        .remedy("name a tensor, with one position for each dimension but the "
                "last two, such as " +
                Twine(arg == 1 ? "K" : "V") + "[b, h]");
    return nullptr;
  }
  auto &axes = load->type.axes;
  bool isWhole = llvm::none_of(axes, [](Axis *axis) { return axis->isTile(); });
  if (axes.size() != 2 || !isWhole) {
    error(value.range(), "expected two whole axes for the " + what +
                             " of 'attention', found " + describe(load->type))
        .note(load->param->range,
              "'" + load->param->name + "' is declared here")
        .remedy(isWhole && axes.size() > 2
                    ? "subscript the others, for example with variables of the "
                      "grid: 'grid b in B, h in H'"
                    : "attention goes over all of them: leave the last two "
                      "subscripts out");
    return nullptr;
  }
  return load;
}

bool Analyzer::attentionAxes(const ast::CallExpr &call, Attention &attention,
                             Value query) {
  auto &q = query.type().axes;
  auto &k = attention.keys->type.axes;
  auto &v = attention.values->type.axes;
  auto describeAll = [&](Diagnostic &diagnostic) -> Diagnostic & {
    return diagnostic
        .note(query.range(), "the query is " + describe(query.type()))
        .note(attention.keys->range,
              "the keys are " + describe(attention.keys->type))
        .note(attention.values->range,
              "the values are " + describe(attention.values->type));
  };
  llvm::SmallVector<Axis *, 2> shared;
  for (Axis *axis : q)
    if (attention.keys->type.hasAxis(axis))
      shared.push_back(axis);
  if (shared.size() != 1) {
    Diagnostic &diagnostic = describeAll(
        error(call.getRange(), shared.empty()
                                   ? "the query and the keys share no axis"
                                   : "the query and the keys share both axes"));
    diagnostic.remedy(
        shared.empty()
            ? "the last dimension of both must have the same name"
            : "visit the rows of the query by tiles, so that they have an axis "
              "of their own: 'grid i in tile(" +
                  shared.front()->name.str() + ")'");
    return false;
  }
  attention.d = shared.front();
  attention.kv = k[0] == attention.d ? k[1] : k[0];
  if (k[1] != attention.d || v[0] != attention.kv) {
    bool isKeys = k[1] != attention.d;
    std::string expected = isKeys ? describeAxes({attention.kv, attention.d})
                                  : "[" + attention.kv->name.str() + ", ...]";
    describeAll(error(isKeys ? attention.keys->range : attention.values->range,
                      "expected the axes " + expected + " for the " +
                          (isKeys ? "keys" : "values") + ", found " +
                          describeAxes(isKeys ? k : v)))
        .remedy("the axes of attention are [row, D], [T, D] and [T, E]");
    return false;
  }
  attention.e = v[1];
  if (q.size() > 2 || q.back() != attention.d) {
    Diagnostic &diagnostic = describeAll(
        error(query.range(), "expected the axes [row, " + attention.d->name +
                                 "] or [" + attention.d->name +
                                 "] for the query, found " + describeAxes(q)));
    diagnostic.remedy("the axes of attention are [row, D], [T, D] and [T, E]; "
                      "batches and heads are variables of the grid: 'grid b in "
                      "B, h in H, i in tile(S)'");
    return false;
  }
  attention.row = q.size() == 2 ? q.front() : nullptr;
  if (attention.row == attention.e) {
    describeAll(error(call.getRange(), "the rows of the query and the values "
                                       "share an axis"))
        .remedy("visit the rows of the query by tiles: 'grid i in tile(" +
                attention.e->name + ")'");
    return false;
  }
  if (attention.row)
    attention.type.axes.push_back(attention.row);
  attention.type.axes.push_back(attention.e);
  return true;
}

bool Analyzer::attentionTypes(const ast::CallExpr &call, Attention &attention) {
  struct Operand {
    Expr *expr;
    StringRef what;
  };
  DType k = attention.keys->type.dtype;
  for (Operand operand :
       {Operand{attention.keys, "keys"}, Operand{attention.query, "query"},
        Operand{attention.values, "values"}}) {
    DType dtype = operand.expr->type.dtype;
    if (!isFloat(dtype) || dtype == DType::F64) {
      error(operand.expr->range,
            "expected a float of at most 32 bits for the " + operand.what +
                " of 'attention', found " + describe(operand.expr->type))
          .remedy(isFloat(dtype) ? "attention computes in f32"
                                 : "store them as bf16, f16, f32 or fp8");
      return false;
    }
    if (dtype == k || (isFloat8(dtype) && isFloat8(k)))
      continue;
    error(operand.expr->range, "expected " + dtypeName(k) + " for the " +
                                   operand.what + " of 'attention', found " +
                                   describe(operand.expr->type))
        .note(attention.keys->range,
              "the keys are " + describe(attention.keys->type))
        .remedy(operand.expr == attention.query
                    ? "convert the query: " + dtypeName(k) + "(...)"
                    : Twine("store keys and values in one type"));
    return false;
  }
  return true;
}

/// A query of one row is at the position that the dimension before its last is
/// subscripted with, if it has as many dimensions as the keys: that dimension
/// is then the counterpart of the keys' one.
static Expr *rowPosition(const Attention &attention) {
  const auto *query = dyn_cast<Load>(attention.query);
  if (!query || query->indices.size() != attention.keys->indices.size() ||
      query->indices.size() < 2)
    return nullptr;
  const Index &row = query->indices[query->indices.size() - 2];
  return row.kind == Index::Kind::Scalar ? row.expr : nullptr;
}

Expr *Analyzer::attentionScale(const ast::Expr *given, Attention &attention,
                               SourceRange range) {
  if (given) {
    Value scale = analyze(given);
    if (!scale)
      return nullptr;
    if (!scale.type().isScalar()) {
      error(scale.range(),
            "expected a scalar as 'scale', found " + describe(scale.type()))
          .remedy("multiply the query by a value with axes, or write a "
                  "'score'");
      return nullptr;
    }
    return convertImplicitly(scale, DType::F32, Conversion::Store,
                             "the argument 'scale'", {});
  }
  // 1 / sqrt(D), the usual one.
  Value extent;
  if (attention.d->dim) {
    auto *node = make<DimExtent>(range);
    node->dim = attention.d->dim;
    node->type.dtype = DType::I64;
    extent = Value(node);
  } else {
    extent = intLiteral(attention.d->constant, range);
  }
  return settle(mathCall(MathFn::Rsqrt, "rsqrt", extent, range)).expr;
}

Attention *Analyzer::attentionCall(const ast::CallExpr &call) {
  SourceRange range = call.getRange();
  auto *node = make<Attention>(range);
  node->type.dtype = DType::F32;
  Value query = analyzeTyped(call.getArgs()[0].value);
  node->query = query.expr;
  node->keys = attentionOperand(call, 1, "keys");
  node->values = attentionOperand(call, 2, "values");
  bool valid = query && node->keys && node->values &&
               attentionAxes(call, *node, query) && attentionTypes(call, *node);
  const ast::Expr *scale = nullptr;
  for (const ast::CallArg &arg : call.getArgs()) {
    if (arg.name == "scale") {
      scale = arg.value;
    } else if (arg.name == "mask") {
      node->mask = analyzeLambda(arg.value, arg.name, {DType::I64, DType::I64},
                                 {"q", "kv"}, DType::Bool);
      valid &= node->mask.has_value();
    } else if (arg.name == "score") {
      node->score = analyzeLambda(arg.value, arg.name,
                                  {DType::F32, DType::I64, DType::I64},
                                  {"s", "q", "kv"}, DType::F32);
      valid &= node->score.has_value();
    }
  }
  if (!valid) {
    if (scale)
      analyze(scale);
    return nullptr;
  }
  node->scale = attentionScale(scale, *node, range);
  if (!node->scale)
    return nullptr;
  if (!node->row) {
    node->rowPosition = rowPosition(*node);
    if (!node->rowPosition)
      node->rowPosition = settle(intLiteral(0, range)).expr;
  }
  kernel->attentions.push_back(node);
  return node;
}
