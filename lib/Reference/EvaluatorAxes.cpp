//===- EvaluatorAxes.cpp - What runs along axes -----------------*- C++ -*-===//
//
// Reductions, scans, contractions and attention, each by its definition in
// docs/language.md.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Evaluator.h"
#include "lib/Runtime/NarrowFloat.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace tilec;
using namespace tilec::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

/// Moves the axes in `last` to the end, so that each position of the others has
/// a contiguous run, and says how long that is.
static Value withLast(const Value &value,
                      llvm::ArrayRef<const typed::Axis *> last, int64_t &run) {
  Space space;
  for (auto [axis, extent] : llvm::zip(value.axes, value.shape))
    if (!llvm::is_contained(last, axis)) {
      space.axes.push_back(axis);
      space.shape.push_back(extent);
    }
  run = 1;
  for (const typed::Axis *axis : last) {
    int64_t extent =
        value.shape[llvm::find(value.axes, axis) - value.axes.begin()];
    space.axes.push_back(axis);
    space.shape.push_back(extent);
    run *= extent;
  }
  return broadcastTo(value, space);
}

/// log(sum(exp(x))); -inf if every x is.
static double logSumExp(llvm::ArrayRef<double> xs) {
  double largest = -infinity, sum = 0;
  for (double x : xs) {
    if (std::isnan(x))
      return x;
    largest = std::max(largest, x);
  }
  if (std::isinf(largest))
    return largest;
  for (double x : xs)
    sum += std::exp(x - largest);
  return largest + std::log(sum);
}

/// One weight of a softmax whose log-sum-exp is `total`. A row of nothing but
/// -inf has no weight anywhere; one with +inf has no softmax.
static double softmaxWeight(double x, double total) {
  if (total == -infinity)
    return 0;
  return total == infinity ? std::nan("") : std::exp(x - total);
}

static double reduceRun(typed::ReduceKind op, llvm::ArrayRef<double> xs) {
  using Kind = typed::ReduceKind;
  double sum = 0, product = 1, high = -infinity, low = infinity;
  bool nan = false;
  for (double x : xs) {
    sum += x;
    product *= x;
    nan |= std::isnan(x);
    high = std::fmax(high, x);
    low = std::fmin(low, x);
  }
  switch (op) {
  case Kind::Sum:
    return sum;
  case Kind::Prod:
    return product;
  case Kind::Max:
    return nan ? std::nan("") : high;
  case Kind::Min:
    return nan ? std::nan("") : low;
  case Kind::FMax:
    return high;
  case Kind::FMin:
    return low;
  case Kind::Mean:
    return sum / static_cast<double>(xs.size());
  case Kind::LogSumExp:
    return logSumExp(xs);
  default:
    llvm_unreachable("not a reduction of floats to a float");
  }
}

static int64_t reduceRun(typed::ReduceKind op, llvm::ArrayRef<int64_t> xs,
                         DType dtype) {
  using Kind = typed::ReduceKind;
  uint64_t sum = 0, product = 1;
  bool any = false, all = true;
  IntegerRange range = integerRange(dtype);
  int64_t high = range.min, low = range.max;
  for (int64_t x : xs) {
    sum += static_cast<uint64_t>(x);
    product *= static_cast<uint64_t>(x);
    any |= x != 0;
    all &= x != 0;
    high = std::max(high, x);
    low = std::min(low, x);
  }
  switch (op) {
  case Kind::Sum:
    return wrapTo(dtype, sum);
  case Kind::Prod:
    return wrapTo(dtype, product);
  case Kind::Max:
  case Kind::FMax:
    return high;
  case Kind::Min:
  case Kind::FMin:
    return low;
  case Kind::Any:
    return any;
  case Kind::All:
    return all;
  default:
    llvm_unreachable("not a reduction of integers");
  }
}

/// The first lane that beats all others; NaN beats everything.
static int64_t argRun(bool wantsMax, const Value &value, int64_t begin,
                      int64_t run) {
  int64_t best = -1;
  for (int64_t i = 0; i < run; ++i) {
    if (best < 0) {
      best = 0;
      continue;
    }
    if (isFloat(value.dtype)) {
      double x = value.floats[begin + i], y = value.floats[begin + best];
      if (!std::isnan(y) && (std::isnan(x) || (wantsMax ? x > y : x < y)))
        best = i;
    } else {
      int64_t x = value.ints[begin + i], y = value.ints[begin + best];
      if (wantsMax ? x > y : x < y)
        best = i;
    }
  }
  return best;
}

