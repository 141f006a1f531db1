//===- SemaCompileTime.cpp - Compile-time parameters ------------*- C++ -*-===//
//
// The parameters between < and >, of kernels and functions alike: their values
// come from a call, from the text a launch or a command line gives, or from
// their defaults, and become names of the environment.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ASTPrinter.h"
#include "lib/Frontend/SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

static StringRef kindName(ast::CtParam::Kind kind) {
  switch (kind) {
  case ast::CtParam::Kind::Bool:
    return "a bool";
  case ast::CtParam::Kind::Int:
    return "an integer";
  case ast::CtParam::Kind::DType:
    return "an element type";
  case ast::CtParam::Kind::Fn:
    return "a function";
  }
  llvm_unreachable("not a kind of compile-time parameter");
}

static StringRef exampleOf(ast::CtParam::Kind kind) {
  switch (kind) {
  case ast::CtParam::Kind::Bool:
    return "write true or false";
  case ast::CtParam::Kind::Int:
    return "write a number, such as 128";
  case ast::CtParam::Kind::DType:
    return "write a type, such as bf16";
  case ast::CtParam::Kind::Fn:
    return "write the name of a function";
  }
  llvm_unreachable("not a kind of compile-time parameter");
}

void Analyzer::defineCt(const ast::CtParam &param, const CtValue *value) {
  Symbol symbol;
  symbol.name = param.name.name;
  symbol.range = param.name.range;
  if (value) {
    constexpr Symbol::Kind kinds[] = {Symbol::Kind::CtBool, Symbol::Kind::CtInt,
                                      Symbol::Kind::CtDType,
                                      Symbol::Kind::CtFn};
    symbol.kind = kinds[static_cast<unsigned>(param.kind)];
    symbol.ctBool = value->ctBool;
    symbol.ctInt = value->ctInt;
    symbol.ctDType = value->ctDType;
    symbol.callee = value->callee;
    bindBuiltin(param, symbol.callee);
  }
  define(symbol);
}

/// A builtin that is passed on keeps to the types of the first parameter: from
/// there on it is a function of these.
void Analyzer::bindBuiltin(const ast::CtParam &param, Callee &callee) {
  if (!callee.builtin || callee.resultType)
    return;
  llvm::SmallVector<DType, 2> types;
  for (const ast::TypeSpec &type : param.fnParams)
    if (std::optional<DType> dtype = resolveDType(type))
      types.push_back(*dtype);
  std::optional<DType> result = resolveDType(param.fnResult);
  if (!result || types.size() != param.fnParams.size())
    return;
  callee.paramTypes = types;
  callee.resultType = result;
}

