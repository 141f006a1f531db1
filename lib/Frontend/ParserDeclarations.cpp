//===- ParserDeclarations.cpp - kernel, fn, import, schedule ----*- C++ -*-===//
//
// Declarations, and the rules about what a body must hold that need no types:
// where a kernel's grid stands, and that a function ends in a value.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::ast;
using llvm::StringRef;

/// What to write for a word that begins a declaration elsewhere.
static StringRef remedyForDeclWord(StringRef word) {
  return llvm::StringSwitch<StringRef>(word)
      .Cases({"def", "func", "function", "void", "device", "__device__"},
             "a function is written 'fn name(x: f32) -> f32 { ... }'")
      .Cases(
          {"__global__", "global", "extern"},
          "a kernel is written 'kernel name(A: f32[M], B: out f32[M]) { ... }'")
      .Cases({"from", "include", "use", "using"},
             "other files are read with 'import \"file.tile\"'")
      .Cases({"const", "constexpr", "let", "var", "static", "define"},
             "a constant is a compile-time parameter with a default: 'kernel "
             "name<size: int = 4>(...)'")
      .Default("");
}

Decl *Parser::parseDecl() {
  constructStart = numTaken;
  openBrackets = 0;
  dtypeParams.clear();
  inKernel = false;
  Token next = peek();
  TokenKind kind = next.kind;
  if (kind == TokenKind::RBrace) {
    error(next.range, "unexpected '}': no block is open here");
    take();
    return nullptr;
  }
  if (kind == TokenKind::Identifier) {
    Diagnostic &diagnostic = errorExpected("a declaration");
    StringRef remedy = remedyForDeclWord(next.text);
    StringRef nearest =
        nearestName(next.text, {"kernel", "fn", "import", "schedule"});
    if (!remedy.empty()) {
      diagnostic.remedy(remedy);
    } else if (!nearest.empty()) {
      diagnostic.remedy("did you mean " + quoted(nearest) + "?");
      kind = classifyWord(nearest);
    } else {
      diagnostic.remedy("a file holds 'import', 'fn', 'kernel' and 'schedule'");
    }
  }
  switch (kind) {
  case TokenKind::KwImport:
    return parseImport();
  case TokenKind::KwFn:
    return parseFn();
  case TokenKind::KwKernel:
    return parseKernel();
  case TokenKind::KwSchedule:
    return parseScheduleDecl();
  default:
    if (next.is(TokenKind::Unknown) && next.text == "@")
      error(next.range, "unexpected '@': there are no decorators")
          .remedy("sizes of tiles and the like stand in a schedule, 'schedule "
                  "{ m = 64 }', and variants in compile-time parameters, "
                  "'kernel name<flag: bool>(...)'");
    else if (next.is(TokenKind::Unknown))
      errorExpected("a declaration");
    else
      errorExpected("a declaration")
          .remedy(kind == TokenKind::KwGrid || kind == TokenKind::KwFor
                      ? "statements stand within a kernel: 'kernel name(...) { "
                        "... }'"
                      : "a file holds 'import', 'fn', 'kernel' and "
                        "'schedule'");
    take();
    skipDecl();
    return nullptr;
  }
}

Decl *Parser::parseImport() {
  SourceLoc begin = take().range.begin;
  Token path = peek();
  if (path.isNot(TokenKind::String) || path.startsLine) {
    errorExpected("the file in double quotes")
        .remedy("such as 'import \"softmax.tile\"'");
    while (!peek().startsLine)
      take();
    return nullptr;
  }
  take();
  std::string text = unescapeString(path.text);
  // A file name with a NUL would mean one thing here and another to the
  // operating system.
  if (text.empty() || StringRef(text).contains('\0')) {
    error(path.range, text.empty()
                          ? "expected the name of a file, found an empty string"
                          : "expected the name of a file, found a NUL in it");
    return nullptr;
  }
  return context.create<ImportDecl>(rangeFrom(begin), context.intern(text),
                                    path.range);
}

//===----------------------------------------------------------------------===//
// Functions and kernels
//===----------------------------------------------------------------------===//

static Access accessOf(TokenKind kind) {
  switch (kind) {
  case TokenKind::KwOut:
    return Access::Out;
  case TokenKind::KwInOut:
    return Access::InOut;
  case TokenKind::KwAdd:
    return Access::Add;
  default:
    return Access::In;
  }
}

static bool isAccess(TokenKind kind) {
  return kind == TokenKind::KwIn || kind == TokenKind::KwOut ||
         kind == TokenKind::KwInOut || kind == TokenKind::KwAdd;
}

