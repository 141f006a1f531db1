//===- ParserImpl.h - The recursive descent parser --------------*- C++ -*-===//
//
// Private to the parser's own files:
//
//   Parser.cpp            tokens, messages, recovery, names, the file
//   ParserDeclarations    kernel, fn, import, schedule
//   ParserTypes           types, compile-time parameters and arguments
//   ParserStatements      blocks, loops, assignments
//   ParserExpressions     operators, calls, lambdas
//   ParserImports         loadProgram: files and what they import
//
// Conventions. A parse function returns null (or nullopt, or false) when it
// could not make sense of the text, and has then reported why; its caller
// passes that on until someone can recover: a parameter list at its next comma,
// a block at the next line, a file at the next declaration. Where the intent is
// plain in spite of the mistake, the function reports and returns what was
// meant, so that parsing goes on undisturbed.
//
// Two rules keep one mistake from being reported twice: no two errors begin at
// the same byte, and a mistake after which nothing can be trusted (too deep a
// nesting, too many errors) makes all that follows look like the end of the
// file, silently.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_PARSERIMPL_H
#define TILEC_FRONTEND_PARSERIMPL_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Lexer.h"
#include "lib/Frontend/Parser.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <optional>

namespace tilec {

class Parser {
public:
  Parser(const SourceManager &sources, unsigned fileIndex, ASTContext &context,
         DiagnosticEngine &diags)
      : fileIndex(fileIndex), context(context), diags(diags),
        lexer(sources, fileIndex, diags),
        previousEnd(sources.getLoc(fileIndex, 0)) {}

  void parseFile(ast::File &file);

private:
  //===--------------------------------------------------------------------===//
  // Tokens
  //===--------------------------------------------------------------------===//

  /// The token `ahead` places after the next one.
  Token peek(size_t ahead = 0);
  bool at(TokenKind kind) { return peek().is(kind); }
  Token take();
  /// Takes the next token if it is of that kind.
  bool consume(TokenKind kind);
  /// The next token begins a line, and lines matter here.
  bool atLineEnd() {
    Token next = peek();
    return next.is(TokenKind::EndOfFile) || (next.startsLine && !inBrackets);
  }
  /// The next token directly follows the previous one.
  bool isAdjacent() { return peek().range.begin == previousEnd; }
  SourceRange rangeFrom(SourceLoc begin) const { return {begin, previousEnd}; }
  /// The empty range after the previous token.
  SourceRange afterPrevious() const { return {previousEnd, previousEnd}; }

  /// For the time of its life newlines are blanks.
  class BracketScope;
  /// Counts one level of nesting; false if that is too many, which it reports.
  class DepthScope;

  //===--------------------------------------------------------------------===//
  // Messages
  //===--------------------------------------------------------------------===//

  /// Reports an error, unless one was reported at this very place.
  Diagnostic &error(SourceRange range, const llvm::Twine &message);
  /// "expected WHAT, found …" at the next token, or after the previous one if
  /// the next one is on another line.
  Diagnostic &errorExpected(const llvm::Twine &what);
  /// Adds to a message about the end of a line that it ends in a comment which
  /// looks like the rest of it.
  void noteComment(Diagnostic &diagnostic);
  /// The next token is on another line than what lacks it.
  bool isOnNextLine();
  /// What the next token is, for a message.
  std::string describeNext();
  /// What to write instead of text of kind Unknown.
  static llvm::StringRef remedyForUnknown(llvm::StringRef text);
  /// Gives up on the file.
  void abandon() { abandoned = true; }

  bool expect(TokenKind kind, const llvm::Twine &what);
  /// Expects the end of a bracketed list.
  bool expectClosing(TokenKind closing, const Token &opening,
                     const llvm::Twine &what);
  /// A name. A keyword is reported and taken for a name.
  std::optional<ast::Ident> expectName(const llvm::Twine &what);
  ast::Ident takeIdent();