Value Evaluator::reduce(const typed::Reduce &expr) {
  using Kind = typed::ReduceKind;
  Value operand = evaluate(*expr.operand);
  Axes over(expr.over.begin(), expr.over.end());
  int64_t run = 1;
  Value moved = withLast(operand, over, run);
  size_t kept = moved.axes.size() - over.size();
  Value result(expr.type.dtype,
               Axes(llvm::ArrayRef(moved.axes).take_front(kept)),
               Shape(llvm::ArrayRef(moved.shape).take_front(kept)));
  bool arg = expr.op == Kind::ArgMax || expr.op == Kind::ArgMin;
  int64_t base = arg ? coverage(*over.front()).first : 0;
  for (int64_t i = 0, size = result.size(); i < size; ++i) {
    if (arg) {
      int64_t lane = argRun(expr.op == Kind::ArgMax, moved, i * run, run);
      result.ints[i] = lane < 0 ? -1 : base + lane;
    } else if (isFloat(moved.dtype)) {
      result.floats[i] =
          reduceRun(expr.op, llvm::ArrayRef(moved.floats).slice(i * run, run));
    } else {
      result.ints[i] = reduceRun(
          expr.op, llvm::ArrayRef(moved.ints).slice(i * run, run), moved.dtype);
    }
  }
  return result;
}

Value Evaluator::scan(const typed::Scan &expr) {
  Value operand = evaluate(*expr.operand);
  int64_t run = 1;
  Value moved = withLast(operand, {expr.over}, run);
  for (int64_t i = 0, size = moved.size(); i < size; i += run) {
    if (expr.op == typed::ScanKind::CumSum) {
      for (int64_t j = i + 1; j < i + run; ++j) {
        if (isFloat(moved.dtype))
          moved.floats[j] += moved.floats[j - 1];
        else
          moved.ints[j] =
              wrapTo(moved.dtype, static_cast<uint64_t>(moved.ints[j]) +
                                      static_cast<uint64_t>(moved.ints[j - 1]));
      }
      continue;
    }
    llvm::MutableArrayRef<double> row(moved.floats.data() + i, run);
    double total = logSumExp(row);
    for (double &x : row)
      x = softmaxWeight(x, total);
  }
  Space space;
  space.add(operand);
  return broadcastTo(moved, space);
}

/// Whether an operand may have been rounded behind a computation that others
/// make with other errors.
static bool isNarrowed(const typed::Expr &operand) {
  return isNarrowFloat(operand.type.dtype) && !llvm::isa<typed::Load>(operand);
}

Value Evaluator::dot(const typed::Dot &expr) {
  Value lhs = evaluate(*expr.lhs), rhs = evaluate(*expr.rhs);
  if (expr.precision == typed::Precision::TF32)
    for (Value *operand : {&lhs, &rhs})
      for (double &x : operand->floats)
        x = roundToFloat(DType::TF32, x);

  // Both operands as [batch, free, contracted], contiguous.
  Axes contract(expr.contract.begin(), expr.contract.end());
  Axes batch;
  for (const typed::Axis *axis : lhs.axes)
    if (llvm::is_contained(rhs.axes, axis) &&
        !llvm::is_contained(contract, axis))
      batch.push_back(axis);
  auto arrange = [&](const Value &value, Space &freeSpace) {
    Space order;
    auto add = [](Space &space, const Value &from, const typed::Axis *axis) {
      space.axes.push_back(axis);
      space.shape.push_back(
          from.shape[llvm::find(from.axes, axis) - from.axes.begin()]);
    };
    for (const typed::Axis *axis : batch)
      add(order, value, axis);
    for (const typed::Axis *axis : value.axes)
      if (!llvm::is_contained(batch, axis) &&
          !llvm::is_contained(contract, axis)) {
        add(order, value, axis);
        add(freeSpace, value, axis);
      }
    for (const typed::Axis *axis : contract)
      add(order, value, axis);
    return broadcastTo(value, order);
  };
  Space lhsFree, rhsFree, resultSpace;
  Value a = arrange(lhs, lhsFree), b = arrange(rhs, rhsFree);
  for (size_t i = 0; i < batch.size(); ++i) {
    resultSpace.axes.push_back(batch[i]);
    resultSpace.shape.push_back(a.shape[i]);
  }
  int64_t batches = resultSpace.size();
  for (const Space *part : {&lhsFree, &rhsFree}) {
    resultSpace.axes.append(part->axes);
    resultSpace.shape.append(part->shape);
  }
  int64_t rows = lhsFree.size(), columns = rhsFree.size(), depth = 1;
  for (int64_t extent : llvm::ArrayRef(a.shape).take_back(contract.size()))
    depth *= extent;

  NarrowedSum *narrowed = isNarrowed(*expr.lhs) || isNarrowed(*expr.rhs)
                              ? &narrowedSums[&expr]
                              : nullptr;
  Value result(expr.type.dtype, resultSpace.axes, resultSpace.shape);
  for (int64_t n = 0; n < batches; ++n)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        int64_t i = (n * rows + r) * depth, j = (n * columns + c) * depth;
        int64_t at = (n * rows + r) * columns + c;
        if (isFloat(result.dtype)) {
          double sum = 0, magnitude = 0;
          for (int64_t k = 0; k < depth; ++k) {
            double product = a.floats[i + k] * b.floats[j + k];
            sum += product;
            magnitude += std::fabs(product);
          }
          result.floats[at] = sum;
          if (narrowed)
            noteSum(*narrowed, magnitude, sum);
        } else {
          uint64_t sum = 0;
          for (int64_t k = 0; k < depth; ++k)
            sum += static_cast<uint64_t>(a.ints[i + k]) *
                   static_cast<uint64_t>(b.ints[j + k]);
          result.ints[at] = wrapTo(result.dtype, sum);
        }
      }
  return result;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

