//===- Launch.cpp - Matching arguments with a kernel ------------*- C++ -*-===//
//
// The checks are made in an order in which each can rely on those before:
// kinds and dtypes, ranks and extents, constraints, overlap.
//
//===----------------------------------------------------------------------===//

#include "lib/Launch/Launch.h"
#include "lib/Frontend/Evaluate.h"
#include "lib/Frontend/TypedVisitor.h"
#include "lib/Runtime/Overlap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Format.h"

using namespace tilec;

std::string tilec::typeText(const typed::Param &param) {
  std::string text = dtypeName(param.dtype).str();
  if (!param.isTensor)
    return text;
  text += '[';
  for (auto [i, extent] : llvm::enumerate(param.shape)) {
    if (i)
      text += ", ";
    text += extent.dim ? extent.dim->name.str()
                       : llvm::Twine(extent.constant).str();
  }
  return text + ']';
}

std::optional<Extents> tilec::shapeOf(const typed::Param &param,
                                      const llvm::StringMap<int64_t> &extents) {
  Extents shape;
  for (const typed::Param::Extent &extent : param.shape) {
    if (!extent.dim) {
      shape.push_back(extent.constant);
      continue;
    }
    auto found = extents.find(extent.dim->name);
    if (found == extents.end())
      return std::nullopt;
    shape.push_back(found->second);
  }
  return shape;
}

namespace {
/// The state of one binding.
class Binder {
public:
  Binder(const typed::Kernel &kernel, DiagnosticEngine &diags)
      : kernel(kernel), diags(diags) {}

  bool bindTensor(const typed::Param &param, const TensorView &view);
  bool bindScalar(const typed::Param &param, Argument &arg);
  bool checkScalar(const typed::Param &param, const ScalarValue &value);
  bool checkRequirements();
  bool checkOverlap();

  const typed::Kernel &kernel;
  DiagnosticEngine &diags;
  BoundLaunch launch;

private:
  void explain(Diagnostic &error, typed::Expr &requirement,
               const ScalarBindings &bindings);
  void explainSides(Diagnostic &error, const typed::Expr &expr,
                    const ScalarBindings &bindings);

  /// Who gave a dimension its extent.
  struct Origin {
    const typed::Param *param;
    unsigned position;
  };
  llvm::StringMap<Origin> origins;
};
} // namespace

bool Binder::bindTensor(const typed::Param &param, const TensorView &view) {
  // What follows may do arithmetic on the view.
  if (llvm::Error invalid = verify(view, param.name)) {
    diags.error(param.range, llvm::toString(std::move(invalid)))
        .of("argument-value")
        .remedy("pass a view of memory that is there");
    return false;
  }
  if (view.dtype != param.dtype) {
    diags
        .error(param.range, "argument '" + param.name + "' is expected to be " +
                                dtypeName(param.dtype) + ", got " +
                                dtypeName(view.dtype))
        .of("argument-type")
        .remedy("convert the array, or declare the parameter as '" +
                dtypeName(view.dtype) + "'");
    return false;
  }
  if (view.rank() != param.shape.size()) {
    diags
        .error(param.range,
               "argument '" + param.name + "' is expected to have " +
                   llvm::Twine(param.shape.size()) + " dimensions " +
                   typeText(param) + ", got " + toString(view))
        .of("argument-type")
        .remedy("reshape the array or change the parameter's type");
    return false;
  }
  bool good = true;
  for (auto [i, extent] : llvm::enumerate(param.shape)) {
    int64_t actual = view.shape[i];
    if (!extent.dim) {
      if (actual != extent.constant) {
        diags
            .error(param.range, "dimension " + llvm::Twine(i) + " of '" +
                                    param.name + "' is expected to be " +
                                    llvm::Twine(extent.constant) + ", got " +
                                    llvm::Twine(actual))
            .of("extent")
            .remedy("pass an array of that extent, or name the dimension to "
                    "allow any");
        good = false;
      }
      continue;
    }
    llvm::StringRef name = extent.dim->name;
    auto [entry, isNew] =
        origins.try_emplace(name, Origin{&param, static_cast<unsigned>(i)});
    if (isNew) {
      launch.extents[name] = actual;
    } else if (launch.extents[name] != actual) {
      const Origin &first = entry->second;
      diags
          .error(param.range, "dimension '" + name + "' disagrees: it is " +
                                  llvm::Twine(launch.extents[name]) + " in '" +
                                  first.param->name + "' (dimension " +
                                  llvm::Twine(first.position) + ") and " +
                                  llvm::Twine(actual) + " in '" + param.name +
                                  "' (dimension " + llvm::Twine(i) + ")")
          .of("extent")
          .note(first.param->range,
                "'" + first.param->name + "' is " + typeText(*first.param))
          .remedy("pass arrays whose extents agree, or give the dimensions "
                  "different names");
      good = false;
    }
  }
  return good;
}

