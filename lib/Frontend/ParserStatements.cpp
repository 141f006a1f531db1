//===- ParserStatements.cpp - Blocks, loops, assignments --------*- C++ -*-===//
//
// A statement that fails is dropped and the rest of its line skipped, so that
// each line gets its own message. What follows a complete statement on the same
// line is reported without losing the statement.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::ast;
using llvm::StringRef;

Block *Parser::parseBlock() {
  Token open = peek();
  if (open.isNot(TokenKind::LBrace)) {
    Diagnostic &diagnostic = errorExpected("'{' to begin a block");
    if (open.is(TokenKind::Colon))
      diagnostic.remedy("a block is written in braces: '{ ... }'");
    else if (open.is(TokenKind::Equal))
      diagnostic.remedy("write '{ ... }' instead of '= ...'");
    // A colon at the end of the line: what follows are the statements meant.
    if (open.is(TokenKind::Colon) && peek(1).startsLine)
      take();
    return nullptr;
  }
  DepthScope nesting(*this);
  if (!nesting)
    return nullptr;
  take();
  bool outerBrackets = inBrackets, outerAngle = inAngleBrackets;
  inBrackets = inAngleBrackets = false;
  unsigned outerOpen = openBrackets;
  ++blockDepth;
  llvm::SmallVector<Stmt *> stmts;
  while (!at(TokenKind::RBrace)) {
    if (at(TokenKind::EndOfFile) || (peek().startsLine && atDeclStart())) {
      errorExpected("'}' to close the block")
          .note(open.range, "'{' opened here");
      break;
    }
    size_t before = numTaken;
    openBrackets = 0;
    Stmt *stmt = parseStmt();
    if (stmt) {
      stmts.push_back(stmt);
      endStmt(*stmt);
    } else {
      if (numTaken == before && !at(TokenKind::RBrace))
        take();
      skipStatement();
    }
  }
  consume(TokenKind::RBrace);
  --blockDepth;
  openBrackets = outerOpen;
  inBrackets = outerBrackets;
  inAngleBrackets = outerAngle;
  return context.create<Block>(rangeFrom(open.range.begin),
                               context.copy(stmts));
}

Stmt *Parser::parseStmt() {
  constructStart = numTaken;
  Token next = peek();
  switch (next.kind) {
  case TokenKind::KwFor:
    if (!inKernel)
      error(next.range, "a function cannot hold a loop")
          .remedy("it applies to one element; loop in the kernel");
    return parseFor();
  case TokenKind::KwGrid:
    if (!inKernel)
      error(next.range, "a function cannot hold a grid")
          .remedy("it applies to one element; the grid stands in the kernel");
    else if (blockDepth > 1)
      error(next.range, "'grid' must be in the outermost block of a kernel")
          .remedy("it is the kernel's first statement; within it, loop with "
                  "'for'");
    return parseGrid();
  case TokenKind::KwIf:
    return parseIf();
  case TokenKind::KwSchedule:
    if (!inKernel || blockDepth > 1)
      error(next.range,
            "a schedule must be in the outermost block of a kernel");
    return parseScheduleStmt();
  case TokenKind::KwElse:
    error(next.range, "'else' without 'if'")
        .remedy("it follows the '}' that ends the block of an 'if'");
    take();
    skipToBlock();
    return nullptr;
  case TokenKind::LBrace:
    error(next.range, "a block cannot stand alone")
        .remedy("it belongs to 'for', 'if' or 'else'");
    parseBlock();
    return nullptr;
  default:
    if (reportLeadingOperator() || parseForeignStmt())
      return nullptr;
    return parseSimpleStmt();
  }
}

bool Parser::reportLeadingOperator() {
  Token token = peek();
  // A `-` may begin the value of a function.
  bool isLeading =
      token.isOneOf(TokenKind::Plus, TokenKind::Star, TokenKind::Slash,
                    TokenKind::Percent, TokenKind::PipePipe, TokenKind::AmpAmp,
                    TokenKind::EqualEqual, TokenKind::BangEqual,
                    TokenKind::Less, TokenKind::LessEqual, TokenKind::Greater,
                    TokenKind::GreaterEqual) ||
      (token.is(TokenKind::Minus) && inKernel);
  if (!token.startsLine || !isLeading)
    return false;
  error(token.range, "a line cannot begin with " + quoted(token.text))
      .remedy("a line goes on after an operator, not before one: write the " +
              quoted(token.text) + " at the end of the line before");
  take();
  skipStatement();
  return true;
}

