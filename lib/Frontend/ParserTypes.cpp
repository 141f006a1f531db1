//===- ParserTypes.cpp - Types and what stands in <...> ---------*- C++ -*-===//
//
// Element types with their dimensions, compile-time parameters of declarations
// and the arguments for them in calls.
//
// Whether `a < b > (c)` compares or calls is decided by looking ahead: type
// arguments are only names, numbers and commas up to a `>` with a `(` after it.
// The look ahead ends at the next `<` at the latest, so that all of them
// together are linear.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::ast;
using llvm::StringRef;

bool Parser::isDTypeParam(StringRef name) const {
  return llvm::is_contained(dtypeParams, name);
}

std::optional<int64_t> Parser::takeInteger(bool negative) {
  Token token = take();
  // The lexer has reported what is not a digit.
  StringRef digits = token.text;
  unsigned radix = 10;
  if (digits.consume_front("0x") || digits.consume_front("0X"))
    radix = 16;
  const uint64_t limit = negative ? uint64_t(1) << 63 : INT64_MAX;
  uint64_t value = 0;
  bool fits = true;
  for (char c : digits) {
    unsigned digit = llvm::hexDigitValue(c);
    if (digit >= radix)
      continue;
    fits &= value <= (limit - digit) / radix;
    value = value * radix + digit;
  }
  if (!fits) {
    error(token.range, "integer " + quoted(token.text) +
                           " does not fit in 64 bits with a sign")
        .remedy("the largest is 9223372036854775807; a float has a point, "
                "such as '1.0e30'");
    return std::nullopt;
  }
  return static_cast<int64_t>(value);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The type that a name from another language or library means here.
static StringRef knownAlias(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"fp64", "float64", "double"}, "f64")
      .Cases({"fp32", "float32", "float"}, "f32")
      .Cases({"fp16", "float16", "half"}, "f16")
      .Cases({"bfloat16", "bfloat"}, "bf16")
      .Cases({"fp8", "float8", "e4m3", "fp8e4m3", "f8e4m3fn", "float8_e4m3fn"},
             "f8e4m3")
      .Cases({"e5m2", "fp8e5m2", "float8_e5m2", "bf8"}, "f8e5m2")
      .Cases({"int64", "int64_t", "long", "index", "size_t"}, "i64")
      .Cases({"int32", "int32_t"}, "i32")
      .Cases({"int16", "int16_t", "short"}, "i16")
      .Cases({"int8", "int8_t", "char"}, "i8")
      .Cases({"uint8", "uint8_t", "byte"}, "u8")
      .Cases({"boolean", "i1", "Bool"}, "bool")
      .Default("");
}

void Parser::skipForeignQualifiers() {
  for (;;) {
    Token token = peek();
    bool isConst = token.isWord("const") &&
                   peek(1).isOneOf(TokenKind::DTypeName, TokenKind::Identifier,
                                   TokenKind::Star);
    if (isConst)
      error(token.range, "unexpected 'const'")
          .remedy("remove it: a parameter is read only unless it is 'out', "
                  "'inout' or 'add'");
    else if (token.is(TokenKind::Star))
      error(token.range, "there are no pointers")
          .remedy("a tensor's type has its dimensions, such as 'f32[M, N]'");
    else
      return;
    take();
  }
}

bool Parser::parseElementType(TypeSpec &type) {
  skipForeignQualifiers();
  Token token = peek();
  type.dtypeRange = token.range;
  if (token.is(TokenKind::DTypeName)) {
    type.dtype = parseDType(take().text);
    return true;
  }
  if (token.isNot(TokenKind::Identifier)) {
    errorExpected("a type").remedy("the types are " + listDTypes());
    return false;
  }
  take();
  if (token.text == "int") {
    type.dtype = DType::I64;
    if (at(TokenKind::LBracket))
      error(token.range, "'int' cannot be the type of a tensor")
          .remedy("say how wide its elements are: i64, i32, i16, i8 or u8");
    return true;
  }
  if (isDTypeParam(token.text)) {
    type.dtypeParam = context.intern(token.text);
    return true;
  }
  llvm::SmallVector<StringRef> candidates(dtypeParams);
  for (DType dtype : allDTypes())
    candidates.push_back(dtypeName(dtype));
  StringRef nearest = knownAlias(token.text);
  if (nearest.empty())
    nearest = nearestName(token.text, candidates);
  Diagnostic &diagnostic =
      error(token.range, "unknown type " + quoted(token.text));
  bool isOwn = nearest.empty() && llvm::isUpper(token.text.front());
  if (isOwn)
    diagnostic.remedy("the types are " + listDTypes() +
                      "; one that is chosen for each use is declared before "
                      "the parameters: '<" +
                      token.text + ": dtype = f32>'");
  else if (token.text == "ptr" || token.text == "pointer")
    diagnostic.remedy("there are no pointers: a tensor's type has its "
                      "dimensions, such as 'f32[M, N]'");
  else if (nearest.empty())
    diagnostic.remedy("the types are " + listDTypes());
  else
    diagnostic.remedy("did you mean " + quoted(nearest) + "?");
  // Some type, so that the dimensions are parsed too.
  type.dtype = DType::F32;
  return true;
}