/// A float parameter takes any number, and rounds it; another one only what it
/// holds, as a wrapped or truncated size or index would go unnoticed.
bool Binder::checkScalar(const typed::Param &param, const ScalarValue &value) {
  if (isFloat(param.dtype))
    return true;
  auto [min, max] = integerRange(param.dtype);
  if (!isFloat(value.dtype) && value.integer >= min && value.integer <= max)
    return true;
  std::string found;
  if (isFloat(value.dtype))
    found = "a " + dtypeName(value.dtype).str();
  else
    found = std::to_string(value.integer);
  diags
      .error(param.range, "argument '" + param.name + "' is expected to be " +
                              dtypeName(param.dtype) +
                              ", a whole number from " + llvm::Twine(min) +
                              " to " + llvm::Twine(max) + ", got " + found)
      .of("argument-value")
      .remedy("pass one of those, or declare the parameter with another type");
  return false;
}

bool Binder::bindScalar(const typed::Param &param, Argument &arg) {
  if (auto *scalar = std::get_if<ScalarValue>(&arg)) {
    if (!checkScalar(param, *scalar))
      return false;
    *scalar = convertScalar(*scalar, param.dtype);
    return true;
  }
  if (const auto *view = std::get_if<TensorView>(&arg)) {
    diags
        .error(param.range,
               "argument '" + param.name + "' is expected to be a scalar " +
                   dtypeName(param.dtype) + ", got " + toString(*view))
        .of("argument-type")
        .remedy("pass a number for '" + param.name + "'");
    return false;
  }
  if (!param.defaultValue) {
    diags
        .error(param.range, "scalar '" + param.name + "' of type " +
                                dtypeName(param.dtype) +
                                " has no value and no default")
        .of("argument-value")
        .remedy("pass a value for '" + param.name + "'");
    return false;
  }
  llvm::Expected<ScalarValue> value = evaluateScalar(*param.defaultValue, {});
  if (!value) {
    diags.error(param.range, llvm::toString(value.takeError()));
    return false;
  }
  arg = convertScalar(*value, param.dtype);
  return true;
}

static std::string toText(const ScalarValue &value) {
  if (value.dtype == DType::Bool)
    return value.integer ? "true" : "false";
  if (!isFloat(value.dtype))
    return std::to_string(value.integer);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value.real);
  return text;
}

/// Adds to the message that `requirement` is false what both sides of its
/// comparisons are, and what the dimensions and scalars in it are.
void Binder::explain(Diagnostic &error, typed::Expr &requirement,
                     const ScalarBindings &bindings) {
  explainSides(error, requirement, bindings);
  llvm::SmallPtrSet<const void *, 8> seen;
  bool hasScalar = false;
  typed::walk(requirement, [&](typed::Expr &expr) {
    if (const auto *extent = llvm::dyn_cast<typed::DimExtent>(&expr)) {
      if (seen.insert(extent->dim).second)
        error.note(extent->dim->range,
                   extent->dim->name + " = " +
                       llvm::Twine(launch.extents[extent->dim->name]));
    } else if (const auto *scalar = llvm::dyn_cast<typed::ScalarParam>(&expr)) {
      hasScalar = true;
      if (seen.insert(scalar->param).second)
        error.note(scalar->param->range,
                   scalar->param->name + " = " +
                       toText(std::get<ScalarValue>(
                           launch.args[scalar->param->index])));
    }
  });
  error.remedy(hasScalar ? "pass arguments that meet it"
                         : "pass arrays whose extents meet it");
}

