//===- Evaluator.cpp - Statements and tensors -------------------*- C++ -*-===//
//
// Runs a kernel program by program. Loops visit tiles in ascending order and a
// tile covers only positions inside its axis.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Evaluator.h"
#include <cmath>

using namespace tilec;
using namespace tilec::reference;

llvm::Error tilec::evaluateReference(const typed::Kernel &kernel,
                                     const BoundLaunch &launch,
                                     RoundingFacts *facts) {
  RoundingFacts own;
  Evaluator(kernel, launch, facts ? *facts : own).run();
  return llvm::Error::success();
}

void Evaluator::run() {
  beginAdditions();
  runGrid(0);
  endAdditions();
  for (const auto &[expr, sums] : narrowedSums)
    if (sums.result > 0)
      facts.cancellation =
          std::max(facts.cancellation, sums.magnitude / sums.result);
}

void Evaluator::noteSum(NarrowedSum &greatest, double magnitude,
                        double result) {
  if (!std::isfinite(magnitude) || !std::isfinite(result))
    return;
  greatest.magnitude = std::max(greatest.magnitude, magnitude);
  greatest.result = std::max(greatest.result, std::fabs(result));
}

/// Sums of floats are kept in double precision until the end: a kernel cannot
/// read what it adds to.
void Evaluator::beginAdditions() {
  for (const typed::Param *param : kernel.params) {
    if (param->access != ast::Access::Add || !isFloat(param->dtype))
      continue;
    Additions &added = facts.additions[param];
    forEachElement(tensor(*param), [&](void *element, int64_t) {
      double value = loadAsDouble(param->dtype, element);
      added.sums.push_back(value);
      added.magnitudes.push_back(std::fabs(value));
    });
    added.counts.assign(added.sums.size(), 0);
  }
}

void Evaluator::endAdditions() {
  for (auto &[param, added] : facts.additions)
    forEachElement(tensor(*param),
                   [&, dtype = param->dtype, &sums = added.sums](void *element,
                                                                 int64_t i) {
                     storeDouble(dtype, element, sums[i]);
                   });
}

void Evaluator::runGrid(size_t depth) {
  if (depth == kernel.grid.size())
    return run(kernel.body);
  runLoop(*kernel.grid[depth], [&] { runGrid(depth + 1); });
}

int64_t Evaluator::extentOf(const typed::LoopVar &var) {
  if (var.dim)
    return launch.extents.lookup(var.dim->name);
  return evaluate(*var.extent).scalarInt();
}

void Evaluator::runLoop(const typed::LoopVar &var,
                        llvm::function_ref<void()> body) {
  int64_t extent = extentOf(var);
  int64_t step = var.isTile ? var.axis->tileSize : 1;
  for (int64_t begin = 0; begin < extent; begin += step) {
    loops[&var] = {begin, std::min(step, extent - begin)};
    body();
  }
}

void Evaluator::run(const typed::Body &body) {
  for (const typed::Stmt *stmt : body)
    run(*stmt);
}

void Evaluator::run(const typed::Stmt &stmt) {
  using Kind = typed::Stmt::Kind;
  switch (stmt.kind) {
  case Kind::Assign: {
    const auto &assign = llvm::cast<typed::Assign>(stmt);
    Value value = evaluate(*assign.value);
    // A variable has all its axes from its first assignment on.
    Space space;
    for (const typed::Axis *axis : assign.var->type.axes) {
      space.axes.push_back(axis);
      space.shape.push_back(coverage(*axis).second);
    }
    vars[assign.var] = broadcastTo(value, space);
    return;
  }
  case Kind::Store:
    return store(llvm::cast<typed::Store>(stmt));
  case Kind::Attention: {
    const auto &both = llvm::cast<typed::AttentionStmt>(stmt);
    auto [result, lse] = attention(*both.attention);
    vars[both.result] = std::move(result);
    vars[both.lse] = std::move(lse);
    return;
  }
  case Kind::For: {
    const auto &loop = llvm::cast<typed::For>(stmt);
    return runLoop(*loop.var, [&] {
      if (!loop.condition || evaluate(*loop.condition).scalarBool())
        run(loop.body);
    });
  }
  case Kind::If: {
    const auto &branch = llvm::cast<typed::If>(stmt);
    return run(evaluate(*branch.condition).scalarBool() ? branch.thenBody
                                                        : branch.elseBody);
  }
  case Kind::Print:
  case Kind::Assert:
    return; // Only the real run speaks.
  }
}