bool Analyzer::checkFnMatches(const ast::CtParam &param, const Callee &callee,
                              SourceRange range) {
  auto typeName = [&](const ast::TypeSpec &type) {
    return type.dtype ? dtypeName(*type.dtype).str() : type.dtypeParam.str();
  };
  std::string expected = "fn(", found = "fn(";
  bool matches = true;
  for (const ast::TypeSpec &type : param.fnParams)
    expected += (&type == param.fnParams.begin() ? "" : ", ") + typeName(type);
  expected += ") -> " + typeName(param.fnResult);
  auto same = [&](const std::optional<DType> &a, const ast::TypeSpec &b) {
    // Types that are parameters themselves are compared when called.
    return !a || !b.dtype || *a == *b.dtype;
  };
  if (callee.resultType) {
    matches = callee.paramTypes.size() == param.fnParams.size() &&
              same(callee.resultType, param.fnResult);
    for (auto [i, type] : llvm::enumerate(callee.paramTypes)) {
      matches = matches && same(type, param.fnParams[i]);
      found += (i > 0 ? ", " : "") + dtypeName(type).str();
    }
    found += ") -> " + dtypeName(*callee.resultType).str();
  } else if (callee.builtin) {
    const Builtin &builtin = *callee.builtin;
    size_t count = param.fnParams.size();
    auto isFloating = [&](const ast::TypeSpec &type) {
      return !type.dtype || isFloat(*type.dtype);
    };
    unsigned minArgs =
        builtin.kind == Builtin::Kind::MinMax ? 2 : builtin.minArgs;
    matches = builtin.isElementwise() && builtin.kind != Builtin::Kind::Where &&
              count >= minArgs && count <= builtin.maxArgs &&
              llvm::all_of(param.fnParams, isFloating) &&
              isFloating(param.fnResult);
    found = builtin.usage.str();
  } else {
    const ast::FnDecl &fn = *callee.fn;
    matches = fn.getParams().size() == param.fnParams.size() &&
              same(fn.getResult().dtype, param.fnResult);
    for (size_t i = 0; i < fn.getParams().size(); ++i) {
      matches =
          matches && same(fn.getParams()[i].type.dtype, param.fnParams[i]);
      found += (i > 0 ? ", " : "") + typeName(fn.getParams()[i].type);
    }
    found += ") -> " + typeName(fn.getResult());
  }
  if (matches)
    return true;
  Diagnostic &diagnostic = error(
      range, "expected a function " + expected + " for '" + param.name.name +
                 "', found '" + callee.name() + "', " + found);
  diagnostic.note(param.range, "'" + param.name.name + "' is declared here");
  if (callee.fn)
    diagnostic.note(callee.fn->getNameRange(),
                    "'" + callee.name() + "' is defined here");
  diagnostic.remedy(
      callee.builtin && !callee.builtin->isElementwise()
          ? "a function works element by element"
          : "the types of parameters and result must be the same");
  return false;
}

std::optional<CtValue> Analyzer::ctFromArg(const ast::CtParam &param,
                                           const ast::TypeArg &arg) {
  using Kind = ast::CtParam::Kind;
  CtValue value;
  const Symbol *symbol =
      arg.kind == ast::TypeArg::Kind::Name ? lookup(arg.name) : nullptr;
  auto isSymbol = [&](Symbol::Kind kind) {
    return symbol && symbol->kind == kind;
  };
  switch (param.kind) {
  case Kind::Bool:
    if (arg.kind == ast::TypeArg::Kind::Bool)
      value.ctBool = arg.boolValue;
    else if (isSymbol(Symbol::Kind::CtBool))
      value.ctBool = symbol->ctBool;
    else
      break;
    return value;
  case Kind::Int:
    if (arg.kind == ast::TypeArg::Kind::Int)
      value.ctInt = arg.intValue;
    else if (isSymbol(Symbol::Kind::CtInt))
      value.ctInt = symbol->ctInt;
    else
      break;
    return value;
  case Kind::DType:
    if (arg.kind == ast::TypeArg::Kind::DType)
      value.ctDType = arg.dtype;
    else if (isSymbol(Symbol::Kind::CtDType))
      value.ctDType = symbol->ctDType;
    else
      break;
    return value;
  case Kind::Fn:
    if (arg.kind != ast::TypeArg::Kind::Name)
      break;
    value.callee = requireCallee(arg.name, arg.range);
    if (!value.callee || !checkFnMatches(param, value.callee, arg.range))
      return std::nullopt;
    return value;
  }
  if (isSymbol(Symbol::Kind::Poison))
    return std::nullopt;
  if (arg.kind == ast::TypeArg::Kind::Name && !symbol) {
    reportUnknown(arg.name, arg.range);
    return std::nullopt;
  }
  Diagnostic &diagnostic =
      error(arg.range, "expected " + kindName(param.kind) + " for '" +
                           param.name.name + "', found " +
                           (symbol ? describeSymbol(*symbol).str()
                                   : "'" + toSource(arg) + "'"));
  diagnostic.note(param.range, "'" + param.name.name + "' is declared here");
  if (symbol && symbol->kind != Symbol::Kind::CtFn)
    diagnostic.remedy("it takes what is known at compile time: numbers, types, "
                      "functions, or other compile-time parameters");
  else
    diagnostic.remedy(exampleOf(param.kind));
  return std::nullopt;
}