//===----------------------------------------------------------------------===//
// Loops, grids, branches, schedules
//===----------------------------------------------------------------------===//

std::optional<Binding> Parser::parseBinding() {
  Binding binding;
  std::optional<Ident> name = expectName("the name of a loop variable");
  if (!name)
    return std::nullopt;
  binding.name = *name;
  if (!consume(TokenKind::KwIn)) {
    errorExpected("'in' after the loop variable " + quoted(name->name))
        .remedy("such as '" + name->name + " in tile(M)'");
    return std::nullopt;
  }
  if (at(TokenKind::KwTile)) {
    take();
    binding.isTile = true;
    Token open = peek();
    if (!expect(TokenKind::LParen, " after 'tile'"))
      return std::nullopt;
    BracketScope brackets(*this);
    binding.extent = parseExpr();
    if (!binding.extent)
      return std::nullopt;
    if (consume(TokenKind::Comma)) {
      binding.size = parseExpr();
      if (!binding.size)
        return std::nullopt;
    }
    if (!expectClosing(TokenKind::RParen, open,
                       binding.size ? "')' after the size of the tile"
                                    : "',' or ')' in 'tile(...)'"))
      return std::nullopt;
  } else {
    binding.extent = parseExpr();
    if (!binding.extent)
      return std::nullopt;
  }
  binding.range = rangeFrom(name->range.begin);
  return binding;
}

bool Parser::parseBindings(llvm::SmallVectorImpl<Binding> &bindings) {
  do {
    std::optional<Binding> binding = parseBinding();
    if (!binding)
      return false;
    bindings.push_back(*binding);
  } while (consume(TokenKind::Comma));
  return true;
}

Stmt *Parser::parseFor() {
  SourceLoc begin = take().range.begin;
  llvm::SmallVector<Binding> bindings;
  Expr *condition = nullptr;
  bool ok = parseBindings(bindings);
  if (ok && consume(TokenKind::KwIf)) {
    condition = parseExpr();
    ok = condition != nullptr;
  }
  if (!ok) {
    skipToBlock();
    return nullptr;
  }
  Block *body = parseBlock();
  if (!body)
    return nullptr;
  return context.create<ForStmt>(rangeFrom(begin), context.copy(bindings),
                                 condition, body);
}

Stmt *Parser::parseGrid() {
  SourceLoc begin = take().range.begin;
  llvm::SmallVector<Binding> bindings;
  if (!parseBindings(bindings))
    return nullptr;
  SourceRange range = rangeFrom(begin);
  if (at(TokenKind::LBrace) && !atLineEnd()) {
    error(peek().range, "a grid has no block of its own")
        .remedy("remove the braces: all that follows the grid is its body");
    parseBlock();
  }
  return context.create<GridStmt>(range, context.copy(bindings));
}

Block *Parser::parseElse() {
  bool isElif = peek().isWord("elif") || peek().isWord("elsif");
  if (isElif)
    error(peek().range, "unknown keyword " + quoted(peek().text))
        .remedy("write 'else if'");
  else
    take();
  if (!isElif && !at(TokenKind::KwIf))
    return parseBlock();
  DepthScope nesting(*this);
  if (!nesting)
    return nullptr;
  Stmt *inner = parseIf();
  if (!inner)
    return nullptr;
  return context.create<Block>(inner->getRange(),
                               context.copy(llvm::ArrayRef(inner)));
}

Stmt *Parser::parseIf() {
  SourceLoc begin = take().range.begin;
  Expr *condition = parseExpr();
  if (!condition) {
    skipToBlock();
    return nullptr;
  }
  Block *thenBlock = parseBlock(), *elseBlock = nullptr;
  if (!thenBlock)
    return nullptr;
  if (at(TokenKind::KwElse) || peek().isWord("elif") ||
      peek().isWord("elsif")) {
    elseBlock = parseElse();
    if (!elseBlock)
      return nullptr;
  }
  return context.create<IfStmt>(rangeFrom(begin), condition, thenBlock,
                                elseBlock);
}