bool Parser::parseParam(bool isKernel, llvm::SmallVectorImpl<Param> &params) {
  Param param;
  SourceLoc begin = peek().range.begin;
  if (isAccess(peek().kind) && peek(1).is(TokenKind::Identifier)) {
    Token access = take();
    error(access.range, quoted(access.text) + " before the name of a parameter")
        .remedy("write it before the type: '" + peek().text + ": " +
                access.text + " ...'");
    param.access = accessOf(access.kind);
  }
  // `const X: f32[N]`, and `const f32* X`, which has more to answer.
  if (at(TokenKind::Identifier))
    skipForeignQualifiers();
  std::optional<Ident> name = expectName("the name of a parameter");
  if (!name)
    return false;
  param.name = *name;
  if (!consume(TokenKind::Colon)) {
    errorExpected("':' and a type after the parameter " + quoted(name->name))
        .remedy(isKernel ? "such as '" + name->name + ": bf16[M, K]'"
                         : "such as '" + name->name + ": f32'");
    return false;
  }
  if (isAccess(peek().kind)) {
    Token access = take();
    param.access = accessOf(access.kind);
    param.accessRange = access.range;
    if (!isKernel)
      error(access.range,
            "a function cannot have " + quoted(access.text) + " parameters")
          .remedy("its result is the value of its last expression");
  }
  std::optional<TypeSpec> type =
      isKernel ? parseType() : parseScalarType("a parameter of a function");
  if (!type)
    return false;
  param.type = *type;
  skipForeignQualifiers(); // `X: f32*`
  if (at(TokenKind::Equal)) {
    SourceRange equal = take().range;
    if (!isKernel)
      error(equal, "a parameter of a function has no default value");
    param.defaultValue = parseExpr();
    if (!param.defaultValue)
      return false;
  }
  param.range = rangeFrom(begin);
  params.push_back(param);
  return true;
}

bool Parser::parseParams(bool isKernel, llvm::SmallVectorImpl<Param> &params) {
  Token open = peek();
  if (!expect(TokenKind::LParen, " to begin the parameters"))
    return false;
  BracketScope brackets(*this);
  return parseList(
      TokenKind::RParen, open, "the parameters",
      [&] { return parseParam(isKernel, params); },
      [&] {
        return peek().is(TokenKind::Identifier) && peek(1).is(TokenKind::Colon);
      });
}

Decl *Parser::parseFn() {
  unsigned errorsBefore = diags.getNumErrors();
  SourceLoc begin = take().range.begin;
  llvm::SmallVector<CtParam> ctParams;
  llvm::SmallVector<Param> params;
  std::optional<Ident> name = expectName("the name of the function");
  std::optional<TypeSpec> result;
  bool ok = name.has_value();
  ok = ok && (!at(TokenKind::Less) || parseCtParams(ctParams));
  ok = ok && parseParams(/*isKernel=*/false, params);
  if (ok && !consume(TokenKind::Arrow)) {
    errorExpected("'->' and the type of the result")
        .remedy("such as 'fn " + name->name + "(...) -> f32 { ... }'");
    // Only the type is missing if the body follows.
    ok = at(TokenKind::LBrace);
    result.emplace();
  } else if (ok) {
    result = parseScalarType("the result of a function");
    ok = result.has_value();
  }
  if (!ok) {
    if (!skipToBlock())
      skipDecl();
    return nullptr;
  }
  Block *body = parseBlock();
  if (!body) {
    skipDecl();
    return nullptr;
  }
  // Statements that could not be parsed are not in the body, but reported.
  if (diags.getNumErrors() == errorsBefore)
    checkFnValue(name->name, *body);
  return context.create<FnDecl>(rangeFrom(begin), *name, context.copy(ctParams),
                                context.copy(params), *result, body);
}

void Parser::checkFnValue(StringRef name, const Block &body) {
  constexpr StringRef remedy =
      "the last line of a function is its value, such as 'x * 2'";
  SourceRange closing(SourceLoc(body.getRange().end.getOffset() - 1),
                      body.getRange().end);
  if (body.getStmts().empty()) {
    error(closing, "function " + quoted(name) + " has no value").remedy(remedy);
    return;
  }
  const Stmt *last = body.getStmts().back();
  if (llvm::isa<ExprStmt>(last))
    return;
  if (auto *branch = llvm::dyn_cast<IfStmt>(last)) {
    checkFnValue(name, *branch->getThen());
    if (branch->getElse())
      checkFnValue(name, *branch->getElse());
    else
      error(branch->getRange(), "function " + quoted(name) +
                                    " has no value where this condition is "
                                    "false")
          .remedy("add an 'else' that ends in a value");
    return;
  }
  error(last->getRange(), "expected the value of function " + quoted(name) +
                              " in its last line, found an assignment")
      .remedy(remedy);
}

Decl *Parser::parseKernel() {
  SourceLoc begin = take().range.begin;
  inKernel = true;
  llvm::SmallVector<CtParam> ctParams;
  llvm::SmallVector<Param> params;
  llvm::SmallVector<Expr *> requirements;
  std::optional<Ident> name = expectName("the name of the kernel");
  bool ok = name.has_value();
  ok = ok && (!at(TokenKind::Less) || parseCtParams(ctParams));
  ok = ok && parseParams(/*isKernel=*/true, params);
  if (ok && at(TokenKind::Arrow)) {
    error(peek().range, "a kernel has no result type")
        .remedy("give it an 'out' parameter, such as 'C: out f32[M, N]'");
    ok = false;
  }
  if (ok && consume(TokenKind::KwRequires)) {
    do {
      Expr *requirement = parseExpr();
      ok = requirement != nullptr;
      requirements.push_back(requirement);
    } while (ok && consume(TokenKind::Comma));
  }
  if (!ok) {
    if (!skipToBlock())
      skipDecl();
    return nullptr;
  }
  Block *body = parseBlock();
  if (!body) {
    skipDecl();
    return nullptr;
  }
  checkKernelBody(*body);
  return context.create<KernelDecl>(
      rangeFrom(begin), *name, context.copy(ctParams), context.copy(params),
      context.copy(requirements), body);
}

