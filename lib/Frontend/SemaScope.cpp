//===- SemaScope.cpp - Names and the messages about them --------*- C++ -*-===//
//
// A name is looked up in the blocks around its use, from the inside out; the
// outermost scope of a kernel holds its parameters, dimensions and compile-time
// parameters. A name that is not found gets the most telling of several
// messages: its block has ended, it is assigned further down, it is a function,
// it is misspelled.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/SemaImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// What takes the place here of a function that other tile languages have.
static StringRef remedyForForeignName(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"range", "arange"},
             "loops are 'for n in N' or 'for n in tile(N)'; a tile variable is "
             "the positions it covers")
      .Cases({"maximum", "fmaxf"}, "write 'max(x, y)'")
      .Cases({"minimum", "fminf"}, "write 'min(x, y)'")
      .Cases({"clamp", "clip"}, "write 'max(low, min(x, high))'")
      .Case("load", "a tile is read with subscripts: 'X[m, n]'")
      .Case("store", "a tile is written by assignment: 'Y[m, n] = value'")
      .Cases({"program_id", "num_programs"},
             "programs are named by the grid: 'grid m in tile(M)'")
      .Cases({"transpose", "trans", "permute"},
             "axes are matched by name: assign to a target whose axes are in "
             "the order wanted")
      .Cases({"ones", "empty"},
             "write 'full f32[m, n] 1', or 'zeros f32[m, n]'")
      .Cases({"matmul", "mma", "gemm"}, "write 'dot(a, b)'")
      .Cases({"len", "size", "shape"}, "an extent is the dimension's name: 'N'")
      .Cases({"cdiv", "ceildiv"}, "write '(a + b - 1) / b'; '/' rounds down")
      .Case("float", "write 'f32(x)'; infinity is 'inf'")
      .Cases({"reshape", "view", "expand_dims", "broadcast_to"},
             "axes are matched by name, so nothing has to be reshaped")
      .Default("");
}

/// Whether `diags` says this of this place already.
static bool isRepeated(const DiagnosticEngine &diags, SourceRange range,
                       StringRef message) {
  return llvm::any_of(diags.all(), [&](const auto &other) {
    return other->range.begin == range.begin && other->range.end == range.end &&
           other->message == message;
  });
}

Diagnostic &Analyzer::error(SourceRange range, const Twine &message) {
  std::string text = message.str();
  if (isRepeated(diags, range, text)) {
    discarded = Diagnostic();
    return discarded;
  }
  Diagnostic &diagnostic = diags.error(range, text);
  // Of many levels the outermost and the innermost tell the story.
  for (size_t i = inlining.size(); i-- > 0;)
    if (inlining[i].second.isValid() && (i == 0 || i + 2 > inlining.size()))
      diagnostic.note(inlining[i].second,
                      "in this call of '" + inlining[i].first->getName() + "'");
  return diagnostic;
}

Diagnostic &Analyzer::warning(SourceRange range, const Twine &message) {
  std::string text = message.str();
  if (!isRepeated(diags, range, text))
    return diags.warning(range, text);
  discarded = Diagnostic();
  return discarded;
}

void Analyzer::giveUp(SourceRange range, const Twine &message,
                      const Twine &remedy) {
  if (aborted)
    return;
  aborted = true;
  // A function on its own is no mistake before a kernel calls it; and there,
  // the outermost call is what the user can do something about.
  SourceRange call = inlining.front().second;
  if (!call.isValid())
    return;
  llvm::SmallVector<std::pair<const ast::FnDecl *, SourceRange>, 8> calls;
  std::swap(calls, inlining);
  error(call, message).note(range, "the limit is reached here").remedy(remedy);
  std::swap(calls, inlining);
}

void Analyzer::countNode(SourceRange range) {
  // What is not inlined is no larger than its source.
  if (inlining.empty())
    return;
  // A function checked on its own shows its mistakes early.
  bool isCheck = !inlining.front().second.isValid();
  unsigned maxNodes = isCheck ? 10'000 : 100'000;
  if (++numNodes > maxNodes)
    giveUp(range,
           "'" + inlining.front().first->getName() + "' grows to more than " +
               Twine(maxNodes) +
               " operations once the functions it calls are inlined",
           "functions that call others several times each grow exponentially: "
           "keep repeated results in local variables");
}

