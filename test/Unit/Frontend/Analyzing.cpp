//===- Analyzing.cpp - Helpers for tests of the analysis --------*- C++ -*-===//
//
// See the header. The checks are written from TypedAST.h, not from the
// analyzer.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/Frontend/Analyzing.h"

#include "lib/Frontend/TypedASTPrinter.h"
#include "lib/Frontend/TypedVisitor.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace tilec;
using namespace tilec::test;
using namespace tilec::typed;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

Analyzed::Analyzed(std::string text, CompileTimeArgs args,
                   llvm::StringRef target) {
  unsigned index = sources.addFile("test.tile", std::move(text));
  program = loadProgram(index, {}, sources, context, diags);
  if (!program || diags.hasErrors())
    return;
  const ast::KernelDecl *last = nullptr;
  for (const ast::Decl *decl : program->main().decls)
    if (const auto *found = dyn_cast<ast::KernelDecl>(decl))
      last = found;
  if (last)
    kernel = analyzeKernel(*program, *last, args, target, diags);
}

std::string Analyzed::typedText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (kernel)
    printTyped(*kernel, os);
  return text;
}

std::string Analyzed::messages() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  diags.print(os);
  return text;
}

std::string Analyzed::check() {
  if (program && !diags.hasErrors())
    checkProgram(*program, diags);
  return messages();
}

namespace {

class Checker {
public:
  explicit Checker(const Kernel &kernel) : kernel(kernel) {}
  std::string run();

private:
  void fail(const llvm::Twine &what, const Expr *expr = nullptr) {
    if (violation.empty())
      violation = what.str() + (expr ? ": " + formatTyped(*expr) : "");
  }
  void expect(bool condition, const llvm::Twine &what,
              const Expr *expr = nullptr) {
    if (!condition)
      fail(what, expr);
  }
  void checkBody(const Body &body);
  void checkStmt(const Stmt &stmt);
  void checkExpr(const Expr &expr);
  void checkNode(const Expr &expr);
  void checkIndices(const Param *param, llvm::ArrayRef<Index> indices,
                    llvm::SmallPtrSetImpl<Axis *> &axes);
  void checkLambda(const Lambda &lambda, size_t params, DType result);
  void checkReduce(const Reduce &reduce);
  void checkDot(const Dot &dot);
  void checkAttention(const Attention &attention);
  void expectSubset(const Expr *operand, const ValueType &type,
                    const llvm::Twine &what);
  void expectUnion(const Expr &node, llvm::ArrayRef<const Expr *> operands);
  static bool isArithmetic(DType dtype) {
    return dtype == DType::F32 || dtype == DType::F64 || dtype == DType::I32 ||
           dtype == DType::I64;
  }

  const Kernel &kernel;
  std::string violation;
  llvm::SmallPtrSet<const Var *, 16> defined;
  llvm::SmallPtrSet<const LoopVar *, 8> open;
  bool inLambda = false;
};

} // namespace

void Checker::expectSubset(const Expr *operand, const ValueType &type,
                           const llvm::Twine &what) {
  for (Axis *axis : operand->type.axes)
    expect(type.hasAxis(axis), what + " has an axis its user lacks", operand);
}

void Checker::expectUnion(const Expr &node,
                          llvm::ArrayRef<const Expr *> operands) {
  llvm::SmallPtrSet<Axis *, 8> axes;
  for (const Expr *operand : operands)
    axes.insert(operand->type.axes.begin(), operand->type.axes.end());
  expect(axes.size() == node.type.axes.size(),
         "the axes are not those of the operands", &node);
  for (Axis *axis : node.type.axes)
    expect(axes.contains(axis), "an axis no operand has", &node);
}