std::pair<Value, Value> Evaluator::attention(const typed::Attention &expr) {
  Value query = evaluate(*expr.query);
  Value keys = load(*expr.keys), values = load(*expr.values);
  double scale = evaluate(*expr.scale).floats[0];
  int64_t kvCount = extentOf(*expr.kv);
  int64_t depth = extentOf(*expr.d), width = extentOf(*expr.e);
  int64_t rows = 1, rowBegin = 0;
  if (expr.row)
    std::tie(rowBegin, rows) = coverage(*expr.row);
  else if (expr.rowPosition)
    rowBegin = evaluate(*expr.rowPosition).scalarInt();

  // The score matrix, with positions as values on its axes, so that the lambdas
  // are evaluated for all pairs at once.
  typed::Axis rowAxis, kvAxis;
  Value s(DType::F32, {&rowAxis, &kvAxis}, {rows, kvCount});
  Value q(DType::I64, {&rowAxis}, {rows}), kv(DType::I64, {&kvAxis}, {kvCount});
  for (int64_t i = 0; i < rows; ++i) {
    q.ints[i] = rowBegin + i;
    for (int64_t j = 0; j < kvCount; ++j) {
      double sum = 0;
      for (int64_t d = 0; d < depth; ++d)
        sum += query.floats[i * depth + d] * keys.floats[j * depth + d];
      s.floats[i * kvCount + j] = sum * scale;
    }
  }
  for (int64_t j = 0; j < kvCount; ++j)
    kv.ints[j] = j;

  Space space;
  space.add(s);
  auto call = [&](const typed::Lambda &lambda, llvm::ArrayRef<Value> args) {
    for (auto [param, arg] : llvm::zip(lambda.params, args))
      vars[param] = arg;
    return broadcastTo(evaluate(*lambda.body), space);
  };
  if (expr.score)
    s = call(*expr.score, {s, q, kv});
  if (expr.mask) {
    Value visible = call(*expr.mask, {q, kv});
    for (int64_t i = 0, size = s.size(); i < size; ++i)
      if (!visible.ints[i])
        s.floats[i] = -infinity;
  }

  // Axes of the results as the kernel names them.
  Axes rowAxes;
  Shape rowShape;
  if (expr.row) {
    rowAxes.push_back(expr.row);
    rowShape.push_back(rows);
  }
  Value lse(DType::F32, rowAxes, rowShape);
  rowAxes.push_back(expr.e);
  rowShape.push_back(width);
  Value result(DType::F32, rowAxes, rowShape);
  NarrowedSum &narrowed = narrowedSums[&expr];
  std::vector<double> magnitudes(width);
  for (int64_t i = 0; i < rows; ++i) {
    llvm::fill(magnitudes, 0.0);
    llvm::ArrayRef<double> row(s.floats.data() + i * kvCount, kvCount);
    double total = logSumExp(row);
    lse.floats[i] = total;
    for (int64_t j = 0; j < kvCount; ++j) {
      double p = softmaxWeight(row[j], total);
      // A key that is not seen does not count, whatever its value is.
      if (p != 0)
        for (int64_t e = 0; e < width; ++e) {
          double product = p * values.floats[j * width + e];
          result.floats[i * width + e] += product;
          magnitudes[e] += std::fabs(product);
        }
    }
    for (int64_t e = 0; e < width; ++e)
      noteSum(narrowed, magnitudes[e], result.floats[i * width + e]);
  }
  return {std::move(result), std::move(lse)};
}
