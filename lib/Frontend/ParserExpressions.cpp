//===- ParserExpressions.cpp - Operators, calls, lambdas --------*- C++ -*-===//
//
// Precedence climbing over seven levels:
//
//   ||  &&  == != < <= > >= (do not chain)  + -  * / %  unary - !  call [ ]
//
// A newline ends an expression before an operator, never after one, and not at
// all within brackets.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace tilec;
using namespace tilec::ast;
using llvm::StringRef;

namespace {

enum Precedence : unsigned {
  OrPrecedence = 1,
  AndPrecedence,
  ComparePrecedence,
  AddPrecedence,
  MulPrecedence,
};

struct Operator {
  BinaryOp op;
  unsigned precedence;
};

} // namespace

static std::optional<Operator> binaryOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::PipePipe:
    return Operator{BinaryOp::Or, OrPrecedence};
  case TokenKind::AmpAmp:
    return Operator{BinaryOp::And, AndPrecedence};
  case TokenKind::EqualEqual:
    return Operator{BinaryOp::Eq, ComparePrecedence};
  case TokenKind::BangEqual:
    return Operator{BinaryOp::Ne, ComparePrecedence};
  case TokenKind::Less:
    return Operator{BinaryOp::Lt, ComparePrecedence};
  case TokenKind::LessEqual:
    return Operator{BinaryOp::Le, ComparePrecedence};
  case TokenKind::Greater:
    return Operator{BinaryOp::Gt, ComparePrecedence};
  case TokenKind::GreaterEqual:
    return Operator{BinaryOp::Ge, ComparePrecedence};
  case TokenKind::Plus:
    return Operator{BinaryOp::Add, AddPrecedence};
  case TokenKind::Minus:
    return Operator{BinaryOp::Sub, AddPrecedence};
  case TokenKind::Star:
    return Operator{BinaryOp::Mul, MulPrecedence};
  case TokenKind::Slash:
    return Operator{BinaryOp::Div, MulPrecedence};
  case TokenKind::Percent:
    return Operator{BinaryOp::Mod, MulPrecedence};
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Expr *Parser::checkHeight(Expr *expr) {
  if (expr->getHeight() <= maxExprHeight)
    return expr;
  error(expr->getRange(), "expression has more than " +
                              llvm::Twine(maxExprHeight) +
                              " operations within one another")
      .remedy("assign parts of it to variables");
  return nullptr;
}

Expr *Parser::makeBinary(SourceLoc begin, BinaryOp op, SourceRange opRange,
                         Expr *lhs, Expr *rhs) {
  return checkHeight(
      context.create<BinaryExpr>(rangeFrom(begin), op, opRange, lhs, rhs));
}

Expr *Parser::parseConditional(Expr *condition) {
  error(peek().range, "unexpected '?'")
      .remedy("a choice is written where(condition, a, b)");
  take();
  Expr *yes = parseBinary(0);
  if (!yes || !consume(TokenKind::Colon))
    return nullptr;
  return parseBinary(0) ? condition : nullptr;
}

Expr *Parser::parseExpr() {
  SourceLoc begin = peek().range.begin;
  Expr *expr = parseBinary(0);
  while (expr && !atLineEnd()) {
    Token next = peek();
    if (next.is(TokenKind::Unknown) && next.text == "?") {
      expr = parseConditional(expr);
    } else if (next.is(TokenKind::Equal)) {
      error(next.range, "'=' is assignment").remedy("use '==' to compare");
      take();
      Expr *rhs = parseBinary(0);
      expr = rhs ? makeBinary(begin, BinaryOp::Eq, next.range, expr, rhs)
                 : nullptr;
    } else {
      break;
    }
  }
  return expr;
}

