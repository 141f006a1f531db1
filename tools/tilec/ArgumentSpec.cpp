//===- ArgumentSpec.cpp - Where an argument's value comes from --*- C++ -*-===//
//
// Parsing `--arg` values, and making the arrays they describe.
//
//===----------------------------------------------------------------------===//

#include "tools/tilec/ArgumentSpec.h"
#include "lib/Frontend/TypedVisitor.h"
#include "lib/Runtime/RandomFill.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::cli;

static llvm::Error badSpec(llvm::StringRef text) {
  return llvm::createStringError(
      "'" + text +
      "' is not a value for an argument; expected a number, a path that ends "
      "in "
      ".npy, or one of zeros, ones, iota, normal, uniform(lo,hi), "
      "randint(lo,hi)");
}

llvm::Expected<ArgumentSpec> cli::parseArgumentSpec(llvm::StringRef text) {
  using Kind = ArgumentSpec::Kind;
  ArgumentSpec spec;
  spec.text = text.str();
  if (text.ends_with(".npy")) {
    spec.kind = Kind::File;
    return spec;
  }
  if (text == "true" || text == "false") {
    spec.kind = Kind::Number;
    spec.isInteger = true;
    spec.integer = text == "true";
    spec.number = static_cast<double>(spec.integer);
    return spec;
  }
  if (!text.getAsInteger(0, spec.integer)) {
    spec.kind = Kind::Number;
    spec.isInteger = true;
    spec.number = static_cast<double>(spec.integer);
    return spec;
  }
  if (!text.getAsDouble(spec.number)) {
    spec.kind = Kind::Number;
    return spec;
  }
  if (text == "inf" || text == "-inf" || text == "nan") {
    spec.kind = Kind::Number;
    double inf = std::numeric_limits<double>::infinity();
    spec.number = text == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                : (text == "inf" ? inf : -inf);
    return spec;
  }
  auto [name, rest] = text.split('(');
  spec.kind = llvm::StringSwitch<Kind>(name.trim())
                  .Case("zeros", Kind::Zeros)
                  .Case("ones", Kind::Ones)
                  .Case("iota", Kind::Iota)
                  .Cases({"normal", "random"}, Kind::Random)
                  .Case("uniform", Kind::Uniform)
                  .Case("randint", Kind::RandInt)
                  .Default(Kind::File);
  bool ranged = spec.kind == Kind::Uniform || spec.kind == Kind::RandInt;
  if (spec.kind == Kind::File || ranged != text.contains('('))
    return badSpec(text);
  if (ranged) {
    if (!rest.consume_back(")"))
      return badSpec(text);
    auto [low, high] = rest.split(',');
    spec.low = low.trim().str();
    spec.high = high.trim().str();
    if (spec.low.empty() || spec.high.empty())
      return badSpec(text);
  }
  return spec;
}

/// A bound of a range: a number or the name of a dimension.
static llvm::Expected<double>
evaluateBound(llvm::StringRef text, const llvm::StringMap<int64_t> &extents) {
  double value = 0;
  if (!text.getAsDouble(value))
    return value;
  auto found = extents.find(text);
  if (found != extents.end())
    return static_cast<double>(found->second);
  return llvm::createStringError("'" + text +
                                 "' is neither a number nor a dimension");
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

llvm::Error cli::fillArgument(Array &array, const typed::Kernel &kernel,
                              const typed::Param &param,
                              const ArgumentSpec &spec,
                              const llvm::StringMap<int64_t> &extents,
                              uint64_t seed) {
  const TensorView &view = array.view();
  using Kind = ArgumentSpec::Kind;
  switch (spec.kind) {
  case Kind::Number:
    fillConstant(view, spec.number);
    return llvm::Error::success();
  case Kind::Zeros:
    fillConstant(view, 0);
    return llvm::Error::success();
  case Kind::Ones:
    fillConstant(view, 1);
    return llvm::Error::success();
  case Kind::Iota:
    forEachElement(view, [&](void *element, int64_t i) {
      if (isFloat(param.dtype))
        storeDouble(param.dtype, element, static_cast<double>(i));
      else
        storeInt(param.dtype, element, i);
    });
    return llvm::Error::success();
  case Kind::Uniform:
  case Kind::RandInt: {
    llvm::Expected<double> low = evaluateBound(spec.low, extents);
    if (!low)
      return low.takeError();
    llvm::Expected<double> high = evaluateBound(spec.high, extents);
    if (!high)
      return high.takeError();
    if (!(*low < *high) || std::abs(*low) > 9e15 || std::abs(*high) > 9e15)
      return llvm::createStringError("'" + llvm::Twine(spec.text) +
                                     "' is an empty range");
    if (spec.kind == Kind::RandInt) {
      FillOptions options;
      options.minInclusive = static_cast<int64_t>(*low);
      options.maxExclusive = static_cast<int64_t>(*high);
      return fillRandom(view, seed, param.name, options);
    }
    // 2^24 equal steps: the resolution of a float in [0, 1).
    uint64_t stream = streamSeed(seed, param.name);
    forEachElement(view, [&](void *element, int64_t i) {
      double unit =
          static_cast<double>(integerAt(stream, i, 0, 1 << 24)) / (1 << 24);
      storeDouble(param.dtype, element, *low + (*high - *low) * unit);
    });
    return llvm::Error::success();
  }
  case Kind::Random:
  case Kind::File:
    break;
  }
  FillOptions options;
  if (isInteger(param.dtype)) {
    if (std::optional<int64_t> extent =
            findIndexedExtent(kernel, param, extents))
      options.maxExclusive = std::max<int64_t>(*extent, 1);
  }
  return fillRandom(view, seed, param.name, options);
}