Stmt *Parser::parseScheduleStmt() {
  SourceLoc begin = take().range.begin;
  llvm::SmallVector<ScheduleItem> items;
  if (!parseScheduleItems(items)) {
    skipToBlock();
    return nullptr;
  }
  return context.create<ScheduleStmt>(rangeFrom(begin), context.copy(items));
}

//===----------------------------------------------------------------------===//
// Assignments and expressions
//===----------------------------------------------------------------------===//

bool Parser::parseForeignStmt() {
  Token word = peek();
  if (!word.isOneOf(TokenKind::Identifier, TokenKind::DTypeName))
    return false;
  Token next = peek(1);
  bool nextOnLine = !next.startsLine && next.isNot(TokenKind::EndOfFile);
  bool beginsOperand =
      nextOnLine &&
      next.isOneOf(TokenKind::Identifier, TokenKind::DTypeName,
                   TokenKind::Integer, TokenKind::Float, TokenKind::Bang,
                   TokenKind::KwTrue, TokenKind::KwFalse, TokenKind::KwInf,
                   TokenKind::KwNan, TokenKind::KwZeros, TokenKind::KwFull);
  StringRef text = word.text;
  bool alone = !nextOnLine || next.is(TokenKind::RBrace);

  if (text == "return" && (beginsOperand || alone ||
                           next.isOneOf(TokenKind::LParen, TokenKind::Minus))) {
    error(word.range, "there is no 'return'")
        .remedy(inKernel ? "a kernel stores its results in 'out' parameters"
                         : "the last line of a function is its value; remove "
                           "'return'");
    take();
    return !nextOnLine || at(TokenKind::RBrace);
  }
  if (text == "while" && (beginsOperand || next.is(TokenKind::LParen))) {
    error(word.range, "there is no 'while'")
        .remedy("a loop has a known range: 'for i in n { ... }', with 'if' to "
                "leave iterations out");
    skipStatement();
    return true;
  }
  if ((text == "elif" || text == "elsif") && beginsOperand) {
    error(word.range, quoted(text) + " without 'if'")
        .remedy("write 'else if' after the '}' that ends the block of an "
                "'if'");
    skipStatement();
    return true;
  }
  bool defines = llvm::StringSwitch<bool>(text)
                     .Cases({"let", "var", "val", "const", "auto", "float",
                             "double", "int"},
                            true)
                     .Default(word.is(TokenKind::DTypeName));
  if (defines && nextOnLine && next.is(TokenKind::Identifier)) {
    error(word.range, "unexpected " + quoted(text))
        .remedy("a variable is defined by its first assignment, and takes the "
                "type of the value; remove " +
                quoted(text));
    take();
    return false;
  }
  if (alone && (text == "break" || text == "continue" || text == "pass")) {
    error(word.range, "there is no " + quoted(text))
        .remedy(text == "pass" ? "a block may be empty"
                               : "to leave iterations out, write 'for x in "
                                 "tile(X) if condition { ... }'");
    take();
    return true;
  }
  return false;
}

Stmt *Parser::parseSimpleStmt() {
  Expr *first = parseBinary(0);
  if (!first)
    return nullptr;
  Token next = peek();
  switch (next.kind) {
  case TokenKind::Comma:
  case TokenKind::Equal:
  case TokenKind::PlusEqual:
  case TokenKind::MinusEqual:
  case TokenKind::StarEqual:
  case TokenKind::SlashEqual:
    return parseAssignment(first);
  case TokenKind::Unknown:
    if (next.text != ":=")
      break;
    return parseAssignment(first);
  case TokenKind::Colon:
    if (atLineEnd() || !llvm::isa<NameExpr>(first))
      break;
    error(next.range, "a variable is defined without a type")
        .remedy("it takes the type of its value; convert the value to choose "
                "another: '" +
                llvm::cast<NameExpr>(first)->getName() + " = f32(...)'");
    take();
    if (!parseType() || !at(TokenKind::Equal))
      return nullptr;
    return parseAssignment(first);
  default:
    break;
  }
  if (inKernel && !skipping && !llvm::isa<CallExpr>(first)) {
    Diagnostic &diagnostic =
        error(first->getRange(), "the value of this expression is not used");
    auto *binary = llvm::dyn_cast<BinaryExpr>(first);
    if (binary && binary->getOp() == BinaryOp::Eq)
      diagnostic.remedy("'==' compares; use '=' to assign");
    else
      diagnostic.remedy("assign it to a variable or an 'out' parameter");
  }
  return context.create<ExprStmt>(first);
}