Expr *Parser::parseBinary(unsigned minPrecedence) {
  SourceLoc begin = peek().range.begin;
  bool chained = false;
  Expr *lhs = parseUnary();
  while (lhs && !atLineEnd()) {
    Token token = peek();
    std::optional<Operator> found = binaryOperator(token.kind);
    if (token.isWord("and"))
      found = Operator{BinaryOp::And, AndPrecedence};
    else if (token.isWord("or"))
      found = Operator{BinaryOp::Or, OrPrecedence};
    if (!found || found->precedence < minPrecedence)
      break;
    if (inAngleBrackets && found->precedence == ComparePrecedence)
      break;
    if (token.is(TokenKind::Identifier))
      error(token.range, "unexpected " + quoted(token.text))
          .remedy("write " + quoted(spelling(found->op)));
    take();
    if (token.is(TokenKind::Star) && at(TokenKind::Star) && isAdjacent()) {
      error({token.range.begin, take().range.end}, "there is no operator '**'")
          .remedy("write pow(x, y), or x * x for a square");
    } else if (token.isOneOf(TokenKind::Plus, TokenKind::Minus) &&
               at(token.kind) && isAdjacent() && peek(1).startsLine) {
      error({token.range.begin, peek().range.end},
            "there is no operator '" + token.text + token.text + "'")
          .remedy("write 'x " + token.text + "= 1'");
      take();
      return nullptr;
    } else if (token.isOneOf(TokenKind::Less, TokenKind::Greater) &&
               at(token.kind) && isAdjacent()) {
      error({token.range.begin, take().range.end},
            "there is no operator '" + token.text + token.text + "'")
          .remedy("there are no operators on bits; multiply or divide by a "
                  "power of two");
    }
    Expr *rhs = parseBinary(found->precedence + 1);
    if (!rhs)
      return nullptr;
    Expr *compared = lhs;
    lhs = makeBinary(begin, found->op, token.range, lhs, rhs);

    // Comparisons do not chain; one message, however long the chain.
    std::optional<Operator> again = binaryOperator(peek().kind);
    if (lhs && found->precedence == ComparePrecedence && again &&
        again->precedence == ComparePrecedence && !atLineEnd() &&
        !inAngleBrackets && !chained) {
      chained = true;
      Diagnostic &diagnostic = error(peek().range, "comparisons do not chain");
      if (token.is(TokenKind::Less) && at(TokenKind::Greater) &&
          peek(1).is(TokenKind::LParen) && llvm::isa<NameExpr>(compared))
        diagnostic.remedy("in '" + llvm::cast<NameExpr>(compared)->getName() +
                          "<...>(...)' stand names of axes, integers, types, "
                          "'true' or 'false', no expressions");
      else
        diagnostic.remedy("join two comparisons with '&&', such as 'a < b && "
                          "b < c'");
    }
  }
  return lhs;
}

Expr *Parser::parseUnary() {
  Token token = peek();
  bool isNot = token.isWord("not") &&
               (peek(1).isOneOf(TokenKind::Identifier, TokenKind::LParen,
                                TokenKind::KwTrue, TokenKind::KwFalse,
                                TokenKind::Bang)) &&
               !peek(1).startsLine;
  if (!isNot &&
      !token.isOneOf(TokenKind::Minus, TokenKind::Bang, TokenKind::Plus))
    return parsePrimary();

  DepthScope nesting(*this);
  if (!nesting)
    return nullptr;
  take();
  if (isNot)
    error(token.range, "unexpected 'not'").remedy("write '!'");
  if (token.is(TokenKind::Plus)) {
    error(token.range, "there is no unary '+'").remedy("remove it");
    return parseUnary();
  }
  bool isMinus = token.is(TokenKind::Minus);
  Expr *operand = isMinus && at(TokenKind::Integer)
                      ? parseNumber(/*negative=*/true)
                      : parseUnary();
  if (!operand)
    return nullptr;
  return checkHeight(context.create<UnaryExpr>(
      rangeFrom(token.range.begin), isMinus ? UnaryOp::Neg : UnaryOp::Not,
      operand));
}

//===----------------------------------------------------------------------===//
// Primary expressions
//===----------------------------------------------------------------------===//