void Checker::checkIndices(const Param *param, llvm::ArrayRef<Index> indices,
                           llvm::SmallPtrSetImpl<Axis *> &axes) {
  expect(param->isTensor && indices.size() == param->shape.size(),
         "one index for each dimension of " + param->name);
  llvm::SmallPtrSet<Axis *, 8> block;
  for (size_t i = 0; i < indices.size() && violation.empty(); ++i) {
    const Index &index = indices[i];
    const Param::Extent &extent = param->shape[i];
    switch (index.kind) {
    case Index::Kind::Tile:
      expect(index.axis && index.axis->isTile() && !index.expr, "tile index");
      expect(!index.proven || !extent.dim || index.axis->var->dim == extent.dim,
             "a tile of another dimension is not in bounds by itself");
      expect(block.insert(index.axis).second, "an axis twice");
      axes.insert(index.axis);
      expect(open.contains(index.axis->var), "an axis out of its loop");
      break;
    case Index::Kind::Whole:
      expect(index.axis && !index.axis->isTile() && !index.expr && index.proven,
             "whole index");
      expect(index.axis->dim == extent.dim, "whole axis of another dimension");
      expect(extent.dim || index.axis->constant == extent.constant,
             "whole axis of another extent");
      expect(!extent.dim || extent.dim->isWhole, "isWhole is not set");
      expect(block.insert(index.axis).second, "an axis twice");
      axes.insert(index.axis);
      break;
    case Index::Kind::Scalar:
    case Index::Kind::Gather:
      expect(index.expr && !index.axis, "computed index");
      expect(index.expr->type.dtype == DType::I64, "an index is i64",
             index.expr);
      expect(index.expr->type.isScalar() == (index.kind == Index::Kind::Scalar),
             "scalar or gather", index.expr);
      axes.insert(index.expr->type.axes.begin(), index.expr->type.axes.end());
      checkExpr(*index.expr);
      break;
    }
  }
}

void Checker::checkLambda(const Lambda &lambda, size_t params, DType result) {
  expect(lambda.params.size() == params, "parameters of a lambda");
  for (const Var *var : lambda.params) {
    expect(var->type.isScalar(), "a lambda's parameters are scalars");
    defined.insert(var);
  }
  bool outer = std::exchange(inLambda, true);
  expect(lambda.body->type.isScalar() && lambda.body->type.dtype == result,
         "the result of a lambda", lambda.body);
  checkExpr(*lambda.body);
  inLambda = outer;
}

void Checker::checkReduce(const Reduce &reduce) {
  DType dtype = reduce.operand->type.dtype;
  bool isBool = reduce.op == ReduceKind::Any || reduce.op == ReduceKind::All;
  bool isArg =
      reduce.op == ReduceKind::ArgMax || reduce.op == ReduceKind::ArgMin;
  expect(isBool ? dtype == DType::Bool : isArithmetic(dtype),
         "the operand of a reduction", &reduce);
  if (reduce.op == ReduceKind::Mean || reduce.op == ReduceKind::LogSumExp ||
      reduce.op == ReduceKind::FMax || reduce.op == ReduceKind::FMin)
    expect(isFloat(dtype), "a reduction of floats", &reduce);
  expect(reduce.type.dtype == (isArg ? DType::I64 : dtype),
         "the type of a reduction", &reduce);
  expect(!reduce.over.empty(), "a reduction over nothing", &reduce);
  if (isArg || reduce.op == ReduceKind::LogSumExp)
    expect(reduce.over.size() == 1, "one axis", &reduce);
  llvm::SmallVector<Axis *> rest;
  for (Axis *axis : reduce.operand->type.axes)
    if (!llvm::is_contained(reduce.over, axis))
      rest.push_back(axis);
  expect(llvm::ArrayRef<Axis *>(rest) ==
             llvm::ArrayRef<Axis *>(reduce.type.axes),
         "the axes of a reduction", &reduce);
  expect(rest.size() + reduce.over.size() == reduce.operand->type.axes.size(),
         "reduced axes are the operand's", &reduce);
}

void Checker::checkDot(const Dot &dot) {
  const ValueType &a = dot.lhs->type, &b = dot.rhs->type;
  llvm::SmallVector<Axis *> axes;
  for (Axis *axis : dot.contract)
    expect(a.hasAxis(axis) && b.hasAxis(axis), "a contracted axis", &dot);
  expect(!dot.contract.empty(), "no contracted axis", &dot);
  for (Axis *axis : a.axes)
    if (b.hasAxis(axis) && !llvm::is_contained(dot.contract, axis))
      axes.push_back(axis);
  for (Axis *axis : a.axes)
    if (!b.hasAxis(axis))
      axes.push_back(axis);
  for (Axis *axis : b.axes)
    if (!a.hasAxis(axis))
      axes.push_back(axis);
  expect(llvm::ArrayRef<Axis *>(axes) == llvm::ArrayRef<Axis *>(dot.type.axes),
         "the axes of a dot", &dot);
  auto isByte = [](DType dtype) {
    return dtype == DType::I8 || dtype == DType::U8;
  };
  DType result = a.dtype;
  if (isNarrowFloat(a.dtype))
    result = DType::F32;
  else if (isByte(a.dtype))
    result = DType::I32;
  else
    expect(isArithmetic(a.dtype), "the operands of a dot", &dot);
  bool together = a.dtype == b.dtype ||
                  (isFloat8(a.dtype) && isFloat8(b.dtype)) ||
                  (isByte(a.dtype) && isByte(b.dtype));
  expect(together && dot.type.dtype == result, "the types of a dot", &dot);
  expect(dot.precision == Precision::IEEE || a.dtype == DType::F32,
         "precision is for f32", &dot);
}