bool Parser::parseDims(TypeSpec &type) {
  llvm::SmallVector<Dim> dims;
  Token open = take();
  BracketScope brackets(*this);
  if (at(TokenKind::RBracket))
    error(peek().range, "expected a dimension, found ']'")
        .remedy("leave the brackets out for a scalar");
  bool closed =
      parseList(TokenKind::RBracket, open, "the dimensions of a type", [&]() {
        Dim dim;
        dim.range = peek().range;
        if (at(TokenKind::Integer)) {
          std::optional<int64_t> value = takeInteger(/*negative=*/false);
          if (!value)
            return false;
          dim.value = *value;
        } else if (at(TokenKind::Identifier)) {
          dim.name = takeIdent().name;
        } else {
          errorExpected("a dimension: a name or an integer");
          return false;
        }
        dims.push_back(dim);
        if (at(TokenKind::Plus) || at(TokenKind::Minus) ||
            at(TokenKind::Star) || at(TokenKind::Slash)) {
          error(peek().range, "a dimension is a name or an integer, not an "
                              "expression")
              .remedy("give it a name of its own and relate the two with "
                      "'requires', such as 'requires N == 2 * M'");
          skipToListSeparator(TokenKind::RBracket, openBrackets);
        }
        return true;
      });
  type.hasDims = true;
  type.dims = context.copy(dims);
  return closed;
}

std::optional<TypeSpec> Parser::parseType() {
  TypeSpec type;
  if (!parseElementType(type))
    return std::nullopt;
  if (at(TokenKind::LBracket) && !atLineEnd() && !parseDims(type))
    return std::nullopt;
  type.range = rangeFrom(type.dtypeRange.begin);
  return type;
}

std::optional<TypeSpec> Parser::parseScalarType(const llvm::Twine &what) {
  std::optional<TypeSpec> type = parseType();
  if (type && type->hasDims) {
    error(type->range, what + " is a scalar, it has no dimensions")
        .remedy(
            "write " +
            quoted(type->dtype ? dtypeName(*type->dtype) : type->dtypeParam) +
            "; functions apply to every element of a tile");
    type->hasDims = false;
    type->dims = {};
  }
  return type;
}

//===----------------------------------------------------------------------===//
// Compile-time parameters
//===----------------------------------------------------------------------===//

bool Parser::parseCtParamKind(CtParam &param) {
  Token token = peek();
  param.kindRange = token.range;
  if (token.is(TokenKind::KwFn)) {
    take();
    param.kind = CtParam::Kind::Fn;
    Token open = peek();
    if (!expect(TokenKind::LParen, " to begin the parameter types"))
      return false;
    llvm::SmallVector<TypeSpec> types;
    BracketScope brackets(*this);
    bool closed =
        parseList(TokenKind::RParen, open, "the parameter types", [&]() {
          // `fn(s: f32)` is understood: the name is only documentation there.
          if (at(TokenKind::Identifier) && peek(1).is(TokenKind::Colon)) {
            error(peek().range,
                  "the parameters of a function type have no names")
                .remedy("write only the types, such as 'fn(f32, int) -> f32'");
            take();
            take();
          }
          auto type = parseScalarType("a parameter of a function");
          if (type)
            types.push_back(*type);
          return type.has_value();
        });
    if (!closed)
      return false;
    param.fnParams = context.copy(types);
    if (!expect(TokenKind::Arrow, " and the type of the result"))
      return false;
    auto result = parseScalarType("the result of a function");
    if (!result)
      return false;
    param.fnResult = *result;
    param.kindRange = rangeFrom(token.range.begin);
    return true;
  }
  if (token.is(TokenKind::DTypeName) && token.text == "bool")
    param.kind = CtParam::Kind::Bool;
  else if (token.isWord("int"))
    param.kind = CtParam::Kind::Int;
  else if (token.isWord("dtype"))
    param.kind = CtParam::Kind::DType;
  else {
    Diagnostic &diagnostic =
        errorExpected("the kind of a compile-time parameter: 'bool', 'int', "
                      "'dtype' or 'fn(...) -> ...'");
    if (token.is(TokenKind::DTypeName))
      diagnostic.remedy("a value of type " + token.text +
                        " is given at run time: move it to the parameters in "
                        "round brackets");
    else if (token.isWord("type") || token.isWord("typename"))
      diagnostic.remedy("did you mean 'dtype'?");
    return false;
  }
  take();
  return true;
}

