//===- Token.h - The words of the language ----------------------*- C++ -*-===//
//
// A token is a kind, a range of the source, and whether it is the first on its
// line. That last bit is how newlines end statements: there are no newline
// tokens. The parser asks for it only in the places where a statement could end
// (after an operand outside of brackets), so everywhere else — within brackets,
// after an operator or a comma — a line simply continues.
//
// Names of element types (`bf16`) have a kind of their own, as they are
// reserved. `int` and `dtype` are identifiers to the lexer.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_TOKEN_H
#define TILEC_FRONTEND_TOKEN_H

#include "lib/Support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tilec {

enum class TokenKind : uint8_t {
#define TILEC_TOKEN(NAME, SPELLING) NAME,
#define TILEC_KEYWORD(NAME, SPELLING) NAME,
#include "lib/Frontend/Token.def"
};

/// "'('", "identifier", "keyword 'for'": what a message calls a kind.
llvm::StringRef describeTokenKind(TokenKind kind);

/// The text of punctuation and keywords; empty for the other kinds.
llvm::StringRef spelling(TokenKind kind);

bool isKeyword(TokenKind kind);

/// The keyword or DType token of a word, or Identifier.
TokenKind classifyWord(llvm::StringRef word);

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  /// First on its line. The end of the file counts as a line of its own.
  bool startsLine = false;
  SourceRange range;
  llvm::StringRef text;

  bool is(TokenKind k) const { return kind == k; }
  bool isNot(TokenKind k) const { return kind != k; }
  template <typename... Kinds> bool isOneOf(Kinds... kinds) const {
    return ((kind == kinds) || ...);
  }
  /// An identifier with this very text.
  bool isWord(llvm::StringRef word) const {
    return kind == TokenKind::Identifier && text == word;
  }
};

} // namespace tilec

#endif // TILEC_FRONTEND_TOKEN_H