void Checker::checkAttention(const Attention &attention) {
  auto &q = attention.query->type.axes;
  auto &k = attention.keys->type.axes;
  auto &v = attention.values->type.axes;
  bool hasRow = attention.row != nullptr;
  expect(q.size() == (hasRow ? 2u : 1u) && q.back() == attention.d &&
             (!hasRow || q[0] == attention.row),
         "the query of attention", &attention);
  expect(k.size() == 2 && k[0] == attention.kv && k[1] == attention.d,
         "the keys of attention", &attention);
  expect(v.size() == 2 && v[0] == attention.kv && v[1] == attention.e,
         "the values of attention", &attention);
  expect(!attention.keys->isGather() && !attention.values->isGather(),
         "attention reads blocks", &attention);
  expect(hasRow != (attention.rowPosition != nullptr), "the row's position",
         &attention);
  expect(attention.scale->type.isScalar() &&
             attention.scale->type.dtype == DType::F32,
         "the scale of attention", &attention);
  expect(attention.type.dtype == DType::F32 &&
             attention.type.axes.size() == q.size() &&
             attention.type.axes.back() == attention.e,
         "the result of attention", &attention);
  expect(llvm::is_contained(kernel.attentions, &attention),
         "attention is not listed", &attention);
  if (attention.mask)
    checkLambda(*attention.mask, 2, DType::Bool);
  if (attention.score)
    checkLambda(*attention.score, 3, DType::F32);
}