std::optional<Target> Parser::makeTarget(Expr *expr) {
  Target target;
  target.range = expr->getRange();
  if (auto *name = llvm::dyn_cast<NameExpr>(expr)) {
    target.name = {name->getName(), name->getRange()};
    return target;
  }
  if (auto *subscript = llvm::dyn_cast<SubscriptExpr>(expr)) {
    target.name = {subscript->getBase()->getName(),
                   subscript->getBase()->getRange()};
    target.hasSubscripts = true;
    target.subscripts = subscript->getSubscripts();
    return target;
  }
  error(expr->getRange(), "cannot assign to this expression")
      .remedy("on the left stands a variable or a parameter with subscripts, "
              "such as 'x' or 'C[m, n]'");
  return std::nullopt;
}

Stmt *Parser::parseAssignment(Expr *first) {
  llvm::SmallVector<Target> targets;
  bool ok = true;
  auto addTarget = [&](Expr *expr) {
    if (std::optional<Target> target = makeTarget(expr))
      targets.push_back(*target);
    else
      ok = false;
  };
  addTarget(first);
  while (consume(TokenKind::Comma)) {
    Expr *next = parseBinary(0);
    if (!next)
      return nullptr;
    addTarget(next);
  }
  Token opToken = peek();
  AssignOp op = AssignOp::Set;
  switch (opToken.kind) {
  case TokenKind::Equal:
    break;
  case TokenKind::PlusEqual:
    op = AssignOp::Add;
    break;
  case TokenKind::MinusEqual:
    op = AssignOp::Sub;
    break;
  case TokenKind::StarEqual:
    op = AssignOp::Mul;
    break;
  case TokenKind::SlashEqual:
    op = AssignOp::Div;
    break;
  default:
    errorExpected("'=' after the targets of an assignment");
    if (opToken.isNot(TokenKind::Unknown) || opToken.text != ":=")
      return nullptr;
  }
  take();
  if (op != AssignOp::Set && targets.size() > 1)
    error(opToken.range, quoted(opToken.text) + " takes one target, found " +
                             llvm::Twine(targets.size()))
        .remedy("write one line for each");
  Expr *value = parseBinary(0);
  if (value && at(TokenKind::Unknown) && peek().text == "?")
    value = parseConditional(value);
  if (!value || !ok)
    return nullptr;
  return context.create<AssignStmt>(rangeFrom(first->getRange().begin),
                                    context.copy(targets), op, opToken.range,
                                    value);
}

void Parser::endStmt(const Stmt &stmt) {
  if (atLineEnd() || at(TokenKind::RBrace))
    return;
  Token next = peek();
  if (next.is(TokenKind::Unknown) && next.text == ";") {
    error(next.range, "unexpected ';'")
        .remedy(peek(1).startsLine || peek(1).is(TokenKind::RBrace)
                    ? "a statement ends with its line; remove the ';'"
                    : "a statement ends with its line; begin a new line here");
    while (peek().is(TokenKind::Unknown) && peek().text == ";")
      take();
    return; // What follows on the line is the next statement.
  }
  if (next.isOneOf(TokenKind::RParen, TokenKind::RBracket)) {
    error(next.range,
          "unexpected " + quoted(next.text) + ": no bracket is open here");
  } else if (next.is(TokenKind::Equal) && llvm::isa<AssignStmt>(stmt)) {
    error(next.range, "an assignment is not an expression")
        .remedy("write one line for each variable; to compare, use '=='");
  } else if (next.is(TokenKind::Comma) && llvm::isa<AssignStmt>(stmt)) {
    error(next.range, "expected end of line, found ','")
        .remedy("one value is assigned, write one line for each variable");
  } else if (next.is(TokenKind::KwIf) && llvm::isa<AssignStmt>(stmt)) {
    error(next.range, "expected end of line, found keyword 'if'")
        .remedy("to choose a value, write 'where(condition, a, b)'");
  } else {
    Diagnostic &diagnostic = errorExpected("end of line");
    if (next.isNot(TokenKind::Unknown))
      diagnostic.remedy("begin a new line for the next statement");
  }
  skipStatement();
  // The line that a backslash was meant to continue goes with it.
  if (next.text == "\\" && !at(TokenKind::RBrace)) {
    take();
    skipStatement();
  }
}