Expr *Parser::parsePrimary() {
  Token token = peek();
  switch (token.kind) {
  case TokenKind::Integer:
  case TokenKind::Float:
    return parseNumber(/*negative=*/false);
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
    take();
    return context.create<BoolLiteral>(token.range,
                                       token.is(TokenKind::KwTrue));
  case TokenKind::KwInf:
    take();
    return context.create<InfLiteral>(token.range);
  case TokenKind::KwNan:
    take();
    return context.create<NanLiteral>(token.range);
  case TokenKind::String:
    take();
    return context.create<StringLiteral>(
        token.range, context.intern(unescapeString(token.text)));
  case TokenKind::LParen:
    return parseParens();
  case TokenKind::Pipe:
    return parseLambda();
  case TokenKind::PipePipe:
    error(token.range, "expected the parameters of a lambda between '|' and "
                       "'|'")
        .remedy("such as '|q, kv| q >= kv'");
    return nullptr;
  case TokenKind::KwZeros:
  case TokenKind::KwFull:
    return parseZerosOrFull();
  case TokenKind::DTypeName:
    if (peek(1).is(TokenKind::LParen))
      return parseCast();
    if (peek(1).is(TokenKind::LBracket) && !peek(1).startsLine) {
      error(token.range, "a type is not a value")
          .remedy("write 'zeros " + token.text + "[...]' or 'full " +
                  token.text + "[...] value'");
      parseType();
      return nullptr;
    }
    take();
    return context.create<DTypeExpr>(token.range, *parseDType(token.text));
  case TokenKind::Identifier:
    if (peek(1).is(TokenKind::LParen) && (inBrackets || !peek(1).startsLine) &&
        (token.text == "int" || isDTypeParam(token.text)))
      return parseCast();
    if (token.text == "True" || token.text == "False") {
      bool value = token.text == "True";
      error(token.range, "unknown name " + quoted(token.text))
          .remedy(value ? "did you mean 'true'?" : "did you mean 'false'?");
      take();
      return context.create<BoolLiteral>(token.range, value);
    }
    return parseNameOrCall();
  default:
    reportForeignPrimary();
    // A backslash was meant to continue the line, as an operator does anyway.
    if (token.is(TokenKind::Unknown) && token.text == "\\" &&
        peek(1).startsLine && peek(1).isNot(TokenKind::Unknown)) {
      take();
      return parsePrimary();
    }
    return nullptr;
  }
}

void Parser::reportForeignPrimary() {
  Token token = peek();
  if (token.is(TokenKind::KwTile)) {
    error(token.range, "expected an expression, found keyword 'tile'")
        .remedy("'tile(X)' stands after 'in', as in 'for k in tile(K) { ... "
                "}'");
    return;
  }
  if (token.is(TokenKind::KwIf)) {
    error(token.range, "expected an expression, found keyword 'if'")
        .remedy("to choose a value, write where(condition, a, b)");
    return;
  }
  Diagnostic &diagnostic = errorExpected("an expression");
  if (isKeyword(token.kind) && !isOnNextLine())
    diagnostic.remedy(quoted(token.text) +
                      " is reserved; if it is meant as a "
                      "name, choose another, such as '" +
                      token.text + "_'");
  else if (diagnostic.help.empty())
    diagnostic.remedy("write a value: a number, a name, a call, or an "
                      "expression in parentheses");
}

Expr *Parser::parseParens() {
  DepthScope nesting(*this);
  if (!nesting)
    return nullptr;
  Token open = take();
  BracketScope brackets(*this);
  Expr *inner = parseExpr();
  if (!inner)
    return nullptr;
  if (at(TokenKind::Comma)) {
    error(peek().range, "expected ')' to close '(', found ','")
        .note(open.range, "'(' opened here")
        .remedy("there are no tuples; assign several values as 'a, b = ...'");
    return nullptr;
  }
  if (!expectClosing(TokenKind::RParen, open, "')' to close '('"))
    return nullptr;
  return inner;
}

Expr *Parser::parseNumber(bool negative) {
  Token token = peek();
  if (token.is(TokenKind::Integer)) {
    std::optional<int64_t> value = takeInteger(negative);
    return value ? context.create<IntLiteral>(token.range, *value) : nullptr;
  }
  take();
  std::string digits;
  for (char c : token.text)
    if (c != '_')
      digits += c;
  llvm::APFloat value(llvm::APFloat::IEEEdouble());
  llvm::Expected<llvm::APFloat::opStatus> status =
      value.convertFromString(digits, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    error(token.range, "malformed number " + quoted(token.text));
    return nullptr;
  }
  if (!value.isFinite()) {
    error(token.range,
          "number " + quoted(token.text) + " is larger than any f64")
        .remedy("infinity is written 'inf'");
    return nullptr;
  }
  return context.create<FloatLiteral>(token.range, context.intern(digits),
                                      value.convertToDouble());
}