void Binder::explainSides(Diagnostic &error, const typed::Expr &expr,
                          const ScalarBindings &bindings) {
  const auto *binary = llvm::dyn_cast<typed::Binary>(&expr);
  if (!binary)
    return;
  if (expr.type.dtype == DType::Bool && (binary->op == typed::BinaryOp::And ||
                                         binary->op == typed::BinaryOp::Or)) {
    for (const typed::Expr *side : {binary->lhs, binary->rhs}) {
      llvm::Expected<bool> holds = evaluateRequirement(*side, bindings);
      if (!holds)
        llvm::consumeError(holds.takeError());
      else if (!*holds)
        explainSides(error, *side, bindings);
    }
    return;
  }
  for (const typed::Expr *side : {binary->lhs, binary->rhs}) {
    // A name or a number alone is told below, or needs no telling.
    while (const auto *cast = llvm::dyn_cast<typed::Cast>(side))
      side = cast->operand;
    if (llvm::isa<typed::IntConst, typed::FloatConst, typed::BoolConst,
                  typed::DimExtent, typed::ScalarParam>(side))
      continue;
    llvm::Expected<ScalarValue> value = evaluateScalar(*side, bindings);
    if (!value) {
      llvm::consumeError(value.takeError());
      continue;
    }
    error.note(side->range, "'" + diags.getSources().getText(side->range) +
                                "' is " + toText(*value));
  }
}

bool Binder::checkRequirements() {
  ScalarBindings bindings;
  bindings.dims = launch.extents;
  for (const typed::Param *param : kernel.params)
    if (const auto *scalar =
            std::get_if<ScalarValue>(&launch.args[param->index]))
      bindings.params[param->name] = *scalar;
  bool good = true;
  for (typed::Expr *requirement : kernel.requirements) {
    llvm::Expected<bool> holds = evaluateRequirement(*requirement, bindings);
    if (!holds) {
      diags.error(requirement->range, llvm::toString(holds.takeError()));
      good = false;
    } else if (!*holds) {
      Diagnostic &error =
          diags
              .error(requirement->range,
                     "the arguments do not meet the requirement '" +
                         diags.getSources().getText(requirement->range) + "'")
              .of("requirement");
      explain(error, *requirement, bindings);
      good = false;
    }
  }
  return good;
}

bool Binder::checkOverlap() {
  bool good = true;
  for (const typed::Param *written : kernel.params) {
    if (!written->isTensor || written->access == ast::Access::In)
      continue;
    const auto &view = std::get<TensorView>(launch.args[written->index]);
    if (selfOverlaps(view)) {
      diags
          .error(written->range, "argument '" + written->name +
                                     "' is written, but several of its indices "
                                     "are one element: " +
                                     toString(view))
          .of("overlap")
          .remedy("pass an array without broadcast (zero-stride) dimensions");
      good = false;
    }
    for (const typed::Param *other : kernel.params) {
      if (!other->isTensor || other == written)
        continue;
      // A pair of two written tensors is seen twice; report it once.
      if (other->access != ast::Access::In && other->index < written->index)
        continue;
      if (mayOverlap(view, std::get<TensorView>(launch.args[other->index]))) {
        diags
            .error(written->range, "arguments '" + written->name + "' and '" +
                                       other->name + "' share memory, and '" +
                                       written->name + "' is written")
            .of("overlap")
            .note(other->range, "'" + other->name + "' is declared here")
            .remedy("pass separate arrays, or make it one 'inout' parameter");
        good = false;
      }
    }
  }
  return good;
}

std::optional<BoundLaunch> tilec::bindLaunch(const typed::Kernel &kernel,
                                             llvm::ArrayRef<Argument> args,
                                             DiagnosticEngine &diags) {
  Binder binder(kernel, diags);
  if (args.size() != kernel.params.size()) {
    diags
        .error(kernel.range, "kernel '" + llvm::Twine(kernel.name) +
                                 "' takes " +
                                 llvm::Twine(kernel.params.size()) +
                                 " arguments, got " + llvm::Twine(args.size()))
        .of("argument-count")
        .remedy("pass one argument per parameter, in order");
    return std::nullopt;
  }
  binder.launch.args.assign(args.begin(), args.end());
  bool good = true;
  for (const typed::Param *param : kernel.params) {
    Argument &arg = binder.launch.args[param->index];
    if (!param->isTensor) {
      good &= binder.bindScalar(*param, arg);
    } else if (const auto *view = std::get_if<TensorView>(&arg)) {
      good &= binder.bindTensor(*param, *view);
    } else {
      bool isScalar = std::holds_alternative<ScalarValue>(arg);
      diags
          .error(
              param->range,
              "tensor '" + param->name + "' of type " + typeText(*param) +
                  (isScalar ? " got a scalar for its value" : " has no value"))
          .of("argument-type")
          .remedy("pass an array for '" + param->name + "'");
      good = false;
    }
  }
  if (!good || !binder.checkRequirements() || !binder.checkOverlap())
    return std::nullopt;
  return std::move(binder.launch);
}