  /// Parses `item {',' item} [','] closing`, whose opening bracket has been
  /// taken. `item` returns false if it failed; the list then goes on after the
  /// next comma. False if the closing bracket was not found.
  bool parseList(TokenKind closing, const Token &opening,
                 const llvm::Twine &what, llvm::function_ref<bool()> item,
                 llvm::function_ref<bool()> startsItem = nullptr);

  //===--------------------------------------------------------------------===//
  // Recovery
  //===--------------------------------------------------------------------===//

  /// Skips the rest of an item of a list within whose brackets
  /// `openBrackets` was `inside`.
  void skipToListSeparator(TokenKind closing, unsigned inside);
  /// Tokens not far ahead close brackets until only `count` are open. If not,
  /// the next line is probably not meant to be within them.
  bool closesAhead(unsigned count);
  /// Skips the rest of a statement's line; blocks on the way are parsed for
  /// their own errors.
  void skipStatement();
  /// After a broken header: skips to the `{` on its line and parses the block,
  /// if there is one.
  bool skipToBlock();
  /// Skips to the next declaration.
  void skipDecl();
  /// The next token can only be the beginning of a declaration.
  bool atDeclStart();

  //===--------------------------------------------------------------------===//
  // Declarations
  //===--------------------------------------------------------------------===//

  ast::Decl *parseDecl();
  ast::Decl *parseImport();
  ast::Decl *parseFn();
  ast::Decl *parseKernel();
  ast::Decl *parseScheduleDecl();
  bool parseParams(bool isKernel, llvm::SmallVectorImpl<ast::Param> &params);
  bool parseParam(bool isKernel, llvm::SmallVectorImpl<ast::Param> &params);
  bool parseScheduleItems(llvm::SmallVectorImpl<ast::ScheduleItem> &items);
  std::optional<ast::ScheduleItem> parseScheduleItem();
  void checkKernelBody(const ast::Block &body);
  void checkFnValue(llvm::StringRef name, const ast::Block &body);

  //===--------------------------------------------------------------------===//
  // Types, compile-time parameters and arguments
  //===--------------------------------------------------------------------===//

  std::optional<ast::TypeSpec> parseType();
  /// A type without dimensions; `what` needs it.
  std::optional<ast::TypeSpec> parseScalarType(const llvm::Twine &what);
  /// Reports and skips a `const` or `*`, which other languages write in front
  /// of a type.
  void skipForeignQualifiers();
  bool parseElementType(ast::TypeSpec &type);
  bool parseDims(ast::TypeSpec &type);
  bool parseCtParams(llvm::SmallVectorImpl<ast::CtParam> &params);
  bool parseCtParam(llvm::SmallVectorImpl<ast::CtParam> &params);
  bool parseCtParamKind(ast::CtParam &param);
  /// How many tokens `<...>` has here that can be type arguments; 0 for none.
  size_t typeArgsLength();
  /// The next token is a `<` that begins type arguments, not a comparison.
  bool atTypeArgs();
  bool parseTypeArgs(llvm::SmallVectorImpl<ast::TypeArg> &args);
  /// The next tokens are `<...>` as after the name of a function, but what
  /// follows is neither a call nor an operand to compare with.
  bool atTypeArgsAlone();
  bool isDTypeParam(llvm::StringRef name) const;
  std::optional<int64_t> takeInteger(bool negative);

  //===--------------------------------------------------------------------===//
  // Statements
  //===--------------------------------------------------------------------===//

  ast::Block *parseBlock();
  ast::Stmt *parseStmt();
  ast::Stmt *parseFor();
  ast::Stmt *parseGrid();
  ast::Stmt *parseIf();
  /// From the word `else` on.
  ast::Block *parseElse();
  ast::Stmt *parseScheduleStmt();
  ast::Stmt *parseSimpleStmt();
  ast::Stmt *parseAssignment(ast::Expr *first);
  std::optional<ast::Target> makeTarget(ast::Expr *expr);
  bool parseBindings(llvm::SmallVectorImpl<ast::Binding> &bindings);
  std::optional<ast::Binding> parseBinding();
  /// Answers words of other languages at the beginning of a statement. True if
  /// the statement was dealt with altogether.
  bool parseForeignStmt();
  /// Reports an operator that begins a line, as if it continued the one before.
  bool reportLeadingOperator();
  /// Reports what follows a statement on its line.
  void endStmt(const ast::Stmt &stmt);

