//===- Lexer.h - From text to tokens ----------------------------*- C++ -*-===//
//
// The lexer produces tokens on demand and reports what no token can begin with:
// stray bytes, unterminated strings, malformed numbers, characters that only
// look like operators. After such a report it goes on with the best guess, so
// that one mistake does not become two; the guess never reaches analysis, as an
// error has been reported.
//
// Text that is wrong in a way the parser can explain better (`;`, `:=`, `&`)
// becomes a token of kind Unknown.
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_FRONTEND_LEXER_H
#define TILEC_FRONTEND_LEXER_H

#include "lib/Frontend/Token.h"

namespace tilec {

class Lexer {
public:
  Lexer(const SourceManager &sources, unsigned fileIndex,
        DiagnosticEngine &diags);

  /// The next token; EndOfFile for ever once the text is used up or there have
  /// been too many errors.
  Token next();

private:
  /// Moves over blanks, newlines and comments.
  void skipTrivia();
  void skipBlockComment();
  /// Warns if the comment from `begin` to `end` is a division with '//'.
  void warnIfDivision(size_t begin, size_t end);

  Token lexWord();
  Token lexNumber();
  Token lexHexNumber();
  Token lexString();
  Token lexPunctuation();
  /// Reports a character that begins no token, or a run of them. True if it
  /// gave a token all the same, in `token`.
  bool lexForeign(Token &token);

  Token make(TokenKind kind, size_t begin) const;
  SourceRange range(size_t begin, size_t end) const;
  /// The byte at `at + ahead`, 0 past the end.
  char peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }

  const SourceManager &sources;
  unsigned fileIndex;
  DiagnosticEngine &diags;
  llvm::StringRef text;
  size_t at = 0;
  bool startsLine = true;
};

/// Replaces the escapes of a string token's text, quotes included. Malformed
/// escapes were reported by the lexer and are dropped.
std::string unescapeString(llvm::StringRef token);

/// A text for a message: at most 40 characters of it, in quotes.
std::string quoted(llvm::StringRef text);

} // namespace tilec

#endif // TILEC_FRONTEND_LEXER_H