void Checker::checkNode(const Expr &expr) {
  const ValueType &type = expr.type;
  switch (expr.kind) {
  case Expr::Kind::IntConst:
    return expect(type.isScalar() && isInteger(type.dtype), "int", &expr);
  case Expr::Kind::FloatConst:
    return expect(type.isScalar() && isFloat(type.dtype), "float", &expr);
  case Expr::Kind::BoolConst:
    return expect(type.isScalar() && type.dtype == DType::Bool, "bool", &expr);
  case Expr::Kind::DimExtent:
    return expect(type.isScalar() && type.dtype == DType::I64, "dim", &expr);
  case Expr::Kind::ScalarParam:
    return expect(!cast<ScalarParam>(expr).param->isTensor && type.isScalar(),
                  "a scalar parameter", &expr);
  case Expr::Kind::VarRef: {
    const Var *var = cast<VarRef>(expr).var;
    expect(defined.contains(var), "used before defined", &expr);
    return expect(var->type.dtype == type.dtype && var->type.axes == type.axes,
                  "the type of a variable", &expr);
  }
  case Expr::Kind::Position: {
    const LoopVar *var = cast<Position>(expr).var;
    expect(open.contains(var), "a loop variable out of its loop", &expr);
    expect(type.dtype == DType::I64 && type.isScalar() != var->isTile &&
               (!var->isTile ||
                (type.axes.size() == 1 && type.axes[0] == var->axis)),
           "a position", &expr);
    return;
  }
  case Expr::Kind::Load: {
    const auto &load = cast<Load>(expr);
    expect(load.param->access == ast::Access::In ||
               load.param->access == ast::Access::InOut,
           "a read of a tensor that is not read", &expr);
    llvm::SmallPtrSet<Axis *, 8> axes;
    checkIndices(load.param, load.indices, axes);
    expect(axes.size() == type.axes.size() && type.dtype == load.param->dtype,
           "the type of a load", &expr);
    for (Axis *axis : type.axes)
      expect(axes.contains(axis), "the axes of a load", &expr);
    return;
  }
  case Expr::Kind::Unary: {
    const auto &unary = cast<Unary>(expr);
    expectUnion(expr, {unary.operand});
    return expect(unary.operand->type.dtype == type.dtype &&
                      (unary.op == UnaryOp::Not ? type.dtype == DType::Bool
                                                : isArithmetic(type.dtype)),
                  "unary", &expr);
  }
  case Expr::Kind::Binary: {
    const auto &binary = cast<Binary>(expr);
    DType operand = binary.lhs->type.dtype;
    expectUnion(expr, {binary.lhs, binary.rhs});
    expect(operand == binary.rhs->type.dtype, "operands of one type", &expr);
    bool isComparison = binary.op >= BinaryOp::Eq && binary.op <= BinaryOp::Ge;
    bool isLogical = binary.op == BinaryOp::And || binary.op == BinaryOp::Or;
    expect(type.dtype == (isComparison ? DType::Bool : operand), "the result",
           &expr);
    if (isLogical)
      expect(operand == DType::Bool, "logic", &expr);
    else if (binary.op != BinaryOp::Eq && binary.op != BinaryOp::Ne)
      expect(isArithmetic(operand), "arithmetic", &expr);
    bool floatsOnly =
        binary.op == BinaryOp::Div || binary.op == BinaryOp::Pow ||
        binary.op == BinaryOp::FMin || binary.op == BinaryOp::FMax;
    bool intsOnly =
        binary.op == BinaryOp::FloorDiv || binary.op == BinaryOp::FloorMod;
    expect(!floatsOnly || isFloat(operand), "of floats", &expr);
    return expect(!intsOnly || isInteger(operand), "of integers", &expr);
  }
  case Expr::Kind::Math:
    expectUnion(expr, {cast<Math>(expr).operand});
    return expect((type.dtype == DType::F32 || type.dtype == DType::F64) &&
                      cast<Math>(expr).operand->type.dtype == type.dtype,
                  "math", &expr);
  case Expr::Kind::Cast:
    expectUnion(expr, {cast<Cast>(expr).operand});
    return expect(cast<Cast>(expr).operand->type.dtype != type.dtype,
                  "a cast to the same type", &expr);
  case Expr::Kind::Where: {
    const auto &where = cast<Where>(expr);
    expectUnion(expr, {where.condition, where.onTrue, where.onFalse});
    return expect(where.condition->type.dtype == DType::Bool &&
                      where.onTrue->type.dtype == type.dtype &&
                      where.onFalse->type.dtype == type.dtype,
                  "where", &expr);
  }
  case Expr::Kind::Full:
    return expect(cast<Full>(expr).value->type.isScalar() &&
                      cast<Full>(expr).value->type.dtype == type.dtype,
                  "full", &expr);
  case Expr::Kind::Reduce:
    return checkReduce(cast<Reduce>(expr));
  case Expr::Kind::Scan: {
    const auto &scan = cast<Scan>(expr);
    expectUnion(expr, {scan.operand});
    return expect(scan.operand->type.hasAxis(scan.over) &&
                      scan.operand->type.dtype == type.dtype &&
                      isArithmetic(type.dtype),
                  "scan", &expr);
  }
  case Expr::Kind::Dot:
    return checkDot(cast<Dot>(expr));
  case Expr::Kind::Random: {
    const auto &random = cast<Random>(expr);
    expectUnion(expr, {random.offset});
    return expect(
        random.seed->type.isScalar() && random.seed->type.dtype == DType::I64 &&
            random.offset->type.dtype == DType::I64 && type.dtype == DType::F32,
        "random", &expr);
  }
  case Expr::Kind::Let: {
    const auto &let = cast<Let>(expr);
    expectSubset(let.body, type, "the body of a let");
    return expect(let.body->type.dtype == type.dtype, "let", &expr);
  }
  case Expr::Kind::Attention:
    return checkAttention(cast<Attention>(expr));
  }
}

void Checker::checkExpr(const Expr &expr) {
  if (!violation.empty())
    return;
  llvm::SmallPtrSet<Axis *, 8> axes(expr.type.axes.begin(),
                                    expr.type.axes.end());
  expect(axes.size() == expr.type.axes.size(), "an axis twice", &expr);
  expect(!inLambda || expr.type.isScalar(), "a tile in a lambda", &expr);
  expect(expr.range.isValid(), "no place", &expr);
  for (Axis *axis : expr.type.axes)
    expect(llvm::is_contained(kernel.axes, axis), "an axis not listed", &expr);
  if (const auto *let = dyn_cast<Let>(&expr)) {
    for (auto [var, value] : let->bindings) {
      checkExpr(*value);
      expect(var->type.dtype == value->type.dtype &&
                 var->type.axes == value->type.axes,
             "a binding of another type", value);
      defined.insert(var);
    }
    checkExpr(*let->body);
  } else if (!isa<Load>(&expr)) {
    forEachOperand(expr, [&](Expr &operand) {
      // Lambdas are looked at with their parameters defined.
      const auto *attention = dyn_cast<Attention>(&expr);
      bool isBody = attention &&
                    ((attention->mask && &operand == attention->mask->body) ||
                     (attention->score && &operand == attention->score->body));
      if (!isBody)
        checkExpr(operand);
    });
  }
  checkNode(expr);
}