  //===--------------------------------------------------------------------===//
  // Expressions
  //===--------------------------------------------------------------------===//

  /// An expression in a place where `=` can only be a mistake.
  ast::Expr *parseExpr();
  /// An expression of operators that bind at least as strongly.
  ast::Expr *parseBinary(unsigned minPrecedence);
  ast::Expr *parseUnary();
  ast::Expr *parsePrimary();
  ast::Expr *parseParens();
  ast::Expr *parseNumber(bool negative);
  ast::Expr *parseLambda();
  ast::Expr *parseZerosOrFull();
  /// After `zeros` or `full`: a `(` or `[` where the type should stand.
  void reportMissingType(const Token &word);
  ast::Expr *parseCast();
  ast::Expr *parseNameOrCall();
  ast::Expr *parseCallArgs(ast::Ident callee,
                           llvm::ArrayRef<ast::TypeArg> typeArgs);
  bool parseSubscripts(llvm::SmallVectorImpl<ast::Subscript> &subscripts,
                       llvm::StringRef name);
  ast::Expr *parseConditional(ast::Expr *condition);
  /// The range begins at `begin`, where a bracket before `lhs` may stand.
  ast::Expr *makeBinary(SourceLoc begin, ast::BinaryOp op, SourceRange opRange,
                        ast::Expr *lhs, ast::Expr *rhs);
  /// Reports and returns null if the expression is too high.
  ast::Expr *checkHeight(ast::Expr *expr);
  void reportForeignPrimary();

  unsigned fileIndex;
  ASTContext &context;
  DiagnosticEngine &diags;
  Lexer lexer;

  // Tokens read ahead; those before `head` have been taken.
  llvm::SmallVector<Token, 16> lookahead;
  size_t head = 0;
  size_t numTaken = 0;
  // `numTaken` where the current declaration or statement begins. Something
  // wrong there is wrong with that line, not with the one before.
  size_t constructStart = 0;
  SourceLoc previousEnd;

  // How many round and square brackets the taken tokens of the current
  // statement opened and did not close. Unlike `inBrackets` it says what stands
  // in the text, not what was understood.
  unsigned openBrackets = 0;

  bool abandoned = false;
  bool skipping = false; // Within a block of a statement that was dropped.
  SourceLoc lastError;
  Diagnostic ignored; // Stands in for a message that is not reported.

  bool inBrackets = false;
  bool inAngleBrackets = false; // `>` closes, it does not compare.
  unsigned depth = 0;

  // Of the declaration that is being parsed.
  bool inKernel = false;
  unsigned blockDepth = 0;
  llvm::SmallVector<llvm::StringRef> dtypeParams;
};

class Parser::BracketScope {
public:
  explicit BracketScope(Parser &parser)
      : parser(parser), inBrackets(parser.inBrackets),
        inAngleBrackets(parser.inAngleBrackets) {
    parser.inBrackets = true;
    parser.inAngleBrackets = false;
  }
  ~BracketScope() {
    parser.inBrackets = inBrackets;
    parser.inAngleBrackets = inAngleBrackets;
  }

private:
  Parser &parser;
  bool inBrackets, inAngleBrackets;
};

class Parser::DepthScope {
public:
  explicit DepthScope(Parser &parser) : parser(parser) {
    if (++parser.depth <= ast::maxNesting)
      return;
    tooDeep = true;
    parser
        .error(parser.peek().range, "nesting is deeper than " +
                                        llvm::Twine(ast::maxNesting) +
                                        " levels")
        .remedy("assign inner parts to variables, or split the kernel");
    parser.abandon();
  }
  ~DepthScope() { --parser.depth; }
  explicit operator bool() const { return !tooDeep; }

private:
  Parser &parser;
  bool tooDeep = false;
};

} // namespace tilec

#endif // TILEC_FRONTEND_PARSERIMPL_H