Expr *Parser::parseLambda() {
  DepthScope nesting(*this);
  if (!nesting)
    return nullptr;
  Token open = take();
  llvm::SmallVector<Ident> params;
  llvm::DenseMap<StringRef, SourceRange> seen;
  do {
    std::optional<Ident> param = expectName("the name of a lambda's parameter");
    if (!param)
      return nullptr;
    auto [first, isNew] = seen.try_emplace(param->name, param->range);
    if (!isNew)
      error(param->range, "two parameters are named " + quoted(param->name))
          .note(first->second, "the first one is here");
    if (consume(TokenKind::Colon)) {
      error(param->range, "the parameters of a lambda have no types")
          .remedy("they follow from where it is used; write only the name");
      if (!parseType())
        return nullptr;
    }
    params.push_back(*param);
  } while (consume(TokenKind::Comma));
  if (!expectClosing(TokenKind::Pipe, open,
                     "',' or '|' in the parameters of a lambda"))
    return nullptr;
  Expr *body = parseBinary(0);
  if (!body)
    return nullptr;
  return checkHeight(context.create<LambdaExpr>(rangeFrom(open.range.begin),
                                                context.copy(params), body));
}

void Parser::reportMissingType(const Token &word) {
  // `zeros(m, n)`, or `zeros((m, n), f32)`.
  size_t i = peek(1).isOneOf(TokenKind::LParen, TokenKind::LBracket) ? 2 : 1;
  std::string axes;
  while (peek(i).isOneOf(TokenKind::Identifier, TokenKind::Integer)) {
    axes += (axes.empty() ? "" : ", ") + peek(i).text.str();
    if (peek(++i).isNot(TokenKind::Comma))
      break;
    ++i;
  }
  bool isZeros = word.is(TokenKind::KwZeros);
  error(peek().range, "expected the element type after " + quoted(word.text) +
                          ", found " + quoted(peek().text))
      .remedy("write '" + word.text + " f32[" + (axes.empty() ? "m" : axes) +
              "]" + (isZeros ? "'" : " value'"));
}

Expr *Parser::parseZerosOrFull() {
  DepthScope nesting(*this);
  if (!nesting)
    return nullptr;
  Token word = take();
  if (peek().isOneOf(TokenKind::LParen, TokenKind::LBracket) && !atLineEnd()) {
    reportMissingType(word);
    return nullptr;
  }
  std::optional<TypeSpec> type = parseType();
  if (!type)
    return nullptr;
  if (word.is(TokenKind::KwZeros))
    return context.create<ZerosExpr>(rangeFrom(word.range.begin), *type);
  if (atLineEnd()) {
    error(afterPrevious(), "expected the value of every element, found end of "
                           "line")
        .remedy("such as 'full f32[m] -inf'");
    return nullptr;
  }
  Expr *value = parseUnary();
  if (!value)
    return nullptr;
  return checkHeight(
      context.create<FullExpr>(rangeFrom(word.range.begin), *type, value));
}

Expr *Parser::parseCast() {
  DepthScope nesting(*this);
  if (!nesting)
    return nullptr;
  TypeSpec type;
  parseElementType(type);
  type.range = type.dtypeRange;
  Token open = take();
  BracketScope brackets(*this);
  if (at(TokenKind::RParen)) {
    error(peek().range, "expected the value to convert, found ')'");
    return nullptr;
  }
  Expr *operand = parseExpr();
  if (!operand ||
      !expectClosing(TokenKind::RParen, open, "')' to close a conversion"))
    return nullptr;
  return checkHeight(
      context.create<CastExpr>(rangeFrom(type.range.begin), type, operand));
}

//===----------------------------------------------------------------------===//
// Names, subscripts, calls
//===----------------------------------------------------------------------===//