bool Parser::parseCtParam(llvm::SmallVectorImpl<CtParam> &params) {
  CtParam param;
  std::optional<Ident> name =
      expectName("the name of a compile-time parameter");
  if (!name)
    return false;
  param.name = *name;
  if (!consume(TokenKind::Colon)) {
    errorExpected("':' and 'bool', 'int', 'dtype' or 'fn(...) -> ...' after " +
                  quoted(name->name))
        .remedy("such as '" + name->name + ": int'");
    return false;
  }
  if (!parseCtParamKind(param))
    return false;
  if (param.kind == CtParam::Kind::DType)
    dtypeParams.push_back(name->name);
  if (consume(TokenKind::Equal)) {
    param.defaultValue = parseExpr();
    if (!param.defaultValue)
      return false;
  }
  param.range = rangeFrom(name->range.begin);
  params.push_back(param);
  return true;
}

bool Parser::parseCtParams(llvm::SmallVectorImpl<CtParam> &params) {
  Token open = take();
  BracketScope brackets(*this);
  inAngleBrackets = true;
  if (at(TokenKind::Greater))
    error(peek().range, "expected a compile-time parameter, found '>'")
        .remedy("leave the '<>' out");
  return parseList(
      TokenKind::Greater, open, "the compile-time parameters",
      [&] { return parseCtParam(params); },
      [&] {
        return peek().is(TokenKind::Identifier) && peek(1).is(TokenKind::Colon);
      });
}

//===----------------------------------------------------------------------===//
// Type arguments
//===----------------------------------------------------------------------===//

size_t Parser::typeArgsLength() {
  if (!at(TokenKind::Less) || atLineEnd())
    return 0;
  size_t i = 1;
  // `sum<>(x)` cannot be anything else.
  while (peek(i).isNot(TokenKind::Greater)) {
    if (peek(i).is(TokenKind::Minus) && peek(i + 1).is(TokenKind::Integer))
      ++i;
    if (!peek(i).isOneOf(TokenKind::Identifier, TokenKind::Integer,
                         TokenKind::KwTrue, TokenKind::KwFalse,
                         TokenKind::DTypeName))
      return 0;
    ++i;
    if (peek(i).is(TokenKind::Comma) && peek(i + 1).isNot(TokenKind::Greater))
      ++i;
    else if (peek(i).isNot(TokenKind::Greater))
      return 0;
  }
  return i + 1;
}

bool Parser::atTypeArgs() {
  size_t length = typeArgsLength();
  return length > 0 && peek(length).is(TokenKind::LParen) &&
         (inBrackets || !peek(length).startsLine);
}

bool Parser::atTypeArgsAlone() {
  size_t length = typeArgsLength();
  if (length <= 2) // `<>` says nothing.
    return false;
  Token next = peek(length);
  return next.isOneOf(TokenKind::Comma, TokenKind::RParen, TokenKind::RBracket,
                      TokenKind::EndOfFile) ||
         (next.startsLine && !inBrackets);
}

bool Parser::parseTypeArgs(llvm::SmallVectorImpl<TypeArg> &args) {
  Token open = take();
  if (at(TokenKind::Greater)) {
    error({open.range.begin, peek().range.end}, "expected an argument in '<>'")
        .remedy("leave the '<>' out, or name an axis");
    take();
    return true;
  }
  // atTypeArgs saw that what follows is well formed.
  do {
    TypeArg arg;
    SourceLoc begin = peek().range.begin;
    bool negative = consume(TokenKind::Minus);
    switch (peek().kind) {
    case TokenKind::Integer: {
      std::optional<int64_t> value = takeInteger(negative);
      if (!value)
        return false;
      arg.kind = TypeArg::Kind::Int;
      // 2^63 was let through for a minus, and wraps to itself.
      arg.intValue = negative
                         ? static_cast<int64_t>(-static_cast<uint64_t>(*value))
                         : *value;
      break;
    }
    case TokenKind::KwTrue:
    case TokenKind::KwFalse:
      arg.kind = TypeArg::Kind::Bool;
      arg.boolValue = take().is(TokenKind::KwTrue);
      break;
    case TokenKind::DTypeName:
      arg.kind = TypeArg::Kind::DType;
      arg.dtype = *parseDType(take().text);
      break;
    case TokenKind::Identifier:
      if (peek().text == "int") {
        take();
        arg.kind = TypeArg::Kind::DType;
        arg.dtype = DType::I64;
      } else {
        arg.name = takeIdent().name;
      }
      break;
    default:
      return false;
    }
    arg.range = rangeFrom(begin);
    args.push_back(arg);
  } while (consume(TokenKind::Comma));
  return consume(TokenKind::Greater);
}