const TensorView &Evaluator::tensor(const typed::Param &param) const {
  return std::get<TensorView>(launch.args[param.index]);
}

int64_t Evaluator::extentOf(const typed::Axis &axis) {
  return axis.dim ? launch.extents.lookup(axis.dim->name) : axis.constant;
}

std::pair<int64_t, int64_t> Evaluator::coverage(const typed::Axis &axis) {
  if (!axis.isTile())
    return {0, extentOf(axis)};
  LoopState state = loops.lookup(axis.var);
  return {state.begin, state.count};
}

Value Evaluator::along(const typed::Axis &axis) {
  auto [begin, count] = coverage(axis);
  Value value(DType::I64, {&axis}, {count});
  for (int64_t i = 0; i < count; ++i)
    value.ints[i] = begin + i;
  return value;
}

llvm::SmallVector<Value, 4>
Evaluator::positions(llvm::ArrayRef<typed::Index> indices, Space &space) {
  llvm::SmallVector<Value, 4> result;
  for (const typed::Index &index : indices) {
    bool isAxis = index.kind == typed::Index::Kind::Tile ||
                  index.kind == typed::Index::Kind::Whole;
    result.push_back(isAxis ? along(*index.axis) : evaluate(*index.expr));
    space.add(result.back());
  }
  return result;
}

Value Evaluator::load(const typed::Load &expr) {
  const TensorView &view = tensor(*expr.param);
  Space space;
  llvm::SmallVector<Value, 4> at = positions(expr.indices, space);
  Value result(expr.param->dtype, space.axes, space.shape);
  llvm::SmallVector<Shape, 4> strides;
  for (const Value &position : at)
    strides.push_back(stridesIn(position, space));
  llvm::SmallVector<int64_t, 6> index(at.size());
  forEachPosition(space.shape, strides,
                  [&](int64_t i, llvm::ArrayRef<int64_t> offsets) {
                    for (size_t d = 0; d < at.size(); ++d) {
                      index[d] = at[d].ints[offsets[d]];
                      if (index[d] < 0 || index[d] >= view.shape[d])
                        return; // Reads out of range give 0.
                    }
                    if (isFloat(result.dtype))
                      result.floats[i] = view.getDouble(index);
                    else
                      result.ints[i] = view.getInt(index);
                  });
  return result;
}

void Evaluator::store(const typed::Store &stmt) {
  const TensorView &view = tensor(*stmt.param);
  auto found = facts.additions.find(stmt.param);
  Additions *added = found == facts.additions.end() ? nullptr : &found->second;
  Value value = evaluate(*stmt.value);
  Space space;
  llvm::SmallVector<Value, 4> at = positions(stmt.indices, space);
  space.add(value);
  llvm::SmallVector<Shape, 4> strides;
  for (const Value &position : at)
    strides.push_back(stridesIn(position, space));
  strides.push_back(stridesIn(value, space));
  llvm::SmallVector<int64_t, 6> index(at.size());
  forEachPosition(
      space.shape, strides, [&](int64_t, llvm::ArrayRef<int64_t> offsets) {
        for (size_t d = 0; d < at.size(); ++d) {
          index[d] = at[d].ints[offsets[d]];
          if (index[d] < 0 || index[d] >= view.shape[d])
            return;
        }
        int64_t from = offsets.back();
        if (added) {
          int64_t position = 0;
          for (size_t d = 0; d < at.size(); ++d)
            position = position * view.shape[d] + index[d];
          double addend = value.asDouble(from);
          added->sums[position] += addend;
          added->magnitudes[position] += std::fabs(addend);
          ++added->counts[position];
        } else if (isFloat(view.dtype)) {
          view.setDouble(index, value.asDouble(from));
        } else {
          view.setInt(
              index,
              wrapTo(view.dtype,
                     static_cast<uint64_t>(value.ints[from]) +
                         (stmt.isAdd ? static_cast<uint64_t>(view.getInt(index))
                                     : 0)));
        }
      });
}
