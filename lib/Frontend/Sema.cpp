//===- Sema.cpp - Kernels: parameters, dimensions, requirements -*- C++ -*-===//
//
// The outer part of the analysis of a kernel; statements and expressions follow
// in the files that SemaImpl.h lists.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Sema.h"

#include "lib/Frontend/SemaImpl.h"
#include "lib/Frontend/TypedVisitor.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Parameters and dimensions
//===----------------------------------------------------------------------===//

/// Dimensions come from the shapes of all parameters before any parameter is
/// defined, so that a clash of names is the parameter's mistake, wherever it
/// stands.
void Analyzer::analyzeParams(const ast::KernelDecl &decl) {
  for (const ast::Param &param : decl.getParams()) {
    auto *typed = kernel->arena.make<Param>();
    typed->name = param.name.name;
    typed->range = param.range;
    typed->index = kernel->params.size();
    typed->access = param.access;
    typed->isTensor = param.type.hasDims;
    kernel->params.push_back(typed);
    if (std::optional<DType> dtype = resolveDType(param.type))
      typed->dtype = *dtype;
    for (const ast::Dim &dim : param.type.dims)
      typed->shape.push_back(analyzeDim(dim));
  }
  for (size_t i = 0; i < decl.getParams().size(); ++i)
    analyzeParam(decl.getParams()[i], *kernel->params[i]);
}

Param::Extent Analyzer::analyzeDim(const ast::Dim &dim) {
  Param::Extent extent;
  if (!dim.isName()) {
    extent.constant = dim.value;
    extent.name = kernel->arena.intern(std::to_string(dim.value));
    return extent;
  }
  extent.name = dim.name;
  if (Symbol *symbol = lookup(dim.name)) {
    switch (symbol->kind) {
    case Symbol::Kind::Dim:
      extent.dim = symbol->dim;
      return extent;
    case Symbol::Kind::CtInt:
      extent.constant = symbol->ctInt;
      if (symbol->ctInt < 0) {
        error(dim.range,
              "expected an extent of 0 or more, found " + Twine(symbol->ctInt))
            .note(symbol->range, "'" + dim.name + "' is declared here")
            .remedy("give '" + dim.name + "' another value");
        extent.constant = 0;
      }
      return extent;
    default: {
      Diagnostic &diagnostic =
          error(dim.range, "expected a dimension or an integer as an extent, "
                           "found '" +
                               dim.name + "', " + describeSymbol(*symbol));
      noteSymbol(diagnostic, *symbol);
      diagnostic.remedy("give the dimension another name");
      symbol->kind = Symbol::Kind::Poison;
      extent.constant = 0;
      return extent;
    }
    case Symbol::Kind::Poison:
      extent.constant = 0;
      return extent;
    }
  }
  extent.dim = kernel->arena.make<Dimension>();
  extent.dim->name = dim.name;
  extent.dim->range = dim.range;
  extent.dim->index = kernel->dims.size();
  kernel->dims.push_back(extent.dim);
  Symbol symbol;
  symbol.kind = Symbol::Kind::Dim;
  symbol.name = dim.name;
  symbol.range = dim.range;
  symbol.dim = extent.dim;
  define(symbol);
  return extent;
}

void Analyzer::analyzeParam(const ast::Param &param, Param &typed) {
  StringRef name = param.name.name;
  if (const Symbol *other = lookup(name)) {
    Diagnostic &diagnostic =
        error(param.name.range,
              "'" + name + "' is " + describeSymbol(*other) + " already");
    noteSymbol(diagnostic, *other);
    diagnostic.remedy(other->kind == Symbol::Kind::Dim && !typed.isTensor
                          ? "leave the parameter out: the shapes of the "
                            "arguments give '" +
                                name.str() + "' its value"
                          : std::string("give the parameter another name"));
    return;
  }
  Symbol symbol;
  symbol.kind = Symbol::Kind::Param;
  symbol.name = name;
  symbol.range = param.range;
  symbol.param = &typed;
  define(symbol);
  if (!typed.isTensor && param.access != ast::Access::In)
    error(param.accessRange.isValid() ? param.accessRange : param.range,
          "a scalar parameter cannot be '" + ast::spelling(param.access) + "'")
        .remedy("write results to a tensor: '" + name + ": " +
                ast::spelling(param.access) + " " + dtypeName(typed.dtype) +
                "[1]'");
  if (param.access == ast::Access::Add && typed.isTensor &&
      !isAddable(typed.dtype))
    error(param.type.dtypeRange, "expected f32, f16, bf16 or i32 for an 'add' "
                                 "parameter, found " +
                                     dtypeName(typed.dtype))
        .remedy("programs add atomically, which the hardware does for these "
                "types");
  if (param.defaultValue)
    analyzeDefault(param, typed);
}

bool Analyzer::isAddable(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 ||
         dtype == DType::I32;
}

void Analyzer::analyzeDefault(const ast::Param &param, Param &typed) {
  if (typed.isTensor) {
    error(param.defaultValue->getRange(), "a tensor cannot have a default")
        .note(param.range, "'" + param.name.name + "' is declared here")
        .remedy("only scalar parameters can");
    return;
  }
  Value value = analyze(param.defaultValue);
  Expr *converted = convertImplicitly(
      value, typed.dtype, Conversion::Store,
      "the default of '" + param.name.name + "'", param.type.range);
  if (!converted)
    return;
  llvm::Expected<ScalarValue> result = evaluateScalar(*converted, {});
  if (!result) {
    error(param.defaultValue->getRange(),
          "expected a constant as the default of '" + param.name.name +
              "': " + llvm::toString(result.takeError()))
        .remedy("defaults are numbers, and compile-time parameters");
    return;
  }
  typed.defaultValue = constant(*result, converted->range);
}

