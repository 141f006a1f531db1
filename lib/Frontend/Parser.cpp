//===- Parser.cpp - Tokens, messages and recovery ---------------*- C++ -*-===//
//
// What all parts of the parser stand on, and the loop over the declarations of
// a file. See ParserImpl.h for the conventions.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"

#include "llvm/ADT/StringSwitch.h"
#include <utility>

using namespace tilec;
using llvm::StringRef;

bool tilec::parseFile(const SourceManager &sources, unsigned fileIndex,
                      ASTContext &context, DiagnosticEngine &diags,
                      ast::File &file) {
  unsigned errorsBefore = diags.getNumErrors();
  Parser(sources, fileIndex, context, diags).parseFile(file);
  return diags.getNumErrors() == errorsBefore;
}

void Parser::parseFile(ast::File &file) {
  llvm::SmallVector<ast::Decl *> decls;
  while (!at(TokenKind::EndOfFile)) {
    size_t before = numTaken;
    if (ast::Decl *decl = parseDecl())
      decls.push_back(decl);
    if (numTaken == before)
      take();
  }
  file.index = fileIndex;
  file.decls = context.copy(llvm::ArrayRef<ast::Decl *>(decls));
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

Token Parser::peek(size_t ahead) {
  if (abandoned || diags.tooManyErrors())
    return {TokenKind::EndOfFile, true, afterPrevious(), ""};
  while (lookahead.size() <= head + ahead)
    lookahead.push_back(lexer.next());
  return lookahead[head + ahead];
}

Token Parser::take() {
  Token token = peek();
  if (token.is(TokenKind::EndOfFile))
    return token;
  if (token.isOneOf(TokenKind::LParen, TokenKind::LBracket))
    ++openBrackets;
  else if (token.isOneOf(TokenKind::RParen, TokenKind::RBracket) &&
           openBrackets > 0)
    --openBrackets;
  ++numTaken;
  previousEnd = token.range.end;
  if (++head == lookahead.size()) {
    lookahead.clear();
    head = 0;
  }
  return token;
}

bool Parser::consume(TokenKind kind) {
  if (!at(kind))
    return false;
  take();
  return true;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Diagnostic &Parser::error(SourceRange range, const llvm::Twine &message) {
  if (abandoned || diags.tooManyErrors() || range.begin == lastError) {
    ignored = {};
    return ignored;
  }
  lastError = range.begin;
  return diags.error(range, message);
}

StringRef Parser::remedyForUnknown(StringRef text) {
  return llvm::StringSwitch<StringRef>(text)
      .Case(";", "a statement ends with its line; remove the ';'")
      .Case("&", "logical and is '&&'")
      .Cases({"^", "~"}, "there are no operators on bits")
      .Case("?", "a choice is written where(condition, a, b)")
      .Case(".", "values have no members; the extent of a dimension is its "
                 "name, and a number needs a digit before its point")
      .Case("..", "to count from 0 to n - 1, write 'for i in n'; a whole axis "
                  "is written ':'")
      .Case("@", "a matrix product is written dot(a, b)")
      .Case("#", "a comment begins with '//'")
      .Case("'", "a string is written in double quotes")
      .Case(":=", "a variable is defined and assigned with '='")
      .Case("\\", "a line continues within brackets, and after an operator or "
                  "a comma")
      .Default("");
}

std::string Parser::describeNext() {
  Token next = peek();
  if (next.is(TokenKind::EndOfFile))
    return "end of file";
  std::string text = isKeyword(next.kind) ? describeTokenKind(next.kind).str()
                                          : quoted(next.text);
  return isOnNextLine() ? text + " on the next line" : text;
}

bool Parser::isOnNextLine() {
  return numTaken != constructStart && peek().startsLine;
}

Diagnostic &Parser::errorExpected(const llvm::Twine &what) {
  Token next = peek();
  if (next.is(TokenKind::Unknown))
    return error(next.range, "unexpected " + quoted(next.text))
        .remedy(remedyForUnknown(next.text));
  if (!isOnNextLine())
    return error(next.range, "expected " + what + ", found " + describeNext());
  Diagnostic &diagnostic =
      error(afterPrevious(), "expected " + what + ", found " + describeNext());
  noteComment(diagnostic);
  return diagnostic;
}

void Parser::noteComment(Diagnostic &diagnostic) {
  const SourceManager &sources = diags.getSources();
  StringRef line = sources.getLine(previousEnd);
  size_t column = sources.getLineColumn(previousEnd).column;
  // The end of a file without a last newline is behind its last line.
  if (column == 0 || column - 1 > line.size())
    return;
  StringRef rest = line.drop_front(column - 1);
  StringRef comment = rest.ltrim();
  if (!comment.starts_with("//"))
    return;
  // In `(a // b)` it has the bracket that is missed.
  int open = 0;
  for (char c : comment) {
    open += c == '(' || c == '[';
    open -= c == ')' || c == ']';
    if (open < 0)
      break;
  }
  if (open >= 0)
    return;
  uint32_t blanks = static_cast<uint32_t>(rest.size() - comment.size());
  SourceLoc begin = previousEnd.advanced(blanks);
  diagnostic.note({begin, begin.advanced(2)},
                  "a comment begins here: integers are divided by '/'");
}

bool Parser::expect(TokenKind kind, const llvm::Twine &what) {
  if (consume(kind))
    return true;
  errorExpected(describeTokenKind(kind) + what);
  return false;
}

bool Parser::expectClosing(TokenKind closing, const Token &opening,
                           const llvm::Twine &what) {
  if (consume(closing))
    return true;
  errorExpected(what).note(opening.range,
                           quoted(opening.text) + " opened here");
  return false;
}

ast::Ident Parser::takeIdent() {
  Token token = take();
  return {context.intern(token.text), token.range};
}

std::optional<ast::Ident> Parser::expectName(const llvm::Twine &what) {
  Token next = peek();
  bool isInt = next.isWord("int");
  if (next.is(TokenKind::Identifier) && !isInt)
    return takeIdent();
  if (isKeyword(next.kind) || next.is(TokenKind::DTypeName) || isInt) {
    // The next line's `for` is not the name this line lacks.
    if (!next.startsLine || inBrackets || isInt) {
      error(next.range, "expected " + what + ", found " +
                            (isKeyword(next.kind) ? "keyword " : "type ") +
                            quoted(next.text))
          .remedy(quoted(next.text) +
                  " is reserved; choose another name, "
                  "such as '" +
                  next.text + "_'");
      return takeIdent();
    }
  }
  errorExpected(what);
  return std::nullopt;
}

bool Parser::parseList(TokenKind closing, const Token &opening,
                       const llvm::Twine &what, llvm::function_ref<bool()> item,
                       llvm::function_ref<bool()> startsItem) {
  const unsigned inside = openBrackets;
  std::string expected =
      ("',' or '" + spelling(closing) + "' in " + what).str();
  while (!at(closing)) {
    if (!item())
      skipToListSeparator(closing, inside);
    if (consume(TokenKind::Comma))
      continue;
    if (at(closing))
      break;
    expectClosing(closing, opening, expected);
    // Where only the comma is missing, the list goes on.
    if (startsItem && startsItem())
      continue;
    skipToListSeparator(closing, inside);
    if (!consume(TokenKind::Comma))
      break;
  }
  return consume(closing);
}

//===----------------------------------------------------------------------===//
// Recovery
//===----------------------------------------------------------------------===//

bool Parser::atDeclStart() {
  switch (peek().kind) {
  case TokenKind::KwKernel:
  case TokenKind::KwFn:
  case TokenKind::KwImport:
    return true;
  case TokenKind::KwSchedule:
    return peek(1).is(TokenKind::Identifier) && peek(2).is(TokenKind::KwFor);
  default:
    return false;
  }
}

bool Parser::closesAhead(unsigned count) {
  // Enough for any call people write, and few enough to stay linear.
  constexpr size_t maxTokens = 256;
  unsigned open = openBrackets;
  for (size_t i = 0; i < maxTokens; ++i) {
    switch (peek(i).kind) {
    case TokenKind::LParen:
    case TokenKind::LBracket:
      ++open;
      break;
    case TokenKind::RParen:
    case TokenKind::RBracket:
      if (open <= count + 1)
        return true;
      --open;
      break;
    case TokenKind::EndOfFile:
    case TokenKind::LBrace:
    case TokenKind::RBrace:
      return false;
    default:
      break;
    }
  }
  return false;
}

void Parser::skipToListSeparator(TokenKind closing, unsigned inside) {
  // Angle brackets are not counted, so nothing is known about their end.
  bool closes = closing == TokenKind::Greater || closesAhead(inside - 1);
  for (;; take()) {
    Token next = peek();
    if (next.isOneOf(TokenKind::EndOfFile, TokenKind::LBrace,
                     TokenKind::RBrace) ||
        (next.startsLine && (!closes || atDeclStart())))
      return;
    if (openBrackets <= inside &&
        (next.is(closing) || next.isOneOf(TokenKind::Comma, TokenKind::RParen,
                                          TokenKind::RBracket)))
      return;
  }
}

void Parser::skipStatement() {
  for (;;) {
    Token next = peek();
    if (next.isOneOf(TokenKind::EndOfFile, TokenKind::RBrace))
      return;
    if (next.startsLine && (openBrackets == 0 || !closesAhead(0)))
      return;
    if (next.is(TokenKind::LBrace)) {
      bool outer = std::exchange(skipping, true);
      parseBlock();
      skipping = outer;
    } else {
      take();
    }
  }
}

bool Parser::skipToBlock() {
  while (!peek().startsLine && !at(TokenKind::RBrace) && !at(TokenKind::LBrace))
    take();
  return at(TokenKind::LBrace) && parseBlock();
}

void Parser::skipDecl() {
  while (!at(TokenKind::EndOfFile) && !(peek().startsLine && atDeclStart()))
    take();
}
