//===- FillArgument.cpp - Making an argument's elements ---------*- C++ -*-===//
//
// Numbers, sequences and random values, and which random integers a kernel can
// use.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/FillArgument.h"
#include "lib/Frontend/TypedVisitor.h"
#include "lib/Runtime/RandomFill.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace tilec;
using namespace tilec::cli;

static llvm::Error makeError(const llvm::Twine &message,
                             const llvm::Twine &help) {
  return llvm::createStringError(message + "\nhelp: " + help);
}

llvm::Error cli::checkNumber(const ArgumentSpec &spec, DType dtype) {
  if (isFloat(dtype))
    return llvm::Error::success();
  auto [min, max] = integerRange(dtype);
  if (spec.isInteger && spec.integer >= min && spec.integer <= max)
    return llvm::Error::success();
  if (dtype == DType::Bool)
    return makeError("expected a bool, got '" + spec.text + "'",
                     "write true or false");
  return makeError("expected a whole number from " + llvm::Twine(min) + " to " +
                       llvm::Twine(max) + " for " + dtypeName(dtype) +
                       ", got '" + spec.text + "'",
                   "pass one of those, or declare the parameter with another "
                   "type");
}

//===----------------------------------------------------------------------===//
// Which arguments are indices
//===----------------------------------------------------------------------===//

/// The least extent that values of `param` index somewhere in the kernel, if
/// they do: accesses whose index is, but for casts and variables, a load of it.
static std::optional<int64_t>
findIndexedExtent(const typed::Kernel &kernel, const typed::Param &param,
                  const llvm::StringMap<int64_t> &extents) {
  llvm::SmallPtrSet<const typed::Var *, 4> holders;
  auto isParam = [&](const typed::Expr *expr) {
    while (const auto *cast = llvm::dyn_cast<typed::Cast>(expr))
      expr = cast->operand;
    if (const auto *ref = llvm::dyn_cast<typed::VarRef>(expr))
      return holders.contains(ref->var);
    const auto *load = llvm::dyn_cast<typed::Load>(expr);
    return load && load->param == &param;
  };
  std::optional<int64_t> bound;
  auto use = [&](const typed::Param &indexed,
                 llvm::ArrayRef<typed::Index> indices) {
    for (auto [extent, index] : llvm::zip(indexed.shape, indices)) {
      if (!index.expr || !isParam(index.expr))
        continue;
      int64_t value =
          extent.dim ? extents.lookup(extent.dim->name) : extent.constant;
      bound = bound ? std::min(*bound, value) : value;
    }
  };
  // Variables are defined before they are used, so one pass in order does.
  typed::walkStmts(kernel.body, [&](typed::Stmt &stmt) {
    if (const auto *assign = llvm::dyn_cast<typed::Assign>(&stmt))
      if (isParam(assign->value))
        holders.insert(assign->var);
    if (const auto *store = llvm::dyn_cast<typed::Store>(&stmt))
      use(*store->param, store->indices);
  });
  typed::walkExprs(kernel.body, [&](typed::Expr &expr) {
    if (const auto *load = llvm::dyn_cast<typed::Load>(&expr))
      use(*load->param, load->indices);
  });
  return bound;
}

//===----------------------------------------------------------------------===//
// Filling
//===----------------------------------------------------------------------===//

/// A bound of a range: a number or the name of a dimension.
static llvm::Expected<double>
evaluateBound(llvm::StringRef text, const llvm::StringMap<int64_t> &extents) {
  double value = 0;
  if (!text.getAsDouble(value))
    return value;
  auto found = extents.find(text);
  if (found != extents.end())
    return static_cast<double>(found->second);
  return makeError("'" + text + "' is neither a number nor a dimension",
                   "write uniform(0,1) or, for indices of an axis of extent N, "
                   "randint(0,N)");
}

static llvm::Error checkFloatRange(DType dtype, const ArgumentSpec &spec,
                                   double low, double high) {
  double largest = std::max(std::fabs(low), std::fabs(high));
  if (std::isfinite(largest) && largest <= floatFormat(dtype).maxFinite)
    return llvm::Error::success();
  std::string limit;
  llvm::raw_string_ostream(limit)
      << llvm::format("%.6g", floatFormat(dtype).maxFinite);
  return makeError("'" + llvm::Twine(spec.text) + "' has values that are not " +
                       dtypeName(dtype),
                   dtypeName(dtype) + " holds numbers from -" + limit + " to " +
                       limit);
}

