//===- Lexer.h - The words of PTX -------------------------------*- C++ -*-===//
//
// Cuts text into tokens. Comments and white space separate them and are gone
// afterwards. Two things are one token here that a grammar would take apart,
// since nothing ever needs the parts:
//
//   %tid, $L__BB0_3, memory     an Identifier, with what begins its name
//   .global, .shared::cta, .4d  a Directive, with its dot: directives, types,
//                               and the pieces of an opcode
//
//===----------------------------------------------------------------------===//

#ifndef TILEC_EMULATOR_PTX_LEXER_H
#define TILEC_EMULATOR_PTX_LEXER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace tilec::emulator::ptx {

struct Token {
  enum class Kind : uint8_t {
    End,
    Error, // `text` is where, `message` what is wrong.
    Identifier,
    Directive,
    Integer, // `bits`.
    Float32, // `bits`: 0f3F800000.
    Float64, // `bits`: 0d3FF0000000000000, or 1.0.
    String,  // `text` without the quotes.
    Punctuator,
  };
  Kind kind = Kind::End;
  llvm::StringRef text;
  unsigned line = 1, column = 1; // From 1; columns are bytes.
  uint64_t bits = 0;
  bool isUnsigned = false; // An Integer with the suffix U.
  const char *message = "";

  /// Whether it is this punctuator or directive.
  bool is(llvm::StringRef what) const {
    return (kind == Kind::Punctuator || kind == Kind::Directive) &&
           text == what;
  }
  bool is(Kind what) const { return kind == what; }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : text(text) {}
  /// The next token; End again and again at the end.
  Token next();

private:
  /// Skips white space and comments; false in a comment without an end.
  bool skipBlank();
  Token number(Token token);
  Token decimalFraction(Token token, size_t start);
  Token finish(Token token, Token::Kind kind, size_t start) const;
  static Token wrong(Token token, const char *message);
  char peek(size_t ahead = 0) const {
    return position + ahead < text.size() ? text[position + ahead] : '\0';
  }

  llvm::StringRef text;
  size_t position = 0, lineStart = 0;
  unsigned line = 1;
};

} // namespace tilec::emulator::ptx

#endif // TILEC_EMULATOR_PTX_LEXER_H