Expr *Parser::parseNameOrCall() {
  Token word = peek();
  if (word.text == "lambda" && peek(1).is(TokenKind::Identifier) &&
      !peek(1).startsLine) {
    error(word.range, "unexpected 'lambda'")
        .remedy("a lambda is written '|x| x + 1'");
    return nullptr;
  }
  std::optional<Ident> name = expectName("an expression");
  if (!name)
    return nullptr;
  Expr *expr = nullptr;
  llvm::SmallVector<TypeArg> typeArgs;
  if (atTypeArgs()) {
    if (!parseTypeArgs(typeArgs))
      return nullptr;
    expr = parseCallArgs(*name, context.copy(typeArgs));
  } else if (at(TokenKind::LParen) && !atLineEnd()) {
    expr = parseCallArgs(*name, {});
  } else if (atTypeArgsAlone()) {
    error(rangeFrom(name->range.begin),
          "'" + name->name + "<...>' is no value without a call")
        .remedy("for a mask or a score call it in a lambda, such as '|q, kv| " +
                name->name + "<...>(q, kv)'");
    return nullptr;
  } else {
    auto *base = context.create<NameExpr>(name->range, name->name);
    if (!at(TokenKind::LBracket) || atLineEnd())
      return base;
    llvm::SmallVector<Subscript> subscripts;
    if (!parseSubscripts(subscripts, name->name))
      return nullptr;
    expr = checkHeight(context.create<SubscriptExpr>(
        rangeFrom(name->range.begin), base, context.copy(subscripts)));
  }
  if (!expr)
    return nullptr;
  while (!atLineEnd() && at(TokenKind::LBracket)) {
    Diagnostic &diagnostic =
        error(peek().range, llvm::isa<SubscriptExpr>(expr)
                                ? "a tensor is subscripted once"
                                : "the result of a call cannot be subscripted");
    if (llvm::isa<SubscriptExpr>(expr))
      diagnostic.remedy("write all subscripts in one pair of brackets: '" +
                        name->name + "[i, j]'");
    else
      diagnostic.remedy("subscript the tensors it is computed from");
    llvm::SmallVector<Subscript> dropped;
    if (!parseSubscripts(dropped, name->name))
      return nullptr;
  }
  return expr;
}

Expr *Parser::parseCallArgs(Ident callee, llvm::ArrayRef<TypeArg> typeArgs) {
  DepthScope nesting(*this);
  if (!nesting)
    return nullptr;
  Token open = take();
  BracketScope brackets(*this);
  llvm::SmallVector<CallArg> args;
  llvm::DenseMap<StringRef, SourceRange> named;
  auto parseArg = [&]() {
    CallArg arg;
    if ((at(TokenKind::Identifier) || isKeyword(peek().kind)) &&
        peek(1).is(TokenKind::Equal)) {
      std::optional<Ident> name = expectName("the name of an argument");
      if (!name)
        return false;
      take();
      arg.name = name->name;
      arg.nameRange = name->range;
      auto [first, isNew] = named.try_emplace(arg.name, arg.nameRange);
      if (!isNew)
        error(arg.nameRange, "argument " + quoted(arg.name) + " is given twice")
            .note(first->second, "the first one is here");
    } else if (!named.empty()) {
      error(peek().range, "expected 'name = value', found an argument without "
                          "a name")
          .remedy("arguments without a name come before those with one");
    }
    arg.value = parseExpr();
    if (!arg.value)
      return false;
    args.push_back(arg);
    return true;
  };
  unsigned errorsBefore = diags.getNumErrors();
  if (!parseList(TokenKind::RParen, open,
                 ("the arguments of " + quoted(callee.name)), parseArg))
    return nullptr;
  // With an argument missing, analysis could only confuse.
  if (diags.getNumErrors() != errorsBefore && args.empty())
    return nullptr;
  return checkHeight(context.create<CallExpr>(
      rangeFrom(callee.range.begin), callee, typeArgs, context.copy(args)));
}

bool Parser::parseSubscripts(llvm::SmallVectorImpl<Subscript> &subscripts,
                             StringRef name) {
  DepthScope nesting(*this);
  if (!nesting)
    return false;
  Token open = take();
  BracketScope brackets(*this);
  if (at(TokenKind::RBracket))
    error(peek().range, "expected a subscript, found ']'")
        .remedy("leave the brackets out for the whole of " + quoted(name));
  auto parseSubscript = [&]() {
    Subscript subscript;
    SourceLoc begin = peek().range.begin;
    if (!consume(TokenKind::Colon)) {
      subscript.index = parseExpr();
      if (!subscript.index)
        return false;
    }
    if ((subscript.index && at(TokenKind::Colon)) ||
        (!subscript.index && !at(TokenKind::Comma) &&
         !at(TokenKind::RBracket) && !peek().startsLine)) {
      error(rangeFrom(begin), "a subscript cannot be a slice")
          .remedy("':' alone is a whole axis; part of one is a tile variable "
                  "or positions, such as 'i + 1'");
      skipToListSeparator(TokenKind::RBracket, openBrackets);
    }
    subscript.range = rangeFrom(begin);
    subscripts.push_back(subscript);
    return true;
  };
  return parseList(TokenKind::RBracket, open,
                   ("the subscripts of " + quoted(name)), parseSubscript);
}
