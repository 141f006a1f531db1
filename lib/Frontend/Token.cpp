//===- Token.cpp - The words of the language --------------------*- C++ -*-===//
//
// The tables behind Token.h, all generated from Token.def.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Token.h"

#include "lib/Support/DType.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tilec;
using llvm::StringRef;

StringRef tilec::spelling(TokenKind kind) {
  switch (kind) {
#define TILEC_TOKEN(NAME, SPELLING)                                            \
  case TokenKind::NAME:                                                        \
    return SPELLING;
#define TILEC_KEYWORD(NAME, SPELLING) TILEC_TOKEN(NAME, SPELLING)
#include "lib/Frontend/Token.def"
  }
  llvm_unreachable("not a token kind");
}

StringRef tilec::describeTokenKind(TokenKind kind) {
  switch (kind) {
  case TokenKind::EndOfFile:
    return "end of file";
  case TokenKind::Identifier:
    return "a name";
  case TokenKind::DTypeName:
    return "an element type";
  case TokenKind::Integer:
    return "an integer";
  case TokenKind::Float:
    return "a number";
  case TokenKind::String:
    return "a string";
  case TokenKind::Unknown:
    return "unknown text";
#define TILEC_TOKEN(NAME, SPELLING)
#define TILEC_KEYWORD(NAME, SPELLING)                                          \
  case TokenKind::NAME:                                                        \
    return "keyword '" SPELLING "'";
#include "lib/Frontend/Token.def"
  default:
    break;
  }
  switch (kind) {
#define TILEC_TOKEN(NAME, SPELLING)                                            \
  case TokenKind::NAME:                                                        \
    return "'" SPELLING "'";
#define TILEC_KEYWORD(NAME, SPELLING) TILEC_TOKEN(NAME, SPELLING)
#include "lib/Frontend/Token.def"
  }
  llvm_unreachable("not a token kind");
}

bool tilec::isKeyword(TokenKind kind) { return kind >= TokenKind::KwKernel; }

TokenKind tilec::classifyWord(StringRef word) {
  TokenKind kind = llvm::StringSwitch<TokenKind>(word)
#define TILEC_TOKEN(NAME, SPELLING)
#define TILEC_KEYWORD(NAME, SPELLING) .Case(SPELLING, TokenKind::NAME)
#include "lib/Frontend/Token.def"
                       .Default(TokenKind::Identifier);
  if (kind == TokenKind::Identifier && parseDType(word))
    return TokenKind::DTypeName;
  return kind;
}
