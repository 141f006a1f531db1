//===- TreeBuilder.h - Typed kernels by hand --------------------*- C++ -*-===//
//
// Builds typed trees without a source text, so that the tests of the lowering
// do not depend on the parser and semantic analysis:
//
//     Tree t;
//     Dimension *n = t.dim("N");
//     Param *x = t.tensor("X", DType::F32, {n});
//     Axis *an = t.tile("n", n, 128, /*grid=*/true);
//     t.store(t.body(), y, {t.at(an)}, t.load(x, {t.at(an)}));
//
// Types are given where they are not obvious; the checks are the verifier's.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_TEST_UNIT_LOWERING_TREEBUILDER_H
#define TILEC_TEST_UNIT_LOWERING_TREEBUILDER_H

#include "lib/Frontend/Lowering/Lowering.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

namespace tilec::test {

using namespace tilec::typed;

class Tree {
public:
  Kernel kernel;
  LoweringOptions options;
  mlir::MLIRContext context;
  SourceManager sources;
  std::string diagnostics;

  Tree() {
    // One long line: a location is a column.
    unsigned file = sources.addFile("k.tile", std::string(100, ' '));
    start = sources.getLoc(file, 0);
    kernel.name = "k";
    kernel.range = range(0);
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) {
          diagnostics += diagnostic.str() + "\n";
          return mlir::success();
        });
  }

  SourceRange range(unsigned column) {
    return {start.advanced(column), start.advanced(column + 1)};
  }
  Body &body() { return kernel.body; }

  // Signature --------------------------------------------------------------

  Dimension *dim(llvm::StringRef name, bool isWhole = false) {
    auto *dim = kernel.arena.make<Dimension>();
    dim->name = name;
    dim->range = range(1);
    dim->index = kernel.dims.size();
    dim->isWhole = isWhole;
    kernel.dims.push_back(dim);
    return dim;
  }
  Param *tensor(llvm::StringRef name, DType dtype,
                llvm::ArrayRef<Dimension *> shape,
                ast::Access access = ast::Access::In) {
    Param *param = scalar(name, dtype);
    param->isTensor = true;
    param->access = access;
    for (Dimension *dim : shape)
      param->shape.emplace_back().dim = dim;
    return param;
  }
  Param *scalar(llvm::StringRef name, DType dtype) {
    auto *param = kernel.arena.make<Param>();
    param->name = name;
    param->range = range(2);
    param->dtype = dtype;
    param->index = kernel.params.size();
    kernel.params.push_back(param);
    return param;
  }

  // Axes -------------------------------------------------------------------

  Axis *tile(llvm::StringRef name, Dimension *dim, int64_t size, bool grid) {
    LoopVar *var = position(name, dim, grid);
    var->isTile = true;
    var->axis = kernel.arena.make<Axis>();
    var->axis->kind = Axis::Kind::Tile;
    var->axis->name = name;
    var->axis->dim = dim;
    var->axis->var = var;
    var->axis->tileSize = size;
    kernel.axes.push_back(var->axis);
    return var->axis;
  }
  LoopVar *position(llvm::StringRef name, Dimension *dim, bool grid) {
    auto *var = kernel.arena.make<LoopVar>();
    var->name = name;
    var->range = range(3);
    var->dim = dim;
    if (grid)
      kernel.grid.push_back(var);
    return var;
  }
  Axis *whole(Dimension *dim) {
    auto *axis = kernel.arena.make<Axis>();
    axis->name = dim->name;
    axis->dim = dim;
    dim->isWhole = true;
    kernel.axes.push_back(axis);
    return axis;
  }
  Axis *constantAxis(int64_t extent) {
    auto *axis = kernel.arena.make<Axis>();
    axis->name = "const";
    axis->constant = extent;
    kernel.axes.push_back(axis);
    return axis;
  }

  // Subscripts -------------------------------------------------------------

  Index at(Axis *axis, bool proven = true) {
    Index index;
    index.kind = axis->isTile() ? Index::Kind::Tile : Index::Kind::Whole;
    index.axis = axis;
    index.proven = proven;
    index.range = range(4);
    return index;
  }
  Index at(Expr *expr, bool proven = false) {
    Index index;
    index.kind =
        expr->type.isScalar() ? Index::Kind::Scalar : Index::Kind::Gather;
    index.expr = expr;
    index.proven = proven;
    index.range = range(4);
    return index;
  }

  // Expressions ------------------------------------------------------------

  template <typename T> T *make(DType dtype, llvm::ArrayRef<Axis *> axes = {}) {
    T *expr = kernel.arena.make<T>();
    expr->range = range(5);
    expr->type.dtype = dtype;
    expr->type.axes.assign(axes.begin(), axes.end());
    return expr;
  }
  Expr *integer(int64_t value, DType dtype = DType::I64) {
    auto *expr = make<IntConst>(dtype);
    expr->value = value;
    return expr;
  }
  Expr *real(double value, DType dtype = DType::F32) {
    auto *expr = make<FloatConst>(dtype);
    expr->value = value;
    return expr;
  }
  Expr *param(Param *param) {
    auto *expr = make<ScalarParam>(param->dtype);
    expr->param = param;
    return expr;
  }
  Expr *extent(Dimension *dim) {
    auto *expr = make<DimExtent>(DType::I64);
    expr->dim = dim;
    return expr;
  }
  Expr *ref(Var *var) {
    auto *expr = make<VarRef>(var->type.dtype, var->type.axes);
    expr->var = var;
    return expr;
  }
  Expr *pos(Axis *axis) {
    auto *expr = make<Position>(DType::I64, {axis});
    expr->var = axis->var;
    return expr;
  }
  Expr *pos(LoopVar *var) {
    auto *expr = make<Position>(DType::I64);
    expr->var = var;
    return expr;
  }
  Load *load(Param *param, llvm::ArrayRef<Index> indices) {
    auto *expr = make<Load>(param->dtype);
    expr->param = param;
    for (const Index &index : indices) {
      expr->indices.push_back(index);
      if (index.axis)
        join(expr, index.axis);
      else
        for (Axis *axis : index.expr->type.axes)
          join(expr, axis);
    }
    return expr;
  }
  Expr *unary(UnaryOp op, Expr *operand) {
    auto *expr = make<Unary>(operand->type.dtype, operand->type.axes);
    expr->op = op;
    expr->operand = operand;
    return expr;
  }
  Expr *binary(BinaryOp op, Expr *lhs, Expr *rhs) {
    bool compares = op >= BinaryOp::Eq && op <= BinaryOp::Ge;
    auto *expr =
        make<Binary>(compares ? DType::Bool : lhs->type.dtype, lhs->type.axes);
    for (Axis *axis : rhs->type.axes)
      join(expr, axis);
    expr->op = op;
    expr->lhs = lhs;
    expr->rhs = rhs;
    return expr;
  }
  Expr *math(MathFn fn, Expr *operand) {
    auto *expr = make<Math>(operand->type.dtype, operand->type.axes);
    expr->fn = fn;
    expr->operand = operand;
    return expr;
  }
  Expr *cast(DType dtype, Expr *operand) {
    auto *expr = make<Cast>(dtype, operand->type.axes);
    expr->operand = operand;
    return expr;
  }
  Expr *where(Expr *condition, Expr *onTrue, Expr *onFalse) {
    auto *expr = make<Where>(onTrue->type.dtype, condition->type.axes);
    for (Expr *branch : {onTrue, onFalse})
      for (Axis *axis : branch->type.axes)
        join(expr, axis);
    expr->condition = condition;
    expr->onTrue = onTrue;
    expr->onFalse = onFalse;
    return expr;
  }
  Expr *full(Expr *value, llvm::ArrayRef<Axis *> axes) {
    auto *expr = make<Full>(value->type.dtype, axes);
    expr->value = value;
    return expr;
  }
  Expr *reduce(ReduceKind op, Expr *operand, llvm::ArrayRef<Axis *> over) {
    bool isArg = op == ReduceKind::ArgMax || op == ReduceKind::ArgMin;
    auto *expr = make<Reduce>(isArg ? DType::I64 : operand->type.dtype);
    for (Axis *axis : operand->type.axes)
      if (!llvm::is_contained(over, axis))
        expr->type.axes.push_back(axis);
    expr->op = op;
    expr->operand = operand;
    expr->over.assign(over.begin(), over.end());
    return expr;
  }
  Expr *scan(ScanKind op, Expr *operand, Axis *over) {
    auto *expr = make<Scan>(operand->type.dtype, operand->type.axes);
    expr->op = op;
    expr->operand = operand;
    expr->over = over;
    return expr;
  }
  Dot *dot(DType dtype, Expr *lhs, Expr *rhs, llvm::ArrayRef<Axis *> contract,
           llvm::ArrayRef<Axis *> axes) {
    auto *expr = make<Dot>(dtype, axes);
    expr->lhs = lhs;
    expr->rhs = rhs;
    expr->contract.assign(contract.begin(), contract.end());
    return expr;
  }

  // Statements -------------------------------------------------------------

  template <typename T> T *makeStmt(Body &body) {
    T *stmt = kernel.arena.make<T>();
    stmt->range = range(6);
    body.push_back(stmt);
    return stmt;
  }
  Var *var(llvm::StringRef name, DType dtype,
           llvm::ArrayRef<Axis *> axes = {}) {
    auto *var = kernel.arena.make<Var>();
    var->name = name;
    var->range = range(7);
    var->type.dtype = dtype;
    var->type.axes.assign(axes.begin(), axes.end());
    return var;
  }
  Var *define(Body &body, llvm::StringRef name, Expr *value,
              llvm::ArrayRef<Axis *> axes = {}) {
    Var *variable = var(name, value->type.dtype,
                        axes.empty() ? llvm::ArrayRef(value->type.axes) : axes);
    assign(body, variable, value)->isDefinition = true;
    return variable;
  }
  Assign *assign(Body &body, Var *var, Expr *value) {
    auto *stmt = makeStmt<Assign>(body);
    stmt->var = var;
    stmt->value = value;
    return stmt;
  }
  Store *store(Body &body, Param *param, llvm::ArrayRef<Index> indices,
               Expr *value, bool isAdd = false) {
    auto *stmt = makeStmt<Store>(body);
    stmt->param = param;
    stmt->indices.assign(indices.begin(), indices.end());
    stmt->value = value;
    stmt->isAdd = isAdd;
    return stmt;
  }
  For *loop(Body &body, LoopVar *var, Expr *condition = nullptr) {
    auto *stmt = makeStmt<For>(body);
    stmt->var = var;
    stmt->condition = condition;
    return stmt;
  }

  // Results ----------------------------------------------------------------

  mlir::OwningOpRef<mlir::ModuleOp> lower() {
    auto module = lowerKernel(kernel, options, context, sources);
    UNSCOPED_INFO(diagnostics);
    return module;
  }
  /// The lowered module as text.
  std::string text(bool locations = false) {
    auto module = lower();
    REQUIRE(module);
    std::string result;
    llvm::raw_string_ostream os(result);
    mlir::OpPrintingFlags flags;
    if (locations)
      flags.enableDebugInfo(true, /*prettyForm=*/true);
    module->print(os, flags);
    return result;
  }

private:
  static void join(Expr *expr, Axis *axis) {
    if (!expr->type.hasAxis(axis))
      expr->type.axes.push_back(axis);
  }
  SourceLoc start;
};

/// Requires that the strings occur in `text` in this order.
inline void requireInOrder(llvm::StringRef text,
                           std::initializer_list<llvm::StringRef> parts) {
  size_t from = 0;
  for (llvm::StringRef part : parts) {
    size_t found = text.find(part, from);
    INFO(text.str());
    INFO("expected, in order: " << part.str());
    REQUIRE(found != llvm::StringRef::npos);
    from = found + part.size();
  }
}

inline void requireAbsent(llvm::StringRef text, llvm::StringRef part) {
  INFO(text.str());
  INFO("expected to be absent: " << part.str());
  REQUIRE(!text.contains(part));
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_LOWERING_TREEBUILDER_H