void Parser::checkKernelBody(const Block &body) {
  const Stmt *schedule = nullptr, *grid = nullptr, *other = nullptr;
  for (const Stmt *stmt : body.getStmts()) {
    if (llvm::isa<ScheduleStmt>(stmt)) {
      if (schedule)
        error(stmt->getRange(), "a kernel has at most one schedule")
            .note(schedule->getRange(), "the first one is here")
            .remedy("write all of it in one block");
      else
        schedule = stmt;
    } else if (llvm::isa<GridStmt>(stmt)) {
      if (grid)
        error(stmt->getRange(), "a kernel has at most one grid")
            .note(grid->getRange(), "the first one is here")
            .remedy("write all its variables in one 'grid', separated by "
                    "commas");
      else if (other)
        error(stmt->getRange(),
              "'grid' must be the first statement of a kernel")
            .note(other->getRange(), "this statement comes before it")
            .remedy("move it up: what follows the grid is done once for each "
                    "of its tiles");
      grid = stmt;
    } else if (!other) {
      other = stmt;
    }
  }
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

std::optional<ScheduleItem> Parser::parseScheduleItem() {
  ScheduleItem item;
  std::optional<Ident> key = expectName("the name of a schedule entry");
  if (!key)
    return std::nullopt;
  item.key = *key;
  if (!expect(TokenKind::Equal, " after " + quoted(key->name)))
    return std::nullopt;
  Token value = peek();
  item.valueRange = value.range;
  switch (value.kind) {
  case TokenKind::Integer: {
    std::optional<int64_t> number = takeInteger(/*negative=*/false);
    if (!number)
      return std::nullopt;
    item.kind = ScheduleItem::Kind::Int;
    item.intValue = *number;
    return item;
  }
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
    item.kind = ScheduleItem::Kind::Bool;
    item.boolValue = take().is(TokenKind::KwTrue);
    return item;
  case TokenKind::Identifier:
    item.kind = ScheduleItem::Kind::Name;
    item.nameValue = takeIdent().name;
    return item;
  default:
    errorExpected("an integer, a name, 'true' or 'false' for " +
                  quoted(key->name));
    return std::nullopt;
  }
}

bool Parser::parseScheduleItems(llvm::SmallVectorImpl<ScheduleItem> &items) {
  Token open = peek();
  if (!expect(TokenKind::LBrace, " to begin the schedule"))
    return false;
  llvm::DenseMap<StringRef, SourceRange> seen;
  while (!at(TokenKind::RBrace)) {
    if (at(TokenKind::EndOfFile) || (peek().startsLine && atDeclStart())) {
      expectClosing(TokenKind::RBrace, open, "'}' to close the schedule");
      return true;
    }
    size_t before = numTaken;
    std::optional<ScheduleItem> item = parseScheduleItem();
    if (item) {
      auto [first, isNew] = seen.try_emplace(item->key.name, item->key.range);
      if (!isNew)
        error(item->key.range,
              quoted(item->key.name) + " occurs twice in one schedule")
            .note(first->second, "the first one is here");
      items.push_back(*item);
    }
    if (consume(TokenKind::Comma) || peek().startsLine ||
        at(TokenKind::RBrace)) {
      if (numTaken == before && !at(TokenKind::EndOfFile))
        take();
      continue;
    }
    if (item)
      errorExpected("',', a new line or '}' after a schedule entry");
    while (!peek().startsLine && !at(TokenKind::RBrace) &&
           !at(TokenKind::Comma))
      take();
    consume(TokenKind::Comma);
  }
  take();
  return true;
}

Decl *Parser::parseScheduleDecl() {
  SourceLoc begin = take().range.begin;
  if (at(TokenKind::LBrace)) {
    error(peek().range, "expected the name of a kernel, found '{'")
        .remedy("outside of a kernel, write 'schedule kernel_name for sm_90a { "
                "... }'");
    llvm::SmallVector<ScheduleItem> items;
    parseScheduleItems(items);
    return nullptr;
  }
  llvm::SmallVector<ScheduleItem> items;
  std::optional<Ident> kernel = expectName("the name of a kernel");
  std::optional<Ident> target;
  if (kernel && expect(TokenKind::KwFor, " and a target such as 'sm_90a'"))
    target = expectName("a target such as 'sm_90a'");
  if (!target || !parseScheduleItems(items)) {
    skipDecl();
    return nullptr;
  }
  return context.create<ScheduleDecl>(rangeFrom(begin), *kernel, *target,
                                      context.copy(items));
}