static llvm::Error checkWholeRange(DType dtype, const ArgumentSpec &spec,
                                   double low, double high) {
  // Doubles beyond 2^53 are not all the whole numbers.
  constexpr double limit = 9007199254740992;
  if (std::fabs(low) > limit || std::fabs(high) > limit)
    return makeError("'" + llvm::Twine(spec.text) +
                         "' is not a range of whole numbers",
                     "both bounds are within 2^53");
  if (isFloat(dtype))
    return llvm::Error::success();
  auto [min, max] = integerRange(dtype);
  if (low >= static_cast<double>(min) && high - 1 <= static_cast<double>(max))
    return llvm::Error::success();
  return makeError("'" + llvm::Twine(spec.text) + "' has values that are not " +
                       dtypeName(dtype),
                   dtypeName(dtype) + " holds whole numbers from " +
                       llvm::Twine(min) + " to " + llvm::Twine(max));
}

static llvm::Error fillRange(const TensorView &view, llvm::StringRef name,
                             const ArgumentSpec &spec,
                             const llvm::StringMap<int64_t> &extents,
                             uint64_t seed) {
  llvm::Expected<double> low = evaluateBound(spec.low, extents);
  if (!low)
    return low.takeError();
  llvm::Expected<double> high = evaluateBound(spec.high, extents);
  if (!high)
    return high.takeError();
  if (!(*low < *high))
    return makeError("'" + llvm::Twine(spec.text) +
                         "' is not a range of values",
                     "the lower bound comes first, and the upper one is not "
                     "included");
  bool isWhole = spec.kind == ArgumentSpec::Kind::RandInt;
  if (llvm::Error error = isFloat(view.dtype) && !isWhole
                              ? checkFloatRange(view.dtype, spec, *low, *high)
                              : checkWholeRange(view.dtype, spec, *low, *high))
    return error;
  if (spec.kind == ArgumentSpec::Kind::RandInt) {
    FillOptions options;
    options.minInclusive = static_cast<int64_t>(std::ceil(*low));
    options.maxExclusive = static_cast<int64_t>(std::ceil(*high));
    if (options.minInclusive == options.maxExclusive)
      return makeError("'" + llvm::Twine(spec.text) +
                           "' has no whole number in it",
                       "use uniform for other numbers");
    return fillRandom(view, seed, name, options);
  }
  // 2^24 equal steps: the resolution of a float in [0, 1).
  constexpr int64_t steps = 1 << 24;
  uint64_t stream = streamSeed(seed, name);
  forEachElement(view, [&](void *element, int64_t i) {
    double unit = static_cast<double>(integerAt(stream, i, 0, steps)) / steps;
    // The width of the range may be more than a double holds.
    storeDouble(view.dtype, element, *low * (1 - unit) + *high * unit);
  });
  return llvm::Error::success();
}

llvm::Error
cli::fillArgument(const TensorView &view, const typed::Kernel &kernel,
                  const typed::Param &param, const ArgumentSpec &spec,
                  const llvm::StringMap<int64_t> &extents, uint64_t seed) {
  using Kind = ArgumentSpec::Kind;
  switch (spec.kind) {
  case Kind::Number:
    if (llvm::Error error = checkNumber(spec, view.dtype))
      return error;
    forEachElement(view, [&](void *element, int64_t) {
      if (spec.isInteger)
        storeInt(view.dtype, element, spec.integer);
      else
        storeDouble(view.dtype, element, spec.number);
    });
    return llvm::Error::success();
  case Kind::Zeros:
    fillConstant(view, 0);
    return llvm::Error::success();
  case Kind::Ones:
    fillConstant(view, 1);
    return llvm::Error::success();
  case Kind::Iota:
    forEachElement(view, [&](void *element, int64_t i) {
      storeInt(view.dtype, element, i);
    });
    return llvm::Error::success();
  case Kind::Uniform:
  case Kind::RandInt:
    return fillRange(view, param.name, spec, extents, seed);
  case Kind::Random:
    break;
  case Kind::File:
    llvm_unreachable("files are read, not filled");
  }
  FillOptions options;
  if (!isFloat(view.dtype))
    if (std::optional<int64_t> extent =
            findIndexedExtent(kernel, param, extents)) {
      // The largest index has to be a value of the type.
      int64_t largest = std::max<int64_t>(*extent - 1, 0);
      options.maxExclusive =
          std::min(largest, integerRange(view.dtype).max - 1) + 1;
    }
  return fillRandom(view, seed, param.name, options);
}