std::string sema::joinNames(llvm::ArrayRef<StringRef> names, StringRef last) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0)
      text += i + 1 == names.size() ? last : StringRef(", ");
    text += names[i];
  }
  return text;
}

std::string sema::suggest(StringRef name, llvm::ArrayRef<StringRef> candidates,
                          const Twine &otherwise) {
  StringRef nearest = nearestName(name, candidates);
  if (!nearest.empty())
    return ("did you mean '" + nearest + "'?").str();
  return otherwise.str();
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

void Analyzer::popScope() {
  for (const auto &entry : env->scopes.back()) {
    const Symbol &symbol = entry.second;
    if (symbol.kind == Symbol::Kind::Var || symbol.kind == Symbol::Kind::Loop ||
        symbol.kind == Symbol::Kind::Alias)
      env->closed[symbol.name] = {symbol.range,
                                  symbol.kind == Symbol::Kind::Loop};
  }
  env->scopes.pop_back();
}

Symbol *Analyzer::lookup(StringRef name) {
  for (auto &scope : llvm::reverse(env->scopes)) {
    auto found = scope.find(name);
    if (found != scope.end())
      return &found->second;
  }
  return nullptr;
}

void Analyzer::define(const Symbol &symbol) {
  env->scopes.back()[symbol.name] = symbol;
}

void Analyzer::definePoison(const ast::Ident &name) {
  if (lookup(name.name))
    return;
  Symbol symbol;
  symbol.name = name.name;
  symbol.range = name.range;
  define(symbol);
}

StringRef Analyzer::describeSymbol(const Symbol &symbol) {
  switch (symbol.kind) {
  case Symbol::Kind::Var:
    return "a variable";
  case Symbol::Kind::Loop:
    return "a loop variable";
  case Symbol::Kind::Param:
    return symbol.param->isTensor ? "a tensor" : "a scalar parameter";
  case Symbol::Kind::Dim:
    return "a dimension";
  case Symbol::Kind::CtInt:
    return "a compile-time integer";
  case Symbol::Kind::CtBool:
    return "a compile-time bool";
  case Symbol::Kind::CtDType:
    return "a compile-time type";
  case Symbol::Kind::CtFn:
    return "a compile-time function";
  case Symbol::Kind::Alias:
    return "a parameter";
  case Symbol::Kind::Poison:
    return "a variable";
  }
  llvm_unreachable("not a kind of symbol");
}

void Analyzer::noteSymbol(Diagnostic &diagnostic, const Symbol &symbol) {
  StringRef verb = symbol.kind == Symbol::Kind::Dim   ? "' is bound here"
                   : symbol.kind == Symbol::Kind::Var ? "' is defined here"
                                                      : "' is declared here";
  diagnostic.note(symbol.range, "'" + symbol.name + verb);
}

bool Analyzer::checkUnused(const ast::Ident &name, StringRef what) {
  const Symbol *other = lookup(name.name);
  if (!other)
    return true;
  Diagnostic &diagnostic =
      error(name.range,
            "'" + name.name + "' is " + describeSymbol(*other) + " already");
  noteSymbol(diagnostic, *other);
  diagnostic.remedy("give the " + what + " another name");
  return false;
}

Symbol *Analyzer::require(StringRef name, SourceRange range,
                          const Twine &otherwise) {
  if (Symbol *symbol = lookup(name))
    return symbol;
  reportUnknown(name, range, otherwise);
  return nullptr;
}

static void listNames(const Environment &env,
                      llvm::SmallVectorImpl<StringRef> &names) {
  for (const auto &scope : env.scopes)
    for (const auto &entry : scope)
      names.push_back(entry.first());
}

static bool hasName(const Environment &env, StringRef name) {
  return llvm::any_of(env.scopes, [&](const auto &scope) {
    return scope.find(name) != scope.end();
  });
}

void Analyzer::reportUnknown(StringRef name, SourceRange range,
                             const Twine &otherwise) {
  auto closed = env->closed.find(name);
  if (closed != env->closed.end()) {
    error(range, "'" + name + "' is not defined here")
        .note(closed->second.range, "'" + name +
                                        "' is defined here, and only until the "
                                        "end of the block it is in")
        .remedy(closed->second.isLoop
                    ? "keep what is needed of it in a variable defined before "
                      "the loop"
                    : "define it before that block");
    return;
  }
  auto assigned = env->assigned.find(name);
  if (assigned != env->assigned.end()) {
    error(range, "'" + name + "' is used before it is defined")
        .note(assigned->second, "'" + name + "' is first assigned here")
        .remedy("assign it before this use");
    return;
  }
  Diagnostic &diagnostic = error(range, "unknown name '" + name + "'");
  if (env->fn) {
    for (const Environment *caller = env->caller; caller;
         caller = caller->caller)
      if (hasName(*caller, name)) {
        diagnostic.remedy("a function sees only its parameters: pass '" + name +
                          "' as an argument");
        return;
      }
  }
  if (findBuiltin(name) || !index.find(name, env->file).empty()) {
    diagnostic.message = ("'" + name + "' is a function, not a value").str();
    diagnostic.remedy("call it: '" + name + "(...)'");
    return;
  }
  llvm::SmallVector<StringRef> names;
  listNames(*env, names);
  llvm::sort(names);
  StringRef known = env->fn
                        ? "a function knows its parameters and what it assigns"
                        : "a kernel knows its parameters, their dimensions, "
                          "loop variables and what it assigns";
  diagnostic.remedy(suggest(
      name, names, otherwise.isTriviallyEmpty() ? Twine(known) : otherwise));
}

//===----------------------------------------------------------------------===//
// Functions by name
//===----------------------------------------------------------------------===//

Callee Analyzer::requireCallee(StringRef name, SourceRange range) {
  if (const Symbol *symbol = lookup(name);
      symbol && symbol->kind == Symbol::Kind::CtFn)
    return symbol->callee;
  auto decls = index.find(name, env->file);
  llvm::SmallVector<const ast::FnDecl *, 2> fns;
  for (const ast::Decl *decl : decls)
    if (const auto *fn = llvm::dyn_cast<ast::FnDecl>(decl))
      fns.push_back(fn);
  if (fns.size() > 1) {
    Diagnostic &diagnostic =
        error(range, "'" + name + "' is defined by several imported files");
    for (const ast::FnDecl *fn : fns)
      diagnostic.note(fn->getNameRange(), "'" + name + "' is defined here");
    diagnostic.remedy("rename one, or import only one of the files");
    return {};
  }
  if (fns.size() == 1)
    return {fns.front(), nullptr};
  if (const Builtin *builtin = findBuiltin(name))
    return {nullptr, builtin};
  if (!decls.empty()) {
    error(range, "'" + name + "' is a kernel, and kernels cannot be called")
        .note(declName(*decls.front()).range, "'" + name + "' is defined here")
        .remedy("move what both need into a 'fn'");
    return {};
  }
  if (const Symbol *symbol = lookup(name)) {
    if (symbol->kind == Symbol::Kind::Poison)
      return {};
    Diagnostic &diagnostic =
        error(range, "'" + name + "' is " + describeSymbol(*symbol) +
                         ", not a function");
    noteSymbol(diagnostic, *symbol);
    diagnostic.remedy(symbol->kind == Symbol::Kind::Param
                          ? "elements are read with brackets: '" + name +
                                "[...]'"
                          : Twine("write '*' to multiply").str());
    return {};
  }
  llvm::SmallVector<StringRef> names;
  index.listFunctions(env->file, names);
  for (const Builtin &builtin : allBuiltins())
    names.push_back(builtin.name);
  Diagnostic &unknown = error(range, "unknown function '" + name + "'");
  StringRef own = remedyForForeignName(name);
  if (!own.empty()) {
    unknown.remedy(own);
    return {};
  }
  unknown.remedy(
      suggest(name, names,
              "functions are built in, or declared with 'fn' in this "
              "file or one it imports"));
  return {};
}