std::optional<CtValue> Analyzer::ctFromText(const ast::CtParam &param,
                                            StringRef text, SourceRange range) {
  CtValue value;
  switch (param.kind) {
  case ast::CtParam::Kind::Bool:
    if (text == "true" || text == "false") {
      value.ctBool = text == "true";
      return value;
    }
    break;
  case ast::CtParam::Kind::Int:
    if (!text.getAsInteger(0, value.ctInt))
      return value;
    break;
  case ast::CtParam::Kind::DType:
    if (std::optional<DType> dtype = parseDType(text)) {
      value.ctDType = *dtype;
      return value;
    }
    break;
  case ast::CtParam::Kind::Fn:
    value.callee = requireCallee(kernel->arena.intern(text), range);
    if (!value.callee || !checkFnMatches(param, value.callee, range))
      return std::nullopt;
    return value;
  }
  Diagnostic &diagnostic =
      error(range, "expected " + kindName(param.kind) + " for '" +
                       param.name.name + "', found '" + text + "'");
  if (param.kind == ast::CtParam::Kind::DType) {
    llvm::SmallVector<StringRef> names;
    for (DType dtype : allDTypes())
      names.push_back(dtypeName(dtype));
    diagnostic.remedy(
        suggest(text, names, "the element types are " + listDTypes()));
  } else {
    diagnostic.remedy(exampleOf(param.kind));
  }
  return std::nullopt;
}

std::optional<CtValue> Analyzer::ctFromDefault(const ast::CtParam &param) {
  CtValue value;
  const ast::Expr *given = param.defaultValue;
  if (param.kind == ast::CtParam::Kind::DType) {
    if (std::optional<DType> dtype = asDType(given)) {
      value.ctDType = *dtype;
      return value;
    }
  } else if (param.kind == ast::CtParam::Kind::Fn) {
    if (const auto *name = dyn_cast<ast::NameExpr>(given)) {
      value.callee = requireCallee(name->getName(), given->getRange());
      if (!value.callee ||
          !checkFnMatches(param, value.callee, given->getRange()))
        return std::nullopt;
      return value;
    }
  } else {
    Value result = analyze(given);
    if (!result)
      return std::nullopt;
    const auto *number = dyn_cast<IntConst>(result.expr);
    const auto *flag = dyn_cast<BoolConst>(result.expr);
    if (param.kind == ast::CtParam::Kind::Int && number) {
      value.ctInt = number->value;
      return value;
    }
    if (param.kind == ast::CtParam::Kind::Bool && flag) {
      value.ctBool = flag->value;
      return value;
    }
  }
  error(given->getRange(), "expected " + kindName(param.kind) +
                               " known at compile time as the default of '" +
                               param.name.name + "'")
      .remedy(exampleOf(param.kind));
  return std::nullopt;
}

bool Analyzer::bindCtParams(llvm::ArrayRef<ast::CtParam> params,
                            llvm::ArrayRef<std::optional<CtValue>> given,
                            const ast::Decl &decl, SourceRange range) {
  bool valid = true;
  for (size_t i = 0; i < params.size(); ++i) {
    const ast::CtParam &param = params[i];
    if (!checkUnused(param.name, "parameter")) {
      valid = false;
      continue;
    }
    std::optional<CtValue> value = given[i];
    if (!value && param.defaultValue) {
      value = ctFromDefault(param);
      valid &= value.has_value();
    } else if (!value) {
      StringRef name = declName(decl).name;
      Diagnostic &diagnostic =
          error(range, "the compile-time parameter '" + param.name.name +
                           "' of '" + name + "' has no value");
      diagnostic.note(param.range,
                      "'" + param.name.name + "' is declared here");
      if (isa<ast::FnDecl>(decl))
        diagnostic.remedy("write " + name + "<...>(...)");
      else
        diagnostic.remedy("give it one with -D " + param.name.name +
                          "=..., or a default");
      valid = false;
    }
    defineCt(param, value ? &*value : nullptr);
  }
  return valid;
}