void Checker::checkStmt(const Stmt &stmt) {
  expect(stmt.range.isValid(), "a statement without a place");
  switch (stmt.kind) {
  case Stmt::Kind::Assign: {
    const auto &assign = cast<Assign>(stmt);
    checkExpr(*assign.value);
    expect(assign.value->type.dtype == assign.var->type.dtype,
           "an assignment of another type", assign.value);
    expectSubset(assign.value, assign.var->type, "an assigned value");
    expect(assign.isDefinition != defined.contains(assign.var),
           "a variable is defined once, first");
    defined.insert(assign.var);
    return;
  }
  case Stmt::Kind::Store: {
    const auto &store = cast<Store>(stmt);
    checkExpr(*store.value);
    llvm::SmallPtrSet<Axis *, 8> axes;
    checkIndices(store.param, store.indices, axes);
    expect(store.value->type.dtype == store.param->dtype, "a stored type",
           store.value);
    for (Axis *axis : store.value->type.axes)
      expect(axes.contains(axis), "a stored axis", store.value);
    expect(store.isAdd == (store.param->access == ast::Access::Add) &&
               store.param->access != ast::Access::In,
           "a store to the wrong parameter");
    for (const Index &index : store.indices)
      expect(store.isAdd || index.kind != Index::Kind::Gather,
             "a scattered store");
    return;
  }
  case Stmt::Kind::Attention: {
    const auto &both = cast<AttentionStmt>(stmt);
    checkExpr(*both.attention);
    expect(both.result->type.axes == both.attention->type.axes, "result");
    expect(both.lse->type.axes.size() + 1 == both.result->type.axes.size(),
           "lse");
    defined.insert(both.result);
    defined.insert(both.lse);
    return;
  }
  case Stmt::Kind::For: {
    const auto &loop = cast<For>(stmt);
    expect((loop.var->dim == nullptr) != (loop.var->extent == nullptr),
           "the extent of a loop");
    if (loop.var->extent) {
      checkExpr(*loop.var->extent);
      expect(loop.var->extent->type.isScalar() &&
                 loop.var->extent->type.dtype == DType::I64,
             "an extent is an i64", loop.var->extent);
    }
    open.insert(loop.var);
    if (loop.condition) {
      checkExpr(*loop.condition);
      expect(loop.condition->type.isScalar() &&
                 loop.condition->type.dtype == DType::Bool,
             "a condition", loop.condition);
    }
    checkBody(loop.body);
    open.erase(loop.var);
    return;
  }
  case Stmt::Kind::If: {
    const auto &branch = cast<If>(stmt);
    checkExpr(*branch.condition);
    expect(branch.condition->type.isScalar() &&
               branch.condition->type.dtype == DType::Bool,
           "a condition", branch.condition);
    checkBody(branch.thenBody);
    checkBody(branch.elseBody);
    return;
  }
  case Stmt::Kind::Print:
    for (const Expr *value : cast<Print>(stmt).values)
      checkExpr(*value);
    return;
  case Stmt::Kind::Assert:
    checkExpr(*cast<Assert>(stmt).condition);
    expect(cast<Assert>(stmt).condition->type.dtype == DType::Bool, "assert");
    return;
  }
}

void Checker::checkBody(const Body &body) {
  for (const Stmt *stmt : body)
    if (violation.empty())
      checkStmt(*stmt);
}

std::string Checker::run() {
  for (const Expr *requirement : kernel.requirements) {
    checkExpr(*requirement);
    expect(requirement->type.isScalar() &&
               requirement->type.dtype == DType::Bool,
           "a requirement", requirement);
  }
  for (const Param *param : kernel.params)
    if (param->defaultValue)
      expect(isa<IntConst, FloatConst, BoolConst>(param->defaultValue) &&
                 param->defaultValue->type.dtype == param->dtype,
             "a default", param->defaultValue);
  for (const LoopVar *var : kernel.grid) {
    if (var->extent)
      checkExpr(*var->extent);
    open.insert(var);
  }
  for (const Axis *axis : kernel.axes)
    expect(axis->isTile() == (axis->var != nullptr) &&
               (!axis->isTile() || axis->var->axis == axis),
           "axis and variable");
  checkBody(kernel.body);
  return violation;
}

std::string test::findViolation(const Kernel &kernel) {
  return Checker(kernel).run();
}
