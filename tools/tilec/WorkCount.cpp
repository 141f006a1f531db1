//===- WorkCount.cpp - What a kernel has to do at least ---------*- C++ -*-===//
//
// See WorkCount.h.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/WorkCount.h"
#include "lib/Frontend/TypedVisitor.h"
#include "llvm/ADT/SetVector.h"

using namespace tilec;
using namespace tilec::cli;

double cli::countBytes(const typed::Kernel &kernel, const BoundLaunch &launch) {
  double total = 0;
  for (const typed::Param *param : kernel.params) {
    const auto *view = std::get_if<TensorView>(&launch.args[param->index]);
    if (!view)
      continue;
    bool isBoth = param->access == ast::Access::InOut ||
                  param->access == ast::Access::Add;
    total += static_cast<double>(view->numElements()) * byteSize(view->dtype) *
             (isBoth ? 2 : 1);
  }
  return total;
}

namespace {
/// Walks over a kernel with the loops that are open.
class FlopCounter {
public:
  FlopCounter(const typed::Kernel &kernel, const BoundLaunch &launch);

  /// Nothing if an extent has no value.
  std::optional<double> count();

private:
  using Axes = llvm::SmallSetVector<const typed::Axis *, 8>;

  void countBody(const typed::Body &body);
  void countExpr(typed::Expr &expr);
  /// `flops` for each position of `axes` and each iteration around them.
  void add(double flops, const Axes &axes);
  double extentOf(const typed::Axis &axis);
  double extentOf(const typed::LoopVar &var);

  const typed::Kernel &kernel;
  ScalarBindings bindings;
  llvm::SmallVector<const typed::LoopVar *> loops;
  double total = 0;
  bool isKnown = true;
};
} // namespace

FlopCounter::FlopCounter(const typed::Kernel &kernel, const BoundLaunch &launch)
    : kernel(kernel) {
  bindings.dims = launch.extents;
  for (const typed::Param *param : kernel.params)
    if (const auto *scalar =
            std::get_if<ScalarValue>(&launch.args[param->index]))
      bindings.params[param->name] = *scalar;
}

double FlopCounter::extentOf(const typed::LoopVar &var) {
  if (var.dim)
    return static_cast<double>(bindings.dims.lookup(var.dim->name));
  llvm::Expected<ScalarValue> value = evaluateScalar(*var.extent, bindings);
  if (value)
    return static_cast<double>(std::max<int64_t>(value->integer, 0));
  llvm::consumeError(value.takeError());
  isKnown = false;
  return 0;
}

double FlopCounter::extentOf(const typed::Axis &axis) {
  if (axis.var)
    return extentOf(*axis.var);
  return static_cast<double>(axis.dim ? bindings.dims.lookup(axis.dim->name)
                                      : axis.constant);
}

void FlopCounter::add(double flops, const Axes &axes) {
  // All tiles of an axis together are its extent.
  for (const typed::Axis *axis : axes)
    flops *= extentOf(*axis);
  for (const typed::LoopVar *var : loops)
    if (!var->isTile)
      flops *= extentOf(*var);
  total += flops;
}

void FlopCounter::countExpr(typed::Expr &expr) {
  typed::walk(expr, [&](typed::Expr &part) {
    Axes axes;
    if (const auto *dot = llvm::dyn_cast<typed::Dot>(&part)) {
      axes.insert_range(dot->lhs->type.axes);
      axes.insert_range(dot->rhs->type.axes);
      add(2, axes);
    } else if (const auto *attention =
                   llvm::dyn_cast<typed::Attention>(&part)) {
      axes.insert(attention->kv);
      if (attention->row)
        axes.insert(attention->row);
      add(2 * (extentOf(*attention->d) + extentOf(*attention->e)), axes);
    }
  });
}

void FlopCounter::countBody(const typed::Body &body) {
  for (typed::Stmt *stmt : body) {
    if (const auto *loop = llvm::dyn_cast<typed::For>(stmt)) {
      loops.push_back(loop->var);
      if (loop->condition)
        countExpr(*loop->condition);
      countBody(loop->body);
      loops.pop_back();
      continue;
    }
    typed::forEachExpr(*stmt, [&](typed::Expr &expr) { countExpr(expr); });
    if (const auto *branch = llvm::dyn_cast<typed::If>(stmt)) {
      countBody(branch->thenBody);
      countBody(branch->elseBody);
    }
  }
}

std::optional<double> FlopCounter::count() {
  loops.append(kernel.grid.begin(), kernel.grid.end());
  countBody(kernel.body);
  return isKnown ? std::optional<double>(total) : std::nullopt;
}

std::optional<double> cli::countFlops(const typed::Kernel &kernel,
                                      const BoundLaunch &launch) {
  return FlopCounter(kernel, launch).count();
}