//===----------------------------------------------------------------------===//
// What is known at launch
//===----------------------------------------------------------------------===//

bool Analyzer::checkLaunchConstant(Expr &expr, const Twine &what) {
  Expr *culprit = nullptr;
  walk(expr, [&](Expr &node) {
    switch (node.kind) {
    case Expr::Kind::Position:
    case Expr::Kind::Load:
    case Expr::Kind::Reduce:
    case Expr::Kind::Scan:
    case Expr::Kind::Dot:
    case Expr::Kind::Random:
    case Expr::Kind::Attention:
      culprit = culprit ? culprit : &node;
      break;
    default:
      break;
    }
  });
  if (!culprit)
    return true;
  error(culprit->range, what + " must be known at launch")
      .remedy("it can use dimensions and scalar parameters");
  return false;
}

void Analyzer::analyzeRequirements(const ast::KernelDecl &decl) {
  for (const ast::Expr *requirement : decl.getRequirements()) {
    Value value = analyze(requirement);
    if (!requireBool(value, "a requirement") ||
        !checkLaunchConstant(*value.expr, "a requirement"))
      continue;
    if (const auto *constant = llvm::dyn_cast<BoolConst>(value.expr)) {
      if (!constant->value)
        error(requirement->getRange(), "this requirement never holds")
            .remedy("it depends on compile-time values alone: choose others");
      continue;
    }
    kernel->requirements.push_back(value.expr);
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The values the caller gives for compile-time parameters.
bool Analyzer::bindCompileTimeArgs(const ast::KernelDecl &decl,
                                   const CompileTimeArgs &args) {
  llvm::ArrayRef<ast::CtParam> params = decl.getCtParams();
  llvm::SmallVector<std::optional<CtValue>, 4> given(params.size());
  bool valid = true;
  for (size_t i = 0; i < params.size(); ++i) {
    auto found = args.find(params[i].name.name);
    if (found == args.end())
      continue;
    given[i] = ctFromText(params[i], found->second, params[i].name.range);
    valid &= given[i].has_value();
  }
  for (const auto &arg : args) {
    StringRef name = arg.first();
    bool known = llvm::any_of(params, [&](const ast::CtParam &param) {
      return param.name.name == name;
    });
    if (known)
      continue;
    llvm::SmallVector<StringRef> names;
    for (const ast::CtParam &param : params)
      names.push_back(param.name.name);
    error(decl.getNameRange(), "'" + decl.getName() +
                                   "' has no compile-time parameter '" + name +
                                   "'")
        .remedy(suggest(name, names,
                        names.empty() ? "it has none"
                                      : "it has " + joinNames(names, " and ")));
    valid = false;
  }
  return valid && bindCtParams(params, given, decl, decl.getNameRange());
}

void Analyzer::warnIfNothingIsWritten() {
  bool hasEffect = false;
  walkStmts(kernel->body, [&](Stmt &stmt) {
    hasEffect |= llvm::isa<Store, Print, Assert>(stmt);
  });
  if (hasEffect)
    return;
  Diagnostic &diagnostic = warning(
      kernel->range, "kernel '" + Twine(kernel->name) + "' writes nothing");
  const Param *output = nullptr;
  for (const Param *param : kernel->params) {
    if (!param->isTensor || param->access == ast::Access::In)
      continue;
    diagnostic.note(param->range, "'" + param->name + "' is never assigned");
    output = output ? output : param;
  }
  if (!output)
    diagnostic.remedy("results are stored to 'out', 'inout' or 'add' "
                      "parameters, such as 'Y: out f32[N]'");
  else
    diagnostic.remedy("store the result: '" + output->name +
                      (output->access == ast::Access::Add ? "[...] += ...'"
                                                          : "[...] = ...'"));
}

std::unique_ptr<Kernel> Analyzer::analyzeKernel(const ast::KernelDecl &decl,
                                                const CompileTimeArgs &args,
                                                StringRef target) {
  unsigned errorsBefore = diags.getNumErrors();
  kernel = std::make_unique<Kernel>();
  kernel->name = decl.getName().str();
  kernel->range = decl.getNameRange();
  Environment environment;
  environment.file = index.fileOf(decl);
  environment.scopes.emplace_back();
  env = &environment;
  body = &kernel->body;
  if (bindCompileTimeArgs(decl, args)) {
    analyzeParams(decl);
    analyzeRequirements(decl);
    collectAssigned(*decl.getBody());
    pushScope();
    analyzeBlock(decl.getBody()->getStmts());
    popScope();
    if (!stopped())
      analyzeSchedules(decl, target);
  }
  env = nullptr;
  if (diags.getNumErrors() != errorsBefore || aborted)
    return nullptr;
  warnIfNothingIsWritten();
  return std::move(kernel);
}

std::unique_ptr<typed::Kernel> tilec::analyzeKernel(const ast::Program &program,
                                                    const ast::KernelDecl &decl,
                                                    const CompileTimeArgs &args,
                                                    StringRef target,
                                                    DiagnosticEngine &diags) {
  ProgramIndex index(program);
  return Analyzer(index, diags).analyzeKernel(decl, args, target);
}
