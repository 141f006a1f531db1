//===- Lexer.cpp - The words of PTX ---------------------------------------===//

#include "lib/Emulator/PTX/Lexer.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

namespace tilec::emulator::ptx {

using Kind = Token::Kind;

static bool isWordCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$';
}
static bool beginsIdentifier(char c) {
  return llvm::isAlpha(c) || c == '_' || c == '$';
}

bool Lexer::skipBlank() {
  while (position < text.size()) {
    char c = text[position];
    if (c == '\n') {
      ++line;
      lineStart = ++position;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++position;
    } else if (c == '/' && peek(1) == '/') {
      position = std::min(text.find('\n', position), text.size());
    } else if (c == '/' && peek(1) == '*') {
      size_t end = text.find("*/", position + 2);
      if (end == llvm::StringRef::npos)
        return false;
      for (; position < end + 2; ++position)
        if (text[position] == '\n') {
          ++line;
          lineStart = position + 1;
        }
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::finish(Token token, Kind kind, size_t start) const {
  token.kind = kind;
  token.text = text.substr(start, position - start);
  return token;
}

Token Lexer::wrong(Token token, const char *message) {
  token.kind = Kind::Error;
  token.message = message;
  return token;
}

Token Lexer::next() {
  bool isClosed = skipBlank();
  Token token;
  token.line = line;
  token.column = position - lineStart + 1;
  size_t start = position;
  if (!isClosed)
    return wrong(token, "a comment without an end");
  if (position >= text.size())
    return finish(token, Kind::End, start);

  char c = text[position];
  if (beginsIdentifier(c) || (c == '%' && beginsIdentifier(peek(1)))) {
    ++position;
    while (isWordCharacter(peek()))
      ++position;
    return finish(token, Kind::Identifier, start);
  }
  if (c == '.' && isWordCharacter(peek(1))) {
    ++position;
    while (isWordCharacter(peek()) ||
           (peek() == ':' && peek(1) == ':' && isWordCharacter(peek(2))))
      position += peek() == ':' ? 2 : 1;
    return finish(token, Kind::Directive, start);
  }
  if (llvm::isDigit(c))
    return number(token);
  if (c == '"') {
    size_t end = text.find_first_of("\"\n", position + 1);
    if (end == llvm::StringRef::npos || text[end] == '\n')
      return wrong(token, "a string without an end");
    position = end + 1;
    token = finish(token, Kind::String, start);
    token.text = token.text.drop_front().drop_back();
    return token;
  }
  llvm::StringRef two = text.substr(position, 2);
  for (const char *operation : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"})
    if (two == operation) {
      position += 2;
      return finish(token, Kind::Punctuator, start);
    }
  if (llvm::StringRef("()[]{}<>,;:@!|+-*/%&^~?=").contains(c)) {
    ++position;
    return finish(token, Kind::Punctuator, start);
  }
  return wrong(token, "a character that PTX does not have");
}

Token Lexer::decimalFraction(Token token, size_t start) {
  auto digits = [&] {
    while (llvm::isDigit(peek()))
      ++position;
  };
  if (peek() == '.') {
    ++position;
    digits();
  }
  if (peek() == 'e' || peek() == 'E') {
    ++position;
    if (peek() == '+' || peek() == '-')
      ++position;
    if (!llvm::isDigit(peek()))
      return wrong(token, "an exponent without digits");
    digits();
  }
  if (isWordCharacter(peek()))
    return wrong(token, "a malformed number");
  token = finish(token, Kind::Float64, start);
  llvm::APFloat value(llvm::APFloat::IEEEdouble());
  auto status =
      value.convertFromString(token.text, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return wrong(token, "a malformed number");
  }
  token.bits = value.bitcastToAPInt().getZExtValue();
  return token;
}

Token Lexer::number(Token token) {
  size_t start = position;
  char second = llvm::toLower(peek(1));
  // 0f and 0d have all digits of the bits, so that 0f can be told from 0x0f.
  unsigned floatDigits = second == 'f' ? 8 : second == 'd' ? 16 : 0;
  if (peek() == '0' && floatDigits) {
    position += 2;
    llvm::StringRef digits = text.substr(position, floatDigits);
    if (digits.size() != floatDigits || digits.getAsInteger(16, token.bits) ||
        isWordCharacter(peek(floatDigits)))
      return wrong(token, floatDigits == 8
                              ? "0f without 8 hexadecimal digits"
                              : "0d without 16 hexadecimal digits");
    position += floatDigits;
    return finish(token, floatDigits == 8 ? Kind::Float32 : Kind::Float64,
                  start);
  }
  unsigned radix = 10;
  if (peek() == '0' && (second == 'x' || second == 'b')) {
    radix = second == 'x' ? 16 : 2;
    position += 2;
  } else {
    size_t end = text.find_first_not_of("0123456789", position);
    char after = end < text.size() ? text[end] : '\0';
    if (after == '.' || after == 'e' || after == 'E') {
      position = end;
      return decimalFraction(token, start);
    }
    if (peek() == '0' && llvm::isDigit(peek(1)))
      radix = 8;
  }
  size_t first = position;
  while (isWordCharacter(peek()))
    ++position;
  llvm::StringRef digits = text.substr(first, position - first);
  token = finish(token, Kind::Integer, start);
  token.isUnsigned = digits.consume_back("U") || digits.consume_back("u");
  if (digits.empty() || digits.contains('_') ||
      digits.getAsInteger(radix, token.bits))
    return wrong(token, "a malformed number, or one of more than 64 bits");
  return token;
}

} // namespace tilec::emulator::ptx
